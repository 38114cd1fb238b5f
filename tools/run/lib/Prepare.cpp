//===-- Prepare.cpp - Making a job from a command line ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/formats/TextFile.h"
#include "cgx/plan/Codec.h"
#include "cgx/plan/Error.h"
#include "cgx/plan/Plan.h"
#include "cgx/plan/Request.h"
#include "cgx/run/Agreement.h"
#include "cgx/run/Batches.h"
#include "cgx/run/Checkpoints.h"
#include "cgx/run/Error.h"
#include "cgx/run/Members.h"
#include "cgx/run/Options.h"
#include "cgx/run/TrainingCheck.h"
#include "cgx/run/TreePath.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

using namespace cgx::run;
namespace plan = cgx::plan;
using Json = nlohmann::json;

namespace {

/// Splits `NAME=VALUE` at the last sign, because a name may contain one and a value may not.
std::pair<std::string, std::string> splitAssignment(const std::string &text, const char *option) {
  size_t sign = text.rfind('=');
  if (sign == std::string::npos || sign == 0)
    throw Error(std::string("expected ") + option + " to be given as A=B, got '" + text + "'");
  return {text.substr(0, sign), text.substr(sign + 1)};
}

void checkRanks(const Manifest &manifest, const Options &options) {
  if (!options.ranks || *options.ranks == manifest.ranks)
    return;
  std::string mesh = manifest.meshString();
  throw Error("the program was exported for " +
              (mesh.empty() ? std::to_string(manifest.ranks) + " ranks"
                            : "a mesh of " + std::to_string(manifest.ranks) + " (" + mesh + ")") +
              ", got " + std::to_string(*options.ranks) + " ranks; cgx-opt --cgx-set-ranks=" +
              std::to_string(*options.ranks) + " makes a step for as many of it, where it is data-parallel");
}

void applyFeeds(Manifest &manifest, const std::vector<std::string> &feeds) {
  std::vector<TreePath> results = pathsOf(manifest.results), arguments = pathsOf(manifest.arguments);
  for (const std::string &text : feeds) {
    auto [result, argument] = splitAssignment(text, "--feed");
    size_t from = findPath(results, result, "result");
    if (argument.empty())
      manifest.feed(from, std::nullopt);
    else
      manifest.feed(from, findPath(arguments, argument, "argument"));
  }
}

std::vector<size_t> findStateArguments(const Manifest &manifest, const Bindings &bindings) {
  std::vector<bool> isState(manifest.arguments.size());
  for (size_t i = 0; i < isState.size(); ++i)
    isState[i] = bindings.arguments[i].source == Source::State;
  for (const Value &result : manifest.results)
    if (result.feeds)
      isState[*result.feeds] = true;
  std::vector<size_t> arguments;
  for (size_t i = 0; i < isState.size(); ++i)
    if (isState[i])
      arguments.push_back(i);
  return arguments;
}

/// Returns the number of batches in a pass over the data.
uint64_t batchesOf(const Options &options, const Bindings &bindings) {
  const uint64_t batch = bindings.globalBatch, samples = bindings.samples;
  return batch == 0 ? 0 : samples / batch + (options.padLast && samples % batch != 0);
}

/// Prints a note about samples that do not fill a batch and are never used.
void noteLeftOver(const Options &options, const Bindings &bindings, const char *whose = "") {
  const uint64_t left = bindings.globalBatch == 0 ? 0 : bindings.samples % bindings.globalBatch;
  if (left == 0 || options.quiet)
    return;
  const std::string batch = std::to_string(bindings.globalBatch),
                    which = options.shuffle ? ", others each time" : "";
  const std::string what = options.padLast
                               ? "the last batch of a pass has " + std::to_string(left) +
                                     " samples, and the first of the pass again"
                               : std::to_string(left) + " of " + std::to_string(bindings.samples) +
                                     " samples fill no batch of " + batch + " and are left out of each pass" +
                                     which + (*whose ? "" : " (--pad-last takes them)");
  std::fprintf(stderr, "cgx-run: note: %s%s\n", whose, what.c_str());
}

/// Returns the requested number of steps, or the number of batches.
uint64_t countSteps(const Options &options, const Bindings &bindings, uint64_t firstBatch) {
  uint64_t batch = bindings.globalBatch, batches = batchesOf(options, bindings);
  if (!options.steps && batch == 0 && !bindings.steps)
    throw Error("expected --steps, because no argument of the program takes batches of a data file");
  if (!options.steps && batch == 0)
    batches = *bindings.steps;
  if (!options.steps && batch != 0 && batches <= firstBatch && !options.resume.empty())
    return 0; // all steps are done
  if (!options.steps && batch != 0 && batches <= firstBatch)
    throw Error("'" + options.data + "' has " + std::to_string(bindings.samples) + " samples, which is " +
                std::to_string(batches) + " batches of " + std::to_string(batch) +
                ": none is left from step " + std::to_string(options.firstStep) + " on");
  uint64_t steps = options.steps.value_or(batches - std::min(batches, firstBatch)), last;
  if (__builtin_add_overflow(options.firstStep, steps, &last) || last > uint64_t{1} << 48)
    throw Error("expected fewer steps than 2^48, got " + std::to_string(steps));
  bool repeatable = options.repeat && batches > 0;
  const uint64_t lastBatch = firstBatch + steps;
  if (batch != 0 && lastBatch > batches && !repeatable)
    throw Error("'" + options.data + "' has " + std::to_string(bindings.samples) + " samples, but " +
                std::to_string(lastBatch) + " steps with a global batch of " + std::to_string(batch) +
                " take " + std::to_string(lastBatch * batch) +
                (batches > 0 ? ": --repeat starts over, --steps " +
                                   std::to_string(batches - std::min(batches, firstBatch)) + " ends before"
                             : ""));
  if (bindings.steps && last > *bindings.steps)
    throw Error("'" + options.data + "' has values for " + std::to_string(*bindings.steps) +
                " steps, but the run ends after step " + std::to_string(last) +
                ": expected one for each step, counted from step 0");
  return steps;
}

/// Returns true if the ranks that saved the file disagreed on its state.
bool isDisagreement(const SafetensorsFile &file) {
  return file.metadata().find("cgx.disagreement") != file.metadata().end();
}

void noteEarlierSteps(const Options &options, const InputFiles &files) {
  if (!files.state || options.firstStep != 0 || !options.resume.empty())
    return;
  if (isDisagreement(*files.state))
    std::fprintf(stderr,
                 "cgx-run: warning: '%s' was saved by a run whose ranks did not agree on their state\n",
                 options.state.c_str());
  auto entry = files.state->metadata().find("cgx.steps");
  if (entry != files.state->metadata().end())
    std::fprintf(stderr, "cgx-run: note: '%s' was saved after step %s; --first-step %s continues that run\n",
                 options.state.c_str(), entry->second.c_str(), entry->second.c_str());
}

/// Returns metadata that --save wrote about the run. Throws Error for a file that --save did not write.
const std::string &metadataOf(const SafetensorsFile &checkpoint, const std::string &name) {
  auto entry = checkpoint.metadata().find(name);
  if (entry == checkpoint.metadata().end())
    throw Error("'" + checkpoint.path() + "' has no '" + name +
                "': expected a file that cgx-run --save wrote");
  return entry->second;
}

uint64_t numberOf(const SafetensorsFile &checkpoint, const std::string &name) {
  const std::string &text = metadataOf(checkpoint, name);
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error("'" + checkpoint.path() + "': expected '" + name + "' to be a whole number, got '" + text +
                "'");
  return number;
}

/// Takes the step, the seed and the program from the checkpoint.
void resume(Options &options, const SafetensorsFile &checkpoint, const Manifest &manifest) {
  checkSound(checkpoint);
  options.firstStep = numberOf(checkpoint, "cgx.steps");
  uint64_t seed = numberOf(checkpoint, "cgx.seed");
  if (options.seed.value_or(seed) != seed)
    throw Error("'" + checkpoint.path() + "' was saved by a run with --seed " + std::to_string(seed) +
                ", got --seed " + std::to_string(*options.seed));
  options.seed = seed;
  const std::string &program = metadataOf(checkpoint, "cgx.program");
  if (program == manifest.hash || options.isHandedOn)
    return;
  // State is saved whole, so that other ranks, groups and codecs can split it anew.
  std::fprintf(
      stderr,
      "cgx-run: note: '%s' was saved by another program (%s, this one is %s): its state is cut for %u "
      "ranks\n",
      checkpoint.path().c_str(), program.c_str(), manifest.hash.c_str(), manifest.ranks);
}

/// Checks that the samples, and their order, are those of the checkpoint's run.
void checkSamples(const Job &job, const SafetensorsFile &checkpoint, bool isHandedOn) {
  const std::pair<const char *, const char *> said[] = {{"cgx.global_batch", "a global batch of "},
                                                        {"cgx.shuffle", "--shuffle "},
                                                        {"cgx.pad_last", "--pad-last "},
                                                        {"cgx.data", "data with digest "}};
  const Metadata now = describeSamples(job);
  for (const auto &[key, what] : said) {
    // A new number of ranks takes batches of another size, from the following sample on.
    if (std::string_view(key) == "cgx.global_batch" && (isHandedOn || !job.bindings.members.empty()))
      continue;
    const std::string &before = metadataOf(checkpoint, key);
    if (before != now.at(key))
      throw Error("'" + checkpoint.path() + "' was saved by a run with " + what + before + ", got " +
                  now.at(key) + ": it would not take the samples that follow; --state with --first-step " +
                  std::to_string(job.firstStep) + " starts from its tensors");
  }
}

/// Returns the number of the next batch. Where the number of ranks has changed, and the batch size with it,
/// the pass continues with the first batch that has no sample taken before.
uint64_t findFirstBatch(const Options &options, const Bindings &bindings, const SafetensorsFile *checkpoint) {
  if (!checkpoint || bindings.globalBatch == 0)
    return options.firstStep;
  const uint64_t taken = checkpoint->metadata().contains("cgx.batches") ? numberOf(*checkpoint, "cgx.batches")
                                                                        : options.firstStep;
  const uint64_t before = numberOf(*checkpoint, "cgx.global_batch");
  if ((bindings.members.empty() && !options.isHandedOn) || before == bindings.globalBatch || before == 0)
    return taken;
  const auto samplesOfPass = [&](uint64_t batch) {
    return Sampler(bindings.samples, batch, /*shuffle=*/false, /*seed=*/0, options.padLast).samplesOfPass();
  };
  const uint64_t batch = bindings.globalBatch, old = samplesOfPass(before), now = samplesOfPass(batch);
  if (old == 0 || now == 0 || taken > UINT64_MAX / before)
    return taken;
  const uint64_t pass = taken * before / old, inPass = (taken * before % old + batch - 1) / batch;
  return pass * (now / batch) + std::min(inPass, now / batch);
}

std::string readText(const std::string &path) {
  std::string text;
  if (std::string wrong = cgx::formats::readTextFile(path, text); !wrong.empty())
    throw Error("cannot read '" + path + "': " + wrong);
  return text;
}

/// Returns the plan of the options, or the one that was in force when the checkpoint was saved.
std::string findPlan(const Options &options, const SafetensorsFile *checkpoint) {
  if (!options.plan.empty())
    return readText(options.plan);
  if (!checkpoint)
    return "";
  auto entry = checkpoint->metadata().find("cgx.plan");
  return entry == checkpoint->metadata().end() ? "" : entry->second;
}

/// Returns which codecs are measured and changed. Errors in the options show before the first step.
Planning preparePlanning(const Options &options, const SafetensorsFile *checkpoint) {
  Planning planning;
  planning.plan = findPlan(options, checkpoint);
  planning.profile = !options.profile.empty();
  planning.profileSteps = options.profileSteps;
  planning.every = options.adaptEvery;
  planning.warmup = options.warmup;
  if (!options.learnLevels.empty())
    planning.levels = parseLevelLearning(options.learnLevels);
  try {
    for (const std::string &candidate : options.candidates)
      (void)plan::expandCodecLabel(plan::splitKind(candidate).second);
    if (!options.candidates.empty())
      planning.profileOptions = Json{{"candidates", options.candidates}}.dump();
    if (!options.adapt.empty()) {
      planning.request =
          Json{{"solver", options.adapt}, {"reference", options.references}, {"alpha", options.alpha}}.dump();
      (void)plan::Request::parse(planning.request);
    }
  } catch (const plan::Error &error) {
    throw Error(error.what());
  }
  return planning;
}

/// Throws Error for steps after the last one, which would have no effect.
void checkLevelSteps(const Job &job, const Options &options) {
  const uint64_t end = job.firstStep + job.steps;
  std::string late;
  for (uint64_t step : job.planning.levels.steps)
    if (step >= end)
      late += (late.empty() ? "" : ", ") + std::to_string(step);
  if (late.empty())
    return;
  if (job.planning.levels.steps.front() >= end)
    throw Error("--learn-levels: the last step is " + std::to_string(end - 1) +
                ", and levels are learned in steps " + late + " only");
  if (!options.quiet)
    std::fprintf(stderr, "cgx-run: note: no levels are learned in steps %s: the last step is %llu\n",
                 late.c_str(), static_cast<unsigned long long>(end - 1));
}

/// Throws Error for a plan of another program, before each rank finds that out by itself.
void checkPlan(const Job &job, const Options &options) {
  if (job.planning.plan.empty())
    return;
  std::set<std::pair<std::string, std::string>> compressed;
  for (const Collective &collective : job.manifest.collectives)
    for (const Operand &operand : collective.operands)
      if (operand.isPlannable)
        compressed.emplace(operand.layer, operand.kind);
  const std::string name =
      options.plan.empty() ? "the plan in '" + options.resume + "'" : "plan '" + options.plan + "'";
  std::vector<std::string> missing;
  size_t layers = 0;
  try {
    for (const plan::PlannedLayer &layer : plan::Plan::parse(job.planning.plan).layers) {
      ++layers;
      if (!compressed.contains({layer.layer, layer.kind}))
        missing.push_back("'" + layer.layer + "' (" + layer.kind + ")");
    }
  } catch (const plan::Error &error) {
    throw Error(name + ": " + error.what());
  }
  if (missing.empty())
    return;
  throw Error(name + " was made for another program: '" + options.program + "' compresses " +
              (missing.size() == layers ? "none" : std::to_string(layers - missing.size())) + " of its " +
              std::to_string(layers) + (layers == 1 ? " layer" : " layers") + ", and not " + missing.front() +
              "; cgx-run --profile with this program and cgx-plan solve make one for it");
}

/// Returns an identifier of the run, equal in all jobs that resume from its checkpoints.
std::string identify(const Job &job, const Options &options, const InputFiles &files) {
  if (job.checkpoint)
    return metadataOf(*job.checkpoint, "cgx.run");
  std::string text =
      job.manifest.hash + "\n" + std::to_string(job.seed) + "\n" + std::to_string(job.firstStep) + "\n";
  for (const auto &[key, value] : describeSamples(job))
    text += key + "=" + value + "\n";
  for (const std::vector<std::string> *list : {&options.feeds, &options.values})
    for (const std::string &entry : *list)
      text += entry + "\n";
  text += sampleOf(files.state ? &*files.state : nullptr);
  return std::to_string(hashBytes(std::as_bytes(std::span(text))));
}

} // namespace

