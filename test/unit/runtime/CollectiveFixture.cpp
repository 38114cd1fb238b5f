//===-- CollectiveFixture.cpp - Jobs of many collectives -------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveFixture.h"

#include "cgx/formats/CodecJson.h"
#include "cgx/formats/ScheduleJson.h"
#include "cgx/wire.h"

#include <cmath>
#include <map>

namespace cgx::test {

void CollectiveFixture::add(const std::string &kind, const Groups &groups, std::vector<OperandSpec> operands,
                            const Json &more, const Model &model) {
  Case added;
  uint32_t id = uint32_t(cases.size() * 3 + 1); // ids may have gaps
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

void CollectiveFixture::addAllReduce(const Groups &groups, std::vector<OperandSpec> operands,
                                     const std::string &reduction) {
  add("all_reduce", groups, std::move(operands), {{"reduction", reduction}},
      [=](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
        return modelAllReduce(inputs, groups, operand, reduction, key);
      });
}

void CollectiveFixture::addByHops(const char *algorithm, const Groups &groups,
                                  std::vector<OperandSpec> operands, const std::string &reduction) {
  static const std::map<std::string, AlgorithmModel *> kModels = {{"ring", modelRing},
                                                                  {"tree", modelTree},
                                                                  {"one_shot", modelOneShot},
                                                                  {"halving_doubling", modelHalvingDoubling}};
  AlgorithmModel *model = kModels.at(algorithm);
  add("all_reduce", groups, std::move(operands), {{"reduction", reduction}, {"algorithm", algorithm}},
      [=](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
        return model(inputs, groups, operand, reduction, key);
      });
}

void CollectiveFixture::addByHosts(const Hosts &hosts, const Groups &groups,
                                   std::vector<OperandSpec> operands, const std::string &reduction) {
  Json hierarchy = {{"local", hosts.local},
                    {"inside", writeCodec(hosts.inside)},
                    {"leaders", hosts.oneLeader ? "one" : "all"}};
  add("all_reduce", groups, std::move(operands),
      {{"reduction", reduction}, {"algorithm", "hierarchical"}, {"hierarchy", hierarchy}},
      [=](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
        return modelHierarchical(inputs, groups, operand, reduction, key, hosts);
      });
}

void CollectiveFixture::addByEveryAlgorithm(const std::vector<OperandSpec> &operands,
                                            const std::string &reduction) {
  for (const char *algorithm : {"ring", "tree", "one_shot", "halving_doubling"})
    addByHops(algorithm, everybody(ranks()), operands, reduction);
  for (uint32_t local = 1; local <= ranks(); ++local)
    if (ranks() % local == 0)
      for (bool oneLeader : {false, true})
        for (const cgx_codec &inside : {cgx_codec{}, quantize(8, 64)})
          addByHosts({.local = local, .inside = inside, .oneLeader = oneLeader}, everybody(ranks()), operands,
                     reduction);
}

void CollectiveFixture::fillKept(OperandSpec &operand) {
  std::normal_distribution<float> normal;
  for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept)
    if (cgx_codec_needs(&operand.codec, kept) || (operand.back && cgx_codec_needs(&*operand.back, kept)))
      for (uint64_t e = 0; e < cgx_kept_elements(kept, operand.elements()); ++e)
        operand.kept[kept].push_back(std::fabs(normal(random)) * (random() % 2 ? 1e4f : 1.0f));
}

void CollectiveFixture::provide(cgx_context *context, uint32_t id, size_t index, const OperandSpec &operand) {
  for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept)
    if (!operand.kept[kept].empty())
      cgx_rt_provide(address(context), id, int64_t(index), kept, CGX_F32, int64_t(operand.kept[kept].size()),
                     address(operand.kept[kept].data()));
}

void CollectiveFixture::runJob(const std::function<void(cgx_context *, uint32_t)> &body) {
  std::vector<Json> collectives;
  for (const Case &one : cases)
    collectives.push_back(one.json);
  runManifest(manifestText(ranks(), collectives), body);
}

