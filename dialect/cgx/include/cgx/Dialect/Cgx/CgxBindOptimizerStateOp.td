//===-- CgxBindOptimizerStateOp.td - optimizer state that codecs read -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_CGXBINDOPTIMIZERSTATEOP_TD
#define CGX_DIALECT_CGX_CGXBINDOPTIMIZERSTATEOP_TD

include "cgx/Dialect/Cgx/CgxStartOps.td"

// The op has an effect, as starts have: it stays before the collective that it is for, and nothing erases it.
def Cgx_BindOptimizerStateOp : Cgx_Op<"bind_optimizer_state", [AttrSizedOperandSegments, MemoryEffects<[MemWrite<Cgx_PendingResource>]>]> {
  let summary = "binds state of the optimizer to the codec of an operand";
  let description = [{
    Until the step ends, the codec of operand `operand_number` of collective `id` may read the parameter that the
    operand is a gradient of, and the moments that the optimizer retains for it, element by element, and the learning
    rate, which is one for all elements. They are not sent, and decoding does not need them. The compiler does not check
    that they are the right ones: with others, a codec drops other bits. They need not be equal on all ranks, since
    results are computed from the sent payloads.

    Example:
    ```mlir
    cgx.bind_optimizer_state parameter(%w : tensor<64x128xf32>) first_moment(%m : tensor<64x128xf32>)
        second_moment(%v : tensor<64x128xf32>) id(0) operand_number(1)
    cgx.bind_optimizer_state parameter(%w : tensor<64x128xf32>) learning_rate(%eta : tensor<f32>) id(1) operand_number(0)
    ```

    **Constraints:**
    - (C1) `id` and `operand_number` are not negative
    - (C2) parameter and moments have static shapes, elements of f16, bf16 or f32, and as many of them
    - (C3) all are arguments of the step: what it computes may be overwritten before it ends
    - (C4) the learning rate is one f32
  }];
  let arguments = (ins Cgx_Tensor:$parameter, Optional<Cgx_Tensor>:$first_moment,
                       Optional<Cgx_Tensor>:$second_moment, Optional<Cgx_Tensor>:$learning_rate, Cgx_I64Attr:$id, Cgx_I64Attr:$operand_number);
  let assemblyFormat = [{
    `parameter` `(` $parameter `:` type($parameter) `)`
    (`first_moment` `(` $first_moment^ `:` type($first_moment) `)`)?
    (`second_moment` `(` $second_moment^ `:` type($second_moment) `)`)?
    (`learning_rate` `(` $learning_rate^ `:` type($learning_rate) `)`)? `` custom<PayloadAttrs>(attr-dict, "getOperationName()")
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the tensor that is bound as a kind of optimizer state; null if there is none.
    ::mlir::Value getKept(::cgx::Kept kept);
  }];
}

#endif // CGX_DIALECT_CGX_CGXBINDOPTIMIZERSTATEOP_TD
