//===-- transport/GroupTraffic.h - What a group's links can take -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_GROUPTRAFFIC_H
#define CGX_RUNTIME_TRANSPORT_GROUPTRAFFIC_H

#include "transport/AgreedLength.h"
#include "transport/Pace.h"

#include <map>
#include <span>
#include <vector>

namespace cgx {

/// What a rank has learned, in exchanges over a network, of the links between the ranks of a group.
struct GroupTraffic {
  Pace pace;
  AgreedLength length;
};

/// One for each group of ranks: some are close to each other.
class GroupTraffics {
public:
  GroupTraffic &of(std::span<const uint32_t> group) { return traffics[{group.begin(), group.end()}]; }

private:
  std::map<std::vector<uint32_t>, GroupTraffic> traffics;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_GROUPTRAFFIC_H
