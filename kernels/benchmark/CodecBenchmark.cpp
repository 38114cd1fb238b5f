//===-- CodecBenchmark.cpp - Speed of the codecs against memcpy -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints, for each operation and size, the bytes of uncompressed tensor a second, their ratio to memcpy of
// the same size in the same run, and their share of the limit: the time that reading and writing the
// operation's bytes takes at the speed of reading alone and of writing alone. Repetitions of all cases are
// interleaved at random and medians are taken, because the clocks of shared machines vary.

#include "CudaBenchmark.h"
#include "LosslessBenchmark.h"

#include "cgx/codec_table.h"
#include "cgx/kernels/codecs.h"

#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr char usage[] =
    "usage: cgx-codec-bench [--all | --lossless] [--implementation=NAME] [--benchmark_...]\n"
    "       cgx-codec-bench --device cuda [--all]\n"
    "\n"
    "Measures encode, decode and decode-accumulate against memcpy, and against the limit that reading and\n"
    "writing alone set, 256 KiB and 256 MiB; on a GPU against a copy in its memory, 256 MiB, and a group\n"
    "of 300 layers against one tensor.\n"
    "  --all                  all widths, buckets and element types, not only those with a target\n"
    "  --lossless             the codec lossless, its size too, beside zstd -1 and zlib -1\n"
    "  --device cpu|cuda      where: on this machine's processor (default), or its first GPU\n"
    "  --implementation=NAME  avx512, avx2, reference; default: the best of this machine\n"
    "Flags of Google Benchmark work too. For example, the 4-bit codec at 256 KiB only:\n"
    "  cgx-codec-bench --benchmark_filter='(memcpy|read|write|4 bit).*256 KiB'\n";

struct Unmap {
  size_t bytes;
  void operator()(void *address) const { munmap(address, bytes); }
};
using Memory = std::unique_ptr<void, Unmap>;

/// Allocates warm memory, on huge pages if the system gives them.
Memory allocate(size_t bytes) {
  bytes = (bytes + (2u << 20) - 1) / (2u << 20) * (2u << 20);
  void *address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    std::perror("cgx-codec-bench: mmap");
    std::exit(1);
  }
  madvise(address, bytes, MADV_HUGEPAGE);
  std::memset(address, 1, bytes);
  return Memory(address, Unmap{bytes});
}

/// The buffers of one size, shared by the benchmarks of that size.
struct Buffers {
  size_t bytes;
  Memory input, output, payload;
  Memory ones; ///< holds no byte that is 0

  explicit Buffers(size_t bytes)
      : bytes(bytes), input(allocate(bytes)), output(allocate(2 * bytes)), payload(allocate(2 * bytes)),
        ones(allocate(bytes)) {
    fill(CGX_F32);
  }

  uint64_t elements(cgx_element_type type) const { return bytes / cgx_element_bytes(type); }

  /// Fills the input with bell-shaped elements of a type, like gradients.
  void fill(cgx_element_type type) {
    if (type == filledWith)
      return;
    filledWith = type;
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0.0f, 1e-3f);
    std::vector<float> pattern(1 << 16);
    std::generate(pattern.begin(), pattern.end(), [&] { return normal(random); });
    const cgx_codec identity = {};
    const uint64_t size = cgx_element_bytes(type);
    for (uint64_t begin = 0; begin < elements(type); begin += pattern.size())
      cgx::encodeFromF32(identity, type, pattern.data(),
                         std::min<uint64_t>(pattern.size(), elements(type) - begin), cgx::RandomKey{0}, 0,
                         static_cast<char *>(input.get()) + begin * size);
  }

  /// Returns optimizer state for the f32 elements as in training: parameters are larger than their gradients,
  /// and second moments are squares.
  cgx::OptimizerTensors optimizer() {
    if (kept.empty()) {
      std::mt19937 random(2);
      std::normal_distribution<float> normal;
      const uint64_t count = elements(CGX_F32);
      std::vector<float> pattern(1 << 16);
      for (uint32_t which : {CGX_KEPT_PARAMETER, CGX_KEPT_FIRST_MOMENT, CGX_KEPT_SECOND_MOMENT}) {
        for (float &value : pattern) {
          const float drawn = normal(random);
          value = which == CGX_KEPT_PARAMETER      ? 2e-2f * drawn
                  : which == CGX_KEPT_FIRST_MOMENT ? 3e-4f * drawn
                                                   : 1e-6f * drawn * drawn;
        }
        kept.push_back(allocate(bytes));
        auto *const out = static_cast<float *>(kept.back().get());
        for (uint64_t i = 0; i < count; ++i)
          out[i] = pattern[i % pattern.size()];
      }
    }
    cgx::OptimizerTensors tensors;
    tensors.update = 100;
    tensors.kept[CGX_KEPT_PARAMETER] = {kept[0].get(), CGX_F32};
    tensors.kept[CGX_KEPT_FIRST_MOMENT] = {kept[1].get(), CGX_F32};
    tensors.kept[CGX_KEPT_SECOND_MOMENT] = {kept[2].get(), CGX_F32};
    return tensors;
  }

