// Values in the keys with queries of their own for values (qv), and rotations in the same call: bit for bit what the
// call over [qv | q] computes, after append_kv and rotary.
#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/rotary.hpp>

#include "tests/ops/cache/support.hpp"
#include "thrown.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

struct latent_case {
  i64 queries = 2, heads = 4, key_heads = 1, size = 64, v_size = 512, page = 16;
  std::vector<i32> lengths{37, 0, 12};  // before the append
  std::vector<i32> counts{2, 2, 2};     // new keys
  u32 pairs = 32;                       // that are rotated; 0: none
  bool qv = true, cu_k = false, packed = false, appends = true, padding = false;
  causal_alignment causal = causal_alignment::bottom_right;
};

template <class T>
class latent_run {
  static constexpr i64 pages_of_one = 4, positions = 64;

 public:
  explicit latent_run(const latent_case& in) : c(in), batches(static_cast<i64>(c.lengths.size())) {
    std::vector<i32> now = c.lengths, pages, left;
    for (std::size_t b = 0; b < c.lengths.size(); ++b) {
      now[b] += c.appends ? c.counts[b] : 0;
      cu.push_back(cu.back() + c.counts[b]);
      cu_q.push_back(cu_q.back() + static_cast<i32>(c.queries));
      left.push_back(c.padding ? static_cast<i32>(b) : 0);
    }
    for (i32 p = 0; p < batches * pages_of_one; ++p)
      pages.push_back(static_cast<i32>(batches * pages_of_one - 1 - p));
    before = upload(c.lengths), after = upload(now), table = upload(pages), on_cu = upload(cu),
    on_cu_q = upload(cu_q);
    on_left = upload(left);
    std::vector<i64> of_queries;
    for (i64 b = 0; b < batches; ++b)
      for (i64 i = 0; i < c.queries; ++i)
        of_queries.push_back(c.lengths[static_cast<std::size_t>(b)] + i - left[static_cast<std::size_t>(b)]);
    on_positions = upload(of_queries);
    q = draw(1, batches * c.queries * c.heads * c.size);
    qv = draw(2, batches * c.queries * c.heads * c.v_size);
    on_q = upload(q), on_qv = upload(qv);
    // [qv | q]: the queries of the same call without qv.
    std::vector<T> both;
    for (std::size_t row = 0; row < q.size() / static_cast<std::size_t>(c.size); ++row)
      for (i64 e = 0; e < c.v_size + c.size; ++e)
        both.push_back(
            e < c.v_size
                ? qv[row * static_cast<std::size_t>(c.v_size) + static_cast<std::size_t>(e)]
                : q[row * static_cast<std::size_t>(c.size) + static_cast<std::size_t>(e - c.v_size)]);
    on_both = upload(both);
    new_k = upload(draw(3, cu.back() * c.key_heads * c.size));
    new_v = upload(draw(4, cu.back() * c.key_heads * c.v_size));
    old = draw(5, batches * pages_of_one * c.page * c.key_heads * (c.size + c.v_size));
    cos = under_test().allocate<T>(static_cast<std::size_t>(positions) * std::max(c.pairs, 1u));
    sin = under_test().allocate<T>(cos.size());
    if (c.pairs != 0) rotary_table(s, turns(cos), turns(sin));
  }

  void check() {
    const result one = in_one_call(), two = apart();
    REQUIRE(same_bits(one.rows, two.rows));
    REQUIRE(same_bits(one.o, two.o));
    REQUIRE(same_bits(one.lse, two.lse));
    REQUIRE(same_bits(one.rows, old) == !c.appends);
    REQUIRE(same_bits(on_q.download(), q));
    REQUIRE(same_bits(on_qv.download(), qv));
  }

 private:
  struct result {
    std::vector<T> rows, o;
    std::vector<f32> lse;
  };

