//===-- cgx/formats/Parse.h - Parts of documents -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that readers of several documents share. They throw Error.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_FORMATS_PARSE_H
#define CGX_FORMATS_PARSE_H

#include "cgx/formats/Fields.h"
#include "cgx/formats/Plan.h"

namespace cgx::formats {

Codec parseCodec(const nlohmann::json &value);
Codec parseCodecText(std::string_view text);

/// Returns the layers of a plan as every reader of plans needs them.
std::vector<PlannedLayer> parsePlannedLayers(const Fields &plan);

} // namespace cgx::formats

#endif // CGX_FORMATS_PARSE_H
