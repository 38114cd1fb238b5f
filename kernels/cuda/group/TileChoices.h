//===-- TileChoices.h - The tile kernels that are compiled --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the one table of instantiations. Element type, rounding and storage of a residual decide about each
// element. For combinations that are used often they are chosen at launch; for others, kernels read them once
// for each tile, which takes more registers but keeps the library smaller.
#ifndef CGX_KERNELS_CUDA_GROUP_TILECHOICES_H
#define CGX_KERNELS_CUDA_GROUP_TILECHOICES_H

#include "TileEncode.h"
#include "TileShapes.h"

namespace cgx::cuda {

/// Returns whether a width is used often.
template <typename Shape> constexpr bool isCommon() { return Shape::bits == 4 || Shape::bits == 8; }

/// Returns whether kernels of a shape are compiled for this source, rather than only for the storage of a
/// residual.
template <typename Shape, bool isSum> constexpr bool isKnownSource(Kept kept, Source source) {
  if (kept != Kept::nothing) // only tensors of f32
    return !isSum && isCommon<Shape>() && source == Source::f32;
  if (!isCommon<Shape>())
    return false;
  const bool isRounded = source == Source::f32ToF16 || source == Source::f32ToBf16;
  return source == Source::f32 || isRounded == isSum;
}

inline Kept keptOf(const EncodeDescriptor &desc) {
  return desc.residual.values ? keptAs(desc.residual.storage) : Kept::nothing;
}

/// Returns whether the kernel of a choice encodes a descriptor of the shape. Exactly one kernel does.
template <typename Shape, bool isSum, typename Choice> bool isChosen(Choice, const EncodeDescriptor &desc) {
  const bool isKnown = isKnownSource<Shape, isSum>(Choice::kept, desc.source) && desc.reciprocal != 0.0f;
  if (Choice::kept != keptOf(desc) || Choice::isKnown != isKnown)
    return false;
  const bool isStochastic = desc.codec.rounding == CGX_ROUND_STOCHASTIC;
  return !isKnown || (Choice::source == desc.source && Choice::isStochastic == isStochastic);
}

/// Calls visit(shape, choice) for each kernel that encodes tensors, or sums. Only a few shapes have kernels
/// for sums and residuals.
template <bool isSum, typename Visit> void forEachTileChoice(const Visit &visit) {
  const auto visitKept = [&](auto shape, auto kept) {
    using Shape = decltype(shape);
    constexpr Kept keptAs = decltype(kept)::value;
    const auto visitSource = [&](auto source) {
      if constexpr (isKnownSource<Shape, isSum>(keptAs, decltype(source)::value)) {
        visit(shape, TileChoice<keptAs, true, decltype(source)::value, /*isStochastic=*/false>());
        visit(shape, TileChoice<keptAs, true, decltype(source)::value, /*isStochastic=*/true>());
      }
    };
    visitSource(Constant<Source::f32>());
    visitSource(Constant<isSum ? Source::f32ToF16 : Source::f16>());
    visitSource(Constant<isSum ? Source::f32ToBf16 : Source::bf16>());
    visit(shape, TileChoice<keptAs, /*isKnown=*/false>());
  };
  forEachTileShape</*few=*/isSum>([&](auto shape) { visitKept(shape, Constant<Kept::nothing>()); });
  forEachTileShape</*few=*/true>([&](auto shape) {
    visitKept(shape, Constant<Kept::f32>());
    visitKept(shape, Constant<Kept::bf16>());
    visitKept(shape, Constant<Kept::int8>());
  });
}

/// Calls visit(type, isBfloat) for each kernel that casts elements.
template <typename Visit> void forEachRunType(const Visit &visit) {
  const auto visitType = [&](auto type) {
    visit(type, std::false_type());
    visit(type, std::true_type());
  };
  visitType(Constant<CGX_F32>());
  visitType(Constant<CGX_F16>());
  visitType(Constant<CGX_BF16>());
}

/// Calls visit(shape, choice) for each kernel that stores elements.
template <bool few, typename Visit> void forEachTypeChoice(const Visit &visit) {
  forEachTileShape<few>([&](auto shape) {
    if constexpr (isCommon<decltype(shape)>()) {
      visit(shape, TypeChoice<true, CGX_F32>());
      visit(shape, TypeChoice<true, CGX_F16>());
      visit(shape, TypeChoice<true, CGX_BF16>());
    } else {
      visit(shape, TypeChoice</*isKnown=*/false>());
    }
  });
}

/// Returns whether the kernel of a choice handles elements of a type.
template <bool isKnown, cgx_element_type chosen>
constexpr bool isChosen(TypeChoice<isKnown, chosen>, cgx_element_type type) {
  return !isKnown || type == chosen;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_TILECHOICES_H
