//===-- Manifest.cpp - The manifest of a program --------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Manifest.h"

#include "CodecEntry.h"
#include "JsonWriter.h"
#include "ProgramHash.h"

#include <algorithm>

namespace cgx::layers {

namespace {

// Writes members in the order of their names.

void write(JsonWriter &json, const CodecEntry &entry) {
  json.object([&] {
    bool isFamilyWritten = false;
    const auto writeFamily = [&] {
      if (!std::exchange(isFamilyWritten, true))
        json.member("family", entry.family);
    };
    for (const auto &[name, value] : entry.members) {
      if (name > "family")
        writeFamily();
      json.name(name);
      std::visit(
          [&](const auto &held) {
            if constexpr (requires { held->members; })
              write(json, *held);
            else
              json.value(held);
          },
          value);
    }
    writeFamily();
  });
}

void write(JsonWriter &json, const Collective &collective, const Operand &operand, int64_t number) {
  json.object([&] {
    json.name("codec");
    write(json, entryOf(operand.codec));
    json.member("dtype", nameOf(operand.type));
    json.member("elements", operand.elements());
    json.member("kind", nameOf(operand.layer.kind));
    json.member("layer", operand.layer.name);
    json.member("layer_id", number);
    if (mayBeCompressed(collective, operand))
      json.member("may_be_compressed", true);
    json.numbers("shape", operand.shape);
  });
}

void write(JsonWriter &json, const Collective &collective, const std::vector<int64_t> &numbers) {
  const bool isAllReduce = collective.kind == CGX_ALL_REDUCE, isGather = collective.kind == CGX_ALL_GATHER;
  json.object([&] {
    if (isAllReduce)
      json.member("algorithm", nameOf(collective.algorithm));
    if (collective.kind == CGX_ALL_TO_ALL)
      json.member("concat_dim", collective.concatDim);
    if (isGather && collective.decodesAgain)
      json.member("decodes_again", *collective.decodesAgain);
    if (isGather || collective.kind == CGX_REDUCE_SCATTER)
      json.member("dim", collective.dim);
    if (collective.every != 1)
      json.member("every", collective.every);
    json.name("groups");
    json.array([&] {
      for (const std::vector<int64_t> &group : collective.groups)
        json.array([&] {
          for (int64_t rank : group)
            json.value(rank);
        });
    });
    if (isAllReduce && collective.hierarchy) {
      json.name("hierarchy");
      json.object([&] {
        json.name("inside");
        write(json, entryOf(collective.hierarchy->intraHost));
        json.member("leaders", nameOf(collective.hierarchy->leaders));
        json.member("local", collective.hierarchy->local);
      });
    }
    json.member("id", collective.id);
    json.member("kind", nameOf(collective.kind));
    json.name("operands");
    json.array([&] {
      for (size_t i = 0; i < collective.operands.size(); ++i)
        write(json, collective, collective.operands[i], numbers[i]);
    });
    if (collective.reduction)
      json.member("reduction", nameOf(*collective.reduction));
    if (collective.kind == CGX_BROADCAST)
      json.member("root", collective.root);
    if (collective.runs && *collective.runs != 1)
      json.member("runs", *collective.runs);
    if (collective.sends)
      json.numbers("sends", *collective.sends);
    if (collective.kind == CGX_PERMUTE) {
      json.name("source_target_pairs");
      json.array([&] {
        for (auto [source, target] : collective.pairs)
          json.array([&] { json.value(source), json.value(target); });
      });
    }
    if (collective.kind == CGX_ALL_TO_ALL)
      json.member("split_dim", collective.splitDim);
  });
}

/// Numbers the operands of all collectives; the numbers select random numbers. They follow the order of
/// origins, so that they do not depend on which operands travel together.
std::vector<std::vector<int64_t>> numberOperands(const std::vector<const Collective *> &collectives) {
  std::vector<std::vector<int64_t>> numbers;
  std::vector<std::pair<std::pair<int64_t, int64_t>, int64_t *>> inOrder;
  for (const Collective *collective : collectives)
    numbers.emplace_back(collective->operands.size());
  for (size_t i = 0; i < collectives.size(); ++i)
    for (size_t operand = 0; operand < numbers[i].size(); ++operand)
      inOrder.emplace_back(collectives[i]->operands[operand].origin, &numbers[i][operand]);
  std::ranges::stable_sort(inOrder, {}, [](const auto &one) { return one.first; });
  for (size_t number = 0; number < inOrder.size(); ++number)
    *inOrder[number].second = int64_t(number);
  return numbers;
}

std::string collectivesOf(const Table &table) {
  std::vector<const Collective *> byId;
  for (const Collective &collective : table.collectives)
    byId.push_back(&collective);
  std::ranges::stable_sort(byId, {}, [](const Collective *one) { return one->id; });
  const std::vector<std::vector<int64_t>> numbers = numberOperands(byId);
  JsonWriter json(/*isCompact=*/true);
  json.array([&] {
    for (size_t i = 0; i < byId.size(); ++i)
      write(json, *byId[i], numbers[i]);
  });
  return json.text();
}

std::string meshOf(const Mesh &mesh) {
  JsonWriter json(/*isCompact=*/true);
  json.array([&] {
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
      json.object([&] { json.member("name", mesh.axes[axis]), json.member("size", mesh.sizes[axis]); });
  });
  return json.text();
}

/// Returns the shape of the result on one rank.
std::vector<int64_t> resultShapeOf(const Collective &collective, const Operand &operand) {
  std::vector<int64_t> shape = operand.shape;
  if (collective.kind == CGX_ALL_GATHER)
    shape[size_t(collective.dim)] *= collective.largestGroup();
  if (collective.kind == CGX_REDUCE_SCATTER)
    shape[size_t(collective.dim)] /= collective.largestGroup();
  return shape;
}

} // namespace

Signature signatureOf(const Table &table) {
  JsonWriter arguments(/*isCompact=*/true), results(/*isCompact=*/true);
  const auto write = [&](JsonWriter &json, const char *called, auto shapeOf) {
    int64_t number = 0;
    json.array([&] {
      for (const Collective &collective : table.collectives)
        for (const Operand &operand : collective.operands) {
          const std::vector<int64_t> shape = shapeOf(collective, operand);
          json.object([&] {
            json.member("dtype", nameOf(operand.type));
            json.numbers("global_shape", shape);
            json.member("name", called + std::to_string(number++));
            json.numbers("shape", shape);
            json.name("sharding");
            json.array([&] {
              for (size_t dim = 0; dim < shape.size(); ++dim)
                json.raw("[]");
            });
          });
        }
    });
  };
  write(arguments, "arg", [](const Collective &, const Operand &operand) { return operand.shape; });
  write(results, "result", resultShapeOf);
  return {arguments.text(), results.text()};
}

std::string manifestOf(const Table &table, const std::optional<Signature> &signature) {
  const std::string collectives = collectivesOf(table), mesh = meshOf(table.mesh);
  const auto text = [&](const std::string &hash) {
    JsonWriter json(/*isCompact=*/true);
    const auto add = [&](std::string_view name, const std::string &given) {
      json.name(name), json.raw(given);
    };
    json.object([&] {
      if (signature)
        add("arguments", signature->arguments);
      json.member("cgx_manifest", 1);
      add("collectives", collectives);
      if (!hash.empty())
        json.member("hash", hash);
      add("mesh", mesh);
      json.member("ranks", table.ranks);
      if (signature)
        add("results", signature->results);
    });
    return json.text();
  };
  return text(programHash(text(/*hash=*/"")));
}

} // namespace cgx::layers
