// make_block_mask: its lists next to the mask evaluated at every place on the host, and an attention that
// runs by them next to double precision.
#include <kaio/ops/attention_with.hpp>
#include <kaio/ops/make_block_mask.hpp>

#include "tests/ops/attention/support.hpp"
#include "tests/ops/refusal.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// Keys of the query's own document, and every key before `open`, for heads other than 1.
struct documents {
  static constexpr fixed_string name = "documents";
  constexpr val<bool> operator()(thread t, ops::attention_place at, in<u32> document, val<u32> open) const {
    return t.let(any_of(document[at.query] == document[at.key], all_of(at.head != 1u, at.key < open)));
  }
};
// A stripe for each batch.
struct stripes {
  static constexpr fixed_string name = "stripes";
  constexpr val<bool> operator()(thread t, ops::attention_place at) const {
    return t.let((at.key / 32u + at.batch) % 2u == 0u);
  }
};
// A learned number for each key.
struct key_bias {
  static constexpr fixed_string name = "key_bias";
  constexpr val<f32> operator()(thread t, val<f32> x, ops::attention_place at, in<f32> bias) const {
    return t.let(x + bias[at.key]);
  }
};

using host_mask = std::function<bool(u32 b, u32 h, u32 i, u32 j)>;

struct made_case {
  u32 batches = 1, heads = 1;
  i64 queries = 0, keys = 0;
  i64 query_size = 128, key_size = 128;
  bool full = true, of_keys = true;
  u32 room = 0;

  i64 query_blocks() const { return (queries + query_size - 1) / query_size; }
  i64 key_blocks() const { return (keys + key_size - 1) / key_size; }
};

constexpr i32 untouched = -123456;

// The lists of one side in memory.
struct side {
  i64 rows, most;
  buffer<i32> counts, indices, full_counts, full_indices;

  side(const made_case& c, i64 in_rows, i64 others)
      : rows(in_rows),
        most(others + c.room),
        counts(filled(c, rows)),
        indices(filled(c, rows * most)),
        full_counts(filled(c, rows)),
        full_indices(filled(c, rows * most)) {}
  static buffer<i32> filled(const made_case& c, i64 of_head) {
    return upload(std::vector<i32>(static_cast<std::size_t>(of_head) * c.batches * c.heads, untouched));
  }
  auto counts_of(const made_case& c, buffer<i32>& memory) const {
    return tensor_view<i32, 3>(memory, c.batches, c.heads, rows);
  }
  auto indices_of(const made_case& c, buffer<i32>& memory) const {
    return tensor_view<i32, 4>(memory, c.batches, c.heads, rows, most);
  }
};

struct made_mask {
  made_case c;
  side of_queries, of_keys;
  explicit made_mask(const made_case& in_c)
      : c(in_c),
        of_queries(c, c.query_blocks(), c.key_blocks()),
        of_keys(c, c.key_blocks(), c.query_blocks()) {}

  block_mask_output output() {
    block_mask_output result{.kv_num_blocks = of_queries.counts_of(c, of_queries.counts),
                             .kv_indices = of_queries.indices_of(c, of_queries.indices),
                             .size = {c.query_size, c.key_size}};
    if (c.full) {
      result.full_kv_num_blocks = of_queries.counts_of(c, of_queries.full_counts);
      result.full_kv_indices = of_queries.indices_of(c, of_queries.full_indices);
    }
    if (c.of_keys) {
      result.q_num_blocks = of_keys.counts_of(c, of_keys.counts);
      result.q_indices = of_keys.indices_of(c, of_keys.indices);
      if (c.full) {
        result.full_q_num_blocks = of_keys.counts_of(c, of_keys.full_counts);
        result.full_q_indices = of_keys.indices_of(c, of_keys.full_indices);
      }
    }
    return result;
  }

  void check(const host_mask& mask) const {
    CAPTURE(c.queries, c.keys, c.query_size, c.key_size, c.full, c.of_keys);
    check_side(of_queries, mask, false);
    if (c.of_keys)
      check_side(of_keys, mask, true);
    else
      for (const i32 n : of_keys.counts.download()) REQUIRE(n == untouched);
  }

