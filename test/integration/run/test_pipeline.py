"""Tests pipelines that send changes of activations, on the example with four stages and real text."""

import csv
import json
import os
import pathlib
import re
import struct
import subprocess
import unittest

from harness import CGX_RUN, RunTest, read_safetensors, tensor, write_safetensors

CGX_OPT = os.environ["CGX_OPT"]
CGX_BENCH = os.environ["CGX_BENCH"]
CGX_COMPILE = os.environ["CGX_COMPILE"]
EXAMPLE = pathlib.Path(os.environ["CGX_EXAMPLES"]) / "pipeline-lm"
BATCH, WINDOW = 16, 65
FORWARD = "bits=3 bucket=128 rounding=nearest"
STAGES, MICROBATCHES = 4, 4
TICKS = MICROBATCHES + STAGES - 1


class Pipelines(RunTest):
    def setUp(self):
        super().setUp()
        tokens = (EXAMPLE / "train.safetensors").read_bytes()
        length = struct.unpack("<Q", tokens[:8])[0]
        begin, _ = json.loads(tokens[8:8 + length])["batch['tokens']"]["data_offsets"]
        text = tokens[8 + length + begin:]
        # An epoch has two batches.
        self.data = self.folder / "data.safetensors"
        self.write_samples(self.data, text, range(2 * BATCH))

    def write_samples(self, path, text, ids):
        ids = list(ids)
        write_safetensors(path, {"batch['tokens']": tensor("I32", [len(ids), WINDOW], list(text[:len(ids) * WINDOW])),
                                 "batch['ids']": tensor("I32", [len(ids)], ids)})

    def run_step(self, compress, steps, *arguments, code=0, state=EXAMPLE / "state.safetensors", begin="--state", name="run",
                 transport="inproc", step=EXAMPLE / "step.mlir"):
        save, report = self.folder / f"{name}.safetensors", self.folder / f"{name}.json"
        options = ["--compress", compress] if compress else []
        result = subprocess.run(
            [CGX_RUN, *map(str, (step, "--ranks", 4, "--transport", transport, *options, begin, state, "--data",
                                 self.data, "--steps", steps, "--repeat", "--save", save, "--report", report, *arguments))],
            capture_output=True, text=True)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stderr, save, json.loads(report.read_text()) if report.exists() and code == 0 else None

    def test_first_visits_are_exact_and_later_ones_few_bits(self):
        delta = f"activation='{FORWARD} delta=f32 samples={2 * BATCH}'"
        _, _, exact = self.run_step("", 2, name="exact")
        shown, _, first = self.run_step(delta, 2, name="first")
        self.assertEqual(first["state_hash"], exact["state_hash"])
        self.assertRegex(shown, r"pipeline/forward: a rank keeps up to \d+ bytes of messages")
        _, _, later = self.run_step(delta, 4, name="later")
        _, _, direct = self.run_step(f"activation='{FORWARD}'", 4, name="direct")
        forward = [next(layer for layer in report["layers"] if layer["layer"] == "pipeline/forward") for report in (later, direct)]
        self.assertEqual(forward[0]["codec"]["family"], "quantize")
        # cgx-run itself compared the bytes that were sent with the promised ones, except for first visits.
        self.assertGreater(sum(forward[0]["wire_bytes_per_step"]), sum(forward[1]["wire_bytes_per_step"]))
        self.assertLess(sum(forward[0]["wire_bytes_per_step"]), sum(forward[0]["raw_bytes_per_step"]))
        _, _, through = self.run_step("", 4, name="through")
        lost = [abs(a - b) for a, b in zip(later["loss"]["per_step"][2:], through["loss"]["per_step"][2:])]
        self.assertLess(max(lost), 0.05)
        self.assertNotEqual(later["state_hash"], through["state_hash"])

    def test_nothing_is_sent_in_bubbles(self):
        """Losses and state equal, bit for bit, those of stages that send their results for no microbatch."""
        options = "activation=bits=4 activation-gradient='bits=6 rounding=nearest'"
        for name, chosen in (("exact", "activation=identity"), ("bits", options)):
            program = subprocess.run([CGX_OPT, EXAMPLE / "step.mlir", f"--cgx-compress={chosen}"], capture_output=True, text=True,
                                     check=True).stdout
            self.assertEqual(sorted(re.findall(r' sends\((.*?)\)', program)),
                             ['"0001111", "0011110", "0111100"', '"1111000", "0111100", "0011110"'])
            reports = []
            for kind, text in (("silent", program), ("noisy", re.sub(r' sends\(.*?\)', "", program))):
                step = self.folder / f"{name}-{kind}.mlir"
                step.write_text(text)
                reports.append(self.run_step("", 3, name=f"{name}-{kind}", step=step)[2])
            silent, noisy = reports
            self.assertEqual(silent["state_hash"], noisy["state_hash"])
            self.assertEqual(silent["loss"]["per_step"], noisy["loss"]["per_step"])
            for edge in ("pipeline/forward", "pipeline/backward"):
                few, many = ([layer["wire_bytes_per_step"] for layer in report["layers"] if layer["layer"] == edge][0]
                             for report in reports)
                self.assertEqual([sent * TICKS for sent in few], [sent * MICROBATCHES for sent in many])

    def test_profiles_and_simulations_count_no_bubbles(self):
        """The bytes of a step in the report count 4 of 7 ticks per edge, with one microbatch in each."""
        options = "activation=bits=4 activation-gradient='bits=6 rounding=nearest'"
        program, library = self.folder / "step.cgx.mlir", self.folder / "step.so"
        shown = subprocess.run([CGX_OPT, EXAMPLE / "step.mlir", f"--cgx-compress={options}", "--cgx-report=format=json", "-o", program],
                               capture_output=True, text=True, check=True).stderr
        wanted = json.loads(shown)
        # The profile is of the steps that ran.
        profile = self.folder / "profile.json"
        _, _, report = self.run_step("", 3, "--profile", profile, "--profile-steps", 2, "--candidate", "quantize bits=2..6 bucket=128",
                                     "--candidate", "activation_gradient=quantize bits=6 bucket=128 rounding=nearest", step=program)
        layers = {(layer["layer"], layer["kind"]): layer for layer in json.loads(profile.read_text())["layers"]}
        for edge, kind, bits in (("pipeline/forward", "activation", 4), ("pipeline/backward", "activation_gradient", 6)):
            with self.subTest(edge=edge):
                sent = next(layer for layer in report["layers"] if layer["layer"] == edge)
                candidates = layers[edge, kind]["candidates"]
                same = [each for each in candidates if each["codec"].get("bits") == bits]
                exact = [each for each in candidates if each["codec"]["family"] == "identity"]
                self.assertEqual([each["wire_bytes"] for each in same], [sum(sent["wire_bytes_per_step"])])
                self.assertEqual([each["wire_bytes"] for each in exact], [sum(sent["raw_bytes_per_step"])])
        # The simulation is of the compiled step.
        machine, prediction = self.folder / "machine.json", self.folder / "prediction.json"
        subprocess.run([CGX_COMPILE, program, "-o", library], check=True)
        subprocess.run([CGX_BENCH, "calibrate", "--ranks", "2", "--bytes", "64KiB", "--repetitions", "3", "-o", machine], check=True,
                       capture_output=True)
        subprocess.run([CGX_BENCH, "simulate", library, "--machine", machine, "--ranks", "4", "--json", prediction], check=True,
                       capture_output=True)
        self.assertEqual(json.loads(prediction.read_text())["predictions"][0]["wire_bytes"], wanted["wire_bytes_by_rank"])

    def test_a_resumed_run_has_the_bits_of_one_that_was_not_interrupted(self):
        both = f"activation='{FORWARD} delta=bf16 samples={2 * BATCH}' activation-gradient=bits=6"
        _, _, whole = self.run_step(both, 6, name="whole")
        _, half, _ = self.run_step(both, 3, name="half")
        kept = [name for name in read_safetensors(half)[0] if "messages[" in name]
        # Three edges have two ends each, with the messages and their sample ids.
        self.assertEqual(len(kept), 12, kept)
        _, _, rest = self.run_step(both, 3, begin="--resume", state=half, name="rest")
        self.assertEqual(rest["state_hash"], whole["state_hash"])

    def test_ranks_and_transports_agree(self):
        both = f"activation='{FORWARD} delta=f32 samples={2 * BATCH}' activation-gradient=bits=6"
        _, _, threads = self.run_step(both, 4, name="threads")
        _, _, processes = self.run_step(both, 4, name="processes", transport="shm")
        self.assertEqual(threads["state_hash"], processes["state_hash"])

    def test_along_the_axis_of_the_stages(self):
        """Codecs of an axis may send changes too; the gradients that travel back have no ids either."""
        delta = f"{FORWARD} delta=f32 samples={2 * BATCH}"
        _, _, everywhere = self.run_step(f"activation='{delta}'", 4, name="everywhere")
        _, _, along = self.run_step(f"along='stage<activation=\"{delta}\">'", 4, name="along")
        self.assertEqual(along["state_hash"], everywhere["state_hash"])

    def test_ids_beyond_the_samples_are_an_error_that_names_them(self):
        shown, _, _ = self.run_step(f"activation='{FORWARD} delta=f32 samples={BATCH}'", 2, code=1)
        self.assertRegex(shown, r"layer 'pipeline/forward', ids of samples of rank \d: expected ids from 0 to 15 \(samples=16\), got 16")

    def test_delta_says_what_it_lacks(self):
        shown, _, _ = self.run_step(f"activation='{FORWARD} delta=f32'", 1, code=1)
        self.assertIn("with samples=N, how many samples the data has", shown)
        shown, _, _ = self.run_step(f"activation='{FORWARD} delta=f32 samples=32' sample-ids=batch/nothing", 1, code=1)
        self.assertRegex(shown, re.escape("'batch/nothing', with the number of each sample of the batch in i32, found none"))

    def test_the_study_writes_its_page(self):
        subprocess.run([EXAMPLE.parents[1] / "tools/study/pipeline", "--epochs", "1", "--earlier", "1", "--seeds", "2", "--only", "exact", "--only",
                        "AQ-SGD 3/6", "--out", self.folder, "--tools", pathlib.Path(CGX_RUN).parent], capture_output=True, text=True, check=True)
        rows = list(csv.DictReader((self.folder / "loss.csv").read_text().splitlines()))
        self.assertEqual([(row["setting"], row["seed"], row["epoch"]) for row in rows],
                         [(label, seed, "1") for seed in "01" for label in ("exact", "AQ-SGD 3/6")])
        sent = {row["setting"]: float(row["bytes"]) for row in rows}
        self.assertLess(sent["AQ-SGD 3/6"], sent["exact"] / 1.5)  # the first epoch's activations are uncompressed
        page = (self.folder / "loss.md").read_text()
        self.assertRegex(page, r"\| AQ-SGD 3/6 \| [\d.]+ \| [+-][\d.]+ ± [\d.]+ % \| [\d.]+ ± [\d.]+ \|.*\| 2 \|")
        self.assertIn("</svg>", (self.folder / "loss.svg").read_text())


if __name__ == "__main__":
    unittest.main()
