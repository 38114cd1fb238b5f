//===-- Native.td - Passes from a per-rank program to native code -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===---------------------------------------------------------------------------===//

#ifndef CGX_PASSES_NATIVE
#define CGX_PASSES_NATIVE

include "mlir/Pass/PassBase.td"

def DropCallbacksPass : Pass<"cgx-drop-callbacks", "::mlir::ModuleOp"> {
  let summary = "Drop calls of the host that no result of the step needs";
  let description = [{
    `jax.debug.print`, `jax.debug.callback` and `io_callback` are custom calls of the Python process that exported the
    step, which does not exist when native code runs. Calls whose results are unused are dropped, with one warning for
    all of them. The tokens that order them are dropped as well, also from the signature of `@main`, where `cgx.feeds`
    then counts the remaining arguments. Programs that return to their framework keep such calls: this pass belongs to
    the native lowering.

    Precondition: a per-rank program. Postcondition: tokens are left only at calls whose results are used, and which the
    lowering rejects.

    Input:
    ```mlir
    func.func @main(%t: !stablehlo.token, %x: tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>) {
      %u = stablehlo.custom_call @xla_ffi_python_cpu_callback(%t, %x) {has_side_effect = true} : ...
      return %u, %x : !stablehlo.token, tensor<4xf32>
    ```
    Output:
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::cgx::stablehlo::StablehloDialect"];
}

def ExpandOperationsPass : Pass<"cgx-expand-operations", "::mlir::ModuleOp"> {
  let summary = "Expand operations into simpler ones";
  let description = [{
    Batch normalization is expanded. `dot`, `einsum` and `torch_index_select` become the products and gathers that they
    stand for, `ragged_dot` a product of operands that are zero outside of each group, and dynamic operations with
    constant operands their static forms. Sums and products of narrow types are computed in f32 or i32, sums of f16 and
    bf16 in f32, and rounded once. Constants after the text (`dense_resource`) are moved into it. Custom calls that only
    annotate for XLA become their operand, and `mhlo.topk` and `ApproxTopK` the operations that XLA computes for them on
    CPUs.

    Precondition: StableHLO. Postcondition: the same values from fewer kinds of operations. Operations that
    cannot be expanded stay.

    Input:
    ```mlir
    %r = stablehlo.dot %x, %y : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    ```
    Output:
    ```mlir
    %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let dependentDialects = ["::cgx::chlo::ChloDialect", "::cgx::stablehlo::StablehloDialect"];
}

def CallLibrariesPass : Pass<"cgx-call-libraries", "::mlir::ModuleOp"> {
  let summary = "Call the runtime's libraries to factorize matrices and transform signals";
  let description = [{
    `stablehlo.cholesky`, `triangular_solve` and `fft`, and the custom calls for LAPACK that JAX prints for CPUs,
    become calls of the runtime, which has OpenBLAS and KISS FFT. A batch is one call. Where a matrix is not positive
    definite, the result of `cholesky` is NaN, as JAX has it.

    Precondition: StableHLO. Postcondition: none of these with elements of f32, f64 or complex
    numbers of them.

    Input:
    ```mlir
    %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}, ...} : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3xi32>)
    ```
    Output:
    ```mlir
    %0:2 = cgx_rt.library @cgx_native_cholesky [115, 76, 4, 3] ins(%a) outs(%factor, %info) -> tensor<3x4x4xf32>, tensor<3xi32>
    ```
  }];
  let dependentDialects = ["::cgx::rt::CgxRtDialect", "::cgx::stablehlo::StablehloDialect",
                           "::mlir::bufferization::BufferizationDialect"];
}

def ExpandComplexPass : Pass<"cgx-expand-complex", "::mlir::ModuleOp"> {
  let summary = "Compute with complex numbers as pairs of real ones";
  let description = [{
    Each complex tensor becomes two, of its real and its imaginary parts, so that all later passes, from BLAS to
    vectorized loops, see real numbers only. In arguments and results of the step, and for the runtime's libraries, both
    parts of a number lie side by side: `tensor<4xcomplex<f32>>` is `tensor<4x2xf32>`, which is the same in memory.

    Precondition: one function @main; no collective of complex numbers. Postcondition: no complex type. If an
    operation has no real form, one error lists all of them.

    Input:
    ```mlir
    %r = stablehlo.multiply %x, %y : tensor<4xcomplex<f32>>
    ```
    Output, where `%x` is `%a` + i `%b` and `%y` is `%c` + i `%d`:
    ```mlir
    %ac = stablehlo.multiply %a, %c : tensor<4xf32>
    %bd = stablehlo.multiply %b, %d : tensor<4xf32>
    %re = stablehlo.subtract %ac, %bd : tensor<4xf32>
    ...
    ```
  }];
  let dependentDialects = ["::cgx::rt::CgxRtDialect", "::cgx::stablehlo::StablehloDialect",
                           "::mlir::bufferization::BufferizationDialect"];
}

def FoldTransposesPass : Pass<"cgx-fold-transposes", "::mlir::ModuleOp"> {
  let summary = "Fold transposes into the matrix products around them";
  let description = [{
    BLAS reads either operand transposed at no cost, so a transpose beside a product need
    not move data. Automatic differentiation leaves one at almost every weight gradient.

    Precondition: StableHLO. Postcondition: the same values, fewer transposes.

    Input:
    ```mlir
    %0 = stablehlo.dot_general %dy, %x, contracting_dims = [0] x [0] : (tensor<16x10xf32>, tensor<16x128xf32>) -> tensor<10x128xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<10x128xf32>) -> tensor<128x10xf32>
    ```
    Output:
    ```mlir
    %1 = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<16x128xf32>, tensor<16x10xf32>) -> tensor<128x10xf32>
    ```
  }];
}

def StablehloToLinalgPass : Pass<"cgx-stablehlo-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Convert StableHLO to linalg, arith, math, tensor and scf";
  let description = [{
    Unsigned integers become signless, the sign moving into the operations. A matrix product
    becomes a `linalg.contract` of rank 2 or 3. Updates of a scatter are applied one after
    the other, in index order: the result does not depend on the machine.

    Precondition: static shapes; no collective of StableHLO.
    Postcondition: no operation of StableHLO. If some cannot be converted, one error
    lists all of them, with their number and the place of the first.

    Input:
    ```mlir
    %0 = stablehlo.add %a, %b : tensor<4xui32>
    ```
    Output:
    ```mlir
    %e = tensor.empty() : tensor<4xi32>
    %0 = linalg.generic ... ins(%a, %b) outs(%e) { ... arith.addi ... }
    ```
  }];
  let dependentDialects = ["::cgx::rt::CgxRtDialect", "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def LowerCollectivesPass : Pass<"cgx-lower-collectives", "::mlir::ModuleOp"> {
  let summary = "Turn collectives into runtime calls in destination style";
  let description = [{
    An all-reduce, a broadcast and a permute replace their operand in place. Bufferization inserts a copy where the
    operand is still needed; after sixteen collectives in one place, the next one gets a copy, too. Other collectives
    write to a new buffer. A start and its wait both name the buffers, which nothing else uses between the two. In the
    explicit form, payloads become byte tensors. The payloads of all chunks have equal strides, the size of chunk 0,
    which is the largest.

    Precondition: tensors of static shape. Postcondition: no operation or type of the
    cgx dialect.

    Input:
    ```mlir
    %r = cgx.all_reduce sum(%g) id(0) ... : tensor<64x128xf32>
    ```
    Output:
    ```mlir
    %r = cgx_rt.run 0 outs(%g : tensor<64x128xf32>) -> tensor<64x128xf32>
    ```
  }];
  let dependentDialects = ["::cgx::rt::CgxRtDialect", "::cgx::stablehlo::StablehloDialect",
                           "::mlir::bufferization::BufferizationDialect", "::mlir::tensor::TensorDialect"];
}

def MatmulToBlasPass : Pass<"cgx-matmul-to-blas", "::mlir::ModuleOp"> {
  let summary = "Hand f32 matrix products to BLAS";
  let description = [{
    Precondition: products as `linalg.contract` into zeros, as cgx-stablehlo-to-linalg makes
    them. Postcondition: those of f32 with at least `min-multiplications` are `cgx_rt.matmul`; small
    ones and other types stay, to become loops.

    Input:
    ```mlir
    %r = linalg.contract indexing_maps = [(m, n, k) -> (k, m), (m, n, k) -> (k, n), (m, n, k) -> (m, n)]
           ins(%a, %b) outs(%zeros)
    ```
    Output:
    ```mlir
    %r = cgx_rt.matmul ins(%a, %b) outs(%empty) transpose_a = true transpose_b = false
    ```
  }];
  let dependentDialects = ["::cgx::rt::CgxRtDialect", "::mlir::tensor::TensorDialect"];
  let options = [Option<"minMultiplications", "min-multiplications", "int64_t", /*default=*/"4096",
                        "Scalar multiplications below which a loop is faster than the call">];
}

def FuseElementwisePass : Pass<"cgx-fuse-elementwise", "::mlir::ModuleOp"> {
  let summary = "Fuse elementwise operations into one loop";
  let description = [{
    A producer is fused into its consumer where that saves a trip through memory and repeats no expensive work: it has
    one use, or it is cheap; and the consumer's loop is not longer than its own, or it only moves data.

    Precondition: linalg on tensors. Postcondition: the same values.

    Input:
    ```mlir
    %0 = linalg.generic ... { math.tanh }
    %1 = linalg.generic ... ins(%0) { arith.mulf }
    ```
    Output:
    ```mlir
    %1 = linalg.generic ... { math.tanh, arith.mulf }
    ```
  }];
}

def CarryLoopValuesPass : Pass<"cgx-carry-loop-values", "::mlir::ModuleOp"> {
  let summary = "Write the values that a loop carries to the buffers that the next iteration reads";
  let description = [{
    One-shot bufferization gives each value that a loop carries one buffer, and requires every iteration to leave the
    next value there. This pass makes that explicit. A value that is a view of a carried one is copied first, because
    that buffer may be overwritten before it is read (two values that change places).

    Precondition: `scf.while` on tensors. Postcondition: every tensor that its body yields is the value that the loop
    carries at that position, or was materialized into it.

    Input:
    ```mlir
    scf.while ... do {
    ^bb0(%a: tensor<7xf32>, %b: tensor<7xf32>):
      %c = ... : tensor<7xf32>
      scf.yield %b, %c : tensor<7xf32>, tensor<7xf32>
    }
    ```
    Output:
    ```mlir
      %b_copy = bufferization.alloc_tensor() copy(%b)
      %next_a = bufferization.materialize_in_destination %b_copy in %a
      %next_b = bufferization.materialize_in_destination %c in %b
      scf.yield %next_a, %next_b
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def SeparateEmptyTensorsPass : Pass<"cgx-separate-empty-tensors", "::mlir::ModuleOp"> {
  let summary = "Give each use of uninitialized memory a tensor of its own";
  let description = [{
    A `tensor.empty` that several operations begin with is memory that they share. Bufferization compares all values
    that are computed in it with all ops that read it, in time that grows with the cube of their number, and misses some
    readers in regions.

    Precondition: none. Postcondition: each `tensor.empty` has at most one use.

    Input:
    ```mlir
    %empty = tensor.empty() : tensor<4xf32>
    %a = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
    %b = linalg.exp ins(%y : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
    ```
    Output:
    ```mlir
    %0 = tensor.empty() : tensor<4xf32>
    %a = linalg.exp ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
    %1 = tensor.empty() : tensor<4xf32>
    %b = linalg.exp ins(%y : tensor<4xf32>) outs(%1 : tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def ComputeInSlicesPass : Pass<"cgx-compute-in-slices", "::mlir::ModuleOp"> {
  let summary = "Compute tensors that go into a slice in its place";
  let description = [{
    Runs upstream's `--eliminate-empty-tensors`, which compares all values of a step with each other, only where it can
    have an effect: at an operation that puts one tensor into a slice of another.

    Precondition: none. Postcondition: the same values.

    Input:
    ```mlir
    %empty = tensor.empty() : tensor<4xf32>
    %a = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
    %r = tensor.insert_slice %a into %to[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
    ```
    Output:
    ```mlir
    %slice = tensor.extract_slice %to[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %a = linalg.exp ins(%x : tensor<4xf32>) outs(%slice : tensor<4xf32>) -> tensor<4xf32>
    %r = tensor.insert_slice %a into %to[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::tensor::TensorDialect"];
}

def DestinationPassingPass : Pass<"cgx-destination-passing", "::mlir::ModuleOp"> {
  let summary = "Pass the results of main as buffers that the caller owns";
  let description = [{
    Gives `@main` the signature of the compiled step: the context as an integer, a buffer for each
    argument (read only), a buffer for each result. A result is computed in its buffer from the beginning, unless
    another value begins in the same memory.

    Precondition: `@main` on tensors of static shape, each `tensor.empty` with one use. Postcondition: it returns
    nothing.

    Input:
    ```mlir
    func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> { ... return %r }
    ```
    Output:
    ```mlir
    func.func public @main(%context: i64, %x: memref<4xf32>, %r_out: memref<4xf32>) {
      %x_tensor = bufferization.to_tensor %x restrict
      ...
      bufferization.materialize_in_destination %r in restrict writable %r_out
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PlanMemoryPass : Pass<"cgx-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place all temporary buffers in one block of scratch memory";
  let description = [{
    Sizes are static, so are lifetimes: buffers that never live at the same time share
    bytes. `@main` gets one more argument, the scratch memory, which the compiled step
    keeps between steps: a fresh page costs more than the loop that fills it.

    Precondition: a bufferized `@main`, nothing else called. Postcondition: no allocation.

    Input:
    ```mlir
    %a = memref.alloc() : memref<64x128xf32>
    ```
    Output:
    ```mlir
    %offset = arith.constant 4096 : index
    %a = memref.view %scratch[%offset][] : memref<98304xi8> to memref<64x128xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def EmitRuntimeCallsPass : Pass<"cgx-emit-runtime-calls", "::mlir::ModuleOp"> {
  let summary = "Turn runtime operations on buffers into calls of the C interface";
  let description = [{
    Precondition: bufferized, `@main` has the context as its first argument.
    Postcondition: no operation of the cgx_rt dialect.

    Input:
    ```mlir
    cgx_rt.run 0 outs(%g : memref<64x128xf32>)
    ```
    Output:
    ```mlir
    %p = memref.extract_aligned_pointer_as_index %g
    %i = arith.index_cast %p : index to i64
    call @cgx_rt_operand(%context, %c0, %c0, %i, %i)
    call @cgx_rt_run(%context, %c0)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def ExpandCopiesPass : Pass<"cgx-expand-copies", "::mlir::ModuleOp"> {
  let summary = "Write copies of strided buffers as loops";
  let description = [{
    Slices, pads and concatenations copy into parts of larger buffers. The LLVM
    lowering calls a library for such a copy; a loop needs none and vectorizes.
    Copies between dense buffers stay, and become memcpy.

    Precondition: buffers. Postcondition: both sides of every `memref.copy` are dense.

    Input:
    ```mlir
    memref.copy %x, %part : memref<4x8xf32> to memref<4x8xf32, strided<[16, 1], offset: 8>>
    ```
    Output:
    ```mlir
    linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel", "parallel"]}
        ins(%x : memref<4x8xf32>) outs(%part : memref<4x8xf32, strided<[16, 1], offset: 8>>) { yield }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def VectorizeReductionsPass : Pass<"cgx-vectorize-reductions", "::mlir::ModuleOp"> {
  let summary = "Reduce rows in lanes, in an order that the shape alone decides";
  let description = [{
    Rewrites sums, products, maxima and minima of floats whose last loop runs over neighbours in memory: element k of a
    row goes to lane k mod 16, then the lanes are combined as a tree, then the remaining elements of the row follow.
    Reductions of other loops keep the order of the elements.

    Precondition: linalg on buffers. Postcondition: those reductions are loops over vectors.

    Input:
    ```mlir
    linalg.generic {... iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x70xf32>)
        outs(%sum : memref<4xf32>) { ... arith.addf %out, %in ... }
    ```
    Output:
    ```mlir
    scf.for %row = %c0 to %c4 step %c1 {
      %lanes = scf.for %k = %c0 to %c64 step %c16 iter_args(%sum = %zeros) -> vector<16xf32> { ... }
      ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def KeepRoundingsPass : Pass<"cgx-keep-roundings", "::mlir::ModuleOp"> {
  let summary = "Round after each operation of f16 and bf16";
  let description = [{
    MLIR computes f16 and bf16 in f32, and allows canonicalization to drop a rounding whose result is extended to f32
    again. The bits would then depend on which operations share a loop. This pass withdraws that permission: an
    operation has the same bits wherever it stands, those of XLA with `--xla_allow_excess_precision=false`.

    Precondition: arithmetic in f32 between `arith.extf` and `arith.truncf`. Postcondition: no pass may
    leave either of them out.

    Input:
    ```mlir
    %1 = arith.truncf %0 fastmath<contract> : f32 to bf16
    %2 = arith.extf %1 fastmath<contract> : bf16 to f32
    ```
    Output:
    ```mlir
    %1 = arith.truncf %0 : f32 to bf16
    %2 = arith.extf %1 : bf16 to f32
    ```
  }];
}

def ApproximateMathPass : Pass<"cgx-approximate-math", "::mlir::ModuleOp"> {
  let summary = "Expand the math functions of training steps so that loops vectorize";
  let description = [{
    Replaces exp, expm1, log, log1p, tanh and erf on f32 by polynomials that are within a few
    units in the last place, also where arguments or results are subnormal, because a call in a loop keeps
    it scalar. Computes f16 and bf16 in f32. expm1 and log1p on f64 call the C library, and maximum and minimum
    become those of LLVM, which order the zeros: MLIR's own conversions would lose digits and signs.

    Precondition: loops or linalg on scalars, without arithmetic of f16 and bf16 but of functions.
    Postcondition: other functions call libm.

    Input:
    ```mlir
    %y = math.exp %x : f32
    ```
    Output: a dozen `arith` operations.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def OutlineLoopsPass : Pass<"cgx-outline-loops", "::mlir::ModuleOp"> {
  let summary = "Move loop nests into functions of their own, equal ones into one";
  let description = [{
    LLVM takes more than linear time for a function, and a step is one function of thousands of loop nests. Each nest
    that calls nothing becomes a function: the values that it reads from around it become parameters, and constants are
    repeated inside. Nests that differ in their buffers only, as those of repeated layers do, share a function.
    Parameters that overlap no other parameter are marked so for LLVM.

    Precondition: main after `cgx-plan-memory`, with loops of `scf` and calls of the runtime. Postcondition: loops
    that are left in main call functions.

    Input:
    ```mlir
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i] : memref<64xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%i] : memref<64xf32>
    }
    ```
    Output:
    ```mlir
    func.call @cgx_loops_0(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def EmitEntryPass : Pass<"cgx-emit-entry", "::mlir::ModuleOp"> {
  let summary = "Emit the entry point and the manifest of the compiled step";
  let description = [{
    Adds `cgx_program_step`, which loads the buffers' addresses, takes a block of scratch memory from those
    of earlier steps, and calls main; the constant `cgx_program_manifest`; and `cgx_program_release`, which
    frees the blocks that no step has. It is a destructor of the object, too, so that a library which is
    unloaded leaves no memory behind.

    Precondition: `@main` in the LLVM dialect, with bare pointers. Postcondition: these three are
    the only symbols that the object exports.

    Input:
    ```mlir
    llvm.func @main(%context: i64, %x: !llvm.ptr, %y: !llvm.ptr, %scratch: !llvm.ptr)
    ```
    Output:
    ```mlir
    llvm.func @cgx_program_step(%context: !llvm.ptr, %arguments: !llvm.ptr, %results: !llvm.ptr)
    llvm.func @cgx_program_release()
    llvm.mlir.global_dtors dtors = [@cgx_program_release], ...
    llvm.func internal @main(...)
    llvm.mlir.global constant @cgx_program_manifest("...")
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // CGX_PASSES_NATIVE
