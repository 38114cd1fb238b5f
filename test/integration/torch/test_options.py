"""Wrong options are rejected where they are written, warnings name that line, and rare kinds of models train as well."""

import functools
import json
import pathlib
import re
import sys
import unittest
import warnings

from launch import needs_torch_and_libraries, run
from ranks import PACKAGE

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(PACKAGE)]
from cgx_core import adaptation, choices
from cgx_core.saved_state import check_fits


@functools.cache
def answer():
    done = run("kinds")
    assert all(code == 0 for _, _, code in done), done[0][1][-3000:] + done[1][1][-3000:]
    return json.loads(done[0][0].splitlines()[-1])


class SolversTest(unittest.TestCase):
    def test_they_are_those_of_the_planner(self):
        source = (ROOT / "runtime" / "plan" / "Solver.cpp").read_text()
        self.assertEqual(re.findall(r'^ *(?:static .*)?\{"([\w+]+)", "', source, re.M), list(adaptation._SOLVERS))


class ConnectionTest(unittest.TestCase):
    def test_transports_are_those_of_the_runtime(self):
        source = (ROOT / "runtime" / "transport" / "kinds" / "TransportKinds.cpp").read_text()
        self.assertEqual(set(re.findall(r'^ *\{"([\w+]+)", "', source, re.M)), set(choices.TRANSPORTS))


class SavedStateTest(unittest.TestCase):
    def test_every_tensor_that_differs_is_named(self):
        check_fits({"a": 4, "b": 8}, {"b": 8, "a": 4}, "rank 0")
        with self.assertRaises(ValueError) as caught:
            check_fits({"a": 4, "b": 8, "c": 1}, {"b": 9, "c": 1, "d": 2}, "rank 1")
        self.assertRegex(str(caught.exception), r"(?s)^rank 1: .*; 3 tensors differ:\n  a: expected 4 bytes, which the state does not have\n"
                                                r"  b: expected 8 bytes, got 9\n  d: 2 bytes of the state, which are not expected$")


@needs_torch_and_libraries
class OptionsTest(unittest.TestCase):
    def assert_said(self, name, text):
        found = [line for said, line in answer()[name] if re.search(text, said)]
        self.assertEqual(len(found), 1, answer()[name])
        self.assertIn("cgx_torch.state(", found[0])

    def test_warnings_are_said_once_where_the_user_wrote(self):
        self.assert_said("misspelt", "exclude=.embd. matches the name of no layer")
        self.assert_said("lossy", "without error feedback")
        self.assert_said("double", "4 gradients of f64 stay exact, '0.weight', '0.bias'.*or train in f32")
        self.assert_said("complex said", "turn travels uncompressed: codecs take no torch.complex64")

    def test_wrong_options_are_refused_with_those_that_exist(self):
        self.assertRegex(answer()["solver"], 'ValueError: .*"accordion".*got .lgrecoo.: did you mean "lgreco"')
        self.assertRegex(answer()["true"], 'TypeError: .*"f32", "bf16", "int8".*got True')
        self.assertRegex(answer()["storage"], 'ValueError: .*got .f23.: did you mean "f32"')
        self.assertRegex(answer()["option"], "CompileError: .*bitss")
        self.assertRegex(answer()["no state"], r"TypeError: .*got None: write ddp_model.register_comm_hook\(cgx_torch.state\(ddp_model")

    def test_install_takes_a_plan_in_place_of_codecs(self):
        import cgx_torch
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nothing is compressed
            cgx_torch.install(plan="plan.json", min_elements=1).uninstall()
        with self.assertRaisesRegex(cgx_torch.CompileError, "bitss"):
            cgx_torch.install(plan="plan.json", bitss=4)

    def test_complex_parameters_travel_as_they_are(self):
        self.assertEqual(answer()["complex kinds"]["turn"], "identity")
        self.assertIn("quantize", answer()["complex kinds"]["enter.weight"])
        self.assertLess(answer()["complex"], 1e-6)

    def test_gradients_that_a_hook_around_casts_travel_in_that_type(self):
        self.assertEqual(set(answer()["cast types"]), {"bf16"})
        self.assertLess(answer()["cast"], 1e-3)

    def test_no_compiler_is_loaded_to_train(self):
        self.assertEqual(answer()["compilers"], [])

    def test_copies_have_no_connection(self):
        self.assertLess(answer()["copy"], 1e-6)
        self.assertLess(answer()["loaded"], 1e-6)
        self.assertRegex(answer()["use of a copy"], "RuntimeFailure: .*copy.register_comm_hook")


if __name__ == "__main__":
    unittest.main()