 private:
  void check_side(const side& s, const host_mask& mask, bool transposed) const {
    const i64 others = transposed ? c.query_blocks() : c.key_blocks();
    const auto counts = s.counts.download(), indices = s.indices.download(),
               full_counts = s.full_counts.download(), full_indices = s.full_indices.download();
    std::size_t row = 0;
    for (u32 b = 0; b < c.batches; ++b)
      for (u32 h = 0; h < c.heads; ++h)
        for (i64 r = 0; r < s.rows; ++r, ++row) {
          std::vector<i32> partial, full;
          for (i64 other = 0; other < others; ++other) {
            const i64 q = transposed ? other : r, k = transposed ? r : other;
            u32 kept = 0, dropped = 0;
            for (i64 i = q * c.query_size; i < std::min((q + 1) * c.query_size, c.queries); ++i)
              for (i64 j = k * c.key_size; j < std::min((k + 1) * c.key_size, c.keys); ++j)
                ++(mask(b, h, static_cast<u32>(i), static_cast<u32>(j)) ? kept : dropped);
            if (kept == 0) continue;
            (dropped == 0 && c.full ? full : partial).push_back(static_cast<i32>(other));
          }
          const auto same = [&](const std::vector<i32>& got_counts, const std::vector<i32>& got,
                                const std::vector<i32>& want) {
            CAPTURE(transposed, b, h, r);
            REQUIRE(got_counts[row] == static_cast<i32>(want.size()));
            for (i64 n = 0; n < s.most; ++n)
              REQUIRE(got[row * static_cast<std::size_t>(s.most) + static_cast<std::size_t>(n)] ==
                      (n < static_cast<i64>(want.size()) ? want[static_cast<std::size_t>(n)] : untouched));
          };
          same(counts, indices, partial);
          if (c.full) same(full_counts, full_indices, full);
        }
  }
};

std::vector<u32> some_documents(u32 length) {
  std::vector<u32> result(length);
  for (u32 i = 0; i < length; ++i) result[i] = i < 70 ? 0 : i < 210 ? 1 : i / 37;
  return result;
}

constexpr u32 open_keys = 20;
host_mask on_host(const std::vector<u32>& document) {
  return [&document](u32, u32 h, u32 i, u32 j) {
    return document[i] == document[j] || (h != 1 && j < open_keys);
  };
}

}  // namespace

TEST_CASE("make_block_mask: a mask of documents", "[ops][attention][blocks]") {
  const u32 length = 400;
  const std::vector<u32> document = some_documents(length);
  auto on_document = upload(document);
  for (const auto& [query_size, key_size] : {std::pair{128, 128}, {64, 32}, {16, 40}, {500, 7}})
    for (const bool full : {false, true}) {
      made_mask made({.heads = 2,
                      .queries = length,
                      .keys = length,
                      .query_size = query_size,
                      .key_size = key_size,
                      .full = full,
                      .of_keys = key_size != 32,
                      .room = full ? 2u : 0u});
      make_block_mask(under_test().stream(), documents{}, made.output(), {.queries = length, .keys = length},
                      on_document, u32{open_keys});
      made.check(on_host(document));
    }
}

TEST_CASE("make_block_mask: causal masks, windows, and batches", "[ops][attention][blocks]") {
  for (const auto& [queries, keys] : {std::pair{300, 300}, {100, 500}, {500, 100}, {1, 1}, {0, 5}, {5, 0}})
    for (const auto causal :
         {causal_alignment::none, causal_alignment::top_left, causal_alignment::bottom_right})
      for (const attention_window& window : {attention_window{}, {40, 60}, {0, -1}}) {
        attention_case band;
        band.queries = static_cast<u32>(queries);
        band.keys = static_cast<u32>(keys);
        band.causal = causal;
        band.window = window;
        made_mask made({.queries = queries, .keys = keys, .query_size = 64, .key_size = 48, .room = 1});
        make_block_mask(under_test().stream(), ops::band_mask{}, made.output(),
                        {.queries = queries, .keys = keys, .causal = causal, .window = window});
        made.check([&](u32 b, u32 h, u32 i, u32 j) { return band.keeps(b, h, i, j); });
      }
  made_mask made({.batches = 3, .heads = 2, .queries = 70, .keys = 200, .query_size = 64, .key_size = 32});
  make_block_mask(under_test().stream(), stripes{}, made.output(), {.queries = 70, .keys = 200});
  made.check([](u32 b, u32, u32, u32 j) { return (j / 32 + b) % 2 == 0; });
}

