"""Payloads of libcgx_runtime.so, made by one rank alone through the C ABI."""

import ctypes
import json
import os

TYPES = {"f32": 4, "f16": 2, "bf16": 2}


class Config(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("abi_version", ctypes.c_uint32), ("transport", ctypes.c_char_p),
                ("job", ctypes.c_char_p), ("rank", ctypes.c_uint32), ("ranks", ctypes.c_uint32), ("seed", ctypes.c_uint64),
                ("timeout_ms", ctypes.c_uint32), ("manifest", ctypes.c_char_p), ("ring_bytes", ctypes.c_uint64)]


LIBRARY = ctypes.CDLL(os.environ["CGX_RUNTIME"])
LIBRARY.cgx_last_error.restype = ctypes.c_char_p
LIBRARY.cgx_context_begin_step.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
LIBRARY.cgx_context_end_step.argtypes = [ctypes.c_void_p]
for call, arguments in ("cgx_rt_compress", 6), ("cgx_rt_decompress", 5):
    getattr(LIBRARY, call).argtypes = [ctypes.c_int64] * arguments
    getattr(LIBRARY, call).restype = None


def check(status):
    if status != 0:
        raise RuntimeError(LIBRARY.cgx_last_error().decode())


def encode_and_decode(codec, dtype, data):
    """The payload of the elements whose bytes are `data`, in a buffer of zeros that may be longer, and the bytes of the
    elements that the runtime decodes it to. `codec` is that of a manifest."""
    elements = len(data) // TYPES[dtype]
    operand = {"layer": "w", "layer_id": 16, "kind": "gradient", "dtype": dtype, "elements": elements, "shape": [elements],
               "codec": codec}
    manifest = {"cgx_manifest": 1, "hash": "0123", "ranks": 1,
                "collectives": [{"id": 1, "kind": "all_reduce", "groups": [[0]], "reduction": "sum", "operands": [operand]}]}
    config = Config(ctypes.sizeof(Config), 1, b"inproc", b"format", 0, 1, 7, 30000, json.dumps(manifest).encode(), 0)
    context = ctypes.c_void_p()
    check(LIBRARY.cgx_context_create(ctypes.byref(config), ctypes.byref(context)))
    try:
        source = ctypes.create_string_buffer(data, max(len(data), 1))
        payload = ctypes.create_string_buffer(16 * len(data) + 8192)
        decoded = ctypes.create_string_buffer(max(len(data), 1))
        check(LIBRARY.cgx_context_begin_step(context, 0))
        LIBRARY.cgx_rt_compress(context.value, 1, 0, 0, ctypes.addressof(source), ctypes.addressof(payload))
        LIBRARY.cgx_rt_decompress(context.value, 1, 0, ctypes.addressof(payload), ctypes.addressof(decoded))
        check(LIBRARY.cgx_context_end_step(context))
        return payload.raw, decoded.raw[:len(data)]
    finally:
        LIBRARY.cgx_context_destroy(context)
