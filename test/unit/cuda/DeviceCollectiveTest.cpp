//===-- DeviceCollectiveTest.cpp - Collectives of GPU buffers against those of the host ---===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same program runs in two jobs, one with its buffers in host memory and one with them on GPUs, over each
// transport that handles device buffers itself between them. All results must be the same bits.

#include "../kernels/Inputs.h"
#include "Contexts.h"
#include "Job.h"
#include "Programs.h"

#include "cgx/formats/CodecJson.h"
#include "cgx/kernels/cuda_peers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace cgx::test {
namespace {

using cuda::MemoryKind;
using Outputs = std::vector<std::vector<uint8_t>>;

struct Collective {
  const char *kind;
  Json more;
  std::vector<OperandSpec> operands;
  const char *feedback = nullptr;       ///< the storage of residuals, or null
  std::optional<cgx_codec> inside = {}; ///< codec within a host, if the algorithm has two levels
};

cgx_codec maxAbs() {
  cgx_codec codec = quantize(8, 512);
  codec.scaling = CGX_SCALING_MAX_ABS;
  return codec;
}

cgx_codec gcomp(cgx_optimizer optimizer, float learningRate) {
  cgx_codec codec = {.family = CGX_CODEC_GCOMP, .optimizer = uint32_t(optimizer)};
  codec.learning_rate = learningRate;
  codec.momentum = 0.5f;
  return codec;
}

OperandSpec operand(cgx_element_type type, uint64_t elements, cgx_codec codec,
                    std::optional<cgx_codec> back = {}) {
  return {.type = type, .shape = {elements}, .codec = codec, .back = back};
}

OperandSpec matrixOf(cgx_element_type type, uint64_t rows, uint64_t columns, cgx_codec codec) {
  return {.type = type, .shape = {rows, columns}, .codec = codec};
}

OperandSpec matrix(cgx_element_type type, uint64_t rows, uint64_t columns, uint32_t rank) {
  return matrixOf(type, rows, columns, {.family = CGX_CODEC_LOWRANK, .rank = rank});
}

const std::vector<Collective> collectives = {
    // Retained payloads are decoded again whatever the operands of the other gather are; collectives are
    // named by number.
    {"all_gather", {{"dim", 1}}, {matrixOf(CGX_F32, 3, 700, quantize(4, 128)), matrixOf(CGX_BF16, 5, 7, {})}},
    {"all_gather", {{"dim", 0}}, {operand(CGX_F32, 900, {})}},
    {"all_gather",
     {{"dim", 1}, {"decodes_again", 0}},
     {matrixOf(CGX_F32, 3, 700, {}), matrixOf(CGX_BF16, 5, 7, {})}},
    {"all_gather", {{"dim", 0}, {"decodes_again", 1}}, {operand(CGX_F32, 900, {})}},
    {"all_reduce", {{"reduction", "sum"}}, {operand(CGX_F32, 100003, quantize(4, 128))}},
    {"all_reduce",
     {{"reduction", "mean"}},
     {operand(CGX_F16, 70000, quantize(4, 128)), operand(CGX_BF16, 517, maxAbs()),
      operand(CGX_F32, 1, quantize(2, 64)), operand(CGX_F32, 40000, quantize(8, 512, CGX_ROUND_NEAREST))}},
    {"all_reduce",
     {{"reduction", "sum"}},
     {operand(CGX_F32, 5000, {.family = CGX_CODEC_TERNARY, .bucket = 64}),
      operand(CGX_F32, 5000, {.family = CGX_CODEC_CAST, .format = CGX_FORMAT_BF16}),
      operand(CGX_F32, 5000, quantize(4, 128, CGX_ROUND_STOCHASTIC, CGX_SCALE_BF16, /*checksum=*/true))}},
    {"all_reduce",
     {{"reduction", "sum"}},
     {operand(CGX_F32, 3000, {.family = CGX_CODEC_RANDK, .density = 0.1f}),
      operand(CGX_BF16, 5000, {.family = CGX_CODEC_THRESHOLD, .threshold = 0.5f})}},
    // Uncompressed operands beside compressed ones, and payloads that vary in size.
    {"all_reduce",
     {{"reduction", "mean"}},
     {operand(CGX_F32, 7000, quantize(4, 128)), operand(CGX_F32, 300, {}), operand(CGX_F16, 77, {}),
      operand(CGX_BF16, 9000, {.family = CGX_CODEC_LOSSLESS})}},
    {"all_reduce",
     {{"reduction", "sum"}},
     {operand(CGX_F32, 3000, {.family = CGX_CODEC_TOPK, .density = 0.1f}),
      operand(CGX_F32, 9000, {.family = CGX_CODEC_LOSSLESS}),
      operand(CGX_F16, 5003, {.family = CGX_CODEC_TOPK, .bits = 4, .bucket = 1000, .density = 0.1f})}},
    // Optimizer state is read by the encoder, on the GPU or on the host for staged operands.
    {"all_reduce",
     {{"reduction", "mean"}},
     {operand(CGX_F32, 20000, gcomp(CGX_OPTIMIZER_MOMENTUM, 0.0f)), operand(CGX_F32, 300, {}),
      operand(CGX_BF16, 9000, gcomp(CGX_OPTIMIZER_RMSPROP, 0.01f))}},
    {"all_reduce", {{"reduction", "sum"}}, {operand(CGX_F32, 9000, gcomp(CGX_OPTIMIZER_SGD, 0.1f))}, "f32"},
    {"all_reduce",
     {{"reduction", "sum"}, {"algorithm", "ring"}},
     {operand(CGX_F32, 5000, gcomp(CGX_OPTIMIZER_NESTEROV, 0.0f))}},
    // Pieces that are not aligned are staged.
    {"all_reduce", {{"reduction", "sum"}}, {operand(CGX_F32, 90000, quantize(3, 100))}},
    // One_shot sends everything to all ranks; operands with residuals are staged.
    {"all_reduce",
     {{"reduction", "mean"}, {"algorithm", "one_shot"}},
     {operand(CGX_F32, 70001, quantize(4, 128)), operand(CGX_F32, 300, {}), operand(CGX_BF16, 517, maxAbs()),
      operand(CGX_F16, 777, {.family = CGX_CODEC_LOSSLESS})}},
    {"all_reduce", {{"reduction", "max"}, {"algorithm", "one_shot"}}, {operand(CGX_F32, 31, {})}},
    {"all_reduce",
     {{"reduction", "sum"}, {"algorithm", "one_shot"}},
     {operand(CGX_F32, 5000, quantize(4, 128))},
     "f32"},
    // Ring and tree.
    {"all_reduce",
     {{"reduction", "mean"}, {"algorithm", "ring"}},
     {operand(CGX_F32, 70001, quantize(4, 128)), operand(CGX_BF16, 517, maxAbs()), operand(CGX_F32, 1, {}),
      operand(CGX_F16, 9000, {.family = CGX_CODEC_LOSSLESS})},
     "f32"},
    {"all_reduce",
     {{"reduction", "sum"}, {"algorithm", "ring"}},
     {operand(CGX_F16, 40000, quantize(2, 128), quantize(8, 512)), operand(CGX_BF16, 1, quantize(4, 64))},
     "int8"},
    {"all_reduce",
     {{"reduction", "mean"}, {"algorithm", "tree"}},
     {operand(CGX_F32, 70001, quantize(4, 128)), operand(CGX_BF16, 517, quantize(8, 64), cgx_codec{}),
      operand(CGX_F32, 1, {}), operand(CGX_F32, 3000, {.family = CGX_CODEC_TOPK, .density = 0.1f})},
     "bf16"},
    {"all_reduce",
     {{"reduction", "sum"}, {"algorithm", "tree"}},
     {operand(CGX_F32, 30000, quantize(2, 128)), operand(CGX_F16, 777, {.family = CGX_CODEC_LOSSLESS})},
     "int8"},
    {"all_reduce",
     {{"reduction", "sum"}, {"algorithm", "tree"}},
     {matrix(CGX_F32, 50, 70, 2), operand(CGX_F32, 300, {})}},
    // Halving and doubling; operands whose payloads vary in size are staged.
    {"all_reduce",
     {{"reduction", "mean"}, {"algorithm", "halving_doubling"}},
     {operand(CGX_F32, 70001, quantize(4, 128)), operand(CGX_BF16, 517, maxAbs()), operand(CGX_F32, 1, {})},
     "f32"},
    {"all_reduce",
     {{"reduction", "sum"}, {"algorithm", "halving_doubling"}},
     {operand(CGX_F16, 40000, quantize(2, 128), quantize(8, 512)),
      operand(CGX_F16, 9000, {.family = CGX_CODEC_LOSSLESS})}},
    {"all_reduce", {{"reduction", "min"}, {"algorithm", "halving_doubling"}}, {operand(CGX_F32, 3001, {})}},
    {"all_reduce", {{"reduction", "max"}, {"algorithm", "ring"}}, {operand(CGX_F32, 3001, {})}},
    {"all_reduce", {{"reduction", "min"}, {"algorithm", "tree"}}, {operand(CGX_F32, 3001, {})}},
    // Permutes: one from a rank to itself, and others whose pairs shifted() makes.
    {"permute", {{"source_target_pairs", Json::array({{0, 0}})}}, {operand(CGX_F32, 300, quantize(4, 128))}},
    {"permute",
     Json::object(),
     {operand(CGX_F32, 5003, quantize(4, 128)), operand(CGX_BF16, 77, {}),
      operand(CGX_F16, 900, {.family = CGX_CODEC_LOSSLESS})},
     "f32"},
    // Each pair sends in one of two runs; its residual is stored on the host.
    {"permute",
     {{"sends", "in turn"}},
     {operand(CGX_F32, 5003, quantize(4, 128)), operand(CGX_BF16, 77, {}),
      operand(CGX_F16, 900, {.family = CGX_CODEC_LOSSLESS})}},
    {"permute", {{"sends", "in turn"}}, {operand(CGX_F32, 5003, quantize(4, 128))}, "f32"},
    // Other codecs on the downlink, among them one that loses nothing and some whose payloads have other
    // lengths.
    {"all_reduce",
     {{"reduction", "mean"}},
     {operand(CGX_F32, 70001, quantize(2, 128), quantize(8, 512)),
      operand(CGX_BF16, 1, quantize(4, 64), cgx_codec{}), operand(CGX_F16, 513, {})},
     "f32"},
    {"all_reduce",
     {{"reduction", "sum"}},
     {operand(CGX_F16, 5003, {}, quantize(4, 128)), operand(CGX_F32, 3000, quantize(4, 128)),
      operand(CGX_F32, 4000, quantize(8, 128), cgx_codec{.family = CGX_CODEC_TOPK, .density = 0.1f}),
      operand(CGX_F32, 5001, gcomp(CGX_OPTIMIZER_MOMENTUM, 0.0f), quantize(8, 128)),
      operand(CGX_BF16, 3001, quantize(4, 128), gcomp(CGX_OPTIMIZER_RMSPROP, 0.0f))}},
    // Slices: shards of weights and of gradients, with all kinds of codecs.
    {"all_gather",
     {{"dim", 0}},
     {operand(CGX_F32, 600, quantize(4, 128)), operand(CGX_BF16, 1, quantize(8, 512)),
      operand(CGX_F16, 777, {.family = CGX_CODEC_LOSSLESS}), operand(CGX_F32, 33, {})}},
    {"all_gather", {{"dim", 0}}, {matrixOf(CGX_F32, 5, 101, quantize(2, 64))}, "f32"},
    {"reduce_scatter",
     {{"dim", 0}, {"reduction", "mean"}},
     {operand(CGX_F32, 1200, quantize(4, 128)), operand(CGX_BF16, 12, quantize(8, 512)),
      operand(CGX_F16, 12 * 77, {.family = CGX_CODEC_LOSSLESS}), operand(CGX_F32, 12 * 33, {})}},
    {"reduce_scatter",
     {{"dim", 0}, {"reduction", "sum"}},
     {operand(CGX_F16, 12 * 129, quantize(2, 64))},
     "bf16"},
    {"reduce_scatter",
     {{"dim", 0}, {"reduction", "sum"}},
     {operand(CGX_F32, 12 * 128, quantize(2, 64))},
     "int8"},
    {"all_to_all",
     {{"split_dim", 0}, {"concat_dim", 0}},
     {matrixOf(CGX_F32, 12, 101, quantize(4, 128)), matrixOf(CGX_BF16, 12, 7, {})}},
    // Slices whose elements are not contiguous.
    {"all_gather",
     {{"dim", 1}},
     {matrixOf(CGX_F32, 6, 101, quantize(4, 128)),
      matrixOf(CGX_F16, 3, 1, {}),
      {.type = CGX_BF16, .shape = {2, 3, 5}, .codec = quantize(8, 64)}},
     "f32"},
    {"reduce_scatter",
     {{"dim", 1}, {"reduction", "mean"}},
     {matrixOf(CGX_F32, 7, 12 * 33, quantize(4, 128)), matrixOf(CGX_BF16, 5, 12, {})},
     "f32"},
    {"all_to_all", {{"split_dim", 0}, {"concat_dim", 1}}, {matrixOf(CGX_F32, 12, 33, quantize(4, 128))}},
    {"all_to_all", {{"split_dim", 1}, {"concat_dim", 0}}, {matrixOf(CGX_F16, 33, 12, {})}},
    {"broadcast", {{"root", 0}}, {operand(CGX_F32, 5003, quantize(4, 128)), operand(CGX_BF16, 1, {})}},
    // Two levels: within hosts, between hosts, and within hosts again.
    {"all_reduce",
     {{"reduction", "mean"}},
     {operand(CGX_F32, 70001, quantize(4, 128)), operand(CGX_BF16, 517, quantize(8, 128)),
      operand(CGX_F32, 1, {})},
     "f32",
     quantize(8, 512)},
    {"all_reduce",
     {{"reduction", "sum"}},
     {operand(CGX_F16, 9001, quantize(4, 128)), matrix(CGX_F32, 50, 70, 2),
      operand(CGX_F32, 4001, gcomp(CGX_OPTIMIZER_MOMENTUM, 0.0f))},
     nullptr,
     cgx_codec{}},
    // Residuals are stored by the encoder, on the GPU; those of chunks that share scales are staged.
    {"all_reduce",
     {{"reduction", "mean"}},
     {operand(CGX_F32, 70001, quantize(2, 128)), operand(CGX_BF16, 900, quantize(4, 64))},
     "f32"},
    {"all_reduce", {{"reduction", "sum"}}, {operand(CGX_F16, 30000, quantize(2, 128))}, "bf16"},
    {"all_reduce",
     {{"reduction", "mean"}},
     {operand(CGX_F32, 9001, {.family = CGX_CODEC_TOPK, .bits = 1, .bucket = 500, .density = 0.1f})},
     "f32"},
    {"all_reduce", {{"reduction", "sum"}}, {operand(CGX_F32, 30000, quantize(2, 128))}, "int8"},
    {"all_reduce", {{"reduction", "sum"}}, {operand(CGX_F32, 3000, quantize(2, 64))}, "int8"},
    // Matrices as factors, alone and beside operands that travel with the first factors.
    {"all_reduce", {{"reduction", "sum"}}, {matrix(CGX_F16, 33, 20, 1), operand(CGX_F32, 300, {})}},
    {"all_reduce",
     {{"reduction", "mean"}},
     {matrix(CGX_F32, 40, 1100, 3), operand(CGX_F32, 9001, quantize(4, 128)), matrix(CGX_BF16, 129, 64, 5)},
     "f32"},
    {"all_reduce", {{"reduction", "mean"}}, {matrix(CGX_F32, 50, 70, 2)}, "int8"},
    // Uncompressed collectives, which a link of GPUs can run by itself.
    {"all_reduce", {{"reduction", "max"}}, {operand(CGX_F32, 3001, {}), operand(CGX_F32, 5, {})}},
    {"all_gather", {{"dim", 0}}, {operand(CGX_BF16, 600, {})}},
    {"reduce_scatter", {{"dim", 0}, {"reduction", "min"}}, {operand(CGX_F32, 1200, {})}},
    {"broadcast", {{"root", 0}}, {operand(CGX_F16, 77, {})}},
};

/// Codecs that lose nothing and so have no residual.
const std::set<std::string> kExact = {"identity", "lossless"};

struct Setting {
  uint32_t ranks;
  const char *transport;
  bool processes;       ///< one process for each rank
  bool apart = false;   ///< each rank on a host of its own, so that none can open another's memory
  uint32_t threads = 1; ///< ranks of each process, which counts as one host, if ranks are processes
};

bool isNccl(const std::string &transport) { return transport.starts_with("nccl"); }

/// Returns the number of GPUs that a child process sees. A process that has used CUDA cannot fork ranks that
/// use it.
uint32_t countInProcess() {
  const pid_t child = fork();
  if (child == 0)
    _exit(int(cuda::deviceCount()));
  int status = 0;
  waitpid(child, &status, 0);
  return uint32_t(WEXITSTATUS(status));
}

/// Returns the number of GPUs. settings() calls it before any test runs.
uint32_t gpuCount() {
  static const uint32_t count = countInProcess();
  return count;
}

class DeviceCollectiveTest : public testing::TestWithParam<Setting> {
protected:
  uint32_t ranks() const { return GetParam().ranks; }
  std::string transport() const { return GetParam().transport; }

