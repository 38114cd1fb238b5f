//===-- ExpandComplex.cpp - Complex tensors to pairs of real ones ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// The pass walks once in program order: an operation is replaced by real ones of its operands' parts, and the
// parts of its results are recorded. Ops that move elements are done once for each part. Ops that carry
// values (loops, branches, reductions, sorts) carry both parts, and the walk continues in their regions.
//
//===----------------------------------------------------------------------------===//
#include "ComplexMath.h"
#include "Conversion.h"
#include "MissingCode.h"
#include "cgx/Passes/Native.h"
#include "ir/RuntimeOps.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_EXPANDCOMPLEXPASS
#include "cgx/Passes/Native.h.inc"

namespace {

bool isComplex(Type type) { return isa<ComplexType>(getElementTypeOrSelf(type)); }
bool isComplex(Value value) { return isComplex(value.getType()); }

/// Returns the type of each part; other types stay.
Type partType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isComplex(type) ? tensor.clone(cast<ComplexType>(tensor.getElementType()).getElementType())
                                   : type;
}

/// Returns the type with both parts of each number side by side, as C and files have them.
RankedTensorType pairType(RankedTensorType complex) {
  SmallVector<int64_t> shape(complex.getShape());
  shape.push_back(2);
  return RankedTensorType::get(shape, getElementTypeOrSelf(partType(complex)));
}

Value joinedToPairs(OpBuilder &b, Location loc, ComplexValue value) {
  auto part = cast<RankedTensorType>(value.re.getType());
  SmallVector<int64_t> shape(part.getShape());
  shape.push_back(1);
  auto column = RankedTensorType::get(shape, part.getElementType());
  shape.back() = 2;
  Value re = stablehlo::ReshapeOp::create(b, loc, column, value.re);
  Value im = stablehlo::ReshapeOp::create(b, loc, column, value.im);
  return stablehlo::ConcatenateOp::create(b, loc, RankedTensorType::get(shape, part.getElementType()),
                                          ValueRange{re, im}, part.getRank());
}

ComplexValue splitPairs(OpBuilder &b, Location loc, Value pairs) {
  auto type = cast<RankedTensorType>(pairs.getType());
  auto part = RankedTensorType::get(type.getShape().drop_back(), type.getElementType());
  auto column = [&](int64_t number) -> Value {
    if (type.getNumElements() == 0)
      return stablehlo::ReshapeOp::create(b, loc, part, pairs);
    SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1);
    starts.back() = number;
    limits.back() = number + 1;
    SmallVector<int64_t> shape(part.getShape());
    shape.push_back(1);
    Value slice = stablehlo::SliceOp::create(b, loc, RankedTensorType::get(shape, type.getElementType()),
                                             pairs, starts, limits, strides);
    return stablehlo::ReshapeOp::create(b, loc, part, slice);
  };
  return {column(0), column(1)};
}

/// Returns whether the op only moves elements, so that it can be done on each part.
bool movesElements(Operation *op) {
  using namespace stablehlo;
  return isa<stablehlo::BroadcastOp, BroadcastInDimOp, ConcatenateOp, DynamicSliceOp, DynamicUpdateSliceOp,
             GatherOp, PadOp, ReshapeOp, ReverseOp, SelectOp, SliceOp, TransposeOp>(op);
}

/// Returns whether the op hands values on.
bool carriesValues(Operation *op) {
  using namespace stablehlo;
  return isa<CaseOp, IfOp, OptimizationBarrierOp, ReduceOp, ReduceWindowOp, ReturnOp, ScatterOp, SortOp,
             WhileOp>(op);
}

/// Returns whether a region adds its two arguments or returns the second, which can be done on each part.
bool actsOnEachPart(Region &region) {
  if (!region.hasOneBlock() || region.getNumArguments() != 2)
    return false;
  Block &block = region.front();
  Operation *terminator = block.getTerminator();
  if (terminator->getNumOperands() != 1)
    return false;
  Value result = terminator->getOperand(0);
  if (result == block.getArgument(1))
    return true;
  auto add = result.getDefiningOp<stablehlo::AddOp>();
  return add && llvm::is_contained(block.getArguments(), add.getLhs()) &&
         llvm::is_contained(block.getArguments(), add.getRhs()) && add.getLhs() != add.getRhs();
}

