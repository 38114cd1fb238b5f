//===-- FeedsByFlow.cpp - feeds as the arithmetic of a step shows them -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FeedsByFlow.h"

#include "TreePath.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace cgx;

static bool isFloat(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

static bool isSingleFloat(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return isFloat(type) && tensor.hasStaticShape() && tensor.getNumElements() == 1;
}

static bool isFed(const Feeds &feeds, unsigned argument) {
  return llvm::is_contained(feeds, std::optional<unsigned>(argument));
}

bool FlowMatcher::fits(unsigned result, unsigned argument) const {
  return results[result].type == arguments[argument].type &&
         results[result].sharding == arguments[argument].sharding;
}

bool FlowMatcher::isCandidate(unsigned result, unsigned argument) const {
  if (!fits(result, argument) || !updates.isUpdate(result, argument) || updates.isUnchanged(result, argument))
    return false;
  bool mayBeData = !arguments[argument].isReplicated || isSingleFloat(arguments[argument].type);
  return !mayBeData || updates.keepsReduction(result);
}

bool FlowMatcher::isCredible(unsigned result, unsigned argument) const {
  return !isSingleFloat(arguments[argument].type) || updates.isUpdate(result, argument);
}

//===----------------------------------------------------------------------===//
// Anchors
//===----------------------------------------------------------------------===//

namespace {
/// The pairs that are left to match: for each result the arguments that it may feed, and the reverse.
struct Candidates {
  llvm::MapVector<unsigned, SmallVector<unsigned>> ofResult;
  llvm::MapVector<unsigned, SmallVector<unsigned>> ofArgument;

  Candidates(const FlowMatcher &matcher, const Feeds &feeds, unsigned argumentCount) {
    llvm::BitVector taken(argumentCount);
    for (std::optional<unsigned> feed : feeds)
      if (feed)
        taken.set(*feed);
    for (auto [result, feed] : llvm::enumerate(feeds)) {
      if (feed)
        continue;
      // A result is computed from few of possibly thousands of arguments.
      for (unsigned argument : matcher.getUpdatedArguments(result))
        if (!taken[argument] && matcher.isCandidate(result, argument)) {
          ofResult[result].push_back(argument);
          ofArgument[argument].push_back(result);
        }
    }
  }
};
} // namespace

/// Returns the pairs in which one side has a single candidate that it shares with no other of that kind: two
/// results that only one argument can take are two readings.
static SmallVector<std::pair<unsigned, unsigned>>
findSingles(const llvm::MapVector<unsigned, SmallVector<unsigned>> &candidates) {
  llvm::MapVector<unsigned, SmallVector<unsigned>> wantedBy;
  for (const auto &[from, to] : candidates)
    if (to.size() == 1)
      wantedBy[to.front()].push_back(from);
  SmallVector<std::pair<unsigned, unsigned>> singles;
  for (const auto &[to, from] : wantedBy)
    if (from.size() == 1)
      singles.push_back({from.front(), to});
  return singles;
}

bool FlowMatcher::addUnambiguous(Feeds &feeds) const {
  Candidates candidates(*this, feeds, arguments.size());
  auto fromResults = findSingles(candidates.ofResult);
  for (auto [result, argument] : fromResults)
    feeds[result] = argument;
  if (!fromResults.empty())
    return true;
  auto fromArguments = findSingles(candidates.ofArgument);
  for (auto [argument, result] : fromArguments)
    feeds[result] = argument;
  return !fromArguments.empty();
}

/// Adds the pairs that buffer aliasing confirms, where there are several readings.
bool FlowMatcher::addAliased(Feeds &feeds) const {
  bool changes = false;
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    std::optional<unsigned> result = argument.aliasedResult;
    if (!result || *result >= results.size() || feeds[*result] || isFed(feeds, index) ||
        !isCandidate(*result, index))
      continue;
    feeds[*result] = index;
    changes = true;
  }
  return changes;
}

/// Adds an argument's next value that is returned under several results (a target network that takes the
/// parameters over): they are one value, whichever is fed.
bool FlowMatcher::addDuplicates(Feeds &feeds) const {
  Candidates candidates(*this, feeds, arguments.size());
  for (const auto &[argument, from] : candidates.ofArgument) {
    bool areSame = llvm::all_of(from, [&](unsigned result) {
      return updates.areSame(result, from.front()) && candidates.ofResult[result].size() == 1;
    });
    if (!areSame)
      continue;
    feeds[from.front()] = argument;
    return true;
  }
  return false;
}

