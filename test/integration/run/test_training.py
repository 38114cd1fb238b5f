"""Tests the results of cgx-run: equal bits in every mode, bytes as promised, and resumed runs."""

import json
import pathlib
import socket
import struct
import subprocess
import unittest

from harness import (RunTest, initial_state, read_safetensors, samples, tensor,
                     write_safetensors)


class Training(RunTest):
    def test_the_loss_falls_and_evaluation_agrees(self):
        report, saved = self.train("train4.so", "--steps", 60, "--repeat", lr=0.2)
        self.assertEqual(report["ranks"], 4)
        self.assertEqual(report["loss"]["name"], "loss")
        self.assertEqual(len(report["loss"]["per_step"]), 60)
        self.assertAlmostEqual(report["loss"]["per_step"][0], 0.5, places=5)
        self.assertLess(report["loss"]["final"], 0.1)
        self.assertEqual([m["name"] for m in report["metrics"]], ["accuracy"])
        self.assertEqual(saved["state['count']"][2], struct.pack("<i", 60))
        trained, evaluation = self.folder / "saved.safetensors", self.folder / "eval.json"
        result = self.run_tool("eval4.so", "--report", evaluation, state=trained)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("warning", result.stderr, "an evaluation takes a part of the state")
        evaluation = json.loads(evaluation.read_text())
        self.assertEqual(evaluation["steps"], 6)
        self.assertLess(evaluation["loss"]["mean"], 0.1)
        self.assertGreater(evaluation["metrics"][0]["mean"], 0.9)
        self.expect_nothing_left()

    def test_threads_processes_and_repetitions_give_the_same_bits(self):
        runs = [self.train("train4.so", "--steps", 20, "--repeat", "--shuffle", "--seed", 3, "--transport", transport)
                for transport in ("shm", "inproc", "shm")]
        for report, saved in runs[1:]:
            self.assertEqual(saved, runs[0][1])
            self.assertEqual(report["loss"], runs[0][0]["loss"])
            self.assertEqual(report["state_hash"], runs[0][0]["state_hash"])

    def test_the_seed_matters(self):
        one, two = (self.train("train4.so", "--steps", 5, "--seed", seed)[1] for seed in (1, 2))
        self.assertNotEqual(one, two)

    def test_any_number_of_ranks(self):
        for ranks in (1, 2, 3):
            report, saved = self.train(f"train{ranks}.so", "--steps", 5, "--ranks", ranks, ranks=ranks)
            self.assertEqual(report["ranks"], ranks)
            self.assertEqual(saved["state['shard']"][1], [2 * ranks, 3])

    def test_bytes_are_as_promised(self):
        compressed, _ = self.train("train4.so", "--steps", 3)
        exact, _ = self.train("exact4.so", "--steps", 3)
        layers = {layer["layer"]: layer for layer in compressed["layers"] if layer["layer"]}
        # 1024 f32 in 4 chunks of 256: a rank sends 3 chunks twice.
        self.assertEqual(layers["params/w"]["raw_bytes_per_step"], [2 * 3 * 1024] * 4)
        # A chunk: 8 bytes of header, 2 buckets of 4 bytes of scale, 256 levels of 4 bits.
        self.assertEqual(layers["params/w"]["wire_bytes_per_step"], [2 * 3 * (8 + 8 + 128)] * 4)
        self.assertEqual(layers["params/b"]["ratio"], 1)
        self.assertEqual(exact["totals"]["ratio"], 1)
        self.assertEqual(compressed["totals"]["raw_bytes_per_step"], exact["totals"]["raw_bytes_per_step"])
        self.assertEqual(sorted(compressed["codecs"]), ["identity",
                                                        "quantize bits=4 bucket=128 rounding=stochastic scale=bf16"])

    def test_blocks_are_split_by_rank_and_assembled(self):
        data = samples()
        _, saved = self.train("exact4.so", "--steps", 1)
        x = struct.unpack(f"<{100 * 64}f", data["x"][2])
        shard = struct.unpack("<24f", saved["state['shard']"][2])
        for rank in range(4):
            for i in range(6):
                # new = old / 2 + the i-th number of the rank's first sample
                self.assertAlmostEqual(shard[6 * rank + i], 0.5 * (6 * rank + i) + x[4 * rank * 64 + i], places=5)

    def test_a_resumed_run_is_the_run_that_was_interrupted(self):
        options = ["--repeat", "--shuffle", "--seed", 7]
        whole_report, whole = self.train("train4.so", "--steps", 20, *options)
        first_report, _ = self.train("train4.so", "--steps", 12, *options)
        middle = self.folder / "middle.safetensors"
        (self.folder / "saved.safetensors").rename(middle)
        second_report, resumed = self.train("train4.so", "--first-step", 12, "--steps", 8, *options, state=middle)
        self.assertEqual(resumed, whole)
        self.assertEqual(first_report["loss"]["per_step"] + second_report["loss"]["per_step"],
                         whole_report["loss"]["per_step"])
        self.assertEqual(read_safetensors(middle)[1]["cgx.steps"], "12")
        result = self.run_tool("train4.so", "--steps", 1, state=middle)
        self.assertIn("--first-step 12 continues that run", result.stderr)

    def test_a_tensor_that_a_training_does_not_take_is_a_warning(self):
        path = self.folder / "more.safetensors"
        write_safetensors(path, {**initial_state(4), "more": tensor("U8", [1], [0])})
        result = self.run_tool("train4.so", "--steps", 1, state=path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("has 1 tensor that the program does not take: more", result.stderr)

    def test_names_in_slash_form_are_taken(self):
        slashes = {name.replace("state['", "").replace("']['", "/").replace("']", ""): value
                   for name, value in initial_state(4).items()}
        path = self.folder / "slashes.safetensors"
        write_safetensors(path, slashes)
        _, saved = self.train("train4.so", "--steps", 2, state=path)
        _, expected = self.train("train4.so", "--steps", 2)
        self.assertEqual(saved, expected)

    def test_a_feed_can_be_taken_away_and_given_back(self):
        _, saved = self.train("train4.so", "--steps", 3, "--feed", "result[0]['count']=")
        self.assertEqual(saved["state['count']"][2], struct.pack("<i", 0))
        _, saved = self.train("train4.so", "--steps", 3, "--feed", "result[0]['count']=",
                              "--feed", "result[0]['count']=state['count']")
        self.assertEqual(saved["state['count']"][2], struct.pack("<i", 3))

    def test_the_number_of_the_step_can_be_an_argument(self):
        report, _ = self.train("train4.so", "--steps", 2, lr="@step")
        self.assertEqual(report["steps"], 2)

    def test_a_learning_rate_for_each_step_comes_from_the_data_or_a_schedule(self):
        rates = [0.2 - 0.02 * step for step in range(6)]
        data = self.folder / "rates.safetensors"
        write_safetensors(data, {**samples(), "lr": tensor("F32", [6], rates)})
        program = ["train4.so", "--steps", 6]
        _, from_file = self.train(*program, data=data, lr=None)
        _, scheduled = self.train(*program, lr="linear(0.2,0.1,5)")
        self.assertEqual(from_file, scheduled)
        _, constant = self.train(*program, lr=0.2)
        self.assertNotEqual(from_file, constant)
        # The value follows the number of the step, also in a resumed run.
        self.train("train4.so", "--steps", 4, data=data, lr=None)
        (self.folder / "saved.safetensors").rename(self.folder / "middle.safetensors")
        _, resumed = self.train("train4.so", "--first-step", 4, "--steps", 2, data=data, lr=None,
                                state=self.folder / "middle.safetensors")
        self.assertEqual(resumed, from_file)

    def test_values_for_fewer_steps_than_the_run_has_are_refused(self):
        data = self.folder / "rates.safetensors"
        write_safetensors(data, {**samples(), "lr": tensor("F32", [3], [0.1] * 3)})
        error = self.refuse("train4.so", "--steps", 5, state=self.state(), data=data, lr=None)
        self.assertIn("has values for 3 steps, but the run ends after step 5", error)

    def test_a_scalar_of_the_data_is_the_same_in_all_steps(self):
        data = self.folder / "rate.safetensors"
        write_safetensors(data, {**samples(), "lr": tensor("F32", [], [0.02])})
        self.assertEqual(self.train("train4.so", "--steps", 3, data=data, lr=None)[1],
                         self.train("train4.so", "--steps", 3)[1])

    def test_a_loss_that_is_not_finite_is_said_once(self):
        result = self.run_tool("train4.so", "--steps", 5, state=self.state(weight=float("nan")))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("loss is nan at step 0; --stop-on-nan ends the run there (said once)"), 1)

    def test_ranks_of_another_launcher_find_each_other(self):
        whole = self.train("train4.so", "--steps", 5)[1]
        saved, state = self.folder / "member.safetensors", self.state()
        ranks = [subprocess.Popen(
            self.command("train4.so", "--steps", 5, "--save", saved, state=state, job=False),
            env=self.environment(RANK=rank, WORLD_SIZE=4, MASTER_PORT=self.job),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(4)]
        for rank, process in enumerate(ranks):
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, err)
            self.assertEqual("steps on 4 ranks" in out, rank == 0)
        self.assertEqual(read_safetensors(saved)[0], whole)

    def members(self, *arguments, **variables):
        """Returns the processes of a job whose ranks another launcher started."""
        return [subprocess.Popen(self.command("train4.so", *arguments, job=False),
                                 env=self.environment(**{name: value.format(rank=rank) for name, value in variables.items()}),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(4)]

    def test_two_steps_of_one_slurm_job_do_not_meet(self):
        whole = [self.train("train4.so", "--steps", 5, "--seed", step)[1] for step in (0, 1)]
        # Each of these variables tells steps apart, under srun, an older srun, or a launcher below it.
        for variable in ("SLURM_STEP_ID", "SLURM_STEPID", "PMIX_NAMESPACE", "SLURM_STEP_LAUNCHER_PORT"):
            slurm = {"SLURM_PROCID": "{rank}", "SLURM_NTASKS": "4", "SLURM_JOB_ID": self.job}
            ranks, saved = [], []
            for step in (0, 1):
                saved.append(self.folder / f"step{step}.safetensors")
                ranks += self.members("--steps", 5, "--seed", step, "--save", saved[step], "--state", self.state(),
                                      **{variable: str(step)}, **slurm)
            for process in ranks:
                _, err = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 0, f"{variable}: {err}")
            for step in (0, 1):
                self.assertEqual(read_safetensors(saved[step])[0], whole[step], variable)
        self.expect_nothing_left()

    def test_ranks_with_other_options_or_data_are_told_which_and_the_values_of_each_once(self):
        other = self.folder / "other.safetensors"
        write_safetensors(other, samples(label="I32"))
        environment, state = {"WORLD_SIZE": 4, "MASTER_PORT": self.job}, self.state()
        for own, common, data, said in (
                ([], ["--steps", 5], other, r"--data is 'data.safetensors' \(\w{8}\) on ranks 0, 1 and 2; 'other.safetensors' \(\w{8}\) on rank 3"),
                (["--shuffle"], ["--steps", 5], self.data, "--shuffle is not given on ranks 0, 1 and 2; given on rank 3"),
                (["--steps", 5], [], self.data, "--steps is not given on ranks 0, 1 and 2; 5 on rank 3"),
                (["--steps", 6, "--set", "lr=0.1"], ["--steps", 5], self.data,
                 "--steps is 5 on ranks 0, 1 and 2; 6 on rank 3, and --set is 'lr=0.02' on ranks 0, 1 and 2; 'lr=0.1' on rank 3"),
                (["--adapt", "lgreco"], ["--steps", 5], self.data, "--adapt is not given on ranks 0, 1 and 2; 'lgreco' on rank 3")):
            ranks = []
            for rank in range(4):
                mine = own if rank == 3 else []
                command = self.command("train4.so", *(mine if "--steps" in mine else [*common, *mine]), state=state,
                                       data=pathlib.Path(data if rank == 3 else self.data).name, job=False,
                                       lr=None if "--set" in mine else "0.02")
                ranks.append(subprocess.Popen(command, env=self.environment(RANK=rank, **environment), cwd=self.folder,
                                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
            errors = [process.communicate(timeout=120)[1] for process in ranks]
            with self.subTest(said=said):
                for process, error in zip(ranks, errors):
                    self.assertEqual(process.returncode, 1, errors)
                    self.assertIn("ranks were started with other options or inputs", error, errors)
                self.assertRegex(errors[0], f"inputs: {said}: give all ranks the same\n")
                for error in errors[1:]:
                    self.assertIn("inputs: rank 0 says which", error, errors)
        self.expect_nothing_left()

    def test_ranks_of_several_hosts_are_told_which_options_differ(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            place = f"127.0.0.1:{free.getsockname()[1]}"
        secret, state = self.folder / "secret", self.state()
        secret.write_text("a secret of a test, long enough")
        secret.chmod(0o600)
        ranks = [subprocess.Popen(
            self.command("train4.so", "--steps", 5 + (rank == 2), "--transport", "tcp", "--rank", rank, "--ranks", 4,
                         "--rendezvous", place, "--secret-file", secret, state=state),
            env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(4)]
        errors = [process.communicate(timeout=120)[1] for process in ranks]
        self.assertIn("--steps is 5 on ranks 0, 1 and 3; 6 on rank 2: give all ranks the same", errors[0])


class Labels(RunTest):
    def test_samples_may_be_stored_in_narrower_integers(self):
        wide = self.folder / "wide.safetensors"
        write_safetensors(wide, samples(label="I32"))
        self.assertEqual(self.train("train4.so", "--steps", 4)[1],
                         self.train("train4.so", "--steps", 4, data=wide)[1])

    def test_the_name_of_a_batch_may_be_whole(self):
        named = self.folder / "named.safetensors"
        write_safetensors(named, {f"batch['{k}']": v for k, v in samples().items()})
        self.train("train4.so", "--steps", 1, data=named)


if __name__ == "__main__":
    unittest.main()
