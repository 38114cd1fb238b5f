//===-- Devices.cpp - Plugins with our handlers in them ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/pjrt/Find.h"
#include "cgx/run/DeviceProgram.h"
#include "cgx/run/Error.h"

#include <dlfcn.h>

using namespace cgx::run;
using cgx::pjrt::Plugin;

namespace {

/// XLA's name of the platform of processors.
constexpr const char *kHostPlatform = "Host";

/// A function that programs call, and the handler of cgx/xla.h that answers.
struct Handler {
  const char *target, *symbol;
};
constexpr Handler kHandlers[] = {{"cgx_begin_step", "cgx_xla_begin_step"},
                                 {"cgx_collective", "cgx_xla_collective"},
                                 {"cgx_end_step", "cgx_xla_end_step"}};
constexpr const char *kLibraryFile = "libcgx_xla.so";

/// The library stays in memory to the end: plugins have its handlers.
class Loaded {
public:
  Loaded() : library_(::dlopen(kLibraryFile, RTLD_NOW | RTLD_LOCAL)) {
    if (!library_)
      throw lacking(::dlerror());
  }

  template <typename Entry> void take(const char *name, Entry &entry) const {
    entry = reinterpret_cast<Entry>(find(name));
  }

  void *find(const char *name) const {
    void *symbol = ::dlsym(library_, name);
    if (!symbol)
      throw lacking(::dlerror());
    return symbol;
  }

private:
  static Error lacking(const std::string &why) {
    return Error(std::string("--device needs ") + kLibraryFile + ", by which programs of XLA communicate (" +
                 why + "): it is in the wheel 'cgx', and in builds that find the headers of jaxlib " +
                 "(tools/setup --python)");
  }

  void *library_;
};

bool isPath(const std::string &device) { return device.find('/') != std::string::npos; }

} // namespace

Plugin cgx::run::openDevice(const std::string &device, XlaLibrary &library) {
  const Loaded loaded;
  loaded.take("cgx_xla_program_open", library.open);
  loaded.take("cgx_xla_program_close", library.close);
  loaded.take("cgx_xla_program_dispatch", library.dispatch);
  loaded.take("cgx_xla_program_visit", library.visit);
  loaded.take("cgx_xla_program_set_step", library.setStep);
  loaded.take("cgx_xla_last_error", library.lastError);
  try {
    Plugin plugin = Plugin::open(isPath(device) ? device : pjrt::findPlugin(device));
    if (!plugin.callsFunctions())
      throw Error("the plugin " + plugin.describe() +
                  " has no extension for foreign functions (FFI), by which steps communicate: take a newer "
                  "plugin for this device, or --device " +
                  kNativeDevice);
    for (const Handler &handler : kHandlers)
      plugin.registerHandler(handler.target, loaded.find(handler.symbol), kHostPlatform);
    return plugin;
  } catch (const pjrt::Error &error) {
    throw Error(std::string("--device: ") + error.what());
  }
}
