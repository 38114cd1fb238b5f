"""Tests long runs: checkpoints, signals, and resuming from any point. CGX_LONG_STEPS and CGX_LONG_STOPS give the
interrupted run its full length (10000 and 20 for a release).

CGX_LONG_STEPS and CGX_LONG_STOPS give the interrupted run its full length (10000 and 20 for a release)."""

import csv
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import time
import unittest

from harness import FIXTURES, RunTest, initial_state, read_safetensors, samples, tensor, write_safetensors

STEPS = int(os.environ.get("CGX_LONG_STEPS", "400"))
STOPS = int(os.environ.get("CGX_LONG_STOPS", "4"))
STOPPED = 3


def fields_of(message):
    """Returns the fields of a Protocol Buffers message by number: integers, f64, f32 and bytes."""
    fields, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            fields.append((key >> 3, varint()))
            continue
        size, form = {1: (8, "<d"), 5: (4, "<f"), 2: (None, None)}[key & 7]
        size = varint() if size is None else size
        piece = message[at:at + size]
        at += size
        fields.append((key >> 3, struct.unpack(form, piece)[0] if form else piece))
    return fields


def events_of(file):
    """Returns TensorBoard's events in a file, after checking the checksums."""

    def checksum(piece):
        crc = 0xFFFFFFFF
        for byte in piece:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        crc ^= 0xFFFFFFFF
        return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF

    events = []
    while file:
        length, mark = struct.unpack("<QI", file[:12])
        message, (end,) = file[12:12 + length], struct.unpack("<I", file[12 + length:16 + length])
        assert (mark, end) == (checksum(file[:8]), checksum(message))
        event = dict(fields_of(message))
        if 5 in event:
            event[5] = [dict(fields_of(value)) for _, value in fields_of(event[5])]
        events.append(event)
        file = file[16 + length:]
    return events


