//===-- CommunicationInterfaces.td - the interfaces of communicating ops -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_COMMUNICATIONINTERFACES_TD
#define CGX_DIALECT_CGX_COMMUNICATIONINTERFACES_TD

include "mlir/IR/OpBase.td"

def Cgx_CommunicationOpInterface : OpInterface<"CommunicationOpInterface"> {
  let description = [{
    An op through which bytes leave a rank: a collective, or one of the payload
    collectives that it decomposes into.
  }];
  let cppNamespace = "::cgx";
  let methods = [
    InterfaceMethod<[{
        Returns the id of the collective: unique in the module and equal on all ranks.
      }], "int64_t", "getId">,
    InterfaceMethod<[{
        Returns the process groups that exchange.
      }], "::cgx::GroupsAttr", "getGroups">,
    InterfaceMethod<[{
        Returns the wire bytes of the op: bytes that leave `rank` in one execution. Takes time linear in the number of
        ranks.
      }], "uint64_t", "getWireBytes", (ins "int64_t":$rank)>
  ];
}

def Cgx_CollectiveOpInterface : OpInterface<"CollectiveOpInterface", [Cgx_CommunicationOpInterface]> {
  let description = [{
    A collective with one codec and one layer per operand, and one result per
    operand: those of the op, or, where a `cgx.start` has it inside, those of the `cgx.wait`.
  }];
  let cppNamespace = "::cgx";
  let verify = "return ::cgx::detail::verifyCollective($_op);";
  let methods = [
    InterfaceMethod<[{
        Returns the name of the op without its dialect, such as "all_reduce": `kind` in the manifest.
      }], "::llvm::StringRef", "getKind", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_op->getName().stripDialect();">,
    InterfaceMethod<"The operands.", "::mlir::OperandRange", "getInputs">,
    InterfaceMethod<"One codec per operand.", "::mlir::ArrayAttr", "getCodecs">,
    InterfaceMethod<"Replaces the codecs.", "void", "setCodecsAttr", (ins "::mlir::ArrayAttr":$codecs)>,
    InterfaceMethod<"One layer per operand.", "::mlir::ArrayAttr", "getLayers">,
    InterfaceMethod<"Replaces the layers.", "void", "setLayersAttr", (ins "::mlir::ArrayAttr":$layers)>,
    InterfaceMethod<[{
        Returns why each operand must stay uncompressed, "" where it may be compressed; null where nothing was decided.
      }], "::mlir::ArrayAttr", "getExactReasonsAttr">,
    InterfaceMethod<"Replaces these reasons.", "void", "setExactReasonsAttr", (ins "::mlir::ArrayAttr":$reasons)>,
    InterfaceMethod<[{
        Returns collective and position of each operand before collectives were merged; null where none was. See
        `getOrigins`.
      }], "::mlir::DenseI64ArrayAttr", "getOriginsAttr">,
    InterfaceMethod<"Replaces these origins.", "void", "setOriginsAttr", (ins "::mlir::DenseI64ArrayAttr":$origins)>,
    InterfaceMethod<[{
        Returns how the operands of the ranks are combined; nothing for ops that only move data.
      }], "::std::optional<::cgx::Reduction>", "getReductionKind", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return ::std::nullopt;">,
    InterfaceMethod<[{
        Returns one tensor per operand.
      }], "::mlir::ResultRange", "getResultTensors", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return ::cgx::detail::getResultTensors($_op);">,
    InterfaceMethod<[{
        Returns the wire bytes of one operand if `codec` encoded it: bytes that leave `rank` for it in one execution.
        Takes time linear in the number of ranks.
      }], "uint64_t", "getOperandWireBytesAs",
      (ins "::cgx::CodecAttrInterface":$codec, "unsigned":$operand, "int64_t":$rank)>
  ];
  let extraSharedClassDeclaration = [{
    ::cgx::CodecAttrInterface getCodec(unsigned operand) {
      return ::llvm::cast<::cgx::CodecAttrInterface>($_op.getCodecs()[operand]);
    }
    ::cgx::LayerAttr getLayer(unsigned operand) {
      return ::llvm::cast<::cgx::LayerAttr>($_op.getLayers()[operand]);
    }
    ::mlir::RankedTensorType getInputType(unsigned operand) {
      return ::llvm::cast<::mlir::RankedTensorType>($_op.getInputs()[operand].getType());
    }
    uint64_t getOperandWireBytes(unsigned operand, int64_t rank) {
      return $_op.getOperandWireBytesAs(getCodec(operand), operand, rank);
    }
    /// Returns the op that issues the collective: the `cgx.start` that has it inside, or itself.
    ::mlir::Operation *getIssuer() { return ::cgx::detail::getIssuer($_op); }
    bool isStarted() { return getIssuer() != $_op; }
    /// Returns whether this is an all-reduce, which some codecs require.
    bool isAllReduce() { return $_op.getKind() == "all_reduce"; }
    /// Returns whether lossy codecs may encode the operands: an error of the elements is then an
    /// error of the results of the same size. That does not hold for max, min and product.
    bool acceptsLossyCodecs() {
      auto reduction = $_op.getReductionKind();
      return !reduction || *reduction == ::cgx::Reduction::Sum || *reduction == ::cgx::Reduction::Mean;
    }
  }];
}

def Cgx_PayloadOpInterface : OpInterface<"PayloadOpInterface"> {
  let description = [{
    One step of the explicit form of a collective's operand.
  }];
  let cppNamespace = "::cgx";
  let methods = [
    InterfaceMethod<"The id of the collective.", "int64_t", "getId">,
    InterfaceMethod<"The number of the operand.", "int64_t", "getOperandNumber">,
    InterfaceMethod<[{
        The payload that the op makes, or else the one that it reads.
      }], "::cgx::PayloadType", "getPayloadType">
  ];
}

#endif // CGX_DIALECT_CGX_COMMUNICATIONINTERFACES_TD
