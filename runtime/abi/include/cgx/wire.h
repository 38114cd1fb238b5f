/*===-- cgx/wire.h - Bytes that leave a rank, as plain C -----------*- C -*-===
 *
 * Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===-----------------------------------------------------------------------===
 *
 * The bytes that each collective sends, counted from its schedule. The compiler prints them before the
 * first step, and the tools compare them after the last with the transport's own count.
 * Only payload bytes count; a group of one rank sends nothing.
 *
 *===-----------------------------------------------------------------------===*/
#ifndef CGX_WIRE_H
#define CGX_WIRE_H

#include "cgx/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the elements of a piece. An all-reduce encodes, sends and decodes a chunk piece by piece, so
 * that the three overlap; the payload of a chunk consists of those of its pieces, one after the
 * other. Returns 0 for codecs that must see a chunk as a whole: the chunk is then one piece. */
#define CGX_PIECE_ELEMENTS 32768u
static inline uint64_t cgx_piece_elements(const cgx_codec *codec) {
  uint64_t alignment = cgx_chunk_alignment(codec);
  if (!cgx_codec_has(codec, CGX_IN_PIECES) || codec->levels == CGX_LEVELS_LEARNED) /* one table for all */
    return 0;
  return alignment < CGX_PIECE_ELEMENTS ? CGX_PIECE_ELEMENTS / alignment * alignment : alignment;
}

/* Returns the bytes of the payload of a chunk of `elements` elements. */
static inline uint64_t cgx_pieces_payload_bytes(const cgx_codec *codec, uint32_t element_type,
                                                uint64_t elements) {
  uint64_t piece = cgx_piece_elements(codec);
  if (piece == 0)
    return cgx_payload_bytes(codec, element_type, elements);
  return elements / piece * cgx_payload_bytes(codec, element_type, piece) +
         cgx_payload_bytes(codec, element_type, elements % piece);
}

/* Returns the bytes of the payload of chunk `chunk` of `chunks`. */
static inline uint64_t cgx_chunk_payload_bytes(const cgx_codec *codec, uint32_t element_type,
                                               uint64_t elements, uint64_t chunks, uint64_t chunk) {
  return cgx_pieces_payload_bytes(codec, element_type,
                                  cgx_chunk_begin(codec, elements, chunks, chunk + 1) -
                                      cgx_chunk_begin(codec, elements, chunks, chunk));
}

/* Returns the bytes of the payload of a chunk of a pattern, whose chunks begin at buckets of the codec `cut`.
 */
static inline uint64_t cgx_part_payload_bytes(const cgx_pattern *pattern, const cgx_codec *cut,
                                              const cgx_codec *codec, uint32_t element_type,
                                              uint64_t elements, uint64_t chunk) {
  const uint64_t part = cgx_part_elements(pattern, cut, elements, chunk);
  return pattern->in_pieces ? cgx_pieces_payload_bytes(codec, element_type, part)
                            : cgx_payload_bytes(codec, element_type, part);
}

/* Returns the bytes that a position sends by a pattern: contributions as payloads of the codec `there`,
 * results as payloads of `back`. Chunks begin at buckets of `there`. */
static inline uint64_t cgx_pattern_wire_bytes(const cgx_pattern *pattern, const cgx_codec *there,
                                              const cgx_codec *back, uint32_t element_type, uint64_t elements,
                                              uint32_t position) {
  uint64_t sent = 0;
  uint32_t phase, step, turn;
  for (phase = 0; phase < 2; ++phase)
    for (step = 0; step < cgx_step_count(pattern, phase); ++step)
      for (turn = 0; turn < cgx_turn_count(pattern, phase); ++turn) {
        cgx_transfer transfer;
        uint32_t i;
        if (cgx_transfer_of(pattern, phase, step, turn, position, /*sends=*/1, &transfer))
          for (i = 0; i < transfer.count; ++i)
            sent += cgx_part_payload_bytes(pattern, there, phase == 0 ? there : back, element_type, elements,
                                           transfer.chunk + i);
      }
  return sent;
}

