"""cgx-run --device: the same step on the device of a PJRT plugin, which trains as native code does."""

import json
import math
import os
import pathlib
import platform
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest

from harness import CGX_RUN, FIXTURES, PATIENCE, RunTest, children, read_safetensors

EXAMPLES = pathlib.Path(os.environ["CGX_EXAMPLES"])
CGX_COMPILE = os.environ["CGX_COMPILE"]
# As tools/setup --frameworks installs it, or as CGX_PJRT of who runs the tests names it.
PREFIX = pathlib.Path(os.environ["CGX_PYTHON"]).parent.parent
TIMEOUT = 10


def find_plugin():
    named = [pathlib.Path(path) for path in os.environ.get("CGX_PJRT", "").split(":") if path]
    return next(iter(named + sorted(PREFIX.glob("lib/python3*/site-packages/*/pjrt_c_api_cpu_plugin.so"))), None)


PLUGIN = find_plugin()
WHY_NOT = "there is no plugin: tools/setup --frameworks installs one, and CGX_PJRT names another"


def values(tensor):
    """Of floats, as numbers; of others, the bytes."""
    dtype, _, payload = tensor
    return list(struct.unpack(f"<{len(payload) // 4}f", payload)) if dtype == "F32" else payload


class DeviceTest(RunTest):
    def environment(self, **variables):
        return super().environment(**{"CGX_PJRT": PLUGIN or "", **variables})

    def command_of(self, example, *arguments):
        folder = EXAMPLES / example
        return [str(word) for word in (CGX_RUN, folder / "step.mlir", "--job", self.job, "--state", folder / "state.safetensors",
                                       "--data", folder / "train.safetensors", "--repeat", *arguments)]

    def call(self, command, code=0, **variables):
        result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=self.environment(**variables),
                                check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def train_example(self, example, device, *arguments, name=None):
        """Returns the report, what was saved and all that was said."""
        save, report = (self.folder / f"{name or device}.{suffix}" for suffix in ("safetensors", "json"))
        said = self.call(self.command_of(example, "--device", device, "--save", save, "--report", report, *arguments))
        return json.loads(report.read_text()), read_safetensors(save)[0], said

    def refuse_device(self, device, *arguments, code=1, **variables):
        return self.call(self.command_of("mlp-digits", "--steps", 2, "--device", device, *arguments), code, **variables).stderr

    def expect_equal_to_rounding(self, state, expected, delta):
        """The same tensors; parameters within a share of their norm. What codecs have rounded the other way, momenta
        show in full, parameters by the learning rate."""
        self.assertEqual(state.keys(), expected.keys())
        for name, tensor in expected.items():
            self.assertEqual(state[name][:2], tensor[:2])
            if tensor[0] != "F32":
                self.assertEqual(state[name], tensor, name)
            if tensor[0] != "F32" or "['params']" not in name or name.startswith("cgx."):
                continue
            ours, theirs = values(state[name]), values(tensor)
            self.assertLess(math.dist(ours, theirs), delta * math.hypot(*theirs) + 1e-6, name)


