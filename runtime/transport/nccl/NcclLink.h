//===-- nccl/NcclLink.h - A link of GPUs over NCCL --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The link has one communicator of all members for messages, and one for each grouping of ranks, split from
// it, for collectives. Communicators do not block: when NCCL must do something, such as connect, before it
// can put work on a stream, the link waits with a timeout and checks the peers.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_NCCL_NCCLLINK_H
#define CGX_RUNTIME_TRANSPORT_NCCL_NCCLLINK_H

#include "NcclApi.h"
#include "transport/Transport.h"

#include <map>

namespace cgx {

class NcclLink final : public DeviceLink {
public:
  /// Connects this thread's GPU with those of the other members, ranks of `host`, over which NCCL's unique id
  /// is sent. All members call.
  static Result<std::unique_ptr<DeviceLink>> connect(const NcclApi &api, Transport &host,
                                                     std::vector<uint32_t> members,
                                                     std::chrono::milliseconds timeout);
  ~NcclLink() override;
  NcclLink(const NcclLink &) = delete;
  NcclLink &operator=(const NcclLink &) = delete;

  bool reaches(uint32_t rank) const override { return members.contains(rank); }
  Status exchange(std::span<const DeviceOutgoing> outgoing, std::span<const DeviceIncoming> incoming,
                  CUstream_st *stream) override;
  bool takes(const Groups &groups, std::span<const DeviceCollective> collectives) const override;
  Status run(const Groups &groups, std::span<const DeviceCollective> collectives,
             CUstream_st *stream) override;
  Status check() override;
  void abort() override { giveUp(Status(CGX_INTERNAL, "nccl was given up")); }

private:
  NcclLink(const NcclApi &api, Transport &host, std::map<uint32_t, int> members,
           std::chrono::milliseconds timeout)
      : api(api), host(host), members(std::move(members)), timeout(timeout) {}

  Status start(const ncclUniqueId &id);
  std::vector<ncclComm_t> communicators() const;
  /// Returns the communicator of this rank's group; null if it is in none.
  Result<ncclComm_t> communicatorOf(const Groups &groups);
  ncclResult_t put(const DeviceCollective &collective, ncclComm_t communicator, cudaStream_t stream) const;
  /// Waits until NCCL has completed the operation that returned `result`.
  Status settle(ncclResult_t result, ncclComm_t communicator, const char *what);
  /// Aborts all communicators. The link reports the first reason from then on.
  void giveUp(const Status &why);
  Status failed(ncclResult_t result, ncclComm_t communicator, const char *what);

  const NcclApi &api;
  Transport &host;
  std::map<uint32_t, int> members; ///< rank in the communicator, by rank in the job
  std::chrono::milliseconds timeout;
  ncclComm_t all = nullptr;
  std::map<Groups, ncclComm_t> split; ///< null if this rank is in no group
  Status whyGivenUp;                  ///< OK while the link works
  bool isInGraphs = false;            ///< a stream has captured work of the link in a graph
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_NCCL_NCCLLINK_H