  void SetUp() override {
    if (gpuCount() == 0)
      GTEST_SKIP() << "no CUDA device";
    if (isNccl(transport()) && gpuCount() < ranks())
      GTEST_SKIP() << "NCCL expects a GPU for each of " << ranks() << " ranks, got " << gpuCount();
    if (GetParam().processes) {
      ASSERT_EQ(countInProcess(), gpuCount())
          << "this process has used CUDA, so those that it forks see no GPU: expected it to run settings of "
             "processes before all other tests";
    }
  }

  std::string manifest() const {
    std::vector<Json> list;
    for (uint32_t id = 0; id < collectives.size(); ++id) {
      Json &made = list.emplace_back(collectiveJson(id, collectives[id].kind, groups(id),
                                                    collectives[id].operands, collectives[id].more));
      if (const auto &inside = collectives[id].inside; inside && ranks() % 2 == 0) {
        made["algorithm"] = "hierarchical";
        made["hierarchy"] = {
            {"local", 2}, {"leaders", id % 2 ? "one" : "all"}, {"inside", writeCodec(*inside)}};
      }
      if (made["kind"] == "permute" && !made.contains("source_target_pairs"))
        made["source_target_pairs"] = shifted();
      if (made.contains("sends")) {
        made["sends"] = Json::array();
        for (size_t pair = 0; pair < made["source_target_pairs"].size(); ++pair)
          made["sends"].push_back(pair % 2 == 0 ? "10" : "01");
      }
      for (Json &operand : made["operands"])
        if (const char *feedback = collectives[id].feedback;
            feedback && !kExact.contains(operand["codec"]["family"])) {
          operand["codec"]["error_feedback"] = feedback;
          operand["codec"]["decay"] = 0.9;
        }
    }
    return manifestText(ranks(), list);
  }

