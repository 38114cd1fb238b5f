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

/// Returns the options of the pass that decides which operands stay uncompressed.
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

/// Returns the codecs of kinds that options give, or stand for.
static layers::KindCodecs getKindCodecs(const CompressPipelineOptions &options) {
  return layers::completeKindCodecs(options.ofKinds.get(), options.qsdp, options.along,
                                    {options.kinds.begin(), options.kinds.end()});
}

/// Returns the options of the pass that assigns the codec of kinds without their own.
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

/// Returns whether a codec encodes only all-reduces. The pass that assigns it reports errors in its text.
static bool needsAllReduces(const std::string &codec) {
  std::string reason;
  const std::optional<layers::Codec> built = layers::parseCodecText(codec, reason);
  return built && built->needsAllReduce();
}

/// Adds the passes from any input to one rank's program with the collectives that it needs, and the decision
/// which operands must stay uncompressed.
static void addDecisions(mlir::OpPassManager &manager, const DecisionOptions &options,
                         const std::vector<std::string> &kinds, const std::string &plan,
                         bool scatters = true) {
  // The passes below see one rank's program with cgx collectives.
  manager.addPass(createEnsurePerRankPass(EnsurePerRankPassOptions{scatters}));
  // From here on the passes rely on the postconditions of the import.
  manager.addPass(createVerifyProgramPass());
  // Control flow is checked as the user wrote it: later passes must not hide a collective that may deadlock.
  manager.addPass(createCheckControlFlowPass(CheckControlFlowPassOptions{options.divergentCollectives}));
  // Warnings about probable mistakes of the script come first, while everything is as it was written.
  manager.addPass(createWarnOfDivergencePass());
  manager.addPass(createWarnOfRepeatedSumsPass());
  // Replicated operands are folded before decisions are made, so that none is made about a reduction that
  // nobody needs.
  manager.addPass(createFoldReplicatedPass());
  // Reductions are hoisted and combined before decisions, too. The import did so; a program written by hand
  // was not imported, and folding may leave sums of reductions.
  manager.addPass(createHoistReductionsPass());
  manager.addPass(createCombineReductionsPass());
  if (scatters)
    manager.addPass(createScatterReductionsPass());
  // Products are reduced when it is known which values are whole on all ranks, and before decisions: each
  // product is a layer of its own.
  manager.addPass(createReduceProductsPass());
  // Activations are checked when it is known which ones stay: warnings about unneeded ones would help nobody.
  manager.addPass(createCheckActivationsPass());
  // This gives edges of pipelines kinds and names, by which decisions are made.
  manager.addPass(createFindPipelinesPass());
  // Bubbles are silenced after edges that carry nothing are dropped: data that goes around a ring would be
  // needed in every tick.
  manager.addPass(createSilenceBubblesPass());
  // Decisions are about layers, so stacks are split first into the layers that are to have decisions of their
  // own.
  SplitStackedLayersPassOptions stacks;
  stacks.layers.assign(options.splitLayers.begin(), options.splitLayers.end());
  stacks.plan = plan;
  manager.addPass(createSplitStackedLayersPass(stacks));
  // The filter first decides which operands must stay uncompressed; the codec of the others is chosen later.
  // Each decision has one place.
  manager.addPass(createFilterLayersPass(getFilter(options, kinds, plan)));
  // Among the others, operands whose codec would make ranks differ stay uncompressed, also if a plan comes
  // while the step runs.
  manager.addPass(createKeepReplicasAlikePass());
}

