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

/// The picture of drawCurves as PNG, drawn by matplotlib of the Python that is called python3. Throws
/// std::runtime_error, with what to install, where there is none.
std::string drawPng(const std::vector<Run> &runs, const Style &style);

} // namespace cgx::plot

#endif // CGX_PLOT_PNG_H
