//===-- transport/DeviceLink.h - Bytes between GPUs -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a transport may have beside its messages between hosts: a way from the memory of one GPU to that of
// another, in the order of streams. All that is put on a stream returns at once; whoever waits for the stream
// asks check() meanwhile, since a stream does not end when a peer is gone.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_DEVICELINK_H
#define CGX_RUNTIME_TRANSPORT_DEVICELINK_H

#include "cgx/codec.h"
#include "status/Status.h"

#include <span>
#include <vector>

struct CUstream_st;

namespace cgx {

/// A message from the memory of this rank's GPU, and one into it. Both ranks know its length; between two
/// ranks messages arrive in the order in which they were put.
struct DeviceOutgoing {
  uint32_t peer = 0;
  const std::byte *memory = nullptr;
  uint64_t bytes = 0;
};
struct DeviceIncoming {
  uint32_t peer = 0;
  std::byte *memory = nullptr;
  uint64_t bytes = 0;
};

/// A collective of whole elements that a link does by itself.
struct DeviceCollective {
  enum class Kind { AllReduce, AllGather, ReduceScatter, Broadcast } kind = Kind::AllReduce;
  enum class Reduction { Sum, Mean, Max, Min, Product } reduction = Reduction::Sum;
  cgx_element_type type = CGX_F32;
  uint64_t elements = 0; ///< of a tensor; of one rank's part of it, where ranks have parts
  uint32_t root = 0;     ///< broadcast: a position in the group
  const std::byte *input = nullptr;
  std::byte *output = nullptr;
};

class DeviceLink {
public:
  /// Rows of ranks; a rank may be in none.
  using Groups = std::vector<std::vector<uint32_t>>;

  virtual ~DeviceLink() = default;

  /// Whether this rank can exchange messages with another.
  virtual bool reaches(uint32_t rank) const = 0;

  /// Puts all messages on the stream, as one exchange: the peers put theirs in the same order of exchanges.
  virtual Status exchange(std::span<const DeviceOutgoing> outgoing, std::span<const DeviceIncoming> incoming,
                          CUstream_st *stream) = 0;

  /// Whether the link does all of these by itself, in these groups: the same answer on all ranks of a group.
  virtual bool takes(const Groups &groups, std::span<const DeviceCollective> collectives) const = 0;

  /// Puts them on the stream, in this rank's group; a rank in no group has nothing to do. The first time with
  /// these groups, all ranks that the link reaches must call, those in no group too.
  virtual Status run(const Groups &groups, std::span<const DeviceCollective> collectives,
                     CUstream_st *stream) = 0;

  /// OK, or what went wrong with what is on streams.
  virtual Status check() = 0;

  /// Lets go what waits on streams for other ranks. Nothing can be put on streams afterwards.
  virtual void abort() = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_DEVICELINK_H
