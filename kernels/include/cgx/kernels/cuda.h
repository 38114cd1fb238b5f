//===-- cuda.h - Codecs on the memory of a GPU ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These are the codecs of codecs.h for many layers at once, on memory of one GPU, with the same bits. A
// launch group is made once, from a table of layers; it keeps the table, and the scratch memory of its
// kernels, on the device. Running it launches a number of kernels that depends on the codecs in it and not on
// the number of layers, allocates nothing and waits for nothing, so that it can be captured in a CUDA graph.
// Inputs that differ from step to step, the elements and the StepState, are read from device memory when the
// kernels run.
//
// Buffers are device memory, aligned to their elements, payloads to 8 bytes. An empty layer is skipped.
// Nothing here needs CUDA headers, and everything can be called on a machine without a GPU, where it returns
// what is missing.
#ifndef CGX_KERNELS_CUDA_H
#define CGX_KERNELS_CUDA_H

#include "cgx/arithmetic/residual.h"
#include "cgx/codec.h"
#include "cgx/kernels/optimizer.h"
#include "cgx/kernels/payload.h"
#include "cgx/kernels/reduce.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

struct CUstream_st;

namespace cgx::cuda {

/// A cudaStream_t; null is the default stream.
using Stream = CUstream_st *;

/// The outcome of a call: an error message for a person, empty after success.
struct [[nodiscard]] Outcome {
  std::string error;
  bool ok() const { return error.empty(); }
};

/// Returns ok if this process can use a GPU, else the reason, such as "no CUDA device: no driver is
/// installed".
Outcome availability();

/// The numbers that, besides the layer, determine random numbers. They lie in device memory.
struct StepState {
  uint64_t seed;
  uint64_t step;
  uint64_t run; ///< how often the layers were exchanged in this step: counts as two phases
};

/// The error feedback of a layer, in device memory. The layer plus its residual is encoded, in f32. The
/// encoding error times `decay` becomes the new residual, bit for bit as on the CPU. A rejected contribution
/// leaves the residual unchanged.
struct Feedback {
  ResidualStorage storage = ResidualStorage::F32;
  float decay = 1.0f;
  void *residual = nullptr; ///< as many elements as the layer has; null: there is no error feedback
  float *scales = nullptr;  ///< of Int8: one for each 128 elements, from the layer's first one on
};

/// The encoding of a layer. Random numbers are those of makeRandomKey(seed, step, layerId, rank, phase + 2 *
/// run).
struct EncodedLayer {
  cgx_codec codec = {};
  cgx_element_type type = CGX_F32;
  uint64_t elements = 0;
  uint64_t firstElement = 0; ///< the position of the first one in its tensor
  uint64_t layerId = 0, rank = 0, phase = 0;
  void *payload = nullptr; ///< of cgx_payload_bytes() bytes
  Feedback feedback = {};  ///< of codecs but identity, which loses nothing
  /// The optimizer's tensors, for codecs that read them, in device memory, each aligned to its elements; the
  /// updates are the steps of the StepState. Without a parameter such codecs send every bit that they would
  /// otherwise weigh.
  OptimizerTensors optimizer = {};
};

/// A tensor to encode, as `encode` does; or sums in f32 of elements of `type`, as `encodeFromF32` does.
struct EncodeLayer {
  EncodedLayer encoded;
  const void *input = nullptr;
  bool isSum = false;
};

/// The chunk that a rank owns: one payload of its codec from each rank, which are added in their order from 0
/// (uncompressed ones from -0), divided by `divisor`, and encoded as sums.
struct OwnerLayer {
  EncodedLayer encoded;
  std::vector<const void *> contributions;
  uint32_t divisor = 1;
};

/// Payloads, one from each rank, that are added in their order: to elements that a rank has, or from 0
/// (uncompressed ones from -0). Sums are computed in f32, divided by `divisor`, and rounded once to elements
/// of `type`.
struct ReduceLayer {
  cgx_codec codec = {};
  cgx_element_type type = CGX_F32;
  uint64_t elements = 0;
  std::vector<const void *> contributions;
  uint32_t divisor = 1;
  ReduceOp reduction = ReduceOp::sum; ///< another one of the codec identity only
  const void *own = nullptr;          ///< elements to begin with, or null
  void *output = nullptr;             ///< may be `own`
};

/// A payload to decode into elements of `type`, or to add to accumulators in f32.
struct DecodeLayer {
  cgx_codec codec = {};
  cgx_element_type type = CGX_F32;
  const void *payload = nullptr;
  uint64_t payloadBytes = 0; ///< that were received; of payloads that vary in size, the room
  uint64_t elements = 0;
  void *output = nullptr;
};

/// A group of layers that is encoded, decoded or accumulated by one call.
class Group {
public:
  virtual ~Group() = default;

  /// Launches the kernels on the stream. `state` is device memory, and not read when nothing is encoded.
  /// Returns errors of launching; errors of payloads are in results().
  virtual Outcome run(Stream stream, const StepState *state) = 0;

  /// Copies the errors of the last run, after the stream has reached this point: one for each payload that
  /// was read, in the order of the layers and their contributions. The output of a rejected payload is not
  /// written. Waits for the stream.
  virtual Outcome results(Stream stream, std::vector<DecodeError> &errors) = 0;

  /// Returns how many kernels a run launches.
  virtual uint32_t launches() const = 0;
};

/// Makes groups. Returns null with an error for codecs that checkCodec() rejects or that have no kernels for
/// GPUs, for pointers that are not aligned, and without a GPU.
std::unique_ptr<Group> makeEncodeGroup(std::span<const EncodeLayer> layers, Outcome &outcome);
std::unique_ptr<Group> makeOwnerGroup(std::span<const OwnerLayer> layers, Outcome &outcome);
std::unique_ptr<Group> makeReduceGroup(std::span<const ReduceLayer> layers, Outcome &outcome);
std::unique_ptr<Group> makeDecodeGroup(std::span<const DecodeLayer> layers, Outcome &outcome);
std::unique_ptr<Group> makeAccumulateGroup(std::span<const DecodeLayer> layers, Outcome &outcome);

/// Adds 1 to the step, on the stream: the last node of a graph that is replayed every step.
Outcome advanceStep(Stream stream, StepState *state);

/// Returns "" when the GPU kernels take this codec for this element type, else what is wrong with it.
std::string checkCodec(const cgx_codec &codec, cgx_element_type type);

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_H