void CollectiveFixture::runManifest(const std::string &manifest,
                                    const std::function<void(cgx_context *, uint32_t)> &body,
                                    bool mayFail) const {
  std::string job = uniqueJob();
  auto run = [&](uint32_t rank) {
    ContextSpec spec{.transport = GetParam().transport,
                     .job = job,
                     .rank = rank,
                     .ranks = ranks(),
                     .manifest = manifest,
                     .seed = kSeed,
                     .ringBytes = GetParam().ringBytes};
    ContextPtr context;
    const cgx_status status = spec.create(context);
    if (mayFail && status != CGX_OK)
      return;
    ASSERT_EQ(status, CGX_OK) << cgx_last_error();
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

void CollectiveFixture::execute(cgx_context *context, const Case &one, uint32_t rank,
                                std::vector<Bytes> &outputs) {
  uint32_t id = one.json["id"];
  for (size_t i = 0; i < one.operands.size(); ++i) {
    outputs.emplace_back(one.expected[i][rank].size(), std::byte(0xcc));
    provide(context, id, i, one.operands[i]);
    cgx_rt_operand(address(context), id, int64_t(i), address(one.inputs[i][rank].data()),
                   address(outputs[i].data()));
  }
  cgx_rt_run(address(context), id);
}

void CollectiveFixture::expectModel(const Case &one, uint32_t rank, const std::vector<Bytes> &outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    EXPECT_TRUE(outputs[i] == one.expected[i][rank])
        << "rank " << rank << ", operand " << one.json["operands"][i] << " of " << one.json["kind"] << " "
        << one.json.value("reduction", "");
}

/// Returns a collective with the size of the rank's group, and the rank's position in it, as the runtime gets
/// them.
static std::pair<cgx_collective, uint32_t> groupOf(const Json &json, std::vector<cgx_pair> &pairs,
                                                   uint32_t ranks, uint32_t rank) {
  cgx_collective collective{.ranks = 1, .root = json.value("root", 0u)};
  EXPECT_EQ(readKind(json, collective.kind), "");
  EXPECT_EQ(readSchedule(json, collective.schedule), "");
  for (const Json &pair : json.value("source_target_pairs", Json::array()))
    pairs.push_back({pair[0], pair[1]});
  collective.pairs = pairs.data();
  collective.pair_count = pairs.size();
  if (collective.kind == CGX_PERMUTE) {
    collective.ranks = ranks;
    return {collective, rank};
  }
  for (const auto &group : json.at("groups").get<Groups>())
    for (uint32_t position = 0; position < group.size(); ++position)
      if (group[position] == rank) {
        collective.ranks = uint32_t(group.size());
        return {collective, position};
      }
  return {collective, 0};
}

void CollectiveFixture::expectCounts(cgx_context *context, uint32_t rank) const {
  const char *text = nullptr;
  ASSERT_EQ(cgx_context_telemetry(context, &text), CGX_OK);
  const Json counted = Json::parse(text);
  EXPECT_EQ(counted["transport_bytes"], counted["wire_bytes"]);
  for (size_t c = 0; c < cases.size(); ++c) {
    std::vector<cgx_pair> pairs;
    const auto [collective, position] = groupOf(cases[c].json, pairs, ranks(), rank);
    for (size_t i = 0; i < cases[c].operands.size(); ++i) {
      const OperandSpec &operand = cases[c].operands[i];
      const cgx_codec exact{},
          there = cgx_codec_for_shape(&operand.codec, operand.shape.data(), operand.shape.size()),
          back = operand.back.value_or(there);
      const Json &counts = counted["collectives"][c]["operands"][i];
      EXPECT_EQ(counts["raw_bytes"], cgx_collective_wire_bytes(&collective, &exact, &exact, operand.type,
                                                               operand.elements(), position))
          << "rank " << rank << " of " << cases[c].json;
      const uint64_t sent = counts["wire_bytes"],
                     most = cgx_collective_wire_bytes(&collective, &there, &back, operand.type,
                                                      operand.elements(), position);
      if (cgx_payload_is_fixed(&there) && cgx_payload_is_fixed(&back))
        EXPECT_EQ(sent, most) << "rank " << rank << " of " << cases[c].json;
      else
        EXPECT_LE(sent, most) << "rank " << rank << " of " << cases[c].json;
    }
  }
}

void CollectiveFixture::runAndCompare() {
  runJob([&](cgx_context *context, uint32_t rank) {
    ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK) << cgx_last_error();
    std::vector<std::vector<Bytes>> outputs(cases.size());
    for (size_t i = 0; i < cases.size(); ++i)
      execute(context, cases[i], rank, outputs[i]);
    ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    for (size_t i = 0; i < cases.size(); ++i)
      expectModel(cases[i], rank, outputs[i]);
    expectCounts(context, rank);
  });
}

/// A gcomp codec for an optimizer whose learning rate the step binds.
static constexpr cgx_codec kGcompScheduled = {
    .family = CGX_CODEC_GCOMP, .optimizer = CGX_OPTIMIZER_MOMENTUM, .momentum = 0.9f};

static constexpr cgx_codec kGcomp = {.family = CGX_CODEC_GCOMP,
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
          {.family = CGX_CODEC_TOPK, .bits = 4, .bucket = 64, .density = 0.1f},
          {.family = CGX_CODEC_RANDK, .density = 0.1f},
          {.family = CGX_CODEC_THRESHOLD, .threshold = 0.7f},
          {.family = CGX_CODEC_ADAPTIVE_THRESHOLD, .bucket = 50, .checksum = 1, .threshold = 0.5f},
          kLossless,
          kGcomp,
          kGcompScheduled};
}

Groups unevenGroups(uint32_t ranks) {
  Groups groups(3);
  for (uint32_t rank = 0; rank + 1 < ranks; ++rank)
    groups[rank % 2].push_back(rank);
  groups[2].push_back(ranks - 1);
  std::erase_if(groups, [](const auto &row) { return row.empty(); });
  return groups;
}

std::vector<Setting> settings() {
  if (isUnderMpi()) {
    playHosts();
    uint32_t ranks = mpiRanks();
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
#ifdef CGX_HAS_TCP
  // TransportTest covers every number of ranks; here each takes a minute.
  for (uint32_t ranks : {2u, 3u, 7u})
    all.push_back({"tcp", "tcp", true, ranks, 0});
  for (uint32_t ranks : {5u})
    all.push_back({"shmTcp", "shm+tcp", true, ranks, 0});
#endif
  return all;
}

std::string nameOf(const testing::TestParamInfo<Setting> &info) {
  return info.param.name + std::to_string(info.param.ranks) + "Ranks";
}

} // namespace cgx::test
