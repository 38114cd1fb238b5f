"""Tests of tools/abi: it finds any change of the C ABI without a new version.

    test_abi.py FOLDER     that the built libraries are in
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
COPIED = ("kernels/abi", "runtime/abi", "runtime/native/abi", "tools/compiler", "tools/jax/ffi")
RUNTIME, COMPILER = "runtime/abi/include/cgx/runtime.h", "tools/compiler/include/cgx/compiler.h"
LIBRARIES = ""


class AbiTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for part in COPIED:
            shutil.copytree(ROOT / part, self.root / part)

    def abi(self, *options):
        result = subprocess.run([ROOT / "tools/abi", "--root", self.root, *options], capture_output=True, text=True, check=False)
        return result.returncode, result.stderr

    def edit(self, header, before, after):
        path = self.root / header
        text = path.read_text()
        self.assertEqual(text.count(before), 1, before)
        path.write_text(text.replace(before, after))

    def raise_version(self, header, macro):
        version = int(re.search(rf"#define {macro} (\d+)u", (self.root / header).read_text())[1])
        self.edit(header, f"#define {macro} {version}u", f"#define {macro} {version + 1}u")
        return version + 1

    def expect_breaking(self, header, before, after, library="libcgx_runtime"):
        kept = (self.root / header).read_text()
        self.edit(header, before, after)
        for options in (), ("--write",):  # --write does not hide the change
            code, said = self.abi(*options)
            self.assertEqual(code, 1, said)
            self.assertIn(f"the C ABI of {library} has changed", said)
        (self.root / header).write_text(kept)

    def test_the_tree_is_as_described(self):
        result = subprocess.run([ROOT / "tools/abi", "--libraries", LIBRARIES], capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_enumerators_may_be_added(self):
        self.edit(RUNTIME, "  CGX_INTERNAL = 9\n", "  CGX_INTERNAL = 9,\n  CGX_TIRED = 10\n")
        self.assertEqual(self.abi(), (0, ""))

    def test_what_breaks_callers_is_found(self):
        self.expect_breaking(RUNTIME, "uint32_t timeout_ms;  /*", "uint64_t timeout_ms;  /*")
        self.expect_breaking(RUNTIME, "  uint32_t rank;\n  uint32_t ranks;\n", "  uint32_t ranks;\n  uint32_t rank;\n")
        self.expect_breaking(RUNTIME, "void cgx_context_destroy(cgx_context *context);", "")
        self.expect_breaking(RUNTIME, "void cgx_rt_run(int64_t context, int64_t collective);",
                             "void cgx_rt_run(int64_t context, int32_t collective);")
        self.expect_breaking(RUNTIME, "CGX_TIMEOUT = 5,", "CGX_TIMEOUT = 15,")
        self.expect_breaking(COMPILER, "  size_t option_count;\n", "", "libcgx_compiler")

    def test_another_version_may_change(self):
        self.edit(RUNTIME, "uint32_t timeout_ms;  /*", "uint64_t timeout_ms;  /*")
        raised = self.raise_version(RUNTIME, "CGX_ABI_VERSION")
        code, said = self.abi()
        self.assertEqual(code, 1)
        self.assertIn(f"libcgx_runtime.{raised}.abi is missing: tools/abi --write makes it", said)
        # The configuration of a program contains that of a context, so its version changes too.
        self.assertIn("the C ABI of libcgx_xla has changed", said)
        self.raise_version("tools/jax/ffi/include/cgx/xla.h", "CGX_XLA_ABI_VERSION")
        self.assertEqual(self.abi("--write"), (0, ""))
        self.assertEqual(self.abi(), (0, ""))

    def test_a_function_more_keeps_the_version(self):
        self.edit(RUNTIME, "void cgx_context_destroy(cgx_context *context);",
                  "void cgx_context_destroy(cgx_context *context);\nvoid cgx_context_polish(cgx_context *context);")
        code, said = self.abi()
        self.assertEqual(code, 1)
        self.assertIn("has grown", said)
        self.assertIn("cgx_context_polish", said)
        self.assertEqual(self.abi("--write"), (0, ""))
        self.assertEqual(self.abi(), (0, ""))

    def test_a_function_that_nobody_exports_is_found(self):
        self.edit(RUNTIME, "void cgx_context_destroy(cgx_context *context);",
                  "void cgx_context_destroy(cgx_context *context);\nvoid cgx_context_polish(cgx_context *context);")
        code, said = self.abi("--write", "--libraries", LIBRARIES)
        self.assertEqual(code, 1)
        self.assertIn("cgx/runtime.h declares cgx_context_polish, which ", said)


if __name__ == "__main__":
    LIBRARIES = sys.argv.pop(1)
    unittest.main()
