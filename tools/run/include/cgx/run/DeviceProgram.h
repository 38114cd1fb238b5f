//===-- cgx/run/DeviceProgram.h - A step for a device -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step on a device, as the process that starts ranks knows it: the plugin, with our handlers in it, and the
// text that each rank has its own device compile. Nothing of it runs before ranks are processes of their own.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_DEVICEPROGRAM_H
#define CGX_RUN_DEVICEPROGRAM_H

#include "cgx/pjrt/Plugin.h"
#include "cgx/xla.h"

#include <memory>
#include <string>

namespace cgx::run {

/// The functions of libcgx_xla.so, by which programs of XLA communicate.
struct XlaLibrary {
  decltype(&cgx_xla_program_open) open;
  decltype(&cgx_xla_program_close) close;
  decltype(&cgx_xla_program_dispatch) dispatch;
  decltype(&cgx_xla_program_visit) visit;
  decltype(&cgx_xla_program_set_step) setStep;
  decltype(&cgx_xla_last_error) lastError;
};

struct DeviceProgram {
  pjrt::Plugin plugin;
  XlaLibrary library;
  std::string text; ///< StableHLO; its last argument is the number of the rank
  std::string name; ///< what the text calls itself to the library
};

/// The name of --device that is no device: steps are compiled to native code.
inline constexpr const char *kNativeDevice = "native";

/// The one platform of plugins that steps run on: what others need, from a stream for collectives to memory
/// that is pinned, has not been tried.
inline constexpr const char *kDevicePlatform = "cpu";

/// Opens the plugin that --device means, a name or a path, and registers our handlers with it. Throws Error.
pjrt::Plugin openDevice(const std::string &device, XlaLibrary &library);

} // namespace cgx::run

#endif // CGX_RUN_DEVICEPROGRAM_H
