//===-- ScatterReductions.cpp - reduce-scatters in place of all-reduces -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Let the rank at position k of a group of N keep slice k of the N slices of a reduced tensor along
// dimension d. Then, for f elementwise with operands that are one number, and p zero padding, a reshape, or a
// transpose,
//
//   slice_k(all_reduce(x))        = reduce_scatter(x)
//   slice_k(f(all_reduce(x)))     = f(reduce_scatter(x))
//   slice_k(p(all_reduce(x)))     = reduce_scatter(p(x))
//
// An all-reduce of n bytes sends 2 n (N - 1) / N from each rank, a reduce-scatter half of that. If ranks keep
// the slices in another order than that of the group, the group is put into that order.
//
// If there are fewer slices than ranks, S of them, each is kept by N / S ranks (weights that one axis of a
// mesh splits and another replicates). Groups of S ranks with different slices scatter, and those with one
// slice add up the results: n (S - 1) / S, and 2 n / S (N / S - 1) / (N / S).
//
//   slice_k(all_reduce(x))        = all_reduce(reduce_scatter(x))
//
//===----------------------------------------------------------------------===//

#include "CollectiveIds.h"
#include "FlatElements.h"
#include "LinearMaps.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace cgx {
#define GEN_PASS_DEF_SCATTERREDUCTIONSPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

namespace {

/// A path from a reduction to a slice: the ops on the whole tensor before it is sliced.
struct Path {
  SmallVector<Operation *> shapes;      ///< done before the reduction
  SmallVector<Operation *> elementwise; ///< done to the slice
  stablehlo::DynamicSliceOp slice;
};

/// The slices that ranks keep: the dimension, the groups of ranks in the order of their slices, and the
/// groups of ranks that keep the same slice.
struct OwnPart {
  int64_t dimension;
  GroupsAttr groups;
  GroupsAttr replicas;

  bool operator==(const OwnPart &other) const {
    return dimension == other.dimension && groups == other.groups && replicas == other.replicas;
  }
};

/// Returns whether the op only adds zeros around a tensor.
bool isZeroPadding(Operation *op) {
  auto pad = dyn_cast<stablehlo::PadOp>(op);
  return pad && isZeroSplat(pad.getPaddingValue()) &&
         llvm::all_of(pad.getEdgePaddingLow(), [](int64_t amount) { return amount >= 0; }) &&
         llvm::all_of(pad.getEdgePaddingHigh(), [](int64_t amount) { return amount >= 0; });
}

bool isShape(Operation *op) {
  return isa<stablehlo::ReshapeOp, stablehlo::TransposeOp>(op) || isZeroPadding(op);
}

/// Returns whether the op is a linear map of each element by itself.
bool isScaling(Operation *op) { return op->hasTrait<OpTrait::Elementwise>() && getLinearOperand(op); }

/// Returns whether the map makes zero of zero. A factor that is no constant may be infinite.
bool keepsZero(Operation *scaling) {
  return !isa<stablehlo::MulOp, stablehlo::DivOp>(scaling) || commutesWithRanks(scaling);
}

class ReductionScatterer {
public:
  explicit ReductionScatterer(ModuleOp module) : ids(module), values(module) {}

  void scatter(AllReduceOp reduce) {
    if (reduce.getAlgorithm() != Algorithm::Auto || reduce.getHierarchyAttr() || reduce.getOriginsAttr() ||
        reduce.getGroups().getUniformSize().value_or(1) < 2)
      return;
    SmallVector<unsigned> scattered;
    for (unsigned i = 0, e = reduce.getInputs().size(); i < e; ++i)
      if (scatterOperand(reduce, i))
        scattered.push_back(i);
    if (!scattered.empty())
      dropOperands(reduce, scattered);
  }

private:
  bool scatterOperand(AllReduceOp reduce, unsigned i) {
    SmallVector<Path> paths;
    Value result = reduce.getResult(i);
    if (result.use_empty() || !findPaths(result, {}, paths))
      return false;
    std::optional<OwnPart> part;
    for (Path &path : paths) {
      std::optional<OwnPart> next = findOwnPart(reduce.getGroups(), path.slice);
      // One exchange serves equal slices of one tensor.
      if (!next || (part && !(*part == *next)) || path.shapes != paths[0].shapes ||
          path.slice.getSliceSizes() != paths[0].slice.getSliceSizes())
        return false;
      part = next;
    }
    llvm::sort(paths, [](Path a, Path b) { return a.slice->isBeforeInBlock(b.slice); });
    Value own = createReduceScatter(reduce, i, paths[0], *part);
    for (const Path &path : paths)
      replaceSlice(path, own);
    return true;
  }

