// copy_pages and gather_kv next to the same on the host, bit by bit.
#include "tests/ops/cache/support.hpp"

#include <kaio/ops/copy_pages.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
std::vector<T> some_bits(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<T> result(count);
  for (T& x : result) {
    // No NaN: vectors with NaN do not compare equal.
    const auto byte = static_cast<unsigned char>(engine() % 0x70);
    std::memset(static_cast<void*>(&x), byte, sizeof(T));
  }
  return result;
}

struct pages_case {
  i64 layers = 1, pages = 6, rows = 16, heads = 2, size = 64;
  bool heads_first = false;
  i64 pad = 0, gap = 0;  // elements after a row, after a layer
};

template <class T>
void check_copies(const pages_case& c, const std::vector<i32>& pairs) {
  CAPTURE(c.layers, c.pages, c.rows, c.heads, c.size, c.pad, sizeof(T));
  const i64 line = c.size + c.pad, page = line * c.rows * c.heads, layer = page * c.pages + c.gap;
  const i64 row = c.heads_first ? line : line * c.heads, head = c.heads_first ? line * c.rows : line;
  auto host = some_bits<T>(static_cast<std::size_t>(layer * c.layers), 3);
  auto memory = upload(host);
  auto on_pairs = upload(pairs);
  const auto count = static_cast<i64>(pairs.size() / 2);
  const tensor_view<const i32, 2> list(on_pairs, extents(count, 2));
  if (c.layers == 1)
    copy_pages(
        under_test().stream(),
        tensor_view<T, 4>(memory, extents(c.pages, c.rows, c.heads, c.size), strides(page, row, head, 1)),
        list);
  else
    copy_pages(under_test().stream(),
               tensor_view<T, 5>(memory, extents(c.layers, c.pages, c.rows, c.heads, c.size),
                                 strides(layer, page, row, head, 1)),
               list);
  std::vector<T> want = host;
  for (i64 i = 0; i < count; ++i) {
    const i64 from = pairs[static_cast<std::size_t>(2 * i)], to = pairs[static_cast<std::size_t>(2 * i + 1)];
    if (from < 0 || from >= c.pages || to < 0 || to >= c.pages) continue;
    for (i64 l = 0; l < c.layers; ++l)
      for (i64 r = 0; r < c.rows; ++r)
        for (i64 h = 0; h < c.heads; ++h)
          for (i64 e = 0; e < c.size; ++e) {
            const i64 in_page = l * layer + r * row + h * head + e;
            want[static_cast<std::size_t>(to * page + in_page)] =
                host[static_cast<std::size_t>(from * page + in_page)];
          }
  }
  require_same(memory.download(), want);
}

template <class T>
struct gathered {
  cache_tensor<T> pages_k, pages_v, k, v;
  buffer<T> on_pages_k, on_pages_v, on_k, on_v;
  gathered(i64 pages, i64 rows, i64 heads, i64 size, i64 v_size, i64 batches, i64 tokens,
           const tensor_layout& layout)
      : pages_k(pages, rows, heads, size, layout),
        pages_v(pages, rows, heads, v_size, layout),
        k(batches, tokens, heads, size, {.pad = 3}),
        v(batches, tokens, heads, v_size) {
    pages_k.host = some_bits<T>(pages_k.host.size(), 5);
    pages_v.host = some_bits<T>(pages_v.host.size(), 6);
    on_pages_k = upload(pages_k.host);
    on_pages_v = upload(pages_v.host);
    on_k = upload(k.host);
    on_v = upload(v.host);
  }
  void expect(i64 b, i64 t, i64 page, i64 row) {
    for (i64 h = 0; h < k.extents[2]; ++h) {
      for (i64 e = 0; e < k.extents[3]; ++e) k.at(b, t, h, e) = pages_k.at(page, row, h, e);
      for (i64 e = 0; e < v.extents[3]; ++e) v.at(b, t, h, e) = pages_v.at(page, row, h, e);
    }
  }
  void check() {
    require_same(on_k.download(), k.host);
    require_same(on_v.download(), v.host);
  }
  kv_cache<const T> cache() {
    return {.k = pages_k.template view<const T>(on_pages_k), .v = pages_v.template view<const T>(on_pages_v)};
  }
};

}  // namespace