@unittest.skipUnless(PLUGIN, WHY_NOT)
class Training(DeviceTest):
    def test_losses_are_those_of_native_code_to_rounding_and_wire_bytes_are_equal(self):
        for example, options, steps, delta in (("mlp-digits", "bits=4", 40, 0.02), ("mlp-digits", "exclude=*", 40, 1e-4),
                                               ("transformer-lm", "bits=4 error-feedback=f32", 6, 0.02)):
            with self.subTest(example=example, options=options):
                arguments = ["--compress", options, "--steps", steps]
                native, expected, _ = self.train_example(example, "native", *arguments)
                report, state, _ = self.train_example(example, "cpu", *arguments)
                self.assertEqual(report["totals"]["wire_bytes_per_step"], native["totals"]["wire_bytes_per_step"])
                self.assertEqual(report["program"]["hash"], native["program"]["hash"])
                self.assertEqual(report["disagreements"], [])
                self.assertIsNotNone(report["state_hash"])
                for ours, theirs in zip(report["loss"]["per_step"], native["loss"]["per_step"]):
                    self.assertAlmostEqual(ours, theirs, delta=delta * 0.1)
                self.assertNotEqual(report["loss"]["per_step"][0], report["loss"]["per_step"][-1])
                self.expect_equal_to_rounding(state, expected, delta)

    def test_what_xla_takes_for_zero_is_zero_in_whichever_thread_a_step_goes_on(self):
        """A momentum without a gradient becomes denormal after some 800 steps, which XLA's threads flush."""
        report, state, _ = self.train_example("mlp-digits", "cpu", "--compress", "bits=4 error-feedback=f32", "--steps", 1200)
        self.assertEqual(report["disagreements"], [])
        momenta = [value for name, tensor in state.items() if "['momentum']" in name for value in values(tensor)]
        self.assertIn(0.0, momenta)  # of units that are silent
        self.assertEqual([value for value in momenta if 0 < abs(value) < 2.0**-126], [])

    def test_a_run_is_the_same_to_the_bit_each_time(self):
        runs = [self.train_example("mlp-digits", "cpu", "--compress", "bits=4", "--steps", 10)[1] for _ in range(2)]
        self.assertEqual(*runs)

    def test_a_checkpoint_of_either_goes_on_on_the_other(self):
        options = ["--compress", "bits=4 error-feedback=f32"]
        _, expected, _ = self.train_example("mlp-digits", "native", *options, "--steps", 20)
        for first, second in (("native", "cpu"), ("cpu", "native"), ("cpu", "cpu")):
            with self.subTest(first=first, second=second):
                self.train_example("mlp-digits", first, *options, "--steps", 10, name="half")
                save = self.folder / "whole.safetensors"
                command = self.command_of("mlp-digits", *options, "--device", second, "--until", 20, "--save", save)
                at = command.index("--state")
                said = self.call(command[:at] + ["--resume", str(self.folder / "half.safetensors")] + command[at + 2:]).stderr
                self.assertNotIn("another program", said)
                self.expect_equal_to_rounding(read_safetensors(save)[0], expected, 0.02)

    def test_a_run_that_went_on_is_the_one_that_was_interrupted(self):
        options = ["--compress", "bits=4 error-feedback=f32"]
        _, expected, _ = self.train_example("mlp-digits", "cpu", *options, "--steps", 20)
        self.train_example("mlp-digits", "cpu", *options, "--steps", 10, name="half")
        save = self.folder / "whole.safetensors"
        command = self.command_of("mlp-digits", *options, "--device", "cpu", "--until", 20, "--save", save)
        at = command.index("--state")
        self.call(command[:at] + ["--resume", str(self.folder / "half.safetensors")] + command[at + 2:])
        self.assertEqual(read_safetensors(save)[0], expected)

    def test_an_evaluation_runs_on_the_device_too(self):
        evaluation = ["--eval", EXAMPLES / "mlp-digits/eval.mlir", "--eval-data", EXAMPLES / "mlp-digits/validation.safetensors",
                      "--eval-every", 5, "--steps", 10]
        native, device = (self.train_example("mlp-digits", device, *evaluation)[0]["evaluations"] for device in ("native", "cpu"))
        self.assertEqual([each["steps"] for each in device], [5, 10])
        for ours, theirs in zip(device, native):
            self.assertAlmostEqual(ours["metrics"]["loss"], theirs["metrics"]["loss"], delta=1e-4)
            self.assertAlmostEqual(ours["metrics"]["accuracy"], theirs["metrics"]["accuracy"], delta=1e-2)

    def test_a_plugin_is_found_in_the_environment_that_is_active(self):
        packages = self.folder / "environment/lib/python3.11/site-packages"
        (packages / "some_cpu").mkdir(parents=True)
        (packages / "some_cpu/pjrt_c_api_cpu_plugin.so").symlink_to(PLUGIN.resolve())
        environment = {"CGX_PJRT": "", "VIRTUAL_ENV": packages.parents[2]}
        self.call(self.command_of("mlp-digits", "--steps", 2, "--device", "cpu"), **environment)
        shutil.copytree(packages / "some_cpu", packages / "other_cpu", symlinks=True)
        error = self.refuse_device("cpu", **environment)
        self.assertIn("expected one plugin for the device 'cpu', got", error)
        self.assertIn("other_cpu/pjrt_c_api_cpu_plugin.so", error)

    def test_the_doctor_lists_the_plugin_with_its_devices(self):
        said = self.call([str(pathlib.Path(CGX_RUN).parent / "cgx"), "doctor", "--no-measure"]).stdout
        self.assertRegex(said, r"(?m)^ok +devices +.*\(PJRT 0\.\d+\): \d+ x cpu, platform cpu, with FFI")

    def test_a_path_names_a_plugin(self):
        self.call(self.command_of("mlp-digits", "--steps", 2, "--device", PLUGIN.resolve()), CGX_PJRT="")

    def test_ranks_of_one_job_compute_on_one_kind_of_device(self):
        ranks = [subprocess.Popen(self.command_of("mlp-digits", "--steps", 5, "--device", "native" if rank == 1 else "cpu",
                                                  "--timeout", 120),
                                  env=self.environment(RANK=rank, WORLD_SIZE=4), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True) for rank in range(4)]
        errors = [process.communicate(timeout=PATIENCE)[1] for process in ranks]
        self.assertTrue(all(process.returncode == 1 for process in ranks), errors)
        self.assertRegex(errors[0], r"--device is .*PJRT 0\.\d+.* on ranks 0, 2 and 3; not given on rank 1: give all ranks the same")

    def test_a_killed_rank_is_named_and_the_others_stop(self):
        process = subprocess.Popen(self.command_of("mlp-digits", "--steps", 10**7, "--device", "cpu", "--timeout", TIMEOUT,
                                                   "--log-every", 1, "--compress", "bits=4"),
                                   env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        for line in process.stderr:
            if " 3/1" in line:
                break
        ranks = children(process.pid)
        self.assertEqual(len(ranks), 4)
        begin = time.monotonic()
        os.kill(ranks[1], signal.SIGKILL)
        _, error = process.communicate(timeout=10 * TIMEOUT)
        self.assertLess(time.monotonic() - begin, 3 * TIMEOUT)
        self.assertEqual(process.returncode, 1)
        self.assertIn("rank 1: killed by signal 9 (Killed)", error)
        for rank in ranks:
            self.assertFalse(pathlib.Path(f"/proc/{rank}").exists(), f"process {rank} outlived its parent")
        self.expect_nothing_left()

    def test_a_lack_of_memory_ends_the_run_with_a_word(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        result = subprocess.run(self.command_of("mlp-digits", "--steps", 2, "--device", "cpu", "--timeout", TIMEOUT),
                                capture_output=True, text=True, timeout=PATIENCE, check=False, preexec_fn=limit,
                                env=self.environment(OPENBLAS_NUM_THREADS=1))
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("cgx-run: error: ", result.stderr)
        self.expect_nothing_left()


class Mistakes(DeviceTest):
    def test_what_is_no_plugin_for_this_machine_is_refused(self):
        library = self.folder / "plugin.so"
        other, shown = (183, "AArch64") if platform.machine() == "x86_64" else (62, "x86-64")
        library.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 3, other) + bytes(100))
        self.assertIn(f"is for {shown}, and this machine is", self.refuse_device(library))
        library.write_text("no library")
        self.assertIn("expected a PJRT plugin, which is a shared library, got", self.refuse_device(library))
        self.assertIn("there is no such file that can be read", self.refuse_device(self.folder / "none.so"))
        self.assertIn("which has no function GetPjrtApi", self.refuse_device(FIXTURES / "train4.so"))

    def test_a_plugin_whose_programs_cannot_call_us_is_refused(self):
        error = self.refuse_device(FIXTURES / "plugin.so")
        self.assertIn("(PJRT 0.42) has no extension for foreign functions (FFI)", error)
        self.assertIn("--device native", error)

    def test_a_plugin_with_fewer_functions_is_refused(self):
        self.assertIn("expected a plugin of PJRT 0.x with at least 71 functions, got", self.refuse_device(FIXTURES / "small_plugin.so"))

    def test_a_name_without_a_plugin_says_where_it_was_looked_for(self):
        (self.folder / "lib/python3.11/site-packages").mkdir(parents=True)
        error = self.refuse_device("cpu", CGX_PJRT="", VIRTUAL_ENV=self.folder)
        self.assertIn(f"found no plugin for the device 'cpu' in CGX_PJRT, nor in '{self.folder}/lib/python3.11/site-packages'", error)

    def test_native_code_and_threads_do_not_go_with_a_device(self):
        library = self.folder / "step.so"
        self.call([CGX_COMPILE, str(EXAMPLES / "mlp-digits/step.mlir"), "-o", str(library)])
        command = self.command_of("mlp-digits", "--device", "cpu", "--steps", 2)
        self.assertIn("expected the text of a step with --device cpu, got the library",
                      self.call([command[0], str(library), *command[2:]], code=1).stderr)
        self.assertIn("expected ranks in processes of their own with --device cpu", self.refuse_device("cpu", "--transport", "inproc"))


if __name__ == "__main__":
    unittest.main()
