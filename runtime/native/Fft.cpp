//===-- native/Fft.cpp - Fourier transforms by KISS FFT ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// KISS FFT factors lengths, and each factor costs its square. Lengths with a large prime factor become a
// convolution whose length is a power of two (Bluestein), so that all lengths take n log n. Everything is
// computed in f64: results of f32 are right to their last bits.
//
//===----------------------------------------------------------------------===//
#include "Failure.h"

#include "cgx/native.h"

#include <kissfft/kissfft.hh>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Complex = std::complex<double>;

/// Above this factor, the convolution takes less time than KISS FFT's loop for any factor.
constexpr size_t greatestFactor = 61;

size_t largestPrimeFactor(size_t n) {
  size_t largest = 1;
  for (size_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p)
      largest = p;
  return std::max(largest, n);
}

/// Returns exp(sign * 2 pi i * k / n) for 0 <= k < n.
Complex root(size_t k, size_t n, double sign) {
  return std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
}

/// The transform of one length and direction, without a scale.
class Plan {
public:
  Plan(size_t n, bool inverse) {
    if (largestPrimeFactor(n) > greatestFactor)
      bluestein.emplace(n, inverse);
    else
      direct.emplace(n, inverse);
  }

  /// Transforms `in` to `out`, which must not overlap; element i of `in` is `stride` elements after the one
  /// before.
  void transform(const Complex *in, Complex *out, size_t stride) {
    if (direct)
      direct->transform(in, out, /*stage=*/0, /*fstride=*/1, stride);
    else
      bluestein->transform(in, out, stride);
  }

private:
  /// With 2jk = j^2 + k^2 - (j - k)^2, the sum over j of x_j w^(jk) is a convolution with the chirp w^(-j^2 /
  /// 2).
  struct Bluestein {
    Bluestein(size_t n, bool inverse)
        : chirp(n), filter(std::bit_ceil(2 * n - 1)), forward(filter.size(), false),
          backward(filter.size(), true), padded(filter.size()), spectrum(filter.size()) {
      for (size_t j = 0; j < n; ++j)
        // The exponent is reduced modulo its period while it is an integer.
        chirp[j] = root(j * j % (2 * n), 2 * n, inverse ? 1 : -1);
      std::vector<Complex> kernel(filter.size());
      for (size_t j = 0; j < n; ++j)
        kernel[j] = kernel[(kernel.size() - j) % kernel.size()] = std::conj(chirp[j]);
      forward.transform(kernel.data(), filter.data());
      for (Complex &value : filter)
        value /= static_cast<double>(filter.size());
    }

    void transform(const Complex *in, Complex *out, size_t stride) {
      size_t n = chirp.size();
      for (size_t j = 0; j < n; ++j)
        padded[j] = in[j * stride] * chirp[j];
      std::fill(padded.begin() + static_cast<ptrdiff_t>(n), padded.end(), Complex());
      forward.transform(padded.data(), spectrum.data());
      for (size_t j = 0; j < spectrum.size(); ++j)
        spectrum[j] *= filter[j];
      backward.transform(spectrum.data(), padded.data());
      for (size_t j = 0; j < n; ++j)
        out[j] = padded[j] * chirp[j];
    }

    std::vector<Complex> chirp, filter;
    kissfft<double> forward, backward;
    std::vector<Complex> padded, spectrum;
  };

  std::optional<kissfft<double>> direct;
  std::optional<Bluestein> bluestein;
};

/// Returns the transform. Each thread keeps those that it has used: a step uses few, and always the same.
Plan &planOf(size_t n, bool inverse) {
  thread_local std::map<std::pair<size_t, bool>, std::unique_ptr<Plan>> plans;
  std::unique_ptr<Plan> &plan = plans[{n, inverse}];
  if (!plan)
    plan = std::make_unique<Plan>(n, inverse);
  return *plan;
}

/// Transforms of up to three dimensions, the last innermost.
struct Transform {
  int64_t kind;
  size_t lengths[3];

  bool isInverse() const { return kind == CGX_FFT_INVERSE || kind == CGX_FFT_INVERSE_REAL; }
  /// Returns how many columns of the last dimension are kept while the others are transformed: the rest
  /// mirrors them.
  size_t keptColumns() const {
    return kind == CGX_FFT_REAL || kind == CGX_FFT_INVERSE_REAL ? lengths[2] / 2 + 1 : lengths[2];
  }

