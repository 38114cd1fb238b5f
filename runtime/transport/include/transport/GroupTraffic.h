//===-- transport/GroupTraffic.h - Congestion control of a group -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_GROUPTRAFFIC_H
#define CGX_RUNTIME_TRANSPORT_GROUPTRAFFIC_H

#include "transport/AgreedLength.h"
#include "transport/CongestionWindow.h"

#include <map>
#include <span>
#include <vector>

namespace cgx {

/// The congestion window and message length that a rank has learned for the links of one group of ranks.
struct GroupTraffic {
  CongestionWindow window;
  AgreedLength length;
};

/// Traffic states, one per group of ranks, because the ranks of some groups are closer to each other.
class GroupTraffics {
public:
  GroupTraffic &of(std::span<const uint32_t> group) { return traffics[{group.begin(), group.end()}]; }

private:
  std::map<std::vector<uint32_t>, GroupTraffic> traffics;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_GROUPTRAFFIC_H
