//===-- Rewrite.h - Decide how each collective is compressed ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_REWRITE_H
#define CGX_PASSES_REWRITE_H

#include "cgx/Passes/CodecOptions.h"
#include "cgx/layers/ChooseAlgorithms.h"
#include "cgx/layers/FilterLayers.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

#include <memory>
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace cgx {

#define GEN_PASS_DECL
#include "cgx/Passes/RewritePasses.h.inc"

/// What one encoding is of.
enum class CodecScope { LayerWise, EntireModel };

/// The options of `--cgx-instrument`, which measures what may be compressed, and some of `--cgx-compress`.
/// Those of a pass have its names and defaults.
struct DecisionOptions : mlir::PassPipelineOptions<DecisionOptions> {
  ListOption<std::string> kinds{
      *this, "kinds",
      llvm::cl::desc(
          "What may be compressed: gradient and outer_gradient (default), weight, other, activation or "
          "some of it (activation_gradient, dispatch, combine, dispatch_gradient, combine_gradient)")};
  ListOption<std::string> exclude{*this, "exclude",
                                  llvm::cl::desc("Names of layers that stay exact, as globs")};
  Option<int64_t> minElements{*this, "min-elements", llvm::cl::desc("Smaller operands stay exact"),
                              llvm::cl::init(FilterLayersPassOptions().minElements)};
  Option<int64_t> minRank{*this, "min-rank", llvm::cl::desc("Parameters of fewer dimensions stay exact"),
                          llvm::cl::init(FilterLayersPassOptions().minRank)};
  ListOption<std::string> splitLayers{
      *this, "split-layers",
      llvm::cl::desc("Stacks of layers, as globs, whose layers are operands of their own")};
  Option<std::string> divergentCollectives{
      *this, "divergent-collectives",
      llvm::cl::desc("What to do about collectives that only some ranks may reach: warn, error or ignore"),
      llvm::cl::init(CheckControlFlowPassOptions().action)};
  Option<uint64_t> groupBytes{*this, "group-bytes",
                              llvm::cl::desc("Raw bytes of all-reduces that travel together"),
                              llvm::cl::init(GroupCollectivesPassOptions().groupBytes)};
};

/// The options of `--cgx-compress`.
struct CompressPipelineOptions : DecisionOptions {
  Option<std::string> plan{*this, "plan", llvm::cl::desc("Plan of cgx-plan, with a codec for each layer"),
                           llvm::cl::init("")};
  Option<std::string> codec{
      *this, "codec",
      llvm::cl::desc("Codec family, with its parameters in angle brackets or as options of their names"),
      llvm::cl::init(AssignCodecsPassOptions().codec)};
  /// `bits`, `bucket` and all others.
  CodecParameterOptions<Option<std::string>, Option<bool>, mlir::detail::PassOptions> parameters{*this};
  /// `gradient`, `weight` and all others.
  KindCodecOptions<Option<std::string>, mlir::detail::PassOptions> ofKinds{*this};
  Option<std::string> sampleIds{
      *this, "sample-ids",
      llvm::cl::desc("Argument with the number of each sample of the batch, for activation='... delta=f32 "
                     "samples=N'; usually one called ids or sample_ids"),
      llvm::cl::init("")};
  Option<std::string> along{
      *this, "along",
      llvm::cl::desc(
          "Codecs along axes of the mesh: shard<gradient=bits=8 weight=bits=8> host<gradient=bits=4>; "
          "elsewhere, other kinds than gradients stay exact unless they have a codec, too"),
      llvm::cl::init("")};
  Option<bool> qsdp{
      *this, "qsdp",
      llvm::cl::desc("Sharded training as QSDP does it: weights and gradients at 8 bits in buckets of "
                     "1024, weights shifted at random; weight and gradient say what is to be otherwise"),
      llvm::cl::init(false)};
  Option<std::string> backCodec{
      *this, "back-codec",
      llvm::cl::desc("Codec of what an all-reduce sends back, if it is another one than `codec`"),
      llvm::cl::init("")};
  Option<CodecScope> scope{
      *this, "scope", llvm::cl::desc("What is encoded as one vector"), llvm::cl::init(CodecScope::LayerWise),
      llvm::cl::values(clEnumValN(CodecScope::LayerWise, "layer-wise", "each layer"),
                       clEnumValN(CodecScope::EntireModel, "entire-model",
                                  "all layers of a codec that can travel together, whatever group-bytes"))};
  Option<std::string> errorFeedback{
      *this, "error-feedback",
      llvm::cl::desc("Make up for what encoding loses, and keep it in f32, bf16 or int8; none: do not"),
      llvm::cl::init(AssignCodecsPassOptions().errorFeedback)};
  Option<double> decay{*this, "error-feedback-decay",
                       llvm::cl::desc("The share of a loss that is made up for, above 0 and up to 1"),
                       llvm::cl::init(AssignCodecsPassOptions().decay)};
  Option<std::string> reuseGathers{*this, "reuse-gathers",
                                   llvm::cl::desc("Keep what the forward pass gathers for the backward pass, "
                                                  "payloads where they are shorter, up to this "
                                                  "size: 64MiB, or all"),
                                   llvm::cl::init("")};
  Option<bool> overlap{*this, "overlap",
                       llvm::cl::desc("Start collectives as soon as their operands are there, and wait where "
                                      "results are used; group-bytes is then 524288 by default. Without it, "
                                      "a machine file decides"),
                       llvm::cl::init(false)};
  Option<std::string> prefetch{
      *this, "prefetch",
      llvm::cl::desc("overlap, with at most this size of gathered tensors ahead of their use: 64MiB"),
      llvm::cl::init("")};
  Option<std::string> algorithm{*this, "algorithm",
                                llvm::cl::desc("Of all-reduces, one of " CGX_ALGORITHM_NAMES),
                                llvm::cl::init(ChooseAlgorithmsPassOptions().algorithm)};
  Option<std::string> machine{
      *this, "machine",
      llvm::cl::desc("What cgx-bench calibrate measured: auto becomes the fastest algorithm, and what "
                     "compression would make slower stays exact; overlap, where that is faster"),
      llvm::cl::init("")};
  Option<int64_t> local{*this, "local",
                        llvm::cl::desc("hierarchical: consecutive ranks of a group that are one host"),
                        llvm::cl::init(ChooseAlgorithmsPassOptions().local)};
  Option<std::string> inside{*this, "inside", llvm::cl::desc("hierarchical: codec between ranks of a host"),
                             llvm::cl::init(ChooseAlgorithmsPassOptions().inside)};
  Option<std::string> leaders{
      *this, "leaders", llvm::cl::desc("hierarchical: which ranks of a host talk to other hosts, all or one"),
      llvm::cl::init(ChooseAlgorithmsPassOptions().leaders)};
  Option<bool> decompose{*this, "decompose", llvm::cl::desc("Write compressed all-reduces in explicit form"),
                         llvm::cl::init(false)};
};

/// The options of `--cgx-overlap-collectives`: those of its passes.
struct OverlapPipelineOptions : mlir::PassPipelineOptions<OverlapPipelineOptions> {
  Option<uint64_t> groupBytes{
      *this, "group-bytes",
      llvm::cl::desc("Raw bytes that a group may hold; larger operands travel alone, 0 merges nothing"),
      llvm::cl::init(GroupAsAvailablePassOptions().groupBytes)};
  Option<std::string> prefetch{
      *this, "prefetch",
      llvm::cl::desc("Bytes of tensors that are being gathered, or wait for their first use: 64MiB, or all"),
      llvm::cl::init(StartCollectivesPassOptions().prefetch)};
};

/// The pass with codecs of kinds.
std::unique_ptr<mlir::Pass> createAssignCodecsPass(const AssignCodecsPassOptions &options,
                                                   const layers::KindCodecs &ofKinds);

/// Appends the passes that take an exported training step, or a program of cgx
/// collectives, to a program whose collectives are compressed as `options` say.
void buildCompressPipeline(mlir::OpPassManager &manager, const CompressPipelineOptions &options);

/// Appends the same passes without a choice of codecs: every layer travels exactly, and those that may be
/// compressed are marked for profiles and plans made at run time.
void buildInstrumentPipeline(mlir::OpPassManager &manager, const DecisionOptions &options);

/// Appends the passes that let ranks exchange while they compute.
void buildOverlapPipeline(mlir::OpPassManager &manager, const OverlapPipelineOptions &options);

/// Registers the passes declared here and the pipelines `--cgx-compress`, `--cgx-instrument` and
/// `--cgx-overlap-collectives`.
void registerRewritePasses();

} // namespace cgx

#endif // CGX_PASSES_REWRITE_H
