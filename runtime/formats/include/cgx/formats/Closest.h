//===-- cgx/formats/Closest.h - The word that was likely meant ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_FORMATS_CLOSEST_H
#define CGX_FORMATS_CLOSEST_H

#include <string>
#include <string_view>
#include <vector>

namespace cgx::formats {

/// The candidate that takes the fewest changes of a letter to make it of `word` (left out, added, another,
/// two swapped), whatever their case; empty if it takes more than a third of the letters.
std::string closest(std::string_view word, const std::vector<std::string> &candidates);

/// The same as what errors end with: " (did you mean 'bits'?)", or nothing.
std::string askMeant(std::string_view word, const std::vector<std::string> &candidates);

} // namespace cgx::formats

#endif // CGX_FORMATS_CLOSEST_H
