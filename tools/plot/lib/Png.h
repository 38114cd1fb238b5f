//===-- Png.h - Loss curves as PNG ------------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PLOT_PNG_H
#define CGX_PLOT_PNG_H

#include "Curves.h"

namespace cgx::plot {

/// Returns the picture of drawCurves as PNG, drawn by matplotlib in the python3 on PATH. Throws
/// std::runtime_error that says what to install where there is none.
std::string drawPng(const std::vector<Run> &runs, const Style &style);

} // namespace cgx::plot

#endif // CGX_PLOT_PNG_H
