"""Puts cgx-run and cgx-compile into a wheel of their own, with the preset `native-wheel`: the runtime that they share with
frameworks is in the wheel `cgx` of the same version, and found beside this one."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parents[3]
VERSION = re.search(r'__version__ = "(.*)"', (ROOT / "tools/python/cgx_core/__init__.py").read_text())[1]
# Debian keeps the licenses of the bundled libraries in this folder.
TERMS = pathlib.Path("/usr/share/doc")
TAKEN_ALONG = ["libopenblas0-pthread", "libdnnl2", "libgfortran5", "libgomp1", "libquadmath0", "ocl-icd-libopencl1"]
# These libraries are in the wheel `cgx` already.
NOT_TAKEN_ALONG = ["libcgx_runtime.so", "libcgx_cuda.so"]


def run(*command, cwd=ROOT, **options):
    subprocess.run(command, cwd=cwd, check=True, stdout=sys.stderr, **options)


class BuildWithPrograms(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib).resolve() / "cgx_native"
        run("cmake", "--preset", "native-wheel", f"-DCGX_PYTHON={sys.executable}")
        run("cmake", "--build", "--preset", "native-wheel")
        run("cmake", "--install", ROOT / "build" / "native-wheel", "--component", "native", "--prefix", package, "--strip")
        (package / "licenses").mkdir()
        for taken in TAKEN_ALONG:
            if (terms := TERMS / taken / "copyright").exists():
                shutil.copyfile(terms, package / "licenses" / taken)


class OfOneMachine(Distribution):
    def has_ext_modules(self):
        return True  # the programs


class WheelOfOneMachine(bdist_wheel):
    """Any Python 3, but one kind of machine."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]

    def run(self):
        super().run()
        made, = pathlib.Path(self.dist_dir).glob("cgx_native-*.whl")
        with tempfile.TemporaryDirectory() as repaired:
            excluded = [f"--exclude={library}" for library in NOT_TAKEN_ALONG]
            run(sys.executable, "-m", "auditwheel", "repair", *excluded, "--wheel-dir", repaired, made.resolve())
            made.unlink()
            (wheel := next(pathlib.Path(repaired).glob("*.whl"))).rename(made.with_name(wheel.name))


(ROOT / "build").mkdir(exist_ok=True)
os.chdir(pathlib.Path(__file__).resolve().parent)
# A new folder is used because files that another build left would be packed as well.
with tempfile.TemporaryDirectory(prefix="python-", dir=ROOT / "build") as work:
    setup(version=VERSION, install_requires=[f"cgx=={VERSION}"], options={"build": {"build_base": work}, "egg_info": {"egg_base": work}},
          distclass=OfOneMachine, cmdclass={"build_py": BuildWithPrograms, "bdist_wheel": WheelOfOneMachine})
