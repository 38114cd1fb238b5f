//===-- Bindings.cpp - Input of each argument -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Bindings.h"

#include "cgx/formats/Closest.h"
#include "cgx/formats/Json.h"
#include "cgx/run/CodecState.h"
#include "cgx/run/Error.h"
#include "cgx/run/Members.h"
#include "cgx/run/TreePath.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace cgx::run;

namespace {

/// A file whose tensors are bound by name, each at most once.
class Pool {
public:
  explicit Pool(const SafetensorsFile *file) : file_(file) {
    if (file)
      for (const TensorView &tensor : file->tensors())
        paths_.emplace_back(tensor.name);
    taken_.resize(paths_.size());
  }

  /// Takes the tensor that agrees with `path`, if exactly one of those left does.
  const TensorView *take(const TreePath &path, Agreement how) {
    size_t found = paths_.size();
    for (size_t i = 0; i < paths_.size(); ++i) {
      if (taken_[i] || !agree(path, paths_[i], how))
        continue;
      if (found != paths_.size())
        return nullptr;
      found = i;
    }
    if (found == paths_.size())
      return nullptr;
    taken_[found] = true;
    return &file_->tensors()[found];
  }

  /// Returns the tensor of a name without taking it.
  const TensorView *find(const std::string &name) {
    const TreePath path(name);
    for (Agreement how : kAgreements)
      for (size_t i = 0; i < paths_.size(); ++i)
        if (agree(path, paths_[i], how)) {
          taken_[i] = true;
          return &file_->tensors()[i];
        }
    return nullptr;
  }

  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < paths_.size(); ++i)
      if (!taken_[i] && !isCodecState(paths_[i].name()))
        names.push_back(paths_[i].name());
    return names;
  }

private:
  const SafetensorsFile *file_;
  std::vector<TreePath> paths_;
  std::vector<bool> taken_;
};

class Binder {
public:
  Binder(const Manifest &manifest, const Inputs &inputs)
      : manifest_(manifest), inputs_(inputs), paths_(pathsOf(manifest.arguments)), state_(inputs.state),
        data_(inputs.data), fed_(manifest.arguments.size()), bound_(manifest.arguments.size()) {
    bindings_.arguments.resize(manifest.arguments.size());
    for (const Value &result : manifest.results)
      if (result.feeds)
        fed_[*result.feeds] = true;
  }

  Bindings run() {
    bindValues();
    // The closest agreement of any argument is bound first, so that a tensor is never lost to an argument
    // whose name is less similar. Arguments that a result feeds take only state. The others take data by a
    // close name, then state, then data by the last key of the name.
    for (Agreement how : kAgreements)
      bindFrom(state_, how, Source::State, /*fed=*/true);
    for (Agreement how : kAgreements) {
      bindFrom(data_, how, Source::Data, /*fed=*/false);
      bindFrom(state_, how, Source::State, /*fed=*/false);
    }
    bindFrom(data_, Agreement::Leaf, Source::Data, /*fed=*/false);
    bindInitial();
    countSamples();
    bindMembers();
    for (size_t i = 0; i < bound_.size(); ++i)
      check(i);
    left_ = state_.left();
    listMissing();
    throwProblems("the inputs do not fit the program", problems_);
    if (!bindings_.members.empty())
      checkBoundary(manifest_, bindings_, *inputs_.state);
    else if (!inputs_.members.empty())
      throw Error("expected --members with a checkpoint of ranks that train by themselves (--local-steps)");
    warnOfSurplus();
    return std::move(bindings_);
  }

private:
  void bindValues() {
    for (const auto &[name, text] : inputs_.values) {
      size_t argument = findPath(paths_, name, "argument");
      const Value &value = manifest_.arguments[argument];
      Binding &binding = bindings_.arguments[argument];
      bound_[argument] = true;
      if (StepValue::isMeant(text)) {
        binding.source = Source::Computed;
        try {
          binding.value = StepValue::parse(text, value);
        } catch (const Error &error) {
          problems_.push_back(std::string(inputs_.valueOption) + " " + value.name + ": " + error.what());
        }
        continue;
      }
      binding.source = Source::Constant;
      parseConstant(value, text, binding.constant);
    }
  }

