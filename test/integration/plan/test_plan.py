"""Tests cgx-plan from outside: its files, tables and drawings, and its answers against an integer program."""

import json
import os
import pathlib
import random
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

CGX_PLAN = os.environ["CGX_PLAN"]
SVG = "{http://www.w3.org/2000/svg}"
EXACT = {"family": "identity"}


def quantize(bits, bucket=128):
    return {"family": "quantize", "bits": bits, "bucket": bucket, "rounding": "stochastic", "scale": "bf16"}


def make_profile(seed, layers, families=True):
    """Returns a profile with layers of all sizes. The error of a codec falls with its bits, at a rate that differs
    between layers."""
    rng = random.Random(seed)
    entries = []
    for i in range(layers):
        elements, norm = int(10 ** rng.uniform(3, 6)), 10 ** rng.uniform(-2, 1)
        candidates = [{"codec": EXACT, "squared_error": 0.0, "wire_bytes": elements * 24}]
        for bits in range(1, 9):
            candidates.append({"codec": quantize(bits), "wire_bytes": int(elements * (bits + 0.25) * 0.75),
                               "squared_error": norm ** 2 * 4.0 ** -bits * rng.uniform(0.5, 2)})
        for density in (0.001, 0.01, 0.1) if families else ():
            candidates.append({"codec": {"family": "topk", "density": density}, "wire_bytes": int(elements * 36 * density),
                               "squared_error": norm ** 2 * (1 - density ** 0.3) * rng.uniform(0.1, 1)})
        entries.append({"layer": f"params/l{i}/w", "kind": "gradient", "dtype": "f32", "elements": elements,
                        "collective": i // 4, "position": i, "ready_seconds": i * 1e-4, "gradient_norm": norm,
                        "candidates": candidates})
    return {"cgx_profile": 1, "program": "0" * 16, "ranks": 4, "first_step": 0, "steps": 10,
            "compute_seconds": 0.002, "layers": entries}


