//===-- LargeStack.cpp - Work with deep recursion ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Tools/LargeStack.h"

#include <pthread.h>

static constexpr size_t kStackBytes = size_t{256} << 20;

static void *callBody(void *body) {
  (*static_cast<const std::function<void()> *>(body))();
  return nullptr;
}

void cgx::runOnLargeStack(const std::function<void()> &body) {
  pthread_attr_t attributes;
  pthread_t thread{};
  bool isStarted = false;
  if (::pthread_attr_init(&attributes) == 0) {
    isStarted =
        ::pthread_attr_setstacksize(&attributes, kStackBytes) == 0 &&
        ::pthread_create(&thread, &attributes, callBody, const_cast<std::function<void()> *>(&body)) == 0;
    ::pthread_attr_destroy(&attributes);
  }
  if (isStarted)
    ::pthread_join(thread, nullptr);
  else
    body();
}
