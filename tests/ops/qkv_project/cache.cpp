// qkv_project into caches of each kind: the bits of a matmul and an append_kv with rotation.
#include "tests/ops/qkv_project/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

enum class kind { contiguous, table, slots, packed };

template <class T, class C>
void check_cache(kind form, bool computed, const std::string& variant, u64 seed, i64 tokens = 4) {
  if (!has_products<T>()) return;
  CAPTURE(static_cast<int>(form), computed, variant, seed);
  qkv_case c{.batches = 3, .tokens = tokens, .k = 40, .q_heads = 4, .k_heads = 2, .v_heads = 2, .size = 64};
  c.seed = seed;
  c.biases = true;
  c.pairs = seed % 2 == 0 ? 32 : 24;
  c.interleaved = seed % 3 == 0;
  c.positions = form == kind::slots;
  c.bits = variant.find("_w4_") != std::string::npos ? 4 : variant.find("_w8_") != std::string::npos ? 8 : 16;
  c.three = seed % 2 == 0 && c.bits == 16 && variant.find("_sm90_") == std::string::npos;
  qkv_run<T> run(c);
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  const i64 all = c.batches * c.tokens, page_rows = form == kind::contiguous ? 16 : 3,
            pages = form == kind::contiguous ? 3 : 30;
  const std::vector<i32> lengths{5, 0, 11}, table{4, 0, 9, 17, 2, 6, 19, 1, 7, 3, 8, 10, 11, 12, 13},
      cu{0, 3, 3, static_cast<i32>(all - 1)};
  std::vector<i32> slots(static_cast<std::size_t>(all));
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = i == 2 ? -1 : static_cast<i32>((i * 7 + 3) % 90);
  const auto on_lengths = upload(lengths), on_table = upload(table), on_cu = upload(cu),
             on_slots = upload(slots);
  const std::vector<f32> scales(static_cast<std::size_t>(pages * page_rows * c.k_heads), 0.5f);

  struct memory {
    buffer<T> q;
    buffer<C> k, v;
    buffer<f32> k_scale, v_scale;
  };
  const cache_tensor<T> q(c.batches, c.tokens, c.q_heads, c.size);
  const cache_tensor<C> kept(pages, page_rows, c.k_heads, c.size);
  const auto fresh = [&] {
    return memory{upload(q.host), upload(kept.host), upload(kept.host), upload(scales), upload(scales)};
  };
  const auto cache_of = [&](memory& m) {
    kv_cache<C> cache{.k = kept.view(m.k), .v = kept.view(m.v)};
    if (form == kind::slots) return cache;
    cache.lengths = tensor_view<const i32, 1>(on_lengths, 3);
    if (form != kind::contiguous) cache.table = tensor_view<const i32, 2>(on_table, 3, 5);
    return cache;
  };
  const auto add_scales = [&](auto& o, memory& m) {
    if (computed) {
      o.k_scale_out = tensor_view<f32, 3>(m.k_scale, pages, page_rows, c.k_heads);
      o.v_scale_out = tensor_view<f32, 3>(m.v_scale, pages, page_rows, c.k_heads);
    } else if constexpr (!std::is_same_v<T, C>) {
      o.k_scale = tensor_view<const f32, 1>(m.k_scale, extents(c.k_heads));
      o.v_scale = tensor_view<const f32, 1>(m.v_scale, extents(c.k_heads));
    }
    if (form == kind::slots) o.slots = tensor_view<const i32, 2>(on_slots, c.batches, c.tokens);
    if (form == kind::packed) o.cu_seqlens = tensor_view<const i32, 1>(on_cu, 4);
  };

  memory got = fresh();
  qkv_project_options options = run.options();
  options.variant = variant;
  add_scales(options, got);
  if (form == kind::packed) {
    const tensor_view<const T, 2> x(run.on_x, all, c.k);
    const tensor_view<T, 3> flat(got.q, all, c.q_heads, c.size);
    const qkv_outputs to{flat, cache_of(got)};
    auto workspace = gpu.allocate<u8>(qkv_project_workspace_bytes(s, x, run.weights(), to, options) + 16);
    options.workspace = workspace;
    qkv_project(s, x, run.weights(), to, options);
    s.synchronize();
  } else {
    run.project({q.view(got.q), cache_of(got)}, options);
  }

  // The product with its bias, then K, V and Q as columns of it.
  memory want = fresh();
  auto product = gpu.allocate<T>(static_cast<std::size_t>(all * run.columns));
  matmul(s, tensor_view<const T, 2>(run.on_x, all, c.k), run.weight(0, run.columns).transposed(),
         tensor_view<T, 2>(product, all, run.columns),
         {.bias = per_column(tensor_view<const T, 1>(run.on_bias, run.columns))});
  const auto columns = [&](i64 first, i64 heads) {
    return tensor_view<T, 4>(
        product.slice(static_cast<std::size_t>(first), product.size() - static_cast<std::size_t>(first)),
        extents(c.batches, c.tokens, heads, c.size), strides(c.tokens * run.columns, run.columns, c.size, 1));
  };
  const auto q_of = columns(0, c.q_heads), k_of = columns(c.q_heads * c.size, 2),
             v_of = columns((c.q_heads + 2) * c.size, 2);
  const auto flat = [&](const tensor_view<T, 4>& v) {
    return tensor_view<T, 3>(
        product.slice((v.address() - columns(0, 1).address()) / sizeof(T), v.bytes() / sizeof(T)),
        extents(all, v.extent(2), c.size), strides(run.columns, c.size, 1));
  };
  append_kv_options o;
  o.rotary = {
      .cos = run.tables.view(run.on_cos), .sin = run.tables.view(run.on_sin), .interleaved = c.interleaved};
  o.rotary.positions = options.rotary.positions;
  add_scales(o, want);
  if (form == kind::packed) {
    o.rotary.q = {flat(q_of), tensor_view<T, 3>(want.q, all, c.q_heads, c.size)};
    append_kv_varlen(s, flat(k_of), flat(v_of), cache_of(want), o);
  } else {
    o.rotary.q = {q_of, q.view(want.q)};
    append_kv(s, k_of, v_of, cache_of(want), o);
  }
  REQUIRE(same_bits(got.q.download(), want.q.download()));
  REQUIRE(same_bits(got.k.download(), want.k.download()));
  REQUIRE(same_bits(got.v.download(), want.v.download()));
  REQUIRE(same_bits(got.k_scale.download(), want.k_scale.download()));
  REQUIRE(same_bits(got.v_scale.download(), want.v_scale.download()));
  REQUIRE(!same_bits(got.k.download(), kept.host));
}

}  // namespace

