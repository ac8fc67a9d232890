#pragma once
// Random problems of attention, of its gradients, and of attention_decode.

#include "bench/regression/draws.hpp"
#include "bench/regression/harness.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/attention.hpp>
#include <kaio/ops/attention_backward.hpp>
#include <kaio/ops/attention_decode.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kaio::bench {

inline constexpr i64 head_sizes[] = {64, 80, 96, 128, 192, 256};
inline constexpr i64 head_groups[] = {1, 1, 2, 4, 8};

struct attention_problem {
  bool is_bf16, is_causal = false, by_heads;  // by_heads: (batches, heads, sequence, size) in memory
  i64 window = 0;                             // keys, the own one too; 0: all
  f32 softcap = 0;
  i64 batches, queries, keys, heads, key_heads, size;

  // Two products of all pairs of a query and a key: no mask is counted.
  double operations() const {
    return 4.0 * static_cast<double>(batches * queries * heads) * static_cast<double>(keys * size);
  }
  static attention_problem draw(draws& random, double most) {
    attention_problem p;
    p.is_bf16 = random.percent(50);
    p.by_heads = random.percent(25);
    const u64 work = random.below(100);
    p.is_causal = work >= 30 && work < 85;
    if (work >= 65 && work < 85) p.window = random.extent(32, 4096);
    if (work >= 85) p.softcap = 20;
    const bool is_longer = random.percent(20);
    const auto divisor = static_cast<double>(random.divisor());
    do {
      p.queries = random.extent(32, 16384);
      p.batches = std::max<i64>(random.extent(512.0 / divisor, 32768) / p.queries, 1);
      p.keys = is_longer ? p.queries + random.extent(1, 8192) : p.queries;
      p.key_heads = 1 + static_cast<i64>(random.below(8));
      p.heads = p.key_heads * random.one_of(head_groups);
      p.size = random.one_of(head_sizes);
    } while (p.operations() > most);
    return p;
  }
  std::string text() const {
    const auto number = [](i64 x) { return std::to_string(x); };
    std::string result = is_bf16 ? "bf16, " : "f16, ";
    result += "B " + number(batches) + ", Sq " + number(queries) + ", Sk " + number(keys) + ", Hq " +
              number(heads) + ", Hkv " + number(key_heads) + ", D " + number(size);
    if (window != 0)
      result += ", window " + number(window);
    else if (is_causal)
      result += ", causal";
    if (softcap > 0) result += ", softcap";
    return result + (by_heads ? ", by heads" : "");
  }
  attention_options options() const {
    attention_options result;
    if (is_causal) result.causal = causal_alignment::bottom_right;
    if (window != 0) result.window.left = window - 1;
    result.softcap = softcap;
    return result;
  }
  i64 q_elements() const { return batches * queries * heads * size; }
  i64 k_elements() const { return batches * keys * key_heads * size; }
  std::size_t sets(const harness& h) const {
    return h.sets_of(4.0 * static_cast<double>(q_elements() + k_elements()));
  }
  // (batches, sequence, heads, size)
  template <class T>
  tensor_view<T, 4> view(const device_pointer<std::remove_const_t<T>>& memory, bool of_q) const {
    const i64 rows = of_q ? queries : keys, count = of_q ? heads : key_heads;
    if (by_heads) return tensor_view<T, 4>(memory, extents(batches, count, rows, size)).exchanged(1, 2);
    return tensor_view<T, 4>(memory, extents(batches, rows, count, size));
  }
};

template <class T>
void run_attention(harness& h, const attention_problem& p) {
  const std::size_t sets = p.sets(h);
  const auto q = h.normal<T>(p.q_elements(), sets), k = h.normal<T>(p.k_elements(), sets),
             v = h.normal<T>(p.k_elements(), sets), o = h.unwritten<T>(p.q_elements(), sets);
  const attention_options options = p.options();
  const auto call = [&](std::size_t i, const auto& f) {
    return f(p.view<const T>(q[i], true), p.view<const T>(k[i], false), p.view<const T>(v[i], false),
             p.view<T>(o[i], true));
  };
  const auto name =
      call(0, [&](const auto&... x) { return ops::attention_choice(h.on(), x..., options).name; });
  h.measure(
      {"attention", p.text(), std::string(name), rounding<T>}, sets,
      [&](std::size_t i) { call(i, [&](const auto&... x) { attention(h.on(), x..., options); }); },
      [&] { h.digest(o[0], p.q_elements()); });
}

