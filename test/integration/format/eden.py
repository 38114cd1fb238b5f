"""Rotated buckets, and levels for the normal distribution. From the text of FORMAT.md."""

from functools import cache
from math import erfc, inf, pi, sqrt
from statistics import NormalDist

import numpy as np

from buckets import scale_values, unpack_levels
from elements import hold
from envelope import MASK, mix

GOLDEN = 0x9e3779b97f4a7c15


@cache
def levels(bits):
    """Those of least squared error: each is the mean of what is nearest to it. Some of Lloyd's steps, which always come nearer,
    then Newton's, which are fast."""
    count = 2**(bits - 1)
    # Many levels lie about as densely as the cube root of the density of elements.
    c = np.array([sqrt(3) * NormalDist().inv_cdf(.5 + (2 * i + 1) / (4 * count)) for i in range(count)])
    for step in range(8 * count + 20):
        ends = np.concatenate([[0], (c[1:] + c[:-1]) / 2, [inf]])
        at = np.exp(-ends**2 / 2) / sqrt(2 * pi)
        share = -np.diff([erfc(end / sqrt(2)) / 2 for end in ends])
        if step < 8 * count:
            c = -np.diff(at) / share
            continue
        matrix = np.diag(share)
        for i in range(count - 1):
            matrix[i:i + 2, i:i + 2] += (c[i] - ends[i + 1]) * at[i + 1] / 2
        c = c - np.linalg.solve(matrix, c * share + np.diff(at))
    return c.astype(np.float32)


def lengths(codec, elements):
    """Of the buckets, once the last one is filled up."""
    whole, rest = divmod(elements, codec["bucket"])
    return [codec["bucket"]] * whole + ([max(64, 1 << (rest - 1).bit_length())] if rest else [])


def signs(seed, begin, length):
    """Those of the first and of the second rotation, 1 or -1."""
    words = [mix((seed + (i // 64 + 1) * GOLDEN) & MASK) for i in range(begin, begin + length, 64)]
    pairs = [words, [mix((word + GOLDEN) & MASK) for word in words]]
    bits = [np.unpackbits(np.array(each, "<u8").view(np.uint8), bitorder="little") for each in pairs]
    return [np.where(each == 1, np.float32(-1), np.float32(1)) for each in bits]


def transform(x):
    distance = 1
    while distance < len(x):
        pairs = x.reshape(-1, 2, distance)
        x = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], 1).ravel()
        distance *= 2
    return x


def eden(body, codec, dtype, elements):
    seed = int(body.take("<u8", 1)[0])
    each = lengths(codec, elements)
    scales = scale_values(body, codec, len(each))
    codes = unpack_levels(body, codec["bits"], sum(each))
    half = 2**(codec["bits"] - 1)
    x = levels(codec["bits"])[codes % half] * np.where(codes >= half, np.float32(-1), np.float32(1))
    parts, begin = [], 0
    for length, scale in zip(each, scales):
        first, second = signs(seed, begin, length)
        part = transform(transform(x[begin:begin + length]) * second) * first
        parts.append(part * np.float32(1 / length) * scale if np.isfinite(scale) else np.full(length, np.nan, np.float32))
        begin += length
    # A last bucket alone is filled up, so what is left over lies at the end.
    return hold(np.concatenate(parts)[:elements], dtype)
