//===-- cgx/run/CodecState.h - State of codecs in checkpoints ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint holds, beside the state of the program, the state of the runtime's codecs
// (residuals of error feedback): one tensor per rank and part, named `cgx.codec_state/rank3/<name
// that the runtime gives it>`.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_CODECSTATE_H
#define CGX_RUN_CODECSTATE_H

#include "cgx/run/Manifest.h"
#include "cgx/run/Safetensors.h"
#include "cgx/runtime.h"

namespace cgx::run {

/// Returns true if a tensor of a checkpoint belongs to a codec and not to the program.
bool isCodecState(std::string_view name);
/// Returns true if the tensor belongs to a codec of that rank.
bool isCodecState(std::string_view name, uint32_t rank);
/// Returns the name that the tensor has for a rank whose number is now `rank`.
std::string nameForRank(std::string_view name, uint32_t rank);

/// A copy of one state tensor of the runtime.
struct CodecTensor {
  std::string name; ///< its name in a checkpoint
  ElementType type = CGX_F32;
  std::vector<std::byte> bytes;

  TensorView view() const;
};

/// Copies the state that the codecs of `rank` carry from step to step.
std::vector<CodecTensor> copyCodecState(cgx_context *context, uint32_t rank);

/// Writes the codec state back from a checkpoint. Throws Error when the file lacks a part of it, has a part
/// in another size or type, or has more than the program keeps.
void restoreCodecState(cgx_context *context, uint32_t rank, const SafetensorsFile &checkpoint);

/// The result of restoring codec state from a checkpoint of another program, as far as that is sound. The
/// residuals of whole operands and the starting factors of lowrank belong to a layer, however that layer is
/// sent, and are taken over. State that belongs to chunks starts from zero, because other ranks may own the
/// chunks now. A rank that continues `from` no rank of the checkpoint starts entirely from zero.
struct Conversion {
  uint64_t taken = 0;            ///< the number of tensors that were taken over
  std::vector<std::string> anew; ///< the names of the tensors that start from zero
};
Conversion convertCodecState(cgx_context *context, std::optional<uint32_t> from,
                             const SafetensorsFile &checkpoint, const Manifest &manifest);

/// Returns the rank itself if the checkpoint has codec state of the same number of ranks.
std::optional<uint32_t> findSameRank(const SafetensorsFile &checkpoint, const Manifest &manifest,
                                     uint32_t rank);

/// Describes the conversion in one sentence.
std::string describe(const Conversion &conversion);

} // namespace cgx::run

#endif // CGX_RUN_CODECSTATE_H
