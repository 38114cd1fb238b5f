/*===-- cgx/codec.h - The description of a codec, in C -------------*- C -*-===
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

/* Prefix of functions that GPU kernels call as well as the host. */
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

/* ---- The table of codecs lists the families, the cases of their parameters, and the fields of a codec.
 * Ranges, defaults and dependencies of parameters are in cgx/codec_table.h. All that reads, writes,
 * checks, describes or offers codecs is made from these lists. */

/* Traits, which hold for every codec of a family. */
#define CGX_TAKES_ANY_TYPE 1u     /* any element type; others take f32, f16 and bf16 */
#define CGX_KEEPS_EVERY_BIT 2u    /* decoding gives the bits that were encoded, whatever they are */
#define CGX_IS_UNBIASED 4u        /* the expected value of what is decoded is what was encoded */
#define CGX_IS_ROUNDED 8u         /* a parameter chooses: unbiased and random, or nearest */
#define CGX_IS_RANDOM 16u         /* encoding draws random numbers */
#define CGX_SHARES_RANDOMNESS 32u /* all ranks draw equal ones, in both phases of an all-reduce */
#define CGX_VARIES_IN_SIZE 64u    /* payloads of one length have several sizes */
#define CGX_HAS_NO_PAYLOADS 128u  /* an all-reduce adds up what it sends, and there is no explicit form */
#define CGX_NEEDS_ALL_REDUCE 256u /* no other collective can use it */
#define CGX_HAS_STATE 512u        /* encoding depends on earlier steps */
#define CGX_IS_ASSOCIATIVE 1024u  /* what is sent can be added up without decoding it */
#define CGX_IN_PIECES 2048u       /* a chunk can be encoded piece by piece (unless a parameter forbids it) */

/* X(constant, name, C++ name, traits, summary), by number. The numbers are part of the wire format: add at
 * the end. */
#define CGX_CODEC_FAMILIES(X)                                                                                \
  X(IDENTITY, identity, identity,                                                                            \
    CGX_TAKES_ANY_TYPE | CGX_KEEPS_EVERY_BIT | CGX_IS_UNBIASED | CGX_IS_ASSOCIATIVE,                         \
    "the elements as they are")                                                                              \
  X(QUANTIZE, quantize, quantize, CGX_IS_ROUNDED | CGX_IN_PIECES, "levels of a few bits in each bucket")     \
  X(TERNARY, ternary, ternary, CGX_IS_UNBIASED | CGX_IS_RANDOM | CGX_IN_PIECES, "-s, 0 or s")                \
  X(SIGN, sign, sign, CGX_IN_PIECES, "one bit, and what the signs stand for")                                \
  X(NATURAL, natural, natural, CGX_IS_UNBIASED | CGX_IS_RANDOM | CGX_IN_PIECES, "sign and exponent")         \
  X(CAST, cast, cast, CGX_IN_PIECES, "a narrower floating-point format")                                     \
  X(TOPK, topk, topk, 0u, "the largest elements")                                                            \
  X(RANDK, randk, randk, CGX_IS_RANDOM | CGX_SHARES_RANDOMNESS, "elements at random places")                 \
  X(THRESHOLD, threshold, threshold, CGX_VARIES_IN_SIZE, "the elements above a magnitude")                   \
  X(ADAPTIVE_THRESHOLD, adaptive_threshold, adaptiveThreshold, CGX_VARIES_IN_SIZE,                           \
    "the elements that are large beside their neighbours")                                                   \
  X(LOSSLESS, lossless, lossless, CGX_KEEPS_EVERY_BIT | CGX_IS_UNBIASED | CGX_VARIES_IN_SIZE,                \
    "the elements, their exponents entropy-coded")                                                           \
  X(GCOMP, gcomp, gcomp, CGX_VARIES_IN_SIZE | CGX_NEEDS_ALL_REDUCE,                                          \
    "lossless exponents, and mantissas as short as the optimizer allows")                                    \
  X(LOWRANK, lowrank, lowrank,                                                                               \
    CGX_HAS_NO_PAYLOADS | CGX_NEEDS_ALL_REDUCE | CGX_HAS_STATE | CGX_IS_ASSOCIATIVE,                         \
    "two factors of a matrix, found by power iteration over the steps")                                      \
  X(EDEN, eden, eden, CGX_IS_UNBIASED | CGX_IS_RANDOM | CGX_IN_PIECES,                                       \
    "levels for the normal distribution, of each bucket after a random rotation")

