//===-- CheckpointsTest.cpp - Validity of a checkpoint ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Checkpoints.h"

#include "cgx/run/Error.h"
#include "cgx/run/FileSystem.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace cgx::run;

namespace {

const std::string kPath =
    testing::TempDir() + "/cgx-checkpoint-" + std::to_string(::getpid()) + ".safetensors";

/// Returns the bytes of a checkpoint of --save, without one entry of its metadata.
std::string checkpoint(const std::string &without = "") {
  std::vector<uint8_t> bytes = {1, 2, 3, 4, 5, 6};
  std::vector<float> floats = {1.5f, -2.5f};
  std::vector<TensorView> tensors = {{"a", CGX_U8, {2, 3}, std::as_bytes(std::span(bytes))},
                                     {"b", CGX_F32, {2}, std::as_bytes(std::span(floats))}};
  Metadata metadata = {{"cgx.steps", "20"},        {"cgx.seed", "3"},          {"cgx.program", "8f3a"},
                       {"cgx.run", "17"},          {"cgx.metrics", "{}"},      {"cgx.data", "1234"},
                       {"cgx.shuffle", "1"},       {"cgx.global_batch", "16"}, {"cgx.pad_last", "0"},
                       {"cgx.plan", "{\"a\": 1}"}, {"cgx.batches", "40"}};
  metadata.erase(without);
  if (without != "cgx.digest")
    metadata["cgx.digest"] = digestOfCheckpoint(tensors, metadata);
  writeSafetensors(kPath, tensors, metadata);
  const MappedFile file = mapFile(kPath);
  std::string text(reinterpret_cast<const char *>(file.bytes.data()), file.bytes.size());
  std::filesystem::remove(kPath);
  return text;
}

/// Returns the error that it is rejected with; empty when it is accepted.
std::string refusal(const std::string &bytes) {
  try {
    checkSound(SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "c"));
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

/// Returns everything that a run takes from a file.
std::string contents(const std::string &bytes) {
  const SafetensorsFile file = SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "c");
  std::string text;
  for (const TensorView &tensor : file.tensors())
    text += tensor.name + typeString(tensor.type, tensor.shape) +
            std::string(reinterpret_cast<const char *>(tensor.bytes.data()), tensor.bytes.size());
  for (const auto &[key, value] : file.metadata())
    text += key + "=" + value + "\n";
  return text;
}

TEST(Checkpoints, AnyByteThatIsChangedIsNoticed) {
  const std::string whole = checkpoint();
  ASSERT_EQ(refusal(whole), "");
  size_t equal = 0;
  for (size_t at = 0; at < whole.size(); ++at)
    for (int change = 1; change < 256; ++change) {
      std::string damaged = whole;
      damaged[at] = char(damaged[at] ^ change);
      if (!refusal(damaged).empty())
        continue;
      ASSERT_EQ(contents(damaged), contents(whole)) << "byte " << at << " xor " << change;
      ++equal;
    }
  EXPECT_LT(equal, 8u * 4u); // white space after the header is equivalent to other white space
}

TEST(Checkpoints, WhatARunIsContinuedFromMustBeThere) {
  for (const char *key : {"cgx.steps", "cgx.seed", "cgx.program", "cgx.run", "cgx.data", "cgx.shuffle",
                          "cgx.global_batch", "cgx.pad_last", "cgx.digest"})
    EXPECT_NE(refusal(checkpoint(key)).find(std::string("has no '") + key + "'"), std::string::npos)
        << key << ": " << refusal(checkpoint(key));
  EXPECT_EQ(refusal(checkpoint("cgx.plan")), "");
  EXPECT_EQ(refusal(checkpoint("cgx.batches")), "");
}

} // namespace
