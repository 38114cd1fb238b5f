//===-- CudaBenchmark.cpp - Speed of the codecs on a GPU ------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The unit is the ratio to a copy of 256 MiB within device memory, in bytes read and written a second. Every
// entry runs once in each round, so that varying clocks affect all alike, and medians are taken. One
// measurement is a few runs in sequence, timed by events on the stream.

#include "CudaBenchmark.h"

#include "cgx/kernels/cuda_lowrank.h"
#include "cgx/kernels/cuda_memory.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <stdexcept>

namespace cgx {
namespace {

using cuda::Group;
using cuda::Memory;
using cuda::MemoryKind;
using cuda::Outcome;

constexpr uint64_t tensorBytes = 256u << 20;
constexpr uint32_t rounds = 21, warmupRounds = 3, runsOfMeasurement = 4, ownerRanks = 4;

void require(const Outcome &outcome) {
  if (!outcome.ok())
    throw std::runtime_error(outcome.error);
}

std::unique_ptr<Group> require(std::unique_ptr<Group> group, const Outcome &outcome) {
  require(outcome);
  return group;
}

struct Codec {
  const char *name;
  cgx_codec codec;
  double encodeTarget, decodeTarget, accumulateTarget, ownerTarget; ///< from targets.md; 0 if there is none
  bool isExtra;                                                     ///< measured only with --all
};

cgx_codec quantize(uint32_t bits, uint32_t bucket, cgx_rounding rounding) {
  return {.family = CGX_CODEC_QUANTIZE, .bits = bits, .bucket = bucket, .rounding = uint32_t(rounding)};
}

const Codec codecs[] = {
    {"quantize 4 bit bucket 128 nearest", quantize(4, 128, CGX_ROUND_NEAREST), 0.85, 0.85, 0.85, 0.8, false},
    {"quantize 4 bit bucket 128 stochastic", quantize(4, 128, CGX_ROUND_STOCHASTIC), 0.8, 0, 0, 0.8, false},
    {"quantize 8 bit bucket 512 nearest", quantize(8, 512, CGX_ROUND_NEAREST), 0.85, 0.85, 0.85, 0.8, false},
    {"quantize 8 bit bucket 512 stochastic", quantize(8, 512, CGX_ROUND_STOCHASTIC), 0.8, 0, 0, 0.8, false},
    {"quantize 2 bit bucket 128 stochastic", quantize(2, 128, CGX_ROUND_STOCHASTIC), 0.8, 0.85, 0.85, 0.8,
     true},
    {"quantize 3 bit bucket 128 stochastic", quantize(3, 128, CGX_ROUND_STOCHASTIC), 0.8, 0.85, 0.85, 0,
     true},
    {"quantize 4 bit bucket 100 stochastic", quantize(4, 100, CGX_ROUND_STOCHASTIC), 0, 0, 0, 0, true},
    {"cast bf16", {.family = CGX_CODEC_CAST, .format = CGX_FORMAT_BF16}, 0.9, 0.9, 0.9, 0, false},
    {"cast fp8_e4m3 bucket 128",
     {.family = CGX_CODEC_CAST, .bucket = 128, .format = CGX_FORMAT_FP8_E4M3},
     0,
     0,
     0,
     0,
     true},
    {"ternary bucket 512", {.family = CGX_CODEC_TERNARY, .bucket = 512}, 0, 0, 0, 0, true},
    {"sign bucket 512", {.family = CGX_CODEC_SIGN, .bucket = 512}, 0, 0, 0, 0, true},
    {"natural", {.family = CGX_CODEC_NATURAL}, 0, 0, 0, 0, true},
    {"topk 1 %", {.family = CGX_CODEC_TOPK, .density = 0.01f}, 0, 0, 0, 0, false},
    {"lossless", {.family = CGX_CODEC_LOSSLESS}, 0.15, 0.2, 0, 0, false},
    {"gcomp sgd", {.family = CGX_CODEC_GCOMP, .learning_rate = 1e-5f}, 0, 0, 0, 0, false},
};

struct Storage {
  const char *name;
  ResidualStorage storage;
  double elementBytes; ///< bytes of residual read and written per element
};

const Storage storages[] = {{"f32", ResidualStorage::F32, 8},
                            {"bf16", ResidualStorage::Bf16, 4},
                            {"int8", ResidualStorage::Int8, 2 + 8.0 / residualBlock}};

/// An operation to time.
struct Entry {
  std::string name;
  std::function<Outcome()> run;
  double movedBytes;
  double target;
  std::vector<double> seconds = {};

