//===-- Checkpoints.cpp - Checkpoints of a run ------------------*- C++ -*-===//
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
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace cgx::run;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr std::string_view kBegin = "step-", kEnd = ".safetensors";
constexpr const char *kBest = "best.safetensors";

/// Returns the step in the name of a checkpoint file.
std::optional<uint64_t> stepOf(const std::string &name) {
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || name.size() <= kBegin.size() + kEnd.size())
    return std::nullopt;
  const std::string digits = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  if (digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoull(digits);
}

/// A file of a folder whose name is that of a checkpoint.
struct Entry {
  uint64_t named; ///< the step in its name
  std::string path;
};

std::vector<Entry> listFolder(const std::string &folder) {
  std::vector<Entry> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (std::optional<uint64_t> step = stepOf(entry->path().filename().string()))
      found.push_back({*step, entry->path().string()});
  if (error)
    throw Error("cannot read folder '" + folder + "': " + error.message());
  std::sort(found.begin(), found.end(), [](const Entry &a, const Entry &b) { return a.named > b.named; });
  return found;
}

/// The metadata that --save always writes, all of which a resumed run needs.
constexpr const char *kNeeded[] = {"cgx.steps",    "cgx.seed",         "cgx.program", "cgx.run",   "cgx.data",
                                   "cgx.pad_last", "cgx.global_batch", "cgx.shuffle", "cgx.digest"};

/// Returns the step after which a file was saved, from its metadata. Throws Error where there is none.
uint64_t savedAfter(const SafetensorsFile &file) {
  const auto entry = file.metadata().find("cgx.steps");
  uint64_t step = 0;
  if (entry == file.metadata().end())
    throw Error("'" + file.path() + "' has no 'cgx.steps': expected a file that cgx-run --save wrote");
  const char *end = entry->second.data() + entry->second.size();
  if (const auto read = std::from_chars(entry->second.data(), end, step);
      read.ec != std::errc() || read.ptr != end)
    throw Error("'" + file.path() + "': expected 'cgx.steps' to be a whole number, got '" + entry->second +
                "'");
  return step;
}

/// A checkpoint's metadata.
struct Saved {
  uint64_t step;
  std::string path;
  Metadata metadata;

  bool isOf(const std::string &run) const {
    const auto entry = metadata.find("cgx.run");
    return entry != metadata.end() && entry->second == run;
  }
};

/// Returns the checkpoints of a folder that can be read, most steps first. Calls `say` with the reason for
/// each that cannot.
template <typename Say> std::vector<Saved> readFolder(const std::string &folder, const Say &say) {
  std::vector<Saved> found;
  for (const Entry &entry : listFolder(folder))
    try {
      const SafetensorsFile file = SafetensorsFile::open(entry.path);
      found.push_back({savedAfter(file), entry.path, file.metadata()});
      if (found.back().step != entry.named)
        say("'" + entry.path + "' was saved after step " + std::to_string(found.back().step) +
            ", whatever its name says");
    } catch (const Error &error) {
      say(error.what());
    }
  std::stable_sort(found.begin(), found.end(),
                   [](const Saved &a, const Saved &b) { return a.step > b.step; });
  return found;
}

/// Returns the metrics that a checkpoint is compared by: each one's mean over the steps since the previous
/// checkpoint, or its value in the last step if none is saved on the way. The window is fixed, so that an
/// interrupted run ends with the same file as an uninterrupted one.
Json judge(const Job &job, const Outcome &outcome) {
  Json metrics = Json::object();
  if (outcome.scalars.size() != job.scalars.all.size())
    return metrics; // the state is handed to the next membership, and not compared
  const uint64_t window = std::min<uint64_t>(std::max<uint64_t>(job.saving.every, 1), outcome.steps);
  for (size_t i = 0; i < job.scalars.all.size() && window != 0; ++i) {
    const std::vector<double> &series = outcome.scalars[i];
    double sum = 0;
    for (size_t step = series.size() - window; step < series.size(); ++step)
      sum += series[step];
    // JSON has null where it is not finite.
    metrics[job.scalars.all[i].name] = sum / static_cast<double>(window);
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
                       {"cgx.run", job.run},
                       {"cgx.metrics", judge(job, first).dump()}};
  metadata.merge(describeSamples(job));
  if (job.bindings.globalBatch != 0 && job.firstBatch != job.firstStep)
    metadata["cgx.batches"] = std::to_string(job.firstBatch + first.steps);
  if (first.steps == 0 && job.checkpoint) // the metrics are those of the resumed checkpoint
    if (const auto entry = job.checkpoint->metadata().find("cgx.metrics");
        entry != job.checkpoint->metadata().end())
      metadata["cgx.metrics"] = entry->second;
  if (!first.plans.empty())
    metadata["cgx.plan"] = first.plans.back().json;
  return metadata;
}

