//===-- ModelParts.h - Parts of the models of collectives -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_UNIT_RUNTIME_MODELPARTS_H
#define CGX_TEST_UNIT_RUNTIME_MODELPARTS_H

#include "Model.h"

#include "cgx/kernels/optimizer.h"

namespace cgx::test {

/// Reduces elements in the order of `inputs` and rounds once.
void reduceExact(cgx_element_type type, const std::vector<const std::byte *> &inputs, uint64_t elements,
                 const std::string &reduction, std::byte *output);

/// Returns the optimizer tensors that codecs may read in a step.
OptimizerTensors optimizerOf(const OperandSpec &operand, const ModelKey &key);

/// Returns the payload of `encoder` in phase 0 or 1. Codecs that choose elements at random make equal choices
/// everywhere.
Bytes encodePart(const OperandSpec &operand, const std::byte *input, uint64_t first, uint64_t elements,
                 const ModelKey &key, uint32_t encoder, uint64_t phase);

/// Encodes and decodes, as a rank's tensor is when it is sent to others.
Bytes roundTrip(const OperandSpec &operand, const std::byte *input, uint64_t first, uint64_t elements,
                const ModelKey &key, uint32_t encoder, uint64_t phase);

/// Sums the lossy contributions to the elements [first, first + elements), in f32.
std::vector<float> reduceLossy(const OperandSpec &operand, const std::vector<const std::byte *> &inputs,
                               uint64_t first, uint64_t elements, const std::string &reduction,
                               const ModelKey &key, const std::vector<uint32_t> &row);

/// Rounds values to a type that codecs take.
Bytes rounded(cgx_element_type type, const std::vector<float> &values);

/// Returns the group of a rank.
std::vector<uint32_t> rowOf(const std::vector<std::vector<uint32_t>> &groups, uint32_t rank);

} // namespace cgx::test

#endif // CGX_TEST_UNIT_RUNTIME_MODELPARTS_H
