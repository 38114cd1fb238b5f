//===-- CgxAttrs.td - codecs, groups, layers, meshes and shardings --*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_CGX_CGXATTRS_TD
#define CGX_DIALECT_CGX_CGXATTRS_TD

include "cgx/Dialect/Cgx/CgxEnums.td"
include "cgx/Dialect/Cgx/CodecAttrInterface.td"
include "mlir/IR/AttrTypeBase.td"

//===----------------------------------------------------------------------===//
// Enumerations as attributes
//===----------------------------------------------------------------------===//

def Cgx_ReductionAttr : EnumAttr<Cgx_Dialect, Cgx_Reduction, "reduction">;
def Cgx_PhaseAttr : EnumAttr<Cgx_Dialect, Cgx_Phase, "phase">;
def Cgx_AlgorithmAttr : EnumAttr<Cgx_Dialect, Cgx_Algorithm, "algorithm"> {
  let assemblyFormat = "`<` $value `>`";
}

class Cgx_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Cgx_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Codecs
//===----------------------------------------------------------------------===//

class Cgx_CodecAttr<string name, string family> : Cgx_Attr<name, family, [Cgx_CodecAttrInterface]> {
  code codecMethods = [{
    // CodecAttrInterface
    cgx_codec getCodec() const;
    ::llvm::StringRef getFamily() const { return getMnemonic(); }
    ::mlir::DictionaryAttr getManifestEntry() const;
    bool isUnbiased() const;
  }];
  let extraClassDeclaration = codecMethods;
}

def Cgx_IdentityAttr : Cgx_CodecAttr<"Identity", "identity"> {
  let summary = "the elements as they are";
  let description = [{
    Sends the bytes of the elements, little-endian, without a header. Exact, and
    the only codec for integers, booleans and f64.

    Example:
    ```mlir
    #cgx.identity
    ```
  }];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = codecMethods # [{
    bool isAssociative() const;
    bool isExact() const;
    bool isRaw() const;
    bool takesElementType(::mlir::Type elementType) const;
    ::llvm::StringRef getElementTypesText() const;
  }];
}

