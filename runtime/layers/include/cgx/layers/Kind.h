//===-- Kind.h - Kinds of layers --------------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_KIND_H
#define CGX_LAYERS_KIND_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cgx::layers {

/// The role of the tensor that is communicated for a layer. The numbers are those of the dialect's LayerKind.
enum class Kind : uint32_t {
  Gradient,
  Weight,
  Activation,
  Other,
  OuterGradient,
  ActivationGradient,
  Dispatch,
  DispatchGradient,
  Combine,
  CombineGradient
};
inline constexpr uint32_t kKindCount = 10;

/// Returns the name in programs and manifests: "outer_gradient".
std::string_view nameOf(Kind kind);
std::optional<Kind> kindNamed(std::string_view name);

/// Returns true for gradients of one step, and for the updates accumulated since ranks last synchronized.
constexpr bool isGradient(Kind kind) { return kind == Kind::Gradient || kind == Kind::OuterGradient; }

/// Returns a kind and those that cover it, the nearest first: an option for one of them holds for it, unless
/// there is an option for a nearer one. Dispatched tokens are activations.
std::span<const Kind> coveringKinds(Kind kind);

/// Returns true if the kind is `activation`, or covered by it.
bool isActivation(Kind kind);

/// Returns the names of all kinds in a sentence: "gradient, weight, ... or combine_gradient".
std::string describeKinds();

} // namespace cgx::layers

#endif // CGX_LAYERS_KIND_H