  /// Parses one number for all elements, or one per element, separated by commas.
  void parseConstant(const Value &value, const std::string &text, std::vector<std::byte> &bytes) {
    uint64_t width = elementBytes(value.type), parsed = 0;
    for (size_t begin = 0; begin <= text.size(); ++parsed) {
      size_t end = std::min(text.find(',', begin), text.size());
      bytes.resize(bytes.size() + width);
      if (!parseScalar(value.type, std::string_view(text).substr(begin, end - begin),
                       bytes.data() + parsed * width)) {
        problems_.push_back(std::string(inputs_.valueOption) + " " + value.name + ": expected " +
                            elementTypeName(value.type) + ", got '" + text.substr(begin, end - begin) + "'");
        return;
      }
      begin = end + 1;
    }
    if (parsed != 1 && parsed != *elementCount(value.globalShape))
      problems_.push_back(std::string(inputs_.valueOption) + " " + value.name + ": expected 1 or " +
                          std::to_string(*elementCount(value.globalShape)) + " numbers, got " +
                          std::to_string(parsed));
  }

  void bindFrom(Pool &pool, Agreement how, Source source, bool fed) {
    for (size_t i = 0; i < bound_.size(); ++i) {
      // An argument that the compiler added needs a tensor of exactly its name, and otherwise starts with its
      // initial value.
      if (bound_[i] || fed_[i] != fed || (manifest_.arguments[i].initial && how != Agreement::Exact))
        continue;
      if (const TensorView *tensor = pool.take(paths_[i], how)) {
        bound_[i] = true;
        bindings_.arguments[i].source = source;
        bindings_.arguments[i].tensor = tensor;
      }
    }
  }

  /// Gives arguments their initial value where the state file has none, as at a first start.
  void bindInitial() {
    for (size_t i = 0; i < bound_.size(); ++i) {
      const Value &value = manifest_.arguments[i];
      if (bound_[i] || !value.initial)
        continue;
      Binding &binding = bindings_.arguments[i];
      if (*value.initial == "0") {
        binding.source = Source::Constant;
        binding.constant.resize(elementBytes(value.type));
      } else if (const TensorView *tensor = state_.find(*value.initial)) {
        binding.source =
            tensor->shape.size() + 1 == value.globalShape.size() ? Source::PerRank : Source::State;
        binding.tensor = tensor;
      } else {
        continue;
      }
      bound_[i] = true;
    }
  }

  /// Binds the state of ranks that train by themselves where the file has it for other ranks.
  void bindMembers() {
    for (size_t i = 0; i < bound_.size(); ++i) {
      const Value &value = manifest_.arguments[i];
      Binding &binding = bindings_.arguments[i];
      if (!bound_[i] || binding.source != Source::State || !isOfEachRank(value) ||
          !isOfOthers(value, *binding.tensor))
        continue;
      binding.source = Source::OfMembers;
      bindings_.ranksBefore = static_cast<uint32_t>(binding.tensor->shape[0]);
      bindings_.members = choosePredecessors(inputs_.members, static_cast<uint32_t>(value.globalShape[0]),
                                             bindings_.ranksBefore);
    }
    for (size_t i = 0; i < bound_.size(); ++i)
      if (const Binding &binding = bindings_.arguments[i];
          binding.source == Source::OfMembers && binding.tensor->shape[0] != bindings_.ranksBefore)
        problems_.push_back("'" + manifest_.arguments[i].name + "': expected values of " +
                            std::to_string(bindings_.ranksBefore) + " ranks, got " +
                            typeString(binding.tensor->type, binding.tensor->shape));
  }

  bool isOfOthers(const Value &value, const TensorView &tensor) const {
    Shape shape = value.globalShape;
    if (tensor.shape.size() != shape.size() || tensor.shape[0] <= 0 || tensor.shape[0] > INT32_MAX)
      return false;
    const bool isOther = tensor.shape[0] != shape[0] || !inputs_.members.empty();
    shape[0] = tensor.shape[0];
    return isOther && tensor.shape == shape && tensor.type == typeInFiles(value.type);
  }

