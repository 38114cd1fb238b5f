//===-- cgx-compile.cpp - Compile a training step ahead of time ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

int main(int argc, char **argv) { return cgx_compile_main(argc, argv); }
