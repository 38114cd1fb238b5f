"""Tests the cache of compiled steps."""

import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import unittest

from harness import CGX_RUN, RunTest

CGX_COMPILE = os.environ["CGX_COMPILE"]
STEP = pathlib.Path(os.environ["CGX_EXAMPLES"]) / "mlp-digits" / "step.mlir"


class Cache(RunTest):
    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"

    def compile(self, *options, name="step.so", step=STEP):
        """Returns the library that was made, and the output."""
        out = self.folder / name
        result = subprocess.run([CGX_COMPILE, str(step), "-o", str(out), *options], capture_output=True, text=True,
                                timeout=300, env={**os.environ, "CGX_CACHE_DIR": str(self.cache)}, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return out.read_bytes(), result.stderr

    def test_who_makes_it_can_use_it_whatever_the_mask(self):
        subprocess.run([CGX_COMPILE, str(STEP), "-o", "step.so"], cwd=self.folder, umask=0o777, timeout=300,
                       env={**os.environ, "CGX_CACHE_DIR": str(self.cache)}, check=True)
        (entry,) = self.entries()
        modes = [path.stat().st_mode & 0o777 for path in (self.cache, self.cache / "steps", entry)]
        self.assertEqual(modes, [0o700, 0o700, 0o600])

    def entries(self):
        return sorted((self.cache / "steps").glob("llvmcache-*"))

    def test_the_second_start_takes_what_the_first_compiled(self):
        self.compile()
        (entry,) = self.entries()
        written = entry.stat().st_mtime_ns
        self.compile(name="again.so")
        self.assertEqual([entry], self.entries())
        self.assertEqual(entry.stat().st_mtime_ns, written)

    def test_another_compiler_has_entries_of_its_own(self):
        """Tests a compiler that was started by its name alone, which does not give its folder."""
        programs = self.folder / "bin"
        programs.mkdir()
        for times in (1, 2):
            shutil.copy(CGX_COMPILE, programs / "cgx-compile")  # a rebuilt compiler has a later time
            environment = {**os.environ, "CGX_CACHE_DIR": str(self.cache), "PATH": f"{programs}:{os.environ['PATH']}"}
            for _ in range(2):
                subprocess.run(["cgx-compile", str(STEP), "-o", str(self.folder / "step.o")], env=environment, cwd=self.folder,
                               check=True, timeout=300)
            self.assertEqual(len(self.entries()), times)

    def test_program_and_options_have_entries_of_their_own(self):
        self.compile()
        self.compile("--mcpu=x86-64-v3")
        changed = self.folder / "changed.mlir"
        changed.write_text(STEP.read_text() + "\n")
        self.compile(step=changed)
        self.compile(name="step.o")
        self.assertEqual(len(self.entries()), 4)

    def test_a_damaged_entry_is_made_again(self):
        whole, _ = self.compile(name="step.o")
        (entry,) = self.entries()
        content = entry.read_bytes()
        for damaged in (b"", content[:100], content[:-1], content[:50] + b"\0" + content[51:]):
            entry.write_bytes(damaged)
            self.assertEqual(self.compile(name="step.o")[0], whole)
            self.assertEqual(entry.read_bytes(), content)

    def test_no_cache_neither_reads_nor_writes(self):
        self.compile("--no-cache")
        self.assertFalse(self.cache.exists())

    def test_where_there_is_no_room_for_it_nothing_is_kept(self):
        def fill_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        result = subprocess.run([CGX_RUN, str(STEP), "--state", str(STEP.with_name("state.safetensors")), "--data", str(STEP.with_name("train.safetensors")),
                                 "--transport", "inproc", "--steps", "1"], capture_output=True, text=True, timeout=300, check=False,
                                env=self.environment(CGX_CACHE_DIR=self.cache), preexec_fn=fill_disk)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.entries(), [])
        self.compile(name="step.o")
        (entry,) = self.entries()
        self.assertEqual(stat.S_IMODE(entry.stat().st_mode), 0o600)

    def test_a_folder_that_others_can_write_is_not_trusted(self):
        folder = self.cache / "steps"
        folder.mkdir(parents=True)
        folder.chmod(stat.S_IRWXU | stat.S_IRWXO)
        _, said = self.compile()
        self.assertIn("can be written by other users", said)
        self.assertEqual(self.entries(), [])

    def test_parts_that_are_compiled_side_by_side_make_the_same_step(self):
        _, said = self.compile()
        self.assertEqual(said, "")
        (entry,) = self.entries()
        first = entry.read_bytes()
        entry.unlink()
        self.compile()
        self.assertEqual(self.entries()[0].read_bytes(), first)


if __name__ == "__main__":
    unittest.main()
