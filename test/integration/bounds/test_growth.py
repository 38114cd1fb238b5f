"""The compiler's time is proportional to the length of a step, and its memory is bounded for steps of any length."""

import os
import unittest

from tools import CGX_COMPILE, CGX_OPT, VECTOR, ToolTest

LOWER = ("--cgx-import", "--cgx-lower-to-llvm", "-o", os.devnull)


def function(arguments, results, body, returned):
    types = ", ".join([VECTOR] * results)
    return "\n".join([f"func.func @main({', '.join(f'%{name}: {VECTOR}' for name in arguments)}) -> ({types}) {{", *body,
                      f"return {', '.join(f'%{name}' for name in returned)} : {types}", "}", ""])


def reduced(result, operand):
    return (f'%{result} = "stablehlo.all_reduce"(%{operand}) <{{channel_handle = #stablehlo.channel_handle<handle = 1, '
            "type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({\n"
            "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n  %sum = stablehlo.add %p, %q : tensor<f32>\n"
            f"  stablehlo.return %sum : tensor<f32>\n}}) : ({VECTOR}) -> {VECTOR}")


def chain(count):
    kinds = ("add", "multiply", "subtract", "maximum")
    return function(["a0", "b"], 1, [f"%a{i + 1} = stablehlo.{kinds[i % 4]} %a{i}, %b : {VECTOR}" for i in range(count)],
                    [f"a{count}"])


def arguments(count):
    return function([*(f"w{i}" for i in range(count)), "x"], count,
                    [f"%u{i} = stablehlo.subtract %w{i}, %x : {VECTOR}" for i in range(count)],
                    [f"u{i}" for i in range(count)])


def reductions(count):
    """Returns a step with one reduction per argument, as in data-parallel training."""
    body = []
    for i in range(count):
        body += [f"%g{i} = stablehlo.multiply %w{i}, %x : {VECTOR}", reduced(f"s{i}", f"g{i}"),
                 f"%u{i} = stablehlo.subtract %w{i}, %s{i} : {VECTOR}"]
    return function([*(f"w{i}" for i in range(count)), "x"], count, body, [f"u{i}" for i in range(count)])


def reductions_in_a_row(count):
    return function(["a"], 1, [f"%s0 = stablehlo.add %a, %a : {VECTOR}", *(reduced(f"s{i + 1}", f"s{i}") for i in range(count))],
                    [f"s{count}"])


def parts(count):
    """Returns a step with reductions of parts of one long vector, as of raveled gradients."""
    whole = f"tensor<{64 * count}xf32>"
    body = [f"%g{i} = stablehlo.multiply %w{i}, %w{i} : {VECTOR}" for i in range(count)]
    body.append(f"%c = stablehlo.concatenate {', '.join(f'%g{i}' for i in range(count))}, dim = 0 : "
                f"({', '.join([VECTOR] * count)}) -> {whole}")
    return function([f"w{i}" for i in range(count)], 1, body, ["c"]).replace(f"-> ({VECTOR})", f"-> {whole}").replace(
        f"return %c : {VECTOR}", f"return %c : {whole}")


def nested_calls(count):
    return function(["x"], 1, [f"%y = call @f0(%x) : ({VECTOR}) -> {VECTOR}"], ["y"]) + "".join(
        f"func.func private @f{i}(%x: {VECTOR}) -> {VECTOR} {{\n%y = call @f{i + 1}(%x) : ({VECTOR}) -> {VECTOR}\n"
        f"%z = call @f{i + 1}(%y) : ({VECTOR}) -> {VECTOR}\nreturn %z : {VECTOR}\n}}\n" for i in range(count)) + (
            f"func.func private @f{count}(%x: {VECTOR}) -> {VECTOR} {{\n%y = stablehlo.add %x, %x : {VECTOR}\n"
            f"return %y : {VECTOR}\n}}\n")