  /// Returns the groups of a collective. With four ranks, every other collective has two groups, as along a
  /// mesh axis.
  std::vector<std::vector<uint32_t>> groups(uint32_t id) const {
    return ranks() == 4 && id % 2 == 1 ? std::vector<std::vector<uint32_t>>{{0, 2}, {1, 3}}
                                       : everybody(ranks());
  }
  uint64_t positions(uint32_t id) const { return groups(id)[0].size(); }

  /// Returns pairs from each rank to the next one, except to the first.
  Json shifted() const {
    Json pairs = Json::array();
    for (uint32_t rank = 0; rank + 1 < ranks(); ++rank)
      pairs.push_back({rank, rank + 1});
    return pairs;
  }

  uint64_t outputElements(uint32_t id, const OperandSpec &operand) const {
    const std::string kind = collectives[id].kind;
    return kind == "all_gather"       ? operand.elements() * positions(id)
           : kind == "reduce_scatter" ? operand.elements() / positions(id)
                                      : operand.elements();
  }

  /// Runs all collectives twice a step, one of the runs beside the step, for two steps. Appends the results
  /// of one rank in order.
  void runRank(cgx_context *context, uint32_t rank, bool onDevice, Outputs &outputs) const {
    std::mt19937_64 random(testSeed() + rank);
    for (uint64_t step = 0; step < 2; ++step) {
      ASSERT_EQ(cgx_context_begin_step(context, step), CGX_OK);
      for (int repetition = 0; repetition < 2; ++repetition)
        for (uint32_t id = 0; id < collectives.size(); ++id)
          ASSERT_NO_FATAL_FAILURE(
              runOne(context, id, /*beside=*/(repetition + id) % 2 == 1, onDevice, random, outputs));
      ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
      ASSERT_NO_FATAL_FAILURE(addState(context, outputs));
    }
  }

