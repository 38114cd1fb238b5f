//===-- CgxCollectiveOps.td - collectives, one codec per operand --*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_CGXCOLLECTIVEOPS_TD
#define CGX_DIALECT_CGX_CGXCOLLECTIVEOPS_TD

include "cgx/Dialect/Cgx/CgxTypes.td"
include "cgx/Dialect/Cgx/CommunicationInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// An i64 attribute that C++ sees as signed, as the C ABI does.
def Cgx_I64Attr : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit signless integer attribute">;

// These attributes hold one value per operand or pair, which a pass or a person sets. They are null
// otherwise, and builders need not pass them.
def Cgx_ExactReasonsAttr : Attr<CPred<"::llvm::isa<::mlir::ArrayAttr>($_self) && "
    "::llvm::all_of(::llvm::cast<::mlir::ArrayAttr>($_self), ::llvm::IsaPred<::mlir::StringAttr>)">,
    "strings, one per operand"> {
  let storageType = "::mlir::ArrayAttr";
  let returnType = storageType;
  let convertFromStorage = "$_self";
  let constBuilderCall = "::mlir::ArrayAttr($0)";
}
def Cgx_OriginsAttr : Attr<CPred<"::llvm::isa<::mlir::DenseI64ArrayAttr>($_self)">, "array of i64"> {
  let storageType = "::mlir::DenseI64ArrayAttr";
  let returnType = storageType;
  let convertFromStorage = "$_self";
  let constBuilderCall = "::mlir::DenseI64ArrayAttr($0)";
}
def Cgx_SendsAttr : Attr<Cgx_ExactReasonsAttr.predicate, "strings, one per pair"> {
  let storageType = "::mlir::ArrayAttr";
  let returnType = storageType;
  let convertFromStorage = "$_self";
  let constBuilderCall = "::mlir::ArrayAttr($0)";
}
class Cgx_AbsentUnlessSaid<Attr attr> : DefaultValuedOptionalAttr<attr, "nullptr">;

class Cgx_Op<string mnemonic, list<Trait> traits = []> : Op<Cgx_Dialect, mnemonic, traits>;

// The base class of the collectives.
//
// Effects: a collective touches no memory that the program can see, so one whose results are
// unused may be erased (all ranks run the same program and erase the same one), but it is not
// speculatable: nothing may execute it where the program did not, since its peers would not be
// there. Ids keep CSE from merging two of them. One that is started is waited for, and payloads that
// are kept are what an op has written and a later one reads: these are neither erased nor moved.
class Cgx_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : Cgx_Op<mnemonic, [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, Cgx_CommunicationOpInterface,
                        Cgx_CollectiveOpInterface] # traits> {
  dag inputArguments = (ins Variadic<Cgx_Tensor>:$inputs);
  dag collectiveArguments = (ins Cgx_I64Attr:$id, Cgx_GroupsAttr:$groups, Cgx_CodecArrayAttr:$codecs,
                                 Cgx_LayerArrayAttr:$layers);
  dag decidedArguments = (ins Cgx_AbsentUnlessSaid<Cgx_ExactReasonsAttr>:$exact_reasons,
                              Cgx_AbsentUnlessSaid<Cgx_OriginsAttr>:$origins);
  let results = (outs Variadic<Cgx_Tensor>:$results);
  let hasVerifier = 1;
  let hasFolder = 1;

  string common = [{
    Several operands are several reductions or moves in one exchange; each has
    its codec and its layer. `id` names the messages of this collective: ranks
    match them by it, never by their order. In a group of one rank the results
    are the operands, whatever the codec.

    `exact_reasons` says why an operand must stay uncompressed; "" if it may be compressed, and absent if nothing was
    decided. `origins` has two numbers per operand of a collective that was merged: the id of the collective, and the
    position, that the operand had before. They select random numbers, so that merging changes no bit of a result.
  }];
  string commonConstraints = [{
    **Constraints:**
    - (C1) `id` is not negative
    - (C2) `codecs` and `layers` have one entry per operand, and there is one result per operand
    - (C3) each codec takes the element type and the shape of its operand, and the kind of collective
    - (D1) `exact_reasons`, if there, has one UTF-8 string per operand
    - (D2) `origins`, if there, has two numbers per operand
  }];

  code collectiveMethods = [{
    // CommunicationOpInterface and CollectiveOpInterface
    uint64_t getWireBytes(int64_t rank);
    uint64_t getOperandWireBytesAs(::cgx::CodecAttrInterface codec, unsigned operand, int64_t rank);
  }];
  code reductionMethods = [{
    ::std::optional<::cgx::Reduction> getReductionKind() { return getReduction(); }
  }];
  let extraClassDeclaration = collectiveMethods;
  let extraClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      ::cgx::detail::getCollectiveEffects(*this, effects);
    }
  }];
}