  double rate() const {
    std::vector<double> sorted = seconds;
    std::nth_element(sorted.begin(), sorted.begin() + long(sorted.size() / 2), sorted.end());
    return movedBytes / sorted[sorted.size() / 2];
  }
};

/// Returns the lengths of 300 layers of a transformer: 25 blocks of matrices, biases and norms.
std::vector<uint64_t> transformerLayers() {
  constexpr uint64_t width = 480;
  constexpr uint64_t block[] = {3 * width * width,
                                3 * width,
                                width * width,
                                width,
                                4 * width * width,
                                4 * width,
                                4 * width * width,
                                width,
                                width,
                                width,
                                width,
                                width};
  std::vector<uint64_t> layers;
  for (int i = 0; i < 25; ++i)
    layers.insert(layers.end(), std::begin(block), std::end(block));
  return layers;
}

class CudaBenchmark {
public:
  explicit CudaBenchmark(bool all) : all(all) {
    require(cuda::availability());
    require(cuda::makeStream(stream));
    for (Memory *memory : {&input, &output, &payload})
      require(memory->allocate(MemoryKind::device, 2 * tensorBytes));
    require(contributions.allocate(MemoryKind::device, ownerRanks * tensorBytes));
    require(state.allocate(MemoryKind::device, sizeof(cuda::StepState)));
    const cuda::StepState first = {1, 2};
    require(cuda::copy(state.get(), &first, sizeof first, stream));
    fillInput();
  }
  ~CudaBenchmark() { cuda::destroyStream(stream); }

  int run() {
    entries.push_back({"copy", [this] { return cuda::copy(output.get(), input.get(), tensorBytes, stream); },
                       2.0 * tensorBytes, 0});
    for (const Codec &codec : codecs)
      if (all || !codec.isExtra)
        addCodec(codec);
    for (const Storage &storage : storages)
      addFeedback(storage);
    addLowrank();
    const size_t oneTensor = addLayers("one tensor", {totalOf(transformerLayers())});
    const size_t manyLayers = addLayers("300 layers", transformerLayers());
    for (uint32_t round = 0; round < warmupRounds + rounds; ++round)
      for (Entry &entry : entries)
        measure(entry, round >= warmupRounds);
    print(entries[oneTensor].rate() / entries[manyLayers].rate());
    return 0;
  }

private:
  /// Fills the input with bell-shaped elements, like gradients.
  void fillInput() {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0.0f, 1e-3f);
    std::vector<float> pattern(1 << 20);
    std::generate(pattern.begin(), pattern.end(), [&] { return normal(random); });
    const uint64_t bytes = pattern.size() * sizeof(float);
    for (uint64_t begin = 0; begin < input.bytes(); begin += bytes)
      require(cuda::copy(input.get<char>() + begin, pattern.data(), bytes, stream));
    require(cuda::waitFor(stream));
  }

  cuda::EncodedLayer encoded(const cgx_codec &codec, uint64_t elements, void *to) const {
    // Codecs that read optimizer state get a tensor as long as the gradient.
    OptimizerTensors optimizer;
    optimizer.kept.fill({input.get(), CGX_F32});
    return {codec, CGX_F32, elements, 0, 3, 0, 0, to, {}, optimizer};
  }

  void add(std::string name, std::shared_ptr<Group> group, double movedBytes, double target) {
    entries.push_back({std::move(name),
                       [this, group] { return group->run(stream, state.get<cuda::StepState>()); }, movedBytes,
                       target});
  }

