#pragma once
// An attention_decode over a cache of any form, run and compared with double precision by the rule of
// attention (tests/ops/attention/support.hpp), sequence by sequence. Every row of the cache that no query
// attends to holds NaN, and numbers of pages beyond a sequence's length are no pages.

#include "tests/ops/attention_decode/cache_case.hpp"

#include <kaio/ops/attention_decode.hpp>

#include <functional>

namespace kaio::tests {

// One number for each row of each head of a cache: (pages, rows, heads).
struct cache_scales {
  std::vector<f32> host;
  buffer<f32> memory;
  u32 rows = 0, heads = 0;
  scale_kind kind = scale_kind::none;

  std::size_t index(const key_place& at, u32 h) const {
    if (kind == scale_kind::keys) return (std::size_t{at.page} * rows + at.row) * heads + h;
    return kind == scale_kind::heads ? h : 0;
  }
  // The scale of a key of sequence b.
  float at(const key_place& place, u32 h, u32 b) const {
    if (kind == scale_kind::sequences) return host[std::size_t{b} * heads + h];
    return kind == scale_kind::none ? 1.0f : host[index(place, h)];
  }
  ops::attention_cache_scale view() const {
    if (kind == scale_kind::none) return {};
    if (kind == scale_kind::sequences) return tensor_view<const f32, 2>(memory, host.size() / heads, heads);
    if (kind != scale_kind::keys) return tensor_view<const f32, 1>(memory, host.size());
    return tensor_view<const f32, 3>(memory, host.size() / rows / heads, rows, heads);
  }
};

// q of T, k and v of C: the same, or of 8 bits.
template <class T, class C = T>
struct decode_memory {
  static constexpr bool has_codes = !std::is_same_v<T, C>;
  using value = std::conditional_t<has_codes, f32, T>;
  cache_numbers numbers;
  tensor4<T> q;
  tensor4<C> k, v;
  cache_scales k_scale, v_scale;
  std::vector<C> pool;  // the tensor that k and v are views of, if they are together
  buffer<T> on_q;
  buffer<C> on_k, on_v, on_pool;
  buffer<i32> table, indptr, indices, lengths, last_page_len, batch_index, left;
  kv_cache<const C> cache;

