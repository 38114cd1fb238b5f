//===-- StateFeeds.cpp - results that are the next values of arguments -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateFeeds.h"

#include "FeedsByFlow.h"
#include "TreePath.h"
#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace cgx;

//===----------------------------------------------------------------------===//
// Facts about a step's values
//===----------------------------------------------------------------------===//

StringRef cgx::getArgumentName(BlockArgument argument) {
  StringRef name;
  argument.getLoc()->walk([&](Location loc) {
    auto named = dyn_cast<NameLoc>(loc);
    if (!named)
      return WalkResult::advance();
    name = named.getName();
    return WalkResult::interrupt();
  });
  return name;
}

/// Returns `cgx.name` if there is one, else the name that the framework gave, as UTF-8, which reports and
/// manifests require.
static std::string getKnownName(Attribute given, StringRef exported) {
  auto name = dyn_cast_or_null<StringAttr>(given);
  return llvm::json::fixUTF8(name ? name.getValue() : exported);
}

/// Returns the numbers in `array<i64: 0, 1>`, which older texts write `dense<[0, 1]> : tensor<2xi64>`; none
/// where an attribute is something else.
static std::optional<SmallVector<int64_t>> getIndices(Attribute attribute) {
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attribute))
    return SmallVector<int64_t>(array.asArrayRef());
  if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attribute))
    return llvm::map_to_vector(elements.getValues<APInt>(), [](APInt i) { return i.getSExtValue(); });
  return std::nullopt;
}

/// Returns the results that share buffers with arguments as a module converted from HLO says it, by argument:
/// `{alias = {parameter_number = 1 : i64, parameter_index = array<i64>, ...}, output_index = array<i64: 0>}`.
static llvm::DenseMap<unsigned, unsigned> getModuleAliases(func::FuncOp step) {
  llvm::DenseMap<unsigned, unsigned> aliases;
  auto module = step->getParentOfType<ModuleOp>();
  auto entries = module ? module->getAttrOfType<ArrayAttr>("mhlo.input_output_alias") : ArrayAttr();
  for (Attribute attribute : entries ? entries.getValue() : ArrayRef<Attribute>()) {
    auto entry = dyn_cast<DictionaryAttr>(attribute);
    auto alias = entry ? entry.getAs<DictionaryAttr>("alias") : DictionaryAttr();
    auto parameter = alias ? alias.getAs<IntegerAttr>("parameter_number") : IntegerAttr();
    if (!parameter || parameter.getInt() < 0 || parameter.getInt() >= step.getNumArguments())
      continue;
    std::optional<SmallVector<int64_t>> inParameter = getIndices(alias.get("parameter_index"));
    std::optional<SmallVector<int64_t>> output = getIndices(entry.get("output_index"));
    // Parameters and results that are tuples in tuples are no tensors of the signature.
    if (!inParameter || !inParameter->empty() || !output || output->size() > 1)
      continue;
    int64_t result = output->empty() ? 0 : output->front();
    if (result >= 0 && result < step.getNumResults())
      aliases[parameter.getInt()] = result;
  }
  return aliases;
}

/// Returns whether an attribute is present, and not `false`.
static bool isMarked(Attribute attribute) {
  auto flag = dyn_cast_or_null<BoolAttr>(attribute);
  return flag ? flag.getValue() : static_cast<bool>(attribute);
}

bool cgx::isSameOnReplicas(func::FuncOp step, unsigned argument) {
  return isMarked(step.getArgAttr(argument, "mhlo.is_same_data_across_replicas"));
}

