//===-- RandomBits.cpp - Counter-based random numbers ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// J. Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011): Philox 4x32 of 10 rounds and Threefry
// 2x32 of 20. The counter, and the word of its block, that an element takes are those of XLA on CPUs, where
// the default algorithm is Philox.
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <array>

using namespace mlir;

namespace cgx {
namespace {

/// An unsigned integer on which operators emit arithmetic.
struct Word {
  ImplicitLocOpBuilder *b;
  Value value;

  Word of(Value other) const { return {b, other}; }
  Word of(uint64_t number) const {
    Type type = value.getType();
    return of(arith::ConstantOp::create(
        *b, b->getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(), number, false, true))));
  }
  Word operator+(Word other) const { return of(arith::AddIOp::create(*b, value, other.value)); }
  Word operator*(Word other) const { return of(arith::MulIOp::create(*b, value, other.value)); }
  Word operator^(Word other) const { return of(arith::XOrIOp::create(*b, value, other.value)); }
  Word operator|(Word other) const { return of(arith::OrIOp::create(*b, value, other.value)); }
  Word operator<<(uint64_t bits) const { return of(arith::ShLIOp::create(*b, value, of(bits).value)); }
  Word operator>>(uint64_t bits) const { return of(arith::ShRUIOp::create(*b, value, of(bits).value)); }
  Word operator+(uint64_t number) const { return *this + of(number); }
  Word operator*(uint64_t number) const { return *this * of(number); }
  Word operator/(uint64_t number) const { return of(arith::DivUIOp::create(*b, value, of(number).value)); }
  Word operator%(uint64_t number) const { return of(arith::RemUIOp::create(*b, value, of(number).value)); }
  Value operator<(Word other) const {
    return arith::CmpIOp::create(*b, arith::CmpIPredicate::ult, value, other.value);
  }
  Value operator==(uint64_t number) const {
    return arith::CmpIOp::create(*b, arith::CmpIPredicate::eq, value, of(number).value);
  }
  Word where(Value condition, Word otherwise) const {
    return of(arith::SelectOp::create(*b, condition, value, otherwise.value));
  }
  Word low() const { return of(arith::TruncIOp::create(*b, b->getI32Type(), value)); }
  Word high() const { return (*this >> 32).low(); }
  Word wide() const { return of(arith::ExtUIOp::create(*b, b->getI64Type(), value)); }
};

Word join(Word low, Word high) { return low.wide() | (high.wide() << 32); }

using PhiloxBlock = std::array<Word, 4>;

PhiloxBlock philox(PhiloxBlock x, Word key) {
  Word keys[] = {key.low(), key.high()};
  for (int round = 0; round < 10; ++round) {
    Word first = x[0].wide() * 0xD2511F53, second = x[2].wide() * 0xCD9E8D57;
    x = {second.high() ^ x[1] ^ keys[0], second.low(), first.high() ^ x[3] ^ keys[1], first.low()};
    keys[0] = keys[0] + 0x9E3779B9;
    keys[1] = keys[1] + 0xBB67AE85;
  }
  return x;
}

std::array<Word, 2> threefry(Word counter, Word key) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Word keys[] = {key.low(), key.high(), key.low() ^ key.high() ^ key.low().of(0x1BD11BDA)};
  Word x0 = counter.low() + keys[0], x1 = counter.high() + keys[1];
  for (int group = 0; group < 5; ++group) {
    for (int bits : rotations[group % 2]) {
      x0 = x0 + x1;
      x1 = x0 ^ ((x1 << bits) | (x1 >> (32 - bits)));
    }
    x0 = x0 + keys[(group + 1) % 3];
    x1 = x1 + keys[(group + 2) % 3] + (group + 1);
  }
  return {x0, x1};
}

/// Returns the dimension whose neighbours share a block of Threefry: the first even one, else the longest.
std::optional<int64_t> pairedDim(ArrayRef<int64_t> shape) {
  std::optional<int64_t> longest;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (extent % 2 == 0)
      return dim;
    if (!longest || extent > shape[*longest])
      longest = dim;
  }
  return longest;
}

/// The properties that the elements of one result share.
struct Generator {
  ArrayRef<int64_t> shape;
  unsigned width; // of an element, in bits
  bool isPhilox;

  /// Returns how far the counter goes.
  int64_t blocks() const {
    int64_t elements = ShapedType::getNumElements(shape);
    if (isPhilox)
      return width == 64 ? llvm::divideCeil(elements, 2) : llvm::divideCeil(elements, 4);
    if (width == 64)
      return elements;
    std::optional<int64_t> dim = pairedDim(shape);
    return !dim || elements == 0 ? elements : elements / shape[*dim] * llvm::divideCeil(shape[*dim], 2);
  }

