//===-- Calibrate.cpp - Measuring links and codecs --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All ranks do the same work at once, after a barrier, and the slowest counts: links and cores
// are measured under the conditions of a collective.
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "LinkLatencies.h"
#include "Machine.h"
#include "cgx/kernels/codecs.h"
#include "cgx/kernels/reduce.h"
#include "cgx/native.h"
#include "cgx/runtime.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <time.h>

namespace cgx::bench {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {

/// The time for which cores are kept busy to count them; it spans many time slices of the scheduler.
constexpr double kBusySeconds = 0.1;

/// The size of the matrices that are multiplied, which fit into caches.
constexpr int64_t kSize = 256;

/// The elements of a short all-reduce: each rank has some, and no link is busy for long.
constexpr uint64_t kShortElements = 1024;

/// The ids of the collectives that are timed.
enum Id : int64_t {
  kBarrier,
  kShort,
  kLong,
  kShortInside,
  kLongInside,
  kFan,
  kAll,
  kShortTree,
  kShortScatter
};

struct DestroyContext {
  void operator()(cgx_context *context) const { cgx_context_destroy(context); }
};

void check(cgx_status status) {
  if (status != CGX_OK)
    throw Error(std::string(cgx_status_name(status)) + ": " + cgx_last_error());
}

class Calibration {
public:
  explicit Calibration(const CalibrateOptions &options) : options(options) {
    std::string manifest = makeManifest();
    cgx_context_config config = CGX_CONTEXT_CONFIG_INIT;
    config.transport = options.transport.c_str();
    config.job = options.job.c_str();
    config.rank = options.rank;
    config.ranks = options.ranks;
    config.timeout_ms = 60000;
    config.manifest = manifest.c_str();
    cgx_context *created = nullptr;
    check(cgx_context_create(&config, &created));
    context.reset(created);
    input.resize(options.bytes / sizeof(float));
    output.resize(input.size());
    std::mt19937 random(options.rank);
    std::normal_distribution<float> normal;
    for (float &x : input)
      x = normal(random);
  }

  formats::Machine run() {
    formats::Machine machine;
    machine.transport = options.transport;
    machine.ranks = options.ranks;
    machine.model.local = options.local;
    double fan = time([&] { runCollective(kFan); });
    machine.model.link = link(kShort, kLong);
    machine.model.inside = options.local > 1 ? link(kShortInside, kLongInside) : machine.model.link;
    // All ranks of a host used its link at the same time.
    machine.model.link.bytes_per_second *= options.local;
    double others = std::max(1.0, double(options.ranks) - 2);
    for (cgx_link *link : {&machine.model.link, &machine.model.inside})
      link->message_seconds = std::max((fan - link->latency_seconds) / others, link->latency_seconds / 100);
    if (options.local == 1) {
      fitMessages(machine.model.link);
      machine.model.inside = machine.model.link;
    }
    double bytes = double(input.size() * sizeof(float));
    machine.coresPerRank = coresPerRank = cores();
    machine.flopsPerSecond = flops();
    machine.overlappedShare = overlappedShare();
    machine.model.reduce_bytes_per_second =
        bytes / compute([&] { reduce(ReduceOp::sum, CGX_F32, output.data(), input.data(), input.size()); });
    if (options.local == 1 && options.ranks > 1)
      machine.model.link.bytes_per_second = machine.model.inside.bytes_per_second =
          exactBandwidth(machine.model);
    for (const cgx_codec &codec : options.codecs)
      machine.codecs.push_back({namedCodec(codec), rates(codec)});
    return machine;
  }

private:
  /// Fits the latency and the cost of further messages, so that the model gives the times that short
  /// all-reduces took.
  void fitMessages(cgx_link &link) {
    link.latency_seconds = fitLatency(options.ranks, time([&] { runCollective(kShortTree); }));
    if (options.ranks > 2)
      link.message_seconds =
          fitFurtherMessage(options.ranks, link.latency_seconds, time([&] { runCollective(kShortScatter); }));
  }

