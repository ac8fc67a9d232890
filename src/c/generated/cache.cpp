// Made by src/c/generate.py from src/c/operations/cache.json.
// clang-format off

#include <kaio/c/cache.h>
#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/copy_pages.hpp>
#include <kaio/ops/rotary.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::rotary_scaling::kind::none) == KAIO_ROTARY_SCALING_KIND_NONE);
static_assert(static_cast<int>(ops::rotary_scaling::kind::linear) == KAIO_ROTARY_SCALING_KIND_LINEAR);
static_assert(static_cast<int>(ops::rotary_scaling::kind::dynamic) == KAIO_ROTARY_SCALING_KIND_DYNAMIC);
static_assert(static_cast<int>(ops::rotary_scaling::kind::yarn) == KAIO_ROTARY_SCALING_KIND_YARN);
static_assert(static_cast<int>(ops::rotary_scaling::kind::longrope) == KAIO_ROTARY_SCALING_KIND_LONGROPE);
static_assert(static_cast<int>(ops::rotary_scaling::kind::llama3) == KAIO_ROTARY_SCALING_KIND_LLAMA3);
static_assert(static_cast<int>(ops::rotary_scaling::kind::proportional) == KAIO_ROTARY_SCALING_KIND_PROPORTIONAL);
static_assert(ops::append_rotary{}.interleaved == false);
static_assert(ops::append_rotary{}.q_at_first == false);
static_assert(ops::append_kv_options{}.constant == static_cast<ops::constant_inputs>(0));
static_assert(ops::rotary_options{}.interleaved == false);
static_assert(ops::rotary_options{}.inverse == false);
static_assert(ops::rotary_scaling{}.type == static_cast<ops::rotary_scaling::kind>(0));
static_assert(ops::rotary_scaling{}.truncate == true);
static_assert(ops::rotary_scaling{}.factor == 1.0);
static_assert(ops::rotary_scaling{}.low_frequency == 1.0);
static_assert(ops::rotary_scaling{}.high_frequency == 4.0);
static_assert(ops::rotary_scaling{}.original_length == 0.0);
static_assert(ops::rotary_scaling{}.beta_fast == 32.0);
static_assert(ops::rotary_scaling{}.beta_slow == 1.0);
static_assert(!ops::rotary_scaling{}.attention_factor);
static_assert(ops::rotary_scaling{}.mscale == 0.0);
static_assert(ops::rotary_scaling{}.mscale_all_dim == 0.0);
static_assert(ops::rotary_scaling{}.length == 0.0);
static_assert(ops::rotary_scaling{}.rotated == 1.0);
static_assert(ops::rotary_sections{}.interleaved == false);
static_assert(ops::rotary_table_options{}.base == 10000.0);
static_assert(ops::rotary_table_options{}.first_position == 0);

void read(call& in, const char* name, const kaio_kv_cache* given, ops::detail::any_cache& to) {
  kaio_kv_cache from = kaio_kv_cache_default();
  in.take(name, given, &from, sizeof from);
  in.zero("cache.reserved_4", from.reserved_4);
  in.tensor("cache.k", from.k, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8, 4, 4}, to.k);
  in.tensor("cache.v", from.v, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8, 4, 4}, to.v);
  in.same_elements("cache.v", from.v, "cache.k", from.k);
  in.optional_tensor("cache.table", from.table, {element::i32, 2, 2}, to.table);
  in.optional_tensor("cache.indptr", from.indptr, {element::i32, 1, 1}, to.indptr);
  in.optional_tensor("cache.indices", from.indices, {element::i32, 1, 1}, to.indices);
  in.optional_tensor("cache.lengths", from.lengths, {element::i32, 1, 1}, to.lengths);
  in.optional_tensor("cache.last_page_len", from.last_page_len, {element::i32, 1, 1}, to.last_page_len);
  in.optional_tensor("cache.batch_index", from.batch_index, {element::i32, 1, 1}, to.batch_index);
  in.optional_tensor("cache.left_padding", from.left_padding, {element::i32, 1, 1}, to.left_padding);
}

