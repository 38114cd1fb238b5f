//===-- ResidentTest.cpp - The collectives that stay on a GPU -------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests find out what is staged. DeviceCollectiveTest compares the bits with those of the host.

#include "Job.h"
#include "Programs.h"
#include "cuda/algorithm/ResidentCollective.h"
#include "transport/kinds/TransportKinds.h"

#include <gtest/gtest.h>

namespace cgx::test {
namespace {

constexpr uint32_t kRanks = 4;

struct Case {
  const char *name;
  bool isResident;
  Json collective;
  std::optional<cgx_codec> planned = {}; ///< the current codec of the operand
};

OperandSpec operand(cgx_codec codec, std::vector<uint64_t> shape = {4096}) {
  return {.shape = std::move(shape), .codec = codec};
}

Json reduction(std::vector<OperandSpec> operands, Json more = {{"reduction", "sum"}}) {
  return collectiveJson(0, "all_reduce", everybody(kRanks), operands, more);
}

Json withFeedback(Json collective, const char *storage) {
  for (Json &each : collective["operands"])
    each["codec"].update({{"error_feedback", storage}, {"decay", 1.0}});
  return collective;
}

Json ofHosts(Json collective, uint32_t local) {
  collective["algorithm"] = "hierarchical";
  collective["hierarchy"] = {{"local", local}, {"leaders", "all"}, {"inside", {{"family", "identity"}}}};
  return collective;
}

Json other(const char *kind, const OperandSpec &operand, const Json &more) {
  return collectiveJson(0, kind, everybody(kRanks), {operand}, more);
}

std::vector<Case> cases() {
  const cgx_codec coarse = quantize(4, 128), lowrank{.family = CGX_CODEC_LOWRANK, .rank = 2};
  const cgx_codec gcomp{.family = CGX_CODEC_GCOMP, .optimizer = CGX_OPTIMIZER_SGD};
  OperandSpec twoWays = operand(coarse);
  twoWays.back = quantize(8, 512);
  OperandSpec whole = operand({});
  whole.type = CGX_I32;
  const Json sum = {{"dim", 0}, {"reduction", "sum"}};
  return {
      {"compressed", true, reduction({operand(coarse), operand({})})},
      {"withFeedback", true, withFeedback(reduction({operand(coarse)}), "int8")},
      {"withFeedbackOfShortChunks", false, withFeedback(reduction({operand(quantize(4, 64))}), "int8")},
      {"withOldFeedback", true, withFeedback(reduction({operand(coarse, {4000})}), "f32"), quantize(2, 128)},
      {"withFeedbackOfOtherChunks", false, withFeedback(reduction({operand(coarse, {4000})}), "f32"),
       quantize(4, 512)},
      {"largest", true, reduction({operand({})}, {{"reduction", "max"}})},
      {"wholeNumbers", false, reduction({whole})},
      {"mantissasByTheOptimizer", true, reduction({operand(gcomp), operand(coarse)})},
      {"anotherWayBack", true, reduction({twoWays})},
      {"anotherWayBackWithFeedback", true, withFeedback(reduction({twoWays}), "f32")},
      {"matrices", true, withFeedback(reduction({operand(lowrank, {64, 64}), operand(coarse)}), "f32")},
      {"hosts", true, ofHosts(withFeedback(reduction({operand(coarse)}), "f32"), 2)},
      {"oneHost", true, ofHosts(reduction({operand(coarse)}), 4)},
      {"hostsOfOne", false, ofHosts(reduction({operand(coarse)}), 1)},
      {"matricesOfHosts", true, ofHosts(reduction({operand(lowrank, {64, 64})}), 2)},
      {"ring", true, reduction({operand(coarse)}, {{"reduction", "sum"}, {"algorithm", "ring"}})},
      {"tree", true, reduction({operand(coarse)}, {{"reduction", "sum"}, {"algorithm", "tree"}})},
      {"halves", true,
       reduction({operand(coarse)}, {{"reduction", "sum"}, {"algorithm", "halving_doubling"}})},
      {"halvesThatVaryInSize", false,
       reduction({operand({.family = CGX_CODEC_LOSSLESS})},
                 {{"reduction", "sum"}, {"algorithm", "halving_doubling"}})},
      {"treeWithOldFeedback", true,
       withFeedback(reduction({operand(coarse, {4000})}, {{"reduction", "sum"}, {"algorithm", "tree"}}),
                    "int8"),
       quantize(4, 512)},
      {"allGather", true, other("all_gather", operand(coarse), {{"dim", 0}})},
      {"allGatherOfColumns", true, other("all_gather", operand(coarse, {64, 64}), {{"dim", 1}})},
      {"reduceScatter", true, withFeedback(other("reduce_scatter", operand(coarse), sum), "int8")},
      {"allToAll", true, other("all_to_all", operand(coarse), {{"split_dim", 0}, {"concat_dim", 0}})},
      {"broadcast", true, other("broadcast", operand(coarse), {{"root", 1}})},
      {"permute", true, other("permute", operand(coarse), {{"source_target_pairs", Json::array({{0, 1}})}})}};
}

class ResidentTest : public testing::TestWithParam<Case> {};

TEST_P(ResidentTest, IsKnownOnAllRanks) {
  const std::string job = uniqueJob(), manifest = manifestText(kRanks, {GetParam().collective});
  runThreads(kRanks, [&](uint32_t rank) {
    Result<Program> program = Program::parse(manifest.c_str(), kRanks);
    ASSERT_TRUE(program.ok()) << program.status().message();
    Result<std::unique_ptr<Transport>> transport =
        connectTransport("inproc", {.job = job, .rank = rank, .ranks = kRanks});
    ASSERT_TRUE(transport.ok()) << transport.status().message();
    Telemetry telemetry(*program);
    ProgramState state(*program, rank);
    Scratch scratch;
    CollectiveInfo &collective = program->collectives[0];
    if (GetParam().planned)
      collective.operands[0].codec = *GetParam().planned;
    const Execution execution{.transport = **transport,
                              .timeout = std::chrono::seconds(20),
                              .collective = collective,
                              .group = groupOf(collective.groups, rank),
                              .seed = 1,
                              .step = 0,
                              .scratch = scratch,
                              .states = state.operandsOf(0),
                              .counters = telemetry.collectives[0]};
    EXPECT_EQ(canBeResident(execution), GetParam().isResident) << "rank " << rank;
  });
}

INSTANTIATE_TEST_SUITE_P(Collectives, ResidentTest, testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace cgx::test
