/*===-- cgx/schedule.h - Who sends what to whom, and when, as plain C --*- C -*-===
 *
 * Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===-----------------------------------------------------------------------===
 *
 * The schedule of every collective and algorithm, once. The runtime sends by it, on the host and on GPUs; the
 * compiler's report, the cost model and the simulator count it (cgx/wire.h, cgx/cost.h).
 *
 * A group cuts an operand into chunks, of which position c owns chunk c. Then two phases:
 *
 *   contributions   go to the owners of chunks, step by step; what came in one step may be a part of what
 *                   leaves in the next
 *   results         go from the owners to all, unchanged, and over others if there are several steps
 *
 * A collective has one of them or both. A pattern says of each phase which transfers it is made of; a step is
 * a number of turns, in each of which a position sends at most once and receives at most once.
 *
 *===-----------------------------------------------------------------------===*/
#ifndef CGX_SCHEDULE_H
#define CGX_SCHEDULE_H

#include "cgx/algorithm_table.h"
#include "cgx/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By number. `permute` names ranks: its group is all of them. */
typedef enum cgx_collective_kind {
  CGX_ALL_REDUCE = 0,
  CGX_ALL_GATHER = 1,
  CGX_REDUCE_SCATTER = 2,
  CGX_ALL_TO_ALL = 3,
  CGX_BROADCAST = 4,
  CGX_PERMUTE = 5
} cgx_collective_kind;
#define CGX_COLLECTIVE_KIND_COUNT 6

/* The algorithms of an all-reduce, by number (cgx/algorithm_table.h). */
typedef enum cgx_algorithm {
#define CGX_ALGORITHM_ENUMERATOR(ID, number, ...) CGX_ALGORITHM_##ID = number,
  CGX_ALGORITHMS(CGX_ALGORITHM_ENUMERATOR)
#undef CGX_ALGORITHM_ENUMERATOR
} cgx_algorithm;

/* The number of algorithms: one more than the largest of theirs. */
enum {
#define CGX_ALGORITHM_ONE(...) +1
  CGX_ALGORITHM_COUNT = CGX_ALGORITHMS(CGX_ALGORITHM_ONE)
#undef CGX_ALGORITHM_ONE
};

/* Returns the name of an algorithm; "" of a number that is none. */
static inline const char *cgx_algorithm_name(uint32_t algorithm) {
  switch (algorithm) {
#define CGX_ALGORITHM_NAME(ID, number, name, ...)                                                            \
  case number:                                                                                               \
    return #name;
    CGX_ALGORITHMS(CGX_ALGORITHM_NAME)
#undef CGX_ALGORITHM_NAME
  default:
    return "";
  }
}

/* Whether an all-reduce of exact operands, of `bytes` bytes together, should be one shot where nobody has
 * measured the link: it has the bits of scatter-reduce-allgather and waits for one message instead of two.
 * What it sends more takes half a millisecond at 100 Mbit, at most, about as long as messages do of ranks
 * that share processors. */
#define CGX_ONE_SHOT_MOST_RANKS 32u
#define CGX_ONE_SHOT_MOST_BYTES 32768u
#define CGX_ONE_SHOT_MOST_EXTRA_BYTES 6144u
static inline int cgx_is_for_one_shot(uint32_t ranks, uint64_t bytes) {
  return ranks >= 2 && ranks <= CGX_ONE_SHOT_MOST_RANKS && bytes <= CGX_ONE_SHOT_MOST_BYTES &&
         bytes * (ranks - 1) * (ranks - 2) <= (uint64_t)CGX_ONE_SHOT_MOST_EXTRA_BYTES * ranks;
}

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

/* A rank whose tensor another rank gets. */
typedef struct cgx_pair {
  uint32_t source, target;
} cgx_pair;

/* A collective, as one of its groups sees it. */
typedef struct cgx_collective {
  uint32_t kind;         /* cgx_collective_kind */
  uint32_t ranks;        /* of the group */
  uint32_t root;         /* of a broadcast: a position */
  cgx_schedule schedule; /* of an all-reduce */
  const cgx_pair *pairs; /* of a permutation */
  uint64_t pair_count;
} cgx_collective;

/* Who runs an algorithm, on the host and on GPUs alike (cgx/algorithm_table.h). */
typedef enum cgx_executor {
  CGX_EXECUTE_SCATTER = 0,
  CGX_EXECUTE_STEPWISE = 1,
  CGX_EXECUTE_HOSTS = 2,
  CGX_EXECUTE_COPIES = 3
} cgx_executor;
static inline uint32_t cgx_executor_of(uint32_t algorithm) {
  switch (algorithm) {
#define CGX_ALGORITHM_EXECUTOR(ID, number, name, contributions, results, cut, executor)                      \
  case number:                                                                                               \
    return CGX_EXECUTE_##executor;
    CGX_ALGORITHMS(CGX_ALGORITHM_EXECUTOR)
#undef CGX_ALGORITHM_EXECUTOR
  default:
    return CGX_EXECUTE_SCATTER;
  }
}

