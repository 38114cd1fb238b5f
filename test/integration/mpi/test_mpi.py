"""Tests the mpi transport under mpirun on this host: the transports' own suites, equality with the bits of other
transports, and ranks that die, stop or run another program."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))

import regression
from harness import CGX_RUN, RunTest
from mpijob import MpiJob

BINARIES = pathlib.Path(CGX_RUN).parent
# These are tests of TransportTest and their numbers of ranks. A failure ends MPI in its process, so each has an mpirun
# of its own.
TRANSPORT_TESTS = {
    "MessagesOfEverySizeArriveWhole": 3, "PiecesAreGatheredAndScattered": 2, "MessagesAreMatchedByTagNotByArrival": 2,
    "MessagesInTheMemoryOfGpusArriveWhole": 3, "EqualTagsKeepTheOrderOfPosting": 2, "SentBytesAreCountedWithoutHeaders": 2, "WhatARankSentBeforeItLeftArrives": 2,
    "AJobNameCanBeUsedAgain": 3,
}
TRANSPORT_FAILURES = {
    "AnotherLengthIsAMismatchOnBothSides": 2, "ARankInAnotherStepIsAMismatch": 2, "WaitingForARankThatLeftFailsAtOnce": 3,
    "SendingToARankThatLeftFailsWhenTheRingIsFull": 3, "AFailureReachesAllRanksWithItsReason": 3,
    "ASilentRankIsNamedAfterTheTimeout": 3, "RanksThatWaitForEachOtherSaySo": 2,
    "ASizeForWhichThereIsNoMemoryFailsTheGatherOnEveryRank": 2,
}
# These are tests of MpiFaultTest and their numbers of ranks.
FORGERIES = {
    "AStartOfMpiThatHangsEndsAfterTheTimeout": 1, "AMessageOfThreeGibibytesFromAnotherStepIsAMismatch": 2,
    "WhatComesAfterAFailureDoesNotReachTheMemoryOfItsReceive": 2, "AFailureOfAKnownStatusKeepsIt": 2,
    "AFailureOfStatusZeroIsAFailure": 2, "AFailureOfAnUnknownStatusIsAFailure": 2,
}


class MpiTest(RunTest):
    def mpi(self, ranks, *command, timeout=int(os.environ.get("CGX_TEST_PATIENCE", 120)), environment=None):
        return MpiJob(ranks, command, environment or self.environment()).wait(timeout)

    def suite(self, binary, ranks, pattern, **environment):
        """Runs tests of a suite as ranks of one job; all ranks must pass all of them."""
        result = self.mpi(ranks, BINARIES / binary, f"--gtest_filter={pattern}", "--gtest_color=no",
                          environment=self.environment(CGX_TEST_MPI=1, **environment))
        self.assertNotIn("FAILED", result.output)
        self.assertIn("[  PASSED  ]", result.output)
        self.assertNotIn("[  PASSED  ] 0 tests", result.output)
        return result

    def test_messages(self):
        for test, ranks in TRANSPORT_TESTS.items():
            with self.subTest(test):
                result = self.suite("TransportTest", ranks, f"*.{test}/Mpi")
                self.assertEqual((result.returncode, result.output.count("[  PASSED  ]")), (0, ranks))

    # One MPI takes GPU memory, and one does not. Here the processor stands for the GPU, and works late.
    def test_buffers_on_gpus(self):
        for takes in 0, 1:
            with self.subTest(takes):
                for binary, pattern in ("TransportTest", "*.MessagesInTheMemoryOfGpusArriveWhole/*pi"), \
                                       ("cgx-emulated-collective-test", "*.GiveTheBitsOfTheHost/*mpi*"):
                    result = self.suite(binary, 3, pattern, CGX_MPI_GPU=takes, CGX_TEST_LATE_STREAMS=1)
                    self.assertEqual((result.returncode, result.output.count("[  PASSED  ]")), (0, 3), binary)

    def test_a_wrong_word_on_gpus_is_refused(self):
        result = self.mpi(3, BINARIES / "TransportTest", "--gtest_filter=*.MessagesOfEverySizeArriveWhole/Mpi",
                          environment=self.environment(CGX_TEST_MPI=1, CGX_MPI_GPU="yes"))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("expected CGX_MPI_GPU to be 0 or 1, got 'yes'", result.output)

    # The ranks form two hosts: ranks 0 and 1, and the others.
    def test_messages_inside_of_hosts_and_between(self):
        for test, ranks in (TRANSPORT_TESTS | TRANSPORT_FAILURES).items():
            # If a rank gives up while others still look for their hosts, it ends their joining instead.
            if test != "AFailureReachesAllRanksWithItsReason":
                with self.subTest(test):
                    self.suite("TransportTest", ranks, f"*.{test}/ShmMpi")

    def test_collectives_over_hosts_have_the_bits_of_the_model(self):
        for suite, tests in ("AlgorithmTest", "*ByEveryAlgorithm"), ("CollectiveTest", "*CountersEqual*"), ("AllReduceTest", "*InPlace"):
            with self.subTest(suite):
                result = self.suite(suite, 4, f"{tests}/shmMpi*")
                self.assertEqual((result.returncode, result.output.count("[  PASSED  ]")), (0, 4))

    # The first rank that ends with an error ends the others too, so not all report that they passed.
    def test_failures(self):
        for test, ranks in TRANSPORT_FAILURES.items():
            with self.subTest(test):
                self.suite("TransportTest", ranks, f"*.{test}/Mpi")

    def test_what_mpi_and_other_ranks_do_wrong(self):
        for test, ranks in FORGERIES.items():
            with self.subTest(test):
                self.suite("MpiFaultTest", ranks, f"*.{test}")

    def test_a_rank_that_works_for_longer_than_the_timeout_is_waited_for(self):
        result = self.suite("FaultTest", 3, "*.ARankThatWorksForLongerThanTheTimeoutIsWaitedFor")
        self.assertEqual((result.returncode, result.output.count("[  PASSED  ]")), (0, 3))

    def test_collectives_have_the_bits_of_the_model(self):
        for ranks in (1, 2, 3, 5):
            with self.subTest(ranks):
                for suite in "AllReduceTest", "AlgorithmTest", "CollectiveTest":
                    result = self.suite(suite, ranks, "*/mpi*")
                    self.assertEqual((result.returncode, result.output.count("[  PASSED  ]")), (0, ranks), suite)

    def test_collectives_run_beside_the_step(self):
        for ranks in (1, 2, 3):
            with self.subTest(ranks):
                result = self.suite("StartTest", ranks, "Transports*")
                self.assertEqual((result.returncode, result.output.count("[  PASSED  ]")), (0, ranks))

    def training(self, transport, *options):
        save, report = self.folder / f"{transport}.safetensors", self.folder / f"{transport}.json"
        return save, report, self.command("train4.so", "--transport", transport, "--steps", 30, "--repeat", "--save", save,
                                          "--report", report, *options, state=self.state(4), job=transport == "shm")

    def test_training_has_the_bits_of_shared_memory(self):
        saved = {}
        for transport in ("mpi", "shm+mpi", "shm"):
            save, report, command = self.training(transport)
            if transport != "shm":
                result = self.mpi(4, *command)
                self.assertEqual(result.returncode, 0, result.output)
            else:
                subprocess.run(command, capture_output=True, timeout=120, env=self.environment(), check=True)
            saved[transport] = save.read_bytes(), json.loads(report.read_text())
        for transport in ("mpi", "shm+mpi"):
            self.assertEqual(saved[transport][0], saved["shm"][0])
            self.assertEqual(saved[transport][1]["totals"], saved["shm"][1]["totals"])
            self.assertEqual(saved[transport][1]["transport"], transport)

    @unittest.skipUnless(os.environ.get("CGX_OPT"), "this build has no compiler")
    def test_gcomp_has_the_bits_of_other_transports_and_resumes(self):
        for ranks in (2, 3):
            step, state, data = regression.write(self.folder, ranks)
            program = self.folder / f"gcomp{ranks}.mlir"
            subprocess.run([os.environ["CGX_OPT"], step, "-o", program,
                            "--cgx-compress=codec=gcomp optimizer=momentum error-feedback=bf16"], timeout=120, check=True)

            def train(transport, name, steps, *start):
                save, report = self.folder / f"{name}.safetensors", self.folder / f"{name}.json"
                command = [CGX_RUN, program, "--quiet", "--transport", transport, *start, "--data", data, "--steps", steps,
                           "--repeat", "--save", save, "--report", report]
                if transport == "mpi":
                    result = self.mpi(ranks, *command)
                    self.assertEqual(result.returncode, 0, result.output)
                else:
                    subprocess.run([*map(str, command), "--job", self.job, "--ranks", str(ranks)], capture_output=True,
                                   timeout=120, env=self.environment(), check=True)
                return save.read_bytes(), json.loads(report.read_text())

            with self.subTest(ranks):
                saved, report = train("mpi", "mpi", 8, "--state", state)
                for transport in ("shm", "inproc"):
                    expected, of_transport = train(transport, transport, 8, "--state", state)
                    self.assertEqual(saved, expected, transport)
                    self.assertEqual(report["totals"], of_transport["totals"])
                self.assertEqual(report["layers"][0]["codec"]["family"], "gcomp")
                train("mpi", "first", 5, "--state", state)
                resumed, _ = train("mpi", "second", 3, "--resume", self.folder / "first.safetensors")
                self.assertEqual(resumed, saved)

    def test_a_wrong_number_of_ranks_and_a_missing_mpirun_are_said(self):
        _, _, command = self.training("mpi")
        result = self.mpi(3, *command)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("exported for", result.output)
        alone = subprocess.run(command, capture_output=True, text=True, timeout=60, env=self.environment(), check=False)
        self.assertEqual(alone.returncode, 1)
        self.assertIn("mpirun -n 4 cgx-run", alone.stderr)

    def test_other_libraries_are_measured_in_the_same_run(self):
        libraries = None
        for collective in ("all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all"):
            with self.subTest(collective):
                report = self.folder / "bench.json"
                result = self.mpi(3, BINARIES / "cgx-bench", collective, "--transport", "mpi", "--sizes", "12KiB",
                                  "--repetitions", 2, "--warmup", 1, "--json", report)
                self.assertEqual(result.returncode, 0, result.output)
                series = json.loads(report.read_text())["results"]
                self.assertEqual(series[0]["variant"], "identity")
                self.assertTrue(series[1]["variant"].startswith("MPI_"), series)
                self.assertTrue(all(len(one["seconds"]) == 2 and min(one["seconds"]) > 0 for one in series))
                libraries = libraries or len(series)
                # Gloo has no reduce-scatter, and the build may have no Gloo.
                self.assertEqual(len(series), min(libraries, 2) if collective == "reduce-scatter" else libraries)

    def endless(self, *options):
        """Returns a job that trains until it is ended, and the processes of its ranks."""
        _, _, command = self.training("mpi", *options)
        command[command.index("--steps") + 1] = "1000000"
        job = MpiJob(4, command, self.environment())
        self.addCleanup(job.kill)
        ranks = job.started()
        deadline = time.monotonic() + 60
        while "steps/s" not in job.output and time.monotonic() < deadline:
            time.sleep(0.1)
        return job, ranks

    def test_a_killed_rank_ends_the_job(self):
        job, ranks = self.endless()
        os.kill(ranks[2], signal.SIGKILL)
        job.wait(timeout=30)
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("signal 9", job.output)

    # mpirun ends the others as soon as one has given up, so the one that would name the collective may not report it.
    def test_a_stopped_rank_is_named(self):
        job, ranks = self.endless("--timeout", 5)
        os.kill(ranks[1], signal.SIGSTOP)
        try:
            deadline = time.monotonic() + 60
            while "did not answer" not in job.output and time.monotonic() < deadline:
                time.sleep(0.1)
        finally:
            with contextlib.suppress(ProcessLookupError):  # mpirun may have ended it already
                os.kill(ranks[1], signal.SIGKILL)
        job.wait(timeout=30)
        self.assertRegex(job.output, r"rank 1 did not answer for 5000 ms")
        self.assertNotEqual(job.returncode, 0)


if __name__ == "__main__":
    unittest.main()
