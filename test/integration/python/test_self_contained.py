"""Tests the wheel for other machines: `pip wheel .` makes one that needs only their C library, and hides its symbols."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE, VERSION = pathlib.Path(os.environ["CGX_SOURCE"]), os.environ["CGX_VERSION"]
MOST_BYTES = 60_000_000
OLDEST_GLIBC = (2, 34)
# Every Linux, or the wheel itself, has these libraries.
ALLOWED = re.compile(r"(lib(c|m|gcc_s|dl|rt|pthread)\.so\.\d+|ld-linux-[\w-]+\.so\.\d+|libcgx_\w+\.so|libhwy-\w+\.so.*)$")
EXPORTS = {"libcgx_runtime.so": r"cgx_\w+", "libcgx_xla.so": r"cgx_\w+", "libcgx_cuda.so": r"cgx::cuda::.*|cgx_cuda_library",
           "libcgx_compiler.so": r"cgx_\w+|.*resolveTypeID.*"}
PROGRAMS = ("cgx", "cgx-bench", "cgx-curves", "cgx-lsp-server", "cgx-opt", "cgx-plan")
STEP = """func.func public @main(%w: tensor<64x64xf32>, %x: tensor<8x64xf32>) -> tensor<64x64xf32> {
  return %w : tensor<64x64xf32>
}
"""
LOADED = """
import pathlib
def loaded(): return {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if ".so" in line}
import cgx
from cgx_core import compiler, context, libraries
context.declare(libraries.open_library("cgx_runtime"))
assert not any("libcgx_compiler" in path for path in loaded()), "the compiler is there before it is asked for"
assert "module" in compiler.run("module {}", []).module
foreign = [path for path in loaded() for word in ("libLLVM", "libMLIR", "libmpi", "openblas", "libgomp", "libssl") if word in path]
assert not foreign, foreign
"""
JAX_STEP = """
import functools, os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax, jax.numpy as jnp, numpy as np
import cgx
mesh = jax.sharding.Mesh(np.array(jax.devices()), ("data",))
whole, split = (jax.sharding.PartitionSpec(*axes) for axes in ((), ("data",)))
@jax.jit
@functools.partial(jax.shard_map, mesh=mesh, in_specs=(whole, split), out_specs=whole, check_vma=False)
def step(w, x):
    return w - 0.1 * jax.lax.pmean(jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w), "data")
step = cgx.compress(step, bits=4)
step(jnp.ones((64, 64)), jnp.ones((8, 64)))
print(step.report())
"""
TORCH_STEP = """
import os, sys, torch, torch.distributed as dist
import cgx
dist.init_process_group("gloo")
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
state = cgx.compress(model, bits=2)
model(torch.ones(8, 64)).sum().backward()
print(state.report())
"""
MPI_RANK = """
import os
from cgx_core import context, libraries
runtime = libraries.open_library("cgx_runtime")
context.declare(runtime)
rank = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"])
manifest = '{"cgx_manifest": 1, "hash": "0123", "ranks": 2, "collectives": []}'
try:
    made = context.create(runtime, context.config("mpi", "tried", rank, 2, 0, 60, manifest))
except context.Failed:
    raise SystemExit(libraries.text(runtime.cgx_last_error()))
runtime.cgx_context_destroy(made)
print(f"rank {rank} has met the other")
"""
PROGRAM = """#include <cgx/runtime.h>
#include <stdio.h>
int main(void) { puts(cgx_status_name(CGX_TIMEOUT)); return 0; }
"""
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(tried C CXX)
find_package(cgx REQUIRED)
add_executable(tried main.c)
target_link_libraries(tried PRIVATE cgx::runtime)
"""


def output(*command, **options):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


class SelfContainedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.environment = {name: value for name, value in os.environ.items()
                           if name not in ("CGX_BUILD_DIR", "CGX_LIBRARY_PATH", "PYTHONPATH", "LD_LIBRARY_PATH")}
        output(sys.executable, "-m", "venv", cls.folder / "venv")
        cls.bin = cls.folder / "venv" / "bin"
        done = subprocess.run([cls.bin / "pip", "wheel", "--no-deps", "-w", cls.folder, SOURCE], env=cls.environment, capture_output=True,
                              text=True, check=False)
        if "No matching distribution found" in done.stderr:
            raise unittest.SkipTest("pip found no package index")
        assert done.returncode == 0, done.stdout + done.stderr
        cls.wheel, = cls.folder.glob("*.whl")
        output(cls.bin / "pip", "install", "--no-deps", cls.wheel)
        cls.package, = (cls.folder / "venv" / "lib").glob("python*/site-packages/cgx_core")

    def binaries(self):
        found = [*(self.package / "lib").glob("*.so"), *(self.package / "bin").iterdir(), *self.package.parent.glob("cgx.libs/*")]
        self.assertGreater(len(found), len(EXPORTS) + len(PROGRAMS))
        return found

    def test_its_name_says_where_it_runs_and_its_size_is_bounded(self):
        self.assertRegex(self.wheel.name, rf"^cgx-{re.escape(VERSION)}-py3-none-manylinux_2_(\d\d)_x86_64\.whl$")
        self.assertLessEqual(int(self.wheel.name.split("manylinux_2_")[1][:2]), OLDEST_GLIBC[1])
        self.assertLessEqual(self.wheel.stat().st_size, MOST_BYTES)

    def test_it_has_both_packages_and_what_c_programs_need(self):
        names = zipfile.ZipFile(self.wheel).namelist()
        for expected in ("cgx/__init__.py", "cgx/__init__.pyi", "cgx/py.typed", "cgx_jax/compress.py", "cgx_torch/hook.py", "cgx_core/include/cgx/runtime.h",
                         "cgx_core/lib/cmake/cgx/cgxConfig.cmake", "cgx_core/lib/pkgconfig/cgx.pc",
                         *[f"cgx_core/lib/{library}" for library in EXPORTS], *[f"cgx_core/bin/{program}" for program in PROGRAMS]):
            self.assertIn(expected, names)

    def test_frameworks_find_it(self):
        wheel = zipfile.ZipFile(self.wheel)
        listed = wheel.read(next(name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt"))).decode()
        for expected in ("[torch.backends]\ncgx = cgx.torch_backend:autoload", "[jax_plugins]\ncgx = cgx.jax_plugin"):
            self.assertIn(expected, listed)

    def test_it_needs_a_c_library_and_no_other(self):
        for path in self.binaries():
            with self.subTest(path=path.name):
                for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", path)):
                    if path.name.startswith("libcgx_mpi") and needed.startswith("libmpi"):
                        continue  # loaded when a job needs it
                    if path.parent.name != "cgx.libs":  # bundled libraries of the distribution
                        self.assertRegex(needed, ALLOWED)
                for version in re.findall(r"GLIBC_(\d+)\.(\d+)", output("readelf", "-V", path)):
                    self.assertLessEqual(tuple(map(int, version)), OLDEST_GLIBC)

    def test_libraries_export_their_interface_and_nothing_else(self):
        for library, pattern in EXPORTS.items():
            symbols = output("nm", "-DC", "--defined-only", self.package / "lib" / library).splitlines()
            self.assertTrue(symbols)
            for symbol in symbols:
                self.assertRegex(symbol.split(maxsplit=2)[2], rf"^({pattern})$", library)

    def test_programs_run(self):
        step = self.folder / "step.mlir"
        step.write_text(STEP)
        for program in PROGRAMS:
            with self.subTest(program=program):
                self.assertIn(VERSION, output(self.bin / program, "--version", env=self.environment))
        done = subprocess.run([self.bin / "cgx-opt", step, "--cgx-report", "-o", os.devnull], env=self.environment, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cgx report", done.stdout + done.stderr)
        self.assertNotIn("MISSING", output(self.bin / "cgx", "doctor", "--no-measure", env=self.environment))

    def test_nothing_of_the_system_is_loaded_and_no_compiler_before_it_is_asked_for(self):
        output(self.bin / "python", "-c", LOADED, env=self.environment, cwd=self.folder)

    def framework(self, module):
        """Returns a Python with the framework, and an environment in which it finds the wheel's packages."""
        python = os.environ.get("CGX_PYTHON", "")
        if not os.path.exists(python) or subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode:
            self.skipTest(f"no Python with {module}: tools/setup")
        return python, self.environment | {"PYTHONPATH": str(self.package.parent)}

    def test_a_step_of_jax_is_compressed(self):
        python, environment = self.framework("jax")
        self.assertIn("quantize bits=4", output(python, "-c", JAX_STEP, env=environment, cwd=self.folder))

    def test_a_model_of_torch_is_compressed(self):
        python, environment = self.framework("torch")
        (self.folder / "ddp.py").write_text(TORCH_STEP)
        said = output(python, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", self.folder / "ddp.py",
                      env=environment, cwd=self.folder)
        self.assertIn("quantize bits=2", said)

    def test_ranks_meet_over_the_mpi_that_started_them(self):
        launchers = {"mpirun.openmpi": ["--oversubscribe", *["--allow-run-as-root"] * (os.geteuid() == 0)], "mpirun.mpich": []}
        found = {name: options for name, options in launchers.items() if shutil.which(name)}
        if not found:
            self.skipTest("no mpirun.openmpi or mpirun.mpich: tools/setup --mpich")
        for name, options in found.items():
            with self.subTest(launcher=name):
                said = output(name, *options, "-np", "2", self.bin / "python", "-c", MPI_RANK, env=self.environment | {"UCX_LOG_LEVEL": "error"},
                              cwd=self.folder)
                self.assertEqual(sorted(re.findall(r"rank \d has met the other", said)), ["rank 0 has met the other", "rank 1 has met the other"])

    def test_c_and_cmake_programs_take_it(self):
        project = self.folder / "project"
        project.mkdir()
        (project / "main.c").write_text(PROGRAM)
        (project / "CMakeLists.txt").write_text(PROJECT)
        said = lambda option: output(self.bin / "python", "-m", "cgx", option, env=self.environment).split()
        output("cc", project / "main.c", *said("--cflags"), *said("--libs"), "-o", project / "by-hand")
        output("cmake", "-S", project, "-B", project / "build", f"-Dcgx_DIR={said('--cmake-dir')[0]}")
        output("cmake", "--build", project / "build")
        for program in ("by-hand", "build/tried"):
            self.assertEqual(output(project / program, env=self.environment), "timeout\n")

    def test_what_is_removed_leaves_nothing(self):
        output(sys.executable, "-m", "venv", self.folder / "other")
        pip = self.folder / "other" / "bin" / "pip"
        before = {str(path) for path in (self.folder / "other").rglob("*") if "__pycache__" not in str(path)}
        output(pip, "install", "--no-deps", self.wheel)
        output(pip, "uninstall", "-y", "cgx")
        self.assertEqual({str(path) for path in (self.folder / "other").rglob("*") if "__pycache__" not in str(path)}, before)


if __name__ == "__main__":
    unittest.main()
