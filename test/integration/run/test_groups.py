"""Tests collectives on a grid of replicas and partitions: the ranks of a group, their positions, and the values of the
others. Each rank compares its result with StableHLO's specification, and the step returns the largest difference on
any rank.

Each rank compares what it receives with what StableHLO's specification says, and the step returns the largest
difference on any rank."""

import re
import subprocess
import unittest

from harness import CGX_RUN, RunTest

REPLICAS, PARTITIONS = 2, 2
RANKS = REPLICAS * PARTITIONS  # rank = replica * PARTITIONS + partition

# Rank r holds 10 r + [0, 1, 2, 3].
PROLOGUE = f"""
module attributes {{mhlo.num_replicas = {REPLICAS} : i32, mhlo.num_partitions = {PARTITIONS} : i32}} {{
func.func public @main() -> (tensor<f32> {{jax.result_info = "difference"}}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %origin = stablehlo.constant dense<0> : tensor<ui32>
  %replica = stablehlo.replica_id : tensor<ui32>
  %partition = stablehlo.partition_id : tensor<ui32>
  %partitions = stablehlo.constant dense<{PARTITIONS}> : tensor<ui32>
  %first = stablehlo.multiply %replica, %partitions : tensor<ui32>
  %rank = stablehlo.add %first, %partition : tensor<ui32>
  %number = stablehlo.convert %rank : (tensor<ui32>) -> tensor<f32>
  %numbers = stablehlo.broadcast_in_dim %number, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %ten = stablehlo.constant dense<10.0> : tensor<4xf32>
  %tens = stablehlo.multiply %numbers, %ten : tensor<4xf32>
  %ones = stablehlo.iota dim = 0 : tensor<4xf32>
  %x = stablehlo.add %tens, %ones : tensor<4xf32>
"""
EPILOGUE = """
  %wanted = stablehlo.constant dense<{table}> : tensor<{ranks}x{size}xf32>
  %row = stablehlo.dynamic_slice %wanted, %rank, %origin, sizes = [1, {size}] : (tensor<{ranks}x{size}xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x{size}xf32>
  %mine = stablehlo.reshape %row : (tensor<1x{size}xf32>) -> tensor<{size}xf32>
  %difference = stablehlo.subtract %y, %mine : tensor<{size}xf32>
  %magnitude = stablehlo.abs %difference : tensor<{size}xf32>
  %largest = stablehlo.reduce(%magnitude init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<{size}xf32>, tensor<f32>) -> tensor<f32>
  %result = "stablehlo.all_reduce"(%largest) <{{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 9, type = 0>, use_global_device_ids}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }}) : (tensor<f32>) -> tensor<f32>
  return %result : tensor<f32>
}}
}}
"""
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>"
GLOBAL = CHANNEL + ", use_global_device_ids"
SUM = """({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  })"""


def held(rank):
    return [10.0 * rank + i for i in range(4)]


class Groups(RunTest):
    def check(self, op, attributes, groups, expected, region=""):
        """Checks a collective; `expected` has the result of each rank."""
        size = len(expected[0])
        shape = f"{len(groups)}x{len(groups[0])}"
        text = PROLOGUE + (f'  %y = "stablehlo.{op}"(%x) <{{{attributes}, replica_groups = dense<{groups}> : tensor<{shape}xi64>}}> '
                           f"{region} : (tensor<4xf32>) -> tensor<{size}xf32>") + EPILOGUE.format(
                               table=expected, ranks=RANKS, size=size)
        program = self.folder / "step.mlir"
        program.write_text(text)
        done = subprocess.run([CGX_RUN, program, "--ranks", str(RANKS), "--steps", "1", "--job", self.job],
                              capture_output=True, text=True, timeout=120, env=self.environment(), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout + done.stderr, re.compile(r"^(difference|loss): final 0,", re.MULTILINE))

    def test_all_gather(self):
        for mode, attributes, groups, members in (
                ("replicas", "", [[0, 1]], [[0, 2], [1, 3], [0, 2], [1, 3]]),
                ("replicas and partitions", ", " + CHANNEL, [[0, 1]], [[0, 2, 1, 3]] * 4),
                ("all", ", " + GLOBAL, [[0, 3], [1, 2]], [[0, 3], [1, 2], [1, 2], [0, 3]])):
            with self.subTest(across=mode):
                self.check("all_gather", "all_gather_dim = 0 : i64" + attributes, groups,
                           [sum((held(rank) for rank in group), []) for group in members])

    def test_reduce_scatter(self):
        with self.subTest("across replicas"):
            sums = [[held(rank % 2)[i] + held(rank % 2 + 2)[i] for i in range(4)] for rank in range(4)]
            self.check("reduce_scatter", "scatter_dimension = 0 : i64", [[0, 1]],
                       [sums[rank][2 * (rank // 2):2 * (rank // 2) + 2] for rank in range(4)], SUM)
        with self.subTest("across replicas and partitions"):
            total = [sum(held(rank)[i] for rank in range(4)) for i in range(4)]
            self.check("reduce_scatter", "scatter_dimension = 0 : i64, " + CHANNEL, [[0, 1]],
                       [[total[position]] for position in (0, 2, 1, 3)], SUM)

    def test_collective_broadcast(self):
        nothing = [0.0] * 4
        self.check("collective_broadcast", CHANNEL, [[1, 0]], [held(1), held(1), held(3), held(3)])
        # Ranks in no group have zeros.
        self.check("collective_broadcast", CHANNEL, [[1]], [nothing, held(1), nothing, held(3)])
        self.check("collective_broadcast", "channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>", [[1]],
                   [nothing, nothing, held(2), held(3)])


if __name__ == "__main__":
    unittest.main()
