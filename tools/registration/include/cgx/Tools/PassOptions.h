//===-- PassOptions.h - Names of a pass's options ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_PASSOPTIONS_H
#define CGX_TOOLS_PASSOPTIONS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir {
class MLIRContext;
class PassInfo;
} // namespace mlir

namespace cgx {

/// The beginning of MLIR's error about an option that a pass does not have; it ends with the option's name.
inline constexpr llvm::StringRef kNoSuchOption = "no such option ";

/// Returns the error for an option that `pass` does not have, with the one that was likely meant, or else
/// with all of them.
std::string describeUnknownOption(const mlir::PassInfo &pass, llvm::StringRef option,
                                  mlir::MLIRContext *context);

} // namespace cgx

#endif // CGX_TOOLS_PASSOPTIONS_H