TEST_CASE("qkv_project: into caches, the bits of separate operations", "[ops][qkv]") {
  const u32 sm = under_test().properties().target.sm;
  u64 seed = 0;
  for (const kind form : {kind::contiguous, kind::table, kind::slots, kind::packed}) {
    ++seed;
    const bool odd = seed % 2 == 1;
    check_cache<f16, f16>(form, false, "separate", seed);
    check_cache<bf16, e4m3>(form, odd, "separate", seed + 1);
    check_cache<f16, i8>(form, true, "separate", seed + 2);
    if (sm >= 80) check_cache<f16, e4m3>(form, !odd, "qkv_project_mma_f16_32x128", seed + 3);
    if (sm >= 80) check_cache<bf16, i8>(form, odd, "qkv_project_mma_bf16_32x128", seed + 4);
    if (sm >= 80) check_cache<bf16, bf16>(form, false, "qkv_project_mma_bf16_128x128", seed + 5);
    if (under_test().properties().target == ptx::target{90, true}) {
      // Rows of a warp that two parts of a tile share; keys that the cache has no place for.
      check_cache<f16, e4m3>(form, odd, "qkv_project_sm90_f16_128x128", seed + 12, 25);
      check_cache<bf16, i8>(form, !odd, "qkv_project_sm90_bf16_128x128", seed + 13, 25);
      check_cache<bf16, bf16>(form, false, "qkv_project_sm90_bf16_128x256_c2x1", seed + 14, 25);
      check_cache<f16, e5m2>(form, odd, "qkv_project_sm90_f16_128x256_c2x1", seed + 15, 25);
    }
    if (sm < 90) continue;
    check_cache<bf16, bf16>(form, false, "qkv_project_w4_bf16_16", seed + 6);
    check_cache<f16, e4m3>(form, odd, "qkv_project_w4_f16_16", seed + 7);
    check_cache<bf16, i8>(form, !odd, "qkv_project_w8_bf16_16", seed + 8);
    check_cache<f16, f16>(form, false, "qkv_project_w8_f16_16", seed + 9);
    check_cache<bf16, e4m3>(form, odd, "qkv_project_w16_bf16_16", seed + 10);
    check_cache<f16, f16>(form, false, "qkv_project_w16_f16_16", seed + 11);
  }
}
