//===-- payload.h - The envelope of a payload -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Header and checksum of payloads that are not identity payloads, and the reasons to reject one.
// kernels/FORMAT.md specifies the bytes.
#ifndef CGX_KERNELS_PAYLOAD_H
#define CGX_KERNELS_PAYLOAD_H

#include "cgx/codec.h"

namespace cgx {

/// The first bytes of a payload, little-endian.
struct PayloadHeader {
  uint8_t magic;
  uint8_t versionAndFamily; ///< version in the low four bits, family in the high ones
  uint16_t fingerprint;     ///< of all codec fields and the element type
  uint32_t elements;
};
static_assert(sizeof(PayloadHeader) == CGX_PAYLOAD_HEADER_BYTES);

constexpr uint8_t payloadMagic = 0xc6;
constexpr uint8_t payloadVersion = 1;

/// The reason why bytes are not the payload that was expected. The output is written only on `ok`.
enum class [[nodiscard]] DecodeError {
  ok,
  truncated,   ///< fewer bytes than the payload has
  badMagic,    ///< these bytes are no payload
  badVersion,  ///< written by another version of the format
  wrongCodec,  ///< a payload of another codec or element type
  wrongLength, ///< a payload of another number of elements, or with bytes after its end
  badChecksum, ///< damaged
  malformed,   ///< a body that no encoder writes, of a codec whose bodies have a structure
};

/// Returns a text for a person, such as "payload is truncated". Never null.
const char *decodeErrorText(DecodeError error);

/// Writes the header of a payload of `elements` > 0 elements.
void writePayloadHeader(const cgx_codec &codec, cgx_element_type type, uint64_t elements, void *payload);

/// Ends a payload of which `bytes` bytes are there, header and body: writes down its length, if payloads of
/// the codec vary in size, appends the checksum, if the codec has one, and returns the bytes of the payload.
uint64_t endPayload(const cgx_codec &codec, void *payload, uint64_t bytes);

/// Returns the size of a payload according to its first cgx_payload_body_begin() bytes. Only for codecs whose
/// payloads vary in size. Any bytes may be given, and any number may be returned.
uint64_t statedPayloadBytes(const void *payload);

/// Checks that `payload` has the envelope of a payload of this codec, element type and number of elements,
/// which must not be 0. The body lies between header and checksum.
DecodeError checkEnvelope(const cgx_codec &codec, cgx_element_type type, const void *payload,
                          uint64_t payloadBytes, uint64_t elements);

} // namespace cgx

#endif // CGX_KERNELS_PAYLOAD_H
