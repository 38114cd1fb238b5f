//===-- ChloOps.cpp - text and constraints of chlo ops -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Stablehlo/ChloDialect.h"

#include "Constraints.h"
#include "StructFields.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cgx::chlo;
using cgx::stablehlo::Dims;
using cgx::stablehlo::Field;
using cgx::stablehlo::isCompatibleElement;
using cgx::stablehlo::tensorOf;
using cgx::stablehlo::textOf;
using cgx::stablehlo::verifyArguments;
using cgx::stablehlo::verifyDims;
using cgx::stablehlo::verifyReturned;
using cgx::stablehlo::verifyShape;
using cgx::stablehlo::verifyType;

//===----------------------------------------------------------------------===//
// ragged_dot
//===----------------------------------------------------------------------===//

namespace {

struct RaggedDotValues {
  Dims lhsBatching, rhsBatching, lhsContracting, rhsContracting, lhsRagged, rhsGroup;
  SmallVector<Field> fields() {
    return {{"lhs_batching_dimensions", &lhsBatching},       {"rhs_batching_dimensions", &rhsBatching},
            {"lhs_contracting_dimensions", &lhsContracting}, {"rhs_contracting_dimensions", &rhsContracting},
            {"lhs_ragged_dimensions", &lhsRagged},           {"rhs_group_dimensions", &rhsGroup}};
  }
};

} // namespace

Attribute RaggedDotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  RaggedDotValues v;
  if (parseFields(parser, v.fields()))
    return {};
  return get(parser.getContext(), v.lhsBatching, v.rhsBatching, v.lhsContracting, v.rhsContracting,
             v.lhsRagged, v.rhsGroup);
}

void RaggedDotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  RaggedDotValues v{Dims(getLhsBatchingDimensions()),    Dims(getRhsBatchingDimensions()),
                    Dims(getLhsContractingDimensions()), Dims(getRhsContractingDimensions()),
                    Dims(getLhsRaggedDimensions()),      Dims(getRhsGroupDimensions())};
  printFields(printer, v.fields());
}

namespace {

/// The role of the one ragged dimension.
enum class RaggedMode { Free, Contracted, Batch };

} // namespace

/// Verifies (C3): pairs of dimensions of one size, none of them twice.
static LogicalResult verifyPairs(RaggedDotOp op) {
  RaggedDotDimensionNumbersAttr numbers = op.getRaggedDotDimensionNumbers();
  RankedTensorType lhs = tensorOf(op.getLhs()), rhs = tensorOf(op.getRhs());
  Dims lhsDims(numbers.getLhsBatchingDimensions()), rhsDims(numbers.getRhsBatchingDimensions());
  if (lhsDims.size() != rhsDims.size() ||
      numbers.getLhsContractingDimensions().size() != numbers.getRhsContractingDimensions().size())
    return op.emitOpError() << "expected as many batching and contracting dimensions of lhs as of rhs";
  llvm::append_range(lhsDims, numbers.getLhsContractingDimensions());
  llvm::append_range(rhsDims, numbers.getRhsContractingDimensions());
  if (failed(verifyDims(op, "dimensions of lhs", lhsDims, lhs.getRank())))
    return failure();
  Dims allRhs = rhsDims;
  llvm::append_range(allRhs, numbers.getRhsGroupDimensions());
  if (failed(verifyDims(op, "dimensions of rhs", allRhs, rhs.getRank())))
    return failure();
  for (auto [l, r] : llvm::zip_equal(lhsDims, rhsDims))
    if (failed(verifyCompatibleDims({lhs.getDimSize(l), rhs.getDimSize(r)})))
      return op.emitOpError() << "expected batching and contracting dimensions of one size, got "
                              << lhs.getDimSize(l) << " and " << rhs.getDimSize(r);
  return success();
}