  void addCodec(const Codec &of) {
    constexpr uint64_t elements = tensorBytes / sizeof(float);
    const uint64_t most = cgx_payload_bytes(&of.codec, CGX_F32, elements);
    const std::string name = of.name;
    Outcome outcome;
    const cuda::EncodeLayer layer = {encoded(of.codec, elements, payload.get()), input.get()};
    std::shared_ptr<Group> encode = require(cuda::makeEncodeGroup(std::span(&layer, 1), outcome), outcome);
    const uint64_t bytes = cgx_payload_is_fixed(&of.codec) ? most : writtenBytes(*encode);
    uint64_t read = tensorBytes;
    for (uint32_t kept = 0; kept < CGX_KEPT_TENSORS; ++kept)
      read += cgx_codec_needs(&of.codec, kept) ? tensorBytes : 0;
    add("encode " + name, encode, double(read + bytes), of.encodeTarget);
    const cuda::DecodeLayer back = {of.codec, CGX_F32, payload.get(), most, elements, output.get()};
    add("decode " + name, require(cuda::makeDecodeGroup(std::span(&back, 1), outcome), outcome),
        double(tensorBytes + bytes), of.decodeTarget);
    add("accumulate " + name, require(cuda::makeAccumulateGroup(std::span(&back, 1), outcome), outcome),
        double(2 * tensorBytes + bytes), of.accumulateTarget);
    addOwner(of, most);
  }

  /// Returns the bytes that a payload of varying size states.
  uint64_t writtenBytes(Group &encode) {
    uint64_t bytes = 0;
    require(encode.run(stream, state.get<cuda::StepState>()));
    require(cuda::copy(&bytes, payload.get<char>() + CGX_PAYLOAD_HEADER_BYTES, sizeof bytes, stream));
    require(cuda::waitFor(stream));
    return bytes;
  }

  /// Adds the default codec with error feedback; the residual is in the memory of the output.
  void addFeedback(const Storage &of) {
    constexpr uint64_t elements = tensorBytes / sizeof(float);
    const cgx_codec codec = quantize(4, 128, CGX_ROUND_STOCHASTIC);
    cuda::EncodeLayer layer = {encoded(codec, elements, payload.get()), input.get()};
    layer.encoded.feedback = {of.storage, 1.0f, output.get(),
                              reinterpret_cast<float *>(output.get<char>() + tensorBytes)};
    Outcome outcome;
    add(std::string("encode quantize 4 bit, residual in ") + of.name,
        require(cuda::makeEncodeGroup(std::span(&layer, 1), outcome), outcome),
        double(tensorBytes + cgx_payload_bytes(&codec, CGX_F32, elements)) +
            double(elements) * of.elementBytes,
        0);
  }

  void addLowrank() {
    constexpr uint64_t rows = 8192, elements = tensorBytes / sizeof(float), columns = elements / rows;
    constexpr uint32_t rank = 4;
    constexpr uint64_t factor = rank * (rows > columns ? rows : columns);
    require(factors.allocate(MemoryKind::device, 4 * factor * sizeof(float)));
    require(cuda::copy(factors.get(), input.get(), factors.bytes(), stream)); // any numbers do, except zeros
    float *memory = factors.get<float>();
    const cuda::LowrankLayer layer = {.codec = {.family = CGX_CODEC_LOWRANK, .rank = rank, .rows = rows},
                                      .elements = elements,
                                      .input = input.get(),
                                      .warmStart = memory,
                                      .left = memory + factor,
                                      .ownRight = memory + 2 * factor,
                                      .right = memory + 3 * factor,
                                      .output = output.get()};
    Outcome outcome;
    std::shared_ptr<cuda::LowrankGroup> group = cuda::makeLowrankGroup(std::span(&layer, 1), outcome);
    require(outcome);
    entries.push_back({"lowrank 4, left factor of 8192 x 8192",
                       [this, group] { return group->makeLeft(stream, state.get<cuda::StepState>()); },
                       double(tensorBytes), 0});
    entries.push_back({"lowrank 4, right factor", [this, group] { return group->makeRight(stream); },
                       double(tensorBytes), 0});
    entries.push_back(
        {"lowrank 4, result", [this, group] { return group->finish(stream); }, double(tensorBytes), 0});
  }

