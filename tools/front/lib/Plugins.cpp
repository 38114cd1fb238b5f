//===-- Plugins.cpp - Devices of PJRT plugins -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Findings.h"

#include "cgx/pjrt/Find.h"
#include "cgx/pjrt/Plugin.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace cgx::front {

namespace {

std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// The exit status of a process whose plugin has no device.
constexpr int kNoDevice = 2;

/// Returns version, devices and extensions, or why there are none: then `status` is kNoDevice.
std::string describe(const std::string &path, int &status) {
  try {
    const pjrt::Plugin plugin = pjrt::Plugin::open(path);
    const pjrt::Device device(plugin);
    const std::vector<std::string> kinds = device.kinds();
    return plugin.describe() + ": " + std::to_string(kinds.size()) + " x " + kinds.front() + ", platform " +
           device.platform() + ", with " + joined(plugin.extensions()) +
           (plugin.callsFunctions() ? "" : ", and without FFI, which --device needs");
  } catch (const pjrt::Error &error) {
    status = kNoDevice;
    return error.what();
  }
}

/// Asks in a process of its own: a plugin starts threads, and ends its process where it lacks
/// something.
std::string askPlugin(const std::string &path, bool &hasDevice) {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe(ends.data()) != 0)
    return "'" + path + "': " + std::strerror(errno);
  const pid_t pid = ::fork();
  if (pid == 0) {
    int status = 0;
    const std::string text = describe(path, status);
    const bool isSaid = ::write(ends[1], text.data(), text.size()) == ssize_t(text.size());
    ::_exit(isSaid ? status : 1);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t count; pid > 0 && (count = ::read(ends[0], part.data(), part.size())) != 0;)
    if (count > 0)
      text.append(part.data(), size_t(count));
    else if (errno != EINTR)
      break;
  ::close(ends[0]);
  int status = 0;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  hasDevice = hasDevice || (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  if (WIFSIGNALED(status))
    return "'" + path + "' ended its process with signal " + std::to_string(WTERMSIG(status));
  return text.empty() ? "'" + path + "' says nothing" : text;
}

} // namespace

Finding findDevices() {
  const std::string cure = "for cgx-run --device install one (docs/devices.md)";
  std::string found;
  bool hasDevice = false;
  for (const std::string &path : pjrt::findPlugins())
    found += (found.empty() ? "" : "; ") + askPlugin(path, hasDevice);
  if (hasDevice)
    return {Verdict::good, "devices", found, ""};
  if (!found.empty())
    return {Verdict::absent, "devices", found, cure};
  return {Verdict::absent, "devices",
          std::string("no PJRT plugin in ") + pjrt::kPluginVariable +
              " or the packages of the Python environment that is active",
          cure};
}

} // namespace cgx::front
