"""Tests that the table of tools/check loses no skip and no failure in the output of tests."""

import io
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import outcomes

SUITE = textwrap.dedent('''
    import unittest

    class Cases(unittest.TestCase):
        def test_passes(self):
            pass

        @unittest.skip("it's \\"quoted\\"")
        def test_quotes(self):
            pass

        def test_subtests(self):
            """Has a docstring."""
            for n in range(3):
                with self.subTest(n=n):
                    if n == 1:
                        self.skipTest("one of them")

        def test_fails(self):
            self.fail()

    class Whole(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            raise unittest.SkipTest("the whole class")

        def test_one(self):
            pass

    unittest.main()
''')
GOOGLETEST = textwrap.dedent('''\
    [ RUN      ] All/Transport.Sends/2
    /tree/test/unit/runtime/TransportTest.cpp:498: Skipped
    needs to see two ranks in one process

    [  SKIPPED ] All/Transport.Sends/2, where GetParam() = "shm" (3 ms)
    [ RUN      ] Tcp.Meets
    [       OK ] Tcp.Meets (12 ms)
    [ RUN      ] Tcp.Fails
    TcpTest.cpp:3: Failure
    [  FAILED  ] Tcp.Fails (1 ms)
    [  SKIPPED ] 1 test, listed below:
    [  SKIPPED ] All/Transport.Sends/2
    [  FAILED  ] 1 test, listed below:
    [  FAILED  ] Tcp.Fails
''')
LIT = textwrap.dedent('''\
    ********************
    Unsupported Tests (2):
      cgx :: lower/convolution.mlir
      cgx :: lower/other.mlir

    Testing Time: 3.04s
''')


class OutcomesTest(unittest.TestCase):
    def test_unittest(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "suite.py"
            path.write_text(SUITE)
            said = subprocess.run([sys.executable, path, "-v"], capture_output=True, text=True, check=False).stderr
        reasons = sorted(reason for _, reason in outcomes.skipped_cases(said))
        self.assertEqual(reasons, ['it\'s "quoted"', "one of them", "the whole class"])
        self.assertEqual(outcomes.failed_cases(said), ["Cases.test_fails"])

    def test_googletest(self):
        self.assertEqual(outcomes.skipped_cases(GOOGLETEST), [("All/Transport.Sends/2", "needs to see two ranks in one process")])
        self.assertEqual(outcomes.failed_cases(GOOGLETEST), ["Tcp.Fails"])

    def test_lit(self):
        self.assertEqual([case for case, _ in outcomes.skipped_cases(LIT)], ["lower/convolution.mlir", "lower/other.mlir"])

    def test_a_record_of_ctest(self):
        record = io.StringIO()
        record.write('<testsuite><testcase name="a" time="1.5" status="run"><system-out>x</system-out></testcase>'
                     '<testcase name="b" status="fail"><failure message=""/><system-out>y</system-out></testcase></testsuite>')
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "junit.xml"
            path.write_text(record.getvalue())
            self.assertEqual([(each.name, each.passed, each.seconds) for each in outcomes.read_junit(path)], [("a", True, 1.5), ("b", False, 0)])

    def test_only_listed_skips_are_known(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "known.txt"
            path.write_text("# why\nsmall: no GPU.* | CI has none\n")
            known = outcomes.read_known_skips(path)
            path.write_text("no reason at all\n")
            with self.assertRaisesRegex(ValueError, "known.txt:1: expected 'PATTERN | WHY'"):
                outcomes.read_known_skips(path)
        skips = [outcomes.Skip("t", "c", reason) for reason in ("no GPU here", "here is no GPU", "no torch")]
        self.assertEqual([skip.reason for skip in outcomes.unknown_skips("small", skips, known)], ["here is no GPU", "no torch"])
        self.assertEqual(outcomes.unknown_skips("large", skips, known), skips)

    def test_the_list_of_the_tree_reads(self):
        self.assertTrue(outcomes.read_known_skips(pathlib.Path(__file__).with_name("known_skips.txt")))


if __name__ == "__main__":
    unittest.main()
