"""Outputs of every tool: links stay links, devices stay devices, and `-` is standard output."""

import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest

from harness import RunTest, read_safetensors


class Outputs(RunTest):
    def link(self, name):
        """Returns a link to an existing file in another folder."""
        (self.folder / "elsewhere").mkdir(exist_ok=True)
        target, link = self.folder / "elsewhere" / name, self.folder / name
        target.write_text("old")
        link.symlink_to(f"elsewhere/{name}")
        return link

    def expect_whole(self, *links):
        """Checks that links are still links, and that nothing is left beside their targets."""
        for link in links:
            self.assertTrue(link.is_symlink(), link)
            self.assertNotEqual(link.read_bytes(), b"old")
        self.assertEqual(sorted(p.name for p in (self.folder / "elsewhere").iterdir()), sorted(p.name for p in links))

    def call(self, tool, *arguments, **options):
        result = subprocess.run([os.environ[tool], *map(str, arguments)], capture_output=True, text=True, timeout=120,
                                env=self.environment(), check=False, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_a_log_that_cannot_be_written_ends_no_training(self):
        save = self.folder / "saved.safetensors"
        command = self.command("train4.so", "--steps", 50, "--repeat", "--quiet", "--metrics", "-", "--save", save, state=self.state())
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment())
        self.assertIn('"step":0', process.stdout.readline())
        process.stdout.close()
        said = process.stderr.read()
        self.assertEqual(process.wait(timeout=60), 0, said)
        self.assertRegex(said, "warning: .*Broken pipe; the training goes on")
        self.assertEqual(read_safetensors(save)[1]["cgx.steps"], "50")
        result = self.run_tool("train4.so", "--steps", 5, "--metrics", "/dev/full", "--save", save, state=self.state())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("No space left on device"), 1)

    def test_progress_is_said_unless_it_is_not_wanted(self):
        said = {when: self.run_tool("train1.so", "--steps", 2, *when, state=self.state(1))
                for when in ((), ("--progress", "never"), ("--quiet",))}
        self.assertIn("2/2", said[()].stderr)
        self.assertNotIn("steps/s", said["--progress", "never"].stderr)
        self.assertIn("loss", said["--progress", "never"].stdout)
        self.assertEqual(said["--quiet",].stdout, "")
        self.assertEqual(self.run_tool("train1.so", "--progress", "rarely", state=self.state(1)).returncode, 2)

    def test_a_line_of_progress_has_loss_speed_what_is_left_and_what_was_saved(self):
        said = self.run_tool("train4.so", "--steps", 5, "--log-every", 1, state=self.state()).stderr
        lines = [line for line in said.splitlines() if "steps/s" in line]
        self.assertEqual(len(lines), 5)
        number, saved = r"[\d.e+-]+", r"[\d.]+ [kM]?B saved \([\d.]+x\)"
        for step, line in enumerate(lines, 1):
            left = r"  \d+:\d\d left" if step < 5 else ""
            self.assertRegex(line, rf"^cgx-run: {step}/5  loss {number}  accuracy {number}  {number} steps/s{left}  {saved}$")
        self.assertNotIn("\r", said)
        exact = self.run_tool("exact4.so", "--steps", 2, state=self.state()).stderr
        self.assertNotIn("saved", exact)

    def test_a_link_to_a_checkpoint_stays_a_link(self):
        save, report, trace = self.link("saved.safetensors"), self.link("report.json"), self.link("trace.json")
        result = self.run_tool("train2.so", "--steps", 2, "--save", save, "--report", report, "--trace", trace,
                               state=self.state(2))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.expect_whole(save, report, trace)
        self.assertEqual(read_safetensors(save)[1]["cgx.steps"], "2")
        self.assertEqual(json.loads(report.read_text())["steps"], 2)

    def test_a_report_on_standard_output_is_nothing_but_the_report(self):
        for name in ("-", "/dev/stdout"):
            result = self.run_tool("train2.so", "--steps", 2, "--report", name, state=self.state(2))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(json.loads(result.stdout)["steps"], 2)
            self.assertIn("loss: final", result.stderr)
        self.assertTrue(pathlib.Path("/dev/stdout").is_symlink())
        self.assertFalse(os.path.exists("-"))

    def test_a_report_goes_on_where_a_shell_is(self):
        out = self.folder / "out.txt"
        with open(out, "wb") as file:
            file.write(b"before\n")
            file.flush()
            command = self.command("train2.so", "--steps", 1, "--quiet", "--report", "/dev/stdout", state=self.state(2))
            subprocess.run(command, stdout=file, check=True, timeout=120, env=self.environment())
            file.seek(0, os.SEEK_END)
            file.write(b"behind\n")
        text = out.read_text()
        self.assertTrue(text.startswith("before\n{") and text.endswith("}\nbehind\n"), text)

    def test_two_outputs_cannot_share_standard_output(self):
        error = self.refuse("train2.so", "--report", "-", "--trace", "/dev/stdout", "--repeat", "--steps", 1,
                            state=self.state(2))
        self.assertIn("expected one output at most on standard output, got '-' and '/dev/stdout'", error)

    def test_two_outputs_cannot_share_a_file(self):
        (self.folder / "link").symlink_to("one")
        for first, second in (("one", "one"), ("one", "link"), ("one", f"../{self.folder.name}/one")):
            error = self.refuse("train2.so", "--save", self.folder / first, "--report", self.folder / second, "--steps",
                                1, state=self.state(2))
            self.assertRegex(error, "expected a file for each output, got '.*' and '.*', which are one")
            self.assertFalse((self.folder / "one").exists())

    def test_a_device_and_a_pipe_are_written_to(self):
        device = self.folder / "null"
        try:
            os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            device = pathlib.Path("/dev/null")
        report = self.folder / "pipe"
        os.mkfifo(report)
        process = subprocess.Popen(self.command("train2.so", "--steps", 1, "--save", device, "--report", report,
                                                state=self.state(2)),
                                   env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(json.loads(report.read_text())["steps"], 1)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertTrue(stat.S_ISCHR(os.stat(device).st_mode) and stat.S_ISFIFO(os.stat(report).st_mode))

    def test_what_cannot_be_written_is_known_before_the_first_step(self):
        error = self.refuse("train2.so", "--steps", 1, "--save", self.folder / "missing" / "a", state=self.state(2))
        self.assertIn("folder", error)
        self.assertNotIn("1/1", error)
        error = self.refuse("train2.so", "--steps", 1, "--report", self.folder, state=self.state(2))
        self.assertIn("Is a directory", error)

    def test_the_other_tools_follow_links_and_print(self):
        report, profile = self.folder / "report.json", self.folder / "profile.json"
        result = self.run_tool("train2.so", "--steps", 12, "--repeat", "--report", report, "--profile", profile,
                               state=self.state(2))
        self.assertEqual(result.returncode, 0, result.stderr)
        svg, plan = self.link("loss.svg"), self.link("plan.json")
        self.call("CGX_CURVES", "--svg", svg, f"run={report}")
        self.call("CGX_PLAN", "solve", profile, "-o", plan)
        self.expect_whole(svg, plan)
        printed = self.call("CGX_CURVES", "--svg", "-", f"run={report}")
        self.assertTrue(printed.stdout.startswith("<svg") and printed.stdout.rstrip().endswith("</svg>"), printed.stdout)
        printed = self.call("CGX_PLAN", "solve", profile, "-o", "-")
        self.assertEqual(json.loads(printed.stdout), json.loads(plan.read_text()))
        machine = self.link("machine.json")
        arguments = ("calibrate", "--transport", "inproc", "--ranks", "2", "--bytes", "64KiB", "-o")
        self.call("CGX_BENCH", *arguments, machine)
        self.assertTrue(machine.is_symlink())
        self.assertIn("codecs", json.loads(self.call("CGX_BENCH", *arguments, "-").stdout))

    @unittest.skipUnless("CGX_OPT" in os.environ, "this build has no compiler")
    def test_the_compiler_follows_links_and_prints(self):
        step = self.folder / "step.mlir"
        step.write_text("""
func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xf32> {jax.result_info = "a"}) {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""")
        names = ("step.cgx.mlir", "layers.json", "step.so", "step.o", "manifest.json")
        if shutil.which("cc") is None:
            self.skipTest("no linker")
        text, layers, library, item, manifest = map(self.link, names)
        self.call("CGX_OPT", step, f"--cgx-report=output={layers} format=json", "-o", text)
        self.call("CGX_COMPILE", text, "-o", library, "--manifest", manifest)
        self.call("CGX_COMPILE", text, "-o", item)
        self.expect_whole(text, layers, library, item, manifest)
        self.assertTrue(os.stat(library).st_mode & 0o111)
        self.assertIn("@main", self.call("CGX_OPT", step, "-o", "-").stdout)
        self.assertIn("define", self.call("CGX_COMPILE", text, "-o", "-").stdout)
        self.assertIn("cgx_manifest", json.loads(self.call("CGX_COMPILE", text, "-o", library, "--manifest", "-").stdout))

    @unittest.skipUnless("CGX_OPT" in os.environ, "this build has no compiler")
    def test_a_compiler_whose_output_is_not_taken_says_so(self):
        step = self.folder / "step.mlir"
        step.write_text("func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}\n")
        for tool, options in (("CGX_OPT", ()), ("CGX_OPT", ("-o", "-")), ("CGX_OPT", ("--help",)), ("CGX_COMPILE", ("--help",))):
            with open("/dev/full", "w") as full:
                result = subprocess.run([os.environ[tool], step, *options], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                                        check=False)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertRegex(result.stderr, "^cgx-[a-z]+: error: cannot write to standard output: No space left on device\n$")

    @unittest.skipUnless("CGX_OPT" in os.environ, "this build has no compiler")
    @unittest.skipIf(os.environ.get("CGX_SANITIZE"), "the sanitizer has a malloc of its own")
    def test_a_compiler_that_crashes_inside_malloc_ends(self):
        step = self.folder / "step.mlir"
        step.write_text("func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}\n")
        # A space ends a path in LD_PRELOAD.
        crash = shutil.copy(pathlib.Path(os.environ["CGX_RUN_FIXTURES"]) / "crash_in_malloc.so", tempfile.mkdtemp(dir="/tmp"))
        self.addCleanup(shutil.rmtree, pathlib.Path(crash).parent)
        for tool in ("CGX_OPT", "CGX_COMPILE"):
            result = subprocess.run(["env", f"LD_PRELOAD={crash}", os.environ[tool], step, "-o", "-"], capture_output=True, text=True,
                                    timeout=60, check=False)
            self.assertEqual(result.returncode, -signal.SIGABRT, result.stderr)

    @unittest.skipUnless("CGX_OPT" in os.environ, "this build has no compiler")
    def test_a_failed_compilation_removes_nothing(self):
        step, link = self.folder / "step.mlir", self.link("out.mlir")
        step.write_text("this is no program")
        for out in (link, "/dev/stdout"):
            result = subprocess.run([os.environ["CGX_OPT"], step, "-o", out], capture_output=True, timeout=60, check=False)
            self.assertEqual(result.returncode, 1)
        self.assertTrue(link.is_symlink() and pathlib.Path("/dev/stdout").is_symlink())
        self.assertEqual(link.read_text(), "old")


if __name__ == "__main__":
    unittest.main()
