"""Trains the steps under test in JAX and with cgx.

Every test of this folder runs on four virtual devices, with the cgx_jax of this tree, and takes
from the environment

    CGX_OPT      the path of cgx-opt; tests that need it are skipped without it
    CGX_RUN      the path of cgx-run, likewise
"""

import importlib
import importlib.util
import inspect
import json
import os
import pathlib
import subprocess
import sys
import typing
import unittest

DEVICES = 4
# XLA may omit roundings to 16 bits between operations that it fuses; native code never does.
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES} --xla_allow_excess_precision=false"

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
EXAMPLES = ("mlp-digits", "transformer-lm", "verse-cnn")
sys.path[:0] = [str(FOLDER), str(FOLDER.parent), str(FOLDER / "steps"), str(ROOT / "tools" / "jax")]

import jax
import numpy as np

import cgx_jax
from cgx_jax import trees

needs_opt = unittest.skipUnless(os.environ.get("CGX_OPT"), "CGX_OPT names no cgx-opt")
needs_run = unittest.skipUnless(os.environ.get("CGX_RUN"), "CGX_RUN names no cgx-run")


class Trained(typing.NamedTuple):
    """The result of a training run: the loss of each step, and the state by tensor name."""
    losses: list
    state: dict


def step_names():
    """Returns the steps of steps/, each a module."""
    return sorted(path.stem for path in (FOLDER / "steps").glob("*.py"))


def load_step(name):
    """Returns the module of a step, and its (step, state, batch) on one device per rank."""
    module = importlib.import_module(name)
    return module, module.make(jax.devices()[:module.RANKS])


def parameters(step):
    """Returns the names that a step gives to its state and its batch."""
    return list(inspect.signature(step).parameters)


def load_example(name):
    """Returns the training script of an example as a module."""
    path = ROOT / "examples" / name / "train.py"
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def loss_of(result, state):
    """Returns (loss, next state) from the result of a step: the state is the element with its tree, and the loss is
    `loss` of the others, or the only number among them."""
    structure = jax.tree.structure(state)
    next_state = next(part for part in result if jax.tree.structure(part) == structure)
    metrics = next(part for part in result if part is not next_state)
    loss = metrics["loss"] if isinstance(metrics, dict) else metrics
    return float(np.mean(loss)), next_state


def train_in_jax(step, state, batches, steps, parameter):
    """Trains in JAX. `parameter` is the step's name for its state. Waits for each step: on few cores XLA deadlocks when
    several steps with collectives are queued."""
    step = step if hasattr(step, "lower") else jax.jit(step)
    losses = []
    for _, batch in zip(range(steps), batches):
        loss, state = loss_of(step(state, batch), state)
        losses.append(loss)
    return Trained(losses, {name: trees.to_numpy(leaf)
                            for name, leaf in trees.named_leaves(state, parameter).items()})


class Refused(AssertionError):
    """The error of a tool that ended with a status other than 0. The message begins with its output."""


def run(tool, *arguments):
    """Runs cgx-opt or cgx-run (`tool` names its variable) and returns what it printed. Raises Refused."""
    result = subprocess.run([os.environ[tool], *map(str, arguments)], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Refused(f"{result.stderr[:4000]}\nexit status {result.returncode} of {' '.join(result.args)}")
    return result.stdout


def train_in_cgx(program, folder, ranks, steps, state, data, *options):
    """Trains with cgx-run, writes into `folder`, and returns (Trained, report). The losses are
    None when the step returns no scalar that is one."""
    saved, report = folder / "trained.safetensors", folder / "report.json"
    run("CGX_RUN", program, "--ranks", ranks, "--transport", "inproc", "--state", state, "--data", data,
        "--steps", steps, "--repeat", "--save", saved, "--report", report, "--quiet", *options)
    report = json.loads(report.read_text())
    losses = report["loss"]["per_step"] if report["loss"] else None
    return Trained(losses, cgx_jax.load(saved)), report


def distance(actual, expected, initial):
    """Returns the distance of two trained tensors, relative to how far training moved them."""
    actual, expected, initial = (np.asarray(t, np.float64) for t in (actual, expected, initial))
    moved = np.linalg.norm(expected - initial) + 1e-6 * np.linalg.norm(expected)
    apart = np.linalg.norm(actual - expected)
    return float(apart / moved) if apart else 0.0
