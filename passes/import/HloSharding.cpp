//===-- HloSharding.cpp - distributions as HLO writes them ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HloSharding.h"

#include "llvm/ADT/StringExtras.h"

#include <numeric>

using namespace mlir;
using namespace cgx;

/// Removes `[4,1]` or `(1,0)` from the front of `text` and returns the numbers.
static std::optional<SmallVector<int64_t>> consumeNumbers(StringRef &text, char open, char close) {
  size_t end = text.find(close);
  if (!text.starts_with(open) || end == StringRef::npos)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (StringRef part : llvm::split(text.slice(1, end), ',')) {
    int64_t number = 0;
    if (part.trim().getAsInteger(10, number) || number < 0)
      return std::nullopt;
    numbers.push_back(number);
  }
  text = text.drop_front(end + 1);
  return numbers;
}

static int64_t getProduct(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

/// Returns the devices in the order of the tiles, as factors of an iota, major first: `<=[2,2]T(1,0)`, or the
/// list `0,1,2,3` of older texts if it is an iota.
static std::optional<SmallVector<HloSharding::Factor>> consumeDevices(StringRef &text, int64_t count) {
  SmallVector<HloSharding::Factor> factors;
  if (!text.consume_front("<=")) {
    for (int64_t device = 0; device < count; ++device) {
      int64_t number = -1;
      if ((device > 0 && !text.consume_front(",")) || text.consumeInteger(10, number) || number != device)
        return std::nullopt;
    }
    factors.push_back({count, 1});
    return factors;
  }
  std::optional<SmallVector<int64_t>> sizes = consumeNumbers(text, '[', ']');
  if (!sizes || getProduct(*sizes) != count)
    return std::nullopt;
  SmallVector<int64_t> order(llvm::to_vector(llvm::seq<int64_t>(sizes->size())));
  if (text.consume_front("T")) {
    std::optional<SmallVector<int64_t>> given = consumeNumbers(text, '(', ')');
    SmallVector<int64_t> sorted = given.value_or(SmallVector<int64_t>());
    llvm::sort(sorted);
    if (sorted != order)
      return std::nullopt;
    order = *given;
  }
  for (int64_t dim : order)
    factors.push_back({(*sizes)[dim], getProduct(ArrayRef(*sizes).drop_front(dim + 1))});
  return factors;
}

/// Takes factors of `size` devices off the major end of `from`, cutting the last one if it must be.
static std::optional<SmallVector<HloSharding::Factor>> consumeFactors(SmallVector<HloSharding::Factor> &from,
                                                                      int64_t size) {
  SmallVector<HloSharding::Factor> taken;
  while (size > 1) {
    if (from.empty())
      return std::nullopt;
    HloSharding::Factor &major = from.front();
    if (size % major.size == 0) {
      size /= major.size;
      taken.push_back(major);
      from.erase(from.begin());
      continue;
    }
    if (major.size % size != 0)
      return std::nullopt;
    taken.push_back({size, major.stride * (major.size / size)});
    major.size /= size;
    size = 1;
  }
  return taken;
}

std::optional<HloSharding> HloSharding::parse(StringRef text) {
  text = text.trim();
  if (!text.consume_front("{") || !text.consume_back("}"))
    return std::nullopt;
  HloSharding sharding;
  if (text == "replicated" || text.starts_with("maximal"))
    return text == "replicated" ? std::optional(sharding) : std::nullopt;
  if (!text.consume_front("devices="))
    return std::nullopt;
  std::optional<SmallVector<int64_t>> tiles = consumeNumbers(text, '[', ']');
  if (!tiles)
    return std::nullopt;
  sharding.devices = getProduct(*tiles);
  std::optional<SmallVector<Factor>> devices = consumeDevices(text, sharding.devices);
  text = text.trim();
  bool lastReplicates = text.consume_front("last_tile_dim_replicate");
  if (!devices || !text.empty() || (lastReplicates && tiles->empty()))
    return std::nullopt;
  for (int64_t tile : lastReplicates ? ArrayRef(*tiles).drop_back() : ArrayRef(*tiles)) {
    std::optional<SmallVector<Factor>> factors = consumeFactors(*devices, tile);
    if (!factors)
      return std::nullopt;
    sharding.dimensions.push_back(*factors);
  }
  return sharding;
}

SmallVector<StringRef> HloSharding::splitTuple(StringRef text) {
  text = text.trim();
  if (!text.starts_with("{{"))
    return {text};
  text = text.drop_front().drop_back();
  SmallVector<StringRef> parts;
  while (!text.empty()) {
    size_t end = text.find('}');
    if (end == StringRef::npos)
      break;
    parts.push_back(text.take_front(end + 1).ltrim(", "));
    text = text.drop_front(end + 1);
  }
  return parts;
}

std::optional<SmallVector<int64_t>> HloSharding::findAxes(ArrayRef<HloSharding> shardings, int64_t devices) {
  // These are the distances between devices at which an axis ends and another begins.
  SmallVector<int64_t> strides = {devices, 1};
  for (const HloSharding &sharding : shardings)
    for (ArrayRef<Factor> factors : sharding.dimensions)
      for (Factor factor : factors)
        strides.append({factor.stride * factor.size, factor.stride});
  llvm::sort(strides, std::greater<>());
  strides.erase(llvm::unique(strides), strides.end());
  SmallVector<int64_t> sizes;
  for (auto [major, minor] : llvm::zip(strides, llvm::drop_begin(strides))) {
    if (major % minor != 0 || major > devices)
      return std::nullopt;
    sizes.push_back(major / minor);
  }
  return sizes;
}

ShardingAttr HloSharding::overMesh(MeshAttr mesh, int64_t rank) const {
  if (!dimensions.empty() && static_cast<int64_t>(dimensions.size()) != rank)
    return {};
  SmallVector<ArrayAttr> shardings(rank, ArrayAttr::get(mesh.getContext(), {}));
  for (auto [dim, factors] : llvm::enumerate(dimensions)) {
    SmallVector<Attribute> axes;
    for (Factor factor : factors) {
      // The axes from the major one of this factor on, until it is used up.
      int64_t stride = mesh.getNumRanks();
      for (auto [axis, size] : llvm::zip_equal(mesh.getAxes(), mesh.getSizes())) {
        bool isNext = size > 1 && stride == factor.stride * factor.size && factor.size % size == 0;
        stride /= size;
        if (!isNext)
          continue;
        axes.push_back(axis);
        factor.size /= size;
      }
      if (factor.size != 1)
        return {};
    }
    shardings[dim] = ArrayAttr::get(mesh.getContext(), axes);
  }
  return ShardingAttr::get(mesh.getContext(), shardings);
}
