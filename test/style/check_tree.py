#!/usr/bin/env python3
"""Checks the habits of this tree that a script can check.

Each check is one function that yields complaints of the form "path: what is wrong and
what would be right". Run from anywhere; exits with 1 when there is a complaint.
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CXX = (".cpp", ".h", ".cu", ".cuh")
# A layer may include the layers that stand to its left, and itself.
LAYERS = ["kernels", "runtime", "dialect", "passes", "tools"]
# The compiler sees of the runtime only these C headers, the one home of files that are written (which is no part of
# the running runtime), and those readers of files that throw nothing.
C_BORDER = {"cgx/codec.h", "cgx/codec_table.h", "cgx/native.h", "cgx/cost.h", "cgx/runtime.h", "cgx/schedule.h", "cgx/wire.h", "cgx/output/OutputFile.h"}
C_BORDER |= {f"cgx/formats/{name}.h" for name in ("Codec", "Machine", "Plan", "TextFile")}
# It also sees the decisions about layers, which frameworks ask for, too.
C_BORDER |= {f"cgx/layers/{path.name}" for path in (ROOT / "runtime/layers/include/cgx/layers").glob("*.h")}

# These folders lie below the components of runtime/, and above them; runtime/CMakeLists.txt orders the components.
BELOW, ABOVE = ["abi", "formats", "layers", "plan", "output"], ["capi"]
# A library of its own beside the runtime, which includes nothing of it, and of which it includes the C ABI alone.
NATIVE = "native"


def tracked():
    """Paths under version control or about to be, relative to the root."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        names = listing.stdout.splitlines()
    else:  # an exported tree without git
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file()]
    return [pathlib.Path(n) for n in names
            if not n.startswith("build/") and (ROOT / n).is_file()]


def licensed(paths):
    """Every C, C++ and TableGen source names the licence at its top."""
    for path in paths:
        if path.suffix in CXX + (".td", ".c", ".inc") and "Inputs" not in path.parts:
            if "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception" not in text(path)[:800]:
                yield f"{path}: expected the licence header at the top"


def named_by_subject(paths):
    """No file is called utils, common, helpers or misc."""
    for path in paths:
        if re.search(r"(^|[-_])(utils?|common|helpers?|misc)($|[-_])", path.stem.lower()):
            yield f"{path}: name the subject, not '{path.stem}'"


def include_direction(paths):
    """kernels < runtime, dialect < passes < tools, and no LLVM where things only run."""
    owner = {}
    for path in paths:
        if "include" in path.parts and path.suffix in CXX:
            parts = path.parts
            owner["/".join(parts[parts.index("include") + 1:])] = parts[0]
    for path in paths:
        if path.suffix not in CXX or path.parts[0] not in LAYERS:
            continue
        layer = path.parts[0]
        for header in re.findall(r'^\s*#include\s+["<]([^">]+)[">]', text(path), re.M):
            if layer in ("kernels", "runtime") and header.startswith(("llvm/", "mlir/")):
                yield f"{path}: includes {header}: {layer}/ builds without LLVM"
            target = owner.get(header)
            if target is None or target == layer or header in C_BORDER:
                continue
            if LAYERS.index(target) > LAYERS.index(layer):
                yield f"{path}: includes {header}: {layer}/ may not include {target}/, which stands above it"
            if layer in ("dialect", "passes") and target in ("kernels", "runtime"):
                yield f"{path}: includes {header}: the compiler sees only {sorted(C_BORDER)} of {target}/"


def components():
    """The folders of runtime/ in their order: each may include those to its left, and itself."""
    declared = re.findall(r"^ *cgx_component\(([\w/]+)", text("runtime/CMakeLists.txt"), re.M)
    return BELOW + list(dict.fromkeys(declared)) + ABOVE


def component_of(path, order):
    """The component of a path below runtime/, the innermost one; None for what lies beside them."""
    return next((c for c in sorted(order, key=len, reverse=True) if path.startswith(c + "/")), None)


