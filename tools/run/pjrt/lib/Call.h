//===-- Call.h - Functions of a plugin, with their errors -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PJRT_LIB_CALL_H
#define CGX_PJRT_LIB_CALL_H

#include "Abi.h"

#include "cgx/pjrt/Plugin.h"

namespace cgx::pjrt {

/// Throws what the plugin says of an error, and frees it; does nothing with null.
void throwIfAny(const Plugin &plugin, void *error);

/// Calls a function of the table. `size` is where its last field ends. Throws Error.
template <typename Arguments>
void call(const Plugin &plugin, abi::Function function, Arguments &arguments, size_t size) {
  using Entry = void *(*)(Arguments *);
  arguments.size = size;
  throwIfAny(plugin, reinterpret_cast<Entry>(plugin.table().functions[function])(&arguments));
}

/// Calls a function whose structure has no room behind its last field.
template <typename Arguments> void call(const Plugin &plugin, abi::Function function, Arguments &arguments) {
  call(plugin, function, arguments, sizeof arguments);
}

/// Frees a thing by the function for things of its kind; what cannot be freed is left.
void destroy(const Plugin &plugin, abi::Function function, void *handle) noexcept;

/// Waits for an event and frees it. Throws Error where what it stands for has failed.
void await(const Plugin &plugin, void *event);

} // namespace cgx::pjrt

#endif // CGX_PJRT_LIB_CALL_H
