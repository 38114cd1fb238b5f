//===-- StepValue.h - Values that follow from the step's number --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas that --set takes for an argument in place of numbers. t is the number of the step:
//
//   @step                       t; for a random key (u32[2] of threefry, u32[4] of rbg),
//                               fold_in(SEED,@step) with the SEED of --seed
//   key(S)                      jax.random.key(S): the words S >> 32 and S mod 2^32, for rbg twice
//   fold_in(S,@step)            jax.random.fold_in(jax.random.key(S), t)
//   linear(A,B,N)               optax.linear_schedule(A, B, N): A + (B - A) min(t / N, 1)
//   cosine(A,N[,F])             optax.cosine_decay_schedule(A, N, F):
//                               A ((1 - F) (1 + cos(pi min(t / N, 1))) / 2 + F)
//   exponential(A,N,R)          optax.exponential_decay(A, N, R): A R^(t / N)
//   warmup_cosine(A,P,W,N[,E])  optax.warmup_cosine_decay_schedule(A, P, W, N, E): linear from A
//                               to P in W steps, then a cosine to E at step N
//
// Schedules are computed in f64 and rounded once to the argument's type.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_STEPVALUE_H
#define CGX_RUN_STEPVALUE_H

#include "cgx/run/Manifest.h"

namespace cgx::run {

/// A formula that --set takes in place of numbers.
class StepValue {
public:
  /// Returns true if the text looks like a formula: `@step`, or a name with something in brackets.
  static bool isMeant(const std::string &text);
  /// Parses a formula. Throws Error that says what is wrong with the text or the argument's type.
  static StepValue parse(const std::string &text, const Value &argument);

  /// Writes this rank's block of the argument in step `step` of a run with that seed. All elements are equal,
  /// except those of a key.
  void write(const Value &argument, uint64_t step, uint64_t seed, std::byte *block) const;

private:
  enum class Kind { Step, FoldInSeed, Key, FoldIn, Linear, Cosine, Exponential, WarmupCosine };

  void writeKey(const Value &argument, uint64_t step, uint64_t seed, std::byte *block) const;
  double at(uint64_t step) const;

  Kind kind = Kind::Step;
  uint64_t seed = 0;           ///< the seed of keys
  std::vector<double> numbers; ///< the parameters of schedules
};

} // namespace cgx::run

#endif // CGX_RUN_STEPVALUE_H