typedef enum cgx_codec_family {
#define CGX_FAMILY(constant, name, cpp_name, traits, summary) CGX_CODEC_##constant,
  CGX_CODEC_FAMILIES(CGX_FAMILY)
#undef CGX_FAMILY
      CGX_CODEC_FAMILY_COUNT
} cgx_codec_family;

/* The cases of parameters, in the order of their numbers: X(constant, name, meaning). Add at the end. */
#define CGX_ROUNDINGS(X)                                                                                     \
  X(CGX_ROUND_NEAREST, nearest, "biased, half the worst-case error")                                         \
  X(CGX_ROUND_STOCHASTIC, stochastic, "unbiased: each element by its own random number")                     \
  X(CGX_ROUND_RANDOM_SHIFT, random_shift,                                                                    \
    "unbiased: to the nearest level, levels shifted at random per bucket (QSDP, 5.5)")

#define CGX_SCALE_TYPES(X)                                                                                   \
  X(CGX_SCALE_BF16, bf16, "2 bytes a value; lower ends rounded down, distances up")                          \
  X(CGX_SCALE_F32, f32, "4 bytes a value")

#define CGX_SCALINGS(X)                                                                                      \
  X(CGX_SCALING_MIN_MAX, min_max, "from the smallest element of a bucket to the largest")                    \
  X(CGX_SCALING_MAX_ABS, max_abs, "from -m to m, m the largest magnitude; 0 is a level")                     \
  X(CGX_SCALING_L2, l2, "from -m to m, m the Euclidean norm; 0 is a level")

#define CGX_LEVEL_CURVES(X)                                                                                  \
  X(CGX_LEVELS_UNIFORM, uniform, "evenly")                                                                   \
  X(CGX_LEVELS_EXPONENTIAL, exponential, "0, and powers of two below the end, of both signs")                \
  X(CGX_LEVELS_LEARNED, learned, "as fitted to the data; their table travels in the payload (QSDP, 5.6.2)")

#define CGX_SIGN_MAGNITUDES(X)                                                                               \
  X(CGX_SIGN_MEANS, means, "the mean of the bucket's elements of that sign (1-bit SGD)")                     \
  X(CGX_SIGN_NORM, norm, "the mean magnitude of the bucket (scaled signSGD)")

#define CGX_FORMATS(X)                                                                                       \
  X(CGX_FORMAT_BF16, bf16, "16 bits")                                                                        \
  X(CGX_FORMAT_F16, f16, "16 bits")                                                                          \
  X(CGX_FORMAT_FP8_E4M3, fp8_e4m3, "with a scale for each bucket")                                           \
  X(CGX_FORMAT_FP8_E5M2, fp8_e5m2, "with a scale for each bucket")                                           \
  X(CGX_FORMAT_MXFP8, mxfp8, "e4m3 with a power of two for each 32 (OCP microscaling)")                      \
  X(CGX_FORMAT_MXFP4, mxfp4, "e2m1 with a power of two for each 32 (OCP microscaling)")                      \
  X(CGX_FORMAT_NVFP4, nvfp4, "e2m1 with an e4m3 scale for each 16, and an f32 scale for all")

/* The optimizers. gcomp derives from the rule of their updates how many bits of a gradient matter (GComp,
 * table 2). */
