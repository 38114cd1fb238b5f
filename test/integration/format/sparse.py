"""Decodes the families that send some of the elements, by the text of FORMAT.md."""

import numpy as np

from buckets import scale_values, unpack_dense
from elements import DTYPES, fma, hold
from envelope import MASK, mix


def bytes_of_bits(bits):
    return -(-bits // 8)


def positions(body, elements, k):
    low_bits = (elements // k).bit_length() - 1
    sequence, vector = bytes_of_bits(k * low_bits), bytes_of_bits(((elements - 1) >> low_bits) + k)
    if sequence + vector >= bytes_of_bits(elements):
        plane = np.unpackbits(body.take(np.uint8, bytes_of_bits(elements)), bitorder="little")
        return np.flatnonzero(plane)
    low = np.unpackbits(body.take(np.uint8, sequence), bitorder="little")[:k * low_bits].reshape(k, low_bits)
    high = np.flatnonzero(np.unpackbits(body.take(np.uint8, vector), bitorder="little")) - np.arange(k)
    return (high << low_bits) + low.astype(np.int64) @ (1 << np.arange(low_bits, dtype=np.int64))


def count_of(codec, elements):
    return int(min(max(np.floor(np.float64(np.float32(codec["density"])) * elements + 0.5), 1), elements))


def scatter(body, dtype, elements, where, rest):
    result = np.full(elements, rest, np.float32).astype(DTYPES[dtype])
    word = "<f4" if dtype == "f32" else "<u2"
    result[where] = body.take(word, len(where)).view(DTYPES[dtype])
    return result


def topk_levels(body, codec, dtype, elements):
    result, bits = np.zeros(elements, np.float32).astype(DTYPES[dtype]), codec["bits"]
    for begin in range(0, elements, codec["bucket"]):
        length = min(codec["bucket"], elements - begin)
        k = count_of(codec, length)
        minimum, unit = scale_values(body, codec, 2)
        where = positions(body, length, k)
        assert len(where) == k
        codes = unpack_dense(body.take(np.uint8, bytes_of_bits(k * bits)), bits, k)
        if not (np.isfinite(minimum) and np.isfinite(unit)):
            result[begin:begin + length] = np.nan
            continue
        magnitude = hold(fma(codes >> 1, unit, minimum), dtype)
        result[begin + where] = np.where(codes & 1, -magnitude, magnitude)
    return result


def topk(body, codec, dtype, elements):
    if codec.get("bits"):
        return topk_levels(body, codec, dtype, elements)
    k, rest = count_of(codec, elements), body.take("<f4", 1)[0]
    where = positions(body, elements, k)
    assert len(where) == k
    return scatter(body, dtype, elements, where, rest)


def random_word(key, index):
    x = mix((key + (index >> 32) * 0x9e3779b97f4a7c15) & MASK)
    offset, twist = x & 0xffffffff, x >> 32
    word = ((index & 0xffffffff) + offset) & 0xffffffff
    word = (word ^ (word >> 16)) * 0x7feb352d & 0xffffffff
    word = (word ^ (word >> 15) ^ twist) * 0x846ca68b & 0xffffffff
    return word ^ (word >> 16)


def randk(body, codec, dtype, elements):
    k, rest = count_of(codec, elements), body.take("<f4", 1)[0]
    key = int(body.take("<u8", 1)[0])
    bounds = [i * elements // k for i in range(k + 1)]
    where = [bounds[i] + (random_word(key, i) * (bounds[i + 1] - bounds[i]) >> 32) for i in range(k)]
    return scatter(body, dtype, elements, where, rest)


def threshold(body, codec, dtype, elements):
    rest, k = np.float32(0), int(body.take("<u8", 1)[0])
    where = positions(body, elements, k) if k else np.zeros(0, int)
    return scatter(body, dtype, elements, where, rest)
