#!/usr/bin/env python3
"""faults.py changes one place of one line of code, and leaves comments, literals and what only talks alone; switches.py
writes both readings of the line, where that can be done."""

import pathlib
import unittest

import faults
import switches

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

    def test_members_are_no_statements(self):
        source = "\n".join(["struct A { // of b", "  A(int b);", "  [[nodiscard]] int size() const;", "  virtual void f() = 0;", "  int n = 1;",
                            "  void g() {", "    call(n);", "  }", "  int c, d;", "};", "A make(int n) {", "  call(n);", "}"])
        self.assertEqual([(fault.line, fault.kind) for fault in faults.faults(source)],
                         [(5, "constant"), (7, "statement"), (12, "statement")])

    def test_what_is_constant_is_no_branch(self):
        self.assertIsNone(self.written("void f() {\n  constexpr int most = 3;\n}", "constant", "constexpr int most = 4;"))
        self.assertIsNone(self.written("void f() {\n  char text[3];\n}", "constant", "char text[4];"))

    def written(self, source, kind, after, number=7):
        """Returns the line of `source` with the fault of this kind that reads `after` as a branch, or None."""
        fault = next(one for one in faults.faults(source) if one.kind == kind and one.after.strip() == after)
        line = switches.switched(source.split("\n"), faults.blanked(source).split("\n"), fault, number)
        return line and line.strip()

    def test_statements_become_branches(self):
        for kind, line, after, expected in [
            ("statement", "  call(first, last);", ";", "{ if (cgxFault(7)) { ; } else { call(first, last); } }"),
            ("jump", "  continue;", "break;", "{ if (cgxFault(7)) { break; } else { continue; } }"),
            ("truth", "  return {a, false};", "return {a, true};",
             "{ if (cgxFault(7)) { return {a, true}; } else { return {a, false}; } }"),
        ]:
            self.assertEqual(self.written(f"{{\n{line}\n}}", kind, after), expected)
        # A line that continues a statement is no statement.
        self.assertIsNone(self.written("{\n  auto x = chain()\n  .add(first);\n}", "statement", ";"))

    def test_expressions_end_where_operators_bind_less(self):
        for kind, line, after, expected in [
            ("constant", "  int a = b * 2 + c;", "int a = b * 3 + c;", "int a = b * (cgxFault(7) ? (3) : (2)) + c;"),
            ("constant", "  int a = list()[0].size;", "int a = list()[1].size;",
             "int a = list()[(cgxFault(7) ? (1) : (0))].size;"),
            ("constant", "  int a = shift<2>(b) + c;", "int a = shift<3>(b) + c;",
             "int a = (cgxFault(7) ? (shift<3>(b)) : (shift<2>(b))) + c;"),
            ("arithmetic", "  int a = b - c * d + e;", "int a = b - c + d + e;",
             "int a = (cgxFault(7) ? (b - c + d) : (b - c * d)) + e;"),
            ("arithmetic", "  int a = b - c * d + e;", "int a = b + c * d + e;",
             "int a = (cgxFault(7) ? (b + c * d) : (b - c * d)) + e;"),
            ("comparison", "  bool a = b < c && d;", "bool a = b <= c && d;",
             "bool a = (cgxFault(7) ? (b <= c) : (b < c)) && d;"),
            ("comparison", "  bool a = b >> e == c;", "bool a = b >> e != c;",
             "bool a = (cgxFault(7) ? (b >> e != c) : (b >> e == c));"),
            ("comparison", "  for (int i = 0; i < n; ++i)", "for (int i = 0; i <= n; ++i)",
             "for (int i = 0; (cgxFault(7) ? (i <= n) : (i < n)); ++i)"),
            ("logic", "  if (a && b || c)", "if (a || b || c)", "if ((cgxFault(7) ? bool(a || b) : bool(a && b)) || c)"),
            ("logic", "  if (a && (b || c))", "if (a && (b && c))",
             "if (a && ((cgxFault(7) ? bool(b && c) : bool(b || c))))"),
            ("logic", "  if (a || b ||\n      c)", "if (a && b ||", "if ((cgxFault(7) ? bool(a && b) : bool(a || b)) ||"),
            ("negation", "  while (!a.b(c) && d)", "while (a.b(c) && d)",
             "while ((cgxFault(7) ? bool(a.b(c)) : bool(!a.b(c))) && d)"),
            ("condition", "  } else if (a < b) {", "} else if (true) {",
             "} else if ((cgxFault(7) ? bool(true) : bool(a < b))) {"),
            ("bound", "  f(a, std::min(b, c));", "f(a, std::max(b, c));",
             "f(a, (cgxFault(7) ? (std::max(b, c)) : (std::min(b, c))));"),
        ]:
            self.assertEqual(self.written(f"{{\n{line}\n}}", kind, after), expected)

    def test_what_goes_on_elsewhere_or_declares_is_left(self):
        self.assertIsNone(self.written("{\n  bool a = b && c &&\n           d;\n}", "logic", "bool a = b || c &&"))
        self.assertIsNone(self.written("{\n  if (auto a = find(b))\n    use(a);\n}", "condition", "if (true)"))
        self.assertIsNone(self.written("{\n  x = a +\n      b * 2.f(\n c);\n}", "arithmetic", "b + 2.f("))

    def test_lines_stay_where_they_are(self):
        numbered = {3: faults.faults(SOURCE)[0], 4: faults.faults(SOURCE)[-1]}
        text, numbers = switches.write(SOURCE, numbered, "/a/fault.h")
        self.assertEqual(numbers, {3, 4})
        begin, rest = text.split("#line 1\n")
        self.assertEqual(begin, '#include "/a/fault.h"\n')
        changed = [i for i, (a, b) in enumerate(zip(SOURCE.split("\n"), rest.split("\n")), 1) if a != b]
        self.assertEqual(changed, sorted(fault.line for fault in numbered.values()))
        self.assertEqual(switches.write(SOURCE, {}, "/a/fault.h"), (SOURCE, set()))

    def test_errors_blame_lines(self):
        output = """\
/a/b.cpp:12:3: \x1b[01;31merror: \x1b[mx
/a/b.h:7:1:   required from 'y'
/a/c.cpp:5:9: note: z
"""
        self.assertEqual(switches.blamed(output), {("/a/b.cpp", 12), ("/a/b.h", 7)})


if __name__ == "__main__":
    unittest.main()
