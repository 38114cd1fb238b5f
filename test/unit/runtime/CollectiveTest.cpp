//===-- CollectiveTest.cpp - Collectives against their model -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every rank compares its results with the model, bit by bit: so all ranks, rank
// counts, transports and ring sizes agree. A case runs many collectives over many
// operands in one job.
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Job.h"
#include "Model.h"
#include "cgx/manifest/codec_json.h"
#include "cgx/manifest/schedule_json.h"
#include "cgx/wire.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace cgx::test {
namespace {

/// One way to run a job.
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

/// A collective with the inputs of all ranks, and what they must end as.
struct Case {
  Json json;
  std::vector<OperandSpec> operands;
  std::vector<PerRank> inputs;   ///< per operand
  std::vector<PerRank> expected; ///< per operand, for step 0
};

class CollectiveTest : public testing::TestWithParam<Setting> {
protected:
  uint32_t ranks() const { return GetParam().ranks; }

  void add(const std::string &kind, const Groups &groups, std::vector<OperandSpec> operands, const Json &more,
           const Model &model) {
    Case added;
    uint32_t id = uint32_t(cases.size() * 3 + 1); // ids need not be dense
    added.json = collectiveJson(id, kind, groups, operands, more);
    for (size_t i = 0; i < operands.size(); ++i) {
      fillKept(operands[i]);
      PerRank inputs;
      for (uint32_t rank = 0; rank < ranks(); ++rank)
        inputs.push_back(randomTensor(operands[i].type, operands[i].elements(), random));
      ModelKey key{.seed = kSeed, .step = 0, .layerId = uint64_t(id) * 16 + i};
      added.expected.push_back(model(inputs, operands[i], key));
      added.inputs.push_back(std::move(inputs));
    }
    added.operands = std::move(operands);
    cases.push_back(std::move(added));
  }

  void addAllReduce(const Groups &groups, std::vector<OperandSpec> operands, const std::string &reduction) {
    add("all_reduce", groups, std::move(operands), {{"reduction", reduction}},
        [=](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
          return modelAllReduce(inputs, groups, operand, reduction, key);
        });
  }

  using AlgorithmModel = PerRank(const PerRank &, const Groups &, const OperandSpec &, const std::string &,
                                 const ModelKey &);

  void addByHops(const char *algorithm, const Groups &groups, std::vector<OperandSpec> operands,
                 const std::string &reduction) {
    AlgorithmModel *model = algorithm == std::string("ring") ? modelRing : modelTree;
    add("all_reduce", groups, std::move(operands), {{"reduction", reduction}, {"algorithm", algorithm}},
        [=](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
          return model(inputs, groups, operand, reduction, key);
        });
  }

  void addByHosts(const Hosts &hosts, const Groups &groups, std::vector<OperandSpec> operands,
                  const std::string &reduction) {
    Json hierarchy = {{"local", hosts.local},
                      {"inside", writeCodec(hosts.inside)},
                      {"leaders", hosts.oneLeader ? "one" : "all"}};
    add("all_reduce", groups, std::move(operands),
        {{"reduction", reduction}, {"algorithm", "hierarchical"}, {"hierarchy", hierarchy}},
        [=](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
          return modelHierarchical(inputs, groups, operand, reduction, key, hosts);
        });
  }

  /// Adds an all-reduce by each algorithm but the default one.
  void addByEveryAlgorithm(const std::vector<OperandSpec> &operands, const std::string &reduction) {
    for (const char *algorithm : {"ring", "tree"})
      addByHops(algorithm, everybody(ranks()), operands, reduction);
    for (uint32_t local = 1; local <= ranks(); ++local)
      if (ranks() % local == 0)
        for (bool oneLeader : {false, true})
          for (const cgx_codec &inside : {cgx_codec{}, quantize(8, 64)})
            addByHosts({.local = local, .inside = inside, .oneLeader = oneLeader}, everybody(ranks()),
                       operands, reduction);
  }

