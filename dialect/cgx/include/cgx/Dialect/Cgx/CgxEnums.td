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

// The numbers of this and the next are those of cgx/wire.h.
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
  I32EnumAttrCase<"Hierarchical", 4, "hierarchical">
]>;

def Cgx_Leaders : Cgx_Enum<"Leaders", "which ranks of a host talk to other hosts", [
  I32EnumAttrCase<"All", 0, "all">,
  I32EnumAttrCase<"One", 1, "one">
]>;

def Cgx_LayerKind : Cgx_Enum<"LayerKind", "what is communicated for a layer", [
  I32EnumAttrCase<"Gradient", 0, "gradient">,
  I32EnumAttrCase<"Weight", 1, "weight">,
  I32EnumAttrCase<"Activation", 2, "activation">,
  I32EnumAttrCase<"Other", 3, "other">
]>;

// The numbers are `phase` of the runtime's cgx_rt_compress.
def Cgx_Phase : Cgx_Enum<"Phase", "which of the two encodings of an all-reduce this is", [
  I32EnumAttrCase<"Contribution", 0, "contribution">,
  I32EnumAttrCase<"Result", 1, "result">
]>;

// The numbers of the following are those of cgx/codec.h.
def Cgx_Rounding : Cgx_Enum<"Rounding", "how an element becomes a level", [
  I32EnumAttrCase<"Nearest", 0, "nearest">,
  I32EnumAttrCase<"Stochastic", 1, "stochastic">,
  I32EnumAttrCase<"RandomShift", 2, "random_shift">
]>;

def Cgx_ScaleType : Cgx_Enum<"ScaleType", "how the scale of a bucket is stored", [
  I32EnumAttrCase<"BF16", 0, "bf16">,
  I32EnumAttrCase<"F32", 1, "f32">
]>;

def Cgx_Scaling : Cgx_Enum<"Scaling", "what the levels of a bucket span", [
  I32EnumAttrCase<"MinMax", 0, "min_max">,
  I32EnumAttrCase<"MaxAbs", 1, "max_abs">,
  I32EnumAttrCase<"L2", 2, "l2">
]>;

def Cgx_Optimizer : Cgx_Enum<"Optimizer", "how a step updates its parameters", [
  I32EnumAttrCase<"Sgd", 0, "sgd">,
  I32EnumAttrCase<"Momentum", 1, "momentum">,
  I32EnumAttrCase<"Nesterov", 2, "nesterov">,
  I32EnumAttrCase<"Adagrad", 3, "adagrad">,
  I32EnumAttrCase<"Rmsprop", 4, "rmsprop">,
  I32EnumAttrCase<"Adam", 5, "adam">,
  I32EnumAttrCase<"Adamw", 6, "adamw">
]>;

def Cgx_Kept : Cgx_Enum<"Kept", "what a step lends of its optimizer", [
  I32EnumAttrCase<"Parameter", 0, "parameter">,
  I32EnumAttrCase<"FirstMoment", 1, "first moment">,
  I32EnumAttrCase<"SecondMoment", 2, "second moment">,
  I32EnumAttrCase<"LearningRate", 3, "learning rate">
]>;

def Cgx_Levels : Cgx_Enum<"Levels", "where the levels of a bucket lie", [
  I32EnumAttrCase<"Uniform", 0, "uniform">,
  I32EnumAttrCase<"Exponential", 1, "exponential">,
  I32EnumAttrCase<"Learned", 2, "learned">
]>;

def Cgx_SignMagnitude : Cgx_Enum<"SignMagnitude", "what the elements of one sign become", [
  I32EnumAttrCase<"Means", 0, "means">,
  I32EnumAttrCase<"Norm", 1, "norm">
]>;

def Cgx_Format : Cgx_Enum<"Format", "what an element is cast to", [
  I32EnumAttrCase<"BF16", 0, "bf16">,
  I32EnumAttrCase<"F16", 1, "f16">,
  I32EnumAttrCase<"FP8E4M3", 2, "fp8_e4m3">,
  I32EnumAttrCase<"FP8E5M2", 3, "fp8_e5m2">,
  I32EnumAttrCase<"MXFP8", 4, "mxfp8">,
  I32EnumAttrCase<"MXFP4", 5, "mxfp4">
]>;

def Cgx_ResidualStorage : Cgx_Enum<"ResidualStorage", "how a rank keeps what encoding lost", [
  I32EnumAttrCase<"F32", 0, "f32">,
  I32EnumAttrCase<"BF16", 1, "bf16">,
  I32EnumAttrCase<"Int8", 2, "int8">
]>;

#endif // CGX_DIALECT_CGX_CGXENUMS_TD
