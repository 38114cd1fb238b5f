"""Tests cgx.toml: one file, read by cgx-run and by the packages."""

import builtins
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SOURCE = pathlib.Path(os.environ["CGX_SOURCE"])
sys.path.insert(0, str(SOURCE / "tools" / "python"))

from cgx import environment  # noqa: E402
from cgx_core import config_file  # noqa: E402

try:
    config_file._toml()
    HAS_TOML = True
except ImportError:
    HAS_TOML = False

FILE = """\
# of a run
program = "step.mlir"
steps = 440   # as often as it takes
repeat = true
shuffle = false
data = ["a.safetensors", "b.safetensors"]
set = ["lr=0.1"]
seed = 7
timeout = 60
learn-levels = "steps=100,1000 bits=4"

[compress]  # of gradients
bits = 4
bucket = 256
exclude = ["*embed*", "*norm*"]
error_feedback = "f32"
"""


class Config(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, text=FILE):
        path = self.folder / "cgx.toml"
        path.write_text(text)
        return path

    def tool(self, *arguments, code=0):
        keep = {name: value for name, value in os.environ.items() if not name.startswith(("RANK", "WORLD_SIZE"))}
        done = subprocess.run([os.environ["CGX_RUN"], *map(str, arguments)], capture_output=True, text=True, check=False, env=keep)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def given(self, text):
        """Returns the output of --print-config for these options."""
        return [line for line in text.splitlines() if not line.startswith("#")]

    def test_the_command_line_holds_over_the_file_and_what_is_printed_is_such_a_file(self):
        printed = self.tool("--config", self.write(), "--print-config", "--steps", 5)
        self.assertEqual(sorted(self.given(printed)), [
            'compress = "bits=4 bucket=256 exclude=*embed*,*norm* error-feedback=f32"', 'data = ["a.safetensors", "b.safetensors"]',
            'learn-levels = "steps=100,1000 bits=4"', 'program = "step.mlir"', "repeat = true", "seed = 7", 'set = ["lr=0.1"]', "steps = 5",
            "timeout = 60"])
        self.assertIn('# transport = "shm"', printed)
        self.assertEqual(self.tool("--config", self.write(printed), "--print-config"), printed)
        self.assertEqual(self.given(self.tool("other.mlir", "--compress", "bits=2", "--config", self.write(), "--print-config"))[:2],
                         ['program = "other.mlir"', 'compress = "bits=2"'])

    def test_what_nobody_knows_or_would_be_read_otherwise_is_refused_with_its_line(self):
        for text, line, said in (
                ("steps = 5\nstepz = 5", 2, "expected the name of an option of cgx-run, got 'stepz' (did you mean 'steps'?)"),
                ("[compres]\nbits = 4", 1, "expected a table [compress], got 'compres' (did you mean 'compress'?)"),
                ("steps: 5", 1, "expected NAME = VALUE"), ("steps = 5\nsteps = 6", 2, "which stands in line 1, too"),
                ("job = two words", 1, "expected a \"text\""), ("job = \"a#b\"", 1, "without \" \\ and # inside"),
                ("compress = \"bits=4\"\n[compress]\nbits = 3", 2, "line 1 has it, too"), ("data = [\"a\",", 1, "ends with ]"),
                ("config = \"other.toml\"", 1, "got 'config'")):
            self.assertIn(f"cgx.toml:{line}: ", self.tool("x.so", "--config", self.write(text), code=2))
            self.assertIn(said, self.tool("x.so", "--config", self.write(text), code=2))
        self.assertIn("nowhere.toml", self.tool("x.so", "--config", "nowhere.toml", code=2))

    def test_a_wrong_value_is_refused_where_it_stands(self):
        path = self.write("\nsteps = \"many\"")
        self.assertRegex(self.tool("x.so", "--config", path, code=2), rf"--steps: expected a whole number, got 'many' \({path}:2\)")
        self.assertNotIn("cgx.toml", self.tool("x.so", "--config", path, "--steps", "few", code=2))

    def test_python_knows_the_options_of_the_program(self):
        listed = set(re.findall(r"(?m)^  (?:-\w,)?--([a-z-]+)", self.tool("--help"))) - {"help", "version", "config", "print-config"}
        self.assertEqual(config_file.RUN_OPTIONS, listed | {"program"})

    @unittest.skipUnless(HAS_TOML, "this Python reads no TOML (3.11 does, or tomli)")
    def test_the_packages_take_what_means_the_same_there(self):
        path = self.write()
        self.assertEqual(config_file.read_options(path), {"bits": 4, "bucket": 256, "exclude": ["*embed*", "*norm*"], "error_feedback": "f32",
                                                          "seed": 7, "timeout": 60})
        with mock.patch.dict(os.environ, {"CGX": f"config={path} bits=2"}):
            self.assertEqual(environment.given()["bits"], 2)
            self.assertEqual(environment.given()["bucket"], 256)
        printed = self.tool("--config", path, "--print-config")
        self.assertEqual(config_file.read_options(self.write(printed)),
                         {"bits": 4, "bucket": 256, "exclude": "*embed*,*norm*", "error_feedback": "f32", "seed": 7, "timeout": 60})
        adaptive = config_file.read_options(self.write('adapt = "lgreco"\nadapt-every = 500\nwarmup = 100'))["adapt"]
        self.assertEqual((adaptive.solver, adaptive.every, adaptive.warmup), ("lgreco", 500, 100))

    @unittest.skipUnless(HAS_TOML, "this Python reads no TOML (3.11 does, or tomli)")
    def test_the_packages_refuse_names_with_their_line(self):
        for text, said in (("steps = 5\nstepz = 5", r"cgx.toml:2: .*'stepz' \(did you mean 'steps'\?\)"),
                           ("[compres]\nbits = 4", r"cgx.toml:1: .*'compres' \(did you mean 'compress'\?\)"),
                           ("[compress]\nbitz = 4", r"cgx.toml:2: .*did you mean 'bits'\?"), ("[compress]\nbits = 99", "cgx.toml:2: .*bits"),
                           ("steps 5", "cgx.toml: expected TOML: .*line 1")):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, said):
                config_file.read_options(self.write(text))

    def test_a_python_without_toml_says_what_to_install(self):
        original = builtins.__import__

        def without(name, *rest, **named):
            if name in ("tomllib", "tomli"):
                raise ImportError(name)
            return original(name, *rest, **named)
        with mock.patch("builtins.__import__", without), self.assertRaisesRegex(ImportError, "pip install tomli"):
            config_file.read_options(self.write())


if __name__ == "__main__":
    unittest.main()
