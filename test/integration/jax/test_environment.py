"""CGX in the environment lets a script that does not mention cgx send compressed gradients. An installed wheel has the
entry point."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
HAS_LIBRARIES = (pathlib.Path(os.environ.get("CGX_LIBRARY_PATH", "/nowhere")) / "libcgx_xla.so").exists()
SCRIPT = """
import functools
import jax, jax.numpy as jnp, numpy as np
mesh = jax.sharding.Mesh(np.array(jax.devices()), ("data",))
whole, split = (jax.sharding.PartitionSpec(*axes) for axes in ((), ("data",)))
@jax.jit
@functools.partial(jax.shard_map, mesh=mesh, in_specs=(whole, split), out_specs=whole, check_vma=False)
def train_step(w, x):
    return w - 0.1 * jax.lax.pmean(jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w), "data")
w = jax.random.normal(jax.random.key(0), (64, 64))
for _ in range(3):
    w = train_step(w, jnp.ones((8, 64)))
print("trained", np.isfinite(np.asarray(w)).all())
"""


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so and libcgx_compiler.so")
class EnvironmentTest(unittest.TestCase):
    def run_script(self, cgx):
        with tempfile.TemporaryDirectory() as folder:
            metadata = pathlib.Path(folder) / "cgx-0.dist-info"
            metadata.mkdir()
            (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: cgx\nVersion: 0\n")
            (metadata / "entry_points.txt").write_text("[jax_plugins]\ncgx = cgx.jax_plugin\n")
            paths = [folder, *(str(ROOT / "tools" / each) for each in ("python", "jax"))]
            environment = os.environ | {"PYTHONPATH": ":".join(paths), "CGX": cgx,
                                        "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
            return subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=300, check=False)

    def test_steps_are_compressed(self):
        done = self.run_script("bits=4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("trained True", done.stdout)
        self.assertRegex(done.stdout, r"cgx: train_step: 1 of \d tensors compressed")

    def test_without_it_nothing_is_touched(self):
        done = self.run_script("")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("cgx", done.stdout + done.stderr)

    def test_wrong_options_end_the_script(self):
        for wrong, said in (("bitz=4", "bitz"), ("on", "expected options of cgx.install")):
            done = self.run_script(wrong)
            self.assertNotEqual(done.returncode, 0, done.stdout)
            self.assertIn(said, done.stderr)
            self.assertNotIn("trained", done.stdout)


if __name__ == "__main__":
    unittest.main()
