//===-- cgx/Cli/Version.h - Version of this build ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_CLI_VERSION_H
#define CGX_CLI_VERSION_H

#include <string>

namespace cgx::cli {

/// Returns one line: "0.1.0 (git 1a2b3c4), LLVM 22.1.8, CUDA 13.0.48, MPI, NCCL". It leaves out what the
/// build lacks.
std::string version();

} // namespace cgx::cli

#endif // CGX_CLI_VERSION_H
