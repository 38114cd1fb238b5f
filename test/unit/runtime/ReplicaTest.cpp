//===-- ReplicaTest.cpp - Bitwise equality of replicas ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a mesh of several axes, ranks that are replicas along one axis communicate in different
// groups along another: data x tensor parallel, HSDP. Their inputs are equal, so their results
// and the state of their codecs must be equal bit for bit. CGX_TEST_SEED changes the random
// programs.
//
//===----------------------------------------------------------------------===//

#include "../cuda/RandomCodecs.h"
#include "../kernels/Inputs.h"
#include "Contexts.h"
#include "Job.h"
#include "Programs.h"

#include "cgx/formats/CodecJson.h"
#include "cgx/kernels/codecs.h"
#include "cgx/wire.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <sstream>

namespace cgx::test {
namespace {

using Buffer = std::vector<uint8_t>;
using Rows = std::vector<std::vector<uint32_t>>;
/// A set of mesh axes, one bit each.
using Axes = uint32_t;

/// A mesh with ranks in row-major order, as JAX numbers devices.
struct Mesh {
  std::vector<uint32_t> sizes;

  Axes all() const { return (1u << sizes.size()) - 1; }
  uint32_t ranks() const { return along(all()); }
  uint32_t along(Axes axes) const {
    uint32_t product = 1;
    for (size_t axis = 0; axis < sizes.size(); ++axis)
      product *= axes >> axis & 1 ? sizes[axis] : 1;
    return product;
  }
  /// Returns `rank` with its coordinates along other axes set to 0.
  uint32_t project(uint32_t rank, Axes axes) const {
    uint32_t projected = 0, stride = 1;
    for (size_t axis = sizes.size(); axis-- > 0; stride *= sizes[axis], rank /= sizes[axis])
      projected += axes >> axis & 1 ? rank % sizes[axis] * stride : 0;
    return projected;
  }
  /// Returns the groups of a collective along these axes.
  Rows groups(Axes axes) const {
    Rows rows;
    for (uint32_t first = 0; first < ranks(); ++first)
      if (project(first, axes) == 0)
        for (uint32_t rank = 0, at = uint32_t(rows.size()); rank < ranks(); ++rank)
          if (project(rank, all() & ~axes) == first) {
            rows.resize(at + 1);
            rows[at].push_back(rank);
          }
    return rows;
  }
};

void PrintTo(const Mesh &mesh, std::ostream *out) {
  for (size_t axis = 0; axis < mesh.sizes.size(); ++axis)
    *out << (axis ? "x" : "") << mesh.sizes[axis];
}

/// The function that runs an all-reduce.
enum class Form { Run, Start, Explicit };

struct Stage {
  const char *kind;
  Axes axes = 0;
  OperandSpec operand = {};
  Json more = Json::object();
  const char *feedback = nullptr; ///< the type of residuals, if there are any
  Form form = Form::Run;
};

/// A chain of collectives, each of which takes the result of the one before.
struct Chain {
  std::vector<Stage> stages;
  Axes varying;     ///< the only axes along which the input differs
  Axes stillVaries; ///< the only axes along which the result differs
};

/// The results of each rank, and the state of its codecs.
using Results = std::vector<std::vector<Buffer>>;

class Program {
public:
  Program(Mesh mesh, std::vector<Chain> chains) : mesh(std::move(mesh)), chains(std::move(chains)) {}

  std::string manifest() const {
    std::vector<Json> list;
    for (const Chain &chain : chains)
      for (const Stage &stage : chain.stages) {
        Json made = collectiveJson(uint32_t(list.size()), stage.kind, mesh.groups(stage.axes),
                                   {stage.operand}, stage.more);
        if (stage.feedback && !cgx_codec_is_exact(&stage.operand.codec))
          made["operands"][0]["codec"].update({{"error_feedback", stage.feedback}, {"decay", 0.9}});
        list.push_back(std::move(made));
      }
    return manifestText(mesh.ranks(), list);
  }

