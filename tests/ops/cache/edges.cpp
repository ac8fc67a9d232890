// Caches without pages or rows, and those whose elements are more than 2^31 elements and 2^32 bytes apart.
#include "tests/ops/cache/support.hpp"

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/copy_pages.hpp>
#include <kaio/ops/rotary.hpp>

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("append_kv: a cache without room takes nothing, and q is rotated all the same", "[ops][cache]") {
  auto x = input_tensor<f16>(2, 3, 2, 32, {}, 1), q = input_tensor<f16>(2, 3, 4, 32, {}, 2);
  const host_tables<f32> tables(10, 16, 0, 3);
  auto on_x = upload(x.host), on_q = upload(q.host);
  auto on_cos = upload(tables.cos), on_sin = upload(tables.sin);
  auto lengths = upload(std::vector<i32>{4, 0}), page_numbers = upload(std::vector<i32>{0, 1, -1, 5});
  const std::vector<f16> pattern(1024, f16(5.0f));
  for (const auto& [pages, rows] : {std::pair{i64{0}, i64{4}}, {i64{4}, i64{0}}, {i64{0}, i64{0}}}) {
    auto k_memory = upload(pattern), v_memory = upload(pattern);
    kv_cache<f16> cache{.k = {k_memory, extents(pages, rows, 2, 32)},
                        .v = {v_memory, extents(pages, rows, 2, 32)}};
    cache.table = tensor_view<const i32, 2>(page_numbers, 2, 2);
    cache.lengths = numbers_view(lengths, 2);
    cache_tensor<f16> y(2, 3, 4, 32);
    auto on_y = upload(y.host);
    append_kv(under_test().stream(), x.view<const f16>(on_x), x.view<const f16>(on_x), cache,
              {.rotary = {.cos = tables.view(on_cos),
                          .sin = tables.view(on_sin),
                          .q = {q.view<const f16>(on_q), y.view(on_y)}}});
    for (i64 b = 0; b < 2; ++b)
      for (i64 t = 0; t < 3; ++t)
        for (i64 h = 0; h < 4; ++h) {
          for (i64 e = 0; e < 32; ++e) y.at(b, t, h, e) = q.at(b, t, h, e);
          rotate_on_host(&y.at(b, t, h, 0), tables, (b == 0 ? 4 : 0) + t, false, false);
        }
    require_same(on_y.download(), y.host);
    REQUIRE(same_bits(k_memory.download(), pattern));
    REQUIRE(same_bits(v_memory.download(), pattern));
    gather_kv(under_test().stream(), cache, tensor_view<f16, 4>(on_y, 2, 2, 2, 32),
              tensor_view<f16, 4>(on_x, 2, 2, 2, 32));
    require_same(on_y.download(), y.host);
  }
}

// Memory of no elements has no address, and is given all the same.
TEST_CASE("rotary_varlen and append_kv_varlen of no tokens, with positions and slots of none",
          "[ops][cache]") {
  const host_tables<f32> tables(10, 16, 0, 3);
  auto on_cos = upload(tables.cos), on_sin = upload(tables.sin);
  const std::vector<f16> pattern(1024, f16(5.0f));
  auto k_memory = upload(pattern), v_memory = upload(pattern);
  auto none = under_test().allocate<f16>(0);
  auto no_numbers = under_test().allocate<i32>(0);
  const tensor_view<const f16, 3> x(none, 0, 2, 32);
  const tensor_view<const i32, 1> numbers(no_numbers, 0);
  const stream& s = under_test().stream();
  rotary_varlen(s, x, tensor_view<f16, 3>(none, 0, 2, 32), tables.view(on_cos), tables.view(on_sin),
                {.positions = numbers});
  append_kv_varlen(
      s, x, x, kv_cache<f16>{.k = {k_memory, 4, 4, 2, 32}, .v = {v_memory, 4, 4, 2, 32}},
      {.slots = numbers,
       .rotary = {.cos = tables.view(on_cos), .sin = tables.view(on_sin), .positions = numbers}});
  REQUIRE(same_bits(k_memory.download(), pattern));
  REQUIRE(same_bits(v_memory.download(), pattern));
}

TEST_CASE("caches of pages, rows and heads that are far apart", "[ops][cache]") {
  const i64 far = (i64{1} << 31) + 64, size = 32;
  auto x = input_tensor<f16>(1, 3, 2, size, {}, 7);
  auto on_x = upload(x.host);
  auto lengths = upload(std::vector<i32>{1}), after = upload(std::vector<i32>{4}),
       list = upload(std::vector<i32>{1, 0});
  for (const int dimension : {0, 1, 2}) {
    CAPTURE(dimension);
    std::array<i64, 3> stride{4 * size, 2 * size, size};
    stride[static_cast<std::size_t>(dimension)] = far;
    const auto last = static_cast<std::size_t>(stride[0] + stride[1] + stride[2] + size);
    auto k_memory = under_test().allocate<f16>(last), v_memory = under_test().allocate<f16>(last);
    const auto view = [&](buffer<f16>& memory) {
      return tensor_view<f16, 4>(memory, extents(2, 2, 2, size), strides(stride[0], stride[1], stride[2], 1));
    };
    kv_cache<f16> cache{.k = view(k_memory), .v = view(v_memory)};
    cache.table = tensor_view<const i32, 2>(list, 1, 2);
    cache.lengths = numbers_view(lengths, 1);
    const stream& s = under_test().stream();
    append_kv(s, x.view<const f16>(on_x), x.view<const f16>(on_x), cache);
    cache.lengths = numbers_view(after, 1);
    cache_tensor<f16> k(1, 4, 2, size), v = k;
    auto on_k = upload(k.host), on_v = upload(v.host);
    gather_kv(s, cache, k.view(on_k), v.view(on_v));
    for (i64 t = 0; t < 4; ++t)
      for (i64 h = 0; h < 2; ++h)
        for (i64 e = 0; e < size; ++e) k.at(0, t, h, e) = t == 0 ? f16() : x.at(0, t - 1, h, e);
    require_same(on_k.download(), k.host);
    require_same(on_v.download(), k.host);
    // Page 1, keys 0 and 1, becomes page 0, which is keys 2 and 3.
    copy_pages(s, cache.k, tensor_view<const i32, 2>(list, 1, 2));
    gather_kv(s, cache, k.view(on_k), v.view(on_v));
    for (i64 t = 2; t < 4; ++t)
      for (i64 h = 0; h < 2; ++h)
        for (i64 e = 0; e < size; ++e) k.at(0, t, h, e) = k.at(0, t - 2, h, e);
    require_same(on_k.download(), k.host);
  }
}
