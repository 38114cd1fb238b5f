// Ops of HLO and of Shardy's passes become StableHLO.
// RUN: cgx-opt %s --cgx-normalize-hlo | FileCheck %s
// RUN: cgx-opt %s --cgx-flatten-tuples --cgx-normalize-hlo | FileCheck %s --check-prefix=CALL

// A copy says something about buffers, nothing about values.
// CHECK-LABEL: func.func @copies
// CHECK-NEXT: %[[S:.*]] = stablehlo.add %arg0, %arg1
// CHECK-NEXT: return %[[S]]
func.func @copies(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mhlo.copy %a : tensor<4xf32>
  %1 = mhlo.copy %0 : tensor<4xf32>
  %2 = stablehlo.add %1, %b : tensor<4xf32>
  %3 = mhlo.copy %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// CHECK-LABEL: func.func @functions
// CHECK-NEXT: chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: chlo.acos
// CHECK-NEXT: chlo.acosh
// CHECK-NEXT: chlo.asin
// CHECK-NEXT: chlo.asinh
// CHECK-NEXT: chlo.atanh
// CHECK-NEXT: chlo.cosh
// CHECK-NEXT: chlo.sinh
func.func @functions(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mhlo.erf %x : tensor<4xf32>
  %1 = mhlo.acos %0 : tensor<4xf32>
  %2 = mhlo.acosh %1 : tensor<4xf32>
  %3 = mhlo.asin %2 : tensor<4xf32>
  %4 = mhlo.asinh %3 : tensor<4xf32>
  %5 = mhlo.atanh %4 : tensor<4xf32>
  %6 = mhlo.cosh %5 : tensor<4xf32>
  %7 = mhlo.sinh %6 : tensor<4xf32>
  return %7 : tensor<4xf32>
}

// CHECK-LABEL: func.func @largest
// CHECK-NEXT: chlo.top_k(%arg0, k = 3) : tensor<8x16xf32> -> (tensor<8x3xf32>, tensor<8x3xi32>)
func.func @largest(%x: tensor<8x16xf32>) -> (tensor<8x3xf32>, tensor<8x3xi32>) {
  %values, %indices = mhlo.topk(%x, k = 3) : tensor<8x16xf32> -> (tensor<8x3xf32>, tensor<8x3xi32>)
  return %values, %indices : tensor<8x3xf32>, tensor<8x3xi32>
}

// CHECK-LABEL: func.func @smallest
// CHECK-NEXT: mhlo.topk(%arg0, k = 3, largest = false)
func.func @smallest(%x: tensor<8x16xf32>) -> tensor<8x3xf32> {
  %values, %indices = mhlo.topk(%x, k = 3, largest = false) : tensor<8x16xf32> -> (tensor<8x3xf32>, tensor<8x3xi32>)
  return %values : tensor<8x3xf32>
}

// XLA:CPU makes this of a sort whose first elements are read.
// CALL-LABEL: func.func @largest_by_call
// CALL-NEXT: %[[V:.*]], %[[I:.*]] = chlo.top_k(%arg0, k = 3) : tensor<2x16xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
// CALL-NEXT: return %[[V]], %[[I]]
func.func @largest_by_call(%x: tensor<2x16xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %0 = stablehlo.custom_call @TopK(%x) {backend_config = "", called_computations = [@greater], xla_shape = "(f32[2,3]{1,0}, s32[2,3]{1,0})"} : (tensor<2x16xf32>) -> tuple<tensor<2x3xf32>, tensor<2x3xi32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<2x3xf32>, tensor<2x3xi32>>) -> tensor<2x3xf32>
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2x3xf32>, tensor<2x3xi32>>) -> tensor<2x3xi32>
  return %1, %2 : tensor<2x3xf32>, tensor<2x3xi32>
}
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// A call of that name that does something else stays.
// CHECK-LABEL: func.func @another_call
// CHECK: custom_call @TopK
func.func @another_call(%x: tensor<2x16xf32>) -> (tensor<2x3xf32>, tensor<2x4xi32>) {
  %0:2 = stablehlo.custom_call @TopK(%x) : (tensor<2x16xf32>) -> (tensor<2x3xf32>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x4xi32>
}

// So does one of a tensor without dimensions, which has no last one.
// CHECK-LABEL: func.func @of_no_dimensions
// CHECK: custom_call @TopK
func.func @of_no_dimensions(%x: tensor<f32>) -> (tensor<f32>, tensor<i32>) {
  %0:2 = stablehlo.custom_call @TopK(%x) : (tensor<f32>) -> (tensor<f32>, tensor<i32>)
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// The operand lies row by row, and is read column by column.
// CHECK-LABEL: func.func @bitcast_transposes
// CHECK-NEXT: %[[M:.*]] = stablehlo.reshape %arg0 : (tensor<2x16xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[M]], dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: return %[[T]]
func.func @bitcast_transposes(%x: tensor<2x16xf32>) -> tensor<8x4xf32> {
  %0 = mhlo.bitcast %x {result_layout = dense<[0, 1]> : tensor<2xindex>, source_layout = dense<[1, 0]> : tensor<2xindex>} : (tensor<2x16xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// The minor dimension of the operand is the middle one, and becomes the last.
// CHECK-LABEL: func.func @bitcast_of_a_layout
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[T]] : (tensor<2x5x3xf32>) -> tensor<10x3xf32>
// CHECK-NEXT: return %[[R]]
func.func @bitcast_of_a_layout(%x: tensor<2x3x5xf32>) -> tensor<10x3xf32> {
  %0 = mhlo.bitcast %x {result_layout = dense<[1, 0]> : tensor<2xindex>, source_layout = dense<[1, 2, 0]> : tensor<3xindex>} : (tensor<2x3x5xf32>) -> tensor<10x3xf32>
  return %0 : tensor<10x3xf32>
}

// CHECK-LABEL: func.func @bitcast_of_type
// CHECK-NEXT: stablehlo.bitcast_convert %arg0 : (tensor<f32>) -> tensor<i32>
func.func @bitcast_of_type(%x: tensor<f32>) -> tensor<i32> {
  %0 = mhlo.bitcast %x {result_layout = dense<> : tensor<0xindex>, source_layout = dense<> : tensor<0xindex>} : (tensor<f32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// A layout that names a dimension twice means nothing.
// CHECK-LABEL: func.func @bitcast_of_no_layout
// CHECK-NEXT: mhlo.bitcast
func.func @bitcast_of_no_layout(%x: tensor<2x16xf32>) -> tensor<16x2xf32> {
  %0 = mhlo.bitcast %x {result_layout = dense<[0, 0]> : tensor<2xindex>} : (tensor<2x16xf32>) -> tensor<16x2xf32>
  return %0 : tensor<16x2xf32>
}

// Fusions within fusions, and one that returns what it takes.
// CHECK-LABEL: func.func @fusions
// CHECK-NEXT: %[[A:.*]] = stablehlo.add %arg0, %arg1
// CHECK-NEXT: %[[E:.*]] = chlo.erf %[[A]]
// CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %[[E]], %arg1
// CHECK-NEXT: return %[[M]], %arg0
func.func @fusions(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = "mhlo.fusion"(%x, %y) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %1 = "mhlo.fusion"(%a) <{fusion_kind = #mhlo<fusion_kind kInput>}> ({
    ^bb0(%c: tensor<4xf32>):
      %2 = stablehlo.add %c, %b : tensor<4xf32>
      %3 = mhlo.erf %2 : tensor<4xf32>
      mhlo.return %3 : tensor<4xf32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %4 = stablehlo.multiply %1, %b : tensor<4xf32>
    mhlo.return %4, %a : tensor<4xf32>, tensor<4xf32>
  }) {output_operand_aliasing = []} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// Shardy's passes leave these ops.
sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @shardy
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %arg0, %[[C]]
// CHECK-NEXT: return %[[M]], %arg0
func.func @shardy(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %edge = sdy.func_data_flow_edge %x : tensor<4xf32>
  %c = sdy.constant dense<2.000000e+00> : tensor<4xf32>
  %0:2 = sdy.named_computation<"foo">(%edge, %c) (%a: tensor<4xf32>, %b: tensor<4xf32>) {
    %1 = stablehlo.multiply %a, %b : tensor<4xf32>
    sdy.return %1, %a : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2 = sdy.propagation_barrier %0#0 allowed_direction=BACKWARD : tensor<4xf32>
  return %2, %0#1 : tensor<4xf32>, tensor<4xf32>
}
