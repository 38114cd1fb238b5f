"""Runs the three tools that read modules with a limit of time and of memory."""

import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

CGX_OPT, CGX_COMPILE, CGX_RUN = (os.environ[name] for name in ("CGX_OPT", "CGX_COMPILE", "CGX_RUN"))
VECTOR = "tensor<64xf32>"
MEMORY = 8 << 30  # bytes per process


class ToolTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, content, name="step.mlir"):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run_tool(self, *command, timeout=60, **options):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
                              timeout=timeout, preexec_fn=limit, check=False, **options)

    def refused(self, path, *words):
        """Expects that all tools end with a one-line error that contains the words."""
        for command in ([CGX_OPT, path, "-o", self.folder / "out.mlir"],
                        [CGX_COMPILE, path, "--no-cache", "-o", self.folder / "out.so"],
                        [CGX_RUN, path, "--no-cache", "--ranks", 1, "--steps", 1]):
            with self.subTest(tool=pathlib.Path(command[0]).name):
                result = self.run_tool(*command)
                self.assertGreater(result.returncode, 0, result.stderr[-2000:])  # not by a signal
                self.assertTrue(any(all(word in line for word in words) for line in result.stderr.splitlines()),
                                result.stderr[-2000:])
                for never in ("internal error", "Stack dump", "LLVM ERROR"):
                    self.assertNotIn(never, result.stderr)