  /// Runs three steps of one rank, with every chain twice in each, from `seed`.
  void run(cgx_context *context, uint32_t rank, uint64_t seed, std::vector<Buffer> &results) const {
    for (uint64_t step = 0; step < 3; ++step) {
      ASSERT_EQ(cgx_context_begin_step(context, step), CGX_OK) << cgx_last_error();
      for (uint64_t repetition = 0; repetition < 2; ++repetition)
        for (uint32_t chain = 0, id = 0; chain < chains.size(); id += chains[chain++].stages.size()) {
          std::seed_seq inputs{seed, step, repetition, uint64_t(chain),
                               uint64_t(mesh.project(rank, chains[chain].varying))};
          std::mt19937_64 random(inputs);
          results.push_back(runChain(context, id, chains[chain], random));
        }
      ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    }
    addState(context, results);
  }

  /// Expects equal results on replicas.
  void compare(const Results &results) const {
    const size_t runs = 3 * 2 * chains.size();
    for (uint32_t rank = 0; rank < mesh.ranks(); ++rank) {
      ASSERT_GE(results[rank].size(), runs);
      for (size_t i = 0; i < runs; ++i) {
        const Chain &chain = chains[i % chains.size()];
        const uint32_t replica = mesh.project(rank, chain.stillVaries);
        EXPECT_TRUE(results[rank][i] == results[replica][i])
            << "rank " << rank << " and its replica " << replica << " differ after run " << i << ": "
            << describe(chain);
      }
      // The codec state may differ along every axis along which a value differs.
      Axes varying = 0;
      for (const Chain &chain : chains)
        for (Axes varied = chain.varying; const Stage &stage : chain.stages)
          varying |= varied |= stage.axes;
      const uint32_t replica = mesh.project(rank, varying);
      EXPECT_TRUE(std::equal(results[rank].begin() + ptrdiff_t(runs), results[rank].end(),
                             results[replica].begin() + ptrdiff_t(runs), results[replica].end()))
          << "rank " << rank << " and its replica " << replica << " remember different things";
    }
  }

private:
  std::string describe(const Chain &chain) const {
    std::string text;
    for (const Stage &stage : chain.stages)
      text += std::string(text.empty() ? "" : ", then ") + stage.kind + " along axes " +
              std::to_string(stage.axes) + " of " + std::to_string(mesh.sizes.size()) + ", " +
              describeFields(stage.operand.codec) + ", feedback " +
              (stage.feedback ? stage.feedback : "none") + ", " + stage.more.dump();
    return text + ", input varies along " + std::to_string(chain.varying);
  }

  uint64_t resultElements(const Stage &stage) const {
    const uint64_t elements = stage.operand.elements(), positions = mesh.along(stage.axes);
    return stage.kind == std::string("all_gather")       ? elements * positions
           : stage.kind == std::string("reduce_scatter") ? elements / positions
                                                         : elements;
  }

  Buffer runChain(cgx_context *context, uint32_t id, const Chain &chain, std::mt19937_64 &random) const {
    const OperandSpec &first = chain.stages[0].operand;
    Buffer data = toElements(first.type, makeFloats(Shape::gradient, first.elements(), random));
    for (const Stage &stage : chain.stages) {
      // The optimizer's tensors are replicated like the parameters, so they are equal everywhere.
      std::vector<std::vector<float>> lent;
      lend(context, id, stage.operand, lent);
      Buffer result(resultElements(stage) * cgx_element_bytes(stage.operand.type), uint8_t(0xcd));
      runStage(context, id++, stage, data, result);
      data = std::move(result);
    }
    return data;
  }

  static void lend(cgx_context *context, uint32_t id, const OperandSpec &operand,
                   std::vector<std::vector<float>> &lent) {
    std::mt19937_64 random(id);
    for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept) {
      if (!cgx_codec_needs(&operand.codec, kept))
        continue;
      std::vector<float> &values =
          lent.emplace_back(makeFloats(Shape::uniform, cgx_kept_elements(kept, operand.elements()), random));
      for (float &value : values)
        value = std::fabs(value);
      cgx_rt_provide(address(context), id, 0, kept, CGX_F32, int64_t(values.size()), address(values.data()));
    }
  }

