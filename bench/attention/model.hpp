#pragma once
// The cost model's view of attention on an H200, as lines of JSON for fit.py: its constants first, then for
// each problem the work of every kernel that can run it.

#include "bench/attention/paper_call.hpp"
#include "bench/attention/problem.hpp"
#include "bench/matmul_choice/paper_devices.hpp"
#include "ops/attention/forward/choice/cost.hpp"
#include "ops/attention/forward/choice/fitted.hpp"
#include "ops/attention/forward/choice/table.hpp"

#include <cstdio>
#include <string>

namespace kaio::bench {

template <class... Number>
void print_numbers(Number... numbers) {
  const char* separator = "[";
  const auto print = [&](double x) {
    std::printf("%s%.17g", separator, x);
    separator = ", ";
  };
  (print(static_cast<double>(numbers)), ...);
  std::printf("]");
}

// {"device": [...], "families": [[...], ...], "kernels": [[...], ...]}, in the order of the fields of
// attention_device_costs, attention_family_costs and attention_kernel_costs.
inline void print_model_constants() {
  const ops::attention_device_costs& d = ops::fitted_attention_device;
  std::printf("{\"device\": ");
  print_numbers(d.launch_seconds, d.dram_share, d.not_hidden, d.exponentials, d.score_clocks,
                d.general_clocks, d.softcap_clocks, d.alibi_clocks, d.tensor_clocks, d.copy_clocks, d.padding,
                d.l2_of_one, d.l2_of_all);
  const char* separator = ", \"families\": [";
  for (const ops::attention_family_costs& f : ops::fitted_attention_families) {
    std::printf("%s", separator);
    print_numbers(f.start_clocks, f.tile_clocks, f.step_clocks, f.alone, f.last_wave, f.rate);
    separator = ", ";
  }
  separator = "], \"kernels\": [";
  for (const ops::attention_kernel_costs& k : ops::fitted_attention_kernels) {
    std::printf("%s", separator);
    print_numbers(static_cast<double>(k.family), k.sm, k.element_bytes, k.depth_qk, k.depth_v, k.queries,
                  k.keys, k.rate, k.tile_clocks);
    separator = ", ";
  }
  std::printf("]}\n");
}

// One line, the variants in the order of the table; `resident`: the blocks per multiprocessor that a kernel
// is made for.
//
//   {"type": ..., "shape": ..., "work": ...,
//    "variants": {"name": [family, sm, bytes of an element, head sizes, queries, keys, resident, plain,
//                          the fields of attention_work, seconds], ...}}
template <class T>
void print_model(const std::string& type, const problem& p) {
  static const device_properties h200 = paper_devices().back();
  const paper_call<T> on_paper(p);
  const ops::attention_call& call = on_paper.call();
  std::printf("{\"type\": \"%s\", \"shape\": \"%s\", \"work\": \"%s\", \"variants\": {", type.c_str(),
              p.shape().c_str(), std::string(p.work_name()).c_str());
  bool first = true;
  for (const ops::attention_variant& v : ops::all_attention_variants()) {
    if (!ops::accepts(v, call, h200)) continue;
    const ops::attention_work w = ops::work_of(v, call, h200);
    std::printf("%s\"%.*s\": ", first ? "" : ", ", static_cast<int>(v.name().size()), v.name().data());
    first = false;
    print_numbers(static_cast<double>(v.family), static_cast<double>(v.image->needs.target.sm),
                  static_cast<double>(ops::bytes_of(v.type)), v.depth_qk, v.depth_v, v.queries, v.keys,
                  v.resident, v.plain ? 1.0 : 0.0, w.tiles, w.resident, w.steps, w.most_steps, w.operations,
                  w.operations_in_clock, w.padded, w.scores, w.loaded_bytes, w.copied, w.softcap, w.alibi,
                  w.tensors, w.results, w.read_and_written, ops::seconds_of(w, v, h200));
  }
  std::printf("}}\n");
}

}  // namespace kaio::bench