  static std::vector<T> draw(std::uint64_t seed, i64 n) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> any(-1, 1);
    std::vector<T> x;
    for (i64 i = 0; i < n; ++i) x.push_back(from_float<T>(any(engine)));
    return x;
  }
  tensor_view<T, 2> turns(buffer<T>& x) const { return tensor_view<T, 2>(x, positions, i64{c.pairs}); }
  tensor_view<T, 4> heads_of(const buffer<T>& x, i64 size) const {
    return tensor_view<T, 4>(const_cast<buffer<T>&>(x), batches, c.queries, c.heads, size);
  }
  // The rows, and the two parts of them.
  tensor_view<T, 4> rows_of(buffer<T>& x) const {
    return tensor_view<T, 4>(x, batches * pages_of_one, c.page, c.key_heads, c.size + c.v_size);
  }
  kv_cache<T> cache_of(const tensor_view<T, 4>& k, const tensor_view<T, 4>& v, buffer<i32>& lengths) {
    kv_cache<T> cache{.k = k,
                      .v = v,
                      .table = tensor_view<const i32, 2>(table, batches, pages_of_one),
                      .lengths = tensor_view<const i32, 1>(lengths, batches)};
    if (c.padding) cache.left_padding = tensor_view<const i32, 1>(on_left, batches);
    return cache;
  }
  ops::append_rotary rotary_of_keys() {
    if (c.pairs == 0) return {};
    ops::append_rotary rotary{.cos = turns(cos), .sin = turns(sin)};
    rotary.interleaved = true;
    return rotary;
  }

  result run(const buffer<T>& on_query, i64 size, const kv_cache<T>& cache, attention_decode_options options,
             buffer<T>& rows) {
    auto on_o = under_test().allocate<T>(static_cast<std::size_t>(batches * c.queries * c.heads * c.v_size));
    auto on_lse = under_test().allocate<f32>(static_cast<std::size_t>(batches * c.queries * c.heads));
    options.causal = c.causal;
    const i64 all = batches * c.queries;
    const tensor_view<const T, 4> query = heads_of(on_query, size);
    const ops::attention_sequences sequences{.cu_q = tensor_view<const i32, 1>(on_cu_q, batches + 1),
                                             .max_q = c.queries};
    buffer<u8> workspace;
    const auto with = [&](const auto& bytes, const auto& call) {
      workspace = upload(std::vector<u8>(std::max<u64>(bytes(), 16), 0xff));
      options.workspace = workspace;
      call();
    };
    if (c.packed) {
      const tensor_view<const T, 3> flat(on_query, all, c.heads, size);
      options.lse = tensor_view<f32, 2>(on_lse, c.heads, all);
      with([&] { return attention_decode_varlen_workspace_bytes(s, flat, cache, sequences, options); },
           [&] {
             attention_decode_varlen(s, flat, cache, tensor_view<T, 3>(on_o, all, c.heads, c.v_size),
                                     sequences, options);
           });
    } else {
      options.lse = tensor_view<f32, 3>(on_lse, batches, c.heads, c.queries);
      with([&] { return attention_decode_workspace_bytes(s, query, cache, options); },
           [&] { attention_decode(s, query, cache, heads_of(on_o, c.v_size), options); });
    }
    return {rows.download(), on_o.download(), on_lse.download()};
  }

  result in_one_call() {
    auto memory = upload(old);
    const auto rows = rows_of(memory);
    const tensor_view<T, 4> v = rows.slice(3, 0, c.v_size), k = rows.slice(3, c.v_size, c.size);
    attention_decode_options options;
    if (c.appends) {
      if (c.cu_k || c.packed)
        options.append = {.k = tensor_view<const T, 3>(new_k, cu.back(), c.key_heads, c.size),
                          .v = tensor_view<const T, 3>(new_v, cu.back(), c.key_heads, c.v_size)};
      else
        options.append = {.k = tensor_view<const T, 4>(new_k, batches, c.counts[0], c.key_heads, c.size),
                          .v = tensor_view<const T, 4>(new_v, batches, c.counts[0], c.key_heads, c.v_size)};
      if (c.cu_k) options.append.cu_k = tensor_view<const i32, 1>(on_cu, batches + 1);
      options.append.rotary = rotary_of_keys();
    }
    if (c.qv) options.qv = packed_or_not(on_qv, c.v_size);
    return run(c.qv ? on_q : on_both, c.qv ? c.size : c.size + c.v_size, cache_of(c.qv ? k : rows, v, before),
               options, memory);
  }
  ops::attention_value_queries packed_or_not(const buffer<T>& x, i64 size) const {
    if (c.packed) return tensor_view<const T, 3>(x, batches * c.queries, c.heads, size);
    return tensor_view<const T, 4>(x, batches, c.queries, c.heads, size);
  }

  result apart() {
    auto memory = upload(old), turned = upload(on_both.download());
    const auto rows = rows_of(memory);
    const tensor_view<T, 4> v = rows.slice(3, 0, c.v_size), k = rows.slice(3, c.v_size, c.size);
    const auto query = heads_of(turned, c.size + c.v_size);
    if (c.appends)
      append_kv_varlen(
          s, tensor_view<const T, 3>(new_k, cu.back(), c.key_heads, c.size),
          tensor_view<const T, 3>(new_v, cu.back(), c.key_heads, c.v_size), cache_of(k, v, before),
          {.cu_seqlens = tensor_view<const i32, 1>(on_cu, batches + 1), .rotary = rotary_of_keys()});
    if (c.appends && c.pairs != 0) {
      const auto tail = query.slice(3, c.v_size, c.size);
      rotary(s, tail, tail, turns(cos), turns(sin),
             {.positions = tensor_view<const i64, 2>(on_positions, batches, c.queries), .interleaved = true});
    }
    return run(turned, c.size + c.v_size, cache_of(rows, v, after), {}, memory);
  }

  latent_case c;
  const stream& s = under_test().stream();
  i64 batches;
  std::vector<i32> cu{0}, cu_q{0};
  std::vector<T> q, qv, old;
  buffer<T> on_q, on_qv, on_both, new_k, new_v, cos, sin;
  buffer<i32> before, after, table, on_cu, on_cu_q, on_left;
  buffer<i64> on_positions;
};

