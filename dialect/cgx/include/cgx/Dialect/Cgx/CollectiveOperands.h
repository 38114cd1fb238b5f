//===-- CollectiveOperands.h - Replaces the operands of collectives -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_COLLECTIVEOPERANDS_H
#define CGX_DIALECT_CGX_COLLECTIVEOPERANDS_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

namespace cgx {

/// Returns why the filters leave this operand uncompressed; "" if only the choice of codecs decides.
llvm::StringRef getExactReason(CollectiveOpInterface op, unsigned operand);

/// Returns the reasons of some operands, for a collective of these; null where nothing was decided.
mlir::ArrayAttr getExactReasons(CollectiveOpInterface op, llvm::ArrayRef<unsigned> operands);

/// Replaces a collective that is not started by one with the operands at the positions `kept` alone: their
/// results, codecs, layers, reasons to stay exact and origins stay theirs, and the id is the same. Nobody may
/// use the other results. Null, where none is kept.
CollectiveOpInterface keepOperands(CollectiveOpInterface op, llvm::ArrayRef<unsigned> kept);

/// Replaces a collective by one without the operands at `positions`, as `keepOperands` does.
CollectiveOpInterface dropOperands(CollectiveOpInterface op, llvm::ArrayRef<unsigned> positions);

} // namespace cgx

#endif // CGX_DIALECT_CGX_COLLECTIVEOPERANDS_H
