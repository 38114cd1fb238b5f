//===-- PortableMlirAlone.cpp - Programs that offer portable MLIR -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Tools/PortableMlir.h"

void cgx::registerOfferedDialects(mlir::DialectRegistry &registry) { registerPortableDialects(registry); }

void cgx::registerOfferedPasses() { registerPortablePasses(); }