def components_of_the_runtime(paths):
    """Includes between the components of runtime/ go one way, and every source is in one. Only headers under include/ are
    seen by others: those beside the sources are included by their names alone."""
    order = components() + [NATIVE]
    sources = [p for p in paths if p.parts[0] == "runtime" and p.suffix in CXX]
    owner = {}
    for path in sources:
        if "include" in path.parts:
            owner["/".join(path.parts[path.parts.index("include") + 1:])] = component_of("/".join(path.parts[1:]), order)
    for path in sources:
        component = component_of("/".join(path.parts[1:]), order)
        if component is None:
            yield f"{path}: is in no component of {order}"
            continue
        for header in re.findall(r'^\s*#include\s+"([^"]+)"', text(path), re.M):
            target = owner.get(header)
            if component == NATIVE and target not in (None, "abi", NATIVE):
                yield f"{path}: includes {header}: {NATIVE}/ may include the C ABI (runtime/abi) alone of the runtime"
            if target and order.index(target) > order.index(component):
                yield f"{path}: includes {header}: {component}/ may not include {target}/, which stands above it"
            if not target and component_of(header, order):
                yield f"{path}: includes {header}: expected a header under include/ of its component"


# These files may know how programs become native code; all others build without it (CGX_BUILD_NATIVE).
# Of cgx-bench, Calibrate.cpp measures what compiled steps compute with, and stands aside where there is none.
KNOW_NATIVE = ("passes/native/", "passes/include/cgx/Passes/Native.", "runtime/native/", "tools/compile/", "tools/run/",
               "tools/registration/Native.cpp", "tools/bench/lib/Calibrate.cpp", "test/")
LINK_NATIVE = KNOW_NATIVE + ("tools/registration/CMakeLists.txt", "cmake/CgxInstall.cmake")


def native_border(paths):
    """Of native execution nothing is included or linked but by itself, its tools and what registers passes for cgx-opt."""
    for path in paths:
        if path.suffix in CXX and not str(path).startswith(KNOW_NATIVE):
            for header in re.findall(r'^\s*#include\s+["<]([^">]+)[">]', text(path), re.M):
                if header.startswith(("cgx/Passes/Native.", "cgx/native.h")) or re.search(r"(^|/)native/", header):
                    yield f"{path}: includes {header}: only {KNOW_NATIVE} may know native execution, which builds can leave out"
        if path.name == "CMakeLists.txt" or path.suffix == ".cmake":
            if "CgxNativePasses" in text(path) and not str(path).startswith(LINK_NATIVE):
                yield f"{path}: names CgxNativePasses: only {LINK_NATIVE} may, programs link CgxNativeRegistration"


def pass_triples(paths):
    """FilterLayersPass = cgx-filter-layers = FilterLayers.cpp = filter-layers.mlir."""
    stems = {p.stem for p in paths if p.suffix == ".cpp" and p.parts[0] == "passes"}
    tests = {p.stem for p in paths if p.parts[:2] == ("test", "lit")}
    for path in paths:
        if path.suffix != ".td" or path.parts[0] != "passes":
            continue
        for body in re.split(r"^def ", text(path), flags=re.M)[1:]:
            match = re.match(r'(\w+)\s*:\s*Pass<"([^"]+)"', body)
            if not match:
                continue
            name, flag = match.groups()
            stem = re.sub(r"Pass$", "", name)
            expected = "cgx-" + re.sub(r"(?<!^)(?=[A-Z])", "-", stem).lower()
            if flag != expected:
                yield f"{path}: {name} has the flag {flag}, expected {expected}"
            if stem not in stems:
                yield f"{path}: {name} has no {stem}.cpp"
            if flag.removeprefix("cgx-") not in tests:
                yield f"{path}: {name} has no test {flag.removeprefix('cgx-')}.mlir"
            for field in ("summary", "description"):
                if f"let {field}" not in body:
                    yield f"{path}: {name} has no {field}"


def documented_ops(paths):
    """Every op, attribute and type of our own dialect has a summary and a description."""
    for path in paths:
        if path.suffix != ".td" or path.parts[:2] != ("dialect", "cgx"):
            continue
        for body in re.split(r"^def ", text(path), flags=re.M)[1:]:
            match = re.match(r'(\w+)\s*:\s*\w*(?:Op|Attr|Type)<"', body)
            if match and not re.search(r"let summary|Op<.*summary", body):
                yield f"{path}: {match.group(1)} has no summary"
            if match and "let description" not in body:
                yield f"{path}: {match.group(1)} has no description"


