#pragma once
// A call of append_kv of any kind of cache, next to what it does on the host, bit by bit.
#include "tests/ops/cache/append_sequences.hpp"
#include "tests/ops/cache/kept.hpp"

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/rotary.hpp>

namespace kaio::tests {

template <class T, class C>
class append_run : append_sequences {
 public:
  explicit append_run(const append_case& in) : append_sequences(in) {}

  void check() {
    CAPTURE(static_cast<int>(c.form), c.batches, c.tokens, c.heads, c.size, c.v_size, c.page_rows, c.packed,
            static_cast<int>(c.scales), c.pairs, c.interleaved, c.positions, c.query_heads, c.seed);
    run_and_compare();
    if (c.pairs != 0 && !c.q_at_first) compare_with_separate_calls();
  }

 private:
  static constexpr float largest = std::is_same_v<C, e4m3>   ? 448.0f
                                   : std::is_same_v<C, e5m2> ? 57344.0f
                                                             : 127.0f;

  template <std::size_t Rank, class N>
  static tensor_view<const N, Rank> token_view(buffer<N>& memory, i64 b, i64 t) {
    if constexpr (Rank == 1)
      return {memory, kaio::extents(t)};
    else
      return {memory, kaio::extents(b, t)};
  }

  // The device's memory of a call.
  struct memory {
    buffer<T> k, v, q, q_out;
    buffer<C> to_k, to_v;
    buffer<f32> k_scale, v_scale, cos, sin;
    buffer<i32> lengths, cu, table, indptr, indices, last_page, batch_index, padding, slots, positions;
    buffer<i64> wide_slots, wide_positions;
  };

  kv_cache<C> cache_of(memory& m) {
    kv_cache<C> cache{.k = to_k.view(m.to_k), .v = to_v.view(m.to_v)};
    if (c.form == cache_form::slots) return cache;
    if (c.form == cache_form::last_page)
      cache.last_page_len = numbers_view(m.last_page, c.batches);
    else
      cache.lengths = numbers_view(m.lengths, c.batches);
    if (c.form == cache_form::table)
      cache.table = tensor_view<const i32, 2>(m.table, kaio::extents(c.batches, c.pages_of_sequence));
    if (c.form == cache_form::list || c.form == cache_form::last_page) {
      cache.indptr = numbers_view(m.indptr, c.batches + 1);
      cache.indices = numbers_view(m.indices, static_cast<i64>(indices.size()));
    }
    if (c.form == cache_form::batch_index) cache.batch_index = numbers_view(m.batch_index, c.batches);
    if (c.padding) cache.left_padding = numbers_view(m.padding, c.batches);
    return cache;
  }

  template <class N>
  ops::token_number_input tokens_input(buffer<N>& memory_of) {
    if (c.packed) return token_view<1>(memory_of, 1, shape_tokens);
    return token_view<2>(memory_of, shape_batches, shape_tokens);
  }

  append_kv_options options_of(memory& m, bool rotates) {
    append_kv_options options;
    if (c.packed && c.form != cache_form::slots) options.cu_seqlens = numbers_view(m.cu, c.batches + 1);
    if (c.form == cache_form::slots)
      options.slots = c.wide_numbers ? tokens_input(m.wide_slots) : tokens_input(m.slots);
    if (c.scales == scale_form::one || c.scales == scale_form::heads) {
      const i64 count = c.scales == scale_form::one ? 1 : c.heads;
      options.k_scale = tensor_view<const f32, 1>(m.k_scale, kaio::extents(count));
      options.v_scale = tensor_view<const f32, 1>(m.v_scale, kaio::extents(count));
    }
    if (c.scales == scale_form::pages) {
      // One for each head of a page.
      options.k_scale = tensor_view<const f32, 3>(m.k_scale, kaio::extents(pages, c.page_rows, c.heads),
                                                  kaio::strides(c.heads, 0, 1));
      options.v_scale = tensor_view<const f32, 3>(m.v_scale, kaio::extents(pages, c.page_rows, c.heads),
                                                  kaio::strides(c.heads, 0, 1));
    }
    if (c.scales == scale_form::sequences) {
      options.k_scale = tensor_view<const f32, 2>(m.k_scale, kaio::extents(c.batches, c.heads));
      options.v_scale = tensor_view<const f32, 2>(m.v_scale, kaio::extents(c.batches, c.heads));
    }
    if (c.scales == scale_form::computed) {
      options.k_scale_out = tensor_view<f32, 3>(m.k_scale, kaio::extents(pages, c.page_rows, c.heads));
      options.v_scale_out = tensor_view<f32, 3>(m.v_scale, kaio::extents(pages, c.page_rows, c.heads));
    }
    if (!rotates) return options;
    options.rotary.cos = tables.view(m.cos);
    options.rotary.sin = tables.view(m.sin);
    options.rotary.interleaved = c.interleaved;
    options.rotary.q_at_first = c.q_at_first;
    if (c.positions)
      options.rotary.positions = c.wide_numbers ? tokens_input(m.wide_positions) : tokens_input(m.positions);
    if (c.query_heads != 0) {
      buffer<T>& from = c.q_in_place ? m.q_out : m.q;
      const cache_tensor<T>& x = c.q_in_place ? q_out : q;
      if (c.packed)
        options.rotary.q = {x.template packed<const T>(from), q_out.packed(m.q_out)};
      else
        options.rotary.q = {x.template view<const T>(from), q_out.view(m.q_out)};
    }
    return options;
  }

