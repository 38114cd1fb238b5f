//===-- Parameters.h - Parameters of codecs, read and listed ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files of the families share: a parser of `<name = value, flag>`, and a builder
// of the entry that the manifest has.
#ifndef CGX_DIALECT_CGX_LIB_CODECS_PARAMETERS_H
#define CGX_DIALECT_CGX_LIB_CODECS_PARAMETERS_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

namespace cgx::detail {

/// Parses `<` parameter (`,` parameter)* `>` in any order, each at most once; all may be left out, and
/// the brackets with them. Parameters are declared first, with the variables that they go to.
class ParameterParser {
public:
  explicit ParameterParser(mlir::AsmParser &parser) : parser(parser) {}

  ParameterParser &integer(llvm::StringRef name, int64_t &value) {
    return add(name, /*takesValue=*/true, [this, &value] { return parser.parseInteger(value); });
  }

  ParameterParser &real(llvm::StringRef name, double &value);

  ParameterParser &codec(llvm::StringRef name, CodecAttrInterface &value) {
    return add(name, /*takesValue=*/true, [this, &value] { return parser.parseAttribute(value); });
  }

  /// `expected` lists the cases, as in "nearest or stochastic".
  template <typename Enum>
  ParameterParser &oneOf(llvm::StringRef name, Enum &value, std::optional<Enum> (*symbolize)(llvm::StringRef),
                         llvm::StringRef expected) {
    return add(name, /*takesValue=*/true, [this, &value, symbolize, expected]() -> mlir::ParseResult {
      llvm::StringRef text;
      llvm::SMLoc location = parser.getCurrentLocation();
      if (parser.parseKeyword(&text))
        return mlir::failure();
      std::optional<Enum> parsed = symbolize(text);
      if (!parsed)
        return parser.emitError(location) << "expected " << expected << ", got " << text;
      value = *parsed;
      return mlir::success();
    });
  }

  ParameterParser &flag(llvm::StringRef name, bool &value) {
    return add(name, /*takesValue=*/false, [&value] {
      value = true;
      return mlir::success();
    });
  }

  mlir::ParseResult parse();

private:
  struct Parameter {
    llvm::StringRef name;
    bool takesValue;
    std::function<mlir::ParseResult()> parseValue;
    bool seen = false;
  };

  ParameterParser &add(llvm::StringRef name, bool takesValue, std::function<mlir::ParseResult()> parseValue) {
    parameters.push_back({name, takesValue, std::move(parseValue)});
    return *this;
  }
  mlir::ParseResult parseParameter();

  mlir::AsmParser &parser;
  llvm::SmallVector<Parameter> parameters;
};

/// Builds the entry of a codec in the manifest.
class ManifestEntry {
public:
  explicit ManifestEntry(CodecAttrInterface codec) : builder(codec.getContext()) {
    text("family", codec.getFamily());
  }

  ManifestEntry &integer(llvm::StringRef name, int64_t value) {
    return add(name, builder.getI64IntegerAttr(value));
  }
  ManifestEntry &real(llvm::StringRef name, double value) {
    return add(name, builder.getF64FloatAttr(value));
  }
  ManifestEntry &text(llvm::StringRef name, llvm::StringRef value) {
    return add(name, builder.getStringAttr(value));
  }
  ManifestEntry &flag(llvm::StringRef name, bool value) { return add(name, builder.getBoolAttr(value)); }

  mlir::DictionaryAttr get() { return builder.getDictionaryAttr(entries); }

private:
  ManifestEntry &add(llvm::StringRef name, mlir::Attribute value) {
    entries.push_back(builder.getNamedAttr(name, value));
    return *this;
  }

  mlir::Builder builder;
  llvm::SmallVector<mlir::NamedAttribute> entries;
};

/// Fails for a bucket that cgx_codec cannot hold.
llvm::LogicalResult verifyBucket(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, int64_t bucket);

/// Fails for what is no share, above 0 and up to 1, that cgx_codec can hold. `name` is the parameter's.
llvm::LogicalResult verifyShare(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                llvm::StringRef name, mlir::FloatAttr share);

/// `<` `density` `=` float (`,` `checksum`)? `>`, of the codecs that send some elements only; 1 % if left
/// out.
template <typename SparseAttr> mlir::Attribute parseSparse(mlir::AsmParser &parser) {
  double density = 0.01;
  bool checksum = false;
  llvm::SMLoc location = parser.getCurrentLocation();
  if (ParameterParser(parser).real("density", density).flag("checksum", checksum).parse())
    return {};
  return parser.getChecked<SparseAttr>(location, parser.getContext(),
                                       parser.getBuilder().getF64FloatAttr(density), checksum);
}

void printSparse(mlir::AsmPrinter &printer, mlir::FloatAttr density, bool checksum);

} // namespace cgx::detail

#endif // CGX_DIALECT_CGX_LIB_CODECS_PARAMETERS_H