// Collectives whose results have the types of their operands: written once.
class Cgx_SameTypeCollectiveOp<string mnemonic, list<Trait> traits = []>
    : Cgx_CollectiveOp<mnemonic, [RangedTypesMatchWith<"results have the types of the operands", "inputs",
        "results", "::llvm::make_range($_self.begin(), $_self.end())">] # traits>;

def Cgx_AllReduceOp : Cgx_SameTypeCollectiveOp<"all_reduce"> {
  let summary = "combines the operands of the ranks and gives every rank the result";
  let description = [{
    For each operand, combines the tensors of the ranks of a group element by
    element. All ranks of the group get the same result, bit for bit.

        rank 0   a0 a1 a2 a3            a0+b0 a1+b1 a2+b2 a3+b3
        rank 1   b0 b1 b2 b3     ->     a0+b0 a1+b1 a2+b2 a3+b3

    With a lossy codec `Q` and the algorithm scatter-reduce-allgather, a rank
    that owns a chunk computes the sum of the decoded contributions, and all
    ranks, the owner too, get the decoded encoding of that sum:
    `Q(Q(a) + Q(b))`.

    With `ring` and `tree` a rank adds its own elements to the decoded partial result of others and encodes the sum, hop
    by hop; the last rank encodes the result for all: `Q(b + Q(a))`. Uncompressed 16-bit elements are rounded at every
    hop, too. With `hierarchical` the result is `Q(Q(I(a) + I(b)) + Q(I(c) + I(d)))`, `I` being the codec within hosts.
    The order of additions is that of the messages, the same in every run. With `one_shot` every rank gets all
    contributions and adds them up itself, in the order of the group: `Q(a) + Q(b)`. Uncompressed sums have the bits of
    scatter-reduce-allgather.

    `mean` is the sum divided by the size of the group, computed before the
    result is encoded, so that the error of the second encoding is not larger
    than that of the mean.

    Example:
    ```mlir
    %r:2 = cgx.all_reduce mean(%w, %b) algorithm(scatter_reduce_allgather)
        codec(quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>, identity)
        groups([[0, 1, 2, 3]]) id(0) layer("params/l1/w", gradient, [64, 128])
        layer("params/l1/b", gradient, [128])
        : tensor<64x128xf32>, tensor<128xf32>
    ```

  }] # common # commonConstraints # [{
    - (C4) results have the types of the operands
    - (C5) lossy codecs go with `sum` and `mean` only
    - (C6) `mean` takes floating-point operands
    - (C7) `hierarchy` is there if and only if the algorithm is `hierarchical`
    - (C8) the size of each group is a multiple of the hierarchy's `local`
    - (C9) the hierarchy's codec takes the element types of operands with lossy codecs
    - (C10) no codec is `two_way` if the algorithm is `one_shot`, which sends nothing back
  }];
  let arguments = !con(inputArguments, (ins Cgx_ReductionAttr:$reduction), collectiveArguments,
      (ins DefaultValuedAttr<Cgx_AlgorithmAttr, "::cgx::Algorithm::Auto">:$algorithm,
           OptionalAttr<Cgx_HierarchyAttr>:$hierarchy), decidedArguments);
  let assemblyFormat = "custom<ReductionName>($reduction) `` `(` $inputs `)` `` custom<CollectiveAttrs>(attr-dict, \"getOperationName()\", ref($inputs)) `:` type($inputs)";
  let extraClassDeclaration = collectiveMethods # reductionMethods # [{
    /// Returns the algorithm and its parameters as the runtime and the tools know them.
    cgx_schedule getSchedule() { return ::cgx::detail::getSchedule(getAlgorithm(), getHierarchy()); }
  }];
}