  void check(size_t argument) {
    const Value &value = manifest_.arguments[argument];
    if (!bound_[argument])
      return;
    if (bindings_.arguments[argument].source == Source::State)
      checkState(value, *bindings_.arguments[argument].tensor);
    else if (bindings_.arguments[argument].source == Source::OfMembers)
      checkElements(value, *bindings_.arguments[argument].tensor, inputs_.state->path());
    else if (bindings_.arguments[argument].source == Source::PerRank)
      checkState(ofOneRank(value), *bindings_.arguments[argument].tensor);
    else if (bindings_.arguments[argument].source == Source::Data)
      checkData(value, bindings_.arguments[argument]);
  }

  /// Adds one line per missing argument, or one line in total where a missing option would give many of them.
  void listMissing() {
    std::vector<size_t> state;
    bool lacksState = false, lacksData = false;
    for (size_t i = 0; i < bound_.size(); ++i) {
      if (bound_[i])
        continue;
      if (fed_[i] && !inputs_.state) {
        state.push_back(i);
        continue;
      }
      (fed_[i] ? lacksState : lacksData) = true;
      problems_.push_back(missing(i));
    }
    if (!state.empty())
      problems_.insert(problems_.begin(), missingState(state));
    if (lacksState)
      problems_.back() += holds(*inputs_.state, left_);
    if (lacksData && inputs_.data)
      problems_.back() += holds(*inputs_.data, data_.left());
  }

  std::string missingState(const std::vector<size_t> &arguments) const {
    const Value &first = manifest_.arguments[arguments.front()];
    std::string text = "'" + first.name + "': expected " + typeString(first.type, first.globalShape);
    if (arguments.size() > 1)
      text += ", and " + std::to_string(arguments.size() - 1) + " more";
    return text + ", got nothing: the program's state, give its first value with --state FILE.safetensors";
  }

  std::string missing(size_t argument) const {
    const Value &value = manifest_.arguments[argument];
    std::string text =
        "'" + value.name + "': expected " + typeString(value.type, value.globalShape) + ", got nothing: ";
    if (fed_[argument])
      return text + "'" + inputs_.state->path() + "' has no such tensor" + meant(paths_[argument], left_);
    text += inputs_.data
                ? "'" + inputs_.data->path() + "' has no such tensor" + meant(paths_[argument], data_.left())
                : std::string("no ") + inputs_.dataOption + " is given";
    return text + (isShort(value) ? "; a value can be given as " + std::string(inputs_.valueOption) + " \"" +
                                        value.name + "=VALUE\""
                                  : "");
  }

  /// Returns true if the value is short enough to be typed.
  static bool isShort(const Value &value) { return elementCount(value.globalShape).value_or(SIZE_MAX) <= 2; }

  static std::string meant(const TreePath &path, const std::vector<std::string> &names) {
    std::vector<std::string> leaves, briefs;
    for (const std::string &name : names) {
      leaves.push_back(TreePath(name).leaf());
      briefs.push_back(TreePath(name).brief());
    }
    std::string word = cgx::formats::closest(path.brief(), briefs);
    if (word.empty() || std::count(briefs.begin(), briefs.end(), word) > 1)
      word = cgx::formats::closest(path.leaf(), leaves);
    return word.empty() ? "" : " (did you mean '" + word + "' there?)";
  }

  /// Lists the tensors of a file that no argument has taken.
  static std::string holds(const SafetensorsFile &file, const std::vector<std::string> &names) {
    constexpr size_t kMost = 12;
    if (names.empty())
      return "";
    std::string text = "\n  '" + file.path() + "' has";
    for (size_t i = 0; i < names.size() && i < kMost; ++i) {
      const TensorView *tensor = file.find(names[i]);
      text += (i == 0 ? " " : ", ") + names[i] + " " + typeString(tensor->type, tensor->shape);
    }
    return text + (names.size() > kMost ? " and " + std::to_string(names.size() - kMost) + " more" : "");
  }

