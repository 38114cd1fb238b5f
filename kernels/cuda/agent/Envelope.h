//===-- Envelope.h - Header and length of a payload on a GPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_ENVELOPE_H
#define CGX_KERNELS_CUDA_AGENT_ENVELOPE_H

#include "Descriptor.h"

namespace cgx::cuda {

CGX_AGENT uint64_t statedBytes(const PayloadDescriptor &desc) {
  return loadFrom<uint64_t>(desc.payload + CGX_PAYLOAD_HEADER_BYTES);
}

/// Loads a word that need not be aligned.
CGX_AGENT uint64_t loadWord(const uint8_t *bytes) {
  uint64_t word = 0;
  for (uint32_t i = 0; i < 8; ++i)
    word |= uint64_t(bytes[i]) << (8 * i);
  return word;
}

CGX_AGENT void storeWord(uint8_t *bytes, uint64_t word) {
  for (uint32_t i = 0; i < 8; ++i)
    bytes[i] = uint8_t(word >> (8 * i));
}

/// Returns the length that the payload states, limited to the bytes that were given.
CGX_AGENT uint64_t boundedBytes(const PayloadDescriptor &desc) {
  if (desc.isFixed || desc.bytes < desc.bodyBegin)
    return desc.bytes;
  const uint64_t stated = statedBytes(desc);
  return stated < desc.bytes ? stated : desc.bytes;
}

/// Checks the lengths of a payload, in the order of checkEnvelope().
CGX_AGENT DecodeError checkLength(const PayloadDescriptor &desc) {
  const uint64_t checksumBytes = desc.sum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0;
  uint64_t expected = desc.mostBytes;
  if (!desc.isFixed) {
    if (desc.bytes < desc.bodyBegin + checksumBytes)
      return DecodeError::truncated;
    expected = statedBytes(desc);
    if (expected < desc.bodyBegin + checksumBytes)
      return DecodeError::wrongLength;
  }
  if (desc.bytes < expected)
    return DecodeError::truncated;
  return expected > desc.mostBytes || (desc.isFixed && desc.bytes > expected) ? DecodeError::wrongLength
                                                                              : DecodeError::ok;
}

/// Checks a payload of a table as checkEnvelope() does. Bytes after a payload that varies in size are
/// allowed, because they are space for a longer one.
CGX_AGENT DecodeError checkPayload(const PayloadDescriptor &desc) {
  if (!desc.hasEnvelope)
    return checkLength(desc);
  if (desc.bytes < sizeof(PayloadHeader))
    return DecodeError::truncated;
  const auto header = loadFrom<PayloadHeader>(desc.payload);
  if (header.magic != desc.header.magic)
    return DecodeError::badMagic;
  if ((header.versionAndFamily & 0xf) != payloadVersion)
    return DecodeError::badVersion;
  if (header.versionAndFamily != desc.header.versionAndFamily ||
      header.fingerprint != desc.header.fingerprint)
    return DecodeError::wrongCodec;
  if (header.elements != desc.header.elements)
    return DecodeError::wrongLength;
  const DecodeError error = checkLength(desc);
  if (error != DecodeError::ok || !desc.sum)
    return error;
  const uint64_t stored = loadWord(desc.payload + boundedBytes(desc) - CGX_PAYLOAD_CHECKSUM_BYTES);
  return stored == *desc.sum ? DecodeError::ok : DecodeError::badChecksum;
}

/// Writes the header of a payload. Only the range that begins the payload does so, on one thread.
template <typename ThreadBlock>
CGX_AGENT void writeHeader(const ThreadBlock &threads, const EncodeDescriptor &desc, TileRange range) {
  threads.forEachIndex(0, range.begin == 0 && desc.hasEnvelope ? 1 : 0,
                       [&](uint64_t) { storeTo(desc.payload, desc.header); });
}

/// Returns whether the payloads that a range reads are sound. The range that begins a descriptor records
/// errors in `errors`.
template <typename ThreadBlock>
CGX_AGENT bool areSound(const ThreadBlock &threads, const PayloadDescriptor *all,
                        const PayloadDescriptor *first, uint32_t count, TileRange range, uint32_t *errors) {
  bool sound = true;
  for (uint32_t i = 0; i < count; ++i) {
    const DecodeError error = checkPayload(inGlobalMemory(first)[i]);
    sound = sound && error == DecodeError::ok;
    threads.forEachIndex(0, range.begin == 0 ? 1 : 0,
                         [&](uint64_t) { errors[first + i - all] = uint32_t(error); });
  }
  return sound;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_ENVELOPE_H
