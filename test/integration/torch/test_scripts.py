"""Training scripts that do not mention cgx, as people write them for DistributedDataParallel, with two added lines per
model: gradients that are accumulated, unused and tied layers, half precision, several models, uneven batches,
convolutions in channels_last, a language model, sparse embeddings, compiled modules."""

import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

import ranks as job_ranks
from ranks import PACKAGE, torch

FOLDER = job_ranks.FOLDER / "scripts"
MODEL = re.compile(r"^(\w+) = DistributedDataParallel\(.*\)$", re.M)
# Each entry is a script, with (steps that communicate, layers at 4 bits) for each of its models.
_IN_A_BLOCK = ("self_attn.in_proj_weight", "self_attn.out_proj.weight", "linear1.weight", "linear2.weight")
SCRIPTS = {"accumulate": {"model": (20, {"0.weight", "2.weight", "4.weight"})},
           "adversarial": {"generator": (20, {"0.weight", "2.weight"}), "critic": (20, {"0.weight"})},
           "autocast": {"model": (20, {"2.weight", "4.weight"})},
           "channels_last": {"model": (20, {"block.weight", "head.weight"})},
           "compiled_inside": {"model": (20, {"0.weight", "2.weight", "4.weight"})},
           "language_model": {"model": (20, {"embed.weight", "place",
                                             *(f"layers.layers.{index}.{name}" for index in range(2) for name in _IN_A_BLOCK)})},
           "sparse_embedding": {"model": (20, {"dense.0.weight", "dense.2.weight", "dense.4.weight"})},
           "static_graph": {"model": (20, {"enter.weight", "twice.weight", "leave.weight"})},
           "two_models": {"teacher": (10, {"0.weight", "2.weight", "4.weight"}), "student": (20, {"0.weight", "2.weight"})},
           "uneven": {"model": (20, {"0.weight", "2.weight", "4.weight"})},
           "unused": {"model": (20, {"enter.weight", "leave.weight", *(f"branches.{index}.weight" for index in range(3))})},
           "zero_optimizer": {"model": (20, {"0.weight", "2.weight", "4.weight"})}}
SAYS = """
import hashlib, json
print(json.dumps({{name: {{"layers": {{layer["layer"]: layer["codec"] for layer in state.report("json")["layers"]}}, "counters": state.telemetry(),
                         "bits": hashlib.sha256(b"".join(each.detach().numpy().tobytes() for each in model.parameters())).hexdigest()}}
                  for name, model, state in [{models}]}}))
"""


def with_cgx(source, options):
    """Returns the script with two more lines after each model, and code for the test at its end."""
    lines = rf"\g<0>\n\1_state = cgx_torch.state(\1, {options})\n\1.register_comm_hook(\1_state, cgx_torch.hook)"
    names = MODEL.findall(source)
    assert names, "the script has no model"
    return "import cgx_torch\n" + MODEL.sub(lines, source) + SAYS.format(
        models=", ".join(f"({name!r}, {name}, {name}_state)" for name in names))


def run(script, compresses, ranks=2, options="bits=4"):
    """Returns the output of the ranks."""
    source = (FOLDER / f"{script}.py").read_text()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{script}.py"
        path.write_text(with_cgx(source, options) if compresses else source)
        done = job_ranks.run(lambda rank, port: [path], ranks, timeout=400,
                             environment={"PYTHONPATH": os.pathsep.join([str(FOLDER), str(PACKAGE)])})
    for each in done:
        assert job_ranks.succeeded(each, plain=not compresses), f"{each.code}: {each.said[-3000:]}"
    return [each.printed for each in done]


def loss_of(printed):
    return float(re.search(r"^loss ([\d.]+)$", printed, re.M).group(1))


@unittest.skipUnless(torch, job_ranks.NO_TORCH)
@unittest.skipUnless(job_ranks.HAS_LIBRARIES, job_ranks.NO_LIBRARIES)
class ScriptsTest(unittest.TestCase):
    def test_two_lines_more_compress_and_train_alike(self):
        for script, models in SCRIPTS.items():
            with self.subTest(script=script):
                if script == "compiled_inside" and not hasattr(torch, "compile"):
                    self.skipTest(f"torch {torch.__version__} has no torch.compile")
                plain, ours = run(script, compresses=False), run(script, compresses=True)
                self.assertAlmostEqual(loss_of(ours[0]), loss_of(plain[0]), delta=0.1 * loss_of(plain[0]) + 0.02)
                said = [json.loads(printed.splitlines()[-1]) for printed in ours]
                self.assertEqual(said[0].keys(), models.keys())
                for name, (steps, layers) in models.items():
                    model = said[0][name]
                    self.assertEqual(model["counters"]["steps"], steps)
                    self.assertEqual({layer for layer, codec in model["layers"].items() if "quantize bits=4" in codec}, layers)
                    self.assertGreater(model["counters"]["raw_bytes"], 4 * model["counters"]["wire_bytes"])
                    self.assertEqual(len({each[name]["bits"] for each in said}), 1, f"{name}: ranks hold different parameters")

    def test_sparse_gradients_are_those_of_ddp(self):
        plain, = {loss_of(printed) for printed in run("sparse_embedding", compresses=False)}
        ours, = {loss_of(printed) for printed in run("sparse_embedding", compresses=True, options="codec='identity'")}
        self.assertAlmostEqual(ours, plain, delta=1e-5)

    def test_what_shards_parameters_is_refused_in_words(self):
        sys.path[:0] = [str(PACKAGE)]
        import cgx_torch

        class FullyShardedDataParallel(torch.nn.Module):
            """A class with the name of torch's, which torch 1.13 cannot import under Python 3.11."""

        model = FullyShardedDataParallel()
        with self.assertRaisesRegex(TypeError, "expected a DistributedDataParallel.*got FullyShardedDataParallel"):
            cgx_torch.state(model)
        with self.assertRaisesRegex(TypeError, "FullyShardedDataParallel hands its hook flat gradients"):
            cgx_torch.hook(None, torch.zeros(4), torch.zeros(2))


if __name__ == "__main__":
    unittest.main()
