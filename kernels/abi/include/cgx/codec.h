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

/* Functions that kernels on a GPU call too. */
#if defined(__CUDACC__)
#define CGX_CODEC_FUNCTION static inline __host__ __device__
#else
#define CGX_CODEC_FUNCTION static inline
#endif

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
  CGX_CODEC_IDENTITY = 0,           /* raw little-endian elements, no header */
  CGX_CODEC_QUANTIZE = 1,           /* levels of a few bits per bucket (QSGD as in CGX, 3.5) */
  CGX_CODEC_TERNARY = 2,            /* -s, 0, s (TernGrad) */
  CGX_CODEC_SIGN = 3,               /* one bit (1-bit SGD, signSGD) */
  CGX_CODEC_NATURAL = 4,            /* sign and exponent (C_NAT) */
  CGX_CODEC_CAST = 5,               /* a narrower floating-point format */
  CGX_CODEC_TOPK = 6,               /* the largest elements */
  CGX_CODEC_RANDK = 7,              /* elements at random places */
  CGX_CODEC_THRESHOLD = 8,          /* the elements above a magnitude */
  CGX_CODEC_ADAPTIVE_THRESHOLD = 9, /* the same, the magnitude from the data */
  CGX_CODEC_LOSSLESS = 10,          /* entropy-coded exponents */
  CGX_CODEC_GCOMP = 11,             /* the same, and mantissas as short as the optimizer allows */
  CGX_CODEC_LOWRANK = 12,           /* factors of a matrix, summed exactly (PowerSGD): no payloads */
  CGX_CODEC_FAMILY_COUNT = 13
} cgx_codec_family;

typedef enum cgx_rounding {
  CGX_ROUND_NEAREST = 0,    /* biased, half the worst-case error */
  CGX_ROUND_STOCHASTIC = 1, /* unbiased: each element by its own random number */
  CGX_ROUND_RANDOM_SHIFT =
      2 /* unbiased: to the nearest level, levels shifted at random per bucket (QSDP, 5.5) */
} cgx_rounding;

/* How the scale of a bucket is stored. */
typedef enum cgx_scale_type {
  CGX_SCALE_BF16 = 0, /* 2 bytes a value; lower ends rounded down, distances up */
  CGX_SCALE_F32 = 1   /* 4 bytes a value */
} cgx_scale_type;

/* What the levels of a bucket span. */
typedef enum cgx_scaling {
  CGX_SCALING_MIN_MAX = 0, /* from the smallest element to the largest */
  CGX_SCALING_MAX_ABS = 1, /* from -m to m, m the largest magnitude; 0 is a level */
  CGX_SCALING_L2 = 2       /* from -m to m, m the Euclidean norm; 0 is a level */
} cgx_scaling;

/* Where the levels of a bucket lie. */
typedef enum cgx_levels {
  CGX_LEVELS_UNIFORM = 0,     /* evenly */
  CGX_LEVELS_EXPONENTIAL = 1, /* 0, and powers of two below the end, of both signs */
  CGX_LEVELS_LEARNED = 2      /* as fitted to the data; their table travels in the payload (QSDP, 5.6.2) */
} cgx_levels;

/* What the elements of one sign become. */
typedef enum cgx_sign_magnitude {
  CGX_SIGN_MEANS = 0, /* the mean of the bucket's elements of that sign (1-bit SGD) */
  CGX_SIGN_NORM = 1   /* the mean magnitude of the bucket: its l1 norm over its length (scaled signSGD) */
} cgx_sign_magnitude;

/* What an element is cast to. */
typedef enum cgx_format {
  CGX_FORMAT_BF16 = 0,
  CGX_FORMAT_F16 = 1,
  CGX_FORMAT_FP8_E4M3 = 2, /* with a scale for each bucket */
  CGX_FORMAT_FP8_E5M2 = 3, /* with a scale for each bucket */
  CGX_FORMAT_MXFP8 = 4,    /* e4m3 with a power of two for each 32 (OCP microscaling) */
  CGX_FORMAT_MXFP4 = 5     /* e2m1 with a power of two for each 32 (OCP microscaling) */
} cgx_format;