  /// Transforms all lines of `block`, with keptColumns() in its last dimension, along dimension `dim`.
  void alongDimension(std::vector<Complex> &block, int dim) const {
    size_t n = lengths[dim];
    if (n == 1)
      return;
    Plan &plan = planOf(n, isInverse());
    size_t extents[] = {lengths[0], lengths[1], keptColumns()};
    size_t stride = dim == 0 ? extents[1] * extents[2] : dim == 1 ? extents[2] : 1;
    std::vector<Complex> line(n);
    for (size_t outer = 0; outer < block.size(); outer += n * stride)
      for (size_t inner = 0; inner < stride; ++inner) {
        Complex *first = &block[outer + inner];
        plan.transform(first, line.data(), stride);
        for (size_t i = 0; i < n; ++i)
          first[i * stride] = line[i];
      }
  }

  template <typename Real> void run(const std::complex<Real> *in, std::complex<Real> *out) const {
    std::vector<Complex> block(in, in + lengths[0] * lengths[1] * lengths[2]);
    double scale = isInverse() ? 1 / static_cast<double>(block.size()) : 1;
    for (int dim : {2, 1, 0})
      alongDimension(block, dim);
    for (size_t i = 0; i < block.size(); ++i)
      out[i] = std::complex<Real>(block[i] * scale);
  }

  template <typename Real> void runReal(const Real *in, std::complex<Real> *out) const {
    size_t n = lengths[2], kept = keptColumns(), rows = lengths[0] * lengths[1];
    std::vector<Complex> block(rows * kept), line(n), spectrum(n);
    for (size_t row = 0; row < rows; ++row) {
      std::copy_n(in + row * n, n, line.begin());
      planOf(n, /*inverse=*/false).transform(line.data(), spectrum.data(), 1);
      std::copy_n(spectrum.begin(), kept, block.begin() + static_cast<ptrdiff_t>(row * kept));
    }
    for (int dim : {1, 0})
      alongDimension(block, dim);
    for (size_t i = 0; i < block.size(); ++i)
      out[i] = std::complex<Real>(block[i]);
  }

  template <typename Real> void runInverseReal(const std::complex<Real> *in, Real *out) const {
    size_t n = lengths[2], kept = keptColumns(), rows = lengths[0] * lengths[1];
    std::vector<Complex> block(in, in + rows * kept), spectrum(n), line(n);
    for (int dim : {0, 1})
      alongDimension(block, dim);
    double scale = 1 / static_cast<double>(rows * n);
    for (size_t row = 0; row < rows; ++row) {
      const Complex *half = &block[row * kept];
      // Only the real part of an element that mirrors itself counts.
      spectrum[0] = half[0].real();
      for (size_t k = 1; k < kept; ++k) {
        spectrum[k] = 2 * k == n ? Complex(half[k].real()) : half[k];
        spectrum[n - k] = std::conj(spectrum[k]);
      }
      planOf(n, /*inverse=*/true).transform(spectrum.data(), line.data(), 1);
      for (size_t i = 0; i < n; ++i)
        out[row * n + i] = static_cast<Real>(line[i].real() * scale);
    }
  }
};

template <typename Real> void runBatch(const Transform &transform, int64_t batch, int64_t in, int64_t out) {
  size_t rows = transform.lengths[0] * transform.lengths[1];
  size_t real = rows * transform.lengths[2], kept = rows * transform.keptColumns();
  for (size_t i = 0; i < static_cast<size_t>(batch); ++i)
    switch (transform.kind) {
    case CGX_FFT_FORWARD:
    case CGX_FFT_INVERSE:
      transform.run(reinterpret_cast<const std::complex<Real> *>(in) + i * real,
                    reinterpret_cast<std::complex<Real> *>(out) + i * real);
      break;
    case CGX_FFT_REAL:
      transform.runReal(reinterpret_cast<const Real *>(in) + i * real,
                        reinterpret_cast<std::complex<Real> *>(out) + i * kept);
      break;
    case CGX_FFT_INVERSE_REAL:
      transform.runInverseReal(reinterpret_cast<const std::complex<Real> *>(in) + i * kept,
                               reinterpret_cast<Real *>(out) + i * real);
      break;
    default:
      throw std::invalid_argument("fft: expected a cgx_fft_kind, got " + std::to_string(transform.kind));
    }
}

} // namespace

extern "C" void cgx_native_fft(int64_t context, int64_t type, int64_t kind, int64_t batch, int64_t length0,
                               int64_t length1, int64_t length2, int64_t in, int64_t out) {
  try {
    if (length0 <= 0 || length1 <= 0 || length2 <= 0)
      return;
    Transform transform{
        kind, {static_cast<size_t>(length0), static_cast<size_t>(length1), static_cast<size_t>(length2)}};
    if (type == 's')
      runBatch<float>(transform, batch, in, out);
    else if (type == 'd')
      runBatch<double>(transform, batch, in, out);
    else
      throw std::invalid_argument("fft: expected a type s or d, got " + std::to_string(type));
  } catch (...) {
    cgx::failStep(context, std::current_exception());
  }
}
