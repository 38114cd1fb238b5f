"""Runs a compiled step that takes nothing and communicates nothing, and prints its results, one a line.

    run-step.py step.so [--memory]

With --memory also what the process has allocated since, when the step has run, has freed its memory, has run
again, and is unloaded.
"""

import _ctypes
import ctypes
import json
import math
import sys

TYPES = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32, "u32": ctypes.c_uint32}
ALIGNMENT = 64  # required by compiled steps

library = ctypes.CDLL(sys.argv[1])
manifest = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(library, "cgx_program_manifest")))
memory, results = [], []
for entry in json.loads(manifest)["results"]:
    kind = TYPES[entry["dtype"]] * math.prod(entry["shape"])
    memory.append(ctypes.create_string_buffer(b"\xa5" * (ctypes.sizeof(kind) + ALIGNMENT)))
    results.append(kind.from_buffer(memory[-1], -ctypes.addressof(memory[-1]) % ALIGNMENT))
addresses = (ctypes.c_void_p * len(results))(*map(ctypes.addressof, results))
library.cgx_program_step(None, None, addresses)
for result in results:
    print(*(f"{value:.5g}" if isinstance(value, float) else value for value in result))


class Allocated(ctypes.Structure):
    """glibc's struct mallinfo2."""
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def measure():
    allocated = ctypes.CDLL(None).mallinfo2
    allocated.restype = Allocated
    now = allocated()
    return now.uordblks + now.hblkhd


if "--memory" in sys.argv[2:]:
    library.cgx_program_release()
    before = measure()

    def report(when):
        print(f"{when}: {round((measure() - before) / 2**20)} MiB")

    library.cgx_program_step(None, None, addresses)
    report("after a step")
    library.cgx_program_release()
    report("after cgx_program_release")
    library.cgx_program_step(None, None, addresses)
    report("after a step")
    _ctypes.dlclose(library._handle)
    report("unloaded")
