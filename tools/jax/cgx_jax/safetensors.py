"""Files of named tensors, in the safetensors format.

A file is eight bytes, the little-endian length N of the header; N bytes of JSON

    {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}

and the tensors behind it, dense, row-major, little-endian and without holes. Written here
because it is this short, so that exporting a step needs no package that JAX does not.

The format lacks some types of JAX. int4 and int2 are written as I8, uint4 and uint2 as U8,
one byte for each number; floats of at most eight bits that it has no name for (float8_e4m3,
float8_e3m4, those with b11 or fnuz, float6, float4) are written as U8, the bits of one
number in each byte: `load(path)[name].view(ml_dtypes.float8_e3m4)` has the numbers.
Compiled steps take and return them like that.
"""

import json
import pathlib

import ml_dtypes
import numpy as np

from cgx_jax import output

_DTYPES = {
    "F64": np.dtype("<f8"), "F32": np.dtype("<f4"), "F16": np.dtype("<f2"),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "I64": np.dtype("<i8"), "I32": np.dtype("<i4"), "I16": np.dtype("<i2"), "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"), "U32": np.dtype("<u4"), "U16": np.dtype("<u2"), "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
_DTYPES |= {name: np.dtype(getattr(ml_dtypes, dtype))
            for name, dtype in {"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu"}.items()
            if hasattr(ml_dtypes, dtype)}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_INTEGERS = {"int4": np.int8, "int2": np.int8, "uint4": np.uint8, "uint2": np.uint8}
_ALIGNMENT = 8  # bytes, for the first tensor: the header is padded with spaces


def is_known(dtype):
    """Returns true if elements of that NumPy type can be written, under a name of their own or as bytes."""
    dtype = np.dtype(dtype)
    return dtype.newbyteorder("<") in _NAMES or dtype.name in _INTEGERS or _is_narrow_float(dtype)


def _is_narrow_float(dtype):
    return dtype.itemsize == 1 and dtype.name.startswith("float")


def _as_written(array):
    """Returns the array with equal contents in a type that the format has. Whole numbers keep their values."""
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag], axis=-1)
    if array.dtype.name in _INTEGERS:
        return array.astype(_INTEGERS[array.dtype.name])
    if _is_narrow_float(array.dtype) and array.dtype not in _NAMES:
        return array.view(np.uint8)
    return array


def save(path, tensors, metadata=None):
    """Writes tensors to a file, which appears complete or not at all.

    The format has no complex numbers: their real and imaginary parts lie side by side in a last dimension of 2, as
    compiled steps take them.

    Args:
      path: the file; replaced if it exists.
      tensors: a mapping from name to array (anything that `numpy.asarray` takes), of any
        shape, in the order in which they are to lie in the file.
      metadata: an optional mapping from string to string.

    Raises:
      TypeError: an array has an element type that the format lacks (object, strings, ...).
    """
    header, payload, offset = {}, [], 0
    if metadata:
        header["__metadata__"] = dict(metadata)
    for name, tensor in tensors.items():
        array = _as_written(np.asarray(tensor))
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        if array.dtype not in _NAMES:
            raise TypeError(f"{path}: {name}: expected one of {', '.join(_DTYPES)}, got elements of {array.dtype}")
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        payload.append(array)
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)

    output.write(path, [len(text).to_bytes(8, "little") + text, *(array.tobytes() for array in payload)])


def load(path):
    """Reads a file of tensors.

    Args:
      path: the file.

    Returns:
      A dict from name to a NumPy array of the shape and element type that was written, in
      the order of the file. Metadata is left out.

    Raises:
      ValueError: the file is truncated, or its header contradicts its content.
    """
    content = pathlib.Path(path).read_bytes()
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > len(content) - 8:
        raise ValueError(f"{path}: truncated: the header does not fit {len(content)} bytes")
    try:
        header = json.loads(content[8:8 + length])
    except ValueError as error:
        raise ValueError(f"{path}: the header is not JSON: {error}") from None
    payload = content[8 + length:]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in _DTYPES:
            raise ValueError(f"{path}: {name}: expected one of {', '.join(_DTYPES)}, got {entry['dtype']}")
        dtype, shape = _DTYPES[entry["dtype"]], tuple(entry["shape"])
        begin, end = entry["data_offsets"]
        expected = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        if not 0 <= begin <= end <= len(payload) or end - begin != expected:
            raise ValueError(f"{path}: {name}: expected {expected} bytes for {dtype}{list(shape)}, "
                             f"got [{begin}, {end}) of {len(payload)}")
        tensors[name] = np.frombuffer(payload, dtype, expected // dtype.itemsize, begin).reshape(shape).copy()
    return tensors
