//===-- Replicas.h - Agreement of ranks on shared state ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks that hold the same block of a state tensor must hold equal bits after every step. A step that breaks
// this (a gradient that was reduced along one mesh axis and not along the other) trains several models that
// drift apart. So ranks compare digests after the first step, and again whenever the run is twice as long, or
// 1024 steps longer.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_REPLICAS_H
#define CGX_RUN_REPLICAS_H

#include "cgx/run/Job.h"

namespace cgx::run {

/// A state tensor whose bits differ between ranks that hold the same block of it.
struct Disagreement {
  std::string tensor;
  /// Lists of ranks with equal bits, for one block, in the order of the lowest rank. There are at least two.
  std::vector<std::vector<uint32_t>> ranks;
};

/// Returns true if ranks compare their state after `done` of the job's steps.
bool isCompared(const Job &job, uint64_t done);

/// Returns the tensors on which ranks disagree. `digests` holds, for each rank, hashBytes() of its blocks of
/// the state arguments.
std::vector<Disagreement> findDisagreements(const Job &job, std::span<const std::vector<uint64_t>> digests);

/// Describes the disagreement for the user: which tensors, on which ranks, after which step.
std::string describe(const Job &job, std::span<const Disagreement> disagreements, uint64_t stepsDone);

/// Describes for the user which state tensors have a NaN or infinity.
std::string describeNotFinite(const Job &job, const Outcome &outcome);

} // namespace cgx::run

#endif // CGX_RUN_REPLICAS_H
