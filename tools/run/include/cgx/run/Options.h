//===-- cgx/run/Options.h - What the command line asks for ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_OPTIONS_H
#define CGX_RUN_OPTIONS_H

#include "cgx/run/Job.h"

namespace cgx::run {

struct Options {
  std::string program, state, resume, data, save, report, trace, transport = "shm", jobName;
  std::string device = "native"; ///< kNativeDevice, the name of another, or the path of a plugin
  std::optional<uint32_t> ranks;
  std::optional<uint32_t> elastic; ///< ranks that must be left to go on without the others
  bool isHandedOn = false;         ///< the state is from another membership of the same run
  std::optional<uint32_t> rank;    ///< that this process is, over tcp
  std::optional<uint64_t> steps, until;
  std::optional<uint64_t> seed; ///< 0, or that of the run that is resumed
  uint64_t firstStep = 0, logEvery = 0, saveEvery = 0, keepLast = 0;
  std::string keepBest, metrics, evaluate, progress = "always";
  std::vector<std::string> evaluateData, evaluateValues;
  uint64_t evaluateEvery = 0;
  bool isEvaluation = false;          ///< of the program that --eval names, whose inputs other options give
  std::vector<std::string> dataFiles; ///< as typed; `data` is the first
  double timeoutSeconds = 30;
  bool repeat = false, shuffle = false, quiet = false, noCache = false, padLast = false, stopOnNan = false;
  std::optional<std::string> compress;    ///< options of cgx-compress
  std::optional<std::string> localSteps;  ///< options of cgx-local-steps
  std::vector<std::string> feeds, values; ///< A=B, as typed
  std::string members;                    ///< the ranks of the checkpoint that ranks go on from, as typed
  std::string plan, profile, adapt, messagesIn;
  std::string learnLevels, writePlan; ///< steps and kinds, as typed; where the plan in force goes at the end
  std::vector<std::string> references = {"quantize bits=4 bucket=128"};
  std::vector<std::string> candidates;
  uint64_t profileSteps = 10, adaptEvery = 1000, warmup = 200;
  double alpha = 1;
};

/// Takes the place of --resume by the file that is meant, or of --state where there is nothing yet to go on
/// from. Throws Error.
void chooseCheckpoint(Options &options);

/// Takes folders of --data for their files. Throws Error.
void chooseData(Options &options);

/// The input files of a job, which must outlive it; `state` is the checkpoint when a run is resumed.
struct InputFiles {
  std::optional<SafetensorsFile> state, data;
  std::vector<SafetensorsFile> moreData; ///< samples that follow those of `data`

  explicit InputFiles(const Options &options);
};

/// Brings program, inputs and options together and checks that they fit. Prints
/// warnings. Throws Error.
Job prepareJob(Options options, const InputFiles &files, Program program);

/// Gives the training an evaluation, prepared from its own program and samples and the training's state.
/// Throws Error.
void addEvaluation(Job &training, const Options &options, const InputFiles &files, Program program);

/// Compiles the program from MLIR text to memory, with word of it unless that is not wanted, or says that
/// there is no compiler. Throws Error.
Program compileStep(const Options &options);

} // namespace cgx::run

#endif // CGX_RUN_OPTIONS_H
