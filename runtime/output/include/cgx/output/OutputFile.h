//===-- OutputFile.h - Writes output files ----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every file that a tool writes is written here:
//
// - `-` is standard output, and so are /dev/stdout and /dev/fd/1: its descriptor, at
//   its own position.
// - Symbolic links are followed to their end. A link stays a link, also one whose target
//   is not there yet.
// - A regular file, and one that is not there yet, is replaced as a whole: readers see
//   the old bytes or all new ones, also after a crash. It keeps its permissions.
// - What is anything else (a device, a pipe) is written to and never replaced.
//
// Where the file system supports it, the new file has no name until it is complete, so that nothing is left
// over however the process ends. Elsewhere it has a name beside the target, created with O_EXCL and
// O_NOFOLLOW, and a signal that ends the process removes it.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_OUTPUT_OUTPUTFILE_H
#define CGX_OUTPUT_OUTPUTFILE_H

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace cgx {

/// The permissions of a new file. The process's umask reduces them, except for private files, which this
/// program must find again.
enum class FileMode : unsigned { Data = 0666, Program = 0777, Private = 0600 };

/// Writes `pieces` one after the other. Returns what went wrong, with the path; empty on success.
[[nodiscard]] std::string writeOutput(const std::string &path,
                                      std::span<const std::span<const std::byte>> pieces,
                                      FileMode mode = FileMode::Data);
[[nodiscard]] std::string writeOutput(const std::string &path, std::string_view text,
                                      FileMode mode = FileMode::Data);

/// Appends to a file, pipe or device that the caller has opened. Returns what went wrong, with the path; a
/// reader that has gone is an error and raises no signal.
[[nodiscard]] std::string appendOutput(int descriptor, const std::string &path, std::string_view text);

/// Returns what would go wrong with writeOutput, for tools that work for long before they write. Changes
/// nothing.
[[nodiscard]] std::string checkOutput(const std::string &path);

/// Returns true if the path is standard output, to which only one thing may be written. An empty path (no
/// output) is not.
bool isStandardOutput(const std::string &path);

/// Returns true if two outputs would replace one file, so that only the later would stay. Pipes and devices,
/// which are written in place, may have both.
bool isSameFile(const std::string &path, const std::string &other);

/// Returns the stream on which a tool that writes these files prints text for people: standard output, unless
/// a file uses it.
std::FILE *streamBeside(std::span<const std::string> outputs);

/// Removes unfinished files, for signal handlers that end the process without the default action.
void removeUnfinishedOutput() noexcept;

} // namespace cgx

#endif // CGX_OUTPUT_OUTPUTFILE_H
