//===-- WrapPerRank.cpp - A rank's program in the exported signature --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "CallerSharding.h"
#include "cgx/Passes/CallerState.h"
#include "cgx/Passes/Xla.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Sdy/SdyDialect.h"
#include "cgx/Dialect/Stablehlo/MhloDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_WRAPPERRANKPASS
#include "cgx/Passes/Xla.h.inc"

namespace {

/// The placement of an argument or a result, according to its attributes.
struct Placement {
  Type globalType;
  sdy::TensorShardingAttr sharding;
};

class Wrapper {
public:
  Wrapper(ModuleOp module, func::FuncOp main, MeshAttr mesh)
      : module(module), main(main), context(main.getContext()), mesh(mesh) {}

  LogicalResult run() {
    findOrCreateMesh();
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      if (failed(place(arguments, "argument", i, main.getArgumentTypes()[i], main.getArgAttrDict(i))))
        return failure();
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      if (failed(place(results, "result", i, main.getResultTypes()[i], main.getResultAttrDict(i))))
        return failure();
    wrap();
    return success();
  }

  /// Restores a sharding of the caller: if its mesh is that of the computation, it is named.
  Attribute nameMesh(Attribute sharding) {
    auto written = dyn_cast<sdy::TensorShardingAttr>(sharding);
    if (!written || written.getMeshOrRef() != meshOp.getMesh())
      return sharding;
    return sdy::TensorShardingAttr::get(context, FlatSymbolRefAttr::get(meshOp), written.getDimensions(),
                                        written.getReplicatedAxes(), written.getUnreducedAxes(),
                                        written.getReductionOp());
  }

private:
  void findOrCreateMesh() {
    SmallVector<sdy::MeshAxisAttr> axes;
    for (auto [name, size] : llvm::zip_equal(mesh.getAxes(), mesh.getSizes()))
      axes.push_back(sdy::MeshAxisAttr::get(context, name.getValue(), size));
    auto wanted = sdy::MeshAttr::get(context, axes, ArrayRef<int64_t>());
    for (auto op : module.getOps<sdy::MeshOp>())
      if (op.getMesh() == wanted) {
        meshOp = op;
        return;
      }
    OpBuilder builder(context); // the symbol table puts it into the module, with a name of its own
    auto created = sdy::MeshOp::create(builder, module.getLoc(), "mesh", wanted);
    SymbolTable(module).insert(created, module.getBody()->begin());
    meshOp = created;
  }

  LogicalResult place(SmallVector<Placement> &placements, StringRef what, unsigned number, Type local,
                      DictionaryAttr attributes) {
    auto get = [&](StringRef name) { return attributes ? attributes.get(name) : Attribute(); };
    auto sharding = dyn_cast_or_null<ShardingAttr>(get(kShardingAttrName));
    auto global = dyn_cast_or_null<TypeAttr>(get(kGlobalTypeAttrName));
    if (!sharding || !global)
      return main.emitError() << "expected " << kShardingAttrName << " and " << kGlobalTypeAttrName << " on "
                              << what << " " << number << " of @main, which is a " << local
                              << ": only what was imported goes back";
    SmallVector<sdy::DimensionShardingAttr> dimensions;
    for (ArrayAttr axes : sharding.getDimensions()) {
      SmallVector<sdy::AxisRefAttr> refs;
      for (auto axis : axes.getAsRange<StringAttr>())
        refs.push_back(sdy::AxisRefAttr::get(context, axis.getValue(), /*preSize=*/0, /*size=*/0));
      dimensions.push_back(
          sdy::DimensionShardingAttr::get(context, refs, /*isClosed=*/true, /*priority=*/std::nullopt));
    }
    auto written = sdy::TensorShardingAttr::get(context, FlatSymbolRefAttr::get(meshOp), dimensions,
                                                ArrayRef<sdy::AxisRefAttr>(), ArrayRef<sdy::AxisRefAttr>(),
                                                sdy::ReductionOp::Sum);
    placements.push_back({global.getValue(), written});
    return success();
  }

  /// Moves the body into a manual computation.
  void wrap() {
    auto types = [](ArrayRef<Placement> placements) {
      return llvm::map_to_vector(placements, [](const Placement &each) { return each.globalType; });
    };
    auto shardings = [&](ArrayRef<Placement> placements) {
      return sdy::TensorShardingPerValueAttr::get(
          context, llvm::map_to_vector(placements, [](const Placement &each) { return each.sharding; }));
    };
    SmallVector<Type> argumentTypes = types(arguments), resultTypes = types(results);
    SmallVector<Location> locations =
        llvm::map_to_vector(main.getArguments(), [](BlockArgument argument) { return argument.getLoc(); });

    Block *inner = &main.getBody().front();
    Block *outer = &main.getBody().emplaceBlock();
    outer->addArguments(argumentTypes, locations);
    Operation *terminator = inner->getTerminator();
    OpBuilder builder = OpBuilder::atBlockEnd(outer);
    auto axes = sdy::ManualAxesAttr::get(context, llvm::to_vector(mesh.getAxes()));
    auto computation =
        sdy::ManualComputationOp::create(builder, main.getLoc(), resultTypes, outer->getArguments(),
                                         shardings(arguments), shardings(results), axes);
    func::ReturnOp::create(builder, terminator->getLoc(), computation.getResults());
    inner->moveBefore(&computation.getBody(), computation.getBody().end());
    builder.setInsertionPoint(terminator);
    sdy::ReturnOp::create(builder, terminator->getLoc(), terminator->getOperands());
    terminator->erase();
    main.setType(FunctionType::get(context, argumentTypes, resultTypes));
  }

  ModuleOp module;
  func::FuncOp main;
  MLIRContext *context;
  MeshAttr mesh;
  sdy::MeshOp meshOp;
  SmallVector<Placement> arguments, results;
};

/// Removes cgx's own attributes, and restores those that the caller had before.
DictionaryAttr restore(DictionaryAttr attributes, function_ref<Attribute(Attribute)> nameMesh) {
  if (!attributes)
    return attributes;
  NamedAttrList kept;
  for (NamedAttribute attribute : attributes)
    if (!attribute.getName().getValue().starts_with("cgx."))
      kept.push_back(attribute);
  if (Attribute sharding = attributes.get(kCallerShardingAttrName))
    kept.set(isa<StringAttr>(sharding) ? mhlo::kShardingAttrName : sdy::kShardingAttrName,
             nameMesh(sharding));
  return kept.getDictionary(attributes.getContext());
}

struct WrapPerRankPass : impl::WrapPerRankPassBase<WrapPerRankPass> {
  using WrapPerRankPassBase::WrapPerRankPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal()) {
      module.emitError("expected a function @main with a body");
      return signalPassFailure();
    }
    auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttrName);
    if (perRank || !mesh || mesh.getNumRanks() == 1) {
      clean(main, [](Attribute sharding) { return sharding; });
      return;
    }
    Wrapper wrapper(module, main, mesh);
    if (failed(wrapper.run()))
      return signalPassFailure();
    clean(main, [&](Attribute sharding) { return wrapper.nameMesh(sharding); });
  }

  void clean(func::FuncOp main, function_ref<Attribute(Attribute)> nameMesh) {
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      main.setArgAttrs(i, restore(main.getArgAttrDict(i), nameMesh));
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      main.setResultAttrs(i, restore(main.getResultAttrDict(i), nameMesh));
    getOperation()->removeAttr(kMeshAttrName);
    getOperation()->removeAttr(kNumRanksAttrName);
    getOperation()->removeAttr(kCallerKeepsStateAttrName);
  }
};

} // namespace
} // namespace cgx
