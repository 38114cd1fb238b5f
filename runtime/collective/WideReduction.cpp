//===-- collective/WideReduction.cpp - Reductions that round once -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "collective/WideReduction.h"

#include "cgx/arithmetic/float16.h"

#include <algorithm>
#include <array>

namespace cgx {

ReduceOp kernelReduceOp(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Max:
    return ReduceOp::max;
  case ReduceKind::Min:
    return ReduceOp::min;
  case ReduceKind::Product:
    return ReduceOp::product;
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    break;
  }
  return ReduceOp::sum;
}

static void widen(cgx_element_type type, const std::byte *input, uint64_t elements, float *output) {
  const auto *bits = reinterpret_cast<const uint16_t *>(input);
  if (type == CGX_BF16)
    for (uint64_t i = 0; i < elements; ++i)
      output[i] = floatFromBfloat16(bits[i]);
  else
    for (uint64_t i = 0; i < elements; ++i)
      output[i] = floatFromFloat16(bits[i]);
}

void narrow(cgx_element_type type, const float *input, uint64_t elements, std::byte *output) {
  auto *bits = reinterpret_cast<uint16_t *>(output);
  if (type == CGX_BF16)
    for (uint64_t i = 0; i < elements; ++i)
      bits[i] = bfloat16FromFloat(input[i]);
  else
    for (uint64_t i = 0; i < elements; ++i)
      bits[i] = float16FromFloat(input[i]);
}

void reduceWide(ReduceKind kind, cgx_element_type type, std::span<const std::byte *const> inputs,
                uint64_t elements, float *output) {
  // Block by block, so that the widened addend stays in the first-level cache.
  constexpr uint64_t kBlock = 2048;
  std::array<float, kBlock> addend;
  for (uint64_t begin = 0; begin < elements; begin += kBlock) {
    uint64_t count = std::min(kBlock, elements - begin);
    widen(type, inputs[0] + begin * 2, count, output + begin);
    for (const std::byte *input : inputs.subspan(1)) {
      widen(type, input + begin * 2, count, addend.data());
      reduce(kernelReduceOp(kind), CGX_F32, output + begin, addend.data(), count);
    }
  }
}

template <typename T> static void divideTyped(std::byte *data, uint64_t elements, uint64_t divisor) {
  auto *values = reinterpret_cast<T *>(data);
  for (uint64_t i = 0; i < elements; ++i)
    values[i] /= T(divisor);
}

void divide(cgx_element_type type, std::byte *data, uint64_t elements, uint64_t divisor) {
  if (type == CGX_F64)
    divideTyped<double>(data, elements, divisor);
  else
    divideTyped<float>(data, elements, divisor);
}

} // namespace cgx
