/*===-- cgx/codec.h - What a codec is, as plain C ------------------*- C -*-===
 *
 * Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===-----------------------------------------------------------------------===
 *
 * The vocabulary that compiler, runtime and kernels share: element types, codec
 * families and parameters, the size of a payload, and how a tensor is cut into
 * chunks. Freestanding C99 without a library behind it, so that the bytes which
 * the compiler predicts and the bytes which the transport counts come from one
 * formula.
 *
 *===-----------------------------------------------------------------------===*/
#ifndef CGX_CODEC_H
#define CGX_CODEC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types of tensors that collectives carry. Codecs other than identity
 * take the first three. Values are part of the wire format: never renumber. */
typedef enum cgx_element_type {
  CGX_F32 = 0,
  CGX_F16 = 1,
  CGX_BF16 = 2,
  CGX_F64 = 3,
  CGX_I8 = 4,
  CGX_I16 = 5,
  CGX_I32 = 6,
  CGX_I64 = 7,
  CGX_U8 = 8,
  CGX_U16 = 9,
  CGX_U32 = 10,
  CGX_U64 = 11,
  CGX_BOOL = 12, /* one byte, 0 or 1 */
  CGX_ELEMENT_TYPE_COUNT = 13
} cgx_element_type;

/* Codec families. Values are part of the wire format: never renumber. */
typedef enum cgx_codec_family {
  CGX_CODEC_IDENTITY = 0, /* raw little-endian elements, no header */
  CGX_CODEC_QUANTIZE = 1, /* min-max uniform levels per bucket (QSGD as in CGX, 3.5) */
  CGX_CODEC_FAMILY_COUNT = 2
} cgx_codec_family;

typedef enum cgx_rounding {
  CGX_ROUND_NEAREST = 0,   /* biased, half the worst-case error */
  CGX_ROUND_STOCHASTIC = 1 /* unbiased */
} cgx_rounding;

/* How a bucket's scale (unit and minimum) is stored. */
typedef enum cgx_scale_type {
  CGX_SCALE_BF16 = 0, /* 4 bytes a bucket; minimum rounded down, unit rounded up */
  CGX_SCALE_F32 = 1   /* 8 bytes a bucket */
} cgx_scale_type;

/* One codec: a family and its parameters. Fields that a family does not use are 0. */
typedef struct cgx_codec {
  uint32_t family;   /* cgx_codec_family */
  uint32_t bits;     /* quantize: bits of a level, 1 to 8 */
  uint32_t bucket;   /* quantize: elements that share one scale, >= 1 */
  uint32_t rounding; /* quantize: cgx_rounding */
  uint32_t scale;    /* quantize: cgx_scale_type */
  uint32_t checksum; /* 1: payloads end in a checksum, 0: they do not */
} cgx_codec;

/* Bytes of the header of every payload that is not an identity payload. */
#define CGX_PAYLOAD_HEADER_BYTES 8u
/* Bytes of the trailing checksum, where the codec asks for one. */
#define CGX_PAYLOAD_CHECKSUM_BYTES 8u
/* A payload holds fewer elements than this; larger chunks are cut further. */
#define CGX_PAYLOAD_MAX_ELEMENTS 0xffffffffull

/* Bytes of one element; 0 for a value that is no element type. */
static inline uint64_t cgx_element_bytes(uint32_t element_type) {
  switch (element_type) {
  case CGX_F64:
  case CGX_I64:
  case CGX_U64:
    return 8;
  case CGX_F32:
  case CGX_I32:
  case CGX_U32:
    return 4;
  case CGX_F16:
  case CGX_BF16:
  case CGX_I16:
  case CGX_U16:
    return 2;
  case CGX_I8:
  case CGX_U8:
  case CGX_BOOL:
    return 1;
  default:
    return 0;
  }
}

/* Exact bytes of the payload of `elements` elements. An empty tensor has an
 * empty payload (no header): nothing is sent for it. */
static inline uint64_t cgx_payload_bytes(const cgx_codec *codec, uint32_t element_type, uint64_t elements) {
  uint64_t buckets, scale_bytes, level_bytes;
  if (elements == 0)
    return 0;
  if (codec->family == CGX_CODEC_IDENTITY)
    return elements * cgx_element_bytes(element_type);
  buckets = (elements + codec->bucket - 1) / codec->bucket;
  scale_bytes = buckets * (codec->scale == CGX_SCALE_F32 ? 8u : 4u);
  level_bytes = (elements * codec->bits + 7) / 8;
  return CGX_PAYLOAD_HEADER_BYTES + scale_bytes + level_bytes +
         (codec->checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0u);
}

/* Elements that no chunk boundary may divide. */
static inline uint64_t cgx_chunk_alignment(const cgx_codec *codec) {
  return codec->family == CGX_CODEC_QUANTIZE ? codec->bucket : 1u;
}

/* First element of chunk `chunk` of `chunks`, for a tensor of `elements`
 * elements; chunk k is [begin(k), begin(k + 1)). Balanced to one alignment unit;
 * trailing chunks may be empty. */
static inline uint64_t cgx_chunk_begin(const cgx_codec *codec, uint64_t elements, uint64_t chunks,
                                       uint64_t chunk) {
  uint64_t alignment = cgx_chunk_alignment(codec);
  uint64_t units = (elements + alignment - 1) / alignment;
  uint64_t per_chunk = units / chunks, remainder = units % chunks;
  uint64_t unit = chunk * per_chunk + (chunk < remainder ? chunk : remainder);
  uint64_t begin = unit * alignment;
  return begin < elements ? begin : elements;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CGX_CODEC_H */