void read(call& in, const char* name, const kaio_append_rotary* given, ops::append_rotary& to) {
  kaio_append_rotary from = kaio_append_rotary_default();
  in.take(name, given, &from, sizeof from);
  to.interleaved = in.flag("rotary.interleaved", from.interleaved);
  to.q_at_first = in.flag("rotary.q_at_first", from.q_at_first);
  in.zero("rotary.reserved_12", from.reserved_12);
  in.tensor("rotary.cos", from.cos, {element::f32 | element::f16 | element::bf16, 2, 2}, to.cos.view);
  in.tensor("rotary.sin", from.sin, {element::f32 | element::f16 | element::bf16, 2, 2}, to.sin.view);
  in.same_elements("rotary.sin", from.sin, "rotary.cos", from.cos);
  in.optional_tensor("rotary.positions", from.positions, {element::i32 | element::i64, 1, 2}, to.positions.view);
  in.optional_tensor("rotary.q", from.q, {element::f32 | element::f16 | element::bf16, 3, 4}, to.q.in);
  in.optional_tensor("rotary.q_out", from.q_out, {element::f32 | element::f16 | element::bf16, 3, 4}, to.q.out);
  in.together("rotary.q_out", from.q_out, "rotary.q", from.q);
  in.same_elements("rotary.q_out", from.q_out, "rotary.q", from.q);
}

void read(call& in, const char* name, const kaio_append_kv_options* given, ops::append_kv_options& to) {
  kaio_append_kv_options from = kaio_append_kv_options_default();
  in.take(name, given, &from, sizeof from);
  in.set_of("constant", from.constant, 7, to.constant);
  in.optional_tensor("cu_seqlens", from.cu_seqlens, {element::i32, 1, 1}, to.cu_seqlens);
  in.optional_tensor("slots", from.slots, {element::i32 | element::i64, 1, 2}, to.slots.view);
  if (from.rotary != nullptr) read(in, "rotary", from.rotary, to.rotary);
  in.optional_tensor("k_scale", from.k_scale, {element::f32, 1, 3}, to.k_scale.view);
  in.optional_tensor("v_scale", from.v_scale, {element::f32, 1, 3}, to.v_scale.view);
  in.optional_tensor("k_scale_out", from.k_scale_out, {element::f32, 3, 3}, to.k_scale_out);
  in.optional_tensor("v_scale_out", from.v_scale_out, {element::f32, 3, 3}, to.v_scale_out);
}

void read(call& in, const char* name, const kaio_gather_kv_options* given, ops::gather_kv_options& to) {
  kaio_gather_kv_options from = kaio_gather_kv_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  in.optional_tensor("cu_seqlens", from.cu_seqlens, {element::i32, 1, 1}, to.cu_seqlens);
  in.optional_tensor("k_scale", from.k_scale, {element::f32, 1, 3}, to.k_scale.view);
  in.optional_tensor("v_scale", from.v_scale, {element::f32, 1, 3}, to.v_scale.view);
}

void read(call& in, const char* name, const kaio_rotary_options* given, ops::rotary_options& to) {
  kaio_rotary_options from = kaio_rotary_options_default();
  in.take(name, given, &from, sizeof from);
  to.interleaved = in.flag("interleaved", from.interleaved);
  to.inverse = in.flag("inverse", from.inverse);
  in.zero("reserved_12", from.reserved_12);
  in.optional_tensor("positions", from.positions, {element::i32 | element::i64, 1, 2}, to.positions.view);
  in.optional_tensor("offsets", from.offsets, {element::i32, 1, 1}, to.offsets);
  in.optional_tensor("cu_seqlens", from.cu_seqlens, {element::i32, 1, 1}, to.cu_seqlens);
}

