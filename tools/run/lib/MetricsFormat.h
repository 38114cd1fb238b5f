//===-- MetricsFormat.h - Formats of metrics files --------------*- C++ -*-===//
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

/// The measurements of one step.
struct StepMetrics {
  uint64_t step = 0;
  double time = 0;    ///< seconds since 1970
  double seconds = 0; ///< duration of the step
  std::vector<double> scalars;
  uint64_t wireBytes = 0;
  double communicationSeconds = 0;
  double communicationShare = 0;
  bool isPlanNew = false; ///< codecs changed before the step
};

/// A file format that grows by one record per step.
class MetricsFormat {
public:
  virtual ~MetricsFormat() = default;

  /// Returns the start of a file.
  virtual std::string header() const = 0;
  virtual std::string record(const StepMetrics &metrics) const = 0;
  /// Returns the record of an evaluation after `step`, or an empty string where the format has none.
  virtual std::string evaluation(uint64_t step, double time, const std::vector<std::string> &names,
                                 const std::vector<double> &values) const = 0;
  /// Returns the records of steps before `first` in `file`. An earlier run wrote that text and may have
  /// stopped in the middle of a record.
  virtual std::string earlier(const std::string &file, uint64_t first) const = 0;
};

/// Returns the format that the name of a file implies: CSV columns for `.csv`, TensorBoard's events for a
/// name with `tfevents` in it, otherwise one JSON line per step. `names` are those of the scalars. Throws
/// Error for events where cgx was built without Protocol Buffers.
std::unique_ptr<MetricsFormat> makeMetricsFormat(const std::string &path, std::vector<std::string> names);

/// Returns the format of TensorBoard's event files, or null where cgx was built without Protocol Buffers.
std::unique_ptr<MetricsFormat> makeEventFormat(std::vector<std::string> names);

} // namespace cgx::run

#endif // CGX_RUN_LIB_METRICSFORMAT_H
