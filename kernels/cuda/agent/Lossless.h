//===-- Lossless.h - What lossless has between its steps -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Streams of 2048 symbols stand alone: one thread writes or reads the codes of one, a warp what is beside
// them. Where a stream lies follows from the sizes of those before it, so steps that measure come first.
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

/// What is measured of a stream by encoders, and found in it by decoders.
struct StreamMeasure {
  uint32_t bytes; ///< of its codes
  uint16_t notZero;
  bool isBroken; ///< an element has no code; or codes do not fill the stream
};

/// Memory of one descriptor, in the tables of its group.
struct LosslessWorkspace {
  ExponentCounts *counted;
  ExponentCode *code;
  uint16_t *words; ///< by symbol its code and length (CodeWords), or by the next bits a symbol (SymbolTable)
  StreamMeasure *streams;
  uint64_t *begins; ///< encoding, by block: its bytes; after the scan, those of all before it
  uint8_t *symbols; ///< decoding, by element
  // Of gcomp.
  void *coded;                        ///< encoding: elements, pruned and rounded
  uint8_t *levels;                    ///< encoding, by element
  lossless::LevelCounts *levelCounts; ///< encoding by stream, decoding by block
};

CGX_AGENT uint64_t elementsFrom(uint64_t elements, uint64_t begin, uint64_t most) {
  return elements - begin < most ? elements - begin : most;
}

/// Where blocks begin: behind their offsets and the table.
CGX_AGENT uint64_t blocksBegin(uint64_t elements, const ExponentCode &code) {
  return 8 * cgx_lossless_block_count(elements) + tableBytes(code.symbols);
}

/// Rows of 32 elements of a stream, all lanes together: step(first element of the row).
template <typename Step>
CGX_AGENT void forEachRowOfStream(uint64_t elements, uint64_t stream, const Step &step) {
  const uint64_t end = (stream + 1) * streamElements;
  for (uint64_t row = stream * streamElements; row < end && row < elements; row += laneCount)
    step(row);
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_LOSSLESS_H
