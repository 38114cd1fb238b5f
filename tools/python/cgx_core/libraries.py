"""Finds and opens the libraries of cgx: the compiler, the runtime, and what XLA calls."""

import ctypes
import functools
import os
import pathlib


class LibraryError(RuntimeError):
    """A library of cgx is missing, or is of another version than these packages."""


class _Library(ctypes.CDLL):
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("__"):
                raise
            raise LibraryError(f"{self._name} has no {name}: it is of another version of cgx than the Python packages in "
                               f"{pathlib.Path(__file__).resolve().parents[1]}; install both from one, or set CGX_LIBRARY_PATH to the "
                               "folder with the libraries of these") from None


def folders():
    """Returns the folders where libraries may be: the one in the environment, that of the installed package, and a
    build of this tree."""
    package = pathlib.Path(__file__).resolve().parent
    if named := os.environ.get("CGX_LIBRARY_PATH"):
        return [pathlib.Path(each) for each in named.split(os.pathsep)]
    folders = [package / "lib"]
    tree = package.parents[2]
    if (tree / "CMakePresets.json").exists():
        folders += [tree / "build" / preset / "lib" for preset in ("release", "debug")]
    return folders


@functools.cache
def open_library(name):
    """Opens `lib<name>.so`. Raises LibraryError that lists where it was looked for."""
    looked = []
    for folder in folders():
        path = folder / f"lib{name}.so"
        looked.append(str(path))
        # An installation without development links has only the name with the version.
        for found in [path, *sorted(folder.glob(f"lib{name}.so.*"))]:
            if found.exists():
                return _Library(str(found))
    try:
        return _Library(f"lib{name}.so")
    except OSError as error:
        raise LibraryError(
            f"lib{name}.so was not found: build cgx in a clone and install the packages from it (pip install .), or set "
            f"CGX_LIBRARY_PATH to the folder with the libraries. Looked for {', '.join(looked)}, and where the "
            f"system keeps libraries ({error})") from None


def text(value):
    """Returns a C string of a library as str."""
    return value.decode(errors="replace") if value else ""
