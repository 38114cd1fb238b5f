//===-- CollectiveFixture.h - Jobs of many collectives ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every rank compares its results with the model, bit by bit, so that all ranks, rank counts,
// transports and ring sizes agree. A test adds cases, and runs all of them in one job.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_UNIT_RUNTIME_COLLECTIVEFIXTURE_H
#define CGX_TEST_UNIT_RUNTIME_COLLECTIVEFIXTURE_H

#include "Contexts.h"
#include "Job.h"
#include "Model.h"

#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace cgx::test {

/// A transport and the way in which ranks are started.
struct Setting {
  const char *name;
  const char *transport;
  bool processes;
  uint32_t ranks;
  uint64_t ringBytes;
};

constexpr uint64_t kSeed = 7;
using Groups = std::vector<std::vector<uint32_t>>;
using Model = std::function<PerRank(const PerRank &inputs, const OperandSpec &operand, const ModelKey &key)>;

/// A collective with the inputs of all ranks, and the expected results.
struct Case {
  Json json;
  std::vector<OperandSpec> operands;
  std::vector<PerRank> inputs;   ///< by operand
  std::vector<PerRank> expected; ///< by operand, for step 0
};

class CollectiveFixture : public testing::TestWithParam<Setting> {
protected:
  uint32_t ranks() const { return GetParam().ranks; }

  void add(const std::string &kind, const Groups &groups, std::vector<OperandSpec> operands, const Json &more,
           const Model &model);

  void addAllReduce(const Groups &groups, std::vector<OperandSpec> operands, const std::string &reduction);

  using AlgorithmModel = PerRank(const PerRank &, const Groups &, const OperandSpec &, const std::string &,
                                 const ModelKey &);

  void addByHops(const char *algorithm, const Groups &groups, std::vector<OperandSpec> operands,
                 const std::string &reduction);

  void addByHosts(const Hosts &hosts, const Groups &groups, std::vector<OperandSpec> operands,
                  const std::string &reduction);

  /// Adds an all-reduce for each algorithm except the default one.
  void addByEveryAlgorithm(const std::vector<OperandSpec> &operands, const std::string &reduction);

  /// Fills the optimizer tensors that an operand's codecs read.
  void fillKept(OperandSpec &operand);

  static void provide(cgx_context *context, uint32_t id, size_t index, const OperandSpec &operand);

  /// Runs body(context, rank) as every rank of a job with the cases' collectives.
  void runJob(const std::function<void(cgx_context *, uint32_t)> &body);

  /// Runs body(context, rank) as every rank of a job with a manifest. With `mayFail`, a rank does not run it
  /// if it learns while joining that another rank gave up.
  void runManifest(const std::string &manifest, const std::function<void(cgx_context *, uint32_t)> &body,
                   bool mayFail = false) const;
  void runCollective(const Json &json, const std::function<void(cgx_context *, uint32_t)> &body,
                     bool mayFail = false) const {
    runManifest(manifestText(ranks(), {json}), body, mayFail);
  }

  /// Runs one collective, from its inputs into `outputs`.
  static void execute(cgx_context *context, const Case &one, uint32_t rank, std::vector<Bytes> &outputs);

  static void expectModel(const Case &one, uint32_t rank, const std::vector<Bytes> &outputs);

  /// Expects that one run of each collective counted the bytes of the schedule, or at most these if payloads
  /// vary in size.
  void expectCounts(cgx_context *context, uint32_t rank) const;

  /// Runs all collectives and compares the results.
  void runAndCompare();

  std::mt19937_64 random{GetParam().ranks * 1000003ull + 17};
  std::vector<Case> cases;
};

inline const std::vector<uint64_t> kSizes = {0, 1, 3, 127, 128, 129, 1000, 5003};
inline const std::vector<cgx_element_type> kFloats = {CGX_F32, CGX_F16, CGX_BF16};
inline constexpr cgx_codec kLossless = {.family = CGX_CODEC_LOSSLESS};

/// Returns one codec of each family that an all-reduce can encode slice by slice, and several of quantize.
std::vector<cgx_codec> codecs();

/// Returns groups with every other rank together, and the last one alone.
Groups unevenGroups(uint32_t ranks);

/// Returns every transport that this process can start; under mpirun, those that need it.
std::vector<Setting> settings();
std::string nameOf(const testing::TestParamInfo<Setting> &info);

} // namespace cgx::test

#endif // CGX_TEST_UNIT_RUNTIME_COLLECTIVEFIXTURE_H
