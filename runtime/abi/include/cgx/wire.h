/*===-- cgx/wire.h - Bytes that leave a rank, as plain C -----------*- C -*-===
 *
 * Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===-----------------------------------------------------------------------===
 *
 * What each algorithm sends, in closed form. The compiler prints it before the
 * first step, the tools compare it after the last with what the transport
 * counted. Only payload bytes count; a group of one rank sends nothing.
 *
 *===-----------------------------------------------------------------------===*/
#ifndef CGX_WIRE_H
#define CGX_WIRE_H

#include "cgx/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements of a piece. An all-reduce encodes, sends and decodes a chunk piece by piece, so
 * that the three overlap; the payload of a chunk is those of its pieces, one behind the
 * other. 0 for codecs that must see a chunk as a whole: a piece is then the chunk. */
#define CGX_PIECE_ELEMENTS 32768u
static inline uint64_t cgx_piece_elements(const cgx_codec *codec) {
  uint64_t alignment = cgx_chunk_alignment(codec);
  switch (codec->family) {
  case CGX_CODEC_QUANTIZE:
    if (codec->levels == CGX_LEVELS_LEARNED) /* one table for all */
      return 0;
    break;
  case CGX_CODEC_TERNARY:
  case CGX_CODEC_SIGN:
  case CGX_CODEC_NATURAL:
  case CGX_CODEC_CAST:
    break;
  default:
    return 0;
  }
  return alignment < CGX_PIECE_ELEMENTS ? CGX_PIECE_ELEMENTS / alignment * alignment : alignment;
}

/* Bytes of the payload of a chunk of `elements` elements. */
static inline uint64_t cgx_pieces_payload_bytes(const cgx_codec *codec, uint32_t element_type,
                                                uint64_t elements) {
  uint64_t piece = cgx_piece_elements(codec);
  if (piece == 0)
    return cgx_payload_bytes(codec, element_type, elements);
  return elements / piece * cgx_payload_bytes(codec, element_type, piece) +
         cgx_payload_bytes(codec, element_type, elements % piece);
}

/* Bytes of the payload of chunk `chunk` of `chunks`. */
static inline uint64_t cgx_chunk_payload_bytes(const cgx_codec *codec, uint32_t element_type,
                                               uint64_t elements, uint64_t chunks, uint64_t chunk) {
  return cgx_pieces_payload_bytes(codec, element_type,
                                  cgx_chunk_begin(codec, elements, chunks, chunk + 1) -
                                      cgx_chunk_begin(codec, elements, chunks, chunk));
}

/* Scatter-reduce-allgather over `ranks` ranks: rank `position` of the group sends each other rank
 * that rank's chunk in a payload of the codec `there`, and then its own reduced chunk, in one of `back`, to
 * each of them. Chunks are cut as for `there`. */
static inline uint64_t cgx_payload_all_reduce_wire_bytes(const cgx_codec *there, const cgx_codec *back,
                                                         uint32_t element_type, uint64_t elements,
                                                         uint64_t ranks, uint64_t position) {
  uint64_t chunk, sent = 0;
  if (ranks < 2)
    return 0;
  for (chunk = 0; chunk < ranks; ++chunk) {
    uint64_t count =
        cgx_chunk_begin(there, elements, ranks, chunk + 1) - cgx_chunk_begin(there, elements, ranks, chunk);
    sent += chunk == position ? cgx_pieces_payload_bytes(back, element_type, count) * (ranks - 1)
                              : cgx_pieces_payload_bytes(there, element_type, count);
  }
  return sent;
}

/* The same with any codecs: of lowrank, which has no other way back, the bytes of the all-reduces of both
 * factors. */
static inline uint64_t cgx_two_way_wire_bytes(const cgx_codec *there, const cgx_codec *back,
                                              uint32_t element_type, uint64_t elements, uint64_t ranks,
                                              uint64_t position) {
  const cgx_codec exact = {0};
  if (cgx_codec_has_payloads(there))
    return cgx_payload_all_reduce_wire_bytes(there, back, element_type, elements, ranks, position);
  if (there->rows == 0)
    return 0;
  return cgx_payload_all_reduce_wire_bytes(&exact, &exact, CGX_F32, (uint64_t)there->rank * there->rows,
                                           ranks, position) +
         cgx_payload_all_reduce_wire_bytes(&exact, &exact, CGX_F32,
                                           (uint64_t)there->rank * (elements / there->rows), ranks, position);
}

/* The same with one codec both ways. */
static inline uint64_t cgx_all_reduce_wire_bytes(const cgx_codec *codec, uint32_t element_type,
                                                 uint64_t elements, uint64_t ranks, uint64_t position) {
  return cgx_two_way_wire_bytes(codec, codec, element_type, elements, ranks, position);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CGX_WIRE_H */