void cgx::run::chooseData(Options &options) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string &path : options.dataFiles) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
      if (entry->path().extension() == ".safetensors")
        found.push_back(entry->path().string());
    if (error || found.empty())
      throw Error("there is no .safetensors file in '" + path + "'" + (error ? ": " + error.message() : ""));
    std::sort(found.begin(), found.end()); // a fixed order on all machines
    files.insert(files.end(), found.begin(), found.end());
  }
  options.dataFiles = std::move(files);
  if (!options.dataFiles.empty())
    options.data = options.dataFiles.front();
}

/// Adds the samples of the other files to those of the first, for each argument that takes samples.
static void addSamples(const Manifest &manifest, Bindings &bindings, const InputFiles &files) {
  std::vector<std::string> problems;
  std::vector<uint64_t> samples(files.moreData.size(), UINT64_MAX);
  for (size_t i = 0; i < bindings.arguments.size(); ++i) {
    Binding &binding = bindings.arguments[i];
    if (binding.source != Source::Data)
      continue;
    binding.parts = {*binding.tensor};
    for (size_t file = 0; file < files.moreData.size(); ++file) {
      const TensorView *more = files.moreData[file].find(binding.tensor->name);
      Shape expected = binding.tensor->shape;
      const std::string where = "'" + manifest.arguments[i].name + "': expected '" + binding.tensor->name +
                                "' in '" + files.moreData[file].path() + "' ";
      if (more && !more->shape.empty() && !expected.empty())
        expected[0] = more->shape[0];
      if (!more || more->shape != expected || more->type != binding.tensor->type)
        problems.push_back(where + "to be " + typeString(binding.tensor->type, expected) +
                           ", as in the first file, got " +
                           (more ? typeString(more->type, more->shape) : "nothing"));
      else if (samples[file] != UINT64_MAX && samples[file] != uint64_t(more->shape[0]))
        problems.push_back(where + "to have " + std::to_string(samples[file]) +
                           " samples, as the others, got " + std::to_string(more->shape[0]));
      else
        binding.parts.push_back(*more);
      if (more && !more->shape.empty() && samples[file] == UINT64_MAX)
        samples[file] = uint64_t(more->shape[0]);
    }
  }
  throwProblems("the files of --data do not fit together", problems);
  for (uint64_t count : samples)
    bindings.samples += count == UINT64_MAX ? 0 : count;
}

