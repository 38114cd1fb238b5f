//===-- PartitionerText.cpp - attributes that are kept as text ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartitionerText.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace cgx::sdy;

static constexpr StringRef kRule = "op_sharding_rule", kEdges = "propagation_edges";
static constexpr StringRef kSpecial[] = {"reduction", "need_replication", "permutation"};

//===----------------------------------------------------------------------===//
// Words and numbers
//===----------------------------------------------------------------------===//

namespace {

/// Reads a text from its beginning. The first error is kept; after it nothing matches any more.
class Reader {
public:
  Reader(StringRef text, std::string &wrong) : rest(text), wrong(wrong) {}

  bool isGood() const { return wrong.empty(); }

  void fail(const Twine &what) {
    if (isGood())
      wrong = what.str();
  }

  /// Consumes `token` if the text continues with it, and returns whether it did.
  bool eat(StringRef token) {
    rest = rest.ltrim();
    return isGood() && rest.consume_front(token);
  }

  void expect(StringRef token) {
    if (!eat(token))
      fail("expected '" + token + "', got '" + rest.take_front(12) + "'");
  }

  int64_t integer() {
    rest = rest.ltrim();
    size_t sign = rest.starts_with("-") ? 1 : 0;
    StringRef digits = rest.take_front(sign + rest.drop_front(sign).take_while(llvm::isDigit).size());
    int64_t value = 0;
    if (digits.getAsInteger(10, value)) {
      fail("expected a number, got '" + rest.take_front(12) + "'");
      return 0;
    }
    rest = rest.drop_front(digits.size());
    return value;
  }

  /// Reads a factor: `i` is 0 and `j` is 1; after `z` comes `z_1`.
  int64_t factor() {
    rest = rest.ltrim();
    StringRef from = rest;
    if (rest.empty() || rest[0] < 'i' || rest[0] > 'z') {
      fail("expected a factor from i to z, got '" + rest.take_front(12) + "'");
      return 0;
    }
    int64_t index = rest[0] - 'i';
    rest = rest.drop_front();
    if (from[0] != 'z' || !rest.consume_front("_"))
      return index;
    StringRef digits = rest.take_while(llvm::isDigit);
    int64_t behind = 0;
    if (digits.empty() || digits[0] == '0' || digits.getAsInteger(10, behind) ||
        behind > std::numeric_limits<int64_t>::max() - index) {
      fail("expected a positive number without leading zeros after 'z_', got '" + from.take_front(12) + "'");
      return 0;
    }
    rest = rest.drop_front(digits.size());
    return index + behind;
  }

  /// Returns whether a factor follows immediately, without a blank.
  bool isAtFactor() const { return isGood() && !rest.empty() && llvm::isAlpha(rest[0]); }

  std::string quoted() {
    expect("\"");
    StringRef name = rest.take_until([](char c) { return c == '"'; });
    rest = rest.drop_front(name.size());
    expect("\"");
    return name.str();
  }

  void expectEnd() {
    expect(">");
    if (isGood() && !rest.ltrim().empty())
      fail("expected nothing after '>', got '" + rest.take_front(12) + "'");
  }

  /// Items between `open` and `close`, separated by commas.
  template <typename ReadItem> void list(StringRef open, StringRef close, ReadItem readItem) {
    expect(open);
    if (eat(close))
      return;
    do
      readItem();
    while (isGood() && eat(","));
    expect(close);
  }

private:
  StringRef rest;
  std::string &wrong;
};

std::string factorName(int64_t index) {
  return index <= 'z' - 'i' ? std::string(1, char('i' + index)) : "z_" + std::to_string(index - ('z' - 'i'));
}

} // namespace

//===----------------------------------------------------------------------===//
// Sharding rules
//===----------------------------------------------------------------------===//

static void readTensors(Reader &reader, SmallVectorImpl<ShardingRule::Tensor> &tensors) {
  reader.list("(", ")", [&] {
    ShardingRule::Tensor &tensor = tensors.emplace_back();
    reader.list("[", "]", [&] {
      ShardingRule::Dimension &dimension = tensor.emplace_back();
      do
        dimension.push_back(reader.factor());
      while (reader.isAtFactor());
    });
  });
  if (tensors.empty())
    reader.fail("expected a mapping between '(' and ')'");
}

