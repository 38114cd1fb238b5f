"""Processes identify programs by the names in the user's program, never by which of their threads comes first."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import ports

FOLDER = pathlib.Path(__file__).resolve().parent
HAS_LIBRARIES = all((pathlib.Path(os.environ.get("CGX_LIBRARY_PATH", "/nowhere")) / f"lib{name}.so").exists()
                    for name in ("cgx_xla", "cgx_compiler"))
ROUNDS = int(os.environ.get("CGX_TEST_ROUNDS", "4"))  # 200 take a few minutes


def shared_memory():
    """Returns the shared memory segments of JAX jobs."""
    return {each for each in os.listdir("/dev/shm") if "jax-" in each}


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so and libcgx_compiler.so")
class IdentityTest(unittest.TestCase):
    def test_steps_that_threads_call_side_by_side_each_reduce_what_is_theirs(self):
        # If steps of several processes are called in no fixed order, JAX itself stalls when as many of them run as it
        # has threads; it has one thread per device where there are several.
        for processes, devices, seed in ((1, 4, 1), (2, 1, 2), (3, 1, 3), (4, 1, 4)):
            with self.subTest(processes=processes, devices=devices):
                before, port = shared_memory(), ports.reserve()
                environment = os.environ | {"XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
                                            "NPROC": "16", "JAX_PLATFORMS": "cpu",
                                            "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo"}
                started = [subprocess.Popen([sys.executable, str(FOLDER / "side_by_side.py"),
                                             *map(str, (index, processes, port, seed, ROUNDS))], env=environment,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                           for index in range(processes)]
                try:
                    answered = [each.communicate(timeout=240 + 10 * ROUNDS) for each in started]
                finally:
                    for each in started:
                        each.kill()
                for process, (printed, said) in zip(started, answered):
                    self.assertEqual(process.returncode, 0, said[-3000:])
                    farthest, compared = printed.split()
                    self.assertLess(float(farthest), 1e-5, "results of steps were mixed up")
                    self.assertGreaterEqual(int(compared), 2 * 3 * ROUNDS)
                self.assertEqual(shared_memory() - before, set())


if __name__ == "__main__":
    unittest.main()