  /// Adds the owner of a chunk among four ranks, each of which contributes a payload.
  void addOwner(const Codec &of, uint64_t bytes) {
    constexpr uint64_t elements = tensorBytes / sizeof(float);
    const uint64_t apart = (bytes + 255) / 256 * 256;
    if (ownerRanks * apart > contributions.bytes())
      return;
    cuda::OwnerLayer owner = {encoded(of.codec, elements, output.get()), {}};
    std::vector<cuda::EncodeLayer> made;
    for (uint32_t rank = 0; rank < ownerRanks; ++rank) {
      owner.contributions.push_back(contributions.get<char>() + rank * apart);
      made.push_back({encoded(of.codec, elements, contributions.get<char>() + rank * apart), input.get()});
    }
    Outcome outcome;
    // Payloads of all codecs share their memory, so they are encoded again before they are summed.
    std::shared_ptr<Group> make = require(cuda::makeEncodeGroup(made, outcome), outcome);
    std::shared_ptr<Group> sum = require(cuda::makeOwnerGroup(std::span(&owner, 1), outcome), outcome);
    add("owner of " + std::to_string(ownerRanks) + " " + of.name, sum, double((ownerRanks + 1) * bytes),
        of.ownerTarget);
    prepare.resize(entries.size());
    prepare.back() = make;
  }

  static uint64_t totalOf(const std::vector<uint64_t> &lengths) {
    uint64_t total = 0;
    for (uint64_t length : lengths)
      total += length;
    return total;
  }

  size_t addLayers(const char *name, const std::vector<uint64_t> &lengths) {
    const cgx_codec codec = quantize(4, 128, CGX_ROUND_STOCHASTIC);
    std::vector<cuda::EncodeLayer> layers;
    uint64_t from = 0, to = 0, payloadBytes = 0;
    for (uint64_t length : lengths) {
      layers.push_back({encoded(codec, length, payload.get<char>() + to), input.get<float>() + from});
      const uint64_t bytes = cgx_payload_bytes(&codec, CGX_F32, length);
      payloadBytes += bytes;
      from += length;
      to += (bytes + 7) / 8 * 8;
    }
    Outcome outcome;
    std::shared_ptr<Group> group = require(cuda::makeEncodeGroup(layers, outcome), outcome);
    add(std::string("encode ") + name + ", quantize 4 bit, " + std::to_string(group->launches()) +
            " launches",
        group, double(from * sizeof(float) + payloadBytes), 0);
    return entries.size() - 1;
  }

  void measure(Entry &entry, bool counts) {
    const size_t number = size_t(&entry - entries.data());
    if (number < prepare.size() && prepare[number])
      require(prepare[number]->run(stream, state.get<cuda::StepState>()));
    double seconds = 0;
    require(cuda::timeOn(
        stream,
        [&] {
          Outcome outcome;
          for (uint32_t run = 0; run < runsOfMeasurement && outcome.ok(); ++run)
            outcome = entry.run();
          return outcome;
        },
        seconds));
    if (counts)
      entry.seconds.push_back(seconds / runsOfMeasurement);
  }

  void print(double slowdown) const {
    const double copy = entries.front().rate();
    std::printf("%-62s %8s %8s %8s\n", "256 MiB of f32 on a GPU", "GB/s", "/copy", "target");
    for (const Entry &entry : entries) {
      std::printf("%-62s %8.0f %8.2f", entry.name.c_str(), entry.rate() / 1e9, entry.rate() / copy);
      if (entry.target > 0)
        std::printf(" %8.2f", entry.target);
      std::printf("\n");
    }
    std::printf("%-62s %8s %8.2f %8.2f\n", "time of 300 layers over that of one tensor of their total", "",
                slowdown, 1.15);
  }

  bool all;
  cuda::Stream stream = nullptr;
  Memory input, output, payload, contributions, state, factors;
  std::vector<Entry> entries;
  std::vector<std::shared_ptr<Group>> prepare; ///< for each entry, what runs before it is timed, or null
};

} // namespace

int runCudaBenchmark(bool all) {
  try {
    return CudaBenchmark(all).run();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "cgx-codec-bench: error: %s\n", error.what());
    return 1;
  }
}

} // namespace cgx
