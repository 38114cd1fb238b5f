//===-- cgx/formats/Closest.h - The word that was probably meant -*- C++ -*-===//
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

/// Returns the candidate with the fewest letter changes from `word` (left out, added, replaced, two swapped),
/// ignoring case; empty if more than a third of the letters would change.
std::string closest(std::string_view word, const std::vector<std::string> &candidates);

/// Returns the end of an error message, " (did you mean 'bits'?)", or nothing.
std::string askMeant(std::string_view word, const std::vector<std::string> &candidates);

} // namespace cgx::formats

#endif // CGX_FORMATS_CLOSEST_H
