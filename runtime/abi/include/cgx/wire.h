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
  if (!cgx_codec_has(codec, CGX_IN_PIECES) || codec->levels == CGX_LEVELS_LEARNED) /* one table for all */
    return 0;
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

/* Which messages an all-reduce is made of. */
typedef enum cgx_algorithm {
  CGX_ALGORITHM_AUTO = 0, /* undecided: the runtime takes the next one */
  CGX_ALGORITHM_SCATTER_REDUCE_ALLGATHER = 1,
  CGX_ALGORITHM_RING = 2,
  CGX_ALGORITHM_TREE = 3,
  CGX_ALGORITHM_HIERARCHICAL = 4
} cgx_algorithm;
#define CGX_ALGORITHM_COUNT 5

/* Which ranks of a host talk to other hosts. */
typedef enum cgx_leaders {
  CGX_LEADERS_ALL = 0, /* each for its own chunk */
  CGX_LEADERS_ONE = 1  /* the first of each host, for the whole tensor */
} cgx_leaders;

/* An algorithm and its parameters, which are those of `hierarchical` only. */
typedef struct cgx_schedule {
  uint32_t algorithm; /* cgx_algorithm */
  uint32_t local;     /* consecutive positions of a group that are one host */
  uint32_t leaders;   /* cgx_leaders */
  cgx_codec inside;   /* between ranks of a host, for operands whose codec is not exact */
} cgx_schedule;

/* A ring: every chunk but its own goes one step towards its owner from each rank, and then
 * every result but that of the rank after it one step further. */
static inline uint64_t cgx_ring_wire_bytes(const cgx_codec *there, const cgx_codec *back,
                                           uint32_t element_type, uint64_t elements, uint64_t ranks,
                                           uint64_t position) {
  uint64_t chunk, sent = 0, next = position + 1 == ranks ? 0 : position + 1;
  if (ranks < 2)
    return 0;
  for (chunk = 0; chunk < ranks; ++chunk) {
    uint64_t count =
        cgx_chunk_begin(there, elements, ranks, chunk + 1) - cgx_chunk_begin(there, elements, ranks, chunk);
    if (chunk != position)
      sent += cgx_pieces_payload_bytes(there, element_type, count);
    if (chunk != next)
      sent += cgx_pieces_payload_bytes(back, element_type, count);
  }
  return sent;
}

/* Positions whose parent in a binomial tree over `ranks` positions is `position`: those that are
 * a power of two further, up to the lowest bit of `position`. */
static inline uint64_t cgx_tree_children(uint64_t ranks, uint64_t position) {
  uint64_t distance, children = 0;
  for (distance = 1; position + distance < ranks && (position & distance) == 0; distance *= 2)
    ++children;
  return children;
}

/* A tree: each position but the first sends its parent one payload, and then each child one. */
static inline uint64_t cgx_tree_wire_bytes(const cgx_codec *there, const cgx_codec *back,
                                           uint32_t element_type, uint64_t elements, uint64_t ranks,
                                           uint64_t position) {
  return (position != 0) * cgx_pieces_payload_bytes(there, element_type, elements) +
         cgx_tree_children(ranks, position) * cgx_pieces_payload_bytes(back, element_type, elements);
}

/* Elements of the chunk that a rank of a host owns: its share, or with one leader all or none. */
static inline uint64_t cgx_host_chunk_elements(const cgx_schedule *schedule, const cgx_codec *inside,
                                               uint64_t elements, uint64_t chunk) {
  if (schedule->leaders == CGX_LEADERS_ONE)
    return chunk == 0 ? elements : 0;
  return cgx_chunk_begin(inside, elements, schedule->local, chunk + 1) -
         cgx_chunk_begin(inside, elements, schedule->local, chunk);
}

/* Hierarchical: scatter-reduce inside of the host, all-reduce of the own chunk between hosts,
 * all-gather inside. */
