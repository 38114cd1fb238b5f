//===-- manifest/CodecFields.cpp - Codecs by name ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/manifest/codec_fields.h"

#include <charconv>
#include <iterator>
#include <sstream>

namespace cgx {
namespace {

constexpr std::string_view roundings[] = {"nearest", "stochastic", "random_shift"};
constexpr std::string_view scaleTypes[] = {"bf16", "f32"};
constexpr std::string_view scalings[] = {"min_max", "max_abs", "l2"};
constexpr std::string_view levels[] = {"uniform", "exponential", "learned"};

constexpr std::string_view magnitudes[] = {"means", "norm"};
constexpr std::string_view formats[] = {"bf16", "f16", "fp8_e4m3", "fp8_e5m2", "mxfp8", "mxfp4"};

constexpr std::string_view optimizers[] = {"sgd",     "momentum", "nesterov", "adagrad",
                                           "rmsprop", "adam",     "adamw"};

constexpr CodecField bucket = {.name = "bucket", .number = &cgx_codec::bucket, .least = 1};
constexpr CodecField scale = {.name = "scale", .number = &cgx_codec::scale, .cases = scaleTypes};
constexpr CodecField checksum = {
    .name = "checksum", .number = &cgx_codec::checksum, .isFlag = true, .isOptional = true};

constexpr CodecField quantize[] = {
    {.name = "bits", .number = &cgx_codec::bits, .least = 1, .most = 8},
    bucket,
    {.name = "rounding", .number = &cgx_codec::rounding, .cases = roundings},
    scale,
    {.name = "scaling", .number = &cgx_codec::scaling, .cases = scalings, .isOptional = true},
    {.name = "levels", .number = &cgx_codec::levels, .cases = levels, .isOptional = true},
    checksum};

constexpr CodecField ternary[] = {bucket, scale, checksum};

constexpr CodecField sign[] = {
    bucket, {.name = "magnitude", .number = &cgx_codec::magnitude, .cases = magnitudes}, scale, checksum};

/// Of families that have nothing to choose.
constexpr CodecField plain[] = {checksum};

constexpr CodecField cast[] = {
    {.name = "format", .number = &cgx_codec::format, .cases = formats},
    {.name = "bucket", .number = &cgx_codec::bucket, .isOptional = true},
    {.name = "scale", .number = &cgx_codec::scale, .cases = scaleTypes, .isOptional = true},
    checksum};

constexpr CodecField sparse[] = {{.name = "density", .real = &cgx_codec::density}, checksum};

constexpr CodecField threshold[] = {{.name = "threshold", .real = &cgx_codec::threshold}, checksum};

constexpr CodecField adaptiveThreshold[] = {
    bucket, {.name = "threshold", .real = &cgx_codec::threshold}, checksum};

constexpr CodecField gcomp[] = {
    {.name = "optimizer", .number = &cgx_codec::optimizer, .cases = optimizers},
    {.name = "learning_rate", .real = &cgx_codec::learning_rate, .isOptional = true},
    {.name = "weight_decay", .real = &cgx_codec::weight_decay, .isOptional = true},
    {.name = "momentum", .real = &cgx_codec::momentum, .isOptional = true},
    {.name = "dampening", .real = &cgx_codec::dampening, .isOptional = true},
    {.name = "beta1", .real = &cgx_codec::beta1, .isOptional = true},
    {.name = "beta2", .real = &cgx_codec::beta2, .isOptional = true},
    {.name = "epsilon", .real = &cgx_codec::epsilon, .isOptional = true},
    {.name = "truncation",
     .number = &cgx_codec::truncation,
     .most = CGX_GCOMP_MOST_TRUNCATION,
     .isOptional = true},
    checksum};

constexpr CodecField lowrank[] = {{.name = "rank", .number = &cgx_codec::rank, .least = 1}};

constexpr CodecFamilyFields families[] = {
    {"identity", CGX_CODEC_IDENTITY, {}},
    {"quantize", CGX_CODEC_QUANTIZE, quantize},
    {"ternary", CGX_CODEC_TERNARY, ternary},
    {"sign", CGX_CODEC_SIGN, sign},
    {"natural", CGX_CODEC_NATURAL, plain},
    {"cast", CGX_CODEC_CAST, cast},
    {"topk", CGX_CODEC_TOPK, sparse},
    {"randk", CGX_CODEC_RANDK, sparse},
    {"threshold", CGX_CODEC_THRESHOLD, threshold},
    {"adaptive_threshold", CGX_CODEC_ADAPTIVE_THRESHOLD, adaptiveThreshold},
    {"lossless", CGX_CODEC_LOSSLESS, plain},
    {"gcomp", CGX_CODEC_GCOMP, gcomp},
    {"lowrank", CGX_CODEC_LOWRANK, lowrank}};

} // namespace

std::span<const CodecFamilyFields> codecFamilyFields() { return families; }

const CodecFamilyFields &fieldsOf(uint32_t family) {
  for (const CodecFamilyFields &entry : families)
    if (entry.family == family)
      return entry;
  return families[CGX_CODEC_IDENTITY];
}

bool isZero(const CodecField &field, const cgx_codec &codec) {
  return field.real ? codec.*field.real == 0.0f : codec.*field.number == 0;
}

std::string realText(float value) {
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

std::string describeCodec(const cgx_codec &codec) {
  const CodecFamilyFields &family = fieldsOf(codec.family);
  std::ostringstream text;
  text << family.name;
  for (const CodecField &field : family.fields) {
    if (field.isOptional && isZero(field, codec))
      continue;
    if (field.isFlag) {
      text << ' ' << field.name;
    } else if (field.real) {
      text << ' ' << field.name << '=' << realText(codec.*field.real);
    } else if (field.cases.empty()) {
      text << ' ' << field.name << '=' << codec.*field.number;
    } else {
      text << ' ' << field.name << '=' << field.cases[codec.*field.number];
    }
  }
  return text.str();
}

} // namespace cgx
