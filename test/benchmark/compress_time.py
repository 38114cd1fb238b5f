"""Measures how long cgx-opt takes to compress a step, as a function of its size.

    python3 test/benchmark/compress_time.py build/release/bin/cgx-opt [--ops 5000 20000 100000] [--repeat 5]
        [--shape layers | chain | reductions | arguments] [--lower] [--most-growth 2]
    python3 test/benchmark/compress_time.py build/release/bin/cgx-opt --table

Generates a data-parallel step of about so many ops, a twentieth of them collectives as in exported
networks of dense layers, a chain of elementwise ones, reductions of gradients of one
parameter, or as many parameters as a third of the ops, and prints the fastest of the runs of each
size, with and without the pipeline: what remains of the difference is parsing, printing and start-up.
With --lower the step is taken to LLVM as well. With --most-growth, fails where the largest step takes
more than so many times as long for each op as the smallest one. --table prints, for each shape, how many
times as long a step takes that has twice as many ops: 2 is linear.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

RANKS = 4
OPS_PER_LAYER = 20
SIZE = 32
MATRIX = f"tensor<{SIZE}x{SIZE}xf32>"


def layer(number):
    """Returns the forward pass of a layer, its gradient with the mean over ranks, and the update."""
    before = "%x" if number == 0 else f"%y{number - 1}"
    n = number
    lines = [f"%a{n} = stablehlo.dot_general {before}, %w{n}, contracting_dims = [1] x [0] : ({MATRIX}, {MATRIX}) -> {MATRIX}",
             f"%y{n} = stablehlo.tanh %a{n} : {MATRIX}",
             f"%g{n}_0 = stablehlo.dot_general {before}, %y{n}, contracting_dims = [0] x [0] : ({MATRIX}, {MATRIX}) -> {MATRIX}"]
    elementwise = OPS_PER_LAYER - len(lines) - 6
    lines += [f"%g{n}_{i + 1} = stablehlo.multiply %g{n}_{i}, %g{n}_{i} : {MATRIX}" for i in range(elementwise)]
    lines += [f'%s{n} = "stablehlo.all_reduce"(%g{n}_{elementwise}) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, '
              f"replica_groups = dense<[{list(range(RANKS))}]> : tensor<1x{RANKS}xi64>, use_global_device_ids}}> ({{",
              "^bb0(%p: tensor<f32>, %q: tensor<f32>):",
              "  %sum = stablehlo.add %p, %q : tensor<f32>",
              "  stablehlo.return %sum : tensor<f32>",
              f"}}) : ({MATRIX}) -> {MATRIX}",
              f"%c{n} = stablehlo.constant dense<0.01> : tensor<f32>",
              f"%b{n} = stablehlo.broadcast_in_dim %c{n}, dims = [] : (tensor<f32>) -> {MATRIX}",
              f"%d{n} = stablehlo.multiply %s{n}, %b{n} : {MATRIX}",
              f"%u{n} = stablehlo.subtract %w{n}, %d{n} : {MATRIX}"]
    return lines


def chain(ops):
    """Returns a chain of ops, each with the one before it as its operand."""
    kinds = ("add", "multiply", "subtract", "maximum")
    return "\n".join([f"func.func @main(%a0: {MATRIX}, %b: {MATRIX}) -> {MATRIX} {{",
                      *(f"%a{i + 1} = stablehlo.{kinds[i % 4]} %a{i}, %b : {MATRIX}" for i in range(ops)),
                      f"return %a{ops} : {MATRIX}", "}", ""])


def step(ops):
    """Returns the text of a module with a step of about `ops` ops."""
    layers = range(max(1, ops // OPS_PER_LAYER))
    weights = [f"%w{n}: {MATRIX} {{tf.aliasing_output = {n} : i32}}" for n in layers]
    results = [f'{MATRIX} {{jax.result_info = "result.l{n}.w"}}' for n in layers]
    lines = ["module attributes {mhlo.num_partitions = 4 : i32} {",
             f"func.func public @main({', '.join(weights)}, %x: {MATRIX}) -> ({', '.join(results)}) {{"]
    for number in layers:
        lines += layer(number)
    lines += [f"return {', '.join(f'%u{n}' for n in layers)} : {', '.join(MATRIX for _ in layers)}", "}", "}"]
    return "\n".join(lines) + "\n"


def all_reduce(result, operand):
    return (f'%{result} = "stablehlo.all_reduce"(%{operand}) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, '
            f"replica_groups = dense<[{list(range(RANKS))}]> : tensor<1x{RANKS}xi64>, use_global_device_ids}}> ({{\n"
            "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n  %sum = stablehlo.add %p, %q : tensor<f32>\n"
            f"  stablehlo.return %sum : tensor<f32>\n}}) : ({MATRIX}) -> {MATRIX}")


def reductions(ops):
    """Returns gradients of one parameter, each reduced and subtracted from it."""
    lines = ["module attributes {mhlo.num_partitions = 4 : i32} {",
             f'func.func public @main(%d0: {MATRIX} {{tf.aliasing_output = 0 : i32}}, %x: {MATRIX}) '
             f'-> ({MATRIX} {{jax.result_info = "result.w"}}) {{']
    count = max(1, ops // 3)
    for i in range(count):
        lines += [f"%m{i} = stablehlo.multiply %d0, %x : {MATRIX}", all_reduce(f"s{i}", f"m{i}"),
                  f"%d{i + 1} = stablehlo.subtract %d{i}, %s{i} : {MATRIX}"]
    return "\n".join([*lines, f"return %d{count} : {MATRIX}", "}", "}", ""])


def arguments_of(ops):
    """Returns one parameter per three ops, each with its gradient."""
    count = range(max(1, ops // 3))
    weights = [f"%w{i}: {MATRIX} {{tf.aliasing_output = {i} : i32}}" for i in count]
    results = [f'{MATRIX} {{jax.result_info = "result.l{i}.w"}}' for i in count]
    lines = ["module attributes {mhlo.num_partitions = 4 : i32} {",
             f"func.func public @main({', '.join(weights)}, %x: {MATRIX}) -> ({', '.join(results)}) {{"]
    for i in count:
        lines += [f"%m{i} = stablehlo.multiply %w{i}, %x : {MATRIX}", all_reduce(f"s{i}", f"m{i}"),
                  f"%d{i} = stablehlo.subtract %w{i}, %s{i} : {MATRIX}"]
    return "\n".join([*lines, f"return {', '.join(f'%d{i}' for i in count)} : {', '.join(MATRIX for _ in count)}", "}", "}", ""])


SHAPES = {"layers": step, "chain": chain, "reductions": reductions, "arguments": arguments_of}
# These are the ops of the largest step of each shape in the table, compressed, and lowered to LLVM.
LARGEST = {"layers": (100000, 20000), "chain": (100000, 20000), "reductions": (60000, 15000), "arguments": (15000, 7500)}


def seconds(command, repeat):
    """Returns the fastest of `repeat` runs."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return min(times)