  /// Gives an operand what its codecs read of an optimizer.
  void fillKept(OperandSpec &operand) {
    std::normal_distribution<float> normal;
    for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept)
      if (cgx_codec_needs(&operand.codec, kept) || (operand.back && cgx_codec_needs(&*operand.back, kept)))
        for (uint64_t e = 0; e < operand.elements(); ++e)
          operand.kept[kept].push_back(std::fabs(normal(random)) * (random() % 2 ? 1e4f : 1.0f));
  }

  static void provide(cgx_context *context, uint32_t id, size_t index, const OperandSpec &operand) {
    for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept)
      if (!operand.kept[kept].empty())
        cgx_rt_provide(address(context), id, int64_t(index), kept, CGX_F32, int64_t(operand.elements()),
                       address(operand.kept[kept].data()));
  }

  /// Runs body(context, rank) as every rank.
  void runJob(const std::function<void(cgx_context *, uint32_t)> &body) {
    std::vector<Json> collectives;
    for (const Case &one : cases)
      collectives.push_back(one.json);
    std::string job = uniqueJob(), manifest = manifestText(ranks(), collectives);
    auto run = [&](uint32_t rank) {
      ContextSpec spec{.transport = GetParam().transport,
                       .job = job,
                       .rank = rank,
                       .ranks = ranks(),
                       .manifest = manifest,
                       .seed = kSeed,
                       .ringBytes = GetParam().ringBytes};
      ContextPtr context;
      ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
      body(context.get(), rank);
    };
    if (isUnderMpi())
      runMpiRank(ranks(), run);
    else if (GetParam().processes)
      runProcesses(ranks(), run);
    else
      runThreads(ranks(), run);
    EXPECT_EQ(leftovers(job), "");
  }

  /// Runs one collective of the list, from its inputs into `outputs`.
  static void execute(cgx_context *context, const Case &one, uint32_t rank, std::vector<Bytes> &outputs) {
    uint32_t id = one.json["id"];
    for (size_t i = 0; i < one.operands.size(); ++i) {
      outputs.emplace_back(one.expected[i][rank].size(), std::byte(0xcc));
      provide(context, id, i, one.operands[i]);
      cgx_rt_operand(address(context), id, int64_t(i), address(one.inputs[i][rank].data()),
                     address(outputs[i].data()));
    }
    cgx_rt_run(address(context), id);
  }

  static void expectModel(const Case &one, uint32_t rank, const std::vector<Bytes> &outputs) {
    for (size_t i = 0; i < outputs.size(); ++i)
      EXPECT_TRUE(outputs[i] == one.expected[i][rank])
          << "rank " << rank << ", operand " << one.json["operands"][i] << " of " << one.json["kind"] << " "
          << one.json.value("reduction", "");
  }

  /// Runs the whole list and compares.
  void runAndCompare() {
    runJob([&](cgx_context *context, uint32_t rank) {
      ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK) << cgx_last_error();
      std::vector<std::vector<Bytes>> outputs(cases.size());
      for (size_t i = 0; i < cases.size(); ++i)
        execute(context, cases[i], rank, outputs[i]);
      ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
      for (size_t i = 0; i < cases.size(); ++i)
        expectModel(cases[i], rank, outputs[i]);
    });
  }

  std::mt19937_64 random{GetParam().ranks * 1000003ull + 17};
  std::vector<Case> cases;
};

const std::vector<uint64_t> kSizes = {0, 1, 3, 127, 128, 129, 1000, 5003};
const std::vector<cgx_element_type> kFloats = {CGX_F32, CGX_F16, CGX_BF16};

constexpr cgx_codec kLossless = {.family = CGX_CODEC_LOSSLESS};
constexpr cgx_codec kGcomp = {.family = CGX_CODEC_GCOMP,
                              .optimizer = CGX_OPTIMIZER_ADAM,
                              .learning_rate = 0.01f,
                              .beta1 = 0.9f,
                              .beta2 = 0.999f,
                              .epsilon = 1e-8f};