  /// Appends the state of codecs, which is a result as well.
  void addState(cgx_context *context, Outputs &outputs) const {
    uint64_t count = 0;
    ASSERT_EQ(cgx_context_state_count(context, &count), CGX_OK);
    for (uint64_t i = 0; i < count; ++i) {
      cgx_state_tensor tensor;
      ASSERT_EQ(cgx_context_state_tensor(context, i, &tensor), CGX_OK) << cgx_last_error();
      const auto *bytes = static_cast<const uint8_t *>(tensor.data);
      outputs.emplace_back(bytes, bytes + tensor.elements *
                                              cgx_element_bytes(cgx_element_type(tensor.element_type)));
    }
  }

  /// Binds the optimizer state that an operand's codecs read, at random on the operand's side or on the
  /// other.
  static void lend(cgx_context *context, uint32_t id, size_t index, const OperandSpec &operand,
                   bool mayBeOnDevice, std::mt19937_64 &random, std::list<std::vector<float>> &onHost,
                   std::vector<cuda::Memory> &memory) {
    for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept) {
      if (!cgx_codec_needs(&operand.codec, kept) && !(operand.back && cgx_codec_needs(&*operand.back, kept)))
        continue;
      const uint64_t elements = cgx_kept_elements(kept, operand.elements());
      std::vector<float> &values = onHost.emplace_back(makeFloats(Shape::uniform, elements, random));
      for (float &value : values)
        value = std::fabs(value);
      const void *lent = values.data();
      if (random() % 4 != 0 && mayBeOnDevice) {
        ASSERT_TRUE(memory.emplace_back().allocate(MemoryKind::device, elements * sizeof(float)).ok());
        ASSERT_TRUE(cuda::copy(memory.back().get(), lent, elements * sizeof(float), nullptr).ok());
        lent = memory.back().get();
      }
      cgx_rt_provide(address(context), id, int64_t(index), kept, CGX_F32, int64_t(elements), address(lent));
    }
  }

