"""Each command on a page is valid: its options, their values, and the codecs in them. Placeholders for the reader's own
values ("...", R, host0) are filled in, and files need not exist. CGX_BIN is the folder of the tools.

What stands for something of the reader's ("...", R, host0) is filled in; files need not be there. CGX_BIN is the folder of the tools.
"""

import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BIN = pathlib.Path(os.environ["CGX_BIN"])
EXAMPLE = ROOT / "examples" / "mlp-digits"
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "tools").glob("*/README.md"), *(ROOT / "examples").glob("**/README.md")])
TOOLS = ("cgx-opt", "cgx-run", "cgx-plan", "cgx-bench", "cgx-curves")


def commands():
    """Returns (page, words) of each command in the code blocks of the pages, without a launcher before it; `cgx run` is
    cgx-run."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        fences = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
        lines = [*"".join(fences).splitlines(), *re.findall(r"^ {4,}(\S.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)]
        for line in lines:
            line = re.sub(r"^(?:[\w/+-]+/)?cgx (?=(?:run|opt|plan|bench|curves|compile|plot) )", "cgx-", line).replace("cgx-plot", "cgx-curves")
            found = re.match(rf"(?:mpirun .*?)?(?:\S*/)?({'|'.join(TOOLS)}) (.*)", line)
            if not found or "|" in found[0] and "'" not in found[0] and '"' not in found[0]:
                continue
            try:
                words = shlex.split(f"{found[1]} {found[2]}", comments=True)
            except ValueError:
                continue  # part of a longer command, or of a program
            yield page.relative_to(ROOT), [word for word in words if word != "..."]


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.found = list(commands())

    def of(self, tool):
        if not (BIN / tool).exists():
            self.skipTest(f"{tool} is not built")
        found = [(page, words) for page, words in self.found if words[0] == tool]
        self.assertTrue(found, f"no page shows {tool}")
        return found

    def call(self, tool, *arguments):
        return subprocess.run([str(BIN / tool), *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, "CGX_CACHE_DIR": str(self.folder / "cache")})

    def expect_taken(self, page, words, done):
        self.assertEqual(done.returncode, 0, f"{page}: {shlex.join(words)}\n{done.stderr[-2000:]}")

    def test_runs(self):
        (config,) = re.findall(r"^```toml\n(.*?)^```$", (ROOT / "docs" / "files.md").read_text(encoding="utf-8"), re.M | re.S)
        (self.folder / "cgx.toml").write_text(config, encoding="utf-8")
        for page, words in self.of("cgx-run"):
            with self.subTest(page=str(page), command=shlex.join(words)):
                filled = [{"R": "0"}.get(word, word) for word in words[1:]]
                self.expect_taken(page, words, self.call("cgx-run", *filled, "--print-config"))

    def test_codecs_of_runs(self):
        seen = set()
        for page, words in self.of("cgx-run"):
            for option, value in zip(words, words[1:]):
                if option in ("--compress", "--local-steps") and (option, value) not in seen and "plan=" not in value:
                    seen.add((option, value))
                    with self.subTest(page=str(page), option=option, value=value):
                        self.check_pass(page, [f"--cgx-{option[2:]}={value}"])
        self.assertGreater(len(seen), 5)

    def test_runs_of_more_steps_than_the_data_has_begin_again(self):
        for page, words in self.of("cgx-run"):
            # How long the data of an example is, its own page knows.
            if page.parts[0] != "examples" and "--data" in words and {"--steps", "--until"} & set(words):
                with self.subTest(page=str(page), command=shlex.join(words)):
                    self.assertIn("--repeat", words)

    def check_pass(self, page, options):
        if not (BIN / "cgx-opt").exists():
            self.skipTest("cgx-opt is not built")
        options = [re.sub(r"\baxes=\S+", "", option) for option in options]  # the axes are those of the reader's mesh
        self.expect_taken(page, options, self.call("cgx-opt", str(EXAMPLE / "step.mlir"), *options, "-o", os.devnull))

    def test_passes(self):
        for page, words in self.of("cgx-opt"):
            passes = [word for word in words if word.startswith("--cgx-") and not re.search(r"\b(plan|machine)=", word)]
            if not passes or "--cgx-lower-to-llvm" in passes or any(word.startswith("--cgx-set-ranks") for word in passes):
                continue  # the step comes from other commands
            with self.subTest(page=str(page), command=shlex.join(words)):
                self.check_pass(page, passes)

    def test_options_of_the_other_tools_are_in_their_help(self):
        for tool in ("cgx-plan", "cgx-bench", "cgx-curves"):
            for page, words in self.of(tool):
                command = [words[1]] if tool in ("cgx-plan", "cgx-bench") else []
                if command == ["codec"]:
                    continue  # its options are those of Google Benchmark
                with self.subTest(page=str(page), command=shlex.join(words)):
                    done = self.call(tool, *command, "--help")
                    self.expect_taken(page, words, done)
                    known = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", done.stdout))
                    for word in words[1:]:
                        if re.match(r"--?[A-Za-z]", word):
                            self.assertIn(word.partition("=")[0], known)

    # These are options of Docker and of Open MPI.
    FOREIGN = {"--shm-size", "--oversubscribe"}
    OTHER_PROGRAMS = re.compile(r"^(cmake|mpirun|docker|tools/|XLA_FLAGS=)")

    def test_options_that_the_text_names_are_those_of_a_tool(self):
        for tool in TOOLS:
            self.of(tool)
        asked = [("cgx-run",), ("cgx-curves",), ("cgx-compile",), ("cgx", "doctor"), *(("cgx-plan", each) for each in ("solve", "compare", "show")),
                 *(("cgx-bench", each) for each in ("all-reduce", "all-gather", "calibrate", "simulate"))]
        helps = [self.call(*words, "--help").stdout for words in asked] + [self.call("cgx-opt", "--help-hidden").stdout]
        option = re.compile(r"(?<![\w-])--[a-zA-Z][\w-]*")
        known = set(option.findall("".join(helps))) | self.FOREIGN
        for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
            for code in re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8")):
                if not self.OTHER_PROGRAMS.match(code):
                    self.assertEqual(set(option.findall(code)) - known, set(), f"{page.name}: `{code}`")

    def test_codecs_print_as_the_page_shows_them(self):
        self.of("cgx-opt")
        text = (ROOT / "docs" / "codecs.md").read_text(encoding="utf-8")
        code = "".join(re.findall(r"^```mlir\n(.*?)^```$", text, re.M | re.S))
        shown = re.sub(r",\n +", ", ", code).splitlines()
        self.assertGreater(len(shown), 14)
        source = self.folder / "codecs.mlir"
        source.write_text("".join(f"module attributes {{test.codec = {each}}} {{}}\n// -----\n" for each in shown), encoding="utf-8")
        done = self.call("cgx-opt", "--split-input-file", str(source))
        self.expect_taken("docs/codecs.md", shown, done)
        def with_equal_numbers(line):  # MLIR prints 0.999 with all of its digits
            return re.sub(r"\d+\.\d+(?:e[+-]\d+)?", lambda number: repr(float(number[0])), line)
        printed = re.findall(r"test.codec = (.*)\} \{", done.stdout)
        self.assertEqual([with_equal_numbers(each) for each in printed], [with_equal_numbers(each) for each in shown])


if __name__ == "__main__":
    unittest.main()
