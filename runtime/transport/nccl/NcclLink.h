//===-- nccl/NcclLink.h - From GPU to GPU over NCCL -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One communicator of all members for messages, and one for each way to group ranks, split from it, for
// collectives. Communicators do not block: what NCCL must do before it can put something on a stream, such as
// connecting, is waited for here, by a clock and with an eye on the peers.
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
  /// Connects the GPU that is this thread's with those of the other members, ranks of `host`, over which its
  /// unique id travels. All members call.
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
  /// Of this rank's group; null while it is in none.
  Result<ncclComm_t> communicatorOf(const Groups &groups);
  ncclResult_t put(const DeviceCollective &collective, ncclComm_t communicator, cudaStream_t stream) const;
  /// Waits until NCCL has done what `result` says that it began.
  Status settle(ncclResult_t result, ncclComm_t communicator, const char *what);
  /// Ends all that NCCL does here. The first reason is what this link says from then on.
  void giveUp(const Status &why);
  Status failed(ncclResult_t result, ncclComm_t communicator, const char *what);

  const NcclApi &api;
  Transport &host;
  std::map<uint32_t, int> members; ///< their ranks in the communicator, by their ranks in the job
  std::chrono::milliseconds timeout;
  ncclComm_t all = nullptr;
  std::map<Groups, ncclComm_t> split; ///< null where this rank is in no group
  Status whyGivenUp;                  ///< OK as long as it works
  bool isInGraphs = false;            ///< a stream captured what was put on it
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_NCCL_NCCLLINK_H
