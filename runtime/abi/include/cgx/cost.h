/*===-- cgx/cost.h - Seconds of a collective, as plain C ------------*- C -*-===
 *
 * Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===-----------------------------------------------------------------------===
 *
 * The cost model: the measurements of a machine by `cgx-bench calibrate`, and the time that a
 * collective takes according to them. The compiler chooses algorithms with it, cgx-bench simulates
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
  double latency_seconds;  /* time of an empty message, alone */
  double message_seconds;  /* time that each further message in flight adds */
  double bytes_per_second; /* in one direction while the other is used alike */
  /* Processor time of a rank for each byte it sends: copies, the kernel's part. It matters if ranks share
   * cores; 0 otherwise. */
  double busy_seconds_per_byte;
} cgx_link;

typedef struct cgx_machine {
  cgx_link link;                  /* inter-host link, shared by all ranks of a host */
  cgx_link inside;                /* intra-host link of each rank */
  uint64_t local;                 /* ranks per host */
  double reduce_bytes_per_second; /* rate of adding up uncompressed elements */
} cgx_machine;

/* Rates in bytes of uncompressed tensor per second, on every rank at once; 0 for a lossless codec. */
typedef struct cgx_codec_rates {
  double encode_bytes_per_second;
  double decode_bytes_per_second; /* or decode and add */
} cgx_codec_rates;