std::vector<cgx_codec> codecs() {
  return {quantize(4, 128),
          quantize(4, 128, CGX_ROUND_NEAREST),
          quantize(8, 512),
          quantize(1, 64),
          quantize(3, 100, CGX_ROUND_STOCHASTIC, CGX_SCALE_F32, /*checksum=*/true),
          {.family = CGX_CODEC_SIGN, .bucket = 64},
          {.family = CGX_CODEC_TOPK, .density = 0.03f},
          {.family = CGX_CODEC_RANDK, .density = 0.1f},
          {.family = CGX_CODEC_THRESHOLD, .threshold = 0.7f},
          {.family = CGX_CODEC_ADAPTIVE_THRESHOLD, .bucket = 50, .checksum = 1, .threshold = 0.5f},
          kLossless,
          kGcomp};
}

/// Every other rank together, and the last one alone.
Groups unevenGroups(uint32_t ranks) {
  Groups groups(3);
  for (uint32_t rank = 0; rank + 1 < ranks; ++rank)
    groups[rank % 2].push_back(rank);
  groups[2].push_back(ranks - 1);
  std::erase_if(groups, [](const auto &row) { return row.empty(); });
  return groups;
}

TEST_P(CollectiveTest, ExactAllReduceOfEveryTypeAndReduction) {
  for (const char *reduction : {"sum", "mean", "max", "min", "product"})
    for (uint64_t size : kSizes) {
      std::vector<OperandSpec> operands;
      for (int type = 0; type < CGX_ELEMENT_TYPE_COUNT; ++type)
        if (std::string(reduction) != "mean" || type <= CGX_F64)
          operands.push_back({.type = cgx_element_type(type), .shape = {size}});
      addAllReduce(everybody(ranks()), operands, reduction);
    }
  runAndCompare();
}

TEST_P(CollectiveTest, CompressedAllReduceOfEveryCodec) {
  for (const char *reduction : {"sum", "mean"})
    for (uint64_t size : kSizes)
      for (const cgx_codec &codec : codecs()) {
        std::vector<OperandSpec> operands;
        for (cgx_element_type type : kFloats)
          operands.push_back({.type = type, .shape = {size}, .codec = codec});
        operands.push_back({.type = CGX_F32, .shape = {7}});
        addAllReduce(everybody(ranks()), operands, reduction);
      }
  runAndCompare();
}

TEST_P(CollectiveTest, AnExactCodecGivesTheBitsOfRawElements) {
  for (const char *reduction : {"max", "min", "product", "sum", "mean"})
    for (uint64_t size : {uint64_t(7), uint64_t(1000), uint64_t(33000) * ranks()}) {
      std::vector<OperandSpec> operands;
      for (cgx_element_type type : kFloats)
        operands.push_back({.type = type, .shape = {size}, .codec = kLossless});
      addAllReduce(everybody(ranks()), operands, reduction);
    }
  runAndCompare();
}

// Any codec there with any other back, exact ones too.
TEST_P(CollectiveTest, AllReduceWithAnotherCodecOnTheWayBack) {
  std::vector<cgx_codec> all = codecs();
  all.push_back({});
  for (uint64_t size : {uint64_t(1), uint64_t(129), uint64_t(3001)})
    for (size_t there = 0; there < all.size(); ++there)
      for (size_t step : {1, 4}) {
        std::vector<OperandSpec> operands;
        for (cgx_element_type type : kFloats)
          operands.push_back(
              {.type = type, .shape = {size}, .codec = all[there], .back = all[(there + step) % all.size()]});
        operands.push_back({.shape = {7}});
        addAllReduce(everybody(ranks()), operands, "mean");
      }
  runAndCompare();
}

TEST_P(CollectiveTest, ExactAllReduceByEveryAlgorithm) {
  for (const char *reduction : {"sum", "mean", "max"})
    for (uint64_t size : {1, 1000}) {
      std::vector<OperandSpec> operands;
      for (int type = 0; type < CGX_ELEMENT_TYPE_COUNT; ++type)
        if (std::string(reduction) != "mean" || type <= CGX_F64)
          operands.push_back({.type = cgx_element_type(type), .shape = {uint64_t(size)}});
      addByEveryAlgorithm(operands, reduction);
    }
  runAndCompare();
}

