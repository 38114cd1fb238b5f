"""The commands of this wheel."""

import pathlib

from cgx_core import programs

FOLDER = pathlib.Path(__file__).resolve().parent / "bin"


def main():
    programs.main(FOLDER)
