//===-- Checkpoints.cpp - What a run keeps, and where -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Checkpoints.h"

#include "cgx/run/Blocks.h"
#include "cgx/run/Error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace cgx::run;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr std::string_view kBegin = "step-", kEnd = ".safetensors";
constexpr const char *kBest = "best.safetensors";

/// The step that a file of a folder is named after.
std::optional<uint64_t> stepOf(const std::string &name) {
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || name.size() <= kBegin.size() + kEnd.size())
    return std::nullopt;
  const std::string digits = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  if (digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoull(digits);
}

/// The checkpoints of a folder, newest first.
std::vector<std::pair<uint64_t, std::string>> listFolder(const std::string &folder) {
  std::vector<std::pair<uint64_t, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (std::optional<uint64_t> step = stepOf(entry->path().filename().string()))
      found.emplace_back(*step, entry->path().string());
  if (error)
    throw Error("cannot read folder '" + folder + "': " + error.message());
  std::sort(found.rbegin(), found.rend());
  return found;
}

/// Of names and bytes of all tensors, in any order.
std::string digestOf(const std::vector<TensorView> &tensors) {
  uint64_t digest = 0;
  for (const TensorView &tensor : tensors)
    digest += hashBytes(tensor.bytes, hashBytes(std::as_bytes(std::span(tensor.name))));
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(digest));
  return text;
}

/// What a checkpoint is judged by: each metric's mean over the steps since the one before, or, where none is
/// saved on the way, of the last step: a run that was interrupted ends with the file of one that was not.
Json judge(const Job &job, const Outcome &outcome) {
  Json metrics = Json::object();
  if (outcome.scalars.size() != job.scalars.all.size())
    return metrics; // of a state that is handed on, and judged by nobody
  const uint64_t window = std::min<uint64_t>(std::max<uint64_t>(job.saving.every, 1), outcome.steps);
  for (size_t i = 0; i < job.scalars.all.size() && window != 0; ++i) {
    const std::vector<double> &series = outcome.scalars[i];
    double sum = 0;
    for (size_t step = series.size() - window; step < series.size(); ++step)
      sum += series[step];
    metrics[job.scalars.all[i].name] = sum / static_cast<double>(window); // null where it is not finite
  }
  if (!outcome.evaluations.empty() && outcome.evaluations.back().steps == outcome.steps)
    for (size_t i = 0; i < job.evaluation->scalars.all.size(); ++i)
      metrics["eval." + job.evaluation->scalars.all[i].name] = outcome.evaluations.back().values[i];
  return metrics;
}

Metadata describeRun(const Job &job, const Outcome &first) {
  Metadata metadata = {{"cgx.steps", std::to_string(job.firstStep + first.steps)},
                       {"cgx.seed", std::to_string(job.seed)},
                       {"cgx.program", job.manifest.hash},
                       {"cgx.metrics", judge(job, first).dump()}};
  if (job.bindings.globalBatch != 0) {
    metadata["cgx.data"] = job.dataDigest;
    metadata["cgx.shuffle"] = job.shuffle ? "1" : "0";
    metadata["cgx.global_batch"] = std::to_string(job.bindings.globalBatch);
    if (job.firstBatch != job.firstStep)
      metadata["cgx.batches"] = std::to_string(job.firstBatch + first.steps);
  }
  if (!first.plans.empty())
    metadata["cgx.plan"] = first.plans.back().json;
  return metadata;
}

/// The value by which the file is compared with others, if it has one.
std::optional<double> valueOf(const std::string &path, const std::string &metric) {
  try {
    const SafetensorsFile file = SafetensorsFile::open(path);
    auto entry = file.metadata().find("cgx.metrics");
    if (entry == file.metadata().end())
      return std::nullopt;
    const Json metrics = Json::parse(entry->second, nullptr, /*allow_exceptions=*/false);
    if (metrics.is_object() && metrics.contains(metric) && metrics[metric].is_number())
      return metrics[metric].get<double>();
  } catch (const Error &) { // damaged: it is not the best
  }
  return std::nullopt;
}

/// Removes what is neither among the last nor the best, and lets the link lead to the best.
void keep(const Saving &saving) {
  std::string best;
  std::optional<double> bestValue;
  const auto files = listFolder(saving.path);
  for (const auto &[step, path] : files) {
    const std::optional<double> value = saving.best.empty() ? std::nullopt : valueOf(path, saving.best);
    if (value && (!bestValue || (saving.bestIsMost ? *value > *bestValue : *value < *bestValue))) {
      best = path;
      bestValue = value;
    }
  }
  std::error_code error;
  if (!best.empty()) {
    const fs::path link = fs::path(saving.path) / kBest,
                   made = fs::path(saving.path) / (std::string(kBest) + ".new");
    fs::remove(made, error);
    fs::create_symlink(fs::path(best).filename(), made, error);
    if (!error)
      fs::rename(made, link, error);
    if (error)
      throw Error("cannot let '" + link.string() + "' lead to '" + best + "': " + error.message());
  }
  for (size_t i = saving.keepLast; saving.keepLast != 0 && i < files.size(); ++i)
    if (files[i].second != best && !fs::remove(files[i].second, error) && error)
      throw Error("cannot remove '" + files[i].second + "': " + error.message());
}

} // namespace