TEST_P(CollectiveTest, CompressedAllReduceByEveryAlgorithm) {
  for (const char *reduction : {"sum", "mean"}) {
    std::vector<OperandSpec> operands = {{.type = CGX_F32, .shape = {7}},
                                         {.shape = {0}, .codec = quantize(4, 128)}};
    for (const cgx_codec &codec : codecs())
      for (cgx_element_type type : kFloats)
        for (uint64_t size : {1, 5003})
          operands.push_back({.type = type, .shape = {uint64_t(size)}, .codec = codec});
    addByEveryAlgorithm(operands, reduction);
  }
  runAndCompare();
}

TEST_P(CollectiveTest, EveryAlgorithmOfManyPiecesAndUnevenGroups) {
  addByEveryAlgorithm({{.shape = {ranks() * 33001}, .codec = quantize(4, 100)},
                       {.type = CGX_BF16, .shape = {ranks() * 20001}}},
                      "mean");
  for (const char *algorithm : {"ring", "tree"})
    addByHops(algorithm, unevenGroups(ranks()),
              {{.shape = {1000}}, {.shape = {1000}, .codec = quantize(4, 128)}}, "sum");
  runAndCompare();
}

TEST_P(CollectiveTest, BytesOfEveryAlgorithmEqualTheFormula) {
  std::vector<OperandSpec> operands = {{.shape = {70001}, .codec = quantize(4, 128)},
                                       {.type = CGX_BF16, .shape = {333}}};
  addByEveryAlgorithm(operands, "sum");
  runJob([&](cgx_context *context, uint32_t rank) {
    ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK);
    for (const Case &one : cases) {
      std::vector<Bytes> outputs;
      execute(context, one, rank, outputs);
    }
    ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    const char *text = nullptr;
    ASSERT_EQ(cgx_context_telemetry(context, &text), CGX_OK);
    Json counted = Json::parse(text)["collectives"];
    for (size_t c = 0; c < cases.size(); ++c) {
      cgx_schedule schedule{};
      ASSERT_EQ(readSchedule(cases[c].json, schedule), "");
      for (size_t i = 0; i < operands.size(); ++i) {
        const OperandSpec &operand = operands[i];
        cgx_codec exact{};
        auto bytes = [&](const cgx_codec &codec) {
          return cgx_scheduled_wire_bytes(&schedule, &codec, operand.type, operand.elements(), ranks(), rank);
        };
        EXPECT_EQ(counted[c]["operands"][i]["wire_bytes"], bytes(operand.codec)) << cases[c].json;
        EXPECT_EQ(counted[c]["operands"][i]["raw_bytes"], bytes(exact)) << cases[c].json;
      }
    }
  });
}

TEST_P(CollectiveTest, AllReduceLargerThanAnyRing) {
  addAllReduce(everybody(ranks()), {{.shape = {300001}}, {.shape = {300001}, .codec = quantize(8, 512)}},
               "sum");
  runAndCompare();
}

// Chunks of several pieces, and many operands that share one; then more, as memory is used again.
TEST_P(CollectiveTest, AllReduceOfManyPieces) {
  std::vector<OperandSpec> operands = {
      {.shape = {ranks() * 33001}, .codec = quantize(4, 100)},
      {.type = CGX_BF16, .shape = {3}},
      {.type = CGX_F16, .shape = {ranks() * 33000 + 7}, .codec = quantize(8, 512, CGX_ROUND_NEAREST)},
      {.shape = {0}},
      {.shape = {1}, .codec = quantize(2, 128)},
      {.type = CGX_F16, .shape = {ranks() * 20001}},
      {.shape = {ranks() * 9000}}};
  addAllReduce(everybody(ranks()), operands, "mean");
  operands.erase(operands.begin(), operands.begin() + 3);
  for (uint64_t i = 0; i < 40; ++i)
    operands.push_back({.shape = {17 * i % 91}, .codec = i % 3 == 0 ? quantize(4, 128) : cgx_codec{}});
  addAllReduce(everybody(ranks()), operands, "sum");
  runAndCompare();
}

