//===-- StepState.cpp - the state that a step takes and returns -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepState.h"

#include "StateFeeds.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace cgx;

RankedTensorType cgx::getStaticFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && isa<FloatType>(tensor.getElementType()) ? tensor
                                                                                      : RankedTensorType();
}

/// Returns the type in which both parts of complex numbers stand side by side; null if the elements are not
/// complex, or their number is not static.
static RankedTensorType getTypeOfParts(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto element = tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  if (!element || !tensor.hasStaticShape())
    return {};
  SmallVector<int64_t> shape(tensor.getShape());
  shape.push_back(2);
  return RankedTensorType::get(shape, element.getElementType());
}

/// Returns whether the name is `arg3` or `result0`, which the import gives to values without one.
static bool isPlaceholder(StringRef name) {
  unsigned number = 0;
  return name.empty() ||
         ((name.consume_front("arg") || name.consume_front("result")) && !name.getAsInteger(10, number));
}

/// Returns the path below `result[0]`: a step that returns several subtrees numbers them.
static TreePath getPathBelowResult(StringRef name) {
  TreePath path = TreePath::parse(name);
  if (!path.keys.empty() && path.keys.front().kind == TreeKey::Kind::Index)
    path.keys.erase(path.keys.begin());
  return path;
}

StepState::StepState(func::FuncOp step) : feeds(step.getNumResults()), fedBy(step.getNumArguments()) {
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    auto argument = step.getResultAttrOfType<IntegerAttr>(i, kFeedsAttrName);
    if (argument && argument.getInt() >= 0 && argument.getInt() < step.getNumArguments())
      feeds[i] = argument.getInt();
  }
  if (llvm::none_of(feeds, [](auto feed) { return feed.has_value(); }))
    feeds = matchFeeds(getStepArguments(step), getStepResults(step));
  for (auto [result, argument] : llvm::enumerate(feeds))
    if (argument)
      fedBy[*argument] = result;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    auto name = step.getArgAttrOfType<StringAttr>(i, kNameAttrName);
    StringAttr resultName =
        fedBy[i] ? step.getResultAttrOfType<StringAttr>(*fedBy[i], kNameAttrName) : StringAttr();
    bool isNamedByResult =
        resultName && !isPlaceholder(resultName) && isPlaceholder(name ? name.getValue() : "");
    paths.push_back(isNamedByResult ? getPathBelowResult(resultName)
                                    : TreePath::parse(name ? name.getValue() : ""));
    types.push_back(getStaticFloatTensor(step.getArgumentTypes()[i]));
    RankedTensorType parts = getTypeOfParts(step.getArgumentTypes()[i]);
    isComplex.push_back(parts != nullptr);
    if (parts)
      types.back() = parts;
    auto sharding = step.getArgAttrOfType<ShardingAttr>(i, kShardingAttrName);
    hasDeviceAxis.push_back(types[i] && types[i].getRank() > 0 && types[i].getDimSize(0) == 1 && sharding &&
                            !sharding.getDimensions().front().empty());
  }
}

bool StepState::isCalledParameter(unsigned argument) const {
  auto contains = [](StringRef text) { return text.contains_insensitive("param"); };
  const TreePath &path = paths[argument];
  return contains(path.root) ||
         llvm::any_of(path.keys, [&](const TreeKey &key) { return contains(key.text); });
}

unsigned StepState::getCommonSuffix(unsigned argument, unsigned other) const {
  unsigned common = 0;
  for (auto [a, b] : llvm::zip(llvm::reverse(paths[argument].keys), llvm::reverse(paths[other].keys))) {
    if (a.text != b.text)
      break;
    ++common;
  }
  return common;
}
