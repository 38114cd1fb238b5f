"""Runs cgx-run from outside, with files made here. Standard library only."""

import json
import os
import pathlib
import random
import struct
import subprocess
import tempfile
import unittest

CGX_RUN = os.environ["CGX_RUN"]
FIXTURES = pathlib.Path(os.environ["CGX_RUN_FIXTURES"])
# The seconds after which a run counts as hung, however busy the machine is.
PATIENCE = 300
FEATURES, CLASSES, SAMPLES = 64, 16, 100
FORMATS = {"F32": "f", "I32": "i", "U8": "B", "I64": "q", "F64": "d"}


def children(parent):
    """Returns the processes that `parent` has started and that have not ended, in the order of their start, so ranks
    are in order."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, its_parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has ended meanwhile
            continue
        if int(its_parent) == parent and state not in "ZX":
            found.append(int(stat.parent.name))
    return sorted(found)


def as_user(number):
    """Returns the beginning of a command with which root runs another as a user who may read every folder, wherever the
    tools and the test's files are, and may write only into those that are open to all."""
    capability = "+dac_read_search"
    return ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups", f"--inh-caps={capability}",
            f"--ambient-caps={capability}"]


def tensor(dtype, shape, values):
    values = list(values)
    return dtype, list(shape), struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, payload) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(payload)]}
        data += payload
    text = json.dumps(header).encode()
    # The file is replaced as a whole, because ranks that a test has started may be reading the old one.
    written = pathlib.Path(f"{path}.new")
    written.write_bytes(struct.pack("<Q", len(text)) + text + data)
    written.replace(path)


def read_safetensors(path):
    blob = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", blob[:8])[0]
    header = json.loads(blob[8:8 + size])
    metadata = header.pop("__metadata__", {})
    data = blob[8 + size:]
    tensors = {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
               for name, entry in header.items()}
    return tensors, metadata


def initial_state(ranks, weight=0.0):
    return {
        "state['count']": tensor("I32", [], [0]),
        "state['params']['b']": tensor("F32", [CLASSES], [0.0] * CLASSES),
        "state['params']['w']": tensor("F32", [FEATURES, CLASSES], [weight] * FEATURES * CLASSES),
        "state['shard']": tensor("F32", [2 * ranks, 3], range(6 * ranks)),
    }


def samples(count=SAMPLES, label="U8"):
    """Returns samples in which class c is a bump around feature 4c, with noise."""
    rng = random.Random(20261120)
    labels = [rng.randrange(CLASSES) for _ in range(count)]
    x = [(1.0 if f // 4 == y else 0.0) + rng.gauss(0, 0.1) for y in labels for f in range(FEATURES)]
    return {"x": tensor("F32", [count, FEATURES], x), "y": tensor(label, [count], labels)}


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = self.folder / "data.safetensors"
        write_safetensors(self.data, samples())

    def state(self, ranks=4, **options):
        path = self.folder / f"state{ranks}.safetensors"
        write_safetensors(path, initial_state(ranks, **options))
        return path

    @property
    def job(self):
        """Returns a job name that no other test on this machine uses."""
        return f"test-{self.folder.name}"

    def expect_nothing_left(self):
        self.assertEqual([name for name in os.listdir("/dev/shm") if self.job in name], [])

    def command(self, program, *arguments, state=None, data=None, lr="0.02", job=True):
        command = [CGX_RUN, str(FIXTURES / program)] + (["--job", self.job] if job else [])
        command += ["--state", str(state)] if state else []
        command += ["--data", str(data or self.data)]
        command += ["--set", f"lr={lr}"] if lr is not None and "eval" not in str(program) else []
        return command + [str(a) for a in arguments]

    def environment(self, **variables):
        """Returns this environment without the variables that would make the process a rank of another job."""
        keep = {k: v for k, v in os.environ.items()
                if not k.startswith(("RANK", "WORLD_SIZE", "OMPI_", "PMI", "SLURM_", "MASTER_"))}
        return {**keep, **{k: str(v) for k, v in variables.items()}}

    def run_tool(self, *arguments, timeout=PATIENCE, environment=None, **options):
        return subprocess.run(self.command(*arguments, **options), capture_output=True, text=True,
                              timeout=timeout, env=environment or self.environment(), check=False)

    def train(self, program, *arguments, ranks=4, state=None, **options):
        """Runs and returns (report, saved tensors)."""
        save, report = self.folder / "saved.safetensors", self.folder / "report.json"
        result = self.run_tool(program, "--save", save, "--report", report, *arguments,
                               state=state or self.state(ranks), **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(report.read_text()), read_safetensors(save)[0]

    def refuse(self, *arguments, code=1, **options):
        """Runs, expects the failure and returns its message."""
        result = self.run_tool(*arguments, **options)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stderr
