"""Converts elements of the three types to f32, and applies what decoders do to results at the end (FORMAT.md)."""

import ml_dtypes
import numpy as np

DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def hold(values, dtype):
    """Clamps values to the finite range of the type, then rounds them to it. NaN stays NaN."""
    largest = np.float32(ml_dtypes.finfo(DTYPES[dtype]).max)
    return np.clip(values.astype(np.float32), -largest, largest).astype(DTYPES[dtype])


def fma(a, b, c):
    """Multiplies and adds with one rounding to f32. This is exact if the product and c differ by a factor below 2^53,
    as in these tests."""
    return (np.asarray(a, np.float64) * np.asarray(b, np.float64) + np.asarray(c, np.float64)).astype(np.float32)


def bits_of(values):
    return values.view(np.uint32 if values.itemsize == 4 else np.uint16)
