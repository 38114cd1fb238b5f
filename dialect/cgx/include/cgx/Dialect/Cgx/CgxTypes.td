//===-- CgxTypes.td - encoded tensors ----------------------*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_CGXTYPES_TD
#define CGX_DIALECT_CGX_CGXTYPES_TD

include "cgx/Dialect/Cgx/CgxAttrs.td"

class Cgx_Type<string name, string typeMnemonic> : TypeDef<Cgx_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Cgx_PayloadType : Cgx_Type<"Payload", "payload"> {
  let summary = "a tensor, or one chunk of it, as encoded bytes";
  let description = [{
    The tensor of the given shape, cut into `chunks` chunks whose boundaries are
    those of cgx/codec.h and each encoded by the codec. There are two forms.

    *Whole*: one payload per chunk, one after the other, each exactly as long as its chunk needs.

        !cgx.payload<1000xf32, C, chunks = 3>            | chunk 0 | chunk 1 | chunk 2 |

    *Own chunk*: `slots` payloads, all of the chunk that this rank owns. Chunks differ in size, while types must not
    (all ranks run one program), so a slot has room for chunk 0, the largest. Slot k begins at k * bytes(chunk 0). A
    rank uses only the bytes of a slot that its own chunk needs, and sends only those.

        !cgx.payload<1000xf32, C, chunks = 3, slots = 2> | own chunk . | own chunk . |

    Example:
    ```mlir
    !cgx.payload<64x128xf32, #cgx.quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>, chunks = 4>
    ```

    **Constraints:**
    - (C1) the shape is static
    - (C2) the codec takes the element type, and does not need an all-reduce
    - (C3) `chunks` is positive
    - (C4) `slots`, where given, is positive
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        "::cgx::CodecAttrInterface":$codec, "int64_t":$chunks,
                        DefaultValuedParameter<"int64_t", "0", "0 in the whole form">:$slots);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns whether the payload has every chunk of the tensor, rather than this rank's own.
    bool isWhole() const { return getSlots() == 0; }
    /// Returns the payload of the whole tensor, and of this rank's own chunk.
    PayloadType getWhole() const;
    PayloadType getOwnChunk(int64_t slots) const;

    /// Returns the type of the tensor that is encoded.
    ::mlir::RankedTensorType getTensorType() const;
    /// Returns the type of this rank's own chunk, decoded: flat, with room for chunk 0.
    ::mlir::RankedTensorType getChunkTensorType() const;

    uint64_t getNumElements() const;
    /// Returns the number of elements of a chunk. Chunk 0 is the largest.
    uint64_t getChunkElements(int64_t chunk) const;
    /// Returns the bytes of the payload of a chunk.
    uint64_t getChunkBytes(int64_t chunk) const;
    /// Returns the bytes of a buffer for this type.
    uint64_t getBytes() const;
  }];
}

def Cgx_HandleType : Cgx_Type<"Handle", "handle"> {
  let summary = "a collective that was started, and the types of its results";
  let description = [{
    The result of `cgx.start` and the operand of `cgx.wait`. It has no value that a program could inspect or keep.

    Example:
    ```mlir
    !cgx.handle<tensor<64x128xf32>, tensor<128xf32>>
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "(`<` $types^ `>`)?";
}

// Tensors that a collective carries: the element types of cgx/codec.h, of static shape.
def Cgx_Tensor : StaticShapeTensorOf<[
    F32, F16, BF16, F64, I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64]>;

#endif // CGX_DIALECT_CGX_CGXTYPES_TD
