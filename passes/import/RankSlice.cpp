//===-- RankSlice.cpp - this rank's piece of a whole value ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankSlice.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

using namespace mlir;
using namespace cgx;

namespace {
/// Arithmetic on scalars of type ui32, the type of partition_id.
class ScalarBuilder {
public:
  ScalarBuilder(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc),
        type(RankedTensorType::get({}, IntegerType::get(builder.getContext(), 32, IntegerType::Unsigned))) {}

  Value rank() { return create<stablehlo::PartitionIdOp>({}); }
  Value constant(int64_t value) {
    return create<stablehlo::ConstantOp>(
        {}, builder.getNamedAttr("value", DenseElementsAttr::get(type, APInt(32, value))));
  }
  Value add(Value a, Value b) { return create<stablehlo::AddOp>({a, b}); }
  Value multiply(Value a, int64_t b) { return b == 1 ? a : create<stablehlo::MulOp>({a, constant(b)}); }
  Value divide(Value a, int64_t b) { return b == 1 ? a : create<stablehlo::DivOp>({a, constant(b)}); }
  Value remainder(Value a, int64_t b) { return create<stablehlo::RemOp>({a, constant(b)}); }

private:
  template <typename Op> Value create(ValueRange operands, ArrayRef<NamedAttribute> attributes = {}) {
    OperationState state(loc, Op::getOperationName(), operands, TypeRange(type), attributes);
    return builder.create(state)->getResult(0);
  }

  OpBuilder &builder;
  Location loc;
  RankedTensorType type;
};
} // namespace

/// Returns the rank's position along an axis of the mesh.
static Value getPosition(ScalarBuilder &scalars, Value rank, MeshAttr mesh, StringAttr axis) {
  int64_t stride = 1;
  for (auto [name, size] : llvm::reverse(llvm::zip_equal(mesh.getAxes(), mesh.getSizes()))) {
    if (name == axis)
      return scalars.remainder(scalars.divide(rank, stride), size);
    stride *= size;
  }
  llvm_unreachable("shardings name axes of the mesh");
}

Value cgx::createRankSlice(OpBuilder &builder, Location loc, Value whole, ShardingAttr sharding,
                           MeshAttr mesh, RankedTensorType piece) {
  ScalarBuilder scalars(builder, loc);
  Value rank = scalars.rank();
  SmallVector<Value> operands{whole};
  for (auto [axes, size] : llvm::zip_equal(sharding.getDimensions(), piece.getShape())) {
    Value index;
    for (auto axis : axes.getAsRange<StringAttr>()) {
      Value position = getPosition(scalars, rank, mesh, axis);
      index = index ? scalars.add(scalars.multiply(index, *mesh.getAxisSize(axis)), position) : position;
    }
    operands.push_back(index ? scalars.multiply(index, size) : scalars.constant(0));
  }
  OperationState state(loc, stablehlo::DynamicSliceOp::getOperationName(), operands, TypeRange(piece),
                       {builder.getNamedAttr("slice_sizes", builder.getDenseI64ArrayAttr(piece.getShape()))});
  return builder.create(state)->getResult(0);
}