  /// Finds the paths from `value` to the slices that all of its uses end in; returns false if one ends
  /// elsewhere.
  bool findPaths(Value value, Path path, SmallVectorImpl<Path> &paths) {
    constexpr size_t kLongest = 16, kMost = 64;
    if (path.shapes.size() + path.elementwise.size() > kLongest || value.use_empty())
      return false;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      Path next = path;
      if (user->getBlock() != value.getParentBlock() || paths.size() > kMost)
        return false;
      if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(user); slice && use.getOperandNumber() == 0) {
        next.slice = slice;
        paths.push_back(next);
        continue;
      }
      if (isShape(user) && use.getOperandNumber() == 0 &&
          (!isa<stablehlo::PadOp>(user) || llvm::all_of(path.elementwise, keepsZero)))
        next.shapes.push_back(user);
      else if (isScaling(user) && getLinearOperand(user) == &use)
        next.elementwise.push_back(user);
      else
        return false;
      if (!findPaths(user->getResult(0), next, paths))
        return false;
    }
    return true;
  }

  /// Computes the indices of every rank, whatever they are made of.
  std::optional<OwnPart> findOwnPart(GroupsAttr groups, stablehlo::DynamicSliceOp slice) {
    int64_t groupSize = *groups.getUniformSize();
    auto from = dyn_cast<RankedTensorType>(slice.getOperand().getType());
    if (!from || !from.hasStaticShape())
      return std::nullopt;
    std::optional<int64_t> dimension;
    for (auto [i, sizes] : llvm::enumerate(llvm::zip_equal(from.getShape(), slice.getSliceSizes()))) {
      auto [whole, size] = sizes;
      if (whole == size)
        continue; // wherever it begins, it is clamped to all
      if (dimension || whole % size != 0 || groupSize % (whole / size) != 0)
        return std::nullopt;
      dimension = i;
    }
    if (!dimension || groups.getNumRanks() != values.getNumRanks())
      return std::nullopt;
    return groupBySlice(groups, slice, *dimension);
  }

  /// Returns the groups with each rank at the position of the slice that it takes.
  std::optional<OwnPart> groupBySlice(GroupsAttr groups, stablehlo::DynamicSliceOp slice, int64_t dimension) {
    Value index = slice.getStartIndices()[dimension];
    int64_t size = slice.getSliceSizes()[dimension];
    int64_t count = cast<RankedTensorType>(slice.getOperand().getType()).getDimSize(dimension) / size;
    SmallVector<SmallVector<int64_t>> rows, replicas;
    for (DenseI64ArrayAttr row : groups.getRows()) {
      SmallVector<SmallVector<int64_t>> takers(count);
      for (int64_t rank : row.asArrayRef()) {
        std::optional<int64_t> start = values.getScalar(index, rank);
        if (!start)
          return std::nullopt;
        int64_t clamped = std::clamp<int64_t>(*start, 0, (count - 1) * size);
        if (clamped % size != 0)
          return std::nullopt;
        takers[clamped / size].push_back(rank);
      }
      size_t share = row.size() / count;
      if (llvm::any_of(takers, [&](ArrayRef<int64_t> ranks) { return ranks.size() != share; }))
        return std::nullopt;
      for (size_t i = 0; i < share; ++i)
        rows.push_back(llvm::map_to_vector(takers, [&](ArrayRef<int64_t> ranks) { return ranks[i]; }));
      llvm::append_range(replicas, takers);
    }
    MLIRContext *context = groups.getContext();
    return OwnPart{dimension, GroupsAttr::get(context, ArrayRef(rows)),
                   GroupsAttr::get(context, ArrayRef(replicas))};
  }

  Value createReduceScatter(AllReduceOp reduce, unsigned i, Path path, const OwnPart &part) {
    OpBuilder builder(path.slice);
    Value input = reduce.getInputs()[i];
    for (Operation *shape : path.shapes) {
      IRMapping mapping;
      mapping.map(shape->getOperand(0), input);
      if (isa<stablehlo::PadOp>(shape)) // the reduction may have another element type
        mapping.map(shape->getOperand(1), getZero(builder, shape->getLoc(), getElementTypeOrSelf(input)));
      Operation *copy = builder.clone(*shape, mapping);
      auto type = cast<RankedTensorType>(shape->getResult(0).getType());
      copy->getResult(0).setType(type.clone(getElementTypeOrSelf(input)));
      input = copy->getResult(0);
    }
    auto type = cast<RankedTensorType>(input.getType()).clone(path.slice.getSliceSizes());
    auto scatter =
        ReduceScatterOp::create(builder, reduce.getLoc(), type, input, reduce.getReduction(), part.dimension,
                                ids.take(), part.groups, builder.getArrayAttr(reduce.getCodecs()[i]),
                                builder.getArrayAttr(reduce.getLayers()[i]), getExactReasons(reduce, i));
    if (part.replicas.getUniformSize() == 1)
      return scatter.getResult(0);
    auto sum =
        AllReduceOp::create(builder, reduce.getLoc(), type, scatter.getResult(0), reduce.getReduction(),
                            ids.take(), part.replicas, builder.getArrayAttr(reduce.getCodecs()[i]),
                            builder.getArrayAttr(reduce.getLayers()[i]), reduce.getAlgorithm(),
                            reduce.getHierarchyAttr(), getExactReasons(reduce, i));
    return sum.getResult(0);
  }

  static Value getZero(OpBuilder &builder, Location location, Type elementType) {
    auto type = RankedTensorType::get({}, elementType);
    return stablehlo::ConstantOp::create(builder, location, cast<ElementsAttr>(builder.getZeroAttr(type)));
  }

  static void replaceSlice(Path path, Value own) {
    OpBuilder builder(path.slice);
    for (Operation *op : path.elementwise)
      own = applyMap(builder, op, own);
    path.slice.getResult().replaceAllUsesWith(own);
    Operation *dead = path.slice;
    while (dead && isOpTriviallyDead(dead) && !isa<CollectiveOpInterface>(dead)) {
      Operation *next = dead->getOperand(0).getDefiningOp();
      if (OpOperand *linear = getLinearOperand(dead))
        next = linear->get().getDefiningOp();
      dead->erase();
      dead = next;
    }
  }

  CollectiveIds ids;
  RankValues values;
};

struct ScatterReductions : cgx::impl::ScatterReductionsPassBase<ScatterReductions> {
  void runOnOperation() override {
    ReductionScatterer scatterer(getOperation());
    SmallVector<AllReduceOp> reductions;
    getOperation().walk([&](AllReduceOp op) {
      if (!op.isStarted())
        reductions.push_back(op);
    });
    for (AllReduceOp op : reductions)
      scatterer.scatter(op);
  }
};

} // namespace
