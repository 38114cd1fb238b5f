"""FORMAT.md describes the bytes on the wire: a NumPy reader written from its text, which shares nothing with the
kernels, decodes payloads of the runtime. Each codec's error is checked with NumPy too."""

import unittest

import ml_dtypes
import numpy as np

import buckets
import eden
import lossless
import sparse
from elements import DTYPES, bits_of
from envelope import Body
from memory import Gpu, Host
from runtime import encode_and_decode, missing_gpu

READERS = {"quantize": buckets.quantize, "ternary": buckets.ternary, "sign": buckets.sign, "natural": buckets.natural,
           "cast": buckets.cast, "topk": sparse.topk, "randk": sparse.randk, "threshold": sparse.threshold,
           "adaptive_threshold": sparse.threshold, "eden": eden.eden}
EXACT_BITS = {"topk", "randk", "threshold", "adaptive_threshold"}
SIZES = [1, 31, 64, 129, 1000, 5003]


def quantize(bits, bucket, rounding="nearest", scale="bf16", **more):
    return {"family": "quantize", "bits": bits, "bucket": bucket, "rounding": rounding, "scale": scale, **more}


CODECS = ([quantize(bits, 128, rounding) for bits in range(1, 9) for rounding in ("nearest", "stochastic")]
          + [quantize(4, 100, "stochastic", "f32", checksum=True), quantize(3, 64, "random_shift", "f32")]
          + [quantize(bits, 50, "nearest", scale, scaling=scaling)
             for bits in (2, 4, 7) for scale in ("bf16", "f32") for scaling in ("max_abs", "l2")]
          + [quantize(bits, 128, rounding, scaling="max_abs", levels="exponential")
             for bits in (2, 4) for rounding in ("nearest", "stochastic")]
          + [quantize(3, 128, rounding, levels="learned") for rounding in ("nearest", "stochastic")]
          + [{"family": "ternary", "bucket": 77, "scale": scale} for scale in ("bf16", "f32")]
          + [{"family": "sign", "bucket": 100, "scale": "bf16", "magnitude": kind} for kind in ("means", "norm")]
          + [{"family": "natural"}, {"family": "natural", "checksum": True}]
          + [{"family": "eden", "bits": bits, "bucket": bucket, "scale": scale}
             for bits, bucket, scale in ((1, 64, "bf16"), (2, 1024, "f32"), (3, 128, "bf16"), (4, 128, "bf16"), (5, 256, "f32"),
                                         (6, 512, "bf16"), (7, 4096, "f32"), (8, 128, "f32"))]
          + [{"family": "eden", "bits": 4, "bucket": 128, "scale": "f32", "checksum": True}]
          + [{"family": "cast", "format": kind} for kind in ("bf16", "f16")]
          + [{"family": "cast", "format": kind, "bucket": 60, "scale": "f32"} for kind in ("fp8_e4m3", "fp8_e5m2")]
          + [{"family": "cast", "format": kind, "bucket": 32} for kind in ("mxfp8", "mxfp4")]
          + [{"family": family, "density": density} for family in ("topk", "randk") for density in (0.01, 0.3)]
          + [{"family": "topk", "density": density, "bits": bits, "bucket": bucket, "scale": scale}
             for bits, density, bucket, scale in ((1, 0.1, 64, "bf16"), (2, 0.05, 100, "f32"), (4, 0.3, 1000, "bf16"), (8, 0.01, 4096, "f32"))]
          + [{"family": "threshold", "threshold": value} for value in (0.5, 2.5, 100.0)]
          + [{"family": "adaptive_threshold", "bucket": 90, "threshold": 0.6, "checksum": True}])


def inputs(dtype, size, seed):
    """Returns bell-shaped values with zeros; then with NaN and infinity in a few places; then arbitrary bits."""
    random = np.random.default_rng([size, seed])
    values = (random.normal(size=size) * 10.0 ** random.integers(-3, 3)).astype(np.float32)
    values[random.random(size) < 0.1] = 0
    yield values.astype(DTYPES[dtype])
    for special in (np.nan, np.inf, -np.inf):
        values[random.integers(size)] = special
    yield values.astype(DTYPES[dtype])
    yield random.integers(0, 256, size * np.dtype(DTYPES[dtype]).itemsize, np.uint8).view(DTYPES[dtype])


