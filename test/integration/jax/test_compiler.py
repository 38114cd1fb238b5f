"""cgx-opt finds the gradients, and only these, in steps as JAX users write them."""

import json
import pathlib
import tempfile
import unittest

import jobs  # first, because it sets the number of devices

import jax

import cgx_jax

# Any size may be compressed, so that a small test shows the kind of each layer.
COMPRESS = "--cgx-compress=codec=quantize bits=4 bucket=128 rounding=stochastic min-elements=1"

DENSE = {"params/l0/w", "params/l1/w"}
# The gradients of these layers are to be compressed. Everything else stays uncompressed: losses, vectors, norms, batch
# statistics, activations and weights.
COMPRESSED = {
    "accumulation": DENSE,
    "adversarial": {f"{network}/{layer}/w" for network in ("discriminator", "generator") for layer in ("l0", "l1")},
    "auto_and_manual": {"params/up", "params/down"},
    "auto_explicit": {"params/w0", "params/w1"},
    "auto_fsdp": DENSE,
    "auto_fsdp_tp": {"params/up", "params/down"},
    "auto_hybrid": {"params/w0", "params/w1"},
    "auto_scanned": {"params/v", "params/w", "params/head"},
    "auto_sharded": DENSE,
    "auto_update": {"params/w0", "params/w1"},
    "autodiff_sum": DENSE,
    "batch_norm": {"params/w0", "params/w1"},
    "bf16_params": {"master/l0/w", "master/l1/w"},
    "codebook": {"params/encoder", "params/decoder"},
    "conditional": DENSE,
    "contrastive": {f"params/{encoder}/{layer}/w" for encoder in ("image", "text") for layer in ("l0", "l1")},
    "conv_net": {"params/conv0", "params/conv1", "params/head"},
    "deep_equilibrium": {"params/layer/w", "params/layer/u", "params/head"},
    "diffusion": DENSE,
    "dropout": DENSE,
    "experts": {"params/input", "params/router", "params/output"},
    "experts_top2": {"params/input", "params/router0", "params/router1", "params/output",
                     *(f"experts/layer{i}/{end}" for i in (0, 1) for end in ("up", "down"))},  # over the other axis
    "flattened": DENSE,
    "fsdp": {"params/w0", "params/w1"},
    "graph_network": {"params/output"} | {f"params/{layer}/{part}" for layer in ("first", "second")
                                          for part in ("edge", "node")},
    "half_sums": DENSE,
    "hybrid_shards": {"params/w0", "params/w1"},
    "loss_scaling": DENSE,
    "low_rank_adapters": {f"adapters/{weight}/{factor}" for weight in ("w0", "w1") for factor in ("a", "b")},
    "music_tagger": {"weights/notes", "weights/bars/0", "weights/tags/0"},
    "nested_means": DENSE,
    "off_policy": DENSE,
    "one_rank": set(),  # nothing is communicated
    "optax_clip": DENSE,
    "optax_flatten": DENSE | {"params/l2/w"},
    "optax_hyperparams": DENSE,
    "orthogonalized": DENSE,
    "own_slices": DENSE,
    "pipeline": set(),  # activations between stages, not gradients
    "pipeline_1f1b": set(),
    "pmap_step": DENSE,
    "private": DENSE,
    "psum_gradients": DENSE,
    "raveled_adam": DENSE | {"params/l2/w"},
    "raveled_padded": DENSE | {"params/l2/w"},
    "recurrent": {"params/words", "params/input", "params/hidden"},
    "ring_attention": {"params/query", "params/key", "params/value", "params/output"},
    "scanned_fsdp": {"params/stack/w", "params/stack/v", "params/head"},
    "scanned_layers": {"params/stack", "params/head"},
    "schedule_free": DENSE,
    "selective_scan": {"params/embed", "params/input", "params/conv", "params/step",
                       "params/selection", "params/decay", "params/output"},
    "sequence_parallel": {"params/embed", "params/heads", "params/joined", "params/up", "params/down"},
    "sharpness_aware": DENSE | {"params/l0/w#2", "params/l1/w#2"},  # the first ascent
    "tensor_parallel": {"params/up", "params/down"},
    "tied_embeddings": {"params/embed", "params/w"},
    "two_axes": DENSE,
    "varying_params": DENSE,
    "zero_update": {"params/w"},
}


class CompilerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def report(self, program):
        """Returns the report of cgx-opt for a program that it compressed: one entry per operand."""
        path = program.with_suffix(".json")
        jobs.run("CGX_OPT", program, COMPRESS, f"--cgx-report=format=json output={path}", "-o", "/dev/null")
        return json.loads(path.read_text())["layers"]

    def check(self, name, program):
        layers = self.report(program)
        compressed = {row["layer"] for row in layers if "identity" not in row["codec"]}
        self.assertEqual(compressed, COMPRESSED[name])
        for row in layers:
            self.assertTrue("identity" not in row["codec"] or row["exact_reason"], f"{row} gives no reason")

    def test_every_step_has_an_expectation(self):
        self.assertEqual(set(jobs.step_names()), set(COMPRESSED))

    @jobs.needs_opt
    def test_gradients_are_found_in_every_step(self):
        for name in COMPRESSED:
            with self.subTest(name):
                _, (step, state, batch) = jobs.load_step(name)
                self.check(name, cgx_jax.export_step(step, state, batch, self.folder / name))

    @jobs.needs_opt
    def test_both_edges_of_a_pipeline_in_one_loop(self):
        module, (step, state, batch) = jobs.load_step("pipeline_1f1b")
        rows = {row["layer"]: row for row in self.report(cgx_jax.export_step(step, state, batch, self.folder / "step"))}
        # Nothing is sent in bubbles, and never over the edge from the last stage to the first, or back.
        sent = module.MICROBATCHES * 4 * module.WIDTH * 4
        for edge, kind, silent in (("forward", "activation", 3), ("backward", "activation_gradient", 0)):
            row = rows[f"pipeline/{edge}"]
            self.assertEqual((row["kind"], row["stages"]), (kind, 4))
            self.assertEqual(row["raw_bytes_by_rank"], [0 if rank == silent else sent for rank in range(4)])

    @jobs.needs_opt
    def test_the_generic_form_is_the_same_program(self):
        for name in ("autodiff_sum", "fsdp", "music_tagger"):
            with self.subTest(name):
                _, (step, state, batch) = jobs.load_step(name)
                program = self.folder / f"{name}.mlir"
                program.write_text(jax.jit(step, donate_argnums=0).lower(state, batch).compiler_ir("stablehlo")
                                   .operation.get_asm(print_generic_op_form=True, enable_debug_info=True))
                self.check(name, program)

    @jobs.needs_opt
    def test_names_survive_without_debug_info(self):
        _, (step, state, batch) = jobs.load_step("optax_clip")
        program = self.folder / "bare.mlir"
        program.write_text(jax.jit(step, donate_argnums=0).lower(state, batch).as_text())
        self.check("optax_clip", program)

    @jobs.needs_opt
    def test_older_texts_are_taken(self):
        """Tests pmap before JAX 0.8: per-replica programs, without sdy, channels or, in 0.7, names."""
        for text in sorted((jobs.FOLDER / "texts").glob("*.mlir")):
            with self.subTest(text.name):
                program = self.folder / text.name
                program.write_text(text.read_text())
                compressed = [row for row in self.report(program) if "identity" not in row["codec"]]
                self.assertEqual([row["kind"] for row in compressed], ["gradient"] * 2)
                if "0.5" in text.name:
                    self.assertEqual({row["layer"] for row in compressed}, DENSE)

    @jobs.needs_opt
    def test_a_step_whose_communication_is_left_to_a_partitioner_is_refused(self):
        _, (step, state, batch) = jobs.load_step("auto_sharded")
        program = self.folder / "step.mlir"
        program.write_text(step.lower(state, batch).as_text(debug_info=True))
        with self.assertRaisesRegex(jobs.Refused, "the step has no collective.*jax.shard_map"):
            self.report(program)


if __name__ == "__main__":
    unittest.main()