#define CGX_OPTIMIZERS(X)                                                                                    \
  X(CGX_OPTIMIZER_SGD, sgd, "")                                                                              \
  X(CGX_OPTIMIZER_MOMENTUM, momentum, "")                                                                    \
  X(CGX_OPTIMIZER_NESTEROV, nesterov, "")                                                                    \
  X(CGX_OPTIMIZER_ADAGRAD, adagrad, "")                                                                      \
  X(CGX_OPTIMIZER_RMSPROP, rmsprop, "")                                                                      \
  X(CGX_OPTIMIZER_ADAM, adam, "")                                                                            \
  X(CGX_OPTIMIZER_ADAMW, adamw, "")

#define CGX_ROTATIONS(X)                                                                                     \
  X(CGX_ROTATE_NONE, none, "as they are")                                                                    \
  X(CGX_ROTATE_HADAMARD, hadamard, "by a Hadamard transform of blocks, with random signs")

#define CGX_CASE(constant, name, meaning) constant,
typedef enum cgx_rounding { CGX_ROUNDINGS(CGX_CASE) CGX_ROUNDING_COUNT } cgx_rounding;
typedef enum cgx_scale_type { CGX_SCALE_TYPES(CGX_CASE) CGX_SCALE_TYPE_COUNT } cgx_scale_type;
typedef enum cgx_scaling { CGX_SCALINGS(CGX_CASE) CGX_SCALING_COUNT } cgx_scaling;
typedef enum cgx_levels { CGX_LEVEL_CURVES(CGX_CASE) CGX_LEVELS_COUNT } cgx_levels;
typedef enum cgx_sign_magnitude { CGX_SIGN_MAGNITUDES(CGX_CASE) CGX_SIGN_MAGNITUDE_COUNT } cgx_sign_magnitude;
typedef enum cgx_format { CGX_FORMATS(CGX_CASE) CGX_FORMAT_COUNT } cgx_format;
typedef enum cgx_rotation { CGX_ROTATIONS(CGX_CASE) CGX_ROTATION_COUNT } cgx_rotation;
typedef enum cgx_optimizer { CGX_OPTIMIZERS(CGX_CASE) CGX_OPTIMIZER_COUNT } cgx_optimizer;
#undef CGX_CASE

/* The optimizer state that a step binds for gcomp: tensors that the optimizer retains for a parameter, and
 * the learning rate, one f32. */
typedef enum cgx_kept {
  CGX_KEPT_PARAMETER = 0,
  CGX_KEPT_FIRST_MOMENT = 1,  /* the momentum, or the mean of gradients */
  CGX_KEPT_SECOND_MOMENT = 2, /* the mean, or the sum, of their squares */
  CGX_KEPT_LEARNING_RATE = 3, /* the learning rate of this step, where the codec states none */
  CGX_KEPT_COUNT = 4
} cgx_kept;

/* The first kinds are tensors with one element for each element of the gradient. */
#define CGX_KEPT_TENSORS 3u

/* The fields of a codec: X(type, name, meaning). New fields go to the end: payloads of codecs that leave
 * them 0 stay the same. */
