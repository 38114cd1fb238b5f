//===-- StablehloAttrs.td - dimension numbers, channels and replica groups -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLOATTRS_TD
#define CGX_DIALECT_STABLEHLO_STABLEHLOATTRS_TD

include "cgx/Dialect/Stablehlo/StablehloEnums.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

class Stablehlo_Attr<string name, string attrMnemonic> : AttrDef<Stablehlo_Dialect, name> {
  let mnemonic = attrMnemonic;
}

// Attributes written `<key = value, ...>` in any order, empty values left out.
class Stablehlo_StructAttr<string name, string mnemonic> : Stablehlo_Attr<name, mnemonic> {
  let hasCustomAssemblyFormat = 1;
}

class Stablehlo_DimsParameter<string text = ""> : ArrayRefParameter<"int64_t", text>;

def Stablehlo_ChannelHandleAttr : Stablehlo_Attr<"ChannelHandle", "channel_handle"> {
  let summary = "identifies the messages of a collective among partitions";
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Stablehlo_DotDimensionNumbersAttr : Stablehlo_StructAttr<"DotDimensionNumbers", "dot"> {
  let summary = "which dimensions a dot_general batches and contracts";
  let parameters = (ins Stablehlo_DimsParameter<>:$lhsBatchingDimensions, Stablehlo_DimsParameter<>:$rhsBatchingDimensions,
                        Stablehlo_DimsParameter<>:$lhsContractingDimensions, Stablehlo_DimsParameter<>:$rhsContractingDimensions);
}

def Stablehlo_DotAlgorithmAttr : Stablehlo_Attr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "the precision of the steps of a dot_general";
  let parameters = (ins "::mlir::Type":$lhsPrecisionType, "::mlir::Type":$rhsPrecisionType,
                        "::mlir::Type":$accumulationType, "int64_t":$lhsComponentCount,
                        "int64_t":$rhsComponentCount, "int64_t":$numPrimitiveOperations,
                        "bool":$allowImpreciseAccumulation);
  let hasCustomAssemblyFormat = 1;
}

def Stablehlo_GatherDimensionNumbersAttr : Stablehlo_StructAttr<"GatherDimensionNumbers", "gather"> {
  let summary = "how a gather reads its operand and its indices";
  let parameters = (ins Stablehlo_DimsParameter<>:$offsetDims, Stablehlo_DimsParameter<>:$collapsedSliceDims,
                        Stablehlo_DimsParameter<>:$operandBatchingDims, Stablehlo_DimsParameter<>:$startIndicesBatchingDims,
                        Stablehlo_DimsParameter<>:$startIndexMap, "int64_t":$indexVectorDim);
}

def Stablehlo_ScatterDimensionNumbersAttr : Stablehlo_StructAttr<"ScatterDimensionNumbers", "scatter"> {
  let summary = "how a scatter reads its updates and its indices";
  let parameters = (ins Stablehlo_DimsParameter<>:$updateWindowDims, Stablehlo_DimsParameter<>:$insertedWindowDims,
                        Stablehlo_DimsParameter<>:$inputBatchingDims, Stablehlo_DimsParameter<>:$scatterIndicesBatchingDims,
                        Stablehlo_DimsParameter<>:$scatterDimsToOperandDims, "int64_t":$indexVectorDim);
}

def Stablehlo_ConvDimensionNumbersAttr : Stablehlo_StructAttr<"ConvDimensionNumbers", "conv"> {
  let summary = "the layout of input, kernel and output of a convolution";
  let description = "Written as `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.";
  let parameters = (ins "int64_t":$inputBatchDimension, "int64_t":$inputFeatureDimension,
                        Stablehlo_DimsParameter<>:$inputSpatialDimensions, "int64_t":$kernelInputFeatureDimension,
                        "int64_t":$kernelOutputFeatureDimension, Stablehlo_DimsParameter<>:$kernelSpatialDimensions,
                        "int64_t":$outputBatchDimension, "int64_t":$outputFeatureDimension,
                        Stablehlo_DimsParameter<>:$outputSpatialDimensions);
}

def Stablehlo_OutputOperandAliasAttr : Stablehlo_StructAttr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "an output of a custom call that shares its buffer with an operand";
  let parameters = (ins Stablehlo_DimsParameter<>:$outputTupleIndices, "int64_t":$operandIndex,
                        Stablehlo_DimsParameter<>:$operandTupleIndices);
}

