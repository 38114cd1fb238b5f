"""Trains exported steps without a framework, by the program `cgx-run`, from Python."""

import dataclasses
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from cgx_core.libraries import folders

_STOPPED = 3  # the exit status of a run that a signal ended after a whole step, and that can be resumed


class RunError(RuntimeError):
    """An error message of cgx-run; `status` is its exit status."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


@dataclasses.dataclass(frozen=True)
class Run:
    """The results of a run.

    Attributes:
      metrics: of each step, in order: {"step", "time" (s since 1970), "seconds", "metrics": {"loss": ...},
        "wire_bytes", "communication_seconds", ...}, and {"step", "evaluation": {...}} after steps with an evaluation.
        Losses are means over the global batch.
      report: losses, speed and bytes of the whole run, as in `cgx-run --report`.
      checkpoint: the path of the state after the last step, which `resume=` takes; None where nothing was saved.
      is_complete: False where a signal ended it after a whole step.
    """
    metrics: list
    report: dict
    checkpoint: "pathlib.Path | None"
    is_complete: bool


def run(step, *, quiet=False, **options):
    """Trains or evaluates an exported step on ranks of this machine, natively on its processors, and waits for the end.

    Args:
      step: step.mlir, as `export_step` writes it, or step.so of `cgx-compile`.
      quiet: True prints nothing; else lines of progress and the summary go to sys.stderr as they come, in notebooks, too.
      options: of `cgx-run`, with underscores for dashes (`cgx-run --help`): ranks=4, steps=440, compress="bits=4",
        state="state.safetensors", data="train.safetensors", save="trained.safetensors", repeat=True, timeout=30 (s). Files are
        paths; `data` of samples along the first dimension of each tensor. A list gives an option again for each value; `set` and
        `feed` take a dict as well: set={"lr": 0.1}. None and False are left out.

    Returns:
      A Run: metrics for each step, the report and the path of the last checkpoint.

    Raises:
      RunError: cgx-run refused its options or inputs, or a rank failed; with its words.
      FileNotFoundError: there is no cgx-run.
      KeyboardInterrupt: on ctrl-C, once all ranks have ended after the same step and have saved.
    """
    program = _find_program()
    with tempfile.TemporaryDirectory(prefix="cgx-run-") as folder:
        metrics = pathlib.Path(options.pop("metrics", None) or pathlib.Path(folder) / "metrics.jsonl")
        report = pathlib.Path(options.pop("report", None) or pathlib.Path(folder) / "report.json")
        if metrics.suffix != ".jsonl":
            raise ValueError(f"expected metrics to be a file FILE.jsonl, which is read back, got '{metrics}'")
        words = [program, str(step), *_words({**options, "metrics": metrics, "report": report}), *["--quiet"] * quiet]
        status, said = _call(words)
        if status not in (0, _STOPPED):
            raise RunError(_error_in(said) or f"cgx-run ended with status {status}", status)
        lines = metrics.read_text(encoding="utf-8").splitlines() if metrics.exists() else []
        return Run([json.loads(line) for line in lines], json.loads(report.read_text(encoding="utf-8")) if report.exists() else {},
                   _checkpoint(options.get("save")), status == 0)


def _find_program():
    """Returns the path of cgx-run: the one beside the libraries that are used, or the one on PATH."""
    looked = [folder.parent / "bin" / "cgx-run" for folder in folders()]
    # In a wheel, the program lies beside the package of this module.
    looked.append(pathlib.Path(__file__).resolve().parents[1] / "cgx_native" / "bin" / "cgx-run")
    for path in looked:
        if path.exists():
            return str(path)
    found = shutil.which("cgx-run")
    if found:
        return found
    raise FileNotFoundError(f"cgx-run was not found: looked for {', '.join(map(str, looked))} and on PATH. It comes with "
                            "`pip install cgx[native]`, the Debian package 'cgx' or a build in a clone")


def _words(options):
    """Returns options in the form of a command line."""
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if isinstance(value, dict):
            value = [f"{key}={each}" for key, each in value.items()]
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            # Option and value are one word, because the value may begin with a dash.
            words += [f"{option}={each}" for each in (value if isinstance(value, (list, tuple)) else [value])]
    return words


def _call(words):
    """Runs a program, shows its output, and returns (status, output)."""
    said = []
    # The child gets a session of its own. Otherwise one ctrl-C would send it two signals, and the second ends it at
    # once.
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace", start_new_session=True)
    reader = threading.Thread(target=_show, args=(process.stdout, said), daemon=True)
    reader.start()
    try:
        status = process.wait()
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    finally:
        reader.join()
    return status, said


def _show(stream, said):
    with stream:
        for line in stream:
            said.append(line)
            if not line.startswith("cgx-run: error: "):  # an error line is raised instead
                sys.stderr.write(line)


def _error_in(said):
    """Returns the error message in the output, from its line on."""
    for index, line in enumerate(said):
        if line.startswith("cgx-run: error: "):
            return "".join(said[index:]).removeprefix("cgx-run: error: ").rstrip()
    return "".join(said).strip()


def _checkpoint(save):
    if save is None:
        return None
    path = pathlib.Path(save)
    steps = sorted(path.glob("step-*.safetensors")) if path.is_dir() else [path]
    return steps[-1] if steps and steps[-1].exists() else None
