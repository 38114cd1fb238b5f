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

/// What the options of `--cgx-compress` say of a table.
struct CompressOptions {
  FilterOptions filter;
  CodecOptions codecs;
  AlgorithmOptions algorithms;
  std::vector<std::string> splitLayers; ///< stacks of layers, as globs
  bool qsdp = false;
  std::string divergentCollectives = "warn";
  std::string reuseGathers; ///< a size of memory

  // What somebody else decides for a table: what is not as it is here was given.
  std::string scope = "layer-wise", prefetch, sampleIds;
  std::optional<uint64_t> groupBytes;
  std::optional<bool> overlap;
  bool decompose = false;
};

/// Reads the options as `cgx-opt --cgx-compress=...` has them: words apart by spaces, `name=value`,
/// `name={some words}`, lists apart by commas, flags by their names. False after an error.
bool readOptions(std::string_view text, CompressOptions &options, Diagnostics &diagnostics);

/// The first option with nothing behind its sign, as `plan=$PLAN` has of a variable that is not set; "" where
/// there is none. Such would be the option's default, and the program compressed otherwise than meant.
std::string_view optionWithoutValue(std::string_view text);

/// What is wrong with the name of an option where there are others: that it is none, and what was meant.
std::string describeUnknownOption(std::string_view unknown, const std::vector<std::string> &names);

/// Bytes of `64MiB`, or `all`; nothing where a text is no size.
std::optional<uint64_t> parseMemorySize(std::string_view text);

/// What is wrong with the option that says what to do about divergent collectives; "" if nothing.
std::string checkDivergentCollectives(const std::string &action);

/// What is wrong with a size of memory for gathered values; "" if nothing.
std::string checkReuseGathers(const std::string &memory);

} // namespace cgx::layers

#endif // CGX_LAYERS_OPTIONS_H