inline void random_attention(harness& h, draws& random) {
  const auto p = attention_problem::draw(random, random.divisor() == 1 ? 4e11 : 1e7);
  if (p.is_bf16)
    run_attention<bf16>(h, p);
  else
    run_attention<f16>(h, p);
}

template <class T>
void run_attention_backward(harness& h, const attention_problem& p) {
  const std::size_t sets = p.sets(h);
  const auto q = h.normal<T>(p.q_elements(), sets), dout = h.normal<T>(p.q_elements(), sets),
             k = h.normal<T>(p.k_elements(), sets), v = h.normal<T>(p.k_elements(), sets);
  const auto o = h.unwritten<T>(p.q_elements(), sets), dq = h.unwritten<T>(p.q_elements(), sets),
             dk = h.unwritten<T>(p.k_elements(), sets), dv = h.unwritten<T>(p.k_elements(), sets);
  const auto lse = h.unwritten<f32>(p.batches * p.heads * p.queries, sets);
  const auto of_lse = [&](std::size_t i) {
    return tensor_view<f32, 3>(lse[i], extents(p.batches, p.heads, p.queries));
  };
  attention_backward_options options{.forward = p.options()};
  for (std::size_t i = 0; i < sets; ++i) {
    attention_options forward = p.options();
    forward.lse = of_lse(i);
    attention(h.on(), p.view<const T>(q[i], true), p.view<const T>(k[i], false), p.view<const T>(v[i], false),
              p.view<T>(o[i], true), forward);
  }
  const auto memory = h.workspace(ops::attention_backward_workspace_bytes(
      h.on(), p.view<const T>(q[0], true), p.view<const T>(k[0], false), p.view<const T>(v[0], false)));
  options.workspace = memory;
  const auto call = [&](std::size_t i, const auto& f) {
    return f(p.view<const T>(dout[i], true), p.view<const T>(q[i], true), p.view<const T>(k[i], false),
             p.view<const T>(v[i], false), p.view<T>(o[i], true), of_lse(i), p.view<T>(dq[i], true),
             p.view<T>(dk[i], false), p.view<T>(dv[i], false));
  };
  const auto name =
      call(0, [&](const auto&... x) { return ops::attention_backward_choice(h.on(), x..., options).name; });
  h.measure(
      {"attention_backward", p.text(), std::string(name), 2 * rounding<T>}, sets,
      [&](std::size_t i) { call(i, [&](const auto&... x) { attention_backward(h.on(), x..., options); }); },
      [&] {
        h.digest(dq[0], p.q_elements());
        h.digest(dk[0], p.k_elements());
        h.digest(dv[0], p.k_elements());
      });
}

inline void random_attention_backward(harness& h, draws& random) {
  const auto p = attention_problem::draw(random, random.divisor() == 1 ? 1.5e11 : 3e6);
  if (p.is_bf16)
    run_attention_backward<bf16>(h, p);
  else
    run_attention_backward<f16>(h, p);
}

// Sequences of a cache: pages of `page` keys in any order, or a cache without pages.
struct decode_problem {
  bool is_bf16, has_lengths;
  std::string_view cached;  // the type of the cache; "": that of q
  i64 batches, queries, keys, heads, key_heads, size, page;

  i64 pages() const { return page == 0 ? 1 : (keys + page - 1) / page; }
  i64 rows() const { return page == 0 ? keys : page; }
  i64 cache_elements() const { return batches * pages() * rows() * key_heads * size; }
  i64 q_elements() const { return batches * queries * heads * size; }