/* Whether an algorithm has the parameters local, leaders and inside. */
static inline int cgx_algorithm_has_hosts(uint32_t algorithm) {
  return cgx_executor_of(algorithm) == CGX_EXECUTE_HOSTS;
}

/* The transfers of a phase. */
typedef enum cgx_movement {
  CGX_MOVE_NONE = 0,
  CGX_MOVE_ALL = 1,   /* everybody to everybody, at once: to the owner of a chunk, or from it */
  CGX_MOVE_RING = 2,  /* each to the next: chunks towards their owners, then results onwards */
  CGX_MOVE_TREE = 3,  /* up a binomial tree to position 0, level by level, or down */
  CGX_MOVE_ROOT = 4,  /* from one to all */
  CGX_MOVE_PAIRS = 5, /* from each source to its target */
  /* Between the first P positions, the largest power of two: contributions to the partner at distance P/2,
   * P/4, ..., 1, of all chunks that are nearer to it; results back the same way. Each position from P on
   * gives all it has to the one P below it before that, and gets all results from it behind it. */
  CGX_MOVE_HALVES = 6
} cgx_movement;

/* How operands are cut into chunks. */
typedef enum cgx_cut {
  CGX_CUT_CHUNKS = 0, /* between buckets of the codec, one for each position */
  CGX_CUT_ONE = 1,    /* the chunk of one owner is all of it */
  CGX_CUT_SLICES = 2, /* one of equal size for each position */
  CGX_CUT_NONE = 3,   /* each position has a tensor of its own: its chunk */
  CGX_CUT_COPIES = 4, /* all of it, for each position: who owns a chunk reduces it for itself */
  CGX_CUT_POWER =
      5 /* as CGX_CUT_CHUNKS for the first P positions, the largest power of two; none for others */
} cgx_cut;

typedef struct cgx_pattern {
  uint32_t movement[2]; /* cgx_movement, of contributions and results */
  uint32_t cut;         /* cgx_cut */
  uint32_t ranks;
  uint32_t
      owner; /* with CGX_CUT_ONE: of what everybody gets; of a permutation 0, whose number is the chunk's */
  uint32_t in_pieces; /* whether the payload of a chunk is several (cgx/wire.h) */
  const cgx_pair *pairs;
  uint64_t pair_count;
} cgx_pattern;

/* What one position sends another: `count` chunks, of which the first is `chunk`. */
typedef struct cgx_transfer {
  uint32_t from, to, chunk, count;
} cgx_transfer;

/* The pattern of a collective; of a hierarchical all-reduce, which has three (cgx_host_stage), that of
 * scatter-reduce-allgather. */
static inline cgx_pattern cgx_pattern_of(const cgx_collective *collective) {
  cgx_pattern pattern = {{CGX_MOVE_ALL, CGX_MOVE_ALL}, CGX_CUT_CHUNKS, 0, 0, 0, 0, 0};
  pattern.ranks = collective->ranks;
  switch (collective->kind) {
  case CGX_ALL_REDUCE:
    pattern.in_pieces = 1;
    switch (collective->schedule.algorithm) {
#define CGX_ALGORITHM_PATTERN(ID, number, name, contributions, results, how, executor)                       \
  case number:                                                                                               \
    pattern.movement[0] = CGX_MOVE_##contributions;                                                          \
    pattern.movement[1] = CGX_MOVE_##results;                                                                \
    pattern.cut = CGX_CUT_##how;                                                                             \
    break;
      CGX_ALGORITHMS(CGX_ALGORITHM_PATTERN)
#undef CGX_ALGORITHM_PATTERN
    }
    break;
  case CGX_ALL_GATHER:
    pattern.movement[0] = CGX_MOVE_NONE;
    pattern.cut = CGX_CUT_NONE;
    break;
  case CGX_REDUCE_SCATTER:
  case CGX_ALL_TO_ALL:
    pattern.movement[1] = CGX_MOVE_NONE;
    pattern.cut = CGX_CUT_SLICES;
    break;
  case CGX_BROADCAST:
    pattern.movement[0] = CGX_MOVE_NONE;
    pattern.movement[1] = CGX_MOVE_ROOT;
    pattern.cut = CGX_CUT_ONE;
    pattern.owner = collective->root;
    break;
  default:
    pattern.movement[0] = CGX_MOVE_PAIRS;
    pattern.movement[1] = CGX_MOVE_NONE;
    pattern.cut = CGX_CUT_ONE;
    pattern.pairs = collective->pairs;
    pattern.pair_count = collective->pair_count;
  }
  return pattern;
}

