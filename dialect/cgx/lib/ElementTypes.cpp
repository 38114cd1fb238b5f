//===-- ElementTypes.cpp - MLIR types as element types of codecs ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"

using namespace mlir;
using namespace cgx;

std::optional<cgx_element_type> cgx::getCodecElementType(Type type) {
  if (type.isF32())
    return CGX_F32;
  if (type.isF16())
    return CGX_F16;
  if (type.isBF16())
    return CGX_BF16;
  if (type.isF64())
    return CGX_F64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return isUnsigned ? std::nullopt : std::optional(CGX_BOOL);
  case 8:
    return isUnsigned ? CGX_U8 : CGX_I8;
  case 16:
    return isUnsigned ? CGX_U16 : CGX_I16;
  case 32:
    return isUnsigned ? CGX_U32 : CGX_I32;
  case 64:
    return isUnsigned ? CGX_U64 : CGX_I64;
  default:
    return std::nullopt;
  }
}

StringRef cgx::getElementTypeName(Type type) {
  switch (*getCodecElementType(type)) {
  case CGX_F32:
    return "f32";
  case CGX_F16:
    return "f16";
  case CGX_BF16:
    return "bf16";
  case CGX_F64:
    return "f64";
  case CGX_I8:
    return "i8";
  case CGX_I16:
    return "i16";
  case CGX_I32:
    return "i32";
  case CGX_I64:
    return "i64";
  case CGX_U8:
    return "u8";
  case CGX_U16:
    return "u16";
  case CGX_U32:
    return "u32";
  case CGX_U64:
    return "u64";
  case CGX_BOOL:
    return "bool";
  case CGX_ELEMENT_TYPE_COUNT:
    break;
  }
  llvm_unreachable("element type that collectives do not carry");
}
