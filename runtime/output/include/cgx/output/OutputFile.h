//===-- OutputFile.h - Where what a tool writes goes ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One home for every file that a tool writes:
//
// - `-` is standard output, and so are /dev/stdout and /dev/fd/1: its descriptor, at
//   its own position.
// - Symbolic links are followed to their end. A link stays a link, also one whose target
//   is not there yet.
// - A regular file, and one that is not there yet, is replaced as a whole: readers see
//   the old bytes or all new ones, also after a crash. It keeps its permissions.
// - What is anything else (a device, a pipe) is written to and never replaced.
//
// The new file has no name until it is whole, where the file system can do that, so
// that nothing stays behind whatever ends the process. Elsewhere it has one beside the
// target, made with O_EXCL and O_NOFOLLOW, which a signal that ends the process removes.
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

/// What a new file may be used for; the process's umask takes from it, except from what is private: that is
/// for this program to find again.
enum class FileMode : unsigned { Data = 0666, Program = 0777, Private = 0600 };

/// Writes `pieces`, one behind the other. Returns what went wrong, with the path; empty on success.
[[nodiscard]] std::string writeOutput(const std::string &path,
                                      std::span<const std::span<const std::byte>> pieces,
                                      FileMode mode = FileMode::Data);
[[nodiscard]] std::string writeOutput(const std::string &path, std::string_view text,
                                      FileMode mode = FileMode::Data);

/// Appends to a file, pipe or device that the caller has opened. Returns what went wrong, with the path; a
/// reader that has gone is an error and no signal.
[[nodiscard]] std::string appendOutput(int descriptor, const std::string &path, std::string_view text);

/// Whether writeOutput could begin: what would go wrong, for tools that work for long before they write.
/// Changes nothing.
[[nodiscard]] std::string checkOutput(const std::string &path);

/// Whether it is where a tool prints: then only one thing may be written there. No output (an empty path) is
/// not.
bool isStandardOutput(const std::string &path);

/// Whether two outputs would replace one file, of which only the later stayed. What is written in place (a
/// pipe, a device) may have both.
bool isSameFile(const std::string &path, const std::string &other);

/// Where a tool that writes these files prints what people read: standard output, unless a file is that.
std::FILE *streamBeside(std::span<const std::string> outputs);

/// For signal handlers that end the process without the default action: removes what is not whole yet.
void removeUnfinishedOutput() noexcept;

} // namespace cgx

#endif // CGX_OUTPUT_OUTPUTFILE_H