class Growth(ToolTest):
    def seconds(self, *command):
        """Returns processor time, which depends little on the machine's load."""
        begin = os.times()
        result = self.run_tool(*command, timeout=300)
        end = os.times()
        self.assertEqual(result.returncode, 0, result.stderr[-1000:])
        return end.children_user - begin.children_user

    def test_four_times_the_length_takes_about_four_times_the_time(self):
        start = min(self.seconds(CGX_OPT, self.write(chain(1)), *LOWER) for _ in range(3))
        for shape, count in ((chain, 2000), (arguments, 400), (reductions, 200), (reductions_in_a_row, 500), (parts, 200)):
            with self.subTest(shape.__name__):
                short, long = (self.seconds(CGX_OPT, self.write(shape(n)), *LOWER) - start for n in (count, 4 * count))
                self.assertLess(long, 9 * max(short, 0.1), f"{count}: {short:.2f} s, {4 * count}: {long:.2f} s")

    def test_compression_of_100000_operations_takes_seconds(self):
        compress = ("--cgx-compress=bits=4", "-o", os.devnull)
        short, long = (self.seconds(CGX_OPT, self.write(chain(n)), *compress) for n in (25000, 100000))
        self.assertLess(long, 9 * short)


class Inlining(ToolTest):
    def test_functions_that_call_each_other_twice_are_refused_by_their_name(self):
        path = self.write(nested_calls(40))
        for command in ([CGX_OPT, path, "--cgx-import"], [CGX_OPT, path, "--cgx-lower-to-llvm"],
                        [CGX_COMPILE, path, "--no-cache", "-o", self.folder / "out.so"]):
            result = self.run_tool(*command)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r"error: expected at most \d+ operations to be copied to where functions are "
                                            r"called, got more at @f\d+, which calls @f\d+ of \d+")

    def test_functions_that_are_called_once_go_where_they_are_called(self):
        calls = 400
        text = function(["x"], 1, [f"%y = call @f0(%x) : ({VECTOR}) -> {VECTOR}"], ["y"]) + "".join(
            f"func.func private @f{i}(%x: {VECTOR}) -> {VECTOR} {{\n%y = stablehlo.negate %x : {VECTOR}\n" +
            (f"%z = call @f{i + 1}(%y) : ({VECTOR}) -> {VECTOR}\nreturn %z" if i + 1 < calls else "return %y") +
            f" : {VECTOR}\n}}\n" for i in range(calls))
        result = self.run_tool(CGX_OPT, self.write(text), "--cgx-inline-functions")
        self.assertEqual(result.stdout.count("stablehlo.negate"), calls, result.stderr)
        self.assertEqual(result.stdout.count("func.func"), 1)

    def test_calls_in_calls_have_a_depth(self):
        calls = 2000
        text = function(["x"], 1, [f"%y = call @f0(%x) : ({VECTOR}) -> {VECTOR}"], ["y"]) + "".join(
            f"func.func private @f{i}(%x: {VECTOR}) -> {VECTOR} {{\n%y = call @f{(i + 1) % calls}(%x) : ({VECTOR}) -> "
            f"{VECTOR}\nreturn %y : {VECTOR}\n}}\n" for i in range(calls))
        result = self.run_tool(CGX_OPT, self.write(text), "--cgx-import")
        self.assertEqual(result.returncode, 1)
        self.assertIn("expected calls to be at most 500 deep, got more at @f499", result.stderr)


class Constants(ToolTest):
    def test_equal_elements_are_written_at_run_time(self):
        for exponent in (13, 26, 33):
            with self.subTest(exponent=exponent):
                large = f"tensor<{1 << exponent}xf32>"
                text = f"func.func @main(%x: {VECTOR}) -> {large} {{\n%c = stablehlo.constant dense<1.5> : {large}\nreturn %c : {large}\n}}\n"
                library = self.folder / "out.so"
                result = self.run_tool(CGX_COMPILE, self.write(text), "--no-cache", "-o", library)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertLess(library.stat().st_size, 64 << 10)


if __name__ == "__main__":
    unittest.main()
