"""On meshes of two axes, replicated values stay bitwise equal under codecs with random rounding: cgx-run compares them,
and fails where ranks differ."""

import pathlib
import tempfile
import unittest

import jobs  # first, because it sets the number of devices

import cgx_jax

STEPS = ("nested_means", "two_axes", "hybrid_shards", "tensor_parallel")
CODECS = ("bits=2 bucket=64", "bits=4 error-feedback=f32", "codec=ternary", "codec=natural",
          "codec=randk density=0.1 error-feedback=int8", "bits=4 algorithm=ring", "bits=4 back-codec=natural",
          "codec=cast format=nvfp4", "bits=4 rotate=hadamard")
# These options include every kind that may be encoded, and tensors of any size.
EVERYTHING = "kinds=gradient,weight,activation min-elements=1 min-rank=0"


# Some steps get codecs that need the names of axes, or tell directions apart.
MORE = {"hybrid_shards": ("bits=2 along='device<gradient=bits=8 weight=bits=8> host<gradient=bits=4>'",),
        "tensor_parallel": ("activation='bits=8 bucket=row' activation-gradient='bits=4 bucket=row' gradient=bits=4",)}


@jobs.needs_run
class MeshTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_ranks_agree(self):
        for name in STEPS:
            module, (step, state, batch) = jobs.load_step(name)
            folder = self.folder / name
            program = cgx_jax.export_step(step, state, batch, folder)
            cgx_jax.write_batches(folder / "data.safetensors", batch, name=jobs.parameters(step)[1])
            for codec in CODECS + MORE.get(name, ()):
                with self.subTest(step=name, codec=codec):
                    jobs.run("CGX_OPT", program, f"--cgx-compress={codec} {EVERYTHING}", "-o", folder / "step.cgx.mlir")
                    _, report = jobs.train_in_cgx(folder / "step.cgx.mlir", folder, module.RANKS, 6,
                                                  folder / "state.safetensors", folder / "data.safetensors")
                    self.assertEqual(report["disagreements"], [])
                    self.assertGreater(report["totals"]["ratio"], 1, "nothing was encoded")


if __name__ == "__main__":
    unittest.main()
