//===-- state/CarryOver.cpp - Moves codec state to another program -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "state/CarryOver.h"

#include "cgx/codec.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace cgx {

/// Returns a name such as "residual[3.0 fc1.weight].result" without the collective and operand, which change
/// with the program.
static std::string nameWithoutPlace(const std::string &name) {
  const size_t begin = name.find('[') + 1;
  return name.substr(0, begin) + name.substr(name.find(' ', begin) + 1);
}

static std::span<std::byte> bytesOf(const StateTensor &tensor) {
  return {static_cast<std::byte *>(tensor.data), tensor.elements * cgx_element_bytes(tensor.type)};
}

static bool isZero(const StateTensor &tensor) {
  return std::ranges::all_of(bytesOf(tensor), [](std::byte byte) { return byte == std::byte(0); });
}

Status carryOver(std::span<const StateTensor> from, std::span<const StateTensor> to) {
  std::map<std::string, const StateTensor *> places;
  for (const StateTensor &tensor : to)
    places.emplace(nameWithoutPlace(tensor.name), &tensor);
  auto placeOf = [&](const StateTensor &tensor) -> const StateTensor * {
    auto found = places.find(nameWithoutPlace(tensor.name));
    const bool fits = found != places.end() && found->second->type == tensor.type &&
                      found->second->elements == tensor.elements;
    return fits ? found->second : nullptr;
  };
  for (const StateTensor &tensor : from)
    if (!placeOf(tensor) && !isZero(tensor))
      return Status::error(CGX_INVALID_ARGUMENT, "the next program has no place for ", tensor.name, " of ",
                           tensor.elements, " elements of type ", tensor.type,
                           ", and what its codec remembers would be lost");
  for (const StateTensor &tensor : from)
    if (const StateTensor *place = placeOf(tensor); place && tensor.elements != 0)
      std::memcpy(place->data, tensor.data, bytesOf(tensor).size());
  return Status();
}

} // namespace cgx
