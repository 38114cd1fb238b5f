//===-- test/fuzz/Mutate.cpp - A fuzz target without libFuzzer ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the compiler has no libFuzzer: runs a target on its seeds and on mutations of them, the same ones
// every time. Takes libFuzzer's -runs=N, -seed=S, -max_total_time=SECONDS and -print_final_stats=1, and files
// and folders of seeds; the statistics count mutations alone, so that the next run goes on with seed S + N. A
// target may bring libFuzzer's LLVMFuzzerCustomMutator, which then makes most of the mutations.
// -write=FOLDER writes them there instead of running the target.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t mostBytes,
                                                                unsigned int seed);

using Input = std::vector<uint8_t>;

static constexpr size_t kLongestInput = 1 << 16;
static constexpr unsigned kLongestSeconds = 300; // the limit for sanitizers on a busy machine
static constexpr std::string_view kSplit = "// -----\n";
static uint64_t current;

/// Prints which mutation crashed, and ends with the signal.
static void onCrash(int signal) {
  std::string text = "crashed: repeat with -runs=1 -seed=" + std::to_string(current) + "\n";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

namespace {

class Mutator {
public:
  Mutator(const std::vector<Input> &seeds, uint64_t seed) : seeds(seeds), random(seed) {}

  Input mutate() {
    Input input = seeds[below(seeds.size())];
    if (input.empty())
      input = noise(below(1024));
    if (LLVMFuzzerCustomMutator != nullptr && below(8) != 0)
      return mutateByTarget(std::move(input));
    for (size_t count = below(8); count > 0; --count)
      change(input);
    input.resize(std::min(input.size(), kLongestInput));
    return input;
  }

private:
  size_t below(size_t end) { return end == 0 ? 0 : random() % end; }

  Input mutateByTarget(Input input) {
    size_t size = std::min(input.size(), kLongestInput);
    input.resize(kLongestInput);
    input.resize(LLVMFuzzerCustomMutator(input.data(), size, kLongestInput, unsigned(random())));
    return input;
  }

  uint8_t byte() { return uint8_t(random()); }

  Input noise(size_t length) {
    Input bytes(length);
    std::generate(bytes.begin(), bytes.end(), [&] { return byte(); });
    return bytes;
  }

  void change(Input &input) {
    size_t at = below(input.size() + 1), length = below(std::min<size_t>(input.size() - at, 32) + 1);
    auto position = input.begin() + ptrdiff_t(at);
    switch (below(6)) {
    case 0: // flip a bit
      if (at < input.size())
        input[at] ^= uint8_t(1 << below(8));
      return;
    case 1: // replace a byte, often by one that ends or nests something
      if (at < input.size())
        input[at] = below(2) ? uint8_t("\0\xff\"{}[](),:<>-%#"[below(16)]) : byte();
      return;
    case 2: // remove bytes
      input.erase(position, position + ptrdiff_t(length));
      return;
    case 3: { // repeat bytes
      Input copy(position, position + ptrdiff_t(length));
      input.insert(position, copy.begin(), copy.end());
      return;
    }
    case 4: { // write random bytes
      Input more = noise(1 + below(16));
      input.insert(position, more.begin(), more.end());
      return;
    }
    default: { // insert a piece of another seed
      const Input &other = seeds[below(seeds.size())];
      size_t begin = below(other.size() + 1),
             end = begin + below(std::min<size_t>(other.size() - begin, 64) + 1);
      input.insert(position, other.begin() + ptrdiff_t(begin), other.begin() + ptrdiff_t(end));
    }
    }
  }

  const std::vector<Input> &seeds;
  std::mt19937_64 random;
};

} // namespace

static std::vector<Input> readSeeds(const std::filesystem::path &folder) {
  std::vector<std::filesystem::path> paths;
  if (!std::filesystem::is_directory(folder))
    paths.push_back(folder);
  else
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      if (entry.is_regular_file())
        paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end()); // the order of a folder is arbitrary
  std::vector<Input> seeds;
  for (const auto &path : paths) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::cerr << "cannot read the seed " << path << "\n";
      std::exit(2);
    }
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (size_t begin = 0; begin <= text.size();) { // a lit test contains several modules
      size_t end = std::min(text.find(kSplit, begin), text.size());
      seeds.emplace_back(text.begin() + ptrdiff_t(begin), text.begin() + ptrdiff_t(end));
      begin = end + kSplit.size();
    }
  }
  return seeds;
}

int main(int argc, char **argv) {
  using Clock = std::chrono::steady_clock;
  uint64_t runs = 1000, seed = 1;
  std::chrono::seconds longest = std::chrono::hours(24 * 365);
  bool printsStatistics = false;
  std::filesystem::path folder;
  std::vector<Input> seeds = {{}};
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.starts_with("-runs="))
      runs = std::stoull(argument.substr(6));
    else if (argument.starts_with("-seed="))
      seed = std::stoull(argument.substr(6));
    else if (argument.starts_with("-max_total_time="))
      longest = std::chrono::seconds(std::stoull(argument.substr(16)));
    else if (argument == "-print_final_stats=1")
      printsStatistics = true;
    else if (argument.starts_with("-write="))
      folder = argument.substr(7);
    else if (argument.starts_with("-")) {
      std::cerr
          << "unknown argument '" << argument
          << "', expected -runs=N, -seed=S, -max_total_time=SECONDS, -print_final_stats=1, -write=FOLDER, "
             "or files and folders of seeds\n";
      return 2;
    } else
      std::ranges::move(readSeeds(argument), std::back_inserter(seeds));
  }
  if (!folder.empty()) {
    for (current = seed; current < seed + runs; ++current) {
      Input input = Mutator(seeds, current).mutate();
      std::ofstream file(folder / std::to_string(current), std::ios::binary);
      file.write(reinterpret_cast<const char *>(input.data()), std::streamsize(input.size()));
    }
    return 0;
  }
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGALRM})
    std::signal(signal, onCrash);
  for (const Input &input : seeds)
    LLVMFuzzerTestOneInput(input.data(), input.size());
  const Clock::time_point begin = Clock::now();
  for (current = seed; current < seed + runs && Clock::now() - begin < longest; ++current) {
    Input input = Mutator(seeds, current).mutate();
    alarm(kLongestSeconds);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  const uint64_t done = current - seed;
  std::cout << done << " mutations of " << seeds.size() << " seeds\n";
  if (printsStatistics) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::cout << "stat::number_of_executed_units: " << done
              << "\nstat::average_exec_per_sec:     " << uint64_t(double(done) / seconds) << "\n";
  }
}
