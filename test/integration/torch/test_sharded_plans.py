"""Tests plans of models that FSDP2 splits."""

import unittest

from launch import needs_torch_and_libraries
from test_fsdp import needs_interface, train


@needs_torch_and_libraries
@needs_interface
class ShardedPlanTest(unittest.TestCase):
    def test_a_plan_has_a_codec_for_each_direction_of_a_layer(self):
        """The plan is the one that `cgx-plan` makes from the profile."""
        measured, = train([{"profiled": [1, 5], "cgx": {"timeout": 60}}])
        profile = measured[0]["profile"]
        kinds = {(each["layer"], each["kind"]) for each in profile["layers"] if not each["layer"].endswith(" there are")}
        self.assertLessEqual({("blocks.0.up.weight", "weight"), ("blocks.0.up.weight", "gradient")}, kinds)
        codecs = {"weight": {"family": "quantize", "bits": 6, "bucket": 128}, "gradient": {"family": "quantize", "bits": 2, "bucket": 64}}
        plan = {"cgx_plan": 1, "program": "0", "solver": "uniform", "proven": False, "objective": "bytes",
                "layers": [{**{key: each[key] for key in ("layer", "kind", "dtype", "elements")}, "squared_error": 0.0, "wire_bytes": 1,
                            "raw_bytes": 1, "codec": codecs[each["kind"]]} for each in profile["layers"] if each["kind"] in codecs]}
        ours, replicas = train([{"cgx": {"plan": plan, "timeout": 60}}]), train([{"replicas": 2, "cgx": {"plan": plan, "timeout": 60}}], 4)
        for rank in (ours[0][0], replicas[0][0]):
            chosen = {(each["between"], each["kind"]): each["codec"] for each in rank["layers"]["layers"] if each["layer"] == "blocks.0.up.weight"}
            self.assertIn("bits=6 bucket=128", chosen["shards", "weight"])
            self.assertIn("bits=2 bucket=64", chosen["shards", "gradient"])
        self.assertIn("bits=8", chosen["replicas", "gradient"])


if __name__ == "__main__":
    unittest.main()
