//===-- CgxAttrs.td - codecs, groups, layers, meshes and shardings --*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_CGXATTRS_TD
#define CGX_DIALECT_CGX_CGXATTRS_TD

include "cgx/Dialect/Cgx/CgxEnums.td"
include "cgx/Dialect/Cgx/CodecAttrInterface.td"
include "mlir/IR/AttrTypeBase.td"

//===----------------------------------------------------------------------===//
// Enumerations as attributes
//===----------------------------------------------------------------------===//

def Cgx_ReductionAttr : EnumAttr<Cgx_Dialect, Cgx_Reduction, "reduction">;
def Cgx_PhaseAttr : EnumAttr<Cgx_Dialect, Cgx_Phase, "phase">;
def Cgx_AlgorithmAttr : EnumAttr<Cgx_Dialect, Cgx_Algorithm, "algorithm"> {
  let assemblyFormat = "`<` $value `>`";
}

class Cgx_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Cgx_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Codecs
//===----------------------------------------------------------------------===//

def Cgx_CodecAttr : AttrDef<Cgx_Dialect, "Codec", [Cgx_CodecAttrInterface]> {
  let summary = "a codec family and its parameters";
  let description = [{
    One way to encode elements. The table of `cgx/codec.h` and `cgx/codec_table.h` lists the families, their parameters,
    and the values and defaults of these; `docs/codecs.md` describes each family. The name of the family is the
    attribute's. Parameters are written in any order, each at most once, and flags without a value. The first three
    below are the same.

    Example:
    ```mlir
    #cgx.quantize
    #cgx.quantize<bits = 4>
    #cgx.quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>
    #cgx.cast<format = fp8_e4m3, bucket = 128, scale = f32, checksum>
    #cgx.identity
    ```

    **Constraints:**
    - (C1) numbers are in their ranges
    - (C2) a parameter that exists only with some cases of another is left out with the others
    - (C3) parameters that restrict each other agree
  }];
  let mnemonic = ?;
  let attrName = "cgx.codec";
  let parameters = (ins "::cgx::CodecValues":$values);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Parses the parameters, which follow the name of the family in assembly.
    static ::mlir::Attribute parseParameters(::mlir::AsmParser &parser, uint32_t family);
    void printParameters(::mlir::AsmPrinter &printer) const;
    /// Returns whether the family has a trait of the table of families.
    bool has(uint32_t trait) const { return (getValues().entry().traits & trait) != 0; }

    // CodecAttrInterface
    cgx_codec getCodec() const { return ::cgx::toCodec(getValues()); }
    cgx_codec getBackCodec() const { return getCodec(); }
    ::llvm::StringRef getFamily() const { return getValues().entry().name; }
    bool isFixedSize() const { return !has(CGX_VARIES_IN_SIZE); }
    bool isUnbiased() const;
    bool isStateful() const { return has(CGX_HAS_STATE); }
    bool isAssociative() const { return has(CGX_IS_ASSOCIATIVE); }
    bool isExact() const { return has(CGX_KEEPS_EVERY_BIT); }
    bool isRaw() const { return getValues().family == CGX_CODEC_IDENTITY; }
    bool takesElementType(::mlir::Type elementType) const;
    bool needsAllReduce() const { return has(CGX_NEEDS_ALL_REDUCE); }
    std::string getShapeRefusal(::mlir::RankedTensorType type) const;
    ::llvm::StringRef getElementTypesText() const;
  }];
}

def Cgx_ErrorFeedbackAttr : Cgx_Attr<"ErrorFeedback", "error_feedback", [Cgx_CodecAttrInterface]> {
  let summary = "another codec with error feedback: each rank adds its earlier encoding errors";
  let description = [{
    Before a rank encodes, it adds the residual, its accumulated encoding error; afterwards the new error becomes the
    residual (Algorithm 2.1 of the thesis behind CGX and L-GreCo). So elements that a biased codec drops, such as the
    small ones of a sparse codec, arrive later. The owner of a chunk does the same with the result of an all-reduce.

        p = x + residual      payload = encode(p)      residual = decay * (p - decode(payload))

    Payloads are those of the other codec. `decay` is the share of the error that is corrected. `storage` is the type of
    the residual, which is as large as the tensor: `f32`, `bf16`, or `int8` with a scale for each 128 elements. The
    residual belongs to a rank and an operand, and `cgx-run --save` saves it.

    `decay` and `storage` may be left out in text, and are then 1 and f32.

    Example:
    ```mlir
    #cgx.error_feedback<#cgx.quantize<bits = 2, bucket = 128, rounding = nearest, scale = bf16>, decay = 9.000000e-01, storage = bf16>
    ```

    **Constraints:**
    - (C1) the other codec is lossy, and has no error feedback itself
    - (C2) `decay` is above 0 and up to 1
  }];
  let parameters = (ins "::cgx::CodecAttrInterface":$inner, "::mlir::FloatAttr":$decay,
                        "::cgx::ResidualStorage":$storage);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    // CodecAttrInterface: what differs from the other codec
    bool isUnbiased() const { return false; } // a step's payload also holds earlier steps' losses
    bool isStateful() const { return true; }
    bool isExact() const { return false; }
  }];
}

