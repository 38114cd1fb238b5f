//===-- PayloadLayout.h - Where payloads lie on a GPU -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The payloads of all operands for one chunk lie side by side, as one row, since they have one receiver:
//
//   row 0  [operand 0 | operand 1 | ...]   what the owner of chunk 0 gets from a rank
//   row 1  [operand 0 | operand 1 | ...]   and the owner of chunk 1
//
// All ranks compute the same layout. Each payload begins where kernels can write.
#ifndef CGX_RUNTIME_CUDA_PAYLOADLAYOUT_H
#define CGX_RUNTIME_CUDA_PAYLOADLAYOUT_H

#include "collective/AllReduce.h"

namespace cgx {

class PayloadLayout {
public:
  static constexpr uint64_t kAlignment = 64;

  PayloadLayout() = default;
  explicit PayloadLayout(std::span<const AllReduceOperand> operands) : operands(operands.size()) {
    uint64_t end = 0;
    for (uint64_t chunk = 0; chunk < operands.front().chunks.count; ++chunk) {
      rows.push_back(end);
      for (const AllReduceOperand &operand : operands) {
        places.push_back(end - rows.back());
        end += (operand.chunks.payload(chunk) + kAlignment - 1) / kAlignment * kAlignment;
      }
    }
    rows.push_back(end);
  }

  uint64_t bytes() const { return rows.back(); }
  uint64_t rowBegin(uint64_t chunk) const { return rows[chunk]; }
  uint64_t rowBytes(uint64_t chunk) const { return rows[chunk + 1] - rows[chunk]; }
  /// In the row of a chunk.
  uint64_t place(size_t operand, uint64_t chunk) const { return places[chunk * operands + operand]; }
  /// In all rows, one behind the other.
  uint64_t begin(size_t operand, uint64_t chunk) const { return rows[chunk] + place(operand, chunk); }

private:
  size_t operands = 0;
  std::vector<uint64_t> rows; ///< with their end
  std::vector<uint64_t> places;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_PAYLOADLAYOUT_H
