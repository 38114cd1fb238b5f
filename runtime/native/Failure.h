//===-- native/Failure.h - A computation that failed --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_NATIVE_FAILURE_H
#define CGX_RUNTIME_NATIVE_FAILURE_H

#include <cstdint>
#include <exception>

namespace cgx {

/// Has the step that runs on `context` end with what was thrown. Without a context nobody is told.
void failStep(int64_t context, std::exception_ptr error) noexcept;

} // namespace cgx

#endif // CGX_RUNTIME_NATIVE_FAILURE_H
