//===-- TransferVerifiers.cpp - verifiers of transfers, tuples and calls -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cgx::stablehlo;

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// Verifies that the results are tensors, with a token at the end.
static LogicalResult verifyReceived(Operation *op) {
  if (op->getNumResults() == 0)
    return op->emitOpError() << "expected at least one result";
  for (Type type : llvm::drop_end(op->getResultTypes()))
    if (!isa<RankedTensorType>(type))
      return op->emitOpError() << "expected tensors before the last result, got " << type;
  Type last = op->getResult(op->getNumResults() - 1).getType();
  if (!isa<TokenType>(last))
    return op->emitOpError() << "expected a token as the last result, got " << last;
  return success();
}

/// Verifies the number of a channel type: 1 between devices, 2 to the host, 3 from it.
static LogicalResult verifyChannel(Operation *op, ChannelHandleAttr channel, bool isHostTransfer,
                                   int64_t hostType) {
  int64_t expected = isHostTransfer ? hostType : 1;
  if (channel.getType() == expected)
    return success();
  return op->emitOpError() << "expected a channel of type " << expected << " as is_host_transfer is "
                           << (isHostTransfer ? "true" : "false") << ", got " << channel.getType();
}

LogicalResult SendOp::verify() { // (C1)
  return verifyChannel(*this, getChannelHandle(), getIsHostTransfer(), /*hostType=*/2);
}

LogicalResult RecvOp::verify() {
  return success(
      succeeded(verifyChannel(*this, getChannelHandle(), getIsHostTransfer(), /*hostType=*/3)) && // (C1)
      succeeded(verifyReceived(*this))); // (C2) to (C4)
}

