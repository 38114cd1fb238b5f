//===-- Simulate.cpp - Steps on other machines ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simulate.h"

#include "Bench.h"
#include "cgx/formats/CodecJson.h"
#include "cgx/formats/Json.h"
#include "cgx/formats/Numbers.h"
#include "cgx/formats/ScheduleJson.h"
#include "cgx/formats/TextFile.h"
#include "cgx/runtime.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace cgx::bench {

using Json = nlohmann::json;
using formats::wholeNumber, formats::wholeNumbers;

namespace {

/// The most ranks whose bytes are listed one by one.
constexpr uint32_t kMostListed = 64;
/// The number of positions sampled from larger groups, whose bytes represent the others.
constexpr uint32_t kSampled = 16;

/// The largest compiled step that is read.
constexpr size_t kMostBytes = size_t{1} << 32;

std::string manifestOf(const std::string &path) {
  std::string bytes;
  if (std::string wrong = formats::readTextFile(path, bytes, kMostBytes); !wrong.empty())
    throw Error("cannot read '" + path + "': " + wrong);
  if (bytes.rfind("\177ELF", 0) != 0)
    return bytes;
  void *library = ::dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  const void *symbol = library ? ::dlsym(library, CGX_SYMBOL_MANIFEST) : nullptr;
  if (!symbol)
    throw Error("'" + path + "' is not a compiled step: it has no symbol " + CGX_SYMBOL_MANIFEST);
  return static_cast<const char *>(symbol);
}

SimulatedOperand operandOf(const Json &entry) {
  static const std::array<const char *, CGX_ELEMENT_TYPE_COUNT> types = {
      "f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"};
  SimulatedOperand operand;
  auto type = std::find(types.begin(), types.end(), entry.at("dtype").get<std::string>());
  if (type == types.end())
    throw Error("expected an element type, got " + entry["dtype"].dump());
  operand.type = static_cast<uint32_t>(type - types.begin());
  operand.elements = wholeNumber<uint64_t>(entry.at("elements"));
  if (std::string wrong = readCodec(entry.at("codec"), operand.codec); !wrong.empty())
    throw Error("codec: " + wrong);
  std::vector<uint64_t> shape = wholeNumbers<uint64_t>(entry.value("shape", Json::array({operand.elements})));
  operand.codec = cgx_codec_for_shape(&operand.codec, shape.data(), shape.size());
  return operand;
}

/// Reads the pairs of a permute, and the runs in which each sends.
void readPairs(const Json &entry, uint64_t jobRanks, SimulatedCollective &permute) {
  permute.ranks.reset();
  permute.programRanks = static_cast<uint32_t>(jobRanks);
  for (const Json &pair : entry.at("source_target_pairs"))
    permute.pairs.push_back({wholeNumber<uint32_t>(pair.at(0)), wholeNumber<uint32_t>(pair.at(1))});
  permute.sends = entry.value("sends", std::vector<std::string>());
  const auto isWrong = [](const std::string &digits) {
    return digits.empty() || digits.find_first_not_of("01") != std::string::npos;
  };
  if (!permute.sends.empty() && (permute.sends.size() != permute.pairs.size() ||
                                 std::any_of(permute.sends.begin(), permute.sends.end(), isWrong)))
    throw Error("expected a string of digits, 0 or 1, for each pair in 'sends', got " +
                entry["sends"].dump());
}

SimulatedCollective collectiveOf(const Json &entry, uint64_t jobRanks) {
  SimulatedCollective collective;
  if (std::string wrong = readKind(entry, collective.kind); !wrong.empty())
    throw Error(wrong);
  if (std::string wrong = readSchedule(entry, collective.schedule); !wrong.empty())
    throw Error(wrong);
  uint64_t largest = 1;
  for (const Json &group : entry.value("groups", Json::array()))
    largest = std::max<uint64_t>(largest, group.size());
  if (largest != jobRanks)
    collective.ranks = static_cast<uint32_t>(largest);
  collective.root = wholeNumber<uint32_t>(entry.value("root", Json(0u)));
  for (const Json &operand : entry.at("operands"))
    collective.operands.push_back(operandOf(operand));
  collective.runs = wholeNumber<uint64_t>(entry.value("runs", Json(1u)));
  collective.every = wholeNumber<uint64_t>(entry.value("every", Json(1u)));
  if (collective.every == 0)
    throw Error("expected 'every' to be at least 1, got 0");
  if (collective.kind == CGX_PERMUTE)
    readPairs(entry, jobRanks, collective);
  return collective;
}

/// An estimate of a collective for a job of some size.
class Estimate {
public:
  /// `speed` is a rank's computing speed, relative to the calibration.
  Estimate(const SimulatedCollective &collective, const formats::Machine &machine, uint32_t jobRanks,
           uint32_t local, double speed)
      : collective(collective), machine(machine), model(machine.model), speed(speed),
        ranks(collective.ranks.value_or(jobRanks)), schedule(collective.schedule) {
    model.local = local;
    model.reduce_bytes_per_second *= speed;
    model.link.busy_seconds_per_byte /= speed;
    if (cgx_algorithm_has_hosts(schedule.algorithm))
      schedule.local = static_cast<uint32_t>(std::min<uint64_t>(local, ranks));
    // A group that is not all ranks may be spread over hosts in any way, so it falls back to the default.
    if (cgx_algorithm_has_hosts(schedule.algorithm) && ranks % schedule.local != 0)
      schedule = {};
    if (ranks == collective.programRanks)
      pairs = collective.pairs;
    else // For a job of another size only the number of pairs is known: each rank sends to one.
      for (uint32_t position = 0; collective.kind == CGX_PERMUTE && position < ranks; ++position)
        pairs.push_back({position, cgx_position_after(position, 1, ranks)});
  }