private:
  cgx_element_type filledWith = CGX_ELEMENT_TYPE_COUNT;
  std::vector<Memory> kept;
};

enum class Operation { copy, read, write, encode, decode, decodeAccumulate };

constexpr bool isOfMemory(Operation operation) { return operation <= Operation::write; }

struct Case {
  Operation operation;
  cgx_codec codec;
  cgx_element_type type;
  double target256KiB; ///< ratio to memcpy from targets.md; 0 if there is none
  double target256MiB;
  const char *family = nullptr; ///< a name for codecs other than uniform levels
};

std::string caseName(const Case &c, size_t bytes) {
  const char *operations[] = {"memcpy", "read", "write", "encode", "decode", "decode-accumulate"};
  const char *types[] = {"f32", "f16", "bf16"};
  std::string name = operations[int(c.operation)];
  if (!isOfMemory(c.operation)) {
    if (c.family)
      name += std::string(" ") + c.family;
    else
      name += " " + std::to_string(c.codec.bits) + " bit bucket " + std::to_string(c.codec.bucket);
    if (c.operation == Operation::encode && !c.family)
      name += c.codec.rounding == CGX_ROUND_STOCHASTIC ? " stochastic" : " nearest";
    name += std::string(" ") + types[c.type];
    if (c.codec.checksum)
      name += " checksum";
  }
  return name + (bytes >> 20 ? ", " + std::to_string(bytes >> 20) + " MiB"
                             : ", " + std::to_string(bytes >> 10) + " KiB");
}

/// Returns the limit in uncompressed bytes a second: all bytes that the operation must read and write move at
/// the rates of reading and writing alone.
double limitOf(const Case &c, double bytes, double payloadBytes, double readRate, double writeRate) {
  const Operation operation = c.operation;
  const bool isEncode = operation == Operation::encode;
  double reading = isEncode ? bytes : payloadBytes, writing = isEncode ? payloadBytes : bytes;
  if (operation == Operation::decodeAccumulate)
    reading += bytes;
  if (isEncode && c.codec.family == CGX_CODEC_GCOMP)
    for (uint32_t kept : {CGX_KEPT_PARAMETER, CGX_KEPT_FIRST_MOMENT, CGX_KEPT_SECOND_MOMENT})
      reading += cgx_optimizer_keeps(c.codec.optimizer, kept) ? bytes : 0;
  return bytes / (reading / readRate + writing / writeRate);
}