/* Whose rule of updating parameters says how many bits of a gradient matter (GComp, table 2). */
typedef enum cgx_optimizer {
  CGX_OPTIMIZER_SGD = 0,
  CGX_OPTIMIZER_MOMENTUM = 1,
  CGX_OPTIMIZER_NESTEROV = 2,
  CGX_OPTIMIZER_ADAGRAD = 3,
  CGX_OPTIMIZER_RMSPROP = 4,
  CGX_OPTIMIZER_ADAM = 5,
  CGX_OPTIMIZER_ADAMW = 6,
  CGX_OPTIMIZER_COUNT = 7
} cgx_optimizer;

/* What a step lends gcomp: what its optimizer keeps of a parameter, and the learning rate, one f32. */
typedef enum cgx_kept {
  CGX_KEPT_PARAMETER = 0,
  CGX_KEPT_FIRST_MOMENT = 1,  /* the momentum, or the mean of gradients */
  CGX_KEPT_SECOND_MOMENT = 2, /* the mean, or the sum, of their squares */
  CGX_KEPT_LEARNING_RATE = 3, /* of this step, where the codec has none */
  CGX_KEPT_COUNT = 4
} cgx_kept;

/* Those that are tensors, with an element for each of the gradient, come first. */
#define CGX_KEPT_TENSORS 3u

/* One codec: a family and its parameters. Fields that a family does not use are 0. New
 * fields go to the end: payloads of codecs that leave them 0 stay the same. */
typedef struct cgx_codec {
  uint32_t family;    /* cgx_codec_family */
  uint32_t bits;      /* quantize: bits of a level, 1 to 8 */
  uint32_t bucket;    /* quantize, ternary, sign, cast: elements that share one scale, >= 1;
                         cast: 32 for the mx formats, 0 for bf16 and f16;
                         adaptive_threshold: elements that share one threshold */
  uint32_t rounding;  /* quantize: cgx_rounding */
  uint32_t scale;     /* quantize, ternary, sign, cast to fp8: cgx_scale_type */
  uint32_t checksum;  /* 1: payloads end in a checksum, 0: they do not */
  uint32_t scaling;   /* quantize: cgx_scaling */
  uint32_t levels;    /* quantize: cgx_levels */
  uint32_t magnitude; /* sign: cgx_sign_magnitude */
  uint32_t format;    /* cast: cgx_format */
  float density;      /* topk, randk: the share of elements that is sent, in (0, 1] */
  float threshold;    /* threshold: the smallest magnitude that is sent, >= 0;
                         adaptive_threshold: the same as a share of the bucket's largest, in (0, 1] */
  uint32_t optimizer; /* gcomp: whose metric says how long mantissas are */
  uint32_t rank;      /* lowrank: of the factors, >= 1 */
  uint32_t rows; /* lowrank: of the operand's matrix; no parameter, cgx_codec_for_shape() says how many */
  uint32_t truncation; /* gcomp: bits that a level drops more than the one before it; 0: 6 of f32, 2 of f16
                          and bf16 */
  float learning_rate; /* gcomp: the largest one that there will be, or 0: each step lends its own; and other
                          constants of the optimizer, 0 where it has none of that name */
  float weight_decay;
  float momentum;
  float dampening;
  float beta1;
  float beta2; /* rmsprop: its smoothing constant */
  float epsilon;
} cgx_codec;

/* Elements that share a scale in the mx formats. */
#define CGX_MX_BLOCK_ELEMENTS 32u
/* Bytes of the header of every payload that is not an identity payload. */
#define CGX_PAYLOAD_HEADER_BYTES 8u
/* Bytes behind the header, of payloads that vary in size: how many bytes the payload has. */
#define CGX_PAYLOAD_LENGTH_BYTES 8u
/* Bytes of the trailing checksum, where the codec asks for one. */
#define CGX_PAYLOAD_CHECKSUM_BYTES 8u
/* A payload holds fewer elements than this; larger chunks are cut further. */
#define CGX_PAYLOAD_MAX_ELEMENTS 0xffffffffull

