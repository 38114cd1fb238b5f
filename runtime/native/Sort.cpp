//===-- native/Sort.cpp - The order of sorted rows -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every element becomes an unsigned number that grows with its place in the order. Long rows are sorted by
// these digit by digit, which is stable and takes linear time; short rows, and the first few elements of a
// long one, by comparing pairs of number and place.
//
//===----------------------------------------------------------------------===//
#include "Failure.h"

#include "cgx/native.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

/// An element of a row: its sort key, then its place.
template <typename Key> struct Item {
  Key key;
  uint32_t place;
  bool operator<(const Item &other) const { return key != other.key ? key < other.key : place < other.place; }
};

/// The conversion of elements to numbers.
struct Order {
  cgx_sort_kind kind;
  bool descending;
  uint64_t infinity; ///< its bits: greater magnitudes are NaN

  template <typename Key> Key keyOf(Key bits) const {
    constexpr Key sign = Key(Key(1) << (8 * sizeof(Key) - 1));
    Key key = bits;
    if (kind == CGX_SORT_SIGNED) {
      key = Key(bits ^ sign);
    } else if (kind != CGX_SORT_UNSIGNED) {
      Key magnitude = Key(bits & Key(~sign));
      if (kind == CGX_SORT_NUMBERS && magnitude == 0)
        bits = 0;
      key = (bits & sign) ? Key(~bits) : Key(bits | sign);
      if (kind == CGX_SORT_NUMBERS && magnitude > infinity)
        key = Key(~Key(0));
    }
    return descending ? Key(~key) : key;
  }
};

/// Rows shorter than this are sorted by comparing.
constexpr size_t digitByDigitFrom = 200;
constexpr size_t digits = 256;

/// Sorts `items`, whose places ascend. `other` is workspace of the same length.
template <typename Key> void sortByDigits(std::vector<Item<Key>> &items, std::vector<Item<Key>> &other) {
  std::array<std::array<uint32_t, digits>, sizeof(Key)> counts = {};
  for (const Item<Key> &item : items)
    for (size_t i = 0; i < sizeof(Key); ++i)
      ++counts[i][(item.key >> (8 * i)) & 0xff];
  for (size_t i = 0; i < sizeof(Key); ++i) {
    // A digit that all elements share changes nothing.
    if (counts[i][(items.front().key >> (8 * i)) & 0xff] == items.size())
      continue;
    uint32_t begin = 0;
    for (uint32_t &count : counts[i])
      begin += std::exchange(count, begin);
    for (const Item<Key> &item : items)
      other[counts[i][(item.key >> (8 * i)) & 0xff]++] = item;
    items.swap(other);
  }
}

template <typename Key>
void sortRows(const Order &order, int64_t outer, int64_t extent, int64_t inner, int64_t kept, const Key *keys,
              int32_t *places) {
  // The memory is kept for the next step, which sorts as much.
  thread_local std::vector<Item<Key>> items, other;
  items.resize(extent);
  other.resize(extent);
  for (int64_t row = 0; row < outer * inner; ++row) {
    const Key *from = keys + row / inner * extent * inner + row % inner;
    int32_t *to = places + row / inner * kept * inner + row % inner;
    for (int64_t i = 0; i < extent; ++i)
      items[i] = {order.keyOf(from[i * inner]), uint32_t(i)};
    if (kept < extent / 4) {
      std::nth_element(items.begin(), items.begin() + kept, items.end());
      std::sort(items.begin(), items.begin() + kept);
    } else if (items.size() < digitByDigitFrom) {
      std::sort(items.begin(), items.end());
    } else {
      sortByDigits(items, other);
    }
    for (int64_t i = 0; i < kept; ++i)
      to[i * inner] = int32_t(items[i].place);
  }
}

} // namespace

extern "C" void cgx_native_sort_places(int64_t context, int64_t kind, int64_t bytes, int64_t infinity,
                                       int64_t descending, int64_t outer, int64_t extent, int64_t inner,
                                       int64_t kept, int64_t keys, int64_t places) {
  if (outer <= 0 || inner <= 0 || kept <= 0)
    return;
  try {
    Order order{static_cast<cgx_sort_kind>(kind), descending != 0, static_cast<uint64_t>(infinity)};
    auto sort = [&](auto key) {
      using Key = decltype(key);
      sortRows(order, outer, extent, inner, kept, reinterpret_cast<const Key *>(keys),
               reinterpret_cast<int32_t *>(places));
    };
    switch (bytes) {
    case 1:
      return sort(uint8_t());
    case 2:
      return sort(uint16_t());
    case 4:
      return sort(uint32_t());
    case 8:
      return sort(uint64_t());
    default:
      throw std::invalid_argument("sort: expected elements of 1, 2, 4 or 8 bytes, got " +
                                  std::to_string(bytes));
    }
  } catch (...) {
    cgx::failStep(context, std::current_exception());
  }
}
