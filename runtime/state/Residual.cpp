//===-- state/Residual.cpp - Residuals of error feedback --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "state/Residual.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cgx {

uint64_t Residual::bytesOf(ResidualStorage storage, uint64_t elements) {
  return elements * (storage == ResidualStorage::F32 ? 4 : storage == ResidualStorage::Bf16 ? 2 : 1);
}

Residual::Residual(ResidualStorage storage, uint64_t begin, uint64_t elements)
    : Residual(storage, begin, elements, StateMemory(bytesOf(storage, elements))) {}

Residual::Residual(ResidualStorage storage, uint64_t begin, uint64_t elements, StateMemory memory)
    : storage(storage), begin(begin), elements(elements), memory(std::move(memory)),
      scales(storage == ResidualStorage::Int8 ? (elements + residualBlock - 1) / residualBlock : 0) {}

Residual::Overlap Residual::overlapOf(uint64_t first, uint64_t count) const {
  uint64_t from = std::clamp(first, begin, begin + elements);
  uint64_t to = std::clamp(first + count, from, begin + elements);
  return from == to ? Overlap{0, 0} : Overlap{from - first, to - from};
}

void Residual::load(uint64_t first, std::span<float> values) const {
  auto [skipped, kept] = overlapOf(first, values.size());
  if (kept != values.size())
    std::fill(values.begin(), values.end(), 0.0f);
  if (kept != 0)
    loadKept(first + skipped - begin, values.subspan(skipped, kept));
}

void Residual::store(uint64_t first, std::span<const float> values) {
  auto [skipped, kept] = overlapOf(first, values.size());
  if (kept != 0)
    storeKept(first + skipped - begin, values.subspan(skipped, kept));
}

void Residual::loadKept(uint64_t offset, std::span<float> values) const {
  if (storage == ResidualStorage::F32) {
    std::ranges::copy(kept<float>().subspan(offset, values.size()), values.begin());
    return;
  }
  if (storage == ResidualStorage::Bf16) {
    for (uint64_t i = 0; i < values.size(); ++i)
      values[i] = floatFromBfloat16(kept<uint16_t>()[offset + i]);
    return;
  }
  for (uint64_t i = 0; i < values.size(); ++i)
    values[i] = valueOfInt8(kept<int8_t>()[offset + i], scales[(offset + i) / residualBlock]);
}

std::span<int8_t> Residual::blockOf(uint64_t block) {
  uint64_t start = block * residualBlock;
  return kept<int8_t>().subspan(start, std::min(residualBlock, elements - start));
}

void Residual::loadBlock(uint64_t block, std::span<float> values) const {
  loadKept(block * residualBlock, values);
}

void Residual::storeBlock(uint64_t block, std::span<const float> values) {
  float largest = 0.0f;
  for (float value : values)
    largest = std::max(largest, std::fabs(value));
  scales[block] = residualScale(largest);
  std::span<int8_t> target = blockOf(block);
  for (uint64_t i = 0; i < values.size(); ++i)
    target[i] = keepAsInt8(values[i], scales[block]);
}

void Residual::storeKept(uint64_t offset, std::span<const float> values) {
  if (storage == ResidualStorage::F32) {
    std::ranges::copy(values, kept<float>().begin() + int64_t(offset));
    return;
  }
  if (storage == ResidualStorage::Bf16) {
    for (uint64_t i = 0; i < values.size(); ++i)
      kept<uint16_t>()[offset + i] = keepAsBf16(values[i]);
    return;
  }
  // If a block is replaced in part, the rest keeps its values, at the block's new scale.
  for (uint64_t done = 0; done < values.size();) {
    uint64_t block = (offset + done) / residualBlock, inBlock = (offset + done) % residualBlock;
    std::array<float, residualBlock> memory;
    std::span<float> whole = std::span(memory).first(blockOf(block).size());
    loadBlock(block, whole);
    uint64_t count = std::min(whole.size() - inBlock, values.size() - done);
    std::copy_n(values.begin() + int64_t(done), count, whole.begin() + int64_t(inBlock));
    storeBlock(block, whole);
    done += count;
  }
}

std::span<std::byte> Residual::stored() { return {memory.data(), bytesOf(storage, elements)}; }

void Residual::describe(const std::string &name, std::vector<StateTensor> &tensors) {
  switch (storage) {
  case ResidualStorage::F32:
    tensors.push_back({name, CGX_F32, elements, memory.data()});
    return;
  case ResidualStorage::Bf16:
    tensors.push_back({name, CGX_BF16, elements, memory.data()});
    return;
  case ResidualStorage::Int8:
    tensors.push_back({name, CGX_I8, elements, memory.data()});
    tensors.push_back({name + ".scales", CGX_F32, scales.size(), scales.data()});
    return;
  }
}

} // namespace cgx
