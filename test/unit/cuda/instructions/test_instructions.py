"""What the compiler made of the main GPU kernels stays within bounds.txt: instructions of their loops, registers, stack.

Speed follows the number of instructions for each element (kernels/cuda/README.md), and no GPU is needed to count them:
`cuobjdump` and `nvdisasm`, which come with the CUDA toolkit, take the library apart. `--list` prints what is counted of
every kernel whose name contains one of the words behind it.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import typing
import unittest

BOUNDS = pathlib.Path(__file__).with_name("bounds.txt")
ARCHITECTURE = "sm_90"


class Count(typing.NamedTuple):
    loop: int  # instructions of the biggest loop
    registers: int  # of a thread
    stack: int  # bytes of a thread: spilled registers, arrays that are no registers
    generic: int  # loads and stores of which the compiler knows no address space


class Bound(typing.NamedTuple):
    most: Count
    elements: int  # that a lane handles in a round of the loop
    kernel: str


ENVIRONMENT = pathlib.Path(__file__).resolve().parents[4] / "build" / "venv"


def find_tools():
    """Returns the folder of both programs, or None. They may be in PATH, beside nvcc, or in packages from PyPI: of this
    Python, or of the environment that tools/setup makes."""
    folders = os.environ["PATH"].split(os.pathsep) + [os.path.dirname(os.environ.get("CGX_NVCC", ""))]
    folders += [str(folder) for path in [*sys.path, *ENVIRONMENT.glob("lib/python*/site-packages")]
                for folder in pathlib.Path(path or ".").glob("nvidia/*/bin")]
    for folder in filter(None, folders):
        if all(shutil.which(name, path=folder) for name in ("cuobjdump", "nvdisasm")):
            return folder
    return None


def run_tool(folder, *command):
    environment = os.environ | {"PATH": folder + os.pathsep + os.environ["PATH"]}
    return subprocess.run([os.path.join(folder, command[0]), *command[1:]], env=environment, check=True,
                          capture_output=True, text=True).stdout  # fmt: skip


def count_loop(instructions):
    """Instructions between the target and the place of the branch that leads back furthest, and generic ones of all.

    `instructions` are tuples of address, operation and operands.
    """
    first, last = 0, -1
    for address, operation, operands in instructions:
        target = re.search(r"0x([0-9a-f]+)", operands) if operation.startswith("BRA") else None
        if target and int(target[1], 16) < address and address - int(target[1], 16) > last - first:
            first, last = int(target[1], 16), address
    loop = sum(first <= address <= last for address, _, _ in instructions)
    generic = sum(operation.split(".")[0] in ("LD", "ST") for _, operation, _ in instructions)
    return loop, generic


def count_kernels(library):
    """Counts by name, without namespaces and arguments."""
    folder = find_tools()
    usage = run_tool(folder, "cuobjdump", "--dump-resource-usage", "--gpu-architecture", ARCHITECTURE, library)
    resources = {name: (int(registers), int(stack))
                 for name, registers, stack in re.findall(r"Function (\S+):\s+REG:(\d+) STACK:(\d+)", usage)}  # fmt: skip
    code = run_tool(folder, "cuobjdump", "--dump-sass", "--gpu-architecture", ARCHITECTURE, library)
    blocks = dict(block.split("\n", 1) for block in code.split("Function : ")[1:])
    plain = subprocess.run(["c++filt"], input="\n".join(blocks), capture_output=True, text=True, check=True).stdout
    counts = {}
    for (mangled, block), name in zip(blocks.items(), plain.split("\n")):
        instructions = [(int(at, 16), operation, operands) for at, operation, operands in
                        re.findall(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+ )?([A-Z0-9_.]+)([^;]*);", block)]  # fmt: skip
        loop, generic = count_loop(instructions)
        name = re.sub(r"\b\w+::", "", name).removeprefix("void runRanges<").split(" >(")[0]
        counts[name] = Count(loop, *resources[mangled.strip()], generic)
    return counts


def read_bounds(text):
    bounds = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            loop, elements, registers, stack, generic, kernel = line.split(maxsplit=5)
            bounds.append(Bound(Count(int(loop), int(registers), int(stack), int(generic)), int(elements), kernel))
    return bounds


def find_violations(counts, bounds):
    """A sentence for each number that is above its bound, and for each kernel that is not there."""
    wrong = []
    for bound in bounds:
        found = counts.get(bound.kernel)
        if found is None:
            wrong.append(f"expected a kernel {bound.kernel}, as {BOUNDS.name} names it, and the library has none")
            continue
        for what, most, is_ in zip(("instructions in its loop", "registers", "bytes of stack", "generic loads and stores"),
                                   bound.most, found):  # fmt: skip
            if is_ > most:
                wrong.append(f"{bound.kernel} grew: expected at most {most} {what}, got {is_} ({found.loop / bound.elements:.1f} "
                             f"instructions an element); make it smaller, or raise the bound in {BOUNDS.name} and say why")  # fmt: skip
    return wrong


class Counting(unittest.TestCase):
    def test_counts_the_biggest_loop(self):
        listing = [(0x10, "LD.E", " R0, [R2]"), (0x20, "BRA", " 0x20"), (0x30, "FADD", " R0, R0, R0"),
                   (0x40, "BRA", " 0x60"), (0x50, "BRA.U", " `(x) 0x20"), (0x60, "EXIT", "")]  # fmt: skip
        self.assertEqual(count_loop(listing), (4, 1))

    def test_says_which_kernel_grew_and_by_what(self):
        bounds = read_bounds("# a comment\n 100 32 64 0 0 Encode<4u, 4u>\n 10 1 8 0 0 Gone\n")
        wrong = find_violations({"Encode<4u, 4u>": Count(101, 64, 8, 0)}, bounds)
        self.assertEqual(len(wrong), 3)
        self.assertIn("Encode<4u, 4u> grew: expected at most 100 instructions in its loop, got 101", wrong[0])
        self.assertIn("at most 0 bytes of stack, got 8", wrong[1])
        self.assertIn("expected a kernel Gone", wrong[2])
        self.assertEqual(find_violations({"Encode<4u, 4u>": Count(100, 64, 0, 0)}, bounds[:1]), [])


class Kernels(unittest.TestCase):
    def test_stay_within_their_bounds(self):
        if not find_tools():
            self.skipTest("no cuobjdump and nvdisasm: CUDA's toolkit has them, as do nvidia-cuda-cuobjdump and "
                          "nvidia-cuda-nvdisasm from PyPI")  # fmt: skip
        library = os.environ["CGX_CUDA_LIBRARY"]
        counts = count_kernels(library)
        bounds = read_bounds(BOUNDS.read_text())
        for bound in bounds:
            if found := counts.get(bound.kernel):
                print(f"{found.loop / bound.elements:6.1f} an element, {found.registers:3d} registers  {bound.kernel}")
        self.assertEqual(find_violations(counts, bounds), [])
        self.assertLessEqual(os.path.getsize(library), 25 << 20, "the library is bigger than 25 MiB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--list"]:
        print(" loop registers stack generic  kernel")
        for name, count in sorted(count_kernels(os.environ["CGX_CUDA_LIBRARY"]).items()):
            if not sys.argv[2:] or any(word in name for word in sys.argv[2:]):
                print(f"{count.loop:5d} {count.registers:9d} {count.stack:5d} {count.generic:7d}  {name}")
    else:
        unittest.main()
