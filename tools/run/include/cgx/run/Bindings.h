//===-- cgx/run/Bindings.h - Input of each argument -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Binds every argument of the program to a tensor of the state file, to the samples of the data
// file, or to a value of the command line, and checks that it fits. All errors are reported at
// once.
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
  OfMembers, ///< a tensor of the state file with one value per earlier rank; a rank takes its predecessor's
  PerRank,   ///< a tensor of the state file that is repeated for each index of the argument's first dimension
  Data,      ///< samples of the data file, new in each step
  PerStep,   ///< a tensor of the data file with one value for each step
  Constant,  ///< a value of the command line, or a tensor of the data file
  Computed   ///< a value that follows from the number of the step
};

struct Binding {
  Source source = Source::State;
  const TensorView *tensor = nullptr;  ///< the tensor, for State, PerRank, Data and PerStep
  std::vector<TensorView> parts = {};  ///< the samples of each data file in order, for Data
  std::vector<std::byte> constant;     ///< one element, or all elements, for Constant
  std::optional<StepValue> value = {}; ///< the formula, for Computed
};

struct Bindings {
  std::vector<Binding> arguments;
  std::vector<std::string> warnings;
  /// The number of samples in the data file; 0 when no argument takes any.
  uint64_t samples = 0;
  uint64_t globalBatch = 0;
  /// The number of steps for which the data file has values, where it has one value per step.
  std::optional<uint64_t> steps;
  /// For each rank that trains by itself, the rank of the state file whose state it continues from, and the
  /// number of ranks in that file. The list is empty at a first start, and where the ranks are those of the
  /// file.
  std::vector<uint32_t> members = {};
  uint32_t ranksBefore = 0;
};

/// The inputs that the command line offers.
struct Inputs {
  const SafetensorsFile *state = nullptr;
  const SafetensorsFile *data = nullptr;
  std::vector<std::pair<std::string, std::string>> values; ///< the assignments of --set NAME=VALUE
  std::vector<uint32_t> members = {};                      ///< the ranks of --members
  const char *dataOption = "--data";                       ///< the option that gives `data`
  const char *valueOption = "--set";                       ///< the option that gives `values`
};

/// Returns the value without its first dimension, which counts ranks.
Value ofOneRank(Value value);

/// Binds every argument to its input. Throws one Error that lists all inputs that are missing or do not fit.
Bindings bindArguments(const Manifest &manifest, const Inputs &inputs);

} // namespace cgx::run

#endif // CGX_RUN_BINDINGS_H
