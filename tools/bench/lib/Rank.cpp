//===-- Rank.cpp - One rank of a benchmark ----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "Expected.h"
#include "Launch.h"
#include "Reference.h"
#include "cgx/formats/CodecJson.h"
#include "cgx/formats/ScheduleJson.h"
#include "cgx/kernels/cuda_peers.h"
#include "cgx/runtime.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

namespace cgx::bench {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int64_t kBarrier = 0;

struct DestroyContext {
  void operator()(cgx_context *context) const { cgx_context_destroy(context); }
};

void check(cgx_status status) {
  if (status != CGX_OK)
    throw Error(std::string(cgx_status_name(status)) + ": " + cgx_last_error());
}

void check(const cuda::Outcome &outcome) {
  if (!outcome.ok())
    throw Error(outcome.error);
}

/// A buffer of the collective, in the memory that the options choose.
class Buffer {
public:
  Buffer(const Options &options, uint64_t elements) : host(elements) {
    if (options.device == "cuda")
      check(device.allocate(cuda::MemoryKind::device, elements * sizeof(float)));
  }

  bool isOnDevice() const { return device.get(); }
  float *get() { return device.get() ? device.get<float>() : host.data(); }
  /// Copies the host memory to the device after it was filled.
  void send() {
    if (!device.get())
      return;
    check(cuda::copy(device.get(), host.data(), host.size() * sizeof(float), nullptr));
    check(cuda::waitFor(nullptr));
  }

  /// Returns the current contents of the device.
  std::vector<float> fetch() const {
    std::vector<float> fetched(host.size());
    check(cuda::copy(fetched.data(), device.get(), fetched.size() * sizeof(float), nullptr));
    check(cuda::waitFor(nullptr));
    return fetched;
  }

  std::vector<float> host;

private:
  cuda::Memory device;
};

/// Returns the number of elements that each rank contributes. Where ranks share them, it is a multiple of the
/// number of ranks.
uint64_t elementsOf(const Options &options, uint64_t bytes) {
  return std::max<uint64_t>(bytes / sizeof(float) / options.ranks, 1) * options.ranks;
}

/// Returns the id of a collective: 1 + s * variants + v for variant v at size s; 0 is the barrier.
int64_t idOf(const Options &options, size_t size, size_t variant) {
  return static_cast<int64_t>(1 + size * options.variants.size() + variant);
}

/// Returns a nearly square shape where ranks do not share a dimension, because lowrank needs a matrix.
std::vector<uint64_t> shapeOf(const std::string &kind, uint64_t elements) {
  if (kind != "all_reduce")
    return {elements};
  auto rows = static_cast<uint64_t>(std::sqrt(static_cast<double>(elements)));
  while (elements % rows != 0)
    --rows;
  return {rows, elements / rows};
}

Json collectiveOf(const Options &options, int64_t id, const std::string &kind, uint64_t elements,
                  const Variant &variant) {
  std::vector<uint32_t> everybody(options.ranks);
  for (uint32_t rank = 0; rank < options.ranks; ++rank)
    everybody[rank] = rank;
  Json operand = {{"layer", "benchmark"},
                  {"layer_id", id},
                  {"kind", "gradient"},
                  {"dtype", "f32"},
                  {"elements", elements},
                  {"shape", shapeOf(kind, elements)},
                  {"codec", writeCodec(variant.codec)}};
  Json collective = {{"id", id},
                     {"kind", kind},
                     {"reduction", "sum"},
                     {"groups", Json::array({everybody})},
                     {"operands", Json::array({operand})},
                     {"dim", 0},
                     {"split_dim", 0},
                     {"concat_dim", 0},
                     {"root", 0}};
  cgx_schedule schedule = variant.schedule;
  const bool isOpen = schedule.algorithm == CGX_ALGORITHM_AUTO && variant.codec.family == CGX_CODEC_IDENTITY;
  // The compiler chooses in the same way.
  if (isOpen && cgx_is_for_one_shot(options.ranks, elements * sizeof(float)))
    schedule.algorithm = CGX_ALGORITHM_ONE_SHOT;
  writeSchedule(schedule, collective);
  return collective;
}

std::string manifestOf(const Options &options) {
  Json collectives = Json::array({collectiveOf(options, kBarrier, "all_reduce", 1, Variant{})});
  for (size_t size = 0; size < options.sizes.size(); ++size)
    for (size_t variant = 0; variant < options.variants.size(); ++variant)
      collectives.push_back(collectiveOf(options, idOf(options, size, variant), options.collective,
                                         elementsOf(options, options.sizes[size]),
                                         options.variants[variant]));
  return Json{
      {"cgx_manifest", 1}, {"hash", "cgx-bench"}, {"ranks", options.ranks}, {"collectives", collectives}}
      .dump();
}

class RankBench {
public:
  RankBench(const Options &options, const std::string &job, uint32_t rank, bool withReferences)
      : options(options), rank(rank) {
    if (options.device == "cuda")
      check(cuda::useDeviceOf(rankOnHost(rank)));
    std::string manifest = manifestOf(options);
    cgx_context_config config = CGX_CONTEXT_CONFIG_INIT;
    config.transport = options.transport.c_str();
    config.job = job.c_str();
    config.rank = rank;
    config.ranks = options.ranks;
    config.timeout_ms = options.timeoutMs;
    config.manifest = manifest.c_str();
    cgx_context *created = nullptr;
    check(cgx_context_create(&config, &created));
    context.reset(created);
    if (options.device == "cuda")
      check(cgx_context_use_cuda(created, /*stream=*/nullptr));
    if (!withReferences)
      return;
    for (std::unique_ptr<Reference> &reference : makeReferences())
      if (!reference->nameOf(options.collective).empty()) {
        reference->start();
        references.push_back(std::move(reference));
      }
  }

