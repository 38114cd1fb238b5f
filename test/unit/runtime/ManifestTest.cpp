//===-- ManifestTest.cpp - Valid and invalid manifests ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "manifest/CodecTable.h"

#include "Programs.h"

#include <gtest/gtest.h>
#include <random>

namespace cgx::test {
namespace {

Json validManifest() {
  return Json::parse(manifestText(
      4, {collectiveJson(5, "all_reduce", {{0, 1}, {2, 3}},
                         {{.shape = {64, 128}, .codec = quantize(4, 128), .layer = "params/l1/w"},
                          {.type = CGX_BF16, .shape = {128}, .layer = "params/l1/b"}},
                         {{"reduction", "mean"}, {"algorithm", "scatter_reduce_allgather"}}),
          collectiveJson(2, "all_gather", everybody(4), {{.shape = {8, 4}}}, {{"dim", 1}}),
          collectiveJson(3, "permute", everybody(4), {{.shape = {8}}},
                         {{"source_target_pairs", {{0, 1}, {1, 2}}}})}));
}

TEST(Manifest, IsReadWithItsCollectivesInTheOrderOfIds) {
  Result<Program> program = Program::parse(validManifest().dump().c_str(), 4);
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program->hash, "0123");
  ASSERT_EQ(program->collectives.size(), 3u);
  EXPECT_EQ(program->collectives[0].id, 2u);
  const CollectiveInfo *info = program->find(5);
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->reduction, ReduceKind::Mean);
  EXPECT_EQ(info->operands[0].layer, "params/l1/w");
  EXPECT_EQ(info->operands[0].codec.bits, 4u);
  EXPECT_EQ(info->operands[1].type, CGX_BF16);
  EXPECT_EQ(info->describe(), "collective 5 (all_reduce of layer 'params/l1/w' and 1 more)");
  EXPECT_EQ(program->find(4), nullptr);
  EXPECT_EQ(program->find(-1), nullptr);
}

TEST(Manifest, ACollectiveIsDescribedByTheFirstLayerThatHasAName) {
  auto describe = [](const std::vector<std::string> &layers) {
    std::vector<OperandSpec> operands;
    for (const std::string &layer : layers)
      operands.push_back({.shape = {8}, .layer = layer});
    const Json manifest = Json::parse(
        manifestText(4, {collectiveJson(5, "all_reduce", everybody(4), operands, {{"reduction", "sum"}})}));
    Result<Program> program = Program::parse(manifest.dump().c_str(), 4);
    return program.ok() ? program->find(5)->describe() : program.status().message();
  };
  EXPECT_EQ(describe({"", "w", "b"}), "collective 5 (all_reduce of layer 'w' and 2 more)");
  EXPECT_EQ(describe({"", ""}), "collective 5 (all_reduce of 2 operands)");
  EXPECT_EQ(describe({""}), "collective 5 (all_reduce)");
}

TEST(CodecTable, APlanChangesTheCollectivesThatItNamesAndNoOther) {
  CodecTable codecs(*Program::parse(validManifest().dump().c_str(), 4));
  const CollectiveInfo *reduced = codecs.program().find(5);
  const auto index = size_t(reduced - codecs.program().collectives.data());
  const cgx_codec compiled = reduced->operands[0].codec;
  cgx_codec other = compiled;
  other.bits = 2;

  const PlannedCodec changes[] = {{index, 0, other}}, same[] = {{index, 0, other}},
                     back[] = {{index, 0, compiled}};
  codecs.adopt(changes);
  EXPECT_EQ(codecs.epoch(), 1u);
  EXPECT_EQ(codecs.epochOf(index), 1u);
  EXPECT_EQ(codecs.epochOf(0), 0u);
  EXPECT_EQ(reduced->operands[0].codec.bits, 2u) << "the program stays where it is";
  EXPECT_FALSE(codecs.isAsCompiled(index));

  // Data that was made for a collective stays valid while its codecs do.
  codecs.adopt(same);
  EXPECT_EQ(codecs.epoch(), 2u);
  EXPECT_EQ(codecs.epochOf(index), 1u);

  codecs.adopt(back);
  EXPECT_EQ(codecs.epochOf(index), 3u);
  EXPECT_TRUE(codecs.isAsCompiled(index));
}

struct Refusal {
  const char *name;
  std::function<void(Json &)> damage;
  const char *message;
};

class ManifestRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(ManifestRefusal, SaysWhatIsWrong) {
  Json manifest = validManifest();
  GetParam().damage(manifest);
  Result<Program> program = Program::parse(manifest.dump().c_str(), 4);
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.status().message().find(GetParam().message), std::string::npos)
      << program.status().message();
}

Json &operand(Json &manifest) { return manifest["collectives"][0]["operands"][0]; }

void setHierarchy(Json &manifest, const Json &hierarchy) {
  manifest["collectives"][0]["algorithm"] = "hierarchical";
  manifest["collectives"][0]["hierarchy"] = hierarchy;
}