  /// Returns 64 bits, or 32 for narrower elements, at `indices`.
  Word bits(ArrayRef<Word> indices, ArrayRef<Word> state) const {
    return isPhilox ? philoxBits(linear(indices, shape, state[0]), state) : threefryBits(indices, state);
  }

private:
  static Word linear(ArrayRef<Word> indices, ArrayRef<int64_t> shape, Word like) {
    Word position = like.of(uint64_t(0));
    for (auto [index, extent] : llvm::zip_equal(indices, shape))
      position = position * extent + index;
    return position;
  }

  Word philoxBits(Word position, ArrayRef<Word> state) const {
    uint64_t words = width == 64 ? 2 : 4;
    Word low = state[1] + position / words;
    // A state of two numbers has the key for the upper half of the counter as well.
    Word high = state.size() > 2 ? state[2] : state[0];
    high = (high + 1).where(low < state[1], high);
    PhiloxBlock block = philox({low.low(), low.high(), high.low(), high.high()}, state[0]);
    Word word = position % words;
    if (width == 64)
      return join(block[0], block[1]).where(word == 0, join(block[2], block[3]));
    Word upper = block[2].where(word == 2, block[3]);
    return block[0].where(word == 0, block[1].where(word == 1, upper));
  }

  Word threefryBits(ArrayRef<Word> indices, ArrayRef<Word> state) const {
    SmallVector<Word> at(indices);
    SmallVector<int64_t> extents(shape);
    std::optional<int64_t> dim = pairedDim(shape);
    bool isPaired = width < 64 && dim;
    if (isPaired) {
      at[*dim] = indices[*dim] / 2;
      extents[*dim] = llvm::divideCeil(extents[*dim], 2);
    }
    auto [first, second] = threefry(state[1] + linear(at, extents, state[0]), state[0]);
    if (width == 64)
      return join(first, second);
    return isPaired ? first.where(indices[*dim] % 2 == 0, second) : first;
  }
};

struct RngBitGeneratorPattern : OpConversionPattern<stablehlo::RngBitGeneratorOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::RngBitGeneratorOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto stateType = cast<RankedTensorType>(adaptor.getInitialState().getType());
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getOutput().getType()));
    bool isPhilox = op.getRngAlgorithm() != stablehlo::RngAlgorithm::THREE_FRY;
    auto element = dyn_cast<IntegerType>(type.getElementType());
    if (!element || element.getWidth() < 8 || element.getWidth() > 64 || !type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "not an integer of 8 to 64 bits");
    if (!stateType.getElementType().isInteger(64) || stateType.getRank() != 1 ||
        stateType.getDimSize(0) < 2 || stateType.getDimSize(0) > (isPhilox ? 3 : 2))
      return rewriter.notifyMatchFailure(op, "another state");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Word> state;
    for (int64_t i = 0; i < stateType.getDimSize(0); ++i)
      state.push_back({&b, tensor::ExtractOp::create(b, adaptor.getInitialState(),
                                                     ValueRange{constantIndex(b, op.getLoc(), i)})});
    Generator generator{type.getShape(), element.getWidth(), isPhilox};
    rewriter.replaceOp(
        op, {advanced(b, stateType, state, generator.blocks()), filled(b, type, state, generator)});
    return success();
  }

  /// Returns the key, and the counter `blocks` later.
  static Value advanced(ImplicitLocOpBuilder &b, RankedTensorType type, ArrayRef<Word> state,
                        uint64_t blocks) {
    SmallVector<Value> next = {state[0].value};
    Word low = state[1] + blocks;
    next.push_back(low.value);
    if (state.size() > 2)
      next.push_back((state[2] + 1).where(low < state[1], state[2]).value);
    return tensor::FromElementsOp::create(b, type, next);
  }

  static Value filled(ImplicitLocOpBuilder &b, RankedTensorType type, ArrayRef<Word> state,
                      const Generator &generator) {
    AffineMap identity[] = {b.getMultiDimIdentityMap(type.getRank())};
    Value empty = emptyTensor(b, b.getLoc(), type);
    return linalg::GenericOp::create(
               b, TypeRange{type}, ValueRange(), ValueRange{empty}, identity, parallel(type.getRank()),
               [&](OpBuilder &builder, Location loc, ValueRange) {
                 ImplicitLocOpBuilder inside(loc, builder);
                 SmallVector<Word> indices, words;
                 for (Word word : state)
                   words.push_back({&inside, word.value});
                 for (int64_t dim = 0; dim < type.getRank(); ++dim)
                   indices.push_back(
                       {&inside, arith::IndexCastOp::create(inside, inside.getI64Type(),
                                                            linalg::IndexOp::create(inside, dim))});
                 Value bits = generator.bits(indices, words).value;
                 if (bits.getType() != type.getElementType())
                   bits = arith::TruncIOp::create(inside, type.getElementType(), bits);
                 linalg::YieldOp::create(inside, bits);
               })
        .getResult(0);
  }
};

} // namespace

void populateRandomBitsPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<RngBitGeneratorPattern>(converter, patterns.getContext());
}

} // namespace cgx
