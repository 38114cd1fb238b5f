//===-- TableJson.cpp - Tables of layers as JSON --------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/TableJson.h"

#include "JsonWriter.h"

#include "cgx/formats/Fields.h"
#include "cgx/formats/Json.h"

#include <algorithm>
#include <set>

namespace cgx::layers {

namespace {

using formats::Error;
using Json = nlohmann::json;

/// Returns a member of an object; null if it does not exist.
const Json *find(const Json &object, const char *name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

[[noreturn]] void reject(const std::string &of, const std::string &expected, const Json *got) {
  throw Error(of + ": expected " + expected + ", got " + (got ? formats::valueText(*got) : "nothing"));
}

std::string textOf(const Json &object, const char *name, const std::string &of) {
  const Json *value = find(object, name);
  if (!value || !value->is_string())
    reject(of, std::string("a text as '") + name + "'", value);
  return value->get<std::string>();
}

int64_t numberOf(const Json &value, int64_t least, int64_t most, const std::string &of) {
  const bool isNumber =
      value.is_number_integer() && (!value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t(most));
  if (!isNumber || value.get<int64_t>() < least || value.get<int64_t>() > most)
    reject(of, "a whole number from " + std::to_string(least) + " to " + std::to_string(most), &value);
  return value.get<int64_t>();
}

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostRanks = 1 << 20;

std::vector<int64_t> numbersOf(const Json *list, int64_t most, const std::string &of) {
  if (!list || !list->is_array())
    reject(of, "a list of numbers", list);
  std::vector<int64_t> numbers;
  for (const Json &value : *list)
    numbers.push_back(numberOf(value, 0, most, of));
  return numbers;
}

/// Reads one of a few names.
template <typename Value>
Value named(const Json &object, const char *name, std::optional<Value> (*find)(std::string_view),
            const std::string &expected, const std::string &of) {
  const std::string text = textOf(object, name, of);
  const std::optional<Value> value = find(text);
  if (!value)
    throw Error(of + ": expected " + expected + " as '" + name + "', got '" + text + "'");
  return *value;
}

int64_t elementsOf(const std::vector<int64_t> &shape, const std::string &of) {
  int64_t elements = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(elements, size, &elements))
      throw Error(of + ": expected a shape of fewer elements than a number of 64 bits holds");
  return elements;
}

Operand readOperand(const Json &entry, const std::string &where) {
  Operand operand;
  operand.layer.name = textOf(entry, "layer", where);
  const std::string of = where + ", layer '" + operand.layer.name + "'";
  operand.layer.kind = named(entry, "kind", kindNamed, describeKinds(), of);
  operand.type = named(entry, "dtype", elementTypeNamed, "an element type such as f32", of);
  operand.shape = numbersOf(find(entry, "shape"), kMost, of + ", shape");
  elementsOf(operand.shape, of);
  if (const Json *shape = find(entry, "layer_shape")) {
    operand.layer.shape = numbersOf(shape, kMost, of + ", layer_shape");
    elementsOf(*operand.layer.shape, of);
  }
  const std::vector<int64_t> origin = numbersOf(find(entry, "origin"), kMost, of + ", origin");
  if (origin.size() != 2)
    reject(of, "two numbers as 'origin'", find(entry, "origin"));
  operand.origin = {origin[0], origin[1]};
  return operand;
}

/// Rejects collectives and kinds of layers that need the data flow, which only the compiler follows.
void checkKind(const Collective &collective, const std::string &where) {
  if (collective.kind != CGX_ALL_REDUCE && collective.kind != CGX_ALL_GATHER &&
      collective.kind != CGX_REDUCE_SCATTER)
    throw Error(where + ": expected all_reduce, all_gather or reduce_scatter, got " +
                std::string(nameOf(collective.kind)) + ", of which the compiler has to see the program");
  for (const Operand &operand : collective.operands)
    if (isActivation(operand.layer.kind))
      throw Error(where + ", layer '" + operand.layer.name +
                  "': expected no activation, of which the compiler has to see the program");
}

void checkDim(const Collective &collective, const std::string &where) {
  if (collective.kind == CGX_ALL_REDUCE)
    return;
  for (const Operand &operand : collective.operands) {
    const std::string of = where + ", layer '" + operand.layer.name + "'";
    if (size_t(collective.dim) >= operand.shape.size())
      throw Error(of + ": expected 'dim' to be a dimension of its shape, got " +
                  std::to_string(collective.dim));
    const int64_t size = operand.shape[size_t(collective.dim)], ranks = collective.largestGroup();
    if (collective.kind == CGX_REDUCE_SCATTER && size % ranks != 0)
      throw Error(of + ": expected dimension " + std::to_string(collective.dim) + " to be a multiple of " +
                  std::to_string(ranks) + " ranks, got " + std::to_string(size));
  }
}

Collective readCollective(const Json &entry, size_t position, int64_t ranks) {
  std::string where = "collective at position " + std::to_string(position);
  if (!entry.is_object())
    reject(where, "an object", &entry);
  Collective collective;
  const Json *id = find(entry, "id");
  collective.id = numberOf(id ? *id : Json(), 0, kMost, where + ", id");
  collective.kind = named(entry, "kind", collectiveNamed, "a kind of collective", where);
  if (collective.kind == CGX_ALL_REDUCE || collective.kind == CGX_REDUCE_SCATTER)
    collective.reduction = named(entry, "reduction", reductionNamed, "sum, mean, max, min or product", where);
  if (const Json *dim = find(entry, "dim"))
    collective.dim = numberOf(*dim, 0, kMost, where + ", dim");
  // Without groups, all ranks form one.
  std::vector<int64_t> everyone;
  for (int64_t rank = 0; rank < ranks; ++rank)
    everyone.push_back(rank);
  collective.groups = {everyone};
  const Json *operands = find(entry, "operands");
  if (!operands || !operands->is_array() || operands->empty())
    reject(where, "a list of 'operands'", operands);
  for (size_t i = 0; i < operands->size(); ++i) {
    const std::string operand = where + ", operand " + std::to_string(i);
    if (!(*operands)[i].is_object())
      reject(operand, "an object", &(*operands)[i]);
    collective.operands.push_back(readOperand((*operands)[i], operand));
  }
  checkKind(collective, where);
  checkDim(collective, where);
  return collective;
}

Table parse(std::string_view text) {
  const Json json = formats::parseJson(text);
  if (!json.is_object() || json.value("cgx_layers", Json()) != 1)
    throw Error("expected a table of layers, {\"cgx_layers\": 1, ...}, got " + formats::valueText(json));
  Table table;
  const Json *ranks = find(json, "ranks"), *collectives = find(json, "collectives");
  table.ranks = numberOf(ranks ? *ranks : Json(), 1, kMostRanks, "ranks");
  if (!collectives || !collectives->is_array())
    reject("the table", "a list of 'collectives'", collectives);
  std::set<int64_t> ids;
  for (const Json &entry : *collectives) {
    const Collective &collective =
        table.collectives.emplace_back(readCollective(entry, table.collectives.size(), table.ranks));
    if (!ids.insert(collective.id).second)
      throw Error("expected ids to be unique, got a second collective " + std::to_string(collective.id));
  }
  return table;
}

} // namespace

std::string readTable(std::string_view json, Table &table) {
  try {
    table = parse(json);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

std::string diagnosticsJson(const Diagnostics &diagnostics) {
  JsonWriter json(/*isCompact=*/true);
  const auto write = [&](const char *severity, const std::string &message) {
    json.object([&] { json.member("severity", severity), json.member("message", message); });
  };
  json.array([&] {
    for (const Diagnostic &diagnostic : diagnostics.get()) {
      write(diagnostic.severity == Severity::Error ? "error" : "warning", diagnostic.message);
      for (const std::string &note : diagnostic.notes)
        write("note", note);
    }
  });
  return json.text();
}

} // namespace cgx::layers
