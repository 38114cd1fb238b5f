//===-- Envelope.h - Header and length of a payload on a GPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_BODY_ENVELOPE_H
#define CGX_KERNELS_CUDA_BODY_ENVELOPE_H

#include "Item.h"

namespace cgx::cuda {

CGX_BODY uint64_t statedBytes(const PayloadItem &item) {
  return loadFrom<uint64_t>(item.payload + CGX_PAYLOAD_HEADER_BYTES);
}

/// A word that need not be aligned.
CGX_BODY uint64_t loadWord(const uint8_t *bytes) {
  uint64_t word = 0;
  for (uint32_t i = 0; i < 8; ++i)
    word |= uint64_t(bytes[i]) << (8 * i);
  return word;
}

CGX_BODY void storeWord(uint8_t *bytes, uint64_t word) {
  for (uint32_t i = 0; i < 8; ++i)
    bytes[i] = uint8_t(word >> (8 * i));
}

/// How long the payload says that it is, within the bytes that were given.
CGX_BODY uint64_t boundedBytes(const PayloadItem &item) {
  if (item.isFixed || item.bytes < item.bodyBegin)
    return item.bytes;
  const uint64_t stated = statedBytes(item);
  return stated < item.bytes ? stated : item.bytes;
}

/// Whether its lengths are those of the payload, in the order of checkEnvelope().
CGX_BODY DecodeError checkLength(const PayloadItem &item) {
  const uint64_t checksumBytes = item.sum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0;
  uint64_t expected = item.mostBytes;
  if (!item.isFixed) {
    if (item.bytes < item.bodyBegin + checksumBytes)
      return DecodeError::truncated;
    expected = statedBytes(item);
    if (expected < item.bodyBegin + checksumBytes)
      return DecodeError::wrongLength;
  }
  if (item.bytes < expected)
    return DecodeError::truncated;
  return expected > item.mostBytes || (item.isFixed && item.bytes > expected) ? DecodeError::wrongLength
                                                                              : DecodeError::ok;
}

/// checkEnvelope(), for the payload of a table. Bytes behind a payload that varies in size are room for a
/// longer one.
CGX_BODY DecodeError checkPayload(const PayloadItem &item) {
  if (!item.hasEnvelope)
    return checkLength(item);
  if (item.bytes < sizeof(PayloadHeader))
    return DecodeError::truncated;
  const auto header = loadFrom<PayloadHeader>(item.payload);
  if (header.magic != item.header.magic)
    return DecodeError::badMagic;
  if ((header.versionAndFamily & 0xf) != payloadVersion)
    return DecodeError::badVersion;
  if (header.versionAndFamily != item.header.versionAndFamily ||
      header.fingerprint != item.header.fingerprint)
    return DecodeError::wrongCodec;
  if (header.elements != item.header.elements)
    return DecodeError::wrongLength;
  const DecodeError error = checkLength(item);
  if (error != DecodeError::ok || !item.sum)
    return error;
  const uint64_t stored = loadWord(item.payload + boundedBytes(item) - CGX_PAYLOAD_CHECKSUM_BYTES);
  return stored == *item.sum ? DecodeError::ok : DecodeError::badChecksum;
}

/// Writes the header of a payload, on one thread of the slice that begins it.
template <typename Crew> CGX_BODY void writeHeader(const Crew &crew, const EncodeItem &item, Slice slice) {
  crew.forEachIndex(0, slice.begin == 0 && item.hasEnvelope ? 1 : 0,
                    [&](uint64_t) { storeTo(item.payload, item.header); });
}

/// Whether the payloads that a slice reads are sound. The slice that begins an item says so in `errors`.
template <typename Crew>
CGX_BODY bool areSound(const Crew &crew, const PayloadItem *all, const PayloadItem *first, uint32_t count,
                       Slice slice, uint32_t *errors) {
  bool sound = true;
  for (uint32_t i = 0; i < count; ++i) {
    const DecodeError error = checkPayload(first[i]);
    sound = sound && error == DecodeError::ok;
    crew.forEachIndex(0, slice.begin == 0 ? 1 : 0,
                      [&](uint64_t) { errors[first + i - all] = uint32_t(error); });
  }
  return sound;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_ENVELOPE_H
