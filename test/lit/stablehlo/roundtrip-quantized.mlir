// Quantized numbers pass through, with the least zero point and the greatest, too.
// RUN: cgx-opt %s -o %t.printed
// RUN: grep . %t.printed > %t.pretty
// RUN: grep -v '^//' %s > %t.source
// RUN: diff -w %t.source %t.pretty
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt -o %t.generic
// RUN: diff %t.printed %t.generic
// RUN: cgx-opt %s --verify-roundtrip -o %t.roundtrip
module {
  func.func @quantized(%arg0: tensor<2xf32>) {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.000000e-01:-30>>
    %1 = stablehlo.add %0, %0 : tensor<2x!quant.uniform<i8:f32, 1.000000e-01:-30>>
    %2 = stablehlo.uniform_dequantize %1 : (tensor<2x!quant.uniform<i8:f32, 1.000000e-01:-30>>) -> tensor<2xf32>
    %3 = stablehlo.uniform_quantize %arg0 : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.000000e-01:-128>>
    %4 = stablehlo.uniform_quantize %arg0 : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.000000e-01:127>>
    return
  }
}
