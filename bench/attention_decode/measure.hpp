#pragma once
// One problem: random operands, the call, the check of its result, and its times.

#include "bench/attention/measurement.hpp"
#include "bench/attention_decode/kernels.hpp"
#include "bench/attention_decode/problem.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/rotary.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kaio::bench {

// The measured way to run a call; by default the way that the call itself takes.
struct decode_form {
  std::string name = "kaio", variant{};
  std::uint32_t splits = 0;
  ops::attention_combining combining = ops::attention_combining::automatic;
};

// C: the type of a cache of 8 bits.
template <class T, class C = T>
class attention_decode_bench : attention_measurement<T> {
  static constexpr bool has_codes = !std::is_same_v<T, C>;
  using base = attention_measurement<T>;
  using base::blocks, base::gpu_, base::normal, base::stream_;

 public:
  // by_key: a cache of 8 bits has a scale for each key of a head instead of a single scale.
  attention_decode_bench(device& gpu, clock_sampler& clock, double seconds, bool by_key = false)
      : base(gpu, clock, seconds), by_key_(by_key) {}

  // all_forms: measures every form, and first the one that the call takes.
  std::vector<std::pair<decode_form, measured>> measure(const decode_problem& p, bool all_forms = false) {
    operands x = make_operands(p);
    std::vector<std::pair<decode_form, measured>> result;
    for (const decode_form& form : forms_of(p, x, all_forms)) result.emplace_back(form, measure(p, x, form));
    return result;
  }
  measured measure(const decode_problem& p, const decode_form& form) {
    operands x = make_operands(p);
    return measure(p, x, form);
  }

 private:
  struct operands;

  // A second kernel, a single split, and clusters if the call has a kernel with clusters.
  std::vector<decode_form> forms_of(const decode_problem& p, operands& x, bool all) {
    using enum ops::attention_combining;
    std::vector<decode_form> result{{}};
    if (!all) return result;
    const cache_of on(p, x, 0);
    attention_decode_options options{.splits = 2, .combining = cluster};
    std::string name;
    try {
      name = ops::attention_decode_choice(stream_, on.q, on.cache, on.o, options).name;
    } catch (const unsupported_device&) {
      return result;
    }
    result.push_back({"kaio_second", name, 0, second_kernel});
    result.push_back({"kaio_one", name, 1, second_kernel});
    for (const u32 parts : {2u, 4u, 8u, 16u})
      result.push_back({"kaio_cluster_" + std::to_string(parts), name, parts, cluster});
    return result;
  }

  measured measure(const decode_problem& p, operands& x, const decode_form& form) {
    attention_decode_options options{
        .splits = form.splits, .combining = form.combining, .variant = form.variant};
    options.constant = constant_inputs::indices;  // written once
    if (p.queries() > 1) options.causal = causal_alignment::bottom_right;
    std::optional<buffer<f32>> scales;
    if constexpr (has_codes) {
      const u64 places = u64{p.batches} * p.pages(), count = by_key_ ? places * p.page() * p.key_heads : 1;
      scales = gpu_.upload(std::vector<f32>(count, scale_of_codes<C>));
      if (by_key_)
        options.k_scale = options.v_scale = tensor_view<const f32, 3>(*scales, places, p.page(), p.key_heads);
      else
        options.k_scale = options.v_scale = tensor_view<const f32, 1>(*scales, 1);
    }
    std::vector<cache_of> caches;
    for (std::size_t i = 0; i < x.q.size(); ++i) caches.emplace_back(p, x, i);
    std::optional<new_token> token;
    if (p.appends()) token.emplace(*this, p);
    if (p.what == decode_work::append) token->give(p, options);
    const cache_of& first = caches.front();
    measured result;
    const auto choice = ops::attention_decode_choice(stream_, first.q, first.cache, first.o, options);
    result.kernel =
        std::string(choice.name) + "/" + std::to_string(choice.splits) + (choice.in_cluster ? "c" : "");
    auto memory = gpu_.template allocate<u8>(
        std::max<u64>(ops::attention_decode_workspace_bytes(stream_, first.q, first.cache, options), 1));
    options.workspace = memory;
    poison<T>.launch(stream_, grid(blocks()), x.o[0], u64{x.o[0].size()});
    contestant kaio{"kaio", [&](std::size_t i) {
                      if (p.what == decode_work::append) caches[i].cache.lengths = token->lengths_before(p);
                      if (p.what == decode_work::apart) {
                        token->append(stream_, p, caches[i]);
                        attention_decode(stream_, token->turned(p), caches[i].cache, caches[i].o, options);
                        return;
                      }
                      attention_decode(stream_, caches[i].q, caches[i].cache, caches[i].o, options);
                    }};
    kaio.run(0);
    result.error = distance(p, x);
    this->time(kaio, x.q.size(), result);
    return result;
  }

  // Sets of tensors, enough to exceed L2. The table has the pages of each sequence; for a cache without
  // pages, its batch.
  struct operands {
    std::vector<buffer<T>> q, o;
    std::vector<buffer<C>> k, v;
    buffer<i32> table, lengths;
  };
  struct cache_of {
    cache_of(const decode_problem& p, operands& x, std::size_t i)
        : q(x.q[i], p.batches, p.queries(), p.heads, p.size),
          o(x.o[i], p.batches, p.queries(), p.heads, p.v_size()) {
      const u64 places = p.is_paged() ? u64{p.batches} * p.pages() : p.batches;
      cache.k = tensor_view<C, 4>(x.k[i], places, p.page(), p.key_heads, p.size);
      if (p.is_latent())
        cache.v = cache.k.slice(3, 0, p.v_size());
      else
        cache.v = tensor_view<C, 4>(x.v[i], places, p.page(), p.key_heads, p.size);
      cache.lengths = tensor_view<const i32, 1>(x.lengths, p.batches);
      if (p.is_paged()) cache.table = tensor_view<const i32, 2>(x.table, p.batches, p.pages());
    }
    tensor_view<const T, 4> q;
    tensor_view<T, 4> o;
    kv_cache<C> cache{};
  };

