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

/* Bytes of the payload of chunk `chunk` of `chunks`. */
static inline uint64_t cgx_chunk_payload_bytes(const cgx_codec *codec, uint32_t element_type,
                                               uint64_t elements, uint64_t chunks, uint64_t chunk) {
  return cgx_payload_bytes(codec, element_type,
                           cgx_chunk_begin(codec, elements, chunks, chunk + 1) -
                               cgx_chunk_begin(codec, elements, chunks, chunk));
}

/* Scatter-reduce-allgather over `ranks` ranks: rank `position` of the group sends each
 * other rank that rank's chunk, and then its own reduced chunk to each of them. */
static inline uint64_t cgx_all_reduce_wire_bytes(const cgx_codec *codec, uint32_t element_type,
                                                 uint64_t elements, uint64_t ranks, uint64_t position) {
  uint64_t chunk, sent = 0;
  if (ranks < 2)
    return 0;
  for (chunk = 0; chunk < ranks; ++chunk) {
    uint64_t payload = cgx_chunk_payload_bytes(codec, element_type, elements, ranks, chunk);
    sent += chunk == position ? payload * (ranks - 1) : payload;
  }
  return sent;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CGX_WIRE_H */
