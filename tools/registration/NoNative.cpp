//===-- NoNative.cpp - Build without native execution -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Tools/Registration.h"

void cgx::registerCgxNativeDialects(mlir::DialectRegistry &) {}

void cgx::registerCgxNativePasses() {}
