//===-- BindingsTest.cpp - Input of each argument ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Bindings.h"
#include "cgx/run/Error.h"

#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace cgx::run;

namespace {

/// A safetensors file in memory, filled with zeros.
class Memory {
public:
  explicit Memory(const std::vector<std::tuple<std::string, ElementType, Shape>> &tensors,
                  const Metadata &metadata = {}) {
    nlohmann::json header = nlohmann::json::object();
    if (!metadata.empty())
      header["__metadata__"] = metadata;
    uint64_t offset = 0;
    for (const auto &[name, type, shape] : tensors) {
      uint64_t end = offset + *elementCount(shape) * cgx_element_bytes(type);
      header[name] = {{"dtype", safetensorsName(type)}, {"shape", shape}, {"data_offsets", {offset, end}}};
      offset = end;
    }
    std::string text = header.dump();
    uint64_t length = text.size();
    bytes_.resize(8);
    std::memcpy(bytes_.data(), &length, 8);
    bytes_ += text + std::string(offset, '\0');
    file_ = SafetensorsFile::parse(std::as_bytes(std::span(bytes_)), "f.safetensors");
  }
  const SafetensorsFile *operator&() const { return &file_; }

private:
  std::string bytes_;
  SafetensorsFile file_;
};

Value argument(const std::string &name, ElementType type, Shape shape) {
  return {name, type, shape, shape, Sharding(shape.size()), std::nullopt};
}

/// Returns a program in which w and m are fed, x and y are batches, and lr is a scalar.
Manifest program() {
  Manifest manifest;
  manifest.arguments = {argument("state['params']['w']", CGX_F32, {3}),
                        argument("state['momentum']['w']", CGX_F32, {3}),
                        argument("batch['x']", CGX_F32, {4, 2}), argument("batch['y']", CGX_I32, {4}),
                        argument("lr", CGX_F32, {})};
  manifest.results = manifest.arguments;
  manifest.results.resize(2);
  manifest.results[0].feeds = 0;
  manifest.results[1].feeds = 1;
  return manifest;
}

const Memory kState({{"state['params']['w']", CGX_F32, {3}}, {"state['momentum']['w']", CGX_F32, {3}}});
const Memory kData({{"x", CGX_F32, {9, 2}}, {"y", CGX_U8, {9}}});

std::string refusal(const Manifest &manifest, const Inputs &inputs) {
  try {
    bindArguments(manifest, inputs);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

#define EXPECT_REFUSED(inputs, part)                                                                         \
  EXPECT_NE(refusal(program(), inputs).find(part), std::string::npos) << refusal(program(), inputs)

TEST(Bindings, FindStateSamplesAndValues) {
  Bindings bindings = bindArguments(program(), {&kState, &kData, {{"lr", "0.5"}}});
  EXPECT_EQ(bindings.arguments[1].tensor->name, "state['momentum']['w']");
  EXPECT_EQ(bindings.arguments[2].source, Source::Data);
  EXPECT_EQ(bindings.arguments[4].source, Source::Constant);
  EXPECT_EQ(readScalar(CGX_F32, bindings.arguments[4].constant.data()), 0.5);
  EXPECT_EQ(bindings.samples, 9u);
  EXPECT_EQ(bindings.globalBatch, 4u);
  EXPECT_TRUE(bindings.warnings.empty());
}

TEST(Bindings, TakeSlashFormsAndOtherTopLevelNames) {
  Memory slashes({{"params/w", CGX_F32, {3}}, {"momentum/w", CGX_F32, {3}}});
  Memory renamed({{"s['params']['w']", CGX_F32, {3}}, {"s['momentum']['w']", CGX_F32, {3}}});
  EXPECT_EQ(bindArguments(program(), {&slashes, &kData, {{"lr", "1"}}}).arguments[0].tensor->name,
            "params/w");
  EXPECT_EQ(bindArguments(program(), {&renamed, &kData, {{"lr", "1"}}}).arguments[1].tensor->name,
            "s['momentum']['w']");
}

TEST(Bindings, NeverTakeOneTensorForAnother) {
  // Without its parameters, the state still resembles them by the short name of the momentum.
  Manifest manifest = program();
  manifest.arguments[0].name = "params['w']";
  manifest.arguments[1].name = "momentum['w']";
  Memory state({{"momentum['w']", CGX_F32, {3}}});
  EXPECT_NE(
      refusal(manifest, {&state, &kData, {{"lr", "1"}}}).find("'params['w']': expected f32[3], got nothing"),
      std::string::npos);
}

TEST(Bindings, AllProblemsAreListedAtOnce) {
  Memory state({{"state['params']['w']", CGX_F64, {3}}, {"extra", CGX_U8, {1}}});
  Memory data({{"x", CGX_F32, {9, 3}}, {"y", CGX_I64, {9}}});
  Inputs inputs{&state, &data, {}};
  EXPECT_REFUSED(inputs, "5 problems");
  EXPECT_REFUSED(inputs, "'state['params']['w']': expected f32[3], got f64[3] in 'f.safetensors'");
  EXPECT_REFUSED(
      inputs, "'state['momentum']['w']': expected f32[3], got nothing: 'f.safetensors' has no such tensor");
  EXPECT_REFUSED(inputs, "'batch['x']': expected f32[samples,2], got f32[9,3]");
  EXPECT_REFUSED(inputs,
                 "'batch['y']': expected i32[samples], got i64[9] in 'f.safetensors', whose elements may "
                 "not fit: write it as i32");
  EXPECT_REFUSED(inputs, "--set \"lr=VALUE\"");
}

TEST(Bindings, MissingFilesAreNamed) {
  EXPECT_REFUSED((Inputs{nullptr, &kData, {{"lr", "1"}}}), "give its first value with --state");
  EXPECT_REFUSED((Inputs{&kState, nullptr, {{"lr", "1"}}}),
                 "'batch['x']': expected f32[4,2], got nothing: no --data is given\n");
  Inputs evaluation{&kState, nullptr, {{"lr", "1"}}};
  evaluation.dataOption = "--eval-data";
  EXPECT_REFUSED(evaluation, "no --eval-data is given");
  // All inputs that one option would give are reported in one line.
  EXPECT_REFUSED((Inputs{nullptr, &kData, {{"lr", "1"}}}),
                 "'state['params']['w']': expected f32[3], and 1 more, got nothing");
}

TEST(Bindings, FilesWithOtherNamesAreListedAndTheNearestAreMeant) {
  Memory data({{"xx", CGX_F32, {9, 2}}, {"image", CGX_U8, {9}}});
  Memory state({{"state['params']['w']", CGX_F32, {3}}, {"state['momentun']['w']", CGX_F32, {3}}});
  Inputs inputs{&state, &data, {{"lr", "1"}}};
  EXPECT_REFUSED(inputs, "'f.safetensors' has no such tensor (did you mean 'momentun/w' there?)");
  EXPECT_REFUSED(inputs, "\n  'f.safetensors' has state['momentun']['w'] f32[3]\n");
  EXPECT_REFUSED(inputs, "\n  'f.safetensors' has image u8[9], xx f32[9,2]");
  const std::string text = refusal(program(), inputs);
  EXPECT_EQ(text.find("batch['x']=VALUE"), std::string::npos) << "for as many as samples nobody types values";
}

TEST(Bindings, NamesThatTheProgramDoesNotHaveAreListedWithTheNearest) {
  EXPECT_REFUSED((Inputs{&kState, &kData, {{"lr", "1"}, {"bach['z']", "1"}}}),
                 "no argument 'bach['z']' (did you mean 'batch['x']'?); it has state['params']['w'], ");
}

TEST(Bindings, BatchesMustHaveEquallyManySamples) {
  Memory data({{"x", CGX_F32, {9, 2}}, {"y", CGX_I32, {8}}});
  EXPECT_REFUSED((Inputs{&kState, &data, {{"lr", "1"}}}),
                 "expected samples to be 9 as in 'batch['x']', got 8");
}

TEST(Bindings, ValuesMustFit) {
  EXPECT_REFUSED((Inputs{&kState, &kData, {{"lr", "fast"}}}), "--set lr: expected f32, got 'fast'");
  EXPECT_REFUSED((Inputs{&kState, &kData, {{"lr", "1"}, {"params/w", "1,2"}}}),
                 "expected 1 or 3 numbers, got 2");
  EXPECT_REFUSED((Inputs{&kState, &kData, {{"lr", "1"}, {"b", "1"}}}), "no argument 'b'");
  EXPECT_EQ(refusal(program(), {&kState, &kData, {{"lr", "@step"}, {"params/w", "1,2,3"}}}), "");
}

/// Returns a program with a learning rate, a random key and class weights beside samples.
Manifest programOfSteps() {
  Manifest manifest = program();
  manifest.arguments[4].name = "batch['lr']";
  manifest.arguments.push_back(argument("batch['key']", CGX_U32, {2}));
  manifest.arguments.push_back(argument("batch['weights']", CGX_F32, {5}));
  return manifest;
}

TEST(Bindings, WhatHasNoSamplesIsOnePerStepOrTheSameInAll) {
  Memory data({{"x", CGX_F32, {9, 2}},
               {"y", CGX_U8, {9}},
               {"lr", CGX_F32, {20}},
               {"key", CGX_U32, {15, 2}},
               {"weights", CGX_F32, {5}}});
  Bindings bindings = bindArguments(programOfSteps(), {&kState, &data, {}});
  EXPECT_EQ(bindings.arguments[4].source, Source::PerStep);
  EXPECT_EQ(bindings.arguments[5].source, Source::PerStep);
  EXPECT_EQ(bindings.arguments[6].source, Source::Constant);
  EXPECT_EQ(bindings.arguments[6].constant.size(), 20u);
  EXPECT_EQ(bindings.samples, 9u);
  EXPECT_EQ(bindings.steps, 15u);
}

TEST(Bindings, MarksOfTheFileComeBeforeShapes) {
  Memory data({{"x", CGX_F32, {9, 2}},
               {"y", CGX_U8, {9}},
               {"lr", CGX_F32, {}},
               {"key", CGX_U32, {2}},
               {"weights", CGX_F32, {9, 5}}},
              {{"cgx.constant", R"(["lr", "key"])"}, {"cgx.per_step", R"(["weights"])"}});
  Bindings bindings = bindArguments(programOfSteps(), {&kState, &data, {}});
  EXPECT_EQ(bindings.arguments[4].source, Source::Constant);
  EXPECT_EQ(bindings.arguments[5].source, Source::Constant);
  EXPECT_EQ(bindings.arguments[6].source, Source::PerStep);
  EXPECT_EQ(bindings.steps, 9u);
}

TEST(Bindings, WhatHasNoSamplesSaysWhatWouldFit) {
  Memory data({{"x", CGX_F32, {9, 2}},
               {"y", CGX_U8, {9}},
               {"lr", CGX_F32, {20, 2}},
               {"key", CGX_I32, {15, 2}},
               {"weights", CGX_F32, {7}}},
              {{"cgx.constant", R"(["weights"])"}});
  const std::string text = refusal(programOfSteps(), {&kState, &data, {}});
  for (const char *part :
       {"'batch['lr']': expected f32[], or f32[steps] with one for each step, got f32[20,2] in "
        "'f.safetensors'",
        "'batch['key']': expected u32[steps,2], got i32[15,2] in 'f.safetensors', whose elements may not fit",
        "'batch['weights']': expected f32[5], got f32[7] in 'f.safetensors'"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Bindings, ValuesMayFollowFromTheStep) {
  Memory data({{"x", CGX_F32, {9, 2}}, {"y", CGX_U8, {9}}, {"weights", CGX_F32, {5}}});
  const std::pair<std::string, std::string> rate = {"batch['lr']", "cosine(0.1,100)"}, key = {"key", "@step"};
  Bindings bindings = bindArguments(programOfSteps(), {&kState, &data, {rate, key}});
  EXPECT_EQ(bindings.arguments[4].source, Source::Computed);
  EXPECT_EQ(bindings.arguments[5].source, Source::Computed);
  EXPECT_NE(refusal(programOfSteps(), {&kState, &data, {rate, {"key", "key(x)"}}})
                .find("--set batch['key']: expected a whole number as the seed of a key, got 'x'"),
            std::string::npos);
}

TEST(Bindings, SurplusIsAWarning) {
  Memory state(
      {{"state['params']['w']", CGX_F32, {3}}, {"state['momentum']['w']", CGX_F32, {3}}, {"z", CGX_U8, {1}}});
  Bindings bindings = bindArguments(program(), {&state, &kData, {{"lr", "1"}}});
  ASSERT_EQ(bindings.warnings.size(), 1u);
  EXPECT_EQ(bindings.warnings[0], "'f.safetensors' has 1 tensor that the program does not take: z");
}

/// Returns `program` with the state that the compiler adds: each rank's own w, and a momentum of zeros.
Manifest localProgram() {
  Manifest manifest = program();
  manifest.arguments.push_back(argument("local['state']['params']['w']", CGX_F32, {2, 3}));
  manifest.arguments.back().initial = "state['params']['w']";
  manifest.arguments.push_back(argument("outer_momentum['state']['params']['w']", CGX_F32, {3}));
  manifest.arguments.back().initial = "0";
  for (size_t i : {5, 6}) {
    manifest.results.push_back(manifest.arguments[i]);
    manifest.results.back().feeds = i;
  }
  return manifest;
}

TEST(Bindings, AddedStateBeginsAsTheManifestSays) {
  Bindings bindings = bindArguments(localProgram(), {&kState, &kData, {{"lr", "1"}}});
  EXPECT_EQ(bindings.arguments[0].source, Source::State);
  EXPECT_EQ(bindings.arguments[5].source, Source::PerRank);
  EXPECT_EQ(bindings.arguments[5].tensor, bindings.arguments[0].tensor);
  EXPECT_EQ(bindings.arguments[6].source, Source::Constant);
  EXPECT_EQ(bindings.arguments[6].constant, std::vector<std::byte>(4));
}

TEST(Bindings, AddedStateIsTakenByItsOwnName) {
  const Memory saved({{"state['params']['w']", CGX_F32, {3}},
                      {"state['momentum']['w']", CGX_F32, {3}},
                      {"local['state']['params']['w']", CGX_F32, {2, 3}},
                      {"outer_momentum['state']['params']['w']", CGX_F32, {3}}});
  Bindings bindings = bindArguments(localProgram(), {&saved, &kData, {{"lr", "1"}}});
  for (size_t i : {5, 6}) {
    EXPECT_EQ(bindings.arguments[i].source, Source::State);
    EXPECT_EQ(bindings.arguments[i].tensor->name, localProgram().arguments[i].name);
  }
  EXPECT_TRUE(bindings.warnings.empty());
}

/// Returns a checkpoint of local training on four ranks, whose parameters have `width` elements.
Memory savedByFour(int64_t width) {
  return Memory({{"state['params']['w']", CGX_F32, {3}},
                 {"state['momentum']['w']", CGX_F32, {3}},
                 {"local['state']['params']['w']", CGX_F32, {4, width}},
                 {"outer_momentum['state']['params']['w']", CGX_F32, {3}}});
}

TEST(Bindings, AddedStateOfAnotherShapeIsRefused) {
  const Memory other = savedByFour(2);
  std::string error = refusal(localProgram(), {&other, &kData, {{"lr", "1"}}});
  EXPECT_NE(error.find("expected f32[2,3]"), std::string::npos) << error;
}

TEST(Bindings, AddedStateOfOtherRanksIsThatOfPredecessors) {
  const Memory other = savedByFour(3);
  Bindings bindings = bindArguments(localProgram(), {&other, &kData, {{"lr", "1"}}});
  EXPECT_EQ(bindings.arguments[5].source, Source::OfMembers);
  EXPECT_EQ(bindings.members, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(bindings.ranksBefore, 4u);
  bindings = bindArguments(localProgram(), {&other, &kData, {{"lr", "1"}}, /*members=*/{3, 1}});
  EXPECT_EQ(bindings.members, (std::vector<uint32_t>{3, 1}));
  const std::string error = refusal(localProgram(), {&other, &kData, {{"lr", "1"}}, /*members=*/{3, 4}});
  EXPECT_NE(error.find("ranks of the checkpoint, 0 to 3, got 4"), std::string::npos) << error;
}

} // namespace
