/*===-- cgx/algorithm_table.h - The all-reduces, one row each --*- C -*-===
 *
 * Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===-----------------------------------------------------------------------===
 *
 * Everything that tells one algorithm of an all-reduce from another: its names, who sends what to whom
 * (movements and cut, cgx/schedule.h), how long it takes (cgx_NAME_seconds of cgx/cost.h) and which executor
 * runs it. Options, JSON, messages, the dialect, the cost model and both executors read this table; none of
 * them lists algorithms.
 *
 * A row is X(ID, number, name, contributions, results, cut, executor):
 *
 *   ID, number      cgx_algorithm: CGX_ALGORITHM_ID
 *   name            in options, attributes, JSON and reports
 *   contributions,  the movements (CGX_MOVE_...) of the two phases
 *   results
 *   cut             how operands are cut into chunks (CGX_CUT_...)
 *   executor        SCATTER    to the owners of chunks and back, piece by piece
 *                   STEPWISE   as the schedule has it: what came is added to before the sum leaves
 *                   HOSTS      a SCATTER inside of hosts around an all-reduce between them
 *                   COPIES     every rank reduces for itself
 *
 *===-----------------------------------------------------------------------===*/
#ifndef CGX_ALGORITHM_TABLE_H
#define CGX_ALGORITHM_TABLE_H

/* Where nobody has chosen, the compiler does, or else it is scatter_reduce_allgather. */
#define CGX_ALGORITHMS(X) X(AUTO, 0, auto, ALL, ALL, CHUNKS, SCATTER) CGX_CHOSEN_ALGORITHMS(X)

/* scatter_reduce_allgather  each rank sends the owner of each chunk its part, and gets the results from them
 * ring                      partial sums go around the ranks, each to the next
 * tree                      whole operands go up a binomial tree, and down again
 * hierarchical              inside each host first, then between hosts, then inside again
 * one_shot                  each rank sends all it has to all others, which add up for themselves
 * halving_doubling          pairs of ranks exchange halves, quarters, ... of what they have, and back */
#define CGX_CHOSEN_ALGORITHMS(X)                                                                             \
  X(SCATTER_REDUCE_ALLGATHER, 1, scatter_reduce_allgather, ALL, ALL, CHUNKS, SCATTER)                        \
  X(RING, 2, ring, RING, RING, CHUNKS, STEPWISE)                                                             \
  X(TREE, 3, tree, TREE, TREE, ONE, STEPWISE)                                                                \
  X(HIERARCHICAL, 4, hierarchical, ALL, ALL, CHUNKS, HOSTS)                                                  \
  X(ONE_SHOT, 5, one_shot, ALL, NONE, COPIES, COPIES)                                                        \
  X(HALVING_DOUBLING, 6, halving_doubling, HALVES, HALVES, POWER, STEPWISE)

/* All names, for messages and help texts: a string literal. */
#define CGX_ALGORITHM_AND_NAME(ID, number, name, ...) ", " #name
#define CGX_ALGORITHM_NAMES "auto" CGX_CHOSEN_ALGORITHMS(CGX_ALGORITHM_AND_NAME)

#endif /* CGX_ALGORITHM_TABLE_H */