  std::string makeManifest() const {
    uint32_t ranks = options.ranks, local = options.local;
    std::vector<uint32_t> everybody(ranks);
    Json between = Json::array(), inside = Json::array();
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      everybody[rank] = rank;
      between.push_back({rank, (rank + local) % ranks});
      inside.push_back({rank, rank / local * local + (rank + 1) % local});
    }
    Json collectives = Json::array();
    auto add = [&](Id id, const char *kind, uint64_t elements, const Json &pairs,
                   const char *algorithm = "auto") {
      Json operand = {{"layer", "calibration"},
                      {"layer_id", id},
                      {"kind", "other"},
                      {"dtype", "f32"},
                      {"elements", elements},
                      {"shape", Json::array({elements})},
                      {"codec", {{"family", "identity"}}}};
      collectives.push_back({{"id", id},
                             {"kind", kind},
                             {"algorithm", algorithm},
                             {"reduction", "sum"},
                             {"groups", Json::array({everybody})},
                             {"operands", Json::array({operand})},
                             {"split_dim", 0},
                             {"concat_dim", 0},
                             {"source_target_pairs", pairs}});
    };
    uint64_t elements = options.bytes / sizeof(float);
    add(kBarrier, "all_reduce", 1, {});
    add(kShort, "permute", 1, between);
    add(kLong, "permute", elements, between);
    add(kShortInside, "permute", 1, inside);
    add(kLongInside, "permute", elements, inside);
    add(kFan, "all_to_all", ranks, {});
    add(kAll, "all_reduce", elements, {});
    add(kShortTree, "all_reduce", kShortElements, {}, "tree");
    add(kShortScatter, "all_reduce", kShortElements, {}, "scatter_reduce_allgather");
    return Json{
        {"cgx_manifest", 1}, {"hash", "cgx-calibrate"}, {"ranks", ranks}, {"collectives", collectives}}
        .dump();
  }

  void runCollective(int64_t id) {
    auto handle = reinterpret_cast<int64_t>(context.get());
    cgx_rt_operand(handle, id, 0, reinterpret_cast<int64_t>(input.data()),
                   reinterpret_cast<int64_t>(output.data()));
    cgx_rt_run(handle, id);
  }

  using Combine = std::function<double(double, double)>;

  /// Runs `body` on all ranks at the same time, after a barrier, and combines their values. Returns the
  /// median over the repetitions. Only rank 0 has the combined value.
  double measure(const std::function<double()> &body, Combine combine) {
    std::vector<double> values;
    for (uint32_t i = 0; i <= options.repetitions; ++i) {
      check(cgx_context_begin_step(context.get(), step++));
      runCollective(kBarrier);
      const double value = body();
      check(cgx_context_end_step(context.get()));
      if (i > 0) // the first repetition is a warm-up
        values.push_back(value);
    }
    values = overRanks(std::move(values), std::move(combine));
    std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
    return values[values.size() / 2];
  }

  /// Returns the seconds of the slowest rank.
  double time(const std::function<void()> &body) {
    return measure(
        [&] {
          Clock::time_point begin = Clock::now();
          body();
          return std::chrono::duration<double>(Clock::now() - begin).count();
        },
        [](double a, double b) { return std::max(a, b); });
  }

  /// Returns the seconds that a rank needs to compute while all ranks do. A computation that fits into one
  /// time slice of the scheduler gets a core of its own; over a whole step, ranks share the cores.
  double compute(const std::function<void()> &body) {
    const double seconds = measure(
        [&] {
          const double begin = ownSeconds();
          body();
          return ownSeconds() - begin;
        },
        [](double a, double b) { return std::max(a, b); });
    return seconds / std::min(coresPerRank, 1.0);
  }

  /// Returns the cores that a rank gets while each rank keeps two busy, on average over the ranks.
  double cores() {
    const auto share = [] {
      std::array<double, 2> seconds{};
      std::thread other([&] { seconds[1] = coreSeconds(); });
      seconds[0] = coreSeconds();
      other.join();
      return (seconds[0] + seconds[1]) / kBusySeconds;
    };
    return measure(share, std::plus<>()) / options.ranks;
  }

  /// Returns the CPU seconds that this thread gets within kBusySeconds.
  static double coreSeconds() {
    const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(kBusySeconds));
    const double begin = ownSeconds();
    while (Clock::now() < end) {
    }
    return ownSeconds() - begin;
  }