#define CGX_CODEC_FIELDS(X)                                                                                  \
  X(uint32_t, family, "cgx_codec_family")                                                                    \
  X(uint32_t, bits, "of a level")                                                                            \
  X(uint32_t, bucket, "elements that share one scale, or threshold")                                         \
  X(uint32_t, rounding, "how an element becomes a level")                                                    \
  X(uint32_t, scale, "what scales are stored as")                                                            \
  X(uint32_t, checksum, "payloads end in a checksum")                                                        \
  X(uint32_t, scaling, "what the levels of a bucket span")                                                   \
  X(uint32_t, levels, "where the levels of a bucket lie")                                                    \
  X(uint32_t, magnitude, "what the elements of one sign become")                                             \
  X(uint32_t, format, "what an element is cast to")                                                          \
  X(float, density, "the share of elements that is sent")                                                    \
  X(float, threshold, "the smallest magnitude that is sent, in a bucket as a share of its largest")          \
  X(uint32_t, optimizer, "that of the step: its metric says how long mantissas are")                         \
  X(uint32_t, rank, "of the factors that are sent")                                                          \
  X(uint32_t, rows, "of the operand's matrix; no parameter, cgx_codec_for_shape() says how many")            \
  X(uint32_t, truncation,                                                                                    \
    "bits that a level drops more than the one before it; 0: 6 of f32, 2 of f16 and bf16")                   \
  X(float, learning_rate, "the largest one of the training; 0: it is an argument of the step")               \
  X(float, weight_decay, "of the optimizer")                                                                 \
  X(float, momentum, "of the optimizer")                                                                     \
  X(float, dampening, "of the optimizer")                                                                    \
  X(float, beta1, "of the optimizer")                                                                        \
  X(float, beta2, "of the optimizer; what rmsprop decays squares by")                                        \
  X(float, epsilon, "of the optimizer")                                                                      \
  X(uint32_t, rotate, "how elements are mixed before they are encoded, and back after decoding")

/* One codec: a family and its parameters. Fields that are no parameters of the family are 0. */
typedef struct cgx_codec {
#define CGX_FIELD(type, name, meaning) type name;
  CGX_CODEC_FIELDS(CGX_FIELD)
#undef CGX_FIELD
} cgx_codec;

/* Elements that share a scale in the mx formats. */
#define CGX_MX_BLOCK_ELEMENTS 32u
/* Elements that share an e4m3 scale in nvfp4, and bytes of the scale of a payload. */
#define CGX_NVFP4_BLOCK_ELEMENTS 16u
#define CGX_NVFP4_SCALE_BYTES 4u
/* Bytes of the header of every payload that is not an identity payload. */
#define CGX_PAYLOAD_HEADER_BYTES 8u
/* Bytes after the header that hold the payload's length in bytes, in payloads that vary in size. */
#define CGX_PAYLOAD_LENGTH_BYTES 8u
/* Bytes of the trailing checksum, for codecs that ask for one. */
#define CGX_PAYLOAD_CHECKSUM_BYTES 8u
/* Bytes of the seed of the random signs: before the body if elements are rotated, and at the start of an
 * eden body. */
#define CGX_PAYLOAD_SEED_BYTES 8u
/* A payload holds fewer elements than this; larger chunks are cut further. */
#define CGX_PAYLOAD_MAX_ELEMENTS 0xffffffffull

/* Returns the bytes of one element; 0 for a value that is no element type. */
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

/* Returns the bytes of one value of a bucket's scale. */
CGX_CODEC_FUNCTION uint64_t cgx_scale_bytes(const cgx_codec *codec) {
  return codec->scale == CGX_SCALE_F32 ? 4u : 2u;
}

/* Returns the number of buckets of `elements` elements. The last one may be shorter. */
CGX_CODEC_FUNCTION uint64_t cgx_bucket_count(const cgx_codec *codec, uint64_t elements) {
  return elements / codec->bucket + (elements % codec->bucket != 0);
}

/* The functions below return the bytes of a body by family: all that lies between header and checksum. */
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
  case CGX_FORMAT_NVFP4:
    return CGX_NVFP4_SCALE_BYTES + cgx_bucket_count(codec, elements) + (elements + 1) / 2;
  default:
    return elements * 2;
  }
}

/* Returns the number of elements of an eden payload after the rotation. A shorter last bucket is filled
 * with zeros up to a power of two that is long enough for two random rotations to be as good as any. */
