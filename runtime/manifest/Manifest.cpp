//===-- manifest/Manifest.cpp - The collectives of a program ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "manifest/Manifest.h"

#include "cgx/formats/CodecJson.h"
#include "cgx/formats/Json.h"
#include "cgx/formats/ScheduleJson.h"
#include "cgx/kernels/codecs.h"
#include "status/Digest.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace cgx {

using Json = nlohmann::json;

namespace {

template <typename Value> struct Named {
  const char *name;
  Value value;
};

constexpr auto kKinds = [] {
  std::array<Named<CollectiveKind>, kCollectiveKinds.size()> kinds{};
  for (size_t i = 0; i < kinds.size(); ++i)
    kinds[i] = {kCollectiveKinds[i], CollectiveKind(i)};
  return kinds;
}();
constexpr std::array<Named<ReduceKind>, 5> kReductions = {{{"sum", ReduceKind::Sum},
                                                           {"mean", ReduceKind::Mean},
                                                           {"max", ReduceKind::Max},
                                                           {"min", ReduceKind::Min},
                                                           {"product", ReduceKind::Product}}};
constexpr std::array<Named<cgx_element_type>, 13> kTypes = {{{"f32", CGX_F32},
                                                             {"f16", CGX_F16},
                                                             {"bf16", CGX_BF16},
                                                             {"f64", CGX_F64},
                                                             {"i8", CGX_I8},
                                                             {"i16", CGX_I16},
                                                             {"i32", CGX_I32},
                                                             {"i64", CGX_I64},
                                                             {"u8", CGX_U8},
                                                             {"u16", CGX_U16},
                                                             {"u32", CGX_U32},
                                                             {"u64", CGX_U64},
                                                             {"bool", CGX_BOOL}}};
constexpr std::array<Named<ResidualStorage>, 3> kResidualStorages = {
    {{"f32", ResidualStorage::F32}, {"bf16", ResidualStorage::Bf16}, {"int8", ResidualStorage::Int8}}};

/// A reader of the fields of one JSON object. It keeps the first error and continues with defaults, so that
/// callers check once.
class Reader {
public:
  Reader(const Json &object, std::string place) : object(object), place(std::move(place)) {
    if (!object.is_object())
      reject("expected an object");
  }

  const Status &status() const { return failure; }

  void reject(const std::string &what) {
    if (failure.ok())
      failure = Status::error(CGX_BAD_MANIFEST, "manifest: ", place, ": ", what);
  }

  const Json &field(const char *name) {
    static const Json null;
    if (object.is_object())
      if (auto found = object.find(name); found != object.end())
        return *found;
    reject(concat("expected '", name, "'"));
    return null;
  }

  bool has(const char *name) const { return object.is_object() && object.contains(name); }

  std::string text(const char *name) {
    const Json &value = field(name);
    if (!value.is_string()) {
      reject(concat("expected a string as '", name, "'"));
      return "";
    }
    return value.get<std::string>();
  }

  uint64_t number(const char *name) { return number(field(name), name); }

  uint64_t number(const Json &value, const char *name) {
    if (!value.is_number_unsigned() && !(value.is_number_integer() && value.get<int64_t>() >= 0)) {
      reject(concat("expected a number that is not negative as '", name, "'"));
      return 0;
    }
    return value.get<uint64_t>();
  }

  uint32_t number32(const char *name) {
    uint64_t value = number(name);
    if (value > std::numeric_limits<uint32_t>::max())
      reject(concat("expected a 32-bit number as '", name, "', got ", value));
    return uint32_t(value);
  }

  double real(const char *name) {
    const Json &value = field(name);
    if (!value.is_number())
      reject(concat("expected a number as '", name, "'"));
    return value.is_number() ? value.get<double>() : 0.0;
  }

  bool flag(const char *name) {
    const Json &value = field(name);
    if (!value.is_boolean())
      reject(concat("expected true or false as '", name, "'"));
    return value.is_boolean() && value.get<bool>();
  }

  std::vector<uint64_t> numbers(const char *name) {
    std::vector<uint64_t> values;
    for (const Json &value : list(name))
      values.push_back(number(value, name));
    return values;
  }

  const Json &list(const char *name) {
    static const Json empty = Json::array();
    const Json &value = field(name);
    if (value.is_array())
      return value;
    reject(concat("expected a list as '", name, "'"));
    return empty;
  }

