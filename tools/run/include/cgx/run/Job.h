//===-- cgx/run/Job.h - Work of the ranks of a run --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Job is the part that all ranks share: program, inputs, number of steps. An Outcome is the
// result of one rank. runRank, the training loop, makes one from the other.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_JOB_H
#define CGX_RUN_JOB_H

#include "cgx/run/Bindings.h"
#include "cgx/run/CodecState.h"
#include "cgx/run/Planning.h"
#include "cgx/run/Program.h"

#include <atomic>
#include <functional>

namespace cgx::run {

/// The scalar results that are shown and reported, and the position of the loss among them.
struct Scalars {
  struct Scalar {
    size_t result;
    std::string name; ///< the short name where it is unique
  };
  std::vector<Scalar> all;
  std::optional<size_t> loss; ///< the position of the loss in `all`
};

/// Finds the scalars. The loss is the floating-point scalar with that name, otherwise the first one that
/// feeds no argument.
Scalars findScalars(const Manifest &manifest);

/// The rules for checkpoints: where and when they are saved, and which are kept.
struct Saving {
  std::string path; ///< a file or folder; empty: nothing is saved
  bool isFolder = false;
  uint64_t every = 0;    ///< steps between checkpoints; 0: only after the last step
  uint64_t keepLast = 0; ///< checkpoints to keep in a folder; 0: all
  std::string best;      ///< the metric whose best checkpoint is kept too; empty: none
  bool bestIsMost = false;
};

/// The number of ranks that an elastic job had from a step on.
struct Membership {
  uint64_t firstStep = 0;
  uint32_t ranks = 0;
  std::string change; ///< what changed since the membership before; empty for the first
};

/// The results of one evaluation during a training, one per scalar of its program.
struct Measured {
  uint64_t steps = 0; ///< steps of this run that were done by then
  std::vector<double> values;
};

/// A fact, such as an option, that all ranks of a job must have in common.
struct Fact {
  std::string name; ///< the name that a user knows: "--steps"
  /// The text that is compared; empty: the fact can explain a difference, and is not compared.
  std::string counted;
  std::string shown;
  bool follows = false; ///< it follows from other facts, so it need not be named beside them
};

struct Job {
  Program program;
  Manifest manifest;
  Bindings bindings;
  Scalars scalars;
  /// The arguments that a run changes or took from the state file.
  std::vector<size_t> stateArguments;

  std::string transport = "shm";
  std::string name; ///< the job's name in the runtime
  std::vector<Fact> facts;
  uint64_t digest = 0; ///< a hash of the facts that are compared
  uint64_t seed = 0;
  uint32_t timeoutMs = 30000;
  uint64_t firstStep = 0, steps = 0;
  /// The number of the first step's batch: the step's number, unless earlier steps had other batches.
  uint64_t firstBatch = 0;
  bool isElastic = false; ///< ranks keep the state from which the others continue when a rank dies or joins
  bool shuffle = false;
  bool save = false;
  Saving saving;
  std::string dataDigest; ///< a digest of the samples
  /// The name of the run: that of the job that began it, however often it has been resumed since.
  std::string run;
  /// A program that measures the state on other samples, every `evaluateEvery` steps and after the last step;
  /// null: none.
  std::shared_ptr<const Job> evaluation;
  uint64_t evaluateEvery = 0; ///< 0: only after the last step
  /// Pairs of arguments, of the training and of the evaluation: the second takes its value from the first.
  std::vector<std::pair<size_t, size_t>> evaluated;
  bool isOfAnotherProgram = false; ///< the resumed checkpoint is of another program
  /// Samples at the end of a pass that fill no batch are filled up instead of left out.
  bool padLast = false;
  bool showsProgress = true;
  bool stopOnNan = false;
  bool trace = false;
  std::string metrics; ///< the path of a file with one record per step; empty: none
  /// The checkpoint that the run continues from, codec state included; null for a new run.
  const SafetensorsFile *checkpoint = nullptr;

  Planning planning;
  std::vector<Membership> memberships; ///< the memberships of an elastic job so far, this one included

  bool quiet = false;
  uint64_t logEvery = 0; ///< steps between lines of progress; 0: about one line per second
};

struct Outcome {
  std::string error; ///< empty when the rank finished
  /// Steps that were done; fewer than the job's where the ranks agreed to stop.
  uint64_t steps = 0;
  int stopSignal = 0; ///< the signal that stopped the ranks; equal on all ranks
  /// State arguments that have a NaN or infinity on some rank; equal on all ranks.
  std::vector<uint32_t> notFinite;
  double seconds = 0;
  std::string telemetry;                    ///< the runtime's telemetry, JSON
  std::string trace;                        ///< the runtime's trace, JSON; empty: none was requested
  std::vector<std::vector<double>> scalars; ///< values by scalar, then by step; only on rank 0
  std::vector<Measured> evaluations;        ///< the evaluations; equal on all ranks
  std::vector<uint64_t> hashes;             ///< a hash of this rank's block of each state argument
  /// The blocks of the state arguments, if the job saves and this rank is the first that holds them;
  /// otherwise empty.
  std::vector<std::vector<std::byte>> blocks;
  std::vector<CodecTensor> codecState; ///< the codec state, if the job saves
  std::vector<AdoptedPlan> plans;      ///< the adopted plans; equal on all ranks
  std::string profile;                 ///< the profile, JSON, equal on all ranks; empty: none was requested
  /// The last two boundaries between outer steps, for an elastic job that ends early: steps, all blocks of
  /// this rank, codecState and plans.
  std::vector<Outcome> boundaries;
};

/// 0, or the signal that asked this process to stop. A signal handler sets it.
using StopSignal = std::atomic<int>;

/// An action that a rank takes at the end, while it is still connected to the others. It may throw Error.
using Farewell = std::function<void(cgx_context *context, const Outcome &outcome)>;

/// Runs all steps as one rank, or until a signal stops one of the ranks. All ranks end after the same step.
/// Never throws.
Outcome runRank(const Job &job, uint32_t rank, const StopSignal &stop, const Farewell &farewell = {});

/// Hashes bytes, with an equal result on all machines.
uint64_t hashBytes(std::span<const std::byte> bytes, uint64_t seed = 0);

} // namespace cgx::run

#endif // CGX_RUN_JOB_H
