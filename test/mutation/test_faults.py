#!/usr/bin/env python3
"""faults.py changes one place of one line of code, and leaves comments, literals and what only talks alone."""

import pathlib
import unittest

import faults

SOURCE = """\
#include "a.h" // 1 < 2
namespace cgx {
  // if (a < b) return 1;
  const char *name = "a < b && c";
  if (first < last && !isDone)
    total += count * 2;
  assert(first == last);
  call(first, last);
  std::vector<int> values(7);
  return llvm::any_of(values, std::max);
}
"""


class Faults(unittest.TestCase):
    def changes(self, kind):
        return {(fault.line, fault.after.strip()) for fault in faults.faults(SOURCE) if fault.kind == kind}

    def test_each_kind(self):
        self.assertEqual(self.changes("comparison"), {(5, "if (first <= last && !isDone)")})
        self.assertEqual(self.changes("logic"), {(5, "if (first < last || !isDone)")})
        self.assertEqual(self.changes("negation"), {(5, "if (first < last && isDone)")})
        self.assertEqual(self.changes("condition"), {(5, "if (true)"), (5, "if (false)")})
        self.assertEqual(self.changes("arithmetic"), {(6, "total += count + 2;")})
        self.assertEqual(self.changes("constant"), {(6, "total += count * 3;"), (9, "std::vector<int> values(8);")})
        self.assertEqual(self.changes("statement"), {(6, ";"), (8, ";")})
        self.assertEqual(self.changes("quantifier"), {(10, "return llvm::all_of(values, std::max);")})
        self.assertEqual(self.changes("bound"), {(10, "return llvm::any_of(values, std::min);")})

    def test_one_line_changes_and_code_changes(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        for path in ("passes/rewrite/FilterLayers.cpp", "kernels/cpu/Quantize.cpp", "runtime/collective/Permute.cpp"):
            text = (root / path).read_text()
            found = faults.faults(text)
            self.assertGreater(len(found), 10, path)
            for fault in found:
                changed = fault.apply(text)
                pairs = zip(text.split("\n"), changed.split("\n"))
                self.assertEqual([i for i, (a, b) in enumerate(pairs, 1) if a != b], [fault.line])
                self.assertNotEqual(faults.blanked(text), faults.blanked(changed), f"{path}:{fault.line}")


if __name__ == "__main__":
    unittest.main()