  void runOne(cgx_context *context, uint32_t id, bool beside, bool onDevice, std::mt19937_64 &random,
              Outputs &outputs) const {
    const Collective &of = collectives[id];
    std::vector<cuda::Memory> memory, lent;
    std::list<std::vector<float>> lentOnHost;
    std::vector<std::vector<uint8_t>> inputs;
    const size_t first = outputs.size();
    for (size_t i = 0; i < of.operands.size(); ++i) {
      const OperandSpec &operand = of.operands[i];
      inputs.push_back(toElements(operand.type, makeFloats(Shape::gradient, operand.elements(), random)));
      outputs.emplace_back(outputElements(id, operand) * cgx_element_bytes(operand.type), uint8_t(0xcd));
      void *input = inputs.back().data(), *output = outputs.back().data();
      if (onDevice) {
        ASSERT_TRUE(memory.emplace_back().allocate(MemoryKind::device, inputs.back().size()).ok());
        ASSERT_TRUE(memory.emplace_back().allocate(MemoryKind::device, outputs.back().size()).ok());
        ASSERT_TRUE(cuda::copy(memory[2 * i].get(), input, inputs.back().size(), nullptr).ok());
        input = memory[2 * i].get();
        output = memory[2 * i + 1].get();
      }
      ASSERT_NO_FATAL_FAILURE(lend(context, id, i, operand, onDevice, random, lentOnHost, lent));
      cgx_rt_operand(address(context), id, int64_t(i), address(input), address(output));
    }
    if (beside) {
      cgx_rt_start(address(context), id);
      cgx_rt_wait(address(context), id);
    } else {
      cgx_rt_run(address(context), id);
    }
    for (size_t i = 0; onDevice && i < of.operands.size(); ++i)
      ASSERT_TRUE(
          cuda::copy(outputs[first + i].data(), memory[2 * i + 1].get(), outputs[first + i].size(), nullptr)
              .ok());
    ASSERT_TRUE(!onDevice || cuda::waitFor(nullptr).ok());
  }