  static decode_problem draw(draws& random) {
    constexpr std::string_view types[] = {"", "", "i8", "e4m3"};
    constexpr i64 page_sizes[] = {0, 16, 16, 64};
    constexpr i64 groups[] = {1, 2, 4, 4, 7, 8};
    decode_problem p;
    p.is_bf16 = random.percent(50);
    p.has_lengths = random.percent(40);
    p.cached = random.one_of(types);
    p.queries = random.percent(20) ? 4 : 1;
    do {
      p.batches = random.extent(1, 128);
      p.keys = random.extent(64, 65536);
      p.key_heads = 1 + static_cast<i64>(random.below(8));
      p.heads = p.key_heads * random.one_of(groups);
      p.size = random.one_of(head_sizes);
      p.page = random.one_of(page_sizes);
    } while (p.cache_elements() > (random.divisor() == 1 ? i64{500'000'000} : i64{200'000}));
    return p;
  }
  std::string text() const {
    const auto number = [](i64 x) { return std::to_string(x); };
    std::string result = is_bf16 ? "bf16" : "f16";
    if (!cached.empty()) result += ", cache " + std::string(cached);
    result += ", B " + number(batches) + ", Sq " + number(queries) + ", Sk " + number(keys) + ", Hq " +
              number(heads) + ", Hkv " + number(key_heads) + ", D " + number(size);
    if (page != 0) result += ", pages of " + number(page);
    return result + (has_lengths ? ", lengths" : "");
  }
};

template <class T, class C>
void run_decode(harness& h, draws& random, const decode_problem& p) {
  const std::size_t sets = h.sets_of(2.0 * static_cast<double>(p.cache_elements() * i64{sizeof(C)}));
  const auto q = h.normal<T>(p.q_elements(), sets);
  const auto o = h.unwritten<T>(p.q_elements(), sets);
  const auto k = h.normal<C>(p.cache_elements(), sets), v = h.normal<C>(p.cache_elements(), sets);
  std::vector<i32> table(static_cast<std::size_t>(p.batches * p.pages()));
  std::iota(table.begin(), table.end(), 0);
  for (std::size_t i = table.size(); i > 1; --i) std::swap(table[i - 1], table[random.below(i)]);
  std::vector<i32> lengths;
  for (i64 i = 0; i < p.batches; ++i)
    lengths.push_back(static_cast<i32>(p.has_lengths ? 1 + random.below(static_cast<u64>(p.keys))
                                                     : static_cast<u64>(p.keys)));
  const auto on_table = h.gpu().upload(table), on_lengths = h.gpu().upload(lengths);
  const auto scale = h.gpu().upload(std::vector<f32>(1, 1.0f / 64));

  const auto cache = [&](std::size_t i) {
    const auto view = [&](const device_pointer<C>& memory) {
      return tensor_view<C, 4>(memory, extents(p.batches * p.pages(), p.rows(), p.key_heads, p.size));
    };
    kv_cache<C> result{.k = view(k[i]), .v = view(v[i])};
    result.lengths = tensor_view<const i32, 1>(on_lengths, extents(p.batches));
    if (p.page != 0) result.table = tensor_view<const i32, 2>(on_table, extents(p.batches, p.pages()));
    return result;
  };
  const extents of_q(p.batches, p.queries, p.heads, p.size);
  const auto of = [&](std::size_t i) { return tensor_view<const T, 4>(q[i], of_q); };
  const auto out = [&](std::size_t i) { return tensor_view<T, 4>(o[i], of_q); };
  attention_decode_options options;
  options.constant = constant_inputs::indices;
  if (p.queries > 1) options.causal = causal_alignment::bottom_right;
  if constexpr (std::is_same_v<C, i8>)
    options.k_scale = options.v_scale = tensor_view<const f32, 1>(scale, extents(1));
  const auto choice = ops::attention_decode_choice(h.on(), of(0), cache(0), out(0), options);
  const auto memory = h.workspace(ops::attention_decode_workspace_bytes(h.on(), of(0), cache(0), options));
  options.workspace = memory;
  h.measure(
      {"decode", p.text(),
       std::string(choice.name) + "/" + std::to_string(choice.splits) + (choice.in_cluster ? "c" : ""),
       rounding<T>},
      sets, [&](std::size_t i) { attention_decode(h.on(), of(i), cache(i), out(i), options); },
      [&] { h.digest(o[0], p.q_elements()); });
}

inline void random_decode(harness& h, draws& random) {
  const decode_problem p = decode_problem::draw(random);
  const auto with = [&]<class T>(T) {
    if (p.cached == "i8")
      run_decode<T, i8>(h, random, p);
    else if (p.cached == "e4m3")
      run_decode<T, e4m3>(h, random, p);
    else
      run_decode<T, T>(h, random, p);
  };
  if (p.is_bf16)
    with(bf16());
  else
    with(f16());
}

}  // namespace kaio::bench
