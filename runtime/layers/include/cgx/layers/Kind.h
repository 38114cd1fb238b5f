//===-- Kind.h - What is communicated for a layer ---------------*- C++ -*-===//
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

/// What is communicated for a layer. The numbers are those of the dialect's LayerKind.
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

/// As programs and manifests have it: "outer_gradient".
std::string_view nameOf(Kind kind);
std::optional<Kind> kindNamed(std::string_view name);

/// Whether layers of a kind say which way a parameter is to go, in this step or since ranks last met.
constexpr bool isGradient(Kind kind) { return kind == Kind::Gradient || kind == Kind::OuterGradient; }

/// A kind and those that it is one of, the nearest first: what is said of one of them holds for it, unless a
/// nearer one has it otherwise. Dispatched tokens are activations.
std::span<const Kind> coveringKinds(Kind kind);

/// Whether a kind is `activation`, or covered by it.
bool isActivation(Kind kind);

/// The names of all kinds as a sentence has them: "gradient, weight, ... or combine_gradient".
std::string describeKinds();

} // namespace cgx::layers

#endif // CGX_LAYERS_KIND_H