namespace {

template <class T>
void attend_by_made_lists() {
  const u32 length = 300;
  const std::vector<u32> document = some_documents(length);
  auto on_document = upload(document);
  const attention_case c{.batches = 2,
                         .queries = length,
                         .keys = length,
                         .heads = 4,
                         .key_heads = 2,
                         .qk_size = 64,
                         .v_size = 64};
  for (const i64 size : {128, 64}) {
    made_mask made({.heads = 4, .queries = length, .keys = length, .query_size = size, .key_size = size});
    const stream& s = under_test().stream();
    make_block_mask(s, documents{}, made.output(), {.queries = length, .keys = length}, on_document,
                    u32{open_keys});
    // The library's score in f32, one of the caller in f16: a kernel of each costs seconds to compile.
    if constexpr (std::same_as<T, f32>) {
      check_attention_by<T>(
          c,
          [&](const auto& q, const auto& k, const auto& v, const auto& o, attention_options options) {
            options.blocks = made.output();
            attention_with<64>(s, q, k, v, o, ops::general_score{}, ops::block_sparse<documents>{}, options,
                               on_document, u32{open_keys});
          },
          {nullptr, on_host(document)});
    } else {
      std::vector<f32> bias(length);
      for (u32 j = 0; j < length; ++j) bias[j] = static_cast<f32>(j % 5) / 4;
      auto on_bias = upload(bias);
      check_attention_by<T>(
          c,
          [&](const auto& q, const auto& k, const auto& v, const auto& o, attention_options options) {
            options.blocks = made.output();
            attention_with<64>(s, q, k, v, o, key_bias{}, ops::block_sparse<documents>{}, options, on_bias,
                               on_document, u32{open_keys});
          },
          {[&](double x, u32, u32, u32, u32 j) { return x + double(bias[j]); }, on_host(document)});
    }
  }
}

}  // namespace

TEST_CASE("make_block_mask: an attention by its lists", "[ops][attention][blocks]") {
  attend_by_made_lists<f16>();
  attend_by_made_lists<f32>();
}

// With the kernel of the case before.
TEST_CASE("attention_with: block masks that are not given, and a mask of one's own next to a band",
          "[ops][attention][blocks]") {
  const std::vector<f32> before(256, 3.0f);
  auto numbers = upload(before), memory = upload(before);
  auto lists = upload(std::vector<i32>(16, 0));
  auto on_document = upload(std::vector<u32>(4));
  const tensor_view<const f32, 4> q(numbers, 1, 4, 1, 64);
  const tensor_view<f32, 4> o(memory, 1, 4, 1, 64);
  const block_mask blocks{.kv_num_blocks = tensor_view<const i32, 3>(lists, 1, 1, 1),
                          .kv_indices = tensor_view<const i32, 4>(lists, 1, 1, 1, 1)};
  const auto refuses = [&](const std::string& part, const attention_options& options) {
    require_refusal(errc::invalid_argument, "kaio: attention_with: ", part, [&] {
      attention_with<64>(under_test().stream(), q, q, q, o, ops::general_score{},
                         ops::block_sparse<documents>{}, options, on_document, u32{open_keys});
    });
    under_test().stream().synchronize();
    REQUIRE(same_bits(memory.download(), before));
  };
  refuses("give its lists", {});
  refuses("a mask of your own", {.causal = causal_alignment::top_left, .blocks = blocks});
}

