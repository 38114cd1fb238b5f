//===-- ConvolutionTest.cpp - Convolutions against their definition -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"

#include "cgx/native.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace cgx::test {
namespace {

using Places = std::array<int64_t, 3>;

struct Case {
  const char *name;
  int64_t samples, in, out;
  Places size, kernel, stride, dilation, low, high;
};

int64_t count(const int64_t *sizes) { return sizes[0] * sizes[1] * sizes[2]; }

/// Returns the strides of a tensor with features last, or right after the first index.
cgx_convolution_strides layout(bool featuresLast, int64_t features, const int64_t *sizes) {
  int64_t step = featuresLast ? features : 1;
  cgx_convolution_strides result = {features * count(sizes), featuresLast ? 1 : count(sizes), {}};
  for (int i = 2; i >= 0; step *= sizes[i--])
    result.places[i] = step;
  return result;
}

/// Returns the strides of a kernel in JAX's order, (places, in, out), or in PyTorch's.
cgx_convolution_strides kernelLayout(bool featuresLast, int64_t in, int64_t out, const int64_t *sizes) {
  if (!featuresLast)
    return layout(false, in, sizes);
  return {1, out, {in * out * sizes[1] * sizes[2], in * out * sizes[2], in * out}};
}

int64_t offset(const cgx_convolution_strides &s, int64_t first, int64_t second, const Places &at) {
  return first * s.first + second * s.second + at[0] * s.places[0] + at[1] * s.places[1] +
         at[2] * s.places[2];
}

class ConvolutionTest : public testing::TestWithParam<Case> {};

TEST_P(ConvolutionTest, EqualsTheDefinitionWhateverIsAskedForAndHoweverItLies) {
  const Case &with = GetParam();
  for (bool featuresLast : {true, false}) {
    cgx_convolution c = {};
    c.samples = with.samples, c.in_features = with.in, c.out_features = with.out;
    for (int i = 0; i < 3; ++i) {
      c.in_size[i] = with.size[i], c.kernel_size[i] = with.kernel[i], c.stride[i] = with.stride[i];
      c.dilation[i] = with.dilation[i], c.low[i] = with.low[i];
      int64_t covered = (with.kernel[i] - 1) * with.dilation[i] + 1;
      c.out_size[i] = (with.size[i] + with.low[i] + with.high[i] - covered) / with.stride[i] + 1;
    }
    c.input = layout(featuresLast, c.in_features, c.in_size);
    c.kernel = kernelLayout(featuresLast, c.in_features, c.out_features, c.kernel_size);
    c.output = layout(featuresLast, c.out_features, c.out_size);

    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    std::vector<float> x(c.samples * c.in_features * count(c.in_size)),
        w(c.in_features * c.out_features * count(c.kernel_size)),
        y(c.samples * c.out_features * count(c.out_size));
    for (std::vector<float> *tensor : {&x, &w, &y})
      for (float &value : *tensor)
        value = normal(random);
    std::vector<double> dx(x.size()), dw(w.size()), out(y.size());
    Places at, tap;
    for (int64_t n = 0; n < c.samples; ++n)
      for (at[0] = 0; at[0] < c.out_size[0]; ++at[0])
        for (at[1] = 0; at[1] < c.out_size[1]; ++at[1])
          for (at[2] = 0; at[2] < c.out_size[2]; ++at[2])
            for (tap[0] = 0; tap[0] < c.kernel_size[0]; ++tap[0])
              for (tap[1] = 0; tap[1] < c.kernel_size[1]; ++tap[1])
                for (tap[2] = 0; tap[2] < c.kernel_size[2]; ++tap[2]) {
                  Places read;
                  bool inside = true;
                  for (int i = 0; i < 3; ++i) {
                    read[i] = at[i] * c.stride[i] + tap[i] * c.dilation[i] - c.low[i];
                    inside &= read[i] >= 0 && read[i] < c.in_size[i];
                  }
                  for (int64_t o = 0; inside && o < c.out_features; ++o)
                    for (int64_t f = 0; f < c.in_features; ++f) {
                      int64_t xi = offset(c.input, n, f, read), wi = offset(c.kernel, o, f, tap),
                              yi = offset(c.output, n, o, at);
                      out[yi] += double(x[xi]) * w[wi];
                      dx[xi] += double(y[yi]) * w[wi];
                      dw[wi] += double(x[xi]) * y[yi];
                    }
                }

    auto check = [&](int64_t kind, std::vector<float> &first, std::vector<float> &second,
                     const std::vector<double> &expected) {
      c.kind = kind;
      for (int again = 0; again < 2; ++again) {
        std::vector<float> result(expected.size() + 1, 42.0f);
        cgx_native_convolution_f32(0, address(&c), address(first.data()), address(second.data()),
                                   address(result.data()));
        for (size_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR(result[i], expected[i], 1e-3)
              << "kind " << kind << ", features last " << featuresLast << ", element " << i;
        EXPECT_EQ(result.back(), 42.0f) << "nothing behind the result is touched";
      }
    };
    check(CGX_CONVOLUTION_OUTPUT, x, w, out);
    check(CGX_CONVOLUTION_INPUT_GRADIENT, y, w, dx);
    check(CGX_CONVOLUTION_KERNEL_GRADIENT, x, y, dw);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ConvolutionTest,
    testing::Values(
        Case{"plane", 2, 16, 24, {1, 9, 11}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
        Case{"strides", 3, 5, 7, {1, 12, 9}, {1, 3, 2}, {1, 2, 3}, {1, 1, 1}, {0, 1, 0}, {0, 0, 1}},
        Case{"dilations", 2, 8, 8, {1, 14, 14}, {1, 3, 3}, {1, 1, 2}, {1, 2, 3}, {0, 2, 0}, {0, 2, 4}},
        Case{"line", 4, 6, 10, {1, 1, 31}, {1, 1, 5}, {1, 1, 2}, {1, 1, 1}, {0, 0, 2}, {0, 0, 2}},
        Case{"volume", 1, 4, 6, {5, 6, 7}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
        Case{"unread", 2, 3, 4, {1, 8, 8}, {1, 1, 1}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}}),
    [](const testing::TestParamInfo<Case> &info) { return info.param.name; });

} // namespace
} // namespace cgx::test
