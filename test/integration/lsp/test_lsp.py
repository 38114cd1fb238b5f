"""Simulates an editor's session with cgx-lsp-server: it opens the step of an example and asks about the text under the
cursor, then breaks the step and gets the error's place.

    test_lsp.py build/release/bin/cgx-lsp-server
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
STEP = ROOT / "examples" / "mlp-digits" / "step.mlir"
SERVER = ""
HEAD = """module attributes {cgx.num_ranks = 2 : i64} {
func.func @main(%g: tensor<64x4xf32>) -> tensor<64x4xf32> {
"""
TAIL = """
  return %0 : tensor<64x4xf32>
}
}
"""


class Session:
    """A server, and the messages to and from it: JSON after a header with its length."""

    def __init__(self, server):
        self.process = subprocess.Popen([server, "--log=error"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.last_id = 0

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b":")
            if name == b"Content-Length":
                length = int(value)
        if not length:
            raise EOFError("the server has closed its output")
        return json.loads(self.process.stdout.read(length))

    def notify(self, method, parameters):
        self.send({"method": method, "params": parameters})

    def request(self, method, parameters):
        """Returns the result of a request; messages that come before it are notifications."""
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": parameters})
        while (answer := self.receive()).get("id") != self.last_id:
            pass
        return answer["result"]

    def wait_for(self, method):
        while (message := self.receive()).get("method") != method:
            pass
        return message["params"]

    def close(self):
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(timeout=30)


class LspTest(unittest.TestCase):
    def setUp(self):
        self.session = Session(SERVER)
        self.addCleanup(self.session.process.kill)
        capabilities = self.session.request(
            "initialize", {"processId": None, "rootUri": None, "capabilities": {}, "trace": "off"})["capabilities"]
        self.assertTrue(capabilities["hoverProvider"])
        self.session.notify("initialized", {})

    def open(self, text):
        """Returns the diagnostics of a document that the editor opens."""
        self.session.notify("textDocument/didOpen", {"textDocument": {
            "uri": STEP.as_uri(), "languageId": "mlir", "version": 1, "text": text}})
        return self.session.wait_for("textDocument/publishDiagnostics")["diagnostics"]

    def at(self, text, pattern):
        """Returns the place of group 1 of the first match, in the protocol's numbering."""
        found = re.search(pattern, text)
        start = text.rfind("\n", 0, found.start(1)) + 1
        return {"textDocument": {"uri": STEP.as_uri()},
                "position": {"line": text.count("\n", 0, start), "character": found.start(1) - start}}

    def test_the_step_of_an_example(self):
        text = STEP.read_text()
        self.assertEqual([entry for entry in self.open(text) if entry["severity"] == 1], [])

        hover = self.session.request("textDocument/hover", self.at(text, r"\b(stablehlo\.all_reduce)\b"))
        self.assertIn("stablehlo.all_reduce", hover["contents"]["value"])
        self.assertIn("replica_groups", hover["contents"]["value"])

        use = self.at(text, r"stablehlo\.dot_general (%\w+)")
        definitions = self.session.request("textDocument/definition", use)
        self.assertEqual(len(definitions), 1)
        self.assertLess(definitions[0]["range"]["start"]["line"], use["position"]["line"])
        self.assertEqual(self.session.close(), 0)

    def completions(self, line):
        """Returns the completions at the place of `|` in a line of a function."""
        text = HEAD + line.replace("|", "") + TAIL
        self.open(text)
        place = {"line": HEAD.count("\n"), "character": line.index("|")}
        found = self.session.request("textDocument/completion",
                                     {"textDocument": {"uri": STEP.as_uri()}, "position": place})
        return {item["label"] for item in found["items"]}

    def test_codecs_parameters_and_kinds_are_completed(self):
        reduce = "  %0 = cgx.all_reduce {}(%g) {{id = 0 : i64, groups = #cgx.groups<[[0, 1]]>, codecs = [{}], layers = [{}]}} : tensor<64x4xf32>"
        exact, layer = "#cgx.identity", '#cgx.layer<"params/w", gradient>'
        cases = {
            "codecs": (reduce.format("sum", "#cgx.|", layer), {"quantize", "topk", "natural", "lowrank", "error_feedback"}),
            "parameters": (reduce.format("sum", "#cgx.quantize<|>", layer), {"bits", "bucket", "rounding"}),
            "those that are left": (reduce.format("sum", "#cgx.quantize<bits = 4, |>", layer), {"bucket", "rounding"}),
            "values": (reduce.format("sum", "#cgx.quantize<bits = 4, rounding = |>", layer), {"nearest", "stochastic"}),
            "storages": (reduce.format("sum", "#cgx.error_feedback<#cgx.quantize<bits = 4>, storage = |>", layer), {"f32", "bf16", "int8"}),
            "kinds": (reduce.format("sum", exact, '#cgx.layer<"params/w", |>'), {"gradient", "weight", "activation", "outer_gradient", "other"}),
            "reductions": (reduce.format("|", exact, layer), {"sum", "mean", "max", "min", "product"}),
            "operations": ("  %0 = cgx.|", {"all_reduce", "all_gather", "reduce_scatter", "broadcast"}),
        }
        for what, (line, expected) in cases.items():
            with self.subTest(what):
                found = self.completions(line)
                self.assertLessEqual(expected, {label.removeprefix("cgx.") for label in found})
                if what == "those that are left":
                    self.assertNotIn("bits", found)
        self.assertEqual(self.session.close(), 0)

    def hover(self, text, pattern):
        return self.session.request("textDocument/hover", self.at(text, pattern))["contents"]["value"]

    def test_a_collective_shows_its_layer_its_codec_and_its_bytes(self):
        text = HEAD + ('  %0 = cgx.all_reduce mean(%g) codec(quantize<bits = 4, bucket = 128>) groups([[0, 1]]) id(3) '
                       'layer("params/w", gradient, [64, 4]) : tensor<64x4xf32>' + TAIL)
        self.assertEqual(self.open(text), [])
        row = "| params/w | gradient | 64x4xf32 | quantize bits=4 bucket=128 rounding=stochastic scale=bf16 | "
        shown = self.hover(text, r"(cgx\.all_reduce)")
        self.assertIn(row, shown)
        raw, wire = (int(number) for number in re.search(re.escape(row) + r"(\d+) \| (\d+) \|", shown).groups())
        self.assertEqual(raw, 64 * 4 * 4)  # two ranks: each sends a half and returns a half
        self.assertLess(wire, raw / 5)
        self.assertIn("```mlir", shown)  # an example, from the reference
        self.assertNotIn("Syntax:", shown)
        # On a clause, the text is about the layer, without the reference.
        self.assertIn(row, self.hover(text, r"(quantize<)"))
        self.assertNotIn("```mlir", self.hover(text, r"(quantize<)").split(row)[1])
        self.assertEqual(self.session.close(), 0)

    def test_a_started_collective_shows_its_layer(self):
        text = HEAD + ('  %h = cgx.start all_reduce mean(%g) groups([[0, 1]]) id(3) layer("params/w", gradient, [64, 4]) '
                       ': tensor<64x4xf32>\n  %0 = cgx.wait %h : !cgx.handle<tensor<64x4xf32>>' + TAIL)
        self.assertEqual(self.open(text), [])
        row = "| params/w | gradient | 64x4xf32 | identity | "
        for place in r"(cgx\.start)", r"(layer\()":
            self.assertIn(row, self.hover(text, place))
        self.assertEqual(self.session.close(), 0)

    def test_a_collective_of_a_step_shows_what_it_becomes(self):
        text = STEP.read_text()
        self.open(text)
        shown = self.hover(text, r"\b(stablehlo\.all_reduce)\b")
        self.assertIn("replica_groups", shown)  # the answer of MLIR's server
        self.assertRegex(shown, r"\| \S*params\S* \| gradient \| ")
        self.assertIn("identity", shown)
        self.assertEqual(self.session.close(), 0)

    def test_layers_of_the_module_are_completed(self):
        other = ('  %1 = cgx.all_reduce mean(%g) codec(identity) groups([[0, 1]]) id(1) '
                 'layer("params/other", gradient) : tensor<64x4xf32>\n')
        text = HEAD + other + '  %0 = cgx.all_reduce mean(%g) codec(identity) groups([[0, 1]]) id(0) layer("'
        self.open(text + '", gradient) : tensor<64x4xf32>' + TAIL)
        place = {"line": text.count("\n"), "character": len(text.rsplit("\n", 1)[1])}
        found = self.session.request("textDocument/completion", {"textDocument": {"uri": STEP.as_uri()}, "position": place})
        self.assertIn("params/other", {item["label"] for item in found["items"]})
        self.assertEqual(self.session.close(), 0)

    def test_what_cannot_be_read_has_the_servers_answers(self):
        text = HEAD + "  %0 = cgx.all_reduce mean(%g) codec(" + TAIL
        self.assertNotEqual(self.open(text), [])
        self.session.request("textDocument/hover", self.at(text, r"(cgx\.all_reduce)"))
        self.session.notify("textDocument/didChange", {
            "textDocument": {"uri": STEP.as_uri(), "version": 2},
            "contentChanges": [{"text": STEP.read_text()}]})
        self.assertIn("gradient", self.hover(STEP.read_text(), r"\b(stablehlo\.all_reduce)\b"))
        self.assertEqual(self.session.close(), 0)

    def test_a_text_that_the_parser_would_not_survive_is_refused_and_the_next_one_read(self):
        """For a text that is nested without end, or longer than the limit, the server reports the error and continues."""
        deep = "func.func @f() attributes {a = " + "[" * 100000 + "]" * 100000 + "} { return }"
        for text, said in ((deep, "nested at most"), (STEP.read_text() + "//" + "x" * (65 << 20), "expected a text of at most 64 MiB, got 65 MiB")):
            with self.subTest(said):
                self.assertIn(said, " ".join(entry["message"] for entry in self.open(text) if entry["severity"] == 1))
                self.assertEqual([entry for entry in self.open(STEP.read_text()) if entry["severity"] == 1], [])
        self.assertEqual(self.session.close(), 0)

    def test_what_is_no_file_of_bytecode_is_refused(self):
        """For an endless device, and for a folder, the request fails with the reason, and the session continues."""
        for path in ("/dev/zero", str(ROOT)):
            with self.subTest(path):
                self.session.last_id += 1
                self.session.send({"id": self.session.last_id, "method": "mlir/convertFromBytecode",
                                   "params": {"uri": pathlib.Path(path).as_uri()}})
                answer = self.session.receive()
                self.assertEqual(answer["id"], self.session.last_id)
                self.assertIn(path, answer["error"]["message"])
        self.assertEqual([entry for entry in self.open(STEP.read_text()) if entry["severity"] == 1], [])
        self.assertEqual(self.session.close(), 0)

    def test_an_error_is_where_it_is(self):
        text = STEP.read_text()
        line = self.at(text, r"stablehlo\.(dot_general) ")["position"]["line"]
        errors = self.open(text.replace("stablehlo.dot_general ", "stablehlo.dot_special ", 1))
        self.assertEqual([entry["range"]["start"]["line"] for entry in errors], [line])
        self.assertIn("custom op 'stablehlo.dot_special' is unknown", errors[0]["message"])
        self.assertEqual(self.session.close(), 0)


if __name__ == "__main__":
    SERVER = sys.argv.pop(1)
    unittest.main()