  std::vector<Series> run() {
    for (size_t size = 0; size < options.sizes.size(); ++size)
      measure(size);
    return slowest();
  }

private:
  void runCollective(int64_t id, const float *input, float *output) {
    auto handle = reinterpret_cast<int64_t>(context.get());
    cgx_rt_operand(handle, id, 0, reinterpret_cast<int64_t>(input), reinterpret_cast<int64_t>(output));
    cgx_rt_run(handle, id);
  }

  /// Checks that one step on a GPU and one on the host give equal bits. Sums by NCCL are excluded, because
  /// they have an order of their own.
  void checkBits(size_t size, size_t variant, Buffer &input, Buffer &output) {
    const Variant &of = options.variants[variant];
    if (options.transport.starts_with("nccl") && of.codec.family == CGX_CODEC_IDENTITY && options.ranks > 2)
      return;
    const int64_t id = idOf(options, size, variant);
    for (bool onHost : {false, true}) {
      check(cgx_context_begin_step(context.get(), step));
      runCollective(id, onHost ? input.host.data() : input.get(), onHost ? output.host.data() : output.get());
      check(cgx_context_end_step(context.get()));
    }
    ++step;
    const uint64_t results = expectedOf(size).results();
    if (std::memcmp(output.fetch().data(), output.host.data(), results * sizeof(float)) != 0)
      throw Error("expected the bits of the host from " + of.name + " on a GPU, got others");
  }

  Expected expectedOf(size_t size) const {
    return {options.collective, options.ranks, elementsOf(options, options.sizes[size])};
  }

  /// Runs one variant, of this runtime or of the references.
  void runVariant(size_t size, size_t variant, Buffer &input, Buffer &output) {
    if (variant < options.variants.size())
      runCollective(idOf(options, size, variant), input.get(), output.get());
    else
      referenceOf(variant).run(options.collective, input.host.data(), output.host.data(),
                               elementsOf(options, options.sizes[size]), options.ranks);
  }

  /// Runs the variant once and checks its results.
  void checkResults(size_t size, size_t variant, Buffer &input, Buffer &output, Series &series) {
    check(cgx_context_begin_step(context.get(), step++));
    runVariant(size, variant, input, output);
    check(cgx_context_end_step(context.get()));
    const bool isOurs = variant < options.variants.size();
    const std::vector<float> fetched = isOurs && output.isOnDevice() ? output.fetch() : output.host;
    const Expected expected = expectedOf(size);
    const std::span<const float> results = std::span(fetched).first(expected.results());
    const bool isExact = !isOurs || options.variants[variant].codec.family == CGX_CODEC_IDENTITY;
    series.wrong = addUp(isExact ? expected.countWrong(rank, results) : countNotFinite(results));
    if (expected.isReplicated() && !isEqualOnAllRanks(digestOf(results)))
      series.wrong = expected.results() * options.ranks;
  }

