//===-- Lossless.h - Data between the steps of lossless ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Streams of 2048 symbols are independent: one thread writes or reads the codes of a stream, and a warp its
// other parts. A stream's place depends on the sizes of those before it, so steps that measure come first.
#ifndef CGX_KERNELS_CUDA_AGENT_LOSSLESS_H
#define CGX_KERNELS_CUDA_AGENT_LOSSLESS_H

#include "Envelope.h"
#include "cgx/arithmetic/exponent_code.h"
#include "cgx/arithmetic/gcomp_levels.h"
#include "cgx/arithmetic/lossless_block.h"

namespace cgx::cuda {

using lossless::blockElements;
using lossless::blockStreams;
using lossless::streamElements;

/// The measures of a stream, which encoders compute and decoders find in it.
struct StreamMeasure {
  uint32_t bytes; ///< bytes of its codes
  uint16_t notZero;
  bool isBroken; ///< an element has no code, or codes do not fill the stream
};

/// The workspace of one descriptor, in the tables of its group.
struct LosslessWorkspace {
  ExponentCounts *counted;
  ExponentCode *code;
  uint16_t *words; ///< by symbol to encode (CodeWords), by the next bits to decode (SymbolTable)
  StreamMeasure *streams;
  uint64_t *begins; ///< when encoding, the bytes of blocks; after the scan, those of all blocks before each
  uint8_t *symbols; ///< when decoding, by element
  // The following are for gcomp.
  void *coded;                        ///< when encoding, elements after pruning and rounding
  uint8_t *levels;                    ///< when encoding, by element
  lossless::LevelCounts *levelCounts; ///< by stream when encoding, by block when decoding
};

CGX_AGENT uint64_t elementsFrom(uint64_t elements, uint64_t begin, uint64_t most) {
  return elements - begin < most ? elements - begin : most;
}

/// Returns where blocks begin, which is after their offsets and the table.
CGX_AGENT uint64_t blocksBegin(uint64_t elements, const ExponentCode &code) {
  return 8 * cgx_lossless_block_count(elements) + tableBytes(code.symbols);
}

/// Calls step(first element of the row) for the rows of 32 elements of a stream, with all lanes together.
template <typename Step>
CGX_AGENT void forEachRowOfStream(uint64_t elements, uint64_t stream, const Step &step) {
  const uint64_t end = (stream + 1) * streamElements;
  for (uint64_t row = stream * streamElements; row < end && row < elements; row += laneCount)
    step(row);
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_LOSSLESS_H
