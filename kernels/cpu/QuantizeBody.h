//===-- QuantizeBody.h - A body of quantize, cut into sections --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CPU_QUANTIZEBODY_H
#define CGX_KERNELS_CPU_QUANTIZEBODY_H

#include "CodecFamily.h"
#include "cgx/arithmetic/quantize_sections.h"

namespace cgx {

inline QuantizeEncodeArguments cutBody(const EncodeArguments &arguments) {
  return QuantizeEncodeArguments{arguments.codec,
                                 arguments.source,
                                 arguments.input,
                                 arguments.elements,
                                 arguments.key,
                                 arguments.firstElement,
                                 arguments.body,
                                 arguments.body + tableBytes(*arguments.codec),
                                 arguments.body + levelsOffset(*arguments.codec, arguments.elements),
                                 arguments.levels};
}

inline QuantizeDecodeArguments cutBody(const DecodeArguments &arguments) {
  return QuantizeDecodeArguments{
      arguments.codec, arguments.body, arguments.body + tableBytes(*arguments.codec),
      arguments.body + levelsOffset(*arguments.codec, arguments.elements), arguments.elements};
}

} // namespace cgx

#endif // CGX_KERNELS_CPU_QUANTIZEBODY_H
