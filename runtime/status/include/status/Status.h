//===-- status/Status.h - Failures as values --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime reports every failure as a value. Only capi/ turns it into a status of the C ABI.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_STATUS_STATUS_H
#define CGX_RUNTIME_STATUS_STATUS_H

#include "cgx/runtime.h"

#include <cassert>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace cgx {

/// Joins anything printable into one string.
template <typename... Parts> std::string concat(const Parts &...parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return std::move(stream).str();
}

/// A code that tells the caller what to do, and a message that tells what happened. Messages are lower case,
/// without a final period.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(cgx_status code, std::string message) : code(code), text(std::move(message)) {}

  template <typename... Parts> static Status error(cgx_status code, const Parts &...parts) {
    return Status(code, concat(parts...));
  }

  bool ok() const { return code == CGX_OK; }
  cgx_status getCode() const { return code; }
  const std::string &message() const { return text; }

  /// Returns the same failure with `place` before its message.
  Status within(const std::string &place) const {
    return ok() ? Status() : Status(code, place + ": " + text);
  }

private:
  cgx_status code = CGX_OK;
  std::string text;
};

/// A value, or the status that tells why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Status status) : failure(std::move(status)) { assert(!failure.ok() && "a Result needs a value"); }

  bool ok() const { return value.has_value(); }
  const Status &status() const { return failure; }
  T &operator*() { return *value; }
  T *operator->() { return &*value; }

private:
  std::optional<T> value;
  Status failure;
};

} // namespace cgx

#endif // CGX_RUNTIME_STATUS_STATUS_H
