//===-- SdyAttrs.td - meshes and shardings -----------------*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_SDY_SDYATTRS_TD
#define CGX_DIALECT_SDY_SDYATTRS_TD

include "cgx/Dialect/Sdy/SdyDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Sdy_ReductionOp : I32EnumAttr<"ReductionOp", "how partial values are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">]> {
  let cppNamespace = "::cgx::sdy";
}

def Sdy_PropagationDirection : I32EnumAttr<"PropagationDirection", "where shardings may go", [
    I32EnumAttrCase<"None", 0, "NONE">, I32EnumAttrCase<"Forward", 1, "FORWARD">,
    I32EnumAttrCase<"Backward", 2, "BACKWARD">, I32EnumAttrCase<"Both", 3, "BOTH">]> {
  let cppNamespace = "::cgx::sdy";
}

class Sdy_Attr<string name, string attrMnemonic> : AttrDef<Sdy_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def Sdy_MeshAxis : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "a named axis of a mesh and its number of devices";
  let description = [{ Example: `"data"=4`. }];
  let parameters = (ins StringRefParameter<"name of the axis">:$name, "int64_t":$size);
}

def Sdy_Mesh : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "a grid of devices with named axes";
  let description = [{
    Devices are numbered row-major over the axes, the last axis fastest, unless
    `device_ids` lists them. A mesh with one device id and no axes is that
    single device.

    Example: `<["data"=4, "model"=2]>`, `<["data"=4], device_ids=[3, 2, 1, 0]>`

    **Constraints:**
    - (C1) axis names are unique
    - (C2) axis sizes are positive
    - (C3) with axes, `device_ids` is a permutation of the device numbers
    - (C4) without axes, there is at most one device id, and it is not negative
  }];
  let parameters = (ins OptionalArrayRefParameter<"MeshAxisAttr">:$axes,
                        OptionalArrayRefParameter<"int64_t">:$deviceIds);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the size of the axis `name`, or nothing if the mesh has no such axis.
    std::optional<int64_t> getAxisSize(::llvm::StringRef name) const;
    /// Returns the number of devices.
    int64_t getDeviceCount() const;
  }];
}

def Sdy_AxisRef : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "an axis of a mesh, or a part of one";
  let description = [{
    `"y":(2)4` is the part of `"y"` of size 4 under the first 2 positions: an
    axis of size 8 read as 2 x 4. Both numbers are 0 for a whole axis.
  }];
  let parameters = (ins StringRefParameter<"name of the axis">:$name,
                        DefaultValuedParameter<"int64_t", "0">:$preSize,
                        DefaultValuedParameter<"int64_t", "0">:$size);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isWhole() const { return getSize() == 0; }
  }];
}

def Sdy_DimensionSharding : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "the axes that split one dimension, major first";
  let description = [{
    A trailing `?` leaves the dimension open to further splits by a partitioner,
    `p1` gives its priority there; neither changes what the value is now.

    Example: `{"x", "y", ?}p1`
  }];
  let parameters = (ins OptionalArrayRefParameter<"AxisRefAttr">:$axes, "bool":$isClosed,
                        "std::optional<int64_t>":$priority);
}

def Sdy_TensorSharding : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "how one tensor is split over a mesh";
  let description = [{
    Names a mesh and, for each dimension, the axes that split it. Over an axis
    that is not named the tensor is replicated; `replicated` says so explicitly,
    `unreduced` says instead that the devices along it hold partial sums
    (`unreduced=max{...}`: values of which the largest counts).

    Example: `#sdy.sharding<@mesh, [{"data", ?}, {} ], replicated={"x"}, unreduced={"y":(1)2}>`

    **Constraints**, checked where the sharding is attached to a value:
    - (C1) the mesh exists
    - (C2) there is one entry per dimension of the value
    - (C3) every axis belongs to the mesh
    - (C4) a sub-axis divides its axis: `preSize * size` divides the axis size
    - (C5) no part of an axis is named twice, and consecutive parts are named as one
    - (C6) `replicated` and `unreduced` are in the order of the mesh
    - (C7) a value that is no tensor with a rank has no dimensions and no axes
    - (C8) on a single device (a mesh without axes, and with a device id) there are no dimensions and no axes
    - (C9) a dimension without axes that is closed has no priority
  }];
  let parameters = (ins "::mlir::Attribute":$meshOrRef,
                        OptionalArrayRefParameter<"DimensionShardingAttr">:$dimensions,
                        OptionalArrayRefParameter<"AxisRefAttr">:$replicatedAxes,
                        OptionalArrayRefParameter<"AxisRefAttr">:$unreducedAxes,
                        DefaultValuedParameter<"::cgx::sdy::ReductionOp", "::cgx::sdy::ReductionOp::Sum">:$reductionOp);
  let extraClassDeclaration = [{
    /// Returns the mesh, looked up from `user` if it is a symbol; null if there is none.
    MeshAttr getMesh(::mlir::Operation *user) const;
    /// Verifies (C1) to (C5) for a value of type `type` of `user`.
    ::llvm::LogicalResult verifyForType(::mlir::Type type, ::mlir::Operation *user,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
  }];
}