def Cgx_TwoWayAttr : Cgx_Attr<"TwoWay", "two_way", [Cgx_CodecAttrInterface]> {
  let summary = "one codec for contributions, another for the result";
  let description = [{
    In an `all_reduce`, contributions travel in payloads of the codec `there`, and the sum of a chunk, which its owner
    sends to the others, in payloads of the codec `back`: a sum is denser than the contributions, and has another
    distribution (the bidirectional setting of the layer-wise paper). Chunks are cut as for `there`. The algorithm is
    scatter-reduce-allgather, and there is no explicit form.

    Example:
    ```mlir
    #cgx.two_way<there = #cgx.topk<density = 1.000000e-02>, back = #cgx.natural>
    ```

    **Constraints:**
    - (C1) neither codec is two-way itself, has error feedback (which can be of both), or needs an all-reduce
    - (C2) one of them is lossy
  }];
  let parameters = (ins "::cgx::CodecAttrInterface":$there, "::cgx::CodecAttrInterface":$back);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::cgx::CodecAttrInterface getInner() const { return getThere(); }

    // CodecAttrInterface: what differs from `there`
    cgx_codec getBackCodec() const { return getBack().getCodec(); }
    bool isFixedSize() const { return getThere().isFixedSize() && getBack().isFixedSize(); }
    bool isUnbiased() const { return getThere().isUnbiased() && getBack().isUnbiased(); }
    bool isStateful() const { return getThere().isStateful() || getBack().isStateful(); }
    bool isAssociative() const { return false; }
    bool isExact() const { return false; }
    bool isRaw() const { return false; }
    bool needsAllReduce() const { return true; }
    bool takesElementType(::mlir::Type elementType) const;
    ::llvm::StringRef getElementTypesText() const;
  }];
}

def Cgx_DeltaAttr : Cgx_Attr<"Delta", "delta", [Cgx_CodecAttrInterface]> {
  let summary = "another codec, applied to the change of activations or weights since they were last sent";
  let description = [{
    In a `permute`, the first dimension of the operand counts samples of the batch. Both ends of each pair keep the last
    message of every sample, bit for bit equal, and the change since then is sent (AQ-SGD, Algorithm 1):

        first visit of sample i    the row, uncompressed   m(i) = a
        later                      payload = encode(a - m(i))      m(i) = m(i) + decode(payload)

    The receiver uses m(i). The ids of the rows are the last operand of the collective, uncompressed and in i32. They
    are sent like the others. Rows of no sample have ids below zero, -1 the first row, -2 the second, and messages of
    their own; a rank that is no target gets these as ids. Payloads are those of the other codec for the whole operand;
    rows of first visits follow them. `samples` bounds the ids and the memory: samples and rows, times the elements of a
    row, at each end, in `storage`, f32 or bf16, on the host. `cgx-run --save` saves the messages. If a row is not
    finite, it arrives as such, and its message is unchanged.

    In an `all_gather`, the change of each rank's part since it was last gathered is sent (SDP4Bit), and all ranks of
    the group keep the message of every part. There are no ids: `samples` is the number of runs of the gather in a step,
    each with messages of its own. The first gather is uncompressed.

    Example:
    ```mlir
    %r:2 = cgx.permute(%x, %ids)
        codec(delta<#cgx.quantize<bits = 3>, samples = 4096, storage = f32>, identity) groups([[0, 1]]) id(5)
        layer("pipeline", activation) layer("pipeline/ids", other) source_target_pairs([[0, 1]])
        : tensor<8x16xf32>, tensor<8xi32>
    %w = cgx.all_gather(%part) codec(delta<#cgx.quantize<bits = 4>, samples = 1, storage = bf16>)
        dim(0) groups([[0, 1]]) id(6) layer("w", weight, [8, 16])
        : (tensor<4x16xf32>) -> tensor<8x16xf32>
    ```

    **Constraints:**
    - (C1) the other codec is lossy, has payloads of one size, and is neither one of changes itself nor has error
      feedback or another way back
    - (C2) `samples` is 1 to 2^31 - 1
    - (C3) `storage` is f32 or bf16
  }];
  let parameters = (ins "::cgx::CodecAttrInterface":$inner, "int64_t":$samples, "::cgx::ResidualStorage":$storage);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the bytes that one end keeps of earlier messages of an operand of this type.
    uint64_t getStateBytes(::mlir::RankedTensorType type) const;

    // CodecAttrInterface: what differs from the other codec
    bool isUnbiased() const { return false; } // a payload holds the change since the last message
    bool isStateful() const { return true; }
    bool isExact() const { return false; }
    bool isRaw() const { return false; }
    bool isAssociative() const { return false; }
    std::string getShapeRefusal(::mlir::RankedTensorType type) const;
  }];
}

