//===-- native/Convolution.cpp - Convolutions on oneDNN ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN is told where the elements of each tensor lie, and takes activations whose features are contiguous
// directly. Kernels, and tensors with another layout, are copied into oneDNN's preferred layout in each call,
// since kernels change from step to step. The code that oneDNN generates for a convolution is kept for the
// next step; one block of scratch memory serves all convolutions of a thread. Each rank computes on one
// thread.
//
//===----------------------------------------------------------------------===//
#include "Failure.h"

#include "cgx/native.h"

#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include <dnnl.h>
#include <omp.h>

namespace {

constexpr int most = CGX_CONVOLUTION_DIMENSIONS;

/// Returns the number of leading dimensions that do not matter: oneDNN is faster without them.
int missingDimensions(const cgx_convolution &c) {
  int missing = 0;
  while (missing < most - 1 && c.in_size[missing] == 1 && c.kernel_size[missing] == 1 &&
         c.out_size[missing] == 1 && c.low[missing] == 0)
    ++missing;
  return missing;
}

void check(dnnl_status_t status, const char *what) {
  if (status != dnnl_success)
    throw std::runtime_error(std::string("convolution: oneDNN ended with status ") + std::to_string(status) +
                             " while it " + what);
}

/// An object of oneDNN with the function that destroys it.
template <typename T, auto destroy> struct Owned {
  T object = nullptr;
  Owned() = default;
  Owned(Owned &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Owned &operator=(Owned &&other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Owned() {
    if (object)
      destroy(object);
  }
};
using Engine = Owned<dnnl_engine_t, dnnl_engine_destroy>;
using Stream = Owned<dnnl_stream_t, dnnl_stream_destroy>;
using Description = Owned<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;
using Attributes = Owned<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>;
using Primitive = Owned<dnnl_primitive_t, dnnl_primitive_destroy>;
using Memory = Owned<dnnl_memory_t, dnnl_memory_destroy>;

/// Makes oneDNN compute on the calling thread alone, and restores the number of threads for other users of
/// OpenMP.
class OneThread {
public:
  OneThread() : before(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before); }
  OneThread(const OneThread &) = delete;
  OneThread &operator=(const OneThread &) = delete;

private:
  int before;
};

/// Scratch memory for one convolution, as large as the largest has needed.
class Workspace {
public:
  void reserve(size_t wanted) {
    if (wanted <= bytes)
      return;
    block.reset();
    bytes = 0;
    block.reset(static_cast<char *>(::operator new(wanted, alignment)));
    bytes = wanted;
  }
  char *at(size_t offset) const { return block.get() + offset; }
  /// Returns the offset at which the next tensor may begin.
  static size_t aligned(size_t offset) { return (offset + size_t(alignment) - 1) & ~(size_t(alignment) - 1); }

private:
  static constexpr std::align_val_t alignment{4096};
  struct Release {
    void operator()(char *memory) const { ::operator delete(memory, alignment); }
  };
  std::unique_ptr<char, Release> block;
  size_t bytes = 0;
};

struct Processor {
  Engine engine;
  Stream stream;
  Workspace workspace;

  Processor() {
    check(dnnl_engine_create(&engine.object, dnnl_cpu, 0), "looked for a processor");
    check(dnnl_stream_create(&stream.object, engine.object, dnnl_stream_default_flags), "began");
  }
};

/// One of the three tensors, in the layout of the step and in that of the convolution.
class Tensor {
public:
  Tensor(int missing, int64_t first, int64_t second, const int64_t *places,
         const cgx_convolution_strides &strides, bool mayMove)
      : rank(most - missing + 2), sizes{first, second} {
    dnnl_dims_t steps = {strides.first, strides.second};
    std::copy(places + missing, places + most, sizes + 2);
    std::copy(strides.places + missing, strides.places + most, steps + 2);
    check(dnnl_memory_desc_init_by_strides(&given, rank, sizes, dnnl_f32, steps), "described a tensor");
    // The dimensions are samples, then places, then features.
    bool featuresLast = steps[1] == 1;
    int64_t step = second;
    for (int i = rank - 1; i >= 2; step *= sizes[i--])
      featuresLast &= steps[i] == step;
    any = mayMove || !featuresLast;
  }

  /// Returns the layouts from which the convolution may choose.
  dnnl_memory_desc_t choice() const {
    dnnl_memory_desc_t result = given;
    if (any)
      check(dnnl_memory_desc_init_by_tag(&result, rank, sizes, dnnl_f32, dnnl_format_tag_any),
            "described a tensor");
    return result;
  }

  /// Prepares to hold the tensor in the layout that the convolution has chosen, after the first `workspace`
  /// bytes.
  void prepare(const Processor &on, const dnnl_memory_desc_t *chosen, bool isResult, size_t &workspace) {
    check(dnnl_memory_create(&outside.object, &given, on.engine.object, DNNL_MEMORY_NONE), "made a tensor");
    if (dnnl_memory_desc_equal(&given, chosen))
      return;
    check(dnnl_memory_create(&inside.object, chosen, on.engine.object, DNNL_MEMORY_NONE), "made a tensor");
    offset = Workspace::aligned(workspace);
    workspace = offset + dnnl_memory_desc_get_size(chosen);
    Description moving;
    check(dnnl_reorder_primitive_desc_create(&moving.object, isResult ? chosen : &given, on.engine.object,
                                             isResult ? &given : chosen, on.engine.object, nullptr),
          "looked for a way between layouts");
    check(dnnl_primitive_create(&move.object, moving.object), "made a way between layouts");
  }

  void place(void *data, const Workspace &workspace) {
    check(dnnl_memory_set_data_handle(outside.object, data), "took a tensor");
    if (inside.object)
      check(dnnl_memory_set_data_handle(inside.object, workspace.at(offset)), "took memory");
  }
  dnnl_memory_t taken() const { return inside.object ? inside.object : outside.object; }
  void bringIn(const Processor &on) { bring(on, outside.object, inside.object); }
  void bringOut(const Processor &on) { bring(on, inside.object, outside.object); }

private:
  void bring(const Processor &on, dnnl_memory_t from, dnnl_memory_t to) {
    if (!move.object)
      return;
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    check(dnnl_primitive_execute(move.object, on.stream.object, 2, arguments), "changed a layout");
  }

  int rank;
  dnnl_dims_t sizes;
  dnnl_memory_desc_t given;
  bool any;
  size_t offset = 0; ///< offset of the inner tensor in the workspace
  Memory outside, inside;
  Primitive move;
};

class Convolution {
public:
  Convolution(const Processor &on, const cgx_convolution &c) : Convolution(on, c, missingDimensions(c)) {}

private:
  Convolution(const Processor &on, const cgx_convolution &c, int missing)
      : kind(cgx_convolution_kind(c.kind)),
        input(missing, c.samples, c.in_features, c.in_size, c.input, false),
        kernel(missing, c.out_features, c.in_features, c.kernel_size, c.kernel, true),
        output(missing, c.samples, c.out_features, c.out_size, c.output, false) {
    dnnl_dims_t strides, dilations, low, high;
    for (int i = missing; i < most; ++i) {
      strides[i - missing] = c.stride[i];
      dilations[i - missing] = c.dilation[i] - 1;
      low[i - missing] = c.low[i];
      int64_t read = (c.out_size[i] - 1) * c.stride[i] + (c.kernel_size[i] - 1) * c.dilation[i] + 1;
      high[i - missing] = std::max<int64_t>(read - c.in_size[i] - c.low[i], 0);
    }
    dnnl_memory_desc_t in = input.choice(), weights = kernel.choice(), out = output.choice();
    dnnl_convolution_desc_t forward, backward;
    check(dnnl_dilated_convolution_forward_desc_init(&forward, dnnl_forward_training, dnnl_convolution_direct,
                                                     &in, &weights, nullptr, &out, strides, dilations, low,
                                                     high),
          "described the convolution");
    Attributes attributes;
    check(dnnl_primitive_attr_create(&attributes.object), "began");
    check(dnnl_primitive_attr_set_scratchpad_mode(attributes.object, dnnl_scratchpad_mode_user), "began");
    Description hint, chosen;
    dnnl_engine_t engine = on.engine.object;
    check(dnnl_primitive_desc_create(&hint.object, &forward, attributes.object, engine, nullptr),
          "looked for a way");
    if (kind == CGX_CONVOLUTION_INPUT_GRADIENT)
      check(dnnl_dilated_convolution_backward_data_desc_init(&backward, dnnl_convolution_direct, &in,
                                                             &weights, &out, strides, dilations, low, high),
            "described the input's gradient");
    else if (kind == CGX_CONVOLUTION_KERNEL_GRADIENT)
      check(dnnl_dilated_convolution_backward_weights_desc_init(&backward, dnnl_convolution_direct, &in,
                                                                &weights, nullptr, &out, strides, dilations,
                                                                low, high),
            "described the kernel's gradient");
    if (kind == CGX_CONVOLUTION_OUTPUT)
      std::swap(chosen, hint);
    else
      check(dnnl_primitive_desc_create(&chosen.object, &backward, attributes.object, engine, hint.object),
            "looked for a way");
    check(dnnl_primitive_create(&primitive.object, chosen.object), "made the convolution");

    auto layout = [&](dnnl_query_t plain, dnnl_query_t gradient, bool isGradient) {
      return dnnl_primitive_desc_query_md(chosen.object, isGradient ? gradient : plain, 0);
    };
    bool isOutput = kind == CGX_CONVOLUTION_OUTPUT, ofInput = kind == CGX_CONVOLUTION_INPUT_GRADIENT,
         ofKernel = kind == CGX_CONVOLUTION_KERNEL_GRADIENT;
    input.prepare(on, layout(dnnl_query_src_md, dnnl_query_diff_src_md, ofInput), ofInput, bytes);
    kernel.prepare(on, layout(dnnl_query_weights_md, dnnl_query_diff_weights_md, ofKernel), ofKernel, bytes);
    output.prepare(on, layout(dnnl_query_dst_md, dnnl_query_diff_dst_md, !isOutput), isOutput, bytes);
    const dnnl_memory_desc_t *ofScratch =
        dnnl_primitive_desc_query_md(chosen.object, dnnl_query_scratchpad_md, 0);
    check(dnnl_memory_create(&scratch.object, ofScratch, engine, DNNL_MEMORY_NONE), "made memory");
    scratchOffset = Workspace::aligned(bytes);
    bytes = scratchOffset + dnnl_memory_desc_get_size(ofScratch);
  }

public:
  void run(Processor &on, void *first, void *second, void *out) {
    Tensor *order[] = {&input, &kernel, &output};
    if (kind == CGX_CONVOLUTION_INPUT_GRADIENT)
      order[0] = &output, order[2] = &input;
    else if (kind == CGX_CONVOLUTION_KERNEL_GRADIENT)
      order[1] = &output, order[2] = &kernel;
    void *data[] = {first, second, out};
    on.workspace.reserve(bytes);
    for (int i = 0; i < 3; ++i)
      order[i]->place(data[i], on.workspace);
    check(dnnl_memory_set_data_handle(scratch.object, on.workspace.at(scratchOffset)), "took memory");
    order[0]->bringIn(on);
    order[1]->bringIn(on);
    bool isOutput = kind == CGX_CONVOLUTION_OUTPUT;
    dnnl_exec_arg_t arguments[] = {
        {kind == CGX_CONVOLUTION_INPUT_GRADIENT ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, input.taken()},
        {kind == CGX_CONVOLUTION_KERNEL_GRADIENT ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, kernel.taken()},
        {isOutput ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, output.taken()},
        {DNNL_ARG_SCRATCHPAD, scratch.object}};
    check(dnnl_primitive_execute(primitive.object, on.stream.object, 4, arguments), "computed");
    order[2]->bringOut(on);
    check(dnnl_stream_wait(on.stream.object), "computed");
  }

private:
  cgx_convolution_kind kind;
  Tensor input, kernel, output;
  Primitive primitive;
  Memory scratch;
  size_t scratchOffset = 0, bytes = 0; ///< offset in the workspace, and its size
};

/// The convolutions that this thread's steps have used so far.
struct Made {
  Processor processor;
  std::map<std::string, Convolution> convolutions;
};

} // namespace

extern "C" void cgx_native_convolution_f32(int64_t context, int64_t convolution, int64_t first,
                                           int64_t second, int64_t out) {
  try {
    thread_local Made made;
    OneThread oneThread;
    const auto &described = *reinterpret_cast<const cgx_convolution *>(convolution);
    std::string key(reinterpret_cast<const char *>(&described), sizeof described);
    auto found = made.convolutions.find(key);
    if (found == made.convolutions.end())
      found = made.convolutions.try_emplace(key, made.processor, described).first;
    found->second.run(made.processor, reinterpret_cast<void *>(first), reinterpret_cast<void *>(second),
                      reinterpret_cast<void *>(out));
  } catch (...) {
    cgx::failStep(context, std::current_exception());
  }
}
