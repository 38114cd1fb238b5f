/*===-- cgx/cost.h - Seconds of an all-reduce, as plain C ----------*- C -*-===
 *
 * Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===-----------------------------------------------------------------------===
 *
 * The cost model: what `cgx-bench calibrate` measured of a machine, and how long an
 * all-reduce takes by it. The compiler chooses algorithms with it, cgx-bench simulates
 * other rank counts. It is as exact as its parts: latency and bandwidth of a link that
 * nobody else uses, and memory rates of ranks that all work at once.
 *
 *===-----------------------------------------------------------------------===*/
#ifndef CGX_COST_H
#define CGX_COST_H

#include "cgx/wire.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cgx_link {
  double latency_seconds;  /* of a message of no length, alone */
  double message_seconds;  /* that each further message in flight adds */
  double bytes_per_second; /* in one direction while the other is used alike */
} cgx_link;

typedef struct cgx_machine {
  cgx_link link;                  /* between hosts, of all ranks of a host together */
  cgx_link inside;                /* between ranks of a host, of each rank */
  uint64_t local;                 /* ranks per host */
  double reduce_bytes_per_second; /* of adding up elements as they are */
} cgx_machine;

/* Bytes of uncompressed tensor a second, on every rank at once; 0 for an exact codec. */
typedef struct cgx_codec_rates {
  double encode_bytes_per_second;
  double decode_bytes_per_second; /* or decode and add */
} cgx_codec_rates;

typedef struct cgx_costed_operand {
  cgx_codec codec;
  cgx_codec_rates rates;
  cgx_codec_rates inside_rates; /* of the schedule's codec inside of hosts */
  uint32_t element_type;
  uint64_t elements;
} cgx_costed_operand;

/* One pass over all operands: bytes of payloads, seconds of encoding, adding up, decoding. */
typedef struct cgx_pass {
  double wire_bytes, encode, accumulate, decode;
  int has_factors; /* lowrank: two all-reduces, one after the other */
} cgx_pass;

static inline void cgx_add_to_pass(cgx_pass *pass, const cgx_machine *machine, const cgx_codec *codec,
                                   const cgx_codec_rates *rates, uint32_t element_type, double elements) {
  double raw = elements * (double)cgx_element_bytes(element_type);
  if (codec->family == CGX_CODEC_IDENTITY) {
    pass->wire_bytes += raw;
    pass->accumulate += raw / machine->reduce_bytes_per_second;
    return;
  }
  if (!cgx_codec_has_payloads(codec)) {
    pass->has_factors = 1;
    if (codec->rows != 0)
      pass->wire_bytes += 4.0 * codec->rank * ((double)codec->rows + elements / (double)codec->rows);
  } else {
    pass->wire_bytes += (double)cgx_pieces_payload_bytes(codec, element_type, (uint64_t)elements);
  }
  pass->encode += raw / rates->encode_bytes_per_second;
  pass->accumulate += raw / rates->decode_bytes_per_second;
  pass->decode += raw / rates->decode_bytes_per_second;
}

static inline double cgx_larger(double a, double b) { return a > b ? a : b; }

/* What is cut into pieces overlaps but for its first and its last: an eighth of the shorter. */
static inline double cgx_overlapped(double a, double b) { return cgx_larger(a, b) + (a < b ? a : b) / 8; }

static inline uint64_t cgx_tree_depth(uint64_t ranks) {
  uint64_t depth = 0;
  while ((1ull << depth) < ranks)
    ++depth;
  return depth;
}

/* Messages that a rank exchanges with all others of a group at once. */
static inline double cgx_fan_seconds(const cgx_link *link, double ranks) {
  return ranks < 2 ? 0 : link->latency_seconds + (ranks - 2) * link->message_seconds;
}

/* `host` of the ranks are on each host, and share its link. */
static inline double cgx_scatter_seconds(const cgx_machine *machine, const cgx_pass *pass, double ranks,
                                         double host) {
  double others = 2 * pass->wire_bytes / ranks;
  double between = ranks > host ? others * host * (ranks - host) / machine->link.bytes_per_second : 0;
  double inside = others * (host - 1) / machine->inside.bytes_per_second;
  double compute = pass->encode * (1 + 1 / ranks) + pass->accumulate + pass->decode;
  const cgx_link *link = ranks > host ? &machine->link : &machine->inside;
  return 2 * cgx_fan_seconds(link, ranks) + cgx_overlapped(cgx_larger(between, inside), compute);
}

