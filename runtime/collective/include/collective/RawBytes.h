//===-- collective/RawBytes.h - What a collective sends uncompressed -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_RAWBYTES_H
#define CGX_RUNTIME_COLLECTIVE_RAWBYTES_H

#include "collective/Collective.h"

namespace cgx {

/// Bytes that this rank sends of an operand when nothing is encoded, by the algorithms of the host.
uint64_t rawBytes(const Execution &execution, const OperandInfo &operand);

/// Counts them for all operands.
void countRawBytes(Execution &execution);

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_RAWBYTES_H
