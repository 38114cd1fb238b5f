//===-- Options.h - The options of cgx-compress -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_OPTIONS_H
#define CGX_LAYERS_OPTIONS_H

#include "cgx/layers/AssignCodecs.h"
#include "cgx/layers/ChooseAlgorithms.h"
#include "cgx/layers/FilterLayers.h"

namespace cgx::layers {

/// The options of `--cgx-compress` that apply to a table.
struct CompressOptions {
  FilterOptions filter;
  CodecOptions codecs;
  AlgorithmOptions algorithms;
  std::vector<std::string> splitLayers; ///< names of stacks of layers, as globs
  bool qsdp = false;
  std::string divergentCollectives = "warn";
  std::string reuseGathers; ///< a size of memory

  // Options that a table decides elsewhere. A value other than the one here means that the option was given.
  std::string scope = "layer-wise", prefetch, sampleIds;
  std::optional<uint64_t> groupBytes;
  std::optional<bool> overlap;
  bool decompose = false;
};

/// Reads the options as `cgx-opt --cgx-compress=...` spells them: words separated by spaces, `name=value`,
/// `name={some words}`, lists separated by commas, flags by their names. Returns false after an error.
bool readOptions(std::string_view text, CompressOptions &options, Diagnostics &diagnostics);

/// Returns the first option with an empty value, such as `plan=$PLAN` if the variable is not set; "" if there
/// is none. It would mean the option's default, and the program would be compressed differently than
/// intended.
std::string_view optionWithoutValue(std::string_view text);

/// Returns the error for an unknown option, with the name that was probably meant.
std::string describeUnknownOption(std::string_view unknown, const std::vector<std::string> &names);

/// Returns the bytes of `64MiB`, or of `all`; nothing if the text is no size.
std::optional<uint64_t> parseMemorySize(std::string_view text);

/// Returns what is wrong with the option that decides about divergent collectives; "" if nothing.
std::string checkDivergentCollectives(const std::string &action);

/// Returns what is wrong with a size of memory for gathered values; "" if nothing.
std::string checkReuseGathers(const std::string &memory);

} // namespace cgx::layers

#endif // CGX_LAYERS_OPTIONS_H
