"""Tests cgx-run --elastic: ranks that die or join do not end a job with local steps."""

import itertools
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import time
import unittest

from harness import CGX_RUN, RunTest, children, read_safetensors, tensor, write_safetensors

EXAMPLE = pathlib.Path(os.environ["CGX_EXAMPLES"]) / "mlp-digits"
EVERY = 10
PATIENCE = int(os.environ.get("CGX_TEST_PATIENCE", 120))

# Two parameters follow a rank's own sample, and state of the inner optimizer adds samples up. Samples are multiples of
# 12, so that means of 1 to 4 ranks are whole numbers, and no rounding hides an error.
STEP = """
#g = #cgx.groups<[[%(group)s]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = %(ranks)d]>, cgx.num_ranks = %(ranks)d : i64} {
  func.func public @main(
      %%m: tensor<4xf32> {cgx.name = "state['m']", cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<4xf32>},
      %%v: tensor<2xf32> {cgx.name = "state['params']['v']", cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<2xf32>},
      %%w: tensor<4xf32> {cgx.name = "state['params']['w']", cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<4xf32>},
      %%x: tensor<1x4xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<%(ranks)dx4xf32>})
      -> (tensor<4xf32> {cgx.name = "result[0]['m']", cgx.feeds = 0 : i64, cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<4xf32>},
          tensor<2xf32> {cgx.name = "result[0]['params']['v']", cgx.feeds = 1 : i64, cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<2xf32>},
          tensor<4xf32> {cgx.name = "result[0]['params']['w']", cgx.feeds = 2 : i64, cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<4xf32>}) {
    %%row = stablehlo.reshape %%x : (tensor<1x4xf32>) -> tensor<4xf32>
    %%half = stablehlo.slice %%row [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    %%h = cgx.all_reduce mean(%%half) {id = 0 : i64, groups = #g, codecs = [#cgx.identity],
        layers = [#cgx.layer<"params/v", gradient, [2]>]} : tensor<2xf32>
    %%g = cgx.all_reduce mean(%%row) {id = 1 : i64, groups = #g, codecs = [#cgx.identity],
        layers = [#cgx.layer<"params/w", gradient, [4]>]} : tensor<4xf32>
    %%m1 = stablehlo.add %%m, %%g : tensor<4xf32>
    %%v1 = stablehlo.subtract %%v, %%h : tensor<2xf32>
    %%w1 = stablehlo.subtract %%w, %%g : tensor<4xf32>
    return %%m1, %%v1, %%w1 : tensor<4xf32>, tensor<2xf32>, tensor<4xf32>
  }
}
"""
WIDTHS = {"v": 2, "w": 4}


class OfRanks:
    """A model of plain averaging with ranks that leave: anchors, the ranks' own values and state of the inner optimizer
    as whole numbers."""

    def __init__(self, ranks, every, turns, overlaps):
        self.every, self.turns, self.overlaps = every, turns, overlaps
        self.anchor = {part: [0] * width for part, width in WIDTHS.items()}
        self.own = {part: [[0] * width for _ in range(ranks)] for part, width in WIDTHS.items()}
        self.sums = [[0] * 4 for _ in range(ranks)]

    def advance(self, rows, step):
        self.sums = [[m + v for m, v in zip(*each)] for each in zip(self.sums, rows)]
        for part, width in WIDTHS.items():
            before = self.own[part]
            own = self.own[part] = [[w - v for w, v in zip(*each)] for each in zip(before, rows)]
            if step % self.every + 1 != self.turns[part]:
                continue
            sent = before if self.overlaps else own
            mean = self.anchor[part] = [sum(each[i] for each in sent) / len(sent) for i in range(width)]
            self.own[part] = [[a + (now - then if self.overlaps else 0) for a, now, then in zip(mean, *each)] for each in zip(own, before)]

    def keep(self, ranks):
        self.sums = [self.sums[rank] for rank in ranks]
        self.own = {part: [own[rank] for rank in ranks] for part, own in self.own.items()}