  explicit decode_memory(const decode_case& c)
      : numbers(c),
        q(c.batches(), c.queries, c.heads, c.qk_size, false, c.q_pad.value_or(c.pad)),
        k(numbers.pages, numbers.rows, c.key_heads, c.qk_size, c.heads_first, c.pad),
        v(numbers.pages, numbers.rows, c.key_heads, c.v_size, c.heads_first, c.pad) {
    q.fill(c.seed, 1);
    // Every element is NaN, except those that some query reads.
    std::mt19937_64 engine(c.seed + 1);
    std::uniform_real_distribution<float> any(-1, 1);
    const float largest = std::is_same_v<C, i8> ? 127.0f : 1.0f;
    draw_scales(c, k_scale, largest);
    draw_scales(c, v_scale, largest);
    const auto element = [&] { return from_float<C>(any(engine) * largest); };
    for (u32 b = 0; b < c.batches(); ++b)
      for (u32 j = 0; j < c.lengths[b]; ++j) {
        bool read = false;
        for (u32 i = 0; i < c.queries; ++i) read = read || c.keeps(b, i, j);
        if (!read) continue;
        const key_place at = numbers.place(c, b, j);
        for (u32 h = 0; h < c.key_heads; ++h) {
          for (u32 e = 0; e < c.qk_size; ++e) k.at(at.page, at.row, h, e) = element();
          for (u32 e = 0; e < c.v_size; ++e) v.at(at.page, at.row, h, e) = element();
          if (k_scale.kind != scale_kind::keys) continue;
          k_scale.host[k_scale.index(at, h)] = (1.5f + any(engine)) / largest;
          v_scale.host[v_scale.index(at, h)] = std::exp2(8 * any(engine)) / largest;
        }
      }
    k_scale.memory = upload(k_scale.host);
    v_scale.memory = upload(v_scale.host);
    on_q = upload(q.host);
    const std::size_t one = k.host.size() / std::max(numbers.pages, 1u);
    if (c.together) {  // page by page K, then V: of the same size
      for (u32 p = 0; p < numbers.pages; ++p)
        for (const auto* x : {&k, &v})
          pool.insert(pool.end(), x->host.begin() + static_cast<std::ptrdiff_t>(p * one),
                      x->host.begin() + static_cast<std::ptrdiff_t>((p + 1) * one));
      on_pool = upload(pool);
      const auto part = [&](const tensor4<C>& x, std::size_t first) {
        const auto memory = on_pool.slice(first, pool.size() - first);
        return tensor_view<const C, 4>(memory, extents(x.batches, x.rows, x.heads, x.size),
                                       strides(2 * x.batch, x.row, x.head, 1));
      };
      cache.k = part(k, 0);
      cache.v = part(v, one);
    } else {
      on_k = upload(k.host);
      on_v = upload(v.host);
      cache.k = k.template view<const C>(on_k);
      cache.v = v.template view<const C>(on_v);
    }
    const u32 batches = c.batches();
    const auto row = [&](buffer<i32>& memory, const std::vector<i32>& host) {
      memory = upload(host);
      return tensor_view<const i32, 1>(memory, host.size());
    };
    if (c.kind == cache_kind::table) {
      table = upload(numbers.table);
      cache.table = tensor_view<const i32, 2>(table, batches, numbers.table_width);
    }
    if (c.kind == cache_kind::list) {
      cache.indptr = row(indptr, numbers.indptr);
      cache.indices = row(indices, numbers.indices);
    }
    if (c.by_last_page)
      cache.last_page_len = row(last_page_len, numbers.last_page_len);
    else
      cache.lengths = row(lengths, numbers.lengths);
    if (c.indexed) cache.batch_index = row(batch_index, numbers.batch_index);
    if (!c.left.empty()) cache.left_padding = row(left, numbers.left);
  }

  // Uploads what the test has changed on the host, for tensors that are not together.
  void upload_again() {
    const stream& s = under_test().stream();
    const auto copy = [&](auto& to, const auto& from) {
      if (!from.empty()) to.copy_from(from.data(), from.size(), s);
    };
    copy(on_q, q.host), copy(on_k, k.host), copy(on_v, v.host);
    copy(k_scale.memory, k_scale.host), copy(v_scale.memory, v_scale.host);
    s.synchronize();
  }

  // The keys of a sequence, one after the other; those that are not read are NaN here too.
  tensor4<value> gather(const decode_case& c, u32 b, const tensor4<C>& from, const cache_scales& by) const {
    tensor4<value> to(1, c.lengths[b], from.heads, from.size, false, 0);
    for (u32 j = 0; j < c.lengths[b]; ++j) {
      const key_place at = numbers.place(c, b, j);
      for (u32 h = 0; h < from.heads; ++h)
        for (u32 e = 0; e < from.size; ++e)
          if constexpr (has_codes)
            to.at(0, j, h, e) =
                static_cast<float>(to_double(from.at(at.page, at.row, h, e))) * by.at(at, h, b);
          else
            to.at(0, j, h, e) = from.at(at.page, at.row, h, e);
    }
    return to;
  }