  void runStage(cgx_context *context, uint32_t id, const Stage &stage, const Buffer &input,
                Buffer &result) const {
    if (stage.form == Form::Explicit)
      return runExplicit(context, id, stage, input, result);
    cgx_rt_operand(address(context), id, 0, address(input.data()), address(result.data()));
    if (stage.form == Form::Start) {
      cgx_rt_start(address(context), id);
      cgx_rt_wait(address(context), id);
    } else {
      cgx_rt_run(address(context), id);
    }
  }

  void runExplicit(cgx_context *context, uint32_t id, const Stage &stage, const Buffer &input,
                   Buffer &result) const {
    const OperandSpec &of = stage.operand;
    const uint64_t positions = mesh.along(stage.axes);
    const int64_t self = address(context);
    uint64_t wholeBytes = 0;
    for (uint64_t chunk = 0; chunk < positions; ++chunk)
      wholeBytes += cgx_chunk_payload_bytes(&of.codec, of.type, of.elements(), positions, chunk);
    const uint64_t slot = cgx_chunk_payload_bytes(&of.codec, of.type, of.elements(), positions, 0);
    Buffer whole(wholeBytes), slots(positions * slot), payload(slot),
        chunk(cgx_chunk_begin(&of.codec, of.elements(), positions, 1) * cgx_element_bytes(of.type));
    cgx_rt_compress(self, id, 0, 0, address(input.data()), address(whole.data()));
    cgx_rt_payload_all_to_all(self, id, 0, address(whole.data()), address(slots.data()));
    cgx_rt_decompress_accumulate(self, id, 0, address(slots.data()), address(chunk.data()));
    cgx_rt_compress(self, id, 0, 1, address(chunk.data()), address(payload.data()));
    cgx_rt_payload_all_gather(self, id, 0, address(payload.data()), address(whole.data()));
    cgx_rt_decompress(self, id, 0, address(whole.data()), address(result.data()));
  }

  static void addState(cgx_context *context, std::vector<Buffer> &results) {
    uint64_t count = 0;
    ASSERT_EQ(cgx_context_state_count(context, &count), CGX_OK);
    for (uint64_t i = 0; i < count; ++i) {
      cgx_state_tensor tensor;
      ASSERT_EQ(cgx_context_state_tensor(context, i, &tensor), CGX_OK) << cgx_last_error();
      const auto *bytes = static_cast<const uint8_t *>(tensor.data);
      results.emplace_back(bytes, bytes + tensor.elements *
                                              cgx_element_bytes(cgx_element_type(tensor.element_type)));
    }
  }

  Mesh mesh;
  std::vector<Chain> chains;
};

void expectEqualReplicas(const Mesh &mesh, const std::vector<Chain> &chains) {
  const Program program(mesh, chains);
  const std::string job = uniqueJob(), manifest = program.manifest();
  Results results(mesh.ranks());
  runThreads(mesh.ranks(), [&](uint32_t rank) {
    const ContextSpec spec{.job = job, .rank = rank, .ranks = mesh.ranks(), .manifest = manifest};
    ContextPtr context;
    ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
    program.run(context.get(), rank, testSeed(), results[rank]);
  });
  if (!testing::Test::HasFailure())
    program.compare(results);
}

const std::vector<Mesh> meshes = {{{2, 2}}, {{2, 3}}, {{3, 2}}, {{2, 2, 2}}};

/// A generator of random chains over one mesh.
class Draw {
public:
  Draw(const Mesh &mesh, uint64_t seed) : mesh(mesh), random(seed) {}

  uint32_t below(size_t end) { return uint32_t(random() % end); }
  /// Returns a random subset of these axes, with at least one.
  Axes someOf(Axes axes) {
    for (;;)
      if (Axes drawn = axes & uint32_t(random()))
        return drawn;
  }
  /// Returns at least one axis, and not all.
  Axes someAxes() {
    for (;;)
      if (Axes drawn = someOf(mesh.all()); drawn != mesh.all())
        return drawn;
  }

