"""Tests of cgx_jax itself: the files that it writes, and the errors that it raises."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings

import jobs  # first, because it sets the number of devices

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

import cgx_jax
from cgx_jax import output, signature


def double(state, batch):
    return {"w": state["w"] + batch["x"].sum()}, {"loss": batch["x"].sum()}


STATE = {"w": np.ones((2, 3), np.float32)}
BATCH = {"x": np.ones(4, np.float32)}


@jax.tree_util.register_pytree_node_class
class Unnamed:
    """A tree without names for its children, like equinox's State."""

    def __init__(self, *children):
        self.children = children

    def tree_flatten(self):
        return self.children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class SafetensorsTest(FolderTest):
    def test_every_element_type_survives(self):
        dtypes = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", ml_dtypes.bfloat16,
                  ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
        tensors = {str(np.dtype(d)): np.arange(6).reshape(2, 3).astype(d) for d in dtypes}
        tensors |= {"scalar": np.float32(3), "empty": np.zeros((0, 7), np.int32), "f4 big-endian": np.ones(2, ">f4")}
        cgx_jax.save(self.folder / "t", tensors, {"who": "test"})
        loaded = cgx_jax.load(self.folder / "t")
        self.assertEqual(list(loaded), list(tensors))
        for name, tensor in tensors.items():
            self.assertEqual(loaded[name].shape, np.shape(tensor), name)
            self.assertEqual(loaded[name].dtype, tensor.dtype.newbyteorder("<"), name)
            np.testing.assert_array_equal(loaded[name], tensor, name)

    def test_types_without_a_name_are_bytes(self):
        bits = np.arange(256, dtype=np.uint8)
        cgx_jax.save(self.folder / "t", {"i4": np.arange(-8, 8).astype(ml_dtypes.int4),
                                         "u4": np.arange(16).astype(ml_dtypes.uint4),
                                         "f8": bits.view(ml_dtypes.float8_e3m4)})
        loaded = cgx_jax.load(self.folder / "t")
        self.assertEqual([loaded[name].dtype for name in ("i4", "u4", "f8")], [np.int8, np.uint8, np.uint8])
        np.testing.assert_array_equal(loaded["i4"], np.arange(-8, 8))
        np.testing.assert_array_equal(loaded["u4"], np.arange(16))
        np.testing.assert_array_equal(loaded["f8"], bits)

    def test_tensors_begin_aligned_and_lie_without_holes(self):
        cgx_jax.save(self.folder / "t", {"a": np.zeros(3, np.uint8), "b": np.ones(5, np.float32)})
        content = (self.folder / "t").read_bytes()
        header = int.from_bytes(content[:8], "little")
        self.assertEqual(header % 8, 0)
        self.assertEqual(len(content), 8 + header + 3 + 20)

    def test_complex_numbers_are_pairs_of_real_ones(self):
        values = np.array([[1 + 2j, 3 - 4j, 5j]], np.complex64)
        cgx_jax.save(self.folder / "t", {"spectrum": values})
        loaded = cgx_jax.load(self.folder / "t")["spectrum"]
        self.assertEqual((loaded.shape, loaded.dtype), ((1, 3, 2), np.float32))
        np.testing.assert_array_equal(loaded[..., 0] + 1j * loaded[..., 1], values)

    def test_texts_are_refused_by_name(self):
        with self.assertRaisesRegex(TypeError, "spectrum: expected .* got elements of <U1"):
            cgx_jax.save(self.folder / "t", {"spectrum": np.array(["a"])})
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_truncated_files_are_refused(self):
        cgx_jax.save(self.folder / "t", {"a": np.ones(5, np.float32)})
        content = (self.folder / "t").read_bytes()
        for length in (0, 7, 20, len(content) - 1):
            (self.folder / "t").write_bytes(content[:length])
            with self.assertRaises(ValueError, msg=f"{length} bytes"):
                cgx_jax.load(self.folder / "t")


