//===-- Doctor.cpp - What a machine has and lacks ---------------*- C++ -*-===//
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

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace cgx::front {

static const char *nameOf(Verdict verdict) {
  switch (verdict) {
  case Verdict::good:
    return "ok";
  case Verdict::absent:
    return "-";
  case Verdict::slow:
    return "warning";
  case Verdict::missing:
    return "MISSING";
  }
  return "";
}

static void print(const Finding &finding) {
  std::printf("%-8s %-14s %s\n", nameOf(finding.verdict), finding.subject.c_str(), finding.found.c_str());
  if (!finding.cure.empty())
    std::printf("%-8s %-14s -> %s\n", "", "", finding.cure.c_str());
}

/// How fast two ranks sum up 16 MiB, exactly and at 4 bits; false if they could not.
static bool measureLink() {
  if (findSibling("cgx-bench").empty())
    return true; // named among the tools
  std::printf("\nTwo ranks of this machine, over shared memory:\n");
  std::fflush(stdout);
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::string words[] = {"", "all-reduce", "--ranks", "2", "--sizes", "1MiB,16MiB", "--codec", "quantize"};
    std::vector<char *> arguments;
    for (std::string &word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::_exit(becomeSibling("cgx-bench", arguments.data()));
  }
  int status = -1;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int runDoctor(int argc, char **argv) {
  CLI::App app("cgx doctor - what this machine has and lacks for training, and how fast its ranks reach each "
               "other\n\nA line for each subject: ok, '-' (absent, and not needed by everybody), warning, or "
               "MISSING (ranks\nof this machine cannot train). Exits with 1 if something is MISSING.",
               "cgx doctor");
  bool quick = false;
  app.add_flag("--no-measure", quick, "Only look, do not measure (a few seconds less)");
  if (std::optional<int> status = cli::parse(app, argc, argv))
    return *status;
  std::vector<Finding> findings = {findProcessor(), findCores(),     findMemory(),      findSharedMemory(),
                                   findHugePages(), findOpenFiles(), findMpi(),         findTcp(),
                                   findGpu(),       findNccl(),      findConvolutions()};
  for (Finding &tool : findTools())
    findings.push_back(std::move(tool));
  for (const Finding &finding : findings)
    print(finding);
  bool canTrain = std::none_of(findings.begin(), findings.end(),
                               [](const Finding &f) { return f.verdict == Verdict::missing; });
  if (!quick && canTrain && !measureLink()) {
    std::printf("MISSING  two ranks cannot reach each other: the error above says why\n");
    canTrain = false;
  }
  return canTrain ? 0 : 1;
}

} // namespace cgx::front
