//===-- NoEventFormat.cpp - Build without Protocol Buffers ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetricsFormat.h"

std::unique_ptr<cgx::run::MetricsFormat> cgx::run::makeEventFormat(std::vector<std::string>) {
  return nullptr;
}