/* Bytes of one element; 0 for a value that is no element type. */
CGX_CODEC_FUNCTION uint64_t cgx_element_bytes(uint32_t element_type) {
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

/* Bytes of a value of a bucket's scale. */
CGX_CODEC_FUNCTION uint64_t cgx_scale_bytes(const cgx_codec *codec) {
  return codec->scale == CGX_SCALE_F32 ? 4u : 2u;
}

/* Buckets of `elements` elements; the last one may be shorter. */
CGX_CODEC_FUNCTION uint64_t cgx_bucket_count(const cgx_codec *codec, uint64_t elements) {
  return elements / codec->bucket + (elements % codec->bucket != 0);
}

/* Body bytes, by family: what is between header and checksum. */
static inline uint64_t cgx_quantize_body_bytes(const cgx_codec *codec, uint64_t elements) {
  uint64_t table_bytes = codec->levels == CGX_LEVELS_LEARNED ? 4ull << codec->bits : 0;
  uint64_t scale_values = codec->scaling == CGX_SCALING_MIN_MAX ? 2 : 1;
  return table_bytes + cgx_bucket_count(codec, elements) * scale_values * cgx_scale_bytes(codec) +
         (elements * codec->bits + 7) / 8;
}

static inline uint64_t cgx_ternary_body_bytes(const cgx_codec *codec, uint64_t elements) {
  return cgx_bucket_count(codec, elements) * cgx_scale_bytes(codec) + 2 * ((elements + 7) / 8);
}

static inline uint64_t cgx_sign_body_bytes(const cgx_codec *codec, uint64_t elements) {
  uint64_t scale_values = codec->magnitude == CGX_SIGN_MEANS ? 2 : 1;
  return cgx_bucket_count(codec, elements) * scale_values * cgx_scale_bytes(codec) + (elements + 7) / 8;
}

static inline uint64_t cgx_natural_body_bytes(uint64_t elements) { return elements + (elements + 7) / 8; }

static inline uint64_t cgx_cast_body_bytes(const cgx_codec *codec, uint64_t elements) {
  switch (codec->format) {
  case CGX_FORMAT_FP8_E4M3:
  case CGX_FORMAT_FP8_E5M2:
    return cgx_bucket_count(codec, elements) * cgx_scale_bytes(codec) + elements;
  case CGX_FORMAT_MXFP8:
    return cgx_bucket_count(codec, elements) + elements;
  case CGX_FORMAT_MXFP4:
    return cgx_bucket_count(codec, elements) + (elements + 1) / 2;
  default:
    return elements * 2;
  }
}

/* Elements of a payload that topk and randk send: the nearest to density * elements, at least 1. */
CGX_CODEC_FUNCTION uint64_t cgx_sparse_count(const cgx_codec *codec, uint64_t elements) {
  uint64_t count = (uint64_t)((double)codec->density * (double)elements + 0.5);
  return count < 1 ? 1u : count > elements ? elements : count;
}

/* How `count` of `elements` positions are written down: each as its lowest bits, and the rest of all
 * together in a bit vector (Elias-Fano coding, within 0.8 bits a position of the least possible for
 * random ones) ... */
CGX_CODEC_FUNCTION uint32_t cgx_position_low_bits(uint64_t elements, uint64_t count) {
  uint32_t bits = 0;
  while ((elements / count) >> (bits + 1) != 0)
    ++bits;
  return bits;
}
CGX_CODEC_FUNCTION uint64_t cgx_position_low_bytes(uint64_t elements, uint64_t count) {
  return (count * cgx_position_low_bits(elements, count) + 7) / 8;
}
CGX_CODEC_FUNCTION uint64_t cgx_position_high_bits(uint64_t elements, uint64_t count) {
  return ((elements - 1) >> cgx_position_low_bits(elements, count)) + count;
}
/* ... or, where that is no longer, as one bit an element. */
CGX_CODEC_FUNCTION int cgx_positions_are_bitmap(uint64_t elements, uint64_t count) {
  return (elements + 7) / 8 <=
         cgx_position_low_bytes(elements, count) + (cgx_position_high_bits(elements, count) + 7) / 8;
}
CGX_CODEC_FUNCTION uint64_t cgx_position_bytes(uint64_t elements, uint64_t count) {
  return cgx_positions_are_bitmap(elements, count)
             ? (elements + 7) / 8
             : cgx_position_low_bytes(elements, count) + (cgx_position_high_bits(elements, count) + 7) / 8;
}

static inline uint64_t cgx_topk_body_bytes(const cgx_codec *codec, uint32_t element_type, uint64_t elements) {
  uint64_t count = cgx_sparse_count(codec, elements);
  return 4u + cgx_position_bytes(elements, count) + count * cgx_element_bytes(element_type);
}

static inline uint64_t cgx_randk_body_bytes(const cgx_codec *codec, uint32_t element_type,
                                            uint64_t elements) {
  return 4u + 8u + cgx_sparse_count(codec, elements) * cgx_element_bytes(element_type);
}

/* At most: the number of elements that are sent, their positions, and all of them. */
static inline uint64_t cgx_threshold_most_body_bytes(uint32_t element_type, uint64_t elements) {
  return 8u + (elements + 7) / 8 + elements * cgx_element_bytes(element_type);
}

/* Entropy-coded exponents. Blocks stand alone, and so do the streams of codes in a block. */
#define CGX_LOSSLESS_BLOCK_ELEMENTS 8192u
#define CGX_LOSSLESS_STREAM_ELEMENTS 2048u
/* The most bytes of the table of codes. */
#define CGX_LOSSLESS_MOST_TABLE_BYTES 136u
CGX_CODEC_FUNCTION uint64_t cgx_lossless_block_count(uint64_t elements) {
  return elements / CGX_LOSSLESS_BLOCK_ELEMENTS + (elements % CGX_LOSSLESS_BLOCK_ELEMENTS != 0);
}
/* A block whose elements lie there as they are: what comes before them, and they, filled up to 8 bytes. */
CGX_CODEC_FUNCTION uint64_t cgx_lossless_raw_block_bytes(uint32_t element_type, uint64_t elements) {
  return 8u + (elements * cgx_element_bytes(element_type) + 7) / 8 * 8;
}
/* At most: where blocks begin, the table, and all blocks as they are. */
static inline uint64_t cgx_lossless_most_body_bytes(uint32_t element_type, uint64_t elements) {
  uint64_t whole = elements / CGX_LOSSLESS_BLOCK_ELEMENTS, left = elements % CGX_LOSSLESS_BLOCK_ELEMENTS;
  return 8u * cgx_lossless_block_count(elements) + CGX_LOSSLESS_MOST_TABLE_BYTES +
         whole * cgx_lossless_raw_block_bytes(element_type, CGX_LOSSLESS_BLOCK_ELEMENTS) +
         (left == 0 ? 0u : cgx_lossless_raw_block_bytes(element_type, left));
}

/* Bits that a level of gcomp may drop more than the one before it: the last one leaves an f32 two bits of its
 * mantissa. */
#define CGX_GCOMP_MOST_TRUNCATION 7u

/* Whether decoding gives the bits that were encoded, whatever they are. */
static inline int cgx_codec_is_exact(const cgx_codec *codec) {
  return codec->family == CGX_CODEC_IDENTITY || codec->family == CGX_CODEC_LOSSLESS;
}

/* Whether an optimizer keeps one tensor of a kind for each parameter. */
static inline int cgx_optimizer_keeps(uint32_t optimizer, uint32_t kept) {
  switch (kept) {
  case CGX_KEPT_PARAMETER:
    return 1;
  case CGX_KEPT_FIRST_MOMENT:
    return optimizer == CGX_OPTIMIZER_MOMENTUM || optimizer == CGX_OPTIMIZER_NESTEROV ||
           optimizer >= CGX_OPTIMIZER_ADAM;
  case CGX_KEPT_SECOND_MOMENT:
    return optimizer >= CGX_OPTIMIZER_ADAGRAD;
  default:
    return 0;
  }
}

/* Whether encoding a gradient needs what a step lends of that kind. */
static inline int cgx_codec_needs(const cgx_codec *codec, uint32_t kept) {
  return codec->family == CGX_CODEC_GCOMP &&
         (kept == CGX_KEPT_LEARNING_RATE ? codec->learning_rate == 0
                                         : cgx_optimizer_keeps(codec->optimizer, kept));
}
/* How many elements it has, of a gradient of so many. */
static inline uint64_t cgx_kept_elements(uint32_t kept, uint64_t elements) {
  return kept == CGX_KEPT_LEARNING_RATE ? 1 : elements;
}

/* Whether all ranks draw the same random numbers, in both phases of an all-reduce: then their payloads
 * hold the same positions, and so does that of the sum. */
static inline int cgx_codec_shares_randomness(const cgx_codec *codec) {
  return codec->family == CGX_CODEC_RANDK;
}

/* Whether payloads of one length have one size. */
static inline int cgx_payload_is_fixed(const cgx_codec *codec) {
  switch (codec->family) {
  case CGX_CODEC_THRESHOLD:
  case CGX_CODEC_ADAPTIVE_THRESHOLD:
  case CGX_CODEC_LOSSLESS:
  case CGX_CODEC_GCOMP:
    return 0;
  default:
    return 1;
  }
}

/* Where the body begins in a payload that is not an identity payload. */
static inline uint64_t cgx_payload_body_begin(const cgx_codec *codec) {
  return CGX_PAYLOAD_HEADER_BYTES + (cgx_payload_is_fixed(codec) ? 0u : CGX_PAYLOAD_LENGTH_BYTES);
}

/* Whether tensors travel in payloads, encoded by one rank and decoded by others. Of the codecs without, an
 * all_reduce adds up what it sends, and there is no explicit form. */
static inline int cgx_codec_has_payloads(const cgx_codec *codec) {
  return codec->family != CGX_CODEC_LOWRANK;
}

/* Rows of the matrix that lowrank sees in a tensor, row-major as it lies in memory: its first dimensions
 * against the others, cut where rows and columns together are fewest, behind the fewest dimensions if that
 * is in several places. 1 without two dimensions. */
static inline uint64_t cgx_matrix_rows(const uint64_t *shape, uint64_t dimensions) {
  uint64_t elements = 1, rows = 1, best = 1, dimension;
  for (dimension = 0; dimension < dimensions; ++dimension)
    elements *= shape[dimension];
  if (elements == 0)
    return 1;
  for (dimension = 0; dimension + 1 < dimensions; ++dimension) {
    rows *= shape[dimension];
    if (rows + elements / rows < best + elements / best)
      best = rows;
  }
  return best;
}

/* The codec as it is used for a tensor of that shape. */
static inline cgx_codec cgx_codec_for_shape(const cgx_codec *codec, const uint64_t *shape,
                                            uint64_t dimensions) {
  cgx_codec used = *codec;
  used.rows = codec->family == CGX_CODEC_LOWRANK ? (uint32_t)cgx_matrix_rows(shape, dimensions) : 0;
  return used;
}

/* The largest rank whose factors, in f32, are shorter than a tensor of `rows` rows; 0 if there is none. It
 * is below rows and columns. */
static inline uint64_t cgx_lowrank_most(uint64_t rows, uint32_t element_type, uint64_t elements) {
  uint64_t columns = rows == 0 ? 0 : elements / rows;
  uint64_t bytes = elements * cgx_element_bytes(element_type);
  if (bytes == 0 || elements >= CGX_PAYLOAD_MAX_ELEMENTS)
    return 0;
  return (bytes - 1) / (4u * (rows + columns));
}

/* Bytes of the payload of `elements` elements: exact where cgx_payload_is_fixed(), else
 * the most that a payload can have, and encoding says how many it has. An empty tensor
 * has an empty payload (no header): nothing is sent for it. */
static inline uint64_t cgx_payload_bytes(const cgx_codec *codec, uint32_t element_type, uint64_t elements) {
  uint64_t body_bytes = 0;
  if (elements == 0)
    return 0;
  switch (codec->family) {
  case CGX_CODEC_IDENTITY:
    return elements * cgx_element_bytes(element_type);
  case CGX_CODEC_LOWRANK: /* has none */
    return 0;
  case CGX_CODEC_QUANTIZE:
    body_bytes = cgx_quantize_body_bytes(codec, elements);
    break;
  case CGX_CODEC_TERNARY:
    body_bytes = cgx_ternary_body_bytes(codec, elements);
    break;
  case CGX_CODEC_SIGN:
    body_bytes = cgx_sign_body_bytes(codec, elements);
    break;
  case CGX_CODEC_NATURAL:
    body_bytes = cgx_natural_body_bytes(elements);
    break;
  case CGX_CODEC_CAST:
    body_bytes = cgx_cast_body_bytes(codec, elements);
    break;
  case CGX_CODEC_TOPK:
    body_bytes = cgx_topk_body_bytes(codec, element_type, elements);
    break;
  case CGX_CODEC_RANDK:
    body_bytes = cgx_randk_body_bytes(codec, element_type, elements);
    break;
  case CGX_CODEC_THRESHOLD:
  case CGX_CODEC_ADAPTIVE_THRESHOLD:
    body_bytes = cgx_threshold_most_body_bytes(element_type, elements);
    break;
  case CGX_CODEC_LOSSLESS:
  case CGX_CODEC_GCOMP: /* what would be longer lies there as it is */
    body_bytes = cgx_lossless_most_body_bytes(element_type, elements);
    break;
  }
  return cgx_payload_body_begin(codec) + body_bytes + (codec->checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0u);
}

/* Elements that no chunk boundary may divide. */
static inline uint64_t cgx_chunk_alignment(const cgx_codec *codec) {
  return codec->bucket > 1 ? codec->bucket : 1u;
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