const std::vector<Refusal> kRefusals = {
    {"Version", [](Json &m) { m["cgx_manifest"] = 2; }, "expected version 1, got 2"},
    {"NoHash", [](Json &m) { m.erase("hash"); }, "expected 'hash'"},
    {"Ranks", [](Json &m) { m["ranks"] = 3; }, "compiled for 3 ranks, the job has 4"},
    {"IdTwice", [](Json &m) { m["collectives"][1]["id"] = 5; }, "collective 5 is there twice"},
    {"NegativeId", [](Json &m) { m["collectives"][0]["id"] = -1; }, "not negative as 'id'"},
    {"Kind", [](Json &m) { m["collectives"][0]["kind"] = "all_reduc"; }, "got 'all_reduc'"},
    {"Reduction", [](Json &m) { m["collectives"][0]["reduction"] = "max"; },
     "expected the reduction sum or mean for a lossy codec"},
    {"RankInGroups", [](Json &m) { m["collectives"][0]["groups"][1][0] = 4; }, "expected ranks below 4"},
    {"RankTwice", [](Json &m) { m["collectives"][0]["groups"][1][0] = 0; }, "rank 0 is in 'groups' twice"},
    {"UnevenGather", [](Json &m) { m["collectives"][1]["groups"] = {{0, 1, 2}, {3}}; },
     "expected groups of one size"},
    {"MissingRank", [](Json &m) { m["collectives"][1]["groups"] = {{0, 1}}; }, "expected all 4 ranks"},
    {"Dimension", [](Json &m) { m["collectives"][1]["dim"] = 2; }, "expected 'dim' below 2"},
    {"Pairs", [](Json &m) { m["collectives"][2]["source_target_pairs"][1][1] = 1; },
     "expected pairs of ranks"},
    {"Sends", [](Json &m) { m["collectives"][2]["sends"] = {"10"}; },
     "expected 'sends' of each of 2 pairs, got 1"},
    {"SendsLength", [](Json &m) { m["collectives"][2]["sends"] = {"10", "1"}; },
     "expected strings of as many digits"},
    {"SendsDigits", [](Json &m) { m["collectives"][2]["sends"] = {"10", "12"}; },
     "expected strings of as many digits"},
    {"Dtype", [](Json &m) { operand(m)["dtype"] = "f8"; }, "collective 5, operand 0: expected one of f32"},
    {"Elements", [](Json &m) { operand(m)["elements"] = 8191; },
     "expected a shape of 8191 elements, got 8192"},
    {"Bits", [](Json &m) { operand(m)["codec"]["bits"] = 9; }, "collective 5, operand 0"},
    {"Bucket", [](Json &m) { operand(m)["codec"]["bucket"] = 0; }, "collective 5, operand 0"},
    {"Family", [](Json &m) { operand(m)["codec"]["family"] = "top_k"; }, "got 'top_k'"},
    {"LossyInteger", [](Json &m) { operand(m)["dtype"] = "i32"; }, "collective 5, operand 0"},
    {"Algorithm", [](Json &m) { m["collectives"][0]["algorithm"] = "rings"; },
     "expected one of " CGX_ALGORITHM_NAMES " as 'algorithm', got "
     "\"rings\""},
    {"BackInOneShot",
     [](Json &m) {
       m["collectives"][0]["algorithm"] = "one_shot";
       operand(m)["codec"]["back"] = {{"family", "natural"}};
     },
     "expected no codec 'back' with the algorithm one_shot"},
    {"NoHierarchy", [](Json &m) { m["collectives"][0]["algorithm"] = "hierarchical"; },
     "expected a 'hierarchy' with the algorithm hierarchical"},
    {"HierarchyOfRing",
     [](Json &m) {
       m["collectives"][0]["algorithm"] = "ring";
       m["collectives"][0]["hierarchy"] = {{"local", 2}};
     },
     "expected no 'hierarchy' with the algorithm ring"},
    {"EmptyHosts", [](Json &m) { setHierarchy(m, {{"local", 0}}); }, "expected at least 1 rank per host"},
    {"BrokenHosts", [](Json &m) { setHierarchy(m, {{"local", 3}}); },
     "expected groups of hosts of 3 ranks, got a group of 2"},
    {"Leaders", [](Json &m) { setHierarchy(m, {{"local", 2}, {"leaders", "two"}}); },
     "expected one of all, one as 'leaders', got \"two\""},
    {"FeedbackInside",
     [](Json &m) {
       Json inside = operand(m)["codec"];
       inside["error_feedback"] = "f32";
       setHierarchy(m, {{"local", 2}, {"inside", inside}});
     },
     "expected no error feedback inside of hosts"},
    {"FactorsInside",
     [](Json &m) { setHierarchy(m, {{"local", 2}, {"inside", {{"family", "lowrank"}, {"rank", 2}}}}); },
     "expected a codec of payloads, the same both ways, inside of hosts"},
    {"Scalar", [](Json &m) { m = 3; }, "expected an object"},
};

