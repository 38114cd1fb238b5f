//===-- Feeding.cpp - which result is the next value of which argument -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Feeding.h"

#include "TreePath.h"
#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace cgx;
using Feeds = SmallVector<std::optional<unsigned>>;

//===----------------------------------------------------------------------===//
// What is known of a step's values
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

/// `cgx.name` if there is one, else the name that the framework gave; reports and manifests are UTF-8.
static std::string getKnownName(Attribute given, StringRef exported) {
  auto name = dyn_cast_or_null<StringAttr>(given);
  return llvm::json::fixUTF8(name ? name.getValue() : exported);
}

SmallVector<StepValue> cgx::getStepArguments(func::FuncOp step) {
  SmallVector<StepValue> arguments;
  for (BlockArgument argument : step.getArguments()) {
    unsigned i = argument.getArgNumber();
    StepValue value;
    value.name = getKnownName(step.getArgAttr(i, kNameAttrName), getArgumentName(argument));
    value.type = argument.getType();
    value.sharding = step.getArgAttr(i, kShardingAttrName);
    value.isDonated = step.getArgAttr(i, "jax.buffer_donor") || step.getArgAttr(i, "tf.aliasing_output");
    if (auto alias = step.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output"))
      value.aliasedResult = alias.getInt();
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

/// How well the results of one subtree fit the arguments of another.
struct Fit {
  SmallVector<std::pair<unsigned, unsigned>> feeds; // (result, argument)
  bool isDonated = false;

  bool operator<(const Fit &other) const {
    return std::pair(isDonated, feeds.size()) < std::pair(other.isDonated, other.feeds.size());
  }
};

class NameMatcher {
public:
  NameMatcher(ArrayRef<StepValue> arguments, ArrayRef<StepValue> results)
      : arguments(arguments), results(results) {
    for (const StepValue &argument : arguments)
      argumentPaths.push_back(TreePath::parse(argument.name));
    for (const StepValue &result : results)
      resultPaths.push_back(TreePath::parse(result.name));
    for (auto [index, path] : llvm::enumerate(argumentPaths))
      if (!path.root.empty())
        roots[path.root].push_back({path.keys, static_cast<unsigned>(index)});
  }

  /// A step returns a tuple of subtrees, or one subtree that may itself be a
  /// tuple. The names do not tell: take what feeds more arguments.
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
          break;
        }
    return 2 * fit.feeds.size() >= from.size() ? fit : Fit();
  }

  bool canFeed(const Leaf &result, const Leaf &argument, bool isSamePosition) const {
    const StepValue &from = results[result.index];
    const StepValue &to = arguments[argument.index];
    if (from.type != to.type || from.sharding != to.sharding)
      return false;
    if (!result.keys.empty() || to.isDonated)
      return true;
    // A bare float scalar is a loss that comes out or a learning rate that goes
    // in more often than it is state.
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(to.type);
    bool isFloatScalar =
        tensor && tensor.getRank() == 0 && llvm::isa<mlir::FloatType>(tensor.getElementType());
    return isSamePosition && !isFloatScalar;
  }

  ArrayRef<StepValue> arguments;
  ArrayRef<StepValue> results;
  SmallVector<TreePath> argumentPaths;
  SmallVector<TreePath> resultPaths;
  Subtrees roots;
};
} // namespace

static void addAliases(ArrayRef<StepValue> arguments, ArrayRef<StepValue> results, Feeds &feeds) {
  auto isFed = [&](unsigned argument) {
    return llvm::is_contained(feeds, std::optional<unsigned>(argument));
  };
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    std::optional<unsigned> result = argument.aliasedResult;
    if (result && *result < results.size() && !feeds[*result] && !isFed(index) &&
        results[*result].type == argument.type && results[*result].sharding == argument.sharding)
      feeds[*result] = index;
  }
}

/// Rule 3. `result[0]...` and `result[1]...` are different subtrees.
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

Feeds cgx::matchFeeds(ArrayRef<StepValue> arguments, ArrayRef<StepValue> results) {
  Feeds feeds = NameMatcher(arguments, results).match();
  addAliases(arguments, results, feeds);
  bool isNameless = llvm::all_of(arguments, [](const StepValue &argument) { return argument.name.empty(); });
  bool isFed = llvm::any_of(feeds, [](auto feed) { return feed.has_value(); });
  if (isNameless && !isFed)
    addDonatedRun(arguments, results, feeds);
  return feeds;
}