class Expander {
public:
  /// Turns the two numbers of each pair into a dimension of the arguments and results of @main.
  void expandSignature(func::FuncOp main);
  void expandBlock(Block &block);

  /// Returns whether `op` can be expanded into parts.
  static bool isKnown(Operation *op);

private:
  void expandArguments(Block &block);
  void expandOperation(Operation *op);
  void expandArithmetic(Operation *op, ImplicitLocOpBuilder &b);
  void expandConstant(stablehlo::ConstantOp op, ImplicitLocOpBuilder &b);
  void expandConvert(stablehlo::ConvertOp op, ImplicitLocOpBuilder &b);
  void expandCompare(stablehlo::CompareOp op, ImplicitLocOpBuilder &b);
  void expandProduct(Operation *op, ImplicitLocOpBuilder &b);
  void expandLibraryCall(rt::LibraryOp op, ImplicitLocOpBuilder &b);
  void doForEachPart(Operation *op, ImplicitLocOpBuilder &b);
  void carryBothParts(Operation *op, ImplicitLocOpBuilder &b);
  Operation *clonedForPart(Operation *op, ImplicitLocOpBuilder &b, bool imaginary);

  ComplexValue partsOf(Value value) { return parts.lookup(value); }
  void replace(Value old, ComplexValue by) { parts[old] = by; }

  DenseMap<Value, ComplexValue> parts;
  SmallVector<Operation *> replaced; // in program order
};

void Expander::expandSignature(func::FuncOp main) {
  Block &entry = main.getBody().front();
  auto b = OpBuilder::atBlockBegin(&entry);
  auto widen = [&](DictionaryAttr attributes) {
    SmallVector<NamedAttribute> widened;
    for (NamedAttribute attribute : attributes ? attributes.getValue() : ArrayRef<NamedAttribute>()) {
      if (attribute.getName() == kGlobalTypeAttrName)
        if (auto type = dyn_cast<TypeAttr>(attribute.getValue()))
          if (auto global = dyn_cast<RankedTensorType>(type.getValue()); global && isComplex(global))
            attribute.setValue(TypeAttr::get(pairType(global)));
      // No axis splits a number.
      if (auto sharding = dyn_cast<ShardingAttr>(attribute.getValue())) {
        SmallVector<ArrayAttr> dimensions(sharding.getDimensions());
        dimensions.push_back(b.getArrayAttr({}));
        attribute.setValue(ShardingAttr::get(b.getContext(), dimensions));
      }
      widened.push_back(attribute);
    }
    return b.getDictionaryAttr(widened);
  };
  for (BlockArgument argument : entry.getArguments()) {
    if (!isComplex(argument))
      continue;
    Type type = argument.getType();
    argument.setType(pairType(cast<RankedTensorType>(type)));
    ComplexValue split = splitPairs(b, argument.getLoc(), argument);
    // Uses see a complex number, whose parts are known.
    auto join = stablehlo::ComplexOp::create(b, argument.getLoc(), type, split.re, split.im);
    argument.replaceUsesWithIf(join.getResult(), [&](OpOperand &use) {
      return !isa<stablehlo::ReshapeOp, stablehlo::SliceOp>(use.getOwner()) ||
             isComplex(use.getOwner()->getResult(0));
    });
    main.setArgAttrs(argument.getArgNumber(), widen(main.getArgAttrDict(argument.getArgNumber())));
  }
  auto terminator = cast<func::ReturnOp>(entry.getTerminator());
  for (OpOperand &result : terminator->getOpOperands())
    if (isComplex(result.get())) {
      unsigned number = result.getOperandNumber();
      main.setResultAttrs(number, widen(main.getResultAttrDict(number)));
    }
  SmallVector<Type> results;
  for (Type type : terminator.getOperandTypes())
    results.push_back(isComplex(type) ? pairType(cast<RankedTensorType>(type)) : type);
  main.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), results));
}

