//===-- ExplicitKernelTest.cpp - Explicit calls that are kernels ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests find out what is staged. ExplicitFormTest compares the bits with those of the host.

#include "Job.h"
#include "Programs.h"
#include "cuda/algorithm/DeviceExplicitForm.h"
#include "transport/kinds/TransportKinds.h"

#include <gtest/gtest.h>

namespace cgx::test {
namespace {

struct Case {
  const char *name;
  bool hasKernels;
  ExplicitCall call;
  OperandSpec operand;
  const char *feedback = nullptr;
  const char *reduction = "sum";
  uint64_t elementsAt = 0, payloadAt = 0; ///< bytes after an aligned address
};

OperandSpec operand(cgx_codec codec, cgx_element_type type = CGX_F32) {
  return {.type = type, .shape = {4000}, .codec = codec};
}

std::vector<Case> cases() {
  const cgx_codec coarse = quantize(4, 128), odd = quantize(3, 100);
  using enum ExplicitCall;
  return {{"compress", true, CompressContribution, operand(coarse)},
          {"compressToAnyAddress", true, CompressContribution, operand(odd), nullptr, "mean", 0, 3},
          {"compressResult", true, CompressResult, operand(coarse, CGX_BF16)},
          {"compressWithFeedback", true, CompressContribution, operand(coarse), "int8"},
          {"compressWithFeedbackOfShortChunks", false, CompressContribution, operand(odd), "int8"},
          {"compressWhatIsNotAligned", false, CompressContribution, operand(coarse), nullptr, "sum", 2},
          {"compressDoubles", false, CompressContribution, operand({}, CGX_F64)},
          {"accumulate", true, DecompressAccumulate, operand(coarse, CGX_F16)},
          {"accumulateFromAnyAddress", true, DecompressAccumulate, operand(odd), nullptr, "sum", 0, 1},
          {"largest", true, DecompressAccumulate, operand({}), nullptr, "max"},
          {"largestOfEncoded", false, DecompressAccumulate, operand({.family = CGX_CODEC_LOSSLESS}), nullptr,
           "max"},
          {"decompress", true, Decompress, operand({.family = CGX_CODEC_LOSSLESS}), nullptr, "max"},
          {"allToAll", false, PayloadAllToAll, operand(coarse)},
          {"allGather", false, PayloadAllGather, operand(coarse)}};
}

class ExplicitKernelTest : public testing::TestWithParam<Case> {};

TEST_P(ExplicitKernelTest, AreKnown) {
  const Case &of = GetParam();
  Json json = collectiveJson(0, "all_reduce", everybody(1), {of.operand}, {{"reduction", of.reduction}});
  if (of.feedback)
    json["operands"][0]["codec"].update({{"error_feedback", of.feedback}, {"decay", 1.0}});
  Result<Program> program = Program::parse(manifestText(1, {json}).c_str(), 1);
  ASSERT_TRUE(program.ok()) << program.status().message();
  Result<std::unique_ptr<Transport>> transport = connectTransport("inproc", {.job = uniqueJob(), .ranks = 1});
  ASSERT_TRUE(transport.ok()) << transport.status().message();
  Telemetry telemetry(*program);
  ProgramState state(*program, 0);
  Scratch scratch;
  Execution execution{.transport = **transport,
                      .timeout = std::chrono::seconds(20),
                      .collective = program->collectives[0],
                      .group = groupOfAll(1, 0),
                      .seed = 1,
                      .step = 0,
                      .scratch = scratch,
                      .states = state.operandsOf(0),
                      .counters = telemetry.collectives[0]};
  DeviceExplicitForm form;
  const auto device = [](uint64_t bytes) {
    cuda::Memory memory;
    EXPECT_TRUE(memory.allocate(cuda::MemoryKind::device, bytes + 8).ok());
    std::fill_n(memory.get<std::byte>(), bytes + 8, std::byte(0));
    return memory;
  };
  const auto run = [&](ExplicitCall call, const std::byte *input, std::byte *output) {
    return form.run(execution, {call, 0, {input, output}}, nullptr);
  };
  const ExplicitBytes compressed =
      explicitBytes(AllReduceOperand(execution, 0), ExplicitCall::CompressContribution);
  cuda::Memory elements = device(compressed.input), payload = device(compressed.output),
               other = device(compressed.output);
  std::byte *tensor = elements.get<std::byte>() + of.elementsAt,
            *encoded = payload.get<std::byte>() + of.payloadAt;
  // This makes a payload to read. leave() then forgets the operand, so that only the call under test can make
  // it known.
  ASSERT_TRUE(run(ExplicitCall::CompressContribution, tensor, encoded).ok());
  ASSERT_TRUE(form.leave(0, nullptr).ok());
  ASSERT_FALSE(form.knows(0));
  const Status status = isCompress(of.call)   ? run(of.call, tensor, encoded)
                        : isExchange(of.call) ? run(of.call, encoded, other.get<std::byte>())
                                              : run(of.call, encoded, tensor);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(form.knows(0), of.hasKernels);
}

INSTANTIATE_TEST_SUITE_P(Calls, ExplicitKernelTest, testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace cgx::test