class Elastic(RunTest):
    def setUp(self):
        super().setUp()
        self.metrics, self.report = self.folder / "metrics.jsonl", self.folder / "report.json"

    def command(self, ranks, *arguments, begin=("--state", EXAMPLE / "state.safetensors"), elastic=1, transport="shm"):
        return [*map(str, (CGX_RUN, EXAMPLE / "step.mlir", "--ranks", ranks, *begin, "--data", EXAMPLE / "train.safetensors", "--repeat", "--job", self.job,
                           "--transport", transport, "--local-steps", f"every={EVERY} outer=nesterov<lr=0.7 momentum=0.9>", "--compress", "bits=4",
                           "--elastic", elastic, "--report", self.report, *arguments))]

    def start(self, ranks, *arguments, steps=4000, **options):
        return subprocess.Popen(self.command(ranks, "--steps", steps, "--metrics", self.metrics, *arguments, **options), text=True,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**self.environment(), "TMPDIR": str(self.folder)})

    def wait_for(self, job, step):
        """Waits until the job has done so many steps."""
        deadline = time.monotonic() + PATIENCE
        while not self.metrics.exists() or self.steps_done() < step:
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(job.poll(), "the job is over too early")
            time.sleep(0.005)

    def steps_done(self):
        lines = self.metrics.read_text().splitlines()
        for line in reversed(lines):
            try:
                return json.loads(line)["step"]
            except (json.JSONDecodeError, KeyError):  # the last record is still being written
                continue
        return -1

    def end(self, job, code=0):
        _, error = job.communicate(timeout=PATIENCE)
        self.assertEqual(job.returncode, code, error)
        self.expect_nothing_left()
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith("cgx-")], [])
        return error

    def memberships(self):
        return json.loads(self.report.read_text())["memberships"]

    def reference(self, parts, steps):
        """Returns the saved state of a run that continues with other ranks by hand: (ranks, first step), one after the
        other."""
        save = None
        for (ranks, _), end in zip(parts, [first for _, first in parts[1:]] + [steps]):
            begin = ("--resume", save) if save else ("--state", EXAMPLE / "state.safetensors")
            save = self.folder / f"reference{end}.safetensors"
            subprocess.run([part for part in self.command(ranks, "--until", end, "--save", save, "--quiet", begin=begin)], check=True,
                           env=self.environment(), timeout=PATIENCE)
        return save.read_bytes()

    def test_ranks_that_die_are_left_behind(self):
        for transport in ("shm", "tcp"):
            with self.subTest(transport=transport):
                self.metrics.unlink(missing_ok=True)
                saved = self.folder / "saved.safetensors"
                job = self.start(4, "--save", saved, transport=transport)
                self.wait_for(job, 200)
                os.kill(children(job.pid)[3], signal.SIGKILL)
                error = self.end(job)
                first, second = self.memberships()
                self.assertEqual((first["ranks"], second["ranks"]), (4, 3))
                self.assertEqual(second["change"], "rank 3: killed by signal 9 (Killed)")
                self.assertIn(f"rank 3: killed by signal 9 (Killed): going on from step {second['first_step']} with 3 ranks, before 4", error)
                self.assertEqual(second["first_step"] % EVERY, 0)
                self.assertGreaterEqual(second["first_step"] + 2 * EVERY, 200)
                self.assertEqual(saved.read_bytes(), self.reference([(4, 0), (3, second["first_step"])], 4000))
                # Steps that were repeated are recorded once.
                self.assertEqual([json.loads(line)["step"] for line in self.metrics.read_text().splitlines()], list(range(4000)))

    def test_any_rank_may_die_again_and_again(self):
        job = self.start(4, transport="shm+tcp", steps=5000)
        for place, step in ((0, 200), (1, 1000), (0, 2000)):
            self.wait_for(job, step)
            os.kill(children(job.pid)[place], signal.SIGKILL)
            while len(self.memberships_said(job)) == 0:
                time.sleep(0.01)
        self.end(job)
        self.assertEqual([each["ranks"] for each in self.memberships()], [4, 3, 2, 1])

    def memberships_said(self, job, words="going on from step"):
        """Reads standard error up to the next message about another membership."""
        while line := job.stderr.readline():
            if words in line:
                return line
        return "over"

    def test_what_others_put_among_temporary_files_is_neither_read_nor_written(self):
        target = self.folder / "target"
        target.write_text("keep")
        job = self.start(2)
        link = self.folder / f"cgx-run-{job.pid}.membership-2.safetensors"
        link.symlink_to(target)  # a name that anyone can guess
        self.wait_for(job, 100)
        os.kill(children(job.pid)[1], signal.SIGKILL)
        self.assertIn("going on from step", self.memberships_said(job))
        _, error = job.communicate(timeout=PATIENCE)
        self.assertEqual(job.returncode, 0, error)
        self.assertEqual((target.read_text(), link.readlink()), ("keep", target))

    def test_a_rank_joins_as_a_copy_of_another(self):
        saved = self.folder / "saved.safetensors"
        job = self.start(2, "--save", saved)
        self.wait_for(job, 200)
        job.send_signal(signal.SIGUSR2)
        error = self.end(job)
        first, second = self.memberships()
        self.assertEqual((first["ranks"], second["ranks"], second["change"]), (2, 3, "1 rank joins"))
        self.assertIn("1 rank joins: going on from step", error)
        self.assertEqual(saved.read_bytes(), self.reference([(2, 0), (3, second["first_step"])], 4000))

    def start_of_whole_numbers(self, ranks, *arguments, steps=40000):
        self.program = self.folder / "step.mlir"
        self.program.write_text(STEP % {"ranks": ranks, "group": ", ".join(map(str, range(ranks)))})
        self.rows = [[12 * ((3 * row + 5 * i + row // 7) % 9 - 4) for i in range(4)] for row in range(ranks * steps)]
        data, state = self.folder / "x.safetensors", self.folder / "first.safetensors"
        write_safetensors(data, {"x": tensor("F32", [len(self.rows), 4], map(float, itertools.chain.from_iterable(self.rows)))})
        write_safetensors(state, {"state['m']": tensor("F32", [4], [0.0] * 4)} |
                          {f"state['params']['{part}']": tensor("F32", [width], [0.0] * width) for part, width in WIDTHS.items()})
        self.metrics.unlink(missing_ok=True)
        return subprocess.Popen([*map(str, (CGX_RUN, self.program, "--job", self.job, "--state", state, "--data", data, "--steps", steps, "--metrics",
                                            self.metrics, "--report", self.report, "--elastic", 1, *arguments))],
                                text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**self.environment(), "TMPDIR": str(self.folder)})

    def stop_behind_a_change(self, job):
        """Ends a job with a signal a few steps after the next membership, and returns its message about the change."""
        said = self.memberships_said(job)
        self.wait_for(job, int(re.search(r"from step (\d+)", said)[1]) + 3 * EVERY)
        job.send_signal(signal.SIGTERM)
        _, error = job.communicate(timeout=PATIENCE)
        self.assertIn(job.returncode, (0, 3), error)  # 0: all steps had been done before
        self.expect_nothing_left()
        return said

    def test_ranks_leave_where_fragments_take_turns_and_outer_steps_overlap(self):
        # Exchanges in transit, and the work of the ranks meanwhile, continue with the remaining ranks.
        ranks = 4
        for options, turns, overlaps, dead, transport in (
                (f"every={EVERY} fragments=2", {"v": EVERY, "w": EVERY // 2}, False, 3, "shm"),
                (f"every={EVERY} overlap", {"v": EVERY, "w": EVERY}, True, 1, "shm"),
                (f"every={EVERY} fragments=2 overlap", {"v": EVERY, "w": EVERY // 2}, True, 0, "tcp")):
            with self.subTest(options=options, dead=dead):
                saved = self.folder / "saved.safetensors"
                job = self.start_of_whole_numbers(ranks, "--save", saved, "--local-steps", options, "--transport", transport)
                self.wait_for(job, 100)
                os.kill(children(job.pid)[dead], signal.SIGKILL)
                self.assertIn(f"rank {dead}: killed by signal 9", self.stop_behind_a_change(job))
                first, second = self.memberships()
                self.assertEqual((first["ranks"], second["ranks"]), (4, 3))
                left, cut = [rank for rank in range(ranks) if rank != dead], second["first_step"]
                tensors, metadata = read_safetensors(saved)
                wanted, moved = OfRanks(ranks, EVERY, turns, overlaps), set()
                for step in range(cut):
                    wanted.advance(self.rows[ranks * step:ranks * (step + 1)], step)
                    moved |= {part for part in WIDTHS if any(wanted.anchor[part])}
                self.assertEqual(moved, set(WIDTHS), "nothing was exchanged")
                wanted.keep(left)
                begin = -(-ranks * cut // len(left)) - cut  # the first whole batch of unused samples
                for step in range(cut, int(metadata["cgx.steps"])):
                    wanted.advance(self.rows[len(left) * (step + begin):len(left) * (step + begin + 1)], step)
                got = {name: list(struct.unpack(f"<{len(data) // 4}f", data)) for name, (dtype, _, data) in tensors.items() if dtype == "F32"}
                self.assertEqual(got["local['state']['m']"], sum(wanted.sums, []))
                for part in WIDTHS:
                    self.assertEqual(got[f"state['params']['{part}']"], wanted.anchor[part])
                    self.assertEqual(got[f"local['state']['params']['{part}']"], sum(wanted.own[part], []))

    def test_nobody_joins_where_no_moment_has_equal_parameters(self):
        for options in (f"every={EVERY} fragments=2", f"every={EVERY} overlap"):
            with self.subTest(options=options):
                job = self.start_of_whole_numbers(2, "--local-steps", options, "--save", self.folder / "saved.safetensors")
                self.wait_for(job, 100)
                job.send_signal(signal.SIGUSR2)
                error = self.memberships_said(job, "nobody joins")
                self.assertIn("warning: nobody joins, since the job cannot go on with 3 ranks", error)
                self.assertIn("which fragments that take turns, and outer steps that overlap, never do", error)
                self.assertIn("as before: going on", self.stop_behind_a_change(job))

    def test_nobody_joins_where_the_samples_do_not_suffice(self):
        job = self.start(4, "--eval", EXAMPLE / "eval.mlir", "--eval-data", EXAMPLE / "validation.safetensors")
        self.wait_for(job, 200)
        job.send_signal(signal.SIGUSR2)
        self.assertIn("warning: nobody joins, since the job cannot go on with 5 ranks", self.end(job))
        self.assertEqual([each["ranks"] for each in self.memberships()], [4, 4])

    def test_too_few_ranks_end_the_job(self):
        job = self.start(3, elastic=3)
        self.wait_for(job, 200)
        os.kill(children(job.pid)[1], signal.SIGKILL)
        error = self.end(job, code=1)
        self.assertIn("rank 1: killed by signal 9 (Killed)", error)
        self.assertIn("2 ranks are left, and --elastic 3 asks for as many to go on", error)

    def test_a_signal_ends_it_as_any_other_run(self):
        save = self.folder / "saved.safetensors"
        job = self.start(2, "--save", save, steps=100000)
        self.wait_for(job, 100)
        job.send_signal(signal.SIGTERM)
        self.assertIn("stopped by signal 15", self.end(job, code=3))
        self.assertTrue(save.exists())

    def test_what_makes_no_sense_is_refused(self):
        def refuse(command, environment=None):
            result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment or self.environment())
            self.assertNotEqual(result.returncode, 0)
            return result.stderr
        self.assertIn("--elastic requires --local-steps", refuse([CGX_RUN, EXAMPLE / "step.mlir", "--elastic", "2"]))
        self.assertIn("--transport shm, tcp or shm+tcp with --elastic, got inproc", refuse(self.command(2, transport="inproc")))
        # Ranks of several hosts are marked by a launcher's variables, or by --rank.
        member = [part for part in self.command(2) if part not in ("--ranks", "2")]
        for error, launcher in ((refuse(member, self.environment(RANK=0, WORLD_SIZE=2, MASTER_PORT=1)), "RANK"),
                                (refuse([*self.command(2, transport="tcp"), "--rank", "0"]), "--rank")):
            self.assertIn(f"expected --elastic where one cgx-run starts all ranks, on one host, got rank 0 of 2 ({launcher}): "
                          "when a host of several is lost, start the others again with --resume", error)


if __name__ == "__main__":
    unittest.main()
