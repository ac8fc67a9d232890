#pragma once
// A call of every kind that the choice of a kernel distinguishes, and the table of kernels that these calls take.

#include "bench/attention/paper_call.hpp"
#include "bench/attention/problem.hpp"
#include "bench/matmul_choice/paper_devices.hpp"
#include "ops/attention/forward/choice/table.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kaio::bench {

// f(call, head sizes, work, rows) for 16 heads: one batch with 512 rows, four batches with other numbers of rows.
template <class T, class F>
void for_calls(const F& f) {
  for (const u32 size : {64u, 128u, 192u, 256u, 512u})
    for (const u32 rows : {64u, 512u, 2048u, 8192u})
      for (const work what : {work::full, work::causal, work::softcap, work::bias}) {
        const paper_call<T> on_paper({.batches = rows == 512 ? 1u : 4u,
                                      .length = rows,
                                      .heads = 16,
                                      .key_heads = 16,
                                      .size = size,
                                      .what = what});
        const std::string name(work_names[static_cast<std::size_t>(what)]);
        const auto give = [&](ops::attention_call call, const std::string& kind) {
          f(call, std::to_string(size), kind, rows);
          if (size != 192) return;
          call.problem.v_size = 128;
          f(call, std::string("192, 128"), kind, rows);
        };
        ops::attention_call call = on_paper.call();
        give(call, name);
        call.output = ops::element_kind::f32;
        if (!std::is_same_v<T, f32>) give(call, name + ", out f32");
        call.precision = ops::attention_precision::tf32;
        if (std::is_same_v<T, f32>) give(call, name + ", tf32");
        if (what == work::bias) continue;  // not next to blocks
        call = on_paper.call();
        call.in_blocks = true;
        call.lists.queries = call.lists.keys = 128;
        call.lists.partial.most = 1000;
        give(call, name + ", blocks");
      }
}

// Markdown: each kernel, with the devices and the calls that take it.
inline void print_kernels() {
  struct uses {
    std::vector<std::string> devices;
    std::set<std::string> sizes, works;
    std::set<u32> rows;
  };
  std::map<std::string_view, uses> of;
  const auto all = ops::all_attention_variants();
  for (const device_properties& device : paper_devices()) {
    const auto take = [&](const ops::attention_call& call, const std::string& sizes, const std::string& kind,
                          u32 rows) {
      if (std::none_of(all.begin(), all.end(),
                       [&](const ops::attention_variant& v) { return ops::accepts(v, call, device); }))
        return;
      uses& found = of[all[ops::detail::choose_attention("table", call, all, device)].name()];
      if (found.devices.empty() || found.devices.back() != device.name)
        found.devices.emplace_back(device.name);
      found.sizes.insert(sizes);
      found.works.insert(kind);
      found.rows.insert(rows);
    };
    for_calls<f16>(take);
    for_calls<bf16>(take);
    for_calls<f32>(take);
  }
  const auto joined = [](const auto& words) {
    std::string text;
    for (const auto& word : words) {
      if (!text.empty()) text += "; ";
      if constexpr (std::is_same_v<std::decay_t<decltype(word)>, u32>)
        text += std::to_string(word);
      else
        text += word;
    }
    return text;
  };
  std::printf(
      "# The kernels of attention\n\nPrinted by `bench_attention --kernels`: of the calls of `bench/attention/calls.hpp`, those for which the "
      "cost model takes\neach kernel, by the architecture papers' figures of the devices. Head sizes are D, or D and Dv; rows those of "
      "queries and of\nkeys. A mask in memory is as a bias.\n\n| kernel | devices | head sizes | calls | rows "
      "|\n| --- | --- | --- | --- | --- |\n");
  for (const ops::attention_variant& v : all) {
    const uses& found = of[v.name()];
    std::printf("| `%s` | %s | %s | %s | %s |\n", std::string(v.name()).c_str(),
                joined(found.devices).c_str(), joined(found.sizes).c_str(), joined(found.works).c_str(),
                joined(found.rows).c_str());
  }
}

}  // namespace kaio::bench
