//===-- kernels/cpu/Lossless.cpp - Entropy-coded exponents -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "LosslessLoops.h"

namespace cgx {

using namespace lossless;

using Mantissas = PlainMantissas<ReferenceLoops>;
const BodyKernels losslessReference = {encodeBody<ReferenceLoops, Mantissas>,
                                       decodeBody<ReferenceLoops, Mantissas>,
                                       decodeAccumulateBody<ReferenceLoops, Mantissas>};

} // namespace cgx