void read(call& in, const char* name, const kaio_rotary_scaling* given, ops::rotary_scaling& to) {
  kaio_rotary_scaling from = kaio_rotary_scaling_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("scaling.kind", from.kind, 7, to.type);
  to.truncate = in.flag("scaling.truncate", from.truncate);
  in.zero("scaling.reserved_12", from.reserved_12);
  to.factor = from.factor;
  to.low_frequency = from.low_frequency;
  to.high_frequency = from.high_frequency;
  to.original_length = from.original_length;
  to.beta_fast = from.beta_fast;
  to.beta_slow = from.beta_slow;
  if (from.attention_factor != 0) to.attention_factor = from.attention_factor;
  to.mscale = from.mscale;
  to.mscale_all_dim = from.mscale_all_dim;
  to.length = from.length;
  to.rotated = from.rotated;
  in.list("scaling.pair_factors", from.pair_factors, from.pair_factor_count, to.pair_factors);
}

void read(call& in, const char* name, const kaio_rotary_sections* given, ops::rotary_sections& to) {
  kaio_rotary_sections from = kaio_rotary_sections_default();
  in.take(name, given, &from, sizeof from);
  to.interleaved = in.flag("sections.interleaved", from.interleaved);
  in.list("sections.pairs", from.pairs, from.pair_count, to.pairs);
}

void read(call& in, const char* name, const kaio_rotary_table_options* given, ops::rotary_table_options& to) {
  kaio_rotary_table_options from = kaio_rotary_table_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  to.base = from.base;
  to.first_position = from.first_position;
  in.optional_tensor("positions", from.positions, {element::i32 | element::i64, 1, 2}, to.positions.view);
  if (from.scaling != nullptr) read(in, "scaling", from.scaling, to.scaling);
  if (from.sections != nullptr) read(in, "sections", from.sections, to.sections);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_append_kv(void* stream_handle, const DLTensor* k_given, const DLTensor* v_given,
                           const kaio_kv_cache* cache_given, const kaio_append_kv_options* options_given) {
  return guarded([&] {
    call in("append_kv");
    ops::any_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    ops::any_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "k", k_given);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::append_kv_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_append_kv(stream, k, v, cache, options);
    in.finish();
  });
}

kaio_status kaio_append_kv_warmup(const DLTensor* k_given, const DLTensor* v_given,
                                  const kaio_kv_cache* cache_given,
                                  const kaio_append_kv_options* options_given) {
  return guarded([&] {
    call in("append_kv_warmup");
    ops::any_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    ops::any_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "k", k_given);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::append_kv_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_append_kv(stream, k, v, cache, options);
  });
}

kaio_status kaio_append_kv_varlen(void* stream_handle, const DLTensor* k_given, const DLTensor* v_given,
                                  const kaio_kv_cache* cache_given,
                                  const kaio_append_kv_options* options_given) {
  return guarded([&] {
    call in("append_kv_varlen");
    ops::any_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 3, 3}, k);
    ops::any_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 3, 3}, v);
    in.same_elements("v", v_given, "k", k_given);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    in.need("options", options_given);
    ops::append_kv_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_append_kv(stream, k, v, cache, options);
    in.finish();
  });
}

kaio_status kaio_append_kv_varlen_warmup(const DLTensor* k_given, const DLTensor* v_given,
                                         const kaio_kv_cache* cache_given,
                                         const kaio_append_kv_options* options_given) {
  return guarded([&] {
    call in("append_kv_varlen_warmup");
    ops::any_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 3, 3}, k);
    ops::any_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 3, 3}, v);
    in.same_elements("v", v_given, "k", k_given);
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    in.need("options", options_given);
    ops::append_kv_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_append_kv(stream, k, v, cache, options);
  });
}

kaio_status kaio_gather_kv(void* stream_handle, const kaio_kv_cache* cache_given, const DLTensor* k_given,
                           const DLTensor* v_given, const kaio_gather_kv_options* options_given) {
  return guarded([&] {
    call in("gather_kv");
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::any_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8, 4, 4}, k);
    ops::any_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8, 4, 4}, v);
    in.same_elements("v", v_given, "k", k_given);
    ops::gather_kv_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_gather_kv(stream, cache, k, v, options);
    in.finish();
  });
}

