//===-- collective/FactoredAllReduce.cpp - Sums of factors -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "collective/FactoredAllReduce.h"

#include "AllReduceAlgorithms.h"
#include "cgx/kernels/codecs.h"
#include "cgx/kernels/lowrank.h"
#include "collective/WideReduction.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace cgx {
namespace {

/// An operand on its way.
class Factored {
public:
  Factored(const Execution &execution, size_t index, const OperandBuffers &buffers)
      : execution(execution), operand(execution.collective.operands[index]), state(execution.states[index]),
        buffers(buffers), rank(operand.codec.rank), rows(operand.codec.rows),
        columns(operand.elements / rows), left(take(rank * rows)), right(take(rank * columns)),
        ownRight(take(rank * columns)), row(take(columns)), copy(isUsedAsItIs() ? nullptr : makeCopy()),
        matrix(copy ? copy : reinterpret_cast<const float *>(buffers.input)) {}

  uint64_t leftElements() const { return rank * rows; }
  uint64_t rightElements() const { return rank * columns; }
  OperandBuffers leftBuffers() const { return buffersOf(left, left); }
  OperandBuffers rightBuffers() const { return buffersOf(ownRight, right); }

  void computeLeft() const {
    std::span<float> begin = std::span(state.warmStart).first(rightElements());
    // Equal on all ranks, whose states are: no rank is part of the key.
    RandomKey key = makeRandomKey(execution.seed, execution.step, operand.layerId, /*rank=*/0,
                                  /*phase=*/2 * state.runs);
    if (drawZeroVectors(begin.data(), rank, columns, key))
      orthonormalize(begin.data(), rank, columns);
    multiply({matrix, rows, columns}, begin.data(), rank, left);
  }

  void computeRight() {
    isFinite = areFinite(left, leftElements());
    if (isFinite)
      orthonormalize(left, rank, rows);
    multiplyTransposed({matrix, rows, columns}, left, rank, ownRight);
  }

  void finish() {
    isFinite = isFinite && areFinite(right, rightElements());
    if (isFinite && state.contribution)
      storeLoss();
    writeResult();
    if (isFinite)
      storeWarmStart();
  }

private:
  float *take(uint64_t elements) const {
    return reinterpret_cast<float *>(execution.scratch.take(elements * sizeof(float)));
  }

  static OperandBuffers buffersOf(float *input, float *output) {
    return {reinterpret_cast<std::byte *>(input), reinterpret_cast<std::byte *>(output)};
  }

  bool isUsedAsItIs() const { return operand.type == CGX_F32 && !state.contribution; }

  /// The operand in f32, with what was lost of it before.
  float *makeCopy() const {
    std::span<float> sum(take(operand.elements), operand.elements);
    if (state.contribution)
      state.contribution->load(0, sum);
    else
      std::fill(sum.begin(), sum.end(), 0.0f);
    const cgx_codec exact{};
    (void)decodeAccumulate(exact, operand.type, buffers.input,
                           operand.elements * cgx_element_bytes(operand.type), operand.elements, sum.data());
    return sum.data();
  }

  void storeLoss() const {
    constexpr float largest = std::numeric_limits<float>::max();
    float decay = operand.errorFeedback->decay;
    for (uint64_t i = 0; i < rows; ++i) {
      reconstructRow(left, ownRight, rank, rows, columns, i, row);
      float *lost = copy + i * columns;
      for (uint64_t j = 0; j < columns; ++j)
        lost[j] = std::clamp(decay * (lost[j] - row[j]), -largest, largest);
    }
    state.contribution->store(0, {copy, operand.elements});
  }

  void writeResult() const {
    std::fill(row, row + columns, std::numeric_limits<float>::quiet_NaN());
    uint64_t rowBytes = columns * cgx_element_bytes(operand.type);
    for (uint64_t i = 0; i < rows; ++i) {
      if (isFinite)
        reconstructRow(left, right, rank, rows, columns, i, row);
      std::byte *output = buffers.output + i * rowBytes;
      if (operand.type == CGX_F32)
        std::memcpy(output, row, rowBytes);
      else
        narrow(operand.type, row, columns, output);
    }
  }

  /// Orthonormal, so that it neither grows nor fades from step to step.
  void storeWarmStart() const {
    std::copy_n(right, rightElements(), state.warmStart.begin());
    orthonormalize(state.warmStart.data(), rank, columns);
  }

  const Execution &execution;
  const OperandInfo &operand;
  OperandState &state;
  OperandBuffers buffers;
  uint32_t rank;
  uint64_t rows, columns;
  float *left, *right; ///< summed over the ranks
  float *ownRight;
  float *row;  ///< of a reconstruction
  float *copy; ///< of the operand, or null
  const float *matrix;
  bool isFinite = true;
};

/// Returns the operand that is sent in place of another: `elements` uncompressed f32, or none.
OperandInfo exactOperand(const OperandInfo &operand, uint64_t elements) {
  OperandInfo exact;
  exact.layer = operand.layer;
  exact.layerId = operand.layerId;
  exact.kind = operand.kind;
  exact.elements = elements;
  exact.shape = {elements};
  return exact;
}

Status runInPlaceOf(const Execution &execution, const CollectiveInfo &collective, Buffers operands) {
  Execution other = inPlaceOf(execution, collective);
  return runAllReduceOfGroup(other, operands);
}

} // namespace

bool hasFactors(const CollectiveInfo &collective) {
  return std::any_of(collective.operands.begin(), collective.operands.end(),
                     [](const OperandInfo &operand) { return operand.hasFactors(); });
}

FactorCollectives::FactorCollectives(const CollectiveInfo &collective) : left(collective), right(collective) {
  for (size_t i = 0; i < collective.operands.size(); ++i) {
    const OperandInfo &operand = collective.operands[i];
    const uint64_t rank = operand.hasFactors() ? operand.codec.rank : 0, rows = operand.codec.rows;
    if (rank != 0)
      left.operands[i] = exactOperand(operand, rank * rows);
    right.operands[i] = exactOperand(operand, rank == 0 ? 0 : rank * (operand.elements / rows));
  }
}

Execution inPlaceOf(const Execution &execution, const CollectiveInfo &collective) {
  return {.transport = execution.transport,
          .timeout = execution.timeout,
          .collective = collective,
          .group = execution.group,
          .seed = execution.seed,
          .step = execution.step,
          .scratch = execution.scratch,
          .states = execution.states,
          .counters = execution.counters,
          .encoder = execution.encoder};
}

Status runFactoredAllReduce(Execution &execution, Buffers operands) {
  CollectiveCounters &counters = execution.counters;
  const FactorCollectives travelling(execution.collective);
  std::vector<OperandBuffers> firstBuffers(operands.begin(), operands.end()), secondBuffers(operands.size());
  std::vector<Factored> factored;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!execution.collective.operands[i].hasFactors())
      continue;
    Stopwatch stopwatch(counters.encode);
    const Factored &one = factored.emplace_back(execution, i, operands[i]);
    one.computeLeft();
    firstBuffers[i] = one.leftBuffers();
    secondBuffers[i] = one.rightBuffers();
  }
  if (Status status = runInPlaceOf(execution, travelling.left, firstBuffers); !status.ok())
    return status;
  {
    Stopwatch stopwatch(counters.encode);
    for (Factored &one : factored)
      one.computeRight();
  }
  if (Status status = runInPlaceOf(execution, travelling.right, secondBuffers); !status.ok())
    return status;
  Stopwatch stopwatch(counters.decode);
  for (Factored &one : factored)
    one.finish();
  return Status();
}

} // namespace cgx