/* Returns whether a rank may send another one several chunks at once. */
static inline int cgx_sends_several_chunks(const cgx_pattern *pattern) {
  return pattern->movement[0] == CGX_MOVE_HALVES || pattern->movement[1] == CGX_MOVE_HALVES;
}

/* Returns whether an algorithm has a second phase, whose payloads may have another codec. */
static inline int cgx_algorithm_sends_results(uint32_t algorithm) {
  const cgx_collective collective = {CGX_ALL_REDUCE, 1, 0, {algorithm}, 0, 0};
  return cgx_pattern_of(&collective).movement[1] != CGX_MOVE_NONE;
}

/* A hierarchical all-reduce is the first half of a scatter-reduce-allgather inside of each host, an
 * all-reduce of each chunk between its owners on all hosts, and the second half. */
#define CGX_HOST_STAGES 3
static inline cgx_pattern cgx_host_stage(const cgx_schedule *schedule, uint32_t ranks, uint32_t stage) {
  cgx_pattern pattern = {{CGX_MOVE_ALL, CGX_MOVE_ALL}, CGX_CUT_CHUNKS, 0, 0, 1, 0, 0};
  if (stage == 1) {
    pattern.ranks = ranks / schedule->local;
    return pattern;
  }
  pattern.ranks = schedule->local;
  pattern.movement[stage == 0 ? 1 : 0] = CGX_MOVE_NONE;
  if (schedule->leaders == CGX_LEADERS_ONE)
    pattern.cut = CGX_CUT_ONE;
  return pattern;
}

/* Where a position of the group stands in the group of a stage, and which position stands at `member` there.
 */
static inline uint32_t cgx_position_in_stage(const cgx_schedule *schedule, uint32_t stage,
                                             uint32_t position) {
  return stage == 1 ? position / schedule->local : position % schedule->local;
}
static inline uint32_t cgx_member_of_stage(const cgx_schedule *schedule, uint32_t stage, uint32_t position,
                                           uint32_t member) {
  return stage == 1 ? member * schedule->local + position % schedule->local
                    : position / schedule->local * schedule->local + member;
}

/* The largest power of two that is at most `ranks`, which is at least 1. */
static inline uint32_t cgx_power_below(uint32_t ranks) {
  uint32_t power = 1;
  while (power <= ranks / 2)
    power *= 2;
  return power;
}

/* First element of a chunk of a tensor of `elements` elements, which is cut for `codec`. */
static inline uint64_t cgx_part_begin(const cgx_pattern *pattern, const cgx_codec *codec, uint64_t elements,
                                      uint64_t chunk) {
  switch (pattern->cut) {
  case CGX_CUT_CHUNKS:
    return cgx_chunk_begin(codec, elements, pattern->ranks, chunk);
  case CGX_CUT_ONE:
    return chunk <= pattern->owner ? 0 : elements;
  case CGX_CUT_SLICES:
    return elements / pattern->ranks * chunk;
  case CGX_CUT_COPIES:
    return 0;
  case CGX_CUT_POWER:
    return chunk < cgx_power_below(pattern->ranks)
               ? cgx_chunk_begin(codec, elements, cgx_power_below(pattern->ranks), chunk)
               : elements;
  default:
    return elements * chunk;
  }
}
static inline uint64_t cgx_part_elements(const cgx_pattern *pattern, const cgx_codec *codec,
                                         uint64_t elements, uint64_t chunk) {
  if (pattern->cut == CGX_CUT_COPIES)
    return elements;
  return cgx_part_begin(pattern, codec, elements, chunk + 1) -
         cgx_part_begin(pattern, codec, elements, chunk);
}

/* Levels of a binomial tree below its root. */
static inline uint32_t cgx_tree_depth(uint64_t ranks) {
  uint32_t depth = 0;
  while ((1ull << depth) < ranks)
    ++depth;
  return depth;
}

/* Steps of a phase (0: contributions, 1: results), one after another; in a group of one, none but of pairs.
 */
static inline uint32_t cgx_step_count(const cgx_pattern *pattern, uint32_t phase) {
  switch (pattern->movement[phase]) {
  case CGX_MOVE_NONE:
    return 0;
  case CGX_MOVE_RING:
    return pattern->ranks - 1;
  case CGX_MOVE_TREE:
  case CGX_MOVE_HALVES: /* with one more where ranks are no power of two */
    return cgx_tree_depth(pattern->ranks);
  default:
    return 1;
  }
}

/* Turns of a step. */
static inline uint32_t cgx_turn_count(const cgx_pattern *pattern, uint32_t phase) {
  const uint32_t movement = pattern->movement[phase];
  return movement == CGX_MOVE_ALL || movement == CGX_MOVE_ROOT ? pattern->ranks - 1
                                                               : movement != CGX_MOVE_NONE;
}