  template <typename Table> auto oneOf(const char *name, const Table &table) {
    std::string got = text(name), known;
    for (const auto &entry : table) {
      if (got == entry.name)
        return entry.value;
      known += concat(known.empty() ? "" : ", ", entry.name);
    }
    reject(concat("expected one of ", known, " as '", name, "', got '", got, "'"));
    return table[0].value;
  }

private:
  const Json &object;
  std::string place;
  Status failure;
};

} // namespace

const char *kindName(CollectiveKind kind) { return kCollectiveKinds[size_t(kind)]; }

const char *elementTypeName(cgx_element_type type) {
  for (const auto &entry : kTypes)
    if (entry.value == type)
      return entry.name;
  return "unknown";
}

bool CollectiveInfo::haveSamePairs(uint64_t run, uint64_t other) const {
  const std::vector<cgx_pair> &pairs = pairsOfRuns[run % pairsOfRuns.size()],
                              &others = pairsOfRuns[other % pairsOfRuns.size()];
  return std::equal(pairs.begin(), pairs.end(), others.begin(), others.end(),
                    [](cgx_pair a, cgx_pair b) { return a.source == b.source && a.target == b.target; });
}

std::string CollectiveInfo::describe() const {
  std::string text = concat("collective ", id, " (", kindName(kind));
  // A loss or a metric may have no name, and come before layers that have one.
  auto named =
      std::ranges::find_if(operands, [](const OperandInfo &operand) { return !operand.layer.empty(); });
  if (named != operands.end())
    text += concat(" of layer '", named->layer, "'");
  if (operands.size() > 1)
    text += named == operands.end() ? concat(" of ", operands.size(), " operands")
                                    : concat(" and ", operands.size() - 1, " more");
  return text + ")";
}

const CollectiveInfo *Program::find(int64_t id) const {
  auto found = std::lower_bound(collectives.begin(), collectives.end(), id,
                                [](const CollectiveInfo &info, int64_t id) { return int64_t(info.id) < id; });
  return found != collectives.end() && int64_t(found->id) == id ? &*found : nullptr;
}

std::string OperandInfo::reject(const cgx_codec &wanted) const {
  if (std::string wrong = checkCodec(wanted, type); !wrong.empty())
    return wrong;
  if (!cgx_codec_has_payloads(&wanted) && wanted.rank > mostRank)
    return mostRank == 0
               ? "lowrank is for sums and means of matrices that are longer than its factors, in an "
                 "all_reduce that was compiled with it or with --cgx-instrument"
               : concat("expected lowrank of rank 1 to ", mostRank, ", got ", wanted.rank);
  for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept)
    if (cgx_codec_needs(&wanted, kept) && !(provided & (1u << kept)))
      return "gcomp reads what the optimizer keeps of a layer, which only all_reduces that were compiled "
             "with it "
             "are given";
  return "";
}

/// Returns the largest rank for which an operand has buffer space, if the program uses lowrank for it or
/// leaves the codec open.
static uint32_t findMostRank(const CollectiveInfo &collective, const OperandInfo &operand) {
  bool isSummed = collective.kind == CollectiveKind::AllReduce && isLinear(collective.reduction);
  if (!isSummed || !(operand.hasFactors() || operand.mayBeCompressed))
    return 0;
  uint64_t rows = cgx_matrix_rows(operand.shape.data(), operand.shape.size());
  uint64_t useful = cgx_lowrank_most(rows, operand.type, operand.elements);
  return uint32_t(std::min<uint64_t>(useful, std::max(operand.codec.rank, kAdoptableRank)));
}

Result<cgx_codec> parseCodec(const std::string &json) {
  cgx_codec codec;
  Json entry;
  try {
    entry = formats::parseJson(json);
  } catch (const formats::Error &error) {
    return Status::error(CGX_INVALID_ARGUMENT, "codec: ", error.what());
  }
  if (std::string wrong = readCodec(entry, codec); !wrong.empty())
    return Status::error(CGX_INVALID_ARGUMENT, "codec: ", wrong);
  return codec;
}

static Status parseErrorFeedback(const Json &json, const std::string &place, OperandInfo &operand) {
  Reader reader(json, place + ", codec");
  if (!reader.has("error_feedback"))
    return reader.status();
  ErrorFeedback feedback;
  feedback.storage = reader.oneOf("error_feedback", kResidualStorages);
  feedback.decay = float(reader.real("decay"));
  if (!(feedback.decay > 0.0f && feedback.decay <= 1.0f))
    reader.reject(concat("expected a decay above 0 and up to 1, got ", feedback.decay));
  operand.errorFeedback = feedback;
  return reader.status();
}

