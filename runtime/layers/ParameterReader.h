//===-- ParameterReader.h - Reader of codec parameters in brackets -*- C++ -*-===//
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

/// Reads `<name = value, ...>` of a family as the dialect reads the attribute, with the same messages. The
/// text must not contain other codecs in brackets. Returns nothing if it is wrong, and `reason` tells why.
std::optional<CodecValues> readParameters(uint32_t family, std::string_view text, std::string &reason);

/// Reads a real number in the form of an attribute. Returns what is wrong, or "".
std::string readReal(std::string_view text, double &value);

} // namespace cgx::layers

#endif // CGX_LAYERS_PARAMETERREADER_H
