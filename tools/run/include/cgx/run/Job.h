//===-- cgx/run/Job.h - What the ranks of a run do --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Job is what all ranks share: program, inputs, how many steps. An Outcome is
// what one rank brings back. Between the two stands runRank, the training loop.
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

/// Scalar results that are shown and reported, and which of them is the loss.
struct Scalars {
  struct Scalar {
    size_t result;
    std::string name; ///< short where that is unique
  };
  std::vector<Scalar> all;
  std::optional<size_t> loss; ///< position in `all`
};

/// The loss is the float scalar whose name says so, else the first that feeds nothing.
Scalars findScalars(const Manifest &manifest);

/// Where checkpoints go, when, and which of them stay.
struct Saving {
  std::string path; ///< empty: nowhere
  bool isFolder = false;
  uint64_t every = 0;    ///< steps of the training; 0: after the last alone
  uint64_t keepLast = 0; ///< in a folder; 0: all
  std::string best;      ///< the metric of which the best checkpoint stays, too; empty: none
  bool bestIsMost = false;
};

/// Which ranks an elastic job had from a step on.
struct Membership {
  uint64_t firstStep = 0;
  uint32_t ranks = 0;
  std::string change; ///< since the one before; empty at first
};

/// What an evaluation in the middle of a training gave, by scalar of its program.
struct Measured {
  uint64_t steps = 0; ///< of this run that were done
  std::vector<double> values;
};

/// What the ranks of a job must have alike, such as an option.
struct Fact {
  std::string name;    ///< as a person knows it: "--steps"
  std::string counted; ///< what is compared; empty: this explains a difference, and makes none
  std::string shown;
  bool follows = false; ///< from other facts, so that it need not be named beside them
};

struct Job {
  Program program;
  Manifest manifest;
  Bindings bindings;
  Scalars scalars;
  /// Arguments that a run changes or took from the state file.
  std::vector<size_t> stateArguments;

  std::string transport = "shm";
  std::string name; ///< of the job, to the runtime
  std::vector<Fact> facts;
  uint64_t digest = 0; ///< of the facts that count
  uint64_t seed = 0;
  uint32_t timeoutMs = 30000;
  uint64_t firstStep = 0, steps = 0;
  uint64_t firstBatch = 0; ///< that the first step takes: its number, unless earlier steps had other batches
  bool isElastic = false;  ///< ranks keep what others go on from, when one dies or joins
  bool shuffle = false;
  bool save = false;
  Saving saving;
  std::string dataDigest; ///< of the samples
  /// The run, of which this job is a part: the first that was started, however often one went on from it.
  std::string run;
  /// A program that measures the state on other samples, every so many steps of the training and behind the
  /// last; null: none.
  std::shared_ptr<const Job> evaluation;
  uint64_t evaluateEvery = 0; ///< 0: behind the last alone
  /// Which argument of the training each argument of the evaluation has its value from.
  std::vector<std::pair<size_t, size_t>> evaluated;
  bool isOfAnotherProgram = false; ///< the checkpoint that is resumed
  bool padLast = false;            ///< whether a pass takes what fills no batch at its end
  bool showsProgress = true;
  bool stopOnNan = false;
  bool trace = false;
  std::string metrics; ///< a file with a line for each step; empty: none
  /// The checkpoint that the run goes on from, codecs included; null for a fresh run.
  const SafetensorsFile *checkpoint = nullptr;

  Planning planning;
  std::vector<Membership> memberships; ///< of an elastic job, to this one

  bool quiet = false;
  uint64_t logEvery = 0; ///< steps between lines; 0: about one line a second
};

struct Outcome {
  std::string error;               ///< empty when the rank did all steps
  uint64_t steps = 0;              ///< that were done: fewer than the job's where the ranks agreed to stop
  int stopSignal = 0;              ///< that made them; equal on all ranks
  std::vector<uint32_t> notFinite; ///< state arguments that have become so on some rank; equal on all ranks
  double seconds = 0;
  std::string telemetry;                    ///< JSON of the runtime
  std::string trace;                        ///< JSON of the runtime; empty: none was asked for
  std::vector<std::vector<double>> scalars; ///< by scalar, then by step; of rank 0 only
  std::vector<Measured> evaluations;        ///< equal on all ranks
  std::vector<uint64_t> hashes;             ///< of this rank's block of each state argument
  /// The blocks themselves when the job saves and this rank is the first that holds
  /// them; else empty.
  std::vector<std::vector<std::byte>> blocks;
  std::vector<CodecTensor> codecState; ///< when the job saves
  std::vector<AdoptedPlan> plans;      ///< equal on all ranks
  std::string profile;                 ///< JSON, equal on all ranks; empty: none was asked for
  /// Of an elastic job that ends before its time: steps, blocks (all of this rank), codecState and plans
  /// between two outer steps, the last of them and the one before.
  std::vector<Outcome> boundaries;
};

/// 0, or the signal that asked this process to stop. Set by a signal handler.
using StopSignal = std::atomic<int>;

/// What a rank does at the end, while it is still connected to the others. May throw Error.
using Farewell = std::function<void(cgx_context *context, const Outcome &outcome)>;

/// Runs all steps as one rank, or until a signal stopped one of the ranks: all end after the same step.
/// Never throws.
Outcome runRank(const Job &job, uint32_t rank, const StopSignal &stop, const Farewell &farewell = {});

/// A hash of bytes, equal on all machines.
uint64_t hashBytes(std::span<const std::byte> bytes, uint64_t seed = 0);

} // namespace cgx::run

#endif // CGX_RUN_JOB_H
