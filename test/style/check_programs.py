#!/usr/bin/env python3
"""Compares what build, tests and scripts call with the packages that tools/setup installs.

A working machine has much by accident; a bare one has Debian's required packages and what tools/setup names. Each
program, CMake package, pkg-config module, library and header that the tree asks for stands in a table here, beside
the Debian package that has it; one that does not, or whose package tools/setup does not install, is a complaint.
"""

import ast
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# These packages are on every Debian system: they are essential, or required as part of minbase.
BASE = {"bash", "libc-bin", "bsdutils", "coreutils", "dash", "debianutils", "diffutils", "dpkg", "findutils", "grep", "gzip", "hostname",
        "mawk", "mount", "sed", "tar", "util-linux", "apt"}
# This marks a program that no Debian package has; its users report that it is missing.
OPTIONAL = "optional"

PROGRAMS = {
    **dict.fromkeys("basename cat chmod cp cut date dirname du env head id ln ls mkdir mktemp mv nproc paste printf pwd readlink "
                    "realpath rm rmdir seq sleep sort stat tail tee test timeout touch tr true false uniq wc".split(),
                    "coreutils"),
    **dict.fromkeys("cmp diff".split(), "diffutils"),
    **dict.fromkeys("find xargs".split(), "findutils"),
    **dict.fromkeys("dpkg dpkg-deb dpkg-query".split(), "dpkg"),
    "dpkg-shlibdeps": "dpkg-dev", **dict.fromkeys("ldd localedef".split(), "libc-bin"),
    **dict.fromkeys("apt-cache apt-get".split(), "apt"),
    **dict.fromkeys("mlir-opt-22 mlir-tblgen-22".split(), "mlir-22-tools"),
    **dict.fromkeys("FileCheck lit-22 not split-file".split(), "llvm-22-tools"),
    **dict.fromkeys("cc c++ c++filt".split(), "g++"),
    **dict.fromkeys("cmake ctest".split(), "cmake"),
    **dict.fromkeys("ip tc".split(), "iproute2"),
    **dict.fromkeys("clang-22 clang++-22".split(), "clang-22"),
    **dict.fromkeys("unshare mount nsenter setpriv taskset".split(), "util-linux"),
    "abidiff": "abigail-tools", "awk": "mawk", "bash": "bash", "ccache": "ccache", "clang-format-22": "clang-format-22", "git": "git", "grep": "grep",
    "gzip": "gzip", "hostname": "hostname", "ld.lld-22": "lld-22", "ld.lld": "lld-22", "mpirun": "openmpi-bin", "ninja": "ninja-build",
    "python3": "python3", "sed": "sed", "sh": "dash", "tar": "tar", "which": "debianutils", "zsh": "zsh",
    **dict.fromkeys("mpicc.mpich mpirun.mpich".split(), OPTIONAL),  # a second MPI, which tools/setup --mpich installs
    "groff": OPTIONAL,  # looks at manual pages
    "bible": OPTIONAL,  # needed only to make the example's data again, which is in the tree
    "sudo": OPTIONAL,   # needed only where setup does not run as root
    **dict.fromkeys("nvcc nvidia-smi compute-sanitizer".split(), OPTIONAL),
}

# CMake looks for these names: find_package, pkg_check_modules, find_library, find_path.
FOUND = {
    "MLIR": "libmlir-22-dev", "PkgConfig": "pkg-config", "openblas": "libopenblas-dev", "nlohmann_json": "nlohmann-json3-dev",
    "CLI11": "libcli11-dev", "GTest": "libgtest-dev", "Threads": "g++", "MPI": "libopenmpi-dev", "Python3": "python3",
    "OpenSSL": "libssl-dev", "asio.hpp": "libasio-dev",
    "benchmark": "libbenchmark-dev", "Protobuf": "libprotobuf-dev",
    "ZLIB": "zlib1g-dev", "zstd": "libzstd-dev", "zstd.h": "libzstd-dev",
    "hwy": "libhwy-dev", "kissfft/kissfft.hh": "libkissfft-dev", "dnnl.h": "libdnnl-dev", "dnnl": "libdnnl-dev",
    "OpenMP": "g++", "cgx": "cmake",  # the last is the tree itself, installed
    "Gloo": "libgloo-dev", "Git": "git", "CUDAToolkit": OPTIONAL, "nccl": OPTIONAL, "nccl.h": OPTIONAL,
    "mpich": OPTIONAL,
}

KEYWORDS = set("if then elif else fi while until do done for in case esac function { } ! [[ ]] (( time select".split())
BUILTINS = set(": . [ alias bg break cd command continue declare echo eval exec exit export fg flock getopts hash "
               "jobs kill let local mapfile popd printf pushd pwd read readarray readonly return set shift shopt source test "
               "times trap true false type typeset ulimit umask unset wait".split()) - {"flock"}
# These programs run the program that follows.
WRAPPERS = set("command env exec nice sudo timeout xargs nohup time not".split())