def Sdy_TensorShardingPerValue : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "one sharding per operand or result of an op";
  let description = [{ Example: `#sdy.sharding_per_value<[<@mesh, [{"x"} ]>, <@mesh, []>]>` }];
  let parameters = (ins OptionalArrayRefParameter<"TensorShardingAttr">:$shardings);
}

def Sdy_ManualAxes : Sdy_Attr<"ManualAxes", "manual_axes"> {
  let summary = "the axes over which a region is written per device";
  let description = [{ Example: `#sdy<manual_axes{"data", "model"}>` }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::StringAttr">:$axes);
}

def Sdy_AxisRefList : Sdy_Attr<"AxisRefList", "axis_ref_list"> {
  let summary = "axes of a mesh, or parts of axes";
  let description = [{ Example: `#sdy<axis_ref_list{"x", "y":(1)2}>` }];
  let parameters = (ins OptionalArrayRefParameter<"AxisRefAttr">:$axes);
}

def Sdy_ListOfAxisRefLists : Sdy_Attr<"ListOfAxisRefLists", "list_of_axis_ref_lists"> {
  let summary = "axes for each dimension of a tensor";
  let description = [{ Example: `#sdy<list_of_axis_ref_lists[{"x"}, {} ]>` }];
  let parameters = (ins OptionalArrayRefParameter<"AxisRefListAttr">:$dimensions);
}

def Sdy_AllToAllParam : Sdy_Attr<"AllToAllParam", "all_to_all_param"> {
  let summary = "axes that move from one dimension to another";
  let description = [{ Example: `{"x"}: 0->2` }];
  let parameters = (ins OptionalArrayRefParameter<"AxisRefAttr">:$axes, "int64_t":$source, "int64_t":$target);
}

def Sdy_AllToAllParamList : Sdy_Attr<"AllToAllParamList", "all_to_all_param_list"> {
  let summary = "the moves of an all_to_all";
  let description = [{ Example: `#sdy<all_to_all_param_list[{"x"}: 0->2, {"y"}: 1->3]>` }];
  let parameters = (ins OptionalArrayRefParameter<"AllToAllParamAttr">:$params);
}

def Sdy_Unknown : AttrDef<Sdy_Dialect, "Unknown"> {
  let attrName = "sdy.unknown";
  let summary = "an attribute that only a partitioner reads, kept as its text";
  let description = [{
    The attribute is printed as it was read, without a mnemonic of cgx.

    Example: `#sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=8} reduction={j}>`

    **Constraints** of `sdy.sharding_rule` and of `sdy.propagation_edges`, checked on the op that has them:
    - (C1) it is a rule, or edges, as upstream writes them
    - (C2) a rule has one mapping per operand and result, of its rank; shapes are static
    - (C3) factors have sizes, are in a mapping, and in one tensor only once; among several of a dimension none is 1
    - (C4) the factors of a property are in order, and of at most one of reduction, need_replication, permutation
    - (C5) a factor of a reduction is in no result
    - (C6) steps of edges are not negative, and each is there once
    - (C7) edges name operands and results that there are, and lead from a value to others
    - (C8) an op with edges has a sharding
  }];
  let parameters = (ins StringRefParameter<>:$text);
}

#endif // CGX_DIALECT_SDY_SDYATTRS_TD
