//===-- kernels/cpu/Gcomp.cpp - Mantissas as long as the optimizer sees ---===//
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
namespace {

using namespace lossless;

/// A decay of a moment, or what dampens one.
bool isDecay(float value) { return value >= 0.0f && value < 1.0f; }

const char *checkGcomp(const cgx_codec &codec, cgx_element_type type) {
  if (const char *wrong = checkIsFloat(type))
    return wrong;
  if (codec.optimizer >= CGX_OPTIMIZER_COUNT)
    return "expected optimizer sgd, momentum, nesterov, adagrad, rmsprop, adam or adamw";
  if (codec.truncation > CGX_GCOMP_MOST_TRUNCATION)
    return "expected truncation of at most 7 bits a level";
  if (!(codec.learning_rate >= 0.0f) || !isFinite(codec.learning_rate))
    return "expected a learning rate of at least 0";
  if (!(codec.weight_decay >= 0.0f) || !isFinite(codec.weight_decay))
    return "expected a weight decay of at least 0";
  if (!(codec.epsilon >= 0.0f) || !isFinite(codec.epsilon))
    return "expected an epsilon of at least 0";
  if (!isDecay(codec.momentum) || !isDecay(codec.dampening) || !isDecay(codec.beta1) || !isDecay(codec.beta2))
    return "expected momentum, dampening, beta1 and beta2 of at least 0 and below 1";
  return nullptr;
}

using Mantissas = LeveledMantissas<ReferenceGcompLoops>;
constexpr BodyKernels reference = {encodeBody<ReferenceLoops, Mantissas>,
                                   decodeBody<ReferenceLoops, Mantissas>,
                                   decodeAccumulateBody<ReferenceLoops, Mantissas>};

} // namespace

const CodecFamily gcompFamily = {"gcomp", /*hasEnvelope=*/true, checkGcomp, &reference};

} // namespace cgx
