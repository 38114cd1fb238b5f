"""Prints where this installation keeps the files that C and C++ programs need.

    cmake -Dcgx_DIR=$(python -m cgx --cmake-dir) ...      # then find_package(cgx), and link with cgx::runtime
    cc main.c $(python -m cgx --cflags) $(python -m cgx --libs)
"""

import argparse
import pathlib

import cgx_core

FOLDER = pathlib.Path(cgx_core.__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(prog="python -m cgx", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--version", action="version", version=cgx_core.__version__)
    asked.add_argument("--cmake-dir", action="store_const", dest="answer", const=f"{FOLDER}/lib/cmake/cgx", help="the folder of cgxConfig.cmake")
    asked.add_argument("--cflags", action="store_const", dest="answer", const=f"-I{FOLDER}/include", help="where the headers are")
    asked.add_argument("--libs", action="store_const", dest="answer",
                       const=f"-L{FOLDER}/lib -Wl,-rpath,{FOLDER}/lib -lcgx_runtime", help="how to link with the runtime")
    answer = parser.parse_args().answer
    if not (FOLDER / "include" / "cgx" / "runtime.h").exists():
        parser.exit(1, f"python -m cgx: this installation has no headers (expected {FOLDER}/include/cgx/runtime.h): install a wheel "
                       "that `pip wheel .` made without CGX_BUILD_DIR\n")
    print(answer)


if __name__ == "__main__":
    main()
