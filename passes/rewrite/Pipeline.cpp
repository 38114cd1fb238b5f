//===-- Pipeline.cpp - The passes of --cgx-compress, in their order -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"
#include "cgx/Passes/Rewrite.h"
#include "cgx/layers/Options.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

namespace cgx {
#define GEN_PASS_REGISTRATION
#include "cgx/Passes/RewritePasses.h.inc"

/// What `options` say of the pass that decides what stays exact.
static FilterLayersPassOptions getFilter(const DecisionOptions &options,
                                         const std::vector<std::string> &kinds, const std::string &plan) {
  FilterLayersPassOptions filter;
  filter.kinds.assign(kinds.begin(), kinds.end());
  filter.plan = plan;
  filter.exclude.assign(options.exclude.begin(), options.exclude.end());
  filter.minElements = options.minElements;
  filter.minRank = options.minRank;
  return filter;
}

/// The codecs of kinds that options give, or stand for.
static layers::KindCodecs getKindCodecs(const CompressPipelineOptions &options) {
  return layers::completeKindCodecs(options.ofKinds.get(), options.qsdp, options.along,
                                    {options.kinds.begin(), options.kinds.end()});
}

/// What `options` say of the codec of kinds without their own.
static AssignCodecsPassOptions getCodec(const CompressPipelineOptions &options) {
  AssignCodecsPassOptions codec;
  codec.along = options.along;
  codec.plan = options.plan;
  codec.codec = options.parameters.addTo(options.codec.getValue());
  codec.backCodec = options.backCodec;
  codec.errorFeedback = options.errorFeedback;
  codec.decay = options.decay;
  return codec;
}

/// Whether a codec encodes nothing but all-reduces. What is wrong with its text, whoever assigns it says.
static bool needsAllReduces(const std::string &codec) {
  std::string reason;
  const std::optional<layers::Codec> built = layers::parseCodecText(codec, reason);
  return built && built->needsAllReduce();
}

/// From whatever comes in to one rank's program with the collectives that it needs, and what must stay exact.
static void addDecisions(mlir::OpPassManager &manager, const DecisionOptions &options,
                         const std::vector<std::string> &kinds, const std::string &plan,
                         bool scatters = true) {
  // The passes below see one rank's program with cgx collectives.
  manager.addPass(createEnsurePerRankPass(EnsurePerRankPassOptions{scatters}));
  // From here on the passes rely on what the import promises.
  manager.addPass(createVerifyProgramPass());
  // As the user wrote it: what comes next must not hide a collective that hangs.
  manager.addPass(createCheckControlFlowPass(CheckControlFlowPassOptions{options.divergentCollectives}));
  // What the script probably did not mean, while everything is as it wrote it.
  manager.addPass(createWarnOfDivergencePass());
  manager.addPass(createWarnOfRepeatedSumsPass());
  // Before decisions are made, so that none is made about a reduction that nobody needs.
  manager.addPass(createFoldReplicatedPass());
  // Likewise. The import did this to what it imported; a program written by hand was not, and what is folded
  // may leave sums of reductions.
  manager.addPass(createHoistReductionsPass());
  manager.addPass(createCombineReductionsPass());
  if (scatters)
    manager.addPass(createScatterReductionsPass());
  // Once it is known what is whole on all ranks. Before decisions: each product is a layer of its own.
  manager.addPass(createReduceProductsPass());
  // Once it is known what stays: of activations that are not needed nobody wants to hear.
  manager.addPass(createCheckActivationsPass());
  // Gives edges of pipelines kinds and names, by which decisions are made.
  manager.addPass(createFindPipelinesPass());
  // Once edges are dropped that carry nothing ever: what goes around a ring would be needed in every tick.
  manager.addPass(createSilenceBubblesPass());
  // Decisions are about layers, so layers come first that are to have their own.
  SplitStackedLayersPassOptions stacks;
  stacks.layers.assign(options.splitLayers.begin(), options.splitLayers.end());
  stacks.plan = plan;
  manager.addPass(createSplitStackedLayersPass(stacks));
  // First what must stay exact, then the codec of the rest: each decision has one place.
  manager.addPass(createFilterLayersPass(getFilter(options, kinds, plan)));
  // Then what a codec would set ranks apart by, among the rest: also where a plan comes while the step runs.
  manager.addPass(createKeepReplicasAlikePass());
}

void buildCompressPipeline(mlir::OpPassManager &manager, const CompressPipelineOptions &options) {
  layers::CodecOptions codecs;
  codecs.codec = options.parameters.addTo(options.codec.getValue());
  codecs.ofKinds = getKindCodecs(options);
  codecs.along = options.along;
  codecs.plan = options.plan;
  // A codec of all-reduces sends less than half of what an exact reduce-scatter would.
  addDecisions(manager, options,
               layers::kindsToCompress({options.kinds.begin(), options.kinds.end()}, codecs.ofKinds),
               options.plan,
               /*scatters=*/!options.plan.empty() ||
                   !needsAllReduces(layers::codecOfGradients(codecs.codec, codecs.ofKinds)));
  manager.addPass(createAssignCodecsPass(getCodec(options), codecs.ofKinds));
  // Once it is known which layers have error feedback: where there is none, units do not matter.
  manager.addPass(createUnscaleGradientsPass());
  // Likewise, and of what the pass before left alone.
  manager.addPass(createWarnOfLostResidualsPass());
  // Here everything has its codec or its reason, and what a machine file leaves exact is no mistake.
  WarnOfUncompressedPassOptions uncompressed;
  uncompressed.identity = layers::asksForIdentity(codecs);
  manager.addPass(createWarnOfUncompressedPass(uncompressed));
  // Once codecs are known, and while permutes are as they were written: ids travel where changes do.
  manager.addPass(createCarrySampleIdsPass(CarrySampleIdsPassOptions{options.sampleIds}));
  // Once codecs are known: what one of them encoded must not stand for what another did.
  if (!options.reuseGathers.empty())
    manager.addPass(createReuseGathersPass(ReuseGathersPassOptions{options.reuseGathers}));
  // Once codecs are known: an operand keeps its own wherever it travels.
  bool isEntireModel = options.scope == CodecScope::EntireModel;
  bool overlaps = options.overlap || !options.prefetch.empty();
  // Nobody said whether, so the machine does.
  bool chooses = !options.machine.empty() && !options.overlap.hasValue() && options.prefetch.empty() &&
                 !isEntireModel && !options.decompose;
  if (chooses) {
    ChooseOverlapPassOptions overlap;
    overlap.machineFile = options.machine;
    if (options.groupBytes.hasValue())
      overlap.groupBytes = overlap.overlappedGroupBytes = options.groupBytes;
    manager.addPass(createChooseOverlapPass(overlap));
  } else if (isEntireModel || !overlaps)
    manager.addPass(createGroupCollectivesPass(GroupCollectivesPassOptions{
        isEntireModel ? std::numeric_limits<uint64_t>::max() : options.groupBytes}));
  // Only what travels together can be encoded together.
  if (isEntireModel)
    manager.addPass(createMergeLayersPass());
  // Then the algorithm, once it is known what travels together: by that the cost model judges.
  ChooseAlgorithmsPassOptions algorithms{options.algorithm, options.machine, options.local, options.inside,
                                         options.leaders};
  if (!overlaps)
    manager.addPass(createChooseAlgorithmsPass(algorithms));
  // Late: what comes before asks collectives for their layers, and the explicit form has none.
  if (options.decompose)
    manager.addPass(createDecomposeCollectivesPass());
  // Groups by itself, by when operands are there. Last: it refuses the explicit form, and passes before move
  // collectives without looking at what overlaps.
  if (overlaps) {
    OverlapPipelineOptions overlap;
    // What saves latency where nothing overlaps would be most of a model's gradients at once.
    if (options.groupBytes.hasValue())
      overlap.groupBytes = options.groupBytes;
    if (!options.prefetch.empty())
      overlap.prefetch = options.prefetch;
    buildOverlapPipeline(manager, overlap);
    manager.addPass(createChooseAlgorithmsPass(algorithms));
  }
  // Behind all that gives collectives other ids or operands.
  manager.addPass(createBindOptimizerStatePass());
  manager.addPass(createVerifyProgramPass());
}

void buildOverlapPipeline(mlir::OpPassManager &manager, const OverlapPipelineOptions &options) {
  // First what travels together: a group is available when its last operand is.
  manager.addPass(createGroupAsAvailablePass(GroupAsAvailablePassOptions{options.groupBytes}));
  // Then nothing waits behind what needs a later collective; what is between a start and its wait grows.
  manager.addPass(createOrderByCollectivesPass());
  manager.addPass(createStartCollectivesPass(StartCollectivesPassOptions{options.prefetch}));
}

void buildInstrumentPipeline(mlir::OpPassManager &manager, const DecisionOptions &options) {
  addDecisions(manager, options, {options.kinds.begin(), options.kinds.end()}, /*plan=*/"");
  AssignCodecsPassOptions exact;
  exact.codec = "identity";
  manager.addPass(createAssignCodecsPass(exact));
  manager.addPass(createGroupCollectivesPass(GroupCollectivesPassOptions{options.groupBytes}));
  // What was bound to other codecs is not read any more.
  manager.addPass(createBindOptimizerStatePass());
  manager.addPass(createVerifyProgramPass());
}

/// Lists the names of the options, which MLIR shows to who derives from them alone.
template <typename Options> struct NamesOf : Options {
  std::vector<std::string> get() const {
    std::vector<std::string> names;
    for (const auto &[name, option] : this->OptionsMap)
      names.push_back(name.str());
    llvm::sort(names);
    return names;
  }
};

/// Registers a pipeline whose errors name the option that was likely meant. MLIR's own say which one there is
/// not, on standard error, wherever other errors go.
template <typename Options>
static void registerPipeline(llvm::StringRef name, llvm::StringRef description,
                             void (*build)(mlir::OpPassManager &, const Options &)) {
  mlir::registerPassPipeline(
      name, description,
      [name = name.str(), build](mlir::OpPassManager &manager, llvm::StringRef text, auto errorHandler) {
        Options options;
        if (std::string option(layers::optionWithoutValue(text.str())); !option.empty())
          return errorHandler(name + ": expected a value for the option " + option);
        std::string wrong;
        llvm::raw_string_ostream stream(wrong);
        if (succeeded(options.parseFromString(text, stream))) {
          build(manager, options);
          return mlir::success();
        }
        llvm::StringRef reason = llvm::StringRef(wrong).trim();
        reason.consume_front("<Pass-Options-Parser>: ");
        llvm::StringRef unknown = reason;
        if (!unknown.consume_front("no such option "))
          return errorHandler(name + ": " + reason);
        return errorHandler(name + ": " +
                            layers::describeUnknownOption(unknown.str(), NamesOf<Options>().get()));
      },
      [](auto optHandler) { optHandler(Options()); });
}

void registerRewritePasses() {
  registerCgxRewritePasses();
  registerPipeline<CompressPipelineOptions>(
      "cgx-compress", "from an exported step to a program whose collectives are compressed",
      buildCompressPipeline);
  registerPipeline<OverlapPipelineOptions>(
      "cgx-overlap-collectives",
      "merges, orders and starts collectives, so that ranks exchange while they compute",
      buildOverlapPipeline);
  registerPipeline<DecisionOptions>(
      "cgx-instrument",
      "from an exported step to a program that sends everything exactly, and on whose layers cgx-run "
      "--profile and --adapt measure codecs",
      buildInstrumentPipeline);
}

} // namespace cgx