  void runRanks(const std::function<void(uint32_t rank)> &body) const;

  /// Runs one rank of a job with all buffers on the host, or all on a GPU.
  void runJob(const std::string &job, uint32_t rank, bool onDevice, Outputs &outputs) const {
    const std::string text = manifest();
    ContextSpec spec{.transport = isUnderMpi()             ? "mpi"
                                  : GetParam().threads > 1 ? "tcp"
                                  : GetParam().processes   ? "shm"
                                                           : "inproc",
                     .job = job,
                     .rank = rank,
                     .ranks = ranks(),
                     .manifest = text};
    if (onDevice) {
      spec.transport = transport();
      ASSERT_TRUE(cuda::useDeviceOf(rank).ok());
    }
    ContextPtr context;
    ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
    if (onDevice) {
      ASSERT_EQ(cgx_context_use_cuda(context.get(), nullptr), CGX_OK) << cgx_last_error();
    }
    runRank(context.get(), rank, onDevice, outputs);
  }
};

/// Runs body(rank) as each rank of the setting.
void DeviceCollectiveTest::runRanks(const std::function<void(uint32_t rank)> &body) const {
  const uint32_t threads = GetParam().threads;
  if (isUnderMpi())
    return runMpiRank(ranks(), body);
  if (!GetParam().processes)
    return runThreads(ranks(), body);
  runProcesses(ranks() / threads, [&](uint32_t process) {
    if (GetParam().apart)
      setenv("CGX_HOST", std::to_string(process).c_str(), /*overwrite=*/1);
    if (threads == 1)
      return body(process);
    runThreads(threads, [&](uint32_t thread) { body(process * threads + thread); });
  });
}

