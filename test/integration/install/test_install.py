"""Uses an installed cgx from outside: programs, libraries and packages. Standard library only."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

CMAKE, BUILD, SOURCE = os.environ["CGX_CMAKE"], pathlib.Path(os.environ["CGX_BUILD"]), os.environ["CGX_SOURCE"]
VERSION = os.environ["CGX_VERSION"]
HERE = pathlib.Path(__file__).parent
EXAMPLE = pathlib.Path(SOURCE) / "examples" / "mlp-digits"
HAS_COMPILER = (BUILD / "bin" / "cgx-opt").exists()


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        # The tree is installed to one place and moved to another, because nothing may remember where it was. The umask
        # excludes other users, and must not affect the installed files.
        cls.run_command(CMAKE, "--install", BUILD, "--prefix", cls.folder / "first", umask=0o077)
        cls.prefix = cls.folder / "prefix"
        (cls.folder / "first").rename(cls.prefix)

    @classmethod
    def run_command(cls, *command, **options):
        environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600,
                                env={**environment, **options.pop("env", {})}, check=False, **options)
        if result.returncode != 0:
            raise AssertionError(f"{command} ended with {result.returncode}\n{result.stdout}{result.stderr}")
        return result.stdout

    def build(self, name):
        folder = self.folder / name
        self.run_command(CMAKE, "-S", HERE / name, "-B", folder, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.run_command(CMAKE, "--build", folder)
        return folder

    def test_a_c_program_finds_the_runtime_by_cmake(self):
        self.assertEqual(self.run_command(self.build("host") / "host"), "abi 1, timeout, 540 bytes\n")

    def test_a_c_program_finds_the_runtime_by_pkg_config(self):
        where = {"PKG_CONFIG_PATH": str(self.prefix / "lib" / "pkgconfig")}
        self.assertEqual(self.run_command("pkg-config", "--modversion", "cgx", env=where).strip(), VERSION)
        flags = self.run_command("pkg-config", "--cflags", "--libs", "cgx", env=where).split()
        program = self.folder / "by-pkg-config"
        self.run_command("cc", "-std=c99", "-Werror", HERE / "host" / "host.c", *flags, "-o", program)
        self.assertIn("timeout", self.run_command(program, env={"LD_LIBRARY_PATH": str(self.prefix / "lib")}))

    def test_the_commands_of_the_page_on_the_c_interface(self):
        page = (pathlib.Path(SOURCE) / "docs" / "c-abi.md").read_text()
        folder = self.folder / "page"
        folder.mkdir()
        (folder / "host.c").write_text(re.search(r"(?ms)^```c\n(.*?)^```$", page)[1])
        commands = re.findall(r"(?m)^    (export PKG_CONFIG_PATH=.*|cc .*)$", page)
        self.assertEqual(len(commands), 2)
        said = self.run_command("sh", "-ec", "\n".join(commands).replace("/opt/cgx", str(self.prefix)), cwd=folder)
        self.assertEqual(said, "1 2\n")

    def test_all_users_can_use_the_prefix(self):
        for path in [self.prefix, *self.prefix.rglob("*")]:
            if not path.is_symlink():
                self.assertEqual(path.stat().st_mode & 0o055, 0o055 if path.is_dir() else path.stat().st_mode & 0o011 | 0o044, path)

    def test_no_library_is_looked_for_in_a_folder_that_others_may_make(self):
        files = [*(self.prefix / "bin").iterdir(), *(self.prefix / "lib").glob("*.so*")]
        self.assertGreater(len(files), 5)
        for file in files:
            for paths in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", self.run_command("readelf", "-d", file)):
                for path in paths.split(":"):
                    self.assertRegex(path, r"^(\$ORIGIN|/usr/)", f"{file}: {paths}")

    def test_programs_run_from_the_prefix(self):
        for program in sorted((self.prefix / "bin").iterdir()):
            self.assertIn(program.name, self.run_command(program, "--help"))

    def test_programs_have_manual_pages(self):
        for program in sorted((self.prefix / "bin").iterdir()):
            if program.name == "cgx-lsp-server":  # no user types it
                continue
            page = (self.prefix / "share" / "man" / "man1" / f"{program.name}.1").read_text()
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES"):
                self.assertIn(f'.SH "{section}"', page)

    def test_nothing_names_the_folder_of_the_build(self):
        for path in [*self.prefix.rglob("*.cmake"), *self.prefix.rglob("*.pc")]:
            text = path.read_text()
            self.assertNotIn(str(BUILD), text, path)
            self.assertNotIn(SOURCE + "/", text, path)

    def test_the_runtime_alone_needs_no_llvm(self):
        alone = self.folder / "alone"
        self.run_command(CMAKE, "--install", BUILD, "--prefix", alone, "--component", "runtime")
        for file in [*(alone / "bin").iterdir(), *(alone / "lib").glob("*.so")]:
            self.assertNotRegex(self.run_command("ldd", file), "LLVM|MLIR", file)
        self.assertFalse((alone / "bin" / "cgx-opt").exists())
        failed = subprocess.run([alone / "bin" / "cgx-run", EXAMPLE / "step.mlir", "--ranks", "4"], capture_output=True,
                                text=True, timeout=600, check=False)
        self.assertEqual(failed.returncode, 1)
        self.assertRegex(failed.stderr, "step.mlir' is not a shared library, and there is no compiler here .*"
                                        "libcgx_step_compiler.so.*package 'cgx'")

    @unittest.skipUnless(HAS_COMPILER, "this build has no compiler")
    def test_a_step_is_compressed_compiled_and_trained_from_the_prefix(self):
        bin_ = self.prefix / "bin"
        program, library = self.folder / "step.mlir", self.folder / "step.so"
        self.run_command(bin_ / "cgx-opt", EXAMPLE / "step.mlir", "--cgx-compress=bits=4", "-o", program)
        self.run_command(bin_ / "cgx-compile", program, "-o", library)
        said = self.run_command(bin_ / "cgx-run", library, "--ranks", 4, "--state", EXAMPLE / "state.safetensors",
                                "--data", EXAMPLE / "train.safetensors", "--steps", 2)
        self.assertIn("equal on all ranks", said)
        # cgx-run does all of this at once from the text: it finds the compiler of the prefix.
        self.assertIn("equal on all ranks", self.run_command(
            bin_ / "cgx-run", EXAMPLE / "step.mlir", "--compress", "bits=4", "--ranks", 4, "--state",
            EXAMPLE / "state.safetensors", "--data", EXAMPLE / "train.safetensors", "--steps", 2))

    @unittest.skipUnless(HAS_COMPILER, "this build has no compiler")
    def test_a_tool_of_ones_own_has_our_dialects_and_passes(self):
        tool = self.build("tool") / "my-opt"
        self.assertIn("cgx.all_reduce", self.run_command(tool, EXAMPLE / "step.mlir", "--cgx-compress=bits=4"))

    @unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "cpack makes packages for Debian only where dpkg-dev is")
    def test_packages_have_what_the_prefix_has(self):
        folder = self.folder / "packages"
        folder.mkdir()
        self.run_command(pathlib.Path(CMAKE).with_name("cpack"), "--config", BUILD / "CPackConfig.cmake", "-B", folder, umask=0o077)
        packages = {path.name.split("_")[0]: path for path in folder.glob("*.deb")}
        self.assertEqual(sorted(packages), ["cgx", "cgx-runtime"] if HAS_COMPILER else ["cgx-runtime"])
        listed = self.run_command("dpkg-deb", "-c", packages["cgx-runtime"])
        for name in ("./usr/bin/cgx-run", f"./usr/lib/libcgx_runtime.so.{VERSION}", "./usr/include/cgx/runtime.h",
                     "./usr/share/bash-completion/completions/cgx-run", "./usr/share/zsh/site-functions/_cgx"):
            self.assertIn(name, listed)
        for package in packages.values():
            listed = self.run_command("dpkg-deb", "-c", package)
            self.assertIn(f"./usr/share/doc/{package.name.split('_')[0]}/copyright", listed)
            modes = {line.split()[0] for line in listed.splitlines() if line.startswith("d")}
            self.assertEqual(modes, {"drwxr-xr-x"})
        self.assertNotRegex(self.run_command("dpkg-deb", "-f", packages["cgx-runtime"], "Depends"), "llvm|mlir")
        if HAS_COMPILER:
            needs = self.run_command("dpkg-deb", "-f", packages["cgx"], "Depends")
            self.assertIn(f"cgx-runtime (= {VERSION})", needs)
            self.assertIn("libmlir-22", needs)


if __name__ == "__main__":
    unittest.main()
