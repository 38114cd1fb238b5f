//===-- DeviceAllReduce.h - An all-reduce that is encoded on a GPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_DEVICEALLREDUCE_H
#define CGX_RUNTIME_CUDA_DEVICEALLREDUCE_H

#include "cgx/kernels/cuda_memory.h"
#include "collective/AllReduce.h"

namespace cgx {

/// One collective on one set of buffers: its groups and memory are made once, so that a steady program
/// allocates nothing.
class DeviceAllReduce {
public:
  explicit DeviceAllReduce(cuda::Stream stream) : stream(stream) {}

  /// Whether the collective can run here: a sum or mean of operands on a GPU, with codecs of which it has
  /// kernels and that keep no state.
  static bool takes(const Execution &execution, Buffers operands);

  Status prepare(const Execution &execution, Buffers operands);
  /// Whether it was prepared for these buffers and the operands' codecs.
  bool isOf(const Execution &execution, Buffers operands) const;

  Status run(Execution &execution);

private:
  /// The payloads of an operand: on the GPU every chunk's begins at an aligned address, on the host they lie
  /// as they are sent.
  struct Payloads {
    cuda::Memory whole, slots, gathered; ///< on the GPU; see AllReduce.h
    cuda::Memory hostWhole, hostSlots;
    uint64_t apart = 0; ///< from one chunk to the next, on the GPU

    std::byte *chunk(const cuda::Memory &of, uint64_t number) const {
      return of.get<std::byte>() + number * apart;
    }
  };

  Status allocate(const AllReduceOperand &operand, Payloads &payloads);
  void listContribution(const AllReduceOperand &operand, size_t index, const Payloads &payloads);
  void listOwner(const AllReduceOperand &operand, size_t index, const Payloads &payloads);
  void listResult(const AllReduceOperand &operand, size_t index, const Payloads &payloads);
  Status makeGroups();
  Status putState(const Execution &execution);
  Status scatter(Execution &execution, std::span<const AllReduceOperand> running);
  Status reduce(std::span<const AllReduceOperand> running);
  Status gather(Execution &execution, std::span<const AllReduceOperand> running);
  Status finish(std::span<const AllReduceOperand> running);

  /// Waits, and fails if a payload was refused; `senders` says whose they are.
  struct Sender {
    size_t operand;
    uint32_t rank;
  };
  Status check(cuda::Group &group, const std::vector<Sender> &senders,
               std::span<const AllReduceOperand> running);

  cuda::Stream stream;
  std::vector<OperandBuffers> buffers;
  std::vector<cgx_codec> codecs;
  std::vector<Payloads> payloads;
  cuda::Memory state, hostState;
  std::vector<cuda::EncodeLayer> contributions;
  std::vector<cuda::OwnerLayer> owned;
  std::vector<cuda::DecodeLayer> results;
  std::vector<Sender> ownedSenders, resultSenders;
  std::unique_ptr<cuda::Group> encode, own, decode;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_DEVICEALLREDUCE_H
