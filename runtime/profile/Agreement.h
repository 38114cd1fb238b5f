//===-- profile/Agreement.h - Exchange of numbers and text between ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_RUNTIME_PROFILE_AGREEMENT_H
#define CGX_RUNTIME_PROFILE_AGREEMENT_H

#include "transport/MessageBatch.h"

#include <string>

namespace cgx {

/// The collective id that distinguishes the messages of a profile from those of the program.
inline constexpr uint32_t kProfileCollective = 0xfffffffdu;

/// Sends `own` to all ranks; returns the numbers of all, in the order of the ranks: doubles, or 64-bit
/// integers. All ranks must call it between the same two steps, with the same number of numbers.
template <typename Number>
Result<std::vector<std::vector<Number>>> gatherNumbers(Transport &transport,
                                                       std::chrono::milliseconds timeout, uint64_t step,
                                                       uint16_t phase, const std::vector<Number> &own) {
  std::vector<std::vector<Number>> all(transport.ranks(), std::vector<Number>(own.size()));
  all[transport.rank()] = own;
  MessageBatch messages(transport, timeout);
  const Tag tag{.step = step, .collective = kProfileCollective, .phase = phase, .part = 0};
  for (uint32_t rank = 0; rank < transport.ranks(); ++rank) {
    if (rank == transport.rank())
      continue;
    messages.receive(rank, tag, {std::as_writable_bytes(std::span(all[rank]))});
    messages.send(rank, tag, {std::as_bytes(std::span(own))});
  }
  if (Status status = messages.finish(); !status.ok())
    return status.within("the exchange of profiles");
  return all;
}

/// Returns the text of rank 0 on all ranks.
Result<std::string> broadcastText(Transport &transport, std::chrono::milliseconds timeout, uint64_t step,
                                  const std::string &text);

} // namespace cgx

#endif // CGX_RUNTIME_PROFILE_AGREEMENT_H