SmallVector<StepValue> cgx::getStepArguments(func::FuncOp step) {
  SmallVector<StepValue> arguments;
  llvm::DenseMap<unsigned, unsigned> moduleAliases = getModuleAliases(step);
  for (BlockArgument argument : step.getArguments()) {
    unsigned i = argument.getArgNumber();
    StepValue value;
    value.name = getKnownName(step.getArgAttr(i, kNameAttrName), getArgumentName(argument));
    value.type = argument.getType();
    value.sharding = step.getArgAttr(i, kShardingAttrName);
    auto sharding = dyn_cast_or_null<ShardingAttr>(value.sharding);
    value.isReplicated =
        sharding ? llvm::all_of(sharding.getDimensions(), [](ArrayAttr axes) { return axes.empty(); })
                 : isSameOnReplicas(step, i);
    value.isDonated = isMarked(step.getArgAttr(i, "jax.buffer_donor")) ||
                      step.getArgAttr(i, "tf.aliasing_output") || moduleAliases.contains(i);
    if (auto alias = step.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output"))
      value.aliasedResult = alias.getInt();
    else if (auto entry = moduleAliases.find(i); entry != moduleAliases.end())
      value.aliasedResult = entry->second;
    arguments.push_back(value);
  }
  return arguments;
}

SmallVector<StepValue> cgx::getStepResults(func::FuncOp step) {
  SmallVector<StepValue> results;
  for (auto [i, type] : llvm::enumerate(step.getResultTypes())) {
    auto info = step.getResultAttrOfType<StringAttr>(i, "jax.result_info");
    StepValue value;
    value.name = getKnownName(step.getResultAttr(i, kNameAttrName), info ? info.getValue() : "");
    value.type = type;
    value.sharding = step.getResultAttr(i, kShardingAttrName);
    results.push_back(value);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

namespace {
/// A tensor of a subtree: its keys below the subtree's root and its number.
struct Leaf {
  SmallVector<TreeKey, 4> keys;
  unsigned index;
};

/// Subtrees by name, in the order in which they appear.
using Subtrees = llvm::MapVector<llvm::StringRef, SmallVector<Leaf>>;

/// The quality of a match of the results of one subtree to the arguments of another.
struct Fit {
  SmallVector<std::pair<unsigned, unsigned>> feeds; // (result, argument)
  unsigned updates = 0;                             // of these, that data flow shows
  bool isDonated = false;

  bool operator<(const Fit &other) const {
    return std::tuple(updates, isDonated, feeds.size()) <
           std::tuple(other.updates, other.isDonated, other.feeds.size());
  }
};

class NameMatcher {
public:
  /// Matches by names. `flow` is null where nothing but names is known.
  NameMatcher(ArrayRef<StepValue> arguments, ArrayRef<StepValue> results, const FlowMatcher *flow)
      : arguments(arguments), results(results), flow(flow) {
    for (const StepValue &argument : arguments)
      argumentPaths.push_back(TreePath::parse(argument.name));
    for (const StepValue &result : results)
      resultPaths.push_back(TreePath::parse(result.name));
    for (auto [index, path] : llvm::enumerate(argumentPaths))
      if (!path.root.empty())
        roots[path.root].push_back({path.keys, static_cast<unsigned>(index)});
  }

  /// Matches results to arguments. A step returns a tuple of subtrees, or one subtree that may itself be a
  /// tuple, and the names do not tell which: the reading that feeds more arguments is taken.
  Feeds match() const {
    Feeds asTuple = match(/*isTuple=*/true);
    Feeds asOne = match(/*isTuple=*/false);
    auto count = [](const Feeds &feeds) {
      return llvm::count_if(feeds, [](auto feed) { return feed.has_value(); });
    };
    return count(asOne) > count(asTuple) ? asOne : asTuple;
  }

private:
  Feeds match(bool isTuple) const {
    Subtrees subtrees;
    for (auto [index, path] : llvm::enumerate(resultPaths)) {
      bool isElement = isTuple && !path.keys.empty() && path.keys.front().kind == TreeKey::Kind::Index;
      llvm::StringRef name = isElement ? path.keys.front().text : path.root;
      SmallVector<TreeKey, 4> keys(llvm::drop_begin(path.keys, isElement ? 1 : 0));
      subtrees[name].push_back({std::move(keys), static_cast<unsigned>(index)});
    }
    Feeds feeds(results.size());
    llvm::SmallDenseSet<size_t> taken;
    for (auto [position, subtree] : llvm::enumerate(subtrees)) {
      Fit best;
      size_t bestRoot = 0;
      for (auto [rootPosition, root] : llvm::enumerate(roots)) {
        Fit fit = taken.contains(rootPosition)
                      ? Fit()
                      : fitSubtree(subtree.second, root.second, position == rootPosition);
        if (!fit.feeds.empty() && best < fit) {
          best = std::move(fit);
          bestRoot = rootPosition;
        }
      }
      if (best.feeds.empty())
        continue;
      taken.insert(bestRoot);
      for (auto [result, argument] : best.feeds)
        feeds[result] = argument;
    }
    return feeds;
  }

  Fit fitSubtree(ArrayRef<Leaf> from, ArrayRef<Leaf> to, bool isSamePosition) const {
    Fit fit;
    for (const Leaf &result : from)
      for (const Leaf &argument : to)
        if (result.keys == argument.keys && canFeed(result, argument, isSamePosition)) {
          fit.feeds.push_back({result.index, argument.index});
          fit.isDonated |= arguments[argument.index].isDonated;
          fit.updates += flow && flow->isCandidate(result.index, argument.index);
          break;
        }
    return 2 * fit.feeds.size() >= from.size() ? fit : Fit();
  }

  bool canFeed(const Leaf &result, const Leaf &argument, bool isSamePosition) const {
    const StepValue &from = results[result.index];
    const StepValue &to = arguments[argument.index];
    if (from.type != to.type || from.sharding != to.sharding)
      return false;
    if (!result.keys.empty() || (flow && flow->isCandidate(result.index, argument.index)))
      return true;
    // A bare float scalar is a loss that comes out or a learning rate that goes
    // in more often than it is state, and a bare tensor that is split is a batch.
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(to.type);
    bool isFloatScalar =
        tensor && tensor.getRank() == 0 && llvm::isa<mlir::FloatType>(tensor.getElementType());
    bool isSplit = to.sharding && !to.isReplicated;
    return (to.isDonated || isSamePosition) && !isFloatScalar && !isSplit;
  }

  ArrayRef<StepValue> arguments;
  ArrayRef<StepValue> results;
  const FlowMatcher *flow;
  SmallVector<TreePath> argumentPaths;
  SmallVector<TreePath> resultPaths;
  Subtrees roots;
};
} // namespace

/// Applies rule 4.
static void addAliases(ArrayRef<StepValue> arguments, ArrayRef<StepValue> results, const FlowMatcher *flow,
                       Feeds &feeds) {
  auto isFed = [&](unsigned argument) {
    return llvm::is_contained(feeds, std::optional<unsigned>(argument));
  };
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    std::optional<unsigned> result = argument.aliasedResult;
    if (result && *result < results.size() && !feeds[*result] && !isFed(index) &&
        results[*result].type == argument.type && results[*result].sharding == argument.sharding &&
        (!flow || flow->isCredible(*result, index)))
      feeds[*result] = index;
  }
}

/// Applies rule 5. `result[0]...` and `result[1]...` are different subtrees.
static void addDonatedRun(ArrayRef<StepValue> arguments, ArrayRef<StepValue> results, Feeds &feeds) {
  SmallVector<unsigned> donated;
  for (auto [index, argument] : llvm::enumerate(arguments))
    if (argument.isDonated)
      donated.push_back(index);
  if (donated.empty())
    return;
  auto startsSubtree = [&](size_t result) {
    if (result == 0)
      return true;
    TreePath path = TreePath::parse(results[result].name);
    TreePath previous = TreePath::parse(results[result - 1].name);
    return path.keys.empty() || previous.keys.empty() || path.keys.front() != previous.keys.front();
  };
  for (size_t begin = 0; begin + donated.size() <= results.size(); ++begin) {
    auto fits = [&](size_t i) {
      const StepValue &to = arguments[donated[i]];
      return results[begin + i].type == to.type && results[begin + i].sharding == to.sharding;
    };
    if (!startsSubtree(begin) || !llvm::all_of(llvm::seq<size_t>(donated.size()), fits))
      continue;
    for (size_t i = 0; i < donated.size(); ++i)
      feeds[begin + i] = donated[i];
    return;
  }
}

static bool isEmpty(const Feeds &feeds) {
  return llvm::none_of(feeds, [](auto feed) { return feed.has_value(); });
}

static bool isNameless(ArrayRef<StepValue> arguments) {
  return llvm::all_of(arguments, [](const StepValue &argument) { return argument.name.empty(); });
}

/// Applies rules 4 and 5.
static void addBuffers(ArrayRef<StepValue> arguments, ArrayRef<StepValue> results, const FlowMatcher *flow,
                       Feeds &feeds) {
  addAliases(arguments, results, flow, feeds);
  if (isNameless(arguments) && isEmpty(feeds))
    addDonatedRun(arguments, results, feeds);
}

Feeds cgx::matchFeeds(ArrayRef<StepValue> arguments, ArrayRef<StepValue> results) {
  Feeds feeds = NameMatcher(arguments, results, /*flow=*/nullptr).match();
  addBuffers(arguments, results, /*flow=*/nullptr, feeds);
  return feeds;
}

/// Returns whether some result is made from the elements of the argument that it feeds, other than by adding
/// a small share of them, as a gradient with weight decay does.
static bool updatesState(func::FuncOp step, const StateUpdates &updates, const Feeds &feeds) {
  StepDataFlow flow(step, StepDataFlow::Rounds::All);
  for (auto [result, argument] : llvm::enumerate(feeds)) {
    if (!argument || !flow.reaches(*argument, result))
      continue;
    double share = updates.getShare(result, *argument);
    if (share == 0 || updates.isUpdate(result, *argument))
      return true;
  }
  return false;
}

StateFeeds cgx::findFeeds(func::FuncOp step) {
  SmallVector<StepValue> arguments = getStepArguments(step);
  SmallVector<StepValue> results = getStepResults(step);
  StateUpdates updates(step);
  FlowMatcher flow(step, updates, arguments, results);
  StateFeeds found;
  found.feeds = NameMatcher(arguments, results, &flow).match();
  bool isDonated = llvm::any_of(arguments, [](const StepValue &argument) { return argument.isDonated; });
  if (!isDonated && !updatesState(step, updates, found.feeds))
    found.feeds.assign(results.size(), std::nullopt);

  Feeds named = found.feeds;
  flow.addAnchors(found.feeds);
  if (isNameless(arguments))
    flow.growRuns(found.feeds);
  for (unsigned result = 0; result < results.size(); ++result)
    if (found.feeds[result] != named[result])
      found.byFlow.push_back(result);
  addBuffers(arguments, results, &flow, found.feeds);
  found.doubts = flow.findDoubts(found.feeds);
  return found;
}
