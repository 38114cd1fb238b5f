//===-- StablehloDialect.td - the stablehlo dialect, clean room -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLODIALECT_TD
#define CGX_DIALECT_STABLEHLO_STABLEHLODIALECT_TD

include "mlir/IR/OpBase.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::cgx::stablehlo";
  let summary = "the part of StableHLO that exported training steps use";
  let description = [{
    Written from the public StableHLO specification, so that the text which JAX
    prints, pretty or generic, parses, verifies and prints back in a form that
    JAX accepts. Ops and attributes carry the names of the specification; see
    there for their semantics.

    An op that is not defined here is parsed in its generic form and passes
    through rewrites untouched, with its attributes; lowering to native code
    names it in an error.
  }];
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute, ::mlir::DialectAsmPrinter &printer) const override;
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

// Quantized element types and bounds of operands and results, whatever the op.
def Stablehlo_SoundTypes : NativeOpTrait<"SoundTypes"> {
  let cppNamespace = "::cgx::stablehlo";
}

class Stablehlo_Op<string mnemonic, list<Trait> traits = []>
    : Op<Stablehlo_Dialect, mnemonic, [Stablehlo_SoundTypes] # traits>;

#endif // CGX_DIALECT_STABLEHLO_STABLEHLODIALECT_TD