typedef struct cgx_costed_operand {
  cgx_codec codec;
  cgx_codec_rates rates;
  cgx_codec_rates inside_rates; /* rates of the schedule's intra-host codec */
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

/* Returns the time of two activities on pieces, which overlap except at the first and the last piece: the
 * longer one, and an eighth of the shorter. */
static inline double cgx_overlapped(double a, double b) { return cgx_larger(a, b) + (a < b ? a : b) / 8; }

/* Returns the least time of a byte in a chain of messages, each of which waits for the one before. */
static inline double cgx_byte_seconds(const cgx_link *link) {
  return cgx_larger(1 / link->bytes_per_second, link->busy_seconds_per_byte);
}

/* Returns the seconds of the messages of a pattern if they were empty: the turns of a step at once, steps one
 * after another. */
static inline double cgx_message_seconds(const cgx_link *link, const cgx_pattern *pattern) {
  double seconds = 0;
  uint32_t phase, turns;
  for (phase = 0; phase < 2; ++phase) {
    turns = cgx_turn_count(pattern, phase);
    if (turns != 0)
      seconds +=
          cgx_step_count(pattern, phase) * (link->latency_seconds + (turns - 1) * link->message_seconds);
  }
  return seconds;
}

/* Returns the number of chunks that the first position sends: to other hosts (`between`), of `host` ranks
 * each, or on its own host. */
static inline double cgx_sent_chunks(const cgx_pattern *pattern, uint32_t host, int between) {
  double chunks = 0;
  uint32_t phase, step, turn;
  cgx_transfer transfer;
  for (phase = 0; phase < 2; ++phase)
    for (step = 0; step < cgx_step_count(pattern, phase); ++step)
      for (turn = 0; turn < cgx_turn_count(pattern, phase); ++turn)
        if (cgx_transfer_of(pattern, phase, step, turn, /*position=*/0, /*sends=*/1, &transfer))
          chunks += (transfer.to >= host) == (between != 0) ? transfer.count : 0;
  return chunks;
}

/* Returns the slowest link between ranks of the group, of which `host` are on each host. */
static inline const cgx_link *cgx_link_of(const cgx_machine *machine, const cgx_pattern *pattern,
                                          uint32_t host) {
  return pattern->ranks > host ? &machine->link : &machine->inside;
}

/* An all-reduce whose seconds are wanted. */
typedef struct cgx_costed {
  const cgx_machine *machine;
  const cgx_schedule *schedule;
  const cgx_pattern *pattern;
  const cgx_pass *pass;   /* with the codecs of operands */
  const cgx_pass *inside; /* with that of the schedule, inside of hosts */
  uint32_t host;          /* ranks of the group on each host */
} cgx_costed;

/* A function cgx_NAME_seconds for each algorithm NAME of the table follows. */

/* Returns the seconds of a scatter-reduce-allgather. The ranks of a host share its link. */
static inline double cgx_scatter_reduce_allgather_seconds(const cgx_costed *costed) {
  const cgx_machine *machine = costed->machine;
  const cgx_pattern *pattern = costed->pattern;
  const cgx_pass *pass = costed->pass;
  const uint32_t host = costed->host;
  double chunk = pass->wire_bytes / pattern->ranks;
  double between =
      cgx_sent_chunks(pattern, host, /*between=*/1) * chunk * host / machine->link.bytes_per_second;
  double inside = cgx_sent_chunks(pattern, host, /*between=*/0) * chunk / machine->inside.bytes_per_second;
  double sending =
      cgx_sent_chunks(pattern, host, /*between=*/1) * chunk * machine->link.busy_seconds_per_byte;
  double compute = pass->encode * (1 + 1.0 / pattern->ranks) + pass->accumulate + pass->decode + sending;
  return cgx_message_seconds(cgx_link_of(machine, pattern, host), pattern) +
         cgx_overlapped(cgx_larger(between, inside), compute);
}

/* Returns the seconds of one shot: each rank sends its whole operand to all, then each adds up as many. */
static inline double cgx_one_shot_seconds(const cgx_costed *costed) {
  const cgx_machine *machine = costed->machine;
  const cgx_pattern *pattern = costed->pattern;
  const cgx_pass *pass = costed->pass;
  const uint32_t host = costed->host;
  double away = cgx_sent_chunks(pattern, host, /*between=*/1) * pass->wire_bytes;
  double between =
      away * cgx_larger(host / machine->link.bytes_per_second, machine->link.busy_seconds_per_byte);
  double inside =
      cgx_sent_chunks(pattern, host, /*between=*/0) * pass->wire_bytes / machine->inside.bytes_per_second;
  return cgx_message_seconds(cgx_link_of(machine, pattern, host), pattern) + cgx_larger(between, inside) +
         pass->encode + pattern->ranks * pass->accumulate;
}

static inline double cgx_auto_seconds(const cgx_costed *costed) {
  return cgx_scatter_reduce_allgather_seconds(costed);
}

/* Returns the seconds of a ring: every hop waits for the one before, and the slowest is one between hosts. */
static inline double cgx_ring_seconds(const cgx_costed *costed) {
  const cgx_machine *machine = costed->machine;
  const cgx_pattern *pattern = costed->pattern;
  const cgx_pass *pass = costed->pass;
  const uint32_t host = costed->host;
  const cgx_link *link = cgx_link_of(machine, pattern, host);
  double ranks = pattern->ranks, hops = cgx_step_count(pattern, 0) + cgx_step_count(pattern, 1);
  return cgx_message_seconds(link, pattern) + hops * (pass->wire_bytes / ranks * cgx_byte_seconds(link)) +
         pass->encode + (ranks - 1) / ranks * pass->accumulate + pass->decode;
}

/* Returns the seconds of a tree: going up, each level waits for the one below; going down, a rank's children
 * share its link. */
static inline double cgx_tree_seconds(const cgx_costed *costed) {
  const cgx_machine *machine = costed->machine;
  const cgx_pattern *pattern = costed->pattern;
  const cgx_pass *pass = costed->pass;
  const uint32_t host = costed->host;
  const cgx_link *link = cgx_link_of(machine, pattern, host);
  double up = cgx_step_count(pattern, 0), down = cgx_step_count(pattern, 1),
         send = pass->wire_bytes * cgx_byte_seconds(link);
  return cgx_message_seconds(link, pattern) + up * (send + pass->encode + pass->accumulate) +
         down * (down + 1) / 2 * send + pass->encode + pass->decode;
}

/* Of a step, both partners send as much; in the first levels they are on different hosts, and all ranks of a
 * host send at once. A rank that has no place among the first P waits for another one's whole operand, twice.
 */
static inline double cgx_halving_doubling_seconds(const cgx_costed *costed) {
  const cgx_machine *machine = costed->machine;
  const cgx_pattern *pattern = costed->pattern;
  const cgx_pass *pass = costed->pass;
  const uint32_t power = cgx_power_below(pattern->ranks), has_rest = power < pattern->ranks;
  double seconds = cgx_message_seconds(cgx_link_of(machine, pattern, costed->host), pattern), bytes;
  uint32_t distance;
  for (distance = power / 2; distance != 0; distance /= 2) {
    const int is_between = distance >= costed->host;
    const cgx_link *link = is_between ? &machine->link : &machine->inside;
    bytes = pass->wire_bytes * distance / power;
    seconds +=
        2 * bytes *
        cgx_larger((is_between ? costed->host : 1) / link->bytes_per_second, link->busy_seconds_per_byte);
  }
  if (has_rest)
    seconds += 2 * pass->wire_bytes * cgx_byte_seconds(cgx_link_of(machine, pattern, costed->host)) +
               pass->encode + pass->accumulate;
  return seconds + pass->encode + (power - 1.0) / power * pass->accumulate + pass->decode;
}

static inline double cgx_hierarchical_seconds(const cgx_costed *costed) {
  const cgx_machine *machine = costed->machine;
  const cgx_schedule *schedule = costed->schedule;
  const cgx_pass *pass = costed->pass, *inside = costed->inside;
  const uint32_t ranks = costed->pattern->ranks;
  const cgx_pattern owners = cgx_host_stage(schedule, ranks, 1);
  double chunks = schedule->leaders == CGX_LEADERS_ONE ? 1 : schedule->local, hosts = owners.ranks;
  double sent = cgx_sent_chunks(&owners, /*host=*/1, /*between=*/1) * pass->wire_bytes / hosts,
         transfer = sent / machine->link.bytes_per_second;
  double compute = (pass->encode * (1 + 1 / hosts) + pass->accumulate + pass->decode +
                    sent * machine->link.busy_seconds_per_byte) /
                   chunks,
         seconds = 0;
  uint32_t stage;
  for (stage = 0; stage < CGX_HOST_STAGES && schedule->local > 1; stage += 2) {
    const cgx_pattern host = cgx_host_stage(schedule, ranks, stage);
    seconds += cgx_message_seconds(&machine->inside, &host) +
               cgx_sent_chunks(&host, schedule->local, /*between=*/0) * inside->wire_bytes / chunks /
                   machine->inside.bytes_per_second;
  }
  if (schedule->local > 1)
    seconds += inside->encode + inside->accumulate + inside->encode / chunks + inside->decode;
  if (owners.ranks < 2)
    return seconds;
  return seconds + cgx_message_seconds(&machine->link, &owners) + cgx_overlapped(transfer, compute);
}

/* Returns the seconds that a core of a rank is busy for a pass; the rest of a collective is waiting. */
static inline double cgx_busy_seconds(const cgx_pass *pass) {
  return pass->encode + pass->accumulate + pass->decode;
}

/* Returns the seconds of a collective other than an all-reduce: one exchange in which the rank that sends
 * most sends `bytes`, and each rank processes the operands of `pass`, whose results a gather makes as long as
 * those of all ranks together. */
static inline double cgx_exchange_seconds(const cgx_machine *machine, const cgx_collective *collective,
                                          const cgx_pass *pass, double bytes) {
  const uint32_t ranks = collective->ranks;
  const uint32_t host = machine->local < ranks ? (uint32_t)machine->local : ranks;
  const cgx_pattern pattern = cgx_pattern_of(collective);
  const cgx_link *link = cgx_link_of(machine, &pattern, host);
  const double results = collective->kind == CGX_ALL_GATHER ? ranks : 1;
  if (ranks < 2)
    return 0;
  return cgx_message_seconds(link, &pattern) +
         bytes * cgx_larger(host / link->bytes_per_second, link->busy_seconds_per_byte) + pass->encode +
         (collective->kind == CGX_REDUCE_SCATTER ? pass->accumulate : pass->decode * results);
}

/* Returns the seconds of an all-reduce of `count` operands over `ranks` ranks, of which machine->local are on
 * each host. */
static inline double cgx_all_reduce_seconds(const cgx_machine *machine, const cgx_schedule *schedule,
                                            const cgx_costed_operand *operands, uint64_t count,
                                            uint32_t ranks) {
  const cgx_collective collective = {CGX_ALL_REDUCE, ranks, 0, *schedule, 0, 0};
  const cgx_collective factors = {CGX_ALL_REDUCE, ranks, 0, {0}, 0, 0};
  const cgx_pattern pattern = cgx_pattern_of(&collective), again = cgx_pattern_of(&factors);
  const uint32_t host = machine->local < ranks ? (uint32_t)machine->local : ranks;
  cgx_pass pass = {0, 0, 0, 0, 0}, inside = {0, 0, 0, 0, 0};
  cgx_costed costed;
  double seconds = 0;
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
  costed.machine = machine;
  costed.schedule = schedule;
  costed.pattern = &pattern;
  costed.pass = &pass;
  costed.inside = &inside;
  costed.host = host;
  switch (schedule->algorithm) {
#define CGX_ALGORITHM_SECONDS(ID, number, name, ...)                                                         \
  case number:                                                                                               \
    seconds = cgx_##name##_seconds(&costed);                                                                 \
    break;
    CGX_ALGORITHMS(CGX_ALGORITHM_SECONDS)
#undef CGX_ALGORITHM_SECONDS
  }
  if (pass.has_factors)
    seconds += cgx_message_seconds(cgx_link_of(machine, &again, host), &again);
  return seconds;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CGX_COST_H */
