//===-- native/Failure.cpp - Failures of computations -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Failure.h"

#include "cgx/runtime.h"

#include <new>

void cgx::failStep(int64_t context, std::exception_ptr error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc &) {
    cgx_rt_fail(context, CGX_RESOURCE_EXHAUSTED, "out of memory");
  } catch (const std::exception &failure) {
    cgx_rt_fail(context, CGX_INTERNAL, failure.what());
  }
}
