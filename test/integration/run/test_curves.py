"""Tests cgx-curves: tables and drawings of reports."""

import json
import os
import subprocess
import unittest
import xml.etree.ElementTree

from harness import RunTest

CGX_CURVES = os.environ["CGX_CURVES"]
SVG = "{http://www.w3.org/2000/svg}"


class Curves(RunTest):
    def report(self, name, losses, **changes):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps({
            "cgx_run_report": 1, "steps_per_second": 10, "metrics": [{"name": "accuracy", "mean": 0.5}],
            "loss": {"name": "loss", "mean": 1.0, "per_step": losses},
            "totals": {"raw_bytes_per_rank_and_step": 6000, "wire_bytes_per_rank_and_step": 800}, **changes}))
        return path

    def curves(self, *arguments):
        return subprocess.run([CGX_CURVES, *map(str, arguments)], capture_output=True, text=True, check=False)

    def test_the_table_has_a_line_for_each_run(self):
        run = self.report("run", [3.0] * 90 + [2.0] * 10)
        result = self.curves(f"a={run}", f"b={run},{run}")
        self.assertEqual(result.returncode, 0, result.stderr)
        head, rule, a, b = [[cell.strip() for cell in line.strip("|").split("|")]
                            for line in result.stdout.splitlines()]
        self.assertEqual(len({len(head), len(rule), len(a), len(b)}), 1)
        row = dict(zip(head, b))
        self.assertEqual(row["training loss"], "2.0000")
        self.assertEqual(row["accuracy"], "50.00 %")
        self.assertEqual(row["perplexity"], "2.718")
        self.assertEqual(row["ratio"], "7.50")
        self.assertEqual(dict(zip(head, a))["accuracy"], "")

    def test_speeds_have_three_digits_or_all_before_the_point(self):
        for speed, text in ((0.012345, "0.0123"), (12.345, "12.3"), (345.6, "346"), (1112.4, "1112"), (123456.0, "123456")):
            rows = self.curves(f"a={self.report('run', [1.0], steps_per_second=speed)}").stdout.splitlines()
            self.assertEqual(rows[2].strip("|").split("|")[-1].strip(), text)

    def test_drawings_are_xml_whatever_the_losses_are(self):
        svg = self.folder / "out.svg"
        for losses in ([], [1.0], [None, None], [2.0, None, 1.0, 0.5], [0.0, -1.0, 5.0], [1.0] * 1000):
            for options in ([], ["--log"], ["--smooth", 20]):
                run = self.report("run", losses)
                result = self.curves("--svg", svg, "--title", "a < b & c", *options, f"<x>={run}", f"y={run}")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertNotIn("nan", svg.read_text())
                self.assertNotIn("inf", svg.read_text())
                texts = [t.text for t in xml.etree.ElementTree.parse(svg).iter(f"{SVG}text")]
                self.assertIn("<x>", texts)

    def test_many_runs_can_be_told_apart_beside_the_plot(self):
        svg = self.folder / "out.svg"
        run = self.report("run", [3.0, 2.0, 1.0])
        names = [f"run {i} with a name" for i in range(25)]
        result = self.curves("--no-table", "--smooth", 2, "--svg", svg, *(f"{name}={run}" for name in names))
        self.assertEqual(result.returncode, 0, result.stderr)
        picture = xml.etree.ElementTree.parse(svg).getroot()
        looks = {(line.get("stroke"), line.get("stroke-dasharray")) for line in picture.iter(f"{SVG}polyline") if not line.get("opacity")}
        self.assertEqual(len(looks), len(names))
        height, width = (float(picture.get(name)) for name in ("height", "width"))
        points = [float(point.split(",")[0]) for line in picture.iter(f"{SVG}polyline") for point in line.get("points").split()]
        legend = [text for text in picture.iter(f"{SVG}text") if text.text in names]
        self.assertEqual(len(legend), len(names))
        for text in legend:
            self.assertGreater(float(text.get("x")), max(points))
            self.assertLess(float(text.get("x")) + 7 * len(text.text), width)
            self.assertLess(float(text.get("y")), height)
        self.assertIn("training loss, mean of 2 steps", [text.text for text in picture.iter(f"{SVG}text")])

    # This module takes the place of matplotlib and records the calls, because tests run where it is not installed.
    MATPLOTLIB = """
import json
asked = []
class Recorder:
    def __getattr__(self, name):
        def call(*args, **named):
            asked.append([name, [str(each) for each in args], {key: str(value) for key, value in named.items()}])
            if name == "savefig":
                args[0].write(b"\\x89PNG" + json.dumps(asked).encode())
        return call
class pyplot:
    subplots = staticmethod(lambda **named: (Recorder(), Recorder()))
use = lambda backend: None
"""

    def with_python(self, folder, *arguments):
        environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([CGX_CURVES, *map(str, arguments)], capture_output=True, text=True, check=False, env=environment)

    def test_a_png_has_all_runs_and_what_is_not_finite_is_a_gap(self):
        (self.folder / "matplotlib").mkdir()
        (self.folder / "matplotlib" / "__init__.py").write_text(self.MATPLOTLIB)
        (self.folder / "matplotlib" / "pyplot.py").write_text("import matplotlib\nsubplots = matplotlib.pyplot.subplots\n")
        png, runs = self.folder / "loss.png", [self.report("run", [2.0, None, 1.0])] * 10
        result = self.with_python(self.folder, "--png", png, "--smooth", 2, "--log", "--title", "a 'b'", *(f"<{i}>={run}" for i, run in enumerate(runs)))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("| <9>", result.stdout)
        picture = png.read_bytes()
        self.assertTrue(picture.startswith(b"\x89PNG"))
        asked = json.loads(picture[4:])
        curves = [named for name, _, named in asked if name == "plot" and "label" in named]
        self.assertEqual([named["label"] for named in curves], [f"<{i}>" for i in range(10)])
        self.assertEqual(len({(named["color"], named["linestyle"]) for named in curves}), 10)
        self.assertIn("[2.0, None, 1.0]", [args[0] for name, args, _ in asked if name == "plot"])
        (axes,) = (named for name, _, named in asked if name == "set")
        self.assertEqual((axes["title"], axes["yscale"], axes["ylabel"]), ("a 'b'", "log", "training loss, mean of 2 steps"))

    def test_a_png_without_matplotlib_says_what_to_install(self):
        (self.folder / "matplotlib.py").write_text("raise ImportError")
        png = self.folder / "loss.png"
        result = self.with_python(self.folder, "--png", png, f"a={self.report('run', [1.0])}")
        self.assertEqual(result.returncode, 1)
        self.assertIn("pip install matplotlib, or draw an SVG, which needs nothing, with --svg", result.stderr)
        self.assertFalse(png.exists())

    def test_what_is_no_report_is_refused(self):
        other = self.report("other", [], cgx_run_report=2)
        (self.folder / "text").write_text("text")
        for run, part in ((f"x={other}", "version 2, expected 1"), (f"x={self.folder}/text", "not a report of cgx-run"),
                          (f"x={self.folder}/none", "cannot read"), ("x", "expected LABEL=")):
            result = self.curves(run)
            self.assertEqual(result.returncode, 1)
            self.assertIn(part, result.stderr)


if __name__ == "__main__":
    unittest.main()
