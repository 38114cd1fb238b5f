//===-- transport/Transport.h - The interface of transports -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface between algorithms and transports: post messages, let them progress, learn which ranks are
// gone, fail together. A transport moves bytes; it knows neither collectives nor codecs. It has no call that
// waits: MessageBatch waits, in the same way over every transport.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TRANSPORT_H
#define CGX_RUNTIME_TRANSPORT_TRANSPORT_H

#include "status/Status.h"
#include "transport/DeviceLink.h"
#include "transport/EagerSlots.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace cgx {

using Clock = std::chrono::steady_clock;

/// A message to `peer`: the concatenation of `pieces`, which must stay unchanged until `done`. They may lie
/// in the memory of a GPU, on both sides and divided alike, if the transport supports that.
struct Outgoing {
  uint32_t peer = 0;
  Tag tag;
  std::vector<std::span<const std::byte>> pieces;
  bool onDevice = false;
  bool done = false;
};

/// A message from `peer` of exactly as many bytes as `pieces` hold.
struct Incoming {
  uint32_t peer = 0;
  Tag tag;
  std::vector<std::span<std::byte>> pieces;
  bool onDevice = false;
  bool done = false;
};

template <typename Message> uint64_t messageBytes(const Message &message) {
  uint64_t bytes = 0;
  for (const auto &piece : message.pieces)
    bytes += piece.size();
  return bytes;
}

class Transport {
public:
  virtual ~Transport() = default;

  virtual uint32_t rank() const = 0;
  virtual uint32_t ranks() const = 0;

  /// Queues a message. The object must stay where it is until it is done or the transport has failed.
  virtual void post(Outgoing &message) = 0;
  virtual void post(Incoming &message) = 0;

  /// Returns null if this transport has no slots for this many ranks.
  virtual EagerSlots *eagerSlots() { return nullptr; }

  /// Moves data as far as possible without waiting. Sets `moved` if this rank, or for eager messages a peer,
  /// moved anything.
  virtual Status progress(bool &moved) = 0;

  /// Sleeps until a peer did something, or for about `limit`.
  virtual void idle(std::chrono::microseconds limit) = 0;

  /// Returns an error if a rank is gone without which the posted messages, or the job, cannot complete. It
  /// makes system calls, so do not call it in every turn of a loop.
  virtual Status checkPeers() = 0;

  /// Returns for each rank how long ago this rank saw it make progress: move bytes, or wait for them. Only
  /// calls update the times; the time of this rank is zero.
  virtual std::vector<Clock::duration> sinceProgress() = 0;

  /// Returns for each rank how long ago this rank saw a heartbeat of its process. A rank that makes no
  /// progress but sends heartbeats is slow.
  virtual std::vector<Clock::duration> sinceHeartbeat() { return sinceProgress(); }

  /// Gives up: tells every rank why, drops all posted messages, and makes every later progress() return the
  /// failure. The first failure is kept.
  virtual void fail(const Status &reason) = 0;

  /// Returns OK until this transport has failed.
  virtual const Status &failure() const = 0;

  /// Returns the payload bytes handed to peers since creation, without headers.
  virtual uint64_t bytesSent() const = 0;

  /// Returns true if any thread may call, as long as no two call at the same time; false if only the thread
  /// that connected may.
  virtual bool servesAnyThread() const { return true; }

  /// Returns true if messages to and from the peer may lie in the memory of a GPU. Both ranks return the
  /// same.
  virtual bool takesDeviceMemory(uint32_t /*peer*/) const { return false; }

  /// Returns the link between GPUs; null if only hosts can communicate.
  DeviceLink *deviceLink() const { return link.get(); }
  void carryDeviceLink(std::unique_ptr<DeviceLink> carried) { link = std::move(carried); }

  /// Makes the thread that waits for messages give up with `reason`, soon. This is the only function that may
  /// be called while another thread is in a call.
  void interrupt(const Status &reason);
  /// Returns OK, or the reason for which a waiting thread must give up.
  Status interruption() const;

private:
  mutable std::mutex interrupting;
  Status interruptedBy; ///< guarded by `interrupting`
  std::atomic<bool> interrupted{false};
  std::unique_ptr<DeviceLink> link;
};

/// The data with which the ranks of tcp find and authenticate each other. TcpOptions.h defines the defaults.
struct TcpConfig {
  std::string rendezvous; ///< "HOST:PORT", where rank 0 listens, or "file:PATH"
  std::string address;    ///< the address at which this rank listens
  std::string secret;
  std::string secretFile;
  std::string tls;         ///< "", "off", "psk" or "certificates"
  std::string certificate; ///< PEM files, as are the next two
  std::string key;
  std::string authority;
  uint32_t streams = 0; ///< connections between two ranks for long messages
  cgx_store_set_fn storeSet = nullptr;
  cgx_store_get_fn storeGet = nullptr;
  void *store = nullptr;
};

/// The parameters with which a rank joins its job.
struct TransportConfig {
  std::string job;
  uint32_t rank = 0;
  uint32_t ranks = 1;
  std::chrono::milliseconds timeout{30000};
  uint64_t ringBytes = 0;      ///< ring buffer of one ordered pair of ranks; 0: the transport's default
  bool hasHeartbeat = false;   ///< sends heartbeats, if the transport can
  std::vector<uint32_t> names; ///< the numbers by which messages call the ranks; their own if empty
  /// A transport that already has these ranks, and more, and so may know why one does not join; null if there
  /// is none.
  Transport *joinedBefore = nullptr;
  TcpConfig tcp;

  uint32_t nameOf(uint32_t of) const { return of < names.size() ? names[of] : of; }
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_TRANSPORT_H
