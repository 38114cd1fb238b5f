"""The commands of a wheel. They start the programs that it contains."""

import os
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "bin"


def main(folder=FOLDER):
    """Replaces this process by the program of the folder that has this command's name."""
    name = pathlib.Path(sys.argv[0]).name
    program = folder / name
    if not program.exists():
        sys.exit(f"{name}: this installation has the libraries of cgx and not its programs (expected {program}): install a wheel "
                 "that `pip wheel .` made without CGX_BUILD_DIR, or build the programs in a clone (README.md)")
    os.execv(program, [name, *sys.argv[1:]])