def exemplified_ops(paths):
    """Every op of the dialects that frontends write has an example, of its own or of its class."""
    for path in paths:
        if path.suffix != ".td" or path.parts[:2] not in (("dialect", "stablehlo"), ("dialect", "sdy")):
            continue
        records = re.split(r"^(?=def |class )", text(path), flags=re.M)[1:]
        classes = {re.match(r"class (\w+)", record).group(1): record for record in records if record[0] == "c"}
        for record in records:
            name = re.match(r"def (\w+Op)\s*:(?!\s*I32EnumAttr)", record)
            ancestors, ancestor = record, re.search(r":\s*(\w+)<", record)
            while ancestor and ancestor.group(1) in classes:
                parent = classes[ancestor.group(1)]
                ancestors += parent
                ancestor = re.search(r":\s*(\w+)<", parent)
            if name and "```mlir" not in ancestors:
                yield f"{path}: {name.group(1)} has no example"


def constraints_tested(paths):
    """What an op of StableHLO says of itself as (C1), ... is refused by a test of that name: @<op>_c1."""
    labels = {label for path in paths if path.parts[:3] == ("test", "lit", "stablehlo")
              for label in re.findall(r"(?:@|// )(\w+_c\d+\w*)", text(path))}
    for path in paths:
        if path.suffix != ".td" or path.parts[:2] != ("dialect", "stablehlo"):
            continue
        for op, body in re.findall(r'^def Stablehlo_\w+Op : \w+<"(\w+)"(.*?)(?=^def |^class |\Z)', text(path),
                                   re.M | re.S):
            for line in re.findall(r"- (\(C\d+\).*)", body):
                numbers = {int(number) for number in re.findall(r"\(C(\d+)\)", line)}
                for first, last in re.findall(r"\(C(\d+)\) to \(C(\d+)\)", line):
                    numbers.update(range(int(first), int(last) + 1))
                for number in sorted(numbers):
                    # One case may have several labels: @gather_c6_c7.
                    if not any(re.fullmatch(rf"{op}(_c\d+)*_c{number}(_\w+)?", label) for label in labels):
                        yield f"{path}: expected a test @{op}_c{number} of what stablehlo.{op} refuses"


# Recipes of READMEs for something new: how the list begins, and how many files it may name.
RECIPES = {
    ("kernels/README.md", "**What a new codec needs**"): 12,
    ("runtime/README.md", "- A transport:"): 3,
    ("runtime/README.md", "- A collective:"): 6,
    ("runtime/README.md", "- An algorithm of all_reduce:"): 4,
    ("runtime/plan/README.md", "A solver is"): 3,
    ("tools/README.md", "- A transport:"): 1,
}
# Names that stand for what is new.
NEW_FILES = {"F.cpp", "f.h", "F-inl.h", "FTest.cpp"}


def recipe(readme, beginning):
    """The files that a list of a README names; it ends where another one or a blank line behind text begins."""
    place = text(readme).find(beginning)
    if place < 0:
        return None
    body = text(readme)[place:]
    if beginning.startswith("- "):
        body = re.split(r"\n(?=- |\n)", body, maxsplit=1)[0]
    else:
        body = re.split(r"\n\n(?!\d)", body.split("\n\n1. ", 1)[-1] if "\n\n1. " in body[:400] else body, maxsplit=1)[0]
    return list(dict.fromkeys(re.findall(r"[\w./-]+\.(?:cpp|h|md|txt)\b", body)))


def recipes(paths):
    """What a new codec, collective, algorithm, transport or solver needs is few files, which are there."""
    names = {str(p) for p in paths}
    for (readme, beginning), most in RECIPES.items():
        files = recipe(readme, beginning)
        if not files:
            yield f"{readme}: expected the list of files that begins with '{beginning}'"
            continue
        if len(files) > most:
            yield f"{readme}: '{beginning}' names {len(files)} files, expected at most {most}: {files}"
        for file in files:
            if pathlib.PurePath(file).name not in NEW_FILES and not any(n == file or n.endswith("/" + file) for n in names):
                yield f"{readme}: '{beginning}' names {file}, which is not there"


# Words of this tree that the field has others for (left), in code and prose of the folders where they were.
FIELD_WORDS = {
    r"parcels?": "eager message, slot",
    r"journeys?": "schedule",
    r"flights?": "pending operation",
    r"patience": "deadline",
}
WORDED = ("runtime", "kernels", "test/unit/runtime", "test/unit/cuda")


