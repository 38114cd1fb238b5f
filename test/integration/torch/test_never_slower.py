"""never_slower leaves uncompressed what codecs would make slower. All ranks make one choice from their common
measurements, and a resumed run keeps it."""

import json
import pathlib
import sys
import tempfile
import unittest

from launch import needs_torch_and_libraries, run
from test_fsdp import EXACT, needs_interface, train

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "python"))

from cgx_core import gain

KINDS = ("all_gather", "reduce_scatter", "all_reduce")
SLOW, FAST = dict.fromkeys(KINDS, 1e-6), dict.fromkeys(KINDS, 1e-8)
OPTIONS = {"gradients": "bits=2 error-feedback=f32", "timeout": 60}


class GainTest(unittest.TestCase):
    """Tests the prediction without ranks."""

    def manifest(self, *elements, family="quantize"):
        codec = {"family": family, "bits": 4}
        return {"collectives": [{"id": number, "kind": "all_reduce", "reduction": "sum", "operands": [
            {"elements": each, "dtype": "f32", "codec": codec}, {"elements": 10, "dtype": "f32", "codec": {"family": "identity"}}]}
            for number, each in enumerate(elements)]}

    def times(self, begin_exact, begin_coded, exact, coded, clock=1.0):
        ways = gain.ways_of(self.manifest(1000))

        def time_of(number):
            way, length = list(ways)[number // len(gain.LENGTHS)], gain.LENGTHS[number % len(gain.LENGTHS)]
            is_exact = "identity" in way
            return clock * ((begin_exact if is_exact else begin_coded) + (exact if is_exact else coded) * length)
        return gain.measure(ways, 2, time_of, list)

    def test_what_lies_between_lengths_is_predicted(self):
        times = self.times(1e-5, 3e-5, 4e-9, 1e-9)
        for elements in (gain.LENGTHS[0], 100_000, 3_000_000, 50_000_000):
            collective, = self.manifest(elements)["collectives"]
            self.assertAlmostEqual(times.predict(collective), 3e-5 + 1e-9 * elements, delta=2e-5)
            self.assertAlmostEqual(times.predict(collective, exact=True), 1e-5 + 4e-9 * elements, delta=2e-5)

    def test_what_is_short_stays_exact_where_codecs_begin_later(self):
        times = self.times(1e-5, 1e-4, 4e-9, 1e-9)
        self.assertEqual([times.pays(each) for each in self.manifest(5_000, 1_000_000)["collectives"]], [False, True])

    def test_measuring_ends_on_links_of_any_speed(self):
        for seconds in (1e-9, 1e-7, 1e-6):
            spent = []
            ways = gain.ways_of(self.manifest(1000))

            def time_of(number):
                spent.append(seconds * gain.LENGTHS[number % len(gain.LENGTHS)])
                return spent[-1]
            gain.measure(ways, 2, time_of, list)
            shortest = 6 * seconds * sum(gain.LENGTHS[:2])
            self.assertLessEqual(sum(spent), max(gain.SECONDS, shortest), seconds)

    def test_what_depends_on_shapes_is_not_judged(self):
        self.assertEqual(gain.ways_of(self.manifest(1000, family="lowrank")), {})


@needs_torch_and_libraries
@needs_interface
class NeverSlowerTest(unittest.TestCase):
    def train(self, *settings, ranks=2, **more):
        return train([{"steps": 4, **more, **each} for each in settings], ranks)

    def assert_same_bits(self, ours, theirs):
        self.assertEqual(ours[0]["losses"], theirs[0]["losses"])
        self.assertEqual([each["bits"] for each in ours], [each["bits"] for each in theirs])

    def test_what_would_be_slower_travels_exact_and_the_rest_as_it_would(self):
        careful = {**OPTIONS, "never_slower": True}
        mixed = [FAST | {"all_gather": 1e-6}, FAST | {"reduce_scatter": 1e-6}]
        pays, compressed, slower, exact, both, halves = self.train(
            {"cgx": careful, "measures": [[SLOW, FAST]] * 2}, {"cgx": OPTIONS}, {"cgx": careful, "measures": [[FAST, SLOW]] * 2},
            {"cgx": EXACT}, {"cgx": careful, "measures": [mixed] * 2}, {"cgx": {**OPTIONS, "gradients": "identity"}})
        self.assert_same_bits(pays, compressed)
        self.assert_same_bits(slower, exact)
        self.assert_same_bits(both, halves)
        self.assertEqual([(each["chosen"], each["collectives"]) for each in both[0]["layers"]["gains"]], [(3, 3), (0, 3)])
        self.assertTrue(all(each["measured"] > 0 for each in both[0]["layers"]["gains"]))
        self.assertIn("blocks.0: gradients travel exact, as codecs would make them slower here (never_slower=True)", both[0]["layers"]["left"])
        reasons = {each["exact_reason"] for each in slower[0]["layers"]["layers"] if each["layer"] == "blocks.0.up.weight"}
        self.assertEqual(reasons, {"would be slower"})

    def test_ranks_that_see_different_things_choose_alike(self):
        slightly = dict.fromkeys(KINDS, 1.1e-8)
        done, = self.train({"cgx": {**OPTIONS, "never_slower": True}, "measures": [[SLOW, FAST], [FAST, slightly]]})
        self.assertEqual([each["chosen"] for each in done[0]["layers"]["gains"]], [3, 3])
        self.assertEqual(len({each["gathered"] for each in done}), 1)

    def test_a_resumed_run_goes_on_with_what_was_chosen(self):
        mixed = [FAST | {"all_gather": 1e-6}, FAST | {"reduce_scatter": 1e-6}]
        for name, measures in (("pays", [SLOW, FAST]), ("mixed", mixed)):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                job = {"cgx": {**OPTIONS, "never_slower": True}, "measures": [measures] * 2}
                whole, resumed = self.train(job, {**job, "resume_at": 2, "folder": folder})
                self.assert_same_bits(resumed, whole)

    def test_data_parallel_models_choose_too(self):
        job = {"ddp": True}
        careful = {"gradients": "bits=2 error-feedback=f32", "timeout": 60, "never_slower": True}
        slower, exact, pays, compressed = self.train(
            {**job, "cgx": careful, "measures": [[FAST, SLOW]] * 2}, {**job, "cgx": EXACT},
            {**job, "cgx": careful, "measures": [[SLOW, FAST]] * 2}, {**job, "cgx": {**careful, "never_slower": False}})
        self.assert_same_bits(slower, exact)
        self.assert_same_bits(pays, compressed)
        self.assertEqual([each["chosen"] for each in slower[0]["layers"]["gains"]], [0])
        reasons = {(each["kind"], each["exact_reason"]) for each in slower[0]["layers"]["layers"]}
        self.assertIn(("gradient", "would be slower"), reasons)
        self.assertNotIn("other", {kind for kind, _ in reasons})

    def test_ranks_of_which_some_do_not_measure_are_told_so(self):
        for model in ({}, {"ddp": True}):
            with self.subTest(**model):
                done = run("sharded", json.dumps([{**model, "careful_one": 1, "cgx": {**OPTIONS, "timeout": 30}}]), timeout=120)
                for each in done:
                    self.assertNotEqual(each.code, 0)
                    self.assertIn("never-slower is not given in process 0, on in process 1", each.said)

    def test_what_really_is_measured_has_a_table(self):
        done, = self.train({"cgx": {**OPTIONS, "never_slower": True}})
        for row in done[0]["layers"]["gains"]:
            self.assertGreater(row["exact"], 0)
            self.assertGreater(row["compressed"], 0)


if __name__ == "__main__":
    unittest.main()
