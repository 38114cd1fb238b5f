//===-- Kind.cpp - Kinds of layers ----------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Kind.h"

#include "cgx/codec_table.h"

#include <array>
#include <vector>

namespace cgx::layers {

static constexpr std::array<std::string_view, kKindCount> kNames = {"gradient",       "weight",
                                                                    "activation",     "other",
                                                                    "outer_gradient", "activation_gradient",
                                                                    "dispatch",       "dispatch_gradient",
                                                                    "combine",        "combine_gradient"};

std::string_view nameOf(Kind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<Kind> kindNamed(std::string_view name) {
  for (uint32_t kind = 0; kind < kKindCount; ++kind)
    if (kNames[kind] == name)
      return Kind(kind);
  return std::nullopt;
}

std::span<const Kind> coveringKinds(Kind kind) {
  using enum Kind;
  // An option about dispatch covers both directions, and is therefore nearer than one about all gradients.
  static const std::array<std::vector<Kind>, kKindCount> covering = {{
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

bool isActivation(Kind kind) { return coveringKinds(kind).back() == Kind::Activation; }

std::string describeKinds() { return codec_table::choiceOf(kNames); }

} // namespace cgx::layers
