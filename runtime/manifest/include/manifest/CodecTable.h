//===-- manifest/CodecTable.h - The codecs of a program, by epoch -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan gives operands other codecs, on all ranks between the same two steps. Each plan begins an epoch.
// What is made for a collective, such as memory on a GPU, is good for the epoch in which its codecs last
// changed.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_MANIFEST_CODECTABLE_H
#define CGX_RUNTIME_MANIFEST_CODECTABLE_H

#include "manifest/Manifest.h"

#include <span>

namespace cgx {

/// The codec of one operand, by its place in the program, and its levels where they are known.
struct PlannedCodec {
  size_t collective, operand;
  cgx_codec codec;
  std::shared_ptr<const std::vector<float>> levels = nullptr;
};

class CodecTable {
public:
  /// Epoch 0: the codecs that the program was compiled with.
  explicit CodecTable(Program compiled);

  /// The program with the codecs of this epoch. It stays where it is.
  const Program &program() const { return current; }

  uint64_t epoch() const { return now; }
  /// The epoch in which codecs of a collective last changed.
  uint64_t epochOf(size_t collective) const { return changed[collective]; }
  /// Whether the collective has the codecs that it was compiled with.
  bool isAsCompiled(size_t collective) const;

  /// Begins an epoch; operands that are not named keep their codecs. No collective may be running.
  void adopt(std::span<const PlannedCodec> codecs);

private:
  Program current;
  std::vector<std::vector<cgx_codec>> compiled; ///< by collective and operand
  uint64_t now = 0;
  std::vector<uint64_t> changed; ///< by collective
};

} // namespace cgx

#endif // CGX_RUNTIME_MANIFEST_CODECTABLE_H
