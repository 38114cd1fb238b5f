//===-- cgx/formats/Codec.h - Codecs in documents -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A codec is an object, {"family": "quantize", "bits": 4, ...}, with a family and parameters of
// cgx/codec_table.h. Their values are bounded in length; their ranges are not checked here.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_FORMATS_CODEC_H
#define CGX_FORMATS_CODEC_H

#include <string>
#include <vector>

namespace cgx::formats {

/// A parameter: a number or a name, or, without a value, a flag that is on.
struct CodecParameter {
  std::string name, value;

  bool operator==(const CodecParameter &) const = default;
};

struct Codec {
  std::string family;
  std::vector<CodecParameter> parameters; ///< by name, without flags that are off and error feedback
  std::string errorFeedback;              ///< storage of residuals; "" if there are none
  std::string decay = "1.0";
  std::string json; ///< the only spelling of the codec: names in order, no flag that is off

  bool operator==(const Codec &) const = default;
};

} // namespace cgx::formats

#endif // CGX_FORMATS_CODEC_H
