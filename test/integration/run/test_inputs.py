"""Each kind of input that does not fit gives one clear error and a non-zero exit status."""

import os
import pathlib
import shutil
import subprocess
import unittest

from harness import CGX_RUN, FIXTURES, RunTest, initial_state, samples, tensor, write_safetensors


class Inputs(RunTest):
    def with_state(self, change):
        tensors = initial_state(4)
        change(tensors)
        path = self.folder / "changed.safetensors"
        write_safetensors(path, tensors)
        return self.refuse("train4.so", "--steps", 1, state=path)

    def test_missing_tensor(self):
        error = self.with_state(lambda t: t.pop("state['params']['w']"))
        self.assertIn("'state['params']['w']': expected f32[64,16], got nothing", error)

    def test_wrong_shape_and_dtype_are_listed_together(self):
        def change(tensors):
            tensors["state['params']['w']"] = tensor("F32", [64, 8], [0] * 512)
            tensors["state['count']"] = tensor("I64", [], [0])
        error = self.with_state(change)
        self.assertIn("2 problems", error)
        self.assertIn("'state['params']['w']': expected f32[64,16], got f32[64,8]", error)
        self.assertIn("'state['count']': expected i32[], got i64[]", error)

    def test_ranks_that_do_not_fit_the_mesh(self):
        error = self.refuse("train4.so", "--steps", 1, "--ranks", 3, state=self.state())
        self.assertIn("the program was exported for a mesh of 4 (data=4), got 3 ranks", error)

    def test_too_few_samples(self):
        error = self.refuse("train4.so", "--steps", 7, state=self.state())
        self.assertIn("has 100 samples, but 7 steps with a global batch of 16 take 112: --repeat starts over, "
                      "--steps 6 ends before", error)

    def test_fewer_samples_than_a_batch(self):
        few = self.folder / "few.safetensors"
        write_safetensors(few, samples(15))
        for options in (["--steps", 1], ["--steps", 1, "--repeat"], []):
            self.assertIn("has 15 samples", self.refuse("train4.so", *options, state=self.state(), data=few))

    def test_samples_of_another_shape(self):
        data = self.folder / "wrong.safetensors"
        write_safetensors(data, {**samples(), "x": tensor("F32", [100, 32], [0] * 3200)})
        error = self.refuse("train4.so", "--steps", 1, state=self.state(), data=data)
        self.assertIn("'batch['x']': expected f32[samples,64], got f32[100,32]", error)

    def test_damaged_files(self):
        path = self.state()
        whole = path.read_bytes()
        for size in (0, 4, 20, len(whole) - 1):
            path.write_bytes(whole[:size])
            error = self.refuse("train4.so", "--steps", 1, state=path)
            self.assertIn("is not a valid safetensors file", error)
        path.unlink()
        self.assertIn("cannot open", self.refuse("train4.so", "--steps", 1, state=path))
        self.assertIn("expected a regular file", self.refuse("train4.so", "--steps", 1, state=self.folder))

    def test_a_pipe_that_nobody_writes_to_is_refused(self):
        """A pipe without a writer, as an input or in a folder of inputs, must not make the open wait."""
        folder = self.folder / "folder"
        folder.mkdir()
        pipe = folder / "step-000000000009.safetensors"
        os.mkfifo(pipe)
        options = {"--state": (pipe, "expected a regular file"), "--resume": (pipe, "expected a regular file"),
                   "--data": (folder, "expected a regular file"), "--plan": (pipe, "expected somebody to write to this pipe"),
                   "--eval": (pipe, "expected a regular file")}
        for option, (path, said) in options.items():
            given = {"--state": self.state(1), "--data": self.data, "--set": "lr=0.02", option: path}
            if option == "--resume":
                del given["--state"]
            arguments = [str(word) for pair in given.items() for word in pair]
            result = subprocess.run([CGX_RUN, FIXTURES / "train1.so", "--steps", "1", *arguments], capture_output=True, text=True, timeout=60,
                                    env=self.environment(), check=False)
            with self.subTest(option):
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn(str(pipe), result.stderr)
                self.assertIn(said, result.stderr)
        self.assertIn("expected a regular file", self.refuse(pipe))
        self.assertIn("none of the 1 checkpoints", self.refuse("train1.so", "--steps", 1, "--resume", folder))

    def test_a_library_that_is_cut_short(self):
        whole = (FIXTURES / "train1.so").read_bytes()
        library = self.folder / "cut.so"
        for size in (100, 1000, len(whole) // 3, len(whole) // 2):
            library.write_bytes(whole[:size])
            self.assertIn("cannot load", self.refuse(library, "--steps", 1, state=self.state(1)))

    def test_a_file_that_is_cut_short_while_it_is_read_is_named(self):
        library = self.folder / "step.so"
        for number, transport in enumerate(("shm", "inproc", "shm", "inproc")):
            write_safetensors(self.data, samples())
            shutil.copy(FIXTURES / "train4.so", library)
            cut, size = ((self.data, 4096), (library, 0))[number // 2]
            process = subprocess.Popen(self.command(library, "--repeat", "--steps", 1000000, "--log-every", 1, "--transport", transport,
                                                    state=self.state(), job=False),
                                       env=self.environment(FIXTURE_SLEEP_MS=5), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            next(line for line in process.stderr if "steps/s" in line)
            os.truncate(cut, size)
            _, error = process.communicate(timeout=60)
            with self.subTest(cut=cut, transport=transport):
                self.assertEqual(process.returncode, 1, error)
                self.assertIn(f"'{cut}' became shorter while this run read it", error)
                self.assertNotIn("signal 7", error)

    def test_programs_that_are_none(self):
        text = self.folder / "x.so"
        text.write_bytes(b"\177ELF and no more")
        self.assertIn("cannot load", self.refuse(text))
        self.assertIn("cannot open", self.refuse("missing.so"))
        library = next(pathlib.Path("/usr/lib").rglob("libm.so.6"), None)
        if library:
            self.assertIn("is not a compiled step: it has no symbol cgx_program_manifest",
                          self.refuse(library))

    def test_values_that_do_not_fit(self):
        self.assertIn("--set lr: expected f32, got 'fast'",
                      self.refuse("train4.so", "--steps", 1, state=self.state(), lr="fast"))
        self.assertIn("no argument 'rate'",
                      self.refuse("train4.so", "--set", "rate=1", state=self.state()))
        self.assertIn("'result[0]['params']['b']' cannot feed argument 'state['params']['w']'",
                      self.refuse("train4.so", "--feed", "result[0]['params']['b']=state['params']['w']",
                                  state=self.state()))

    def test_output_that_cannot_be_written_is_refused_before_the_first_step(self):
        error = self.refuse("train4.so", "--save", "/nonexistent/out.safetensors", state=self.state())
        self.assertIn("cannot write '/nonexistent/out.safetensors'", error)

    def test_membership_must_make_sense(self):
        for variables, part in (
                ({"RANK": 4, "WORLD_SIZE": 4, "MASTER_PORT": 1}, "expected RANK to be below WORLD_SIZE=4, got 4"),
                ({"RANK": "x", "WORLD_SIZE": 4}, "expected RANK to be a number, got 'x'"),
                ({"RANK": 0, "WORLD_SIZE": 4}, "give one with --job"),
                ({"RANK": 0, "WORLD_SIZE": 2, "MASTER_PORT": 1}, "got 2 ranks"),
                ({"OMPI_COMM_WORLD_RANK": 0, "OMPI_COMM_WORLD_SIZE": 4, "OMPI_COMM_WORLD_LOCAL_SIZE": 2},
                 "needs all on one")):
            error = self.refuse("train4.so", "--steps", 1, state=self.state(), job=False,
                                environment=self.environment(**variables))
            self.assertIn(part, error)

    def test_a_wrong_command_line_is_another_exit_status(self):
        self.refuse("train4.so", "--no-such-option", code=2)
        self.refuse("train4.so", "--transport", "pigeon", code=2)
        self.refuse("train4.so", "--steps", "-1", code=2)
        self.assertIn("--timeout: expected a number, got 'nan'", self.refuse("train4.so", "--timeout", "nan", code=2))

    def test_words_that_a_shell_took_apart_are_put_together(self):
        result = self.run_tool("train4.so", "--compress", "bits=4", "bucket=128", "--steps", 1)
        self.assertEqual(result.returncode, 2)
        self.assertIn('quote what belongs together, --compress "bits=4 bucket=128"', result.stderr)
        error = self.refuse("train4.so", "--learn-levels", "steps=100", "bits=4", code=2)
        self.assertIn('quote what belongs together, --learn-levels "steps=100 bits=4"', error)
        error = self.refuse("train4.so", "--set", "a=1", "b=2", code=2)
        self.assertIn("name the option again for each, --set a=1 --set b=2", error)

    def test_an_option_that_may_be_given_again_leaves_the_step_behind_it_alone(self):
        result = subprocess.run([CGX_RUN, "--data", str(self.data), "--set", "lr=0.02", str(FIXTURES / "train1.so"), "--steps", "1",
                                 "--state", str(self.state(1))], capture_output=True, text=True, timeout=60, check=False,
                                env=self.environment())
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_rank_that_is_left_over_in_the_shell_is_named(self):
        result = self.run_tool("train4.so", "--steps", 1, state=self.state(), job=False,
                               environment=self.environment(RANK=0, WORLD_SIZE=4))
        self.assertEqual(result.returncode, 1)
        self.assertIn("RANK is set (0 of 4)", result.stderr)
        self.assertIn("unset it, or start all ranks here with --ranks N", result.stderr)

    def test_limits_of_the_process_are_named(self):
        command = self.command("train4.so", "--steps", 1, "--save", self.folder / "saved.safetensors", state=self.state())
        for limit, transport, said in (("-s 64", "shm", "(ulimit -s)"), ("-f 1", "inproc", "(ulimit -f)"), ("-n 5", "shm", "(ulimit -n)")):
            result = subprocess.run(["bash", "-c", f'ulimit {limit}; exec "$@"', "bash", *command, "--transport", transport, "--timeout", "5"],
                                    capture_output=True, text=True, timeout=120, env=self.environment(), check=False)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn(said, result.stderr)

    def test_an_option_without_a_value_is_not_one_that_was_not_given(self):
        """The value is empty where a shell variable is not set."""
        for option in ("--save", "--report", "--resume", "--metrics", "--state", "--job", "--rendezvous", "--set", "--feed", "--eval"):
            self.assertIn(f"{option}: expected a value, got ''", self.refuse("train1.so", option, "", code=2, job=False))
            self.refuse("train1.so", option + "=", code=2)
        # An empty list of options is permitted.
        self.assertIn("expected the text of a step with --compress", self.refuse("train1.so", "--compress", "", state=self.state(1)))

    def test_help_has_examples(self):
        result = subprocess.run([CGX_RUN, "--help"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0)
        for part in ("EXAMPLES", "EXIT STATUS", "--repeat"):
            self.assertIn(part, result.stdout)


if __name__ == "__main__":
    assert pathlib.Path(CGX_RUN).exists() and FIXTURES.is_dir()
    unittest.main()
