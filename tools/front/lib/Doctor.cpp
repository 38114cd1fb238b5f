//===-- Doctor.cpp - Report about a machine ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Doctor.h"

#include "Findings.h"
#include "Siblings.h"

#include "cgx/Cli/CommandLine.h"
#include "cgx/Cli/Version.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace cgx::front {

using Json = nlohmann::ordered_json;

namespace {

/// The name of a verdict, in the text for people and in JSON.
struct Word {
  const char *shown, *key;
};

Word wordOf(Verdict verdict) {
  switch (verdict) {
  case Verdict::good:
    return {"ok", "ok"};
  case Verdict::absent:
    return {"-", "absent"};
  case Verdict::slow:
    return {"warning", "warning"};
  case Verdict::missing:
    return {"MISSING", "missing"};
  }
  return {"", ""};
}

/// The result of two ranks that summed 1 and 16 MiB, uncompressed and with 4 bits.
struct Link {
  bool works = false;
  std::string report; ///< the JSON of cgx-bench; empty if it printed a table
};

void print(const Finding &finding) {
  std::printf("%-8s %-14s %s\n", wordOf(finding.verdict).shown, finding.subject.c_str(),
              finding.found.c_str());
  if (!finding.cure.empty())
    std::printf("%-8s %-14s -> %s\n", "", "", finding.cure.c_str());
}

/// Returns everything that can be read from the file descriptor.
std::string readAll(int from) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t count; (count = ::read(from, part.data(), part.size())) != 0;)
    if (count > 0)
      text.append(part.data(), size_t(count));
    else if (errno != EINTR)
      break;
  return text;
}

/// Measures with cgx-bench, which lies beside this program, and returns JSON for a program or prints a table.
Link measureLink(bool forProgram) {
  std::array<int, 2> ends = {-1, -1};
  if (forProgram && ::pipe(ends.data()) != 0)
    return {};
  std::fflush(stdout);
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::vector<std::string> words = {"",        "all-reduce", "--ranks", "2",
                                      "--sizes", "1MiB,16MiB", "--codec", "quantize"};
    if (forProgram) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      words.insert(words.end(), {"--json", "-"});
    }
    std::vector<char *> arguments;
    for (std::string &word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::_exit(becomeSibling("cgx-bench", arguments.data()));
  }
  Link link;
  if (forProgram) {
    ::close(ends[1]);
    link.report = readAll(ends[0]);
    ::close(ends[0]);
  }
  int status = -1;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  link.works = pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return link;
}

/// Returns the findings as JSON. `link` is null where nothing was measured.
Json toJson(const std::vector<Finding> &findings, bool canTrain, const Json &link) {
  Json subjects = Json::object();
  for (const Finding &finding : findings)
    subjects[finding.subject] = {{"verdict", wordOf(finding.verdict).key},
                                 {"found", finding.found},
                                 {"cure", finding.cure.empty() ? Json() : Json(finding.cure)}};
  return {{"cgx_doctor", 1},
          {"version", cli::version()},
          {"can_train", canTrain},
          {"findings", subjects},
          {"link", link}};
}

} // namespace

int runDoctor(int argc, char **argv) {
  CLI::App app("cgx doctor - what this machine has and lacks for training, and how fast its ranks reach each "
               "other\n\nA line for each subject: ok, '-' (absent, and not needed by everybody), warning, or "
               "MISSING (ranks\nof this machine cannot train). Exits with 1 if something is MISSING.",
               "cgx doctor");
  bool quick = false, asJson = false;
  app.add_flag("--no-measure", quick, "Only look, do not measure (a few seconds less)");
  app.add_flag("--json", asJson, "The same as JSON, for a program: its keys are in docs/files.md");
  if (std::optional<int> status = cli::parse(app, argc, argv))
    return *status;
  std::vector<Finding> findings = {findProcessor(), findCores(),     findMemory(),      findSharedMemory(),
                                   findHugePages(), findOpenFiles(), findMpi(),         findTcp(),
                                   findGpu(),       findNccl(),      findConvolutions()};
#ifdef CGX_FRONT_HAS_PJRT
  findings.push_back(findDevices());
#endif
  for (Finding &tool : findTools())
    findings.push_back(std::move(tool));
  bool canTrain = std::none_of(findings.begin(), findings.end(),
                               [](const Finding &f) { return f.verdict == Verdict::missing; });
  if (!asJson)
    for (const Finding &finding : findings)
      print(finding);
  Json measured;
  // If cgx-bench is missing, the list of tools says so.
  if (!quick && canTrain && !findSibling("cgx-bench").empty()) {
    if (!asJson)
      std::printf("\nTwo ranks of this machine, over shared memory:\n");
    const Link link = measureLink(asJson);
    measured = Json::parse(link.report, nullptr, /*allow_exceptions=*/false);
    if (measured.is_discarded())
      measured = Json();
    canTrain = link.works;
    if (!link.works)
      std::fprintf(asJson ? stderr : stdout,
                   "MISSING  two ranks cannot reach each other: the error above says why\n");
  }
  if (asJson)
    std::printf("%s\n", toJson(findings, canTrain, measured)
                            .dump(1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace)
                            .c_str());
  return canTrain ? 0 : 1;
}

} // namespace cgx::front
