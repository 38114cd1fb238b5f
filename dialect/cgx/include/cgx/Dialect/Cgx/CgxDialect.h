//===-- CgxDialect.h - the cgx dialect --------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_CGXDIALECT_H
#define CGX_DIALECT_CGX_CGXDIALECT_H

#include "cgx/codec_table.h"
#include "cgx/wire.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

namespace cgx {

/// Hashes codecs, so that equal ones are one attribute.
inline llvm::hash_code hash_value(const CodecValues &codec) {
  auto bits = std::bit_cast<std::array<uint64_t, CodecValues::kMost>>(codec.values);
  return llvm::hash_combine(codec.family, llvm::hash_combine_range(bits.begin(), bits.end()));
}

/// Returns the element type of cgx/codec.h that stands for `type`; nothing if collectives cannot carry it.
std::optional<cgx_element_type> getCodecElementType(mlir::Type type);

/// Returns the name of an element type in manifests and reports, such as "f32" or "bool". `type` must be
/// one that collectives carry.
llvm::StringRef getElementTypeName(mlir::Type type);

// Discardable attributes; the dialect's description says what they mean.
inline constexpr llvm::StringLiteral kMeshAttrName = "cgx.mesh";
inline constexpr llvm::StringLiteral kNumRanksAttrName = "cgx.num_ranks";
inline constexpr llvm::StringLiteral kNameAttrName = "cgx.name";
inline constexpr llvm::StringLiteral kShardingAttrName = "cgx.sharding";
inline constexpr llvm::StringLiteral kGlobalTypeAttrName = "cgx.global_type";
inline constexpr llvm::StringLiteral kFeedsAttrName = "cgx.feeds";
inline constexpr llvm::StringLiteral kUpdatesAttrName = "cgx.updates";
inline constexpr llvm::StringLiteral kInitialAttrName = "cgx.initial";
inline constexpr llvm::StringLiteral kEveryAttrName = "cgx.every";
inline constexpr llvm::StringLiteral kTurnAttrName = "cgx.turn";
// The names that `exact_reasons` and `origins` had as discardable attributes, which are still parsed.
inline constexpr llvm::StringLiteral kEarlierExactReasonName = "cgx.exact_reason";
inline constexpr llvm::StringLiteral kEarlierOriginsName = "cgx.origins";

} // namespace cgx

#include "cgx/Dialect/Cgx/CgxDialect.h.inc"
#include "cgx/Dialect/Cgx/CgxEnums.h.inc"
#include "cgx/Dialect/Cgx/CodecAttrInterface.h.inc"

#define GET_ATTRDEF_CLASSES
#include "cgx/Dialect/Cgx/CgxAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "cgx/Dialect/Cgx/CgxTypes.h.inc"

namespace cgx {
/// The resource that starts and waits of collectives write, so that passes keep them in order.
struct PendingResource : mlir::SideEffects::Resource::Base<PendingResource> {
  llvm::StringRef getName() final { return "cgx.pending"; }
};

/// The resource of payloads that gathers keep, to be decoded again.
struct KeptPayloadsResource : mlir::SideEffects::Resource::Base<KeptPayloadsResource> {
  llvm::StringRef getName() final { return "cgx.kept_payloads"; }
};
} // namespace cgx

namespace cgx::detail {
/// Returns the op that issues a collective: its `cgx.start`, or itself.
mlir::Operation *getIssuer(mlir::Operation *collective);
/// Returns the tensors that a collective results in: its results, or those of the wait for them.
mlir::ResultRange getResultTensors(mlir::Operation *collective);
/// Verifies (D2): two numbers for each of `operands`, if there are any.
llvm::LogicalResult verifyOrigins(mlir::Operation *op, mlir::DenseI64ArrayAttr origins, size_t operands);
/// Verifies (C1) to (C3), (D1) and (D2) of every collective.
llvm::LogicalResult verifyCollective(mlir::Operation *op);
/// Adds the effects of a collective that is started, keeps payloads, or decodes them again.
void getCollectiveEffects(
    mlir::Operation *op,
    llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>> &effects);
/// Converts an algorithm to the form that the runtime and the tools know.
cgx_schedule getSchedule(Algorithm algorithm, std::optional<HierarchyAttr> hierarchy);
} // namespace cgx::detail

#include "cgx/Dialect/Cgx/CommunicationInterfaces.h.inc"

#define GET_OP_CLASSES
#include "cgx/Dialect/Cgx/CgxOps.h.inc"

namespace cgx {

/// Returns the collective that an op is or starts; null for other ops.
CollectiveOpInterface getIssued(mlir::Operation *op);

/// Returns the mnemonics of the attributes that describe codecs, in alphabetical order.
llvm::SmallVector<llvm::StringRef> getCodecMnemonics();

/// Returns `#cgx.identity`, which leaves elements uncompressed.
CodecAttr getIdentityCodec(mlir::MLIRContext *context);

/// The collective, by its id, and the position in it that an operand had before collectives were merged.
using Origin = std::pair<int64_t, int64_t>;
/// Returns the origin of each operand of a collective.
llvm::SmallVector<Origin> getOrigins(CollectiveOpInterface op);
/// Returns the origin of the operand that is encoded here.
Origin getOrigin(CompressOp op);

/// Returns `count` times `#cgx.identity`, the codecs of a collective about which nothing was decided.
mlir::ArrayAttr getIdentityCodecs(mlir::MLIRContext *context, unsigned count);

/// Returns whether layers of a kind tell in which direction a parameter moves, in this step or since the last
/// outer step.
constexpr bool isGradientKind(LayerKind kind) {
  return kind == LayerKind::Gradient || kind == LayerKind::OuterGradient;
}

/// Returns whether a kind is `activation` or one that `activation` covers.
bool isActivationKind(LayerKind kind);

/// Lists the names of all kinds for a sentence: "gradient, weight, ... or combine_gradient".
std::string describeLayerKinds();

/// Returns `count` times `#cgx.layer<"", other>`, the layers of a collective about which nothing is known.
mlir::ArrayAttr getUnknownLayers(mlir::MLIRContext *context, unsigned count);

} // namespace cgx

#endif // CGX_DIALECT_CGX_CGXDIALECT_H
