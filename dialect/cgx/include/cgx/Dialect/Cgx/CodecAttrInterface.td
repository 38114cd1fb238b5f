//===-- CodecAttrInterface.td - the interface of codecs ---*- tablegen -*-===//
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
    One way to encode a tensor: a codec family with its parameters (`CodecAttr`), or another codec with an addition.
    Passes use this interface and never look at the family, so that a new family is lines of the table and a kernel, and
    nothing else. A codec made of another one returns that as `getInner()`, and answers as it does by default; so it can
    be made of any codec, also of another such.
  }];
  let cppNamespace = "::cgx";
  let methods = [
    InterfaceMethod<[{
        Returns the codec in the form of the runtime and the kernels.
      }], "cgx_codec", "getCodec", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().getCodec();">,
    InterfaceMethod<[{
        Returns the name of the family, as in the manifest and in `--cgx-compress=codec=`.
      }], "::llvm::StringRef", "getFamily", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().getFamily();">,
    InterfaceMethod<[{
        Returns the bytes of the payload of `elements` elements: exact if `isFixedSize()`, else an upper bound. The
        codec must take the element type.
      }], "uint64_t", "getPayloadBytes", (ins "::mlir::Type":$elementType, "uint64_t":$elements),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        cgx_codec codec = $_attr.getCodec();
        return cgx_payload_bytes(&codec, *::cgx::getCodecElementType(elementType), elements);
      }]>,
    InterfaceMethod<[{
        Returns whether the bytes of a payload follow from shape and codec alone.
      }], "bool", "isFixedSize", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().isFixedSize();">,
    InterfaceMethod<[{
        Returns whether the expected value of decode(encode(x)) is x, as it is for lossless codecs.
      }], "bool", "isUnbiased", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().isUnbiased();">,
    InterfaceMethod<[{
        Returns whether encoding depends on earlier steps (error feedback, warm starts).
      }], "bool", "isStateful", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().isStateful();">,
    InterfaceMethod<[{
        Returns whether payloads can be summed without decoding them.
      }], "bool", "isAssociative", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().isAssociative();">,
    InterfaceMethod<[{
        Returns whether the codec is lossless: decode(encode(x)) is x, bit for bit.
      }], "bool", "isExact", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().isExact();">,
    InterfaceMethod<[{
        Returns whether a payload has the elements uncompressed, with nothing to encode.
      }], "bool", "isRaw", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().isRaw();">,
    InterfaceMethod<[{
        Returns whether the codec can encode elements of this type.
      }], "bool", "takesElementType", (ins "::mlir::Type":$elementType), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().takesElementType(elementType);">,
    InterfaceMethod<[{
        Returns the codec of the results that an all_reduce sends back, the encoded sums of the contributions. It is the
        same codec, unless it is two-way.
      }], "cgx_codec", "getBackCodec", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().getBackCodec();">,
    InterfaceMethod<[{
        Returns whether only an all_reduce can use the codec, as one op: it has no explicit form, in which one rank
        encodes a payload and any other decodes it.
      }], "bool", "needsAllReduce", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().needsAllReduce();">,
    InterfaceMethod<[{
        Returns whether encoding a gradient reads this optimizer state, which the program has to bind by a
        `cgx.bind_optimizer_state`.
      }], "bool", "readsKept", (ins "::cgx::Kept":$kept),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        cgx_codec codec = $_attr.getCodec(), back = $_attr.getBackCodec();
        auto number = static_cast<uint32_t>(kept);
        return cgx_codec_needs(&codec, number) || cgx_codec_needs(&back, number);
      }]>,
    InterfaceMethod<[{
        Returns why the codec is of no use for a tensor of this type, whose elements it takes; "" if it is of use.
      }], "std::string", "getShapeRefusal", (ins "::mlir::RankedTensorType":$type), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.getInner().getShapeRefusal(type);">,
    InterfaceMethod<[{
        Returns the element types that it can encode, for messages: "f16, bf16 or f32".
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
