//===-- StepValue.cpp - Values that follow from the step's number -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/StepValue.h"

#include "cgx/run/Error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numbers>

using namespace cgx::run;

namespace {

using Words = std::array<uint32_t, 2>;

/// Computes Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw 2011), with JAX's conventions.
Words threefry(Words key, Words counter) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1bd11bdau};
  auto [x, y] = counter;
  x += keys[0];
  y += keys[1];
  for (uint32_t i = 0; i < 5; ++i) {
    for (int rotation : rotations[i % 2]) {
      x += y;
      y = std::rotl(y, rotation) ^ x;
    }
    x += keys[(i + 1) % 3];
    y += keys[(i + 2) % 3] + i + 1;
  }
  return {x, y};
}

Words wordsOf(uint64_t number) { return {uint32_t(number >> 32), uint32_t(number)}; }

/// Returns true for the key of threefry, or of rbg, which consists of two of them.
bool isKey(const Value &argument) {
  return argument.type == CGX_U32 && (argument.globalShape == Shape{2} || argument.globalShape == Shape{4}) &&
         argument.shape == argument.globalShape;
}

struct Call {
  std::string name;
  std::vector<std::string> arguments;
};

/// Parses `name(a, b)`. The text has that form.
Call parseCall(const std::string &text) {
  size_t open = text.find('(');
  Call call{text.substr(0, open), {}};
  if (text.back() != ')')
    throw Error("expected ')' at the end of '" + text + "'");
  for (size_t begin = open + 1; begin < text.size();) {
    size_t end = std::min(text.find(',', begin), text.size() - 1);
    std::string part = text.substr(begin, end - begin);
    part.erase(0, std::min(part.find_first_not_of(' '), part.size()));
    part.erase(part.find_last_not_of(' ') + 1);
    call.arguments.push_back(part);
    begin = end + 1;
  }
  return call;
}

template <typename T> T parseNumber(const std::string &text, const char *what) {
  T number;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size())
    throw Error(std::string("expected ") + what + ", got '" + text + "'");
  return number;
}

/// Returns how far step t of n is, from 0 to 1.
double share(double t, double n) { return n <= 0 ? 1 : std::clamp(t / n, 0.0, 1.0); }

double cosineDecay(double from, double t, double n, double floor) {
  return from * ((1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * share(t, n))) + floor);
}

} // namespace

bool StepValue::isMeant(const std::string &text) {
  return text == "@step" || (text.find('(') != std::string::npos && text.find('(') != 0);
}

StepValue StepValue::parse(const std::string &text, const Value &argument) {
  StepValue value;
  const std::string type = typeString(argument.type, argument.globalShape);
  if (text == "@step") {
    value.kind = isKey(argument) ? Kind::FoldInSeed : Kind::Step;
    return value;
  }
  const Call call = parseCall(text);
  if (call.name == "key" || call.name == "fold_in") {
    const bool folds = call.name == "fold_in";
    if (!isKey(argument))
      throw Error("'" + text + "' is a random key: expected an argument of u32[2] or u32[4], got " + type);
    if (call.arguments.size() != (folds ? 2 : 1) || (folds && call.arguments[1] != "@step"))
      throw Error("expected key(SEED) or fold_in(SEED,@step), got '" + text + "'");
    value.kind = folds ? Kind::FoldIn : Kind::Key;
    value.seed = parseNumber<uint64_t>(call.arguments[0], "a whole number as the seed of a key");
    return value;
  }
  struct Schedule {
    const char *name, *form;
    Kind kind;
    size_t least, most;
  };
  constexpr Schedule schedules[] = {
      {"linear", "linear(FROM,TO,STEPS)", Kind::Linear, 3, 3},
      {"cosine", "cosine(FROM,STEPS[,FLOOR])", Kind::Cosine, 2, 3},
      {"exponential", "exponential(FROM,STEPS,RATE)", Kind::Exponential, 3, 3},
      {"warmup_cosine", "warmup_cosine(FROM,PEAK,WARMUP,STEPS[,END])", Kind::WarmupCosine, 4, 5}};
  std::string forms;
  for (const Schedule &schedule : schedules) {
    forms += std::string(", ") + schedule.form;
    if (call.name != schedule.name)
      continue;
    if (!isFloat(argument.type))
      throw Error("'" + text + "' is a schedule: expected an argument of real numbers, got " + type);
    if (call.arguments.size() < schedule.least || call.arguments.size() > schedule.most)
      throw Error(std::string("expected ") + schedule.form + ", got '" + text + "'");
    value.kind = schedule.kind;
    for (const std::string &number : call.arguments)
      value.numbers.push_back(parseNumber<double>(number, "a number in a schedule"));
    return value;
  }
  throw Error("expected @step, key(SEED), fold_in(SEED,@step)" + forms + ", got '" + text + "'");
}

void StepValue::writeKey(const Value &argument, uint64_t step, uint64_t runSeed, std::byte *block) const {
  Words key = wordsOf(kind == Kind::FoldInSeed ? runSeed : seed);
  if (kind != Kind::Key)
    key = threefry(key, {0, uint32_t(step)});
  for (uint64_t offset = 0; offset < argument.bytes(); offset += sizeof key)
    std::memcpy(block + offset, key.data(), sizeof key);
}

double StepValue::at(uint64_t step) const {
  const auto t = static_cast<double>(step);
  const std::vector<double> &n = numbers;
  switch (kind) {
  case Kind::Linear:
    return n[0] + (n[1] - n[0]) * share(t, n[2]);
  case Kind::Cosine:
    return cosineDecay(n[0], t, n[1], n.size() > 2 ? n[2] : 0);
  case Kind::Exponential:
    return n[0] * std::pow(n[2], t / n[1]);
  case Kind::WarmupCosine: {
    const double end = n.size() > 4 ? n[4] : 0;
    if (t < n[2])
      return n[0] + (n[1] - n[0]) * share(t, n[2]);
    return cosineDecay(n[1], t - n[2], n[3] - n[2], n[1] == 0 ? 0 : end / n[1]);
  }
  default:
    return t;
  }
}

void StepValue::write(const Value &argument, uint64_t step, uint64_t runSeed, std::byte *block) const {
  if (kind == Kind::FoldInSeed || kind == Kind::Key || kind == Kind::FoldIn)
    return writeKey(argument, step, runSeed, block);
  char text[32];
  char *end = kind == Kind::Step ? std::to_chars(text, text + sizeof text, step).ptr
                                 : std::to_chars(text, text + sizeof text, at(step)).ptr;
  const uint64_t width = elementBytes(argument.type);
  for (uint64_t offset = 0; offset < argument.bytes(); offset += width)
    if (!parseScalar(argument.type, {text, end}, block + offset))
      throw Error("step " + std::to_string(step) + ": " + std::string(text, end) + " does not fit '" +
                  argument.name + "', " + elementTypeName(argument.type));
}
