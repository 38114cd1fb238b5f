//===-- Destination.h - The file to which a path leads ----------*- C++ -*-===//
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
  Unreachable, ///< because of `reason`, an errno
  Descriptor,  ///< a descriptor that this process has open
  Device,      ///< a device, a pipe, ...: written in place
  Regular,     ///< a file that is replaced
  New          ///< a file that is created
};

struct Destination {
  Kind kind = Kind::Unreachable;
  std::string path; ///< after all links
  int descriptor = -1;
  int reason = 0;
};

/// Follows the links of `path`, the last of which may lead to a file that does not exist yet.
Destination resolve(const std::string &path);

/// Returns the folder of an entry: `.` for a bare name.
std::string folderOf(const std::string &path);

} // namespace cgx::output

#endif // CGX_RUNTIME_OUTPUT_DESTINATION_H
