//===-- Device.cpp - The device of a plugin ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include <array>

namespace cgx::pjrt {

namespace {

constexpr std::string_view kFormat = "mlir";
/// CompileOptionsProto { executable_build_options (3) { num_replicas (4): 1, num_partitions (5): 1 } }
constexpr std::array<char, 6> kOneDevice = {3 << 3 | 2, 4, 4 << 3, 1, 5 << 3, 1};

/// Returns what a function says of a client or a description in words.
std::string textOf(const Plugin &plugin, abi::Function function, void *handle) {
  abi::Text arguments{};
  arguments.handle = handle;
  call(plugin, function, arguments);
  return {arguments.text, arguments.length};
}

} // namespace

void Buffer::reset() {
  if (handle_)
    destroy(*plugin_, abi::kBufferDestroy, handle_);
  handle_ = nullptr;
}

void Buffer::copyToHost(std::span<std::byte> bytes) const {
  abi::BufferToHost arguments{};
  arguments.buffer = handle_;
  arguments.data = bytes.data();
  arguments.length = bytes.size();
  call(*plugin_, abi::kBufferToHostBuffer, arguments);
  await(*plugin_, arguments.done);
}

Executable::~Executable() { destroy(plugin_, abi::kLoadedExecutableDestroy, handle_); }

std::vector<Buffer> Executable::run(std::span<const Buffer> arguments, std::span<const int64_t> notDonated,
                                    size_t resultCount) const {
  std::vector<void *> handles, results(resultCount);
  for (const Buffer &argument : arguments)
    handles.push_back(argument.get());
  abi::ExecuteOptions options{};
  options.size = sizeof options;
  options.notDonated = notDonated.data();
  options.notDonatedCount = notDonated.size();
  void *const *const ofDevice = handles.data();
  void **const resultsOfDevice = results.data();
  void *done = nullptr;
  abi::Execute execute{};
  execute.executable = handle_;
  execute.options = &options;
  execute.arguments = &ofDevice;
  execute.deviceCount = 1;
  execute.argumentCount = handles.size();
  execute.results = &resultsOfDevice;
  execute.done = &done;
  call(plugin_, abi::kLoadedExecutableExecute, execute);
  std::vector<Buffer> owned;
  for (void *result : results)
    owned.emplace_back(plugin_, result);
  await(plugin_, done);
  return owned;
}

Device::Device(const Plugin &plugin) : plugin_(plugin) {
  abi::Arguments nothing{};
  call(plugin, abi::kPluginInitialize, nothing);
  abi::ClientCreate create{};
  call(plugin, abi::kClientCreate, create);
  client_ = create.client;
  abi::ClientDevices devices{};
  devices.client = client_;
  call(plugin, abi::kClientAddressableDevices, devices);
  devices_.assign(devices.devices, devices.devices + devices.count);
  if (devices_.empty())
    throw Error("the plugin " + plugin.describe() + " finds no device on this machine");
}

Device::~Device() { destroy(plugin_, abi::kClientDestroy, client_); }

std::string Device::platform() const { return textOf(plugin_, abi::kClientPlatformName, client_); }

std::vector<std::string> Device::kinds() const {
  std::vector<std::string> kinds;
  for (void *device : devices_) {
    abi::DeviceGetDescription arguments{};
    arguments.device = device;
    call(plugin_, abi::kDeviceGetDescription, arguments);
    kinds.push_back(textOf(plugin_, abi::kDeviceDescriptionKind, arguments.description));
  }
  return kinds;
}

std::unique_ptr<Executable> Device::compile(const std::string &text) const {
  abi::ProgramText program{};
  program.size = sizeof program;
  program.code = text.data();
  program.codeLength = text.size();
  program.format = kFormat.data();
  program.formatLength = kFormat.size();
  abi::ClientCompile compile{};
  compile.client = client_;
  compile.program = &program;
  compile.options = kOneDevice.data();
  compile.optionsLength = kOneDevice.size();
  call(plugin_, abi::kClientCompile, compile);
  return std::make_unique<Executable>(plugin_, compile.executable);
}

Buffer Device::upload(ElementType type, std::span<const int64_t> shape, const void *data) const {
  abi::BufferFromHost arguments{};
  arguments.client = client_;
  arguments.data = data;
  arguments.type = static_cast<int32_t>(type);
  arguments.dimensions = shape.data();
  arguments.dimensionCount = shape.size();
  arguments.semantics = abi::kOnlyDuringCall;
  arguments.device = devices_.front();
  call(plugin_, abi::kClientBufferFromHostBuffer, arguments);
  Buffer buffer(plugin_, arguments.buffer);
  await(plugin_, arguments.done);
  return buffer;
}

} // namespace cgx::pjrt
