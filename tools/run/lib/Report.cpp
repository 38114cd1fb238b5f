//===-- Report.cpp - Report of a run ----------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Report.h"

#include "Traffic.h"
#include "cgx/codec_table.h"
#include "cgx/formats/CodecJson.h"
#include "cgx/formats/Json.h"
#include "cgx/formats/ScheduleJson.h"
#include "cgx/run/Blocks.h"
#include "cgx/run/CodecSchedule.h"
#include "cgx/run/Error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

using namespace cgx::run;
// This type keeps the order in which members are written.
using OrderedJson = nlohmann::ordered_json;

std::string cgx::run::stateHash(const Job &job, const std::vector<Outcome> &outcomes) {
  uint64_t hash = 0;
  for (size_t i = 0; i < job.stateArguments.size(); ++i) {
    const Value &value = job.manifest.arguments[job.stateArguments[i]];
    std::vector<uint64_t> blocks(blockCount(value));
    for (uint32_t rank = 0; rank < outcomes.size(); ++rank)
      blocks[blockIndex(value, job.manifest.mesh, rank)] = outcomes[rank].hashes[i];
    hash = hashBytes(std::as_bytes(std::span(value.name)), hash);
    hash = hashBytes(std::as_bytes(std::span(blocks)), hash);
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

namespace {

std::string counted(uint64_t count, const std::string &what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

double mean(const std::vector<double> &values) {
  return values.empty()
             ? NAN
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Describes a series of numbers. NaN and infinity become null, because JSON has neither.
OrderedJson describeSeries(const std::string &name, const std::vector<double> &values) {
  return {{"name", name},
          {"final", values.empty() ? OrderedJson() : OrderedJson(values.back())},
          {"mean", values.empty() ? OrderedJson() : OrderedJson(mean(values))},
          {"per_step", values}};
}

/// The bytes of one operand, by rank.
struct Counts {
  std::vector<uint64_t> raw, wire;
};

uint64_t sum(const std::vector<uint64_t> &values) {
  return std::accumulate(values.begin(), values.end(), uint64_t{0});
}

/// Returns the ratio of raw to wire bytes, which is 1 where nothing is sent.
double ratio(uint64_t raw, uint64_t wire) {
  return wire == 0 ? 1.0 : static_cast<double>(raw) / static_cast<double>(wire);
}

class Writer {
public:
  Writer(const Job &job, const std::vector<Outcome> &outcomes, std::span<const Disagreement> disagreements)
      : job_(job), outcomes_(outcomes), disagreements_(disagreements), steps_(outcomes[0].steps) {
    for (const Outcome &outcome : outcomes)
      telemetry_.push_back(cgx::formats::parseJson<OrderedJson>(outcome.telemetry));
  }

  OrderedJson run() {
    const Outcome &first = outcomes_.front();
    double seconds = 0;
    for (const Outcome &outcome : outcomes_)
      seconds = std::max(seconds, outcome.seconds);
    OrderedJson report = {{"cgx_run_report", 1},
                          {"program", {{"path", job_.program.path}, {"hash", job_.manifest.hash}}},
                          {"ranks", job_.manifest.ranks},
                          {"mesh", OrderedJson::array()},
                          {"transport", job_.transport},
                          {"seed", job_.seed},
                          {"first_step", job_.firstStep},
                          {"steps", steps_},
                          {"global_batch", job_.bindings.globalBatch},
                          {"seconds", seconds},
                          {"steps_per_second", seconds > 0 ? static_cast<double>(steps_) / seconds : 0}};
    for (const MeshAxis &axis : job_.manifest.mesh)
      report["mesh"].push_back({{"name", axis.name}, {"size", axis.size}});
    for (const Membership &membership : job_.memberships)
      report["memberships"].push_back(
          {{"first_step", membership.firstStep}, {"ranks", membership.ranks}, {"change", membership.change}});
    report["loss"] = nullptr;
    report["metrics"] = OrderedJson::array();
    for (size_t i = 0; i < job_.scalars.all.size(); ++i) {
      OrderedJson series = describeSeries(job_.scalars.all[i].name, first.scalars[i]);
      if (job_.scalars.loss == i)
        report["loss"] = std::move(series);
      else
        report["metrics"].push_back(std::move(series));
    }
    addEvaluations(report);
    addTraffic(report);
    addTimes(report);
    addPlans(report, seconds);
    report["state_hash"] = disagreements_.empty() ? OrderedJson(stateHash(job_, outcomes_)) : OrderedJson();
    report["disagreements"] = OrderedJson::array();
    for (const Disagreement &each : disagreements_)
      report["disagreements"].push_back({{"tensor", each.tensor}, {"ranks", each.ranks}});
    return report;
  }

  /// Returns the contradictions in the traffic that the report shows.
  const std::vector<std::string> &problems() const { return problems_; }

private:
  void addEvaluations(OrderedJson &report) const {
    report["evaluations"] = OrderedJson::array();
    for (const Measured &measured : outcomes_[0].evaluations) {
      OrderedJson metrics = OrderedJson::object();
      for (size_t i = 0; i < measured.values.size(); ++i)
        metrics[job_.evaluation->scalars.all[i].name] = measured.values[i];
      report["evaluations"].push_back({{"steps", job_.firstStep + measured.steps}, {"metrics", metrics}});
    }
  }

  void addTraffic(OrderedJson &report) {
    uint64_t raw = 0, wire = 0;
    std::vector<std::string> codecs;
    report["codecs"] = OrderedJson::array();
    report["layers"] = OrderedJson::array();
    for (const Collective &collective : job_.manifest.collectives)
      for (size_t i = 0; i < collective.operands.size(); ++i) {
        const Operand &operand = collective.operands[i];
        Counts counts = checkedCounts(collective, i);
        raw += sum(counts.raw);
        wire += sum(counts.wire);
        // The last codec is shown, because a plan may have changed it during the run.
        cgx_codec last = periods(collective, i).back().codec;
        std::string codec = cgx::describeCodec(last);
        if (std::find(codecs.begin(), codecs.end(), codec) == codecs.end())
          codecs.push_back(codec);
        report["layers"].push_back({{"layer", operand.layer},
                                    {"collective", collective.id},
                                    {"operand", i},
                                    {"collective_kind", cgx::kCollectiveKinds[collective.kind]},
                                    {"kind", operand.kind},
                                    {"dtype", elementTypeName(operand.type)},
                                    {"elements", operand.elements},
                                    {"codec", codecEntry(last, operand.back)},
                                    {"raw_bytes_per_step", counts.raw},
                                    {"wire_bytes_per_step", counts.wire},
                                    {"ratio", ratio(sum(counts.raw), sum(counts.wire))}});
      }
    report["codecs"] = codecs;
    auto ranks = static_cast<double>(outcomes_.size());
    report["totals"] = {{"raw_bytes_per_step", raw},
                        {"wire_bytes_per_step", wire},
                        {"raw_bytes_per_rank_and_step", static_cast<double>(raw) / ranks},
                        {"wire_bytes_per_rank_and_step", static_cast<double>(wire) / ranks},
                        {"ratio", ratio(raw, wire)}};
    checkTransport();
  }

  /// Returns the counters of a collective over all steps in the runtime of `rank`.
  const OrderedJson &counters(const Collective &collective, uint32_t rank) const {
    for (const OrderedJson &entry : telemetry_[rank].at("collectives"))
      if (entry.at("id") == collective.id)
        return entry;
    throw Error("the telemetry of rank " + std::to_string(rank) + " lacks collective " +
                std::to_string(collective.id));
  }

  std::vector<CodecPeriod> periods(const Collective &collective, size_t operand) const {
    return codecPeriods(job_.manifest, collective, operand, outcomes_[0].plans, job_.firstStep, steps_);
  }

  static OrderedJson codecEntry(const cgx_codec &codec, const std::optional<cgx_codec> &back) {
    OrderedJson entry = cgx::writeCodec(codec);
    if (back)
      entry["back"] = cgx::writeCodec(*back);
    return entry;
  }

  /// Returns the traffic that the manifest promises for `runs` runs of an operand in all periods. Returns
  /// nothing when codecs changed and some steps ran the collective more often than others.
  std::optional<Traffic> promise(const Collective &collective, size_t operand, uint32_t rank,
                                 uint64_t runs) const {
    std::vector<CodecPeriod> all = periods(collective, operand);
    bool isEven = steps_ != 0 && runs % steps_ == 0;
    if (all.size() > 1 && !isEven)
      return std::nullopt;
    Traffic sum;
    for (const CodecPeriod &period : all) {
      Operand planned = collective.operands[operand];
      planned.codec = period.codec;
      const Traffic once = traffic(collective, planned, job_.manifest.ranks, rank);
      uint64_t times = all.size() == 1 ? runs : runs / steps_ * period.steps;
      if (isEven && runs != 0)
        times = times / (runs / steps_) * sendingRuns(collective, rank, runs / steps_);
      sum.raw += once.raw * times;
      sum.wire += once.wire * times;
      sum.isMost |= once.isMost;
    }
    return sum;
  }

  /// Returns the bytes that were sent uncompressed for samples sent for the first time: whole rows, and no
  /// more than were sent.
  static uint64_t firstVisitBytes(const Collective &collective, size_t operand, const OrderedJson &counter,
                                  uint64_t raw) {
    const Operand &of = collective.operands[operand];
    if (!of.sendsChanges || of.elements == 0)
      return 0;
    const auto bytes = counter.at("operands").at(operand).at("first_visit_bytes").get<uint64_t>();
    const uint64_t row = of.elements / of.shape.at(0) * cgx_element_bytes(of.type);
    return bytes % row == 0 && bytes <= raw ? bytes : 0;
  }

  /// Returns the bytes of an operand in a step. The counted and the promised ones must agree.
  Counts checkedCounts(const Collective &collective, size_t operand) {
    Counts counts;
    for (uint32_t rank = 0; rank < outcomes_.size(); ++rank) {
      const OrderedJson &counter = counters(collective, rank);
      auto runs = counter.at("runs").get<uint64_t>();
      auto raw = counter.at("operands").at(operand).at("raw_bytes").get<uint64_t>();
      auto wire = counter.at("operands").at(operand).at("wire_bytes").get<uint64_t>();
      std::optional<Traffic> promised = promise(collective, operand, rank, runs);
      if (promised)
        promised->wire += firstVisitBytes(collective, operand, counter, raw);
      if (promised && (!promised->allows(wire) || promised->raw != raw))
        problems_.push_back(
            "rank " + std::to_string(rank) + ", collective " + std::to_string(collective.id) + ", operand " +
            std::to_string(operand) + " (layer '" + collective.operands[operand].layer + "'): expected " +
            (promised->isMost ? "at most " : "") + std::to_string(promised->wire) + " wire bytes for " +
            std::to_string(promised->raw) + " raw bytes in " + std::to_string(runs) + " runs, counted " +
            std::to_string(wire) + " for " + std::to_string(raw));
      counts.raw.push_back(raw / std::max<uint64_t>(steps_, 1));
      counts.wire.push_back(wire / std::max<uint64_t>(steps_, 1));
    }
    return counts;
  }

  /// Checks that the sum of the operands' counters is what the transport sent.
  void checkTransport() {
    for (uint32_t rank = 0; rank < outcomes_.size(); ++rank) {
      auto wire = telemetry_[rank].at("wire_bytes").get<uint64_t>();
      auto sent = telemetry_[rank].at("transport_bytes").get<uint64_t>();
      if (wire != sent)
        problems_.push_back("rank " + std::to_string(rank) + ": expected " + std::to_string(wire) +
                            " wire bytes of all collectives, the transport sent " + std::to_string(sent));
    }
  }

  /// Adds the seconds of a step that a rank spends on communication, by activity; and for each collective,
  /// how long it takes and how long the step waits for it.
  void addTimes(OrderedJson &report) const {
    auto perStep = [&](double seconds) {
      return seconds / static_cast<double>(outcomes_.size() * std::max<uint64_t>(steps_, 1));
    };
    report["communication_seconds_per_step"] = OrderedJson::object();
    for (const char *part : {"encode", "exchange", "decode", "total", "wait"}) {
      double seconds = 0;
      for (const OrderedJson &rank : telemetry_)
        for (const OrderedJson &collective : rank.at("collectives"))
          seconds += collective.at("seconds").at(part).get<double>();
      report["communication_seconds_per_step"][part] = perStep(seconds);
    }
    report["collectives"] = OrderedJson::array();
    const OrderedJson &first = telemetry_[0].at("collectives");
    for (size_t i = 0; i < first.size(); ++i) {
      double total = 0, wait = 0;
      for (const OrderedJson &rank : telemetry_) {
        total += rank.at("collectives").at(i).at("seconds").at("total").get<double>();
        wait += rank.at("collectives").at(i).at("seconds").at("wait").get<double>();
      }
      report["collectives"].push_back({{"id", first[i].at("id")},
                                       {"kind", first[i].at("kind")},
                                       {"communication_seconds_per_step", perStep(total)},
                                       {"wait_seconds_per_step", perStep(wait)}});
    }
  }

  /// Adds the plan of every period, and the cost of measuring.
  void addPlans(OrderedJson &report, double seconds) const {
    report["plans"] = OrderedJson::array();
    for (const AdoptedPlan &adopted : outcomes_[0].plans)
      report["plans"].push_back(
          {{"step", adopted.step}, {"plan", cgx::formats::parseJson<OrderedJson>(adopted.json)}});
    double profiling = 0;
    for (const OrderedJson &rank : telemetry_)
      profiling = std::max(profiling, rank.at("profiling_seconds").get<double>());
    report["profiling"] = {{"seconds", profiling}, {"share", seconds > 0 ? profiling / seconds : 0}};
  }

  const Job &job_;
  const std::vector<Outcome> &outcomes_;
  std::span<const Disagreement> disagreements_;
  uint64_t steps_; ///< the steps that were done
  std::vector<OrderedJson> telemetry_;
  std::vector<std::string> problems_;
};

std::string numberString(const OrderedJson &value) {
  if (!value.is_number())
    return "nan";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value.get<double>());
  return text;
}

} // namespace

std::string cgx::run::bytesString(double bytes) {
  const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit)
    bytes /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.3g %s", bytes, units[unit]);
  return text;
}

Report cgx::run::makeReport(const Job &job, const std::vector<Outcome> &outcomes,
                            std::span<const Disagreement> disagreements) {
  try {
    Writer writer(job, outcomes, disagreements);
    std::string text = writer.run().dump(1) + "\n";
    return {std::move(text), writer.problems()};
  } catch (const cgx::formats::Error &error) {
    throw Error(std::string("the runtime's telemetry is malformed: ") + error.what());
  } catch (const OrderedJson::exception &error) {
    throw Error(std::string("the runtime's telemetry is malformed: ") + error.what());
  }
}

std::string cgx::run::summarize(const std::string &text) {
  OrderedJson report = OrderedJson::parse(text);
  std::string lines;
  auto scalar = [&](const OrderedJson &series) {
    lines += series["name"].get<std::string>() + ": final " + numberString(series["final"]) + ", mean " +
             numberString(series["mean"]) + "\n";
  };
  const bool hasValues = report["steps"].get<uint64_t>() > 0;
  if (hasValues && report["loss"].is_object())
    scalar(report["loss"]);
  for (const OrderedJson &metric : report["metrics"])
    if (hasValues)
      scalar(metric);
  if (!hasValues)
    return lines + "0 steps: nothing was trained or measured\n";
  lines += counted(report["steps"].get<uint64_t>(), "step") + " on " +
           counted(report["ranks"].get<uint64_t>(), "rank") + " (" + report["transport"].get<std::string>() +
           ") in " + numberString(report["seconds"]) + " s: " + numberString(report["steps_per_second"]) +
           " steps/s\n";
  const OrderedJson &totals = report["totals"];
  lines += "sent by a rank in a step: " + bytesString(totals["wire_bytes_per_rank_and_step"].get<double>()) +
           " for " + bytesString(totals["raw_bytes_per_rank_and_step"].get<double>()) +
           " of tensors, ratio " + numberString(totals["ratio"]) + "\n";
  if (!report["state_hash"].is_string())
    return lines + "state differs between ranks\n";
  return lines + "state " + report["state_hash"].get<std::string>() + ", equal on all ranks\n";
}