/// Verifies (C4): batches before the ragged dimension, or none, and the groups.
static LogicalResult verifyGroupSizes(RaggedDotOp op, RaggedMode mode) {
  RaggedDotDimensionNumbersAttr numbers = op.getRaggedDotDimensionNumbers();
  RankedTensorType lhs = tensorOf(op.getLhs()), sizes = tensorOf(op.getGroupSizes());
  int64_t ragged = numbers.getLhsRaggedDimensions()[0];
  Dims prefix;
  for (int64_t dim : numbers.getLhsBatchingDimensions()) {
    if (mode == RaggedMode::Batch && dim == ragged)
      break;
    prefix.push_back(lhs.getDimSize(dim));
  }
  if (mode == RaggedMode::Contracted)
    for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
      if (dim < ragged && llvm::is_contained(numbers.getLhsContractingDimensions(), dim))
        prefix.push_back(lhs.getDimSize(dim));
  if (mode == RaggedMode::Free)
    for (int64_t dim = 0; dim < ragged; ++dim)
      if (!llvm::is_contained(numbers.getLhsBatchingDimensions(), dim) &&
          !llvm::is_contained(numbers.getLhsContractingDimensions(), dim))
        prefix.push_back(lhs.getDimSize(dim));
  if (sizes.getRank() == 1)
    return success();
  if (sizes.getRank() == static_cast<int64_t>(prefix.size()) + 1 &&
      succeeded(verifyCompatibleShape(sizes.getShape().drop_back(), prefix)))
    return success();
  return op.emitOpError() << "expected group sizes of rank 1, or in shape " << textOf(prefix)
                          << " with a last dimension of groups, got " << sizes;
}

LogicalResult RaggedDotOp::verify() {
  RaggedDotDimensionNumbersAttr numbers = getRaggedDotDimensionNumbers();
  RankedTensorType lhs = tensorOf(getLhs()), rhs = tensorOf(getRhs()), sizes = tensorOf(getGroupSizes());
  ArrayRef<int64_t> ragged = numbers.getLhsRaggedDimensions(), group = numbers.getRhsGroupDimensions();
  if (ragged.size() != 1) // (C1)
    return emitOpError() << "expected one ragged dimension of lhs, got " << ragged.size();
  if (failed(stablehlo::verifyComplexProduct(*this)) || failed(verifyPairs(*this)) ||
      failed(verifyDims(*this, "lhs_ragged_dimensions", ragged, lhs.getRank())))
    return failure();
  RaggedMode mode = llvm::is_contained(numbers.getLhsBatchingDimensions(), ragged[0]) ? RaggedMode::Batch
                    : llvm::is_contained(numbers.getLhsContractingDimensions(), ragged[0])
                        ? RaggedMode::Contracted
                        : RaggedMode::Free;
  if (group.size() != (mode == RaggedMode::Free ? 1 : 0)) // (C2)
    return emitOpError() << "expected "
                         << (mode == RaggedMode::Free ? "one group dimension" : "no group dimension")
                         << " of rhs, got " << group.size();
  if (sizes.getRank() == 0) // (C4)
    return emitOpError() << "expected group sizes of rank 1 or more, got " << sizes;
  int64_t groups = sizes.getShape().back();
  if (mode == RaggedMode::Free && failed(verifyCompatibleDims({rhs.getDimSize(group[0]), groups})))
    return emitOpError() << "expected " << rhs.getDimSize(group[0])
                         << " group sizes, one per group of rhs, got " << groups;
  if (failed(verifyGroupSizes(*this, mode)))
    return failure();
  Dims shape; // (C5)
  if (mode == RaggedMode::Contracted)
    shape.push_back(groups);
  for (int64_t dim : numbers.getLhsBatchingDimensions())
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
    if (!llvm::is_contained(numbers.getLhsBatchingDimensions(), dim) &&
        !llvm::is_contained(numbers.getLhsContractingDimensions(), dim))
      shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim = 0; dim < rhs.getRank(); ++dim)
    if (!llvm::is_contained(numbers.getRhsBatchingDimensions(), dim) &&
        !llvm::is_contained(numbers.getRhsContractingDimensions(), dim) && !llvm::is_contained(group, dim))
      shape.push_back(rhs.getDimSize(dim));
  return verifyShape(*this, getResult(), shape);
}

