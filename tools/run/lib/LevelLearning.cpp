//===-- LevelLearning.cpp - Steps after which levels are learned -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/LevelLearning.h"

#include "cgx/plan/Codec.h"
#include "cgx/plan/Error.h"
#include "cgx/run/Error.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

using namespace cgx::run;
using Json = nlohmann::json;

bool LevelLearning::isAt(uint64_t step) const { return std::binary_search(steps.begin(), steps.end(), step); }

namespace {

[[noreturn]] void refuse(const std::string &why) { throw Error("--learn-levels: " + why); }

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(part);
  return parts;
}

std::vector<uint64_t> parseSteps(const std::string &text) {
  std::vector<uint64_t> steps;
  if (text.ends_with(','))
    refuse("expected steps such as 100,1000, got '" + text + "'");
  for (const std::string &part : split(text, ',')) {
    uint64_t step = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), step);
    if (error != std::errc() || end != part.data() + part.size())
      refuse("expected steps such as 100,1000, got '" + text + "'");
    if (!steps.empty() && step <= steps.back())
      refuse("expected steps in ascending order, each once, got '" + text + "'");
    steps.push_back(step);
  }
  return steps;
}

Json parseKinds(const std::string &text) {
  static const std::set<std::string> known = {"weight", "gradient", "activation", "outer_gradient"};
  Json kinds = Json::array();
  for (const std::string &kind : split(text, ',')) {
    if (!known.contains(kind))
      refuse("expected kinds among weight, gradient, activation and outer_gradient, got '" + kind + "'");
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end())
      refuse("expected each kind once, got '" + text + "'");
    kinds.push_back(kind);
  }
  return kinds;
}

} // namespace

LevelLearning cgx::run::parseLevelLearning(const std::string &text) {
  LevelLearning learning;
  Json request = Json::object(), codec = Json::object();
  std::set<std::string> seen;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (equals == std::string::npos || value.empty())
      refuse("expected NAME=VALUE, such as steps=100,1000, got '" + word + "'");
    if (!seen.insert(name).second)
      refuse("expected " + name + " once, got '" + text + "'");
    if (name == "steps") {
      learning.steps = parseSteps(value);
    } else if (name == "kinds") {
      request["kinds"] = parseKinds(value);
    } else if (name == "bits" || name == "bucket" || name == "rounding" || name == "scale") {
      try { // the codec checks its own parameters
        codec[name] = Json::parse(plan::parseCodecLabel("quantize " + word)).at(name);
      } catch (const plan::Error &error) {
        refuse(error.what());
      }
    } else {
      refuse("expected steps, kinds, bits, bucket, rounding or scale, got '" + name + "'");
    }
  }
  if (learning.steps.empty())
    refuse("expected steps to learn levels at, such as steps=100,1000");
  request["steps"] = learning.steps;
  request["codec"] = codec;
  learning.options = Json{{"levels", request}}.dump();
  return learning;
}
