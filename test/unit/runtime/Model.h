//===-- Model.h - Collectives, computed in one place ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the results of all ranks after a collective, exact to the bit, element by element from
// all ranks' inputs, without messages and with the reference kernels.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_UNIT_RUNTIME_MODEL_H
#define CGX_TEST_UNIT_RUNTIME_MODEL_H

#include "Programs.h"

#include <cstddef>
#include <random>

namespace cgx::test {

using Bytes = std::vector<std::byte>;
/// One tensor per rank of a job.
using PerRank = std::vector<Bytes>;

/// The key of the random numbers of one execution of an operand.
struct ModelKey {
  uint64_t seed = 0;
  uint64_t step = 0;
  uint64_t layerId = 0;
  uint64_t runs = 0; ///< earlier runs of the collective in this step
  /// The encoder number of each rank of the job; if empty, it is the rank's position in its group.
  std::vector<uint32_t> encoders = {};

  uint32_t encoder(const std::vector<uint32_t> &row, uint64_t position) const {
    return encoders.empty() ? uint32_t(position) : encoders[row[position]];
  }
};

/// Returns values in a range whose sums fit the type.
Bytes randomTensor(cgx_element_type type, uint64_t elements, std::mt19937_64 &random);

/// Returns the results of an all-reduce. `reduction` is named as in manifests.
PerRank modelAllReduce(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                       const OperandSpec &operand, const std::string &reduction, const ModelKey &key);
/// These return the results of other algorithms.
PerRank modelRing(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                  const OperandSpec &operand, const std::string &reduction, const ModelKey &key);
PerRank modelTree(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                  const OperandSpec &operand, const std::string &reduction, const ModelKey &key);
PerRank modelHalvingDoubling(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                             const OperandSpec &operand, const std::string &reduction, const ModelKey &key);
PerRank modelOneShot(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                     const OperandSpec &operand, const std::string &reduction, const ModelKey &key);
struct Hosts {
  uint32_t local = 1;
  cgx_codec inside{};
  bool oneLeader = false;
};
PerRank modelHierarchical(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                          const OperandSpec &operand, const std::string &reduction, const ModelKey &key,
                          const Hosts &hosts);
PerRank modelAllGather(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                       const OperandSpec &operand, uint64_t dim, const ModelKey &key);
PerRank modelReduceScatter(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                           const OperandSpec &operand, const std::string &reduction, uint64_t dim,
                           const ModelKey &key);
PerRank modelAllToAll(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                      const OperandSpec &operand, uint64_t splitDim, uint64_t concatDim, const ModelKey &key);
PerRank modelBroadcast(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                       const OperandSpec &operand, uint32_t root, const ModelKey &key);
PerRank modelPermute(const PerRank &inputs, const std::vector<std::pair<uint32_t, uint32_t>> &pairs,
                     const OperandSpec &operand, const ModelKey &key);

} // namespace cgx::test

#endif // CGX_TEST_UNIT_RUNTIME_MODEL_H
