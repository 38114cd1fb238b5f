//===-- Destination.h - What a path leads to --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_OUTPUT_DESTINATION_H
#define CGX_RUNTIME_OUTPUT_DESTINATION_H

#include <string>

namespace cgx::output {

enum class Kind {
  Unreachable, ///< for `reason`, an errno
  Descriptor,  ///< one that this process has open
  Device,      ///< or a pipe, ...: written to in place
  Regular,     ///< replaced
  New          ///< created
};

struct Destination {
  Kind kind = Kind::Unreachable;
  std::string path; ///< behind all links
  int descriptor = -1;
  int reason = 0;
};

/// Follows the links of `path`, of which the last may lead to what is not there yet.
Destination resolve(const std::string &path);

/// The folder that has the entry: `.` for a bare name.
std::string folderOf(const std::string &path);

} // namespace cgx::output

#endif // CGX_RUNTIME_OUTPUT_DESTINATION_H