def Stablehlo_ResultAccuracyAttr : Stablehlo_StructAttr<"ResultAccuracy", "result_accuracy"> {
  let summary = "the accuracy asked of an elementwise function";
  let parameters = (ins "::mlir::FloatAttr":$atol, "::mlir::FloatAttr":$rtol, "int64_t":$ulps,
                        "::cgx::stablehlo::ResultAccuracyModeAttr":$mode);
  let genVerifyDecl = 1;
}

def Stablehlo_BoundsAttr : AttrDef<Stablehlo_Dialect, "Bounds",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "bounds";
  let summary = "how large dynamic dimensions of a tensor may be";
  let description = [{
    The encoding of a tensor type: a bound, or `?`, per dimension. The older
    spelling `#stablehlo.type_extensions<bounds = [4, ?]>` is read as well.

    Example: `tensor<?x2xf32, #stablehlo.bounds<4, ?>>`

    **Constraints:**
    - (C1) there is one bound per dimension
    - (C2) a dimension that is not dynamic has the bound `?`
    - (C3) bounds are not negative
  }];
  let parameters = (ins Stablehlo_DimsParameter<>:$bounds);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Replica groups in terms of mesh axes (StableHLO 1.13 and later)
//===----------------------------------------------------------------------===//

def Stablehlo_MeshAxisAttr : Stablehlo_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "a named axis of a device mesh and its size";
  let description = "**Constraints:** (C1) `size` is positive.";
  let genVerifyDecl = 1;
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Stablehlo_MeshAttr : Stablehlo_Attr<"Mesh", "mesh"> {
  let summary = "a mesh of devices";
  let description = [{
    `device_ids` lists the devices in row-major order of the axes; without it
    they are numbered so.

    ```mlir
    #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 2>], device_ids=dense<[3, 2, 1, 0]> : tensor<4xi64>>
    ```

    **Constraints:**
    - (C1) Names of axes are unique.
    - (C2) `device_ids` is a permutation of the numbers below the product of the sizes.
  }];
  let genVerifyDecl = 1;
  let parameters = (ins ArrayRefParameter<"::cgx::stablehlo::MeshAxisAttr">:$axes,
                        OptionalParameter<"::mlir::DenseIntElementsAttr">:$deviceIds);
  let hasCustomAssemblyFormat = 1;
}

def Stablehlo_SubAxisInfoAttr : Stablehlo_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "a part of a mesh axis: `(pre_size)size`";
  let parameters = (ins "int64_t":$preSize, "int64_t":$size);
  let assemblyFormat = "`(` $preSize `)` `` $size";
}

def Stablehlo_AxisRefAttr : Stablehlo_Attr<"AxisRef", "axis_ref"> {
  let summary = "a mesh axis, or a part of one";
  let parameters = (ins StringRefParameter<>:$name,
                        OptionalParameter<"::cgx::stablehlo::SubAxisInfoAttr">:$sub_axis_info);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Stablehlo_ReplicaGroupMeshAxesAttr : Stablehlo_Attr<"ReplicaGroupMeshAxes", "replica_group_mesh_axes"> {
  let summary = "groups of devices that differ along the named axes only";
  let description = [{
    With `x` of a 2x2 mesh of axes x and y the groups are `[[0, 2], [1, 3]]`. The
    mesh is given here or by the symbol of an `sdy.mesh`.

    ```mlir
    #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]>
    ```

    **Constraints:**
    - (C1) `mesh` is a `#stablehlo.mesh` or a symbol.
    - (C2) Each axis is one of the mesh, if that is given here.
    - (C3) A sub-axis `(pre)size` divides its axis: `pre * size` divides the size of the axis.
    - (C4) No axis, or part of one, occurs twice.
  }];
  let genVerifyDecl = 1;
  let parameters = (ins "::mlir::Attribute":$mesh, ArrayRefParameter<"::cgx::stablehlo::AxisRefAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
}

def Stablehlo_ReplicaGroups : AnyAttrOf<[I64ElementsAttr, Stablehlo_ReplicaGroupMeshAxesAttr],
    "replica groups, dense or by mesh axes">;

def Stablehlo_PrecisionConfig : TypedArrayAttrBase<Stablehlo_PrecisionAttr, "one precision per operand">;

def Stablehlo_UnknownAttr : AttrDef<Stablehlo_Dialect, "Unknown"> {
  let attrName = "stablehlo.unknown";
  let summary = "an attribute that is not defined here, kept as its text";
  let description = [{
    Written as it was read, without a mnemonic of ours: `#stablehlo.foo<1>` of an
    op that is not defined here either.
  }];
  let parameters = (ins StringRefParameter<>:$text);
}

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOATTRS_TD
