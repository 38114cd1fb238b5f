"""cgx-opt reads, verifies and prints JAX's text, and JAX reads the result as an equal module: in the pretty form, with
locations, and in the generic form."""

import os
import subprocess
import unittest

import functions  # first, because it sets the number of devices
import jobs

import jax
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir


def through_cgx(text, *options):
    """Returns cgx-opt's output for a text."""
    result = subprocess.run([os.environ["CGX_OPT"], "-", *options], input=text, capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        raise jobs.Refused(result.stderr[:1500])
    return result.stdout


def printed_by_jax(text, locations):
    """Returns JAX's own text of a module in any form."""
    with mlir.make_ir_context():
        return ir.Module.parse(text).operation.get_asm(enable_debug_info=locations)


class TextTest(unittest.TestCase):
    def check_every_function(self, locations, generic, *options):
        for name, (function, arguments) in functions.FUNCTIONS.items():
            with self.subTest(name):
                jitted = function if hasattr(function, "lower") else jax.jit(function)
                text = jitted.lower(*arguments).compiler_ir("stablehlo").operation.get_asm(
                    print_generic_op_form=generic, enable_debug_info=locations)
                self.assertEqual(printed_by_jax(through_cgx(text, *options), locations),
                                 printed_by_jax(text, locations))

    @jobs.needs_opt
    def test_the_pretty_form_comes_back_as_it_was(self):
        self.check_every_function(False, False)

    @jobs.needs_opt
    def test_locations_come_back_as_they_were(self):
        self.check_every_function(True, False, "--mlir-print-debuginfo")

    @jobs.needs_opt
    def test_the_generic_form_comes_back_as_it_was(self):
        self.check_every_function(False, True)

    @jobs.needs_opt
    def test_jax_reads_our_generic_form(self):
        self.check_every_function(False, False, "--mlir-print-op-generic")


if __name__ == "__main__":
    unittest.main()