  /// Returns the CPU seconds that this thread has used.
  static double ownSeconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
  }

  /// Returns the speed of matrix products that fit into caches.
  double flops() {
    const double products = compute([&] { multiply(); });
    return 2.0 * kSize * kSize * kSize / products;
  }

  void multiply() {
    cgx_native_matmul_f32(reinterpret_cast<int64_t>(left.data()), reinterpret_cast<int64_t>(right.data()),
                          reinterpret_cast<int64_t>(product.data()), /*trans_a=*/0, /*trans_b=*/1, kSize,
                          kSize, kSize, /*batch=*/1, 0, 0, 0);
  }

  /// Returns how much of an all-reduce, or of equally long computing, is hidden while both run, relative to
  /// the shorter one. It is 1 where sending needs no core that computes, and 0 where overlap gains nothing.
  double overlappedShare() {
    const auto handle = reinterpret_cast<int64_t>(context.get());
    const double traveling = time([&] { runCollective(kAll); });
    const double once = time([&] { multiply(); });
    const auto products = static_cast<uint32_t>(std::clamp(traveling / once, 1.0, 1e5));
    const auto multiplyAll = [&] {
      for (uint32_t i = 0; i < products; ++i)
        multiply();
    };
    const double computing = time(multiplyAll);
    const double both = time([&] {
      cgx_rt_operand(handle, kAll, 0, reinterpret_cast<int64_t>(input.data()),
                     reinterpret_cast<int64_t>(output.data()));
      cgx_rt_start(handle, kAll);
      multiplyAll();
      cgx_rt_wait(handle, kAll);
    });
    return std::clamp((traveling + computing - both) / std::min(traveling, computing), 0.0, 1.0);
  }

  /// Combines the values of all ranks, repetition by repetition. On ranks other than 0, returns only their
  /// own values.
  std::vector<double> overRanks(std::vector<double> values, Combine combine) {
    struct Combined {
      std::vector<double> values;
      Combine combine;
    } combined{values, std::move(combine)};
    auto take = [](void *user, uint32_t rank, const void *data, uint64_t bytes) {
      auto &[values, combine] = *static_cast<Combined *>(user);
      std::vector<double> theirs(bytes / sizeof(double));
      std::memcpy(theirs.data(), data, bytes);
      for (size_t i = 0; rank != 0 && i < std::min(theirs.size(), values.size()); ++i)
        values[i] = combine(values[i], theirs[i]);
    };
    check(cgx_context_gather(context.get(), values.data(), values.size() * sizeof(double), take, &combined));
    return combined.values;
  }

  cgx_link link(Id shortMessage, Id longMessage) {
    double latency = time([&] { runCollective(shortMessage); });
    double seconds = time([&] { runCollective(longMessage); });
    return {.latency_seconds = latency,
            .message_seconds = 0,
            .bytes_per_second = double(options.bytes) / std::max(seconds - latency, 1e-9)};
  }

  /// Returns the bandwidth at which the model gives the time that an uncompressed all-reduce took. Where a
  /// transport lends memory, that is much faster than messages of the same length.
  double exactBandwidth(const cgx_machine &model) {
    double bytes = double(options.bytes), ranks = double(options.ranks);
    double seconds = time([&] { runCollective(kAll); });
    double adding = bytes / model.reduce_bytes_per_second;
    const cgx_collective collective{.ranks = options.ranks};
    const cgx_pattern pattern = cgx_pattern_of(&collective);
    double transfer = seconds - cgx_message_seconds(&model.link, &pattern) - adding / 8;
    return 2 * bytes * (ranks - 1) / ranks / std::max(transfer, seconds / 2);
  }

  cgx_codec_rates rates(const cgx_codec &codec) {
    std::vector<std::byte> payload(cgx_payload_bytes(&codec, CGX_F32, input.size()));
    uint64_t used = payload.size();
    double bytes = double(input.size() * sizeof(float));
    double encoding = compute([&] {
      used = encode(codec, CGX_F32, input.data(), input.size(), makeRandomKey(1, step, 0, options.rank, 0), 0,
                    payload.data());
    });
    double decoding = compute(
        [&] { (void)decodeAccumulate(codec, CGX_F32, payload.data(), used, input.size(), output.data()); });
    return {bytes / encoding, bytes / decoding};
  }

  const CalibrateOptions &options;
  std::unique_ptr<cgx_context, DestroyContext> context;
  std::vector<float> input, output;
  std::vector<float> left = std::vector<float>(kSize * kSize, 1), right = left, product = left;
  uint64_t step = 0;
  double coresPerRank = 1; ///< cores per rank; only on rank 0, which writes the file
};

} // namespace

std::vector<cgx_codec> commonCodecs() {
  std::vector<cgx_codec> codecs;
  for (const char *text : {"quantize", "quantize bits=8 bucket=512", "quantize bits=2",
                           "ternary bucket=512 scale=bf16", "sign bucket=512 scale=bf16 magnitude=means",
                           "natural", "cast format=bf16", "topk density=0.01", "randk density=0.01"})
    codecs.push_back(parseCodec(text).codec);
  return codecs;
}

formats::Machine calibrate(const CalibrateOptions &options) { return Calibration(options).run(); }

} // namespace cgx::bench