TEST_P(CollectiveTest, AllReduceOfUnevenGroups) {
  addAllReduce(unevenGroups(ranks()), {{.shape = {1000}}, {.shape = {1000}, .codec = quantize(4, 128)}},
               "sum");
  addAllReduce({{ranks() - 1, 0}}, {{.shape = {1000}, .codec = quantize(4, 128)}},
               "mean"); // others in no group
  if (ranks() == 1)
    cases.pop_back();
  runAndCompare();
}

// As in a loop: with the same random numbers, the errors of its runs would add up.
TEST_P(CollectiveTest, EachRunInAStepRoundsAnew) {
  OperandSpec operand{.shape = {1000}, .codec = quantize(2, 128)};
  addAllReduce(everybody(ranks()), {operand}, "sum");
  uint32_t id = cases[0].json["id"];
  Case second = cases[0];
  second.expected[0] = modelAllReduce(cases[0].inputs[0], everybody(ranks()), operand, "sum",
                                      {.seed = kSeed, .layerId = uint64_t(id) * 16, .runs = 1});
  EXPECT_EQ(second.expected == cases[0].expected, ranks() == 1);
  runJob([&](cgx_context *context, uint32_t rank) {
    for (uint64_t repetition = 0; repetition < 2; ++repetition) { // the next step begins from the start
      ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK) << cgx_last_error();
      std::vector<Bytes> outputs, secondOutputs;
      execute(context, cases[0], rank, outputs);
      execute(context, second, rank, secondOutputs);
      ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
      expectModel(cases[0], rank, outputs);
      expectModel(second, rank, secondOutputs);
    }
  });
}

TEST_P(CollectiveTest, AllReduceInPlace) {
  addAllReduce(
      everybody(ranks()),
      {{.shape = {1000}}, {.type = CGX_BF16, .shape = {77}}, {.shape = {1000}, .codec = quantize(4, 128)}},
      "sum");
  addByEveryAlgorithm(std::vector(cases[0].operands), "sum");
  runJob([&](cgx_context *context, uint32_t rank) {
    ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK);
    std::vector<std::vector<Bytes>> tensors(cases.size());
    for (size_t c = 0; c < cases.size(); ++c) {
      int64_t id = cases[c].json["id"];
      for (const PerRank &input : cases[c].inputs)
        tensors[c].push_back(input[rank]);
      for (size_t i = 0; i < tensors[c].size(); ++i)
        cgx_rt_operand(address(context), id, int64_t(i), address(tensors[c][i].data()),
                       address(tensors[c][i].data()));
      cgx_rt_run(address(context), id);
    }
    ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    for (size_t c = 0; c < cases.size(); ++c)
      expectModel(cases[c], rank, tensors[c]);
  });
}