void buildCompressPipeline(mlir::OpPassManager &manager, const CompressPipelineOptions &options) {
  layers::CodecOptions codecs;
  codecs.codec = options.parameters.addTo(options.codec.getValue());
  codecs.ofKinds = getKindCodecs(options);
  codecs.along = options.along;
  codecs.plan = options.plan;
  // A codec of all-reduces sends less than half of an uncompressed reduce-scatter.
  addDecisions(manager, options,
               layers::kindsToCompress({options.kinds.begin(), options.kinds.end()}, codecs.ofKinds),
               options.plan,
               /*scatters=*/!options.plan.empty() ||
                   !needsAllReduces(layers::codecOfGradients(codecs.codec, codecs.ofKinds)));
  manager.addPass(createAssignCodecsPass(getCodec(options), codecs.ofKinds));
  // Gradients are unscaled when it is known which layers have error feedback: without it, units do not
  // matter.
  manager.addPass(createUnscaleGradientsPass());
  // This warning, too, concerns what the pass before left alone.
  manager.addPass(createWarnOfLostResidualsPass());
  // By now every operand has its codec or its reason. An operand that a machine file leaves uncompressed
  // later is no mistake.
  WarnOfUncompressedPassOptions uncompressed;
  uncompressed.identity = layers::asksForIdentity(codecs);
  manager.addPass(createWarnOfUncompressedPass(uncompressed));
  // Sample ids are carried when codecs are known, and while permutes are as they were written: ids travel
  // where changes do.
  manager.addPass(createCarrySampleIdsPass(CarrySampleIdsPassOptions{options.sampleIds}));
  // Gathers are reused when codecs are known: the encoding by one codec must not replace that by another.
  if (!options.reuseGathers.empty())
    manager.addPass(createReuseGathersPass(ReuseGathersPassOptions{options.reuseGathers}));
  // Grouping comes after codecs are known: an operand keeps its own wherever it travels.
  bool isEntireModel = options.scope == CodecScope::EntireModel;
  bool overlaps = options.overlap || !options.prefetch.empty();
  // Without the option, the machine file decides about overlap.
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
  // Only operands that travel together can be encoded together.
  if (isEntireModel)
    manager.addPass(createMergeLayersPass());
  // Algorithms are chosen when it is known which operands travel together, since the cost model judges by
  // that.
  ChooseAlgorithmsPassOptions algorithms{options.algorithm, options.machine, options.local, options.inside,
                                         options.leaders};
  if (!overlaps)
    manager.addPass(createChooseAlgorithmsPass(algorithms));
  // Decomposition comes late: passes before ask collectives for their layers, and the explicit form has none.
  if (options.decompose)
    manager.addPass(createDecomposeCollectivesPass());
  // The overlap pipeline forms its own groups, by when operands are available. It comes last: it rejects the
  // explicit form, and the passes before move collectives without regard to overlap.
  if (overlaps) {
    OverlapPipelineOptions overlap;
    // Without overlap, groups save latency; with it, that size would hold most of a model's gradients at
    // once.
    if (options.groupBytes.hasValue())
      overlap.groupBytes = options.groupBytes;
    if (!options.prefetch.empty())
      overlap.prefetch = options.prefetch;
    buildOverlapPipeline(manager, overlap);
    manager.addPass(createChooseAlgorithmsPass(algorithms));
  }
  // State is bound after all passes that give collectives other ids or operands.
  manager.addPass(createBindOptimizerStatePass());
  manager.addPass(createVerifyProgramPass());
}

void buildOverlapPipeline(mlir::OpPassManager &manager, const OverlapPipelineOptions &options) {
  // Operands that travel together are grouped first: a group is available when its last operand is.
  manager.addPass(createGroupAsAvailablePass(GroupAsAvailablePassOptions{options.groupBytes}));
  // Ordering then makes sure that nothing waits for an op that needs a later collective, which widens the gap
  // between a start and its wait.
  manager.addPass(createOrderByCollectivesPass());
  manager.addPass(createStartCollectivesPass(StartCollectivesPassOptions{options.prefetch}));
}

void buildInstrumentPipeline(mlir::OpPassManager &manager, const DecisionOptions &options) {
  addDecisions(manager, options, {options.kinds.begin(), options.kinds.end()}, /*plan=*/"");
  AssignCodecsPassOptions exact;
  exact.codec = "identity";
  manager.addPass(createAssignCodecsPass(exact));
  manager.addPass(createGroupCollectivesPass(GroupCollectivesPassOptions{options.groupBytes}));
  // State that was bound to other codecs is not read any more.
  manager.addPass(createBindOptimizerStatePass());
  manager.addPass(createVerifyProgramPass());
}

/// Lists the names of the options, which MLIR shows only to derived classes.
template <typename Options> struct NamesOf : Options {
  std::vector<std::string> get() const {
    std::vector<std::string> names;
    for (const auto &[name, option] : this->OptionsMap)
      names.push_back(name.str());
    llvm::sort(names);
    return names;
  }
};

/// Registers a pipeline whose errors suggest the option that was likely meant. MLIR's own error only names
/// the wrong one, and always goes to standard error.
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