LogicalResult InfeedOp::verify() {
  if (failed(verifyReceived(*this))) // (C1) to (C3)
    return failure();
  if (!getLayout())
    return success();
  if (getLayout()->size() != getNumResults() - 1)
    return emitOpError() << "expected " << getNumResults() - 1 << " layouts, one per tensor, got "
                         << getLayout()->size();
  for (Attribute layout : getLayoutAttr()) {
    auto dims = dyn_cast<ArrayAttr>(layout);
    if (!dims || !llvm::all_of(dims, llvm::IsaPred<IntegerAttr>))
      return emitOpError() << "expected layouts to be lists of dimensions, got " << layout;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Tuples
//===----------------------------------------------------------------------===//

LogicalResult TupleOp::verify() {
  if (TypeRange(cast<TupleType>(getResult().getType()).getTypes()) == getOperandTypes()) // (C1)
    return success();
  return emitOpError() << "expected a tuple of the operands' types, " << getOperandTypes() << ", got "
                       << getResult().getType();
}

LogicalResult GetTupleElementOp::verify() {
  auto tuple = cast<TupleType>(getOperand().getType());
  auto index = static_cast<int32_t>(getIndex());
  if (index < 0 || static_cast<size_t>(index) >= tuple.size()) // (C1)
    return emitOpError() << "expected index in range [0, " << tuple.size() << "), got " << index;
  if (tuple.getType(index) != getResult().getType()) // (C2)
    return emitOpError() << "expected a result of type " << tuple.getType(index) << ", got "
                         << getResult().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Verifies layouts: a tensor has its dimensions from the one that changes fastest, anything else has none.
static LogicalResult verifyLayouts(Operation *op, StringRef name, TypeRange types, ArrayAttr layouts) {
  if (types.size() != layouts.size())
    return op->emitOpError() << "expected " << types.size() << " layouts of the " << name << "s, got "
                             << layouts.size();
  for (auto [type, layout] : llvm::zip_equal(types, layouts)) {
    auto order = dyn_cast<DenseIntElementsAttr>(layout);
    if (!order || order.getType().getRank() != 1)
      return op->emitOpError() << "expected a layout to be a tensor of indices of rank 1, got " << layout;
    if (isa<TupleType>(type))
      return op->emitOpError() << "expected no layouts of tuples, got " << name << " " << type;
    auto shaped = dyn_cast<ShapedType>(type);
    int64_t rank = shaped && shaped.hasRank() ? shaped.getRank() : 0;
    SmallVector<int64_t> dims;
    for (const APInt &dim : order.getValues<APInt>())
      dims.push_back(dim.getSExtValue());
    llvm::sort(dims);
    if (!(shaped && !shaped.hasRank()) && !llvm::equal(dims, llvm::seq<int64_t>(0, rank)))
      return op->emitOpError() << "expected a permutation of the dimensions of " << type << ", got "
                               << layout;
  }
  return success();
}

/// Returns the type at `indices` in nested tuples; null if there is none.
static Type getTypeAt(Type type, ArrayRef<int64_t> indices) {
  for (int64_t index : indices) {
    auto tuple = dyn_cast_or_null<TupleType>(type);
    if (!tuple || index < 0 || static_cast<size_t>(index) >= tuple.size())
      return {};
    type = tuple.getType(index);
  }
  return type;
}

static LogicalResult verifyAlias(CustomCallOp op, OutputOperandAliasAttr alias) {
  int64_t index = alias.getOperandIndex();
  if (index < 0 || index >= static_cast<int64_t>(op.getInputs().size()))
    return op.emitOpError() << "expected operand_index in range [0, " << op.getInputs().size() << "), got "
                            << index;
  ArrayRef<int64_t> outputIndices = alias.getOutputTupleIndices();
  Type operand = getTypeAt(op.getInputs()[index].getType(), alias.getOperandTupleIndices()), output;
  // The first index names a result, where there are several.
  if (op.getNumResults() == 1)
    output = getTypeAt(op.getResult(0).getType(), outputIndices);
  else if (!outputIndices.empty() && outputIndices[0] >= 0 &&
           outputIndices[0] < static_cast<int64_t>(op.getNumResults()))
    output = getTypeAt(op.getResult(outputIndices[0]).getType(), outputIndices.drop_front());
  if (!operand || !output)
    return op.emitOpError() << "expected an alias of an operand and a result that exist, got " << alias;
  if (operand != output && (!isa<RankedTensorType>(operand) || !isa<RankedTensorType>(output) ||
                            failed(verifyCompatibleShape(operand, output)) ||
                            getElementTypeOrSelf(operand) != getElementTypeOrSelf(output)))
    return op.emitOpError() << "expected an alias of one type, got operand " << operand << " and result "
                            << output;
  return success();
}

//===----------------------------------------------------------------------===//
// Calls that own buffers
//===----------------------------------------------------------------------===//

/// Finds the places of buffers in a type, which may be a tuple.
static void findBuffers(Type type, SmallVector<int64_t> place,
                        SmallVectorImpl<SmallVector<int64_t>> &places) {
  if (isa<MemRefType>(type))
    places.push_back(std::move(place));
  else if (auto tuple = dyn_cast<TupleType>(type))
    for (auto [index, element] : llvm::enumerate(tuple.getTypes())) {
      SmallVector<int64_t> inner(place);
      inner.push_back(index);
      findBuffers(element, std::move(inner), places);
    }
}

/// Verifies the calls CreateBuffer, Pin and Unpin: they make buffers of nothing and of tensors, and tensors
/// of buffers.
static LogicalResult verifyBufferCall(CustomCallOp op, StringRef target) {
  bool isPin = target == "Pin", isCreate = target == "CreateBuffer";
  if (op.getInputs().size() != (isCreate ? 0 : 1) || op.getNumResults() != 1)
    return op.emitOpError() << "expected " << target << " of " << (isCreate ? "no operand" : "one operand")
                            << " and one result, got " << op.getInputs().size() << " and "
                            << op.getNumResults();
  auto input = isCreate ? ShapedType() : dyn_cast<ShapedType>(op.getInputs()[0].getType());
  auto result = dyn_cast<ShapedType>(op.getResult(0).getType());
  bool isBuffer = isa_and_nonnull<MemRefType>(result), wasBuffer = isa_and_nonnull<MemRefType>(input);
  if (!result || isBuffer != (isPin || isCreate) || (!isCreate && (!input || wasBuffer == isBuffer)))
    return op.emitOpError() << "expected " << target << " to give a "
                            << (isPin || isCreate ? "memref" : "tensor") << ", got " << op->getResultTypes();
  if (!isCreate &&
      (input.getElementType() != result.getElementType() || input.getShape() != result.getShape()))
    return op.emitOpError() << "expected a result of the operand's shape and element type, " << input
                            << ", got " << result;
  return success();
}

/// Verifies that a buffer comes from one operand, and is given to one result: every buffer that a call
/// returns is one that it took.
static LogicalResult verifyBuffers(CustomCallOp op) {
  StringRef target = op.getCallTargetName();
  if (target == "CreateBuffer" || target == "Pin" || target == "Unpin")
    return verifyBufferCall(op, target);
  SmallVector<SmallVector<int64_t>> outputs;
  if (op.getNumResults() == 1)
    findBuffers(op.getResult(0).getType(), {}, outputs);
  else
    for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
      findBuffers(type, {static_cast<int64_t>(index)}, outputs);
  SmallVector<OutputOperandAliasAttr> aliases;
  if (ArrayAttr list = op.getOutputOperandAliasesAttr())
    llvm::append_range(aliases, list.getAsRange<OutputOperandAliasAttr>());
  for (auto [index, alias] : llvm::enumerate(aliases)) {
    if (!isa<MemRefType>(
            getTypeAt(op.getInputs()[alias.getOperandIndex()].getType(), alias.getOperandTupleIndices())))
      continue;
    for (OutputOperandAliasAttr other : ArrayRef(aliases).take_front(index))
      if ((other.getOperandIndex() == alias.getOperandIndex() &&
           other.getOperandTupleIndices() == alias.getOperandTupleIndices()) ||
          other.getOutputTupleIndices() == alias.getOutputTupleIndices())
        return op.emitOpError() << "expected each buffer in one alias, got " << other << " and " << alias;
  }
  for (const SmallVector<int64_t> &output : outputs)
    if (llvm::none_of(aliases, [&](OutputOperandAliasAttr alias) {
          return alias.getOutputTupleIndices() == ArrayRef(output);
        }))
      return op.emitOpError() << "expected an alias of each buffer that is a result, got none of "
                              << textOf(output);
  return success();
}

LogicalResult CustomCallOp::verify() {
  if (getOperandLayouts().has_value() != getResultLayouts().has_value())
    return emitOpError() << "expected layouts of both operands and results, or of neither";
  if (getOperandLayouts()) {
    SmallVector<Type> results(getResultTypes());
    if (results.size() == 1)
      if (auto tuple = dyn_cast<TupleType>(results[0]))
        results.assign(tuple.getTypes().begin(), tuple.getTypes().end());
    if (failed(verifyLayouts(*this, "operand", getInputs().getTypes(), *getOperandLayouts())) ||
        failed(verifyLayouts(*this, "result", results, *getResultLayouts())))
      return failure();
  }
  if (ArrayAttr aliases = getOutputOperandAliasesAttr())
    for (Attribute attribute : aliases) {
      auto alias = dyn_cast<OutputOperandAliasAttr>(attribute);
      if (!alias)
        return emitOpError() << "expected #stablehlo.output_operand_alias<...>, got " << attribute;
      if (failed(verifyAlias(*this, alias)))
        return failure();
    }
  if (failed(verifyBuffers(*this)))
    return failure();
  if (getApiVersion() > 4)
    return emitOpError() << "expected an api_version from 0 to 4, got "
                         << static_cast<int32_t>(getApiVersion());
  // Typed calls take attributes, older ones a string.
  Attribute config = getBackendConfigAttr();
  if (config && !isa<StringAttr, DictionaryAttr>(config))
    return emitOpError() << "expected backend_config to be a string or a dictionary, got " << config;
  if (config && isa<DictionaryAttr>(config) != (getApiVersion() == 4))
    return emitOpError() << "expected backend_config to be a "
                         << (getApiVersion() == 4 ? "dictionary" : "string") << " with api_version "
                         << getApiVersion() << ", got " << config;
  return success();
}

/// Returns whether the name reads `dialect.op`, with words of letters, digits and underscores.
static bool isNamespaced(StringRef name) {
  SmallVector<StringRef> words;
  name.split(words, '.');
  return words.size() > 1 && llvm::all_of(words, [](StringRef word) {
           return !word.empty() && !llvm::isDigit(word[0]) &&
                  llvm::all_of(word, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; });
         });
}

LogicalResult CompositeOp::verify() {
  if (isNamespaced(getName())) // (C1)
    return success();
  return emitOpError() << "expected a name such as 'my_library.my_op', got '" << getName() << "'";
}

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getDecompositionAttr());
  if (!function) // (C2)
    return emitOpError() << "expected decomposition to be a function, got " << getDecompositionAttr();
  if (TypeRange(function.getArgumentTypes()) != getOperandTypes()) // (C3)
    return emitOpError() << "expected operands of the types of " << getDecompositionAttr() << ", "
                         << function.getArgumentTypes() << ", got " << getOperandTypes();
  if (TypeRange(function.getResultTypes()) != getResultTypes()) // (C4)
    return emitOpError() << "expected results of the types of " << getDecompositionAttr() << ", "
                         << function.getResultTypes() << ", got " << getResultTypes();
  return success();
}
