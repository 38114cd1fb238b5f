//===-- LayerKinds.cpp - What is communicated, and what covers what -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "llvm/ADT/StringExtras.h"

#include <array>
#include <vector>

using namespace mlir;
using namespace cgx;

ArrayRef<LayerKind> cgx::getCoveringKinds(LayerKind kind) {
  using enum LayerKind;
  // What is said of dispatch is said of both directions, and so is nearer than what is said of all gradients.
  static const std::array<std::vector<LayerKind>, getMaxEnumValForLayerKind() + 1> covering = {{
      {Gradient},
      {Weight},
      {Activation},
      {Other},
      {OuterGradient},
      {ActivationGradient, Activation},
      {Dispatch, Activation},
      {DispatchGradient, Dispatch, ActivationGradient, Activation},
      {Combine, Activation},
      {CombineGradient, Combine, ActivationGradient, Activation},
  }};
  return covering[static_cast<size_t>(kind)];
}

bool cgx::isActivationKind(LayerKind kind) { return getCoveringKinds(kind).back() == LayerKind::Activation; }

std::string cgx::describeLayerKinds() {
  SmallVector<std::string> names;
  for (unsigned kind = 0; kind < getMaxEnumValForLayerKind(); ++kind)
    names.push_back(stringifyLayerKind(static_cast<LayerKind>(kind)).str());
  return llvm::join(names, ", ") + " or " +
         stringifyLayerKind(static_cast<LayerKind>(getMaxEnumValForLayerKind())).str();
}