def table(cgx_opt, repeat):
    """Prints, for each shape, the times of a step and of one with twice its ops, and their ratio."""
    print(f"{'shape':<11} {'passes':<8} {'ops':>7} {'of n':>9} {'of 2n':>9} {'growth':>7}")
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "step.mlir"
        for shape, make in SHAPES.items():
            for lowers, largest in enumerate(LARGEST[shape]):
                passes = ["--cgx-compress=bits=4 min-elements=1", *(["--cgx-lower-to-llvm"] if lowers else [])]
                times = []
                for ops in (largest // 2, largest):
                    program.write_text(make(ops))
                    times.append(seconds([cgx_opt, program, *passes], repeat))
                print(f"{shape:<11} {'lower' if lowers else 'compress':<8} {largest // 2:7} {times[0]:7.2f} s {times[1]:7.2f} s "
                      f"{times[1] / times[0]:7.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cgx_opt")
    parser.add_argument("--ops", type=int, nargs="+", default=[5000, 20000, 100000])
    parser.add_argument("--shape", choices=SHAPES, default="layers")
    parser.add_argument("--lower", action="store_true")
    parser.add_argument("--most-growth", type=float)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.table:
        table(arguments.cgx_opt, arguments.repeat)
        return
    passes = ["--cgx-compress=bits=4 min-elements=1", *(["--cgx-lower-to-llvm"] if arguments.lower else [])]
    of_one_op = []
    print(f"{'ops':>7} {'collectives':>11} {'parse, print':>13} {'with --cgx-compress':>20} {'per 1000 ops':>13}")
    with tempfile.TemporaryDirectory() as folder:
        for ops in arguments.ops:
            program = pathlib.Path(folder) / "step.mlir"
            program.write_text(SHAPES[arguments.shape](ops))
            plain = seconds([arguments.cgx_opt, program], arguments.repeat)
            whole = seconds([arguments.cgx_opt, program, *passes], arguments.repeat)
            of_one_op.append(whole / ops)
            collectives = program.read_text().count("all_reduce")
            print(f"{ops:7} {collectives:11} {plain:11.3f} s {whole:18.3f} s {1e6 * whole / ops:10.1f} ms",
                  flush=True)
    if arguments.most_growth and of_one_op[-1] > arguments.most_growth * of_one_op[0]:
        sys.exit(f"expected an op of the largest step to take at most {arguments.most_growth} times as long as one of "
                 f"the smallest, got {of_one_op[-1] / of_one_op[0]:.1f}")


if __name__ == "__main__":
    main()
