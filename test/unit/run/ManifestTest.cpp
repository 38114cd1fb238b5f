//===-- ManifestTest.cpp - Manifest of a compiled program -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Manifest.h"

#include "cgx/codec_table.h"
#include "cgx/run/Error.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace cgx::run;
using Json = nlohmann::json;

namespace {

Json good() {
  return Json::parse(R"({
    "cgx_manifest": 1, "hash": "00112233aabbccdd", "ranks": 4, "mesh": [{"name": "data", "size": 4}],
    "arguments": [
      {"name": "state['w']", "dtype": "f32", "shape": [3], "global_shape": [3], "sharding": [[]]},
      {"name": "batch['x']", "dtype": "bf16", "shape": [2, 3], "global_shape": [8, 3], "sharding": [["data"], []]}],
    "results": [
      {"name": "result[0]['w']", "dtype": "f32", "shape": [3], "global_shape": [3], "sharding": [[]], "feeds": 0},
      {"name": "result[1]", "dtype": "f32", "shape": [], "global_shape": [], "sharding": []}],
    "collectives": [{"id": 7, "kind": "all_reduce", "reduction": "sum", "algorithm": "scatter_reduce_allgather",
      "groups": [[0, 1], [2, 3]], "operands": [{"layer": "w", "layer_id": 0, "kind": "gradient", "dtype": "f32",
        "elements": 3, "codec": {"family": "quantize", "bits": 4, "bucket": 128, "rounding": "stochastic",
        "scale": "bf16", "checksum": true}}]}]})");
}

std::string refusal(const Json &text) {
  try {
    Manifest::parse(text.dump());
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

/// Replaces the value at a JSON pointer.
Json with(const char *pointer, Json replacement) {
  Json text = good();
  text[Json::json_pointer(pointer)] = std::move(replacement);
  return text;
}

#define EXPECT_REFUSED(text, part) EXPECT_NE(refusal(text).find(part), std::string::npos) << refusal(text)

TEST(Manifest, IsReadCompletely) {
  Manifest manifest = Manifest::parse(good().dump());
  EXPECT_EQ(manifest.ranks, 4u);
  EXPECT_EQ(manifest.meshString(), "data=4");
  EXPECT_EQ(manifest.arguments[1].globalShape, (Shape{8, 3}));
  EXPECT_EQ(manifest.arguments[1].bytes(), 12u);
  EXPECT_EQ(manifest.results[0].feeds, 0u);
  EXPECT_FALSE(manifest.results[1].feeds);
  const Collective &collective = manifest.collectives.at(0);
  EXPECT_EQ(collective.id, 7);
  EXPECT_EQ(cgx::describeCodec(collective.operands[0].codec),
            "quantize bits=4 bucket=128 rounding=stochastic scale=bf16 checksum");
}

TEST(Manifest, ContradictionsAreRefused) {
  EXPECT_EQ(refusal(good()), "");
  EXPECT_REFUSED(with("/cgx_manifest", 2), "expected version 1, got 2");
  EXPECT_REFUSED(with("/ranks", 5), "a mesh of 4 ranks in a program of 5");
  EXPECT_REFUSED(with("/ranks", 0), "0 ranks");
  EXPECT_REFUSED(with("/mesh/0/size", -4), "size -4");
  EXPECT_REFUSED(with("/arguments/1/sharding/0/0", "rows"), "'rows', which is no axis");
  EXPECT_REFUSED(with("/arguments/1/sharding/1", Json::array({"data"})), "twice");
  EXPECT_REFUSED(with("/arguments/1/global_shape/0", 9), "does not tile");
  EXPECT_REFUSED(with("/arguments/1/shape/0", INT64_MAX), "batch['x']");
  EXPECT_REFUSED(with("/results/1/updates", 2), "result 1 updates argument 2 of 2");
  EXPECT_REFUSED(with("/arguments/0/shape/0", -3), "state['w']");
  EXPECT_REFUSED(with("/arguments/0/dtype", "f33"), "unknown dtype 'f33'");
  EXPECT_REFUSED(with("/results/0/feeds", 9), "argument 9 of 2");
  EXPECT_REFUSED(with("/results/0/feeds", 1), "cannot feed argument 'batch['x']'");
  EXPECT_REFUSED(with("/results/0/feeds", -1), "got -1");
  EXPECT_REFUSED(with("/collectives/0/groups/1/1", 4), "rank 4");
  EXPECT_REFUSED(with("/collectives/0/groups/1/1", 0), "there twice");
  EXPECT_REFUSED(with("/collectives/0/operands/0/codec/family", "zip"), "got 'zip'");
  EXPECT_REFUSED(with("/collectives/0/operands/0/codec/bits", 9), "in 1..8 as 'bits', got 9");
  EXPECT_REFUSED(with("/arguments", 3), "malformed");
}

TEST(Manifest, TextThatIsNoJsonIsRefused) {
  for (const char *text : {"", "{", "[]", "null", "{\"cgx_manifest\":1}"})
    EXPECT_THROW(Manifest::parse(text), Error) << text;
}

TEST(Manifest, AFeedOfTheUserReplacesThatOfTheProgram) {
  Json text = good();
  text["results"].push_back(text["results"][0]);
  text["results"][2].erase("feeds");
  Manifest manifest = Manifest::parse(text.dump());
  manifest.feed(2, 0);
  EXPECT_FALSE(manifest.results[0].feeds);
  EXPECT_EQ(manifest.results[2].feeds, 0u);
  manifest.feed(2, std::nullopt);
  EXPECT_FALSE(manifest.results[2].feeds);
}

} // namespace