kaio_status kaio_gather_kv_warmup(const kaio_kv_cache* cache_given, const DLTensor* k_given,
                                  const DLTensor* v_given, const kaio_gather_kv_options* options_given) {
  return guarded([&] {
    call in("gather_kv_warmup");
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::any_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8, 4, 4}, k);
    ops::any_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8, 4, 4}, v);
    in.same_elements("v", v_given, "k", k_given);
    ops::gather_kv_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_gather_kv(stream, cache, k, v, options);
  });
}

kaio_status kaio_gather_kv_varlen(void* stream_handle, const kaio_kv_cache* cache_given,
                                  const DLTensor* k_given, const DLTensor* v_given,
                                  const kaio_gather_kv_options* options_given) {
  return guarded([&] {
    call in("gather_kv_varlen");
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::any_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8, 3, 3}, k);
    ops::any_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8, 3, 3}, v);
    in.same_elements("v", v_given, "k", k_given);
    in.need("options", options_given);
    ops::gather_kv_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_gather_kv(stream, cache, k, v, options);
    in.finish();
  });
}

kaio_status kaio_gather_kv_varlen_warmup(const kaio_kv_cache* cache_given, const DLTensor* k_given,
                                         const DLTensor* v_given, const kaio_gather_kv_options* options_given) {
  return guarded([&] {
    call in("gather_kv_varlen_warmup");
    in.need("cache", cache_given);
    ops::detail::any_cache cache;
    read(in, "cache", cache_given, cache);
    ops::any_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8, 3, 3}, k);
    ops::any_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8, 3, 3}, v);
    in.same_elements("v", v_given, "k", k_given);
    in.need("options", options_given);
    ops::gather_kv_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_gather_kv(stream, cache, k, v, options);
  });
}

kaio_status kaio_copy_pages(void* stream_handle, const DLTensor* pages_given, const DLTensor* pairs_given) {
  return guarded([&] {
    call in("copy_pages");
    ops::any_view pages;
    in.tensor("pages", pages_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8 | element::u8 | element::e8m0 | element::i16 | element::u16 | element::i32 | element::u32, 4, 5}, pages);
    ops::tensor_view<const kaio::i32, 2> pairs;
    in.tensor("pairs", pairs_given, {element::i32, 2, 2}, pairs);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_copy_pages(stream, pages, pairs);
    in.finish();
  });
}

kaio_status kaio_copy_pages_warmup(const DLTensor* pages_given, const DLTensor* pairs_given) {
  return guarded([&] {
    call in("copy_pages_warmup");
    ops::any_view pages;
    in.tensor("pages", pages_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8 | element::u8 | element::e8m0 | element::i16 | element::u16 | element::i32 | element::u32, 4, 5}, pages);
    ops::tensor_view<const kaio::i32, 2> pairs;
    in.tensor("pairs", pairs_given, {element::i32, 2, 2}, pairs);
    const runtime::stream& stream = in.loading();
    ops::detail::run_copy_pages(stream, pages, pairs);
  });
}

kaio_status kaio_rotary(void* stream_handle, const DLTensor* x_given, const DLTensor* out_given,
                        const DLTensor* cos_given, const DLTensor* sin_given,
                        const kaio_rotary_options* options_given) {
  return guarded([&] {
    call in("rotary");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 4, 4}, x);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    in.same_elements("out", out_given, "x", x_given);
    ops::any_view cos;
    in.tensor("cos", cos_given, {element::f32 | element::f16 | element::bf16, 2, 2}, cos);
    ops::any_view sin;
    in.tensor("sin", sin_given, {element::f32 | element::f16 | element::bf16, 2, 2}, sin);
    in.same_elements("sin", sin_given, "cos", cos_given);
    ops::rotary_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_rotary(stream, x, out, cos, sin, options);
    in.finish();
  });
}

