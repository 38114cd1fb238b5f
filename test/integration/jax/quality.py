"""Trains the examples uncompressed and at 4 bits, each with several seeds, and compares their results on validation data.
Long: about a quarter of an hour on two cores.

    CGX_OPT=build/release/bin/cgx-opt CGX_RUN=build/release/bin/cgx-run \\
        python3 test/integration/jax/quality.py [--seeds 3] [--tolerance 0.01] [EXAMPLE...]

The seed orders the samples (--shuffle) and decides the stochastic rounding; both runs of a seed see the same samples in
the same order. Exit status 1 when, in the mean over the seeds, 4 bits are worse by more than the tolerance, relative to
the uncompressed run, in the validation metric: accuracy for the classifiers, loss for the language model. Standard
library only.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
STEPS = {"mlp-digits": 440, "transformer-lm": 700, "verse-cnn": 600}
# The validation metric, and True if more of it is better.
METRIC = {"mlp-digits": ("accuracy", True), "transformer-lm": ("loss", False),
          "verse-cnn": ("accuracy", True)}
CODECS = {"exact": None, "4 bit": "--cgx-compress=codec=quantize bits=4 bucket=128 rounding=stochastic"}


def run(*command):
    subprocess.run([str(part) for part in command], check=True)


def metrics(report):
    """Returns means over the run, by the last key of each metric's name."""
    report = json.loads(report.read_text())
    series = [report["loss"], *report["metrics"]]
    return {s["name"].replace("']", "").split("'")[-1].split(".")[-1]: s["mean"] for s in series if s}


def validate(example, codec, seed, folder):
    """Trains and returns the metrics on the validation data."""
    source, program, report = ROOT / "examples" / example, folder / "step.mlir", folder / "report.json"
    cgx_run = os.environ["CGX_RUN"]
    if CODECS[codec]:
        run(os.environ["CGX_OPT"], source / "step.mlir", CODECS[codec], "-o", program)
    else:
        program = source / "step.mlir"
    run(cgx_run, program, "--transport", "inproc", "--state", source / "state.safetensors",
        "--data", source / "train.safetensors", "--steps", STEPS[example], "--repeat", "--shuffle", "--seed", seed,
        "--save", folder / "trained.safetensors", "--quiet")
    run(cgx_run, source / "eval.mlir", "--transport", "inproc", "--state", folder / "trained.safetensors",
        "--data", source / "validation.safetensors", "--report", report, "--quiet")
    return metrics(report)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, metavar="N")
    parser.add_argument("--tolerance", type=float, default=0.01)
    parser.add_argument("examples", nargs="*", default=list(STEPS), metavar="EXAMPLE")
    arguments = parser.parse_args()

    worse = False
    for example in arguments.examples:
        metric, more_is_better = METRIC[example]
        reached = {codec: [] for codec in CODECS}
        for seed in range(arguments.seeds):
            for codec in CODECS:
                with tempfile.TemporaryDirectory() as folder:
                    reached[codec].append(validate(example, codec, seed, pathlib.Path(folder))[metric])
            print(f"{example}  seed {seed}  {metric}  " +
                  "  ".join(f"{codec} {values[-1]:.4f}" for codec, values in reached.items()), flush=True)
        exact, compressed = (statistics.mean(values) for values in reached.values())
        loss = (exact - compressed if more_is_better else compressed - exact) / exact
        worse |= not loss <= arguments.tolerance  # true for NaN as well
        print(f"{example}  mean    {metric}  exact {exact:.4f}  4 bit {compressed:.4f}  worse by {100 * loss:.2f} %")
    return int(worse)


if __name__ == "__main__":
    sys.exit(main())