/* The position `distance` before one, or after it, around the group. */
static inline uint32_t cgx_position_before(uint32_t position, uint32_t distance, uint32_t ranks) {
  return (uint32_t)(((uint64_t)position + 2 * (uint64_t)ranks - distance) % ranks);
}
static inline uint32_t cgx_position_after(uint32_t position, uint32_t distance, uint32_t ranks) {
  return (uint32_t)(((uint64_t)position + distance) % ranks);
}

/* A position's partner in a step of CGX_MOVE_HALVES and what both exchange, or one gives the other; 0 if it
 * has none. Of a step's pairs each position sends the chunks that are the partner's in contributions, and
 * those that are its own in results. */
static inline int cgx_halves_of(const cgx_pattern *pattern, uint32_t phase, uint32_t step, uint32_t position,
                                int sends, cgx_transfer *transfer) {
  const uint32_t power = cgx_power_below(pattern->ranks), steps = cgx_step_count(pattern, phase);
  const int has_rest = power < pattern->ranks;
  /* Counted from the step with the longest distance, and -1 for that of the positions from `power` on. */
  const int level = (int)(phase == 0 ? step : steps - 1 - step) - has_rest;
  uint32_t partner, distance, holder;
  if (level < 0) {
    partner = position < power ? position + power : position - power;
    if (partner >= pattern->ranks || (position >= power) != (phase == 0 ? sends : !sends))
      return 0;
    transfer->chunk = 0;
    transfer->count = power;
  } else {
    if (position >= power)
      return 0;
    distance = power >> (level + 1);
    partner = position ^ distance;
    holder = (sends != 0) == (phase == 0) ? partner : position;
    transfer->chunk = holder & ~(distance - 1);
    transfer->count = distance;
  }
  transfer->from = sends ? position : partner;
  transfer->to = sends ? partner : position;
  return 1;
}

/* Whom a position sends to in a turn of a step (`sends`), or whom it receives from; 0 if nobody. */
static inline int cgx_peer_of(const cgx_pattern *pattern, uint32_t phase, uint32_t step, uint32_t turn,
                              uint32_t position, int sends, uint32_t *peer) {
  const uint32_t ranks = pattern->ranks, distance = turn + 1;
  uint32_t bit;
  uint64_t i;
  switch (pattern->movement[phase]) {
  case CGX_MOVE_ALL:
  case CGX_MOVE_RING:
    *peer = sends ? cgx_position_after(position, distance, ranks)
                  : cgx_position_before(position, distance, ranks);
    return *peer != position;
  case CGX_MOVE_TREE:
    /* Of a level are pairs that differ in its bit and have none below: the lower one is the parent. */
    bit = 1u << (phase == 0 ? step : cgx_tree_depth(ranks) - 1 - step);
    *peer = position ^ bit;
    return (position & (bit - 1)) == 0 && *peer < ranks &&
           ((position & bit) != 0) == (phase == 0 ? sends : !sends);
  case CGX_MOVE_ROOT:
    *peer = sends ? cgx_position_after(position, distance, ranks) : pattern->owner;
    return sends ? position == pattern->owner
                 : cgx_position_after(pattern->owner, distance, ranks) == position && position != *peer;
  case CGX_MOVE_PAIRS:
    for (i = 0; i < pattern->pair_count; ++i)
      if ((sends ? pattern->pairs[i].source : pattern->pairs[i].target) == position) {
        *peer = sends ? pattern->pairs[i].target : pattern->pairs[i].source;
        return *peer != position;
      }
    return 0;
  default:
    return 0;
  }
}

/* What a position sends in a turn of a step (`sends`), or what it receives; 0 if nothing. */
static inline int cgx_transfer_of(const cgx_pattern *pattern, uint32_t phase, uint32_t step, uint32_t turn,
                                  uint32_t position, int sends, cgx_transfer *transfer) {
  uint32_t peer = position;
  if (pattern->movement[phase] == CGX_MOVE_HALVES)
    return cgx_halves_of(pattern, phase, step, position, sends, transfer);
  if (!cgx_peer_of(pattern, phase, step, turn, position, sends, &peer))
    return 0;
  transfer->count = 1;
  transfer->from = sends ? position : peer;
  transfer->to = sends ? peer : position;
  if (pattern->movement[phase] == CGX_MOVE_ALL)
    transfer->chunk = phase == 0 ? transfer->to : transfer->from;
  else if (pattern->movement[phase] == CGX_MOVE_RING)
    transfer->chunk = cgx_position_before(transfer->from, step + (phase == 0), pattern->ranks);
  else
    transfer->chunk = pattern->owner;
  return 1;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CGX_SCHEDULE_H */
