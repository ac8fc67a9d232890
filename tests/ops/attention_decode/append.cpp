// attention_decode with new keys and values: bit for bit append_kv with rotary, and then attention_decode over
// the longer cache. All numbers of the cache are read on the device: the same call with other lengths, as a
// replayed graph makes it, is compared too.
#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/rotary.hpp>

#include <functional>

#include "tests/ops/cache/support.hpp"
#include "thrown.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

enum class form { contiguous, table, last_page };

struct append_decode {
  form kind = form::table;
  i64 queries = 2, tokens = 2, heads = 4, key_heads = 2, size = 64;
  u32 rotated = 32;  // pairs; 0: none
  bool interleaved = false, padding = false, computed = false, causal = true;
  bool by_sequence = false;  // scales of 8 bits: of each sequence and head
  std::vector<i32> lengths{13, 0, 31};
};

constexpr i64 page = 16, pages_of_one = 3, positions = 64;

// A cache and what a call gives back, on the device.
template <class T, class C>
struct cache_and_results {
  buffer<C> k, v;
  buffer<f32> k_scale, v_scale, lse;
  buffer<T> q, o;

  bool same(const cache_and_results& other) const {
    return same_bits(k.download(), other.k.download()) && same_bits(v.download(), other.v.download()) &&
           same_bits(k_scale.download(), other.k_scale.download()) &&
           same_bits(v_scale.download(), other.v_scale.download()) &&
           same_bits(lse.download(), other.lse.download()) && same_bits(o.download(), other.o.download());
  }
};

template <class T, class C>
class append_decode_run {
  static constexpr bool has_codes = !std::is_same_v<T, C>;

