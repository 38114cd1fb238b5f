//===-- Abi.h - What is used of the PJRT C API ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The binary interface of PJRT plugins, as far as cgx-run uses it: a table of functions, each of which takes
// one structure and returns an error or null. The API promises that within a major version functions keep
// their places, and structures only grow at their ends: each says its size, which is the end of its last
// field.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PJRT_LIB_ABI_H
#define CGX_PJRT_LIB_ABI_H

#include <cstddef>
#include <cstdint>

namespace cgx::pjrt::abi {

inline constexpr int kMajorVersion = 0;

/// An optional part of a plugin's table.
struct Extension {
  size_t size;
  int32_t type;
  const Extension *next;
};
/// The type of the extension for XLA's foreign function interface.
inline constexpr int32_t kForeignFunctions = 5;

struct Version {
  size_t size;
  Extension *extensions;
  int32_t major, minor;
};

/// The places of functions in the table.
enum Function : size_t {
  kErrorDestroy = 0,
  kErrorMessage = 1,
  kPluginInitialize = 3,
  kEventDestroy = 5,
  kEventAwait = 8,
  kClientCreate = 10,
  kClientDestroy = 11,
  kClientPlatformName = 12,
  kClientAddressableDevices = 16,
  kClientCompile = 20,
  kClientBufferFromHostBuffer = 22,
  kDeviceDescriptionKind = 26,
  kDeviceGetDescription = 29,
  kLoadedExecutableDestroy = 50,
  kLoadedExecutableExecute = 55,
  kBufferDestroy = 58,
  kBufferToHostBuffer = 70,
  kFunctionsUsed = 71 ///< a table that ends before is no plugin for us
};

/// The table of functions that `GetPjrtApi` returns.
struct Table {
  size_t size;
  const Extension *extensions;
  Version version;
  void *functions[kFunctionsUsed];
};

/// The beginning of what each function takes.
struct Arguments {
  size_t size = 0;
  Extension *extensions = nullptr;
};

struct ErrorMessage : Arguments {
  const void *error;
  const char *text; ///< out
  size_t length;    ///< out
};

/// The argument of functions that take one thing and return nothing else.
struct Handle : Arguments {
  void *handle;
};

/// The argument of functions that return a text about what they take.
struct Text : Arguments {
  void *handle;
  const char *text; ///< out
  size_t length;    ///< out
};

struct NamedValue;

struct ClientCreate : Arguments {
  const NamedValue *options;
  size_t optionCount;
  void *getValue, *getValueUser, *putValue, *putValueUser;
  void *client; ///< out
  void *tryGetValue, *tryGetValueUser;
};

struct ClientDevices : Arguments {
  void *client;
  void *const *devices; ///< out
  size_t count;         ///< out
};

struct DeviceGetDescription : Arguments {
  void *device;
  void *description; ///< out
};

struct ProgramText : Arguments {
  const char *code;
  size_t codeLength;
  const char *format;
  size_t formatLength;
};

struct ClientCompile : Arguments {
  void *client;
  const ProgramText *program;
  const char *options; ///< a serialized CompileOptionsProto
  size_t optionsLength;
  void *executable; ///< out
};

/// How long the plugin may read the host's memory.
enum HostSemantics : int32_t { kOnlyDuringCall = 0 };

struct BufferFromHost : Arguments {
  void *client;
  const void *data;
  int32_t type;
  const int64_t *dimensions;
  size_t dimensionCount;
  const int64_t *strides;
  size_t strideCount;
  HostSemantics semantics;
  void *device, *memory, *layout;
  void *done;   ///< out: an event
  void *buffer; ///< out
};

struct BufferToHost : Arguments {
  void *buffer;
  void *layout;
  void *data;
  size_t length;
  void *done; ///< out: an event
};

struct ExecuteOptions : Arguments {
  void *sendCallbacks, *receiveCallbacks;
  size_t sendCount, receiveCount;
  int32_t launch;
  const int64_t *notDonated; ///< arguments that keep their buffers whatever the program says
  size_t notDonatedCount;
  void *context;
  const char *location;
  size_t taskCount;
  int32_t *tasks;
  int64_t *incarnations;
};

struct Execute : Arguments {
  void *executable;
  ExecuteOptions *options;
  void *const *const *arguments; ///< by device, then by number
  size_t deviceCount, argumentCount;
  void **const *results; ///< by device, then by number; filled in
  void **done;           ///< by device; filled in: events
  void *device;
};

/// The argument of registerHandler(). It has no `extensions`, unlike all others.
struct RegisterHandler {
  size_t size;
  const char *target;
  size_t targetLength;
  void *handler;
  const char *platform;
  size_t platformLength;
  int32_t traits;
};

struct ForeignFunctions {
  Extension base;
  void *registerType, *addUserData;
  void *(*registerHandler)(RegisterHandler *);
};

} // namespace cgx::pjrt::abi

#endif // CGX_PJRT_LIB_ABI_H
