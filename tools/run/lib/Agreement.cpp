//===-- Agreement.cpp - Facts that all ranks have in common -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Agreement.h"

#include "cgx/run/DeviceProgram.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <unistd.h>

using namespace cgx::run;
using Json = nlohmann::json;

namespace {

constexpr const char *kNotGiven = "not given";

std::string quoted(const std::string &text) { return "'" + text + "'"; }

std::string joined(const std::vector<std::string> &entries) {
  std::string text;
  for (const std::string &entry : entries)
    text += (text.empty() ? "" : " and ") + quoted(entry);
  return text;
}

/// Returns the name and some digits of a hash, by which a user tells two files apart.
std::string withDigest(const std::string &path, const std::string &content) {
  char digest[17];
  std::snprintf(digest, sizeof digest, "%016llx",
                static_cast<unsigned long long>(hashBytes(std::as_bytes(std::span(content)))));
  return (path.empty() ? "" : quoted(path) + " ") + "(" + std::string(digest, 8) + ")";
}

/// The facts in the order in which they are added. A fact without text was not given.
class Facts {
public:
  /// Adds a fact that is compared: ranks that differ in it are rejected.
  void count(const char *name, std::string text) { add(name, text, text, /*follows=*/false); }
  /// Adds a file. Its content is compared, not its path, which may differ from host to host.
  void countFile(const char *name, const std::string &path, const std::string &content) {
    add(name, content, content.empty() ? "" : withDigest(path, content), /*follows=*/false);
  }
  /// Adds a fact that is compared and follows from other facts.
  void countWhatFollows(const char *name, std::string text) { add(name, text, text, /*follows=*/true); }
  /// Adds a fact that can explain a difference between others. It is shown, and not compared.
  void name(const char *name, std::string text) { add(name, "", text, /*follows=*/false); }