class Long(RunTest):
    def start(self, *arguments, program="train4.so", sleep=2, state=None, hangup=signal.SIG_DFL, **variables):
        """Starts a run and returns after its first step."""
        process = subprocess.Popen(
            self.command(program, "--repeat", "--log-every", 1, *arguments, state=state or self.state(), job=False),
            env=self.environment(FIXTURE_SLEEP_MS=sleep, **variables), stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGHUP, hangup))
        self.addCleanup(process.kill)
        for line in process.stderr:
            if "steps/s" in line:
                return process
        process.stderr.close()
        self.fail(f"ended with {process.wait()}")

    def stop(self, process, number):
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
        return process.returncode, error

    def steps_in(self, folder):
        return sorted(int(p.name[5:17]) for p in folder.glob("step-*.safetensors") if p.name.count(".") == 1)

    def test_a_run_that_is_interrupted_again_and_again_ends_in_the_same_bits(self):
        options = ["--until", STEPS, "--shuffle", "--seed", 3]
        folder, whole = self.folder / "checkpoints", self.folder / "whole.safetensors"
        result = self.run_tool("train4.so", "--repeat", "--quiet", *options, "--save", whole, state=self.state())
        self.assertEqual(result.returncode, 0, result.stderr)
        rng = random.Random(18)
        signals = [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGKILL]
        command = [*options, "--save", f"{folder}/", "--resume", f"{folder}/", "--save-every", 10, "--keep-last", 3]
        interrupted = 0
        for i in range(STOPS):
            number = signals[i % len(signals)]
            sleep = 2000 // STEPS + 1
            process = self.start(*command, sleep=sleep, program="train4.so")
            time.sleep(rng.uniform(0, 1.2 * sleep * STEPS / STOPS / 1000))
            code, error = self.stop(process, number)
            if code == 0:  # it was faster
                break
            interrupted += 1
            self.assertEqual(code, -number if number == signal.SIGKILL else STOPPED, error)
            if number != signal.SIGKILL:
                self.assertIn("goes on", error)
        self.assertGreater(interrupted, STOPS // 2)
        result = self.run_tool("train4.so", "--repeat", *command, state=self.state())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.steps_in(folder)[-1], STEPS)
        self.assertLessEqual(len(self.steps_in(folder)), 3)
        tensors, metadata = read_safetensors(folder / f"step-{STEPS:012}.safetensors")
        expected, wanted = read_safetensors(whole)
        self.assertEqual(tensors, expected)
        for of in (metadata, wanted):  # the metrics of these steps, and the digest, which differ
            del of["cgx.metrics"], of["cgx.digest"]
        self.assertEqual(metadata, wanted)
        # No other file is left beside the checkpoints.
        self.assertEqual([p.name for p in folder.iterdir() if not p.name.startswith("step-")], [])

    def test_a_signal_to_any_way_of_running_finishes_the_step_and_saves(self):
        for transport in ("shm", "inproc"):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
                save, report = self.folder / "saved.safetensors", self.folder / "report.json"
                process = self.start("--steps", 100000, "--transport", transport, "--save", save, "--report", report)
                code, error = self.stop(process, number)
                self.assertEqual(code, STOPPED, error)
                self.assertIn(f"stopped by signal {int(number)}", error)
                done = json.loads(report.read_text())["steps"]
                self.assertTrue(0 < done < 100000)
                self.assertEqual(read_safetensors(save)[1]["cgx.steps"], str(done))

    def test_a_signal_at_any_moment_leaves_a_run_that_goes_on(self):
        """A signal arrives while the run starts, joins, trains, saves, evaluates or ends."""
        seed = int(os.environ.get("CGX_TEST_SEED", random.randrange(1 << 30)))
        rng = random.Random(seed)
        validation = self.folder / "validation.safetensors"
        write_safetensors(validation, samples(48))
        for i in range(12):
            folder = self.folder / f"checkpoints{i}"
            command = ["--repeat", "--quiet", "--save", f"{folder}/", "--save-every", 1, "--keep-last", 2, "--resume", f"{folder}/",
                       "--metrics", self.folder / f"metrics{i}.jsonl", "--eval", FIXTURES / "eval4.so", "--eval-data", validation,
                       "--eval-every", 2]
            number = rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
            process = subprocess.Popen(self.command("train4.so", "--until", 60, *command, state=self.state(), job=False),
                                       env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                       start_new_session=True)
            self.addCleanup(process.kill)
            time.sleep(rng.uniform(0, rng.choice([0.05, 0.3, 0.8])))
            # A terminal sends the signal to all processes, a scheduler often to the first.
            if process.poll() is None:
                (os.killpg if rng.random() < 0.5 else os.kill)(process.pid, number)
            _, error = process.communicate(timeout=60)
            with self.subTest(seed=seed, i=i, signal=number):
                self.assertIn(process.returncode, (0, STOPPED, -number), error)
                self.assertEqual([name for name in os.listdir("/dev/shm") if f"-run-{process.pid}-" in name], [])
                self.assertEqual([p.name for p in folder.glob("*.part*")], [])
                self.assertTrue(process.returncode != STOPPED or self.steps_in(folder), error)
                result = self.run_tool("train4.so", "--steps", 1, *command, state=self.state())
                self.assertEqual(result.returncode, 0, result.stderr)
                self.lines(self.folder / f"metrics{i}.jsonl")

    def test_a_signal_to_one_rank_of_another_launcher_stops_all(self):
        save = self.folder / "saved.safetensors"
        ranks = [subprocess.Popen(
            self.command("train4.so", "--steps", 100000, "--repeat", "--log-every", 1, "--save", save, state=self.state(),
                         job=False),
            env=self.environment(RANK=rank, WORLD_SIZE=4, MASTER_PORT=self.job, FIXTURE_SLEEP_MS=2),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for rank in range(4)]
        for rank in ranks:
            self.addCleanup(rank.kill)
        next(line for line in ranks[0].stderr if "steps/s" in line)
        ranks[2].send_signal(signal.SIGUSR1)
        for rank in ranks:
            _, error = rank.communicate(timeout=60)
            self.assertEqual(rank.returncode, STOPPED, error)
        self.assertTrue(save.exists())

    def test_a_run_whose_progress_nobody_reads_any_more_finishes_the_step_and_saves(self):
        for transport in ("shm", "inproc", "tcp"):
            save = self.folder / f"{transport}.safetensors"
            process = self.start("--steps", 100000, "--transport", transport, "--save", save)
            process.stderr.close()
            self.assertEqual(process.wait(timeout=60), STOPPED)
            self.assertTrue(0 < int(read_safetensors(save)[1]["cgx.steps"]) < 100000)
        # If the signal is ignored, the run continues.
        process = subprocess.Popen(self.command("train4.so", "--steps", 20, "--repeat", "--log-every", 1, "--save", save, state=self.state()),
                                   env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, restore_signals=False)
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(read_safetensors(save)[1]["cgx.steps"], "20")

    def test_nohup_is_honoured(self):
        process = self.start("--steps", 200, "--save", self.folder / "saved.safetensors", hangup=signal.SIG_IGN)
        code, error = self.stop(process, signal.SIGHUP)
        self.assertEqual(code, 0, error)

    def test_a_step_longer_than_the_timeout_is_finished_after_a_signal(self):
        save = self.folder / "saved.safetensors"
        process = self.start("--steps", 100, "--save", save, "--timeout", 1, sleep=8000)
        code, error = self.stop(process, signal.SIGTERM)
        self.assertEqual(code, STOPPED, error)
        # The signal came in the second step, or, on a busy machine, before it began.
        self.assertIn(read_safetensors(save)[1]["cgx.steps"], ("1", "2"))

    def test_a_second_signal_ends_at_once(self):
        process = self.start("--steps", 100000, "--save", self.folder / "saved.safetensors", sleep=50)
        ranks = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for rank in ranks:  # they will not finish their step
            os.kill(int(rank), signal.SIGSTOP)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=10), 128 + signal.SIGTERM)
        for rank in ranks:
            os.kill(int(rank), signal.SIGKILL)
        process.stderr.close()

    def test_checkpoints_on_the_way_are_those_of_shorter_runs(self):
        folder = self.folder / "checkpoints"
        self.train("train4.so", "--steps", 12, "--repeat", "--save-every", 5, "--save", f"{folder}/")
        self.assertEqual(self.steps_in(folder), [5, 10, 12])
        for steps in (5, 10):
            tensors = self.train("train4.so", "--steps", steps, "--repeat")[1]
            self.assertEqual(read_safetensors(folder / f"step-{steps:012}.safetensors")[0], tensors)

    def train(self, program, *arguments, **options):
        if "--save" in arguments:
            result = self.run_tool(program, *arguments, state=self.state())
            self.assertEqual(result.returncode, 0, result.stderr)
            return None
        return super().train(program, *arguments, **options)

    def test_the_last_and_the_best_stay(self):
        folder = self.folder / "checkpoints"
        # The loss falls at first, and then rises because the learning rate is too large.
        result = self.run_tool("train4.so", "--steps", 40, "--repeat", "--save-every", 5, "--save", f"{folder}/",
                               "--keep-last", 2, "--keep-best", "loss", "--set", "lr=linear(0.02,3.0,40)", lr=None,
                               state=self.state())
        self.assertEqual(result.returncode, 0, result.stderr)
        best = folder / "best.safetensors"
        self.assertTrue(best.is_symlink())
        step = int(read_safetensors(best)[1]["cgx.steps"])
        self.assertTrue(5 < step < 35, step)
        self.assertEqual(self.steps_in(folder), [step, 35, 40])
        metrics = {s: json.loads(read_safetensors(folder / f"step-{s:012}.safetensors")[1]["cgx.metrics"])["loss"]
                   for s in self.steps_in(folder)}
        self.assertEqual(min(metrics, key=metrics.get), step)

    def test_what_is_to_be_kept_is_checked_before_the_first_step(self):
        for arguments, message in [
                (["--keep-best", "accuracy", "--save", f"{self.folder}/a/"], "--keep-best METRIC:min or METRIC:max"),
                (["--keep-best", "los:min", "--save", f"{self.folder}/a/"], "one of loss, accuracy, got 'los'"),
                (["--keep-last", 2, "--save", self.folder / "a.safetensors"], "expected --save to be a folder")]:
            error = self.refuse("train4.so", "--steps", 1, *arguments, state=self.state())
            self.assertIn(message, error)

    def test_a_damaged_checkpoint_is_passed_over(self):
        folder = self.folder / "checkpoints"
        self.train("train4.so", "--steps", 6, "--save-every", 2, "--save", f"{folder}/", "--repeat")
        self.assertEqual(self.steps_in(folder), [2, 4, 6])
        newest = folder / "step-000000000006.safetensors"
        newest.write_bytes(newest.read_bytes()[:-100])
        middle = folder / "step-000000000004.safetensors"
        content = bytearray(middle.read_bytes())
        content[-5] ^= 1
        middle.write_bytes(content)
        result = self.run_tool("train4.so", "--until", 3, "--repeat", "--resume", folder, "--report",
                               self.folder / "report.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads((self.folder / "report.json").read_text())["first_step"], 2)
        self.assertIn("step-000000000004.safetensors' is damaged", result.stderr)
        (folder / "step-000000000002.safetensors").write_bytes(b"")
        self.assertIn("none of the 3 checkpoints", self.refuse("train4.so", "--steps", 1, "--resume", folder))
        empty = self.folder / "empty"
        empty.mkdir()
        self.assertIn("there is no checkpoint in", self.refuse("train4.so", "--steps", 1, "--resume", empty))

    def test_other_samples_are_refused(self):
        save = self.folder / "middle.safetensors"
        self.train("train4.so", "--steps", 3, "--save", save, "--repeat", "--shuffle")
        error = self.refuse("train4.so", "--steps", 1, "--resume", save, "--repeat")
        self.assertIn("was saved by a run with --shuffle 1, got 0", error)
        other = self.folder / "other.safetensors"
        write_safetensors(other, samples(64))
        error = self.refuse("train4.so", "--steps", 1, "--resume", save, "--repeat", "--shuffle", data=other)
        self.assertIn("data with digest", error)
        error = self.refuse("train4.so", "--steps", 1, "--resume", save, "--repeat", "--shuffle", "--pad-last")
        self.assertIn("was saved by a run with --pad-last 0, got 1", error)

    def test_state_that_is_not_finite_replaces_no_checkpoint(self):
        save, folder = self.folder / "saved.safetensors", self.folder / "checkpoints"
        save.write_text("a good checkpoint")
        data = self.folder / "nan.safetensors"
        write_safetensors(data, {**samples(16 * 8), "lr": tensor("F32", [8], [0.02] * 4 + [float("nan")] * 4)})
        for path in (save, f"{folder}/"):
            error = self.refuse("train4.so", "--steps", 8, "--save", path, "--save-every", 2, state=self.state(),
                                data=data, lr=None)
            self.assertIn("nothing is saved after step 5: 'state['params']['b']', 'state['params']['w']' are not finite",
                          error)
            self.assertIn("was not written", error)
        self.assertEqual(self.steps_in(folder), [2, 4])
        self.assertEqual(read_safetensors(save)[1]["cgx.steps"], "4")
        beside = folder / "step-000000000008.not-finite.safetensors"
        self.assertIn("are not finite", read_safetensors(beside)[1]["cgx.not_finite"])
        self.assertIn("was saved by a run that failed", self.refuse("train4.so", "--steps", 1, "--resume", beside))

    def test_a_run_can_stop_where_its_loss_is_not_finite(self):
        data = self.folder / "nan.safetensors"
        write_safetensors(data, {**samples(16 * 64), "lr": tensor("F32", [64], [float("nan")] * 64)})
        report = self.folder / "report.json"
        error = self.refuse("train4.so", "--stop-on-nan", "--report", report, state=self.state(), data=data, lr=None)
        self.assertIn("stopped after step 0, because 'state['params']['b']'", error)
        self.assertEqual(json.loads(report.read_text())["steps"], 1)

    def test_what_is_not_finite_from_the_beginning_is_meant_so(self):
        state = self.folder / "state.safetensors"
        write_safetensors(state, {**initial_state(4), "state['shard']": tensor("F32", [8, 3], [float("inf")] * 24)})
        save = self.folder / "saved.safetensors"
        result = self.run_tool("train4.so", "--steps", 2, "--save", save, state=state)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(save.exists())

    def test_state_without_memory_of_codecs_goes_to_another_program(self):
        save = self.folder / "middle.safetensors"
        self.train("exact4.so", "--steps", 3, "--save", save, "--repeat")
        report = self.folder / "report.json"
        result = self.run_tool("train4.so", "--steps", 1, "--resume", save, "--repeat", "--report", report)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("was saved by another program", result.stderr)
        self.assertEqual(json.loads(report.read_text())["first_step"], 3)
        error = self.refuse("train2.so", "--steps", 1, "--resume", save, "--repeat")
        self.assertTrue("global batch of 16, got 8" in error or "expected f32[4,3]" in error, error)

    def lines(self, path):
        return [json.loads(line) for line in path.read_text().splitlines()]

    def test_metrics_are_written_as_they_happen_and_go_on(self):
        path, report, save = self.folder / "metrics.jsonl", self.folder / "report.json", self.folder / "saved.safetensors"
        path.write_text("of a run before\n")
        self.train("train4.so", "--steps", 6, "--repeat", "--metrics", path, "--report", report, "--save", save)
        lines, written = self.lines(path), json.loads(report.read_text())
        self.assertEqual([line["step"] for line in lines], list(range(6)))
        self.assertEqual([line["metrics"]["loss"] for line in lines], written["loss"]["per_step"])
        wire = sum(layer["wire_bytes_per_step"][0] for layer in written["layers"])
        self.assertEqual({line["wire_bytes"] for line in lines}, {wire})
        self.assertTrue(all(0 < line["communication_share"] <= 1 for line in lines), lines)
        # The file looks as if the run had continued after its checkpoint and was killed in the middle of a line.
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({**lines[-1], "step": 6, "metrics": {"loss": 7}}) + '\n{"step": 7, "met')
        result = self.run_tool("train4.so", "--steps", 2, "--repeat", "--metrics", path, "--resume", save)
        self.assertEqual(result.returncode, 0, result.stderr)
        more = self.lines(path)
        self.assertEqual([line["step"] for line in more], list(range(8)))
        self.assertEqual(more[:6], lines)
        self.assertNotEqual(more[6]["metrics"]["loss"], 7)

    def test_metrics_are_there_before_the_run_ends(self):
        path = self.folder / "metrics.jsonl"
        process = self.start("--steps", 100000, "--metrics", path)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and (not path.exists() or path.read_text().count("\n") < 3):
            time.sleep(0.02)
        self.assertGreaterEqual(path.read_text().count("\n"), 3)
        self.stop(process, signal.SIGKILL)

    def test_metrics_can_be_columns_or_go_to_standard_output(self):
        path, save = self.folder / "metrics.csv", self.folder / "saved.safetensors"
        self.train("train4.so", "--steps", 3, "--metrics", path, "--save", save)
        result = self.run_tool("train4.so", "--steps", 2, "--metrics", path, "--resume", save)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["step"] for row in rows], ["0", "1", "2", "3", "4"])
        self.assertTrue(all(float(row["loss"]) > 0 and int(row["wire_bytes"]) > 0 for row in rows))
        result = self.run_tool("train4.so", "--steps", 3, "--metrics", "-", state=self.state())
        self.assertEqual([json.loads(line)["step"] for line in result.stdout.splitlines()], [0, 1, 2])

    def test_metrics_can_be_events_for_tensorboard(self):
        path, save = self.folder / "events.out.tfevents.1", self.folder / "saved.safetensors"
        result = self.run_tool("train4.so", "--steps", 3, "--metrics", path, "--save", save, state=self.state())
        if "built without Protocol Buffers" in result.stderr:
            self.assertNotEqual(result.returncode, 0)
            self.skipTest("built without Protocol Buffers")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(path, "ab") as file:
            file.write(b"\x20\x00\x00")  # an incomplete record of a killed run
        result = self.run_tool("train4.so", "--steps", 2, "--metrics", path, "--resume", save)
        self.assertEqual(result.returncode, 0, result.stderr)
        version, *events = events_of(path.read_bytes())
        self.assertEqual(version[3], b"brain.Event:2")
        self.assertEqual([event.get(2, 0) for event in events], [0, 1, 2, 3, 4])
        for event in events:
            self.assertGreater(event[1], 1.6e9)
            scalars = dict((value[1].decode(), value[2]) for value in event[5])
            self.assertGreater(scalars["loss"], 0)
            self.assertGreater(scalars["cgx/wire_bytes"], 0)
            self.assertEqual(scalars["cgx/plan"], 0)

    def test_an_evaluation_in_the_middle_is_that_of_the_checkpoint(self):
        validation = self.folder / "validation.safetensors"
        write_safetensors(validation, samples(48))
        evaluate = ["--eval", FIXTURES / "eval4.so", "--eval-data", validation, "--eval-every", 4]
        for transport in ("shm", "inproc"):
            folder, report, metrics = (self.folder / f"{transport}.{name}" for name in ("checkpoints", "json", "jsonl"))
            self.train("train4.so", "--steps", 10, "--repeat", "--save-every", 4, "--save", f"{folder}/", "--report", report,
                       "--metrics", metrics, "--keep-best", "eval.accuracy:max", "--transport", transport, *evaluate)
            evaluations = json.loads(report.read_text())["evaluations"]
            self.assertEqual([e["steps"] for e in evaluations], [4, 8, 10])
            self.assertEqual([line["evaluation"] for line in self.lines(metrics) if "evaluation" in line],
                             [e["metrics"] for e in evaluations])
            for each in evaluations:
                alone, state = self.folder / "alone.json", folder / f"step-{each['steps']:012}.safetensors"
                result = self.run_tool("eval4.so", "--report", alone, state=state, data=validation)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertAlmostEqual(each["metrics"]["loss"], json.loads(alone.read_text())["loss"]["mean"], places=6)
            best = max(evaluations, key=lambda e: e["metrics"]["accuracy"])["metrics"]["accuracy"]
            kept = json.loads(read_safetensors(folder / "best.safetensors")[1]["cgx.metrics"])
            self.assertEqual(kept["eval.accuracy"], best)
        # The training equals the one without an evaluation.
        self.assertEqual(self.bits("--steps", 10, "--repeat", *evaluate), self.bits("--steps", 10, "--repeat"))
        error = self.refuse("train4.so", "--steps", 1, "--eval", FIXTURES / "train4.so", "--eval-data", validation,
                            state=self.state())
        self.assertIn("--eval", error)

    def test_samples_may_lie_in_several_files(self):
        whole, shards = samples(112), self.folder / "shards"
        shards.mkdir()
        write_safetensors(self.folder / "whole.safetensors", whole)
        begin = 0
        for i, count in enumerate((30, 1, 50, 31)):
            part = {name: (dtype, [count, *shape[1:]],
                           payload[begin * len(payload) // 112:(begin + count) * len(payload) // 112])
                    for name, (dtype, shape, payload) in whole.items()}
            write_safetensors(shards / f"part{i}.safetensors", part)
            begin += count
        for options in (["--steps", 20, "--repeat", "--shuffle"], []):
            expected = self.bits(*options, data=self.folder / "whole.safetensors")
            self.assertEqual(self.bits(*options, data=shards), expected)
            several = [option for i in range(1, 4) for option in ("--data", shards / f"part{i}.safetensors")]
            self.assertEqual(self.bits(*options, *several, data=shards / "part0.safetensors"), expected)
        write_safetensors(shards / "part4.safetensors", {"x": tensor("F32", [2, 3], range(6))})
        error = self.refuse("train4.so", state=self.state(), data=shards)
        self.assertIn("to be f32[2,64], as in the first file, got f32[2,3]", error)
        self.assertIn("to be u8[100], as in the first file, got nothing".replace("100", "30"), error)

    def bits(self, *arguments, **options):
        return super().train("train4.so", *arguments, **options)[1]

    def test_samples_that_fill_no_batch_are_told_or_taken(self):
        result = self.run_tool("train4.so", state=self.state())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("4 of 100 samples fill no batch of 16 and are left out of each pass", result.stderr)
        report = self.folder / "report.json"
        result = self.run_tool("train4.so", "--pad-last", "--report", report, state=self.state())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(report.read_text())["steps"], 7)
        padded = self.folder / "padded.safetensors"
        whole = {name: (dtype, [112, *shape[1:]], payload + payload[:12 * len(payload) // 100])
                 for name, (dtype, shape, payload) in samples().items()}
        write_safetensors(padded, whole)
        expected = self.folder / "expected.json"
        self.run_tool("train4.so", "--report", expected, state=self.state(), data=padded)
        self.assertEqual(json.loads(report.read_text())["loss"], json.loads(expected.read_text())["loss"])


if __name__ == "__main__":
    unittest.main()
