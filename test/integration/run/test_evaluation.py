"""Tests cgx-run --eval with values of arguments: --set where both programs have them, --eval-set where they differ."""

import json
import subprocess
import unittest

from harness import CGX_RUN, RunTest, tensor, write_safetensors

WIDTH = 4
HEAD = """
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(
      %w: tensor<4xf32> {cgx.name = "state['params']['w']", cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<4xf32>},
      %x: tensor<1x4xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<2x4xf32>},
      %scale: tensor<f32> {cgx.name = "scale"})
"""
REDUCE = """
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %scaled = stablehlo.multiply %sum, %scale : tensor<f32>
    %loss = cgx.all_reduce mean(%scaled) {id = 1 : i64, groups = #cgx.groups<[[0, 1]]>, codecs = [#cgx.identity],
        layers = [#cgx.layer<"loss", other>]} : tensor<f32>
"""
# The step is w' = w - scale, and the loss is the sum of w times scale.
TRAIN = HEAD + """
      -> (tensor<4xf32> {cgx.name = "result[0]['params']['w']", cgx.feeds = 0 : i64, cgx.sharding = #cgx.sharding<[[]]>,
                         cgx.global_type = tensor<4xf32>}, tensor<f32> {cgx.name = "result[1]['loss']"}) {
""" + REDUCE + """
    %step = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %w1 = stablehlo.subtract %w, %step : tensor<4xf32>
    return %w1, %loss : tensor<4xf32>, tensor<f32>
  }
}
"""
EVAL = HEAD + """
      -> (tensor<f32> {cgx.name = "result['loss']"}) {
""" + REDUCE + """
    return %loss : tensor<f32>
  }
}
"""


class Evaluation(RunTest):
    def setUp(self):
        super().setUp()
        self.program, self.evaluation = self.folder / "train.mlir", self.folder / "eval.mlir"
        self.program.write_text(TRAIN)
        self.evaluation.write_text(EVAL)
        self.first, self.batches, self.report = (self.folder / name for name in ("first.safetensors", "x.safetensors", "report.json"))
        write_safetensors(self.first, {"state['params']['w']": tensor("F32", [WIDTH], [10.0] * WIDTH)})
        write_safetensors(self.batches, {"x": tensor("F32", [5, WIDTH], [0.0] * 5 * WIDTH)})

    def evaluate(self, *options, code=0):
        """Returns the losses of the evaluation after each of two steps, or the error."""
        result = subprocess.run(
            [CGX_RUN, *map(str, (self.program, "--ranks", 2, "--transport", "inproc", "--state", self.first, "--data", self.batches,
                                 "--steps", 2, "--eval", self.evaluation, "--eval-data", self.batches, "--eval-every", 1,
                                 "--report", self.report, *options))],
            capture_output=True, text=True, env=self.environment(), check=False)
        self.assertEqual(result.returncode, code, result.stderr)
        if code:
            return result.stderr
        self.said = result.stderr
        return [each["metrics"]["loss"] for each in json.loads(self.report.read_text())["evaluations"]]

    def test_a_value_that_both_have_is_that_of_set(self):
        self.assertEqual(self.evaluate("--set", "scale=0.5"), [19.0, 18.0])  # 4 * 9.5 * 0.5, 4 * 9 * 0.5
        self.assertIn("--eval: 1 of 5 samples fill no batch of 2", self.said)

    def test_an_evaluation_may_have_another(self):
        self.assertEqual(self.evaluate("--set", "scale=0.5", "--eval-set", "scale=1"), [38.0, 36.0])

    def test_a_value_of_the_steps_is_none_of_the_evaluation(self):
        error = self.evaluate("--set", "scale=linear(1,0,2)", code=1)
        self.assertIn("--set scale=linear(1,0,2) follows the steps of the training", error)
        self.assertIn("--eval-set scale=VALUE", error)
        self.assertEqual(self.evaluate("--set", "scale=linear(1,0,2)", "--eval-set", "scale=2"), [72.0, 68.0])

    def test_what_is_wrong_is_said(self):
        self.assertIn("the program has no argument 'scal'", self.evaluate("--set", "scale=1", "--eval-set", "scal=1", code=1))
        self.assertIn("expected --eval-set to be given as A=B", self.evaluate("--set", "scale=1", "--eval-set", "1", code=1))


if __name__ == "__main__":
    unittest.main()
