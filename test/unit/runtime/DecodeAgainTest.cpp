//===-- DecodeAgainTest.cpp - Gathers that decode kept payloads -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gather that decodes the payloads of another gives equal bits, whatever its own operands are,
// and sends nothing: also with random rounding, in every run, and after a plan has changed the
// codecs.
//
//===----------------------------------------------------------------------===//

#include "CollectiveFixture.h"

#include "cgx/formats/CodecJson.h"

#include <barrier>
#include <cmath>
#include <cstring>

namespace cgx::test {
namespace {

constexpr uint64_t kRows = 3, kColumns = 130, kElements = kRows * kColumns, kSteps = 3, kRuns = 2;
constexpr uint32_t kFirst = 4, kAgain = 9;

/// Returns a plan that gives the layer "w" another codec.
std::string planOf(const cgx_codec &codec) {
  const Json cost = {{"squared_error", 0}, {"wire_bytes", 1}, {"seconds", 0}};
  return Json{{"cgx_plan", 1},
              {"program", "0123"},
              {"solver", "uniform"},
              {"proven", false},
              {"objective", "bytes"},
              {"alpha", 1},
              {"planned", cost},
              {"of_reference", cost},
              {"squared_error_bound", 1},
              {"layers",
               {{{"layer", "w"},
                 {"kind", "weight"},
                 {"dtype", "f32"},
                 {"elements", kElements},
                 {"codec", cgx::writeCodec(codec)},
                 {"squared_error", 0},
                 {"wire_bytes", 1},
                 {"raw_bytes", 1}}}},
              {"reference", {{"family", "identity"}}}}
      .dump();
}

class DecodeAgainTest : public CollectiveFixture {
protected:
  std::string manifest(const cgx_codec &codec, uint64_t dim) const {
    OperandSpec weight{.type = CGX_F32, .shape = {kRows, kColumns}, .codec = codec, .layer = "w"},
        other{.type = CGX_BF16, .shape = {kRows, kColumns}, .layer = "scale"};
    Json first = collectiveJson(kFirst, "all_gather", everybody(ranks()), {weight, other}, {{"dim", dim}});
    first["operands"][0]["kind"] = "weight";
    weight.codec = {};
    Json again = collectiveJson(kAgain, "all_gather", everybody(ranks()), {weight, other}, {{"dim", dim}});
    again["decodes_again"] = kFirst;
    return manifestText(ranks(), {first, again});
  }

  /// The buffers of both operands of a gather.
  struct Buffers {
    std::vector<Bytes> inputs, outputs;

    Buffers(uint32_t ranks, uint32_t salt) {
      for (uint64_t bytes : {kElements * 4, kElements * 2}) {
        Bytes &input = inputs.emplace_back(bytes);
        for (uint64_t i = 0; i < kElements; ++i) {
          const float value = std::sin(float(salt * 31 + i));
          std::memcpy(input.data() + i * (bytes / kElements),
                      reinterpret_cast<const std::byte *>(&value) + 4 - bytes / kElements, bytes / kElements);
        }
        outputs.emplace_back(ranks * bytes, std::byte{0xcc});
      }
    }
    void name(cgx_context *context, uint32_t id) {
      for (int64_t i = 0; i < 2; ++i)
        cgx_rt_operand(address(context), id, i, address(inputs[i].data()), address(outputs[i].data()));
    }
  };

  /// Runs both gathers in each run of a step; in odd steps the first one is started.
  void step(cgx_context *context, uint32_t rank, uint64_t step) const {
    ASSERT_EQ(cgx_context_begin_step(context, step), CGX_OK) << cgx_last_error();
    for (uint64_t run = 0; run < kRuns; ++run) {
      const uint32_t salt = uint32_t(rank + 8 * (run + kRuns * step));
      // A repeated gather does not read its operand, unless a rank is alone.
      Buffers first(ranks(), salt), again(ranks(), ranks() == 1 ? salt : salt + 1000);
      first.name(context, kFirst);
      step % 2 == 0 ? cgx_rt_run(address(context), kFirst) : cgx_rt_start(address(context), kFirst);
      again.name(context, kAgain);
      cgx_rt_run(address(context), kAgain);
      if (step % 2 != 0)
        cgx_rt_wait(address(context), kFirst);
      EXPECT_TRUE(first.outputs == again.outputs) << "rank " << rank << ", step " << step << ", run " << run;
      EXPECT_NE(again.outputs[0].back(), std::byte{0xcc});
    }
    ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
  }

  static Json telemetryOf(cgx_context *context) {
    const char *text = nullptr;
    EXPECT_EQ(cgx_context_telemetry(context, &text), CGX_OK);
    return Json::parse(text);
  }
};

TEST_P(DecodeAgainTest, HasTheBitsOfTheOther) {
  for (const cgx_codec &codec : {quantize(4, 64), cgx_codec{}, kLossless})
    for (uint64_t dim : {0, 1})
      runManifest(manifest(codec, dim), [&](cgx_context *context, uint32_t rank) {
        for (uint64_t at = 0; at < kSteps; ++at)
          step(context, rank, at);
        const Json counted = telemetryOf(context);
        EXPECT_EQ(counted["transport_bytes"], counted["wire_bytes"]);
        for (const Json &operand : counted["collectives"][1]["operands"])
          EXPECT_EQ(operand["wire_bytes"], 0u);
      });
}

TEST_P(DecodeAgainTest, FollowsAPlan) {
  runManifest(manifest(quantize(4, 64), 0), [&](cgx_context *context, uint32_t rank) {
    step(context, rank, 0);
    for (const cgx_codec &codec : {quantize(8, 128), cgx_codec{}, quantize(2, 64)}) {
      ASSERT_EQ(cgx_context_adopt_plan(context, planOf(codec).c_str()), CGX_OK) << cgx_last_error();
      const uint64_t before = telemetryOf(context)["collectives"][0]["operands"][0]["wire_bytes"];
      step(context, rank, 1);
      EXPECT_EQ(telemetryOf(context)["collectives"][0]["operands"][0]["wire_bytes"],
                before + (ranks() - 1) * kRuns * cgx_payload_bytes(&codec, CGX_F32, kElements));
    }
  });
}

TEST_P(DecodeAgainTest, EndsTheStepWhereThereIsNothingToDecode) {
  // A rank that is alone has its operand as the result.
  if (ranks() == 1 || GetParam().processes || isUnderMpi())
    return;
  std::barrier connected(ranks());
  runManifest(manifest(quantize(4, 64), 0), [&](cgx_context *context, uint32_t rank) {
    connected.arrive_and_wait();
    ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK);
    Buffers again(ranks(), rank);
    again.name(context, kAgain);
    cgx_rt_run(address(context), kAgain);
    EXPECT_EQ(cgx_context_end_step(context), CGX_INVALID_ARGUMENT);
    EXPECT_NE(std::string(cgx_last_error()).find("to have run 1 times in this step before its payloads"),
              std::string::npos)
        << cgx_last_error();
  });
}

INSTANTIATE_TEST_SUITE_P(Settings, DecodeAgainTest, testing::ValuesIn(settings()), nameOf);

} // namespace
} // namespace cgx::test
