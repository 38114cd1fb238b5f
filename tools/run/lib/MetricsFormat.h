//===-- MetricsFormat.h - How metrics stand in a file -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_METRICSFORMAT_H
#define CGX_RUN_LIB_METRICSFORMAT_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cgx::run {

/// What is measured of one step.
struct StepMetrics {
  uint64_t step = 0;
  double time = 0;    ///< seconds since 1970
  double seconds = 0; ///< that the step took
  std::vector<double> scalars;
  uint64_t wireBytes = 0;
  double communicationSeconds = 0;
  double communicationShare = 0;
  bool isPlanNew = false; ///< codecs changed before the step
};

/// A format of files that grow by a record for each step.
class MetricsFormat {
public:
  virtual ~MetricsFormat() = default;

  /// What a file begins with.
  virtual std::string header() const = 0;
  virtual std::string record(const StepMetrics &metrics) const = 0;
  /// What an evaluation after `step` adds; empty where the format has no place for it.
  virtual std::string evaluation(uint64_t step, double time, const std::vector<std::string> &names,
                                 const std::vector<double> &values) const = 0;
  /// The records of steps before `first` in `file`, the contents of a file that an earlier run wrote and may
  /// have left in the middle of a record.
  virtual std::string earlier(const std::string &file, uint64_t first) const = 0;
};

/// The format that the name of a file asks for: columns for `.csv`, TensorBoard's events for a name with
/// `tfevents` in it, else JSON, a line for each step. `names` are those of the scalars. Throws Error for
/// events where cgx was built without Protocol Buffers.
std::unique_ptr<MetricsFormat> makeMetricsFormat(const std::string &path, std::vector<std::string> names);

/// TensorBoard's event files; null where cgx was built without Protocol Buffers.
std::unique_ptr<MetricsFormat> makeEventFormat(std::vector<std::string> names);

} // namespace cgx::run

#endif // CGX_RUN_LIB_METRICSFORMAT_H