#define CGX_EDEN_LEAST_BUCKET 64u
#define CGX_EDEN_MOST_BUCKET 4096u
CGX_CODEC_FUNCTION uint64_t cgx_eden_rotated_elements(const cgx_codec *codec, uint64_t elements) {
  uint64_t rest = elements % codec->bucket, length = CGX_EDEN_LEAST_BUCKET;
  while (length < rest)
    length *= 2;
  return elements - rest + (rest != 0 ? length : 0);
}
/* Returns the bytes of the seed of the signs, a scale for each bucket, and the levels. */
static inline uint64_t cgx_eden_body_bytes(const cgx_codec *codec, uint64_t elements) {
  return CGX_PAYLOAD_SEED_BYTES + cgx_bucket_count(codec, elements) * cgx_scale_bytes(codec) +
         cgx_eden_rotated_elements(codec, elements) / 8 * codec->bits;
}

/* Returns how many elements of a payload topk and randk send: the nearest number to density * elements, at
 * least 1. */
CGX_CODEC_FUNCTION uint64_t cgx_sparse_count(const cgx_codec *codec, uint64_t elements) {
  uint64_t count = (uint64_t)((double)codec->density * (double)elements + 0.5);
  return count < 1 ? 1u : count > elements ? elements : count;
}

/* Returns how many low bits of each of `count` of `elements` positions are stored unchanged. The high
 * bits of all positions share a bit vector (Elias-Fano coding, within 0.8 bits a position of the least
 * possible for random positions). */
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
/* Returns whether positions are written as a bitmap, one bit an element, because Elias-Fano coding is no
 * shorter. */
CGX_CODEC_FUNCTION int cgx_positions_are_bitmap(uint64_t elements, uint64_t count) {
  return (elements + 7) / 8 <=
         cgx_position_low_bytes(elements, count) + (cgx_position_high_bits(elements, count) + 7) / 8;
}
CGX_CODEC_FUNCTION uint64_t cgx_position_bytes(uint64_t elements, uint64_t count) {
  return cgx_positions_are_bitmap(elements, count)
             ? (elements + 7) / 8
             : cgx_position_low_bytes(elements, count) + (cgx_position_high_bits(elements, count) + 7) / 8;
}

/* Returns the bytes of a bucket of topk with levels: its scale, the positions, and for each element sent
 * `bits` bits, which hold its sign and its level. */
CGX_CODEC_FUNCTION uint64_t cgx_topk_bucket_bytes(const cgx_codec *codec, uint64_t elements) {
  uint64_t count = cgx_sparse_count(codec, elements);
  return 2 * cgx_scale_bytes(codec) + cgx_position_bytes(elements, count) + (count * codec->bits + 7) / 8;
}

static inline uint64_t cgx_topk_body_bytes(const cgx_codec *codec, uint32_t element_type, uint64_t elements) {
  if (codec->bits != 0) {
    uint64_t rest = elements % codec->bucket;
    return elements / codec->bucket * cgx_topk_bucket_bytes(codec, codec->bucket) +
           (rest != 0 ? cgx_topk_bucket_bytes(codec, rest) : 0);
  }
  uint64_t count = cgx_sparse_count(codec, elements);
  return 4u + cgx_position_bytes(elements, count) + count * cgx_element_bytes(element_type);
}

static inline uint64_t cgx_randk_body_bytes(const cgx_codec *codec, uint32_t element_type,
                                            uint64_t elements) {
  return 4u + 8u + cgx_sparse_count(codec, elements) * cgx_element_bytes(element_type);
}

/* Returns the most bytes that a body can have: the number of elements that are sent, their positions, and
 * all elements. */
static inline uint64_t cgx_threshold_most_body_bytes(uint32_t element_type, uint64_t elements) {
  return 8u + (elements + 7) / 8 + elements * cgx_element_bytes(element_type);
}

/* Sizes of entropy-coded exponents. Each block can be decoded alone, and so can each stream of codes in a
 * block. */
#define CGX_LOSSLESS_BLOCK_ELEMENTS 8192u
#define CGX_LOSSLESS_STREAM_ELEMENTS 2048u
/* The most bytes of the table of codes. */
#define CGX_LOSSLESS_MOST_TABLE_BYTES 136u
CGX_CODEC_FUNCTION uint64_t cgx_lossless_block_count(uint64_t elements) {
  return elements / CGX_LOSSLESS_BLOCK_ELEMENTS + (elements % CGX_LOSSLESS_BLOCK_ELEMENTS != 0);
}
/* Returns the bytes of a block whose elements are uncompressed: 8 bytes of header, and the elements filled
 * up to 8 bytes. */
