//===-- PayloadType.cpp - the type of encoded tensors ---------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/wire.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace cgx;

LogicalResult PayloadType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                                  Type elementType, CodecAttrInterface codec, int64_t chunks, int64_t slots) {
  for (int64_t size : shape)
    if (size < 0) // (C1)
      return emitError() << "expected a static shape";
  if (failed(codec.verifyElementType(elementType, emitError))) // (C2)
    return failure();
  if (codec.needsAllReduce()) // (C2)
    return emitError() << "expected a codec that has an explicit form, got " << codec;
  if (chunks < 1) // (C3)
    return emitError() << "expected chunks to be positive, got " << chunks;
  if (slots < 0) // (C4)
    return emitError() << "expected slots to be positive, got " << slots;
  return success();
}

PayloadType PayloadType::getWhole() const { return getOwnChunk(/*slots=*/0); }

PayloadType PayloadType::getOwnChunk(int64_t slots) const {
  return get(getContext(), getShape(), getElementType(), getCodec(), getChunks(), slots);
}

RankedTensorType PayloadType::getTensorType() const {
  return RankedTensorType::get(getShape(), getElementType());
}

RankedTensorType PayloadType::getChunkTensorType() const {
  return RankedTensorType::get({static_cast<int64_t>(getChunkElements(0))}, getElementType());
}

uint64_t PayloadType::getNumElements() const { return getTensorType().getNumElements(); }

uint64_t PayloadType::getChunkElements(int64_t chunk) const {
  cgx_codec codec = getCodec().getCodec();
  uint64_t elements = getNumElements();
  return cgx_chunk_begin(&codec, elements, getChunks(), chunk + 1) -
         cgx_chunk_begin(&codec, elements, getChunks(), chunk);
}

uint64_t PayloadType::getChunkBytes(int64_t chunk) const {
  cgx_codec codec = getCodec().getCodec();
  return cgx_chunk_payload_bytes(&codec, *getCodecElementType(getElementType()), getNumElements(),
                                 getChunks(), chunk);
}

uint64_t PayloadType::getBytes() const {
  if (!isWhole())
    return getSlots() * getChunkBytes(0);
  uint64_t bytes = 0;
  for (int64_t chunk = 0; chunk < getChunks(); ++chunk)
    bytes += getChunkBytes(chunk);
  return bytes;
}

Type PayloadType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  CodecAttrInterface codec;
  int64_t chunks = 0, slots = 0;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false, /*withTrailingX=*/true) ||
      parser.parseType(elementType) || parser.parseComma() || parser.parseAttribute(codec) ||
      parser.parseComma() || parser.parseKeyword("chunks") || parser.parseEqual() ||
      parser.parseInteger(chunks))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    SMLoc slotsLocation = parser.getCurrentLocation();
    if (parser.parseKeyword("slots") || parser.parseEqual() || parser.parseInteger(slots))
      return {};
    if (slots < 1) { // (C4): 0 stands for the whole form only inside the attribute
      parser.emitError(slotsLocation) << "expected slots to be positive, got " << slots;
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<PayloadType>(location, parser.getContext(), ArrayRef(shape), elementType, codec,
                                        chunks, slots);
}

void PayloadType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t size : getShape())
    printer << size << 'x';
  printer << getElementType() << ", " << getCodec() << ", chunks = " << getChunks();
  if (!isWhole())
    printer << ", slots = " << getSlots();
  printer << '>';
}
