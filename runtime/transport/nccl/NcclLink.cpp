//===-- nccl/NcclLink.cpp - A link of GPUs over NCCL ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NcclLink.h"

#include "cgx/kernels/cuda_peers.h"
#include "transport/MessageBatch.h"
#include "transport/WaitLoop.h"

#include <algorithm>
#include <future>
#include <optional>
#include <thread>

namespace cgx {

using Kind = DeviceCollective::Kind;
using LinkReduction = DeviceCollective::Reduction;

/// An id above those of collectives, and different from those of the configuration check and of the host
/// discovery.
static constexpr uint32_t kNcclCollective = 0xfffffffc;
/// Waits sleep only this long, because NCCL rings no doorbell.
static constexpr std::chrono::microseconds kNaps{50};
/// The time after an NCCL error in which the host transport may learn which rank is gone.
static constexpr std::chrono::milliseconds kNoticing{500};
/// The longest time that giving up may take.
static constexpr std::chrono::milliseconds kAborting{1000};

static std::optional<ncclDataType_t> typeOf(cgx_element_type type) {
  switch (type) {
  case CGX_F32:
    return ncclFloat32;
  case CGX_F16:
    return ncclFloat16;
  case CGX_BF16:
    return ncclBfloat16;
  case CGX_F64:
    return ncclFloat64;
  case CGX_I8:
    return ncclInt8;
  case CGX_I32:
    return ncclInt32;
  case CGX_I64:
    return ncclInt64;
  case CGX_U8:
    return ncclUint8;
  case CGX_U32:
    return ncclUint32;
  case CGX_U64:
    return ncclUint64;
  default:
    return std::nullopt; // NCCL has no 16-bit integers, and adds booleans as numbers
  }
}

static ncclRedOp_t reductionOf(LinkReduction reduction) {
  switch (reduction) {
  case LinkReduction::Sum:
    return ncclSum;
  case LinkReduction::Mean:
    return ncclAvg;
  case LinkReduction::Max:
    return ncclMax;
  case LinkReduction::Min:
    return ncclMin;
  case LinkReduction::Product:
    return ncclProd;
  }
  return ncclSum;
}

static bool reduces(Kind kind) { return kind == Kind::AllReduce || kind == Kind::ReduceScatter; }

static bool isFloat(cgx_element_type type) { return type <= CGX_F64; }

/// Creates the id of a communicator on the first member, which sends it to the others.
static Result<ncclUniqueId> agreeOnId(const NcclApi &api, Transport &host,
                                      const std::vector<uint32_t> &members,
                                      std::chrono::milliseconds timeout) {
  ncclUniqueId id{};
  const uint32_t first = members.front();
  MessageBatch exchange(host, timeout);
  Tag tag{.step = 0, .collective = kNcclCollective, .phase = 0, .part = 0};
  if (host.rank() != first) {
    exchange.receive(first, tag, {std::as_writable_bytes(std::span(&id, 1))});
  } else {
    if (ncclResult_t result = api.getUniqueId(&id); result != ncclSuccess)
      return Status::error(CGX_INTERNAL, "nccl, making a unique id: ", api.getErrorString(result));
    for (uint32_t rank : members)
      if (rank != first)
        exchange.send(rank, tag, {std::as_bytes(std::span(&id, 1))});
  }
  if (Status status = exchange.finish(); !status.ok())
    return status;
  return id;
}

Result<std::unique_ptr<DeviceLink>> NcclLink::connect(const NcclApi &api, Transport &host,
                                                      std::vector<uint32_t> members,
                                                      std::chrono::milliseconds timeout) {
  Result<ncclUniqueId> id = agreeOnId(api, host, members, timeout);
  if (!id.ok())
    return id.status();
  std::map<uint32_t, int> positions;
  for (size_t i = 0; i < members.size(); ++i)
    positions[members[i]] = int(i);
  std::unique_ptr<NcclLink> link(new NcclLink(api, host, std::move(positions), timeout));
  if (Status status = link->start(*id); !status.ok())
    return status;
  return std::unique_ptr<DeviceLink>(std::move(link));
}

Status NcclLink::start(const ncclUniqueId &id) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclResult_t result =
      api.commInitRankConfig(&all, int(members.size()), id, members.at(host.rank()), &config);
  return settle(result, all, "connecting");
}