 public:
  explicit append_decode_run(const append_decode& given)
      : c(given),
        batches(static_cast<i64>(c.lengths.size())),
        pages(c.kind == form::contiguous ? batches : batches * pages_of_one),
        rows(c.kind == form::contiguous ? page * pages_of_one : page) {
    std::mt19937_64 engine(7);
    std::uniform_real_distribution<float> any(-1, 1);
    const auto fill = [&](auto& to, i64 count) {
      to.clear();
      for (i64 i = 0; i < count; ++i)
        to.push_back(from_float<typename std::remove_reference_t<decltype(to)>::value_type>(any(engine)));
    };
    fill(q, batches * c.queries * c.heads * c.size);
    fill(new_k, batches * c.tokens * c.key_heads * c.size);
    fill(new_v, batches * c.tokens * c.key_heads * c.size);
    fill(old_k, pages * rows * c.key_heads * c.size);
    fill(old_v, pages * rows * c.key_heads * c.size);
    std::vector<i32> all(static_cast<std::size_t>(pages));
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), engine);
    on_pages = upload(all);
    std::vector<i32> begins;
    for (i64 b = 0; b <= batches; ++b) begins.push_back(static_cast<i32>(b * pages_of_one));
    on_indptr = upload(begins);
    std::vector<i32> left;
    for (i64 b = 0; b < batches; ++b) left.push_back(static_cast<i32>(b));
    on_left = upload(left);
    on_q = upload(q), on_new_k = upload(new_k), on_new_v = upload(new_v);
    cos = under_test().allocate<T>(static_cast<std::size_t>(positions * std::max(c.rotated, 1u)));
    sin = under_test().allocate<T>(cos.size());
    if (c.rotated != 0) rotary_table(s, table(cos), table(sin));
    set_lengths(c.lengths);
  }

  // Before the append; with last_page_len the new tokens count.
  void set_lengths(const std::vector<i32>& now) {
    std::vector<i32> later = now, last;
    for (i32& n : later) n += static_cast<i32>(c.tokens);
    before = upload(now), after = upload(later);
    for (const i32 n : later) last.push_back(n - static_cast<i32>((pages_of_one - 1) * page));
    last_page = upload(last);
  }
  void set_lengths_in_place(const std::vector<i32>& now) {
    before.copy_from(now.data(), now.size(), s);
    s.synchronize();
  }

  cache_and_results<T, C> memory() const {
    cache_and_results<T, C> m;
    m.k = upload(old_k), m.v = upload(old_v);
    m.k_scale = upload(scales_of_rows(0.5f));
    m.v_scale = upload(scales_of_rows(0.25f));
    if (c.by_sequence)
      m.k_scale = upload(scales_of_sequences(0.5f)), m.v_scale = upload(scales_of_sequences(0.25f));
    m.q = under_test().allocate<T>(q.size());
    m.o = upload(std::vector<T>(q.size(), from_float<T>(-7.0f)));
    m.lse = upload(std::vector<f32>(static_cast<std::size_t>(batches * c.heads * c.queries), -7.0f));
    return m;
  }

  // One call.
  buffer<u8> fused(cache_and_results<T, C>& m, buffer<u8>&& workspace = {}) const {
    attention_decode_options options = base(m);
    options.append = {.k = rows_of(on_new_k), .v = rows_of(on_new_v)};
    if (c.rotated != 0) options.append.rotary = turn();
    if (c.computed) {
      options.append.k_scale_out = scale(m.k_scale);
      options.append.v_scale_out = scale(m.v_scale);
    } else {
      give_scales(options, m);
    }
    const kv_cache<C> cache = cache_of(m, before);
    if (workspace.size() == 0)
      workspace = under_test().allocate<u8>(
          std::max<u64>(attention_decode_workspace_bytes(s, queries_of(on_q), cache, options), 16),
          uninitialised);
    options.workspace = workspace;
    attention_decode(s, queries_of(on_q), cache, output(m.o), options);
    return std::move(workspace);
  }

  // append_kv, rotary, attention_decode.
  void apart(cache_and_results<T, C>& m) const {
    append_kv_options to;
    buffer<f32> k_by_page, v_by_page;
    if (c.rotated != 0) {
      to.rotary = turn();
      if (c.queries == c.tokens) to.rotary.q = {queries_of(on_q), output(m.q)};
    }
    attention_decode_options options = base(m);
    if constexpr (has_codes) {
      if (c.computed)
        to.k_scale_out = scale(m.k_scale), to.v_scale_out = scale(m.v_scale);
      else if (c.by_sequence) {  // by the pages of a sequence: equivalent
        k_by_page = upload(scales_by_page(0.5f)), v_by_page = upload(scales_by_page(0.25f));
        to.k_scale = scale(k_by_page), to.v_scale = scale(v_by_page);
      } else
        to.k_scale = scale(m.k_scale), to.v_scale = scale(m.v_scale);
    }
    give_scales(options, m);
    append_kv(s, rows_of(on_new_k), rows_of(on_new_v), cache_of(m, before), to);
    if (c.rotated != 0 && c.queries != c.tokens)
      rotary(s, queries_of(on_q), output(m.q), table(cos), table(sin),
             {.offsets = numbers(before), .interleaved = c.interleaved});
    const kv_cache<const C> cache = cache_of(m, after);
    const auto turned = c.rotated != 0 ? tensor_view<const T, 4>(output(m.q)) : queries_of(on_q);
    const auto workspace = under_test().allocate<u8>(
        std::max<u64>(attention_decode_workspace_bytes(s, turned, cache, options), 16), uninitialised);
    options.workspace = workspace;
    attention_decode(s, turned, cache, output(m.o), options);
  }

  void check() const {
    auto one = memory(), two = memory();
    fused(one);
    apart(two);
    REQUIRE(one.same(two));
    // The queries of the caller are what they were, and so are the lengths.
    REQUIRE(same_bits(on_q.download(), q));
    REQUIRE(before.download() == c.lengths);
    REQUIRE(!same_bits(one.o.download(), memory().o.download()));
    REQUIRE(!same_bits(one.k.download(), old_k));
  }

  // Repeats the call after the lengths have changed on the device.
  void check_again(const std::vector<i32>& lengths) {
    auto one = memory();
    auto workspace = fused(one);
    set_lengths_in_place(lengths);
    auto again = memory(), two = memory();
    fused(again, std::move(workspace));
    set_lengths(lengths);
    apart(two);
    REQUIRE(again.same(two));
    REQUIRE(!same_bits(again.o.download(), one.o.download()));
  }

 private:
  append_rotary turn() const {
    return {.cos = table(cos), .sin = table(sin), .interleaved = c.interleaved, .q_at_first = !c.causal};
  }
  attention_decode_options base(cache_and_results<T, C>& m) const {
    attention_decode_options options;
    if (c.causal) options.causal = causal_alignment::bottom_right;
    options.lse = tensor_view<f32, 3>(m.lse, batches, c.heads, c.queries);
    options.batch_invariant = false;
    return options;
  }
  void give_scales(attention_decode_options& options, cache_and_results<T, C>& m) const {
    if constexpr (has_codes) {
      if (c.by_sequence) {
        options.k_scale = tensor_view<const f32, 2>(m.k_scale, batches, c.key_heads);
        options.v_scale = tensor_view<const f32, 2>(m.v_scale, batches, c.key_heads);
      } else {
        options.k_scale = scale(m.k_scale), options.v_scale = scale(m.v_scale);
      }
    }
  }
  std::vector<f32> scales_of_rows(f32 first) const {
    return std::vector<f32>(static_cast<std::size_t>(pages * rows * c.key_heads), first);
  }
  f32 scale_of_sequence(f32 first, i64 b, i64 h) const {
    return first + 0.125f * static_cast<f32>(b * c.key_heads + h);
  }
  std::vector<f32> scales_of_sequences(f32 first) const {
    std::vector<f32> result;
    for (i64 b = 0; b < batches; ++b)
      for (i64 h = 0; h < c.key_heads; ++h) result.push_back(scale_of_sequence(first, b, h));
    return result;
  }
  std::vector<f32> scales_by_page(f32 first) const {
    const auto order = on_pages.download();
    std::vector<f32> result = scales_of_rows(first);
    const i64 of_sequence = pages / batches;
    for (i64 p = 0; p < pages; ++p) {
      const i64 at = c.kind == form::contiguous ? p : order[static_cast<std::size_t>(p)];
      for (i64 r = 0; r < rows; ++r)
        for (i64 h = 0; h < c.key_heads; ++h)
          result[static_cast<std::size_t>((at * rows + r) * c.key_heads + h)] =
              scale_of_sequence(first, p / of_sequence, h);
    }
    return result;
  }
  tensor_view<T, 2> table(const buffer<T>& x) const {
    return tensor_view<T, 2>(const_cast<buffer<T>&>(x), positions, i64{c.rotated});
  }
  tensor_view<f32, 3> scale(buffer<f32>& x) const { return tensor_view<f32, 3>(x, pages, rows, c.key_heads); }
  tensor_view<const T, 4> queries_of(const buffer<T>& x) const {
    return tensor_view<const T, 4>(x, batches, c.queries, c.heads, c.size);
  }
  tensor_view<T, 4> output(buffer<T>& x) const {
    return tensor_view<T, 4>(x, batches, c.queries, c.heads, c.size);
  }
  tensor_view<const T, 4> rows_of(const buffer<T>& x) const {
    return tensor_view<const T, 4>(x, batches, c.tokens, c.key_heads, c.size);
  }
  tensor_view<const i32, 1> numbers(const buffer<i32>& x) const {
    return tensor_view<const i32, 1>(x, batches);
  }
  kv_cache<C> cache_of(cache_and_results<T, C>& m, const buffer<i32>& lengths) const {
    kv_cache<C> cache{.k = tensor_view<C, 4>(m.k, pages, rows, c.key_heads, c.size),
                      .v = tensor_view<C, 4>(m.v, pages, rows, c.key_heads, c.size)};
    if (c.kind == form::table) cache.table = tensor_view<const i32, 2>(on_pages, batches, pages_of_one);
    if (c.kind == form::last_page) {
      cache.indptr = tensor_view<const i32, 1>(on_indptr, batches + 1);
      cache.indices = tensor_view<const i32, 1>(on_pages, pages);
      cache.last_page_len = numbers(last_page);
    } else {
      cache.lengths = numbers(lengths);
    }
    if (c.padding) cache.left_padding = numbers(on_left);
    return cache;
  }

  const append_decode c;
  const stream& s = under_test().stream();
  i64 batches, pages, rows;
  std::vector<T> q, new_k, new_v;
  std::vector<C> old_k, old_v;
  buffer<T> on_q, on_new_k, on_new_v, cos, sin;
  buffer<i32> on_pages, on_indptr, on_left, before, after, last_page;
};

