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

/// The places where the sections of a body begin. A family uses those that it has.
struct Sections {
  uint64_t table;    ///< the table of learned levels
  uint64_t scales;   ///< a scale for each bucket
  uint64_t codes;    ///< levels, codes, exponents, elements, or the bit plane `kept`
  uint64_t negative; ///< bit plane of signs
};

/// A payload to read. Every block that reads it checks it before writing anything.
struct PayloadDescriptor {
  const uint8_t *payload;
  PayloadHeader header; ///< the header that it must have
  uint64_t bytes;       ///< bytes that were given
  uint64_t mostBytes;   ///< cgx_payload_bytes()
  const uint64_t *sum;  ///< the checksum of its bytes; null if it has none
  uint32_t bodyBegin;
  bool hasEnvelope;
  bool isFixed;
};

/// The part of a descriptor that goes through tiles (Tiles.h).
struct TileCounts {
  uint32_t count;       ///< tiles from its beginning; 0 if there are none
  uint32_t bucketRows;  ///< rows of a tile that share a scale
  uint32_t ofBucketLog; ///< the logarithm of the number of tiles that share a scale
  bool aligned;         ///< codes are aligned to 8 bytes, not only to 4
  bool wide;            ///< a lane loads all its columns of a row at once, not only two of them
};

/// The residual of a descriptor's elements. If `values` is null, there is no error feedback.
struct KeptResidual {
  ResidualStorage storage;
  float decay;
  void *values;
  float *scales; ///< of blocks of Int8
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
  uint32_t runs; ///< the number of runs at its beginning that are cast at once (Runs.h)
  KeptResidual residual;
  OptimizerTensors optimizer; ///< the state that the codec needs; if it has no parameter, none is known
  float *sums;                ///< where a step stores what is encoded, for later steps (Sums.h), or null
  bool readsSums;             ///< the input are sums of an earlier step, which has read the contributions
  // If it is an owner's, the input is the sum of the contents of these payloads.
  const PayloadDescriptor *contributions;
  uint32_t contributionCount;
  float divisor;
  float reciprocal; ///< the factor of sums where it replaces the division, by a power of two; else 0
};

/// Returns the reciprocal of a divisor if multiplying by it gives the bits of the division; else 0.
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
  uint32_t runs; ///< the number of runs at its beginning that are cast at once (Runs.h)
  void *output;
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_DESCRIPTOR_H