void cgx::run::chooseCheckpoint(Options &options) {
  if (options.resume.empty())
    return;
  const std::optional<std::string> found = findCheckpoint(options.resume);
  if (!found && options.state.empty())
    throw Error("there is no checkpoint in '" + options.resume +
                "': --state gives the state of a first start");
  if (found)
    options.state.clear();
  else if (!options.quiet) // the note tells a first start from a mistyped name
    std::fprintf(stderr, "cgx-run: note: '%s' holds no checkpoint yet: the run begins with '%s'\n",
                 options.resume.c_str(), options.state.c_str());
  options.resume = found.value_or("");
}

/// Returns where checkpoints are saved. A name that ends in a slash is a folder, even one that does not exist
/// yet.
static Saving prepareSaving(const Options &options) {
  namespace fs = std::filesystem;
  Saving saving{.path = options.save, .every = options.saveEvery, .keepLast = options.keepLast};
  std::error_code error;
  saving.isFolder = options.save.ends_with('/') || fs::is_directory(options.save, error);
  if (!saving.isFolder && (saving.keepLast != 0 || !options.keepBest.empty()))
    throw Error("expected --save to be a folder, for --keep-last and --keep-best, got '" + options.save +
                "'");
  if (!options.keepBest.empty())
    parseBest(options.keepBest, saving);
  return saving;
}

