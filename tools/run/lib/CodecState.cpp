//===-- CodecState.cpp - State of codecs in checkpoints ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/CodecState.h"

#include "cgx/run/Error.h"

#include <cstring>
#include <map>
#include <optional>
#include <utility>

using namespace cgx::run;

namespace {

void check(cgx_status status) {
  if (status != CGX_OK)
    throw Error(std::string(cgx_status_name(status)) + ": " + cgx_last_error());
}

constexpr std::string_view kPrefix = "cgx.codec_state/";

std::string prefixOf(uint32_t rank) { return std::string(kPrefix) + "rank" + std::to_string(rank) + "/"; }

std::span<std::byte> bytesOf(const cgx_state_tensor &tensor) {
  return {static_cast<std::byte *>(tensor.data), tensor.elements * cgx_element_bytes(tensor.element_type)};
}

/// Returns all state tensors of a rank; the data is the runtime's own memory.
std::vector<cgx_state_tensor> listState(cgx_context *context) {
  uint64_t count = 0;
  check(cgx_context_state_count(context, &count));
  std::vector<cgx_state_tensor> tensors(count);
  for (uint64_t i = 0; i < count; ++i)
    check(cgx_context_state_tensor(context, i, &tensors[i]));
  return tensors;
}

/// Counts the tensors of the checkpoint that belong to a rank.
size_t countSaved(const SafetensorsFile &checkpoint, uint32_t rank) {
  size_t count = 0;
  for (const TensorView &tensor : checkpoint.tensors())
    count += tensor.name.starts_with(prefixOf(rank));
  return count;
}

} // namespace

bool cgx::run::isCodecState(std::string_view name) { return name.starts_with(kPrefix); }

bool cgx::run::isCodecState(std::string_view name, uint32_t rank) { return name.starts_with(prefixOf(rank)); }

std::string cgx::run::nameForRank(std::string_view name, uint32_t rank) {
  return prefixOf(rank) + std::string(name.substr(name.find('/', kPrefix.size()) + 1));
}

TensorView CodecTensor::view() const {
  return {name, type, {static_cast<int64_t>(bytes.size() / cgx_element_bytes(type))}, bytes};
}

std::vector<CodecTensor> cgx::run::copyCodecState(cgx_context *context, uint32_t rank) {
  std::vector<CodecTensor> copies;
  for (const cgx_state_tensor &tensor : listState(context)) {
    std::span<const std::byte> bytes = bytesOf(tensor);
    copies.push_back({prefixOf(rank) + tensor.name,
                      static_cast<ElementType>(tensor.element_type),
                      {bytes.begin(), bytes.end()}});
  }
  return copies;
}

void cgx::run::restoreCodecState(cgx_context *context, uint32_t rank, const SafetensorsFile &checkpoint) {
  std::vector<cgx_state_tensor> tensors = listState(context);
  for (const cgx_state_tensor &tensor : tensors) {
    std::string name = prefixOf(rank) + tensor.name;
    auto type = static_cast<ElementType>(tensor.element_type);
    auto count = static_cast<int64_t>(tensor.elements);
    const TensorView *saved = checkpoint.find(name);
    if (!saved)
      throw Error("'" + checkpoint.path() + "' has no '" + name +
                  "', which the program remembers: it was saved by another program");
    if (saved->type != type || saved->shape != Shape{count})
      throw Error("'" + checkpoint.path() + "': '" + name + "': expected " + typeString(type, {count}) +
                  ", got " + typeString(saved->type, saved->shape));
    if (count != 0)
      std::memcpy(tensor.data, saved->bytes.data(), saved->bytes.size());
  }
  if (size_t saved = countSaved(checkpoint, rank); saved != tensors.size())
    throw Error("'" + checkpoint.path() + "' has " + std::to_string(saved) + " tensors of codecs of rank " +
                std::to_string(rank) + ", but the program remembers " + std::to_string(tensors.size()) +
                ": it was saved by another program");
}

namespace {

/// The parts of a name such as "residual[5.0 params/l1/w].contribution.scales".
struct MemoryName {
  std::string layer;  ///< params/l1/w
  std::string memory; ///< "residual.contribution", "residual.result", "warm_start"
  std::string part;   ///< ".scales", or ""

