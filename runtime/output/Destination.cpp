//===-- Destination.cpp - The file to which a path leads --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Destination.h"

#include <cerrno>
#include <charconv>
#include <climits>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

using namespace cgx::output;

namespace {

/// The number of links that the kernel follows.
constexpr int kMostLinks = 40;

/// Returns the descriptor for which an entry of /proc/self/fd stands. If a regular file were opened by that
/// path, it would be written from its beginning, and not from the current position of the process or its
/// shell.
std::optional<int> descriptorOf(std::string_view path) {
  for (const std::string &folder : {std::string("/proc/self/fd/"),
                                    "/proc/" + std::to_string(::getpid()) + "/fd/", std::string("/dev/fd/")})
    if (path.starts_with(folder)) {
      const std::string_view digits = path.substr(folder.size());
      int descriptor = -1;
      auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), descriptor);
      if (error == std::errc() && end == digits.data() + digits.size() && descriptor >= 0)
        return descriptor;
    }
  return std::nullopt;
}

Destination unreachable(int reason) { return {.reason = reason}; }

std::optional<std::string> readLink(const std::string &path) {
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  if (length < 0 || length == sizeof target)
    return std::nullopt;
  return std::string(target, static_cast<size_t>(length));
}

/// Returns true if somebody else may have put the file into a folder in which all may write, such as /tmp, so
/// that its link redirects the output, or the owner gets the file that replaces it. The kernel rejects such
/// files too if fs.protected_symlinks, fs.protected_fifos and fs.protected_regular are set, but here links
/// are followed without the kernel.
bool isPlanted(const std::string &path, const struct stat &status) {
  struct stat folder;
  return status.st_uid != ::geteuid() && ::stat(folderOf(path).c_str(), &folder) == 0 &&
         (folder.st_mode & S_ISVTX) && (folder.st_mode & S_IWOTH) && status.st_uid != folder.st_uid;
}

} // namespace

std::string cgx::output::folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

Destination cgx::output::resolve(const std::string &given) {
  if (given == "-")
    return {.kind = Kind::Descriptor, .descriptor = STDOUT_FILENO};
  std::string path = given;
  for (int links = 0; links <= kMostLinks; ++links) {
    if (std::optional<int> descriptor = descriptorOf(path))
      return {.kind = Kind::Descriptor, .descriptor = *descriptor};
    struct stat status;
    if (path.empty() || path.back() == '/' || path.size() >= PATH_MAX)
      return unreachable(path.empty() ? ENOENT : path.back() == '/' ? EISDIR : ENAMETOOLONG);
    if (::lstat(path.c_str(), &status) != 0)
      return errno == ENOENT ? Destination{.kind = Kind::New, .path = path} : unreachable(errno);
    if (S_ISDIR(status.st_mode))
      return unreachable(EISDIR);
    if (isPlanted(path, status))
      return unreachable(EACCES);
    if (!S_ISLNK(status.st_mode))
      return {.kind = S_ISREG(status.st_mode) ? Kind::Regular : Kind::Device, .path = path};
    const std::optional<std::string> target = readLink(path);
    if (!target)
      return unreachable(errno);
    path = target->starts_with('/') ? *target : folderOf(path) + "/" + *target;
  }
  return unreachable(ELOOP);
}