/// Throws Error before the first step if the metric does not exist.
static void checkBest(const Job &job) {
  std::string names;
  std::vector<std::string> known;
  for (const Scalars::Scalar &scalar : job.scalars.all)
    known.push_back(scalar.name);
  for (size_t i = 0; job.evaluation && i < job.evaluation->scalars.all.size(); ++i)
    known.push_back("eval." + job.evaluation->scalars.all[i].name);
  for (const std::string &name : known) {
    if (name == job.saving.best)
      return;
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!job.saving.best.empty())
    throw Error("expected --keep-best to name one of " + (names.empty() ? "no metrics" : names) + ", got '" +
                job.saving.best + "'");
}

InputFiles::InputFiles(const Options &options) {
  if (!options.state.empty())
    state = SafetensorsFile::open(options.state);
  if (!options.resume.empty())
    state = SafetensorsFile::open(options.resume);
  if (!options.data.empty())
    data = SafetensorsFile::open(options.data);
  for (size_t i = 1; i < options.dataFiles.size(); ++i)
    moreData.push_back(SafetensorsFile::open(options.dataFiles[i]));
}

Job cgx::run::prepareJob(Options options, const InputFiles &files, Program program) {
  Job job;
  job.manifest = Manifest::parse(program.manifest);
  job.program = std::move(program);
  checkRanks(job.manifest, options);
  if (!options.resume.empty()) {
    resume(options, *files.state, job.manifest);
    job.checkpoint = &*files.state;
    job.isOfAnotherProgram = metadataOf(*job.checkpoint, "cgx.program") != job.manifest.hash;
  }
  applyFeeds(job.manifest, options.feeds);
  checkFeeds(job.manifest);
  Inputs inputs;
  inputs.state = files.state ? &*files.state : nullptr;
  inputs.data = files.data ? &*files.data : nullptr;
  for (const std::string &value : options.values)
    inputs.values.push_back(splitAssignment(value, "--set"));
  if (!options.members.empty())
    inputs.members = parseMembers(options.members);
  if (options.isEvaluation) {
    inputs.dataOption = "--eval-data";
    inputs.valueOption = "--eval-set";
  }
  job.bindings = bindArguments(job.manifest, inputs);
  addSamples(job.manifest, job.bindings, files);
  job.scalars = findScalars(job.manifest);
  job.stateArguments = findStateArguments(job.manifest, job.bindings);
  if (options.until)
    options.steps = *options.until - std::min(*options.until, options.firstStep);
  job.firstBatch = findFirstBatch(options, job.bindings, job.checkpoint);
  job.steps = countSteps(options, job.bindings, job.firstBatch);
  noteLeftOver(options, job.bindings);
  if (trains(job.manifest)) { // an evaluation may use any part of the state
    noteEarlierSteps(options, files);
    for (const std::string &warning : job.bindings.warnings)
      std::fprintf(stderr, "cgx-run: warning: %s\n", warning.c_str());
  }
  if (!job.bindings.members.empty() && !options.isHandedOn)
    std::fprintf(stderr, "cgx-run: note: %s\n", describeMembers(job.bindings).c_str());
  job.transport = options.transport;
  job.seed = options.seed.value_or(0);
  job.timeoutMs = static_cast<uint32_t>(options.timeoutSeconds * 1000);
  job.firstStep = options.firstStep;
  job.shuffle = options.shuffle && job.bindings.globalBatch > 0;
  job.padLast = options.padLast;
  job.stopOnNan = options.stopOnNan;
  job.metrics = options.metrics;
  job.save = !options.save.empty();
  job.saving = prepareSaving(options);
  if (options.evaluate.empty())
    checkBest(job);
  std::string samples = sampleOf(inputs.data);
  for (const SafetensorsFile &more : files.moreData)
    samples += sampleOf(&more);
  job.dataDigest = std::to_string(hashBytes(std::as_bytes(std::span(samples))));
  if (job.checkpoint)
    checkSamples(job, *job.checkpoint, options.isHandedOn);
  job.run = identify(job, options, files);
  job.trace = !options.trace.empty();
  job.planning = preparePlanning(options, job.checkpoint);
  checkPlan(job, options);
  checkLevelSteps(job, options);
  bool plans = job.planning.adapts() || job.planning.profile || !job.planning.plan.empty();
  if (!options.quiet)
    for (const std::string &omission : describeOmissions(job.manifest, plans))
      std::fprintf(stderr, "cgx-run: note: %s\n", omission.c_str());
  job.quiet = options.quiet;
  job.showsProgress = !options.quiet && options.progress != "never";
  job.logEvery = options.logEvery;
  job.facts = listFacts(job, options, files);
  job.digest = digestOf(job.facts);
  return job;
}

