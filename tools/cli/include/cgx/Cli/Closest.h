//===-- cgx/Cli/Closest.h - The word that was likely meant ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_CLI_CLOSEST_H
#define CGX_CLI_CLOSEST_H

#include <string>
#include <string_view>
#include <vector>

namespace cgx::cli {

/// The candidate that takes the fewest changes of a letter to make it of `word` (left out, added, another,
/// two swapped); empty if it takes more than a third of the letters.
std::string closest(std::string_view word, const std::vector<std::string> &candidates);

} // namespace cgx::cli

#endif // CGX_CLI_CLOSEST_H
