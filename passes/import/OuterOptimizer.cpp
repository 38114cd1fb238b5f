//===-- OuterOptimizer.cpp - optimizers of outer steps --------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OuterOptimizer.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cgx;

/// Returns " (did you mean 'x'?)" for the candidate that a word was likely meant to be; else nothing.
static std::string getMeant(StringRef word, ArrayRef<StringRef> candidates) {
  const StringRef *best = llvm::min_element(
      candidates, [&](StringRef a, StringRef b) { return word.edit_distance(a) < word.edit_distance(b); });
  return word.edit_distance(*best) > 2 ? "" : " (did you mean '" + best->str() + "'?)";
}

std::optional<OuterOptimizer> OuterOptimizer::parse(StringRef text, StringRef rate, StringRef momentum,
                                                    function_ref<InFlightDiagnostic()> emitError) {
  // Options of passes end at a space, so that the second half of `nesterov<lr=0.7 momentum=0.9>` arrives as
  // an option of its own, with the bracket.
  std::string all = text.str();
  if (!rate.empty())
    all += " lr=" + rate.str();
  if (!momentum.empty())
    all += " momentum=" + momentum.str();
  if (StringRef(all).count('<') != StringRef(all).count('>') || StringRef(all).count('<') > 1) {
    emitError() << "expected outer to be one rule, with its parameters in one pair of angle brackets, got "
                << all;
    return std::nullopt;
  }
  SmallVector<StringRef> words;
  llvm::SplitString(all, words, " <>,");
  const StringRef name = words.empty() ? "" : words.front();
  const StringRef rules[] = {"sgd", "momentum", "nesterov"};
  OuterOptimizer optimizer;
  const auto *rule = llvm::find(rules, name);
  if (rule == std::end(rules)) {
    emitError() << "expected outer to be sgd, momentum or nesterov, got '" << name << "'"
                << getMeant(name, rules);
    return std::nullopt;
  }
  optimizer.rule = static_cast<Rule>(rule - std::begin(rules));
  optimizer.rate = optimizer.rule == Rule::Sgd ? 1.0 : 0.7;
  optimizer.momentum = optimizer.rule == Rule::Sgd ? 0.0 : 0.9;
  llvm::StringSet<> given;
  for (StringRef word : ArrayRef(words).drop_front()) {
    auto [key, value] = word.split('=');
    const StringRef keys[] = {"lr", "momentum"};
    double number = 0;
    if (!llvm::is_contained(keys, key)) {
      emitError() << "outer " << name << ": expected its parameters to be lr and momentum, got '" << key
                  << "'" << getMeant(key, keys);
      return std::nullopt;
    }
    if (!given.insert(key).second) {
      emitError() << "outer " << name << ": expected " << key << " once, got it twice";
      return std::nullopt;
    }
    const bool isRate = key == "lr";
    if (!isRate && !optimizer.hasMomentum()) {
      emitError() << "outer sgd: expected no momentum, got " << value << "; momentum and nesterov have one";
      return std::nullopt;
    }
    if (value.getAsDouble(number) || !(isRate ? number > 0 && number < 1e6 : number >= 0 && number < 1)) {
      emitError() << "outer " << name << ": expected " << key << " to be "
                  << (isRate ? "a number above 0" : "a number from 0 to below 1") << ", got '" << value
                  << "'";
      return std::nullopt;
    }
    (isRate ? optimizer.rate : optimizer.momentum) = number;
  }
  return optimizer;
}

RankedTensorType OuterOptimizer::getWideType(RankedTensorType type) {
  const unsigned width = type.getElementTypeBitWidth();
  return width >= 32 ? type : type.clone(Float32Type::get(type.getContext()));
}

OuterOptimizer::Next OuterOptimizer::update(OpBuilder &builder, Location location, Value anchor, Value moment,
                                            Value gradient) const {
  auto type = cast<RankedTensorType>(anchor.getType());
  RankedTensorType wide = getWideType(type);
  const auto convert = [&](Value value, RankedTensorType to) -> Value {
    return value.getType() == to ? value : stablehlo::ConvertOp::create(builder, location, to, value);
  };
  const auto scale = [&](double factor, Value value) -> Value {
    if (factor == 1.0)
      return value;
    auto splat = DenseElementsAttr::get(wide, builder.getFloatAttr(wide.getElementType(), factor));
    Value constant = stablehlo::ConstantOp::create(builder, location, splat);
    return stablehlo::MulOp::create(builder, location, wide, constant, value);
  };
  const auto add = [&](Value a, Value b) -> Value {
    return stablehlo::AddOp::create(builder, location, wide, a, b);
  };
  Value step = convert(gradient, wide), next;
  if (hasMomentum()) {
    next = add(scale(momentum, moment), step);
    step = rule == Rule::Nesterov ? add(scale(momentum, next), step) : next;
  }
  Value moved =
      stablehlo::SubtractOp::create(builder, location, wide, convert(anchor, wide), scale(rate, step));
  return {convert(moved, type), next};
}
