//===-- Columns.h - Neighbouring elements, loaded and stored at once --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element type, storage or alignment decide how memory is read. To ask once for many elements, these
// functions take them as template arguments, and withSource() and its like turn a value that is known only at
// run time into one.
#ifndef CGX_KERNELS_CUDA_AGENT_COLUMNS_H
#define CGX_KERNELS_CUDA_AGENT_COLUMNS_H

#include "Input.h"
#include "Residual.h"

#include <type_traits>

namespace cgx::cuda {

/// Neighbouring elements, as they are loaded and stored together.
template <typename T, uint32_t count> struct alignas(count * sizeof(T)) Neighbors {
  T at[count];
};

/// Calls step with true or false as a type.
template <typename Step> CGX_AGENT void withFlag(bool flag, const Step &step) {
  if (flag)
    step(std::true_type());
  else
    step(std::false_type());
}

/// Returns the smaller of two numbers; NaN if one is NaN. Of two zeros it may return either.
CGX_AGENT float smallerOrNan(float a, float b) {
#if defined(__CUDA_ARCH__)
  float smaller;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(smaller) : "f"(a), "f"(b));
  return smaller;
#else
  return b < a || b != b ? b : a;
#endif
}

CGX_AGENT float largerOrNan(float a, float b) {
#if defined(__CUDA_ARCH__)
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
#else
  return b > a || b != b ? b : a;
#endif
}

template <auto value> using Constant = std::integral_constant<decltype(value), value>;

/// Calls step with the source as a type.
template <typename Step> CGX_AGENT void withSource(Source source, const Step &step) {
  switch (source) {
  case Source::f32:
    return step(Constant<Source::f32>());
  case Source::f16:
    return step(Constant<Source::f16>());
  case Source::bf16:
    return step(Constant<Source::bf16>());
  case Source::f32ToF16:
    return step(Constant<Source::f32ToF16>());
  case Source::f32ToBf16:
    return step(Constant<Source::f32ToBf16>());
  }
}

/// Calls step with an element type of f32, f16 or bf16 as a type.
template <typename Step> CGX_AGENT void withType(cgx_element_type type, const Step &step) {
  if (type == CGX_F32)
    step(Constant<CGX_F32>());
  else if (type == CGX_F16)
    step(Constant<CGX_F16>());
  else
    step(Constant<CGX_BF16>());
}

/// Calls step(isWide, areNumbers) with types. If `asks`, stores distinguish elements that may be NaN, which
/// are stored two by two.
template <bool asks, typename Step> CGX_AGENT void withPlace(bool isWide, bool areNumbers, const Step &step) {
  if (asks && !areNumbers)
    step(std::false_type(), std::false_type());
  else
    withFlag(isWide, [&](auto wide) { step(wide, std::true_type()); });
}

/// Loads neighbours at once if `isWide`, else two by two.
template <bool isWide, typename T, uint32_t count>
CGX_AGENT void loadNeighbors(const T *from, T (&values)[count]) {
  constexpr uint32_t width = isWide ? count : 2;
  unrolled<count / width>([&](uint32_t part) {
    const auto loaded = loadFrom<Neighbors<T, width>>(from + part * width);
    unrolled<width>([&](uint32_t i) { values[part * width + i] = loaded.at[i]; });
  });
}

template <bool isWide, typename T, uint32_t count>
CGX_AGENT void storeNeighbors(T *to, const T (&values)[count]) {
  constexpr uint32_t width = isWide ? count : 2;
  unrolled<count / width>([&](uint32_t part) {
    Neighbors<T, width> stored;
    unrolled<width>([&](uint32_t i) { stored.at[i] = values[part * width + i]; });
    storeTo(to + part * width, stored);
  });
}

/// Returns the 16-bit element in the lower or upper half of a word. It is unspecified which NaN a NaN
/// becomes.
template <cgx_element_type type> CGX_AGENT float numberOfHalf(uint32_t word, bool isUpper) {
  if constexpr (type == CGX_BF16)
    return floatFromBits(isUpper ? word & 0xffff0000u : word << 16);
  else
    return numberFromFloat16(uint16_t(isUpper ? word >> 16 : word));
}

/// Rounds sums in f32 once to their element type. It is unspecified which NaN a NaN becomes.
template <cgx_element_type type, uint32_t count> CGX_AGENT void roundNumbers(float (&values)[count]) {
  if constexpr (type != CGX_F32)
    unrolled<count / 2>([&](uint32_t i) {
      const uint32_t word = pairOfNumbers<type == CGX_BF16>(values[2 * i], values[2 * i + 1]);
      values[2 * i] = numberOfHalf<type>(word, /*isUpper=*/false);
      values[2 * i + 1] = numberOfHalf<type>(word, /*isUpper=*/true);
    });
}

