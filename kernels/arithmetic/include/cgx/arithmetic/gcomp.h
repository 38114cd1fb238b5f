//===-- gcomp.h - How much of a gradient an optimizer sees ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The multi-level quantization of GComp (5.1, table 2). An update adds a number that is proportional to the
// gradient to one that is not: what of the former lies below the last place of the latter is lost, and need
// not be sent. With `step` the factor of the gradient g, `rest` all else, and p and m the bits of the
// mantissas of parameter and gradient, level l drops the lowest n bits of g only if
//
//     |rest| > 2^(n + p - m) |step g|        and so changes the new parameter by at most 2^-p |rest|.
//
// Where the update divides by the root of a second moment, both sides are multiplied by it: nothing is
// divided by element. All is computed in f64, whose range the products of f32 numbers do not leave, with one
// rounding for each operation.
//
// Bits of elements stand for themselves in f32; those of 16-bit types are the upper half of 32, as in
// exponents.h.
#ifndef CGX_ARITHMETIC_GCOMP_H
#define CGX_ARITHMETIC_GCOMP_H

#include "cgx/arithmetic/device.h"
#include "cgx/kernels/optimizer.h"

namespace cgx {

constexpr uint32_t gcompLevels = 4;

/// Bits of the mantissa of f32, f16 or bf16.
constexpr uint32_t mantissaBits(cgx_element_type type) {
  return type == CGX_F32 ? 23 : type == CGX_F16 ? 10 : 7;
}

/// Bits that a level drops. Of a 16-bit element at most the seven that are no symbol of the entropy code.
constexpr uint32_t gcompDroppedBits(const cgx_codec &codec, cgx_element_type type, uint32_t level) {
  const uint32_t each = codec.truncation != 0 ? codec.truncation : type == CGX_F32 ? 6 : 2;
  const uint32_t most = type == CGX_F32 ? 23 : 7;
  return each * level < most ? each * level : most;
}

/// Of the 24 bits of sign and mantissa, the lowest ones that are not sent.
constexpr uint32_t gcompShift(const cgx_codec &codec, cgx_element_type type, uint32_t level) {
  return (type == CGX_F32 ? 0 : 16) + gcompDroppedBits(codec, type, level);
}

/// `base` to a power, by squaring: the same bits whatever the machine's library.
constexpr double powerOf(double base, uint64_t exponent) {
  double power = 1.0;
  for (; exponent != 0; exponent >>= 1, base *= base)
    if (exponent & 1)
      power *= base;
  return power;
}

constexpr double powerOfTwo(int exponent) {
  return exponent < 0 ? 1.0 / powerOf(2.0, uint64_t(-exponent)) : powerOf(2.0, uint64_t(exponent));
}

/// The metric of an optimizer, for an element of gradient g, parameter p and moments m and v:
///     root = sqrt(second v + square (g + decay p)^2)
///     rest = p ((root + epsilon) rooted + plain) - first m,      step = gradient
struct GcompMetric {
  double second = 0, square = 0, decay = 0, epsilon = 0, rooted = 0, plain = 0, first = 0, gradient = 0;
  double thresholds[gcompLevels - 1] = {}; ///< of |rest| / |step g|, for levels 1 and up
};

/// The codec's own, or that of the step. With one that is not finite, all levels are 0.
CGX_DEVICE_INLINE float gcompLearningRate(const cgx_codec &codec, const OptimizerTensors &optimizer) {
  return codec.learning_rate != 0 ? codec.learning_rate
                                  : loadFrom<float>(optimizer.kept[CGX_KEPT_LEARNING_RATE].elements);
}

/// Constants of the codec are f32, and what they make here f64.
CGX_DEVICE_INLINE GcompMetric makeGcompMetric(const cgx_codec &codec, cgx_element_type type,
                                              const OptimizerTensors &optimizer) {
  const double rate = gcompLearningRate(codec, optimizer);
  const double decay = codec.weight_decay, momentum = codec.momentum;
  const double beta1 = codec.beta1, beta2 = codec.beta2;
  GcompMetric metric;
  metric.decay = decay;
  metric.epsilon = codec.epsilon;
  metric.gradient = rate;
  switch (codec.optimizer) {
  case CGX_OPTIMIZER_SGD:
    metric.plain = 1 - rate * decay;
    break;
  case CGX_OPTIMIZER_MOMENTUM:
    metric.gradient = rate * (1 - double(codec.dampening));
    metric.plain = 1 - metric.gradient * decay;
    metric.first = rate * momentum;
    break;
  case CGX_OPTIMIZER_NESTEROV:
    metric.gradient = rate * (1 + momentum);
    metric.plain = 1 - metric.gradient * decay;
    metric.first = rate * momentum * momentum;
    break;
  case CGX_OPTIMIZER_ADAGRAD:
    metric.second = metric.square = metric.rooted = 1;
    metric.plain = -rate * decay;
    break;
  case CGX_OPTIMIZER_RMSPROP:
    metric.second = beta2;
    metric.square = 1 - beta2;
    metric.rooted = 1;
    metric.plain = -rate * decay;
    break;
  case CGX_OPTIMIZER_ADAM:
  case CGX_OPTIMIZER_ADAMW: {
    const double corrected2 = 1 - powerOf(beta2, optimizer.update);
    metric.second = beta2 / corrected2;
    metric.square = (1 - beta2) / corrected2;
    metric.rooted = 1 - powerOf(beta1, optimizer.update);
    metric.first = rate * beta1;
    metric.gradient = rate * (1 - beta1);
    if (codec.optimizer == CGX_OPTIMIZER_ADAM) {
      metric.plain = -metric.gradient * decay;
    } else { // the weight decays beside the gradient
      metric.rooted *= 1 - rate * decay;
      metric.decay = 0;
    }
    break;
  }
  }
  for (uint32_t level = 1; level < gcompLevels; ++level)
    metric.thresholds[level - 1] =
        powerOfTwo(int(gcompDroppedBits(codec, type, level)) +
                   int(mantissaBits(optimizer.kept[CGX_KEPT_PARAMETER].type)) - int(mantissaBits(type)));
  return metric;
}

/// The level of an element. What is not finite has level 0: no comparison with it holds.
CGX_DEVICE_INLINE uint32_t gcompLevel(const GcompMetric &metric, double gradient, double parameter,
                                      double first, double second) {
  const double decayed = gradient + metric.decay * parameter;
  const double root = __builtin_sqrt(metric.second * second + metric.square * (decayed * decayed));
  const double rest =
      parameter * ((root + metric.epsilon) * metric.rooted + metric.plain) - metric.first * first;
  const double size = __builtin_fabs(rest), step = __builtin_fabs(metric.gradient * gradient);
  return uint32_t(size > metric.thresholds[0] * step) + uint32_t(size > metric.thresholds[1] * step) +
         uint32_t(size > metric.thresholds[2] * step);
}

/// Zero pruning (5.2): what is so small that it has no exponent is sent as the zero of its sign. Of f16,
/// whose subnormal numbers gradients do reach, nothing.
CGX_DEVICE_INLINE uint32_t gcompPruned(cgx_element_type type, uint32_t bits) {
  return type != CGX_F16 && (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
}

/// Subnormal numbers of f16 have fewer bits than their mantissa has, and none to spare.
CGX_DEVICE_INLINE bool gcompIsShort(cgx_element_type type, uint32_t bits) {
  return type == CGX_F16 && (bits & 0x7c000000u) == 0;
}

/// The element without its lowest `shift` bits: the nearest one, away from zero of two, except where that
/// would change the bits above the mantissa that is sent; then the next one towards zero.
CGX_DEVICE_INLINE uint32_t gcompRounded(uint32_t bits, uint32_t shift) {
  const uint32_t dropped = (1u << shift) - 1;
  const uint32_t rounded = (bits + ((dropped + 1) >> 1)) & ~dropped;
  return ((rounded ^ bits) & 0xff800000u) == 0 ? rounded : bits & ~dropped;
}

} // namespace cgx

#endif // CGX_ARITHMETIC_GCOMP_H