void runCase(benchmark::State &state, const Case &c, Buffers &buffers, const cgx::Implementation &with) {
  buffers.fill(c.type);
  const uint64_t elements = buffers.elements(c.type);
  void *input = buffers.input.get(), *output = buffers.output.get(), *payload = buffers.payload.get();
  const cgx::RandomKey key = cgx::makeRandomKey(1, 2, 3, 4, 0);
  cgx::OptimizerTensors optimizer;
  if (c.codec.family == CGX_CODEC_GCOMP)
    optimizer = buffers.optimizer();
  uint64_t payloadBytes = 0;
  if (!isOfMemory(c.operation))
    payloadBytes = cgx::encode(c.codec, c.type, input, elements, key, 0, payload, with, &optimizer);
  for (auto _ : state) {
    switch (c.operation) {
    case Operation::copy:
      std::memcpy(output, input, buffers.bytes);
      break;
    case Operation::read:
      // This looks at every byte, in the widest vectors of this machine, and finds none.
      benchmark::DoNotOptimize(std::memchr(buffers.ones.get(), 0, buffers.bytes));
      break;
    case Operation::write:
      std::memset(output, 1, buffers.bytes);
      break;
    case Operation::encode:
      cgx::encode(c.codec, c.type, input, elements, key, 0, payload, with, &optimizer);
      break;
    case Operation::decode:
      if (cgx::decode(c.codec, c.type, payload, payloadBytes, elements, output, with) != cgx::DecodeError::ok)
        state.SkipWithError("the payload was refused");
      break;
    case Operation::decodeAccumulate:
      if (cgx::decodeAccumulate(c.codec, c.type, payload, payloadBytes, elements,
                                static_cast<float *>(output), with) != cgx::DecodeError::ok)
        state.SkipWithError("the payload was refused");
      break;
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(int64_t(state.iterations()) * int64_t(buffers.bytes));
  state.counters["payload"] = double(payloadBytes);
}

cgx_codec quantize(uint32_t bits, uint32_t bucket, cgx_rounding rounding, bool checksum = false) {
  return {.family = CGX_CODEC_QUANTIZE,
          .bits = bits,
          .bucket = bucket,
          .rounding = uint32_t(rounding),
          .scale = CGX_SCALE_BF16,
          .checksum = checksum};
}

/// Codecs other than quantize with uniform levels of the bucket's range. A family of the table without a line
/// here is measured with default parameters.
constexpr struct {
  const char *name;
  cgx_codec codec;
  double target256MiB;
} families[] = {
    {"ternary", {.family = CGX_CODEC_TERNARY, .bucket = 512}, 1.2},
    {"sign means", {.family = CGX_CODEC_SIGN, .bucket = 512}, 1.2},
    {"natural", {.family = CGX_CODEC_NATURAL}, 1.2},
    {"cast bf16", {.family = CGX_CODEC_CAST, .format = CGX_FORMAT_BF16}, 1.2},
    {"cast fp8_e4m3", {.family = CGX_CODEC_CAST, .bucket = 128, .format = CGX_FORMAT_FP8_E4M3}, 1.2},
    {"cast mxfp4", {.family = CGX_CODEC_CAST, .bucket = 32, .format = CGX_FORMAT_MXFP4}, 1.2},
    {"adaptive threshold", {.family = CGX_CODEC_ADAPTIVE_THRESHOLD, .bucket = 512, .threshold = 0.9f}, 0},
    {"topk 1 %", {.family = CGX_CODEC_TOPK, .density = 0.01f}, 0.25},
    {"lossless", {.family = CGX_CODEC_LOSSLESS}, 0},
    {"gcomp sgd", {.family = CGX_CODEC_GCOMP, .learning_rate = 1e-5f}, 0},
    {"gcomp adam",
     {.family = CGX_CODEC_GCOMP,
      .optimizer = CGX_OPTIMIZER_ADAM,
      .learning_rate = 1e-5f,
      .beta1 = 0.9f,
      .beta2 = 0.999f,
      .epsilon = 1e-8f},
     0},
    {"randk 1 %", {.family = CGX_CODEC_RANDK, .density = 0.01f}, 0},
};

std::vector<Case> targetCases() {
  const cgx_codec four = quantize(4, 128, CGX_ROUND_STOCHASTIC);
  std::vector<Case> cases = {
      {Operation::copy, {}, CGX_F32, 0, 0},
      {Operation::read, {}, CGX_F32, 0, 0},
      {Operation::write, {}, CGX_F32, 0, 0},
      {Operation::encode, four, CGX_F32, 0.45, 1.6},
      {Operation::encode, quantize(4, 128, CGX_ROUND_NEAREST), CGX_F32, 0.6, 1.6},
      {Operation::decode, four, CGX_F32, 1.5, 1.6},
      {Operation::decodeAccumulate, four, CGX_F32, 1.4, 1.6},
      {Operation::encode, quantize(8, 512, CGX_ROUND_STOCHASTIC), CGX_F32, 0.4, 1.5},
      {Operation::encode, quantize(8, 512, CGX_ROUND_NEAREST), CGX_F32, 0.6, 1.8},
      {Operation::decode, quantize(8, 512, CGX_ROUND_NEAREST), CGX_F32, 0, 0},
      {Operation::decodeAccumulate, quantize(8, 512, CGX_ROUND_NEAREST), CGX_F32, 0, 0},
  };
  for (const auto &[name, codec, target] : families)
    for (Operation operation : {Operation::encode, Operation::decode, Operation::decodeAccumulate})
      cases.push_back({operation, codec, CGX_F32, 0, target, name});
  for (const cgx::CodecFamilyEntry &family : cgx::codecFamilies()) {
    const cgx_codec codec = cgx::toCodec(cgx::usualCodec(family.family));
    const bool isThere = std::any_of(std::begin(families), std::end(families),
                                     [&](const auto &one) { return one.codec.family == codec.family; });
    if (!isThere && codec.family != CGX_CODEC_IDENTITY && codec.family != CGX_CODEC_QUANTIZE &&
        cgx_codec_has_payloads(&codec))
      for (Operation operation : {Operation::encode, Operation::decode, Operation::decodeAccumulate})
        cases.push_back({operation, codec, CGX_F32, 0, 0, family.name.data()});
  }
  return cases;
}

std::vector<Case> otherCases() {
  std::vector<Case> cases;
  const auto add = [&](const cgx_codec &codec, cgx_element_type type) {
    for (Operation operation : {Operation::encode, Operation::decode, Operation::decodeAccumulate})
      cases.push_back({operation, codec, type, 0, 0});
  };
  for (uint32_t bits = 1; bits <= 8; ++bits)
    if (bits != 4)
      add(quantize(bits, 128, CGX_ROUND_STOCHASTIC), CGX_F32);
  for (uint32_t bucket : {32u, 100u, 512u, 1024u, 4096u, 65536u})
    add(quantize(4, bucket, CGX_ROUND_STOCHASTIC), CGX_F32);
  for (cgx_element_type type : {CGX_F16, CGX_BF16})
    add(quantize(4, 128, CGX_ROUND_STOCHASTIC), type);
  const auto addVariant = [&](const char *name, const cgx_codec &codec) {
    for (Operation operation : {Operation::encode, Operation::decode, Operation::decodeAccumulate})
      cases.push_back({operation, codec, CGX_F32, 0, 0, name});
  };
  cgx_codec variant = quantize(4, 128, CGX_ROUND_RANDOM_SHIFT);
  variant.scale = CGX_SCALE_F32;
  addVariant("4 bit random shift", variant);
  variant = quantize(4, 128, CGX_ROUND_STOCHASTIC);
  variant.scaling = CGX_SCALING_MAX_ABS;
  addVariant("4 bit max_abs", variant);
  variant.levels = CGX_LEVELS_EXPONENTIAL;
  addVariant("4 bit exponential", variant);
  variant.levels = CGX_LEVELS_UNIFORM;
  variant.scaling = CGX_SCALING_L2;
  addVariant("4 bit l2", variant);
  variant.scaling = CGX_SCALING_MIN_MAX;
  variant.levels = CGX_LEVELS_LEARNED;
  addVariant("4 bit learned", variant);
  add(quantize(4, 128, CGX_ROUND_STOCHASTIC, /*checksum=*/true), CGX_F32);
  return cases;
}

/// Collects every repetition, and prints the medians and ratios at the end.
class RatioReporter : public benchmark::BenchmarkReporter {
public:
  bool ReportContext(const Context &) override { return true; }

  void ReportRuns(const std::vector<Run> &runs) override {
    for (const Run &run : runs) {
      if (run.error_occurred)
        std::fprintf(stderr, "cgx-codec-bench: %s: %s\n", run.benchmark_name().c_str(),
                     run.error_message.c_str());
      else if (run.run_type == Run::RT_Iteration) {
        rates[run.run_name.function_name].push_back(run.counters.at("bytes_per_second"));
        payloads[run.run_name.function_name] = run.counters.at("payload");
      }
    }
  }

  double median(const std::string &name) {
    std::vector<double> &of = rates[name];
    if (of.empty())
      return 0;
    std::nth_element(of.begin(), of.begin() + of.size() / 2, of.end());
    return of[of.size() / 2];
  }

  double payloadBytes(const std::string &name) const { return payloads.at(name); }

private:
  std::map<std::string, std::vector<double>> rates;
  std::map<std::string, double> payloads;
};

int reportRatios(RatioReporter &reporter, const std::vector<Case> &cases, const std::vector<size_t> &sizes,
                 const cgx::Implementation &with) {
  for (size_t bytes : sizes) {
    const auto rateOf = [&](Operation memory) {
      return reporter.median(caseName({memory, {}, CGX_F32, 0, 0}, bytes));
    };
    const double copy = rateOf(Operation::copy), read = rateOf(Operation::read),
                 write = rateOf(Operation::write);
    std::printf("%-62s %8s %8s %8s %8s\n", with.name, "GB/s", "/limit", "/memcpy", "target");
    for (const Case &c : cases) {
      const std::string name = caseName(c, bytes);
      const double rate = reporter.median(name), target = bytes >> 20 ? c.target256MiB : c.target256KiB;
      if (rate == 0)
        continue;
      std::printf("%-62s %8.2f", name.c_str(), rate / 1e9);
      if (isOfMemory(c.operation) || read == 0 || write == 0)
        std::printf(" %8s", "");
      else
        std::printf(" %8.2f", rate / limitOf(c, double(bytes), reporter.payloadBytes(name), read, write));
      std::printf(" %8.2f", copy > 0 ? rate / copy : 0);
      if (target > 0)
        std::printf(" %8.2f", target);
      std::printf("\n");
    }
    std::printf("\n");
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  bool all = false, lossless = false;
  std::string device = "cpu";
  const cgx::Implementation *with = &cgx::defaultImplementation();
  char repetitions[] = "--benchmark_repetitions=15",
       interleave[] = "--benchmark_enable_random_interleaving=true", time[] = "--benchmark_min_time=0.01";
  std::vector<char *> arguments = {argv[0], repetitions, interleave, time};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--all") {
      all = true;
    } else if (argument == "--lossless") {
      lossless = true;
    } else if (argument == "--help" || argument == "-h") {
      std::fputs(usage, stdout);
      return 0;
    } else if (argument == "--device" && i + 1 < argc) {
      device = argv[++i];
    } else if (argument.rfind("--device=", 0) == 0) {
      device = argument.substr(strlen("--device="));
    } else if (argument.rfind("--implementation=", 0) == 0) {
      const std::string name = argument.substr(strlen("--implementation="));
      with = cgx::findImplementation(name);
      if (!with || !with->isSupported()) {
        std::fprintf(stderr,
                     "cgx-codec-bench: expected an implementation that this machine supports, got '%s'\n",
                     name.c_str());
        return 2;
      }
    } else {
      arguments.push_back(argv[i]);
    }
  }
  if (device == "cuda")
    return cgx::runCudaBenchmark(all);
  if (device != "cpu") {
    std::fprintf(stderr, "cgx-codec-bench: expected --device cpu or cuda, got '%s'\n", device.c_str());
    return 2;
  }
  if (lossless)
    return cgx::benchmarkLossless(*with);
  int count = int(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data()))
    return 2;

  std::vector<Case> cases = targetCases();
  if (all) {
    const std::vector<Case> others = otherCases();
    cases.insert(cases.end(), others.begin(), others.end());
  }
  const std::vector<size_t> sizes = {256u << 10, 256u << 20};
  std::map<size_t, std::unique_ptr<Buffers>> buffers;
  for (size_t bytes : sizes)
    for (const Case &c : cases)
      benchmark::RegisterBenchmark(caseName(c, bytes).c_str(),
                                   [&buffers, c, bytes, with](benchmark::State &state) {
                                     std::unique_ptr<Buffers> &of = buffers[bytes];
                                     if (!of)
                                       of = std::make_unique<Buffers>(bytes);
                                     runCase(state, c, *of, *with);
                                   });
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return reportRatios(reporter, cases, sizes, *with);
}