//===----------------------------------------------------------------------===//
// Process groups and layers
//===----------------------------------------------------------------------===//

def Cgx_HierarchyAttr : Cgx_Attr<"Hierarchy", "hierarchy"> {
  let summary = "the hosts that the algorithm hierarchical divides groups into";
  let description = [{
    Each `local` consecutive positions of a group are one host. Operands are reduced within each host; the results are
    reduced between hosts with the codec of the operand, and then distributed within each host.

        inside     host 0  [a0 a1] [b0 b1]  ->  a0+b0 | a1+b1       host 1  c0+d0 | c1+d1
        between            a0+b0 <-> c0+d0      a1+b1 <-> c1+d1
        inside             a0+b0+c0+d0 | a1+b1+c1+d1  ->  [r0 r1] [r0 r1]

    With `leaders = all` each rank of a host owns a chunk and exchanges it with the owners of that chunk on other hosts:
    all ranks send to other hosts. With `leaders = one` the first rank of a host has the whole operand, and alone sends
    to other hosts.

    `inside` is the codec between ranks of one host. An operand whose own codec is lossless keeps that codec there, too.

    `inside` and `leaders` may be left out, and are then `#cgx.identity` and `all`.

    Example:
    ```mlir
    #cgx.hierarchy<local = 4, inside = #cgx.identity, leaders = all>
    ```

    **Constraints:**
    - (C1) `local` is at least 1
    - (C2) `inside` has neither error feedback nor another way back
    - (C3) `inside` needs no all-reduce: it is neither `lowrank` nor `gcomp`
  }];
  let parameters = (ins "int64_t":$local, "::cgx::CodecAttrInterface":$inside, "::cgx::Leaders":$leaders);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cgx_GroupsAttr : Cgx_Attr<"Groups", "groups"> {
  let summary = "the groups of ranks that a collective connects";
  let description = [{
    Each row lists the ranks of one group. A rank's position in its row is its position in the group: it owns the chunk,
    the slice or the part of that number. Rows may differ in length. Without rows every rank is a group of its own, as
    in a program for a single rank.

    Example:
    ```mlir
    #cgx.groups<[[0, 1], [2, 3]]>
    ```

    **Constraints:**
    - (C1) no row is empty
    - (C2) ranks are not negative
    - (C3) no rank occurs twice
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$rows);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<::llvm::SmallVector<int64_t>>":$rows)>
  ];
  let extraClassDeclaration = [{
    /// Returns the size that all groups have, or nothing if they differ.
    std::optional<int64_t> getUniformSize() const;
    int64_t getLargestSize() const;
    int64_t getSmallestSize() const;
    /// Returns whether all groups have one rank, so that nothing is communicated.
    bool isTrivial() const { return getLargestSize() == 1; }
    /// Returns the number of ranks of all groups together.
    int64_t getNumRanks() const;
    /// The group of `rank`, and the position of `rank` in it; nothing for a rank in no row.
    /// Takes time linear in the number of ranks.
    struct Membership {
      ::llvm::ArrayRef<int64_t> group;
      int64_t position;
    };
    std::optional<Membership> getMembership(int64_t rank) const;
  }];
}

def Cgx_LayerAttr : Cgx_Attr<"Layer", "layer"> {
  let summary = "the parameter that an operand is communicated for";
  let description = [{
    The path of the parameter, the kind of communication, and the shape of the parameter in the program. The
    communicated tensor may have another shape: JAX reduces the gradient of a bias of 128 elements as `1x128`. An
    operand that belongs to no parameter (a loss, a metric) has the name "".

    A parameter may be a stack of equal layers, which a loop goes through one by one. `stacked` is the number of leading
    dimensions that count them: conditions on a layer's rank and size apply to each layer.

    Different reductions of one kind for one parameter have different names: the second is `params/l1/w#2`.
    `params/l1/w#statistic` is a statistic computed from the gradient, and is no gradient.

    Example:
    ```mlir
    #cgx.layer<"params/l1/w", gradient, [64, 128]>
    #cgx.layer<"params/blocks/norm", gradient, [12, 128], stacked = 1>
    #cgx.layer<"", other>
    ```

    **Constraints:**
    - (C1) dimensions are not negative
    - (C2) the name is UTF-8: reports and manifests hold it
    - (C3) `stacked` is not negative, and not more than the shape has dimensions
  }];
  let parameters = (ins StringRefParameter<"path of the parameter, keys joined by '/'">:$name,
                        "::cgx::LayerKind":$kind,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr", "null where it is not known">:$shape,
                        DefaultValuedParameter<"int64_t", "0", "leading dimensions that count layers">:$stacked);
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name, "::cgx::LayerKind":$kind,
                                   "::mlir::DenseI64ArrayAttr":$shape),
                              [{ return $_get($_ctxt, name, kind, shape, /*stacked=*/0); }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the shape of one layer of a stack, or the parameter's own if it is no stack.
    /// Requires a shape.
    ::llvm::ArrayRef<int64_t> getLayerShape() const {
      return getShape().asArrayRef().drop_front(getStacked());
    }
    /// Returns the number of equal layers that the parameter is.
    int64_t getLayerCount() const;
  }];
}

