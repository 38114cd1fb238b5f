//===-- routed/RoutedTransport.h - Two transports as one --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages to some ranks go over an inner transport, and those to all others over an outer transport that has
// all ranks. Each message has a copy for the inner one, whose ranks have other numbers.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_ROUTED_ROUTEDTRANSPORT_H
#define CGX_RUNTIME_TRANSPORT_ROUTED_ROUTEDTRANSPORT_H

#include "transport/Transport.h"

#include <list>
#include <optional>

namespace cgx {

class RoutedTransport final : public Transport {
public:
  /// `members` are the ranks that `inner` has, in its order, including this one.
  RoutedTransport(std::unique_ptr<Transport> outer, std::unique_ptr<Transport> inner,
                  std::vector<uint32_t> members);

  uint32_t rank() const override { return outer->rank(); }
  uint32_t ranks() const override { return outer->ranks(); }
  void post(Outgoing &message) override;
  void post(Incoming &message) override;
  Status progress(bool &moved) override;
  void idle(std::chrono::microseconds limit) override;
  Status checkPeers() override;
  std::vector<Clock::duration> sinceProgress() override;
  std::vector<Clock::duration> sinceHeartbeat() override;
  void fail(const Status &reason) override;
  const Status &failure() const override;
  uint64_t bytesSent() const override { return outer->bytesSent() + inner->bytesSent() - sentBefore; }
  bool takesDeviceMemory(uint32_t peer) const override {
    return innerRanks[peer] ? inner->takesDeviceMemory(*innerRanks[peer]) : outer->takesDeviceMemory(peer);
  }
  bool servesAnyThread() const override { return outer->servesAnyThread() && inner->servesAnyThread(); }

private:
  template <typename Message> struct Double {
    Message message;
    Message *original;
  };
  template <typename Message>
  void postInside(Message &message, uint32_t peer, std::list<Double<Message>> &doubles);
  /// Fails the other transport when one of the two has failed.
  Status shared(const Status &status);

  std::unique_ptr<Transport> outer, inner;
  uint64_t sentBefore; ///< bytes that the outer one sent to find the members
  std::vector<uint32_t> members;
  std::vector<std::optional<uint32_t>> innerRanks; ///< indexed by rank
  std::list<Double<Outgoing>> outgoing;
  std::list<Double<Incoming>> incoming;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_ROUTED_ROUTEDTRANSPORT_H
