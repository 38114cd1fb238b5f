"""Tests the mpi transport under MPICH's mpirun, in a build that has Open MPI as well: the runtime loads the library for
the MPI that started its ranks. Tests that do not depend on the MPI are in test_mpi.py."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))

from harness import CGX_RUN, RunTest, children

MPIRUN = os.environ["CGX_MPIRUN_MPICH"]
BINARIES = pathlib.Path(CGX_RUN).parent
PATIENCE = int(os.environ.get("CGX_TEST_PATIENCE", 120))


class MpichTest(RunTest):
    def mpirun(self, ranks, *command, **environment):
        # UCX, which Debian's MPICH uses, prints a message about each heartbeat for which no receive was posted.
        return subprocess.run([MPIRUN, "-np", str(ranks), *map(str, command)], capture_output=True, text=True, timeout=PATIENCE,
                              env=self.environment(UCX_LOG_LEVEL="error", **environment), check=False)

    def suite(self, binary, ranks, pattern):
        done = self.mpirun(ranks, BINARIES / binary, f"--gtest_filter={pattern}", "--gtest_color=no", CGX_TEST_MPI=1)
        self.assertEqual((done.returncode, done.stdout.count("[  PASSED  ]")), (0, ranks), done.stdout + done.stderr)
        self.assertNotIn("[  PASSED  ] 0 tests", done.stdout)

    def test_messages(self):
        for test, ranks in {"MessagesOfEverySizeArriveWhole": 3, "PiecesAreGatheredAndScattered": 2, "EqualTagsKeepTheOrderOfPosting": 2,
                            "WhatARankSentBeforeItLeftArrives": 2, "AJobNameCanBeUsedAgain": 3}.items():
            with self.subTest(test):
                self.suite("TransportTest", ranks, f"*.{test}/Mpi")

    def test_collectives_have_the_bits_of_the_model(self):
        for ranks in (1, 2, 3, 5):
            with self.subTest(ranks):
                self.suite("CollectiveTest", ranks, "*/mpi*")
        self.suite("AllReduceTest", 4, "*InPlace/shmMpi*")

    def training(self, transport, *options):
        save = self.folder / f"{transport}.safetensors"
        return save, self.command("train4.so", "--transport", transport, "--repeat", "--save", save, *options, state=self.state(4),
                                  job=transport == "shm")

    def test_training_has_the_bits_of_shared_memory(self):
        saved, command = self.training("shm", "--steps", 30)
        subprocess.run(command, capture_output=True, timeout=PATIENCE, env=self.environment(), check=True)
        for transport in ("mpi", "shm+mpi"):
            save, command = self.training(transport, "--steps", 30)
            done = self.mpirun(4, *command)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(save.read_bytes(), saved.read_bytes())

    def test_a_killed_rank_ends_the_job(self):
        _, command = self.training("mpi", "--steps", 1000000)
        with subprocess.Popen([MPIRUN, "-np", "4", *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=self.environment(UCX_LOG_LEVEL="error")) as job:
            while len(ranks := [rank for proxy in children(job.pid) for rank in children(proxy)]) < 4:
                self.assertIsNone(job.poll())
                time.sleep(0.1)
            time.sleep(1)
            os.kill(ranks[2], signal.SIGKILL)
            self.assertRegex(job.communicate(timeout=PATIENCE)[0], "(SIGNAL|CODE): 9")
        self.assertNotEqual(job.returncode, 0)


if __name__ == "__main__":
    unittest.main()
