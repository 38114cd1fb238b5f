//===-- gcomp.h - The bits of a gradient that an optimizer uses -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the multi-level quantization of GComp (5.1, table 2). An update adds a number proportional to the
// gradient to one that is not. Bits of the former below the last place of the latter are lost, so they need
// not be sent. Let `step` be the factor of the gradient g, `rest` everything else in the update, and p and m
// the bits of the mantissas of parameter and gradient. Level l drops the lowest n bits of g only if
//
//     |rest| > 2^(n + p - m) |step g|
//
// and so changes the new parameter by at most 2^-p |rest|.
//
// Where the update divides by the root of a second moment, both sides are multiplied by it, so there is no
// division by element. Everything is computed in f64, whose range products of f32 numbers do not leave, with
// one rounding for each operation.
//
// Elements are handled as 32 bits, as in exponents.h: an f32 as it is, a 16-bit element as their upper half.
#ifndef CGX_ARITHMETIC_GCOMP_H
#define CGX_ARITHMETIC_GCOMP_H

#include "cgx/arithmetic/device.h"
#include "cgx/kernels/optimizer.h"

namespace cgx {

constexpr uint32_t gcompLevels = 4;

/// Returns the bits of the mantissa of f32, f16 or bf16.
constexpr uint32_t mantissaBits(cgx_element_type type) {
  return type == CGX_F32 ? 23 : type == CGX_F16 ? 10 : 7;
}

/// Returns how many bits a level drops. A 16-bit element loses at most the seven bits that are not
/// entropy-coded.
constexpr uint32_t gcompDroppedBits(const cgx_codec &codec, cgx_element_type type, uint32_t level) {
  const uint32_t each = codec.truncation != 0 ? codec.truncation : type == CGX_F32 ? 6 : 2;
  const uint32_t most = type == CGX_F32 ? 23 : 7;
  return each * level < most ? each * level : most;
}

/// Returns how many of the lowest of 24 bits, which hold sign and mantissa, are not sent.
constexpr uint32_t gcompShift(const cgx_codec &codec, cgx_element_type type, uint32_t level) {
  return (type == CGX_F32 ? 0 : 16) + gcompDroppedBits(codec, type, level);
}

/// Returns `base` to a power by squaring, which gives the same bits with every math library.
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
  double thresholds[gcompLevels - 1] = {}; ///< the least |rest| / |step g| of levels 1 and up
};

/// Returns the learning rate of the codec, or else of the step. If it is not finite, all levels are 0.
CGX_DEVICE_INLINE float gcompLearningRate(const cgx_codec &codec, const OptimizerTensors &optimizer) {
  return codec.learning_rate != 0 ? codec.learning_rate
                                  : loadFrom<float>(optimizer.kept[CGX_KEPT_LEARNING_RATE].elements);
}

/// Returns the metric of a codec. The codec's constants are f32; what is computed from them is f64.
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
    } else { // the weight decays apart from the gradient
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

/// Returns the level of an element. An element that is not finite has level 0, because no comparison with it
/// holds.
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

/// Prunes zeros (5.2): returns the zero of its sign for an element so small that its exponent is 0. An f16 is
/// returned unchanged, because gradients do reach its subnormal numbers.
CGX_DEVICE_INLINE uint32_t gcompPruned(cgx_element_type type, uint32_t bits) {
  return type != CGX_F16 && (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
}

/// Returns whether an element is a subnormal f16, which has fewer significant bits than its mantissa, and
/// none to spare.
CGX_DEVICE_INLINE bool gcompIsShort(cgx_element_type type, uint32_t bits) {
  return type == CGX_F16 && (bits & 0x7c000000u) == 0;
}

/// Clears the lowest `shift` bits of an element, rounding to the nearest and halves away from zero. Where
/// that would carry into the bits above the mantissa that is sent, it rounds towards zero.
CGX_DEVICE_INLINE uint32_t gcompRounded(uint32_t bits, uint32_t shift) {
  const uint32_t dropped = (1u << shift) - 1;
  const uint32_t rounded = (bits + ((dropped + 1) >> 1)) & ~dropped;
  return ((rounded ^ bits) & 0xff800000u) == 0 ? rounded : bits & ~dropped;
}

} // namespace cgx

#endif // CGX_ARITHMETIC_GCOMP_H
