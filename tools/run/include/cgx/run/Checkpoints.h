//===-- Checkpoints.h - What a run keeps, and where -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint is a state file (Safetensors.h) with what codecs remember and, as
// metadata, where the run was and what it was given:
//
//     cgx.steps, cgx.seed, cgx.program, cgx.plan    as before
//     cgx.run                                       the run: equal in all that go on from one start
//     cgx.data, cgx.shuffle, cgx.pad_last,
//     cgx.global_batch                              of the samples
//     cgx.batches                                   of this size up to here, where steps had others
//     cgx.metrics                                   JSON, by name: the values that it is judged by
//     cgx.digest                                    of all tensors and all the above, so that damage shows
//     cgx.disagreement, cgx.not_finite              why no run may go on from it
//
// In a folder every checkpoint is a file of its own, step-000000001000.safetensors, and
// best.safetensors is a link to the best. A folder is one run's: checkSavingFolder refuses
// another one, and no run removes what is not its own. What a file is, it says itself
// (cgx.run, cgx.steps); its name only tells that it is one.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_CHECKPOINTS_H
#define CGX_RUN_CHECKPOINTS_H

#include "cgx/run/Job.h"

namespace cgx::run {

/// Parses METRIC, METRIC:min or METRIC:max into `saving`. Throws Error.
void parseBest(const std::string &text, Saving &saving);

/// Whether state is saved after the `done`-th step and the run goes on.
bool isSaved(const Job &job, uint64_t done);

/// The file of a checkpoint of the training's first `step` steps.
std::string checkpointPath(const Saving &saving, uint64_t step);

/// Where state goes from which no run may go on: beside the checkpoint, which may be good.
/// "trained.safetensors" becomes "trained.disagreement.safetensors".
std::string besidePath(const std::string &path, const std::string &why);

/// Why no run may go on from a state, as metadata; empty where one may.
struct Unsound {
  std::string key, reason;
};

/// Writes the state arguments, whole, as a state file to resume from; where ranks disagree, of each block
/// what its first rank has.
void saveState(const Job &job, const std::vector<Outcome> &outcomes, const std::string &path,
               const std::optional<Unsound> &unsound);

/// The same to where the job keeps its checkpoints; then removes those of this run, up to this step, that are
/// not to be kept.
void saveCheckpoint(const Job &job, const std::vector<Outcome> &outcomes);

/// The file to go on from: `path`, or in a folder the one of the most steps that is sound, with a word about
/// each that is not, or whose name says another step. Nothing where there is none at all.
std::optional<std::string> findCheckpoint(const std::string &path);

/// Throws Error unless a run may go on from the checkpoint: one that --save wrote, with all that it says,
/// undamaged.
void checkSound(const SafetensorsFile &checkpoint);

/// Throws Error where the folder that the job saves into has checkpoints of another run, or of steps that
/// this one has yet to do: --resume would go on with those.
void checkSavingFolder(const Job &job);

/// Whether the job goes on from a checkpoint that has all its steps, and that is where it would be saved: the
/// same command again. State that is saved elsewhere, or for other ranks there, is something to do.
bool hasNothingToDo(const Job &job);

/// What a checkpoint says of the samples that the run takes, and of their order.
Metadata describeSamples(const Job &job);

/// Of names, types, shapes and bytes of all tensors, and of all metadata but cgx.digest; in any order.
std::string digestOfCheckpoint(const std::vector<TensorView> &tensors, const Metadata &metadata);

} // namespace cgx::run

#endif // CGX_RUN_CHECKPOINTS_H
