//===-- test/fuzz/PlanFuzz.cpp - Any text as a profile, a plan or a request ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"

#include "cgx/plan/Error.h"
#include "cgx/plan/Plan.h"
#include "cgx/plan/Profile.h"
#include "cgx/plan/Request.h"

using namespace cgx::plan;

/// Reads a document, and stops unless its written form can be read again.
template <typename Document> static void readTwice(std::string_view text) {
  try {
    Document document = Document::parse(text);
    if constexpr (requires { document.toJson(); })
      (void)Document::parse(document.toJson());
  } catch (const Error &error) {
    if (!*error.what())
      __builtin_trap(); // rejected without a reason
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text = Bytes(data, size).text();
  readTwice<Profile>(text);
  readTwice<Plan>(text);
  readTwice<Request>(text);
  return 0;
}