/// Returns the element type that sums of a source are rounded to.
constexpr cgx_element_type roundedTypeOf(Source source) {
  return source == Source::f32ToF16 ? CGX_F16 : source == Source::f32ToBf16 ? CGX_BF16 : CGX_F32;
}

/// Loads neighbours. Their number divides the index of the first one, or 2 does if not `isWide`. It is
/// unspecified which NaN a NaN becomes.
template <Source source, bool isWide, uint32_t count>
CGX_AGENT void loadColumns(const void *input, uint64_t index, float (&values)[count]) {
  if constexpr (source == Source::f16 || source == Source::bf16) {
    constexpr cgx_element_type type = source == Source::f16 ? CGX_F16 : CGX_BF16;
    uint32_t words[count / 2];
    constexpr uint32_t width = isWide ? count / 2 : 1;
    unrolled<count / 2 / width>([&](uint32_t part) {
      const auto loaded = loadFrom<Neighbors<uint32_t, width>>(static_cast<const uint16_t *>(input) + index +
                                                               part * width * 2);
      unrolled<width>([&](uint32_t i) { words[part * width + i] = loaded.at[i]; });
    });
    unrolled<count / 2>([&](uint32_t i) {
      values[2 * i] = numberOfHalf<type>(words[i], /*isUpper=*/false);
      values[2 * i + 1] = numberOfHalf<type>(words[i], /*isUpper=*/true);
    });
  } else {
    loadNeighbors<isWide>(static_cast<const float *>(input) + index, values);
    roundNumbers<roundedTypeOf(source)>(values);
  }
}

/// Stores neighbours as elements of f32, f16 or bf16, like storeElement(). With `areNumbers` it is
/// unspecified which NaN a NaN becomes.
template <cgx_element_type type, bool isWide, bool areNumbers, uint32_t count>
CGX_AGENT void storeColumns(void *output, uint64_t index, const float (&values)[count]) {
  if constexpr (type == CGX_F32) {
    storeNeighbors<isWide>(static_cast<float *>(output) + index, values);
  } else {
    constexpr uint32_t width = isWide ? count / 2 : 1;
    unrolled<count / 2 / width>([&](uint32_t part) {
      Neighbors<uint32_t, width> stored;
      unrolled<width>([&](uint32_t i) {
        const uint32_t first = 2 * (part * width + i);
        stored.at[i] = areNumbers ? pairOfNumbers<type == CGX_BF16>(values[first], values[first + 1])
                                  : pairOfFloats<type == CGX_BF16>(values[first], values[first + 1]);
      });
      storeTo(static_cast<uint16_t *>(output) + index + part * width * 2, stored);
    });
  }
}

/// The storage of a residual, if there is one.
enum class Kept { nothing, f32, bf16, int8 };

constexpr Kept keptAs(ResidualStorage storage) {
  return storage == ResidualStorage::F32    ? Kept::f32
         : storage == ResidualStorage::Bf16 ? Kept::bf16
                                            : Kept::int8;
}

/// Adds residuals to neighbouring elements.
template <Kept kept, bool isWide, uint32_t count>
CGX_AGENT void addResiduals(const KeptResidual &residual, uint64_t index, float (&values)[count]) {
  float before[count];
  if constexpr (kept == Kept::int8) {
    int8_t levels[count];
    loadNeighbors<isWide>(static_cast<const int8_t *>(residual.values) + index, levels);
    const float scale = loadFrom<float>(residual.scales + index / residualBlock);
    unrolled<count>([&](uint32_t i) { before[i] = numberOfInt8(levels[i]) * scale; });
  } else {
    loadColumns<kept == Kept::f32 ? Source::f32 : Source::bf16, isWide>(residual.values, index, before);
  }
  unrolled<count>([&](uint32_t i) { values[i] = before[i] + values[i]; });
}

/// Stores losses as residuals; as Int8, they become levels of `divider`'s scale.
template <Kept kept, bool isWide, bool areNumbers, uint32_t count>
CGX_AGENT void storeResiduals(const KeptResidual &residual, uint64_t index, const float (&values)[count],
                              const Int8Divider &divider) {
  if constexpr (kept == Kept::f32) {
    storeColumns<CGX_F32, isWide, areNumbers>(residual.values, index, values);
  } else if constexpr (kept == Kept::bf16) {
    constexpr float largest = 0x1.fep127f; // as in keepAsBf16()
    float held[count];
    unrolled<count>([&](uint32_t i) { held[i] = smallerOrNan(largerOrNan(values[i], -largest), largest); });
    storeColumns<CGX_BF16, isWide, areNumbers>(residual.values, index, held);
  } else {
    int8_t levels[count];
    unrolled<count>([&](uint32_t i) { levels[i] = divider.levelOf(values[i]); });
    storeNeighbors<isWide>(static_cast<int8_t *>(residual.values) + index, levels);
  }
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_COLUMNS_H