def Cgx_QuantizeAttr : Cgx_CodecAttr<"Quantize", "quantize"> {
  let summary = "levels of a few bits in each bucket";
  let description = [{
    Cuts the elements into buckets, stores for each the minimum and the unit
    (the distance of two levels), and for each element the number of its level
    in `bits` bits.

        bucket  x0 x1 ... x127   ->   [minimum, unit]  [l0 l1 ... l127]     xi ~ minimum + li * unit

    `rounding` is `nearest` (half the worst-case error, biased), `stochastic`
    (unbiased: the default, for gradients), or `random_shift` (unbiased, and half
    the error: levels are shifted at random, once for each bucket, and elements go to the
    nearest; for weights, QSDP 5.5). `scale` says how minimum and unit
    are stored: `bf16`, 4 bytes a bucket together, or `f32`, 8 bytes. With
    `checksum`, payloads end in 8 bytes that the receiver checks.

    `scaling` says what levels span: `min_max`, or symmetrically around the level 0 up to the
    largest magnitude (`max_abs`) or the Euclidean norm of the bucket (`l2`, as QSGD has it), which
    take half the bytes for scales. `levels` lie evenly (`uniform`), or at 0 and at powers of two
    below the end of the span (`exponential`), or where a fit to the data puts them
    (`learned`, QSDP 5.6.2: one table of 2^bits numbers a payload).

    Parameters may be left out when written by hand and are then those of the
    example, without checksum. `scaling = min_max` and `levels = uniform` are not printed.
    Encodes f32, f16 and bf16.

    Example:
    ```mlir
    #cgx.quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>
    #cgx.quantize<bits = 2, bucket = 512, rounding = nearest, scale = f32, checksum>
    #cgx.quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16, scaling = max_abs, levels = exponential>
    ```

    **Constraints:**
    - (C1) `bits` is in 1..8
    - (C2) `bucket` is in 1..2^32 - 1
    - (C3) `bits` is at least 2 where 0 is a level (`max_abs`, `l2`) or levels are shifted (`random_shift`)
    - (C4) `random_shift` is of `uniform` levels of `min_max` scaling, with `scale = f32`
    - (C5) `exponential` levels have the scaling `max_abs` or `l2`
    - (C6) `learned` levels have the scaling `min_max`
  }];
  let parameters = (ins "int64_t":$bits, "int64_t":$bucket, "::cgx::Rounding":$rounding,
                        "::cgx::ScaleType":$scale, "::cgx::Scaling":$scaling, "::cgx::Levels":$levels,
                        "bool":$checksum);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cgx_TernaryAttr : Cgx_CodecAttr<"Ternary", "ternary"> {
  let summary = "-s, 0 or s";
  let description = [{
    TernGrad: `s` is the largest magnitude of a bucket, and an element becomes `s` of its sign with the
    probability |x| / s, else 0. Unbiased; 2 bits an element.

    Example:
    ```mlir
    #cgx.ternary<bucket = 512, scale = bf16>
    ```

    **Constraints:**
    - (C1) `bucket` is in 1..2^32 - 1
  }];
  let parameters = (ins "int64_t":$bucket, "::cgx::ScaleType":$scale, "bool":$checksum);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cgx_SignAttr : Cgx_CodecAttr<"Sign", "sign"> {
  let summary = "one bit, and what the signs stand for";
  let description = [{
    An element is its sign. With `means`, the elements that are not negative become their mean in the bucket, and
    the negative ones theirs (1-bit SGD); with `norm`, both the mean magnitude of the bucket (scaled signSGD), which
    takes half the bytes for scales. Biased: meant for error feedback.

    Example:
    ```mlir
    #cgx.sign<bucket = 512, magnitude = means, scale = bf16>
    ```

    **Constraints:**
    - (C1) `bucket` is in 1..2^32 - 1
  }];
  let parameters = (ins "int64_t":$bucket, "::cgx::SignMagnitude":$magnitude, "::cgx::ScaleType":$scale,
                        "bool":$checksum);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cgx_NaturalAttr : Cgx_CodecAttr<"Natural", "natural"> {
  let summary = "sign and exponent";
  let description = [{
    Natural compression: an element becomes one of the two powers of two around it, at random such
    that the expected value is the element. 9 bits an element, at most an eighth more variance.

    Example:
    ```mlir
    #cgx.natural
    ```
  }];
  let parameters = (ins "bool":$checksum);
  let hasCustomAssemblyFormat = 1;
}

def Cgx_CastAttr : Cgx_CodecAttr<"Cast", "cast"> {
  let summary = "a narrower floating-point format";
  let description = [{
    Rounds each element to the nearest of `format`: `bf16`, `f16`; `fp8_e4m3`, `fp8_e5m2` with a scale for each
    `bucket`, by which its largest magnitude becomes the format's; or `mxfp8`, `mxfp4`, which scale 32 elements by a
    power of two (OCP microscaling). `bucket` and `scale` are of the fp8 formats only.

    Example:
    ```mlir
    #cgx.cast<format = bf16>
    #cgx.cast<format = fp8_e4m3, bucket = 128, scale = bf16>
    ```

    **Constraints:**
    - (C1) of a format with a bucket, it is in 1..2^32 - 1
    - (C2) other formats have none
  }];
  let parameters = (ins "::cgx::Format":$format, "int64_t":$bucket, "::cgx::ScaleType":$scale, "bool":$checksum);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cgx_TopkAttr : Cgx_CodecAttr<"Topk", "topk"> {
  let summary = "the largest elements";
  let description = [{
    Sends the share `density` of the elements, the largest in magnitude (of equal ones the first), at least one; the
    others are 0. Exact, not estimated; what is selected from is the chunk of a rank. Positions take little more than
    their entropy: 9 bits each at 1 %. Biased: meant for error feedback.

    Example:
    ```mlir
    #cgx.topk<density = 1.000000e-02>
    #cgx.error_feedback<#cgx.topk<density = 1.000000e-02>, decay = 1.000000e+00, storage = f32>
    ```

    **Constraints:**
    - (C1) `density` is above 0 and up to 1
  }];
  let parameters = (ins "::mlir::FloatAttr":$density, "bool":$checksum);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cgx_RandkAttr : Cgx_CodecAttr<"Randk", "randk"> {
  let summary = "elements at random places";
  let description = [{
    Sends the share `density` of the elements, at least one, from places that are drawn anew for each payload; the others
    are 0. All ranks draw the same places from the job's seed, so that none is sent, and a sum of contributions has
    no more elements than one. Values are not scaled up: meant for error feedback.

    Example:
    ```mlir
    #cgx.randk<density = 1.000000e-02>
    ```

    **Constraints:**
    - (C1) `density` is above 0 and up to 1
  }];
  let parameters = (ins "::mlir::FloatAttr":$density, "bool":$checksum);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cgx_ThresholdAttr : Cgx_CodecAttr<"Threshold", "threshold"> {
  let summary = "the elements above a magnitude";
  let description = [{
    Sends the elements whose magnitude is at least `threshold`, exactly; the others are 0. Zeros are never sent: with
    threshold 0, all others are. How long a payload is depends on the data; predicted is the most that it can be.
    Biased: meant for error feedback.

    Example:
    ```mlir
    #cgx.threshold<threshold = 1.000000e-03>
    ```

    **Constraints:**
    - (C1) `threshold` is at least 0, and an f32 can hold it
  }];
  let parameters = (ins "::mlir::FloatAttr":$threshold, "bool":$checksum);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cgx_AdaptiveThresholdAttr : Cgx_CodecAttr<"AdaptiveThreshold", "adaptive_threshold"> {
  let summary = "the elements that are large beside their neighbours";
  let description = [{
    Sends the elements whose magnitude is at least the share `threshold` of the largest one among the `bucket` elements
    around them, exactly; the others are 0. So every bucket sends something, and layers of any scale send about equally
    much (AdaComp's local selection, with residuals that error feedback keeps). How long a payload is depends on
    the data; predicted is the most that it can be. Biased: meant for error feedback.

    Example:
    ```mlir
    #cgx.adaptive_threshold<bucket = 512, threshold = 5.000000e-01>
    ```

    **Constraints:**
    - (C1) `bucket` is positive and below 2^32
    - (C2) `threshold` is above 0 and up to 1
  }];
  let parameters = (ins "int64_t":$bucket, "::mlir::FloatAttr":$threshold, "bool":$checksum);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cgx_LosslessAttr : Cgx_CodecAttr<"Lossless", "lossless"> {
  let summary = "the elements, their exponents entropy-coded";
  let description = [{
    Sends every bit: mantissas as they are, exponents by a Huffman code that is made for each payload, and of zeros nothing
    else (the exponents of GComp, 4). Exact, for every bit pattern, so that any reduction and any kind of layer may use it. How long a
    payload is depends on the data; predicted is the most that it can be, a little more than the elements themselves.

    Example:
    ```mlir
    #cgx.lossless
    ```
  }];
  let parameters = (ins "bool":$checksum);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = codecMethods # [{
    bool isExact() const;
  }];
}

def Cgx_GcompAttr : Cgx_CodecAttr<"Gcomp", "gcomp"> {
  let summary = "lossless exponents, and mantissas as short as the optimizer allows";
  let description = [{
    GComp: an update adds a number that is proportional to the gradient to a much larger one, and loses the bits below
    the last place of that; so they need not be sent. For each element the metric of the `optimizer` (table 2 of the
    paper) says whether to drop none of the lowest bits of its mantissa, or one, two or three times `truncation`: 0 stands
    for 6 of f32, and 2 of f16 and bf16. Exponents are those of `lossless`. What has no exponent at all, below 1.2e-38,
    becomes zero. Of the sums that go back the same is dropped.

    The metric reads the parameter and the moments as they are before the update: a `cgx.provide` lends them, which
    `cgx-provide-optimizer-state` finds. So gcomp is for gradients, in an `all_reduce`. Decoding reads nothing of that.
    Without a `learning_rate`, or with 0, it is an argument of the step and lent with them, so that a schedule says in
    each step how much is dropped. Where the step computes it, or has a constant one, `learning_rate` is the largest
    one of the training: with a smaller one the codec keeps more than it has to. Other constants that are left out are
    the usual ones, or 0 where the optimizer has none of that name; `beta2` is also what rmsprop decays squares by.

    Example:
    ```mlir
    #cgx.gcomp<optimizer = sgd, weight_decay = 0.000000e+00>
    #cgx.gcomp<optimizer = sgd, learning_rate = 1.000000e-02, weight_decay = 0.000000e+00>
    #cgx.gcomp<optimizer = adam, learning_rate = 1.000000e-03, weight_decay = 0.000000e+00, beta1 = 9.000000e-01,
        beta2 = 9.990000e-01, epsilon = 1.000000e-08, truncation = 4>
    ```

    **Constraints:**
    - (C1) `learning_rate`, `weight_decay` and `epsilon` are at least 0, and an f32 can hold them; it holds a
      `learning_rate` above 0 as such
    - (C2) `momentum`, `dampening`, `beta1` and `beta2` are at least 0 and below 1
    - (C3) constants that the optimizer does not have are 0
    - (C4) `truncation` is in 0..7
  }];
  let parameters = (ins "::cgx::Optimizer":$optimizer, "::mlir::FloatAttr":$learning_rate,
                        "::mlir::FloatAttr":$weight_decay, "::mlir::FloatAttr":$momentum,
                        "::mlir::FloatAttr":$dampening, "::mlir::FloatAttr":$beta1, "::mlir::FloatAttr":$beta2,
                        "::mlir::FloatAttr":$epsilon, "int64_t":$truncation, "bool":$checksum);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = codecMethods # [{
    bool needsAllReduce() const { return true; }
  }];
}

def Cgx_LowrankAttr : Cgx_CodecAttr<"Lowrank", "lowrank"> {
  let summary = "two factors of a matrix, found by power iteration over the steps";
  let description = [{
    PowerSGD: an `all_reduce` of matrices sends, in place of each, `rank` vectors as long as a column and `rank`
    as long as a row, and adds them up exactly, in f32. The result is the sum, or the mean, of the matrices projected to
    the space that the first ones span; it is exact if the sum of the ranks' matrices has no larger rank. Each step
    goes on from the last one's factors, so that those of a matrix that changes slowly become the best ones.
    They are saved with `cgx-run --save`. Biased: meant for error feedback, with which a rank keeps what of its own
    matrix is not in that space.

        P = all_reduce(M Q)   P = orthonormal(P)   Q = all_reduce(transpose(M) P)   result = P transpose(Q)

    The matrix is the tensor as it lies in memory, its first dimensions against the others: cut where rows and columns
    together are fewest, `576x128` for a convolution of `3x3x64x128`. A number that is not finite on any rank
    makes the whole result no number. There are no payloads, and so no checksum and no explicit form.

    Example:
    ```mlir
    #cgx.lowrank<rank = 4>
    ```

    **Constraints:**
    - (C1) `rank` is positive and below 2^32
  }];
  let parameters = (ins "int64_t":$rank);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = codecMethods # [{
    bool isStateful() const;
    bool isAssociative() const;
    std::string getShapeRefusal(::mlir::RankedTensorType type) const;
  }];
}

def Cgx_ErrorFeedbackAttr : Cgx_Attr<"ErrorFeedback", "error_feedback", [Cgx_CodecAttrInterface]> {
  let summary = "another codec, to which each rank hands what earlier encodings lost";
  let description = [{
    Before a rank encodes, it adds what it meant to send before and did not; after
    that it remembers what is lost now (Algorithm 2.1 of the thesis behind CGX
    and L-GreCo). So that what a biased codec drops, such as the small elements of a
    sparse one, arrives later. The owner of a chunk does the same with the result
    of an all-reduce.

        p = x + residual      payload = encode(p)      residual = decay * (p - decode(payload))

    Payloads are those of the other codec. `decay` is the share of a loss that is made up
    for. `storage` is how the residual is kept, as large as the tensor: `f32`,
    `bf16`, or `int8` with a scale for each 128 elements. It belongs to a rank and an
    operand, and is saved with `cgx-run --save`.

    Written by hand, `decay` and `storage` may be left out, and are then 1 and f32.

    Example:
    ```mlir
    #cgx.error_feedback<#cgx.quantize<bits = 2, bucket = 128, rounding = nearest, scale = bf16>, decay = 9.000000e-01, storage = bf16>
    ```

    **Constraints:**
    - (C1) the other codec is not exact, and has no error feedback itself
    - (C2) `decay` is above 0 and up to 1
  }];
  let parameters = (ins "::cgx::CodecAttrInterface":$inner, "::mlir::FloatAttr":$decay,
                        "::cgx::ResidualStorage":$storage);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    // CodecAttrInterface
    cgx_codec getCodec() const;
    ::llvm::StringRef getFamily() const;
    ::mlir::DictionaryAttr getManifestEntry() const;
    bool isFixedSize() const;
    bool isUnbiased() const;
    bool isStateful() const;
    bool isAssociative() const;
    bool isExact() const;
    bool takesElementType(::mlir::Type elementType) const;
    ::llvm::StringRef getElementTypesText() const;
    cgx_codec getBackCodec() const;
    bool needsAllReduce() const;
    std::string getShapeRefusal(::mlir::RankedTensorType type) const;
  }];
}

def Cgx_TwoWayAttr : Cgx_Attr<"TwoWay", "two_way", [Cgx_CodecAttrInterface]> {
  let summary = "one codec for what ranks contribute, another for the result";
  let description = [{
    In an `all_reduce`, contributions travel in payloads of the codec `there`, and the sum of a chunk, which its
    owner sends to the others, in payloads of the codec `back`: a sum is denser and has another spread than what it
    was made of (the bidirectional setting of the layer-wise paper). Chunks are cut as for `there`. The algorithm is
    scatter-reduce-allgather, and there is no explicit form.

    Example:
    ```mlir
    #cgx.two_way<there = #cgx.topk<density = 1.000000e-02>, back = #cgx.natural>
    ```

    **Constraints:**
    - (C1) neither codec is two-way itself, has error feedback (which can be of both), or needs an all-reduce
    - (C2) one of them is not exact
  }];
  let parameters = (ins "::cgx::CodecAttrInterface":$there, "::cgx::CodecAttrInterface":$back);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    // CodecAttrInterface
    cgx_codec getCodec() const;
    cgx_codec getBackCodec() const;
    ::llvm::StringRef getFamily() const;
    ::mlir::DictionaryAttr getManifestEntry() const;
    bool isFixedSize() const;
    bool isUnbiased() const;
    bool isStateful() const;
    bool needsAllReduce() const { return true; }
    bool takesElementType(::mlir::Type elementType) const;
    ::llvm::StringRef getElementTypesText() const;
  }];
}

