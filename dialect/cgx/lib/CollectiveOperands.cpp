//===-- CollectiveOperands.cpp - Collectives of other operands ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CollectiveOperands.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cgx;

StringRef cgx::getExactReason(CollectiveOpInterface op, unsigned operand) {
  auto reasons = op->getAttrOfType<ArrayAttr>(kExactReasonAttrName);
  return reasons ? cast<StringAttr>(reasons[operand]).getValue() : StringRef();
}

CollectiveOpInterface cgx::keepOperands(CollectiveOpInterface op, ArrayRef<unsigned> kept) {
  if (kept.empty()) {
    op->erase();
    return {};
  }
  OpBuilder builder(op);
  auto select = [&](ArrayAttr array) {
    return builder.getArrayAttr(llvm::map_to_vector(kept, [&](unsigned i) { return array[i]; }));
  };
  op.setCodecsAttr(select(op.getCodecs()));
  op.setLayersAttr(select(op.getLayers()));
  if (auto reasons = op->getAttrOfType<ArrayAttr>(kExactReasonAttrName))
    op->setAttr(kExactReasonAttrName, select(reasons));
  if (op->hasAttr(kOriginsAttrName)) {
    SmallVector<Origin> origins = getOrigins(op);
    SmallVector<int64_t> keptOrigins;
    for (unsigned i : kept)
      keptOrigins.append({origins[i].first, origins[i].second});
    op->setAttr(kOriginsAttrName, builder.getDenseI64ArrayAttr(keptOrigins));
  }
  OperationState state(op.getLoc(), op->getName());
  state.addAttributes(op->getAttrs());
  for (unsigned i : kept) {
    state.operands.push_back(op.getInputs()[i]);
    state.types.push_back(op->getResult(i).getType());
  }
  Operation *smaller = builder.create(state);
  for (auto [number, i] : llvm::enumerate(kept))
    op->getResult(i).replaceAllUsesWith(smaller->getResult(number));
  op->erase();
  return cast<CollectiveOpInterface>(smaller);
}

CollectiveOpInterface cgx::dropOperands(CollectiveOpInterface op, ArrayRef<unsigned> positions) {
  SmallVector<unsigned> kept;
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
    if (!llvm::is_contained(positions, i))
      kept.push_back(i);
  return keepOperands(op, kept);
}