//===----------------------------------------------------------------------===//
// top_k
//===----------------------------------------------------------------------===//

LogicalResult TopKOp::verify() {
  RankedTensorType operand = tensorOf(getOperand());
  auto k = static_cast<int64_t>(getK());
  if (operand.getRank() == 0) // (C1)
    return emitOpError() << "expected an operand with a last dimension, got " << operand;
  int64_t size = operand.getShape().back();
  if (k < 0 || (!ShapedType::isDynamic(size) && k > size)) // (C1), (C2)
    return emitOpError() << "expected k in range [0, " << size << "], the last dimension, got " << k;
  Dims shape(operand.getShape());
  shape.back() = k;
  Type index = IntegerType::get(getContext(), 32);
  return success(succeeded(verifyType(*this, getValues(),
                                      RankedTensorType::get(shape, operand.getElementType()))) &&  // (C3)
                 succeeded(verifyType(*this, getIndices(), RankedTensorType::get(shape, index)))); // (C4)
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantLikeOp::verify() {
  Type element = cast<TensorType>(getResult().getType()).getElementType();
  if (getValue().getType() == element) // (C1)
    return success();
  return emitOpError() << "expected a value of the result's element type " << element << ", got "
                       << getValue();
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//
//
//   %outputs, %carries = chlo.scan(%x) inits (%c) dimension=0 attributes {...} {
//   ^bb0(%input: ..., %carry: ...): ...
//   } : (X, C) -> (Y, C)

void ScanOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (auto [index, argument] : llvm::enumerate(region.getArguments()))
    setName(argument, index < getInputs().size() ? "input" : "carry");
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  int64_t dimension;
  FunctionType type;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("inits") ||
      parser.parseOperandList(inits, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("dimension") ||
      parser.parseEqual() || parser.parseInteger(dimension) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*result.addRegion()) ||
      parser.parseColonType(type))
    return failure();
  int32_t inputCount = inputs.size(), carryCount = inits.size();
  int32_t outputCount = int32_t(type.getNumResults()) - carryCount;
  if (outputCount < 0)
    return parser.emitError(location)
           << "expected a result for each of the " << carryCount << " carried values, got " << type;
  llvm::append_range(inputs, inits);
  if (parser.resolveOperands(inputs, type.getInputs(), location, result.operands))
    return failure();
  result.addTypes(type.getResults());
  auto &properties = result.getOrAddProperties<Properties>();
  properties.dimension = parser.getBuilder().getI64IntegerAttr(dimension);
  properties.operandSegmentSizes = {inputCount, carryCount};
  properties.resultSegmentSizes = {outputCount, carryCount};
  return success();
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << '(' << getInputs() << ") inits (" << getInits() << ") dimension=" << getDimension();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getDimensionAttrName(), getOperandSegmentSizeAttr(), getResultSegmentSizeAttr()});
  printer << ' ';
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(*this);
}

/// Returns `type` without dimension `dim`, which is to have size `size`, or gives it its first value. Null if
/// it has not.
static RankedTensorType dropDimension(RankedTensorType type, int64_t dim, int64_t &size) {
  if (dim >= type.getRank() || failed(verifyCompatibleDims({type.getDimSize(dim), size})))
    return {};
  if (ShapedType::isDynamic(size))
    size = type.getDimSize(dim);
  Dims shape(type.getShape());
  shape.erase(shape.begin() + dim);
  return RankedTensorType::get(shape, type.getElementType());
}