kaio_status kaio_rotary_warmup(const DLTensor* x_given, const DLTensor* out_given, const DLTensor* cos_given,
                               const DLTensor* sin_given, const kaio_rotary_options* options_given) {
  return guarded([&] {
    call in("rotary_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 4, 4}, x);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    in.same_elements("out", out_given, "x", x_given);
    ops::any_view cos;
    in.tensor("cos", cos_given, {element::f32 | element::f16 | element::bf16, 2, 2}, cos);
    ops::any_view sin;
    in.tensor("sin", sin_given, {element::f32 | element::f16 | element::bf16, 2, 2}, sin);
    in.same_elements("sin", sin_given, "cos", cos_given);
    ops::rotary_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_rotary(stream, x, out, cos, sin, options);
  });
}

kaio_status kaio_rotary_varlen(void* stream_handle, const DLTensor* x_given, const DLTensor* out_given,
                               const DLTensor* cos_given, const DLTensor* sin_given,
                               const kaio_rotary_options* options_given) {
  return guarded([&] {
    call in("rotary_varlen");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 3, 3}, x);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 3}, out);
    in.same_elements("out", out_given, "x", x_given);
    ops::any_view cos;
    in.tensor("cos", cos_given, {element::f32 | element::f16 | element::bf16, 2, 2}, cos);
    ops::any_view sin;
    in.tensor("sin", sin_given, {element::f32 | element::f16 | element::bf16, 2, 2}, sin);
    in.same_elements("sin", sin_given, "cos", cos_given);
    in.need("options", options_given);
    ops::rotary_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_rotary(stream, x, out, cos, sin, options);
    in.finish();
  });
}

kaio_status kaio_rotary_varlen_warmup(const DLTensor* x_given, const DLTensor* out_given,
                                      const DLTensor* cos_given, const DLTensor* sin_given,
                                      const kaio_rotary_options* options_given) {
  return guarded([&] {
    call in("rotary_varlen_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 3, 3}, x);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 3, 3}, out);
    in.same_elements("out", out_given, "x", x_given);
    ops::any_view cos;
    in.tensor("cos", cos_given, {element::f32 | element::f16 | element::bf16, 2, 2}, cos);
    ops::any_view sin;
    in.tensor("sin", sin_given, {element::f32 | element::f16 | element::bf16, 2, 2}, sin);
    in.same_elements("sin", sin_given, "cos", cos_given);
    in.need("options", options_given);
    ops::rotary_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_rotary(stream, x, out, cos, sin, options);
  });
}

kaio_status kaio_rotary_table(void* stream_handle, const DLTensor* cos_given, const DLTensor* sin_given,
                              const kaio_rotary_table_options* options_given) {
  return guarded([&] {
    call in("rotary_table");
    ops::any_view cos;
    in.tensor("cos", cos_given, {element::f32 | element::f16 | element::bf16, 2, 2}, cos);
    ops::any_view sin;
    in.tensor("sin", sin_given, {element::f32 | element::f16 | element::bf16, 2, 2}, sin);
    in.same_elements("sin", sin_given, "cos", cos_given);
    ops::rotary_table_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_rotary_table(stream, cos, sin, options);
    in.finish();
  });
}

kaio_status kaio_rotary_table_warmup(const DLTensor* cos_given, const DLTensor* sin_given,
                                     const kaio_rotary_table_options* options_given) {
  return guarded([&] {
    call in("rotary_table_warmup");
    ops::any_view cos;
    in.tensor("cos", cos_given, {element::f32 | element::f16 | element::bf16, 2, 2}, cos);
    ops::any_view sin;
    in.tensor("sin", sin_given, {element::f32 | element::f16 | element::bf16, 2, 2}, sin);
    in.same_elements("sin", sin_given, "cos", cos_given);
    ops::rotary_table_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_rotary_table(stream, cos, sin, options);
  });
}
}