  void use(uint32_t algorithm) {
    schedule = {};
    schedule.algorithm = algorithm;
    if (!cgx_algorithm_has_hosts(algorithm))
      return;
    if (ranks % model.local == 0)
      schedule.local = static_cast<uint32_t>(model.local);
    else
      schedule = {};
  }

  /// Chooses the fastest algorithm, with the codecs or without.
  void useFastest(bool isExact) {
    uint32_t best = CGX_ALGORITHM_SCATTER_REDUCE_ALLGATHER;
    double least = std::numeric_limits<double>::infinity();
    for (uint32_t algorithm = CGX_ALGORITHM_AUTO + 1; algorithm < CGX_ALGORITHM_COUNT; ++algorithm) {
      use(algorithm);
      if (double time = seconds(isExact); time < least) {
        least = time;
        best = algorithm;
      }
    }
    use(best);
  }

  bool isAllReduce() const { return collective.kind == CGX_ALL_REDUCE; }
  uint32_t algorithm() const { return schedule.algorithm; }
  uint32_t size() const { return ranks; }

  /// Returns the average seconds in a step.
  double seconds(bool isExact) const {
    return secondsOfRun(isExact) * double(runsOfAny()) / double(collective.every);
  }

  /// Returns the average bytes that leave a rank in a step, rounded to whole bytes.
  uint64_t wireBytes(uint32_t position) const {
    return static_cast<uint64_t>(
        std::llround(double(bytesOfRun(position)) * runsOf(position) / double(collective.every)));
  }

private:
  /// Returns the number of runs of a step in which a rank sends. For a permute compiled for another number of
  /// ranks it is the average over pairs.
  double runsOf(uint32_t position) const {
    double all = 0;
    for (size_t pair = 0; pair < collective.sends.size(); ++pair) {
      const double sending = double(sendingRuns(collective.sends[pair]));
      if (ranks == collective.programRanks && pairs[pair].source == position)
        return sending;
      all += sending;
    }
    return collective.sends.empty() || ranks == collective.programRanks
               ? double(collective.runs)
               : all / double(collective.sends.size());
  }

