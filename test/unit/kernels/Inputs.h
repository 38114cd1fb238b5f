//===-- Inputs.h - Inputs of the kernels' tests -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_UNIT_KERNELS_INPUTS_H
#define CGX_TEST_UNIT_KERNELS_INPUTS_H

#include "cgx/kernels/codecs.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace cgx::test {

/// Returns the seed of random tests: CGX_TEST_SEED, or a fixed one. Tests print it when they fail.
uint64_t testSeed();

/// The distribution of elements.
enum class Shape {
  gradient, ///< bell-shaped, a third of it zero
  uniform,  ///< in [-1, 1]
  wide,     ///< all exponents, subnormals too
  huge,     ///< up to 3e38, both signs
  tiny,     ///< subnormals and the first normals
  constant, ///< one value
  offset,   ///< a spread of 1e-3 around 100
  poisoned, ///< gradient with a NaN or an infinity here and there
};
constexpr Shape allShapes[] = {Shape::gradient, Shape::uniform,  Shape::wide,   Shape::huge,
                               Shape::tiny,     Shape::constant, Shape::offset, Shape::poisoned};
const char *shapeName(Shape shape);

std::vector<float> makeFloats(Shape shape, uint64_t elements, std::mt19937_64 &random);

/// Rounds values to elements of `type` (f32, f16, bf16).
std::vector<uint8_t> toElements(cgx_element_type type, const std::vector<float> &values);

/// Widens elements of `type` to f32.
std::vector<float> toFloats(cgx_element_type type, const void *elements, uint64_t count);

/// A byte buffer whose data starts `misalignment` bytes after an aligned address and ends with its
/// allocation, so that the sanitizer sees an access past its end.
class Bytes {
public:
  explicit Bytes(uint64_t size, uint64_t misalignment = 0, uint8_t fill = 0xcd)
      : storage(new uint8_t[size + misalignment]), size_(size), misalignment(misalignment) {
    std::fill(data(), data() + size, fill);
  }
  Bytes(const std::vector<uint8_t> &bytes, uint64_t misalignment) : Bytes(bytes.size(), misalignment) {
    std::copy(bytes.begin(), bytes.end(), data());
  }

  uint8_t *data() { return storage.get() + misalignment; }
  const uint8_t *data() const { return storage.get() + misalignment; }
  uint64_t size() const { return size_; }
  std::vector<uint8_t> copy() const { return {data(), data() + size_}; }

private:
  std::unique_ptr<uint8_t[]> storage;
  uint64_t size_;
  uint64_t misalignment;
};

cgx_codec quantizeCodec(uint32_t bits, uint32_t bucket, cgx_rounding rounding = CGX_ROUND_STOCHASTIC,
                        cgx_scale_type scale = CGX_SCALE_BF16, bool checksum = false);

/// Describes a codec for failure messages, such as "quantize 4 bits, bucket 128, stochastic, bf16".
std::string describe(const cgx_codec &codec);

/// Returns the implementations that this machine can run.
std::vector<const Implementation *> supportedImplementations();

} // namespace cgx::test

#endif // CGX_TEST_UNIT_KERNELS_INPUTS_H
