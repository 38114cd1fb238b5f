"""Makes payloads with libcgx_runtime.so through the C ABI, by one rank alone."""

import contextlib
import ctypes
import json
import os

from memory import Gpu, Host

TYPES = {"f32": 4, "f16": 2, "bf16": 2}


class Config(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("abi_version", ctypes.c_uint32), ("transport", ctypes.c_char_p),
                ("job", ctypes.c_char_p), ("rank", ctypes.c_uint32), ("ranks", ctypes.c_uint32), ("seed", ctypes.c_uint64),
                ("timeout_ms", ctypes.c_uint32), ("manifest", ctypes.c_char_p), ("ring_bytes", ctypes.c_uint64)]


LIBRARY = ctypes.CDLL(os.environ["CGX_RUNTIME"])
LIBRARY.cgx_last_error.restype = ctypes.c_char_p
LIBRARY.cgx_context_begin_step.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
LIBRARY.cgx_context_end_step.argtypes = [ctypes.c_void_p]
LIBRARY.cgx_context_use_cuda.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
for call, arguments in ("cgx_rt_compress", 6), ("cgx_rt_decompress", 5):
    getattr(LIBRARY, call).argtypes = [ctypes.c_int64] * arguments
    getattr(LIBRARY, call).restype = None


def check(status):
    if status != 0:
        raise RuntimeError(LIBRARY.cgx_last_error().decode())


@contextlib.contextmanager
def context(collectives, memory):
    """Makes a job of one rank whose buffers are in that memory."""
    manifest = {"cgx_manifest": 1, "hash": "0123", "ranks": 1, "collectives": collectives}
    config = Config(ctypes.sizeof(Config), 1, b"inproc", b"format", 0, 1, 7, 30000, json.dumps(manifest).encode(), 0)
    made = ctypes.c_void_p()
    check(LIBRARY.cgx_context_create(ctypes.byref(config), ctypes.byref(made)))
    try:
        if memory is Gpu:
            check(LIBRARY.cgx_context_use_cuda(made, None))
        yield made
    finally:
        LIBRARY.cgx_context_destroy(made)


def missing_gpu():
    """Returns why no buffer can be on a GPU, or an empty text if one can."""
    try:
        with context([], Gpu):
            return None
    except RuntimeError as error:
        return str(error)


def encode_and_decode(codec, dtype, data, memory=Host):
    """Returns the payload of the elements whose bytes are `data`, in a zeroed buffer that may be longer, and the bytes
    of the elements that the runtime decodes it to. `codec` is in the form of manifests."""
    elements = len(data) // TYPES[dtype]
    operand = {"layer": "w", "layer_id": 16, "kind": "gradient", "dtype": dtype, "elements": elements, "shape": [elements],
               "codec": codec}
    all_reduce = {"id": 1, "kind": "all_reduce", "groups": [[0]], "reduction": "sum", "operands": [operand]}
    with context([all_reduce], memory) as job:
        source, payload, decoded = memory(data), memory(bytes(16 * len(data) + 8192)), memory(bytes(len(data)))
        check(LIBRARY.cgx_context_begin_step(job, 0))
        LIBRARY.cgx_rt_compress(job.value, 1, 0, 0, source.address, payload.address)
        LIBRARY.cgx_rt_decompress(job.value, 1, 0, payload.address, decoded.address)
        check(LIBRARY.cgx_context_end_step(job))
        return payload.fetch(), decoded.fetch()