std::vector<ncclComm_t> NcclLink::communicators() const {
  std::vector<ncclComm_t> made;
  for (const auto &[groups, communicator] : split)
    if (communicator)
      made.push_back(communicator);
  if (all)
    made.push_back(all);
  return made;
}

NcclLink::~NcclLink() {
  // Destroying a communicator would wait for the last graph that has captured it.
  if (!whyGivenUp.ok() || isInGraphs)
    return;
  for (ncclComm_t communicator : communicators())
    (void)api.commDestroy(communicator);
}

/// NCCL may wait for graphs, for other ranks, and for kernels of one communicator that end with another. So
/// all are aborted at once, and no wait is long.
void NcclLink::giveUp(const Status &why) {
  if (!whyGivenUp.ok())
    return;
  whyGivenUp = why;
  std::promise<void> done;
  std::future<void> isDone = done.get_future();
  std::thread([&api = api, communicators = communicators(), done = std::move(done)]() mutable {
    (void)api.groupStart();
    for (ncclComm_t communicator : communicators)
      (void)api.commAbort(communicator);
    (void)api.groupEnd();
    done.set_value();
  }).detach();
  (void)isDone.wait_for(kAborting);
}

Status NcclLink::settle(ncclResult_t result, ncclComm_t communicator, const char *what) {
  if (result != ncclSuccess && result != ncclInProgress)
    return failed(result, communicator, what);
  WaitLoop waiting(host, timeout, kNaps);
  for (;;) {
    ncclResult_t state = ncclSuccess;
    if (ncclResult_t asked = api.commGetAsyncError(communicator, &state); asked != ncclSuccess)
      state = asked;
    if (state == ncclSuccess)
      return Status();
    if (state != ncclInProgress)
      return failed(state, communicator, what);
    Status status = waiting.turn(/*worked=*/false, [&] {
      std::set<uint32_t> peers;
      for (const auto &[rank, position] : members)
        if (rank != host.rank())
          peers.insert(rank);
      return peers;
    });
    if (!status.ok()) {
      status = status.within(concat("nccl, ", what));
      giveUp(status);
      return status;
    }
  }
}

