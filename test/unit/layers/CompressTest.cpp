//===-- CompressTest.cpp - All decisions about a table --------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Compress.h"
#include "cgx/layers/TableJson.h"

#include <gtest/gtest.h>

namespace cgx::layers {
namespace {

/// Returns a table of two matrices and a vector, in that order.
Table makeTable() {
  Table table;
  table.ranks = 2;
  int64_t number = 0;
  for (auto [name, shape] : {std::pair<const char *, std::vector<int64_t>>{"fc.weight", {64, 64}},
                             {"embed.weight", {100, 64}},
                             {"fc.bias", {64}}}) {
    Collective &collective = table.collectives.emplace_back();
    collective.id = number;
    collective.reduction = Reduction::Mean;
    collective.groups = {{0, 1}};
    Operand &operand = collective.operands.emplace_back();
    operand.layer.name = name;
    operand.layer.kind = Kind::Gradient;
    operand.shape = shape;
    operand.origin = {number++, 0};
  }
  return table;
}

std::string errorOf(std::string_view options, Table table = makeTable()) {
  Diagnostics diagnostics;
  return compress(std::move(table), options, diagnostics) ? "" : diagnostics.errors();
}

std::string reportOf(std::string_view options) {
  Diagnostics diagnostics;
  const std::optional<Compressed> compressed = compress(makeTable(), options, diagnostics);
  return compressed ? compressed->report : diagnostics.errors();
}

TEST(Compress, LayersThatAreTooSmallStayExactAndSayWhy) {
  EXPECT_EQ(reportOf("bits=4"),
            "cgx report: 2 ranks, 3 collectives, 3 operands; bytes per rank and step (mean over ranks)\n"
            "layer         kind      tensor      raw bytes  wire bytes  ratio  codec, why exact\n"
            "fc.weight     gradient  64x64xf32       16384        2192  7.47x  quantize bits=4\n"
            "embed.weight  gradient  100x64xf32      25600        3416  7.49x  quantize bits=4\n"
            "fc.bias       gradient  64xf32            256         256  1.00x  1-D operand\n"
            "total                                   42240        5864  7.20x\n");
}

TEST(Compress, OptionsAreReadAsTheCompilerReadsThem) {
  EXPECT_EQ(reportOf("bits=8 min-rank=1 min-elements=0"),
            reportOf(" gradient=bits=8  min-elements=0x0 min-rank=01 "));
  EXPECT_EQ(reportOf("codec=topk<density=0.5>"), reportOf("gradient={topk density=0.5}"));
  EXPECT_EQ(reportOf("exclude=*embed*,*fc*"), reportOf("exclude={*embed*,*fc*}"));
  EXPECT_EQ(errorOf("bitz=4"), "--cgx-compress: no such option bitz (did you mean 'bits'?)");
  EXPECT_EQ(errorOf("min-elements=x"), "--cgx-compress: a wrong value");
  EXPECT_EQ(errorOf("error-feedback"), "--cgx-compress: a wrong value");
  EXPECT_EQ(errorOf("plan="), "--cgx-compress: expected a value for the option plan");
  EXPECT_EQ(errorOf("exclude=[a"),
            "expected exclude to be a glob, got [a: invalid glob pattern, unmatched '['");
}

TEST(Compress, WhatATableSaysItselfIsNoOption) {
  for (const char *option :
       {"group-bytes=0", "scope=entire-model", "overlap", "overlap=false", "prefetch=64MiB", "decompose"})
    EXPECT_NE(errorOf(option).find("has no meaning for a table of layers"), std::string::npos) << option;
}

TEST(Compress, AManifestDoesNotDependOnTheOrderOfItsCollectives) {
  Table reversed = makeTable();
  std::reverse(reversed.collectives.begin(), reversed.collectives.end());
  Diagnostics diagnostics;
  const auto collectivesOf = [&](Table table) {
    const std::string text = compress(std::move(table), "bits=4", diagnostics)->manifest;
    const size_t begin = text.find("\"collectives\"");
    return text.substr(begin, text.find("\"hash\"") - begin);
  };
  EXPECT_EQ(collectivesOf(makeTable()), collectivesOf(reversed));
}

TEST(TableJson, RefusalsSayWhere) {
  const auto refusalOf = [](const std::string &operand, const std::string &collective = "") {
    Table table;
    return readTable(R"({"cgx_layers": 1, "ranks": 2, "collectives": [{"id": 0, "kind": "reduce_scatter", )"
                     R"("reduction": "sum", "dim": 0)" +
                         collective + R"(, "operands": [)" + operand + "]}]}",
                     table);
  };
  const std::string good =
      R"({"layer": "w", "kind": "gradient", "dtype": "f32", "shape": [8], "origin": [0, 0]})";
  const std::string where = "collective at position 0, operand 0, layer 'w'";
  EXPECT_EQ(refusalOf(good), "");
  EXPECT_EQ(refusalOf(R"({"layer": "w", "kind": "grad"})").substr(0, 80),
            (where + ": expected gradient, weight, activation, other").substr(0, 80));
  EXPECT_EQ(
      refusalOf(R"({"layer": "w", "kind": "gradient", "dtype": "f32", "shape": [7], "origin": [0, 0]})"),
      "collective at position 0, layer 'w': expected dimension 0 to be a multiple of 2 ranks, got 7");
  EXPECT_EQ(
      refusalOf(R"({"layer": "w", "kind": "gradient", "dtype": "f32", "shape": [-7], "origin": [0, 0]})"),
      where + ", shape: expected a whole number from 0 to 9223372036854775807, got -7");
  EXPECT_EQ(
      refusalOf(R"({"layer": "w", "kind": "activation", "dtype": "f32", "shape": [8], "origin": [0, 0]})"),
      "collective at position 0, layer 'w': expected no activation, of which the compiler has to see the "
      "program");
  Table table;
  EXPECT_NE(readTable("[]", table).find("expected a table of layers"), std::string::npos);
  EXPECT_NE(readTable("{", table).find("expected JSON"), std::string::npos);
}

} // namespace
} // namespace cgx::layers