def field_words(paths):
    """The field's word for each thing, as NCCL, MPI, UCC and CUB have it."""
    pattern = re.compile(r"(?<![A-Za-z])(" + "|".join(FIELD_WORDS) + r")(?![a-z])|(?<=[a-z])(Parcel|Journey|Patience)", re.I)
    for path in paths:
        if not str(path).startswith(WORDED) or path.suffix not in CXX + (".md",):
            continue
        for number, line in enumerate(text(path).splitlines(), 1):
            match = pattern.search(line)
            if match and "in flight" not in line.lower():
                word = match.group(0).lower()
                better = next((b for w, b in FIELD_WORDS.items() if re.match(w, word)), "the field's")
                yield f"{path}:{number}: '{word}': expected {better}"


# Folders whose comments are sentences. Append a folder when its comments are.
SENTENCED = ("dialect", "examples", "kernels", "passes", "runtime", "test", "tools")
FRAGMENT = re.compile(r"(What|Whether|Of|Who|Whom|Whose|Those|The same|That of|That which)\b")
# A sentence may begin with such a word, so that a few of them are allowed.
MOST_FRAGMENTS = 0.03
COMMENT_MARKS = {suffix: "//" for suffix in CXX + (".td", ".c", ".inc", ".mlir")} | {".py": "#", ".cfg": "#"}
# Lines that read as comments and are none: directives of tests, licences, rules, and switches of tools.
NO_COMMENT = re.compile(r"[A-Z][A-Z0-9_{}-]*:|expected-|=|-----|Part of cgx|See LICENSE|SPDX|clang-format|NOLINT|!|/")


def comments(path):
    """The comments of a file as pairs of a line number and a text; consecutive lines are one comment, up to a blank one."""
    mark = re.escape(COMMENT_MARKS[path.suffix])
    alone, trailing = re.compile(rf"\s*{mark}(?:/?<?)\s?(.*)"), re.compile(rf".*\S\s+{mark}+<?\s+(.*)")
    begin, lines = 0, []
    for number, line in enumerate(text(path).splitlines() + [""], 1):
        whole = alone.fullmatch(line)
        words = whole[1].strip() if whole else ""
        if words and not NO_COMMENT.match(words):
            begin = begin if lines else number
            lines.append(words)
            continue
        if lines:
            yield begin, " ".join(lines)
        lines = []
        beside = None if whole else trailing.fullmatch(line)
        if beside and not NO_COMMENT.match(beside[1]):
            yield number, beside[1]


def comments_are_sentences(paths):
    """Few comments of a folder begin with a fragment such as "Whether ...", which leaves the subject to guess."""
    for folder in SENTENCED:
        count, fragments = 0, []
        for path in paths:
            if path.suffix in COMMENT_MARKS and str(path).startswith(folder + "/"):
                for number, comment in comments(path):
                    count += 1
                    if FRAGMENT.match(comment):
                        fragments.append(f"{path}:{number}")
        if len(fragments) > MOST_FRAGMENTS * count:
            yield (f"{folder}: {len(fragments)} of {count} comments begin with a fragment (What, Whether, Of, Who, Those, "
                   f"The same): expected sentences, and at most {MOST_FRAGMENTS:.0%} of fragments; they are at "
                   + ", ".join(fragments))


def readmes(paths):
    """Every top folder tells a newcomer where to look."""
    names = {str(p) for p in paths}
    for folder in ["dialect/cgx", "dialect/stablehlo", "dialect/sdy", "passes", "runtime", "kernels",
                   "tools", "test", "examples", "docs"]:
        if f"{folder}/README.md" not in names:
            yield f"{folder}: has no README.md"


def readme_lines(paths):
    """Prose of READMEs has lines of up to 100 columns; tables, code and pictures have the width that they need."""
    for path in paths:
        if path.name != "README.md":
            continue
        is_code = False
        for number, line in enumerate(text(path).splitlines(), 1):
            is_code ^= line.lstrip().startswith("```")
            if len(line) > 100 and not is_code and not line.startswith(("|", "    ", "![")):
                yield f"{path}:{number}: {len(line)} columns, expected at most 100"