class Plan(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def plan(self, *arguments, code=0):
        result = subprocess.run([CGX_PLAN, *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout if code == 0 else result.stderr

    def solve(self, profile, *arguments):
        path = self.folder / "plan.json"
        self.plan("solve", profile, "--quiet", "-o", path, *arguments)
        return json.loads(path.read_text())

    def rows(self, table):
        lines = [line for line in table.splitlines() if line.startswith("|")]
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        return [dict(zip(cells[0], row)) for row in cells[2:]]

    def test_a_plan_is_within_the_error_of_the_reference_and_smaller(self):
        profile = self.write("profile.json", make_profile(1, 30))
        for solver in ("uniform", "linear", "kmeans", "bayes", "lgreco", "exact"):
            plan = self.solve(profile, "--solver", solver)
            self.assertLessEqual(plan["planned"]["squared_error"], plan["of_reference"]["squared_error"] * (1 + 1e-9))
            self.assertLessEqual(plan["planned"]["wire_bytes"], plan["of_reference"]["wire_bytes"])
            self.assertEqual(sum(layer["wire_bytes"] for layer in plan["layers"]), plan["planned"]["wire_bytes"])
            self.assertEqual(len(plan["layers"]), 30)

    def test_exact_agrees_with_an_integer_program(self):
        try:
            import numpy
            from scipy.optimize import Bounds, LinearConstraint, milp
        except ImportError:
            self.skipTest("scipy is not there")
        for seed in range(12):
            content = make_profile(seed, 5 + 9 * seed)
            alpha = (0.3, 1, 4)[seed % 3]
            plan = self.solve(self.write("profile.json", content), "--solver", "exact", "--alpha", alpha)
            choices = [(i, c) for i, layer in enumerate(content["layers"]) for c in layer["candidates"]]
            each = numpy.zeros((len(content["layers"]), len(choices)))
            for column, (i, _) in enumerate(choices):
                each[i, column] = 1
            errors = numpy.array([c["squared_error"] for _, c in choices])
            best = milp([c["wire_bytes"] for _, c in choices], integrality=numpy.ones(len(choices)), bounds=Bounds(0, 1),
                        constraints=[LinearConstraint(each, 1, 1),
                                     LinearConstraint(errors[None] / plan["squared_error_bound"], -numpy.inf, 1)],
                        options={"mip_rel_gap": 0})
            self.assertTrue(best.success, best.message)
            self.assertTrue(plan["proven"])
            # The integer program may exceed its bound by a part in a million.
            self.assertAlmostEqual(plan["planned"]["wire_bytes"] / best.fun, 1, delta=2e-6)

    def test_families_mix_in_one_plan(self):
        profile = self.write("profile.json", make_profile(3, 60))
        families = {layer["codec"]["family"] for layer in self.solve(profile, "--solver", "exact")["layers"]}
        self.assertEqual(families, {"quantize", "topk"})
        excluded = self.solve(profile, "--solver", "exact", "--exclude", "topk", "--exclude", "bits=1")["layers"]
        self.assertEqual({layer["codec"]["family"] for layer in excluded}, {"quantize"})
        self.assertGreater(min(layer["codec"]["bits"] for layer in excluded), 1)

    def test_time_is_traded_for_bytes(self):
        profile = self.write("profile.json", make_profile(4, 25))
        small = self.solve(profile, "--solver", "exact")["planned"]
        fast = self.solve(profile, "--solver", "exact", "--objective", "time")["planned"]
        self.assertLessEqual(fast["seconds"], small["seconds"])
        self.assertGreaterEqual(fast["wire_bytes"], small["wire_bytes"])
        between = (fast["seconds"] + small["seconds"]) / 2
        bounded = self.solve(profile, "--solver", "exact", "--max-time", f"{between}s")["planned"]
        self.assertLessEqual(bounded["seconds"], between * (1 + 1e-9))
        self.assertGreaterEqual(bounded["wire_bytes"], small["wire_bytes"])

    def test_compare_has_a_row_for_each_solver(self):
        profile, svg = self.write("profile.json", make_profile(5, 20)), self.folder / "front.svg"
        rows = self.rows(self.plan("compare", profile, "--svg", svg))
        self.assertEqual([row["solver"] for row in rows], ["uniform", "linear", "kmeans", "bayes", "accordion", "lgreco",
                                                          "lgreco+accordion", "exact"])
        self.assertEqual(rows[-1]["note"], "proven optimal")
        texts = [text.text for text in xml.etree.ElementTree.parse(svg).iter(f"{SVG}text")]
        self.assertIn("lgreco", texts)

    def test_drawings_of_plans_are_xml(self):
        profile = self.write("profile.json", make_profile(6, 1))
        paths = []
        for solver in ("uniform", "exact"):
            paths.append(self.folder / f"{solver}.json")
            self.plan("solve", profile, "--solver", solver, "-o", paths[-1])
        svg = self.folder / "bits.svg"
        self.plan("show", *paths, "--svg", svg, "--title", "a < b & c")
        self.assertNotIn("nan", svg.read_text())
        xml.etree.ElementTree.parse(svg)

    def test_a_link_may_be_a_measured_machine(self):
        profile = self.write("profile.json", make_profile(3, 8))
        link = {"latency_seconds": 1e-4, "message_seconds": 1e-6, "bytes_per_second": 1.25e7}
        machine = self.write("machine.json", {"cgx_machine": 1, "link": link})
        arguments = ("--objective", "time")
        self.assertEqual(self.solve(profile, *arguments, "--link", machine),
                         self.solve(profile, *arguments, "--link", "100Mbit", "--latency", "100us"))
        self.assertIn("expected 'cgx_machine' of version 1",
                      self.plan("solve", profile, "--link", self.write("other.json", "{}"), code=1))

    def test_simulate_knows_links_and_plans(self):
        profile = self.write("profile.json", make_profile(7, 12))
        plan = self.folder / "small.json"
        self.plan("solve", profile, "--quiet", "-o", plan)
        rows = self.rows(self.plan("simulate", profile, plan, "--link", "10Mbit", "--link", "100Gbit"))
        self.assertEqual([row["codecs"] for row in rows], ["identity", "quantize bits=4 bucket=128", f"{plan} (lgreco)"])
        units = {"s": 1, "ms": 1e-3, "us": 1e-6}
        slow = [float(number) * units[unit] for number, unit in (row["step at 10Mbit"].split() for row in rows)]
        self.assertGreater(slow[0], slow[1])
        self.assertGreaterEqual(slow[1], slow[2])

    def test_what_does_not_fit_is_named(self):
        content = make_profile(8, 4)
        good = self.write("profile.json", content)
        text = good.read_text()
        cut = self.write("cut.json", text[:len(text) // 2])
        self.assertIn("'" + str(cut) + "': expected JSON", self.plan("solve", cut, code=1))
        self.assertIn("cannot read", self.plan("solve", self.folder / "none.json", code=1))
        self.assertIn("no candidate of any layer", self.plan("solve", good, "--reference", "quantize bits=7 bucket=64",
                                                             code=1))
        self.assertIn("expected a solver among uniform", self.plan("solve", good, "--solver", "best", code=1))
        self.assertIn("expected a bandwidth above 0 in kbit, Mbit, Gbit, got '3 km'",
                      self.plan("solve", good, "--link", "3 km", code=1))
        self.assertIn("found nothing", self.plan("solve", good, "--solver", "exact", "--max-time", "1us", code=1))
        self.assertIn("this is another kind of file", self.plan("show", good, code=1))
        self.plan("decide", code=2)
        del content["layers"][2]["candidates"][0]
        self.assertIn("layer 'params/l2/w' has no candidate 'identity'",
                      self.plan("solve", self.write("no.json", content), code=1))

    def test_help_lists_the_solvers(self):
        text = self.plan("--help")
        for word in ("lgreco+accordion", "EXAMPLES", "EXIT STATUS"):
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