  OperandSpec operand(uint32_t family) {
    constexpr cgx_element_type types[] = {CGX_F32, CGX_F16, CGX_BF16};
    // The size is divisible by the number of ranks of every mesh here.
    OperandSpec made{.type = types[below(3)], .shape = {24, std::vector<uint64_t>{1, 35, 300}[below(3)]}};
    if (family == CGX_CODEC_LOWRANK) {
      made.shape[1] = 35;
      made.codec = {.family = family, .rank = 1 + below(3)};
    } else {
      made.codec = randomCodec(family, made.type, random);
      if (family == CGX_CODEC_CAST && below(3) == 0)
        made.codec = {.family = family, .bucket = CGX_NVFP4_BLOCK_ELEMENTS, .format = CGX_FORMAT_NVFP4};
      cgx_codec rotated = made.codec;
      rotated.rotate = CGX_ROTATE_HADAMARD;
      if (below(2) && checkCodec(rotated, made.type).empty())
        made.codec = rotated;
    }
    return made;
  }

  const char *feedback() {
    return std::vector<const char *>{nullptr, nullptr, "f32", "bf16", "int8"}[below(5)];
  }

  /// Returns an all-reduce along some axes, of data that is equal along some of the others.
  Chain allReduce(uint32_t family) {
    Stage stage{.kind = "all_reduce", .axes = someAxes(), .operand = operand(family), .feedback = feedback()};
    stage.more["reduction"] = below(2) ? "mean" : "sum";
    const uint32_t positions = mesh.along(stage.axes);
    stage.form = Form(below(3));
    if (stage.form == Form::Explicit && family != CGX_CODEC_LOWRANK && family != CGX_CODEC_GCOMP)
      return chainOf(stage);
    stage.form = Form(below(2));
    if (below(4) == 0 && family != CGX_CODEC_LOWRANK)
      stage.operand.back = quantize(4, 64);
    stage.more["algorithm"] =
        std::vector<const char *>{"auto", "ring", "tree", "hierarchical", "halving_doubling"}[below(5)];
    if (stage.more["algorithm"] == "hierarchical")
      stage.more["hierarchy"] = {{"local", positions % 2 == 0 ? 2 : 1},
                                 {"leaders", below(2) ? "one" : "all"},
                                 {"inside", writeCodec(below(2) ? quantize(8, 64) : cgx_codec{})}};
    return chainOf(stage);
  }

  Chain other(uint32_t family) {
    Stage stage{.kind = "", .axes = someAxes(), .operand = operand(family), .feedback = feedback()};
    switch (below(5)) {
    case 0:
      stage.kind = "all_gather";
      stage.more["dim"] = below(2);
      break;
    case 1:
      stage.kind = "reduce_scatter";
      stage.more = {{"dim", 0}, {"reduction", below(2) ? "mean" : "sum"}};
      break;
    case 2:
      stage.kind = "all_to_all";
      stage.more = {{"split_dim", 0}, {"concat_dim", below(2)}};
      break;
    case 3:
      stage.kind = "broadcast";
      stage.more["root"] = below(mesh.along(stage.axes));
      break;
    default:
      stage.kind = "permute";
      stage.more["source_target_pairs"] = pairs(stage.axes);
    }
    return chainOf(stage);
  }

private:
  Chain chainOf(const Stage &stage) {
    const Axes replicas = someOf(mesh.all() & ~stage.axes), varying = mesh.all() & ~replicas;
    const bool isSame = stage.kind == std::string("all_reduce") || stage.kind == std::string("all_gather") ||
                        stage.kind == std::string("broadcast");
    return {.stages = {stage}, .varying = varying, .stillVaries = isSame ? varying & ~stage.axes : varying};
  }

  /// Returns one permutation of positions, complete or partial, for every group.
  Json pairs(Axes axes) {
    std::vector<uint32_t> targets(mesh.along(axes));
    std::iota(targets.begin(), targets.end(), 0u);
    std::shuffle(targets.begin(), targets.end(), random);
    Json all = Json::array();
    const uint32_t senders = 1 + below(targets.size());
    for (const std::vector<uint32_t> &row : mesh.groups(axes))
      for (uint32_t position = 0; position < senders; ++position)
        all.push_back({row[position], row[targets[position]]});
    return all;
  }

