//===-- cgx.cpp - One command for all tools ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `cgx run ...` becomes `cgx-run ...`, the program beside this one. The tools are unchanged, and
// a user has to find only one command.
//
//===----------------------------------------------------------------------===//

#include "Doctor.h"
#include "Siblings.h"

#include "cgx/Cli/Program.h"
#include "cgx/Cli/Version.h"
#include "cgx/formats/Closest.h"

#include <cstdio>
#include <cstring>
#include <string>

using namespace cgx::front;

static void printHelp() {
  std::printf("cgx - makes the collectives of distributed training cheap\n\n"
              "Usage: cgx COMMAND [ARGUMENTS]\n\nCommands:\n");
  for (const Tool &tool : kTools)
    std::printf("  %-10s %s%s\n", tool.command, tool.summary,
                findSibling(programOf(tool)).empty() ? " (not installed)" : "");
  std::printf("  %-10s report on this machine: what jobs need, and the speed of a link between ranks\n",
              "doctor");
  std::printf("\nOptions:\n  -h,--help  Print this help; of a command: cgx COMMAND --help\n"
              "  --version  Print the version\n\n"
              "EXAMPLES\n"
              "  Compress the gradients of an exported step to 4 bits, and train with it on two ranks:\n"
              "    cgx opt step.mlir --cgx-compress=\"bits=4\" --cgx-report -o step.cgx.mlir\n"
              "    cgx run step.cgx.mlir --ranks 2 --state state.safetensors --data train.safetensors\n"
              "  What is missing here?\n"
              "    cgx doctor\n");
}

static int refuse(const std::string &command) {
  std::vector<std::string> commands = {"doctor"};
  for (const Tool &tool : kTools)
    commands.emplace_back(tool.command);
  const std::string meant = cgx::formats::closest(command, commands);
  std::fprintf(stderr, "cgx: error: expected a command, got '%s'%s (see --help)\n", command.c_str(),
               meant.empty() ? "" : (" (did you mean '" + meant + "'?)").c_str());
  return 2;
}

static int runTool(int argc, char **argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command.empty()) {
    std::fprintf(stderr, "cgx: error: expected a command (see --help)\n");
    return 2;
  }
  if (command == "--help" || command == "-h" || command == "help") {
    printHelp();
    return 0;
  }
  if (command == "--version") {
    std::printf("cgx %s\n", cgx::cli::version().c_str());
    return 0;
  }
  if (command == "doctor")
    return runDoctor(argc - 1, argv + 1);
  for (const Tool &tool : kTools)
    if (command == tool.command)
      return becomeSibling(programOf(tool), argv + 1);
  return refuse(command);
}

int main(int argc, char **argv) {
  return cgx::cli::runProgram("cgx", [&] { return runTool(argc, argv); });
}
