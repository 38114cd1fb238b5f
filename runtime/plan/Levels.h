//===-- plan/Levels.h - Codecs ordered by strength --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// uniform, linear, kmeans, bayes and accordion do not use errors of single layers: they use an order of
// codecs that all layers have in common, and choose a level for each layer.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PLAN_LEVELS_H
#define CGX_RUNTIME_PLAN_LEVELS_H

#include "cgx/plan/Problem.h"

#include <functional>

namespace cgx::plan {

class Levels {
public:
  explicit Levels(const Problem &problem);

  /// Returns the number of levels: the codecs of all layers, ordered by their bytes over all layers, the
  /// smallest first, without those for which another has fewer bytes and less error. The last is
  /// uncompressed.
  size_t count() const { return codecs.size(); }

  /// Returns the choice of a layer at a level; uncompressed if it lacks the codec.
  size_t choice(size_t layer, size_t level) const { return choices[level][layer]; }
  Assignment uniform(size_t level) const { return choices[level]; }
  Assignment assign(const std::vector<size_t> &levels) const;

  /// Returns the level of the reference, or the first with no more error.
  size_t reference() const { return referenceLevel; }

  /// Returns the best assignment that `levelsFor(lowest, highest)` gives over all ranges of levels.
  Assignment bestRange(const std::function<std::vector<size_t>(size_t, size_t)> &levelsFor) const;

private:
  const Problem &problem;
  std::vector<std::string> codecs;
  std::vector<Assignment> choices; ///< indexed by level
  size_t referenceLevel = 0;
};

} // namespace cgx::plan

#endif // CGX_RUNTIME_PLAN_LEVELS_H
