//===-- CgxPayloadOps.td - the explicit form of a compressed collective --*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_CGXPAYLOADOPS_TD
#define CGX_DIALECT_CGX_CGXPAYLOADOPS_TD

include "cgx/Dialect/Cgx/CgxCollectiveOps.td"

// The base class of the ops of the explicit form. Each names the collective that it came from, and
// the operand.
class Cgx_PayloadOp<string mnemonic, list<Trait> traits = []> : Cgx_Op<mnemonic, [Cgx_PayloadOpInterface] # traits> {
  dag payloadArguments = (ins Cgx_I64Attr:$id, Cgx_I64Attr:$operand_number);
  let hasVerifier = 1;
  code payloadMethods = [{
    // PayloadOpInterface
    ::cgx::PayloadType getPayloadType();
  }];
  let extraClassDeclaration = payloadMethods;
  string commonConstraints = [{
    **Constraints:**
    - (C1) `id` and `operand_number` are not negative
  }];
}

// The base class of ops that exchange payloads between ranks. Their effects are those of collectives.
class Cgx_PayloadCollectiveOp<string mnemonic>
    : Cgx_PayloadOp<mnemonic, [NoMemoryEffect, Cgx_CommunicationOpInterface]> {
  let arguments = !con((ins Cgx_PayloadType:$input), payloadArguments, (ins Cgx_GroupsAttr:$groups));
  let results = (outs Cgx_PayloadType:$result);
  let assemblyFormat = "$input `` custom<PayloadAttrs>(attr-dict, \"getOperationName()\") `:` qualified(type($input)) `->` qualified(type($result))";
  let extraClassDeclaration = payloadMethods # [{
    // CommunicationOpInterface
    uint64_t getWireBytes(int64_t rank);
  }];
}

def Cgx_CompressOp : Cgx_PayloadOp<"compress", [Pure]> {
  let summary = "encodes a tensor, chunk by chunk";
  let description = [{
    Phase `contribution` encodes every chunk of a rank's operand; phase `result`
    encodes the one chunk that the rank owns, after it was reduced. Collective,
    operand, layer and phase select the random numbers of stochastic rounding,
    so the result is a function of the operands and of the step: `compress` is
    pure. `origins` has the collective and the operand, where the collective was
    merged of others.

        [ x0 .. x7 | x8 .. x15 ]   ->   [ payload of chunk 0 | payload of chunk 1 ]

    Example:
    ```mlir
    %p = cgx.compress %g phase(contribution) id(0) layer("params/l1/w", gradient, [64, 128])
        operand_number(0)
        : tensor<64x128xf32> -> !cgx.payload<64x128xf32, #cgx.quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>, chunks = 4>
    ```

  }] # commonConstraints # [{
    - (C2) in phase `contribution`, the result is the whole payload of the operand
    - (C3) in phase `result`, the operand is the chunk and the result has one slot
    - (D2) `origins`, if there, has two numbers
  }];
  let arguments = !con((ins Cgx_Tensor:$input, Cgx_PhaseAttr:$phase), payloadArguments, (ins Cgx_LayerAttr:$layer, Cgx_AbsentUnlessSaid<Cgx_OriginsAttr>:$origins));
  let results = (outs Cgx_PayloadType:$result);
  let assemblyFormat = "$input `phase` `` `(` `` custom<PhaseName>($phase) `)` `` custom<PayloadAttrs>(attr-dict, \"getOperationName()\") `:` qualified(type($input)) `->` qualified(type($result))";
}

