//===-- cgx/run/CodecState.h - What codecs remember, in files ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint holds, beside the state of the program, what the runtime's codecs
// remember (residuals of error feedback): one tensor for each rank and piece, named
// `cgx.codec_state/rank3/<name that the runtime gives it>`.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_CODECSTATE_H
#define CGX_RUN_CODECSTATE_H

#include "cgx/run/Manifest.h"
#include "cgx/run/Safetensors.h"
#include "cgx/runtime.h"

namespace cgx::run {

/// Whether a tensor of a checkpoint belongs to a codec, not to the program.
bool isCodecState(std::string_view name);
/// And to one of that rank.
bool isCodecState(std::string_view name, uint32_t rank);
/// The same for a rank that has another number now.
std::string nameForRank(std::string_view name, uint32_t rank);

/// A copy of one of the runtime's state tensors.
struct CodecTensor {
  std::string name; ///< as in a checkpoint
  ElementType type = CGX_F32;
  std::vector<std::byte> bytes;

  TensorView view() const;
};

/// Copies what the codecs of `rank` remember.
std::vector<CodecTensor> copyCodecState(cgx_context *context, uint32_t rank);

/// Writes it back, from a checkpoint. Throws Error when the file lacks a part of it, has it in another size
/// or type, or has more than the program remembers.
void restoreCodecState(cgx_context *context, uint32_t rank, const SafetensorsFile &checkpoint);

/// The same from a checkpoint of another program, as far as that is sound: what a rank has left out of whole
/// operands, and the factors that lowrank goes on from, belong to a layer, whatever it travels with. What
/// belongs to chunks, whose owners may be others now, begins anew, and so does all of a rank that goes on
/// `from` none of the checkpoint.
struct Conversion {
  uint64_t taken = 0;            ///< memories
  std::vector<std::string> anew; ///< what begins anew, by name
};
Conversion convertCodecState(cgx_context *context, std::optional<uint32_t> from,
                             const SafetensorsFile &checkpoint, const Manifest &manifest);

/// The rank itself, if the checkpoint has the memory of as many ranks.
std::optional<uint32_t> findSameRank(const SafetensorsFile &checkpoint, const Manifest &manifest,
                                     uint32_t rank);

/// That as a sentence.
std::string describe(const Conversion &conversion);

} // namespace cgx::run

#endif // CGX_RUN_CODECSTATE_H