/// Reads the parameters of sending changes of rows, if the operand's codec has them.
static Status parseChanges(const Json &json, const std::string &place, const CollectiveInfo &collective,
                           OperandInfo &operand) {
  Reader reader(json, place + ", codec");
  if (!reader.has("delta"))
    return reader.status();
  Delta changes;
  changes.storage = reader.oneOf("delta", kResidualStorages);
  changes.samples = reader.number("samples");
  if (changes.storage == ResidualStorage::Int8)
    reader.reject("expected f32 or bf16 as 'delta', got int8");
  const bool isGather = collective.kind == CollectiveKind::AllGather;
  if (collective.kind != CollectiveKind::Permute && !isGather)
    reader.reject("expected changes in a permute or an all_gather only");
  if (operand.isLossless() || operand.errorFeedback || !cgx_codec_has_payloads(&operand.codec) ||
      !cgx_payload_is_fixed(&operand.codec))
    reader.reject("expected changes with a lossy codec of payloads of one size, without error feedback");
  if (operand.shape.empty() && !isGather)
    reader.reject(
        "expected changes of samples of an operand with a 'shape', whose first dimension counts them");
  uint64_t bytes = 0, slots = changes.slots(operand.rows()), row = operand.rowElements();
  if (isGather) {
    slots = changes.samples * std::numeric_limits<uint16_t>::max(); // a bound on the ranks of a group
    row = operand.elements;
  }
  if (changes.samples == 0 || changes.samples > uint64_t(std::numeric_limits<int32_t>::max()) ||
      __builtin_mul_overflow(slots, row * sizeof(float), &bytes) ||
      bytes > uint64_t(std::numeric_limits<int64_t>::max()))
    reader.reject(
        concat("expected 'samples' to be 1 or more, and to fit into memory, got ", changes.samples));
  operand.changes = changes;
  return reader.status();
}

/// Checks the ids of the rows whose changes are sent, which are the last operand.
static void checkIds(Reader &reader, const CollectiveInfo &info) {
  for (const OperandInfo &operand : info.operands) {
    if (!operand.changes || info.kind != CollectiveKind::Permute)
      continue;
    const OperandInfo &ids = info.operands.back();
    if (ids.type != CGX_I32 || !ids.isUncompressed() || ids.elements != operand.rows())
      reader.reject(concat("expected the ids of the ", operand.rows(), " rows of layer '", operand.layer,
                           "' as the last operand, exact and in i32, got ", ids.elements, " elements of ",
                           elementTypeName(ids.type)));
  }
}

/// Reads the codec of results, if an operand's codec contains one.
static Status parseBackCodec(const Json &json, const std::string &place, const CollectiveInfo &collective,
                             OperandInfo &operand) {
  auto found = json.find("back");
  if (found == json.end())
    return Status();
  cgx_codec returned;
  std::string wrong = readCodec(*found, returned);
  if (wrong.empty() && collective.kind != CollectiveKind::AllReduce)
    wrong = "expected a way back in an all_reduce only";
  if (wrong.empty() && !(cgx_codec_has_payloads(&operand.codec) && cgx_codec_has_payloads(&returned)))
    wrong = "expected codecs other than lowrank";
  if (!wrong.empty())
    return Status::error(CGX_BAD_MANIFEST, "manifest: ", place, ", codec 'back': ", wrong);
  operand.returnCodec = returned;
  return Status();
}