template <class T, class C = T>
void check_append_decode(const append_decode& c) {
  append_decode_run<T, C>(c).check();
}

}  // namespace

TEST_CASE("attention_decode: new keys and values in one call", "[ops][attention_decode][append]") {
  check_append_decode<f16>({});
  check_append_decode<bf16>({.kind = form::contiguous, .rotated = 16, .interleaved = true, .padding = true});
  check_append_decode<f32>({.kind = form::contiguous, .rotated = 0, .causal = false});
  check_append_decode<f16>({.kind = form::last_page, .queries = 3, .tokens = 3, .lengths = {32, 40, 33}});
  // All queries are rotated as the first new token.
  check_append_decode<f16>({.queries = 3, .tokens = 3, .causal = false});
}

TEST_CASE("attention_decode: another number of queries than of new keys", "[ops][attention_decode][append]") {
  check_append_decode<f16>({.queries = 1, .tokens = 5});
  check_append_decode<f16>({.queries = 4, .tokens = 1});
}

TEST_CASE("attention_decode: new keys and values in 8 bits", "[ops][attention_decode][append][codes]") {
  check_append_decode<f16, e4m3>({.computed = true});
  check_append_decode<bf16, i8>({.kind = form::contiguous, .rotated = 0});
  check_append_decode<f16, e4m3>({.by_sequence = true});
  check_append_decode<bf16, i8>({.kind = form::contiguous, .by_sequence = true});
}