  // The last key of each sequence, and rotations by angles of 0, so that results are those of the other works.
  struct new_token {
    buffer<T> k, v, cos, sin, q;
    buffer<i32> before;

    new_token(attention_decode_bench& bench, const decode_problem& p)
        : k(bench.normal(u64{p.batches} * p.key_heads * p.size)),
          v(bench.normal(u64{p.batches} * p.key_heads * p.size)),
          cos(bench.gpu_.upload(std::vector<T>(u64{p.keys} * (p.size / 2), T(1.0f)))),
          sin(bench.gpu_.upload(std::vector<T>(u64{p.keys} * (p.size / 2), T(0.0f)))),
          q(bench.gpu_.template allocate<T>(u64{p.batches} * p.heads * p.size)) {
      std::vector<i32> lengths;
      for (const u32 one : p.lengths()) lengths.push_back(static_cast<i32>(one) - 1);
      before = bench.gpu_.upload(lengths);
    }
    tensor_view<const i32, 1> lengths_before(const decode_problem& p) {
      return tensor_view<const i32, 1>(before, p.batches);
    }
    tensor_view<const T, 4> rows(const decode_problem& p, buffer<T>& of) {
      return tensor_view<const T, 4>(of, p.batches, 1, p.key_heads, p.size);
    }
    tensor_view<const T, 2> table(const decode_problem& p, buffer<T>& of) {
      return tensor_view<const T, 2>(of, p.keys, p.size / 2);
    }
    tensor_view<T, 4> turned(const decode_problem& p) {
      return tensor_view<T, 4>(q, p.batches, 1, p.heads, p.size);
    }
    void give(const decode_problem& p, attention_decode_options& options) {
      options.append = {
          .k = rows(p, k), .v = rows(p, v), .rotary = {.cos = table(p, cos), .sin = table(p, sin)}};
    }
    void append(const stream& s, const decode_problem& p, const cache_of& to) {
      kv_cache<C> cache = to.cache;
      cache.lengths = lengths_before(p);
      append_kv(
          s, rows(p, k), rows(p, v), cache,
          {.rotary = {.cos = table(p, cos), .sin = table(p, sin)}, .constant = constant_inputs::indices});
      rotary(s, to.q, turned(p), table(p, cos), table(p, sin), {.offsets = lengths_before(p)});
    }
  };

  operands make_operands(const decode_problem& p) {
    const u64 rows = u64{p.batches} * p.pages() * p.page() * p.key_heads * p.size;
    const u64 of_q = u64{p.batches} * p.queries() * p.heads * p.size;
    const u64 of_o = of_q / p.size * p.v_size();
    const u64 cache = gpu_.is_emulator() ? 1 : 2 * gpu_.properties().l2_bytes;
    operands x;
    for (u64 sets = std::clamp<u64>((cache + 2 * rows * sizeof(C) - 1) / (2 * rows * sizeof(C)), 1, 16);
         sets > 0; --sets) {
      x.q.push_back(normal(of_q));
      x.k.push_back(cached(rows));
      if (!p.is_latent()) x.v.push_back(cached(rows));
      x.o.push_back(gpu_.template allocate<T>(of_o));
    }
    std::vector<i32> table(u64{p.batches} * p.pages());
    std::iota(table.begin(), table.end(), 0);
    if (p.is_paged()) std::shuffle(table.begin(), table.end(), std::mt19937(1));
    x.table = gpu_.upload(table);
    std::vector<i32> lengths;
    for (const u32 one : p.lengths()) lengths.push_back(static_cast<i32>(one));
    x.lengths = gpu_.upload(lengths);
    return x;
  }

  buffer<C> cached(u64 n) {
    if constexpr (has_codes) {
      const buffer<T> from = normal(n);
      auto to = gpu_.template allocate<C>(n);
      make_codes<T, C>.launch(stream_, grid(blocks()), from, to, u64{n});
      stream_.synchronize();
      return to;
    } else {
      return normal(n);
    }
  }

  double distance(const decode_problem& p, const operands& x) {
    constexpr u32 samples = 512;
    auto want = gpu_.template allocate<f64>(samples), got = gpu_.template allocate<f64>(samples);
    const sampled_decode of{.batches = p.batches,
                            .queries = p.queries(),
                            .heads = p.heads,
                            .key_heads = p.key_heads,
                            .size = p.size,
                            .v_size = p.v_size(),
                            .page = p.page(),
                            .pages = p.pages(),
                            .causal = p.queries() > 1,
                            .scale = 1 / std::sqrt(double(p.size)),
                            .of_codes = has_codes ? double(scale_of_codes<C>) : 1.0};
    sample_decode<T, C>.launch(stream_, grid(samples), x.q[0], x.k[0], p.is_latent() ? x.k[0] : x.v[0],
                               x.o[0], x.table, x.lengths, want, got, of);
    stream_.synchronize();
    return base::relative_error(want, got);
  }

  bool by_key_;
};

}  // namespace kaio::bench