Status NcclLink::failed(ncclResult_t result, ncclComm_t communicator, const char *what) {
  const char *more = communicator ? api.getLastError(communicator) : nullptr;
  Status status = Status::error(result == ncclRemoteError       ? CGX_PEER_DIED
                                : result == ncclInvalidUsage    ? CGX_INVALID_ARGUMENT
                                : result == ncclInvalidArgument ? CGX_INVALID_ARGUMENT
                                                                : CGX_INTERNAL,
                                "nccl, ", what, ": ", api.getErrorString(result), more && *more ? ": " : "",
                                more ? more : "");
  giveUp(status);
  // The host transport knows better, if a little later, which rank is gone.
  for (Clock::time_point end = Clock::now() + kNoticing; Clock::now() < end && members.size() > 1;) {
    bool moved = false;
    if (Status told = host.progress(moved); !told.ok())
      return whyGivenUp = told;
    if (Status gone = host.checkPeers(); !gone.ok())
      return whyGivenUp = gone.within(status.message());
    if (status.getCode() == CGX_INVALID_ARGUMENT)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return status;
}

Status NcclLink::exchange(std::span<const DeviceOutgoing> outgoing, std::span<const DeviceIncoming> incoming,
                          CUstream_st *stream) {
  if (!whyGivenUp.ok())
    return whyGivenUp;
  isInGraphs = isInGraphs || cuda::isCapturing(stream);
  ncclResult_t result = api.groupStart();
  for (const DeviceOutgoing &message : outgoing)
    if (result == ncclSuccess && message.bytes != 0)
      result = api.send(message.memory, message.bytes, ncclUint8, members.at(message.peer), all, stream);
  for (const DeviceIncoming &message : incoming)
    if (result == ncclSuccess && message.bytes != 0)
      result = api.recv(message.memory, message.bytes, ncclUint8, members.at(message.peer), all, stream);
  const ncclResult_t ended = api.groupEnd();
  return settle(result == ncclSuccess ? ended : result, all, "sending and receiving");
}

bool NcclLink::takes(const Groups &groups, std::span<const DeviceCollective> collectives) const {
  // Members must agree, so the groups of all of them count.
  for (const std::vector<uint32_t> &group : groups) {
    const auto inside =
        std::count_if(group.begin(), group.end(), [&](uint32_t rank) { return reaches(rank); });
    if (inside != 0 && size_t(inside) != group.size())
      return false;
  }
  return std::all_of(collectives.begin(), collectives.end(), [](const DeviceCollective &collective) {
    return typeOf(collective.type) && (!reduces(collective.kind) || isFloat(collective.type) ||
                                       collective.reduction != LinkReduction::Mean);
  });
}

Result<ncclComm_t> NcclLink::communicatorOf(const Groups &groups) {
  if (auto known = split.find(groups); known != split.end())
    return known->second;
  int color = NCCL_SPLIT_NOCOLOR, key = 0;
  for (size_t row = 0; row < groups.size(); ++row)
    for (size_t position = 0; position < groups[row].size(); ++position)
      if (groups[row][position] == host.rank()) {
        color = int(row);
        key = int(position);
      }
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t &made = split[groups]; // NCCL may write to it even after this rank has given up
  if (Status status = settle(api.commSplit(all, color, key, &made, &config), all, "splitting"); !status.ok())
    return status;
  if (made)
    if (Status status = settle(ncclSuccess, made, "splitting"); !status.ok())
      return status;
  return made;
}

ncclResult_t NcclLink::put(const DeviceCollective &of, ncclComm_t communicator, cudaStream_t stream) const {
  const ncclDataType_t type = *typeOf(of.type);
  switch (of.kind) {
  case Kind::AllReduce:
    return api.allReduce(of.input, of.output, of.elements, type, reductionOf(of.reduction), communicator,
                         stream);
  case Kind::AllGather:
    return api.allGather(of.input, of.output, of.elements, type, communicator, stream);
  case Kind::ReduceScatter:
    return api.reduceScatter(of.input, of.output, of.elements, type, reductionOf(of.reduction), communicator,
                             stream);
  case Kind::Broadcast:
    return api.broadcast(of.input, of.output, of.elements, type, int(of.root), communicator, stream);
  }
  return ncclInvalidArgument;
}

Status NcclLink::run(const Groups &groups, std::span<const DeviceCollective> collectives,
                     CUstream_st *stream) {
  if (!whyGivenUp.ok())
    return whyGivenUp;
  Result<ncclComm_t> communicator = communicatorOf(groups);
  if (!communicator.ok())
    return communicator.status();
  if (!*communicator)
    return Status();
  isInGraphs = isInGraphs || cuda::isCapturing(stream);
  ncclResult_t result = api.groupStart();
  for (const DeviceCollective &collective : collectives)
    if (result == ncclSuccess && collective.elements != 0)
      result = put(collective, *communicator, stream);
  const ncclResult_t ended = api.groupEnd();
  return settle(result == ncclSuccess ? ended : result, *communicator, "a collective");
}

Status NcclLink::check() {
  if (!whyGivenUp.ok())
    return whyGivenUp;
  auto ask = [&](ncclComm_t communicator) {
    ncclResult_t state = ncclSuccess;
    if (ncclResult_t asked = api.commGetAsyncError(communicator, &state); asked != ncclSuccess)
      state = asked;
    return state == ncclSuccess || state == ncclInProgress ? Status()
                                                           : failed(state, communicator, "between GPUs");
  };
  if (Status status = ask(all); !status.ok())
    return status;
  for (const auto &[groups, communicator] : split)
    if (communicator)
      if (Status status = ask(communicator); !status.ok())
        return status;
  return Status();
}

} // namespace cgx
