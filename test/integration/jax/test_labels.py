"""cgx-opt labels the collectives of many kinds of steps, which are in zoo.py."""

import collections
import json
import pathlib
import tempfile
import unittest

import jobs  # first, because it sets the number of devices

import jax

import zoo

# Any size may be compressed, and weights too, so that a layer stays uncompressed only because of its kind or rank.
COMPRESS = "--cgx-compress=codec=quantize bits=4 min-elements=1 kinds=gradient,weight"


def rows_of(name, folder):
    """Returns the report's rows about the collectives of a step, without single numbers."""
    step, state, batch = zoo.whole_step(name)
    program, report = folder / f"{name}.mlir", folder / f"{name}.json"
    program.write_text(jax.jit(step, donate_argnums=0).lower(state, batch).as_text(debug_info=True))
    jobs.run("CGX_OPT", program, COMPRESS, f"--cgx-report=format=json output={report}", "-o", "/dev/null")
    return [row for row in json.loads(report.read_text())["layers"] if row["shape"]]


@jobs.needs_opt
class LabelsTest(unittest.TestCase):
    def check(self, name):
        case = zoo.CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            rows = rows_of(name, pathlib.Path(folder))
        self.assertEqual({(row["layer"], row["kind"]) for row in rows}, set(case.layers.items()) | case.also)
        stacked = {row["layer"] for row in rows if "stacked" in (row.get("exact_reason") or "")}
        self.assertEqual(stacked, case.exact)
        # Only gradients and weights of parameters are ever compressed.
        compressed = collections.Counter(row["kind"] for row in rows if "identity" not in row["codec"])
        self.assertLessEqual(set(compressed), {"gradient", "weight"})
        # Vectors are not compressed, alone, as a row, or as one of a stack.
        vectors = [row["layer"] for row in rows if "identity" not in row["codec"]
                   and sum(size != 1 for size in row["shape"]) < 2]
        self.assertEqual(vectors, [])


def test_of(name):
    return lambda self: self.check(name)


for case_name in zoo.CASES:
    setattr(LabelsTest, f"test_{case_name}", test_of(case_name))

if __name__ == "__main__":
    unittest.main()