void cgx::run::parseBest(const std::string &text, Saving &saving) {
  const size_t colon = text.rfind(':');
  const std::string direction = colon == std::string::npos ? "" : text.substr(colon + 1);
  saving.best = text.substr(0, colon);
  saving.bestIsMost = direction == "max";
  // A wrong guess would keep the worst.
  const bool isLoss = saving.best.find("loss") != std::string::npos;
  if (saving.best.empty() || (direction != "min" && direction != "max" && !(direction.empty() && isLoss)))
    throw Error("expected --keep-best METRIC:min or METRIC:max, got '" + text + "'");
}

bool cgx::run::isSaved(const Job &job, uint64_t done) {
  return job.saving.every != 0 && done != 0 && done != job.steps &&
         (job.firstStep + done) % job.saving.every == 0;
}

std::string cgx::run::checkpointPath(const Saving &saving, uint64_t step) {
  if (!saving.isFolder)
    return saving.path;
  char name[40];
  std::snprintf(name, sizeof name, "step-%012llu.safetensors", static_cast<unsigned long long>(step));
  return (fs::path(saving.path) / name).string();
}

std::string cgx::run::besidePath(const std::string &path, const std::string &why) {
  size_t dot = path.rfind('.'), slash = path.rfind('/');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash))
    dot = path.size();
  return path.substr(0, dot) + "." + why + path.substr(dot);
}

void cgx::run::saveState(const Job &job, const std::vector<Outcome> &outcomes, const std::string &path,
                         const std::optional<Unsound> &unsound) {
  std::vector<TensorView> tensors;
  std::vector<std::vector<std::byte>> assembled;
  assembled.reserve(job.stateArguments.size());
  for (size_t i = 0; i < job.stateArguments.size(); ++i) {
    const Value &value = job.manifest.arguments[job.stateArguments[i]];
    std::vector<std::byte> &whole =
        assembled.emplace_back(*elementCount(value.globalShape) * elementBytes(value.type));
    for (uint32_t rank = 0; rank < outcomes.size(); ++rank)
      if (!outcomes[rank].blocks[i].empty())
        insertBlock(value, job.manifest.mesh, rank, outcomes[rank].blocks[i].data(), whole.data());
    tensors.push_back({value.name, value.type, value.globalShape, whole});
  }
  for (const Outcome &outcome : outcomes)
    for (const CodecTensor &tensor : outcome.codecState)
      tensors.push_back(tensor.view());
  Metadata metadata = describeRun(job, outcomes[0]);
  metadata["cgx.digest"] = digestOf(tensors);
  if (unsound)
    metadata[unsound->key] = unsound->reason;
  writeSafetensors(path, std::move(tensors), metadata);
}

void cgx::run::saveCheckpoint(const Job &job, const std::vector<Outcome> &outcomes) {
  saveState(job, outcomes, checkpointPath(job.saving, job.firstStep + outcomes[0].steps), std::nullopt);
  if (job.saving.isFolder)
    keep(job.saving);
}

void cgx::run::checkSound(const SafetensorsFile &checkpoint) {
  const Metadata &metadata = checkpoint.metadata();
  const std::string name = "'" + checkpoint.path() + "'";
  for (const char *key : {"cgx.disagreement", "cgx.not_finite"})
    if (auto entry = metadata.find(key); entry != metadata.end())
      throw Error(
          name + " was saved by a run that failed: " + entry->second +
          "\n  expected a checkpoint of a run that ended well; --state takes the tensors as they are");
  if (metadata.find("cgx.steps") == metadata.end())
    throw Error(name + " has no 'cgx.steps': expected a file that cgx-run --save wrote");
  if (auto digest = metadata.find("cgx.digest");
      digest != metadata.end() && digest->second != digestOf(checkpoint.tensors()))
    throw Error(name + " is damaged: its tensors are not those that were saved");
}

std::optional<std::string> cgx::run::findCheckpoint(const std::string &path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return fs::exists(path, error) ? std::optional(path) : std::nullopt;
  const auto files = listFolder(path);
  for (const auto &[step, file] : files)
    try {
      checkSound(SafetensorsFile::open(file));
      return file;
    } catch (const Error &failure) {
      std::fprintf(stderr, "cgx-run: warning: %s\n  the checkpoint before it is taken\n", failure.what());
    }
  if (!files.empty())
    throw Error("none of the " + std::to_string(files.size()) + " checkpoints in '" + path + "' is sound");
  return std::nullopt;
}
