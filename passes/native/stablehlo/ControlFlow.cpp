//===-- ControlFlow.cpp - While, if, case -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace cgx {
namespace {

/// Moves a region of StableHLO, converting the types of its arguments. ReturnPattern converts its terminator.
LogicalResult moveRegion(ConversionPatternRewriter &rewriter, const TypeConverter &converter, Region &from,
                         Region &to) {
  rewriter.inlineRegionBefore(from, to, to.end());
  return rewriter.convertRegionTypes(&to, converter);
}

struct WhilePattern : OpConversionPattern<stablehlo::WhileOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::WhileOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    auto loop = scf::WhileOp::create(rewriter, op.getLoc(), types, adaptor.getOperands());
    if (failed(moveRegion(rewriter, *getTypeConverter(), op.getCond(), loop.getBefore())) ||
        failed(moveRegion(rewriter, *getTypeConverter(), op.getBody(), loop.getAfter())))
      return failure();
    rewriter.replaceOp(op, loop);
    return success();
  }
};

/// stablehlo.return inside of a converted scf operation.
struct ReturnPattern : OpConversionPattern<stablehlo::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ReturnOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::WhileOp>(parent); loop && op->getParentRegion() == &loop.getBefore()) {
      Value proceed = scalarOf(rewriter, op.getLoc(), adaptor.getOperands().front());
      rewriter.replaceOpWithNewOp<scf::ConditionOp>(op, proceed, loop.getBefore().front().getArguments());
      return success();
    }
    if (!isa<scf::WhileOp, scf::IfOp>(parent))
      return rewriter.notifyMatchFailure(op, "the parent is not converted");
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, adaptor.getOperands());
    return success();
  }
};

struct IfPattern : OpConversionPattern<stablehlo::IfOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::IfOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    Value condition = scalarOf(rewriter, op.getLoc(), adaptor.getPred());
    auto branch = scf::IfOp::create(rewriter, op.getLoc(), types, condition, /*addThenBlock=*/false,
                                    /*addElseBlock=*/false);
    rewriter.inlineRegionBefore(op.getTrueBranch(), branch.getThenRegion(), branch.getThenRegion().end());
    rewriter.inlineRegionBefore(op.getFalseBranch(), branch.getElseRegion(), branch.getElseRegion().end());
    rewriter.replaceOp(op, branch);
    return success();
  }
};

/// case(i) { a } { b } { c } -> if (i == 0) { a } else { if (i == 1) { b } else { c } }, so that an index
/// outside of the branches takes the last one. Not an scf.index_switch: bufferization takes its result for
/// new memory where a branch hands on a tensor from outside, which later updates in place then destroy.
struct CasePattern : OpConversionPattern<stablehlo::CaseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::CaseOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    Location loc = op.getLoc();
    Value index = indexOf(rewriter, loc, scalarOf(rewriter, loc, adaptor.getIndex()), rewriter.getI32Type());
    size_t last = op.getBranches().size() - 1;
    auto choose = [&](auto &choose, size_t number) -> scf::IfOp {
      // The only branch is always taken.
      Value chosen = last == 0 ? arith::ConstantIntOp::create(rewriter, loc, 1, 1).getResult()
                               : arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, index,
                                                       constantIndex(rewriter, loc, number))
                                     .getResult();
      auto branch = scf::IfOp::create(rewriter, loc, types, chosen, /*addThenBlock=*/false,
                                      /*addElseBlock=*/false);
      auto move = [&](Region &from, Region &to) { rewriter.inlineRegionBefore(from, to, to.end()); };
      OpBuilder::InsertionGuard guard(rewriter);
      if (number + 1 < last) {
        rewriter.createBlock(&branch.getElseRegion());
        scf::IfOp others = choose(choose, number + 1);
        scf::YieldOp::create(rewriter, loc, others.getResults());
      } else if (last == 0) {
        rewriter.cloneRegionBefore(op.getBranches()[0], branch.getElseRegion(), branch.getElseRegion().end());
      } else {
        move(op.getBranches()[last], branch.getElseRegion());
      }
      move(op.getBranches()[number], branch.getThenRegion());
      return branch;
    };
    rewriter.replaceOp(op, choose(choose, 0));
    return success();
  }
};

} // namespace

void populateControlFlowPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<WhilePattern, ReturnPattern, IfPattern, CasePattern>(converter, patterns.getContext());
}

} // namespace cgx
