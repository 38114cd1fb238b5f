"""`cgx` runs the tools and reports on this machine, and all tools suggest the option that was likely meant."""

import json
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(os.environ["CGX_BIN"])
COMPLETION = os.environ["CGX_COMPLETION"]
MANUAL_PAGE = pathlib.Path(__file__).resolve().parents[3] / "cmake" / "manual_page.py"
VERSION = os.environ["CGX_VERSION"]
TOOLS = [tool for tool in ("opt", "compile", "run", "plan", "bench", "curves") if (BIN / f"cgx-{tool}").exists()]


def run(program, *arguments, **options):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False,
                          **options)


def cgx(*arguments):
    return run(BIN / "cgx", *arguments)


class Front(unittest.TestCase):
    def refuse(self, *arguments, status=2):
        result = cgx(*arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        return result.stderr

    def test_a_command_is_the_tool_of_that_name(self):
        for tool in TOOLS:
            own, through = run(BIN / f"cgx-{tool}", "--help"), cgx(tool, "--help")
            self.assertEqual(through.returncode, 0, through.stderr)
            self.assertIn(f"cgx-{tool}", through.stdout)
            self.assertEqual(through.stdout, own.stdout)

    def test_the_status_of_the_tool_is_that_of_cgx(self):
        self.assertEqual(cgx("run", "/nonexistent.so").returncode, run(BIN / "cgx-run", "/nonexistent.so").returncode)

    def test_unknown_commands(self):
        self.assertIn("got 'rnu' (did you mean 'run'?)", self.refuse("rnu"))
        self.assertIn("got 'fortran' (see --help)", self.refuse("fortran"))
        self.assertIn("expected a command", self.refuse())

    def test_a_tool_that_is_not_there_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = pathlib.Path(folder) / "cgx"
            shutil.copy(BIN / "cgx", alone)
            result = run(alone, "plan")
            self.assertEqual(result.returncode, 127)
            self.assertIn("cgx-plan is not beside this program", result.stderr)
            doctor = run(alone, "doctor", "--no-measure")
            self.assertEqual(doctor.returncode, 1)
            self.assertRegex(doctor.stdout, "MISSING +cgx-run")

    def test_versions(self):
        self.assertTrue(cgx("--version").stdout.startswith(f"cgx {VERSION}"))
        for tool in TOOLS:
            self.assertIn(f"cgx-{tool} {VERSION}", run(BIN / f"cgx-{tool}", "--version").stdout)

    def test_options_and_commands_that_were_meant(self):
        for arguments, meant in ((("run", "--rnaks", 2, "x.so"), "--ranks"), (("bench", "all-reduec"), "all-reduce"),
                                 (("plan", "solve", "--alpah=2", "p.json"), "--alpha"), (("doctor", "--no-mesure"), "--no-measure")):
            self.assertIn(f"(did you mean '{meant}'?)", self.refuse(*arguments))
        self.assertNotIn("did you mean", self.refuse("run", "--zebra", "x.so"))

    @unittest.skipUnless("opt" in TOOLS, "this build has no compiler")
    def test_the_help_of_the_compiler_has_its_passes_first(self):
        text = cgx("opt", "--help").stdout
        options = re.findall(r"(?m)^ *--([a-z-]+)", text)
        passes = [name for name in options if name.startswith("cgx-")]
        self.assertIn("cgx-compress", passes)
        self.assertIn("cgx-set-ranks", passes)
        self.assertNotIn("canonicalize", options)
        self.assertNotIn("amdgpu", text)
        self.assertLess(text.count("\n"), 400)
        self.assertIn("--canonicalize", cgx("opt", "--help-hidden").stdout)

    def test_the_doctor_measures_wherever_it_is_installed(self):
        with tempfile.TemporaryDirectory(prefix="it's a \"$HOME\", ") as folder:
            for tool in ("cgx", "cgx-bench", "cgx-run"):
                shutil.copy(BIN / tool, folder)
            self.assertRegex(run(pathlib.Path(folder) / "cgx", "doctor").stdout, "(?s)over shared memory:.*quantize")

    def test_the_doctor_measures(self):
        result = cgx("doctor")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        for subject in ("processor", "cores", "memory", "shared memory", "huge pages", "open files", "MPI", "NCCL", "GPU", "convolutions"):
            self.assertRegex(result.stdout, rf"(?m)^(ok|-|warning) +{subject} ")
        self.assertRegex(result.stdout, r"16 MiB +quantize bits=4")

    @unittest.skipUnless("run" in TOOLS, "this build has no cgx-run")
    def test_the_doctor_says_what_is_wrong_with_a_plugin(self):
        with tempfile.NamedTemporaryFile(suffix="_cpu_plugin.so") as file:
            file.write(b"no library")
            file.flush()
            result = run(BIN / "cgx", "doctor", "--no-measure", env={**os.environ, "CGX_PJRT": file.name, "VIRTUAL_ENV": "/nonexistent"})
            self.assertRegex(result.stdout, rf"(?m)^- +devices +expected a PJRT plugin, which is a shared library, got '{file.name}'")
            self.assertRegex(result.stdout, r"(?m)^ +-> for cgx-run --device install one")

    def test_the_doctor_says_the_same_to_programs(self):
        shown = cgx("doctor", "--no-measure")
        result = cgx("doctor", "--no-measure", "--json")
        told = json.loads(result.stdout)
        self.assertEqual(result.returncode, shown.returncode)
        self.assertEqual(list(told), ["cgx_doctor", "version", "can_train", "findings", "link"])
        self.assertEqual((told["cgx_doctor"], told["can_train"], told["link"]), (1, shown.returncode == 0, None))
        words = {"ok": "ok", "absent": "-", "warning": "warning", "missing": "MISSING"}
        lines = [line for line in shown.stdout.splitlines() if not line.startswith(" ")]
        self.assertEqual(len(lines), len(told["findings"]))
        for line, (subject, finding) in zip(lines, told["findings"].items()):
            self.assertEqual(set(finding), {"verdict", "found", "cure"})
            self.assertTrue(line.startswith(f"{words[finding['verdict']]:<8} {subject:<14} "), line)
            if subject != "memory":  # other processes allocate and free memory meanwhile
                self.assertTrue(line.endswith(finding["found"]), line)
            if finding["cure"]:
                self.assertIn(f"-> {finding['cure']}", shown.stdout)

    def test_the_doctor_measures_for_programs(self):
        result = cgx("doctor", "--json")
        link = json.loads(result.stdout)["link"]
        self.assertEqual((link["collective"], link["ranks"], link["transport"]), ("all_reduce", 2, "shm"))
        self.assertEqual({each["bytes"] for each in link["results"]}, {1 << 20, 16 << 20})

    def complete(self, *words):
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cgx; printf "%s\\n" "${COMPREPLY[@]}"'
        result = run("bash", "-c", script, "bash", COMPLETION, *words,
                     env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"})
        return result.stdout.split()

    def test_completion(self):
        self.assertIn("run", self.complete("cgx", "r"))
        self.assertEqual(self.complete("cgx", "run", "--rank"), ["--rank", "--ranks"])
        self.assertIn("all-reduce", self.complete("cgx", "bench", "all-r"))
        self.assertIn("--sizes", self.complete("cgx-bench", "all-reduce", "--si"))
        self.assertIn("--alpha", self.complete("cgx", "plan", "solve", "--al"))

    def test_completion_has_the_options_that_are_taken_and_no_others(self):
        words = self.complete("cgx", "run", "--")
        self.assertIn("--transport", words)
        self.assertNotIn("--cgx-compress", words)  # it is in the text of another option
        self.assertNotIn("--hostfile", words)  # it is in an example
        if "opt" in TOOLS:
            words = self.complete("cgx-opt", "--")
            self.assertIn("--cgx-compress", words)
            self.assertNotIn("--bits", words)  # it is an option of passes

    def test_completion_of_values(self):
        self.assertEqual(self.complete("cgx", "run", "--transport", "sh"), ["shm", "shm+mpi", "shm+tcp"])
        self.assertEqual(self.complete("cgx-run", "--transport", "=", "inp"), ["inproc"])
        self.assertEqual(self.complete("cgx-run", "--progress", ""), ["always", "never"])
        self.assertEqual(self.complete("cgx-plan", "solve", "--objective", "t"), ["time"])
        self.assertEqual(self.complete("cgx-bench", "all-reduce", "--codec", "q"), ["quantize"])
        self.assertEqual(self.complete("cgx", "bench", "all-reduce", "--transport", "inp"), ["inproc"])
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "state.safetensors").touch()
            self.assertEqual(self.complete("cgx", "run", "--state", f"{folder}/st"), [f"{folder}/state.safetensors"])

    @unittest.skipUnless("opt" in TOOLS, "this build has no compiler")
    def test_completion_of_codecs_and_layers(self):
        step = pathlib.Path(__file__).resolve().parents[3] / "examples" / "mlp-digits" / "step.mlir"
        for words in (("cgx-opt", step, "--cgx-compress", "="), ("cgx", "run", step, "--compress")):
            words = tuple(map(str, words))
            self.assertEqual(self.complete(*words, '"bits=4 buck'), ["bits=4", "bucket="])
            self.assertIn("overlap", self.complete(*words, "over"))
            self.assertEqual(self.complete(*words, '"exclude=params/dense1/'),
                             ["exclude=params/dense1/bias", "exclude=params/dense1/kernel"])
            self.assertEqual(self.complete(*words, '"bits=4 exclude=*bias,params/dense2/k'),
                             ["bits=4", "exclude=*bias,params/dense2/kernel"])

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_completion_for_zsh(self):
        """Simulates a user who types and presses the tab key."""
        with tempfile.TemporaryDirectory() as home:
            shell = Typist(pathlib.Path(COMPLETION).parent, home)
            self.assertIn("uce", shell.type("cgx-bench all-red\t", until="uce"))
            self.assertIn("--ranks", shell.type("cgx-run --rank\t\t", until="--ranks"))
            self.assertIn("roc", shell.type("cgx run --transport inp\t", until="roc"))
            self.assertIn("tize", shell.type("cgx-bench all-reduce --codec quan\t", until="tize"))
            if "opt" in TOOLS:
                step = pathlib.Path(__file__).resolve().parents[3] / "examples" / "mlp-digits" / "step.mlir"
                (pathlib.Path(home) / "s.mlir").symlink_to(step)
                shell.type("cd; echo he''re\n", until="here")
                self.assertIn("dense1/kernel", shell.type('cgx-opt s.mlir --cgx-compress="exclude=params/dense1/k\t', until="kernel"))
                self.assertIn("bucket=", shell.type('cgx-run s.mlir --compress "bits=4 buck\t', until="bucket="))


class Typist:
    """An interactive zsh with the completion of `folder`."""

    def __init__(self, folder, home):
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.environ.update(HOME=home, TERM="dumb", PATH=f"{BIN}:{os.environ['PATH']}")
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.type(f"fpath=({shlex.quote(str(folder))} $fpath); autoload -U compinit; compinit -u -D; unsetopt zle_bracketed_paste; echo re''ady\n",
                  until="ready")

    def type(self, text, until, seconds=60):
        """Types on an empty line, and returns the shell's output up to `until`."""
        os.write(self.terminal, b"\x15" + text.encode())
        shown, end = "", time.monotonic() + seconds
        while until not in shown.replace(text, "") and time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.1)[0]:
                shown += os.read(self.terminal, 65536).decode(errors="replace")
        return shown


