//===-- manifest/CodecTable.h - The codecs of a program, by epoch -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan gives operands other codecs, on all ranks between the same two steps. Each plan begins an epoch.
// Whatever is prepared for a collective, such as memory on a GPU, is valid for the epoch in which its codecs
// last changed.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_MANIFEST_CODECTABLE_H
#define CGX_RUNTIME_MANIFEST_CODECTABLE_H

#include "manifest/Manifest.h"

#include <span>

namespace cgx {

/// The codec of one operand, identified by its position in the program, and its levels if they are known.
struct PlannedCodec {
  size_t collective, operand;
  cgx_codec codec;
  std::shared_ptr<const std::vector<float>> levels = nullptr;
};

class CodecTable {
public:
  /// Starts at epoch 0 with the codecs that the program was compiled with.
  explicit CodecTable(Program compiled);

  /// Returns the program with the codecs of this epoch; its address does not change.
  const Program &program() const { return current; }

  uint64_t epoch() const { return now; }
  /// Returns the epoch in which codecs of a collective last changed.
  uint64_t epochOf(size_t collective) const { return changed[collective]; }
  /// Returns true if the collective has the codecs that it was compiled with.
  bool isAsCompiled(size_t collective) const;

  /// Begins an epoch. Operands that are not named keep their codecs. No collective may be running.
  void adopt(std::span<const PlannedCodec> codecs);

private:
  Program current;
  std::vector<std::vector<cgx_codec>> compiled; ///< indexed by collective and operand
  uint64_t now = 0;
  std::vector<uint64_t> changed; ///< indexed by collective
};

} // namespace cgx

#endif // CGX_RUNTIME_MANIFEST_CODECTABLE_H
