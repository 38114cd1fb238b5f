//===-- cgx/run/LevelLearning.h - Steps after which levels are learned -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LEVELLEARNING_H
#define CGX_RUN_LEVELLEARNING_H

#include <cstdint>
#include <string>
#include <vector>

namespace cgx::run {

struct LevelLearning {
  /// The steps after which levels are learned, in order; empty: none are learned.
  std::vector<uint64_t> steps;
  std::string options; ///< the options of cgx_context_begin_profile

  bool isAt(uint64_t step) const;
};

/// Parses the text of --learn-levels, such as "steps=100,1000 kinds=weight,gradient bits=4". Throws Error.
LevelLearning parseLevelLearning(const std::string &text);

} // namespace cgx::run

#endif // CGX_RUN_LEVELLEARNING_H