TEST_P(DeviceCollectiveTest, GiveTheBitsOfTheHost) {
  const std::string hostJob = uniqueJob(), deviceJob = uniqueJob();
  runRanks([&](uint32_t rank) {
    Outputs host, device;
    ASSERT_NO_FATAL_FAILURE(runJob(hostJob, rank, /*onDevice=*/false, host));
    ASSERT_NO_FATAL_FAILURE(runJob(deviceJob, rank, /*onDevice=*/true, device));
    ASSERT_EQ(device.size(), host.size());
    for (size_t i = 0; i < host.size(); ++i)
      EXPECT_TRUE(device[i] == host[i]) << "rank " << rank << ", result " << i;
  });
}

TEST(UseCudaTest, SaysWhatIsMissing) {
  if (gpuCount() != 0)
    GTEST_SKIP() << "there is a GPU";
  const cuda::Outcome outcome = cuda::availability();
  ContextSpec spec{.job = uniqueJob(), .manifest = manifestText(1, {})};
  ContextPtr context;
  ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
  EXPECT_EQ(cgx_context_use_cuda(context.get(), nullptr), CGX_UNSUPPORTED);
  EXPECT_EQ(cgx_last_error(), outcome.error);
}

TEST(NcclTransportTest, SaysWhatIsMissing) {
  if (gpuCount() != 0)
    GTEST_SKIP() << "there is a GPU";
  const cuda::Outcome outcome = cuda::availability();
  for (const char *transport : {"nccl", "nccl+mpi", "nccl+tcp"}) {
    ContextSpec spec{.transport = transport, .job = uniqueJob(), .manifest = manifestText(1, {})};
    ContextPtr context;
    EXPECT_EQ(spec.create(context), CGX_UNSUPPORTED);
    const std::string error = cgx_last_error();
    EXPECT_TRUE(error == outcome.error || error.find("has no NCCL") != std::string::npos) << error;
  }
}

/// Settings with processes come first; see countInProcess(). Plain tests run before all of these.
std::vector<Setting> settings() {
  (void)gpuCount();
  std::vector<Setting> all;
  if (isUnderMpi()) { // test/integration/mpi starts three ranks, of two hosts
    playHosts();
    return {{3, "mpi"}, {3, "shm+mpi"}};
  }
  for (const char *transport : {"shm", "inproc", CGX_TEST_NCCL})
    for (uint32_t ranks = 1; *transport && ranks <= 4; ++ranks)
      all.push_back({ranks, transport, std::string(transport) == "shm"});
  for (uint32_t ranks : {2u, 3u})
    all.insert(all.begin(), {ranks, "shm", /*processes=*/true, /*apart=*/true});
#ifdef CGX_HAS_TCP
  // Hosts of one rank and of two, between which NCCL carries device buffers.
  if (*CGX_TEST_NCCL)
    all.insert(all.begin(), {{3, "nccl+tcp", /*processes=*/true, /*apart=*/true},
                             {4, "nccl+tcp", /*processes=*/true, /*apart=*/true, /*threads=*/2}});
#endif
  return all;
}

INSTANTIATE_TEST_SUITE_P(Settings, DeviceCollectiveTest, testing::ValuesIn(settings()),
                         [](const auto &setting) {
                           std::string transport = setting.param.transport;
                           std::replace(transport.begin(), transport.end(), '+', '_');
                           return transport + (setting.param.apart ? "_apart_" : "_") +
                                  std::to_string(setting.param.ranks);
                         });

} // namespace
} // namespace cgx::test