TEST_P(CollectiveTest, ExplicitFormGivesTheBitsOfRun) {
  if (ranks() == 1)
    GTEST_SKIP() << "a group of one is not compressed, its explicit form is";
  std::vector<uint64_t> sizes(std::begin(kSizes), std::end(kSizes));
  sizes.push_back(ranks() * 40000 + 1); // more than one piece a chunk
  for (const char *reduction : {"sum", "mean"})
    for (uint64_t size : sizes)
      for (cgx_element_type type : kFloats)
        addAllReduce(
            everybody(ranks()),
            {{.type = type, .shape = {size}, .codec = quantize(4, 128)},
             {.type = type, .shape = {size}},
             {.type = type, .shape = {size}, .codec = quantize(3, 100, CGX_ROUND_NEAREST)},
             {.type = type, .shape = {size}, .codec = {.family = CGX_CODEC_THRESHOLD, .threshold = 0.5f}},
             {.type = type, .shape = {size}, .codec = kLossless}},
            reduction);
  runJob([&](cgx_context *context, uint32_t rank) {
    ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK);
    std::vector<std::vector<Bytes>> outputs(cases.size());
    for (size_t c = 0; c < cases.size(); ++c)
      for (size_t i = 0; i < cases[c].operands.size(); ++i) {
        const OperandSpec &operand = cases[c].operands[i];
        int64_t id = int64_t(cases[c].json["id"]), self = address(context), number = int64_t(i);
        uint64_t elements = operand.elements(), whole = 0;
        auto chunkElements = [&](uint64_t chunk) {
          return cgx_chunk_begin(&operand.codec, elements, ranks(), chunk + 1) -
                 cgx_chunk_begin(&operand.codec, elements, ranks(), chunk);
        };
        for (uint64_t chunk = 0; chunk < ranks(); ++chunk)
          whole += cgx_chunk_payload_bytes(&operand.codec, operand.type, elements, ranks(), chunk);
        uint64_t slot = cgx_chunk_payload_bytes(&operand.codec, operand.type, elements, ranks(), 0);
        // Exactly as large as documented: the address sanitizer sees a byte more.
        Bytes contribution(whole), slots(ranks() * slot), payload(slot), gathered(whole);
        Bytes chunk(chunkElements(0) * cgx_element_bytes(operand.type));
        Bytes &output = outputs[c].emplace_back(cases[c].expected[i][rank].size());
        cgx_rt_compress(self, id, number, 0, address(cases[c].inputs[i][rank].data()),
                        address(contribution.data()));
        cgx_rt_payload_all_to_all(self, id, number, address(contribution.data()), address(slots.data()));
        cgx_rt_decompress_accumulate(self, id, number, address(slots.data()), address(chunk.data()));
        cgx_rt_compress(self, id, number, 1, address(chunk.data()), address(payload.data()));
        cgx_rt_payload_all_gather(self, id, number, address(payload.data()), address(gathered.data()));
        cgx_rt_decompress(self, id, number, address(gathered.data()), address(output.data()));
      }
    ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    for (size_t c = 0; c < cases.size(); ++c)
      expectModel(cases[c], rank, outputs[c]);
  });
}

TEST_P(CollectiveTest, AllGatherAlongEveryDimension) {
  for (uint64_t dim : {0, 1, 2})
    for (const cgx_codec &codec : {cgx_codec{}, quantize(4, 128)})
      add("all_gather", everybody(ranks()),
          {{.shape = {3, 50, 7}, .codec = codec},
           {.type = CGX_BF16, .shape = {1, 1, 1}, .codec = codec},
           {.shape = {2, 0, 3}, .codec = codec}},
          {{"dim", dim}}, [=, this](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
            return modelAllGather(inputs, everybody(ranks()), operand, dim, key);
          });
  runAndCompare();
}

TEST_P(CollectiveTest, ReduceScatterAlongEveryDimension) {
  uint64_t n = ranks();
  for (uint64_t dim : {0, 1, 2})
    for (const char *reduction : {"sum", "mean"})
      for (const cgx_codec &codec : {cgx_codec{}, quantize(4, 128)})
        add("reduce_scatter", everybody(ranks()),
            {{.shape = {n, 5 * n, 7 * n}, .codec = codec},
             {.type = CGX_BF16, .shape = {n, n, n}, .codec = codec},
             {.type = CGX_F16, .shape = {n, 2 * n, 3 * n}, .codec = codec},
             {.shape = {0, n, n}, .codec = codec}},
            {{"dim", dim}, {"reduction", reduction}},
            [=, this](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
              return modelReduceScatter(inputs, everybody(ranks()), operand, reduction, dim, key);
            });
  runAndCompare();
}

