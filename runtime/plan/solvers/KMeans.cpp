//===-- plan/solvers/KMeans.cpp - Levels by clusters of size and norm -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CGX, Algorithm 3.1: layers are points (size, norm of the gradient), their clusters are ordered by norm -
// size, and cluster k of that order gets level k. The number of levels and the first level are searched.
//
//===----------------------------------------------------------------------===//

#include "Levels.h"
#include "Solvers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace cgx::plan {

namespace {

struct Point {
  double size = 0, norm = 0;
};

double distance(const Point &a, const Point &b) {
  return (a.size - b.size) * (a.size - b.size) + (a.norm - b.norm) * (a.norm - b.norm);
}

/// Returns points with both dimensions scaled to 0 to 1, since sizes and norms have no common unit.
std::vector<Point> makePoints(const Problem &problem) {
  double size = 0, norm = 0;
  for (const Layer &layer : problem.layers) {
    size = std::max(size, double(layer.elements));
    norm = std::isfinite(layer.norm) ? std::max(norm, layer.norm) : norm;
  }
  std::vector<Point> points;
  for (const Layer &layer : problem.layers)
    points.push_back(
        {size > 0 ? double(layer.elements) / size : 0, norm > 0 ? std::min(layer.norm / norm, 1.0) : 0});
  return points;
}

/// Draws centroids far from each other, as k-means++ does. It uses the bits of the generator directly:
/// distributions differ between standard libraries, and plans must not.
std::vector<Point> drawCentroids(const std::vector<Point> &points, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto uniform = [&] { return double(random() >> 11) * 0x1p-53; };
  std::vector<Point> centroids = {points[size_t(uniform() * double(points.size()))]};
  std::vector<double> weight(points.size());
  while (centroids.size() < count) {
    double total = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      weight[i] = std::numeric_limits<double>::infinity();
      for (const Point &centroid : centroids)
        weight[i] = std::min(weight[i], distance(points[i], centroid));
      total += weight[i];
    }
    double at = uniform() * total;
    size_t drawn = 0;
    while (drawn + 1 < points.size() && at >= weight[drawn])
      at -= weight[drawn++];
    centroids.push_back(points[drawn]);
  }
  return centroids;
}

/// Runs Lloyd's iterations; returns the cluster of each point.
std::vector<size_t> cluster(const std::vector<Point> &points, std::vector<Point> &centroids) {
  std::vector<size_t> cluster(points.size(), 0);
  for (int iteration = 0; iteration < 50; ++iteration) {
    bool changed = iteration == 0;
    for (size_t i = 0; i < points.size(); ++i) {
      auto nearest =
          std::min_element(centroids.begin(), centroids.end(), [&](const Point &a, const Point &b) {
            return distance(a, points[i]) < distance(b, points[i]);
          });
      changed |= cluster[i] != size_t(nearest - centroids.begin());
      cluster[i] = size_t(nearest - centroids.begin());
    }
    if (!changed)
      break;
    std::vector<Point> sums(centroids.size());
    std::vector<double> members(centroids.size());
    for (size_t i = 0; i < points.size(); ++i) {
      sums[cluster[i]].size += points[i].size;
      sums[cluster[i]].norm += points[i].norm;
      ++members[cluster[i]];
    }
    for (size_t k = 0; k < centroids.size(); ++k)
      if (members[k] > 0)
        centroids[k] = {sums[k].size / members[k], sums[k].norm / members[k]};
  }
  return cluster;
}

/// Returns for each point the place of its cluster, the most robust (large, of small norm) first.
std::vector<size_t> places(const std::vector<Point> &points, size_t count, uint64_t seed) {
  std::vector<Point> centroids = drawCentroids(points, count, seed);
  std::vector<size_t> clusters = cluster(points, centroids);
  std::vector<size_t> order(count), place(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return centroids[a].norm - centroids[a].size < centroids[b].norm - centroids[b].size;
  });
  for (size_t i = 0; i < count; ++i)
    place[order[i]] = i;
  for (size_t &entry : clusters)
    entry = place[entry];
  return clusters;
}

} // namespace

Solution solveKMeans(const Problem &problem, const SolverOptions &options) {
  Levels levels(problem);
  std::vector<Point> points = makePoints(problem);
  std::map<size_t, std::vector<size_t>> byCount; // clusters do not depend on the first level
  Assignment best = levels.bestRange([&](size_t lowest, size_t highest) {
    size_t count = highest - lowest + 1;
    auto [entry, isNew] = byCount.try_emplace(count);
    if (isNew)
      entry->second = places(points, count, options.seed);
    std::vector<size_t> assigned = entry->second;
    for (size_t &level : assigned)
      level += lowest;
    return assigned;
  });
  return {best, false};
}

} // namespace cgx::plan
