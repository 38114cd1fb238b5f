// A per-rank step: a product, a function, its gradient's product, a compressed mean, an update.
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%w: tensor<32x16xf32> {cgx.name = "state['w']", cgx.sharding = #cgx.sharding<[[], []]>, cgx.global_type = tensor<32x16xf32>},
                         %x: tensor<64x32xf32> {cgx.name = "batch['x']", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<128x32xf32>})
      -> (tensor<32x16xf32> {cgx.name = "result[0]['w']", cgx.feeds = 0 : i64, cgx.sharding = #cgx.sharding<[[], []]>, cgx.global_type = tensor<32x16xf32>}) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
    %1 = stablehlo.tanh %0 : tensor<64x16xf32>
    %2 = stablehlo.dot_general %x, %1, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
    %3 = cgx.all_reduce mean(%2) codec(quantize<bits = 4, bucket = 16>) groups([[0, 1]]) id(0)
        layer("w", gradient, [32, 16]) : tensor<32x16xf32>
    %4 = stablehlo.subtract %w, %3 : tensor<32x16xf32>
    return %4 : tensor<32x16xf32>
  }
}