TEST_P(CollectiveTest, AllToAllOfEveryPairOfDimensions) {
  uint64_t n = ranks();
  for (uint64_t split : {0, 1})
    for (uint64_t concat : {0, 1, 2})
      for (const cgx_codec &codec : {cgx_codec{}, quantize(4, 128)})
        add("all_to_all", everybody(ranks()),
            {{.shape = {2 * n, 3 * n, 5}, .codec = codec},
             {.type = CGX_F16, .shape = {n, n, 40}, .codec = codec}},
            {{"split_dim", split}, {"concat_dim", concat}},
            [=, this](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
              return modelAllToAll(inputs, everybody(ranks()), operand, split, concat, key);
            });
  runAndCompare();
}

TEST_P(CollectiveTest, BroadcastFromEveryRoot) {
  for (uint32_t root = 0; root < ranks(); ++root)
    add("broadcast", everybody(ranks()),
        {{.type = CGX_I32, .shape = {1001}}, {.shape = {1001}, .codec = quantize(4, 128)}}, {{"root", root}},
        [=, this](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
          return modelBroadcast(inputs, everybody(ranks()), operand, root, key);
        });
  runAndCompare();
}

TEST_P(CollectiveTest, PermuteShiftsAndZeroesWhoGetsNothing) {
  std::vector<std::pair<uint32_t, uint32_t>> ring, shift, self = {{0, 0}};
  for (uint32_t rank = 0; rank < ranks(); ++rank)
    ring.emplace_back(rank, (rank + 1) % ranks());
  for (uint32_t rank = 1; rank < ranks(); ++rank)
    shift.emplace_back(rank - 1, rank);
  for (const auto &pairs : {ring, shift, self})
    add("permute", everybody(ranks()),
        {{.type = CGX_U16, .shape = {1001}}, {.shape = {1001}, .codec = quantize(4, 128)}},
        {{"source_target_pairs", pairs}},
        [=](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
          return modelPermute(inputs, pairs, operand, key);
        });
  runAndCompare();
}

TEST_P(CollectiveTest, CountersEqualTheFormula) {
  cgx_codec codec = quantize(4, 128);
  OperandSpec compressed{.shape = {70001}, .codec = codec, .layer = "params/w"};
  OperandSpec exact{.type = CGX_BF16, .shape = {333}, .layer = "params/b"};
  addAllReduce(everybody(ranks()), {compressed, exact}, "sum");
  runJob([&](cgx_context *context, uint32_t rank) {
    for (uint64_t step = 0; step < 3; ++step) {
      std::vector<Bytes> outputs;
      ASSERT_EQ(cgx_context_begin_step(context, step), CGX_OK);
      execute(context, cases[0], rank, outputs);
      ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    }
    // Written out from the definition: contributions to the others' chunks, then the own
    // chunk's result to each.
    auto bytes = [&](const OperandSpec &operand, cgx_codec with) {
      uint64_t sum = 0, n = ranks();
      for (uint64_t chunk = 0; chunk < n && n > 1; ++chunk) {
        uint64_t elements = cgx_chunk_begin(&with, operand.elements(), n, chunk + 1) -
                            cgx_chunk_begin(&with, operand.elements(), n, chunk);
        // A compressed chunk is sent in payloads of 32768 elements, or what buckets of 128 fill of them.
        for (uint64_t done = 0; done < elements; done += 32768)
          sum += cgx_payload_bytes(&with, operand.type, std::min<uint64_t>(32768, elements - done)) *
                 (chunk == rank ? n - 1 : 1);
      }
      return 3 * sum;
    };
    const char *text = nullptr;
    ASSERT_EQ(cgx_context_telemetry(context, &text), CGX_OK);
    Json json = Json::parse(text);
    EXPECT_EQ(json["rank"], rank);
    EXPECT_EQ(json["steps"], 3);
    EXPECT_EQ(json["wire_bytes"], bytes(compressed, codec) + bytes(exact, {}));
    EXPECT_EQ(json["raw_bytes"], bytes(compressed, {}) + bytes(exact, {}));
    EXPECT_EQ(json["transport_bytes"], json["wire_bytes"]);
    const Json &operands = json["collectives"][0]["operands"];
    EXPECT_EQ(operands[0]["layer"], "params/w");
    EXPECT_EQ(operands[0]["wire_bytes"], bytes(compressed, codec));
    EXPECT_EQ(operands[0]["raw_bytes"], bytes(compressed, {}));
    EXPECT_EQ(operands[1]["wire_bytes"], bytes(exact, {}));
    EXPECT_TRUE(ranks() == 1 || json["collectives"][0]["seconds"]["exchange"].get<double>() > 0.0);
  });
}

