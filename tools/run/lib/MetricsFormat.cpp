//===-- MetricsFormat.cpp - JSON lines and CSV columns ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetricsFormat.h"

#include "cgx/run/Error.h"

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

using namespace cgx::run;
using OrderedJson = nlohmann::ordered_json;

namespace {

/// The formats with one line per step.
class LineFormat : public MetricsFormat {
public:
  std::string earlier(const std::string &file, uint64_t first) const final {
    std::istringstream lines(file);
    std::string kept;
    for (std::string line; std::getline(lines, line);)
      if (std::optional<uint64_t> step = stepOf(line); step && *step < first)
        kept += line + "\n";
    return kept;
  }

protected:
  /// Returns the step of a line, or nothing for a heading or an incomplete line.
  virtual std::optional<uint64_t> stepOf(const std::string &line) const = 0;
};

class JsonLines final : public LineFormat {
public:
  explicit JsonLines(std::vector<std::string> names) : names_(std::move(names)) {}

  std::string header() const override { return ""; }

  std::string record(const StepMetrics &metrics) const override {
    OrderedJson json = {{"step", metrics.step},
                        {"time", metrics.time},
                        {"seconds", metrics.seconds},
                        {"metrics", byName(names_, metrics.scalars)}};
    json["wire_bytes"] = metrics.wireBytes;
    json["communication_seconds"] = metrics.communicationSeconds;
    json["communication_share"] = metrics.communicationShare;
    json["plan"] = metrics.isPlanNew;
    return json.dump() + "\n";
  }

  std::string evaluation(uint64_t step, double /*time*/, const std::vector<std::string> &names,
                         const std::vector<double> &values) const override {
    return OrderedJson({{"step", step}, {"evaluation", byName(names, values)}}).dump() + "\n";
  }

private:
  /// Returns the values by name, with null where a number is not finite.
  static OrderedJson byName(const std::vector<std::string> &names, const std::vector<double> &values) {
    OrderedJson json = OrderedJson::object();
    for (size_t i = 0; i < values.size(); ++i)
      json[names[i]] = values[i];
    return json;
  }

  std::optional<uint64_t> stepOf(const std::string &line) const override {
    const OrderedJson json = OrderedJson::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_unsigned())
      return std::nullopt;
    return json["step"].get<uint64_t>();
  }

  std::vector<std::string> names_;
};

class Columns final : public LineFormat {
public:
  explicit Columns(std::vector<std::string> names) : names_(std::move(names)) {}

  std::string header() const override {
    std::string text = "step,time,seconds";
    for (const std::string &name : names_)
      text += "," + quoted(name);
    return text + ",wire_bytes,communication_seconds,communication_share,plan\n";
  }

  std::string record(const StepMetrics &metrics) const override {
    std::string text =
        std::to_string(metrics.step) + "," + numberText(metrics.time) + "," + numberText(metrics.seconds);
    for (double scalar : metrics.scalars)
      text += "," + numberText(scalar);
    return text + "," + std::to_string(metrics.wireBytes) + "," + numberText(metrics.communicationSeconds) +
           "," + numberText(metrics.communicationShare) + "," + (metrics.isPlanNew ? "1" : "0") + "\n";
  }

  /// Adds nothing, because the columns are those of steps.
  std::string evaluation(uint64_t, double, const std::vector<std::string> &,
                         const std::vector<double> &) const override {
    return "";
  }

private:
  /// Formats a number, as in a report, with the fewest digits that give it back.
  static std::string numberText(double value) {
    char text[32];
    auto [end, error] = std::to_chars(text, text + sizeof text, value);
    return std::string(text, end);
  }

  /// Returns a column's name, quoted where CSV needs it.
  static std::string quoted(const std::string &name) {
    if (name.find_first_of(",\"\n") == std::string::npos)
      return name;
    std::string text = "\"";
    for (char c : name)
      text += c == '"' ? "\"\"" : std::string(1, c);
    return text + "\"";
  }

  std::optional<uint64_t> stepOf(const std::string &line) const override {
    uint64_t step = 0;
    return std::from_chars(line.data(), line.data() + line.size(), step).ec == std::errc()
               ? std::optional(step)
               : std::nullopt;
  }

  std::vector<std::string> names_;
};

} // namespace

std::unique_ptr<MetricsFormat> cgx::run::makeMetricsFormat(const std::string &path,
                                                           std::vector<std::string> names) {
  if (path.ends_with(".csv"))
    return std::make_unique<Columns>(std::move(names));
  if (std::filesystem::path(path).filename().string().find("tfevents") == std::string::npos)
    return std::make_unique<JsonLines>(std::move(names));
  std::unique_ptr<MetricsFormat> events = makeEventFormat(std::move(names));
  if (!events)
    throw Error(
        "cannot write '" + path +
        "': this cgx-run was built without Protocol Buffers "
        "(libprotobuf-dev, protobuf-compiler), which event files of TensorBoard need; a name in .jsonl "
        "or .csv gives text");
  return events;
}