  const Mesh &mesh;
  std::mt19937_64 random;
};

class ReplicaTest : public testing::TestWithParam<Mesh> {};

TEST_P(ReplicaTest, StayEqualAfterAnAllReduceOfAnyCodecByAnyAlgorithm) {
  Draw draw(GetParam(), testSeed());
  std::vector<Chain> chains;
  for (uint32_t family = 0; family < CGX_CODEC_FAMILY_COUNT; ++family)
    for (int repetition = 0; repetition < (family == CGX_CODEC_QUANTIZE ? 24 : 8); ++repetition)
      chains.push_back(draw.allReduce(family));
  expectEqualReplicas(GetParam(), chains);
}

TEST_P(ReplicaTest, StayEqualAfterEveryOtherCollective) {
  Draw draw(GetParam(), testSeed() + 1);
  std::vector<Chain> chains;
  for (uint32_t family = 0; family < CGX_CODEC_FAMILY_COUNT; ++family)
    for (int repetition = 0; repetition < 8; ++repetition)
      if (family != CGX_CODEC_LOWRANK && family != CGX_CODEC_GCOMP) // only an all-reduce takes these codecs
        chains.push_back(draw.other(family));
  expectEqualReplicas(GetParam(), chains);
}

// pmean runs over one axis, then over another, where all groups have equal data.
TEST_P(ReplicaTest, StayEqualAfterNestedMeans) {
  const Mesh &mesh = GetParam();
  Draw draw(mesh, testSeed() + 2);
  std::vector<Chain> chains;
  for (int repetition = 0; repetition < 20; ++repetition) {
    Chain chain{.stages = {}, .varying = mesh.all(), .stillVaries = 0};
    const OperandSpec operand = draw.operand(CGX_CODEC_QUANTIZE);
    const char *feedback = draw.feedback();
    for (size_t axis = 0; axis < mesh.sizes.size(); ++axis)
      chain.stages.push_back({.kind = "all_reduce",
                              .axes = 1u << axis,
                              .operand = operand,
                              .more = {{"reduction", "mean"}},
                              .feedback = feedback});
    chains.push_back(chain);
  }
  expectEqualReplicas(mesh, chains);
}

// For HSDP, psum_scatter runs along the first axis, psum along the others, and all_gather along the first.
TEST_P(ReplicaTest, StayEqualAfterScatterSumAndGather) {
  const Mesh &mesh = GetParam();
  Draw draw(mesh, testSeed() + 3);
  std::vector<Chain> chains;
  for (int repetition = 0; repetition < 20; ++repetition) {
    OperandSpec whole = draw.operand(CGX_CODEC_QUANTIZE), shard = whole;
    shard.shape[0] /= mesh.sizes[0];
    const char *feedback = draw.feedback();
    chains.push_back({.stages = {{.kind = "reduce_scatter",
                                  .axes = 1,
                                  .operand = whole,
                                  .more = {{"dim", 0}, {"reduction", "sum"}},
                                  .feedback = feedback},
                                 {.kind = "all_reduce",
                                  .axes = mesh.all() & ~1u,
                                  .operand = shard,
                                  .more = {{"reduction", "sum"}},
                                  .feedback = feedback},
                                 {.kind = "all_gather",
                                  .axes = 1,
                                  .operand = shard,
                                  .more = {{"dim", 0}},
                                  .feedback = feedback}},
                      .varying = mesh.all(),
                      .stillVaries = 0});
  }
  expectEqualReplicas(mesh, chains);
}

INSTANTIATE_TEST_SUITE_P(Meshes, ReplicaTest, testing::ValuesIn(meshes), [](const auto &info) {
  std::ostringstream name;
  PrintTo(info.param, &name);
  return std::move(name).str();
});

} // namespace
} // namespace cgx::test
