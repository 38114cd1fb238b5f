//===-- WarnOfUncompressed.h - Warnings about what is not compressed -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_WARNOFUNCOMPRESSED_H
#define CGX_LAYERS_WARNOFUNCOMPRESSED_H

#include "cgx/layers/Diagnostics.h"
#include "cgx/layers/Table.h"

namespace cgx::layers {

/// Warns if nothing is compressed, or if gradients stay uncompressed unintentionally. `asksForThat`: the user
/// asked for no codec but identity. `trains` is called if nothing is communicated.
void warnOfUncompressed(const Table &table, bool asksForThat, const std::function<bool()> &trains,
                        Diagnostics &diagnostics);

} // namespace cgx::layers

#endif // CGX_LAYERS_WARNOFUNCOMPRESSED_H
