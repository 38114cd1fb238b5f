//===-- Rank.cpp - The loop of one rank -------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"
#include "cgx/kernels/cuda_peers.h"
#include "cgx/run/Arena.h"
#include "cgx/run/Batches.h"
#include "cgx/run/Error.h"
#include "cgx/run/Job.h"
#include "cgx/run/Replicas.h"
#include "cgx/run/TreePath.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

using namespace cgx::run;

Scalars cgx::run::findScalars(const Manifest &manifest) {
  Scalars scalars;
  std::map<std::string, int> uses;
  for (size_t i = 0; i < manifest.results.size(); ++i) {
    const Value &result = manifest.results[i];
    if (result.feeds || !result.shape.empty())
      continue;
    // A leaf that is a number, as in result[1], says nothing.
    std::string leaf = TreePath(result.name).leaf();
    bool telling = leaf.find_first_not_of("0123456789") != std::string::npos;
    scalars.all.push_back({i, telling ? leaf : result.name});
    ++uses[scalars.all.back().name];
  }
  for (Scalars::Scalar &scalar : scalars.all)
    if (uses[scalar.name] > 1)
      scalar.name = manifest.results[scalar.result].name;
  for (bool named : {true, false})
    for (size_t i = 0; i < scalars.all.size() && !scalars.loss; ++i) {
      const Value &result = manifest.results[scalars.all[i].result];
      if (isFloat(result.type) && (!named || result.name.find("loss") != std::string::npos))
        scalars.loss = i;
    }
  // A loss that is called result[0] is a loss to the reader, too.
  if (scalars.loss &&
      scalars.all[*scalars.loss].name == manifest.results[scalars.all[*scalars.loss].result].name &&
      uses.count("loss") == 0)
    scalars.all[*scalars.loss].name = "loss";
  if (scalars.loss) { // first is where people look for it
    auto loss = scalars.all.begin() + static_cast<std::ptrdiff_t>(*scalars.loss);
    std::rotate(scalars.all.begin(), loss, loss + 1);
    scalars.loss = 0;
  }
  return scalars;
}