  memory upload_all() {
    const auto narrow = [](const std::vector<i64>& wide) {
      return std::vector<i32>(wide.begin(), wide.end());
    };
    return {upload(k.host),      upload(v.host),     upload(q.host),        upload(q_out.host),
            upload(to_k.host),   upload(to_v.host),  upload(k_scale),       upload(v_scale),
            upload(tables.cos),  upload(tables.sin), upload(lengths),       upload(cu),
            upload(table),       upload(indptr),     upload(indices),       upload(last_page),
            upload(batch_index), upload(padding),    upload(narrow(slots)), upload(narrow(positions)),
            upload(slots),       upload(positions)};
  }

  void append(memory& m, bool rotates) {
    const stream& s = under_test().stream();
    if (c.packed)
      append_kv_varlen(s, k.template packed<const T>(m.k), v.template packed<const T>(m.v), cache_of(m),
                       options_of(m, rotates));
    else
      append_kv(s, k.template view<const T>(m.k), v.template view<const T>(m.v), cache_of(m),
                options_of(m, rotates));
  }

  void keep(cache_tensor<C>& to, std::vector<f32>& scales, const token& at, i64 head,
            const std::vector<T>& row) {
    float scale = 1;
    if (c.scales == scale_form::one) scale = scales[0];
    if (c.scales == scale_form::heads) scale = scales[static_cast<std::size_t>(head)];
    if (c.scales == scale_form::pages) scale = scales[static_cast<std::size_t>(at.page * c.heads + head)];
    if (c.scales == scale_form::sequences)
      scale = scales[static_cast<std::size_t>(at.sequence * c.heads + head)];
    if (c.scales == scale_form::computed) {
      float most = 0;
      for (const T& x : row) most = std::fmax(most, std::abs(static_cast<float>(to_double(x))));
      scale = most / largest;
      if (scale == 0) scale = 1;
      scales[static_cast<std::size_t>((at.page * c.page_rows + at.place) * c.heads + head)] = scale;
    }
    for (std::size_t e = 0; e < row.size(); ++e)
      to.at(at.page, at.place, head, static_cast<i64>(e)) = kept_on_host<C>(row[e], scale);
  }

  void run_and_compare() {
    memory m = upload_all();
    append(m, c.pairs != 0);
    cache_tensor<C> want_k = to_k, want_v = to_v;
    cache_tensor<T> want_q = q_out;
    std::vector<f32> want_k_scale = k_scale, want_v_scale = v_scale;
    for (std::size_t i = 0; i < all_tokens.size(); ++i) {
      const token& one = all_tokens[i];
      for (i64 h = 0; h < c.query_heads && one.exists && c.pairs != 0; ++h) {
        for (i64 e = 0; e < c.size; ++e)
          want_q.at(one.batch, one.row, h, e) = (c.q_in_place ? q_out : q).at(one.batch, one.row, h, e);
        rotate_on_host(&want_q.at(one.batch, one.row, h, 0), tables, one.position, c.interleaved, false);
      }
      if (one.page < 0) continue;
      for (i64 h = 0; h < c.heads; ++h) {
        std::vector<T> row;
        for (i64 e = 0; e < c.size; ++e) row.push_back(k.at(one.batch, one.row, h, e));
        if (c.pairs != 0) rotate_on_host(row.data(), tables, key_position[i], c.interleaved, false);
        keep(want_k, want_k_scale, one, h, row);
        row.clear();
        for (i64 e = 0; e < c.v_size; ++e) row.push_back(v.at(one.batch, one.row, h, e));
        keep(want_v, want_v_scale, one, h, row);
      }
    }
    require_same(m.to_k.download(), want_k.host);
    require_same(m.to_v.download(), want_v.host);
    require_same(m.k_scale.download(), want_k_scale);
    require_same(m.v_scale.download(), want_v_scale);
    require_same(m.q_out.download(), want_q.host);
  }

