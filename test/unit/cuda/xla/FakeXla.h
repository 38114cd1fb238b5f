//===-- FakeXla.h - Calls handlers as XLA does ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the part of XLA's foreign function interface that the handlers of cgx/xla.h use: an execution with
// its number, device and stream, buffers, attributes, and a result that is waited for, as XLA's thread of a
// GPU does.
#ifndef CGX_TEST_UNIT_CUDA_XLA_FAKEXLA_H
#define CGX_TEST_UNIT_CUDA_XLA_FAKEXLA_H

#include "xla/ffi/api/c_api.h"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace cgx::test {

struct XlaBuffer {
  XLA_FFI_DataType type = XLA_FFI_DataType_F32;
  void *data = nullptr;
  int64_t elements = 1;
};

/// One call of a handler.
struct XlaCall {
  int64_t run = 0;
  int32_t device = 0;
  void *stream = nullptr;
  std::vector<XlaBuffer> arguments, results;
  std::map<std::string, std::variant<int64_t, std::string, std::vector<int64_t>>> attributes;

  /// Calls the handler, waits for the result and returns its error; empty if there is none.
  std::string operator()(XLA_FFI_Error *(*handler)(XLA_FFI_CallFrame *)) const;
};

} // namespace cgx::test

#endif // CGX_TEST_UNIT_CUDA_XLA_FAKEXLA_H
