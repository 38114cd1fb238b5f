//===-- LayerKinds.cpp - The kinds of layers, and their coverage ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/LayerCodec.h"

using namespace mlir;
using namespace cgx;

bool cgx::isActivationKind(LayerKind kind) { return layers::isActivation(layers::Kind(kind)); }

std::string cgx::describeLayerKinds() { return layers::describeKinds(); }
