"""Runs a compiled step that takes nothing and communicates nothing, and prints its results, one a line.

    run-step.py step.so
"""

import ctypes
import json
import math
import sys

TYPES = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32, "u32": ctypes.c_uint32}
ALIGNMENT = 64  # what a compiled step expects of its buffers

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
