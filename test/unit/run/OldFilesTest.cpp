//===-- OldFilesTest.cpp - Files of earlier versions are read ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The files lie in test/fixtures, in a folder named after the commit whose formats they have.
//
//===----------------------------------------------------------------------===//

#include "cgx/formats/TextFile.h"
#include "cgx/plan/Plan.h"
#include "cgx/plan/Profile.h"
#include "cgx/plan/Solver.h"
#include "cgx/run/CodecState.h"

#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace cgx;
using namespace cgx::run;

namespace {

std::string pathOf(const char *name) { return std::string(CGX_FIXTURES "/0b37ac3/") + name; }

std::string textOf(const char *name) {
  std::string text;
  const std::string problem = formats::readTextFile(pathOf(name), text);
  EXPECT_EQ(problem, "");
  return text;
}

/// A rank of a job that runs the program of the manifest.
struct Rank {
  Rank(const std::string &manifest, uint32_t rank) {
    const std::string job = "old-files-" + std::to_string(getpid());
    cgx_context_config config = CGX_CONTEXT_CONFIG_INIT;
    config.transport = "inproc";
    config.job = job.c_str();
    config.rank = rank;
    config.ranks = 2;
    config.manifest = manifest.c_str();
    status = cgx_context_create(&config, &context);
    if (status != CGX_OK)
      error = cgx_last_error();
  }
  ~Rank() { cgx_context_destroy(context); }

  cgx_context *context = nullptr;
  cgx_status status;
  std::string error;
};

TEST(OldFiles, ACheckpointIsRestoredIntoTheProgramOfAManifest) {
  const std::string manifest = textOf("manifest.json");
  EXPECT_EQ(Manifest::parse(manifest).collectives.size(), 3u);
  const SafetensorsFile checkpoint = SafetensorsFile::open(pathOf("checkpoint.safetensors"));
  const auto restore = [&](uint32_t number) {
    Rank rank(manifest, number);
    ASSERT_EQ(rank.status, CGX_OK) << rank.error;
    restoreCodecState(rank.context, number, checkpoint);
    const std::vector<CodecTensor> restored = copyCodecState(rank.context, number);
    EXPECT_EQ(restored.size(), 6u);
    for (const CodecTensor &tensor : restored) {
      const TensorView *saved = checkpoint.find(tensor.name);
      ASSERT_NE(saved, nullptr) << tensor.name;
      EXPECT_TRUE(
          std::equal(tensor.bytes.begin(), tensor.bytes.end(), saved->bytes.begin(), saved->bytes.end()))
          << tensor.name;
    }
  };
  std::jthread other([&] { restore(1); });
  restore(0);
}

TEST(OldFiles, APlanIsRead) {
  const plan::Plan plan = plan::Plan::parse(textOf("plan.json"));
  EXPECT_EQ(plan.layers.front().layer, "a/w");
  EXPECT_NE(plan.layers.front().codec.find("\"bits\":3"), std::string::npos) << plan.layers.front().codec;
  // Writing the plan again gives equal text.
  EXPECT_EQ(plan::Plan::parse(plan.toJson()).toJson(), plan.toJson());
}

TEST(OldFiles, AProfileIsRead) {
  const plan::Profile profile = plan::Profile::parse(textOf("profile.json"));
  ASSERT_EQ(profile.layers.size(), 1u);
  EXPECT_EQ(profile.layers[0].layer, "params/l1/w");
  EXPECT_EQ(profile.layers[0].candidates.size(), 2u);
  EXPECT_EQ(plan::Profile::parse(profile.toJson()).toJson(), profile.toJson());
}

} // namespace