  /// Counts the sending runs; the digits repeat after the last one.
  uint64_t sendingRuns(const std::string &digits) const {
    const auto count = [&](size_t end) {
      return uint64_t(std::count(digits.begin(), digits.begin() + std::ptrdiff_t(end), '1'));
    };
    return collective.runs / digits.size() * count(digits.size()) + count(collective.runs % digits.size());
  }

  /// Returns the number of runs of a step in which any rank sends. The other runs take no time.
  uint64_t runsOfAny() const {
    if (collective.sends.empty())
      return collective.runs;
    std::string any = collective.sends.front();
    for (const std::string &digits : collective.sends)
      for (size_t run = 0; run < std::min(any.size(), digits.size()); ++run)
        any[run] = std::max(any[run], digits[run]);
    return sendingRuns(any);
  }

  double secondsOfRun(bool isExact) const {
    std::vector<cgx_costed_operand> operands;
    for (const SimulatedOperand &operand : collective.operands) {
      cgx_codec codec = isExact ? cgx_codec{} : operand.codec;
      operands.push_back({.codec = codec,
                          .rates = ratesOf(codec),
                          .inside_rates = ratesOf(schedule.inside),
                          .element_type = operand.type,
                          .elements = operand.elements});
    }
    if (isAllReduce())
      return cgx_all_reduce_seconds(&model, &schedule, operands.data(), operands.size(), ranks);
    return exchangeSeconds(operands);
  }

  cgx_codec_rates ratesOf(const cgx_codec &codec) const {
    cgx_codec_rates rates = formats::ratesOf(machine, namedCodec(codec));
    return {rates.encode_bytes_per_second * speed, rates.decode_bytes_per_second * speed};
  }

  uint64_t bytesOfRun(uint32_t position) const {
    const cgx_collective one = described();
    uint64_t bytes = 0;
    for (const SimulatedOperand &operand : collective.operands)
      bytes += cgx_collective_wire_bytes(&one, &operand.codec, &operand.codec, operand.type, operand.elements,
                                         position);
    return bytes;
  }

  cgx_collective described() const {
    return {collective.kind, ranks, collective.root, schedule, pairs.data(), pairs.size()};
  }

  /// Returns the seconds of a collective with one exchange. The root, or any rank, sends the most.
  double exchangeSeconds(const std::vector<cgx_costed_operand> &operands) const {
    const cgx_collective one = described();
    const uint32_t sender = pairs.empty() ? collective.root : pairs.front().source;
    cgx_pass pass{};
    double bytes = 0;
    for (const cgx_costed_operand &operand : operands) {
      cgx_add_to_pass(&pass, &model, &operand.codec, &operand.rates, operand.element_type,
                      double(operand.elements));
      bytes += double(cgx_collective_wire_bytes(&one, &operand.codec, &operand.codec, operand.element_type,
                                                operand.elements, sender));
    }
    return cgx_exchange_seconds(&model, &one, &pass, bytes);
  }

