"""Tests ranks that die, diverge or get a signal: the error arrives in time, and nothing is left behind."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from harness import RunTest, as_user, children, read_safetensors

TIMEOUT = 5


class Faults(RunTest):
    def start(self, *arguments, **variables):
        """Returns a run that has begun its steps, and its ranks."""
        process = subprocess.Popen(
            self.command("train4.so", *(() if "--steps" in arguments else ("--steps", 100000)), "--repeat", "--timeout", TIMEOUT, "--log-every", 1,
                         *arguments, state=self.state()),
            env=self.environment(**{"FIXTURE_SLEEP_MS": 20, **variables}),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        line = next(line for line in process.stderr if ": note: " not in line)
        self.assertIn(" 1/", f" {line}")
        ranks = children(process.pid)
        return process, ranks

    def finish(self, process, ranks):
        _, error = process.communicate(timeout=10 * TIMEOUT)  # the promise is one timeout
        for rank in ranks:
            self.assertFalse(pathlib.Path(f"/proc/{rank}").exists(), f"process {rank} outlived its parent")
        return error

    def test_a_killed_rank_is_named_and_the_others_stop(self):
        for victim in (0, 2):
            process, ranks = self.start()
            self.assertEqual(len(ranks), 4)
            os.kill(ranks[victim], signal.SIGKILL)
            error = self.finish(process, ranks)
            self.assertEqual(process.returncode, 1)
            self.assertIn(f"rank {victim}: killed by signal 9 (Killed)", error)
            others = [r for r in range(4) if r != victim]
            self.assertTrue(all(str(r) in error.split("(Killed)")[1] for r in others), error)
            self.expect_nothing_left()

    def test_how_far_a_run_came_that_a_dead_rank_ends_is_said_and_what_goes_on(self):
        saved = self.folder / "saved.safetensors"
        process, ranks = self.start("--save", saved, "--save-every", 2)
        while not saved.exists():
            time.sleep(0.02)
        os.kill(ranks[1], signal.SIGKILL)
        error = self.finish(process, ranks)
        self.assertRegex(error, rf"\n  after \d+ of 100000 steps; --resume {saved} goes on from the last checkpoint\n")
        process, ranks = self.start()
        os.kill(ranks[1], signal.SIGKILL)
        self.assertNotIn("--resume", self.finish(process, ranks))

    def test_a_stopped_rank_is_a_timeout(self):
        process, ranks = self.start()
        os.kill(ranks[1], signal.SIGSTOP)
        error = self.finish(process, ranks)
        self.assertEqual(process.returncode, 1)
        self.assertIn("timeout", error)
        self.expect_nothing_left()

    def test_a_rank_that_is_stopped_when_the_others_have_ended_is_not_waited_for(self):
        process, ranks = self.start("--steps", 3000, "--trace", self.folder / "trace.json", FIXTURE_SLEEP_MS=0)
        process.send_signal(signal.SIGSTOP)  # so that ranks wait for it with their messages, which fill their pipes
        next(line for line in process.stderr if " 3000/3000" in line)
        self.await_rest(ranks)
        os.kill(ranks[2], signal.SIGSTOP)
        process.send_signal(signal.SIGCONT)
        error = self.finish(process, ranks)
        self.assertEqual(process.returncode, 1)
        self.assertIn(f"rank 2: was stopped (SIGSTOP, or a debugger) when other ranks had ended, did not go on for "
                      f"{TIMEOUT} s (--timeout) and was killed", error)
        self.expect_nothing_left()

    @staticmethod
    def await_rest(processes):
        """Waits until none of the processes computes."""
        def used():
            return [pathlib.Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()[11:13] for one in processes]
        before = None
        while (now := used()) != before:
            before = now
            time.sleep(1)

    def test_an_interrupted_run_stops_all_ranks(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for transport in ("shm", "inproc"):
                process, ranks = self.start("--transport", transport)
                self.assertEqual(len(ranks), 4 if transport == "shm" else 0)
                process.send_signal(number)
                error = self.finish(process, ranks)
                self.assertEqual(process.returncode, 128 + number)
                self.assertIn(f"interrupted by signal {int(number)}", error)
        self.expect_nothing_left()

    def test_ranks_do_not_outlive_a_parent_that_is_killed(self):
        process, ranks = self.start()
        process.kill()
        self.expect_end(process, ranks)

    def test_a_parent_that_is_killed_leaves_no_temporary_files(self):
        for transport in ("shm", "tcp", "shm+tcp"):
            process, ranks = self.start("--transport", transport, TMPDIR=self.temporary)
            self.assertEqual(os.listdir(self.temporary), [], transport)  # so that nothing needs cleaning up
            process.kill()
            self.expect_end(process, ranks)
            self.assertEqual(os.listdir(self.temporary), [], transport)

    def test_ranks_that_are_killed_while_they_meet_leave_no_temporary_files(self):
        command = self.command("train4.so", "--steps", 1, "--transport", "tcp", "--timeout", TIMEOUT, state=self.state())
        process = subprocess.Popen(command, env=self.environment(TMPDIR=self.temporary),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        while not (ranks := children(process.pid)) and process.poll() is None:
            pass
        for rank in ranks:
            # It was connected to the others and had trained, on a busy machine.
            with contextlib.suppress(ProcessLookupError):
                os.kill(rank, signal.SIGKILL)
        process.communicate(timeout=60)
        self.assertEqual(os.listdir(self.temporary), [])

    @property
    def temporary(self):
        folder = self.folder / "temporary"
        folder.mkdir(exist_ok=True)
        return folder

    def expect_end(self, process, ranks):
        """Waits for the end of the ranks of a process that was killed."""
        process.communicate(timeout=60)  # the ranks share its standard error
        deadline = time.monotonic() + 10 * TIMEOUT
        while time.monotonic() < deadline and any(self.is_running(rank) for rank in ranks):
            time.sleep(0.1)
        self.assertFalse([rank for rank in ranks if self.is_running(rank)])
        self.expect_nothing_left()

    def test_ranks_with_much_to_tell_do_not_outlive_a_parent_that_is_killed(self):
        process, ranks = self.start("--steps", 600, "--trace", self.folder / "trace.json", FIXTURE_SLEEP_MS=0)
        process.send_signal(signal.SIGSTOP)  # so that pipes fill
        next(line for line in process.stderr if " 600/600" in line)
        self.await_rest(ranks)
        self.assertTrue(all(map(self.is_running, ranks)))
        process.kill()
        self.expect_end(process, ranks)

    @staticmethod
    def is_running(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def test_a_missing_member_is_a_timeout_and_leaves_nothing(self):
        result = self.run_tool("train4.so", "--steps", 1, "--timeout", 2, state=self.state(), job=False, timeout=20,
                               environment=self.environment(RANK=1, WORLD_SIZE=4, MASTER_PORT=self.job))
        self.assertEqual(result.returncode, 1)
        self.assertIn("rank 1: timeout", result.stderr)
        self.expect_nothing_left()

    def test_what_stands_at_the_name_of_a_job_is_neither_used_nor_changed(self):
        name, target = pathlib.Path("/dev/shm") / f"cgx-{os.getuid()}-{self.job}", self.folder / "target"
        target.write_text("keep")
        target.chmod(0o600)
        for make in (lambda: name.symlink_to(target), lambda: (name.write_bytes(bytes(5 << 20)), name.chmod(0o666)),
                     lambda: os.mkfifo(name, 0o600)):
            make()
            try:
                result = self.run_tool("train4.so", "--steps", 1, "--timeout", 2, state=self.state(), job=False,
                                       environment=self.environment(RANK=1, WORLD_SIZE=4, MASTER_PORT=self.job))
                self.assertEqual(result.returncode, 1)
                self.assertRegex(result.stderr, "invalid argument: expected /dev/shm/.* to be a file of user .*, got .*: remove it, or give the job another")
                self.assertNotIn("another user", result.stderr)
                self.assertTrue(name.is_symlink() or name.exists())
            finally:
                name.unlink()
        self.assertEqual(target.read_text(), "keep")

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_another_user_cannot_speak_for_a_rank(self):
        members = [subprocess.Popen(
            self.command("train4.so", "--steps", 60, "--repeat", state=self.state(), job=False),
            env=self.environment(RANK=rank, WORLD_SIZE=4, MASTER_PORT=self.job, FIXTURE_SLEEP_MS=20),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(4)]
        # The message has the wire's format, and comes before rank 1 has finished.
        forge = """if True:
            import json, os, socket, sys, time
            os.setuid(65534)
            text = json.dumps({"rank": 1, "error": "forged", "steps": 0, "seconds": 0.0, "telemetry": "", "trace": "",
                               "scalars": [], "hashes": [], "plans": [], "profile": "", "blocks": [], "codec_state": []}).encode()
            for attempt in range(200):
                with socket.socket(socket.AF_UNIX) as peer:
                    try:
                        peer.connect("\\0" + sys.argv[1])
                    except ConnectionRefusedError:
                        time.sleep(0.01)
                        continue
                    try:
                        peer.sendall(len(text).to_bytes(8, "little") + text)
                    except BrokenPipeError:
                        pass
                    sys.exit(0)
            sys.exit("nobody listens")"""
        subprocess.run([sys.executable, "-c", forge, f"cgx-run.{os.getuid()}.{self.job}"], check=True, timeout=60)
        for process in members:
            _, error = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, error)
            self.assertNotIn("forged", error)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_no_rank_waits_where_another_user_has_the_address_of_the_first(self):
        take = """if True:
            import os, socket, sys
            os.setuid(65534)
            with socket.socket(socket.AF_UNIX) as taken:
                taken.bind("\\0" + sys.argv[1])
                taken.listen()
                print("ready", flush=True)
                sys.stdin.read()"""
        with subprocess.Popen([sys.executable, "-c", take, f"cgx-run.{os.getuid()}.{self.job}"], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            self.assertEqual(other.stdout.readline(), "ready\n")
            for rank, words in ((0, "another user has taken its address"),
                                (1, "rank 1 cannot join rank 0: its address is taken by a process of user 65534")):
                result = self.run_tool("train4.so", "--steps", 1, "--timeout", 600, state=self.state(), job=False,
                                       environment=self.environment(RANK=rank, WORLD_SIZE=4, MASTER_PORT=self.job))
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)
                self.assertIn("with --job", result.stderr)
            other.stdin.close()

    def test_runs_that_are_given_one_name_have_memory_of_their_own(self):
        """Without this, ranks of one run could join those of another that starts at the same time."""
        runs, segments = [self.start(), self.start()], []
        for _, ranks in runs:
            maps = pathlib.Path(f"/proc/{ranks[0]}/maps").read_text()
            segments.append({word for word in maps.split() if word.startswith("/dev/shm/") and self.job in word})
        self.assertTrue(all(segments))
        self.assertFalse(segments[0] & segments[1])
        for process, ranks in runs:
            process.send_signal(signal.SIGTERM)
            self.finish(process, ranks)

    @unittest.skipUnless(os.geteuid() == 0, "only root can have another /dev/shm, and be another user")
    def test_shared_memory_that_is_full_or_closed_is_no_name_that_is_taken(self):
        state = self.state()
        for mount, words in (("size=64k,mode=1777", "resource exhausted: cannot take .* bytes of shared memory for /dev/shm/.*: No space left on device"),
                             ("mode=0755", "cannot open /dev/shm/.*: Permission denied")):
            inside = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o {mount} tmpfs /dev/shm && exec "$@"', "sh", *as_user(65534)]
            if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
                self.skipTest("no mounts in this container")
            result = subprocess.run([*inside, *self.command("train4.so", "--steps", 1, state=state)], capture_output=True, text=True, timeout=120,
                                    env=self.environment(), check=False)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertRegex(result.stderr, words)
            self.assertNotIn("another user", result.stderr)

    def diverge(self, step, *arguments):
        """Returns the message of a run of 3000 steps with --save, in which ranks 0, 1 differ from ranks 2, 3 from
        `step` on."""
        return self.refuse("train4.so", "--steps", 3000, "--repeat", "--save", self.folder / "saved.safetensors",
                           "--report", self.folder / "report.json", *arguments, state=self.state(),
                           environment=self.environment(FIXTURE_DIVERGE=step))

    def test_ranks_that_diverge_are_found_out_at_once(self):
        for transport in ("shm", "inproc"):
            error = self.diverge(0, "--transport", transport)
            self.assertIn("the ranks do not agree on the state that they share after step 0 (1 of 3000", error)
            self.assertIn("'state['params']['b']' differs between ranks 0, 1 and ranks 2, 3", error)
            self.expect_nothing_left()

    def test_ranks_that_diverge_later_are_found_out_before_twice_as_many_steps(self):
        # Ranks compare their state after 1, 2, 4, ..., 1024 steps, 2048 and 3000.
        for step, found in ((5, 8), (1500, 2048), (2500, 3000)):
            self.assertIn(f"({found} of 3000 steps done)", self.diverge(step))

    def test_a_run_that_diverges_saves_what_it_was_asked_to_beside_the_last_good_state(self):
        good = self.folder / "saved.safetensors"
        good.write_text("a good checkpoint")
        error = self.diverge(5, "--trace", self.folder / "trace.json")
        self.assertEqual(good.read_text(), "a good checkpoint")
        beside = self.folder / "saved.disagreement.safetensors"
        self.assertIn(f"their state is in '{beside}'", error)
        tensors, metadata = read_safetensors(beside)
        self.assertIn("state['params']['w']", tensors)
        self.assertEqual(metadata["cgx.steps"], "8")
        self.assertIn("after step 7", metadata["cgx.disagreement"])
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["steps"], 8)
        self.assertEqual(report["disagreements"], [{"tensor": "state['params']['b']", "ranks": [[0, 1], [2, 3]]}])
        self.assertIsNone(report["state_hash"])
        self.assertEqual(len(report["loss"]["per_step"]), 8)
        self.assertTrue((self.folder / "trace.json").exists())
        error = self.refuse("train4.so", "--steps", 1, "--resume", beside)
        self.assertIn("was saved by a run that failed: the ranks do not agree", error)
        result = self.run_tool("train4.so", "--steps", 1, state=beside)
        self.assertIn("warning: '" + str(beside) + "' was saved by a run whose ranks did not agree", result.stderr)

    def test_a_file_that_cannot_be_written_costs_no_other(self):
        target = "/dev/full"
        error = self.refuse("train4.so", "--steps", 3, "--report", target, "--save", self.folder / "saved.safetensors",
                            state=self.state())
        self.assertIn(f"cannot write '{target}'", error)
        self.assertIn("state['params']['w']", read_safetensors(self.folder / "saved.safetensors")[0])


if __name__ == "__main__":
    unittest.main()