/* Returns the bytes of a hierarchical algorithm, which uses the schedule's codec inside hosts unless operands
 * are uncompressed. */
static inline uint64_t cgx_hierarchical_wire_bytes(const cgx_schedule *schedule, const cgx_codec *there,
                                                   const cgx_codec *back, uint32_t element_type,
                                                   uint64_t elements, uint32_t ranks, uint32_t position) {
  const int is_exact = there->family == CGX_CODEC_IDENTITY && back->family == CGX_CODEC_IDENTITY;
  const cgx_codec *inside = is_exact ? there : &schedule->inside;
  const cgx_pattern host = cgx_host_stage(schedule, ranks, 0);
  const uint64_t own =
      cgx_part_elements(&host, inside, elements, cgx_position_in_stage(schedule, 0, position));
  uint64_t sent = 0;
  uint32_t stage;
  for (stage = 0; stage < CGX_HOST_STAGES; ++stage) {
    const cgx_pattern pattern = cgx_host_stage(schedule, ranks, stage);
    sent += cgx_pattern_wire_bytes(&pattern, stage == 1 ? there : inside, stage == 1 ? back : inside,
                                   element_type, stage == 1 ? own : elements,
                                   cgx_position_in_stage(schedule, stage, position));
  }
  return sent;
}

/* Returns the bytes that a position sends in a collective with codecs that have payloads. */
static inline uint64_t cgx_payload_wire_bytes(const cgx_collective *collective, const cgx_codec *there,
                                              const cgx_codec *back, uint32_t element_type, uint64_t elements,
                                              uint32_t position) {
  const cgx_pattern pattern = cgx_pattern_of(collective);
  if (collective->ranks < 2)
    return 0;
  if (collective->kind == CGX_ALL_REDUCE && cgx_algorithm_has_hosts(collective->schedule.algorithm))
    return cgx_hierarchical_wire_bytes(&collective->schedule, there, back, element_type, elements,
                                       collective->ranks, position);
  return cgx_pattern_wire_bytes(&pattern, there, back, element_type, elements, position);
}

/* Returns the bytes that a position sends in a collective with any codecs. For lowrank, which has no other
 * return codec, these are the bytes of the all-reduces of both factors. */
static inline uint64_t cgx_collective_wire_bytes(const cgx_collective *collective, const cgx_codec *there,
                                                 const cgx_codec *back, uint32_t element_type,
                                                 uint64_t elements, uint32_t position) {
  const cgx_codec exact = {0};
  if (cgx_codec_has_payloads(there))
    return cgx_payload_wire_bytes(collective, there, back, element_type, elements, position);
  if (there->rows == 0)
    return 0;
  return cgx_payload_wire_bytes(collective, &exact, &exact, CGX_F32, (uint64_t)there->rank * there->rows,
                                position) +
         cgx_payload_wire_bytes(collective, &exact, &exact, CGX_F32,
                                (uint64_t)there->rank * (elements / there->rows), position);
}

/* Returns the bytes of an all-reduce with one codec for contributions and results. */
static inline uint64_t cgx_scheduled_wire_bytes(const cgx_schedule *schedule, const cgx_codec *codec,
                                                uint32_t element_type, uint64_t elements, uint32_t ranks,
                                                uint32_t position) {
  const cgx_collective collective = {CGX_ALL_REDUCE, ranks, 0, *schedule, 0, 0};
  return cgx_collective_wire_bytes(&collective, codec, codec, element_type, elements, position);
}

/* Returns the bytes of an all-reduce by the algorithm that the runtime uses if none was chosen. */
static inline uint64_t cgx_all_reduce_wire_bytes(const cgx_codec *codec, uint32_t element_type,
                                                 uint64_t elements, uint32_t ranks, uint32_t position) {
  const cgx_schedule schedule = {0};
  return cgx_scheduled_wire_bytes(&schedule, codec, element_type, elements, ranks, position);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CGX_WIRE_H */