TEST_CASE("attention_decode: an append after the lengths have changed", "[ops][attention_decode][append]") {
  append_decode_run<f16, f16>({.queries = 1, .tokens = 1}).check_again({45, 7, 0});
  append_decode_run<bf16, e4m3>({.kind = form::contiguous, .computed = true}).check_again({1, 30, 44});
}

TEST_CASE("attention_decode: appends that do not fit", "[ops][attention_decode][append]") {
  const stream& s = under_test().stream();
  auto memory = upload(std::vector<f16>(4096)), more = upload(std::vector<f16>(4096)),
       to = upload(std::vector<f16>(4096)), rows = upload(std::vector<f16>(4096));
  auto numbers = upload(std::vector<i32>(4, 0));
  auto space = under_test().allocate<u8>(4096);
  const tensor_view<const f16, 4> q(memory, 2, 1, 4, 32), fresh(rows, 2, 1, 2, 32);
  const tensor_view<f16, 4> o(to, 2, 1, 4, 32), k(more, 2, 8, 2, 32);
  const tensor_view<const f16, 2> turns(memory, 8, 16);
  const kv_cache<f16> cache{.k = k, .v = k, .lengths = tensor_view<const i32, 1>(numbers, 2)};
  const auto upper = more.slice(2048, 1024);
  const kv_cache<f16> apart{.k = k,
                            .v = tensor_view<f16, 4>(upper, extents(2, 8, 2, 32)),
                            .lengths = tensor_view<const i32, 1>(numbers, 2)};
  const auto refuses = [&](std::string_view text, const kv_cache<f16>& c,
                           const attention_decode_options& options) {
    const thrown error = catch_error([&] { attention_decode(s, q, c, o, options); });
    CAPTURE(text, error.message);
    REQUIRE(error.code == errc::invalid_argument);
    REQUIRE(error.says("kaio: attention_decode: "));
    REQUIRE(error.says(text));
    for (const f16 x : more.download()) REQUIRE(to_double(x) == 0);
  };
  refuses("append.v is missing", apart, {.append = {.k = fresh}});
  refuses("rotate queries alone by rotary", apart, {.append = {.rotary = {.cos = turns, .sin = turns}}});
  const tensor_view<const i32, 1> cu(numbers, 3);
  const tensor_view<const f16, 3> packed(rows, 2, 2, 32);
  refuses("append.cu_k without append.k", apart, {.append = {.cu_k = cu}});
  refuses("append.k has four dimensions next to append.cu_k", apart,
          {.append = {.k = fresh, .v = fresh, .cu_k = cu}});
  refuses("another number of dimensions than q", apart, {.append = {.k = packed, .v = packed}});
  refuses("argument append.cu_k has extent 0", apart,
          {.append = {.k = packed, .v = packed, .cu_k = tensor_view<const i32, 1>(numbers, 2)}});
  refuses(
      "argument append.cu_k has gaps", apart,
      {.append = {
           .k = packed, .v = packed, .cu_k = tensor_view<const i32, 1>(numbers, extents(3), strides(0))}});
  const ops::append_rotary by_positions{
      .cos = turns, .sin = turns, .positions = tensor_view<const i32, 1>(numbers, 2)};
  refuses("append.rotary.positions next to append.cu_k", apart,
          {.append = {.k = packed, .v = packed, .cu_k = cu, .rotary = by_positions}, .workspace = space});
  const kv_cache<f16> listed{.k = apart.k,
                             .v = apart.v,
                             .indptr = cu,
                             .indices = tensor_view<const i32, 1>(numbers, 2),
                             .last_page_len = tensor_view<const i32, 1>(numbers, 2)};
  refuses("append.rotary with append.cu_k of a cache by last_page_len", listed,
          {.append = {.k = packed, .v = packed, .cu_k = cu, .rotary = {.cos = turns, .sin = turns}},
           .workspace = space});
  refuses("append.rotary.q is given", apart,
          {.append = {.k = fresh, .v = fresh, .rotary = {.cos = turns, .sin = turns, .q = {q, o}}},
           .workspace = space});
  refuses("argument workspace", apart,
          {.append = {.k = fresh, .v = fresh, .rotary = {.cos = turns, .sin = turns}}});
  refuses("append: argument cache.k has extent", apart,
          {.append = {.k = tensor_view<const f16, 4>(rows, 2, 1, 1, 32),
                      .v = tensor_view<const f16, 4>(rows, 2, 1, 1, 32)}});
  refuses("shares memory", cache, {.append = {.k = fresh, .v = fresh}});
  const auto wide_memory = upload(std::vector<f32>(256));
  const tensor_view<const f32, 4> wide(wide_memory, 2, 1, 2, 32);
  refuses("append: argument k has another element type than the cache", apart,
          {.append = {.k = wide, .v = wide}});
  refuses("append: argument v has another element type than k", apart, {.append = {.k = fresh, .v = wide}});
  refuses("output out shares memory with argument append.k", apart,
          {.append = {.k = tensor_view<const f16, 4>(to, 2, 1, 2, 32), .v = fresh}});
  device other = device::open("emulator");
  auto far = other.allocate<f16>(1024);
  refuses("argument k is memory of another device", apart,
          {.append = {.k = tensor_view<const f16, 4>(far, 2, 1, 2, 32), .v = fresh}});
  refuses("argument v is memory of another device", apart,
          {.append = {.k = fresh, .v = tensor_view<const f16, 4>(far, 2, 1, 2, 32)}});
  refuses("argument rotary.sin is memory of another device", apart,
          {.append = {.k = fresh,
                      .v = fresh,
                      .rotary = {.cos = turns, .sin = tensor_view<const f16, 2>(far, 8, 16)}},
           .workspace = space});
  refuses("neither cache.lengths", {.k = apart.k, .v = apart.v}, {.append = {.k = fresh, .v = fresh}});
  const thrown error = catch_error(
      [&] { attention_decode(s, q, kv_cache<const f16>(apart), o, {.append = {.k = fresh, .v = fresh}}); });
  REQUIRE(error.code == errc::invalid_argument);
  REQUIRE(error.says("append to a cache of const elements"));
  attention_decode(s, q, apart, o, {.append = {.k = fresh, .v = fresh}});  // and one that is right
}
