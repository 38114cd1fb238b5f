//===-- CodecAttrInterface.td - what every codec can be asked --*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_CODECATTRINTERFACE_TD
#define CGX_DIALECT_CGX_CODECATTRINTERFACE_TD

include "mlir/IR/OpBase.td"

def Cgx_CodecAttrInterface : AttrInterface<"CodecAttrInterface"> {
  let description = [{
    One way to encode a tensor: a codec family with its parameters (`CodecAttr`), or another codec and what is
    done beside it. Passes ask this interface and never look at the family, so that a new family is lines of
    the table and a kernel, and nothing else. A codec made of another one has it as `getInner()`, answers as that does
    where it says nothing of its own, and so can be made of any, also of another such.
  }];
  let cppNamespace = "::cgx";
  let methods = [
    InterfaceMethod<[{
        The codec as the runtime and the kernels know it.
      }], "cgx_codec", "getCodec", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().getCodec();">,
    InterfaceMethod<[{
        The name of the family, as in the manifest and in `--cgx-compress=codec=`.
      }], "::llvm::StringRef", "getFamily", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().getFamily();">,
    InterfaceMethod<[{
        Bytes of the payload of `elements` elements: exact if `isFixedSize()`, else
        an upper bound. The codec must take the element type.
      }], "uint64_t", "getPayloadBytes", (ins "::mlir::Type":$elementType, "uint64_t":$elements),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        cgx_codec codec = $_attr.getCodec();
        return cgx_payload_bytes(&codec, *::cgx::getCodecElementType(elementType), elements);
      }]>,
    InterfaceMethod<[{
        The bytes of a payload follow from shape and codec alone.
      }], "bool", "isFixedSize", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().isFixedSize();">,
    InterfaceMethod<[{
        The expected value of decode(encode(x)) is x; so it is of a codec that is exact.
      }], "bool", "isUnbiased", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().isUnbiased();">,
    InterfaceMethod<[{
        Encoding depends on earlier steps (error feedback, warm starts).
      }], "bool", "isStateful", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().isStateful();">,
    InterfaceMethod<[{
        Payloads can be summed without decoding them.
      }], "bool", "isAssociative", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().isAssociative();">,
    InterfaceMethod<[{
        decode(encode(x)) is x, bit for bit.
      }], "bool", "isExact", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().isExact();">,
    InterfaceMethod<[{
        A payload is the elements as they are: there is nothing to encode.
      }], "bool", "isRaw", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().isRaw();">,
    InterfaceMethod<[{
        The codec can encode elements of this type.
      }], "bool", "takesElementType", (ins "::mlir::Type":$elementType), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().takesElementType(elementType);">,
    InterfaceMethod<[{
        The codec of what an all_reduce sends back, the encoded sums of the contributions:
        the same, if it is not two-way.
      }], "cgx_codec", "getBackCodec", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().getBackCodec();">,
    InterfaceMethod<[{
        Only an all_reduce can use it, as one op: it has no explicit form, in which one payload
        is what any rank encodes and any other decodes.
      }], "bool", "needsAllReduce", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().needsAllReduce();">,
    InterfaceMethod<[{
        Encoding a gradient reads this of the step's optimizer: the program has to bind it by a `cgx.bind_optimizer_state`.
      }], "bool", "readsKept", (ins "::cgx::Kept":$kept),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        cgx_codec codec = $_attr.getCodec(), back = $_attr.getBackCodec();
        auto number = static_cast<uint32_t>(kept);
        return cgx_codec_needs(&codec, number) || cgx_codec_needs(&back, number);
      }]>,
    InterfaceMethod<[{
        Why the codec is of no use for a tensor of this type, whose elements it takes; "" if it is.
      }], "std::string", "getShapeRefusal", (ins "::mlir::RankedTensorType":$type), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().getShapeRefusal(type);">,
    InterfaceMethod<[{
        The element types that it can encode, for messages: "f16, bf16 or f32".
      }], "::llvm::StringRef", "getElementTypesText", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().getElementTypesText();">
  ];
  let extraClassDeclaration = [{
    /// Fails, with a message through `emitError`, for an element type that the codec cannot encode.
    ::llvm::LogicalResult verifyElementType(::mlir::Type elementType,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) {
      if (takesElementType(elementType))
        return ::mlir::success();
      return emitError() << "codec " << getFamily() << ": expected an element type of "
                         << getElementTypesText() << ", got " << elementType;
    }
  }];
}

#endif // CGX_DIALECT_CGX_CODECATTRINTERFACE_TD