TEST_CASE("copy_pages: elements of each size, layers, layouts", "[ops][cache]") {
  const std::vector<i32> pairs{0, 3, 5, 1, -1, 2, 2, 6, 4, 4};
  for (const bool heads_first : {false, true}) {
    check_copies<f16>({.heads_first = heads_first}, pairs);
    check_copies<f32>({.layers = 3, .rows = 3, .size = 20, .heads_first = heads_first, .gap = 8}, pairs);
    check_copies<e4m3>({.layers = 2, .rows = 1, .size = 40, .heads_first = heads_first, .pad = 1}, pairs);
    check_copies<bf16>({.rows = 100, .heads = 1, .size = 7, .heads_first = heads_first, .pad = 2, .gap = 1},
                       pairs);
  }
  check_copies<i8>({.rows = 5, .heads = 1, .size = 512}, pairs);
  check_copies<f16>({}, {});
  check_copies<f16>({.layers = 0}, pairs);
}

TEST_CASE("gather_kv: pages of a table, up to each length", "[ops][cache]") {
  for (const i64 rows : {i64{1}, i64{3}, i64{16}}) {
    const i64 columns = 4;
    const std::vector<i32> table{8, 1, 5, 3, 0, -1, 7, 9, 2, 2, 4, 6};  // 9: there is none
    const auto most = static_cast<i32>(rows * columns);
    const std::vector<i32> lengths{most + 1, most, -3}, padding{1, 0, 0};
    auto on_table = upload(table), on_lengths = upload(lengths), on_padding = upload(padding);
    for (const bool padded : {false, true}) {
      gathered<bf16> g(9, rows, 2, 64, 40, 3, rows * columns + 2, {.heads_first = rows == 3});
      auto cache = g.cache();
      cache.table = tensor_view<const i32, 2>(on_table, extents(3, columns));
      cache.lengths = numbers_view(on_lengths, 3);
      if (padded) cache.left_padding = numbers_view(on_padding, 3);
      gather_kv(under_test().stream(), cache, g.k.view(g.on_k), g.v.view(g.on_v));
      for (i64 b = 0; b < 3; ++b)
        for (i64 t = padded ? padding[static_cast<std::size_t>(b)] : 0;
             t < std::min<i64>(most, lengths[static_cast<std::size_t>(b)]); ++t) {
          const i64 page = table[static_cast<std::size_t>(b * columns + t / rows)];
          if (page >= 0 && page < 9) g.expect(b, t, page, t % rows);
        }
      g.check();
    }
  }
}

TEST_CASE("gather_kv: lists of pages into packed rows, contiguous caches", "[ops][cache]") {
  {
    gathered<i8> g(7, 4, 1, 33, 16, 1, 20, {});
    const std::vector<i32> indptr{0, 2, 2, 5}, indices{6, 0, 3, 1, 5}, last{3, 1, 2}, cu{1, 8, 10, 19};
    auto on_indptr = upload(indptr), on_indices = upload(indices), on_last = upload(last), on_cu = upload(cu);
    auto cache = g.cache();
    cache.indptr = numbers_view(on_indptr, 4);
    cache.indices = numbers_view(on_indices, 5);
    cache.last_page_len = numbers_view(on_last, 3);
    gather_kv_varlen(under_test().stream(), cache, g.k.packed(g.on_k), g.v.packed(g.on_v),
                     {.cu_seqlens = numbers_view(on_cu, 4)});
    for (i64 t = 0; t < 7; ++t) g.expect(0, 1 + t, indices[static_cast<std::size_t>(t / 4)], t % 4);
    for (i64 t = 0; t < 9; ++t) g.expect(0, 10 + t, indices[static_cast<std::size_t>(2 + t / 4)], t % 4);
    g.check();
  }
  gathered<f32> g(4, 5, 2, 8, 8, 2, 6, {});
  const std::vector<i32> batches{3, 1};
  auto on_batches = upload(batches);
  auto cache = g.cache();
  cache.batch_index = numbers_view(on_batches, 2);
  gather_kv(under_test().stream(), cache, g.k.view(g.on_k), g.v.view(g.on_v));
  for (i64 b = 0; b < 2; ++b)
    for (i64 t = 0; t < 5; ++t) g.expect(b, t, batches[static_cast<std::size_t>(b)], t);
  g.check();
}