TEST_CASE("make_block_mask: bad arguments", "[ops][attention][blocks]") {
  const stream& s = under_test().stream();
  const std::vector<i32> before(4096, untouched);
  auto memory = upload(before), other = upload(before), third = upload(before), fourth = upload(before);
  const tensor_view<i32, 3> counts(memory, 1, 2, 3), full_counts(third, 1, 2, 3);
  const tensor_view<i32, 4> indices(other, 1, 2, 3, 4), full_indices(fourth, 1, 2, 3, 4);
  const ops::block_mask_options right{.queries = 300, .keys = 400};
  const auto refuses = [&](const std::string& part, const block_mask_output& output,
                           const ops::block_mask_options& options) {
    require_refusal(errc::invalid_argument, "kaio: make_block_mask: ", part,
                    [&] { make_block_mask(s, ops::band_mask{}, output, options); });
    for (const auto* each : {&memory, &other, &third, &fourth}) REQUIRE(each->download() == before);
  };
  refuses("no lists", {}, right);
  refuses("argument kv_num_blocks without kv_indices, i32 of (batches, heads, ", {.kv_num_blocks = counts},
          right);
  refuses("argument q_indices without q_num_blocks, i32 of (batches, heads, ", {.q_indices = indices}, right);
  refuses("; give both or none",
          {.kv_num_blocks = counts, .kv_indices = indices, .full_kv_indices = full_indices}, right);
  refuses("arguments full_kv_num_blocks and full_kv_indices without kv_num_blocks and kv_indices",
          {.full_kv_num_blocks = full_counts, .full_kv_indices = full_indices}, right);
  refuses("the blocks of queries", {.kv_num_blocks = counts, .kv_indices = indices},
          {.queries = 400, .keys = 400});
  refuses("room for 4", {.kv_num_blocks = counts, .kv_indices = indices}, {.queries = 300, .keys = 513});
  refuses("the heads of kv_num_blocks",
          {.kv_num_blocks = counts, .kv_indices = tensor_view<i32, 4>(other, 1, 1, 3, 4)}, right);
  refuses("the batches of kv_num_blocks",
          {.kv_num_blocks = counts, .kv_indices = tensor_view<i32, 4>(other, 2, 2, 3, 4)}, right);
  refuses("gaps along its last dimension",
          {.kv_num_blocks = counts,
           .kv_indices = tensor_view<i32, 4>(other, extents(1, 2, 3, 4), strides(48, 24, 8, 2))},
          right);
  refuses("shares memory", {.kv_num_blocks = counts, .kv_indices = tensor_view<i32, 4>(memory, 1, 2, 3, 4)},
          right);
  refuses("output kv_num_blocks",
          {.kv_num_blocks = tensor_view<i32, 3>(memory, extents(1, 2, 3), strides(0, 0, 1)),
           .kv_indices = indices},
          right);
  refuses("a null", {.kv_num_blocks = tensor_view<i32, 3>(), .kv_indices = indices}, right);
  refuses("queries is -1", {.kv_num_blocks = counts, .kv_indices = indices}, {.queries = -1, .keys = 400});
  refuses("keys is", {.kv_num_blocks = counts, .kv_indices = indices},
          {.queries = 300, .keys = i64{1} << 31});
  for (const ops::block_mask_size& size : {ops::block_mask_size{0, 128}, {128, -1}, {128, i64{1} << 31}})
    refuses("both are from 1", {.kv_num_blocks = counts, .kv_indices = indices, .size = size}, right);
  refuses("causal", {.kv_num_blocks = counts, .kv_indices = indices},
          {.queries = 300, .keys = 400, .causal = static_cast<causal_alignment>(3)});
  refuses("window", {.kv_num_blocks = counts, .kv_indices = indices},
          {.queries = 300, .keys = 400, .window = {-2, 0}});
  try {
    make_block_mask(s, stripes{}, {.kv_num_blocks = counts, .kv_indices = indices},
                    {.queries = 300, .keys = 400, .causal = causal_alignment::top_left});
    FAIL("nothing was thrown");
  } catch (const invalid_argument& e) {
    REQUIRE(std::string(e.message()).find("a mask of your own") != std::string::npos);
  }
}
