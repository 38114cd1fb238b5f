"""Compares every byte that quantize with nearest rounding makes, and every element that it decodes to, with arithmetic
for whole tensors that was written from the text of FORMAT.md, in PyTorch on the GPU of the kernels and in NumPy."""

import unittest

import numpy as np

from envelope import Body
from memory import Gpu, Host
from runtime import encode_and_decode, missing_gpu

try:
    import torch
except ImportError:
    torch = None

BYTES = {"f32": 4, "f16": 2, "bf16": 2}
LARGEST = {"f32": 3.4028234663852886e38, "f16": 65504.0, "bf16": 3.3895313892515355e38}
SIZES = [1, 63, 128, 1000, 20001]  # above 32768 a payload has several parts
CODECS = [{"family": "quantize", "bits": bits, "bucket": bucket, "rounding": "nearest", "scale": scale}
          for bits in (1, 2, 4, 8) for bucket in (64, 128, 512, 100) for scale in ("bf16", "f32")]


class Arrays:
    """A wrapper for the functions with different names in NumPy and PyTorch; `library` is one of them."""

    def __init__(self, library, device=None):
        self.library, self.device = library, device

    def of(self, data, dtype):
        array = np.frombuffer(data, dtype).copy()
        return array if self.library is np else torch.from_numpy(array).to(self.device)

    def cast(self, array, dtype):
        return array.astype(dtype) if self.library is np else array.to(dtype)

    def bytes_of(self, array):
        return (array if self.library is np else array.cpu().numpy()).tobytes()

    def join(self, arrays):
        return np.concatenate(arrays) if self.library is np else torch.cat(arrays)

    def fma(self, a, b, c):
        """Multiplies and adds with one rounding to f32, except for sums closer to a tie than f64 can tell."""
        x = self.library
        return self.cast(self.cast(a, x.float64) * self.cast(b, x.float64) + self.cast(c, x.float64), x.float32)

    def divide(self, a, number):
        """Divides by a tensor, because PyTorch multiplies by the reciprocal of a number."""
        return a / self.library.full_like(a, number)

    def padded(self, array, multiple):
        """Returns whole rows of `multiple`, the last one padded with the last element."""
        missing = -array.shape[0] % multiple
        return self.join([array] + [array[-1:]] * missing).reshape(-1, multiple)

    def widen(self, data, dtype):
        x = self.library
        if dtype == "f32":
            return self.of(data, np.float32)
        if dtype == "f16":
            return self.cast(self.of(data, np.float16), x.float32)
        return (self.cast(self.of(data, np.int16), x.int32) << 16).view(x.float32)

    def narrow(self, values, dtype):
        """Rounds to nearest even, and widens again."""
        x = self.library
        if dtype == "f32":
            return values
        if dtype == "f16":
            return self.cast(self.cast(values, x.float16), x.float32)
        bits = values.view(x.int32)
        return ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16 << 16).view(x.float32)

    def bf16_towards(self, values, is_upwards):
        """Returns the nearest bf16 that is not below, or not above."""
        x = self.library
        bits = values.view(x.int32)
        is_cut = (bits & 0xffff) != 0
        away = is_cut & (bits >= 0 if is_upwards else bits < 0)
        return ((bits >> 16) + self.cast(away, x.int32) << 16).view(x.float32)


def scales_of(arrays, rows, codec):
    """Returns the minimum and unit of each row, NaN where one of them is not finite."""
    x, steps, is_bf16 = arrays.library, 2**codec["bits"] - 1, codec["scale"] == "bf16"
    finite = x.all(x.isfinite(rows), 1)
    numbers = x.where(x.isfinite(rows), rows, x.zeros_like(rows))
    minimum, largest = x.amin(numbers, 1) + 0.0, x.amax(numbers, 1)
    if is_bf16:
        minimum = arrays.bf16_towards(minimum, is_upwards=False)
    spread = largest - minimum
    unit = x.where(x.isfinite(spread), arrays.divide(spread, steps), arrays.divide(largest, steps) - arrays.divide(minimum, steps))
    unit = x.clip(unit, 2.0**-126, float("inf"))
    if is_bf16:
        unit = arrays.bf16_towards(unit, is_upwards=True)
    unit = x.where(spread == 0, x.zeros_like(unit), unit)
    finite = finite & x.isfinite(minimum) & x.isfinite(unit)
    nan = x.full_like(unit, float("nan"))
    return x.where(finite, minimum, nan), x.where(finite, unit, nan)


def levels_of(arrays, rows, minimum, unit, bits):
    x, fraction = arrays.library, 16 - bits
    finite = x.isfinite(unit)
    minimum, unit = x.where(finite, minimum, x.zeros_like(unit)), x.where(finite, unit, x.zeros_like(unit))
    one = x.ones_like(unit)
    prescale = x.where(unit > 2.0**100, one * 2.0**-2, x.where((unit < 2.0**-96) & (unit > 0), one * 2.0**30, one))
    factor = x.where(unit > 0, one * 2.0**fraction / x.where(unit > 0, unit * prescale, one), x.zeros_like(unit))
    column = lambda values: values.reshape(-1, 1)
    numbers = x.where(column(finite), rows, x.zeros_like(rows))
    distance = arrays.fma(numbers, column(prescale), column(-minimum * prescale))
    fixed = arrays.fma(distance, column(factor), x.full_like(distance, 2.0**23)).view(x.int32) & 0xffff
    return x.where(column(finite), (fixed + (1 << fraction - 1)) >> fraction, x.zeros_like(fixed))


