//===-- Gcomp.cpp - #cgx.gcomp --------------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

#include <array>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace cgx;

namespace {

/// A constant of optimizers, and which of them have it.
struct Constant {
  StringRef name;
  FloatAttr (GcompAttr::*get)() const;
  float cgx_codec::*field;
  double usual;                      ///< where it is left out
  bool isDecay;                      ///< below 1
  SmallVector<Optimizer> optimizers; ///< empty: all

  bool isOf(Optimizer optimizer) const {
    return optimizers.empty() || llvm::is_contained(optimizers, optimizer);
  }
  double valueOf(GcompAttr codec) const { return (codec.*get)().getValueAsDouble(); }
  /// Whether texts name it: a learning rate that the step lends is none of the codec's.
  bool isNamedOf(GcompAttr codec) const {
    return isOf(codec.getOptimizer()) && (field != &cgx_codec::learning_rate || valueOf(codec) != 0);
  }
};

/// In the order of the attribute's parameters.
ArrayRef<Constant> getConstants() {
  using enum Optimizer;
  static const std::array<Constant, 7> constants = {{
      {"learning_rate", &GcompAttr::getLearningRate, &cgx_codec::learning_rate, 0, /*isDecay=*/false, {}},
      {"weight_decay", &GcompAttr::getWeightDecay, &cgx_codec::weight_decay, 0, /*isDecay=*/false, {}},
      {"momentum",
       &GcompAttr::getMomentum,
       &cgx_codec::momentum,
       0.9,
       /*isDecay=*/true,
       {Momentum, Nesterov}},
      {"dampening", &GcompAttr::getDampening, &cgx_codec::dampening, 0, /*isDecay=*/true, {Momentum}},
      {"beta1", &GcompAttr::getBeta1, &cgx_codec::beta1, 0.9, /*isDecay=*/true, {Adam, Adamw}},
      {"beta2", &GcompAttr::getBeta2, &cgx_codec::beta2, 0.999, /*isDecay=*/true, {Rmsprop, Adam, Adamw}},
      {"epsilon",
       &GcompAttr::getEpsilon,
       &cgx_codec::epsilon,
       1e-8,
       /*isDecay=*/false,
       {Adagrad, Rmsprop, Adam, Adamw}},
  }};
  return constants;
}

} // namespace

cgx_codec GcompAttr::getCodec() const {
  cgx_codec codec = {.family = CGX_CODEC_GCOMP,
                     .checksum = getChecksum(),
                     .optimizer = static_cast<uint32_t>(getOptimizer()),
                     .truncation = static_cast<uint32_t>(getTruncation())};
  for (const Constant &constant : getConstants())
    codec.*constant.field = static_cast<float>(constant.valueOf(*this));
  return codec;
}

DictionaryAttr GcompAttr::getManifestEntry() const {
  detail::ManifestEntry entry(*this);
  entry.text("optimizer", stringifyOptimizer(getOptimizer()));
  for (const Constant &constant : getConstants())
    if (constant.isNamedOf(*this))
      entry.real(constant.name, constant.valueOf(*this));
  if (getTruncation() != 0)
    entry.integer("truncation", getTruncation());
  return entry.flag("checksum", getChecksum()).get();
}

bool GcompAttr::isUnbiased() const { return false; }

LogicalResult GcompAttr::verify(function_ref<InFlightDiagnostic()> emitError, Optimizer optimizer,
                                FloatAttr learningRate, FloatAttr weightDecay, FloatAttr momentum,
                                FloatAttr dampening, FloatAttr beta1, FloatAttr beta2, FloatAttr epsilon,
                                int64_t truncation, bool) {
  const FloatAttr values[] = {learningRate, weightDecay, momentum, dampening, beta1, beta2, epsilon};
  for (auto [constant, attribute] : llvm::zip_equal(getConstants(), values)) {
    double value = attribute.getValueAsDouble();
    if (!constant.isOf(optimizer) && value != 0) // (C3)
      return emitError() << "expected no " << constant.name << ", which " << stringifyOptimizer(optimizer)
                         << " does not have, got " << value;
    if (constant.isDecay && !(value >= 0 && value < 1)) // (C2)
      return emitError() << "expected " << constant.name << " to be at least 0 and below 1, got " << value;
    if (!attribute.getType().isF64() || !(value >= 0 && value <= std::numeric_limits<float>::max())) // (C1)
      return emitError() << "expected " << constant.name << " to be at least 0, as an f32, got " << value;
  }
  if (double rate = learningRate.getValueAsDouble(); rate != 0 && static_cast<float>(rate) == 0) // (C1)
    return emitError() << "expected learning_rate to be 0 or above 0 as an f32, got " << rate;
  if (truncation < 0 || truncation > CGX_GCOMP_MOST_TRUNCATION) // (C4)
    return emitError() << "expected truncation in 0.." << CGX_GCOMP_MOST_TRUNCATION << ", got " << truncation;
  return success();
}

Attribute GcompAttr::parse(AsmParser &parser, Type) {
  auto optimizer =
      static_cast<Optimizer>(CGX_OPTIMIZER_COUNT); // not given: that of another step drops wrong bits
  std::array<double, 7> values;
  values.fill(std::numeric_limits<double>::quiet_NaN()); // not given
  int64_t truncation = 0;
  bool checksum = false;
  SMLoc location = parser.getCurrentLocation();
  detail::ParameterParser parameters(parser);
  parameters.oneOf("optimizer", optimizer, symbolizeOptimizer,
                   "sgd, momentum, nesterov, adagrad, rmsprop, adam or adamw");
  for (auto [constant, value] : llvm::zip_equal(getConstants(), values))
    parameters.real(constant.name, value);
  if (parameters.integer("truncation", truncation).flag("checksum", checksum).parse())
    return {};
  if (optimizer == static_cast<Optimizer>(CGX_OPTIMIZER_COUNT))
    return parser.emitError(location,
                            "expected an optimizer: sgd, momentum, nesterov, adagrad, rmsprop, adam "
                            "or adamw, whichever the step has"),
           Attribute();
  SmallVector<FloatAttr> constants;
  for (auto [constant, value] : llvm::zip_equal(getConstants(), values)) {
    double usual = constant.isOf(optimizer) ? constant.usual : 0;
    constants.push_back(parser.getBuilder().getF64FloatAttr(std::isnan(value) ? usual : value));
  }
  return parser.getChecked<GcompAttr>(location, parser.getContext(), optimizer, constants[0], constants[1],
                                      constants[2], constants[3], constants[4], constants[5], constants[6],
                                      truncation, checksum);
}

void GcompAttr::print(AsmPrinter &printer) const {
  printer << "<optimizer = " << stringifyOptimizer(getOptimizer());
  for (const Constant &constant : getConstants()) {
    if (!constant.isNamedOf(*this))
      continue;
    printer << ", " << constant.name << " = ";
    printer.printFloat((this->*constant.get)().getValue());
  }
  if (getTruncation() != 0)
    printer << ", truncation = " << getTruncation();
  printer << (getChecksum() ? ", checksum>" : ">");
}