  // rotary of K and of Q, then an append without rotation: the bits are equal, NaN included.
  void compare_with_separate_calls() {
    memory fused = upload_all(), apart = upload_all();
    append(fused, true);
    std::vector<i64> of_key = key_position;
    auto on_positions = upload(of_key);
    const stream& s = under_test().stream();
    const auto turn = [&](const cache_tensor<T>& x, buffer<T>& from, const cache_tensor<T>& y,
                          buffer<T>& to) {
      if (c.packed)
        rotary_varlen(s, x.template packed<const T>(from), y.packed(to), tables.view(apart.cos),
                      tables.view(apart.sin),
                      {.positions = tokens_input(on_positions), .interleaved = c.interleaved});
      else
        rotary(s, x.template view<const T>(from), y.view(to), tables.view(apart.cos), tables.view(apart.sin),
               {.positions = tokens_input(on_positions), .interleaved = c.interleaved});
    };
    turn(k, apart.k, k, apart.k);
    append(apart, false);
    REQUIRE(same_bits(fused.to_k.download(), apart.to_k.download()));
    REQUIRE(same_bits(fused.to_v.download(), apart.to_v.download()));
    REQUIRE(same_bits(fused.k_scale.download(), apart.k_scale.download()));
    if (c.query_heads == 0 || (c.packed && c.form != cache_form::slots)) return;  // tokens of no sequence
    turn(c.q_in_place ? q_out : q, c.q_in_place ? apart.q_out : apart.q, q_out, apart.q_out);
    REQUIRE(same_bits(fused.q_out.download(), apart.q_out.download()));
  }

 public:
  // Made after the sequences, which have their extents.
  cache_tensor<T> k, v, q, q_out;
  cache_tensor<C> to_k, to_v;
  std::vector<f32> k_scale, v_scale;
  host_tables<f32> tables{static_cast<u32>(table_rows), c.pairs, c.seed % 2 == 0 ? 4u : 0u, c.seed + 9};

  append_run& fill() {
    k = input_tensor<T>(shape_batches, shape_tokens, c.heads, c.size, c.from, c.seed + 1, c.range);
    v = input_tensor<T>(shape_batches, shape_tokens, c.heads, c.v_size, c.from, c.seed + 2, c.range);
    q = input_tensor<T>(shape_batches, shape_tokens, c.query_heads, c.size, c.from, c.seed + 3, c.range);
    q_out = input_tensor<T>(shape_batches, shape_tokens, c.query_heads, c.size, {}, c.seed + 4, c.range);
    to_k = cache_tensor<C>(pages, c.page_rows, c.heads, c.size, c.kept);
    to_v = cache_tensor<C>(pages, c.page_rows, c.heads, c.v_size, c.kept);
    const bool computed = c.scales == scale_form::computed;
    const auto count = static_cast<std::size_t>(computed ? pages * c.page_rows * c.heads
                                                : c.scales == scale_form::pages     ? pages * c.heads
                                                : c.scales == scale_form::sequences ? c.batches * c.heads
                                                                                    : c.heads);
    for (std::size_t i = 0; i < count; ++i) {
      k_scale.push_back(computed ? -7.0f : 0.01f * static_cast<float>(i + 1));
      v_scale.push_back(computed ? -7.0f : 0.03f * static_cast<float>(i + 1));
    }
    return *this;
  }
};

template <class T, class C = T>
void check_append(const append_case& c) {
  append_run<T, C> run(c);
  run.fill().check();
}

}  // namespace kaio::tests
