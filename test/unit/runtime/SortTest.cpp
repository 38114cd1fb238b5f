//===-- SortTest.cpp - Sorted rows against a stable sort ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"

#include "cgx/native.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace cgx::test {
namespace {

/// Returns elements of a type, with many equal ones and all special values.
template <typename T> std::vector<T> elements(size_t count) {
  std::mt19937 random(7);
  std::vector<T> result(count);
  using Limits = std::numeric_limits<T>;
  std::vector<T> special = {T(0), T(1), Limits::lowest(), Limits::max()};
  if constexpr (std::is_floating_point_v<T>)
    for (T value : {-T(0), Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(),
                    Limits::denorm_min()})
      special.push_back(value);
  for (T &value : result)
    switch (random() % 3) {
    case 0:
      value = special[random() % special.size()];
      break;
    case 1:
      value = T(random() % 100);
      break;
    default:
      value = T(T(random()) * T(3));
    }
  return result;
}

template <typename T> bool isBefore(cgx_sort_kind kind, T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (kind == CGX_SORT_NUMBERS)
      return std::isnan(y) ? !std::isnan(x) : x < y;
    auto rank = [](T x) { // orders elements that x < y does not tell apart
      return std::isnan(x) ? (std::signbit(x) ? -2 : 2) : x == 0 ? (std::signbit(x) ? 0 : 1) : 0;
    };
    if (std::isnan(x) || std::isnan(y))
      return (std::isnan(x) ? rank(x) : 0) < (std::isnan(y) ? rank(y) : 0);
    return x == y ? rank(x) < rank(y) : x < y;
  } else {
    return x < y;
  }
}

template <typename T> void check(cgx_sort_kind kind, int64_t infinity) {
  for (bool descending : {false, true})
    for (int64_t extent : {1, 2, 17, 199, 200, 1000})
      for (int64_t inner : {1, 3})
        for (int64_t kept : {int64_t(1), extent / 5, extent}) {
          const int64_t outer = 2;
          std::vector<T> keys = elements<T>(outer * extent * inner);
          std::vector<int32_t> places(outer * kept * inner + 1, -7);
          cgx_native_sort_places(0, kind, sizeof(T), infinity, descending, outer, extent, inner, kept,
                                 address(keys.data()), address(places.data()));
          for (int64_t block = 0; block < outer; ++block)
            for (int64_t column = 0; column < inner; ++column) {
              std::vector<int32_t> expected(extent);
              std::iota(expected.begin(), expected.end(), 0);
              auto at = [&](int32_t i) { return keys[(block * extent + i) * inner + column]; };
              std::stable_sort(expected.begin(), expected.end(), [&](int32_t i, int32_t j) {
                return descending ? isBefore(kind, at(j), at(i)) : isBefore(kind, at(i), at(j));
              });
              for (int64_t i = 0; i < kept; ++i)
                ASSERT_EQ(places[(block * kept + i) * inner + column], expected[i])
                    << "extent " << extent << ", inner " << inner << ", kept " << kept << ", descending "
                    << descending << ", element " << i;
            }
          EXPECT_EQ(places.back(), -7) << "nothing behind the result is touched";
        }
}

TEST(SortTest, IntegersAreAsInAStableSort) {
  check<uint8_t>(CGX_SORT_UNSIGNED, 0);
  check<int8_t>(CGX_SORT_SIGNED, 0);
  check<uint16_t>(CGX_SORT_UNSIGNED, 0);
  check<int32_t>(CGX_SORT_SIGNED, 0);
  check<uint32_t>(CGX_SORT_UNSIGNED, 0);
  check<int64_t>(CGX_SORT_SIGNED, 0);
}

TEST(SortTest, FloatsAreInTotalOrder) {
  check<float>(CGX_SORT_TOTAL, 0);
  check<double>(CGX_SORT_TOTAL, 0);
}

TEST(SortTest, ZerosAreEqualAndNaNsAreLastAmongNumbers) {
  check<float>(CGX_SORT_NUMBERS, 0x7f800000);
  check<double>(CGX_SORT_NUMBERS, 0x7ff0000000000000);
}

} // namespace
} // namespace cgx::test
