//===-- ProgramHashTest.cpp - Numbers that stand for programs -------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramHash.h"

#include <gtest/gtest.h>

namespace cgx::layers {
namespace {

std::string textOf(size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i)
    text += char('a' + (i * 7 + i / 26) % 26);
  return text;
}

// The expected values are those of LLVM's xxh3_64bits, with which earlier versions numbered manifests; plans
// and checkpoints contain that number. The lengths are those at which the hash changes its algorithm.
TEST(ProgramHash, IsTheOneOfEarlierVersions) {
  const std::pair<size_t, const char *> known[] = {
      {17, "93e37276a1b3d25e"},   {32, "d00a2b8f3bf36873"},   {33, "d39624f33c097a6e"},
      {64, "efeb5ea8ea6305b3"},   {65, "e70b778e20ef9245"},   {96, "f3ea7b4ce1055549"},
      {97, "07bceb73fa709a04"},   {128, "99b49a6ce5670d47"},  {129, "4641a320807ef74f"},
      {143, "69589e9ae48ebcc4"},  {144, "3a1b6b062eed117f"},  {200, "885bc9b9f1e5e2d8"},
      {240, "d3c4b82b98d7a188"},  {241, "1c56a5bbf21d0632"},  {512, "15459dab77ac1d4a"},
      {1024, "60b22172af3bb019"}, {1025, "f5bbebdef007cf63"}, {1088, "8137c538798dc612"},
      {1089, "35b44a6c61a53baa"}, {2048, "eb6cb6f30112e9f9"}, {5000, "9d36df0c5780d94b"}};
  for (const auto &[bytes, hash] : known)
    EXPECT_EQ(programHash(textOf(bytes)), hash) << bytes << " bytes";
}

} // namespace
} // namespace cgx::layers