def Cgx_PayloadAllToAllOp : Cgx_PayloadCollectiveOp<"payload_all_to_all"> {
  let summary = "sends each rank all payloads of the chunk that it owns";
  let description = [{
    Sends the payload of chunk k to the rank at position k of the group, which stores the payload from position j in
    slot j.

        rank 0   | a0 | a1 |            | a0 | b0 |
        rank 1   | b0 | b1 |     ->     | a1 | b1 |

    Example:
    ```mlir
    %q = cgx.payload_all_to_all %p groups([[0, 1]]) id(0) operand_number(0)
        : !cgx.payload<64xf32, #cgx.identity, chunks = 2> -> !cgx.payload<64xf32, #cgx.identity, chunks = 2, slots = 2>
    ```

  }] # commonConstraints # [{
    - (C2) all groups have as many ranks as the payload has chunks
    - (C3) the operand is a whole payload
    - (C4) the result is the same payload in its own-chunk form, with one slot per rank
  }];
}

def Cgx_DecompressAccumulateOp : Cgx_PayloadOp<"decompress_accumulate", [Pure]> {
  let summary = "decodes the payloads of the slots and combines them";
  let description = [{
    Decodes each slot, in the order of the slots, and combines them element by element; `mean` divides by the number of
    slots at the end. The result is the chunk that this rank owns, flat, with room for chunk 0; elements after the end
    of the own chunk are unspecified.

        | a0 | b0 |   ->   a0 + b0

    Example:
    ```mlir
    %s = cgx.decompress_accumulate sum %q id(0) operand_number(0)
        : !cgx.payload<64xf32, #cgx.identity, chunks = 2, slots = 2> -> tensor<32xf32>
    ```

  }] # commonConstraints # [{
    - (C2) the operand is an own-chunk payload
    - (C3) the result is the chunk tensor of the payload
    - (C4) lossy codecs go with `sum` and `mean` only
  }];
  let arguments = !con((ins Cgx_PayloadType:$input, Cgx_ReductionAttr:$reduction), payloadArguments);
  let results = (outs Cgx_Tensor:$result);
  let assemblyFormat = "custom<ReductionName>($reduction) $input `` custom<PayloadAttrs>(attr-dict, \"getOperationName()\") `:` qualified(type($input)) `->` qualified(type($result))";
}

def Cgx_PayloadAllGatherOp : Cgx_PayloadCollectiveOp<"payload_all_gather"> {
  let summary = "sends every rank the payloads of all chunks";
  let description = [{
    Sends the payload of the chunk that a rank owns to all ranks of the group, which store the payload from position k
    at chunk k.

        rank 0   | s0 |                 | s0 | s1 |
        rank 1   | s1 |          ->     | s0 | s1 |

    Example:
    ```mlir
    %t = cgx.payload_all_gather %r groups([[0, 1]]) id(0) operand_number(0)
        : !cgx.payload<64xf32, #cgx.identity, chunks = 2, slots = 1> -> !cgx.payload<64xf32, #cgx.identity, chunks = 2>
    ```

  }] # commonConstraints # [{
    - (C2) all groups have as many ranks as the payload has chunks
    - (C3) the operand is an own-chunk payload with one slot
    - (C4) the result is the same payload in its whole form
  }];
}

def Cgx_DecompressOp : Cgx_PayloadOp<"decompress", [Pure]> {
  let summary = "decodes a whole payload";
  let description = [{
    Decodes every chunk. `decompress(compress(x))` is `x` only for lossless codecs. For others the difference is what
    the program asked for, and nothing may fold it away.

        | s0 | s1 |   ->   [ s0 s1 ]

    Example:
    ```mlir
    %y = cgx.decompress %t id(0) operand_number(0)
        : !cgx.payload<64xf32, #cgx.identity, chunks = 2> -> tensor<64xf32>
    ```

  }] # commonConstraints # [{
    - (C2) the operand is a whole payload
    - (C3) the result is the tensor of the payload
  }];
  let arguments = !con((ins Cgx_PayloadType:$input), payloadArguments);
  let results = (outs Cgx_Tensor:$result);
  let assemblyFormat = "$input `` custom<PayloadAttrs>(attr-dict, \"getOperationName()\") `:` qualified(type($input)) `->` qualified(type($result))";
  let hasFolder = 1;
}

#endif // CGX_DIALECT_CGX_CGXPAYLOADOPS_TD
