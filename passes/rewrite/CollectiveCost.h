//===-- CollectiveCost.h - Seconds of a collective --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This applies the cost model of `cgx/cost.h` to ops.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_COLLECTIVECOST_H
#define CGX_PASSES_REWRITE_COLLECTIVECOST_H

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/layers/Machine.h"

namespace cgx {

struct CollectiveCost {
  double seconds = 0; ///< from the first rank's begin to the last rank's end
  double busy = 0;    ///< of these, how long a core of each rank encodes, adds up and decodes
};

/// Returns the cost of a collective of any kind. An all-reduce whose algorithm is open costs what its fastest
/// one does, without codecs where that is faster.
CollectiveCost getCost(CollectiveOpInterface op, const layers::Machine &machine);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_COLLECTIVECOST_H