  explicit MemoryName(std::string_view name) {
    const size_t open = name.find('['), space = name.find(' ', open), close = name.rfind(']');
    if (open == name.npos || space == name.npos || close == name.npos || close < space)
      return;
    layer = name.substr(space + 1, close - space - 1);
    memory = name.substr(0, open);
    memory += name.substr(close + 1);
    constexpr std::string_view scales = ".scales";
    if (memory.ends_with(scales)) {
      part = scales;
      memory.resize(memory.size() - scales.size());
    }
  }
  auto operator<=>(const MemoryName &) const = default;
};

/// Returns the number of elements of the layer's operand, if the layer has exactly one.
std::optional<uint64_t> elementsOf(const Manifest &manifest, const std::string &layer) {
  std::optional<uint64_t> elements;
  for (const Collective &collective : manifest.collectives)
    for (const Operand &operand : collective.operands)
      if (operand.layer == layer && std::exchange(elements, operand.elements))
        return std::nullopt;
  return elements;
}

/// Returns the saved tensors by the parts of their names; null where two have equal parts.
std::map<MemoryName, const TensorView *> savedMemories(const SafetensorsFile &checkpoint, uint32_t rank) {
  std::map<MemoryName, const TensorView *> saved;
  for (const TensorView &tensor : checkpoint.tensors())
    if (tensor.name.starts_with(prefixOf(rank))) {
      auto [entry, isNew] =
          saved.try_emplace(MemoryName(std::string_view(tensor.name).substr(prefixOf(rank).size())), &tensor);
      if (!isNew)
        entry->second = nullptr;
    }
  return saved;
}

} // namespace

std::optional<uint32_t> cgx::run::findSameRank(const SafetensorsFile &checkpoint, const Manifest &manifest,
                                               uint32_t rank) {
  const bool isSameCount =
      countSaved(checkpoint, manifest.ranks - 1) != 0 && countSaved(checkpoint, manifest.ranks) == 0;
  return isSameCount ? std::optional(rank) : std::nullopt;
}

Conversion cgx::run::convertCodecState(cgx_context *context, std::optional<uint32_t> from,
                                       const SafetensorsFile &checkpoint, const Manifest &manifest) {
  std::map<MemoryName, const TensorView *> saved;
  if (from)
    saved = savedMemories(checkpoint, *from);
  const auto savedAs = [&](const MemoryName &name, const cgx_state_tensor &tensor) -> const TensorView * {
    const auto entry = saved.find(name);
    const TensorView *found = entry == saved.end() ? nullptr : entry->second;
    const bool isSame = found && found->type == static_cast<ElementType>(tensor.element_type) &&
                        found->shape == Shape{static_cast<int64_t>(tensor.elements)};
    return isSame ? found : nullptr;
  };
  // The scales of a tensor are taken over only together with its bytes.
  const std::vector<cgx_state_tensor> wanted = listState(context);
  std::map<MemoryName, bool> isTaken;
  for (const cgx_state_tensor &tensor : wanted) {
    const MemoryName name(tensor.name);
    MemoryName whole = name;
    whole.part.clear();
    const bool isOfLayer = name.memory == "warm_start" ||
                           (name.memory == "residual.contribution" &&
                            (!name.part.empty() || elementsOf(manifest, name.layer) == tensor.elements));
    const auto [entry, isNew] = isTaken.try_emplace(whole, true);
    entry->second &= isOfLayer && savedAs(name, tensor);
  }
  Conversion conversion;
  for (const cgx_state_tensor &tensor : wanted) {
    const MemoryName name(tensor.name);
    MemoryName whole = name;
    whole.part.clear();
    if (isTaken[whole]) {
      const TensorView &found = *savedAs(name, tensor);
      if (tensor.elements != 0)
        std::memcpy(tensor.data, found.bytes.data(), found.bytes.size());
      conversion.taken += name.part.empty();
    } else if (name.part.empty() && tensor.elements != 0) {
      conversion.anew.push_back(name.memory + " of '" + name.layer + "'");
    }
  }
  return conversion;
}

std::string cgx::run::describe(const Conversion &conversion) {
  constexpr size_t most = 4;
  if (conversion.taken + conversion.anew.size() == 0)
    return "the codecs of this one remember nothing";
  std::string text = "codecs go on with " + std::to_string(conversion.taken) + " of " +
                     std::to_string(conversion.taken + conversion.anew.size()) + " memories";
  for (size_t i = 0; i < std::min(most, conversion.anew.size()); ++i)
    text += (i == 0 ? ", and begin anew: " : ", ") + conversion.anew[i];
  if (conversion.anew.size() > most)
    text += " and " + std::to_string(conversion.anew.size() - most) + " more";
  return text;
}