def Cgx_AllGatherOp : Cgx_CollectiveOp<"all_gather"> {
  let summary = "concatenates the operands of the ranks";
  let description = [{
    For each operand, concatenates the tensors of the ranks of a group along
    `dim`, in the order of the ranks in the group.

        rank 0   [a0 a1]                [a0 a1 b0 b1]
        rank 1   [b0 b1]         ->     [a0 a1 b0 b1]

    Each rank encodes its tensor once; all ranks, itself included, decode it.

    With `keeps_payloads`, a rank keeps the payloads of all ranks until the gather runs again. A gather with
    `decodes_again`, the id of such a gather, exchanges nothing: its results are decoded from the kept payloads, and its
    operands are not read. (It must not be used for values that changed in between.)

    Example:
    ```mlir
    %r = cgx.all_gather(%w) dim(0) groups([[0, 1], [2, 3]]) id(1)
        layer("params/l1/w", weight, [64, 128])
        : (tensor<32x128xf32>) -> tensor<64x128xf32>
    ```

  }] # common # commonConstraints # [{
    - (C4) all groups have the same size
    - (C5) `dim` is a dimension of each operand
    - (C6) a result is its operand with `dim` multiplied by the size of the groups
    - (C7) a gather that `decodes_again` has lossless codecs, as it encodes nothing, and neither keeps payloads nor is
      started
  }];
  let arguments = !con(inputArguments, (ins Cgx_I64Attr:$dim), collectiveArguments, decidedArguments,
                       (ins OptionalAttr<Cgx_I64Attr>:$decodes_again, UnitAttr:$keeps_payloads));
  let assemblyFormat = "`(` $inputs `)` `` custom<CollectiveAttrs>(attr-dict, \"getOperationName()\", ref($inputs)) `:` functional-type($inputs, $results)";
}

def Cgx_ReduceScatterOp : Cgx_CollectiveOp<"reduce_scatter"> {
  let summary = "combines the operands of the ranks and gives each rank its slice";
  let description = [{
    For each operand, combines the tensors of the ranks of a group element by
    element and cuts the result along `dim` into as many slices as the group has
    ranks; the rank at position k gets slice k.

        rank 0   [a0 a1 a2 a3]          [a0+b0 a1+b1]
        rank 1   [b0 b1 b2 b3]   ->     [a2+b2 a3+b3]

    Each slice is encoded on its own, and the result is not encoded.

    Example:
    ```mlir
    %r = cgx.reduce_scatter mean(%g) dim(0) groups([[0, 1, 2, 3]]) id(2)
        layer("params/l1/w", gradient, [64, 128])
        : (tensor<64x128xf32>) -> tensor<16x128xf32>
    ```

  }] # common # commonConstraints # [{
    - (C4) all groups have the same size
    - (C5) `dim` is a dimension of each operand
    - (C6) a result is its operand with `dim` divided, without remainder, by the size of the groups
    - (C7) lossy codecs go with `sum` and `mean` only
    - (C8) `mean` takes floating-point operands
  }];
  let arguments = !con(inputArguments, (ins Cgx_ReductionAttr:$reduction, Cgx_I64Attr:$dim), collectiveArguments, decidedArguments);
  let assemblyFormat = "custom<ReductionName>($reduction) `` `(` $inputs `)` `` custom<CollectiveAttrs>(attr-dict, \"getOperationName()\", ref($inputs)) `:` functional-type($inputs, $results)";
  let extraClassDeclaration = collectiveMethods # reductionMethods;
}

