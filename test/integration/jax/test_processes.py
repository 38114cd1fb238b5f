"""Steps of several processes, which connect through JAX's coordination service: over shared memory, and over TCP
between hosts, which CGX_HOST simulates with processes of this one. The user passes no name, port or secret of cgx.
An error in one process is an exception in all."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import ports

FOLDER = pathlib.Path(__file__).resolve().parent
HAS_LIBRARIES = all((pathlib.Path(os.environ.get("CGX_LIBRARY_PATH", "/nowhere")) / f"lib{name}.so").exists()
                    for name in ("cgx_xla", "cgx_compiler"))
IN_A_STEP = r"collective \d+ \(all_reduce of layer 'l\d/\w'"


class Job:
    """Processes of a job, and their output."""

    def __init__(self, job, processes=2, devices=1, per_host=None):
        port = ports.reserve()
        environment = os.environ | {"XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}", "JAX_PLATFORMS": "cpu",
                                    "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo"}
        self.processes = [
            subprocess.Popen([sys.executable, str(FOLDER / "process.py"), str(index), str(processes), str(port), json.dumps(job)],
                             env=environment | ({"CGX_HOST": str(index // per_host)} if per_host else {}),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for index in range(processes)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.communicate()

    def answer(self, index, timeout=240):
        """Returns (the last line that a process printed, its exit status, its standard error)."""
        printed, said = self.processes[index].communicate(timeout=timeout)
        lines = printed.splitlines()
        return json.loads(lines[-1]) if lines else None, self.processes[index].returncode, said


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so and libcgx_compiler.so")
class TrainingTest(unittest.TestCase):
    def train(self, job, **places):
        """Returns the output of the processes, all of which hold equal bits."""
        with Job(job, **places) as started:
            done = [started.answer(index) for index in range(len(started.processes))]
        for _, code, said in done:
            self.assertEqual(code, 0, said[-3000:])
        answers = [answer for answer, _, _ in done]
        self.assertEqual(len({answer["bits"] for answer in answers}), 1, "processes hold different parameters")
        self.assertEqual(len({answer["loss"] for answer in answers}), 1)
        return answers

    def test_two_processes_of_two_devices(self):
        answers = self.train({"options": {"bits": 4}}, devices=2)
        self.assertEqual([answer["ranks"] for answer in answers], [[0, 1], [2, 3]])
        self.assertEqual({answer["transport"] for answer in answers}, {"shm"})

    def test_over_tcp(self):
        over_shm = self.train({"options": {"bits": 4}}, processes=4)
        for options, place in (({"transport": "tcp"}, {}), ({}, {"per_host": 1}), ({}, {"per_host": 2})):
            with self.subTest(options=options, place=place):
                answers = self.train({"options": {"bits": 4} | options}, processes=4, **place)
                self.assertEqual({answer["transport"] for answer in answers}, {options.get("transport", "shm+tcp")})
                self.assertEqual(answers[0]["bits"], over_shm[0]["bits"])

    def test_sharded_weights(self):
        """Differences of gathered weights, and payloads that are decoded again, have the bits of one process."""
        for options in ({"weight": "bits=4 delta=bf16", "gradient": "bits=8"}, {"qsdp": True, "reuse_gathers": "all"}):
            with self.subTest(options=options):
                job = {"options": options | {"min_elements": 1}, "model": "fsdp"}
                alone = self.train(job, processes=1, devices=4)
                for places in ({"devices": 2}, {"processes": 4}, {"processes": 4, "per_host": 2}):
                    with self.subTest(places=places):
                        answers = self.train(job, **places)
                        self.assertEqual((answers[0]["bits"], answers[0]["loss"]), (alone[0]["bits"], alone[0]["loss"]))

    def test_two_hosts_of_two_devices_over_tcp(self):
        answers = self.train({"options": {"bits": 4}}, devices=2, per_host=1)
        self.assertEqual({answer["transport"] for answer in answers}, {"shm+tcp"})


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so and libcgx_compiler.so")
class FaultTest(unittest.TestCase):
    def assert_raised(self, answered, *expected):
        answer, code, said = answered
        self.assertEqual(code, 7, said[-3000:])
        for each in expected:
            self.assertRegex(answer["raised"], each)

    def test_a_process_that_is_killed(self):
        for victim in (1, 0):  # 0 hosts JAX's coordination service
            with self.subTest(victim=victim):
                jobs = [{"options": {"bits": 4}, "steps": 1000} for _ in range(4)]
                jobs[victim]["dies_at"] = 5
                with Job(jobs, processes=4, per_host=1) as started:
                    started.processes[victim].wait(timeout=240)
                    for index in set(range(4)) - {victim}:
                        answered = started.answer(index, timeout=60)
                        # The rank is reported as dead, not as silent: nobody waited for the timeout of 300 s.
                        self.assert_raised(answered, IN_A_STEP, f"rank {victim} died")

    def test_a_process_that_is_stopped(self):
        jobs = [{"options": {"bits": 4, "timeout": 3}, "steps": 1000} for _ in range(3)]
        jobs[2]["stops_at"] = 5
        with Job(jobs, processes=3, per_host=1) as started:
            for index in (0, 1):
                self.assert_raised(started.answer(index, timeout=120), IN_A_STEP, "rank 2 did not answer for 3000 ms")
            started.processes[2].send_signal(signal.SIGCONT)
            # The process learns of it unless JAX ends it first, because the others are gone.
            _, code, _ = started.answer(2, timeout=120)
            self.assertNotEqual(code, 0)

    def test_a_process_without_cgx(self):
        jobs = [{"options": {"bits": 4, "timeout": 10}} for _ in range(3)]
        jobs[1]["options"] = None
        with Job(jobs, processes=3) as started:
            for index in (0, 2):
                self.assert_raised(started.answer(index), "RuntimeFailure: process 1 compiled no step number 0 with cgx within "
                                   "10 s: do all processes compress the same steps?")
            _, code, said = started.answer(1)
            self.assertNotEqual(code, 0, said)

    def test_other_meshes(self):
        # The ranks of a step are the devices of its mesh, in their order.
        jobs = [{"options": {"bits": 4}} for _ in range(3)]
        jobs[1]["devices"] = [1, 0, 2]
        with Job(jobs, processes=3) as started:
            for index in range(3):
                self.assert_raised(started.answer(index), "RuntimeFailure: processes give step number 0 other meshes")

    def test_two_jobs_at_once(self):
        with Job({"options": {"bits": 4}, "steps": 50}) as first, Job({"options": {"bits": 4}, "steps": 50}) as second:
            answers = [job.answer(index) for job in (first, second) for index in range(2)]
        for _, code, said in answers:
            self.assertEqual(code, 0, said[-3000:])
        self.assertEqual(len({answer["bits"] for answer, _, _ in answers}), 1)

    def test_interrupted_by_the_keyboard(self):
        for place in ({}, {"per_host": 1}):
            with self.subTest(place=place):
                before = set(os.listdir("/dev/shm"))
                with Job({"options": {"bits": 4}, "steps": 100000, "says": 5}, **place) as started:
                    for process in started.processes:
                        self.assertEqual(process.stdout.readline(), "here\n")
                    for process in started.processes:
                        process.send_signal(signal.SIGINT)
                    for process in started.processes:
                        process.communicate(timeout=60)
                        self.assertNotEqual(process.returncode, 0)
                self.await_nothing_new(before)

    def await_nothing_new(self, before):
        """Waits until no new segment is left. Another suite on this machine may have segments at any time, which lose
        their names as soon as its ranks are connected."""
        left = {each for each in set(os.listdir("/dev/shm")) - before if "jax" in each or "tcp-" in each}
        deadline = time.monotonic() + 60
        while left and time.monotonic() < deadline:
            time.sleep(0.1)
            left &= set(os.listdir("/dev/shm"))
        self.assertEqual(left, set())

    def test_other_options_in_one_process(self):
        for options, expected in (({"bits": 2}, "compiled step number 0 to different programs: bits is 4 in process 0 and 2, 2 in process 1: give all"),
                                  ({"transport": "tcp"}, "want different transports for step number 0"),
                                  ({"seed": 3}, "seed: 0 on rank 0, 2; 3 on rank 1")):
            with self.subTest(options=options):
                jobs = [{"options": {"bits": 4}} for _ in range(3)]
                jobs[1]["options"] |= options
                with Job(jobs, processes=3, per_host=1) as started:
                    for index in range(3):
                        self.assert_raised(started.answer(index), "RuntimeFailure: .*" + expected)


if __name__ == "__main__":
    unittest.main()
