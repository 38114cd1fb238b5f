// Changes of gathered weights: messages for each run of a step, a scan over layers too; exact, with the reason, where
// the step decides how often it gathers, and where nothing is gathered.
// RUN: cgx-opt %s --cgx-assign-codecs="gradient=bits=4 weight='bits=4 delta=bf16'" --cgx-verify-program | FileCheck %s
// RUN: cgx-opt %s --cgx-assign-codecs="weight='bits=4 delta=bf16'" --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/samples = 5/samples = 6/' %s | not cgx-opt --cgx-verify-program 2>&1 | FileCheck %s --check-prefix=RUNS
// RUN: not cgx-opt %s --cgx-assign-codecs="weight='bits=4 delta=int4'" 2>&1 | FileCheck %s --check-prefix=STORAGE

// RUNS: operand 0, layer 'given': expected changes (delta) with samples = 5, how often the gather runs in a step, got 6
// STORAGE: expected delta=f32 or delta=bf16, how messages are kept, got delta=int4
// REPORT: once: a rank keeps 32772 bytes of messages of what was gathered
// REPORT: scanned: a rank keeps 163860 bytes of messages

#g = #cgx.groups<[[0, 1, 2, 3]]>
#given = #cgx.delta<#cgx.quantize<bits = 4>, samples = 5, storage = f32>
module attributes {cgx.num_ranks = 4 : i64} {
func.func public @main(%w: tensor<32x128xf32>, %more: tensor<i1>) -> tensor<128x128xf32> {
  // CHECK: cgx.all_gather(%arg0) {{.*}}codec(delta<#cgx.quantize<bits = 4, {{.*}}>, samples = 1, storage = bf16>)
  %once = cgx.all_gather(%w) dim(0) groups(#g) id(0) layer("once", weight, [128, 128])
      : (tensor<32x128xf32>) -> tensor<128x128xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %x = %once) : tensor<i32>, tensor<128x128xf32>
  cond {
    %c = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    // CHECK: cgx.all_gather(%arg0) {{.*}}samples = 5, storage = bf16>
    %y = cgx.all_gather(%w) dim(0) groups(#g) id(1) layer("scanned", weight, [128, 128])
        : (tensor<32x128xf32>) -> tensor<128x128xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %y : tensor<i32>, tensor<128x128xf32>
  }
  // CHECK: "stablehlo.if"
  %b = "stablehlo.if"(%more) ({
    // CHECK: cgx.all_gather(%arg0) exact_reasons("delta needs a gather that runs as often in every step")
    %y = cgx.all_gather(%w) dim(0) groups(#g) id(2) layer("branch", weight, [128, 128])
        : (tensor<32x128xf32>) -> tensor<128x128xf32>
    stablehlo.return %y : tensor<128x128xf32>
  }, {
    stablehlo.return %r#1 : tensor<128x128xf32>
  }) : (tensor<i1>) -> tensor<128x128xf32>
  // CHECK: cgx.all_reduce sum({{.*}}exact_reasons("all_reduce with delta")
  %s = cgx.all_reduce sum(%b) groups(#g) id(3) layer("summed", weight, [128, 128]) : tensor<128x128xf32>
  return %s : tensor<128x128xf32>
}

func.func private @given(%w: tensor<32x128xf32>) -> tensor<128x128xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %first = stablehlo.constant dense<0.0> : tensor<128x128xf32>
  %r:2 = stablehlo.while(%i = %zero, %x = %first) : tensor<i32>, tensor<128x128xf32>
  cond {
    %c = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %y = cgx.all_gather(%w) exact_reasons("") codec(#given) dim(0) groups(#g) id(4) layer("given", weight, [128, 128])
        : (tensor<32x128xf32>) -> tensor<128x128xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %y : tensor<i32>, tensor<128x128xf32>
  }
  return %r#1 : tensor<128x128xf32>
}
}
