"""Tests surroundings that a user does not choose: closed streams, full disks, low limits, unusual folders. A tool does
its work or an error says why it cannot; nothing else is changed, and nothing is left behind."""

import itertools
import json
import os
import pathlib
import pty
import resource
import signal
import struct
import subprocess
import unittest

from harness import RunTest, as_user, read_safetensors

TOOLS = {name: os.environ[name] for name in ("CGX_RUN", "CGX_PLAN", "CGX_BENCH", "CGX_CURVES", "CGX_OPT", "CGX_COMPILE")
         if name in os.environ}
STREAMS = (0, 1, 2)
STEP = pathlib.Path(os.environ.get("CGX_EXAMPLES", "")) / "mlp-digits" / "step.mlir"


class Surroundings(RunTest):
    def call(self, command, *, status=0, **options):
        """Runs to the end, which must not be by a signal, and returns the output."""
        environment = options.pop("environment", {})
        result = subprocess.run([str(a) for a in command], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120,
                                env=self.environment(**environment), check=False, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr

    def limited(self, command, limit, value, **options):
        return self.call(command, preexec_fn=lambda: resource.setrlimit(limit, (value, value)), **options)

    def test_a_stream_that_is_closed_is_no_other_file(self):
        expected = self.train("train2.so", "--steps", 3, ranks=2)[1]
        for transport in ("shm", "tcp", "inproc"):
            for count in STREAMS:
                for closed in itertools.combinations(STREAMS, count + 1):
                    save = self.folder / f"{transport}{''.join(map(str, closed))}.safetensors"
                    report = save.with_suffix(".json")
                    command = self.command("train2.so", "--steps", 3, "--log-every", 1, "--transport", transport, "--save", save,
                                           "--report", report, state=self.state(2))
                    process = subprocess.run(command, env=self.environment(), timeout=120, check=False, stdin=subprocess.DEVNULL,
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                             preexec_fn=lambda: [os.close(stream) for stream in closed])
                    self.assertEqual(process.returncode, 0, f"{transport} without {closed}")
                    self.assertEqual(read_safetensors(save)[0], expected, f"{transport} without {closed}")
                    self.assertEqual(json.loads(report.read_text())["steps"], 3)
        self.expect_nothing_left()

    def test_what_was_to_be_printed_and_was_not_is_an_error(self):
        plain = {tool: ["--help"] for tool in TOOLS}
        run = self.command("train1.so", "--steps", 1, state=self.state(1))[1:]
        with open("/dev/full", "w", encoding="utf-8") as full:
            for tool, arguments in (*plain.items(), ("CGX_RUN", run), ("CGX_RUN", ["--version"])):
                said = self.call([TOOLS[tool], *arguments], status=1, stdout=full)
                self.assertRegex(said, "cannot write to standard output|No space left on device", (tool, arguments))

    def test_files_that_may_not_grow_are_an_error(self):
        save = self.folder / "saved.safetensors"
        save.write_text("old")
        for transport in ("inproc", "shm", "tcp"):
            command = self.command("train2.so", "--steps", 1, "--transport", transport, "--save", save, state=self.state(2))
            said = self.limited(command, resource.RLIMIT_FSIZE, 1024, status=1)
            self.assertIn("File too large", said)
            self.assertEqual(save.read_text(), "old")
        self.assertEqual([p.name for p in self.folder.iterdir() if ".part" in p.name], [])
        self.expect_nothing_left()

    def test_few_descriptors_are_enough_or_an_error(self):
        for transport in ("inproc", "shm", "tcp"):
            command = self.command("train4.so", "--steps", 1, "--timeout", 20, "--transport", transport, state=self.state())
            self.limited(command, resource.RLIMIT_NOFILE, 64)
            if transport != "inproc":  # it has no pipes
                self.assertIn("Too many open files", self.limited(command, resource.RLIMIT_NOFILE, 5, status=1), transport)
        self.expect_nothing_left()

    @unittest.skipUnless(os.geteuid() == 0, "only root can be a user of whom no other process counts")
    def test_few_processes_are_enough_or_an_error(self):
        user = 60000 + os.getpid() % 4000
        commands = [self.command("train2.so", "--steps", 2, "--timeout", 20, "--transport", transport, state=self.state(2))
                    for transport in ("inproc", "shm", "tcp")]
        commands += [[TOOLS[tool], STEP, "-o", "/dev/null"] for tool in ("CGX_OPT",) if tool in TOOLS]
        for count in (1, 2, 3, 4, 8):
            def limit(count=count):
                resource.setrlimit(resource.RLIMIT_NPROC, (count, count))
            for command in commands:
                result = subprocess.run([*as_user(user), *map(str, command)], capture_output=True, text=True, timeout=120, cwd="/", check=False,
                                        env=self.environment(HOME=self.folder, TMPDIR="/tmp", OPENBLAS_NUM_THREADS=1), preexec_fn=limit)
                self.assertIn(result.returncode, (0, 1), (count, command, result.stderr))
                if result.returncode == 1:
                    self.assertRegex(result.stderr, r"error: (.*: )?cannot start a (thread|process).*\(ulimit -u", (count, command))
                    self.assertNotIn("Stack dump", result.stderr)
        self.expect_nothing_left()

    @unittest.skipUnless("CGX_OPT" in TOOLS, "this build has no compiler")
    def test_no_colours_where_they_are_not_wanted(self):
        step = self.folder / "step.mlir"
        step.write_text("this is no program")
        for variables, coloured in (({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)):
            ours, theirs = pty.openpty()
            subprocess.run([TOOLS["CGX_OPT"], step, "-o", self.folder / "out.mlir"], stderr=theirs, stdout=subprocess.DEVNULL, timeout=120,
                           env=self.environment(**{"TERM": "xterm", **variables}), check=False)
            os.close(theirs)
            said = os.read(ours, 65536).decode()
            os.close(ours)
            self.assertIn("error", said)
            self.assertEqual("\x1b" in said, coloured, (variables, said))

    def test_the_rank_that_failed_first_is_named_first(self):
        # With tcp, ranks 1 to 3 wait for a file that rank 0 cannot write.
        command = self.command("train4.so", "--steps", 1, "--transport", "tcp", state=self.state())
        said = self.limited(command, resource.RLIMIT_FSIZE, 0, status=1)
        self.assertRegex(said, "(?m)^cgx-run: error: rank 0: .*File too large \\(ulimit -f\\)\n  ranks 1, 2, 3: did not end in time")

    @unittest.skipIf(os.environ.get("CGX_SANITIZE"), "sanitizers reserve more addresses than any limit")
    def test_little_memory_is_an_error(self):
        for size in (96 << 20, 128 << 20, 192 << 20, 640 << 20):
            for transport in ("inproc", "shm", "tcp"):
                command = self.command("train4.so", "--steps", 1, "--timeout", 20, "--transport", transport, state=self.state())
                result = subprocess.run(command, capture_output=True, text=True, timeout=120, env=self.environment(), check=False,
                                        preexec_fn=lambda size=size: resource.setrlimit(resource.RLIMIT_AS, (size, size)))
                # 127: the libraries cannot be mapped.
                self.assertIn(result.returncode, (1, 127), (size, transport, result.stderr))
                if result.returncode == 1:
                    self.assertRegex(result.stderr, r"cgx-run: error: expected addresses for \d+ MiB \(ulimit -v\), got")
        self.expect_nothing_left()

    def test_folders_of_temporary_files(self):
        odd = self.folder / "with spaces, ü and 'quotes'"
        odd.mkdir()
        command = self.command("train2.so", "--steps", 1, "--transport", "tcp", state=self.state(2))
        self.call(command, environment={"TMPDIR": odd})
        self.assertEqual(list(odd.iterdir()), [])
        self.call(command, environment={"TMPDIR": ""})
        said = self.call(command, environment={"TMPDIR": "/nonexistent"}, status=1)
        self.assertIn("'/nonexistent' ($TMPDIR, else /tmp): No such file or directory", said)

    def test_names_of_any_characters_in_any_locale(self):
        folder = self.folder / "жür 'α' \"β\" $(touch x) ; %s\n-"
        folder.mkdir()
        for variables in ({"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8"}, {"LC_ALL": "de_DE.UTF-8"}, {"LC_ALL": "nonsense"}):
            save, report = folder / "saved %n.safetensors", folder / "report.json"
            self.call(self.command("train2.so", "--steps", 2, "--save", save, "--report", report, state=self.state(2)),
                      environment=variables)
            self.assertEqual(json.loads(report.read_text())["steps"], 2)
            self.call([TOOLS["CGX_CURVES"], f"α={report}", "--svg", folder / "curves.svg"], environment=variables, stdout=subprocess.DEVNULL)
        self.assertEqual(sorted(p.name for p in folder.iterdir()), ["curves.svg", "report.json", "saved %n.safetensors"])

    def test_no_home_and_a_strict_mask(self):
        environment = {k: v for k, v in self.environment().items() if k not in ("HOME", "XDG_CACHE_HOME", "USER", "LOGNAME")}
        for transport in ("shm", "tcp"):
            save = self.folder / f"{transport}.safetensors"
            result = subprocess.run(self.command("train2.so", "--steps", 1, "--transport", transport, "--save", save, state=self.state(2)),
                                    env=environment, umask=0o777, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(save.stat().st_mode & 0o777, 0)
        folder = self.folder / "new" / "folder"
        result = subprocess.run(self.command("train2.so", "--steps", 1, "--save", f"{folder}/", state=self.state(2)),
                                env=environment, umask=0o777, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([made.stat().st_mode & 0o777 for made in (folder.parent, folder)], [0o700, 0o700])

    def test_a_folder_that_has_gone(self):
        gone = self.folder / "gone"
        gone.mkdir()
        command = self.command("train2.so", "--steps", 1, state=self.state(2))
        self.call(command, cwd=gone, preexec_fn=gone.rmdir)

    def test_headers_that_promise_too_much(self):
        state = self.folder / "state.safetensors"
        for size, text in ((2**63, b"{}"), (2**64 - 8, b"{}"), (2**32, b"{}"), (100_000_000, b"{" + b" " * 1000), (1 << 20, b"[" * (1 << 20)),
                           (1 << 20, b'{"a":' * ((1 << 20) // 5) + b" "), (0, b""), (2, b"{}")):
            state.write_bytes(struct.pack("<Q", size) + text)
            said = self.call(self.command("train2.so", "--steps", 1, state=state), status=1)
            self.assertIn("state.safetensors", said)
            self.assertLess(len(said), 4096)

    @unittest.skipUnless("CGX_COMPILE" in TOOLS, "this build has no compiler")
    def test_a_step_finds_a_runtime_in_a_folder_of_any_name(self):
        folder = self.folder / "a, b 'c' $d"
        folder.symlink_to(pathlib.Path(TOOLS["CGX_COMPILE"]).parent.parent / "lib")
        step = self.folder / "step.so"
        self.call([TOOLS["CGX_COMPILE"], STEP, "--runtime-dir", folder, "-o", step])
        loader = subprocess.run(["ldd", step], capture_output=True, text=True, check=True, env=self.environment(LD_LIBRARY_PATH=""))
        self.assertIn(f"{folder}/libcgx_runtime.so", loader.stdout)

    @unittest.skipUnless("CGX_COMPILE" in TOOLS, "this build has no compiler")
    def test_compiled_files_that_may_not_grow_are_an_error(self):
        for tool, name in (("CGX_OPT", "out.mlir"), ("CGX_COMPILE", "step.so"), ("CGX_COMPILE", "step.o")):
            said = self.limited([TOOLS[tool], STEP, "-o", self.folder / name], resource.RLIMIT_FSIZE, 1024, status=1,
                                environment={"CGX_CACHE_DIR": self.folder / "cache"})
            self.assertNotIn("Stack dump", said)
            self.assertFalse((self.folder / name).exists())


if __name__ == "__main__":
    unittest.main()
