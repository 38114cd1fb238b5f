//===-- cgx/run/Bindings.h - Where each argument comes from -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ties every argument of the program to a tensor of the state file, to the
// samples of the data file, or to a value of the command line, and checks that
// it fits. All that does not fit is reported at once.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_BINDINGS_H
#define CGX_RUN_BINDINGS_H

#include "cgx/run/Manifest.h"
#include "cgx/run/Safetensors.h"
#include "cgx/run/StepValue.h"

#include <map>

namespace cgx::run {

enum class Source {
  State,     ///< a tensor of the state file
  OfMembers, ///< a tensor of the state file with a value for each of other ranks: each takes its
             ///< predecessor's
  PerRank,   ///< a tensor of the state file, whole for each index of the argument's first dimension
  Data,      ///< samples of the data file, new in each step
  PerStep,   ///< a tensor of the data file with one value for each step
  Constant,  ///< a value of the command line, or a tensor of the data file
  Computed   ///< from the number of the step
};

struct Binding {
  Source source = Source::State;
  const TensorView *tensor = nullptr;  ///< of State, PerRank, Data and PerStep
  std::vector<TensorView> parts = {};  ///< of Data: the samples of each file, one behind the other
  std::vector<std::byte> constant;     ///< of Constant: one element, or all of them
  std::optional<StepValue> value = {}; ///< of Computed
};

struct Bindings {
  std::vector<Binding> arguments;
  std::vector<std::string> warnings;
  /// Of the data file; 0 when nothing comes from it.
  uint64_t samples = 0;
  uint64_t globalBatch = 0;
  /// Steps that the data file has values for, where it has one for each step.
  std::optional<uint64_t> steps;
  /// Of each rank that trains by itself, the rank of the state file from whose state it goes on, and how many
  /// there were; empty where the ranks are those of the file, or of a first start.
  std::vector<uint32_t> members = {};
  uint32_t ranksBefore = 0;
};

/// What the command line offers.
struct Inputs {
  const SafetensorsFile *state = nullptr;
  const SafetensorsFile *data = nullptr;
  std::vector<std::pair<std::string, std::string>> values; ///< --set NAME=VALUE
  std::vector<uint32_t> members = {};                      ///< --members
  const char *dataOption = "--data";                       ///< by which `data` is given
  const char *valueOption = "--set";                       ///< by which `values` are given
};

/// A value without its first dimension, which counts ranks.
Value ofOneRank(Value value);

/// Throws one Error with everything that is missing or does not fit.
Bindings bindArguments(const Manifest &manifest, const Inputs &inputs);

} // namespace cgx::run

#endif // CGX_RUN_BINDINGS_H
