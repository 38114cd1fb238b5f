// All-reduces with lossy codecs in explicit form, each operand on its own.
// RUN: cgx-opt %s --cgx-decompose-collectives --cgx-verify-program | FileCheck %s

#q = #cgx.quantize<bits = 4, bucket = 128, rounding = stochastic, scale = bf16>
#g = #cgx.groups<[[0, 1, 2], [3, 4, 5]]>
#x = #cgx.layer<"", other>
#w = #cgx.layer<"params/w", gradient, [10, 100]>
module attributes {cgx.num_ranks = 6 : i64} {

// 1000 elements are 8 buckets of 128, of which chunk 0 of 3 has 3.
// CHECK-LABEL: func @mean
// CHECK-SAME: (%[[A:.*]]: tensor<10x100xf32>)
func.func @mean(%a: tensor<10x100xf32>) -> tensor<10x100xf32> {
  // CHECK-NEXT: %[[P:.*]] = cgx.compress %[[A]] phase(contribution) id(7) layer("params/w", gradient, [10, 100]) operand_number(0)
  // CHECK-SAME: tensor<10x100xf32> -> !cgx.payload<10x100xf32, #cgx.quantize<{{.*}}>, chunks = 3>
  // CHECK-NEXT: %[[Q:.*]] = cgx.payload_all_to_all %[[P]] groups({{\[\[}}0, 1, 2], [3, 4, 5]]) id(7) operand_number(0)
  // CHECK-SAME: chunks = 3> -> !cgx.payload<10x100xf32, #cgx.quantize<{{.*}}>, chunks = 3, slots = 3>
  // CHECK-NEXT: %[[S:.*]] = cgx.decompress_accumulate mean %[[Q]] id(7) operand_number(0)
  // CHECK-SAME: -> tensor<384xf32>
  // CHECK-NEXT: %[[R:.*]] = cgx.compress %[[S]] phase(result) id(7)
  // CHECK-SAME: chunks = 3, slots = 1>
  // CHECK-NEXT: %[[T:.*]] = cgx.payload_all_gather %[[R]] groups({{.*}}) id(7)
  // CHECK-SAME: slots = 1> -> !cgx.payload<10x100xf32, #cgx.quantize<{{.*}}>, chunks = 3>
  // CHECK-NEXT: %[[Y:.*]] = cgx.decompress %[[T]] id(7) operand_number(0)
  // CHECK-NEXT: return %[[Y]]
  %0 = cgx.all_reduce mean(%a) codec(#q) groups(#g) id(7) layer(#w) : tensor<10x100xf32>
  return %0 : tensor<10x100xf32>
}

// The exact operand of a compressed all-reduce takes the same way.
// CHECK-LABEL: func @two_operands
func.func @two_operands(%a: tensor<1000xf32>, %b: tensor<4xf32>) -> (tensor<1000xf32>, tensor<4xf32>) {
  // CHECK-NOT: cgx.all_reduce
  // CHECK: %[[A:.*]] = cgx.decompress {{.*}}operand_number(0)
  // CHECK: cgx.compress {{.*}}operand_number(1){{.*}} -> !cgx.payload<4xf32, #cgx.identity, chunks = 3>
  // CHECK: %[[B:.*]] = cgx.decompress {{.*}}operand_number(1)
  // CHECK: return %[[A]], %[[B]]
  %0:2 = cgx.all_reduce sum(%a, %b) algorithm(scatter_reduce_allgather) codec(#q, identity) groups(#g) id(8) layer(#w)
      layer(#x) : tensor<1000xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<1000xf32>, tensor<4xf32>
}

// Exact ones, groups of different sizes and groups of one rank stay.
// CHECK-LABEL: func @stay
func.func @stay(%a: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>) {
  // CHECK-COUNT-3: cgx.all_reduce
  %0 = cgx.all_reduce sum(%a) groups(#g) id(9) layer(#w) : tensor<1000xf32>
  %1 = cgx.all_reduce sum(%a) codec(#q) groups([[0, 1], [2, 3, 4, 5]]) id(10) layer(#w) : tensor<1000xf32>
  %2 = cgx.all_reduce sum(%a) codec(#q) groups([]) id(11) layer(#w) : tensor<1000xf32>
  return %0, %1, %2 : tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>
}

// Fewer buckets than ranks: trailing chunks are empty.
// CHECK-LABEL: func @fewer_buckets_than_ranks
func.func @fewer_buckets_than_ranks(%a: tensor<5xf32>) -> tensor<5xf32> {
  // CHECK: cgx.decompress_accumulate {{.*}} -> tensor<5xf32>
  %0 = cgx.all_reduce sum(%a) codec(#q) groups(#g) id(12) layer(#w) : tensor<5xf32>
  return %0 : tensor<5xf32>
}
}