TEST_P(CollectiveTest, NotANumberReachesEveryRankAndOnlyItsBucket) {
  cgx_codec codec = quantize(4, 128);
  addAllReduce(everybody(ranks()), {{.shape = {1000}, .codec = codec}, {.shape = {1000}}}, "sum");
  runJob([&](cgx_context *context, uint32_t rank) {
    std::vector<std::vector<float>> tensors(2, std::vector<float>(1000, 1.0f));
    if (rank == ranks() - 1)
      for (std::vector<float> &tensor : tensors)
        tensor[700] = std::numeric_limits<float>::quiet_NaN();
    ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK);
    for (int64_t i = 0; i < 2; ++i)
      cgx_rt_operand(address(context), 1, i, address(tensors[i].data()), address(tensors[i].data()));
    cgx_rt_run(address(context), 1);
    ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    EXPECT_TRUE(std::isnan(tensors[0][700]) && std::isnan(tensors[1][700])) << "rank " << rank;
    for (size_t i = 0; i < 1000; ++i) {
      EXPECT_TRUE(i / 128 == 700 / 128 || !std::isnan(tensors[0][i])) << i;
      EXPECT_TRUE(i == 700 || tensors[1][i] == float(ranks())) << i;
    }
  });
}

TEST_P(CollectiveTest, TwoInterleavedContextsDoNotMeet) {
  addAllReduce(everybody(ranks()), {{.shape = {5003}, .codec = quantize(4, 128)}}, "sum");
  std::string other = uniqueJob(), manifest = manifestText(ranks(), {cases[0].json});
  runJob([&](cgx_context *first, uint32_t rank) {
    ContextSpec spec{.transport = GetParam().transport,
                     .job = other,
                     .rank = rank,
                     .ranks = ranks(),
                     .manifest = manifest,
                     .seed = kSeed,
                     .ringBytes = GetParam().ringBytes};
    ContextPtr second;
    ASSERT_EQ(spec.create(second), CGX_OK) << cgx_last_error();
    for (int repetition = 0; repetition < 5; ++repetition)
      for (cgx_context *context : {first, second.get()}) {
        std::vector<Bytes> outputs;
        ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK);
        execute(context, cases[0], rank, outputs);
        ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
        expectModel(cases[0], rank, outputs);
      }
  });
}

std::vector<Setting> settings() {
  if (isUnderMpi()) {
    playHosts();
    uint32_t ranks = uint32_t(std::stoul(std::getenv("OMPI_COMM_WORLD_SIZE")));
    return {{"mpi", "mpi", true, ranks, 0}, {"shmMpi", "shm+mpi", true, ranks, 0}};
  }
  std::vector<Setting> all;
  for (uint32_t ranks = 1; ranks <= 8; ++ranks)
    all.push_back({"inproc", "inproc", false, ranks, 0});
  for (uint32_t ranks : {2u, 3u})
    all.push_back({"inprocSmallRing", "inproc", false, ranks, 64});
  for (uint32_t ranks : {1u, 2u, 4u, 5u, 8u})
    all.push_back({"shmProcesses", "shm", true, ranks, 0});
  all.push_back({"shmProcessesSmallRing", "shm", true, 3, 4096});
  all.push_back({"shmThreads", "shm", false, 3, 0});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Settings, CollectiveTest, testing::ValuesIn(settings()), [](const auto &info) {
  return info.param.name + std::to_string(info.param.ranks) + "Ranks";
});

} // namespace
} // namespace cgx::test
