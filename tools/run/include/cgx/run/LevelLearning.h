//===-- cgx/run/LevelLearning.h - When levels are learned, and of what -*- C++ -*-===//
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
  std::vector<uint64_t> steps; ///< in order; empty: nothing is learned
  std::string options;         ///< of cgx_context_begin_profile

  bool isAt(uint64_t step) const;
};

/// From the text of --learn-levels, such as "steps=100,1000 kinds=weight,gradient bits=4". Throws Error.
LevelLearning parseLevelLearning(const std::string &text);

} // namespace cgx::run

#endif // CGX_RUN_LEVELLEARNING_H
