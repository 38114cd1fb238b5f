"""Decodes the families whose buckets have scales (quantize, ternary, sign, cast) and natural, by the text of FORMAT.md."""

from math import gcd

import ml_dtypes
import numpy as np

from elements import DTYPES, fma, hold


def scale_values(body, codec, count):
    if codec.get("scale", "bf16") == "f32":
        return body.take("<f4", count)
    return (body.take("<u2", count).astype(np.uint32) << 16).view(np.float32)


def per_element(scales, codec, elements):
    return np.repeat(scales, codec["bucket"])[:elements]


def bit_plane(body, elements):
    return np.unpackbits(body.take(np.uint8, -(-elements // 8)), bitorder="little")[:elements].astype(bool)


def unpack_dense(data, bits, count):
    stream = np.unpackbits(data, bitorder="little")[:count * bits].reshape(count, bits)
    return stream.astype(np.uint32) @ (1 << np.arange(bits, dtype=np.uint32))


def unpack_levels(body, bits, elements):
    rows = 16 // gcd(16, bits)
    block = 32 * rows
    levels = np.zeros(elements, np.uint32)
    data = body.take(np.uint8, -(-elements * bits // 8))
    whole, size = elements // block, block * bits // 8
    # Column 2 j is element j of the row, column 2 j + 1 element 16 + j.
    element_of = np.empty(32, int)
    element_of[0::2], element_of[1::2] = np.arange(16), 16 + np.arange(16)
    for b in range(whole):
        words = data[b * size:(b + 1) * size].view("<u2").reshape(-1, 32)
        for column in range(32):
            row_levels = unpack_dense(np.ascontiguousarray(words[:, column]).view(np.uint8), bits, rows)
            levels[b * block + 32 * np.arange(rows) + element_of[column]] = row_levels
    rest = elements - whole * block
    levels[whole * block:] = unpack_dense(data[whole * size:], bits, rest)
    return levels


def quantize(body, codec, dtype, elements):
    bits, count = codec["bits"], -(-elements // codec["bucket"])
    kind, scaling = codec.get("levels", "uniform"), codec.get("scaling", "min_max")
    table = body.take("<f4", 2**bits) if kind == "learned" else None
    if scaling == "min_max":
        minimum, unit = (per_element(column, codec, elements) for column in scale_values(body, codec, 2 * count).reshape(-1, 2).T)
    else:
        unit = per_element(scale_values(body, codec, count), codec, elements)
        minimum = -(np.float32(2**(bits - 1) - 1) * unit)
    levels = unpack_levels(body, bits, elements)
    if kind == "learned":
        values = fma(table[levels], unit, minimum)
    elif kind == "exponential":
        largest = 2**(bits - 1) - 1
        magnitude = levels & largest
        minimum = unit  # there is no other
        values = np.where(magnitude == 0, 0, np.ldexp(unit, magnitude.astype(np.int32) - largest)).astype(np.float32)
        values = np.where(levels > largest, -values, values)
    else:
        values = fma(levels, unit, minimum)
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(unit) & np.isfinite(minimum)
    return hold(np.where(finite, values, np.float32(np.nan)), dtype)


def ternary(body, codec, dtype, elements):
    scale = per_element(scale_values(body, codec, -(-elements // codec["bucket"])), codec, elements)
    kept, negative = bit_plane(body, elements), bit_plane(body, elements)
    values = np.where(kept, np.where(negative, -scale, scale), 0)
    return hold(np.where(np.isfinite(scale), values, np.float32(np.nan)), dtype)


def sign(body, codec, dtype, elements):
    count = -(-elements // codec["bucket"])
    if codec["magnitude"] == "means":
        positive, below = (per_element(column, codec, elements) for column in scale_values(body, codec, 2 * count).reshape(-1, 2).T)
    else:
        positive = per_element(scale_values(body, codec, count), codec, elements)
        below = -positive
    values = np.where(bit_plane(body, elements), below, positive)
    finite = np.isfinite(positive) & np.isfinite(below)
    return hold(np.where(finite, values, np.float32(np.nan)), dtype)


def natural(body, codec, dtype, elements):
    exponent = body.take(np.uint8, elements).astype(np.uint32)
    negative = bit_plane(body, elements)
    with np.errstate(invalid="ignore"):
        values = (exponent << 23).view(np.float32)
        values = np.where(negative, -values, values)
    return hold(np.where(exponent == 255, np.float32(np.nan), values), dtype)


def cast(body, codec, dtype, elements):
    kind = codec["format"]
    if kind in ("bf16", "f16"):
        return body.take("<u2", elements).view(DTYPES[kind]).astype(np.float32).astype(DTYPES[dtype])
    if kind.startswith("fp8"):
        scale = per_element(scale_values(body, codec, -(-elements // codec["bucket"])), codec, elements)
        code = ml_dtypes.float8_e4m3fn if kind == "fp8_e4m3" else ml_dtypes.float8_e5m2
        values = body.take(np.uint8, elements).view(code).astype(np.float32) * scale
    else:
        exponent = np.repeat(body.take(np.uint8, -(-elements // 32)), 32)[:elements].astype(np.int32)
        scale = np.where(exponent == 255, np.float32(np.nan), np.ldexp(np.float64(1), exponent - 127).astype(np.float32))
        if kind == "mxfp8":
            values = body.take(np.uint8, elements).view(ml_dtypes.float8_e4m3fn).astype(np.float32) * scale
        else:
            values = four_bits(body, elements).view(ml_dtypes.float4_e2m1fn).astype(np.float32) * scale
    return hold(np.where(np.isfinite(scale), values, np.float32(np.nan)), dtype)


def four_bits(body, elements):
    data = body.take(np.uint8, -(-elements // 2))
    whole = elements // 32 * 16
    blocks = data[:whole].reshape(-1, 16)
    first = np.concatenate([blocks & 15, blocks >> 4], axis=1).ravel()
    rest = np.stack([data[whole:] & 15, data[whole:] >> 4], axis=1).ravel()
    return np.concatenate([first, rest])[:elements].astype(np.uint8)