static inline uint64_t cgx_hierarchical_wire_bytes(const cgx_schedule *schedule, const cgx_codec *there,
                                                   const cgx_codec *back, uint32_t element_type,
                                                   uint64_t elements, uint64_t ranks, uint64_t position) {
  int is_exact = there->family == CGX_CODEC_IDENTITY && back->family == CGX_CODEC_IDENTITY;
  cgx_codec inside = is_exact ? *there : schedule->inside;
  uint64_t chunk, sent = 0, own = position % schedule->local;
  for (chunk = 0; chunk < schedule->local; ++chunk) {
    uint64_t payload = cgx_pieces_payload_bytes(&inside, element_type,
                                                cgx_host_chunk_elements(schedule, &inside, elements, chunk));
    sent += chunk == own ? payload * (schedule->local - 1) : payload;
  }
  return sent + cgx_payload_all_reduce_wire_bytes(there, back, element_type,
                                                  cgx_host_chunk_elements(schedule, &inside, elements, own),
                                                  ranks / schedule->local, position / schedule->local);
}

/* An all-reduce of payloads by any algorithm. */
static inline uint64_t cgx_scheduled_payload_wire_bytes(const cgx_schedule *schedule, const cgx_codec *there,
                                                        const cgx_codec *back, uint32_t element_type,
                                                        uint64_t elements, uint64_t ranks,
                                                        uint64_t position) {
  if (ranks < 2)
    return 0;
  switch (schedule->algorithm) {
  case CGX_ALGORITHM_RING:
    return cgx_ring_wire_bytes(there, back, element_type, elements, ranks, position);
  case CGX_ALGORITHM_TREE:
    return cgx_tree_wire_bytes(there, back, element_type, elements, ranks, position);
  case CGX_ALGORITHM_HIERARCHICAL:
    return cgx_hierarchical_wire_bytes(schedule, there, back, element_type, elements, ranks, position);
  default:
    return cgx_payload_all_reduce_wire_bytes(there, back, element_type, elements, ranks, position);
  }
}

/* The same with any codecs: of lowrank, which has no other way back, the bytes of the all-reduces of both
 * factors. */
static inline uint64_t cgx_scheduled_two_way_wire_bytes(const cgx_schedule *schedule, const cgx_codec *there,
                                                        const cgx_codec *back, uint32_t element_type,
                                                        uint64_t elements, uint64_t ranks,
                                                        uint64_t position) {
  const cgx_codec exact = {0};
  if (cgx_codec_has_payloads(there))
    return cgx_scheduled_payload_wire_bytes(schedule, there, back, element_type, elements, ranks, position);
  if (there->rows == 0)
    return 0;
  return cgx_scheduled_payload_wire_bytes(schedule, &exact, &exact, CGX_F32,
                                          (uint64_t)there->rank * there->rows, ranks, position) +
         cgx_scheduled_payload_wire_bytes(schedule, &exact, &exact, CGX_F32,
                                          (uint64_t)there->rank * (elements / there->rows), ranks, position);
}

/* The same with one codec both ways. */
static inline uint64_t cgx_scheduled_wire_bytes(const cgx_schedule *schedule, const cgx_codec *codec,
                                                uint32_t element_type, uint64_t elements, uint64_t ranks,
                                                uint64_t position) {
  return cgx_scheduled_two_way_wire_bytes(schedule, codec, codec, element_type, elements, ranks, position);
}

/* The same by the algorithm that the runtime takes where none was chosen. */
static inline uint64_t cgx_two_way_wire_bytes(const cgx_codec *there, const cgx_codec *back,
                                              uint32_t element_type, uint64_t elements, uint64_t ranks,
                                              uint64_t position) {
  const cgx_schedule schedule = {0};
  return cgx_scheduled_two_way_wire_bytes(&schedule, there, back, element_type, elements, ranks, position);
}
static inline uint64_t cgx_all_reduce_wire_bytes(const cgx_codec *codec, uint32_t element_type,
                                                 uint64_t elements, uint64_t ranks, uint64_t position) {
  return cgx_two_way_wire_bytes(codec, codec, element_type, elements, ranks, position);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CGX_WIRE_H */