def tracked():
    """Returns the paths under version control or about to be, relative to the root."""
    listing = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                             cwd=ROOT, capture_output=True, text=True, check=False)
    names = (listing.stdout.splitlines() if listing.returncode == 0 else
             [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file()])
    return [pathlib.Path(name) for name in names if not name.startswith("build/") and (ROOT / name).is_file()]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


def installed():
    """Returns the packages that tools/setup may install, with any options."""
    lists = re.findall(r"^[^#\n]*\bpackages\+?=\(([^)]*)\)", text("tools/setup"), re.M)
    return {package for entry in lists for package in entry.split()}


def is_plain(word):
    """Returns true if a word names a program that is looked for on the PATH."""
    return re.fullmatch(r"[A-Za-z][\w.+-]*", word) is not None


def shell_words(script, functions):
    """Returns the first words of the commands of a shell script, as far as they look like programs. `functions` are
    those of scripts that others source."""
    script = re.sub(r"<<-?\s*'?(\w+)'?\n.*?^\s*\1$", "", script, flags=re.M | re.S)    # here-documents
    script = re.sub(r"(^|\s)#.*", r"\1", script)
    script = script.replace("\\\n", " ")
    script = re.sub(r"\$\(\(.*?\)\)", "0", script)
    script = without_strings(script)
    script = re.sub(r"\w+\+?=\([^)]*\)", "", script)                                     # arrays
    functions = functions | functions_of(script)
    script = re.sub(r"^\s*[\w-]+\s*\(\)\s*\{", "", script, flags=re.M)
    script = re.sub(r"(^|;;|\bcase\b[^\n]*\bin\b)\s*[^\s()$`'\"]*\)", "\n", script, flags=re.M)  # patterns of case
    script = re.sub(r"\$\(", " ; ", script)
    script = re.sub(r"\d*[<>]&?\s*[^\s;|&)]+", "", script)                               # redirections
    for command in re.split(r"[;\n|&()`]+", script):
        words = command.split()
        while words and (words[0] in KEYWORDS or re.match(r"\w+\+?=", words[0])):
            if words[0] in ("for", "case", "select", "in"):
                words = []
                break
            words = words[1:]
        yield from (word for word in programs_of(words) if word not in functions)


def without_strings(script):
    """Returns the script without the text of its strings, except for commands in them."""
    kept, position = [], 0

    def skip_double():
        nonlocal position
        position += 1
        while position < len(script) and script[position] != '"':
            if script[position] == "\\":
                position += 1
            elif script.startswith("$(", position):
                kept.append(" ; ")
                position += 2
                depth = 1
                while position < len(script) and depth:
                    depth += {"(": 1, ")": -1}.get(script[position], 0)
                    if script[position] == '"':
                        skip_double()
                    elif depth:
                        kept.append(script[position])
                    position += 1
                kept.append(" ; ")
                continue
            position += 1

    while position < len(script):
        if script[position] == '"':
            skip_double()
            kept.append('""')
        elif script[position] == "'":
            position = max(script.find("'", position + 1), position)
            kept.append("''")
        elif script[position] == "\\":
            position += 1
        else:
            kept.append(script[position])
        position += 1
    return "".join(kept)


def functions_of(script):
    return set(re.findall(r"^\s*(?:function\s+)?([\w-]+)\s*\(\)", script, re.M))


def programs_of(words):
    """Returns the program of a command, and those that it runs for another."""
    while words:
        word, words = words[0], words[1:]
        if is_plain(word) and word not in BUILTINS | KEYWORDS:
            yield word
        if word not in WRAPPERS:
            return
        while words and (words[0].startswith("-") or "=" in words[0] or re.fullmatch(r"[\d.]+[smh]?", words[0])):
            words = words[1:]


def python_programs(path):
    """Returns the programs in the commands of a Python file: first elements of lists for subprocess, and arguments of
    shutil.which."""
    tree = ast.parse(text(path), str(path))
    lists = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    lists.setdefault(target.id, []).append(node.value)
    def first_of(command):
        if isinstance(command, ast.Name):
            for known in lists.get(command.id, []):
                yield from first_of(known)
        elif isinstance(command, ast.Starred):
            yield from first_of(command.value)
        elif isinstance(command, ast.List) and command.elts:
            if isinstance(command.elts[0], ast.Constant) and isinstance(command.elts[0].value, str):
                yield from programs_of([e.value if isinstance(e, ast.Constant) else "?" for e in command.elts])
            else:
                yield from first_of(command.elts[0])
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = ast.unparse(node.func)
        if name == "shutil.which" and isinstance(node.args[0], ast.Constant):
            yield node.args[0].value
        elif name.startswith("subprocess.") or name.endswith((".must", "run_command")):
            yield from first_of(node.args[0])


def cmake_arguments(script, command):
    """Returns the arguments of each call of a CMake command."""
    script = re.sub(r"#.*", "", script)
    return [call.split() for call in re.findall(rf"\b{command}\s*\(([^()]*)\)", script)]