class Manual(unittest.TestCase):
    """Manual pages, which are made from --help."""

    def page(self, tool):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.1"
            made = run(sys.executable, "-B", MANUAL_PAGE, "--name", tool, "--summary", "what it does", "--version", VERSION,
                       "--output", page, BIN / tool)
            self.assertEqual(made.returncode, 0, made.stderr)
            return page.read_text()

    def typed(self, tool):
        """Returns the page as it is shown, without macros."""
        text = self.page(tool)
        for name, roff in (("-", "\\-"), ("^", "\\(ha"), ("~", "\\(ti"), ("`", "\\(ga"), ("'", "\\(aq"), ("\\", "\\e")):
            text = text.replace(roff, name)
        return text

    def tools(self):
        return ["cgx", *(f"cgx-{tool}" for tool in TOOLS)]

    def test_commands_of_examples_stay_as_they_are(self):
        for tool in self.tools():
            said = run(BIN / tool, "--help").stdout
            examples = re.search(r"(?ms)^EXAMPLES\n(.*?)(?:^[A-Z]|\Z)", said)[1]
            commands = [line[4:] for line in examples.splitlines() if line.startswith("    ")]
            shown = [line for block in re.findall(r"(?ms)^\.EX\n(.*?)^\.EE", self.typed(tool)) for line in block.splitlines()]
            self.assertEqual(shown, commands, tool)

    def test_every_option_is_an_entry(self):
        for tool in self.tools():
            said = run(BIN / tool, "--help").stdout
            entries = re.findall(r"(?m)^\.TP\n\\fB(.*)\\fR$", self.typed(tool))
            options = re.findall(r"(?m)^ {2,6}(--?[a-z][^ =:,]*)", said[said.lower().index("\noptions:"):])
            self.assertGreater(len(options), 1)
            for option in options:
                self.assertTrue(any(re.match(rf"{re.escape(option)}(?![\w-])", entry) for entry in entries), (tool, option))

    def test_options_of_commands_are_in_the_page(self):
        page = self.typed("cgx-plan")
        self.assertIn('.SH "cgx-plan solve"', page)
        self.assertRegex(page, r"(?s)\.SH \"cgx-plan solve\".*\\fB--objective ")

    def test_statuses_have_an_entry_each(self):
        self.assertRegex(self.page("cgx-run"), r"(?s)\.SH \"EXIT STATUS\"\n\.TP\n\\fB0\\fR\n.*\n\.TP\n\\fB1\\fR\n.*\n\.TP\n\\fB128 \+ N\\fR")

    def test_pages_are_sound_to_groff(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        for tool in self.tools():
            page = self.page(tool)
            self.assertEqual(page.count("\n.RS"), page.count("\n.RE"), tool)
            shown = run("groff", "-man", "-Tutf8", "-ww", "-z", input=page)
            self.assertEqual(shown.stderr, "", tool)


if __name__ == "__main__":
    unittest.main()
