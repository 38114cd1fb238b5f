//===-- Payload.cpp - The envelope of a payload ---------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/payload.h"

#include "cgx/arithmetic/checksum.h"
#include "cgx/arithmetic/random.h"

#include <cstddef>
#include <iterator>

namespace cgx {
namespace {

constexpr uint64_t golden = 0x9e3779b97f4a7c15ull;

uint32_t bitsOf(uint32_t field) { return field; }
uint32_t bitsOf(float field) { return floatBits(field); }

/// Returns whether a field does not matter to payloads: only lowrank, which has none, uses these.
constexpr bool isOfNoPayload(size_t field) {
  return field == offsetof(cgx_codec, rank) / 4 || field == offsetof(cgx_codec, rows) / 4;
}

/// Returns 16 bits that almost surely differ between two codecs or element types. Fields of later families
/// count, with their number, only if they are not 0, so that older codecs keep their fingerprint.
uint16_t fingerprint(const cgx_codec &codec, cgx_element_type type) {
  const uint32_t fields[] = {
#define CGX_FIELD(type, name, meaning) bitsOf(codec.name),
      CGX_CODEC_FIELDS(CGX_FIELD)
#undef CGX_FIELD
  };
  static_assert(sizeof fields == sizeof(cgx_codec));
  constexpr size_t firstLater = offsetof(cgx_codec, scaling) / 4;
  uint64_t x = 0, number = 0;
  for (size_t i = 0; i < firstLater; ++i)
    x = mixBits(x + golden + fields[i]);
  x = mixBits(x + golden + uint32_t(type));
  for (size_t i = firstLater; i < std::size(fields); ++i) {
    number += !isOfNoPayload(i);
    if (!isOfNoPayload(i) && fields[i] != 0)
      x = mixBits(x + golden + (number << 32) + fields[i]);
  }
  return uint16_t(x);
}

} // namespace

const char *decodeErrorText(DecodeError error) {
  switch (error) {
  case DecodeError::ok:
    return "ok";
  case DecodeError::truncated:
    return "payload is truncated";
  case DecodeError::badMagic:
    return "bytes are not a payload: wrong magic number";
  case DecodeError::badVersion:
    return "payload was written by another version of the format";
  case DecodeError::wrongCodec:
    return "payload has another codec or element type";
  case DecodeError::wrongLength:
    return "payload has another number of elements or bytes";
  case DecodeError::badChecksum:
    return "payload is damaged: wrong checksum";
  case DecodeError::malformed:
    return "payload is damaged: no encoder writes this";
  }
  return "unknown decode error";
}

void writePayloadHeader(const cgx_codec &codec, cgx_element_type type, uint64_t elements, void *payload) {
  PayloadHeader header;
  header.magic = payloadMagic;
  header.versionAndFamily = uint8_t(payloadVersion | (codec.family << 4));
  header.fingerprint = fingerprint(codec, type);
  header.elements = uint32_t(elements);
  memcpy(payload, &header, sizeof header);
}

uint64_t endPayload(const cgx_codec &codec, void *payload, uint64_t bytes) {
  const uint64_t allBytes = bytes + (codec.checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0);
  if (!cgx_payload_is_fixed(&codec))
    memcpy(static_cast<char *>(payload) + CGX_PAYLOAD_HEADER_BYTES, &allBytes, sizeof allBytes);
  if (!codec.checksum)
    return allBytes;
  const uint64_t sum = checksum(payload, bytes);
  memcpy(static_cast<char *>(payload) + bytes, &sum, sizeof sum);
  return allBytes;
}

uint64_t statedPayloadBytes(const void *payload) {
  uint64_t bytes;
  memcpy(&bytes, static_cast<const char *>(payload) + CGX_PAYLOAD_HEADER_BYTES, sizeof bytes);
  return bytes;
}

DecodeError checkEnvelope(const cgx_codec &codec, cgx_element_type type, const void *payload,
                          uint64_t payloadBytes, uint64_t elements) {
  if (payloadBytes < sizeof(PayloadHeader))
    return DecodeError::truncated;
  PayloadHeader header;
  memcpy(&header, payload, sizeof header);
  if (header.magic != payloadMagic)
    return DecodeError::badMagic;
  if ((header.versionAndFamily & 0xf) != payloadVersion)
    return DecodeError::badVersion;
  if (header.versionAndFamily >> 4 != codec.family || header.fingerprint != fingerprint(codec, type))
    return DecodeError::wrongCodec;
  if (header.elements != elements)
    return DecodeError::wrongLength;
  const uint64_t mostBytes = cgx_payload_bytes(&codec, type, elements);
  const uint64_t checksumBytes = codec.checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0;
  uint64_t expectedBytes = mostBytes;
  if (!cgx_payload_is_fixed(&codec)) {
    if (payloadBytes < cgx_payload_body_begin(&codec) + checksumBytes)
      return DecodeError::truncated;
    expectedBytes = statedPayloadBytes(payload);
  }
  if (payloadBytes < expectedBytes)
    return DecodeError::truncated;
  if (payloadBytes > expectedBytes || payloadBytes > mostBytes)
    return DecodeError::wrongLength;
  if (codec.checksum) {
    const uint64_t bytes = payloadBytes - checksumBytes;
    uint64_t stored;
    memcpy(&stored, static_cast<const char *>(payload) + bytes, sizeof stored);
    if (stored != checksum(payload, bytes))
      return DecodeError::badChecksum;
  }
  return DecodeError::ok;
}

} // namespace cgx
