//===-- transport/Transport.h - Bytes between ranks --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an algorithm may ask of a transport: post messages, let them progress,
// learn who is gone, give up together. A transport moves bytes; it knows neither
// collectives nor codecs. Waiting is not a verb here: MessageBatch waits, in the same
// way over every transport.
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

/// A message to `peer`: the concatenation of `pieces`, which stay untouched until
/// `done`. They may lie in the memory of a GPU, on both sides and cut alike, if the transport takes that.
struct Outgoing {
  uint32_t peer = 0;
  Tag tag;
  std::vector<std::span<const std::byte>> pieces;
  bool onDevice = false;
  bool done = false;
};

/// A message from `peer`, of exactly the bytes that `pieces` hold.
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

  /// Queues a message. The object must stay where it is until it is done or the
  /// transport has failed.
  virtual void post(Outgoing &message) = 0;
  virtual void post(Incoming &message) = 0;

  /// Null if this transport cannot lend memory to this many ranks.
  virtual EagerSlots *eagerSlots() { return nullptr; }

  /// Moves what can be moved without waiting; `moved` says whether anything was, by this rank
  /// or, for eager messages, by a peer.
  virtual Status progress(bool &moved) = 0;

  /// Sleeps until a peer did something, or about `limit` has passed.
  virtual void idle(std::chrono::microseconds limit) = 0;

  /// An error if a rank is gone without which the posted messages, or the job,
  /// cannot end. Costs system calls: not for every turn of a loop.
  virtual Status checkPeers() = 0;

  /// For each rank, how long ago this rank saw a sign of life of it: that it moved
  /// bytes, or waited for them. Signs are seen by calling this; zero for itself.
  virtual std::vector<Clock::duration> silence() = 0;

  /// The same for signs that the rank's process runs, whatever it does. A rank that is silent and not absent
  /// is slow.
  virtual std::vector<Clock::duration> absence() { return silence(); }

  /// Gives up: tells every rank why, drops all posted messages, and makes every
  /// later progress() return the failure. The first failure stays.
  virtual void fail(const Status &reason) = 0;

  /// OK until this transport has failed.
  virtual const Status &failure() const = 0;

  /// Payload bytes handed to peers since creation, headers excluded.
  virtual uint64_t bytesSent() const = 0;

  /// Whether any thread may call, as long as no two do at a time. If not, only the one that connected.
  virtual bool servesAnyThread() const { return true; }

  /// Whether messages to and from the peer may lie in the memory of a GPU: both ranks say the same.
  virtual bool takesDeviceMemory(uint32_t /*peer*/) const { return false; }

  /// What carries messages between GPUs; null where only hosts can talk.
  DeviceLink *deviceLink() const { return link.get(); }
  void carryDeviceLink(std::unique_ptr<DeviceLink> carried) { link = std::move(carried); }

  /// Lets the thread that waits for messages give up with `reason`, soon. The one verb that may be called
  /// while another thread calls others.
  void interrupt(const Status &reason);
  /// OK, or why who waits must give up.
  Status interruption() const;

private:
  mutable std::mutex interrupting;
  Status interruptedBy; ///< guarded by `interrupting`
  std::atomic<bool> interrupted{false};
  std::unique_ptr<DeviceLink> link;
};

/// How the ranks of tcp find and trust each other; TcpOptions.h says what stands for what is not given.
struct TcpConfig {
  std::string rendezvous; ///< "HOST:PORT", where rank 0 listens, or "file:PATH"
  std::string address;    ///< where this rank listens
  std::string secret;
  std::string secretFile;
  std::string tls;         ///< "", "off", "psk" or "certificates"
  std::string certificate; ///< files in PEM, as are the next two
  std::string key;
  std::string authority;
  uint32_t streams = 0; ///< connections between two ranks, for what is long
  cgx_store_set_fn storeSet = nullptr;
  cgx_store_get_fn storeGet = nullptr;
  void *store = nullptr;
};

/// How a rank joins its job.
struct TransportConfig {
  std::string job;
  uint32_t rank = 0;
  uint32_t ranks = 1;
  std::chrono::milliseconds timeout{30000};
  uint64_t ringBytes = 0;      ///< buffer of one ordered pair of ranks; 0: the transport's default
  bool hasPulse = false;       ///< shows that its process runs, where the transport can
  std::vector<uint32_t> names; ///< what messages call the ranks; by number if empty
  /// Has the ranks already, and more of them, and so may know why one does not join; null if nothing does.
  Transport *joinedBefore = nullptr;
  TcpConfig tcp;

  uint32_t nameOf(uint32_t of) const { return of < names.size() ? names[of] : of; }
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_TRANSPORT_H