  const SimulatedCollective &collective;
  const formats::Machine &machine;
  cgx_machine model;
  double speed;
  uint32_t ranks;
  cgx_schedule schedule;
  std::vector<cgx_pair> pairs;
};

/// Returns a rank's computing speed relative to the calibration.
double speedOf(const formats::Machine &machine, uint32_t ranks, const SimulateOptions &options) {
  if (!options.cores)
    return 1;
  if (machine.coresPerRank == 0)
    throw Error("the machine file does not say how many cores its ranks had, which sharing some is relative "
                "to: run cgx-bench calibrate again");
  return std::min(*options.cores / double(ranks), 1.0) / std::min(machine.coresPerRank, 1.0);
}

Prediction predict(const std::vector<SimulatedCollective> &program, const formats::Machine &machine,
                   uint32_t ranks, const SimulateOptions &options) {
  Prediction prediction{.ranks = ranks, .local = std::min(options.local, ranks)};
  if (ranks % prediction.local != 0)
    throw Error("expected hosts of " + std::to_string(options.local) + " ranks to divide the ranks, got " +
                std::to_string(ranks));
  const double speed = speedOf(machine, ranks, options);
  bool isListed = ranks <= kMostListed;
  prediction.wireBytes.resize(isListed ? ranks : 0);
  for (const SimulatedCollective &collective : program) {
    Estimate estimate(collective, machine, ranks, prediction.local, speed);
    Estimate exact = estimate;
    if (estimate.isAllReduce() && options.isBest) {
      estimate.useFastest(/*isExact=*/false);
      exact.useFastest(/*isExact=*/true);
    } else if (estimate.isAllReduce() && options.algorithm) {
      estimate.use(*options.algorithm);
      exact.use(*options.algorithm);
    }
    prediction.seconds += estimate.seconds(/*isExact=*/false);
    prediction.exactSeconds += exact.seconds(/*isExact=*/true);
    uint32_t size = estimate.size(), step = isListed ? 1 : std::max<uint32_t>(size / kSampled, 1);
    double sum = 0, positions = 0;
    for (uint32_t position = 0; position < size; position += step, ++positions)
      sum += double(estimate.wireBytes(position));
    prediction.meanWireBytes += sum / positions;
    for (uint32_t rank = 0; rank < prediction.wireBytes.size(); ++rank)
      prediction.wireBytes[rank] += estimate.wireBytes(rank % size);
    if (!estimate.isAllReduce())
      continue;
    std::string name = cgx_algorithm_name(estimate.algorithm());
    if (std::find(prediction.algorithms.begin(), prediction.algorithms.end(), name) ==
        prediction.algorithms.end())
      prediction.algorithms.push_back(name);
  }
  return prediction;
}

std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

} // namespace

std::vector<SimulatedCollective> loadProgram(const std::string &path) {
  Json manifest;
  try {
    manifest = formats::parseJson(manifestOf(path));
  } catch (const formats::Error &error) {
    throw Error("'" + path + "': " + error.what());
  }
  if (!manifest.is_object() || !manifest.contains("cgx_manifest"))
    throw Error("expected '" + path + "' to be a manifest or a compiled step");
  std::vector<SimulatedCollective> program;
  try {
    uint64_t ranks = wholeNumber<uint64_t>(manifest.at("ranks"));
    for (const Json &entry : manifest.at("collectives"))
      if (!entry.contains("decodes_again")) // it sends nothing
        program.push_back(collectiveOf(entry, ranks));
  } catch (const Json::exception &error) {
    throw Error("'" + path + "': " + error.what());
  }
  return program;
}

std::vector<Prediction> simulate(const std::vector<SimulatedCollective> &program,
                                 const formats::Machine &machine, const SimulateOptions &options) {
  std::vector<Prediction> predictions;
  for (uint32_t ranks : options.ranks)
    predictions.push_back(predict(program, machine, ranks, options));
  return predictions;
}

std::string tableOf(const std::vector<Prediction> &predictions) {
  std::string table = "  ranks  hosts    exact ms          ms  speedup  MB per rank  algorithms\n";
  for (const Prediction &one : predictions) {
    char line[256];
    std::snprintf(line, sizeof line, "%7u%7u%12.3f%12.3f%8.2fx%13.3f  %s\n", one.ranks, one.ranks / one.local,
                  one.exactSeconds * 1e3, one.seconds * 1e3,
                  one.seconds > 0 ? one.exactSeconds / one.seconds : 1.0, one.meanWireBytes / 1e6,
                  joined(one.algorithms).c_str());
    table += line;
  }
  return table;
}

std::string jsonOf(const std::vector<Prediction> &predictions) {
  Json rows = Json::array();
  for (const Prediction &one : predictions)
    rows.push_back({{"ranks", one.ranks},
                    {"local", one.local},
                    {"seconds", one.seconds},
                    {"exact_seconds", one.exactSeconds},
                    {"mean_wire_bytes", one.meanWireBytes},
                    {"wire_bytes", one.wireBytes},
                    {"algorithms", one.algorithms}});
  return Json{{"cgx_simulation", 1}, {"predictions", rows}}.dump(1) + "\n";
}

} // namespace cgx::bench