def Cgx_AllToAllOp : Cgx_CollectiveOp<"all_to_all"> {
  let summary = "gives each rank one slice of every rank's operand";
  let description = [{
    For each operand, cuts the tensor along `split_dim` into as many slices as
    the group has ranks and sends slice k to the rank at position k; that rank
    concatenates what it receives along `concat_dim`, in the order of the ranks.

        rank 0   [a0 a1]                [a0 b0]
        rank 1   [b0 b1]         ->     [a1 b1]

    Each slice is encoded on its own.

    Example:
    ```mlir
    %r = cgx.all_to_all(%x) concat_dim(1) groups([[0, 1]])
        id(3) split_dim(0)
        : (tensor<8x16xf32>) -> tensor<4x32xf32>
    ```

  }] # common # commonConstraints # [{
    - (C4) all groups have the same size
    - (C5) `split_dim` and `concat_dim` are dimensions of each operand
    - (C6) a result is its operand with `split_dim` divided, without remainder, and `concat_dim`
      multiplied by the size of the groups
  }];
  let arguments = !con(inputArguments, (ins Cgx_I64Attr:$split_dim, Cgx_I64Attr:$concat_dim), collectiveArguments, decidedArguments);
  let assemblyFormat = "`(` $inputs `)` `` custom<CollectiveAttrs>(attr-dict, \"getOperationName()\", ref($inputs)) `:` functional-type($inputs, $results)";
}

def Cgx_BroadcastOp : Cgx_SameTypeCollectiveOp<"broadcast"> {
  let summary = "gives every rank the operand of one";
  let description = [{
    For each operand, every rank of a group gets the tensor of the rank at
    position `root` of the group.

        rank 0   [a0 a1]                [a0 a1]
        rank 1   [b0 b1]         ->     [a0 a1]

    The root encodes once; all ranks, itself included, decode it.

    Example:
    ```mlir
    %r = cgx.broadcast(%w) groups([[0, 1, 2, 3]]) id(4) layer("params/l1/w", weight, [64, 128]) root(0)
        : tensor<64x128xf32>
    ```

  }] # common # commonConstraints # [{
    - (C4) results have the types of the operands
    - (C5) `root` is a position in every group
  }];
  let arguments = !con(inputArguments, (ins Cgx_I64Attr:$root), collectiveArguments, decidedArguments);
  let assemblyFormat = "`(` $inputs `)` `` custom<CollectiveAttrs>(attr-dict, \"getOperationName()\", ref($inputs)) `:` type($inputs)";
}

def Cgx_PermuteOp : Cgx_SameTypeCollectiveOp<"permute"> {
  let summary = "sends the operand of one rank to another";
  let description = [{
    For each pair of `source_target_pairs`, the target gets the tensor of the
    source; both are ranks, not positions. A rank that is no target gets zeros.

        pairs [[0, 1], [1, 2]]

        rank 0   [a0 a1]                [ 0  0]
        rank 1   [b0 b1]         ->     [a0 a1]
        rank 2   [c0 c1]                [b0 b1]

    With `sends`, a pair takes part in some runs of a step only. Each pair has a string, with a digit for each run of
    the step, beginning with the op's first run: 1 where the source sends, 0 where it does not, and the target gets
    zeros. Both ranks know this without a message. After the last digit, the first one follows again.

        sends("110", "011")     run 0: rank 0 sends     run 1: both     run 2: rank 1 sends

    Example:
    ```mlir
    %r = cgx.permute(%x) groups([[0, 1, 2]]) id(5)
        layer("", activation) source_target_pairs([[0, 1], [1, 2]])
        : tensor<8x16xf32>
    ```

  }] # common # commonConstraints # [{
    - (C4) results have the types of the operands
    - (C5) `source_target_pairs` has two columns
    - (C6) no rank is twice a source or twice a target
    - (C7) the two ranks of a pair are in one group
    - (C8) `sends`, if there, has one string of the digits 0 and 1 per pair, all of one length, which is not 0
  }];
  let arguments = !con(inputArguments, (ins I64ElementsAttr:$source_target_pairs), collectiveArguments, decidedArguments,
                       (ins Cgx_AbsentUnlessSaid<Cgx_SendsAttr>:$sends));
  let assemblyFormat = "`(` $inputs `)` `` custom<CollectiveAttrs>(attr-dict, \"getOperationName()\", ref($inputs)) `:` type($inputs)";
  let extraClassDeclaration = collectiveMethods # [{
    /// Returns source and target of each pair.
    ::llvm::SmallVector<std::pair<int64_t, int64_t>> getPairs();
    /// Returns in how many of `runs` runs of a step a rank sends.
    uint64_t getSendingRuns(int64_t rank, uint64_t runs);
  }];
}

#endif // CGX_DIALECT_CGX_CGXCOLLECTIVEOPS_TD
