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

/// The scope of one encoding.
enum class CodecScope { LayerWise, EntireModel };

/// The options of `--cgx-instrument`, which measures layers that may be compressed, and some of
/// `--cgx-compress`. Options of a pass have its names and defaults.
struct DecisionOptions : mlir::PassPipelineOptions<DecisionOptions> {
  ListOption<std::string> kinds{
      *this, "kinds",
      llvm::cl::desc(
          "Kinds that may be compressed: gradient and outer_gradient (default), weight, other, activation or "
          "a kind that it covers (activation_gradient, dispatch, combine, dispatch_gradient, "
          "combine_gradient)")};
  ListOption<std::string> exclude{*this, "exclude",
                                  llvm::cl::desc("Names of layers that stay uncompressed, as globs")};
  Option<int64_t> minElements{*this, "min-elements", llvm::cl::desc("Smaller operands stay uncompressed"),
                              llvm::cl::init(FilterLayersPassOptions().minElements)};
  Option<int64_t> minRank{*this, "min-rank",
                          llvm::cl::desc("Parameters of fewer dimensions stay uncompressed"),
                          llvm::cl::init(FilterLayersPassOptions().minRank)};
  ListOption<std::string> splitLayers{
      *this, "split-layers",
      llvm::cl::desc("Stacks of layers, as globs, whose layers become operands of their own")};
  Option<std::string> divergentCollectives{
      *this, "divergent-collectives",
      llvm::cl::desc("Response to collectives that only some ranks may reach: warn, error or ignore"),
      llvm::cl::init(CheckControlFlowPassOptions().action)};
  Option<uint64_t> groupBytes{*this, "group-bytes",
                              llvm::cl::desc("Uncompressed bytes of all-reduces that travel together"),
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
  /// The options for `bits`, `bucket` and all other parameters.
  CodecParameterOptions<Option<std::string>, Option<bool>, mlir::detail::PassOptions> parameters{*this};
  /// The options for `gradient`, `weight` and all other kinds.
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
          "elsewhere, kinds other than gradients stay uncompressed unless they have a codec, too"),
      llvm::cl::init("")};
  Option<bool> qsdp{
      *this, "qsdp",
      llvm::cl::desc("Sharded training as QSDP does it: weights and gradients at 8 bits in buckets of "
                     "1024, weights shifted at random; weight and gradient override it"),
      llvm::cl::init(false)};
  Option<std::string> backCodec{
      *this, "back-codec",
      llvm::cl::desc("Codec of the results that an all-reduce sends back; by default `codec`"),
      llvm::cl::init("")};
  Option<CodecScope> scope{
      *this, "scope", llvm::cl::desc("Layers that are encoded as one vector"),
      llvm::cl::init(CodecScope::LayerWise),
      llvm::cl::values(clEnumValN(CodecScope::LayerWise, "layer-wise", "each layer"),
                       clEnumValN(CodecScope::EntireModel, "entire-model",
                                  "all layers of a codec that can travel together, whatever group-bytes"))};
  Option<std::string> errorFeedback{
      *this, "error-feedback",
      llvm::cl::desc("Error feedback, by the type of the residual: none, f32, bf16 or int8"),
      llvm::cl::init(AssignCodecsPassOptions().errorFeedback)};
  Option<double> decay{
      *this, "error-feedback-decay",
      llvm::cl::desc("Share of an encoding error that error feedback corrects, above 0 and up to 1"),
      llvm::cl::init(AssignCodecsPassOptions().decay)};
  Option<std::string> reuseGathers{
      *this, "reuse-gathers",
      llvm::cl::desc("Keep gathers of the forward pass for the backward pass, as "
                     "payloads where they are shorter, up to this "
                     "size: 64MiB, or all"),
      llvm::cl::init("")};
  Option<bool> overlap{
      *this, "overlap",
      llvm::cl::desc("Start collectives as soon as their operands are available, and wait where "
                     "results are used; group-bytes is then 524288 by default. Without it, "
                     "a machine file decides"),
      llvm::cl::init(false)};
  Option<std::string> prefetch{
      *this, "prefetch",
      llvm::cl::desc("overlap, with at most this size of gathered tensors ahead of their use: 64MiB"),
      llvm::cl::init("")};
  Option<std::string> algorithm{*this, "algorithm",
                                llvm::cl::desc("Algorithm of all-reduces, one of " CGX_ALGORITHM_NAMES),
                                llvm::cl::init(ChooseAlgorithmsPassOptions().algorithm)};
  Option<std::string> machine{
      *this, "machine",
      llvm::cl::desc(
          "Machine file of cgx-bench calibrate: auto becomes the fastest algorithm, all-reduces that "
          "compression would slow down stay uncompressed, and collectives overlap where that is faster"),
      llvm::cl::init("")};
  Option<int64_t> local{*this, "local",
                        llvm::cl::desc("hierarchical: consecutive ranks of a group that are one host"),
                        llvm::cl::init(ChooseAlgorithmsPassOptions().local)};
  Option<std::string> inside{*this, "inside", llvm::cl::desc("hierarchical: codec between ranks of a host"),
                             llvm::cl::init(ChooseAlgorithmsPassOptions().inside)};
  Option<std::string> leaders{
      *this, "leaders", llvm::cl::desc("hierarchical: ranks of a host that send to other hosts, all or one"),
      llvm::cl::init(ChooseAlgorithmsPassOptions().leaders)};
  Option<bool> decompose{*this, "decompose", llvm::cl::desc("Write compressed all-reduces in explicit form"),
                         llvm::cl::init(false)};
};

/// The options of `--cgx-overlap-collectives`: those of its passes.
struct OverlapPipelineOptions : mlir::PassPipelineOptions<OverlapPipelineOptions> {
  Option<uint64_t> groupBytes{
      *this, "group-bytes",
      llvm::cl::desc(
          "Uncompressed bytes that a fusion group may hold; larger operands travel alone, 0 merges nothing"),
      llvm::cl::init(GroupAsAvailablePassOptions().groupBytes)};
  Option<std::string> prefetch{
      *this, "prefetch",
      llvm::cl::desc("Bytes of tensors that are being gathered, or wait for their first use: 64MiB, or all"),
      llvm::cl::init(StartCollectivesPassOptions().prefetch)};
};

/// Creates the pass with the codecs of kinds.
std::unique_ptr<mlir::Pass> createAssignCodecsPass(const AssignCodecsPassOptions &options,
                                                   const layers::KindCodecs &ofKinds);

/// Appends the passes that take an exported training step, or a program of cgx
/// collectives, to a program whose collectives are compressed as `options` say.
void buildCompressPipeline(mlir::OpPassManager &manager, const CompressPipelineOptions &options);

/// Appends these passes without a choice of codecs: every layer stays uncompressed, and layers that may be
/// compressed are marked for profiles and plans made at run time.
void buildInstrumentPipeline(mlir::OpPassManager &manager, const DecisionOptions &options);

/// Appends the passes that let ranks exchange while they compute.
void buildOverlapPipeline(mlir::OpPassManager &manager, const OverlapPipelineOptions &options);

/// Registers the passes declared here and the pipelines `--cgx-compress`, `--cgx-instrument` and
/// `--cgx-overlap-collectives`.
void registerRewritePasses();

} // namespace cgx

#endif // CGX_PASSES_REWRITE_H
