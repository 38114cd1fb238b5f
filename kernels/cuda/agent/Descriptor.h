//===-- Descriptor.h - Rows of the tables that kernels read --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_DESCRIPTOR_H
#define CGX_KERNELS_CUDA_AGENT_DESCRIPTOR_H

#include "TileRange.h"
#include "cgx/arithmetic/elements.h"
#include "cgx/arithmetic/random.h"
#include "cgx/kernels/cuda.h"

namespace cgx::cuda {

/// Where the sections of a body begin. A family uses those it has.
struct Sections {
  uint64_t table;    ///< of learned levels
  uint64_t scales;   ///< a scale for each bucket
  uint64_t codes;    ///< levels, codes, exponents, elements, or the bit plane `kept`
  uint64_t negative; ///< bit plane of signs
};

/// A payload that is read. Checked by every block that reads it, before anything is written.
struct PayloadDescriptor {
  const uint8_t *payload;
  PayloadHeader header; ///< that it must have
  uint64_t bytes;       ///< that were given
  uint64_t mostBytes;   ///< cgx_payload_bytes()
  const uint64_t *sum;  ///< the checksum of its bytes, or null where it has none
  uint32_t bodyBegin;
  bool hasEnvelope;
  bool isFixed;
};

/// How much of a descriptor goes through tiles (Tiles.h).
struct TileCounts {
  uint32_t count;       ///< tiles from its beginning; 0: none
  uint32_t bucketRows;  ///< rows of a tile that share a scale
  uint32_t ofBucketLog; ///< the logarithm of how many tiles share one
  bool aligned;         ///< codes lie at a multiple of 8 bytes, not only of 4
  bool wide;            ///< all columns of a lane in a row are loaded at once, not only two of them
};

/// What was lost of a descriptor's elements before. No `values`: there is no error feedback.
struct KeptResidual {
  ResidualStorage storage;
  float decay;
  void *values;
  float *scales; ///< of Int8
};

/// A tensor to encode.
struct EncodeDescriptor {
  cgx_codec codec;
  cgx_element_type type;
  Source source;
  const void *input;
  uint64_t elements;
  uint64_t firstElement;
  uint64_t layerId, rank, phase;
  uint8_t *payload;
  uint8_t *body;
  Sections sections;
  PayloadHeader header;
  bool hasEnvelope;
  TileCounts tiles;
  uint32_t runs; ///< of its first elements, that are cast at once (Runs.h)
  KeptResidual residual;
  OptimizerTensors optimizer; ///< what the codec needs of it; without a parameter nothing is known
  float *sums;                ///< where a step puts what is encoded, for those behind it (Sums.h), or null
  bool readsSums;             ///< is one of these: the input are the sums, and contributions have been read
  // An owner's: the input is the sum of what these payloads hold.
  const PayloadDescriptor *contributions;
  uint32_t contributionCount;
  float divisor;
  float reciprocal; ///< what sums are multiplied by where that is dividing them, by a power of two; else 0
};

/// The reciprocal of a divisor, if multiplying by it gives the bits of the division; else 0.
inline float exactReciprocal(float divisor) {
  return (floatBits(divisor) & 0x7fffffu) == 0 && divisor >= 1.0f ? 1.0f / divisor : 0.0f;
}

/// A payload to decode.
struct DecodeDescriptor {
  cgx_codec codec;
  cgx_element_type type;
  const PayloadDescriptor *payload;
  const uint8_t *body;
  uint64_t elements;
  Sections sections;
  TileCounts tiles;
  uint32_t runs; ///< of its first elements, that are cast at once (Runs.h)
  void *output;
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_DESCRIPTOR_H