std::optional<ShardingRule> ShardingRule::parse(StringRef text, std::string &wrong) {
  Reader reader(text, wrong);
  ShardingRule rule;
  reader.expect(kRule);
  reader.expect("<");
  readTensors(reader, rule.operands);
  reader.expect("->");
  readTensors(reader, rule.results);
  if (reader.eat("{")) {
    reader.list("", "}", [&] {
      if (int64_t factor = reader.factor(); factor != static_cast<int64_t>(rule.factors.size()))
        reader.fail("expected the size of factor " + factorName(rule.factors.size()) + ", got that of " +
                    factorName(factor));
      reader.expect("=");
      rule.factors.push_back(reader.integer());
    });
  }
  auto readSet = [&](StringRef name, SmallVectorImpl<int64_t> &factors) {
    if (!reader.eat(name))
      return;
    reader.expect("=");
    reader.list("{", "}", [&] { factors.push_back(reader.factor()); });
  };
  for (auto [name, factors] : llvm::zip_equal(kSpecial, rule.special))
    readSet(name, factors);
  readSet("blocked_propagation", rule.blocked);
  if (reader.eat(",")) {
    reader.expect("custom");
    rule.isCustom = true;
  }
  reader.expectEnd();
  return reader.isGood() ? std::optional(std::move(rule)) : std::nullopt;
}

/// Returns what is wrong with one tensor of the rule for a value of that type, or "".
static std::string refuseTensor(const ShardingRule &rule, const ShardingRule::Tensor &tensor, Type type,
                                SmallVectorImpl<bool> &used) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped || !shaped.hasStaticShape())
    return "expected a tensor of static shape";
  if (shaped.getRank() != static_cast<int64_t>(tensor.size()))
    return "expected " + std::to_string(shaped.getRank()) + " dimensions, got " +
           std::to_string(tensor.size());
  SmallVector<bool> seen(rule.factors.size());
  for (auto [index, dimension] : llvm::enumerate(tensor))
    for (int64_t factor : dimension) {
      if (factor >= static_cast<int64_t>(rule.factors.size()))
        return "expected one of " + std::to_string(rule.factors.size()) + " factors, got " +
               factorName(factor);
      if (std::exchange(seen[factor], true))
        return "expected each factor once, got " + factorName(factor) + " again in dimension " +
               std::to_string(index);
      used[factor] = true;
      if (dimension.size() > 1 && rule.factors[factor] == 1)
        return "expected factors above 1 in dimension " + std::to_string(index) +
               ", which has several, got " + factorName(factor) + "=1";
    }
  return "";
}

/// Returns what is wrong with a list of factors that have a property, or "": they must be in order and
/// unique.
static std::string refuseSet(const ShardingRule &rule, StringRef name, ArrayRef<int64_t> factors) {
  for (auto [index, factor] : llvm::enumerate(factors)) {
    if (factor >= static_cast<int64_t>(rule.factors.size()))
      return (name + ": expected one of " + Twine(rule.factors.size()) + " factors, got " +
              factorName(factor))
          .str();
    if (index > 0 && factors[index - 1] >= factor)
      return (name + ": expected factors in increasing order, got " + factorName(factor) + " after " +
              factorName(factors[index - 1]))
          .str();
  }
  return "";
}

std::string ShardingRule::refuse(Operation *op) const {
  if (operands.size() != op->getNumOperands())
    return "expected a mapping for each of the " + std::to_string(op->getNumOperands()) + " operands, got " +
           std::to_string(operands.size());
  if (results.size() != op->getNumResults())
    return "expected a mapping for each of the " + std::to_string(op->getNumResults()) + " results, got " +
           std::to_string(results.size());
  SmallVector<bool> used(factors.size());
  auto refuseAll = [&](StringRef what, ArrayRef<Tensor> tensors, TypeRange types) -> std::string {
    for (auto [index, tensor, type] : llvm::enumerate(tensors, types))
      if (std::string wrong = refuseTensor(*this, tensor, type, used); !wrong.empty())
        return (what + " " + Twine(index) + ": " + wrong).str();
    return "";
  };
  if (std::string wrong = refuseAll("operand", operands, op->getOperandTypes()); !wrong.empty())
    return wrong;
  if (std::string wrong = refuseAll("result", results, op->getResultTypes()); !wrong.empty())
    return wrong;
  if (auto unused = llvm::find(used, false); unused != used.end())
    return "expected each factor in a mapping, got no " + factorName(unused - used.begin());
  SmallVector<StringRef> kinds(factors.size());
  for (auto [name, set] : llvm::zip_equal(kSpecial, special)) {
    if (std::string wrong = refuseSet(*this, name, set); !wrong.empty())
      return wrong;
    for (int64_t factor : set) {
      if (!kinds[factor].empty())
        return (name + ": expected other factors than those of " + kinds[factor] + ", got " +
                factorName(factor))
            .str();
      kinds[factor] = name;
    }
  }
  for (int64_t factor : special[0])
    for (const Tensor &tensor : results)
      for (const Dimension &dimension : tensor)
        if (llvm::is_contained(dimension, factor))
          return "reduction: expected factors that are in no result, got " + factorName(factor);
  return refuseSet(*this, "blocked_propagation", blocked);
}

//===----------------------------------------------------------------------===//
// Propagation edges
//===----------------------------------------------------------------------===//

