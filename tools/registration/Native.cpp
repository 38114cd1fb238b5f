//===-- Native.cpp - Programs that also lower to native code -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Tools/Registration.h"

#include "cgx/Passes/Native.h"

void cgx::registerCgxNativeDialects(mlir::DialectRegistry &registry) { registerNativeInterfaces(registry); }

void cgx::registerCgxNativePasses() { registerNativePasses(); }