//===----------------------------------------------------------------------===//
// Who exchanges, and for what
//===----------------------------------------------------------------------===//

def Cgx_HierarchyAttr : Cgx_Attr<"Hierarchy", "hierarchy"> {
  let summary = "how the algorithm hierarchical cuts groups into hosts";
  let description = [{
    Each `local` consecutive positions of a group are one host. Operands are reduced inside
    of each host, these results are reduced between hosts with the codec of the operand, and
    handed out inside.

        inside     host 0  [a0 a1] [b0 b1]  ->  a0+b0 | a1+b1       host 1  c0+d0 | c1+d1
        between            a0+b0 <-> c0+d0      a1+b1 <-> c1+d1
        inside             a0+b0+c0+d0 | a1+b1+c1+d1  ->  [r0 r1] [r0 r1]

    With `leaders = all` each rank of a host owns a chunk and meets the owners of that chunk
    on other hosts: all talk to other hosts. With `leaders = one` the first rank of a host has
    the whole operand, and alone talks to other hosts.

    `inside` is the codec between ranks of one host. An operand whose own codec is exact
    travels exactly there too.

    `inside` and `leaders` may be left out, and are then `#cgx.identity` and `all`.

    Example:
    ```mlir
    #cgx.hierarchy<local = 4, inside = #cgx.identity, leaders = all>
    ```

    **Constraints:**
    - (C1) `local` is at least 1
    - (C2) `inside` has neither error feedback nor another way back
    - (C3) `inside` needs no all-reduce: it is neither `lowrank` nor `gcomp`
  }];
  let parameters = (ins "int64_t":$local, "::cgx::CodecAttrInterface":$inside, "::cgx::Leaders":$leaders);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cgx_GroupsAttr : Cgx_Attr<"Groups", "groups"> {
  let summary = "the groups of ranks that a collective connects";
  let description = [{
    Each row lists the ranks of one group; a rank's position in its row is its
    position in the group: it owns the chunk, the slice or the part of that
    number. Rows may differ in length. Without rows every rank is a group of its
    own, as in a program for a single rank.

    Example:
    ```mlir
    #cgx.groups<[[0, 1], [2, 3]]>
    ```

    **Constraints:**
    - (C1) no row is empty
    - (C2) ranks are not negative
    - (C3) no rank occurs twice
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$rows);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<::llvm::SmallVector<int64_t>>":$rows)>
  ];
  let extraClassDeclaration = [{
    /// The size that all groups have, or nothing if they differ.
    std::optional<int64_t> getUniformSize() const;
    int64_t getLargestSize() const;
    int64_t getSmallestSize() const;
    /// All groups have one rank: nothing is communicated.
    bool isTrivial() const { return getLargestSize() == 1; }
    /// The ranks of all groups together.
    int64_t getNumRanks() const;
    /// The group of `rank`, and the position of `rank` in it; nothing for a rank in no row.
    /// Takes time linear in the number of ranks.
    struct Membership {
      ::llvm::ArrayRef<int64_t> group;
      int64_t position;
    };
    std::optional<Membership> getMembership(int64_t rank) const;
  }];
}

def Cgx_LayerAttr : Cgx_Attr<"Layer", "layer"> {
  let summary = "the parameter that an operand is communicated for";
  let description = [{
    The path of the parameter, what of it is communicated, and the shape that
    the parameter has in the program. The shape of what is communicated may
    differ: JAX reduces the gradient of a bias of 128 elements as `1x128`. An
    operand that belongs to no parameter (a loss, a metric) has the name "".

    A parameter may be a stack of equal layers, which a loop goes through one by
    one. `stacked` is the number of leading dimensions that count them: what is
    asked of a layer's rank and size is asked of each.

    Different reductions of one kind for one parameter have names of their own: the
    second is `params/l1/w#2`. `params/l1/w#statistic` is made of its gradient, but is none.

    Example:
    ```mlir
    #cgx.layer<"params/l1/w", gradient, [64, 128]>
    #cgx.layer<"params/blocks/norm", gradient, [12, 128], stacked = 1>
    #cgx.layer<"", other>
    ```

    **Constraints:**
    - (C1) dimensions are not negative
    - (C2) the name is UTF-8: reports and manifests hold it
    - (C3) `stacked` is not negative, and not more than the shape has dimensions
  }];
  let parameters = (ins StringRefParameter<"path of the parameter, keys joined by '/'">:$name,
                        "::cgx::LayerKind":$kind,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr", "null where it is not known">:$shape,
                        DefaultValuedParameter<"int64_t", "0", "leading dimensions that count layers">:$stacked);
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name, "::cgx::LayerKind":$kind,
                                   "::mlir::DenseI64ArrayAttr":$shape),
                              [{ return $_get($_ctxt, name, kind, shape, /*stacked=*/0); }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The shape of one layer of a stack; the parameter's own where it is none. Not without a shape.
    ::llvm::ArrayRef<int64_t> getLayerShape() const {
      return getShape().asArrayRef().drop_front(getStacked());
    }
    /// The number of equal layers that the parameter is.
    int64_t getLayerCount() const;
  }];
}

