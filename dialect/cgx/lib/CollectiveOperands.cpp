//===-- CollectiveOperands.cpp - Replaces the operands of collectives -----===//
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

SmallVector<Origin> cgx::getOrigins(CollectiveOpInterface op) {
  DenseI64ArrayAttr attribute = op.getOriginsAttr();
  SmallVector<Origin> origins;
  for (int64_t i = 0, e = op.getInputs().size(); i < e; ++i)
    origins.push_back(attribute ? Origin(attribute[2 * i], attribute[2 * i + 1]) : Origin(op.getId(), i));
  return origins;
}

Origin cgx::getOrigin(CompressOp op) {
  DenseI64ArrayAttr attribute = op.getOriginsAttr();
  return attribute ? Origin(attribute[0], attribute[1]) : Origin(op.getId(), op.getOperandNumber());
}

StringRef cgx::getExactReason(CollectiveOpInterface op, unsigned operand) {
  ArrayAttr reasons = op.getExactReasonsAttr();
  return reasons ? cast<StringAttr>(reasons[operand]).getValue() : StringRef();
}

ArrayAttr cgx::getExactReasons(CollectiveOpInterface op, ArrayRef<unsigned> operands) {
  ArrayAttr reasons = op.getExactReasonsAttr();
  if (!reasons)
    return {};
  return ArrayAttr::get(op.getContext(),
                        llvm::map_to_vector(operands, [&](unsigned i) { return reasons[i]; }));
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
  op.setExactReasonsAttr(getExactReasons(op, kept));
  if (op.getOriginsAttr()) {
    SmallVector<Origin> origins = getOrigins(op);
    SmallVector<int64_t> keptOrigins;
    for (unsigned i : kept)
      keptOrigins.append({origins[i].first, origins[i].second});
    op.setOriginsAttr(builder.getDenseI64ArrayAttr(keptOrigins));
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
