//===-- CgxEnums.td - the enumerations of the cgx dialect --*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_CGXENUMS_TD
#define CGX_DIALECT_CGX_CGXENUMS_TD

include "cgx/Dialect/Cgx/CgxDialect.td"
include "mlir/IR/EnumAttr.td"

class Cgx_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::cgx";
  let genSpecializedAttr = 0;
}

def Cgx_Reduction : Cgx_Enum<"Reduction", "how the operands of the ranks are combined", [
  I32EnumAttrCase<"Sum", 0, "sum">,
  I32EnumAttrCase<"Mean", 1, "mean">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"Product", 4, "product">
]>;

// The rows of cgx/algorithm_table.h, which tells what each does; an assertion in CgxDialect.cpp compares their
// number. The numbers of the next are those of cgx/schedule.h.
def Cgx_Algorithm : Cgx_Enum<"Algorithm", "which messages a collective is made of", [
  // The compiler or the runtime chooses.
  I32EnumAttrCase<"Auto", 0, "auto">,
  // Every rank owns one chunk: it receives that chunk from all others, reduces it, and sends
  // the result to all others.
  I32EnumAttrCase<"ScatterReduceAllGather", 1, "scatter_reduce_allgather">,
  // Every rank owns one chunk: partial results travel around the ranks to the owner, each rank
  // adding what it has, and the result travels around once more.
  I32EnumAttrCase<"Ring", 2, "ring">,
  // Partial results go up a binomial tree to the first rank of the group, the result down again.
  I32EnumAttrCase<"Tree", 3, "tree">,
  // Inside of each host first, then between hosts, then inside again: #cgx.hierarchy.
  I32EnumAttrCase<"Hierarchical", 4, "hierarchical">,
  // Every rank sends all it has to all others, and each reduces for itself.
  I32EnumAttrCase<"OneShot", 5, "one_shot">,
  // Pairs of ranks exchange halves, quarters, ... of what they have, and the results on the way back.
  I32EnumAttrCase<"HalvingDoubling", 6, "halving_doubling">
]>;

def Cgx_Leaders : Cgx_Enum<"Leaders", "which ranks of a host talk to other hosts", [
  I32EnumAttrCase<"All", 0, "all">,
  I32EnumAttrCase<"One", 1, "one">
]>;

def Cgx_LayerKind : Cgx_Enum<"LayerKind", "what is communicated for a layer", [
  I32EnumAttrCase<"Gradient", 0, "gradient">,
  I32EnumAttrCase<"Weight", 1, "weight">,
  I32EnumAttrCase<"Activation", 2, "activation">,
  I32EnumAttrCase<"Other", 3, "other">,
  // The progress of a rank since the last outer step, which the outer optimizer of DiLoCo averages.
  I32EnumAttrCase<"OuterGradient", 4, "outer_gradient">,
  // The gradient of an activation, which travels in the backward pass as the activation did in the
  // forward pass.
  I32EnumAttrCase<"ActivationGradient", 5, "activation_gradient">,
  // Tokens on their way to the ranks that hold their experts, and what the experts made of them on its way back.
  I32EnumAttrCase<"Dispatch", 6, "dispatch">,
  I32EnumAttrCase<"DispatchGradient", 7, "dispatch_gradient">,
  I32EnumAttrCase<"Combine", 8, "combine">,
  I32EnumAttrCase<"CombineGradient", 9, "combine_gradient">
]>;

// The numbers are `phase` of the runtime's cgx_rt_compress.
def Cgx_Phase : Cgx_Enum<"Phase", "which of the two encodings of an all-reduce this is", [
  I32EnumAttrCase<"Contribution", 0, "contribution">,
  I32EnumAttrCase<"Result", 1, "result">
]>;

// The numbers are those of cgx/codec.h.
def Cgx_Kept : Cgx_Enum<"Kept", "what a step binds of its optimizer's state", [
  I32EnumAttrCase<"Parameter", 0, "parameter">,
  I32EnumAttrCase<"FirstMoment", 1, "first moment">,
  I32EnumAttrCase<"SecondMoment", 2, "second moment">,
  I32EnumAttrCase<"LearningRate", 3, "learning rate">
]>;

def Cgx_ResidualStorage : Cgx_Enum<"ResidualStorage", "how a rank keeps what encoding lost", [
  I32EnumAttrCase<"F32", 0, "f32">,
  I32EnumAttrCase<"BF16", 1, "bf16">,
  I32EnumAttrCase<"Int8", 2, "int8">
]>;

#endif // CGX_DIALECT_CGX_CGXENUMS_TD
