//===-- PayloadLayout.h - The memory layout of payloads on a GPU -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The payloads of all operands for one chunk lie next to each other, as one row, since they have one
// receiver:
//
//   row 0  [operand 0 | operand 1 | ...]   what the owner of chunk 0 gets from a rank
//   row 1  [operand 0 | operand 1 | ...]   and the owner of chunk 1
//
// All ranks compute the same layout. Each payload begins where kernels can write.
#ifndef CGX_RUNTIME_CUDA_ROUTE_PAYLOADLAYOUT_H
#define CGX_RUNTIME_CUDA_ROUTE_PAYLOADLAYOUT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cgx {

/// The bytes of payloads, indexed by chunk and operand.
using PayloadSizes = std::vector<std::vector<uint64_t>>;

class PayloadLayout {
public:
  static constexpr uint64_t kAlignment = 64;

  explicit PayloadLayout(const PayloadSizes &sizes) : sizes(sizes) {
    uint64_t end = 0;
    for (const std::vector<uint64_t> &row : sizes) {
      rows.push_back(end);
      std::vector<uint64_t> &begins = places.emplace_back();
      for (uint64_t bytes : row) {
        begins.push_back(end - rows.back());
        end += (bytes + kAlignment - 1) / kAlignment * kAlignment;
      }
    }
    rows.push_back(end);
  }

  uint64_t bytes() const { return rows.back(); }
  uint64_t payload(size_t operand, uint64_t chunk) const { return sizes[chunk][operand]; }
  uint64_t rowBegin(uint64_t chunk) const { return rows[chunk]; }
  uint64_t rowBytes(uint64_t chunk) const { return rows[chunk + 1] - rows[chunk]; }
  uint64_t longestRow() const {
    uint64_t longest = 0;
    for (size_t chunk = 0; chunk < sizes.size(); ++chunk)
      longest = std::max(longest, rowBytes(chunk));
    return longest;
  }
  /// Returns the offset of a payload in the row of a chunk.
  uint64_t place(size_t operand, uint64_t chunk) const { return places[chunk][operand]; }
  /// Returns the offset of a payload in all rows, which follow each other.
  uint64_t begin(size_t operand, uint64_t chunk) const { return rows[chunk] + place(operand, chunk); }
  size_t operands() const { return sizes.front().size(); }

private:
  PayloadSizes sizes;
  std::vector<uint64_t> rows; ///< begin of each row, and the end
  PayloadSizes places;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_ROUTE_PAYLOADLAYOUT_H