static Status parseOperand(const Json &json, const CollectiveInfo &collective, size_t index,
                           OperandInfo &operand) {
  std::string place = concat("collective ", collective.id, ", operand ", index);
  Reader reader(json, place);
  operand.layer = reader.text("layer");
  operand.layerId = reader.number("layer_id");
  if (reader.has("kind"))
    operand.kind = reader.text("kind");
  operand.type = reader.oneOf("dtype", kTypes);
  operand.elements = reader.number("elements");
  if (reader.has("shape")) {
    operand.shape = reader.numbers("shape");
    uint64_t product = 1;
    for (uint64_t size : operand.shape)
      if (__builtin_mul_overflow(product, size, &product))
        reader.reject("expected a shape that fits into memory");
    if (product != operand.elements)
      reader.reject(concat("expected a shape of ", operand.elements, " elements, got ", product));
  }
  if (operand.elements > std::numeric_limits<int64_t>::max() / 8)
    reader.reject(concat("expected a tensor that fits into memory, got ", operand.elements, " elements"));
  if (!reader.status().ok())
    return reader.status();
  if (std::string wrong = readCodec(reader.field("codec"), operand.codec); !wrong.empty())
    return Status::error(CGX_BAD_MANIFEST, "manifest: ", place, ", codec: ", wrong);
  if (Status status = parseErrorFeedback(reader.field("codec"), place, operand); !status.ok())
    return status;
  if (operand.errorFeedback && operand.isLossless())
    reader.reject("expected error feedback on a lossy codec only: an exact one loses nothing");
  if (Status status = parseBackCodec(reader.field("codec"), place, collective, operand); !status.ok())
    return status;
  if (Status status = parseChanges(reader.field("codec"), place, collective, operand); !status.ok())
    return status;
  operand.codec = cgx_codec_for_shape(&operand.codec, operand.shape.data(), operand.shape.size());
  operand.mayBeCompressed = reader.has("may_be_compressed") && reader.flag("may_be_compressed");
  operand.mostRank = findMostRank(collective, operand);
  for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept)
    if (collective.kind == CollectiveKind::AllReduce && operand.needs(kept))
      operand.provided |= 1u << kept;
  for (const cgx_codec &codec : {operand.codec, operand.codecOf(1)})
    if (std::string wrong = operand.reject(codec); !wrong.empty())
      reader.reject(wrong);
  if ((operand.isPlannable() || !operand.isUncompressed()) && operand.elements >= CGX_PAYLOAD_MAX_ELEMENTS)
    reader.reject(concat("expected fewer than ", CGX_PAYLOAD_MAX_ELEMENTS,
                         " elements of a compressed operand, got ", operand.elements));
  return reader.status();
}

/// Returns an error if the reduction is not defined for the operand.
static const char *checkReduction(ReduceKind reduction, const OperandInfo &operand) {
  if ((operand.isPlannable() || !operand.isLossless()) && !isLinear(reduction))
    return "expected the reduction sum or mean for a lossy codec";
  bool floating = operand.type == CGX_F32 || operand.type == CGX_F16 || operand.type == CGX_BF16 ||
                  operand.type == CGX_F64;
  if (reduction == ReduceKind::Mean && !floating)
    return "expected a floating-point operand for the reduction mean";
  return nullptr;
}

/// Checks the groups: each rank is in at most one and below the number of ranks, and all have one size if the
/// shape of the result depends on it.
static void checkGroups(Reader &reader, const CollectiveInfo &info, uint32_t ranks) {
  bool shaped = info.kind == CollectiveKind::AllGather || info.kind == CollectiveKind::ReduceScatter ||
                info.kind == CollectiveKind::AllToAll;
  std::set<uint32_t> seen;
  for (const std::vector<uint32_t> &group : info.groups) {
    for (uint32_t rank : group) {
      if (rank >= ranks)
        reader.reject(concat("expected ranks below ", ranks, " in 'groups', got ", rank));
      if (!seen.insert(rank).second)
        reader.reject(concat("rank ", rank, " is in 'groups' twice"));
    }
    if (shaped && group.size() != info.groups[0].size())
      reader.reject("expected groups of one size");
    if (info.kind == CollectiveKind::Broadcast && info.root >= group.size())
      reader.reject(concat("expected a root below ", group.size(), ", got ", info.root));
  }
  if (shaped && seen.size() != ranks)
    reader.reject(concat("expected all ", ranks, " ranks in 'groups', got ", seen.size()));
}

/// Checks a dimension of each operand, which `group` ranks divide evenly if `split`.
static void checkDimension(Reader &reader, const CollectiveInfo &info, const char *name, uint64_t dim,
                           bool split) {
  uint64_t size = info.groups.empty() ? 1 : info.groups[0].size();
  for (const OperandInfo &operand : info.operands) {
    if (dim >= operand.shape.size())
      reader.reject(
          concat("expected '", name, "' below ", operand.shape.size(), " and a 'shape', got ", dim));
    else if (split && (size == 0 || operand.shape[dim] % size != 0))
      reader.reject(
          concat("expected dimension ", dim, " to be a multiple of ", size, ", got ", operand.shape[dim]));
  }
}