class Format(unittest.TestCase):
    memory = Host

    def expect_same(self, found, expected, is_exact):
        if is_exact:
            np.testing.assert_array_equal(bits_of(found), bits_of(expected))
        else:
            np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))

    def test_payloads_decode_by_the_page_as_by_the_runtime(self):
        for codec in CODECS:
            for dtype in DTYPES:
                for seed, size in enumerate(SIZES):
                    for data in inputs(dtype, size, seed):
                        with self.subTest(codec=codec, dtype=dtype, size=size):
                            payload, decoded = encode_and_decode(codec, dtype, data.tobytes(), self.memory)
                            body = Body(payload, codec, dtype, size)
                            found = READERS[codec["family"]](body, codec, dtype, size)
                            body.close()
                            self.expect_same(found, np.frombuffer(decoded, DTYPES[dtype]), codec["family"] in EXACT_BITS)

    def test_lossless_gives_every_bit_back(self):
        codec = {"family": "lossless"}
        for dtype in DTYPES:
            for size in (1, 100, 8192, 20000):
                for data in inputs(dtype, size, 5):
                    with self.subTest(dtype=dtype, size=size):
                        payload, _ = encode_and_decode(codec, dtype, data.tobytes(), self.memory)
                        body = Body(payload, codec, dtype, size)
                        found = lossless.values(body, dtype, size)
                        body.close()
                        np.testing.assert_array_equal(found, bits_of(data))


