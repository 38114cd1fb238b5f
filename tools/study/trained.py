"""The parts that the studies of perplexity share: settings are trained and evaluated one after the other, and become
tables and a picture."""

import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

from pages import table

ROOT = pathlib.Path(__file__).resolve().parents[2]
DENSE = ROOT / "examples/transformer-lm"  # the model's first values and its data
RANKS = 4
COLUMNS = ["setting", "seed", "steps", "validation_loss", "accuracy", "wire_bytes", "raw_bytes"]


class Study:
    """`settings`: label to (step, options of --cgx-compress, "" for none)."""

    def __init__(self, name, description, folder, evaluation, settings, steps):
        self.settings, self.evaluation, self.name = settings, evaluation, name
        parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--steps", type=int, default=steps)
        parser.add_argument("--seeds", type=int, default=3)
        parser.add_argument("--minutes", type=float, default=20)
        parser.add_argument("--only", action="append", choices=settings)
        parser.add_argument("--add", action="store_true")
        parser.add_argument("--out", type=pathlib.Path, default=folder)
        parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "build/release/bin")
        self.arguments = parser.parse_args()
        self.labels = self.arguments.only or list(settings)
        # The intermediate files of another page are kept apart, so that its runs are not taken for those of the page in
        # the tree.
        self.work = ROOT / "build/study" / name if self.arguments.out == folder else self.arguments.out / "runs"
        self.rows = self._kept() if self.arguments.add else []

    def run(self):
        """Runs every setting with one seed before any with the next. Writes perplexity.csv and perplexity.svg."""
        self.work.mkdir(parents=True, exist_ok=True)
        begin = time.monotonic()
        for seed in range(self.arguments.seeds):
            for label in self.labels:
                if self._has(label, seed) or time.monotonic() - begin > 60 * self.arguments.minutes:
                    continue
                self.rows.append(self._train(label, seed))
                print(f"{label}, seed {seed}: loss {self.rows[-1]['validation_loss']}, "
                      f"{time.monotonic() - begin:.0f} s since the begin", file=sys.stderr, flush=True)
        order = list(self.settings)
        self.rows.sort(key=lambda row: (row["seed"], order.index(row["setting"])))
        with open(self.arguments.out / "perplexity.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)
        self._draw()

    def _draw(self):
        """Draws the losses of the first seed, from the reports of its runs, which are not in the tree."""
        reports = {row["setting"]: self._file(row["setting"], 0, "json") for row in self.rows if row["seed"] == 0}
        if missing := [label for label, report in reports.items() if not report.exists()]:
            print(f"{self.name}: perplexity.svg stays as it is: no reports of {', '.join(missing)}", file=sys.stderr)
            return
        curves = [f"{label}={report}" for label, report in reports.items()]
        subprocess.run([self.arguments.tools / "cgx-curves", *curves, "--no-table", "--svg",
                        self.arguments.out / "perplexity.svg", "--title", self.name, "--smooth", "20"], check=True)

    def _kept(self):
        """Returns the rows of perplexity.csv in the form in which they were written."""
        with open(self.arguments.out / "perplexity.csv", newline="", encoding="utf-8") as file:
            rows = [{column: value if column == "setting" else number(value) for column, value in row.items()}
                    for row in csv.DictReader(file)]
        for row in rows:
            if row["setting"] not in self.settings or row["steps"] != self.arguments.steps:
                sys.exit(f"{self.name}: --add: expected rows of known settings and {self.arguments.steps} steps in perplexity.csv, "
                         f"got {row['setting']}, {row['steps']} steps")
        return rows

    def _has(self, label, seed):
        return any(row["setting"] == label and row["seed"] == seed for row in self.rows)

    def _file(self, label, seed, kind):
        return self.work / ("".join(c if c.isalnum() else "_" for c in label) + f".{seed}.{kind}")

    def _train(self, label, seed):
        """Trains and evaluates a setting, and returns its row of the data."""
        step, options = self.settings[label]
        state, report, evaluation = (self._file(label, seed, kind) for kind in ("safetensors", "json", "eval.json"))
        compress = ["--compress", options] if options else []
        common = ["--ranks", str(RANKS), "--transport", "inproc", "--quiet"]
        subprocess.run([self.arguments.tools / "cgx-run", step, *common, *compress, "--state", DENSE / "state.safetensors",
                        "--data", DENSE / "train.safetensors", "--shuffle", "--seed", str(seed), "--steps",
                        str(self.arguments.steps), "--repeat", "--save", state, "--report", report],
                       check=True, stderr=subprocess.DEVNULL)
        subprocess.run([self.arguments.tools / "cgx-run", self.evaluation, *common, "--state", state, "--data",
                        DENSE / "validation.safetensors", "--report", evaluation], check=True)
        state.unlink()
        totals, measured = json.loads(report.read_text())["totals"], json.loads(evaluation.read_text())
        accuracy = next(m["mean"] for m in measured["metrics"] if "accuracy" in m["name"])
        return {"setting": label, "seed": seed, "steps": self.arguments.steps, "validation_loss": measured["loss"]["mean"],
                "accuracy": accuracy, "wire_bytes": totals["wire_bytes_per_rank_and_step"],
                "raw_bytes": totals["raw_bytes_per_rank_and_step"]}

    def perplexity(self, label):
        """Returns the mean and standard deviation over the seeds as text, or "" where nothing was run."""
        values = [math.exp(row["validation_loss"]) if row["validation_loss"] is not None else math.inf
                  for row in self.rows if row["setting"] == label]
        if not values:
            return ""
        if len(values) == 1:
            return f"{values[0]:.3f}"
        return f"{statistics.mean(values):.3f} ± {statistics.stdev(values):.3f}"

    def mean(self, label, column):
        return statistics.mean(row[column] if row[column] is not None else math.nan
                               for row in self.rows if row["setting"] == label)

    def table_of_settings(self, baselines):
        """Returns a table of all settings that were run. `baselines` gives, for each of them, the setting whose bytes
        it is compared with."""
        lines = []
        for label in self.settings:
            count = sum(row["setting"] == label for row in self.rows)
            if count == 0:
                continue
            sent = self.mean(label, "wire_bytes")
            exact = baselines(label)
            ratio = self.mean(exact, "wire_bytes") / sent if any(row["setting"] == exact for row in self.rows) else None
            lines.append([label, self.perplexity(label), f"{100 * self.mean(label, 'accuracy'):.2f} %", f"{sent / 1e6:.2f} MB",
                          f"{ratio:.2f}x" if ratio else "", str(count)])
        return table(["setting", "perplexity", "accuracy", "sent", "baseline sends", "runs"], lines)

    def table_of_options(self):
        """Returns a table of the options of each setting, and of the settings that were not run."""
        lines = [[label, f"`{options or 'none'}`", f"`{step.name}`"] for label, (step, options) in self.settings.items()]
        text = table(["setting", "options of `--cgx-compress`", "step"], lines)
        missing = [f"{label} (seed {seed})" for seed in range(self.arguments.seeds) for label in self.settings
                   if not self._has(label, seed)]
        return text + ("\nNot run, since time was up: " + ", ".join(missing) + ".\n" if missing else "")

    def write(self, text):
        (self.arguments.out / "perplexity.md").write_text(text, encoding="utf-8")


def number(text):
    """Parses the form in which csv writes an int, a float or None."""
    return None if not text else int(text) if text.isdecimal() else float(text)