/// Checks a hierarchical algorithm: groups consist of whole hosts, and its intra-host codec accepts the
/// operands.
static void checkHosts(Reader &reader, const CollectiveInfo &info) {
  if (!reader.status().ok() || !cgx_algorithm_has_hosts(info.schedule.algorithm))
    return;
  for (const std::vector<uint32_t> &group : info.groups)
    if (group.size() % info.schedule.local != 0)
      reader.reject(concat("expected groups of hosts of ", info.schedule.local, " ranks, got a group of ",
                           group.size()));
  for (const OperandInfo &operand : info.operands)
    if (std::string wrong = operand.isUncompressed() ? "" : checkCodec(info.schedule.inside, operand.type);
        !wrong.empty())
      reader.reject(concat("inside of hosts: ", wrong));
    else if (!isLinear(info.reduction) && !operand.isUncompressed() &&
             !cgx_codec_is_exact(&info.schedule.inside))
      reader.reject("inside of hosts: expected the reduction sum or mean for a lossy codec");
}

/// Rejects a codec of results with an algorithm that sends none.
static void checkResultCodecs(Reader &reader, const CollectiveInfo &info) {
  if (!cgx_algorithm_sends_results(info.schedule.algorithm) &&
      std::ranges::any_of(info.operands,
                          [](const OperandInfo &operand) { return operand.returnCodec.has_value(); }))
    reader.reject(concat("expected no codec 'back' with the algorithm ",
                         cgx_algorithm_name(info.schedule.algorithm), ", which sends no results"));
}

/// Reads which pairs of a permute take part in which run: each pair has a digit for each run, 1 if it takes
/// part.
static void parseSends(Reader &reader, CollectiveInfo &info) {
  const Json &sends = reader.list("sends");
  if (sends.size() != info.pairs.size())
    return reader.reject(
        concat("expected 'sends' of each of ", info.pairs.size(), " pairs, got ", sends.size()));
  for (size_t pair = 0; pair < sends.size(); ++pair) {
    const std::string digits = sends[pair].is_string() ? sends[pair].get<std::string>() : "";
    if (pair == 0)
      info.pairsOfRuns.resize(digits.size());
    if (digits.empty() || digits.size() != info.pairsOfRuns.size() ||
        digits.find_first_not_of("01") != std::string::npos)
      return reader.reject("expected strings of as many digits, 0 or 1, in 'sends'");
    for (size_t run = 0; run < digits.size(); ++run)
      if (digits[run] == '1')
        info.pairsOfRuns[run].push_back(info.pairs[pair]);
  }
}

static Status parseCollective(const Json &json, size_t index, uint32_t ranks, CollectiveInfo &info) {
  Reader outer(json, concat("collective at position ", index));
  info.id = outer.number32("id");
  if (!outer.status().ok())
    return outer.status();
  Reader reader(json, concat("collective ", info.id));
  info.kind = reader.oneOf("kind", kKinds);
  bool reduces = info.kind == CollectiveKind::AllReduce || info.kind == CollectiveKind::ReduceScatter;
  if (reduces)
    info.reduction = reader.oneOf("reduction", kReductions);
  if (std::string wrong = readSchedule(json, info.schedule); !wrong.empty())
    reader.reject(wrong);
  const Json &operands = reader.list("operands");
  info.operands.resize(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (Status status = parseOperand(operands[i], info, i, info.operands[i]); !status.ok())
      return status;
    if (const char *wrong = reduces ? checkReduction(info.reduction, info.operands[i]) : nullptr)
      reader.reject(wrong);
  }
  checkIds(reader, info);
  if (info.kind == CollectiveKind::Permute) {
    std::set<uint64_t> sources, targets;
    for (const Json &pair : reader.list("source_target_pairs")) {
      bool valid = pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() &&
                   pair[1].is_number_unsigned() && pair[0].get<uint64_t>() < ranks &&
                   pair[1].get<uint64_t>() < ranks;
      if (!valid || !sources.insert(pair[0].get<uint64_t>()).second ||
          !targets.insert(pair[1].get<uint64_t>()).second) {
        reader.reject("expected pairs of ranks in 'source_target_pairs', each rank once on each side");
        break;
      }
      info.pairs.push_back({pair[0].get<uint32_t>(), pair[1].get<uint32_t>()});
    }
    if (reader.has("sends"))
      parseSends(reader, info);
  } else {
    for (const Json &group : reader.list("groups")) {
      std::vector<uint32_t> &row = info.groups.emplace_back();
      if (!group.is_array())
        reader.reject("expected a list of lists as 'groups'");
      else
        for (const Json &rank : group)
          row.push_back(uint32_t(std::min<uint64_t>(reader.number(rank, "groups"), ranks)));
    }
  }
  if (info.kind == CollectiveKind::Broadcast)
    info.root = reader.number32("root");
  checkGroups(reader, info, ranks);
  checkHosts(reader, info);
  checkResultCodecs(reader, info);
  if (info.kind == CollectiveKind::AllGather || info.kind == CollectiveKind::ReduceScatter) {
    info.dim = reader.number("dim");
    checkDimension(reader, info, "dim", info.dim, /*split=*/info.kind == CollectiveKind::ReduceScatter);
  }
  if (reader.has("decodes_again"))
    info.decodesAgain = reader.number32("decodes_again");
  if (info.kind == CollectiveKind::AllToAll) {
    info.splitDim = reader.number("split_dim");
    info.concatDim = reader.number("concat_dim");
    checkDimension(reader, info, "split_dim", info.splitDim, /*split=*/true);
    checkDimension(reader, info, "concat_dim", info.concatDim, /*split=*/false);
  }
  return reader.status();
}

