"""Training scripts that do not mention cgx, in plain JAX and with the libraries that people use, run with only
`cgx_jax.install()` before them: in one process and in two, with the persistent compilation cache and without."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import ports

FOLDER = pathlib.Path(__file__).resolve().parent / "scripts"
PACKAGE = FOLDER.parents[3] / "tools" / "jax"
HAS_LIBRARIES = all((pathlib.Path(os.environ.get("CGX_LIBRARY_PATH", "/nowhere")) / f"lib{name}.so").exists()
                    for name in ("cgx_xla", "cgx_compiler"))
# Each entry is a script, the library that it needs, and a layer as its report names it. nnx, equinox and pmap flatten
# models before JAX sees them.
SCRIPTS = {"plain_jit": (None, "w1"), "plain_shard_map": (None, "w1"), "flax_linen": ("flax", "Dense_1/kernel"),
           "flax_nnx": ("flax", "states/0/"), "equinox_mlp": ("equinox", "first/"), "haiku_mlp": ("haiku", "linear_1")}
# These scripts cover what people write in a step; the scripts above cover processes and caches.
IN_ONE_PROCESS = {"debug_callback": (None, "w1"), "dynamic_scaling": (None, "0/w1"), "equinox_shard_map": ("equinox", "rest/2"),
                  "gradients_apart": (None, "w1"), "half_precision": (None, "w1"), "nnx_multisteps": ("flax", "states/0/"),
                  "old_pmap": (None, "2"), "optax_multisteps": (None, "blocks/0/up"), "scanned_layers": (None, "layers/w"),
                  "split_moments": (None, "w1"), "stacked_replicas": (None, "0/w1"), "steps_in_a_loop": (None, "0/w1"),
                  "steps_in_a_scan": (None, "0/w1"), "two_axes": (None, "w1")}
# These scripts save a factor other than 5 at least: gathered weights stay uncompressed, and bf16 has half the bytes.
FEWER = {"dynamic_scaling": 3.5, "half_precision": 3.5, "nnx_multisteps": 4.5, "split_moments": 1.7}
INSTALLED = """
import json, runpy, sys
sys.path[:0] = [{package!r}, {folder!r}]
import cgx_jax
installation = cgx_jax.install(bits=4)
runpy.run_path({script!r}, run_name="__main__")
print(json.dumps({{name: {{"layers": [[layer["layer"], layer["codec"]] for layer in step.report("json")["layers"]],
                          "counters": next(iter(step.telemetry().values()))}} for name, step in installation.steps.items()}}))
"""


def start(code, devices, environment):
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONDONTWRITEBYTECODE": "1",
                                              "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"} | environment)


def run(script, installs, processes=1, cache=None):
    """Returns the output of the processes of a job."""
    path = FOLDER / f"{script}.py"
    code = INSTALLED.format(package=str(PACKAGE), folder=str(FOLDER), script=str(path)) if installs else \
        f"import runpy, sys; sys.path[:0] = [{str(FOLDER)!r}]; runpy.run_path({str(path)!r}, run_name='__main__')"
    environment = {} if cache is None else {
        "JAX_COMPILATION_CACHE_DIR": cache, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0"}
    if processes > 1:
        environment |= {"JOB_PORT": str(ports.reserve()), "JOB_PROCESSES": str(processes),
                        "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo"}
    started = [start(code, 4 // processes, environment | {"JOB_INDEX": str(index)}) for index in range(processes)]
    done = [(*process.communicate(timeout=300), process.returncode) for process in started]
    for _, said, status in done:
        assert status == 0, said[-3000:]
    return [printed for printed, _, _ in done]


def loss_of(printed):
    return float(re.search(r"^loss ([\d.]+)$", printed, re.M).group(1))


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so and libcgx_compiler.so")
class ScriptsTest(unittest.TestCase):
    def for_each(self, check, scripts=SCRIPTS):
        """Calls `check(script, layer)` for each script whose library this Python has."""
        for script, (library, layer) in scripts.items():
            with self.subTest(script=script):
                if library and importlib.util.find_spec(library) is None:
                    self.skipTest(f"this Python has no {library}: tools/setup --frameworks")
                check(script, layer)

    def assert_compressed(self, script, printed, layer):
        """Checks that one step, with a matrix of this name at 4 bits, ran all the time."""
        steps = json.loads(printed.splitlines()[-1])
        self.assertEqual(len(steps), 1, steps.keys())
        step, = steps.values()
        self.assertTrue([name for name, codec in step["layers"] if layer in name and "quantize bits=4" in codec], step["layers"])
        self.assertEqual(step["counters"]["steps"], 30)
        self.assertGreater(step["counters"]["raw_bytes"], FEWER.get(script, 5) * step["counters"]["wire_bytes"])

    def test_one_process_of_four_devices(self):
        def check(script, layer):
            plain, = run(script, installs=False)
            printed, = run(script, installs=True)
            self.assert_compressed(script, printed, layer)
            self.assertAlmostEqual(loss_of(printed), loss_of(plain), delta=0.1 * loss_of(plain) + 0.01)
        self.for_each(check, SCRIPTS | IN_ONE_PROCESS)

    def test_two_processes_of_two_devices(self):
        def check(script, layer):
            printed = run(script, installs=True, processes=2)
            self.assert_compressed(script, printed[0], layer)
            self.assertEqual(loss_of(printed[0]), loss_of(printed[1]))
        self.for_each(check)

    def test_each_process_trains_a_model_of_its_own(self):
        plain, printed = (run("own_models", installs, processes=2) for installs in (False, True))
        self.assert_compressed("own_models", printed[0], "w1")
        step, = json.loads(printed[1].splitlines()[-1]).values()
        self.assertEqual(step["counters"]["steps"], 20)
        for ours, theirs in zip(printed, plain):
            self.assertAlmostEqual(loss_of(ours), loss_of(theirs), delta=0.1 * loss_of(theirs) + 0.01)

    def test_with_the_persistent_compilation_cache(self):
        def check(script, layer):
            with tempfile.TemporaryDirectory() as folder:
                plain, = run(script, installs=False, cache=folder)
                first, again = run(script, installs=True, cache=folder)[0], run(script, installs=True, cache=folder)[0]
                self.assert_compressed(script, again, layer)
                self.assertEqual(loss_of(first), loss_of(again))
                self.assertEqual(loss_of(run(script, installs=False, cache=folder)[0]), loss_of(plain))
        self.for_each(check)


if __name__ == "__main__":
    unittest.main()
