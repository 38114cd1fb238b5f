//===-- SignatureAttributes.h - attributes of arguments and results -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_SIGNATUREATTRIBUTES_H
#define CGX_PASSES_IMPORT_SIGNATUREATTRIBUTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cgx {

/// Attributes of all arguments and results of a function, written at once: each setArgAttr makes an array of
/// all arguments anew, which the context keeps, so that those of n arguments would take n * n.
class SignatureAttributes {
public:
  explicit SignatureAttributes(mlir::func::FuncOp function) : function(function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      arguments.emplace_back(function.getArgAttrDict(i));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      results.emplace_back(function.getResultAttrDict(i));
  }

  mlir::NamedAttrList &ofArgument(size_t number) { return arguments[number]; }
  mlir::NamedAttrList &ofResult(size_t number) { return results[number]; }
  llvm::MutableArrayRef<mlir::NamedAttrList> ofArguments() { return arguments; }
  llvm::MutableArrayRef<mlir::NamedAttrList> ofResults() { return results; }

  /// Writes them to the function.
  void write() {
    const auto toDictionary = [&](mlir::NamedAttrList &list) {
      return list.getDictionary(function.getContext());
    };
    function.setAllArgAttrs(llvm::map_to_vector(arguments, toDictionary));
    function.setAllResultAttrs(llvm::map_to_vector(results, toDictionary));
  }

private:
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::NamedAttrList> arguments, results;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_SIGNATUREATTRIBUTES_H