/// Returns the value by which a checkpoint is compared with others, if it has one.
std::optional<double> valueOf(const Saved &saved, const std::string &metric) {
  const auto entry = saved.metadata.find("cgx.metrics");
  if (entry == saved.metadata.end())
    return std::nullopt;
  const Json metrics = Json::parse(entry->second, nullptr, /*allow_exceptions=*/false);
  if (metrics.is_object() && metrics.contains(metric) && metrics[metric].is_number())
    return metrics[metric].get<double>();
  return std::nullopt;
}

/// Points the link at the best checkpoint.
void linkBest(const Saving &saving, const std::string &best) {
  std::error_code error;
  const fs::path link = fs::path(saving.path) / kBest,
                 made = fs::path(saving.path) / (std::string(kBest) + ".new");
  fs::remove(made, error);
  fs::create_symlink(fs::path(best).filename(), made, error);
  if (!error)
    fs::rename(made, link, error);
  if (error)
    throw Error("cannot let '" + link.string() + "' lead to '" + best + "': " + error.message());
}

/// Removes the checkpoints that this run made up to `step` and that are neither among the last nor the best.
/// Other files belong to other runs, or were skipped by --resume.
void keep(const Job &job, uint64_t step) {
  const Saving &saving = job.saving;
  if (saving.keepLast == 0 && saving.best.empty())
    return;
  std::vector<Saved> own = readFolder(saving.path, [](const std::string &) {});
  std::erase_if(own, [&](const Saved &saved) { return !saved.isOf(job.run) || saved.step > step; });
  std::string best;
  std::optional<double> bestValue;
  for (const Saved &saved : own) {
    const std::optional<double> value = saving.best.empty() ? std::nullopt : valueOf(saved, saving.best);
    if (value && (!bestValue || (saving.bestIsMost ? *value > *bestValue : *value < *bestValue))) {
      best = saved.path;
      bestValue = value;
    }
  }
  if (!best.empty())
    linkBest(saving, best);
  std::error_code error;
  for (size_t i = saving.keepLast; saving.keepLast != 0 && i < own.size(); ++i)
    if (own[i].path != best && !fs::remove(own[i].path, error) && error)
      throw Error("cannot remove '" + own[i].path + "': " + error.message());
}

} // namespace

void cgx::run::parseBest(const std::string &text, Saving &saving) {
  const size_t colon = text.rfind(':');
  const std::string direction = colon == std::string::npos ? "" : text.substr(colon + 1);
  saving.best = text.substr(0, colon);
  saving.bestIsMost = direction == "max";
  // The direction is not guessed: a wrong guess would keep the worst checkpoint.
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
  if (unsound)
    metadata[unsound->key] = unsound->reason;
  metadata["cgx.digest"] = digestOfCheckpoint(tensors, metadata);
  writeSafetensors(path, std::move(tensors), metadata);
}

void cgx::run::saveCheckpoint(const Job &job, const std::vector<Outcome> &outcomes) {
  const uint64_t step = job.firstStep + outcomes[0].steps;
  saveState(job, outcomes, checkpointPath(job.saving, step), std::nullopt);
  if (job.saving.isFolder)
    keep(job, step);
}

bool cgx::run::hasNothingToDo(const Job &job) {
  if (!job.checkpoint || job.steps != 0)
    return false;
  if (!job.save)
    return true;
  std::error_code none;
  const fs::path from = job.checkpoint->path();
  // A checkpoint in a folder is identified by its step, not by its name.
  return job.saving.isFolder ? fs::equivalent(from.parent_path() / ".", job.saving.path, none)
                             : fs::equivalent(from, job.saving.path, none);
}

Metadata cgx::run::describeSamples(const Job &job) {
  const uint64_t batch = job.bindings.globalBatch;
  const bool pads = job.padLast && batch != 0 && job.bindings.samples % batch != 0;
  return {{"cgx.data", batch != 0 ? job.dataDigest : "none"},
          {"cgx.shuffle", job.shuffle ? "1" : "0"},
          {"cgx.pad_last", pads ? "1" : "0"},
          {"cgx.global_batch", std::to_string(batch)}};
}

