//===-- transport/DeviceLink.h - Messages between GPUs ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transport may have, beside messages between hosts, a link from the memory of one GPU to that of another,
// in stream order. Each call that puts work on a stream returns at once. Code that waits for the stream calls
// check() meanwhile, since a stream does not end when a peer has died.
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

/// A message from the memory of this rank's GPU. Both ranks know its length; between two ranks messages
/// arrive in the order in which they were put.
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

/// A collective of uncompressed elements that the link executes by itself.
struct DeviceCollective {
  enum class Kind { AllReduce, AllGather, ReduceScatter, Broadcast } kind = Kind::AllReduce;
  enum class Reduction { Sum, Mean, Max, Min, Product } reduction = Reduction::Sum;
  cgx_element_type type = CGX_F32;
  uint64_t elements = 0; ///< of a tensor, or of one rank's part where each rank has a part
  uint32_t root = 0;     ///< of a broadcast: a position in the group
  const std::byte *input = nullptr;
  std::byte *output = nullptr;
};

class DeviceLink {
public:
  /// Groups of ranks, one per row; a rank may be in none.
  using Groups = std::vector<std::vector<uint32_t>>;

  virtual ~DeviceLink() = default;

  /// Returns true if this rank can exchange messages with `rank`.
  virtual bool reaches(uint32_t rank) const = 0;

  /// Puts all messages on the stream as one exchange. The peers put theirs in the same order of exchanges.
  virtual Status exchange(std::span<const DeviceOutgoing> outgoing, std::span<const DeviceIncoming> incoming,
                          CUstream_st *stream) = 0;

  /// Returns true if the link executes all of these collectives in these groups by itself. All ranks of a
  /// group get the same answer.
  virtual bool takes(const Groups &groups, std::span<const DeviceCollective> collectives) const = 0;

  /// Puts the collectives on the stream, in this rank's group; does nothing for a rank in no group. The first
  /// call with these groups must be made by all ranks that the link reaches, also by those in no group.
  virtual Status run(const Groups &groups, std::span<const DeviceCollective> collectives,
                     CUstream_st *stream) = 0;

  /// Returns OK, or the error of the work on streams.
  virtual Status check() = 0;

  /// Releases work on streams that waits for other ranks. Nothing can be put on streams afterwards.
  virtual void abort() = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_DEVICELINK_H