/// Returns true if `again` may decode the payloads of `first`: it is a gather of operands of the same types,
/// and encodes none of them itself.
static bool mayDecodeAgain(const CollectiveInfo &again, const CollectiveInfo &first) {
  auto isSame = [](const OperandInfo &a, const OperandInfo &b) {
    return a.type == b.type && a.shape == b.shape && a.isUncompressed() && !a.isPlannable() && !b.changes;
  };
  return again.kind == CollectiveKind::AllGather && first.kind == again.kind && !first.decodesAgain &&
         first.groups == again.groups && first.dim == again.dim &&
         std::ranges::equal(again.operands, first.operands, isSame);
}

/// Links gathers that decode payloads again with the gathers that keep them.
static Status linkDecodedAgain(std::vector<CollectiveInfo> &collectives) {
  for (CollectiveInfo &again : collectives) {
    if (!again.decodesAgain)
      continue;
    auto first = std::ranges::find(collectives, *again.decodesAgain, &CollectiveInfo::id);
    if (first == collectives.end() || !mayDecodeAgain(again, *first))
      return Status::error(
          CGX_BAD_MANIFEST, "manifest: collective ", again.id,
          ": expected 'decodes_again' to be the id of an all_gather of operands of the same types in "
          "the same groups, without 'delta', got ",
          *again.decodesAgain);
    first->isDecodedAgain = true;
  }
  return Status();
}

Result<Program> Program::parse(const char *json, uint32_t ranks) {
  Json manifest;
  try {
    manifest = formats::parseJson(json);
  } catch (const formats::Error &error) {
    return Status::error(CGX_BAD_MANIFEST, "manifest: ", error.what());
  }
  if (manifest.is_discarded())
    return Status(CGX_BAD_MANIFEST, "manifest: expected JSON");
  Reader reader(manifest, "top level");
  if (uint64_t version = reader.number("cgx_manifest"); reader.status().ok() && version != 1)
    return Status::error(CGX_BAD_MANIFEST, "manifest: expected version 1, got ", version);
  Program program;
  program.hash = reader.text("hash");
  program.ranks = reader.number32("ranks");
  const Json &collectives = reader.list("collectives");
  if (!reader.status().ok())
    return reader.status();
  if (program.ranks != ranks)
    return Status::error(CGX_MISMATCH, "the program was compiled for ", program.ranks, " ranks, the job has ",
                         ranks);
  program.digest = digestOf(collectives.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace));
  program.collectives.resize(collectives.size());
  for (size_t i = 0; i < collectives.size(); ++i)
    if (Status status = parseCollective(collectives[i], i, ranks, program.collectives[i]); !status.ok())
      return status;
  std::sort(program.collectives.begin(), program.collectives.end(),
            [](const CollectiveInfo &a, const CollectiveInfo &b) { return a.id < b.id; });
  for (size_t i = 1; i < program.collectives.size(); ++i)
    if (program.collectives[i].id == program.collectives[i - 1].id)
      return Status::error(CGX_BAD_MANIFEST, "manifest: collective ", program.collectives[i].id,
                           " is there twice");
  if (Status status = linkDecodedAgain(program.collectives); !status.ok())
    return status;
  return program;
}

} // namespace cgx
