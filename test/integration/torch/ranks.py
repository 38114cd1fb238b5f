"""Runs processes of a torch.distributed job, and returns how they ended."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import typing

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
PACKAGE = ROOT / "tools" / "torch"
sys.path.insert(0, str(FOLDER.parent))

import ports

HAS_LIBRARIES = (pathlib.Path(os.environ.get("CGX_LIBRARY_PATH", "/nowhere")) / "libcgx_compiler.so").exists()
NO_LIBRARIES = "CGX_LIBRARY_PATH names no folder with libcgx_compiler.so"
try:
    import torch
except ImportError:
    torch = None
NO_TORCH = "this Python has no torch: tools/setup --torch"
NO_FSDP = "FSDPModule.set_custom_reduce_scatter is as of torch 2.10"


def has_fsdp():
    """Returns true if torch has FSDP2 with collectives that can be replaced."""
    if torch is None:
        return False
    try:
        from torch.distributed.fsdp import FSDPModule
    except Exception:  # torch 1.13 cannot import FSDP under Python 3.11
        return False
    return hasattr(FSDPModule, "set_custom_reduce_scatter")


class Ended(typing.NamedTuple):
    """The end of a process."""
    printed: str
    said: str  # the standard error
    code: int

    def answer(self):
        """Returns the JSON that it printed last."""
        return json.loads(self.printed.splitlines()[-1])


def run(command, ranks=2, timeout=240, environment=None, of_rank=lambda rank: {}):
    """Runs `command(rank, port)`, a list of arguments of Python, in one process per rank, and returns how each ended.
    All of them have the variables that `torch.distributed.init_process_group` reads, `environment`, and the
    variables that `of_rank` gives for their rank.

    All of them have what `torch.distributed.init_process_group` reads from the environment, `environment` and what
    `of_rank` gives for their rank.
    """
    port = str(ports.reserve())
    shared = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(ranks),
                           "USE_LIBUV": "0",  # Debian's torch has no libuv
                           "PYTHONUNBUFFERED": "1"} | (environment or {})
    started = [subprocess.Popen([sys.executable, *map(str, command(rank, port))], env=shared | {"RANK": str(rank)} | of_rank(rank),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(ranks)]
    try:
        return [Ended(*process.communicate(timeout=timeout), process.returncode) for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()


def succeeded(ended, plain=False):
    """Returns true if a process ran to its end. For a process of torch alone, printing its last line is enough: torch
    2.15 sometimes aborts a process that used Gloo after that line, because it destroys a thread that is not joined
    (pytorch #190489)."""
    died_late = ended.code == -signal.SIGABRT and "terminate called without an active exception" in ended.said
    return ended.code == 0 or (plain and died_late and ended.printed.endswith("\n"))