static inline double cgx_ring_seconds(const cgx_machine *machine, const cgx_pass *pass, double ranks,
                                      double host) {
  const cgx_link *link = ranks > host ? &machine->link : &machine->inside;
  double hop = link->latency_seconds + pass->wire_bytes / ranks / link->bytes_per_second;
  return 2 * (ranks - 1) * hop + pass->encode + (ranks - 1) / ranks * pass->accumulate + pass->decode;
}

/* Up, each level waits for the one below. Down, a rank's children share its link. */
static inline double cgx_tree_seconds(const cgx_machine *machine, const cgx_pass *pass, double ranks,
                                      double host) {
  const cgx_link *link = ranks > host ? &machine->link : &machine->inside;
  double depth = (double)cgx_tree_depth((uint64_t)ranks), send = pass->wire_bytes / link->bytes_per_second;
  return depth * (2 * link->latency_seconds + send + pass->encode + pass->accumulate) +
         depth * (depth + 1) / 2 * send + pass->encode + pass->decode;
}

static inline double cgx_hierarchical_seconds(const cgx_machine *machine, const cgx_schedule *schedule,
                                              const cgx_pass *pass, const cgx_pass *inside, double ranks) {
  double local = schedule->local, hosts = ranks / local;
  double owners = schedule->leaders == CGX_LEADERS_ONE ? 1 : local;
  double others = inside->wire_bytes * (local - 1) / owners / machine->inside.bytes_per_second;
  double transfer = 2 * pass->wire_bytes * (hosts - 1) / hosts / machine->link.bytes_per_second;
  double compute = (pass->encode * (1 + 1 / hosts) + pass->accumulate + pass->decode) / owners;
  double seconds = local < 2 ? 0
                             : 2 * (cgx_fan_seconds(&machine->inside, local) + others) + inside->encode +
                                   inside->accumulate + inside->encode / owners + inside->decode;
  if (hosts < 2)
    return seconds;
  return seconds + 2 * cgx_fan_seconds(&machine->link, hosts) + cgx_overlapped(transfer, compute);
}

/* Seconds of an all-reduce of `count` operands over `ranks` ranks, of which machine->local are on
 * each host. */
static inline double cgx_all_reduce_seconds(const cgx_machine *machine, const cgx_schedule *schedule,
                                            const cgx_costed_operand *operands, uint64_t count,
                                            uint64_t ranks) {
  cgx_pass pass = {0, 0, 0, 0, 0}, inside = {0, 0, 0, 0, 0};
  double host = (double)(machine->local < ranks ? machine->local : ranks), seconds;
  uint64_t i;
  if (ranks < 2)
    return 0;
  for (i = 0; i < count; ++i) {
    const cgx_costed_operand *operand = &operands[i];
    int is_exact = operand->codec.family == CGX_CODEC_IDENTITY || !cgx_codec_has_payloads(&operand->codec);
    cgx_add_to_pass(&pass, machine, &operand->codec, &operand->rates, operand->element_type,
                    (double)operand->elements);
    cgx_add_to_pass(&inside, machine, is_exact ? &operand->codec : &schedule->inside, &operand->inside_rates,
                    operand->element_type, (double)operand->elements);
  }
  switch (schedule->algorithm) {
  case CGX_ALGORITHM_RING:
    seconds = cgx_ring_seconds(machine, &pass, (double)ranks, host);
    break;
  case CGX_ALGORITHM_TREE:
    seconds = cgx_tree_seconds(machine, &pass, (double)ranks, host);
    break;
  case CGX_ALGORITHM_HIERARCHICAL:
    seconds = cgx_hierarchical_seconds(machine, schedule, &pass, &inside, (double)ranks);
    break;
  default:
    seconds = cgx_scatter_seconds(machine, &pass, (double)ranks, host);
  }
  return seconds +
         pass.has_factors * 2 *
             cgx_fan_seconds(ranks > (uint64_t)host ? &machine->link : &machine->inside, (double)ranks);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CGX_COST_H */
