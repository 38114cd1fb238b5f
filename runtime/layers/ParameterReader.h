//===-- ParameterReader.h - The parameters of a codec in brackets --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_PARAMETERREADER_H
#define CGX_LAYERS_PARAMETERREADER_H

#include "cgx/layers/Codec.h"

namespace cgx::layers {

/// Reads `<name = value, ...>` of a family as the attribute of the dialect is read, with its messages. The
/// text may hold other codecs' brackets nowhere. Nothing, and why not in `reason`, where that is wrong.
std::optional<CodecValues> readParameters(uint32_t family, std::string_view text, std::string &reason);

/// A real number, as it stands there. Returns what is wrong, or "".
std::string readReal(std::string_view text, double &value);

} // namespace cgx::layers

#endif // CGX_LAYERS_PARAMETERREADER_H