CGX_CODEC_FUNCTION uint64_t cgx_lossless_raw_block_bytes(uint32_t element_type, uint64_t elements) {
  return 8u + (elements * cgx_element_bytes(element_type) + 7) / 8 * 8;
}
/* Returns the most bytes that a body can have: where blocks begin, the table, and all blocks uncompressed. */
static inline uint64_t cgx_lossless_most_body_bytes(uint32_t element_type, uint64_t elements) {
  uint64_t whole = elements / CGX_LOSSLESS_BLOCK_ELEMENTS, left = elements % CGX_LOSSLESS_BLOCK_ELEMENTS;
  return 8u * cgx_lossless_block_count(elements) + CGX_LOSSLESS_MOST_TABLE_BYTES +
         whole * cgx_lossless_raw_block_bytes(element_type, CGX_LOSSLESS_BLOCK_ELEMENTS) +
         (left == 0 ? 0u : cgx_lossless_raw_block_bytes(element_type, left));
}

/* The most bits that a level of gcomp may drop beyond the level before it: with these, the last level
 * keeps two bits of an f32's mantissa. */
#define CGX_GCOMP_MOST_TRUNCATION 7u

/* Returns the traits of a family; 0 for a number that is no family. */
static inline uint32_t cgx_family_traits(uint32_t family) {
  switch (family) {
#define CGX_FAMILY(constant, name, cpp_name, traits, summary)                                                \
  case CGX_CODEC_##constant:                                                                                 \
    return traits;
    CGX_CODEC_FAMILIES(CGX_FAMILY)
#undef CGX_FAMILY
  default:
    return 0;
  }
}
static inline int cgx_codec_has(const cgx_codec *codec, uint32_t trait) {
  return (cgx_family_traits(codec->family) & trait) != 0;
}

/* Returns whether decoding gives the bits that were encoded, for all inputs. */
static inline int cgx_codec_is_exact(const cgx_codec *codec) {
  return cgx_codec_has(codec, CGX_KEEPS_EVERY_BIT);
}

/* Returns whether the expected value of the decoded elements is the encoded ones. */
static inline int cgx_codec_is_unbiased(const cgx_codec *codec) {
  return cgx_codec_has(codec, CGX_IS_UNBIASED) ||
         (cgx_codec_has(codec, CGX_IS_ROUNDED) && codec->rounding != CGX_ROUND_NEAREST);
}

/* Returns whether an optimizer retains a tensor of a kind for each parameter. */
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

/* Returns whether encoding a gradient needs bound optimizer state of a kind. */
static inline int cgx_codec_needs(const cgx_codec *codec, uint32_t kept) {
  return codec->family == CGX_CODEC_GCOMP &&
         (kept == CGX_KEPT_LEARNING_RATE ? codec->learning_rate == 0
                                         : cgx_optimizer_keeps(codec->optimizer, kept));
}
/* Returns the number of elements of a kind of bound state, for a gradient of `elements` elements. */
static inline uint64_t cgx_kept_elements(uint32_t kept, uint64_t elements) {
  return kept == CGX_KEPT_LEARNING_RATE ? 1 : elements;
}

/* Returns whether all ranks draw the same random numbers, in both phases of an all-reduce: then their
 * payloads hold the same positions, and so does the payload of the sum. */
static inline int cgx_codec_shares_randomness(const cgx_codec *codec) {
  return cgx_codec_has(codec, CGX_SHARES_RANDOMNESS);
}

/* Returns whether payloads of one length have one size. */
static inline int cgx_payload_is_fixed(const cgx_codec *codec) {
  return !cgx_codec_has(codec, CGX_VARIES_IN_SIZE);
}

