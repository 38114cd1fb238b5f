"""Ranks that die, diverge or are told to stop: a message, in time, and nothing left behind."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

from harness import RunTest

TIMEOUT = 5


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Faults(RunTest):
    def start(self, *arguments, **variables):
        """A run that has begun its steps, and its ranks."""
        process = subprocess.Popen(
            self.command("train4.so", "--steps", 100000, "--repeat", "--timeout", TIMEOUT, "--log-every", 1,
                         *arguments, state=self.state()),
            env=self.environment(FIXTURE_SLEEP_MS=20, **variables),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        line = process.stderr.readline()
        self.assertIn("1/100000", line)
        ranks = children(process.pid)
        return process, ranks

    def finish(self, process, ranks):
        begin = time.monotonic()
        _, error = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - begin, TIMEOUT + 7)
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

    def test_a_stopped_rank_is_a_timeout(self):
        process, ranks = self.start()
        os.kill(ranks[1], signal.SIGSTOP)
        error = self.finish(process, ranks)
        self.assertEqual(process.returncode, 1)
        self.assertIn("timeout", error)
        self.expect_nothing_left()

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
        process.communicate(timeout=60)
        deadline = time.monotonic() + TIMEOUT + 5
        while time.monotonic() < deadline and any(self.is_running(rank) for rank in ranks):
            time.sleep(0.1)
        self.assertFalse([rank for rank in ranks if self.is_running(rank)])
        self.expect_nothing_left()

    @staticmethod
    def is_running(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def test_a_missing_member_is_a_timeout_and_leaves_nothing(self):
        begin = time.monotonic()
        result = self.run_tool("train4.so", "--steps", 1, "--timeout", 2, state=self.state(), job=False,
                               environment=self.environment(RANK=1, WORLD_SIZE=4, MASTER_PORT=self.job))
        self.assertEqual(result.returncode, 1)
        self.assertIn("rank 1: timeout", result.stderr)
        self.assertLess(time.monotonic() - begin, 10)
        self.expect_nothing_left()

    def test_ranks_that_diverge_are_found_out(self):
        error = self.refuse("train4.so", "--steps", 3, state=self.state(),
                            environment=self.environment(FIXTURE_DIVERGE=1))
        self.assertIn("the ranks do not agree on the state that they share", error)
        self.assertIn("ended with different bits in 'state['params']['b']'", error)


if __name__ == "__main__":
    unittest.main()
