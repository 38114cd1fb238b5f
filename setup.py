"""Puts the libraries and programs of cgx into the wheel; what else is in it says pyproject.toml.

Without more, the preset `wheel` is configured and built, which takes some minutes, and `auditwheel` says on which systems the
wheel runs. CGX_BUILD_DIR names a build to take the libraries from in its place, such as build/release: that wheel, quick to
make, is for this machine, whose MLIR it needs.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent
SELF_CONTAINED = "CGX_BUILD_DIR" not in os.environ


def run(*command):
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)


def built():
    """The folder of a build that has the libraries."""
    if not SELF_CONTAINED:
        folder = pathlib.Path(os.environ["CGX_BUILD_DIR"]).resolve()
        if not (folder / "cmake_install.cmake").exists():
            sys.exit(f"CGX_BUILD_DIR names '{folder}', which is no build of cgx: expected a folder such as build/release, made by "
                     "cmake --preset release && cmake --build --preset release")
        return folder
    run("cmake", "--preset", "wheel", "-DCGX_CUDA=AUTO", f"-DCGX_PYTHON={sys.executable}", "-UCGX_XLA_FFI_INCLUDE")
    run("cmake", "--build", "--preset", "wheel")
    return ROOT / "build" / "wheel"


class BuildWithLibraries(build_py):
    def run(self):
        super().run()
        if self.editable_mode:  # which finds them in the build of the tree
            return
        package = pathlib.Path(self.build_lib).resolve() / "cgx_core"
        folder = built()
        # A self-contained build installs programs, headers and the package for CMake as well.
        for component in ("python", "runtime") if SELF_CONTAINED else ("python",):
            run("cmake", "--install", folder, "--component", component, "--prefix", package, *["--strip"] * SELF_CONTAINED)
        if SELF_CONTAINED and not (package / "lib" / "libcgx_xla.so").exists():
            sys.exit(f"expected jaxlib in {sys.executable}, whose headers the library for JAX is built with, found none")
        for link in filter(pathlib.Path.is_symlink, (package / "lib").iterdir()):
            link.resolve().rename(link)  # wheels have no links: what programs look for is the file


class OfOneMachine(Distribution):
    def has_ext_modules(self):
        return True  # the libraries


class WheelOfOneMachine(bdist_wheel):
    """Any Python 3, but one kind of machine: the libraries know no Python, and Python calls them through ctypes."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]

    def run(self):
        super().run()
        if not SELF_CONTAINED:
            return
        made, = pathlib.Path(self.dist_dir).glob("cgx-*.whl")
        with tempfile.TemporaryDirectory() as repaired:
            # An MPI is the machine's own.
            mpis = [f"--exclude={library}" for library in ("libmpi.so.40", "libmpich.so.12")]
            run(sys.executable, "-m", "auditwheel", "repair", *mpis, "--wheel-dir", repaired, made.resolve())
            made.unlink()
            (wheel := next(pathlib.Path(repaired).glob("*.whl"))).rename(made.with_name(wheel.name))


(ROOT / "build").mkdir(exist_ok=True)
# A folder of its own, since files that another build left would be packed as well.
with tempfile.TemporaryDirectory(prefix="python-", dir=ROOT / "build") as work:
    setup(options={"build": {"build_base": work}, "egg_info": {"egg_base": work}},
          distclass=OfOneMachine, cmdclass={"build_py": BuildWithLibraries, "bdist_wheel": WheelOfOneMachine})