bool Expander::isKnown(Operation *op) {
  using namespace stablehlo;
  return movesElements(op) || carriesValues(op) ||
         isa<AbsOp, AddOp, Atan2Op, BitcastConvertOp, CbrtOp, CompareOp, ComplexOp, ConstantOp, ConvertOp,
             ConvolutionOp, CosineOp, DivOp, DotGeneralOp, ExpOp, Expm1Op, ImagOp, IotaOp, Log1pOp, LogOp,
             LogisticOp, MaxOp, MinOp, MulOp, NegOp, PowOp, RealOp, RsqrtOp, SignOp, SineOp, SqrtOp,
             SubtractOp, TanOp, TanhOp>(op) ||
         isa<chlo::AcosOp, chlo::AcoshOp, chlo::AsinOp, chlo::AsinhOp, chlo::AtanOp, chlo::AtanhOp,
             chlo::ConjOp, chlo::CoshOp, chlo::SinhOp, chlo::SquareOp>(op) ||
         isa<bufferization::AllocTensorOp, func::ReturnOp, rt::LibraryOp>(op);
}

/// Expands arguments: complex (x, y) become (x.re, x.im, y.re, y.im), except those of a comparator, which
/// come in pairs for each tensor that is sorted: (x, y) become (x.re, y.re, x.im, y.im).
void Expander::expandArguments(Block &block) {
  unsigned together = isa<stablehlo::SortOp>(block.getParentOp()) ? 2 : 1;
  for (unsigned i = 0; i < block.getNumArguments(); i += together) {
    if (!isComplex(block.getArgument(i)))
      continue;
    auto insertParts = [&](unsigned at, Value of) {
      return block.insertArgument(at, partType(of.getType()), of.getLoc());
    };
    SmallVector<Value> arguments(block.getArguments().slice(i, together)), re, im;
    i += together;
    for (Value argument : arguments)
      re.push_back(insertParts(i++, argument));
    for (Value argument : arguments)
      im.push_back(insertParts(i++, argument));
    for (auto [argument, real, imaginary] : llvm::zip_equal(arguments, re, im))
      replace(argument, {real, imaginary});
    i -= together;
  }
}

void Expander::expandBlock(Block &block) {
  bool isOfRegion = !isa<func::FuncOp>(block.getParentOp());
  if (isOfRegion)
    expandArguments(block);
  size_t before = replaced.size();
  for (Operation &op : llvm::make_early_inc_range(block))
    expandOperation(&op);
  // Users come after what they use.
  while (replaced.size() > before)
    replaced.pop_back_val()->erase();
  if (isOfRegion)
    block.eraseArguments([](BlockArgument argument) { return isComplex(argument); });
}

void Expander::expandOperation(Operation *op) {
  bool hasComplex = llvm::any_of(op->getOperands(), [](Value value) { return isComplex(value); }) ||
                    llvm::any_of(op->getResults(), [](Value value) { return isComplex(value); });
  if (!hasComplex) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        expandBlock(block);
    return;
  }
  ImplicitLocOpBuilder b(op->getLoc(), op);
  if (auto terminator = dyn_cast<func::ReturnOp>(op)) {
    for (OpOperand &operand : terminator->getOpOperands())
      if (isComplex(operand.get()))
        operand.set(joinedToPairs(b, op->getLoc(), partsOf(operand.get())));
    return;
  }
  if (movesElements(op))
    doForEachPart(op, b);
  else if (carriesValues(op))
    carryBothParts(op, b);
  else if (auto call = dyn_cast<rt::LibraryOp>(op))
    expandLibraryCall(call, b);
  else
    expandArithmetic(op, b);
  replaced.push_back(op);
}

