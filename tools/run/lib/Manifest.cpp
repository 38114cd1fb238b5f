//===-- Manifest.cpp - Manifest of a compiled program -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Manifest.h"

#include "cgx/formats/CodecJson.h"
#include "cgx/formats/Json.h"
#include "cgx/formats/Numbers.h"
#include "cgx/formats/ScheduleJson.h"
#include "cgx/run/Error.h"

#include <nlohmann/json.hpp>
#include <set>

using namespace cgx::run;
using Json = nlohmann::json;
using cgx::formats::wholeNumber, cgx::formats::wholeNumbers;

namespace {

/// The most ranks that a mesh may have.
constexpr int64_t kMaxRanks = 1 << 16;

[[noreturn]] void fail(const std::string &what) {
  throw Error("the program's manifest is malformed: " + what);
}

ElementType parseType(const Json &entry) {
  std::string name = entry.at("dtype").get<std::string>();
  std::optional<ElementType> type = parseElementType(name);
  if (!type)
    fail("unknown dtype '" + name + "'");
  return *type;
}

Mesh parseMesh(const Json &text, uint32_t ranks) {
  Mesh mesh;
  std::set<std::string> names;
  int64_t product = 1;
  for (const Json &entry : text) {
    mesh.push_back({entry.at("name").get<std::string>(), wholeNumber<int64_t>(entry.at("size"))});
    const MeshAxis &axis = mesh.back();
    if (axis.size < 1 || axis.size > kMaxRanks || product > kMaxRanks)
      fail("mesh axis '" + axis.name + "' has size " + std::to_string(axis.size));
    if (!names.insert(axis.name).second)
      fail("mesh axis '" + axis.name + "' is there twice");
    product *= axis.size;
  }
  if (!mesh.empty() && product != ranks)
    fail("a mesh of " + std::to_string(product) + " ranks in a program of " + std::to_string(ranks));
  return mesh;
}

int64_t axisSize(const Mesh &mesh, const std::string &name, const Value &value) {
  for (const MeshAxis &axis : mesh)
    if (axis.name == name)
      return axis.size;
  fail("'" + value.name + "' is sharded over '" + name + "', which is no axis of the mesh");
}

/// Checks that the blocks of a value tile its global shape.
void checkSharding(const Value &value, const Mesh &mesh) {
  if (value.sharding.size() != value.shape.size() || value.globalShape.size() != value.shape.size())
    fail("'" + value.name + "' has " + std::to_string(value.shape.size()) +
         " dimensions, but its global shape " + std::to_string(value.globalShape.size()) +
         " and its sharding " + std::to_string(value.sharding.size()));
  std::set<std::string> used;
  for (size_t dim = 0; dim < value.shape.size(); ++dim) {
    int64_t blocks = 1;
    for (const std::string &axis : value.sharding[dim]) {
      blocks *= axisSize(mesh, axis, value);
      if (!used.insert(axis).second)
        fail("'" + value.name + "' is sharded twice over '" + axis + "'");
    }
    int64_t expected;
    if (__builtin_mul_overflow(value.shape[dim], blocks, &expected) || expected != value.globalShape[dim])
      fail("'" + value.name + "' is " + typeString(value.type, value.shape) +
           " on a rank, which does not tile " + typeString(value.type, value.globalShape));
  }
}

Value parseValue(const Json &entry, const Mesh &mesh) {
  Value value;
  value.name = entry.at("name").get<std::string>();
  value.type = parseType(entry);
  value.shape = wholeNumbers<Shape::value_type>(entry.at("shape"));
  value.globalShape =
      entry.contains("global_shape") ? wholeNumbers<Shape::value_type>(entry["global_shape"]) : value.shape;
  value.sharding = entry.value("sharding", Sharding(value.shape.size()));
  if (value.shape.size() > kMaxDimensions)
    fail("'" + value.name + "' has " + std::to_string(value.shape.size()) + " dimensions, at most " +
         std::to_string(kMaxDimensions) + " are supported");
  if (!elementCount(value.shape) || !elementCount(value.globalShape))
    fail("'" + value.name + "' has the shape " + typeString(value.type, value.globalShape));
  checkSharding(value, mesh);
  if (entry.contains("initial")) {
    const Json &initial = entry["initial"];
    if (!initial.is_string() && initial != 0)
      fail("'" + value.name + "' begins with " + initial.dump() + ", expected 0 or the name of a tensor");
    value.initial = initial.is_string() ? initial.get<std::string>() : "0";
  }
  return value;
}

Operand parseOperand(const Json &entry) {
  Operand operand;
  operand.layer = entry.value("layer", "");
  operand.kind = entry.value("kind", "other");
  operand.type = parseType(entry);
  operand.elements = wholeNumber<uint64_t>(entry.at("elements"));
  if (std::string wrong = cgx::readCodec(entry.at("codec"), operand.codec); !wrong.empty())
    fail("codec of layer '" + operand.layer + "': " + wrong);
  operand.shape = wholeNumbers<uint64_t>(entry.value("shape", Json::array()));
  operand.codec = operand.used(operand.codec);
  if (entry["codec"].contains("back"))
    if (std::string wrong = cgx::readCodec(entry["codec"]["back"], operand.back.emplace()); !wrong.empty())
      fail("codec 'back' of layer '" + operand.layer + "': " + wrong);
  bool isLossy = cgx_codec_is_exact(&operand.codec) == 0;
  operand.sendsChanges = entry["codec"].contains("delta");
  operand.isPlannable =
      !operand.back && !operand.sendsChanges && (isLossy || entry.value("may_be_compressed", false));
  return operand;
}

Collective parseCollective(const Json &entry, uint32_t ranks) {
  Collective collective;
  collective.id = wholeNumber<int64_t>(entry.at("id"));
  if (std::string wrong = cgx::readKind(entry, collective.kind); !wrong.empty())
    fail("collective " + std::to_string(collective.id) + ": " + wrong);
  if (std::string wrong = cgx::readSchedule(entry, collective.schedule); !wrong.empty())
    fail("collective " + std::to_string(collective.id) + ": " + wrong);
  for (const Json &group : entry.at("groups"))
    collective.groups.push_back(wholeNumbers<uint32_t>(group));
  std::set<uint32_t> members;
  for (const auto &group : collective.groups)
    for (uint32_t rank : group)
      if (rank >= ranks || !members.insert(rank).second)
        fail("collective " + std::to_string(collective.id) + " has rank " + std::to_string(rank) +
             " in its groups, which is out of range or there twice");
  collective.root = wholeNumber<uint32_t>(entry.value("root", Json(0u)));
  for (const Json &pair : entry.value("source_target_pairs", Json::array()))
    collective.pairs.push_back({wholeNumber<uint32_t>(pair.at(0)), wholeNumber<uint32_t>(pair.at(1))});
  for (const Json &digits : entry.value("sends", Json::array()))
    if (collective.sends.push_back(digits.get<std::string>()); collective.sends.back().empty())
      fail("collective " + std::to_string(collective.id) + " has a pair without runs in 'sends'");
  if (!collective.sends.empty() && collective.sends.size() != collective.pairs.size())
    fail("collective " + std::to_string(collective.id) + " has " + std::to_string(collective.pairs.size()) +
         " pairs, and says of " + std::to_string(collective.sends.size()) + " when they send");
  for (const Json &operand : entry.at("operands"))
    collective.operands.push_back(parseOperand(operand));
  collective.decodesAgain = entry.contains("decodes_again");
  return collective;
}

void parseProgram(const Json &root, Manifest &manifest) {
  if (root.at("cgx_manifest") != 1)
    fail("expected version 1, got " + root["cgx_manifest"].dump());
  manifest.hash = root.at("hash").get<std::string>();
  int64_t ranks = wholeNumber<int64_t>(root.at("ranks"));
  if (ranks < 1 || ranks > kMaxRanks)
    fail("a program of " + std::to_string(ranks) + " ranks");
  manifest.ranks = static_cast<uint32_t>(ranks);
  manifest.mesh = parseMesh(root.value("mesh", Json::array()), manifest.ranks);
  for (const Json &entry : root.at("arguments"))
    manifest.arguments.push_back(parseValue(entry, manifest.mesh));
  for (const Json &entry : root.at("results"))
    manifest.results.push_back(parseValue(entry, manifest.mesh));
  for (const Json &entry : root.value("collectives", Json::array()))
    manifest.collectives.push_back(parseCollective(entry, manifest.ranks));
  size_t result = 0;
  for (const Json &entry : root["results"]) {
    if (entry.contains("feeds"))
      manifest.feed(result, wholeNumber<size_t>(entry["feeds"]));
    if (entry.contains("updates")) {
      manifest.results[result].updates = wholeNumber<size_t>(entry["updates"]);
      if (*manifest.results[result].updates >= manifest.arguments.size())
        fail("result " + std::to_string(result) + " updates argument " + entry["updates"].dump() + " of " +
             std::to_string(manifest.arguments.size()));
    }
    ++result;
  }
}

} // namespace