def packed(arrays, levels, bits):
    """Packs the levels of a column into words, in one block per width: 1, 2, 4 and 8 bits."""
    x, rows = arrays.library, 16 // bits
    whole = levels.shape[0] // (32 * rows) * 32 * rows
    words = 0
    for row in range(rows):
        words = words + (levels[:whole].reshape(-1, rows, 2, 16)[:, row] << bits * row)
    # Column 2 j is element j of a row, column 2 j + 1 element 16 + j.
    words = arrays.cast(words.swapaxes(1, 2).reshape(-1), x.int16)
    rest = arrays.join([levels[whole:], x.zeros_like(levels[:1])])[:-1]
    each = 8 // bits
    if missing := -rest.shape[0] % each:
        rest = arrays.join([rest, arrays.of(bytes(4 * missing), np.int32)])
    rest, data = rest.reshape(-1, each), 0
    for place in range(each):
        data = data + (rest[:, place] << bits * place)
    return arrays.bytes_of(words) + arrays.bytes_of(arrays.cast(data, x.uint8))


def reference(arrays, data, codec, dtype):
    """Returns the body of the payload of these elements, and its decoded values in f32."""
    x, count = arrays.library, len(data) // BYTES[dtype]
    rows = arrays.padded(arrays.widen(data, dtype), codec["bucket"])
    minimum, unit = scales_of(arrays, rows, codec)
    levels = levels_of(arrays, rows, minimum, unit, codec["bits"])
    scales = x.stack([minimum, unit], 1).reshape(-1)
    quiet = x.full_like(scales.view(x.int32), 0x7fc00000)
    words = x.where(x.isfinite(scales), scales.view(x.int32), quiet)
    stored = words if codec["scale"] == "f32" else arrays.cast(words >> 16, x.int16)
    column = lambda values: values.reshape(-1, 1)
    values = arrays.fma(arrays.cast(levels, x.float32), column(unit), column(minimum)).reshape(-1)[:count]
    values = arrays.narrow(x.clip(values, -LARGEST[dtype], LARGEST[dtype]), dtype)
    return arrays.bytes_of(stored) + packed(arrays, levels.reshape(-1)[:count], codec["bits"]), values


def inputs(dtype, size):
    """Returns inputs: bell-shaped of all magnitudes of the type, around 100, with NaN and infinity, and constant."""
    random = np.random.default_rng(size)
    exponents = (-4, 3) if dtype == "f16" else (-38, 37)
    normal = random.normal(size=size).astype(np.float32)
    yield normal * np.float32(10.0) ** random.integers(*exponents)
    yield normal * np.float32(1e-3) + 100
    yield np.where(random.random(size) < 1e-3, random.choice(np.float32([np.nan, np.inf, -np.inf]), size), normal)
    yield np.full(size, normal[0])
    if dtype != "f16":
        yield random.uniform(-1, 1, size).astype(np.float32) * np.float32(3e38)


def elements(values, dtype):
    """Returns the bytes of values as elements, truncated and not rounded: any bits would do."""
    if dtype == "bf16":
        return (values.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    return values.astype(np.float16 if dtype == "f16" else np.float32).tobytes()


class Quantize(unittest.TestCase):
    memory = Host
    arrays = Arrays(np)

    def test_payloads_and_what_they_decode_to(self):
        for codec in CODECS:
            for dtype in BYTES:
                for size in SIZES:
                    for values in inputs(dtype, size):
                        with self.subTest(codec=codec, dtype=dtype, size=size):
                            self.check(codec, dtype, size, elements(values.astype(np.float32), dtype))

    def check(self, codec, dtype, size, data):
        payload, decoded = encode_and_decode(codec, dtype, data, self.memory)
        body, values = reference(self.arrays, data, codec, dtype)
        begin = Body(payload, codec, dtype, size).begin
        self.assertEqual(payload[begin:begin + len(body)], body)
        self.assertFalse(any(payload[begin + len(body):]), "more bytes than FORMAT.md has")
        found = self.arrays.widen(decoded, dtype)
        same = (found == values) | ((found != found) & (values != values))
        self.assertTrue(bool(same.all()))


class QuantizeOnGpu(Quantize):
    memory = Gpu

    @classmethod
    def setUpClass(cls):
        if reason := missing_gpu():
            raise unittest.SkipTest(reason)
        if not torch or not torch.cuda.is_available():
            raise unittest.SkipTest("expected PyTorch that sees the GPU")
        cls.arrays = Arrays(torch, "cuda")


if __name__ == "__main__":
    np.seterr(over="ignore", invalid="ignore")  # NaN and infinity are intended
    unittest.main()
