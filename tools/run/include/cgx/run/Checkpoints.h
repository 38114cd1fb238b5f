//===-- Checkpoints.h - Checkpoints of a run --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint is a state file (Safetensors.h) with the state of codecs and, as
// metadata, the progress and the inputs of the run:
//
//     cgx.steps, cgx.seed, cgx.program, cgx.plan    as resumed
//     cgx.run                                       the run: equal in all that resume one start
//     cgx.data, cgx.shuffle, cgx.pad_last,
//     cgx.global_batch                              describe the samples
//     cgx.batches                                   batches of this size up to here, if earlier ones had
//     another cgx.metrics                                   JSON, by name: the values that it is compared by
//     cgx.digest                                    a digest of all tensors and the above, which shows damage
//     cgx.disagreement, cgx.not_finite              why no run may resume from it
//
// In a folder every checkpoint is a file of its own, step-000000001000.safetensors, and
// best.safetensors is a link to the best. A folder belongs to one run: checkSavingFolder
// rejects another one, and a run removes only its own files. The metadata identifies a
// file (cgx.run, cgx.steps); its name only says that it is a checkpoint.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_CHECKPOINTS_H
#define CGX_RUN_CHECKPOINTS_H

#include "cgx/run/Job.h"

namespace cgx::run {

/// Parses METRIC, METRIC:min or METRIC:max into `saving`. Throws Error.
void parseBest(const std::string &text, Saving &saving);

/// Returns true if the run saves its state after step `done` and then continues.
bool isSaved(const Job &job, uint64_t done);

/// Returns the path of the checkpoint of the training's first `step` steps.
std::string checkpointPath(const Saving &saving, uint64_t step);

/// Returns the path for state that no run may continue from. It lies beside the checkpoint, which may still
/// be good: "trained.safetensors" becomes "trained.disagreement.safetensors".
std::string besidePath(const std::string &path, const std::string &why);

/// The reason, as metadata, why no run may continue from a state; empty where one may.
struct Unsound {
  std::string key, reason;
};

/// Writes the state arguments, whole, as a state file that a run can resume from. Where ranks disagree, it
/// takes each block from the first rank that holds it.
void saveState(const Job &job, const std::vector<Outcome> &outcomes, const std::string &path,
               const std::optional<Unsound> &unsound);

/// Writes a checkpoint to where the job keeps them, then removes this run's earlier checkpoints that are not
/// to be kept.
void saveCheckpoint(const Job &job, const std::vector<Outcome> &outcomes);

/// Returns the file to continue from: `path` itself, or, if it is a folder, the valid checkpoint with the
/// most steps. A warning names each checkpoint that is damaged or whose name says another step. Returns
/// nothing where the folder has no checkpoint.
std::optional<std::string> findCheckpoint(const std::string &path);

/// Throws Error unless a run may continue from the checkpoint: --save wrote it, its metadata is complete, and
/// its digest fits.
void checkSound(const SafetensorsFile &checkpoint);

/// Throws Error where the folder that the job saves into has checkpoints of another run, or of later steps
/// than this run starts from: --resume would continue from those.
void checkSavingFolder(const Job &job);

/// Returns true if the job resumes from a checkpoint that already has all its steps and lies where the job
/// would save it, as when a command is repeated. State that goes to another path, or is for another number of
/// ranks, still has to be written.
bool hasNothingToDo(const Job &job);

/// Returns the metadata that describes the samples which the run takes, and their order.
Metadata describeSamples(const Job &job);

/// Returns a digest of the names, types, shapes and bytes of all tensors, and of all metadata except
/// cgx.digest. Their order does not matter.
std::string digestOfCheckpoint(const std::vector<TensorView> &tensors, const Metadata &metadata);

} // namespace cgx::run

#endif // CGX_RUN_CHECKPOINTS_H
