//===-- plan/Fields.h - Members of JSON objects, checked -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PLAN_FIELDS_H
#define CGX_RUNTIME_PLAN_FIELDS_H

#include "cgx/formats/Parse.h"
#include "cgx/plan/Codec.h"
#include "cgx/plan/Error.h"

#include <cmath>

namespace cgx::plan {

using formats::Fields;

/// Returns the canonical spelling of a member that is a codec.
inline std::string codecOf(const Fields &fields, const char *name) {
  try {
    return formats::parseCodec(fields.at(name)).json;
  } catch (const Error &error) {
    fields.reject(error.what());
  }
}

} // namespace cgx::plan

#endif // CGX_RUNTIME_PLAN_FIELDS_H