LogicalResult ScanOp::verify() {
  auto dim = static_cast<int64_t>(getDimension());
  int64_t size = getScanDimSize() ? static_cast<int64_t>(*getScanDimSize()) : ShapedType::kDynamic;
  if (dim < 0 || (getScanDimSize() && size < 0))
    return emitOpError() << "expected dimension and scan_dim_size of at least 0, got " << dim << " and "
                         << size;
  SmallVector<Type> arguments, returned;
  for (auto [values, types] : {std::pair<ValueRange, SmallVector<Type> &>(getInputs(), arguments),
                               std::pair<ValueRange, SmallVector<Type> &>(getOutputs(), returned)})
    for (Value value : values) {
      RankedTensorType slice = dropDimension(tensorOf(value), dim, size);
      if (!slice) // (C1)
        return emitOpError() << "expected inputs and outputs with a dimension " << dim << " of one size, "
                             << (ShapedType::isDynamic(size) ? std::string("any") : std::to_string(size))
                             << ", got " << value.getType();
      types.push_back(slice);
    }
  if (getInits().getTypes() != getCarries().getTypes()) // (C4)
    return emitOpError() << "expected results of the types of the initial values, " << getInits().getTypes()
                         << ", got " << getCarries().getTypes();
  llvm::append_range(arguments, getInits().getTypes());
  llvm::append_range(returned, getInits().getTypes());
  return success(succeeded(verifyArguments(*this, "the body", getBody(), arguments)) && // (C2)
                 succeeded(verifyReturned(*this, "the body", getBody(), returned)));    // (C3)
}

//===----------------------------------------------------------------------===//
// Operands of several shapes
//===----------------------------------------------------------------------===//

/// Verifies (C1) of the ops that broadcast.
static LogicalResult verifyBroadcast(Operation *op, std::optional<ArrayRef<int64_t>> dims) {
  auto lhs = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto rhs = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  Type lhsElement = getElementTypeOrSelf(op->getOperand(0)),
       rhsElement = getElementTypeOrSelf(op->getOperand(1));
  if (!isCompatibleElement(lhsElement, rhsElement))
    return op->emitOpError() << "expected operands of one element type, got " << lhsElement << " and "
                             << rhsElement;
  Type resultElement = getElementTypeOrSelf(op->getResult(0));
  if (cgx::stablehlo::isQuantized(resultElement) && !isCompatibleElement(lhsElement, resultElement))
    return op->emitOpError() << "expected a result of element type " << lhsElement << ", got "
                             << resultElement;
  // Operands of equal rank are matched dimension by dimension, whatever the attribute says.
  if (!dims || !lhs || !rhs || lhs.getRank() == rhs.getRank())
    return success();
  int64_t small = std::min(lhs.getRank(), rhs.getRank()), large = std::max(lhs.getRank(), rhs.getRank());
  if (static_cast<int64_t>(dims->size()) != small)
    return op->emitOpError() << "expected " << small
                             << " broadcast_dimensions, one per dimension of the operand of lower rank, got "
                             << dims->size();
  int64_t last = -1;
  for (int64_t dim : *dims) {
    if (dim <= last || dim >= large)
      return op->emitOpError() << "expected broadcast_dimensions to increase and to be below " << large
                               << ", got " << dim << " after " << last;
    last = dim;
  }
  return success();
}

LogicalResult BroadcastAddOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastAndOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastAtan2Op::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastCompareOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastComplexOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastDivOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastMaxOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastMinOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastMulOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastNextAfterOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastOrOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastPolygammaOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastPowOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastRemOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastShiftLeftOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastShiftRightArithmeticOp::verify() {
  return verifyBroadcast(*this, getBroadcastDimensions());
}
LogicalResult BroadcastShiftRightLogicalOp::verify() {
  return verifyBroadcast(*this, getBroadcastDimensions());
}
LogicalResult BroadcastSubOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastXorOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }
LogicalResult BroadcastZetaOp::verify() { return verifyBroadcast(*this, getBroadcastDimensions()); }

LogicalResult BroadcastSelectOp::verify() {
  Type onTrue = cast<TensorType>(getOnTrue().getType()).getElementType();
  Type onFalse = cast<TensorType>(getOnFalse().getType()).getElementType();
  if (isCompatibleElement(onTrue, onFalse)) // (C1)
    return success();
  return emitOpError() << "expected on_true and on_false of one element type, got " << getOnTrue().getType()
                       << " and " << getOnFalse().getType();
}