uint64_t cgx::run::hashBytes(std::span<const std::byte> bytes, uint64_t seed) {
  // Multiply and fold, eight bytes at a time: a check for equality, not for foes.
  auto fold = [](uint64_t a, uint64_t b) {
    unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t hash = seed ^ 0x9e3779b97f4a7c15u;
  uint64_t word = 0;
  size_t position = 0;
  for (; position + 8 <= bytes.size(); position += 8) {
    std::memcpy(&word, bytes.data() + position, 8);
    hash = fold(hash ^ word, 0xd6e8feb86659fd93u) + position;
  }
  word = 0;
  std::memcpy(&word, bytes.data() + position, bytes.size() - position);
  hash = fold(hash ^ word, 0xd6e8feb86659fd93u);
  return fold(hash ^ bytes.size(), 0xa0761d6478bd642fu);
}

namespace {

struct ContextDeleter {
  void operator()(cgx_context *context) const { cgx_context_destroy(context); }
};
using Context = std::unique_ptr<cgx_context, ContextDeleter>;

class RankLoop {
public:
  RankLoop(const Job &job, uint32_t rank, const StopSignal &stop)
      : job_(job), manifest_(job.manifest), rank_(rank), stop_(stop), arena_(bufferSizes(job.manifest)),
        sampler_(job.bindings.samples, job.bindings.globalBatch, job.shuffle, job.seed) {
    for (size_t i = 0; i < manifest_.arguments.size(); ++i)
      arguments_.push_back(arena_.buffer(i));
    for (size_t i = 0; i < manifest_.results.size(); ++i)
      results_.push_back(arena_.buffer(manifest_.arguments.size() + i));
  }

  void run(Outcome &outcome) {
    for (size_t i = 0; i < manifest_.arguments.size(); ++i)
      fillOnce(i);
    connect();
    if (job_.trace)
      check(cgx_context_begin_trace(context_.get()));
    try {
      if (job_.checkpoint)
        restoreCodecState(context_.get(), rank_, *job_.checkpoint);
      runSteps(outcome);
    } catch (const Error &error) {
      cgx_context_abort(context_.get(), error.what());
      throw;
    }
    const char *telemetry = nullptr;
    check(cgx_context_telemetry(context_.get(), &telemetry));
    outcome.telemetry = telemetry;
    if (job_.trace) {
      const char *events = nullptr;
      check(cgx_context_trace(context_.get(), &events));
      outcome.trace = events;
    }
    collectState(outcome);
    if (job_.save)
      outcome.codecState = copyCodecState(context_.get(), rank_);
  }

  void sayFarewell(const Farewell &farewell, const Outcome &outcome) {
    if (farewell)
      farewell(context_.get(), outcome);
  }

private:
  static std::vector<uint64_t> bufferSizes(const Manifest &manifest) {
    std::vector<uint64_t> sizes;
    for (const Value &argument : manifest.arguments)
      sizes.push_back(argument.bytes());
    for (const Value &result : manifest.results)
      sizes.push_back(result.bytes());
    return sizes;
  }

  /// Throws the runtime's last message.
  void check(cgx_status status) const {
    if (status != CGX_OK)
      throw Error(std::string(cgx_status_name(status)) + ": " + cgx_last_error());
  }

  /// Ranks of a host use its GPUs in turn.
  void useGpu() const {
    const char *local = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    const uint32_t rankOnHost = local ? uint32_t(std::stoul(local)) : rank_;
    if (cgx::cuda::Outcome outcome = cgx::cuda::useDeviceOf(rankOnHost); !outcome.ok())
      throw Error(outcome.error);
  }

  void connect() {
    if (job_.transport.starts_with("nccl"))
      useGpu();
    cgx_context_config config = CGX_CONTEXT_CONFIG_INIT;
    config.transport = job_.transport.c_str();
    config.job = job_.name.c_str();
    config.rank = rank_;
    config.ranks = manifest_.ranks;
    config.seed = job_.seed;
    config.digest = job_.digest;
    config.timeout_ms = job_.timeoutMs;
    config.manifest = job_.program.manifest.c_str();
    cgx_context *context = nullptr;
    check(cgx_context_create(&config, &context));
    context_.reset(context);
  }

  void fillOnce(size_t argument) {
    const Value &value = manifest_.arguments[argument];
    const Binding &binding = job_.bindings.arguments[argument];
    uint64_t width = cgx_element_bytes(value.type);
    if (binding.source == Source::State) {
      extractBlock(value, manifest_.mesh, rank_, binding.tensor->bytes.data(), arguments_[argument]);
    } else if (binding.source == Source::Constant && binding.constant.size() == width) {
      for (uint64_t offset = 0; offset < value.bytes(); offset += width)
        std::memcpy(arguments_[argument] + offset, binding.constant.data(), width);
    } else if (binding.source == Source::Constant) {
      extractBlock(value, manifest_.mesh, rank_, binding.constant.data(), arguments_[argument]);
    }
  }

  void fillForStep(uint64_t step) {
    for (size_t i = 0; i < manifest_.arguments.size(); ++i) {
      const Value &value = manifest_.arguments[i];
      const Binding &binding = job_.bindings.arguments[i];
      if (binding.source == Source::Data) {
        copyBatch(value, manifest_.mesh, rank_, *binding.tensor, sampler_, step * job_.bindings.globalBatch,
                  arguments_[i]);
      } else if (binding.source == Source::PerStep) {
        copyStepValue(value, manifest_.mesh, rank_, *binding.tensor, step, arguments_[i]);
      } else if (binding.source == Source::Computed) {
        binding.value->write(value, step, job_.seed, arguments_[i]);
      }
    }
  }

  void runSteps(Outcome &outcome) {
    using Clock = std::chrono::steady_clock;
    Progress progress(job_);
    std::vector<double> scalars(job_.scalars.all.size());
    outcome.scalars.resize(rank_ == 0 ? scalars.size() : 0);
    for (std::vector<double> &series : outcome.scalars)
      series.reserve(job_.steps);
    std::vector<void *> arguments(arguments_.size()), results(results_.size());
    Planner planner(job_.planning, context_.get());
    uint64_t end = job_.firstStep + job_.steps;
    Clock::time_point start = Clock::now();
    for (uint64_t done = 0; done < job_.steps; ++done) {
      if (int signal = stop_.load())
        throw Error("interrupted by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")");
      uint64_t step = job_.firstStep + done;
      planner.beforeStep(step, end);
      fillForStep(step);
      std::copy(arguments_.begin(), arguments_.end(), arguments.begin());
      std::copy(results_.begin(), results_.end(), results.begin());
      check(cgx_context_begin_step(context_.get(), step));
      job_.program.step(context_.get(), arguments.data(), results.data());
      check(cgx_context_end_step(context_.get()));
      if (rank_ == 0) {
        for (size_t i = 0; i < scalars.size(); ++i) {
          size_t result = job_.scalars.all[i].result;
          scalars[i] = readScalar(manifest_.results[result].type, results_[result]);
          outcome.scalars[i].push_back(scalars[i]);
        }
        progress.step(done + 1, scalars);
      }
      feed();
      outcome.steps = done + 1;
      if (isCompared(job_, done + 1) && !compare(outcome))
        break;
    }
    if (outcome.steps == job_.steps)
      planner.finish(end);
    outcome.plans = std::move(planner.plans);
    outcome.profile = std::move(planner.profile);
    outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }

  /// Results become the next step's arguments by changing places with them.
  void feed() {
    for (size_t i = 0; i < results_.size(); ++i)
      if (std::optional<size_t> argument = manifest_.results[i].feeds)
        std::swap(results_[i], arguments_[*argument]);
  }

  std::span<const std::byte> block(size_t argument) const {
    return {arguments_[argument], manifest_.arguments[argument].bytes()};
  }

  /// False if this rank's state or another's is not what their replicas have; all ranks say the same.
  bool compare(Outcome &outcome) {
    outcome.hashes.clear();
    for (size_t argument : job_.stateArguments)
      outcome.hashes.push_back(hashBytes(block(argument)));
    std::vector<std::vector<uint64_t>> digests(manifest_.ranks, std::vector<uint64_t>(outcome.hashes.size()));
    auto take = [](void *user, uint32_t rank, const void *data, uint64_t bytes) {
      std::memcpy((*static_cast<decltype(digests) *>(user))[rank].data(), data, bytes);
    };
    check(cgx_context_all_gather(context_.get(), outcome.hashes.data(),
                                 outcome.hashes.size() * sizeof(uint64_t), take, &digests));
    return findDisagreements(job_, digests).empty();
  }

  void collectState(Outcome &outcome) {
    if (job_.steps == 0)
      (void)compare(outcome);
    for (size_t argument : job_.stateArguments) {
      const Value &value = manifest_.arguments[argument];
      std::span<const std::byte> block = this->block(argument);
      outcome.blocks.emplace_back();
      if (job_.save && isFirstHolder(value))
        outcome.blocks.back().assign(block.begin(), block.end());
    }
  }

  bool isFirstHolder(const Value &value) const {
    for (uint32_t other = 0; other < rank_; ++other)
      if (blockIndex(value, manifest_.mesh, other) == blockIndex(value, manifest_.mesh, rank_))
        return false;
    return true;
  }

  const Job &job_;
  const Manifest &manifest_;
  uint32_t rank_;
  const StopSignal &stop_;
  Arena arena_;
  Sampler sampler_;
  std::vector<std::byte *> arguments_, results_;
  Context context_;
};

} // namespace

Outcome cgx::run::runRank(const Job &job, uint32_t rank, const StopSignal &stop, const Farewell &farewell) {
  Outcome outcome;
  try {
    RankLoop loop(job, rank, stop);
    loop.run(outcome);
    loop.sayFarewell(farewell, outcome);
  } catch (const std::exception &error) {
    outcome.error = error.what();
  }
  return outcome;
}
