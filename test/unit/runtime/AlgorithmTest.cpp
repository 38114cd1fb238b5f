//===-- AlgorithmTest.cpp - Every algorithm against its model -----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every algorithm has the bits of its model and the bytes of its formula.
//
//===----------------------------------------------------------------------===//

#include "CollectiveFixture.h"

namespace cgx::test {
namespace {

class AlgorithmTest : public CollectiveFixture {};

TEST_P(AlgorithmTest, ExactAllReduceByEveryAlgorithm) {
  for (const char *reduction : {"sum", "mean", "max"})
    for (uint64_t size : {1, 1000}) {
      std::vector<OperandSpec> operands;
      for (int type = 0; type < CGX_ELEMENT_TYPE_COUNT; ++type)
        if (std::string(reduction) != "mean" || type <= CGX_F64)
          operands.push_back({.type = cgx_element_type(type), .shape = {uint64_t(size)}});
      addByEveryAlgorithm(operands, reduction);
    }
  runAndCompare();
}

TEST_P(AlgorithmTest, CompressedAllReduceByEveryAlgorithm) {
  for (const char *reduction : {"sum", "mean"}) {
    std::vector<OperandSpec> operands = {{.type = CGX_F32, .shape = {7}},
                                         {.shape = {0}, .codec = quantize(4, 128)}};
    for (const cgx_codec &codec : codecs())
      for (cgx_element_type type : kFloats)
        for (uint64_t size : {1, 5003})
          operands.push_back({.type = type, .shape = {uint64_t(size)}, .codec = codec});
    addByEveryAlgorithm(operands, reduction);
  }
  runAndCompare();
}

TEST_P(AlgorithmTest, EveryAlgorithmOfManyPiecesAndUnevenGroups) {
  addByEveryAlgorithm({{.shape = {ranks() * 33001}, .codec = quantize(4, 100)},
                       {.type = CGX_BF16, .shape = {ranks() * 20001}}},
                      "mean");
  for (const char *algorithm : {"ring", "tree", "one_shot", "halving_doubling"})
    addByHops(algorithm, unevenGroups(ranks()),
              {{.shape = {1000}}, {.shape = {1000}, .codec = quantize(4, 128)}}, "sum");
  runAndCompare();
}

TEST_P(AlgorithmTest, EveryAlgorithmOfTwoElementTypes) {
  addByEveryAlgorithm({{.shape = {70001}, .codec = quantize(4, 128)}, {.type = CGX_BF16, .shape = {333}}},
                      "sum");
  runAndCompare();
}

INSTANTIATE_TEST_SUITE_P(Settings, AlgorithmTest, testing::ValuesIn(settings()), nameOf);

} // namespace
} // namespace cgx::test
