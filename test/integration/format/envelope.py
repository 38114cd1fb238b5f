"""Reads the parts of a payload around its body, by the text of FORMAT.md."""

import struct

import numpy as np

MASK = (1 << 64) - 1
FAMILIES = ["identity", "quantize", "ternary", "sign", "natural", "cast", "topk", "randk", "threshold", "adaptive_threshold",
            "lossless", "gcomp", "lowrank", "eden"]
VARYING = {"threshold", "adaptive_threshold", "lossless"}
NAMES = {"rounding": ["nearest", "stochastic", "random_shift"], "scale": ["bf16", "f32"],
         "scaling": ["min_max", "max_abs", "l2"], "levels": ["uniform", "exponential", "learned"],
         "magnitude": ["means", "norm"], "format": ["bf16", "f16", "fp8_e4m3", "fp8_e5m2", "mxfp8", "mxfp4"]}
ALWAYS = ["bits", "bucket", "rounding", "scale", "checksum"]
UNLESS_ZERO = ["scaling", "levels", "magnitude", "format", "density", "threshold"]  # and those of gcomp


def mix(x):
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb & MASK
    return x ^ (x >> 31)


def number(codec, field):
    value = codec.get(field, 0)
    if isinstance(value, str):
        return NAMES[field].index(value)
    return struct.unpack("<I", struct.pack("<f", value))[0] if isinstance(value, float) else int(value)


def fingerprint(codec, dtype):
    fields = [FAMILIES.index(codec["family"])] + [number(codec, name) for name in ALWAYS] + [["f32", "f16", "bf16"].index(dtype)]
    fields += [number(codec, name) + (k << 32) for k, name in enumerate(UNLESS_ZERO, 1) if number(codec, name)]
    x = 0
    for field in fields:
        x = mix((x + 0x9e3779b97f4a7c15 + field) & MASK)
    return x & 0xffff


def checksum(data):
    words = np.frombuffer(data + bytes(-len(data) % 8), "<u8")
    total = len(data)
    for i, word in enumerate(words.tolist()):
        x = (word ^ ((i + 1) * 0x9e3779b97f4a7c15 & MASK)) * 0xbf58476d1ce4e5b9 & MASK
        x ^= x >> 32
        total += x * 0x94d049bb133111eb
    return mix(total & MASK)


class Body:
    """The bytes of a payload from the body on, read section by section."""

    def __init__(self, payload, codec, dtype, elements):
        magic, kind, mark, count = struct.unpack_from("<BBHI", payload)
        assert (magic, kind) == (0xc6, 1 | FAMILIES.index(codec["family"]) << 4), (magic, kind)
        assert mark == fingerprint(codec, dtype), (mark, fingerprint(codec, dtype))
        assert count == elements
        self.payload, self.begin = payload, 16 if codec["family"] in VARYING else 8
        self.at = self.begin
        self.length = struct.unpack_from("<Q", payload, 8)[0] if codec["family"] in VARYING else None
        self.ends_in_checksum = bool(codec.get("checksum"))

    def take(self, dtype, count):
        section = np.frombuffer(self.payload, dtype, count, self.at)
        self.at += section.nbytes
        return section

    def offset(self):
        return self.at - self.begin

    def close(self):
        """Checks that only the checksum is left, and that it is right."""
        if self.ends_in_checksum:
            expected = checksum(self.payload[:self.at])
            assert int(self.take("<u8", 1)[0]) == expected
        if self.length is not None:  # in a buffer that may hold anything after the payload
            assert self.length == self.at, (self.length, self.at)
        else:
            assert not any(self.payload[self.at:]), "more bytes than FORMAT.md has"