Operation *Expander::clonedForPart(Operation *op, ImplicitLocOpBuilder &b, bool imaginary) {
  auto partOf = [&](Value value) {
    ComplexValue both = partsOf(value);
    return imaginary ? both.im : both.re;
  };
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (isComplex(operand))
      mapping.map(operand, partOf(operand));
  Operation *clone = b.clone(*op, mapping);
  auto toPart = [](Value value) { value.setType(partType(value.getType())); };
  llvm::for_each(clone->getResults(), toPart);
  clone->walk([&](Operation *nested) {
    llvm::for_each(nested->getResults(), toPart);
    for (Region &region : nested->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), toPart);
  });
  return clone;
}

void Expander::doForEachPart(Operation *op, ImplicitLocOpBuilder &b) {
  Operation *re = clonedForPart(op, b, /*imaginary=*/false), *im = clonedForPart(op, b, /*imaginary=*/true);
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    replace(op->getResult(i), {re->getResult(i), im->getResult(i)});
}

void Expander::carryBothParts(Operation *op, ImplicitLocOpBuilder &b) {
  bool reduces = isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::ScatterOp>(op);
  if (reduces && op->getNumResults() == 1 && actsOnEachPart(op->getRegion(0)))
    return doForEachPart(op, b);

  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (Value operand : op->getOperands()) {
    if (!isComplex(operand)) {
      operands.push_back(operand);
      continue;
    }
    ComplexValue both = partsOf(operand);
    operands.append({both.re, both.im});
  }
  for (Type type : op->getResultTypes())
    types.append(isComplex(type) ? 2 : 1, partType(type));
  OperationState state(op->getLoc(), op->getName(), operands, types,
                       op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *carrier = b.create(state);
  unsigned next = 0;
  for (Value result : op->getResults()) {
    if (isComplex(result)) {
      replace(result, {carrier->getResult(next), carrier->getResult(next + 1)});
      next += 2;
    } else {
      result.replaceAllUsesWith(carrier->getResult(next++));
    }
  }
  for (Region &region : carrier->getRegions())
    for (Block &block : region)
      expandBlock(block);
}

void Expander::expandConstant(stablehlo::ConstantOp op, ImplicitLocOpBuilder &b) {
  auto type = cast<RankedTensorType>(partType(op.getType()));
  auto value = cast<DenseElementsAttr>(op.getValue());
  SmallVector<APFloat> re, im;
  auto add = [&](const std::complex<APFloat> &number) {
    re.push_back(number.real());
    im.push_back(number.imag());
  };
  if (value.isSplat())
    add(value.getSplatValue<std::complex<APFloat>>());
  else
    llvm::for_each(value.getValues<std::complex<APFloat>>(), add);
  replace(op.getResult(), {stablehlo::ConstantOp::create(b, type, DenseElementsAttr::get(type, re)),
                           stablehlo::ConstantOp::create(b, type, DenseElementsAttr::get(type, im))});
}

void Expander::expandConvert(stablehlo::ConvertOp op, ImplicitLocOpBuilder &b) {
  Type part = partType(op.getType());
  auto converted = [&](Value value) -> Value {
    return value.getType() == part ? value : stablehlo::ConvertOp::create(b, part, value).getResult();
  };
  if (!isComplex(op.getType())) {
    op.getResult().replaceAllUsesWith(converted(partsOf(op.getOperand()).re));
    return;
  }
  if (isComplex(op.getOperand())) {
    ComplexValue from = partsOf(op.getOperand());
    replace(op.getResult(), {converted(from.re), converted(from.im)});
    return;
  }
  Value re = converted(op.getOperand());
  replace(op.getResult(), {re, ComplexMath(b).constant(re, 0)});
}

/// Expands a comparison: numbers are equal in both parts, and different in at least one.
void Expander::expandCompare(stablehlo::CompareOp op, ImplicitLocOpBuilder &b) {
  Value re = clonedForPart(op, b, /*imaginary=*/false)->getResult(0);
  Value im = clonedForPart(op, b, /*imaginary=*/true)->getResult(0);
  Value result = op.getComparisonDirection() == stablehlo::ComparisonDirection::EQ
                     ? stablehlo::AndOp::create(b, re.getType(), re, im).getResult()
                     : stablehlo::OrOp::create(b, re.getType(), re, im).getResult();
  op.getResult().replaceAllUsesWith(result);
}

/// Expands products of matrices and convolutions into four real ones.
void Expander::expandProduct(Operation *op, ImplicitLocOpBuilder &b) {
  ComplexValue lhs = partsOf(op->getOperand(0)), rhs = partsOf(op->getOperand(1));
  Type type = partType(op->getResult(0).getType());
  auto product = [&](Value x, Value y) {
    Operation *clone = b.clone(*op);
    clone->setOperands({x, y});
    clone->getResult(0).setType(type);
    return clone->getResult(0);
  };
  Value re =
      stablehlo::SubtractOp::create(b, type, product(lhs.re, rhs.re), product(lhs.im, rhs.im)).getResult();
  Value im = stablehlo::AddOp::create(b, type, product(lhs.re, rhs.im), product(lhs.im, rhs.re)).getResult();
  replace(op->getResult(0), {re, im});
}

/// Expands a library call: C takes both parts of a number side by side.
void Expander::expandLibraryCall(rt::LibraryOp op, ImplicitLocOpBuilder &b) {
  SmallVector<Value> inputs, outputs;
  SmallVector<Type> types;
  for (Value input : op.getInputs())
    inputs.push_back(isComplex(input) ? joinedToPairs(b, op.getLoc(), partsOf(input)) : input);
  for (Value output : op.getOutputs()) {
    if (isComplex(output))
      output = ownTensor(b, op.getLoc(), pairType(cast<RankedTensorType>(output.getType())));
    outputs.push_back(output);
    types.push_back(output.getType());
  }
  auto call = rt::LibraryOp::create(b, types, op.getCallee(), op.getScalars(), inputs, outputs);
  for (auto [old, result] : llvm::zip_equal(op.getResults(), call.getResults())) {
    if (isComplex(old))
      replace(old, splitPairs(b, op.getLoc(), result));
    else
      old.replaceAllUsesWith(result);
  }
}

void Expander::expandArithmetic(Operation *op, ImplicitLocOpBuilder &b) {
  using namespace stablehlo;
  ComplexMath math(b);
  auto operand = [&](unsigned number) { return partsOf(op->getOperand(number)); };
  auto set = [&](ComplexValue value) { replace(op->getResult(0), value); };
  auto setReal = [&](Value value) { op->getResult(0).replaceAllUsesWith(value); };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ConstantOp constant) { expandConstant(constant, b); })
      .Case([&](ConvertOp convert) { expandConvert(convert, b); })
      .Case([&](CompareOp compare) { expandCompare(compare, b); })
      .Case<DotGeneralOp, ConvolutionOp>([&](auto) { expandProduct(op, b); })
      .Case([&](ComplexOp complex) { set({complex.getLhs(), complex.getRhs()}); })
      .Case([&](RealOp) { setReal(operand(0).re); })
      .Case([&](ImagOp) { setReal(operand(0).im); })
      .Case([&](AbsOp) { setReal(math.modulus(operand(0))); })
      .Case([&](IotaOp) {
        Value re = clonedForPart(op, b, /*imaginary=*/false)->getResult(0);
        set({re, math.constant(re, 0)});
      })
      .Case([&](BitcastConvertOp) { // side by side, both parts are what memory has of a number
        Value pairs = joinedToPairs(b, op->getLoc(), operand(0));
        auto type = pairType(cast<RankedTensorType>(op->getResult(0).getType()));
        set(splitPairs(b, op->getLoc(), BitcastConvertOp::create(b, op->getLoc(), type, pairs)));
      })
      .Case([&](AddOp) { set(math.add(operand(0), operand(1))); })
      .Case([&](SubtractOp) { set(math.subtract(operand(0), operand(1))); })
      .Case([&](MulOp) { set(math.multiply(operand(0), operand(1))); })
      .Case([&](DivOp) { set(math.divide(operand(0), operand(1))); })
      .Case([&](PowOp) { set(math.power(operand(0), operand(1))); })
      .Case([&](MaxOp) { set(math.maximum(operand(0), operand(1))); })
      .Case([&](MinOp) { set(math.minimum(operand(0), operand(1))); })
      .Case([&](Atan2Op) { set(math.arcTangent(operand(0), operand(1))); })
      .Case([&](CbrtOp) { set(math.cubeRoot(operand(0))); })
      .Case([&](NegOp) { set(math.negate(operand(0))); })
      .Case([&](SignOp) { set(math.sign(operand(0))); })
      .Case([&](ExpOp) { set(math.exponential(operand(0))); })
      .Case([&](Expm1Op) { set(math.exponentialMinusOne(operand(0))); })
      .Case([&](LogOp) { set(math.logarithm(operand(0))); })
      .Case([&](Log1pOp) { set(math.logPlusOne(operand(0))); })
      .Case([&](SqrtOp) { set(math.squareRoot(operand(0))); })
      .Case([&](RsqrtOp) { set(math.reciprocalSquareRoot(operand(0))); })
      .Case([&](SineOp) { set(math.sine(operand(0))); })
      .Case([&](CosineOp) { set(math.cosine(operand(0))); })
      .Case([&](TanOp) { set(math.tangent(operand(0))); })
      .Case([&](TanhOp) { set(math.hyperbolicTangent(operand(0))); })
      .Case([&](LogisticOp) { set(math.logistic(operand(0))); })
      .Case([&](chlo::ConjOp) { set(math.conjugate(operand(0))); })
      .Case([&](chlo::SquareOp) { set(math.multiply(operand(0), operand(0))); })
      .Case([&](chlo::SinhOp) { set(math.hyperbolicSine(operand(0))); })
      .Case([&](chlo::CoshOp) { set(math.hyperbolicCosine(operand(0))); })
      .Case([&](chlo::AsinOp) { set(math.arcSine(operand(0))); })
      .Case([&](chlo::AcosOp) { set(math.arcCosine(operand(0))); })
      .Case([&](chlo::AtanOp) { set(math.arcTangent(operand(0))); })
      .Case([&](chlo::AsinhOp) { set(math.inverseHyperbolicSine(operand(0))); })
      .Case([&](chlo::AcoshOp) { set(math.inverseHyperbolicCosine(operand(0))); })
      .Case([&](chlo::AtanhOp) { set(math.inverseHyperbolicTangent(operand(0))); })
      // Made anew by the library call that writes to it.
      .Case([&](bufferization::AllocTensorOp) {});
}

