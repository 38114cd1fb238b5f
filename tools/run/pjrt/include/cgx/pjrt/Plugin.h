//===-- cgx/pjrt/Plugin.h - A library that brings devices -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A PJRT plugin is one shared library with a compiler and a device of its vendor behind a C API. The classes
// here own what they are given, await events, and throw pjrt::Error with the plugin's words.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PJRT_PLUGIN_H
#define CGX_PJRT_PLUGIN_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cgx::pjrt {

namespace abi {
struct Table;
struct ForeignFunctions;
} // namespace abi

class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A plugin that is loaded. It stays in memory to the end of the process: its threads do.
class Plugin {
public:
  /// Loads a plugin. Throws Error where the file is none for this machine, or of another major version.
  static Plugin open(const std::string &path);

  const std::string &path() const { return path_; }
  /// Returns a text such as "PJRT 0.115".
  std::string version() const;
  /// Returns the path and the version, for messages.
  std::string describe() const;
  /// Returns the names of its extensions; numbers of those that are newer than this.
  std::vector<std::string> extensions() const;
  /// Returns whether its programs can call functions of this process.
  bool callsFunctions() const { return functions_ != nullptr; }

  /// Lets programs find a handler of XLA's typed foreign function interface by that name. Throws Error.
  void registerHandler(const std::string &target, void *handler, const std::string &platform) const;

  const abi::Table &table() const { return *table_; }

private:
  std::string path_;
  const abi::Table *table_ = nullptr;
  const abi::ForeignFunctions *functions_ = nullptr; ///< null: it has no such extension
};

/// The numbers that the API has for the types of elements.
enum class ElementType : int32_t {
  pred = 1,
  s8,
  s16,
  s32,
  s64,
  u8,
  u16,
  u32,
  u64,
  f16,
  f32,
  f64,
  bf16,
  f8e5m2 = 16,
  f8e4m3fn,
  f8e4m3b11fnuz,
  f8e5m2fnuz,
  f8e4m3fnuz,
  f8e4m3 = 26,
  f8e3m4,
  f8e8m0fnu
};

/// A tensor on a device.
class Buffer {
public:
  Buffer() = default;
  Buffer(const Plugin &plugin, void *handle) : plugin_(&plugin), handle_(handle) {}
  ~Buffer() { reset(); }
  Buffer(Buffer &&other) noexcept { swap(other); }
  Buffer &operator=(Buffer &&other) noexcept {
    reset();
    swap(other);
    return *this;
  }

  void *get() const { return handle_; }
  void reset();
  /// Waits until the tensor is there, row-major. Throws Error.
  void copyToHost(std::span<std::byte> bytes) const;

private:
  void swap(Buffer &other) {
    std::swap(plugin_, other.plugin_);
    std::swap(handle_, other.handle_);
  }

  const Plugin *plugin_ = nullptr;
  void *handle_ = nullptr;
};

/// A program that a device has compiled.
class Executable {
public:
  Executable(const Plugin &plugin, void *handle) : plugin_(plugin), handle_(handle) {}
  ~Executable();
  Executable(const Executable &) = delete;
  Executable &operator=(const Executable &) = delete;

  /// Begins to run, and waits for the end. Arguments that the program says it takes over are used up, but
  /// those in `notDonated`. Throws Error.
  std::vector<Buffer> run(std::span<const Buffer> arguments, std::span<const int64_t> notDonated,
                          size_t resultCount) const;

private:
  const Plugin &plugin_;
  void *handle_;
};

/// The first device of a plugin, as this process uses it. A child of fork needs one of its own.
class Device {
public:
  /// Starts the plugin. Throws Error where it finds no device.
  explicit Device(const Plugin &plugin);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  /// Returns its kind in XLA's words: "cpu", "cuda", "tpu".
  std::string platform() const;
  /// Returns the name of each of the plugin's devices.
  std::vector<std::string> kinds() const;

  /// Compiles a module of StableHLO in MLIR's text for one device. Throws Error.
  std::unique_ptr<Executable> compile(const std::string &text) const;
  /// Copies a row-major tensor. Throws Error.
  Buffer upload(ElementType type, std::span<const int64_t> shape, const void *data) const;

private:
  const Plugin &plugin_;
  void *client_ = nullptr;
  std::vector<void *> devices_;
};

} // namespace cgx::pjrt

#endif // CGX_PJRT_PLUGIN_H
