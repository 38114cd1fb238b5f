//===-- kernels/cpu/Gcomp.cpp - Mantissas as short as the optimizer allows ===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "GcompLoops.h"
#include "LosslessLoops.h"

namespace cgx {

using namespace lossless;

using Mantissas = LeveledMantissas<ReferenceGcompLoops>;
const BodyKernels gcompReference = {encodeBody<ReferenceLoops, Mantissas>,
                                    decodeBody<ReferenceLoops, Mantissas>,
                                    decodeAccumulateBody<ReferenceLoops, Mantissas>};

} // namespace cgx