  std::vector<Fact> facts;

private:
  void add(const char *name, std::string counted, const std::string &shown, bool follows) {
    facts.push_back({name, std::move(counted), shown.empty() ? kNotGiven : shown, follows});
  }
};

std::string hostName() {
  std::array<char, 256> name = {};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

struct Teller {
  std::string host;
  std::vector<Fact> facts;
};

std::string write(const Job &job) {
  Json facts = Json::array();
  for (const Fact &fact : job.facts)
    facts.push_back({fact.name, fact.shown, fact.follows});
  return Json{{"host", hostName()}, {"facts", facts}}.dump(-1, ' ', true, Json::error_handler_t::replace);
}

/// Parses the text of another process of the job, which may be of another build. Throws nlohmann's
/// exceptions.
Teller read(const std::string &text) {
  const Json root = Json::parse(text);
  Teller teller{root.at("host"), {}};
  for (const Json &fact : root.at("facts"))
    teller.facts.push_back({fact.at(0), "", fact.at(1), fact.at(2)});
  return teller;
}

/// Returns the text of each rank, of any length. The result is empty where the ranks do not find each other.
std::vector<std::string> gatherTexts(cgx_context *context, uint32_t ranks, const std::string &own) {
  std::vector<uint64_t> lengths(ranks);
  const uint64_t length = own.size();
  const auto takeLength = [](void *user, uint32_t rank, const void *data, uint64_t bytes) {
    std::memcpy(&(*static_cast<std::vector<uint64_t> *>(user))[rank], data, bytes);
  };
  if (cgx_context_all_gather(context, &length, sizeof length, takeLength, &lengths) != CGX_OK)
    return {};
  std::string padded = own;
  padded.resize(*std::max_element(lengths.begin(), lengths.end()));
  std::vector<std::string> texts(ranks);
  const auto takeText = [](void *user, uint32_t rank, const void *data, uint64_t bytes) {
    (*static_cast<std::vector<std::string> *>(user))[rank].assign(static_cast<const char *>(data), bytes);
  };
  if (cgx_context_all_gather(context, padded.data(), padded.size(), takeText, &texts) != CGX_OK)
    return {};
  for (uint32_t rank = 0; rank < ranks; ++rank)
    texts[rank].resize(lengths[rank]);
  return texts;
}

/// Returns values with the ranks that have them: "5 on ranks 0 and 2; 6 on rank 1".
std::string byValue(const std::vector<std::string> &values) {
  std::vector<std::pair<std::string, std::vector<size_t>>> holders;
  for (size_t rank = 0; rank < values.size(); ++rank) {
    auto same = std::find_if(holders.begin(), holders.end(),
                             [&](const auto &holder) { return holder.first == values[rank]; });
    if (same == holders.end())
      same = holders.insert(holders.end(), {values[rank], {}});
    same->second.push_back(rank);
  }
  std::string text;
  for (const auto &[value, ranks] : holders) {
    text += (text.empty() ? "" : "; ") + value + (ranks.size() == 1 ? " on rank " : " on ranks ");
    for (size_t i = 0; i < ranks.size(); ++i)
      text += (i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ") + std::to_string(ranks[i]);
  }
  return text;
}

} // namespace

std::string cgx::run::sampleOf(const SafetensorsFile *file) {
  constexpr size_t sample = size_t{1} << 16;
  std::string text;
  for (const TensorView &tensor : file ? file->tensors() : std::vector<TensorView>()) {
    const size_t count = std::min(sample, tensor.bytes.size());
    text += tensor.name + typeString(tensor.type, tensor.shape) +
            std::to_string(hashBytes(tensor.bytes.first(count))) +
            std::to_string(hashBytes(tensor.bytes.last(count))) + "\n";
  }
  return text;
}

std::vector<Fact> cgx::run::listFacts(const Job &job, const Options &options, const InputFiles &files) {
  Facts facts;
  const auto given = [](const std::string &text) { return text.empty() ? text : quoted(text); };
  const auto flag = [](bool isGiven) { return std::string(isGiven ? "given" : ""); };
  const auto number = [](uint64_t value) { return std::to_string(value); };
  const auto numberIf = [](const auto &value) { return value ? std::to_string(*value) : std::string(); };
  facts.name("--compress", options.compress ? quoted(*options.compress) : "");
  facts.name("--local-steps", options.localSteps ? quoted(*options.localSteps) : "");
  facts.name("--steps", numberIf(options.steps));
  facts.name("--until", numberIf(options.until));
  facts.countWhatFollows("the first step", number(job.firstStep));
  facts.countWhatFollows("the number of steps", number(job.steps));
  // Devices round otherwise, each in its way: what ranks hold alike would differ.
  facts.count("--device", job.program.device ? job.program.device->plugin.version() : "");
  facts.count("--seed", number(job.seed));
  facts.count("--shuffle", flag(job.shuffle));
  facts.count("--pad-last", flag(job.padLast));
  facts.count("--stop-on-nan", flag(job.stopOnNan));
  facts.count("--set", joined(options.values));
  facts.count("--feed", joined(options.feeds));
  facts.count("--members", given(options.members));
  facts.count("--save", flag(job.save)); // only rank 0 uses the path
  facts.count("--save-every", job.saving.every == 0 ? "" : number(job.saving.every));
  facts.count("--trace", flag(job.trace));
  facts.count("--profile", flag(job.planning.profile));
  facts.count("--candidate", joined(options.candidates));
  facts.count("--profile-steps", number(job.planning.profileSteps));
  facts.name("--adapt", given(options.adapt));
  facts.name("--alpha", std::to_string(options.alpha));
  facts.name("--reference", joined(options.references));
  facts.countWhatFollows("the request for plans", job.planning.request);
  facts.count("--adapt-every", number(job.planning.every));
  facts.count("--warmup", number(job.planning.warmup));
  facts.count("--learn-levels", given(job.planning.levels.options));
  facts.countFile("the plan", options.plan, job.planning.plan);
  facts.countFile("the state", options.resume.empty() ? options.state : options.resume,
                  sampleOf(files.state ? &*files.state : nullptr));
  facts.countFile(options.isEvaluation ? "--eval-data" : "--data", options.data,
                  files.data ? job.dataDigest : "");
  // The runtime compares programs itself, and what differs in them follows from the options that made them.
  facts.facts.push_back({options.isEvaluation ? "--eval" : "the program", "",
                         withDigest(options.program, job.manifest.hash), /*follows=*/true});
  return std::move(facts.facts);
}

uint64_t cgx::run::digestOf(const std::vector<Fact> &facts) {
  std::string text;
  for (const Fact &fact : facts)
    text += fact.counted + "\n";
  return hashBytes(std::as_bytes(std::span(text)));
}

std::string cgx::run::describeDifferences(const std::vector<std::vector<Fact>> &byRank) {
  std::vector<std::string> names;
  std::string given, following;
  for (const std::vector<Fact> &facts : byRank)
    for (const Fact &fact : facts) {
      if (std::find(names.begin(), names.end(), fact.name) != names.end())
        continue;
      names.push_back(fact.name);
      std::vector<std::string> values;
      for (const std::vector<Fact> &others : byRank) {
        const auto found = std::find_if(others.begin(), others.end(),
                                        [&](const Fact &other) { return other.name == fact.name; });
        values.push_back(found == others.end() ? kNotGiven : found->shown);
      }
      if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end())
        continue;
      std::string &text = fact.follows ? following : given;
      text += (text.empty() ? "" : ", and ") + fact.name + " is " + byValue(values);
    }
  return given.empty() ? following : given;
}

std::string cgx::run::explainMismatch(const Job &job, const std::string &name, uint32_t rank,
                                      const std::string &refusal) {
  // The runtime rejects all ranks at about the same time, so none of them has to wait long for the others.
  constexpr uint32_t kLongestWaitMs = 10000;
  const std::string meeting = name + "-facts";
  cgx_context_config config = CGX_CONTEXT_CONFIG_INIT;
  config.transport = job.transport.c_str();
  config.job = meeting.c_str();
  config.rank = rank;
  config.ranks = job.manifest.ranks;
  config.timeout_ms = std::min(job.timeoutMs, kLongestWaitMs);
  cgx_context *created = nullptr;
  if (cgx_context_create(&config, &created) != CGX_OK)
    return refusal;
  const std::unique_ptr<cgx_context, decltype(&cgx_context_destroy)> context(created, cgx_context_destroy);
  std::vector<Teller> tellers;
  std::vector<std::vector<Fact>> facts;
  try {
    for (const std::string &text : gatherTexts(context.get(), job.manifest.ranks, write(job))) {
      tellers.push_back(read(text));
      facts.push_back(tellers.back().facts);
    }
  } catch (const Json::exception &) {
    return refusal; // the other rank is of a build with another format
  }
  const std::string differences = describeDifferences(facts);
  if (differences.empty())
    return refusal;
  const std::string what = "mismatch: ranks were started with other options or inputs: ";
  for (uint32_t other = 0; other < rank; ++other)
    if (tellers[other].host == tellers[rank].host)
      return what + "rank " + std::to_string(other) + " says which";
  return what + differences + ": give all ranks the same";
}