static PropagationEdges::Value readValue(Reader &reader) {
  bool isResult = reader.eat("result");
  if (!isResult)
    reader.expect("operand");
  reader.expect("-");
  return {isResult, reader.integer()};
}

/// Reads an edge such as `{"a":(1)2 = operand-0 -> [result-0]}`.
static PropagationEdges::Edge readEdge(Reader &reader) {
  PropagationEdges::Edge edge{};
  reader.expect("{");
  (void)reader.quoted();
  if (reader.eat(":")) {
    reader.expect("(");
    (void)reader.integer();
    reader.expect(")");
    (void)reader.integer();
  }
  reader.expect("=");
  edge.source = readValue(reader);
  reader.expect("->");
  reader.list("[", "]", [&] { edge.targets.push_back(readValue(reader)); });
  reader.expect("}");
  return edge;
}

std::optional<PropagationEdges> PropagationEdges::parse(StringRef text, std::string &wrong) {
  Reader reader(text, wrong);
  PropagationEdges edges;
  reader.expect(kEdges);
  reader.expect("<");
  reader.list("[", "]", [&] {
    Step &step = edges.steps.emplace_back();
    reader.expect("{");
    reader.expect("step");
    reader.expect("-");
    step.index = reader.integer();
    reader.expect("=");
    reader.list("[", "]", [&] { step.edges.push_back(readEdge(reader)); });
    reader.expect("}");
  });
  reader.expectEnd();
  return reader.isGood() ? std::optional(std::move(edges)) : std::nullopt;
}

std::string PropagationEdges::refuse(Operation *op) const {
  SmallVector<int64_t> seen;
  for (const Step &step : steps) {
    if (step.index < 0)
      return "expected steps that are not negative, got " + std::to_string(step.index);
    if (llvm::is_contained(seen, step.index))
      return "expected each step once, got " + std::to_string(step.index) + " again";
    seen.push_back(step.index);
    for (const Edge &edge : step.edges) {
      if (llvm::is_contained(edge.targets, edge.source))
        return "expected a source that is none of its targets";
      SmallVector<Value> values(edge.targets);
      values.push_back(edge.source);
      for (const Value &value : values) {
        // A sharding of an argument or of a data flow edge refers to values of another op.
        bool isOfOther = isa<FunctionOpInterface>(op) || isa<SdyDialect>(op->getDialect());
        int64_t count = isOfOther        ? std::numeric_limits<int64_t>::max()
                        : value.isResult ? op->getNumResults()
                                         : op->getNumOperands();
        if (value.index < 0 || value.index >= count)
          return ("expected " + Twine(value.isResult ? "a result" : "an operand") + " in range [0, " +
                  Twine(count) + "), got " + Twine(value.index))
              .str();
      }
    }
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

std::string cgx::sdy::refuseText(StringRef text) {
  std::string wrong;
  if (text.starts_with(kRule))
    (void)ShardingRule::parse(text, wrong);
  else if (text.starts_with(kEdges))
    (void)PropagationEdges::parse(text, wrong);
  return wrong.empty() ? "" : "sdy." + text.take_until([](char c) { return c == '<'; }).str() + ": " + wrong;
}

template <typename Text>
static LogicalResult verifyText(Operation *op, StringRef name, StringRef mnemonic, Attribute attribute) {
  std::string wrong;
  auto unknown = dyn_cast<UnknownAttr>(attribute);
  std::optional<Text> parsed = unknown && unknown.getText().starts_with(mnemonic)
                                   ? Text::parse(unknown.getText(), wrong)
                                   : std::nullopt;
  if (!parsed && wrong.empty())
    return op->emitOpError() << "expected #sdy." << mnemonic << "<...> as '" << name << "', got "
                             << attribute;
  if (parsed)
    wrong = parsed->refuse(op);
  if (wrong.empty())
    return success();
  return op->emitOpError() << "'" << name << "': " << wrong;
}

LogicalResult cgx::sdy::verifyPartitionerText(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == "sdy.sharding_rule")
    return verifyText<ShardingRule>(op, name, kRule, attribute.getValue());
  if (name == "sdy.propagation_edges") {
    if (failed(verifyText<PropagationEdges>(op, name, kEdges, attribute.getValue())))
      return failure();
    // They say whence a sharding is.
    if (!isa<SdyDialect>(op->getDialect()) && !op->hasAttr(kShardingAttrName))
      return op->emitOpError() << "expected '" << kShardingAttrName << "' beside '" << name << "'";
    return success();
  }
  if (name != "sdy.result_propagation_edges" && name != "sdy.block_arg_propagation_edges")
    return success();
  auto edges = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!edges)
    return op->emitOpError() << "expected a list of #sdy." << kEdges << "<...> as '" << name << "', got "
                             << attribute.getValue();
  for (Attribute entry : edges)
    if (failed(verifyText<PropagationEdges>(op, name, kEdges, entry)))
      return failure();
  return success();
}
