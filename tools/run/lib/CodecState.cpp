//===-- CodecState.cpp - What codecs remember, in files ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/CodecState.h"

#include "cgx/run/Error.h"

#include <cstring>

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

/// All state tensors of a rank, with the runtime's own memory.
std::vector<cgx_state_tensor> listState(cgx_context *context) {
  uint64_t count = 0;
  check(cgx_context_state_count(context, &count));
  std::vector<cgx_state_tensor> tensors(count);
  for (uint64_t i = 0; i < count; ++i)
    check(cgx_context_state_tensor(context, i, &tensors[i]));
  return tensors;
}

/// Tensors of the checkpoint that belong to a rank.
size_t countSaved(const SafetensorsFile &checkpoint, uint32_t rank) {
  size_t count = 0;
  for (const TensorView &tensor : checkpoint.tensors())
    count += tensor.name.starts_with(prefixOf(rank));
  return count;
}

} // namespace

bool cgx::run::isCodecState(std::string_view name) { return name.starts_with(kPrefix); }

bool cgx::run::isCodecState(std::string_view name, uint32_t rank) { return name.starts_with(prefixOf(rank)); }

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