  /// Returns the numbers of all ranks, on rank 0.
  std::vector<uint64_t> gather(uint64_t value) {
    std::vector<uint64_t> values;
    auto take = [](void *user, uint32_t, const void *data, uint64_t) {
      uint64_t theirs = 0;
      std::memcpy(&theirs, data, sizeof(theirs));
      static_cast<std::vector<uint64_t> *>(user)->push_back(theirs);
    };
    check(cgx_context_gather(context.get(), &value, sizeof(value), take, &values));
    return values;
  }

  uint64_t addUp(uint64_t count) {
    const std::vector<uint64_t> counts = gather(count);
    return std::accumulate(counts.begin(), counts.end(), uint64_t(0));
  }

  bool isEqualOnAllRanks(uint64_t digest) {
    const std::vector<uint64_t> digests = gather(digest);
    return std::adjacent_find(digests.begin(), digests.end(), std::not_equal_to<>()) == digests.end();
  }

  /// Returns the reference of a variant; references follow the runtime's own variants.
  Reference &referenceOf(size_t variant) { return *references[variant - options.variants.size()]; }

  void measure(size_t size) {
    uint64_t elements = elementsOf(options, options.sizes[size]);
    Buffer input(options, elements),
        output(options, elements * (options.collective == "all_gather" ? options.ranks : 1));
    for (uint64_t i = 0; i < elements; ++i)
      input.host[i] = inputOf(rank, i);
    input.send();
    output.send();
    if (input.isOnDevice())
      for (size_t variant = 0; variant < options.variants.size(); ++variant)
        checkBits(size, variant, input, output);
    size_t variants = options.variants.size() + references.size();
    size_t first = mine.size();
    for (size_t variant = 0; variant < variants; ++variant)
      mine.push_back({options.sizes[size],
                      variant < options.variants.size() ? options.variants[variant].name
                                                        : referenceOf(variant).nameOf(options.collective),
                      {},
                      0});
    for (size_t variant = 0; variant < variants; ++variant)
      checkResults(size, variant, input, output, mine[first + variant]);
    for (uint32_t round = 0; round < options.warmup + options.repetitions; ++round) {
      check(cgx_context_begin_step(context.get(), step++));
      for (size_t variant = 0; variant < variants; ++variant) {
        float flag = 0;
        runCollective(kBarrier, &flag, &flag);
        Clock::time_point begin = Clock::now();
        runVariant(size, variant, input, output);
        double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        if (round >= options.warmup)
          mine[first + variant].seconds.push_back(seconds);
      }
      check(cgx_context_end_step(context.get()));
    }
  }

  /// Brings the times of all ranks to rank 0, and takes the longest of each run.
  std::vector<Series> slowest() {
    std::vector<double> times;
    for (const Series &series : mine)
      times.insert(times.end(), series.seconds.begin(), series.seconds.end());
    std::vector<double> longest(times.size());
    auto take = [](void *user, uint32_t, const void *data, uint64_t bytes) {
      auto &longest = *static_cast<std::vector<double> *>(user);
      std::vector<double> theirs(bytes / sizeof(double));
      std::memcpy(theirs.data(), data, bytes);
      for (size_t i = 0; i < std::min(theirs.size(), longest.size()); ++i)
        longest[i] = std::max(longest[i], theirs[i]);
    };
    check(cgx_context_gather(context.get(), times.data(), times.size() * sizeof(double), take, &longest));
    if (rank != 0)
      return {};
    size_t next = 0;
    for (Series &series : mine)
      for (double &seconds : series.seconds)
        seconds = longest[next++];
    return mine;
  }

  const Options &options;
  uint32_t rank;
  std::vector<std::unique_ptr<Reference>> references;
  std::unique_ptr<cgx_context, DestroyContext> context;
  std::vector<Series> mine;
  uint64_t step = 0;
};

} // namespace

std::vector<Series> runRank(const Options &options, const std::string &job, uint32_t rank,
                            bool withReferences) {
  return RankBench(options, job, rank, withReferences).run();
}

} // namespace cgx::bench