std::string cgx::run::digestOfCheckpoint(const std::vector<TensorView> &tensors, const Metadata &metadata) {
  const auto hashText = [](const std::string &text, uint64_t seed) {
    return hashBytes(std::as_bytes(std::span(text)), seed);
  };
  constexpr uint64_t tensorSeed = 1, metadataSeed = 2; // seeds that tell a tensor from metadata of its name
  uint64_t digest = 0;
  for (const TensorView &tensor : tensors)
    digest += hashBytes(tensor.bytes,
                        hashText(typeString(tensor.type, tensor.shape), hashText(tensor.name, tensorSeed)));
  for (const auto &[key, value] : metadata)
    if (key != "cgx.digest")
      digest += hashText(value, hashText(key, metadataSeed));
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(digest));
  return text;
}

void cgx::run::checkSound(const SafetensorsFile &checkpoint) {
  const Metadata &metadata = checkpoint.metadata();
  const std::string name = "'" + checkpoint.path() + "'";
  for (const char *key : {"cgx.disagreement", "cgx.not_finite"})
    if (auto entry = metadata.find(key); entry != metadata.end())
      throw Error(
          name + " was saved by a run that failed: " + entry->second +
          "\n  expected a checkpoint of a run that ended well; --state takes the tensors as they are");
  for (const char *key : kNeeded)
    if (!metadata.contains(key))
      throw Error(
          name + " has no '" + key +
          "': expected a file that cgx-run --save wrote, of this version; --state takes the tensors as "
          "they are");
  if (metadata.at("cgx.digest") != digestOfCheckpoint(checkpoint.tensors(), metadata))
    throw Error(name + " is damaged: its tensors, or what it says of its run, are not what was saved");
}

std::optional<std::string> cgx::run::findCheckpoint(const std::string &path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return fs::exists(path, error) ? std::optional(path) : std::nullopt;
  const auto warn = [](const std::string &what) {
    std::fprintf(stderr, "cgx-run: warning: %s\n", what.c_str());
  };
  for (const Saved &saved : readFolder(path, warn))
    try {
      checkSound(SafetensorsFile::open(saved.path));
      return saved.path;
    } catch (const Error &failure) {
      warn(failure.what() + std::string("\n  the checkpoint before it is taken"));
    }
  if (const size_t count = listFolder(path).size(); count != 0)
    throw Error("none of the " + std::to_string(count) + " checkpoints in '" + path + "' is sound");
  return std::nullopt;
}

void cgx::run::checkSavingFolder(const Job &job) {
  const Saving &saving = job.saving;
  std::error_code none;
  if (!saving.isFolder || !fs::is_directory(saving.path, none))
    return;
  const std::string place = "'" + saving.path + "' has ",
                    advice = ": expected a folder without checkpoints, or --resume " + saving.path +
                             ", which goes on from the last of them";
  if (const fs::path link = fs::path(saving.path) / kBest;
      fs::exists(fs::symlink_status(link, none)) && !fs::is_symlink(link, none))
    throw Error(place + "a '" + kBest +
                "' that is no link, and this is the name of the one to the best checkpoint: expected another "
                "folder");
  if (const auto files = listFolder(saving.path); !job.checkpoint && !files.empty())
    throw Error(place + "checkpoints of an earlier run, such as '" + files[0].path + "'" + advice);
  if (!job.checkpoint)
    return;
  const bool isOwn =
      fs::equivalent(fs::absolute(job.checkpoint->path()).parent_path(), fs::path(saving.path), none);
  for (const Saved &saved : readFolder(saving.path, [](const std::string &) {})) {
    const bool isOther = !isOwn && !saved.isOf(job.run);
    if (!isOther && saved.step <= job.firstStep)
      continue;
    try {
      checkSound(SafetensorsFile::open(saved.path));
    } catch (const Error &) {
      continue; // --resume skips it
    }
    if (isOther)
      throw Error(place + "checkpoints of another run than that of '" + job.checkpoint->path() +
                  "', such as '" + saved.path + "'" + advice);
    throw Error("'" + saved.path + "' was saved after step " + std::to_string(saved.step) +
                ", and this run goes on from step " + std::to_string(job.firstStep) +
                ": --resume would take it for this run's. Expected a folder without later checkpoints, or "
                "--resume " +
                saving.path + ", which goes on from it");
  }
}
