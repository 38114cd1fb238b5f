//===-- Movements.h - Which payloads go where, and when ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a collective brings to other ranks, as all ranks of its group know it alike.
#ifndef CGX_RUNTIME_CUDA_MOVEMENTS_H
#define CGX_RUNTIME_CUDA_MOVEMENTS_H

#include "collective/RankArithmetic.h"
#include "cuda/PayloadLayout.h"

namespace cgx {

/// A row of payloads goes from one position of the group to another.
struct Movement {
  uint32_t from, to, chunk;
};

/// What moves at one time. Positions send and receive in the order in which they are listed.
using Round = std::vector<Movement>;

/// Contributions travel first, round by round, and what came in one round may be a part of what leaves in the
/// next. Results follow, each from the position with the number of its chunk, unchanged, and over others if
/// there are several rounds. One of the two may have nothing to bring.
struct Journey {
  PayloadLayout contributions, results;
  std::vector<Round> scattering, gathering;
};

/// Everybody sends to everybody: the row that `chunkOf(from, to)` says.
template <typename ChunkOf> Round roundOfAll(uint32_t ranks, ChunkOf chunkOf) {
  Round round;
  for (uint32_t turn = 1; turn < ranks; ++turn)
    for (uint32_t from = 0; from < ranks; ++from) {
      const uint32_t to = peerInRound(from, ranks, turn);
      round.push_back({from, to, chunkOf(from, to)});
    }
  return round;
}

/// Contributions go to the owners of chunks, and results from there, each at once.
inline Journey directJourney(PayloadLayout contributions, PayloadLayout results, uint32_t ranks) {
  return {std::move(contributions),
          std::move(results),
          {roundOfAll(ranks, [](uint32_t, uint32_t to) { return to; })},
          {roundOfAll(ranks, [](uint32_t from, uint32_t) { return from; })}};
}

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_MOVEMENTS_H