void FlowMatcher::addAnchors(Feeds &feeds) const {
  while (addUnambiguous(feeds) || addAliased(feeds))
    ;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

const StepDataFlow &FlowMatcher::getFlow() {
  if (!flow)
    flow.emplace(step, StepDataFlow::Rounds::All);
  return *flow;
}

Value FlowMatcher::getResult(unsigned result) {
  return step.getBody().front().getTerminator()->getOperand(result);
}

/// Returns whether a result depends on no other arguments than these.
bool FlowMatcher::isComputedFrom(unsigned result, const llvm::BitVector &state) {
  return llvm::all_of(llvm::seq<unsigned>(arguments.size()), [&](unsigned argument) {
    return (argument < state.size() && state[argument]) || !getFlow().dependsOn(getResult(result), argument);
  });
}

/// Returns whether a result and an argument beside a pair, or between two pairs, are a pair too. Between two
/// pairs, state may also be replaced, without a trace of its old value. A single number is trusted only where
/// it is updated: it may be a rate where a loss comes out.
bool FlowMatcher::isNeighbour(unsigned result, unsigned argument, bool isBetween, const Feeds &feeds) {
  const StepValue &to = arguments[argument];
  if (!fits(result, argument) || (to.aliasedResult && *to.aliasedResult != result))
    return false;
  if (updates.isUnchanged(result, argument))
    return isBetween || (to.isReplicated && !isSingleFloat(to.type));
  bool mayBeState = to.isReplicated || updates.keepsReduction(result);
  if (updates.isUpdate(result, argument))
    return isBetween || mayBeState || !isFloat(to.type);
  if (isSingleFloat(to.type))
    return isBetween && (isComputedFrom(result, {}) || updates.getShare(result, argument) > 0);
  if (isBetween)
    return true;
  if (!isFloat(to.type)) {
    llvm::BitVector state(arguments.size());
    state.set(argument);
    for (std::optional<unsigned> feed : feeds)
      if (feed)
        state.set(*feed);
    return getFlow().dependsOn(getResult(result), argument) && isComputedFrom(result, state);
  }
  return mayBeState && (getFlow().reaches(argument, result) || isCopyOfState(result, argument, feeds));
}

/// Returns whether a result is the next value of other state in another type or name, such as parameters in
/// half precision of which the state also has a full copy.
bool FlowMatcher::isCopyOfState(unsigned result, unsigned argument, const Feeds &feeds) const {
  return arguments[argument].isReplicated && llvm::any_of(feeds, [&](std::optional<unsigned> state) {
           return state && updates.isUpdate(result, *state);
         });
}

/// Returns whether a result before all pairs feeds the argument in its place. Frameworks return the state
/// first, as they take it first, so such a result is state that no reduction updates (experts that each rank
/// has its own of), or that is unchanged.
bool FlowMatcher::isLeading(unsigned result, std::optional<Pair> before, std::optional<Pair> after) const {
  return !before && after && after->first == after->second && result < arguments.size() &&
         fits(result, result) && (updates.isUpdate(result, result) || updates.isUnchanged(result, result));
}

/// Returns the pairs before and after a result, as the numbers of result and argument; nothing where there is
/// none.
std::pair<std::optional<FlowMatcher::Pair>, std::optional<FlowMatcher::Pair>>
FlowMatcher::findPairsAround(unsigned result, const Feeds &feeds) {
  std::pair<std::optional<Pair>, std::optional<Pair>> around;
  for (unsigned i = result; i-- > 0 && !around.first;)
    if (feeds[i])
      around.first = Pair(i, *feeds[i]);
  for (unsigned i = result + 1; i < feeds.size() && !around.second; ++i)
    if (feeds[i])
      around.second = Pair(i, *feeds[i]);
  return around;
}

bool FlowMatcher::grow(Feeds &feeds) {
  bool changes = false;
  for (unsigned result = 0; result < feeds.size(); ++result) {
    if (feeds[result])
      continue;
    auto [before, after] = findPairsAround(result, feeds);
    if (isLeading(result, before, after) && !isFed(feeds, result)) {
      feeds[result] = result;
      changes = true;
      continue;
    }
    for (std::optional<Pair> pair : {before, after}) {
      int64_t argument = pair ? static_cast<int64_t>(pair->second) + result - pair->first : -1;
      bool isBeside = pair && (pair->first + 1 == result || result + 1 == pair->first);
      bool isBetween = before && after && before->first + after->second == after->first + before->second;
      if (argument < 0 || argument >= static_cast<int64_t>(arguments.size()) || !(isBeside || isBetween) ||
          isFed(feeds, argument) || !isNeighbour(result, argument, isBetween, feeds))
        continue;
      feeds[result] = argument;
      changes = true;
      break;
    }
  }
  return changes;
}

void FlowMatcher::growRuns(Feeds &feeds) {
  do {
    addAnchors(feeds);
    if (llvm::none_of(feeds, [](auto feed) { return feed.has_value(); }))
      addInOrder(feeds);
  } while (grow(feeds) || addDuplicates(feeds));
}

/// Adds pairs where nothing can be told apart by itself: every reading is a shift between results and
/// arguments. If exactly one shift explains all candidates, it is the order of the state.
void FlowMatcher::addInOrder(Feeds &feeds) const {
  Candidates candidates(*this, feeds, arguments.size());
  std::optional<int64_t> found;
  for (int64_t shift = -static_cast<int64_t>(results.size()); shift < static_cast<int64_t>(arguments.size());
       ++shift) {
    bool explainsAll = !candidates.ofResult.empty() && llvm::all_of(candidates.ofResult, [&](auto &entry) {
      return llvm::any_of(entry.second, [&](unsigned argument) { return argument == entry.first + shift; });
    });
    if (!explainsAll)
      continue;
    if (found)
      return;
    found = shift;
  }
  if (found)
    for (const auto &[result, from] : candidates.ofResult)
      feeds[result] = result + *found;
}

/// Returns whether a result updates an argument as state is updated, but without a reduction: each rank has
/// its own.
bool FlowMatcher::mayBeUnreduced(unsigned result, unsigned argument) const {
  return arguments[argument].name.empty() && fits(result, argument) && !arguments[argument].isReplicated &&
         !isSingleFloat(arguments[argument].type) && updates.isUpdate(result, argument) &&
         !updates.isUnchanged(result, argument) && !updates.keepsReduction(result);
}

/// Returns whether two results belong to one element of the tuple that the step returns, such as its state.
bool FlowMatcher::areOfOneTree(unsigned result, unsigned other) const {
  TreePath path = TreePath::parse(results[result].name), otherPath = TreePath::parse(results[other].name);
  return !path.keys.empty() && !otherPath.keys.empty() && path.root == otherPath.root &&
         path.keys.front().kind == TreeKey::Kind::Index && path.keys.front() == otherPath.keys.front();
}

/// Returns the argument in the place of a result, as far as pairs after it, or before it in the same tree,
/// show the order. Any other argument after all state is data.
std::optional<unsigned> FlowMatcher::findArgumentInPlace(unsigned result, const Feeds &feeds) const {
  auto [before, after] = findPairsAround(result, feeds);
  bool isOfState = before && areOfOneTree(result, before->first);
  std::optional<Pair> pair = after ? after : isOfState ? before : std::nullopt;
  int64_t argument = pair ? static_cast<int64_t>(pair->second) + result - pair->first : -1;
  if (argument < 0 || argument >= static_cast<int64_t>(arguments.size()) ||
      !arguments[argument].name.empty() || !arguments[argument].isReplicated || !fits(result, argument) ||
      (!isOfState && isSingleFloat(arguments[argument].type)) || isFed(feeds, argument))
    return std::nullopt;
  return argument;
}

SmallVector<Doubt> FlowMatcher::findDoubts(const Feeds &feeds) const {
  SmallVector<Doubt> doubts;
  for (const auto &[result, from] : Candidates(*this, feeds, arguments.size()).ofResult)
    doubts.push_back({result, from, Doubt::Reason::Ambiguous});
  for (unsigned result = 0; result < results.size(); ++result)
    for (unsigned argument = 0; !feeds[result] && argument < arguments.size(); ++argument) {
      const StepValue &from = results[result], &to = arguments[argument];
      bool isState = updates.isUpdate(result, argument) && !updates.isUnchanged(result, argument) &&
                     updates.keepsReduction(result) && !isFed(feeds, argument);
      if (isState && from.type != to.type)
        doubts.push_back({result, {argument}, Doubt::Reason::Type});
      else if (isState && from.sharding != to.sharding)
        doubts.push_back({result, {argument}, Doubt::Reason::Sharding});
      else if (mayBeUnreduced(result, argument) && !isFed(feeds, argument))
        doubts.push_back({result, {argument}, Doubt::Reason::Data});
    }
  llvm::BitVector isDoubted(results.size());
  for (const Doubt &doubt : doubts)
    isDoubted.set(doubt.result);
  for (unsigned result = 0; result < results.size(); ++result)
    if (!feeds[result] && !isDoubted[result])
      if (std::optional<unsigned> argument = findArgumentInPlace(result, feeds))
        doubts.push_back({result, {*argument}, Doubt::Reason::Place});
  return doubts;
}
