//===-- RuntimeOps.td - Calls of the runtime, before they are calls -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------------===//
//
// Private to the lowering: one op for each kind of runtime call, in destination style,
// so that one-shot bufferization decides what happens in place, and so that memory
// planning sees one op where the C interface has several calls.
//
//===------------------------------------------------------------------------------===//

#ifndef CGX_PASSES_LOWER_RUNTIMEOPS
#define CGX_PASSES_LOWER_RUNTIMEOPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def CgxRt_Dialect : Dialect {
  let name = "cgx_rt";
  let cppNamespace = "::cgx::rt";
  let summary = "Runtime calls in destination style";
  let useDefaultTypePrinterParser = 1;
}

def CgxRt_TicketType : TypeDef<CgxRt_Dialect, "Ticket"> {
  let mnemonic = "ticket";
  let summary = "A pending collective";
}

def CgxRt_Buffer : AnyTypeOf<[AnyStaticShapeTensor, AnyStaticShapeMemRef], "tensor or memref of static shape">;

class CgxRt_Op<string mnemonic, list<Trait> traits = []>
    : Op<CgxRt_Dialect, mnemonic, traits # [DestinationStyleOpInterface]>;

def CgxRt_MatmulOp : CgxRt_Op<"matmul", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Multiply row-major f32 matrices, or batches of them, on BLAS";
  let description = [{
    Overwrites `out` with op(a) * op(b), where op transposes the last two dimensions if
    the flag is set. All three have rank 2, or rank 3 with equal leading extents. `out`
    is not read: this is no accumulation.

    ```mlir
    %r = cgx_rt.matmul ins(%a, %b : tensor<8x16xf32>, tensor<4x16xf32>) outs(%c : tensor<8x4xf32>)
           transpose_a = false transpose_b = true -> tensor<8x4xf32>
    ```

    **Constraints:**
    - (C1) all three have the same rank, which is 2 or 3, and equal batch extents.
    - (C2) the extents agree under the flags.
  }];
  let arguments = (ins CgxRt_Buffer:$a, CgxRt_Buffer:$b, CgxRt_Buffer:$out, BoolAttr:$transpose_a,
      BoolAttr:$transpose_b);
  let results = (outs Optional<AnyStaticShapeTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $a `,` $b `:` type($a) `,` type($b) `)` `outs` `(` $out `:` type($out) `)`
    `transpose_a` `=` $transpose_a `transpose_b` `=` $transpose_b attr-dict (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
  let hasVerifier = 1;
}

def CgxRt_LibraryOp : CgxRt_Op<"library", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Call a function of the runtime that computes";
  let description = [{
    Calls the function `callee` of the C interface with `scalars`, the addresses of `ins` and those of `outs`, which
    it overwrites and does not read. What it computes depends on these alone: on tensors the op has no effects.

    ```mlir
    %l, %info = cgx_rt.library @cgx_native_cholesky [115, 76, 4, 1] ins(%a : tensor<4x4xf32>)
                  outs(%l0, %i0 : tensor<4x4xf32>, tensor<i32>) -> tensor<4x4xf32>, tensor<i32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, DenseI64ArrayAttr:$scalars, Variadic<CgxRt_Buffer>:$inputs,
      Variadic<CgxRt_Buffer>:$outputs);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let assemblyFormat = [{
    $callee $scalars (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
}

def CgxRt_ConcatenateOp : CgxRt_Op<"concatenate", [Pure]> {
  let summary = "Concatenate many tensors";
  let description = [{
    Overwrites `out` with all of `inputs`, one after the other in dimension `dim`. It becomes copies into slices of a
    buffer. As a chain of `tensor.insert_slice`, each part of which could be computed in its place, it would take
    bufferization time that grows with the fourth power of their number.

    ```mlir
    %r = cgx_rt.concatenate 0 ins(%a, %b : tensor<2x4xf32>, tensor<3x4xf32>) outs(%c : tensor<5x4xf32>)
           -> tensor<5x4xf32>
    ```

    **Constraints:**
    - (C1) the inputs have the shape of `out` but for `dim`, in which their extents add up to its own.
  }];
  let arguments = (ins I64Attr:$dim, Variadic<AnyStaticShapeTensor>:$inputs, AnyStaticShapeTensor:$out);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $dim `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $out `:` type($out) `)` attr-dict `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
  let hasVerifier = 1;
}

def CgxRt_RunOp : CgxRt_Op<"run", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Run one collective";
  let description = [{
    Runs the collective that the manifest lists as `id`. With `ins`, operand k goes from
    `ins[k]` to `outs[k]`; without, every `outs[k]` is read and replaced in place. Has
    effects even on tensors: all ranks must run it, and in the same order.

    ```mlir
    %r = cgx_rt.run 3 outs(%g : tensor<64x128xf32>) -> tensor<64x128xf32>
    ```

    **Constraints:**
    - (C1) `ins` is empty or as long as `outs`.
  }];
  let arguments = (ins I64Attr:$id, Variadic<CgxRt_Buffer>:$inputs, Variadic<CgxRt_Buffer>:$outputs);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let assemblyFormat = [{
    $id (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
    bool isInPlace() { return getInputs().empty(); }
  }];
  let hasVerifier = 1;
}

def CgxRt_BindOptimizerStateOp : CgxRt_Op<"bind_optimizer_state", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Bind optimizer state";
  let description = [{
    Until the step ends, the codec of operand `operand` of collective `id` reads these tensors; `kept[k]`, a `cgx_kept`,
    is the kind of tensor k. They are arguments of the step, which nothing overwrites.

    ```mlir
    cgx_rt.bind_optimizer_state 3, 0 [0, 1] (%w, %m : tensor<64x128xf32>, tensor<64x128xf32>)
    ```
  }];
  let arguments = (ins I64Attr:$id, I64Attr:$operand, DenseI64ArrayAttr:$kept, Variadic<CgxRt_Buffer>:$tensors);
  let assemblyFormat = "$id `,` $operand $kept `(` $tensors `:` type($tensors) `)` attr-dict";
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return {getOperation(), 0, 0}; }
  }];
}

def CgxRt_StartOp : Op<CgxRt_Dialect, "start", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Start one collective";
  let description = [{
    Starts the collective as `cgx_rt.run` does, but the program continues: until the `cgx_rt.wait` that takes the
    ticket, the runtime may read `ins` and write `outs` at any time. On tensors, the outputs are `in_flight`, for the
    wait only: bufferization sees that the start overwrites `outs`. With `when`, nothing happens at the start or at its
    wait unless the condition holds, and `outs` are unchanged.

    ```mlir
    %ticket, %t = cgx_rt.start 3 outs(%g : tensor<64x128xf32>) -> tensor<64x128xf32>
    %r = cgx_rt.wait %ticket outs(%t : tensor<64x128xf32>) -> tensor<64x128xf32>
    ```

    **Constraints:**
    - (C1) `ins` is empty or as long as `outs`.
    - (C2) one `cgx_rt.wait` is the only user of the ticket and of each pending tensor.
    - (C3) with `when`, `ins` is empty.
  }];
  let arguments = (ins I64Attr:$id, Variadic<CgxRt_Buffer>:$inputs, Variadic<CgxRt_Buffer>:$outputs,
      Optional<I1>:$condition);
  let results = (outs CgxRt_TicketType:$ticket, Variadic<AnyStaticShapeTensor>:$in_flight);
  let assemblyFormat = [{
    $id (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    (`when` $condition^)? attr-dict (`->` type($in_flight)^)?
  }];
  let extraClassDeclaration = [{
    bool isInPlace() { return getInputs().empty(); }
  }];
  let hasVerifier = 1;
}

def CgxRt_WaitOp : CgxRt_Op<"wait", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait for a pending collective";
  let description = [{
    Takes the operands of the start as well: `ins`, so that nothing overwrites them before, and `outs`,
    where the results are. So buffers live as long as the runtime uses them.

    ```mlir
    %r = cgx_rt.wait %ticket ins(%a : tensor<4xf32>) outs(%t : tensor<8xf32>) -> tensor<8xf32>
    ```

    **Constraints:**
    - (C1) the ticket is that of a `cgx_rt.start` in the same block, and the pending tensors are its `outs`.
  }];
  let arguments = (ins CgxRt_TicketType:$ticket, Variadic<CgxRt_Buffer>:$inputs, Variadic<CgxRt_Buffer>:$outputs);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let assemblyFormat = [{
    $ticket (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
    /// Returns the start. Verified IR always has one.
    StartOp getStart() { return getTicket().getDefiningOp<StartOp>(); }
  }];
  let hasVerifier = 1;
}

def CgxRt_PayloadOp : CgxRt_Op<"payload", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "One step of an explicit all-reduce";
  let description = [{
    Calls the function `callee` of the C interface (`cgx_rt_compress` and its like) for
    operand `operand` of collective `id`, from `input` to `out`, which it overwrites.
    Payloads are `tensor<..xi8>`. `phase` is passed where the function takes one.

    ```mlir
    %p = cgx_rt.payload @cgx_rt_compress(3, 0) phase = 0 ins(%x : tensor<64xf32>) outs(%e : tensor<80xi8>)
           -> tensor<80xi8>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, I64Attr:$id, I64Attr:$operand, OptionalAttr<I64Attr>:$phase,
      CgxRt_Buffer:$input, CgxRt_Buffer:$out);
  let results = (outs Optional<AnyStaticShapeTensor>:$result);
  let assemblyFormat = [{
    $callee `(` $id `,` $operand `)` (`phase` `=` $phase^)? `ins` `(` $input `:` type($input) `)`
    `outs` `(` $out `:` type($out) `)` attr-dict (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
}

def CgxRt_RankOp : CgxRt_Op<"rank", [MemoryEffects<[MemWrite]>]> {
  let summary = "The number of this rank";
  let description = [{
    Overwrites `out`, of type i32 and rank 0, with the number of the rank that runs the step.

    ```mlir
    %r = cgx_rt.rank outs(%e : tensor<i32>) -> tensor<i32>
    ```
  }];
  let arguments = (ins CgxRt_Buffer:$out);
  let results = (outs Optional<AnyStaticShapeTensor>:$result);
  let assemblyFormat = "`outs` `(` $out `:` type($out) `)` attr-dict (`->` type($result)^)?";
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
}

def CgxRt_LibmOp : Op<CgxRt_Dialect, "libm", [Pure, SameOperandsAndResultType]> {
  let summary = "Call a function of the C library";
  let description = [{
    The function of one f64 that has this name in `math.h`, where the `math` dialect has none.

    ```mlir
    %y = cgx_rt.libm "lgamma" %x : f64
    ```
  }];
  let arguments = (ins StrAttr:$function, F64:$operand);
  let results = (outs F64:$result);
  let assemblyFormat = "$function $operand attr-dict `:` type($operand)";
}

#endif // CGX_PASSES_LOWER_RUNTIMEOPS
