//===-- native/Failure.h - Failures of computations -------------*- C++ -*-===//
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

/// Makes the step that runs on `context` fail with the exception. Without a context there is nobody to tell.
void failStep(int64_t context, std::exception_ptr error) noexcept;

} // namespace cgx

#endif // CGX_RUNTIME_NATIVE_FAILURE_H