def cmake_programs(script):
    options = {"NAMES", "HINTS", "PATHS", "REQUIRED", "DOC"}
    for words in cmake_arguments(script, "find_program"):
        names = words[1:]
        for stop in ("HINTS", "PATHS", "DOC", "REQUIRED"):
            names = names[:names.index(stop)] if stop in names else names
        yield from (name for name in names if name not in options)
    for words in cmake_arguments(script, "(?:add_test|add_custom_command|add_custom_target|execute_process)"):
        for i, word in enumerate(words[:-1]):
            if word == "COMMAND" and is_plain(words[i + 1]):
                yield words[i + 1]


def cmake_finds(script):
    for words in cmake_arguments(script, "find_package"):
        yield words[0]
    for words in cmake_arguments(script, "pkg_check_modules"):
        yield from (word for word in words[1:] if word not in ("REQUIRED", "QUIET", "IMPORTED_TARGET"))
    for words in cmake_arguments(script, "(?:find_library|find_path)"):
        yield next(word for word in words[1:] if word != "NAMES")


def preset_programs(path):
    """Returns the generators and compilers that presets name, and those that CMake takes by default."""
    presets = json.loads(text(path))["configurePresets"]
    yield from ("cmake", "cc", "c++")
    for preset in presets:
        if "generator" in preset:
            yield preset["generator"].lower()
        for variable, value in preset.get("cacheVariables", {}).items():
            if re.fullmatch("CMAKE_(C|CXX)_COMPILER", variable):
                yield value


def cmake_targets(paths):
    """Returns the programs that the tree builds itself."""
    built = set()
    for path in paths:
        if path.name == "CMakeLists.txt":
            for command in ("add_executable", "cgx_mlir_executable", "cgx_runtime_test", "cgx_device_test"):
                built |= {words[0] for words in cmake_arguments(text(path), command) if words}
    return built


def lit_programs(path):
    lines = re.findall(r"RUN:\s*(.*)", text(path))
    commands = " ".join(lines).replace("\\ ", " ") if any(line.endswith("\\") for line in lines) else "\n".join(lines)
    commands = re.sub(r"'[^']*'|\"[^\"]*\"", "''", commands)
    for command in re.split(r"[|;\n]|&&", commands):
        yield from programs_of([word for word in command.split() if not word.startswith(("<", ">", "2>"))])


def calls(paths):
    """Returns (path, program) of all calls, and (path, name) of everything that CMake looks for."""
    programs, finds = [], []
    sourced = set().union(*(functions_of(text(path)) for path in paths if path.suffix == ".sh"))
    for path in paths:
        if path.name == "CMakeLists.txt" or path.suffix == ".cmake":
            content = text(path)
            programs += [(path, program) for program in cmake_programs(content)]
            finds += [(path, name) for name in cmake_finds(content)]
        elif path.name == "CMakePresets.json":
            programs += [(path, program) for program in preset_programs(path)]
        elif path.suffix in (".mlir", ".test") and path.parts[:2] == ("test", "lit"):
            programs += [(path, program) for program in lit_programs(path)]
        elif path.suffix in (".cpp", ".h"):
            programs += [(path, program) for program in
                         re.findall(r'(?:findProgramByName|execvp|execlp|popen|system)\("([\w.+-]+)', text(path))]
        elif path.suffix in (".py", ".sh", "") and path.parts[0] not in ("dialect", "passes", "kernels"):
            content = text(path)
            interpreter = re.match(r"#!/usr/bin/env (\w+)|#!/bin/(\w+)", content)
            if interpreter:
                programs.append((path, interpreter[1] or interpreter[2]))
            if path.suffix == ".py" or (interpreter and "python" in interpreter[0]):
                programs += [(path, program) for program in python_programs(path)]
            elif interpreter or path.suffix == ".sh":
                programs += [(path, program) for program in shell_words(content, sourced)]
    return programs, finds


def complaints(paths):
    packages, built = installed(), cmake_targets(paths)
    programs, finds = calls(paths)
    for kind, table, names in (("program", PROGRAMS, programs), ("find", FOUND, finds)):
        for path, name in sorted(set(names)):
            if kind == "program" and (name in built or name.startswith("cgx-")):
                continue
            package = table.get(name)
            if package is None:
                yield f"{path}: '{name}': expected a line in the tables of test/style/check_programs.py, with its package"
            elif package != OPTIONAL and package not in BASE | packages:
                yield f"{path}: '{name}': expected its package {package} among those of tools/setup"
    asked = {name for _, name in programs + finds}
    for name, package in sorted((PROGRAMS | FOUND).items()):
        if name not in asked and package not in BASE:
            yield f"test/style/check_programs.py: '{name}' stands in a table, but nothing asks for it"


def main():
    paths = tracked()
    found = list(complaints(paths))
    print("\n".join(found))
    programs, finds = calls(paths)
    print(f"check_programs: {len({name for _, name in programs})} programs, {len({name for _, name in finds})} packages and "
          f"libraries of CMake, {len(found)} complaints")
    if not {"FileCheck", "c++", "cmake", "git", "ip", "mpirun", "ninja"} <= {name for _, name in programs}:
        print("check_programs: expected to see calls of FileCheck, git, ip and mpirun: its readers see too little")
        return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
