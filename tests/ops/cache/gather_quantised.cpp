// gather_kv out of caches of 8 bits: every code times its scale, rounded once.
#include "tests/ops/cache/support.hpp"

#include <kaio/ops/copy_pages.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

// dimensions: of the scales; 0: none, 1: one for all, 2: of heads, 3: of each row of a head.
template <class C, class T>
void check_gather(i64 size, i64 v_size, const tensor_layout& kept, const tensor_layout& to, int dimensions) {
  CAPTURE(size, v_size, kept.pad, kept.shift, to.pad, dimensions);
  const i64 pages = 5, rows = 4, heads = 3, tokens = 9;
  cache_tensor<C> pages_k(pages, rows, heads, size, kept), pages_v(pages, rows, heads, v_size, kept);
  u32 code = 0;
  for (cache_tensor<C>* x : {&pages_k, &pages_v})
    x->for_each([&](C& e) {
      const auto byte = static_cast<unsigned char>(code++);
      std::memcpy(static_cast<void*>(&e), &byte, 1);
    });
  cache_tensor<T> k(2, tokens, heads, size, to), v(2, tokens, heads, v_size, to);
  std::vector<f32> scales(static_cast<std::size_t>(pages * rows * heads));
  for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = 0.37f * static_cast<f32>(i + 1);
  const std::vector<i32> table{3, 0, -1, 4, 2, 1}, lengths{6, 9};

  auto on_pages_k = upload(pages_k.host), on_pages_v = upload(pages_v.host);
  auto on_k = upload(k.host), on_v = upload(v.host);
  auto on_table = upload(table), on_lengths = upload(lengths);
  auto on_scales = upload(scales);
  kv_cache<const C> cache{.k = pages_k.template view<const C>(on_pages_k),
                          .v = pages_v.template view<const C>(on_pages_v)};
  cache.table = tensor_view<const i32, 2>(on_table, 2, 3);
  cache.lengths = numbers_view(on_lengths, 2);
  ops::gather_kv_options options;
  if (dimensions == 1) options.k_scale = tensor_view<const f32, 1>(on_scales, extents(1));
  if (dimensions == 2) options.k_scale = tensor_view<const f32, 1>(on_scales, extents(heads));
  if (dimensions == 3) options.k_scale = tensor_view<const f32, 3>(on_scales, extents(pages, rows, heads));
  options.v_scale = options.k_scale;
  gather_kv(under_test().stream(), cache, k.view(on_k), v.view(on_v), options);

  for (i64 b = 0; b < 2; ++b)
    for (i64 t = 0; t < lengths[static_cast<std::size_t>(b)]; ++t) {
      const i64 page = table[static_cast<std::size_t>(b * 3 + t / rows)], row = t % rows;
      if (page < 0) continue;
      for (i64 h = 0; h < heads; ++h) {
        const float scale = dimensions == 0   ? 1.0f
                            : dimensions == 1 ? scales[0]
                            : dimensions == 2
                                ? scales[static_cast<std::size_t>(h)]
                                : scales[static_cast<std::size_t>((page * rows + row) * heads + h)];
        const auto read = [&](const C& x) { return from_float<T>(static_cast<float>(to_double(x)) * scale); };
        for (i64 e = 0; e < size; ++e) k.at(b, t, h, e) = read(pages_k.at(page, row, h, e));
        for (i64 e = 0; e < v_size; ++e) v.at(b, t, h, e) = read(pages_v.at(page, row, h, e));
      }
    }
  require_same(on_k.download(), k.host);
  require_same(on_v.download(), v.host);
}

}  // namespace

TEST_CASE("gather_kv: out of 8 bits, with scales of each form", "[ops][cache]") {
  for (const int dimensions : {0, 1, 2, 3}) {
    check_gather<e4m3, f16>(64, 40, {}, {}, dimensions);
    check_gather<e5m2, bf16>(64, 64, {.heads_first = true, .pad = 8}, {.heads_first = true, .pad = 8},
                             dimensions);
    check_gather<i8, f32>(33, 7, {.pad = 3}, {}, dimensions);
    check_gather<e4m3, bf16>(72, 512, {.shift = 1}, {.pad = 1}, dimensions);
    check_gather<i8, f16>(16, 44, {}, {.shift = 4}, dimensions);
  }
}