struct ExpandComplexPass : impl::ExpandComplexPassBase<ExpandComplexPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal() || !main.getBody().hasOneBlock() || !usesComplex(main))
      return;
    if (failed(reportUnknown(main)))
      return signalPassFailure();
    Expander expander;
    expander.expandSignature(main);
    expander.expandBlock(main.getBody().front());
  }

  static bool usesComplex(func::FuncOp main) {
    return main
        .walk([](Operation *op) {
          bool found = llvm::any_of(op->getOperandTypes(), [](Type type) { return isComplex(type); }) ||
                       llvm::any_of(op->getResultTypes(), [](Type type) { return isComplex(type); });
          return found ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Reports one error for all operations that have no parts.
  static LogicalResult reportUnknown(func::FuncOp main) {
    llvm::MapVector<StringAttr, SmallVector<Operation *, 1>> unknown;
    main.walk([&](Operation *op) {
      if (Expander::isKnown(op))
        return;
      for (Type type : llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                                llvm::to_vector(op->getResultTypes())))
        if (isComplex(type)) {
          unknown[kindOf(op)].push_back(op);
          return;
        }
    });
    if (unknown.empty())
      return success();
    InFlightDiagnostic error =
        unknown.front().second.front()->emitError("native code is missing for complex numbers in ");
    llvm::interleaveComma(unknown, error, [&](auto &entry) {
      error << entry.first.getValue() << " (" << entry.second.size() << ")";
    });
    for (auto &[name, ops] : unknown)
      error.attachNote(ops.front()->getLoc()) << "first " << name.getValue() << " of complex numbers";
    return error;
  }
};

} // namespace
} // namespace cgx