/// Returns the training's argument that starts with the same tensor of the state.
static size_t findTrained(const Job &training, const Value &value, const Binding &binding) {
  for (size_t argument : training.stateArguments) {
    const Binding &first = training.bindings.arguments[argument];
    if (first.source != Source::State || first.tensor->name != binding.tensor->name)
      continue;
    const Value &trained = training.manifest.arguments[argument];
    if (trained.type != value.type || trained.shape != value.shape || trained.sharding != value.sharding)
      throw Error("--eval: '" + value.name + "': expected it to be cut over the ranks as the training does");
    return argument;
  }
  throw Error("--eval: '" + value.name + "' is none of the training's state");
}

/// Returns the values for an evaluation: its own, and those of the training for arguments that both have. The
/// steps of an evaluation are batches, so values that follow the training's steps are left out.
static std::vector<std::string> evaluationValues(const Options &options, const Manifest &manifest) {
  const std::vector<TreePath> arguments = pathsOf(manifest.arguments);
  std::vector<std::string> values = options.evaluateValues;
  std::set<size_t> given;
  for (const std::string &value : values)
    given.insert(findPath(arguments, splitAssignment(value, "--eval-set").first, "argument"));
  for (const std::string &text : options.values) {
    const auto [name, value] = splitAssignment(text, "--set");
    const std::optional<size_t> argument = findPathIfAny(arguments, name, "argument");
    if (!argument || given.contains(*argument))
      continue;
    if (StepValue::isMeant(value))
      throw Error("--set " + text +
                  " follows the steps of the training, and the evaluation has an argument '" +
                  manifest.arguments[*argument].name + "', too: give it a value of its own with --eval-set " +
                  name + "=VALUE");
    values.push_back(text);
  }
  return values;
}