//===----------------------------------------------------------------------===//
// How the program is spread over the ranks
//===----------------------------------------------------------------------===//

def Cgx_MeshAttr : Cgx_Attr<"Mesh", "mesh"> {
  let summary = "the grid of ranks that the program was written for";
  let description = [{
    Named axes and their sizes. Ranks are numbered row-major: the last axis is
    the fastest. Without axes there is one rank.

    Example:
    ```mlir
    #cgx.mesh<["data" = 4, "model" = 2]>
    ```

    **Constraints:**
    - (C1) names are unique, not empty, and UTF-8
    - (C2) sizes are positive
    - (C3) there are at most 2^20 ranks
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::StringAttr">:$axes,
                        OptionalArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumRanks() const;
    /// The size of an axis, or nothing if the mesh has no such axis.
    std::optional<int64_t> getAxisSize(::llvm::StringRef name) const;
    /// The groups of ranks that differ along `axes` only, positions counted with the first of
    /// `axes` major. Every one of `axes` must be an axis of the mesh.
    GroupsAttr getGroupsOver(::llvm::ArrayRef<::llvm::StringRef> axes) const;
  }];
}

def Cgx_ShardingAttr : Cgx_Attr<"Sharding", "sharding"> {
  let summary = "the axes of the mesh that split each dimension of a value";
  let description = [{
    One row per dimension, with the axes that split it, major first. Along an
    axis that occurs in no row all ranks hold the same.

    Example: with `#cgx.mesh<["data" = 4, "model" = 2]>`, a value of global type
    `tensor<64x32xf32>` and the sharding below is `tensor<16x32xf32>` on each
    rank, and ranks 0 and 1 hold the same rows.
    ```mlir
    #cgx.sharding<[["data"], []]>
    ```

    **Constraints:**
    - (C1) no axis occurs twice
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::ArrayAttr">:$dimensions);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether `axis` splits a dimension.
    bool hasAxis(::llvm::StringRef axis) const;
  }];
}

//===----------------------------------------------------------------------===//
// Arrays, one entry per operand of a collective
//===----------------------------------------------------------------------===//

def Cgx_CodecArrayAttr : TypedArrayAttrBase<Cgx_CodecAttrInterface, "one codec per operand">;
def Cgx_LayerArrayAttr : TypedArrayAttrBase<Cgx_LayerAttr, "one layer per operand">;

#endif // CGX_DIALECT_CGX_CGXATTRS_TD