  void checkState(const Value &value, const TensorView &tensor) {
    if (tensor.type != typeInFiles(value.type) || tensor.shape != value.globalShape)
      problems_.push_back("'" + value.name + "': expected " + typeString(value.type, value.globalShape) +
                          asWritten(value) + ", got " + typeString(tensor.type, tensor.shape) + " in '" +
                          inputs_.state->path() + "'");
    else
      checkElements(value, tensor, inputs_.state->path());
  }

  /// Names the type in which files store a type that they have no name for.
  static std::string asWritten(const Value &value) {
    const ElementType type = typeInFiles(value.type);
    if (type == value.type)
      return "";
    return std::string(isFloat(value.type) ? ", its bits written as " : ", written as ") +
           elementTypeName(type);
  }

  /// Checks that each byte is an element of a narrow type, which has fewer values than a byte.
  void checkElements(const Value &value, const TensorView &tensor, const std::string &path) {
    if (std::optional<double> foreign = findForeignElement(value.type, tensor))
      problems_.push_back("'" + value.name + "': expected elements of " + elementTypeName(value.type) +
                          ", got " + std::to_string(static_cast<int>(*foreign)) + " in '" + path + "'");
  }

  /// Returns true if the data file's metadata marks the tensor as `kind`: "cgx.per_step" or "cgx.constant".
  bool isMarked(const TensorView &tensor, const char *kind) const {
    auto entry = inputs_.data->metadata().find(kind);
    if (entry == inputs_.data->metadata().end())
      return false;
    nlohmann::json names;
    try {
      names = cgx::formats::parseJson(entry->second);
    } catch (const cgx::formats::Error &error) {
      throw Error("'" + inputs_.data->path() + "': metadata '" + kind + "': " + error.what());
    }
    if (!names.is_array())
      throw Error("'" + inputs_.data->path() + "': metadata '" + kind + "': expected a list of names, got " +
                  cgx::formats::valueText(names));
    return std::find(names.begin(), names.end(), tensor.name) != names.end();
  }

  /// Returns true if the tensor's dimensions from `from` on are those of the value from `valueFrom` on.
  static bool isShapedAs(const TensorView &tensor, size_t from, const Value &value, size_t valueFrom) {
    return std::equal(tensor.shape.begin() + std::min(from, tensor.shape.size()), tensor.shape.end(),
                      value.globalShape.begin() + valueFrom, value.globalShape.end());
  }

  /// Returns how a tensor is used: by its mark, else by its shape. One dimension more than the argument means
  /// one value per step. The argument's shape means a constant, unless the first dimension is the number of
  /// samples. Everything else is samples.
  Source sourceOf(const Value &value, const TensorView &tensor) const {
    if (isMarked(tensor, "cgx.per_step"))
      return Source::PerStep;
    if (isMarked(tensor, "cgx.constant"))
      return Source::Constant;
    if (tensor.shape.size() == value.globalShape.size() + 1)
      return Source::PerStep;
    const bool isWhole = tensor.shape == value.globalShape;
    const bool isBatch = !value.globalShape.empty() && (!samples_ || tensor.shape[0] == *samples_);
    return isWhole && !isBatch ? Source::Constant : Source::Data;
  }

  /// Sets the number of samples from a tensor that can only be samples, because its first dimension is not
  /// that of a batch.
  void countSamples() {
    for (size_t i = 0; i < bound_.size(); ++i) {
      const Value &value = manifest_.arguments[i];
      const TensorView *tensor = bindings_.arguments[i].tensor;
      if (bindings_.arguments[i].source == Source::Data && tensor && !samples_ &&
          tensor->shape.size() == value.globalShape.size() && tensor->shape != value.globalShape &&
          !isMarked(*tensor, "cgx.per_step") && !isMarked(*tensor, "cgx.constant"))
        samples_ = tensor->shape[0];
    }
  }

