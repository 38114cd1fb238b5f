"""Tests the wheel of native execution: `pip wheel tools/python/native` makes it, and `pip install cgx[native]` installs
it with cgx's own."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE, VERSION = pathlib.Path(os.environ["CGX_SOURCE"]), os.environ["CGX_VERSION"]
EXAMPLE = SOURCE / "examples" / "mlp-digits"
MOST_BYTES = 60_000_000
OLDEST_GLIBC = (2, 34)
PROGRAMS = ("cgx-compile", "cgx-run")
# Every Linux, or the wheel cgx, has these libraries; all others are in this wheel.
ALLOWED = re.compile(r"(lib(c|m|gcc_s|stdc\+\+|dl|rt|pthread)\.so\.\d+|ld-linux-[\w-]+\.so\.\d+|libcgx_(runtime|cuda)\.so)$")
RUNS_FROM_PYTHON = """
import sys
import cgx
done = cgx.run(sys.argv[1] + "/step.mlir", ranks=4, steps=3, state=sys.argv[1] + "/state.safetensors",
               data=sys.argv[1] + "/train.safetensors", quiet=True)
assert len(done.metrics) == 3 and done.is_complete
"""


def output(*command, **options):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


class NativeWheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        unknown = ("CGX_BUILD_DIR", "CGX_LIBRARY_PATH", "PYTHONPATH", "LD_LIBRARY_PATH")
        cls.environment = {name: value for name, value in os.environ.items() if name not in unknown}
        cls.environment["CGX_CACHE_DIR"] = str(cls.folder / "cache")
        output(sys.executable, "-m", "venv", cls.folder / "venv")
        cls.bin = cls.folder / "venv" / "bin"
        for source in (SOURCE, SOURCE / "tools" / "python" / "native"):
            done = subprocess.run([cls.bin / "pip", "wheel", "--no-deps", "-w", cls.folder, source], env=cls.environment,
                                  capture_output=True, text=True, check=False)
            if "No matching distribution found" in done.stderr:
                raise unittest.SkipTest("pip found no package index")
            assert done.returncode == 0, done.stdout + done.stderr
        cls.wheel, = cls.folder.glob("cgx_native-*.whl")
        # The installation needs nothing else, and no package index.
        output(cls.bin / "pip", "install", "--no-index", "--find-links", cls.folder, "cgx[native]")
        cls.package, = (cls.folder / "venv" / "lib").glob("python*/site-packages/cgx_native")

    def test_its_name_says_where_it_runs_and_its_size_is_bounded(self):
        self.assertRegex(self.wheel.name, rf"^cgx_native-{re.escape(VERSION)}-py3-none-manylinux_2_(\d\d)_x86_64\.whl$")
        self.assertLessEqual(int(self.wheel.name.split("manylinux_2_")[1][:2]), OLDEST_GLIBC[1])
        self.assertLessEqual(self.wheel.stat().st_size, MOST_BYTES)

    def test_each_wheel_asks_for_the_other_one_of_its_own_version(self):
        for name, expected in (("cgx", rf"cgx-native=={VERSION} ?; extra == ['\"]native['\"]"), ("cgx_native", rf"cgx=={VERSION}")):
            wheel = zipfile.ZipFile(next(self.folder.glob(f"{name}-*.whl")))
            metadata = wheel.read(next(each for each in wheel.namelist() if each.endswith(".dist-info/METADATA"))).decode()
            self.assertRegex(metadata, rf"(?m)^Requires-Dist: {expected}$", name)

    def test_it_needs_the_other_wheel_and_a_c_library(self):
        own = {path.name for path in self.package.parent.glob("cgx_native.libs/*")} | {path.name for path in (self.package / "lib").iterdir()}
        for path in [*(self.package / "bin").iterdir(), *(self.package / "lib").glob("*.so"), *self.package.parent.glob("cgx_native.libs/*")]:
            with self.subTest(path=path.name):
                for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", path)):
                    self.assertTrue(needed in own or ALLOWED.match(needed), needed)
                for version in re.findall(r"GLIBC_(\d+)\.(\d+)", output("readelf", "-V", path)):
                    self.assertLessEqual(tuple(map(int, version)), OLDEST_GLIBC)

    def test_the_other_wheel_has_nothing_of_native_execution(self):
        wheel = zipfile.ZipFile(next(self.folder.glob("cgx-*.whl")))
        self.assertFalse([name for name in wheel.namelist() if "native.h" in name or "libcgx_native" in name])

    def test_a_step_is_compressed_and_trained_by_the_commands(self):
        for program in PROGRAMS:
            self.assertIn(VERSION, output(self.bin / program, "--version", env=self.environment))
        self.assertIn(VERSION, output(self.bin / "cgx", "run", "--version", env=self.environment))
        said = output(self.bin / "cgx-run", EXAMPLE / "step.mlir", "--ranks", "4", "--steps", "20", "--compress", "bits=4", "--state",
                      EXAMPLE / "state.safetensors", "--data", EXAMPLE / "train.safetensors", "--save", self.folder / "trained.safetensors",
                      env=self.environment, cwd=self.folder)
        self.assertIn("quantize bits=4", said)
        self.assertTrue((self.folder / "trained.safetensors").exists())

    def test_a_compiled_step_runs_as_well(self):
        step = self.folder / "step.so"
        output(self.bin / "cgx-compile", EXAMPLE / "step.mlir", "-o", step, env=self.environment)
        output(self.bin / "cgx-run", step, "--ranks", "4", "--steps", "2", "--state", EXAMPLE / "state.safetensors", "--data",
               EXAMPLE / "train.safetensors", env=self.environment, cwd=self.folder)

    def test_python_finds_it(self):
        output(self.bin / "python", "-c", RUNS_FROM_PYTHON, EXAMPLE, env=self.environment | {"PATH": "/usr/bin:/bin"}, cwd=self.folder)

    def test_what_is_removed_leaves_nothing(self):
        output(sys.executable, "-m", "venv", self.folder / "other")
        pip = self.folder / "other" / "bin" / "pip"
        files = lambda: {str(path) for path in (self.folder / "other").rglob("*") if "__pycache__" not in str(path)}
        before = files()
        output(pip, "install", "--no-index", "--find-links", self.folder, "cgx[native]")
        output(pip, "uninstall", "-y", "cgx", "cgx-native")
        self.assertEqual(files(), before)


if __name__ == "__main__":
    unittest.main()
