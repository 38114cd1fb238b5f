//===-- Payload.cpp - The envelope of a payload ---------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/payload.h"

#include "cgx/kernels/checksum.h"
#include "cgx/kernels/random.h"

namespace cgx {
namespace {

/// 16 bits that differ, almost surely, between two codecs or element types.
uint16_t fingerprint(const cgx_codec &codec, cgx_element_type type) {
  const uint32_t fields[] = {codec.family, codec.bits,     codec.bucket,  codec.rounding,
                             codec.scale,  codec.checksum, uint32_t(type)};
  uint64_t x = 0;
  for (uint32_t field : fields)
    x = mixBits(x + 0x9e3779b97f4a7c15ull + field);
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
  }
  return "unknown decode error";
}

PayloadSections payloadSections(const cgx_codec &codec, cgx_element_type type, uint64_t elements) {
  const uint64_t buckets = (elements + codec.bucket - 1) / codec.bucket;
  PayloadSections sections;
  sections.scales = CGX_PAYLOAD_HEADER_BYTES;
  sections.levels = sections.scales + buckets * (codec.scale == CGX_SCALE_F32 ? 8 : 4);
  sections.checksum =
      cgx_payload_bytes(&codec, type, elements) - (codec.checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0);
  return sections;
}

void writePayloadHeader(const cgx_codec &codec, cgx_element_type type, uint64_t elements, void *payload) {
  PayloadHeader header;
  header.magic = payloadMagic;
  header.versionAndFamily = uint8_t(payloadVersion | (codec.family << 4));
  header.fingerprint = fingerprint(codec, type);
  header.elements = uint32_t(elements);
  memcpy(payload, &header, sizeof header);
}

void writePayloadChecksum(const cgx_codec &codec, cgx_element_type type, uint64_t elements, void *payload) {
  if (!codec.checksum)
    return;
  const uint64_t bytes = payloadSections(codec, type, elements).checksum;
  const uint64_t sum = checksum(payload, bytes);
  memcpy(static_cast<char *>(payload) + bytes, &sum, sizeof sum);
}

DecodeError checkPayload(const cgx_codec &codec, cgx_element_type type, const void *payload,
                         uint64_t payloadBytes, uint64_t elements) {
  const uint64_t expectedBytes = cgx_payload_bytes(&codec, type, elements);
  if (elements == 0 || codec.family == CGX_CODEC_IDENTITY)
    return payloadBytes < expectedBytes   ? DecodeError::truncated
           : payloadBytes > expectedBytes ? DecodeError::wrongLength
                                          : DecodeError::ok;
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
  if (payloadBytes != expectedBytes)
    return payloadBytes < expectedBytes ? DecodeError::truncated : DecodeError::wrongLength;
  if (codec.checksum) {
    const uint64_t bytes = expectedBytes - CGX_PAYLOAD_CHECKSUM_BYTES;
    uint64_t stored;
    memcpy(&stored, static_cast<const char *>(payload) + bytes, sizeof stored);
    if (stored != checksum(payload, bytes))
      return DecodeError::badChecksum;
  }
  return DecodeError::ok;
}

} // namespace cgx
