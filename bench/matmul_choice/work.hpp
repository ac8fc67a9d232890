#pragma once
// The cost model's view of random problems, as lines of JSON for fit.py: the configurations of the kernels
// and the model's constants first, then for each problem the work of every variant that accepts it.

#include "bench/matmul_choice/choice.hpp"
#include "bench/matmul_choice/work_numbers.hpp"
#include "ops/matmul/choice/cost.hpp"
#include "ops/matmul/choice/fitted.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <vector>

namespace kaio::bench {

// The configurations of all kernels: the fields that identify them in fitted.hpp.
class configurations {
 public:
  configurations() {
    for (const ops::matmul_variant& v : ops::all_variants())
      if (v.splits == 1 && std::find(all_.begin(), all_.end(), of(v)) == all_.end()) all_.push_back(of(v));
    std::sort(all_.begin(), all_.end());
  }
  std::size_t number(const ops::matmul_variant& v) const {
    // A variant with splits has its kernel's configuration, whatever epilogue adds up the splits.
    std::vector<unsigned> fields = of(v);
    if (v.splits > 1 && !std::binary_search(all_.begin(), all_.end(), fields)) fields.back() ^= 1u;
    return static_cast<std::size_t>(std::lower_bound(all_.begin(), all_.end(), fields) - all_.begin());
  }
  // {"kernels": ["name", ...], "configurations": [[field, ...], ...], "device": [...], "families": [[...], ...]}
  void print(const kernel_numbers& numbers) const {
    std::printf("{\"kernels\": [");
    for (std::size_t i = 0; i < numbers.images().size(); ++i)
      std::printf("%s\"%.*s\"", i == 0 ? "" : ", ", static_cast<int>(numbers.images()[i]->name.size()),
                  numbers.images()[i]->name.data());
    std::printf("], \"configurations\": [");
    for (std::size_t i = 0; i < all_.size(); ++i) {
      std::printf("%s[", i == 0 ? "" : ", ");
      for (std::size_t f = 0; f < all_[i].size(); ++f) std::printf("%s%u", f == 0 ? "" : ", ", all_[i][f]);
      std::printf("]");
    }
    std::printf("], \"device\": ");
    const ops::device_costs& d = ops::fitted_device;
    print({d.l2_of_one, d.l2_of_all, d.crossing_clocks, d.crossing_l2_clocks, d.short_line_clocks, d.shared,
           d.dram_share, d.launch_seconds, d.second_kernel_seconds, d.sum_bytes, d.cluster_clocks,
           d.contention_clocks, d.exchange_clocks, d.exchange_bytes, d.copy_clocks, d.odd_clocks,
           d.outside_clocks});
    std::printf(", \"families\": [");
    for (std::size_t i = 0; i < std::size(ops::fitted_families); ++i) {
      print(ops::fitted_families[i]);
      std::printf(", ");
    }
    print(ops::fitted_few_rows);
    std::printf("]}\n");
  }

 private:
  static void print(std::initializer_list<double> numbers) {
    const char* separator = "[";
    for (const double x : numbers) {
      std::printf("%s%.17g", separator, x);
      separator = ", ";
    }
    std::printf("]");
  }
  static void print(const ops::family_costs& f) {
    print({f.start_clocks, f.rate, f.step_clocks, f.restart, f.store_bytes, f.general_clocks, f.outside,
           f.bias_clocks, f.addend_clocks, f.gelu_clocks, f.gelu_tanh_clocks, f.silu_clocks, f.terms_share,
           f.not_hidden, f.later_not_hidden, f.last_wave, f.half_wave});
  }
  static std::vector<unsigned> of(const ops::matmul_variant& v) {
    return {static_cast<unsigned>(v.family),
            static_cast<unsigned>(v.precision),
            v.image->needs.target.sm,
            static_cast<unsigned>(ops::bytes_of(v.operand)),
            v.m,
            v.n,
            v.k,
            v.stages,
            v.cluster_m * v.cluster_n,
            v.cluster_splits,
            v.resident,
            std::max(v.a_alignment, v.b_alignment),
            v.across ? 1u : 0u,
            v.general ? 1u : 0u};
  }
  std::vector<std::vector<unsigned>> all_;
};

// {"seed": ..., "work": [[kernel, splits of K (parts_of()), configuration, few rows, general, start_clocks, rate,
// step_clocks, the fields of kernel_work, seconds], ...]}
inline void print_work(const random_problem& p, const device_properties& device,
                       const kernel_numbers& numbers, const configurations& known) {
  const ops::matmul_call call = p.call_of(p.on_paper());
  std::printf("{\"seed\": %llu, \"work\": [", static_cast<unsigned long long>(p.seed));
  bool first = true;
  for (const timed_variant& t : accepting(call, device)) {
    const ops::matmul_variant& v = *t.variant;
    const ops::kernel_work w = ops::work_of(v, call, device);
    std::printf("%s[%zu, %d, %zu, %d, %d", first ? "" : ", ", numbers.of(v), parts_of(v), known.number(v),
                v.most_rows != 0 ? 1 : 0, v.general ? 1 : 0);
    first = false;
    for (const double x : work_numbers(v, w)) std::printf(", %.17g", x);
    std::printf(", %.17g", ops::seconds_of(w, v, device));
    std::printf("]");
  }
  std::printf("]}\n");
}

}  // namespace kaio::bench
