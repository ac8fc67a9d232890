#pragma once
// Shared by the two modes of the benchmark: the kernels by their numbers, the variants that can run a call,
// and the line of JSON for a problem.

#include "bench/matmul_choice/random_problem.hpp"
#include "ops/matmul/choice/table.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::bench {

// The kernels of all variants, numbered in the order of the table.
class kernel_numbers {
 public:
  kernel_numbers() {
    for (const ops::matmul_variant& v : ops::all_variants())
      if (numbers_.emplace(v.image, images_.size()).second) images_.push_back(v.image);
  }
  std::size_t of(const ops::matmul_variant& v) const { return numbers_.at(v.image); }
  const std::vector<const ptx::kernel_image*>& images() const { return images_; }

  // {"kernels": [["name", bytes of PTX, compute capability], ...]}
  void print() const {
    std::printf("{\"kernels\": [");
    for (std::size_t i = 0; i < images_.size(); ++i) {
      std::size_t bytes = 0;
      ptx::with_text(*images_[i], [&](const ptx::kernel_image& whole) {
        for (std::size_t s = 0; s < whole.segment_count; ++s) bytes += whole.segments[s].size();
      });
      std::printf("%s[\"%.*s\", %zu, %u]", i == 0 ? "" : ", ", static_cast<int>(images_[i]->name.size()),
                  images_[i]->name.data(), bytes, unsigned{images_[i]->needs.target.sm});
    }
    std::printf("]}\n");
  }

 private:
  std::vector<const ptx::kernel_image*> images_;
  std::map<const ptx::kernel_image*, std::size_t> numbers_;
};

// A variant that accepts a call, and its time: the model's, or the measured one.
struct timed_variant {
  const ops::matmul_variant* variant = nullptr;
  double model_us = 0;
  double us = 0;
  bool dropped = false;  // so slow that it was run a few times only
};

// The variants that accept a call, the model's choice first. Tuning is not asked.
inline std::vector<timed_variant> accepting(const ops::matmul_call& call, const device_properties& device) {
  std::vector<timed_variant> result;
  for (const ops::matmul_variant* v : ops::variants_for(call))
    if (ops::accepts(*v, call, device)) {
      const double us = 1e6 * ops::cost(*v, call, device);
      result.push_back({v, us, us});
    }
  // If times are equal, the first variant of the table wins, as in the library.
  std::sort(result.begin(), result.end(), [](const timed_variant& x, const timed_variant& y) {
    return x.model_us != y.model_us ? x.model_us < y.model_us : x.variant < y.variant;
  });
  return result;
}

// A number for what a kernel's name lacks: the splits of K, or the cluster that the launch sets.
//
//   above 0   splits of K, in a workspace or in a cluster
//   -2        2 blocks along M, which share tiles of B
//   -3        2 blocks along N, which share tiles of A
//   -4        2 x 2 blocks, which share tiles of both
//   above 10000, for a tile of fewer columns: 10 * columns + blocks that share tiles, 3 for two along N
//   above 100 the blocks that share tiles of B, those that share tiles of A, and the splits: a digit each
inline int parts_of(const ops::matmul_variant& v) {
  if (v.is_narrow)
    return static_cast<int>(10000 + 10 * v.n + (v.cluster_n > v.cluster_m ? 3 : v.cluster_m * v.cluster_n));
  if (v.splits != 1 || !v.cluster_by_launch) return static_cast<int>(v.splits);
  if (v.cluster_splits != 1 && v.cluster_m * v.cluster_n != 1)
    return static_cast<int>(100 * v.cluster_m + 10 * v.cluster_n + v.cluster_splits);
  if (v.cluster_n > v.cluster_m) return -3;
  return v.cluster_m != 1 ? -static_cast<int>(v.cluster_m * v.cluster_n) : static_cast<int>(v.cluster_splits);
}

// {"device": ..., the problem's fields, "us": [[kernel, parts_of, us, 1 if dropped], ...]}; the first kernel
// is the choice.
inline void print_row(std::string_view device, const random_problem& p, const kernel_numbers& numbers,
                      const std::vector<timed_variant>& times) {
  std::string text = "{\"device\": \"" + std::string(device) + "\", " + p.text() + ", \"us\": [";
  for (std::size_t i = 0; i < times.size(); ++i) {
    char item[96];
    std::snprintf(item, sizeof item, "%s[%zu, %d, %.3f, %d]", i == 0 ? "" : ", ",
                  numbers.of(*times[i].variant), parts_of(*times[i].variant), times[i].us,
                  times[i].dropped ? 1 : 0);
    text += item;
  }
  std::printf("%s]}\n", text.c_str());
  std::fflush(stdout);
}

}  // namespace kaio::bench
