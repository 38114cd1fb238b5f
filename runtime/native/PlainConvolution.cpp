//===-- native/PlainConvolution.cpp - Convolutions without a library -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolution by the definition, for steps that were compiled with oneDNN and run without it. A compiler
// built without oneDNN never calls it.
//
//===----------------------------------------------------------------------===//
#include "cgx/native.h"

#include <array>
#include <cstddef>

namespace {

using Places = std::array<int64_t, CGX_CONVOLUTION_DIMENSIONS>;

int64_t offset(const cgx_convolution_strides &strides, int64_t first, int64_t second, const Places &at) {
  int64_t sum = first * strides.first + second * strides.second;
  for (size_t i = 0; i < at.size(); ++i)
    sum += at[i] * strides.places[i];
  return sum;
}

template <typename Body> void forEach(const int64_t *sizes, Body body) {
  Places at;
  for (at[0] = 0; at[0] < sizes[0]; ++at[0])
    for (at[1] = 0; at[1] < sizes[1]; ++at[1])
      for (at[2] = 0; at[2] < sizes[2]; ++at[2])
        body(at);
}

} // namespace

extern "C" void cgx_native_convolution_f32(int64_t, int64_t convolution, int64_t first, int64_t second,
                                           int64_t out) {
  const auto &c = *reinterpret_cast<const cgx_convolution *>(convolution);
  auto *result = reinterpret_cast<float *>(out);
  const auto *lhs = reinterpret_cast<const float *>(first), *rhs = reinterpret_cast<const float *>(second);
  // Sets the result to zero, wherever its elements lie.
  auto clear = [&](int64_t firsts, int64_t seconds, const int64_t *sizes,
                   const cgx_convolution_strides &strides) {
    for (int64_t i = 0; i < firsts; ++i)
      for (int64_t j = 0; j < seconds; ++j)
        forEach(sizes, [&](const Places &at) { result[offset(strides, i, j, at)] = 0; });
  };
  if (c.kind == CGX_CONVOLUTION_OUTPUT)
    clear(c.samples, c.out_features, c.out_size, c.output);
  else if (c.kind == CGX_CONVOLUTION_INPUT_GRADIENT)
    clear(c.samples, c.in_features, c.in_size, c.input);
  else
    clear(c.out_features, c.in_features, c.kernel_size, c.kernel);

  for (int64_t sample = 0; sample < c.samples; ++sample)
    forEach(c.out_size, [&](const Places &place) {
      forEach(c.kernel_size, [&](const Places &tap) {
        Places read;
        for (size_t i = 0; i < read.size(); ++i) {
          read[i] = place[i] * c.stride[i] + tap[i] * c.dilation[i] - c.low[i];
          if (read[i] < 0 || read[i] >= c.in_size[i])
            return;
        }
        for (int64_t o = 0; o < c.out_features; ++o)
          for (int64_t f = 0; f < c.in_features; ++f) {
            int64_t x = offset(c.input, sample, f, read), w = offset(c.kernel, o, f, tap),
                    y = offset(c.output, sample, o, place);
            if (c.kind == CGX_CONVOLUTION_OUTPUT)
              result[y] += lhs[x] * rhs[w];
            else if (c.kind == CGX_CONVOLUTION_INPUT_GRADIENT)
              result[x] += lhs[y] * rhs[w];
            else
              result[w] += lhs[x] * rhs[y];
          }
      });
    });
}