 private:
  void draw_scales(const decode_case& c, cache_scales& scales, float largest) const {
    scales.kind = has_codes ? c.scales : scale_kind::none;
    scales.rows = numbers.rows, scales.heads = c.key_heads;
    if (scales.kind == scale_kind::one) scales.host = {0.75f / largest};
    if (scales.kind == scale_kind::heads)
      for (u32 h = 0; h < c.key_heads; ++h) scales.host.push_back((0.5f + static_cast<float>(h)) / largest);
    for (u32 b = 0; b < c.batches() && scales.kind == scale_kind::sequences; ++b)
      for (u32 h = 0; h < c.key_heads; ++h)
        scales.host.push_back((0.5f + 0.375f * static_cast<float>(b) + static_cast<float>(h)) / largest);
    if (scales.kind == scale_kind::keys)
      scales.host.assign(std::size_t{numbers.pages} * numbers.rows * c.key_heads,
                         std::numeric_limits<f32>::quiet_NaN());
  }
};

// V becomes a view of K: the first elements of its rows.
template <class T>
void share_values(decode_memory<T>& memory) {
  for (u32 p = 0; p < memory.k.batches; ++p)
    for (u32 r = 0; r < memory.k.rows; ++r)
      for (u32 h = 0; h < memory.k.heads; ++h)
        for (u32 e = 0; e < memory.v.size; ++e) memory.v.at(p, r, h, e) = memory.k.at(p, r, h, e);
  memory.cache.v = memory.cache.k.slice(3, 0, memory.v.size);
}

// The kernel that a call of the case takes.
template <class T, class C>
ops::kernel_choice decode_choice(const decode_case& c, const decode_memory<T, C>& memory) {
  tensor4<T> o(c.batches(), c.queries, c.heads, c.v_size, false, 0);
  auto on_q = upload(memory.q.host), on_o = upload(o.host);
  attention_decode_options options{.causal = c.causal, .window = c.window, .max_length = c.max_length};
  options.batch_invariant = c.invariant;
  options.splits = c.splits;
  options.combining = c.combining;
  options.variant = c.variant;
  const stream& s = under_test().stream();
  const auto q = memory.q.template view<const T>(on_q);
  const auto info = ops::attention_decode_choice(s, q, memory.cache, o.template view<T>(on_o), options);
  const bool second = attention_decode_workspace_bytes(s, q, memory.cache, options) != 0;
  REQUIRE(second == (info.splits > 1 && !info.in_cluster));
  return info;
}
template <class T, class C = T>
ops::kernel_choice decode_choice(const decode_case& c) {
  return decode_choice(c, decode_memory<T, C>(c));
}

template <class O>
struct decode_results {
  tensor4<O> out, before;
  std::vector<f32> lse;
};

// A call of the library's own.
struct library_decode {
  template <class Q, class C>
  static std::uint64_t bytes(const stream& s, const Q& q, const kv_cache<C>& cache,
                             const attention_decode_options& options) {
    return attention_decode_workspace_bytes(s, q, cache, options);
  }
  template <class Q, class C, class O>
  static void run(const stream& s, const Q& q, const kv_cache<C>& cache, const O& o,
                  const attention_decode_options& options) {
    attention_decode(s, q, cache, o, options);
  }
};

// Runs a case; call: as library_decode.
template <class T, class O = T, class C = T, class Call = library_decode>
decode_results<O> run_decode(const decode_case& c, decode_memory<T, C>& memory, const Call& call = {}) {
  const u32 batches = c.batches();
  tensor4<O> o(batches, c.queries, c.heads, c.v_size, c.heads_first, c.pad);
  auto on_o = upload(o.host);
  std::vector<f32> slopes;
  for (u32 b = 0; b < (c.alibi == 2 ? batches : 1); ++b)
    for (u32 h = 0; h < c.heads; ++h) slopes.push_back(static_cast<f32>(c.slope(b, h)));
  auto on_slopes = upload(slopes);
  std::vector<T> sinks;
  for (u32 h = 0; h < c.heads; ++h) sinks.push_back(from_float<T>(static_cast<float>(c.sequence(0).sink(h))));
  auto on_sinks = upload(sinks);
  std::vector<f32> lse(std::size_t{batches} * c.heads * c.queries, -12345.0f);
  auto on_lse = upload(lse);
  attention_decode_options options{
      .scale = c.scale, .causal = c.causal, .window = c.window, .softcap = c.softcap};
  if (c.alibi == 1) options.alibi = tensor_view<const f32, 1>(on_slopes, c.heads);
  if (c.alibi == 2) options.alibi = tensor_view<const f32, 2>(on_slopes, batches, c.heads);
  if (c.sinks) options.sinks = tensor_view<const T, 1>(on_sinks, c.heads);
  options.lse = tensor_view<f32, 3>(on_lse, batches, c.heads, c.queries);
  options.k_scale = memory.k_scale.view();
  options.v_scale = memory.v_scale.view();
  options.max_length = c.max_length;
  options.batch_invariant = c.invariant;
  options.constant = c.seed % 2 != 0 ? constant_inputs::indices : constant_inputs::none;
  options.variant = c.variant;
  options.splits = c.splits;
  options.combining = c.combining;
  const stream& s = under_test().stream();
  const auto q = memory.q.template view<const T>(memory.on_q);
  const std::uint64_t bytes = call.bytes(s, q, memory.cache, options);
  auto workspace = upload(std::vector<u8>(std::max<std::uint64_t>(bytes, 1), 0xff));  // NaN, as numbers
  if (bytes != 0) options.workspace = workspace;
  call.run(s, q, memory.cache, o.template view<O>(on_o), options);
  decode_results<O> result{o, o, on_lse.download()};
  const auto downloaded = on_o.download();
  std::copy_n(downloaded.begin(), result.out.host.size(), result.out.host.begin());
  return result;
}

template <class T, class O, class C>
void compare_decode(const decode_case& c, const decode_memory<T, C>& memory, const decode_results<O>& got,
                    const std::function<host_functions(u32)>& functions = {}) {
  std::vector<bool> is_element(got.out.host.size(), false);
  for (u32 b = 0; b < c.batches(); ++b) {
    CAPTURE(b);
    attention_case one = c.sequence(b);
    one.f32_output = !std::is_same_v<O, T>;
    host_functions f;
    f.mask = [&](u32, u32, u32 i, u32 j) { return c.keeps(b, i, j); };
    if (c.alibi != 0)
      f.score = [&](double x, u32, u32 h, u32 i, u32 j) {
        if (c.softcap > 0) x = double(c.softcap) * std::tanh(x / c.softcap);
        return x - c.slope(b, h) * std::abs(double(i) + c.lengths[b] - c.queries - j);
      };
    if (functions) f = functions(b);  // of a sequence
    tensor4<T> q(1, c.queries, c.heads, c.qk_size, false, 0);
    tensor4<O> out(1, c.queries, c.heads, c.v_size, false, 0);
    std::vector<f32> lse;
    for (u32 i = 0; i < c.queries; ++i)
      for (u32 h = 0; h < c.heads; ++h) {
        for (u32 e = 0; e < c.qk_size; ++e) q.at(0, i, h, e) = memory.q.at(b, i, h, e);
        for (u32 e = 0; e < c.v_size; ++e) {
          out.at(0, i, h, e) = got.out.at(b, i, h, e);
          is_element[got.out.index(b, i, h, e)] = true;
        }
      }
    const attention_reference<T> want(one, q, memory.gather(c, b, memory.k, memory.k_scale),
                                      memory.gather(c, b, memory.v, memory.v_scale), f);
    compare_attention(one, out, out, want);
    const auto first = got.lse.begin() + static_cast<std::ptrdiff_t>(std::size_t{b} * c.heads * c.queries);
    compare_lse(
        std::vector<f32>(first, first + static_cast<std::ptrdiff_t>(std::size_t{c.heads} * c.queries)),
        want.lse);
  }
  for (std::size_t i = 0; i < got.out.host.size(); ++i)
    if (!is_element[i] && std::memcmp(&got.out.host[i], &got.before.host[i], sizeof(O)) != 0) {
      CAPTURE(i);
      FAIL("a kernel wrote into the padding of its output");
    }
}

// f16 and bf16 by the kernels of mma.sync where the device has them.
template <class T, class O = T, class C = T>
void check_decode(const decode_case& c) {
  CAPTURE(c.text());
  decode_memory<T, C> memory(c);
  compare_decode(c, memory, run_decode<T, O>(c, memory));
}

}  // namespace kaio::tests
