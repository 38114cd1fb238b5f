"""Puts the libraries of cgx into the wheel; what else is in it says pyproject.toml.

CGX_BUILD_DIR names a build to take them from; without, the preset `release` is configured and built, which takes a while.
"""

import os
import pathlib
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent
LIBRARIES = ("cgx_runtime", "cgx_compiler", "cgx_xla")


def run(*command):
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)


def built():
    """The folder of a build that has the libraries."""
    if folder := os.environ.get("CGX_BUILD_DIR"):
        return pathlib.Path(folder).resolve()
    run("cmake", "--preset", "release", "-DCGX_BUILD_TESTS=OFF", "-DCGX_BUILD_BENCHMARKS=OFF")
    folder = ROOT / "build" / "release"
    listed = subprocess.run(["cmake", "--build", folder, "--target", "help"], check=True, capture_output=True, text=True).stdout
    # Without the headers of jaxlib there is none for XLA.
    run("cmake", "--build", folder, "--target", *[name for name in LIBRARIES if f"{name}: " in listed])
    return folder


class BuildWithLibraries(build_py):
    def run(self):
        super().run()
        if not self.editable_mode:  # which finds them in the build of the tree
            package = pathlib.Path(self.build_lib).resolve() / "cgx_core"
            run("cmake", "--install", built(), "--component", "python", "--prefix", package)
            for link in filter(pathlib.Path.is_symlink, (package / "lib").iterdir()):
                link.resolve().rename(link)  # wheels have no links: what programs look for is the file


class OfOneMachine(Distribution):
    def has_ext_modules(self):
        return True  # the libraries


class WheelOfOneMachine(bdist_wheel):
    """Any Python 3, but one kind of machine: the libraries know no Python, and Python calls them through ctypes."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


WORK = ROOT / "build" / "python"
WORK.mkdir(parents=True, exist_ok=True)
setup(options={"build": {"build_base": str(WORK)}, "egg_info": {"egg_base": str(WORK)}},
      distclass=OfOneMachine, cmdclass={"build_py": BuildWithLibraries, "bdist_wheel": WheelOfOneMachine})