  void checkData(const Value &value, Binding &binding) {
    const TensorView &tensor = *binding.tensor;
    const Source source = sourceOf(value, tensor);
    const bool fits =
        isLosslessConversion(tensor.type, value.type) &&
        (source == Source::Constant ? tensor.shape == value.globalShape
         : source == Source::PerStep
             ? tensor.shape.size() == value.globalShape.size() + 1 && isShapedAs(tensor, 1, value, 0)
             : !value.globalShape.empty() && !tensor.shape.empty() && isShapedAs(tensor, 1, value, 1));
    if (!fits)
      return problems_.push_back(misfit(value, tensor, source));
    checkElements(value, tensor, inputs_.data->path());
    binding.source = source;
    if (source == Source::Constant) {
      binding.constant.resize(*elementCount(value.globalShape) * elementBytes(value.type));
      convertElements(tensor.type, tensor.bytes.data(), value.type, binding.constant.data(),
                      *elementCount(value.globalShape));
    } else if (source == Source::PerStep) {
      const auto steps = static_cast<uint64_t>(tensor.shape[0]);
      bindings_.steps = std::min(bindings_.steps.value_or(steps), steps);
    } else {
      agreeOn("samples", tensor.shape[0], bindings_.samples, value);
      agreeOn("the global batch", value.globalShape[0], bindings_.globalBatch, value);
    }
  }

  /// Describes the expected shape of an argument, and the shape in the data file.
  std::string misfit(const Value &value, const TensorView &tensor, Source source) const {
    const std::string type = std::string(elementTypeName(value.type)) + "[";
    auto shaped = [&](const char *first, size_t from) {
      std::string text = type + first;
      for (size_t dim = from; dim < value.globalShape.size(); ++dim)
        text += (text.back() == '[' ? "" : ",") + std::to_string(value.globalShape[dim]);
      return text + "]";
    };
    std::string expected = source == Source::PerStep    ? shaped("steps", 0)
                           : source == Source::Constant ? shaped("", 0)
                           : value.globalShape.empty()
                               ? shaped("", 0) + ", or " + shaped("steps", 0) + " with one for each step"
                               : shaped("samples", 1);
    return "'" + value.name + "': expected " + expected + ", got " + typeString(tensor.type, tensor.shape) +
           " in '" + inputs_.data->path() + "'" +
           (isLosslessConversion(tensor.type, value.type)
                ? ""
                : std::string(", whose elements may not fit: write ") +
                      (isFloat(value.type) && typeInFiles(value.type) != value.type ? "its bits" : "it") +
                      " as " + elementTypeName(typeInFiles(value.type)));
  }

  /// Checks that all batch arguments have the same number of samples, in the file and in a step.
  void agreeOn(const char *what, int64_t got, uint64_t &expected, const Value &value) {
    bool first = firstBatch_ == nullptr || firstBatch_ == &value;
    firstBatch_ = first ? &value : firstBatch_;
    if (first)
      expected = static_cast<uint64_t>(got);
    else if (expected != static_cast<uint64_t>(got))
      problems_.push_back("'" + value.name + "': expected " + what + " to be " + std::to_string(expected) +
                          " as in '" + firstBatch_->name + "', got " + std::to_string(got));
  }

  void warnOfSurplus() {
    if (left_.empty())
      return;
    std::string text = "'" + inputs_.state->path() + "' has " + std::to_string(left_.size()) +
                       (left_.size() == 1 ? " tensor" : " tensors") + " that the program does not take: ";
    for (size_t i = 0; i < left_.size() && i < 3; ++i)
      text += (i ? ", " : "") + left_[i];
    bindings_.warnings.push_back(text + (left_.size() > 3 ? ", ..." : ""));
  }

  const Manifest &manifest_;
  const Inputs &inputs_;
  std::vector<TreePath> paths_;
  Pool state_, data_;
  std::vector<bool> fed_, bound_;
  std::vector<std::string> left_; ///< the names left in the state file once all arguments are bound
  const Value *firstBatch_ = nullptr;
  std::optional<int64_t> samples_;
  Bindings bindings_;
  std::vector<std::string> problems_;
};

} // namespace

Value cgx::run::ofOneRank(Value value) {
  value.shape.erase(value.shape.begin());
  value.globalShape.erase(value.globalShape.begin());
  value.sharding.erase(value.sharding.begin());
  return value;
}

Bindings cgx::run::bindArguments(const Manifest &manifest, const Inputs &inputs) {
  return Binder(manifest, inputs).run();
}