//===----------------------------------------------------------------------===//
// How the program is spread over the ranks
//===----------------------------------------------------------------------===//

def Cgx_MeshAttr : Cgx_Attr<"Mesh", "mesh"> {
  let summary = "the grid of ranks that the program was written for";
  let description = [{
    Named axes and their sizes. Ranks are numbered row-major: the last axis is
    the fastest. Without axes there is one rank.

    Example:
    ```mlir
    #cgx.mesh<["data" = 4, "model" = 2]>
    ```

    **Constraints:**
    - (C1) names are unique, not empty, and UTF-8
    - (C2) sizes are positive
    - (C3) there are at most 2^20 ranks
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::StringAttr">:$axes,
                        OptionalArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumRanks() const;
    /// Returns the size of an axis, or nothing if the mesh has no such axis.
    std::optional<int64_t> getAxisSize(::llvm::StringRef name) const;
    /// Returns the groups of ranks that differ along `axes` only, positions counted with the first of
    /// `axes` major. Every one of `axes` must be an axis of the mesh.
    GroupsAttr getGroupsOver(::llvm::ArrayRef<::llvm::StringRef> axes) const;
  }];
}

def Cgx_ShardingAttr : Cgx_Attr<"Sharding", "sharding"> {
  let summary = "the axes of the mesh that split each dimension of a value";
  let description = [{
    One row per dimension, with the axes that split it, major first. Along an
    axis that occurs in no row all ranks hold the same.

    Example: with `#cgx.mesh<["data" = 4, "model" = 2]>`, a value of global type
    `tensor<64x32xf32>` and the sharding below is `tensor<16x32xf32>` on each
    rank, and ranks 0 and 1 hold the same rows.
    ```mlir
    #cgx.sharding<[["data"], []]>
    ```

    **Constraints:**
    - (C1) no axis occurs twice
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::ArrayAttr">:$dimensions);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns whether `axis` splits a dimension.
    bool hasAxis(::llvm::StringRef axis) const;
  }];
}

//===----------------------------------------------------------------------===//
// Arrays, one entry per operand of a collective
//===----------------------------------------------------------------------===//

def Cgx_CodecArrayAttr : TypedArrayAttrBase<Cgx_CodecAttrInterface, "one codec per operand">;
def Cgx_LayerArrayAttr : TypedArrayAttrBase<Cgx_LayerAttr, "one layer per operand">;

#endif // CGX_DIALECT_CGX_CGXATTRS_TD