template <class T>
void check_latent(const latent_case& c) {
  CAPTURE(c.queries, c.heads, c.size, c.v_size, c.pairs, c.qv, c.cu_k, c.packed, c.appends, c.padding);
  latent_run<T>(c).check();
}

}  // namespace

TEST_CASE("attention_decode: values in the keys, rotated in the same call",
          "[ops][attention_decode][mla][append]") {
  // Kernels of any device, and those for rows of 576.
  check_latent<f32>({.size = 16, .v_size = 32, .pairs = 8, .qv = false});
  check_latent<f16>({.size = 32, .v_size = 64, .pairs = 8, .qv = false, .padding = true});
  if (under_test().properties().target.sm < 80) return;
  check_latent<bf16>({.qv = false});
  check_latent<f16>({.heads = 40, .qv = false, .packed = true});
  check_latent<bf16>({.counts = {3, 0, 1}, .qv = false, .cu_k = true});
}

TEST_CASE("attention_decode: queries of values", "[ops][attention_decode][mla][append]") {
  check_latent<f32>({.heads = 6, .key_heads = 2, .size = 16, .v_size = 24, .appends = false});
  check_latent<f16>({.size = 32, .v_size = 96, .pairs = 16, .padding = true});
  if (under_test().properties().target.sm < 80) return;
  check_latent<bf16>({.appends = false});
  check_latent<f16>({.queries = 1, .pairs = 0, .causal = causal_alignment::none});
  check_latent<bf16>({.packed = true});
  check_latent<f16>({.counts = {1, 5, 0}, .cu_k = true, .padding = true});
  check_latent<bf16>({.queries = 3, .counts = {4, 0, 2}, .pairs = 16, .cu_k = true, .packed = true});
  check_latent<f16>({.lengths = {48, 30}, .counts = {2, 2}, .packed = true, .appends = false});
}

TEST_CASE("attention_decode: queries of values that do not fit", "[ops][attention_decode][mla]") {
  const stream& s = under_test().stream();
  auto memory = upload(std::vector<f32>(4096)), to = upload(std::vector<f32>(512)),
       queries = upload(std::vector<f32>(1024));
  const tensor_view<f32, 4> rows(memory, 2, 8, 1, 48), o(to, 2, 1, 2, 32);
  const tensor_view<const f32, 4> q(queries, 2, 1, 2, 16), qv(queries, 2, 1, 2, 32);
  const auto v = rows.slice(3, 0, 32), k = rows.slice(3, 32, 16);
  const kv_cache<f32> cache{.k = k, .v = v};
  const auto refuses = [&](std::string_view text, const kv_cache<f32>& of,
                           const attention_decode_options& options, const tensor_view<const f32, 4>& query) {
    const thrown error = catch_error([&] { attention_decode(s, query, of, o, options); });
    CAPTURE(text, error.message);
    REQUIRE(error.code == errc::invalid_argument);
    REQUIRE(error.says("kaio: attention_decode: "));
    REQUIRE(error.says(text));
  };
  auto workspace = under_test().allocate<u8>(4096);
  refuses("whose keys do not follow its values", {.k = rows.slice(3, 0, 16), .v = rows.slice(3, 16, 32)},
          {.qv = qv, .workspace = workspace}, q);
  refuses("whose keys do not follow its values", {.k = rows.slice(3, 31, 16), .v = v},
          {.qv = qv, .workspace = workspace}, q);
  refuses("argument qv has extent 3", cache,
          {.qv = tensor_view<const f32, 4>(queries, 2, 1, 2, 16), .workspace = workspace}, q);
  refuses("argument qv has extent 2", cache,
          {.qv = tensor_view<const f32, 4>(queries, 2, 1, 1, 32), .workspace = workspace}, q);
  refuses("argument k has extent 3", cache, {.qv = qv, .workspace = workspace},
          tensor_view<const f32, 4>(queries, 2, 1, 2, 48));
  refuses("another number of dimensions", cache,
          {.qv = tensor_view<const f32, 3>(queries, 2, 2, 32), .workspace = workspace}, q);
  auto half = upload(std::vector<f16>(256));
  refuses("different element types", cache,
          {.qv = tensor_view<const f16, 4>(half, 2, 1, 2, 32), .workspace = workspace}, q);
  refuses("argument workspace", cache, {.qv = qv}, q);
  refuses("shares memory with argument qv", cache,
          {.qv = tensor_view<const f32, 4>(to, 2, 1, 2, 32), .workspace = workspace}, q);
  refuses("shares memory with argument q", cache, {.qv = qv, .workspace = queries}, q);
  attention_decode(s, q, cache, o, {.qv = qv, .workspace = workspace});  // and one that is right
}
