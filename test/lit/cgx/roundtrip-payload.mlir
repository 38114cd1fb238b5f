// The explicit form reads back what it prints, in both forms.
// RUN: cgx-opt %s --verify-roundtrip | FileCheck %s
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt | FileCheck %s

#q = #cgx.quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>
#layer = #cgx.layer<"params/l1/w", gradient, [1000]>

// 1000 elements are 8 buckets of 128: chunk 0 of 3 has 3 of them, 384 elements.
// CHECK-LABEL: func @explicit_all_reduce
func.func @explicit_all_reduce(%g: tensor<1000xf32>) -> tensor<1000xf32> {
  // CHECK: cgx.compress %{{.*}} phase(contribution) {{.*}} : tensor<1000xf32> -> !cgx.payload<1000xf32, #cgx.quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>, chunks = 3>
  %p = cgx.compress %g phase(contribution) id(0) layer(#layer) operand_number(0)
      : tensor<1000xf32> -> !cgx.payload<1000xf32, #q, chunks = 3>
  // CHECK: cgx.payload_all_to_all %{{.*}} {{.*}} : !cgx.payload<1000xf32, {{.*}}, chunks = 3> -> !cgx.payload<1000xf32, {{.*}}, chunks = 3, slots = 3>
  %q = cgx.payload_all_to_all %p groups([[0, 1, 2]]) id(0) operand_number(0)
      : !cgx.payload<1000xf32, #q, chunks = 3> -> !cgx.payload<1000xf32, #q, chunks = 3, slots = 3>
  // CHECK: cgx.decompress_accumulate mean %{{.*}} {{.*}} : !cgx.payload<{{.*}}> -> tensor<384xf32>
  %s = cgx.decompress_accumulate mean %q id(0) operand_number(0)
      : !cgx.payload<1000xf32, #q, chunks = 3, slots = 3> -> tensor<384xf32>
  // CHECK: cgx.compress %{{.*}} phase(result)
  %r = cgx.compress %s phase(result) id(0) layer(#layer) operand_number(0)
      : tensor<384xf32> -> !cgx.payload<1000xf32, #q, chunks = 3, slots = 1>
  // CHECK: cgx.payload_all_gather
  %t = cgx.payload_all_gather %r groups([[0, 1, 2]]) id(0) operand_number(0)
      : !cgx.payload<1000xf32, #q, chunks = 3, slots = 1> -> !cgx.payload<1000xf32, #q, chunks = 3>
  // CHECK: cgx.decompress %{{.*}} {{.*}} : !cgx.payload<{{.*}}> -> tensor<1000xf32>
  %y = cgx.decompress %t id(0) operand_number(0) : !cgx.payload<1000xf32, #q, chunks = 3> -> tensor<1000xf32>
  return %y : tensor<1000xf32>
}

// Scalars, empty tensors and more chunks than elements have payload types, too.
// CHECK-LABEL: func private @small
// CHECK-SAME: !cgx.payload<f32, #cgx.identity, chunks = 1>
// CHECK-SAME: !cgx.payload<0x3xi8, #cgx.identity, chunks = 4, slots = 4>
func.func private @small(!cgx.payload<f32, #cgx.identity, chunks = 1>,
                         !cgx.payload<0x3xi8, #cgx.identity, chunks = 4, slots = 4>)