void cgx::run::addEvaluation(Job &training, const Options &options, const InputFiles &files,
                             Program program) {
  Options own;
  own.program = options.evaluate;
  own.data = files.data ? files.data->path() : "";
  own.transport = options.transport;
  own.timeoutSeconds = options.timeoutSeconds;
  own.ranks = training.manifest.ranks;
  own.seed = training.seed;
  own.quiet = true;
  own.isEvaluation = true;
  std::shared_ptr<Job> job;
  try {
    own.values = evaluationValues(options, Manifest::parse(program.manifest));
    job = std::make_shared<Job>(prepareJob(own, files, std::move(program)));
  } catch (const Error &error) {
    throw Error("--eval '" + options.evaluate + "': " + error.what());
  }
  own.quiet = options.quiet;
  noteLeftOver(own, job->bindings, "--eval: ");
  if (trains(job->manifest))
    throw Error("expected --eval to be a program that feeds nothing back, got '" + options.evaluate + "'");
  for (size_t i = 0; i < job->bindings.arguments.size(); ++i)
    if (const Binding &binding = job->bindings.arguments[i]; binding.source == Source::State)
      training.evaluated.emplace_back(findTrained(training, job->manifest.arguments[i], binding), i);
  // The digest includes the evaluation, because the ranks' collectives match only if all ranks evaluate
  // alike.
  training.digest = hashBytes(std::as_bytes(std::span(job->manifest.hash)), training.digest ^ job->digest) +
                    options.evaluateEvery;
  training.facts.push_back({"--eval-every", "", std::to_string(options.evaluateEvery), /*follows=*/false});
  for (const Fact &fact : job->facts)
    if (fact.name.starts_with("--eval"))
      training.facts.push_back(fact);
    else if (fact.name == "--set")
      training.facts.push_back({"--eval-set", "", fact.shown, fact.follows});
  training.evaluateEvery = options.evaluateEvery;
  training.evaluation = std::move(job);
  checkBest(training);
}