Manifest Manifest::parse(std::string_view text) {
  Manifest manifest;
  try {
    parseProgram(cgx::formats::parseJson(text), manifest);
  } catch (const cgx::formats::Error &error) {
    fail(error.what());
  } catch (const Json::exception &error) {
    fail(error.what());
  }
  return manifest;
}

void Manifest::feed(size_t result, std::optional<size_t> argument) {
  if (!argument) {
    results.at(result).feeds.reset();
    return;
  }
  if (*argument >= arguments.size())
    fail("result " + std::to_string(result) + " feeds argument " + std::to_string(*argument) + " of " +
         std::to_string(arguments.size()));
  Value &from = results.at(result);
  const Value &to = arguments[*argument];
  if (from.type != to.type || from.shape != to.shape || from.sharding != to.sharding)
    throw Error("result '" + from.name + "' cannot feed argument '" + to.name + "': expected " +
                typeString(to.type, to.shape) + ", got " + typeString(from.type, from.shape) +
                (from.shape == to.shape && from.type == to.type ? " sharded otherwise" : ""));
  // The later feed wins, because an argument takes one result.
  for (Value &other : results)
    if (other.feeds == argument)
      other.feeds.reset();
  from.feeds = argument;
}

std::string Manifest::meshString() const {
  std::string text;
  for (const MeshAxis &axis : mesh)
    text += (text.empty() ? "" : ", ") + axis.name + "=" + std::to_string(axis.size);
  return text;
}

cgx_codec cgx::run::parseCodec(const std::string &json) {
  cgx_codec codec;
  std::string wrong;
  try {
    wrong = readCodec(cgx::formats::parseJson(json), codec);
  } catch (const cgx::formats::Error &error) {
    wrong = error.what();
  }
  if (!wrong.empty())
    throw Error("expected a codec, got " + json + ": " + wrong);
  return codec;
}