INSTANTIATE_TEST_SUITE_P(Damages, ManifestRefusal, testing::ValuesIn(kRefusals),
                         [](const auto &info) { return info.param.name; });

TEST(Manifest, ThatIsNoJsonIsRefused) {
  for (const char *text : {"", "{", "\xff\xfe", "[[[[[[[["})
    EXPECT_EQ(Program::parse(text, 4).status().getCode(), CGX_BAD_MANIFEST) << text;
}

TEST(Manifest, DamagedBytesNeverCrash) {
  std::mt19937 random(1);
  std::string valid = validManifest().dump();
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = valid;
    for (uint32_t edits = 1 + random() % 3; edits > 0; --edits)
      damaged[random() % damaged.size()] = "0123456789-.eE\"{}[],:truefalsn"[random() % 30];
    (void)Program::parse(damaged.c_str(), 4).ok();
  }
}

TEST(Manifest, DigestDependsOnTheCollectivesOnly) {
  Json manifest = validManifest();
  uint64_t digest = Program::parse(manifest.dump().c_str(), 4)->digest;
  manifest["results"] = Json::array();
  EXPECT_EQ(Program::parse(manifest.dump(2).c_str(), 4)->digest, digest);
  operand(manifest)["codec"]["bits"] = 5;
  EXPECT_NE(Program::parse(manifest.dump().c_str(), 4)->digest, digest);
}

TEST(ManifestTest, RefusesChangesThatCannotBe) {
  auto refuses = [](auto change, const std::string &expected) {
    OperandSpec rows{.shape = {4, 8}, .codec = quantize(3, 64)}, ids{.type = CGX_I32, .shape = {4}};
    Json json = collectiveJson(1, "permute", everybody(2), {rows, ids}, {{"source_target_pairs", {{0, 1}}}});
    json["operands"][0]["codec"]["delta"] = "f32";
    json["operands"][0]["codec"]["samples"] = 16;
    change(json);
    Result<Program> parsed = Program::parse(manifestText(2, {json}).c_str(), 2);
    ASSERT_FALSE(parsed.ok()) << expected;
    EXPECT_NE(parsed.status().message().find(expected), std::string::npos) << parsed.status().message();
  };
  refuses([](Json &json) { json["operands"][0]["codec"]["samples"] = 0; },
          "expected 'samples' to be 1 or more");
  refuses([](Json &json) { json["operands"][0]["codec"]["delta"] = "int8"; },
          "expected f32 or bf16 as 'delta'");
  refuses([](Json &json) { json["operands"][1]["dtype"] = "f32"; }, "expected the ids of the 4 rows");
  refuses([](Json &json) { json["operands"].erase(1); }, "expected the ids of the 4 rows");
  refuses(
      [](Json &json) {
        json["operands"][0]["codec"] = {{"family", "identity"}, {"delta", "f32"}, {"samples", 16}};
      },
      "expected changes with a lossy codec");
  refuses(
      [](Json &json) {
        json["kind"] = "broadcast";
        json["root"] = 0;
      },
      "in a permute or an all_gather only");
}

TEST(ManifestTest, ConnectsGathersThatDecodeAgain) {
  auto parsed = [](auto change) {
    OperandSpec encoded{.shape = {4, 8}, .codec = quantize(8, 64)}, plain{.shape = {4, 8}};
    Json first = collectiveJson(1, "all_gather", everybody(2), {encoded}, {{"dim", 0}}),
         again = collectiveJson(2, "all_gather", everybody(2), {plain}, {{"dim", 0}});
    again["decodes_again"] = 1;
    change(first, again);
    return Program::parse(manifestText(2, {first, again}).c_str(), 2);
  };
  Result<Program> program = parsed([](Json &, Json &) {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_TRUE(program->find(1)->isDecodedAgain);
  EXPECT_EQ(program->find(2)->decodesAgain, 1u);
  auto refuses = [&](auto change) {
    Result<Program> program = parsed(change);
    ASSERT_FALSE(program.ok());
    EXPECT_NE(program.status().message().find("expected 'decodes_again' to be the id of an all_gather"),
              std::string::npos)
        << program.status().message();
  };
  refuses([](Json &, Json &again) { again["decodes_again"] = 3; });
  refuses([](Json &, Json &again) { again["decodes_again"] = 2; });
  refuses([](Json &, Json &again) { again["dim"] = 1; });
  refuses([](Json &, Json &again) { again["operands"][0]["dtype"] = "bf16"; });
  refuses([](Json &first, Json &) {
    first["operands"][0]["codec"]["delta"] = "f32";
    first["operands"][0]["codec"]["samples"] = 1;
  });
  refuses([](Json &first, Json &again) { again["operands"][0]["codec"] = first["operands"][0]["codec"]; });
}

} // namespace
} // namespace cgx::test
