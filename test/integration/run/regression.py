"""A step written by hand, for any number of ranks: linear regression with momentum. The learning rate is state, and so
an argument of the step, which multiplies it by `DECAY` for the next."""

import random

from harness import tensor, write_safetensors

FEATURES, OUTPUTS, SAMPLES_OF_A_RANK = 64, 32, 8
RATE, DECAY = 0.05, 0.75

STEP = """
#g = #cgx.groups<[[{members}]]>
#all = #cgx.sharding<[[], []]>
#split = #cgx.sharding<[["data"], []]>
#one = #cgx.sharding<[]>
module @regression attributes {{cgx.mesh = #cgx.mesh<["data" = {ranks}]>, cgx.num_ranks = {ranks} : i64}} {{
  func.func public @main(
      %w: tensor<64x32xf32> {{cgx.name = "state['params']['w']", cgx.global_type = tensor<64x32xf32>, cgx.sharding = #all}},
      %m: tensor<64x32xf32> {{cgx.name = "state['momentum']['w']", cgx.global_type = tensor<64x32xf32>, cgx.sharding = #all}},
      %rate: tensor<f32> {{cgx.name = "state['rate']", cgx.global_type = tensor<f32>, cgx.sharding = #one}},
      %x: tensor<8x64xf32> {{cgx.name = "batch['x']", cgx.global_type = tensor<{samples}x64xf32>, cgx.sharding = #split}},
      %y: tensor<8x32xf32> {{cgx.name = "batch['y']", cgx.global_type = tensor<{samples}x32xf32>, cgx.sharding = #split}})
      -> (tensor<64x32xf32> {{cgx.feeds = 0 : i64, cgx.name = "result[0]['params']['w']", cgx.global_type = tensor<64x32xf32>, cgx.sharding = #all}},
          tensor<64x32xf32> {{cgx.feeds = 1 : i64, cgx.name = "result[0]['momentum']['w']", cgx.global_type = tensor<64x32xf32>, cgx.sharding = #all}},
          tensor<f32> {{cgx.feeds = 2 : i64, cgx.name = "result[0]['rate']", cgx.global_type = tensor<f32>, cgx.sharding = #one}},
          tensor<f32> {{cgx.name = "result[1]['loss']", cgx.global_type = tensor<f32>, cgx.sharding = #one}}) {{
    %predicted = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    %error = stablehlo.subtract %predicted, %y : tensor<8x32xf32>
    %own = stablehlo.dot_general %x, %error, contracting_dims = [0] x [0] : (tensor<8x64xf32>, tensor<8x32xf32>) -> tensor<64x32xf32>
    %gradient = cgx.all_reduce mean(%own) {{id = 0 : i64, groups = #g, codecs = [#cgx.identity],
        layers = [#cgx.layer<"params/w", gradient, [64, 32]>]}} : tensor<64x32xf32>
    %squares = stablehlo.multiply %error, %error : tensor<8x32xf32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %sum = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<f32>
    %loss = cgx.all_reduce mean(%sum) {{id = 1 : i64, groups = #g, codecs = [#cgx.identity], layers = [#cgx.layer<"", other>]}} : tensor<f32>
    %mu = stablehlo.constant dense<9.000000e-01> : tensor<64x32xf32>
    %kept = stablehlo.multiply %m, %mu : tensor<64x32xf32>
    %momentum = stablehlo.add %kept, %gradient : tensor<64x32xf32>
    %rates = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %update = stablehlo.multiply %rates, %momentum : tensor<64x32xf32>
    %next = stablehlo.subtract %w, %update : tensor<64x32xf32>
    %decay = stablehlo.constant dense<{decay}> : tensor<f32>
    %falling = stablehlo.multiply %rate, %decay : tensor<f32>
    return %next, %momentum, %falling, %loss : tensor<64x32xf32>, tensor<64x32xf32>, tensor<f32>, tensor<f32>
  }}
}}
"""


def write(folder, ranks, rate=RATE, decay=DECAY):
    """Writes (program, state, data) as files in `folder`, and returns them."""
    program, state, data = (folder / f"regression{ranks}.{end}" for end in
                            ("mlir", "state.safetensors", "data.safetensors"))
    program.write_text(STEP.format(ranks=ranks, members=", ".join(map(str, range(ranks))),
                                   samples=SAMPLES_OF_A_RANK * ranks, decay=f"{decay:e}"))
    rng = random.Random(20261121)
    weights = [rng.gauss(0, 1) for _ in range(FEATURES * OUTPUTS)]
    write_safetensors(state, {"state['params']['w']": tensor("F32", [FEATURES, OUTPUTS], weights),
                              "state['momentum']['w']": tensor("F32", [FEATURES, OUTPUTS], [0.0] * len(weights)),
                              "state['rate']": tensor("F32", [], [rate])})
    samples = 4 * SAMPLES_OF_A_RANK * ranks
    write_safetensors(data, {
        name: tensor("F32", [samples, width], [rng.gauss(0, 0.2) for _ in range(samples * width)])
        for name, width in (("batch['x']", FEATURES), ("batch['y']", OUTPUTS))})
    return program, state, data
