// Each layer gets the codec of the plan; a plan of another program is refused with the differences.
// RUN: cgx-opt %s --cgx-assign-codecs="plan=%S/Inputs/plan.json" | FileCheck %s
// RUN: cgx-opt %s --cgx-assign-codecs="plan=%S/Inputs/plan.json error-feedback=bf16" | FileCheck %s --check-prefix=FEEDBACK
// RUN: not cgx-opt %s --cgx-assign-codecs="plan=%S/Inputs/plan-of-another.json" 2>&1 | FileCheck %s --check-prefix=ANOTHER
// RUN: not cgx-opt %s --cgx-assign-codecs="plan=%S/Inputs/plan-of-no-codec.json" 2>&1 | FileCheck %s --check-prefix=CODEC
// RUN: not cgx-opt %s --cgx-assign-codecs="plan=%S/Inputs/none.json" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not cgx-opt %s --cgx-assign-codecs="plan=%s" 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not cgx-opt %s --cgx-assign-codecs="plan=%S/Inputs/plan-of-another.json error-feedback=f64" 2>&1 | FileCheck %s --check-prefix=ANOTHER

// ANOTHER: error: plan '{{.*}}plan-of-another.json' was made for another program: 4 differences
// ANOTHER: note: layer 'a/w' (gradient) was 4096 elements of f32, is 8192 of f32
// ANOTHER: note: layer 'b/w' (gradient) is not in the plan
// ANOTHER: note: layer 'c/w' (gradient) was 8192 elements of bf16, is 8192 of f32
// ANOTHER: note: layer 'z/w' (gradient) is not in the module
// CODEC: error: plan '{{.*}}': layer 'a/w': expected a codec, got #cgx.quantize<bits = 9>: expected bits in 1..8, got 9
// NONE: error: plan '{{.*}}none.json': cannot read it: {{[Nn]}}o such file or directory
// TEXT: error: plan '{{.*}}.mlir': expected JSON:

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.num_ranks = 2 : i64} {

// The plan has no codec for a bias that stays exact, and none of its codecs is for an operand that must stay exact.
// CHECK-LABEL: func @layers
// FEEDBACK-LABEL: func @layers
func.func @layers(%a: tensor<64x128xf32>, %b: tensor<64x128xf32>, %c: tensor<64x128xf32>, %bias: tensor<128xf32>) {
  // CHECK: exact_reasons("", "exact in the plan", "excluded", "1-D parameter")
  // CHECK-SAME: codec(quantize<bits = 3, bucket = 512, rounding = nearest, scale = f32, checksum>, identity, identity, identity)
  // FEEDBACK: codec(error_feedback<#cgx.quantize<bits = 3, {{.*}}>, {{.*}}storage = bf16>, identity, identity, identity)
  %0:4 = cgx.all_reduce mean(%a, %b, %c, %bias) exact_reasons("", "", "excluded", "1-D parameter") groups(#g) id(0)
      layer("a/w", gradient) layer("b/w", gradient) layer("c/w", gradient) layer("a/b", gradient)
      : tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>, tensor<128xf32>
  return
}

}
