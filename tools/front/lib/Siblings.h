//===-- Siblings.h - The programs beside this one ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_FRONT_SIBLINGS_H
#define CGX_FRONT_SIBLINGS_H

#include <string>

namespace cgx::front {

struct Tool {
  const char *command; ///< `cgx COMMAND` runs the program cgx-COMMAND
  const char *summary;
  const char *program = nullptr; ///< the name of a program that is not cgx-COMMAND, by which it is listed too
};

inline constexpr Tool kTools[] = {
    {"opt", "read an exported step, rewrite its collectives, print it back"},
    {"compile", "a step to a shared library, ahead of time"},
    {"run", "train or evaluate a step on several ranks"},
    {"plan", "from a profile to a codec for each layer"},
    {"bench", "how fast codecs and collectives are, and would be"},
    {"curves", "tables and drawings from the reports of runs"},
    {"plot", "the same: cgx plot --png loss.png run=report.json", "cgx-curves"},
};

inline std::string programOf(const Tool &tool) {
  return tool.program ? tool.program : std::string("cgx-") + tool.command;
}

/// Returns the path of a program that lies beside this one; empty if there is none.
std::string findSibling(const std::string &program);

/// Replaces this process by that program; its name replaces arguments[0]. Returns only on failure: the exit
/// status 127, after printing the reason to standard error.
int becomeSibling(const std::string &program, char **arguments);

} // namespace cgx::front

#endif // CGX_FRONT_SIBLINGS_H