/* Returns where the body begins in a payload that is not an identity payload. */
static inline uint64_t cgx_payload_body_begin(const cgx_codec *codec) {
  return CGX_PAYLOAD_HEADER_BYTES + (cgx_payload_is_fixed(codec) ? 0u : CGX_PAYLOAD_LENGTH_BYTES) +
         (codec->rotate ? CGX_PAYLOAD_SEED_BYTES : 0u);
}

/* Returns whether tensors travel in payloads, encoded by one rank and decoded by others. For codecs
 * without payloads an all_reduce adds up what they send, and there is no explicit form. */
static inline int cgx_codec_has_payloads(const cgx_codec *codec) {
  return !cgx_codec_has(codec, CGX_HAS_NO_PAYLOADS);
}

/* Returns whether payloads can be encoded and decoded on a GPU. */
static inline int cgx_codec_has_gpu_kernels(const cgx_codec *codec) {
  return cgx_codec_has_payloads(codec) && !codec->rotate && codec->family != CGX_CODEC_EDEN &&
         !(codec->family == CGX_CODEC_CAST && codec->format == CGX_FORMAT_NVFP4);
}

/* Returns the rows of the matrix that lowrank makes of a tensor, row-major as it lies in memory. The
 * leading dimensions become rows and the others columns; the cut is where rows plus columns are fewest,
 * and the earliest such cut if there are several. Returns 1 if there are fewer than two dimensions. */
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

/* Returns the codec as it is used for a tensor of that shape. */
static inline cgx_codec cgx_codec_for_shape(const cgx_codec *codec, const uint64_t *shape,
                                            uint64_t dimensions) {
  cgx_codec used = *codec;
  used.rows = codec->family == CGX_CODEC_LOWRANK ? (uint32_t)cgx_matrix_rows(shape, dimensions) : 0;
  return used;
}

/* Returns the largest rank whose factors, in f32, are shorter than a tensor of `rows` rows; 0 if there is
 * none. It is less than the number of rows and of columns. */
static inline uint64_t cgx_lowrank_most(uint64_t rows, uint32_t element_type, uint64_t elements) {
  uint64_t columns = rows == 0 ? 0 : elements / rows;
  uint64_t bytes = elements * cgx_element_bytes(element_type);
  if (bytes == 0 || elements >= CGX_PAYLOAD_MAX_ELEMENTS)
    return 0;
  return (bytes - 1) / (4u * (rows + columns));
}

/* Returns the bytes of the payload of `elements` elements: the exact number where cgx_payload_is_fixed(),
 * else the most that a payload can have, and encoding returns the actual number. An empty tensor has an
 * empty payload without a header: nothing is sent for it. */
static inline uint64_t cgx_payload_bytes(const cgx_codec *codec, uint32_t element_type, uint64_t elements) {
  uint64_t body_bytes = 0;
  if (elements == 0)
    return 0;
  switch (codec->family) {
  case CGX_CODEC_IDENTITY:
    return elements * cgx_element_bytes(element_type);
  case CGX_CODEC_LOWRANK: /* no payloads */
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
  case CGX_CODEC_GCOMP: /* a block that would be longer stays uncompressed */
    body_bytes = cgx_lossless_most_body_bytes(element_type, elements);
    break;
  case CGX_CODEC_EDEN:
    body_bytes = cgx_eden_body_bytes(codec, elements);
    break;
  }
  return cgx_payload_body_begin(codec) + body_bytes + (codec->checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0u);
}

/* Returns how many elements make a unit that no chunk boundary may divide. */
static inline uint64_t cgx_chunk_alignment(const cgx_codec *codec) {
  return codec->bucket > 1 ? codec->bucket : 1u;
}

/* Returns the first element of chunk `chunk` of `chunks`, for a tensor of `elements` elements; chunk k is
 * [begin(k), begin(k + 1)). Chunks differ by at most one alignment unit; trailing chunks may be empty. */
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