def without_locale(paths):
    """What a host loads, whose locale may have a comma for the point, converts numbers by from_chars and to_chars."""
    folders = ("kernels/abi", "kernels/cpu", "runtime", "dialect", "passes", "tools/compile", "tools/compiler", "tools/jax", "tools/torch")
    calls = r"\b(strto(?:d|f|ld)|ato[f]|sto(?:d|f|ld)|[sf]scanf)\s*\(|\"[^\"\n]*%(?!\.0f)[-+ #0-9.*]*l?[efgaEFGA](?![a-zA-Z])[^\"\n]*\""
    for path in paths:
        if path.suffix in CXX and str(path).startswith(tuple(f"{folder}/" for folder in folders)):
            for found in re.finditer(calls, text(path)):
                yield f"{path}: {found[0]}: expected from_chars or to_chars, which know no locale"


def versions(paths):
    """The numbers of interfaces and formats are those of the one table that lists them, and every number is in it."""
    page = pathlib.Path("docs/files.md")
    listed = dict(re.findall(r"^\| .* \| `(\w+)` \| (\d+) \|$", text(page), re.M))
    found = {}
    for path in paths:
        if path.suffix in (".cpp", ".h") and path.parts[0] in LAYERS:
            for name, number in re.findall(r"#define (CGX_\w*ABI_VERSION) (\d+)u?\b", text(path)):
                found.setdefault(name, set()).add(number)
            for name, number in re.findall(r"\"(cgx_[a-z_]+)\", (\d+)[,}]", text(path)):
                found.setdefault(name, set()).add(number)
    for name, numbers in sorted(found.items()):
        if numbers != {listed.get(name)}:
            yield f"{page}: {name} is {', '.join(sorted(numbers))} in the sources, {listed.get(name, 'missing')} in the table of versions"
    for name in sorted(listed.keys() - found.keys()):
        yield f"{page}: {name}: expected a version that the sources have"


def formatted(paths):
    """clang-format-22 would change nothing."""
    tool = shutil.which("clang-format-22")
    if tool is None:
        print("check_tree: clang-format-22 is not installed: formatting was not checked")
        return
    sources = [str(p) for p in paths if p.suffix in CXX and p.parts[0] in LAYERS + ["test"]]
    if not sources:
        return
    result = subprocess.run([tool, "--dry-run", "--ferror-limit=1", *sources], cwd=ROOT,
                            capture_output=True, text=True, check=False)
    for path in sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: (?:warning|error)", result.stderr, re.M))):
        yield f"{path}: run clang-format-22 -i {path}"


def spelled(name):
    """`steps/{a,b}.py` is steps/a.py and steps/b.py."""
    found = re.search(r"\{([^}]*)\}", name)
    return [each for choice in found[1].split(",") for each in spelled(name.replace(found[0], choice, 1))] if found else [name]


def reported(paths):
    """Every test that test/REPORTED.md names is there by that name: files, whole suites, and tests of both."""
    tests = [path for path in paths if path.parts[0] == "test"]
    cases = {}
    for path in tests:
        if path.suffix == ".cpp":
            for suite, case in re.findall(r"\b(?:TYPED_)?TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", text(path)):
                cases.setdefault(suite, set()).add(case)
    names = [case for suite in cases.values() for case in suite]

    def is_there(name):
        if ": " in name:
            file, _, case = name.partition(": ")
            return any(str(path).endswith(f"/{file}") and f"def {case}(" in text(path) for path in tests)
        if "/" in name:
            return any(f"/{path}/".find(f"/{name}") >= 0 for path in tests)
        suite, _, case = name.partition(".")
        files = [path for path in tests if path.stem == suite]
        return case in cases.get(suite, ()) if case else suite in cases or suite in names or bool(files)

    for row in text("test/REPORTED.md").splitlines():
        for quoted in re.findall(r"`([^`]+)`", row.rpartition("|")[0].rpartition("|")[2]):
            for name in spelled(quoted):
                if not name.startswith(("tools/", "cgx-")) and not is_there(name):
                    yield f"test/REPORTED.md: expected a test '{name}', which is not there"


def text(path):
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


CHECKS = [licensed, named_by_subject, include_direction, components_of_the_runtime, native_border, pass_triples, documented_ops, exemplified_ops, constraints_tested, readmes, readme_lines, recipes, field_words, comments_are_sentences, without_locale, versions, reported, formatted]


def main():
    paths = tracked()
    complaints = [c for check in CHECKS for c in check(paths)]
    print("\n".join(complaints))
    print(f"check_tree: {len(CHECKS)} checks over {len(paths)} files, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