class Keeps(unittest.TestCase):
    """Tests of the elements that must be kept, without a look at the payload."""

    memory = Host

    def setUp(self):
        self.values = next(inputs("f32", 5003, 9))
        self.largest = np.abs(self.values).max()

    def decoded(self, codec):
        return np.frombuffer(encode_and_decode(codec, "f32", self.values.tobytes(), self.memory)[1], np.float32)

    def of_buckets(self, function, bucket):
        return np.concatenate([np.full(len(part), function(part))
                               for part in np.split(self.values, range(bucket, len(self.values), bucket))])

    def test_quantize_takes_the_nearest_level(self):
        for bits in range(1, 9):
            reach = self.of_buckets(np.ptp, 128)
            for rounding, levels in ("nearest", 0.5), ("stochastic", 1):
                error = np.abs(self.decoded(quantize(bits, 128, rounding, "f32")) - self.values)
                self.assertTrue((error <= reach * (levels / (2**bits - 1) + 2.0**-16)).all(), (bits, rounding))

    def test_stochastic_rounding_is_unbiased(self):
        part = np.random.default_rng(1).random(8).astype(np.float32)
        self.values = np.tile(np.concatenate([part, [0, 1]]).astype(np.float32), 20000)
        for codec in (quantize(2, 10, "stochastic", "f32"), {"family": "ternary", "bucket": 10, "scale": "f32"}):
            mean = self.decoded(codec).reshape(-1, 10).mean(0)
            np.testing.assert_allclose(mean, self.values[:10], atol=5 * 0.5 / np.sqrt(20000))

    def test_eden_is_unbiased_and_near(self):
        self.values = np.zeros(128 * 5000, np.float32)
        self.values.reshape(5000, 128)[:, [3, 90]] = 1, -2  # one bucket, many times: each has signs of its own
        found = self.decoded({"family": "eden", "bits": 4, "bucket": 128, "scale": "f32"}).reshape(5000, 128)
        expected = self.values[:128]
        error = ((found - expected)**2).sum(1).mean()
        self.assertLess(error, 0.012 * 5)
        self.assertLess(((found.mean(0) - expected)**2).sum(), error * 0.05)

    def test_sign_sends_the_means(self):
        found = self.decoded({"family": "sign", "bucket": 100, "scale": "f32", "magnitude": "means"})
        mean = lambda part: part.mean() if len(part) else 0
        above, below = (self.of_buckets(lambda part: mean(part[side(part, 0)]), 100) for side in (np.greater_equal, np.less))
        np.testing.assert_allclose(found, np.where(self.values < 0, below, above), rtol=1e-6)

    def test_natural_sends_one_of_the_powers_around(self):
        found, values = np.abs(self.decoded({"family": "natural"})), np.abs(self.values)
        below = np.where(values > 0, 2.0 ** np.floor(np.log2(np.where(values > 0, values, 1))), 0)
        self.assertTrue(((found == below) | (found == 2 * below)).all())

    def test_cast_rounds_to_the_format(self):
        for kind, target in ("bf16", ml_dtypes.bfloat16), ("f16", np.float16):
            np.testing.assert_array_equal(self.decoded({"family": "cast", "format": kind}), self.values.astype(target).astype(np.float32))
        for kind, mantissa in ("fp8_e4m3", 3), ("fp8_e5m2", 2):
            found = self.decoded({"family": "cast", "format": kind, "bucket": 60, "scale": "f32"})
            largest = self.of_buckets(lambda part: np.abs(part).max(), 60)
            self.assertTrue((np.abs(found - self.values) <= np.abs(self.values) * 2.0**-(mantissa + 1) + largest * 2.0**-14).all())

    def test_sparse_codecs_select_as_numpy_does(self):
        order = np.argsort(-np.abs(self.values), kind="stable")[:round(0.01 * 5003)]
        expected = np.zeros_like(self.values)
        expected[order] = self.values[order]
        np.testing.assert_array_equal(self.decoded({"family": "topk", "density": 0.01}), expected)
        # The largest of each bucket are sent with an error of half a level between the smallest and the largest sent
        # value.
        for bits in range(2, 9):
            found = self.decoded({"family": "topk", "density": 0.1, "bits": bits, "bucket": 500, "scale": "f32"})
            for begin in range(0, 5003, 500):
                part = self.values[begin:begin + 500]
                order = np.argsort(-np.abs(part), kind="stable")[:max(1, int(0.1 * len(part) + 0.5))]
                sent, size = found[begin:begin + 500], np.abs(part[order])
                self.assertEqual(set(np.flatnonzero(sent)) - set(order), set())
                reach = np.ptp(size) / (2**(bits - 1) - 1)
                self.assertTrue((np.abs(sent[order] - part[order]) <= reach * (0.5 + 2.0**-7) + size * 2.0**-23).all(), bits)
        found = self.decoded({"family": "topk", "density": 0.1, "bits": 1, "bucket": 5003, "scale": "f32"})
        order = np.argsort(-np.abs(self.values), kind="stable")[:500]
        np.testing.assert_allclose(found[order], np.sign(self.values[order]) * np.abs(self.values[order]).mean(dtype=np.float64), rtol=1e-6)
        limit = np.float32(0.4) * self.largest
        np.testing.assert_array_equal(self.decoded({"family": "threshold", "threshold": float(limit)}),
                                      np.where(np.abs(self.values) >= limit, self.values, 0))
        limits = np.float32(0.6) * self.of_buckets(lambda part: np.abs(part).max(), 90)
        kept = (np.abs(self.values) >= limits) & (self.values != 0)
        np.testing.assert_array_equal(self.decoded({"family": "adaptive_threshold", "bucket": 90, "threshold": 0.6}),
                                      np.where(kept, self.values, 0))
        found = self.decoded({"family": "randk", "density": 0.3})
        self.assertTrue(((found == self.values) | (found == 0)).all())
        self.assertLessEqual(np.count_nonzero(found), round(0.3 * 5003))


class OnGpu:
    """Runs the tests with kernels for GPUs."""

    memory = Gpu

    @classmethod
    def setUpClass(cls):
        if reason := missing_gpu():
            raise unittest.SkipTest(reason)


class FormatOnGpu(OnGpu, Format):
    pass


class KeepsOnGpu(OnGpu, Keeps):
    pass


if __name__ == "__main__":
    np.seterr(over="ignore", invalid="ignore")  # NaN and infinity are intended
    unittest.main()
