// Everything travels exactly; what may be compressed says so in the manifest.
// RUN: cgx-opt %s --cgx-instrument="exclude=c/*" | FileCheck %s
// RUN: %if native %{ cgx-opt %s --cgx-instrument="exclude=c/*" --cgx-lower-to-llvm | FileCheck %s --check-prefix=MANIFEST %}

// CHECK: cgx.all_reduce sum(%{{[^,)]*}}, %{{[^,)]*}}, %{{[^,)]*}}) {{.*}}exact_reasons("", "1-D parameter", "excluded by 'exclude=c/*'")
// CHECK-SAME: codec(identity, identity, identity)
// MANIFEST: cgx_program_manifest(
// MANIFEST-SAME: \22layer\22:\22a/w\22,\22layer_id\22:0,\22may_be_compressed\22:true,\22shape
// MANIFEST-SAME: \22layer\22:\22a/b\22,\22layer_id\22:1,\22shape
// MANIFEST-SAME: \22layer\22:\22c/w\22,\22layer_id\22:2,\22shape
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%a: tensor<64x64xf32>, %b: tensor<2048xf32>, %c: tensor<64x64xf32>)
      -> (tensor<64x64xf32>, tensor<2048xf32>, tensor<64x64xf32>) {
    %0:3 = cgx.all_reduce sum(%a, %b, %c) groups([[0, 1]]) id(0) layer("a/w", gradient, [64, 64])
        layer("a/b", gradient, [2048]) layer("c/w", gradient, [64, 64])
        : tensor<64x64xf32>, tensor<2048xf32>, tensor<64x64xf32>
    return %0#0, %0#1, %0#2 : tensor<64x64xf32>, tensor<2048xf32>, tensor<64x64xf32>
  }
}