class OutputTest(FolderTest):
    def test_links_stay_links_and_files_keep_their_permissions(self):
        target, link, dangling = self.folder / "target", self.folder / "link", self.folder / "dangling"
        target.write_bytes(b"old")
        target.chmod(0o640)
        link.symlink_to("target")
        dangling.symlink_to("made")
        output.write(link, [b"n", b"ew"])
        output.write(dangling, [b"made"])
        self.assertTrue(link.is_symlink() and dangling.is_symlink())
        self.assertEqual((target.read_bytes(), target.stat().st_mode & 0o777), (b"new", 0o640))
        self.assertEqual(sorted(os.listdir(self.folder)), ["dangling", "link", "made", "target"])

    def test_new_folders_are_for_their_owner_whatever_the_mask(self):
        inner = self.folder / "a" / "b"
        mask = os.umask(0o777)
        try:
            output.make_folder(inner)
        finally:
            os.umask(mask)
        self.assertEqual([path.stat().st_mode & 0o777 for path in (inner.parent, inner)], [0o700, 0o700])
        inner.chmod(0o750)
        output.make_folder(inner)
        self.assertEqual(inner.stat().st_mode & 0o777, 0o750)

    def test_a_pipe_is_written_to(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
        output.write(pipe, [b"text"])
        self.assertEqual(reader.communicate(timeout=60)[0], b"text")
        self.assertTrue(pipe.is_fifo())

    def test_what_fails_on_the_way_leaves_nothing(self):
        def pieces():
            yield b"half"
            raise KeyboardInterrupt
        (self.folder / "a").write_bytes(b"old")
        with self.assertRaises(KeyboardInterrupt):
            output.write(self.folder / "a", pieces())
        self.assertEqual(os.listdir(self.folder), ["a"])
        self.assertEqual((self.folder / "a").read_bytes(), b"old")


class SignatureTest(unittest.TestCase):
    def test_names_are_found_in_line_and_behind_aliases(self):
        text = r'''
#loc3 = loc("batch['x, y']")
  func.func public @main(%arg0: tensor<2x!a.b<c>> {mhlo.sharding = "{devices=[4]<=[4]}", jax.buffer_donor = true} loc("state['a\22b']"), %arg1: tensor<i32> loc(#loc3), %arg2: tensor<f32>) -> (tensor<f32> {jax.result_info = ""}) {'''
        self.assertEqual([argument.name for argument in signature.main_arguments(text)],
                         ["state['a\"b']", "batch['x, y']", None])

    def test_a_program_without_arguments_has_none(self):
        self.assertEqual(signature.main_arguments("func.func public @main() -> (tensor<f32>) {"), [])


class ExportTest(FolderTest):
    def export(self, step=double, state=None, batch=None, **options):
        return cgx_jax.export_step(step, STATE if state is None else state, batch or BATCH, self.folder, **options)

    def test_tensors_have_the_names_of_the_arguments(self):
        program = self.export()
        names = [argument.name for argument in signature.main_arguments(program.read_text())]
        self.assertEqual(names, ["state['w']", "batch['x']"])
        self.assertEqual(list(cgx_jax.load(self.folder / "state.safetensors")), ["state['w']"])

    def test_children_without_keys_have_the_numbers_that_jax_gives_them(self):
        def step(state, batch):
            return {"norm": Unnamed(state["norm"].children[0] + batch["x"].sum(), state["norm"].children[1] + 1)}, {}

        self.export(step, {"norm": Unnamed(np.float32(1), np.ones(3, np.float32))})
        self.assertEqual(list(cgx_jax.load(self.folder / "state.safetensors")), ["state['norm'][0]", "state['norm'][1]"])

    def test_the_text_is_what_jax_prints(self):
        jitted = jax.jit(double, donate_argnums=0)
        program = self.export(jitted, full_paths=True)
        self.assertEqual(program.read_text(), jitted.lower(STATE, BATCH).as_text(debug_info=True))

    def test_no_folder_of_this_machine_is_exported(self):
        def unseen(state, batch):  # not lowered before, so it has its paths
            return double(state, batch)
        text = self.export(unseen).read_text()
        self.assertIn('"test_package.py"', text)
        self.assertNotIn(str(jobs.FOLDER), text)

    def test_what_was_written_is_said_with_the_next_command(self):
        for options, said in (({}, r"^cgx: wrote \S+step\.mlir \(1 rank\) and \S+state\.safetensors \(1 tensors?, .*next: cgx run \S+step\.mlir "
                                   r"--compress bits=4 --state \S+state\.safetensors --data "),
                              ({"name": "eval", "write_state": False}, r"^cgx: wrote \S+eval\.mlir .*--eval \S+eval\.mlir --eval-data "),
                              ({"quiet": True}, "^$")):
            with contextlib.redirect_stderr(io.StringIO()) as error, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.export(**options)
            self.assertRegex(error.getvalue(), said)

    def test_a_plain_function_donates_its_state(self):
        self.assertIn("tf.aliasing_output", self.export().read_text())
        self.assertNotIn("tf.aliasing_output", self.export(donate=False).read_text())

    def test_an_evaluation_step_leaves_the_state_alone(self):
        program = self.export(lambda state, batch: batch["x"].mean(), name="eval", donate=False, write_state=False)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["eval.mlir"])
        self.assertEqual(program.name, "eval.mlir")

    def test_leaves_that_the_step_ignores_stay_in_the_state(self):
        self.export(lambda state, batch: ({**state, "w": state["w"] + batch["x"].sum()}, 0.0),
                    {**STATE, "note": np.zeros(3, np.int32)})
        self.assertIn("state['note']", cgx_jax.load(self.folder / "state.safetensors"))

    def test_random_keys_are_written_as_bits(self):
        def step(state, batch):
            key, _ = jax.random.split(state["key"])
            return {"key": key}, {"loss": batch["x"].sum()}
        self.export(step, {"key": jax.random.key(7)})
        key = cgx_jax.load(self.folder / "state.safetensors")["state['key']"]
        np.testing.assert_array_equal(key, jax.random.key_data(jax.random.key(7)))

    def test_bfloat16_stays_bfloat16(self):
        self.export(state={"w": jnp.ones((2, 3), jnp.bfloat16)},
                    step=lambda state, batch: ({"w": state["w"] * 2}, batch["x"].sum()))
        self.assertEqual(cgx_jax.load(self.folder / "state.safetensors")["state['w']"].dtype, ml_dtypes.bfloat16)

    def test_a_batch_may_be_shapes_alone(self):
        self.export(batch={"x": jax.ShapeDtypeStruct((4,), np.float32)})

    def test_leaves_that_are_no_arrays_are_refused_by_name(self):
        with self.assertRaisesRegex(cgx_jax.ExportError, r"state\['act'\]: expected an array, got function"):
            self.export(state={**STATE, "act": lambda x: x})

    def test_steps_of_other_than_two_arguments_are_refused(self):
        with self.assertRaisesRegex(cgx_jax.ExportError, r"two arguments.*got step\(params, opt, batch\)"):
            def step(params, opt, batch):
                return params, opt, batch
            self.export(step)
        with self.assertRaisesRegex(cgx_jax.ExportError, "expected a function"):
            self.export("step")

    def test_pmap_alone_is_refused_with_the_way_out(self):
        parallel = jax.pmap(lambda state, batch: ({"w": state["w"] * 2}, batch["x"].sum()), devices=jax.devices()[:2])
        arguments = {"w": np.ones((2, 3), np.float32)}, {"x": np.ones((2, 4), np.float32)}
        if "flat_args[" not in parallel.lower(*arguments).as_text(debug_info=True):
            self.skipTest(f"JAX {jax.__version__} keeps the names, or prints none")
        with self.assertRaisesRegex(cgx_jax.ExportError, r"Export a function around it: lambda state, batch"):
            self.export(parallel, *arguments)

    def test_weak_types_are_warned_of(self):
        with self.assertWarnsRegex(UserWarning, r"state\['rate'\] is weakly typed \(0.5\)"):
            self.export(lambda state, batch: ({"rate": state["rate"] * batch["x"].sum()}, 0.0), {"rate": 0.5})

    def test_a_state_that_does_not_come_back_is_warned_of(self):
        with self.assertWarnsRegex(UserWarning, "the step returns no tree of the structure.* of state"):
            self.export(lambda state, batch: ({"w": state["w"].sum()}, batch["x"].sum()))

    def test_what_a_step_writes_but_does_not_read_stays_part_of_the_state(self):
        """Haiku's BatchNorm computes an average from others in its state."""
        def step(state, batch):
            return {"w": state["w"] + batch["x"].sum(), "mean": batch["x"].mean()}, 0.0
        state = {"w": np.ones(3, np.float32), "mean": np.float32(0)}
        names = [argument.name for argument in signature.main_arguments(self.export(step, state).read_text())]
        self.assertEqual(names, ["state['mean']", "state['w']", "batch['x']"])
        with self.assertWarnsRegex(UserWarning, r"writes state\['mean'\] without reading it.*keep_unused=True"):
            self.export(jax.jit(step), state)

    def test_a_sound_step_warns_of_nothing(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            _, arguments = jobs.load_step("psum_gradients")
            self.export(*arguments)


class BatchesTest(FolderTest):
    def test_names_and_samples_are_kept(self):
        cgx_jax.write_batches(self.folder / "d", {"x": np.ones((10, 3), np.float32), "y": np.arange(10, dtype=np.uint8)})
        data = cgx_jax.load(self.folder / "d")
        self.assertEqual({name: (a.shape, a.dtype.name) for name, a in data.items()},
                         {"batch['x']": ((10, 3), "float32"), "batch['y']": ((10,), "uint8")})

    def test_different_numbers_of_samples_are_refused(self):
        with self.assertRaisesRegex(ValueError, r"one number of samples, got \{\"batch\['x'\]\": 10, .*: 9\}"):
            cgx_jax.write_batches(self.folder / "d", {"x": np.ones((10, 3)), "y": np.ones(9)})

    def test_nothing_is_refused(self):
        with self.assertRaisesRegex(ValueError, "at least one array"):
            cgx_jax.write_batches(self.folder / "d", {})

    def written(self, batch):
        cgx_jax.write_batches(self.folder / "d", batch)
        content = (self.folder / "d").read_bytes()
        header = json.loads(content[8:8 + int.from_bytes(content[:8], "little")])
        marks = {kind: json.loads(names) for kind, names in header.get("__metadata__", {}).items()}
        return cgx_jax.load(self.folder / "d"), marks

    def test_elements_get_the_types_of_jax(self):
        data, _ = self.written({"f8": np.ones(3), "i8": np.arange(3), "u8": np.arange(3, dtype=np.uint64),
                                "f2": np.ones(3, np.float16), "b": np.ones(3, bool), "u1": np.ones(3, np.uint8),
                                "bf": jnp.ones(3, jnp.bfloat16), "big": np.ones(3, ">f8")})
        self.assertEqual({name[7:-2]: array.dtype.name for name, array in data.items()},
                         {"f8": "float32", "i8": "int32", "u8": "uint32", "f2": "float16", "b": "bool", "u1": "uint8",
                          "bf": "bfloat16", "big": "float32"})
        jax.config.update("jax_enable_x64", True)
        self.addCleanup(jax.config.update, "jax_enable_x64", False)
        data, _ = self.written({"f8": np.ones(3), "i8": np.full(3, 2**40)})
        self.assertEqual({array.dtype.name for array in data.values()}, {"float64", "int64"})

    def test_whole_numbers_that_jax_would_cut_are_refused(self):
        with self.assertRaisesRegex(ValueError, r"batch\['y'\]: expected int64 that fits int32, .* from 0 to 1099511627776"):
            self.written({"y": np.array([0, 2**40])})

    def test_what_is_no_number_is_refused_with_what_would_be(self):
        for value, part in ((["a", "b"], "got a list: numpy.asarray"), (np.array(["a"]), "got <U1.*encode them"),
                            (np.array([1, None]), r"got object\[2\], an array of objects"), ("abc", "got str"),
                            (np.ones(3, complex), r"got complex128\[3\], complex.* two arrays"), ([1, 2], "got a list"),
                            (np.array(["2020-01-01"], "M8[D]"), "dates")):
            with self.assertRaisesRegex(TypeError, r"batch\['y'\]: expected .*" + part):
                self.written({"y": value})

    def test_what_has_no_samples_is_marked(self):
        keys = jax.random.split(jax.random.key(3), 7)
        data, marks = self.written({
            "x": np.ones((10, 3)), "scale": 0.5, "weights": cgx_jax.constant(np.ones(4)), "key": cgx_jax.per_step(keys),
            "lr": cgx_jax.per_step(lambda step: 0.1 / (step + 1), steps=7),
            "more": cgx_jax.constant({"a": np.float32(1), "b": (np.arange(2),)})})
        self.assertEqual(marks, {
            "cgx.per_step": ["batch['key']", "batch['lr']"],
            "cgx.constant": ["batch['more']['a']", "batch['more']['b'][0]", "batch['scale']", "batch['weights']"]})
        np.testing.assert_array_equal(data["batch['key']"], jax.random.key_data(keys))
        np.testing.assert_array_equal(data["batch['lr']"], np.float32(0.1 / np.arange(1.0, 8.0)))
        self.assertEqual(data["batch['scale']"].shape, ())

    def test_tuples_and_lists_of_arrays_are_trees(self):
        data, marks = self.written(([np.ones((5, 2)), cgx_jax.per_step(np.ones(3))], np.arange(5)))
        self.assertEqual(sorted(data), ["batch[0][0]", "batch[0][1]", "batch[1]"])
        self.assertEqual(marks, {"cgx.per_step": ["batch[0][1]"]})

    def test_marks_that_do_not_fit_are_refused(self):
        with self.assertRaisesRegex(ValueError, r"one number of samples, got .*marked with cgx_jax.per_step"):
            self.written({"x": np.ones((10, 3)), "lr": np.ones(9)})
        with self.assertRaisesRegex(ValueError, r"batch\['lr'\]: expected a leading dimension of steps, got a scalar"):
            self.written({"lr": cgx_jax.per_step(0.5)})
        with self.assertRaisesRegex(ValueError, r"batch\['lr'\]: expected the number of steps to call a function for"):
            self.written({"lr": cgx_jax.per_step(lambda step: step)})


class RestoreTest(FolderTest):
    def test_a_saved_state_comes_back(self):
        state = {"params": {"w": jnp.arange(6.0).reshape(2, 3), "z": jnp.array([1 + 2j], jnp.complex64)},
                 "count": jnp.int32(7), "key": jax.random.key(3)}
        path = self.folder / "state.safetensors"
        cgx_jax.save(path, {name: cgx_jax.trees.to_numpy(leaf)
                            for name, leaf in cgx_jax.trees.named_leaves(state, "train_state").items()})
        again = cgx_jax.restore(path, like=state)
        self.assertEqual(jax.tree.structure(again), jax.tree.structure(state))
        for old, new in zip(jax.tree.leaves(state), jax.tree.leaves(again)):
            self.assertEqual(new.dtype, old.dtype)
            np.testing.assert_array_equal(cgx_jax.trees.to_numpy(new), cgx_jax.trees.to_numpy(old))

    def test_another_state_is_refused(self):
        path = self.folder / "state.safetensors"
        cgx_jax.save(path, {"state['w']": np.zeros((2, 3), np.float32)})
        with self.assertRaisesRegex(ValueError, r"state\['w'\]\['b'\]: expected float32 of shape \(3,\), which the file does not have"):
            cgx_jax.restore(path, like={"w": {"b": np.zeros(3)}})
        with self.assertRaisesRegex(ValueError, r"expected float32 of shape \(3, 2\), got float32 of shape \(2, 3\)"):
            cgx_jax.restore(path, like={"w": np.zeros((3, 2), np.float32)})

    def test_every_tensor_that_differs_is_named(self):
        path = self.folder / "state.safetensors"
        cgx_jax.save(path, {"state['a']": np.zeros((2, 3), np.float32), "state['b']": np.zeros(4, np.float32),
                            "state['old']": np.zeros(5, np.int32)})
        like = {"a": np.zeros((3, 2), np.float32), "b": np.zeros(4, np.int32), "new": np.zeros((), np.float32), "key": jax.random.key(0)}
        with self.assertRaises(ValueError) as raised:
            cgx_jax.restore(path, like=like)
        for line in ("5 tensors differ:", "state['a']: expected float32 of shape (3, 2), got float32 of shape (2, 3)",
                     "state['b']: expected int32 of shape (4,), got float32 of shape (4,)",
                     "state['new']: expected float32 of shape (), which the file does not have",
                     "state['key']: expected uint32 of shape (2,), which the file does not have",
                     "state['old']: int32 of shape (5,) in the file, which 'like' does not have"):
            self.assertIn(line, str(raised.exception))


if __name__ == "__main__":
    unittest.main()
