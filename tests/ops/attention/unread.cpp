// NaN in all memory that ops::attention may not read, or has to leave out after reading: around its
// tensors, before and after the attended keys, in the rows of other sequences and of none.
#include "tests/ops/attention/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// A tensor within a larger one, which has more elements in each dimension, on all sides.
template <class T>
struct surrounded {
  static constexpr u32 more_rows = 70, more = 1;
  u32 side;  // elements before and after a row's
  tensor4<T> all;
  u32 batches, rows, heads, size;
  buffer<T> memory;

  surrounded(u32 b, u32 r, u32 h, u32 d, u32 in_side)
      : side(in_side),
        all(b + 2 * more, r + 2 * more_rows, h + 2 * more, d + 2 * in_side, false, 0),
        batches(b),
        rows(r),
        heads(h),
        size(d) {}
  T& at(u32 b, u32 r, u32 h, u32 e) { return all.at(b + more, r + more_rows, h + more, e + side); }
  // Fills the tensor with numbers that depend on the seed alone, and all around it with `outside`.
  void fill(std::uint64_t seed, float outside) {
    for (T& x : all.host) x = from_float<T>(outside);
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> any(-1, 1);
    for (u32 b = 0; b < batches; ++b)
      for (u32 r = 0; r < rows; ++r)
        for (u32 h = 0; h < heads; ++h)
          for (u32 e = 0; e < size; ++e) at(b, r, h, e) = from_float<T>(any(engine));
    memory = upload(all.host);
  }
  template <class U>
  tensor_view<U, 4> view() {
    const std::size_t first = all.index(more, more_rows, more, side);
    return tensor_view<U, 4>(memory.slice(first, all.host.size() - first),
                             extents(batches, rows, heads, size), strides(all.batch, all.row, all.head, 1));
  }
};

struct unread_case {
  u32 size = 64;
  u32 side = 8;  // elements around rows; a multiple of 16 bytes, or not
  bool has_scores = false;
  attention_precision precision = attention_precision::ieee;
};

template <class T>
struct results {
  std::vector<T> out;
  std::vector<f32> lse;
};

template <class T>
results<T> run_within(const unread_case& c, float outside) {
  const u32 batches = 2, queries = 70, keys = 150, heads = 4, key_heads = 2;
  surrounded<T> q(batches, queries, heads, c.size, c.side), k(batches, keys, key_heads, c.size, c.side),
      v(batches, keys, key_heads, c.size, c.side), o(batches, queries, heads, c.size, c.side);
  q.fill(1, outside);
  k.fill(2, outside);
  v.fill(3, outside);
  o.fill(4, 7);
  surrounded<f32> lse(batches, heads, queries, 1, 1), slopes(1, 1, batches, heads, 3),
      sinks(1, 1, 1, heads, 3);
  lse.fill(5, 7);
  slopes.fill(6, outside);
  sinks.fill(7, outside);
  surrounded<f32> bias(batches, heads, queries, keys, 3);
  surrounded<u8> keep(batches, heads, queries, keys, 3);
  attention_options options{.causal = causal_alignment::bottom_right, .window = {100, 0}, .softcap = 4};
  options.precision = c.precision;
  const auto two = slopes.template view<const f32>();
  options.alibi = tensor_view<const f32, 2>(device_pointer<f32>{two.address(), two.bytes() / 4, two.device()},
                                            extents(batches, heads), strides(two.stride(2), 1));
  const auto one = sinks.template view<const f32>();
  options.sinks = tensor_view<const f32, 1>(device_pointer<f32>{one.address(), one.bytes() / 4, one.device()},
                                            extents(heads));
  const auto numbers = lse.template view<f32>();
  options.lse = tensor_view<f32, 3>(
      device_pointer<f32>{numbers.address(), numbers.bytes() / 4, numbers.device()},
      extents(batches, heads, queries), strides(numbers.stride(0), numbers.stride(1), numbers.stride(2)));
  if (c.has_scores) {
    bias.fill(8, outside);
    keep.all.host.assign(keep.all.host.size(), std::isnan(outside) ? 1 : 0);
    for (u32 b = 0; b < batches; ++b)
      for (u32 h = 0; h < heads; ++h)
        for (u32 i = 0; i < queries; ++i)
          for (u32 j = 0; j < keys; ++j) keep.at(b, h, i, j) = (i + j + h) % 3 != 0;
    keep.memory = upload(keep.all.host);
    options.bias = bias.template view<const f32>();
    options.keep = keep.template view<const u8>();
  }
  attention_first_fit(under_test().stream(), q.template view<const T>(), k.template view<const T>(),
                      v.template view<const T>(), o.template view<T>(), options);
  return {o.memory.download(), lse.memory.download()};
}

// No bit depends on the memory around the tensors, and nothing is written there.
template <class T>
void check_around(const unread_case& c) {
  if (!has_attention<T>()) return;
  CAPTURE(c.size, c.side, c.has_scores);
  const results<T> clean = run_within<T>(c, 0), planted = run_within<T>(c, NAN);
  REQUIRE(same_bits(clean.out, planted.out));
  REQUIRE(same_bits(clean.lse, planted.lse));
  std::size_t written = 0, numbers = 0;
  for (const T x : planted.out) written += std::abs(to_double(x)) <= 1;  // and not 7, nor NaN
  for (const f32 x : planted.lse) numbers += !std::isnan(x) && x != 7;
  REQUIRE(written == std::size_t{2} * 70 * 4 * c.size);
  REQUIRE(numbers == std::size_t{2} * 70 * 4);
}

// Queries 310 to 349: keys 0 to 299 are before their windows, keys 359 and later after them.
template <class T>
void check_outside_of_window(u32 size, attention_precision precision = attention_precision::ieee) {
  if (!has_attention<T>()) return;
  CAPTURE(size);
  const u32 queries = 40, keys = 420;
  attention_case c{.queries = keys, .keys = keys, .qk_size = size, .v_size = size};
  attention_inputs<T> x(c);
  auto on_o = upload(x.q.host);
  const auto run = [&] {
    x.on_k = upload(x.k.host);
    x.on_v = upload(x.v.host);
    attention_first_fit(under_test().stream(), x.q.template view<const T>(x.on_q),
                        x.k.template view<const T>(x.on_k), x.v.template view<const T>(x.on_v),
                        x.q.template view<T>(on_o), {.window = {10, 9}, .precision = precision});
    std::vector<T> rows = on_o.download();
    return std::vector<T>(rows.begin() + 310 * size, rows.begin() + (310 + queries) * size);
  };
  const auto clean = run();
  for (u32 j = 0; j < keys; ++j)
    for (u32 e = 0; e < size && (j < 300 || j >= 359); ++e)
      x.k.at(0, j, 0, e) = x.v.at(0, j, 0, e) = from_float<T>(e % 2 == 0 ? NAN : INFINITY);
  const auto planted = run();
  // Rows that are computed once more are not rounded to tf32.
  const double allowed = precision == attention_precision::tf32 ? 1.0 / 256 : 2 * unit_in_last_place<T>(1.0);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    CAPTURE(i, to_double(clean[i]), to_double(planted[i]));
    REQUIRE(std::abs(to_double(clean[i]) - to_double(planted[i])) <= allowed);
  }
}

// Three sequences. The middle one is compared; its neighbours, its unused rows, and rows of no sequence
// hold `other`.
template <class T>
results<T> run_packed(u32 size, float other, attention_precision precision) {
  const u32 rows_q = 150, rows_k = 300, heads = 2, first_q = 30, used_q = 60, first_k = 90, used_k = 100;
  tensor4<T> q(1, rows_q, heads, size, false, 0), k(1, rows_k, heads, size, false, 0), v = k, o = q;
  q.fill(1, 1);
  k.fill(2, 1);
  v.fill(3, 1);
  for (u32 h = 0; h < heads; ++h)
    for (u32 e = 0; e < size; ++e) {
      for (u32 i = 0; i < rows_q; ++i)
        if (i < first_q || i >= first_q + used_q) q.at(0, i, h, e) = from_float<T>(other);
      for (u32 j = 0; j < rows_k; ++j)
        if (j < first_k || j >= first_k + used_k) k.at(0, j, h, e) = v.at(0, j, h, e) = from_float<T>(other);
    }
  auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host), on_o = upload(o.host);
  auto on_lse = upload(std::vector<f32>(std::size_t{heads} * rows_q, 7.0f));
  auto cu_q = upload(std::vector<i32>{0, first_q, 100, 140}),
       cu_k = upload(std::vector<i32>{0, first_k, 200, 260});
  auto of_q = upload(std::vector<i32>{20, used_q, 40}), of_k = upload(std::vector<i32>{90, used_k, 50});
  const auto view = [&]<class U>(U*, const tensor4<T>& x, buffer<T>& memory) {
    return tensor_view<U, 3>(memory, x.rows, x.heads, x.size);
  };
  attention_options options{.causal = causal_alignment::bottom_right,
                            .lse = tensor_view<f32, 2>(on_lse, heads, rows_q)};
  options.precision = precision;
  attention_varlen_first_fit(under_test().stream(), view(static_cast<const T*>(nullptr), q, on_q),
                             view(static_cast<const T*>(nullptr), k, on_k),
                             view(static_cast<const T*>(nullptr), v, on_v),
                             view(static_cast<T*>(nullptr), o, on_o),
                             {.cu_q = tensor_view<const i32, 1>(cu_q, 4),
                              .cu_k = tensor_view<const i32, 1>(cu_k, 4),
                              .max_q = 70,
                              .used_q = tensor_view<const i32, 1>(of_q, 3),
                              .used_k = tensor_view<const i32, 1>(of_k, 3)},
                             options);
  const auto out = on_o.download();
  const auto lse = on_lse.download();
  results<T> found;
  for (u32 i = first_q; i < first_q + used_q; ++i)
    for (u32 h = 0; h < heads; ++h) {
      for (u32 e = 0; e < size; ++e) found.out.push_back(out[o.index(0, i, h, e)]);
      found.lse.push_back(lse[std::size_t{h} * rows_q + i]);
    }
  return found;
}

template <class T>
void check_packed(u32 size, attention_precision precision = attention_precision::ieee) {
  if (!has_attention<T>()) return;
  CAPTURE(size);
  const results<T> clean = run_packed<T>(size, 0, precision), planted = run_packed<T>(size, NAN, precision);
  const double allowed = precision == attention_precision::tf32 ? 1.0 / 256 : 2 * unit_in_last_place<T>(1.0);
  for (std::size_t i = 0; i < clean.out.size(); ++i) {
    CAPTURE(i, to_double(clean.out[i]), to_double(planted.out[i]));
    REQUIRE(std::abs(to_double(clean.out[i]) - to_double(planted.out[i])) <= allowed);
  }
  REQUIRE(same_bits(clean.lse, planted.lse));
}

}  // namespace

TEST_CASE("attention: NaN around all tensors", "[ops][attention]") {
  for (const u32 size : {64u, 128u, 192u, 256u, 20u}) {
    check_around<f16>({.size = size});
    check_around<f32>({.size = size});
  }
  check_around<f16>({.size = 64, .side = 5});
  check_around<bf16>({.size = 128});
  check_around<f16>({.has_scores = true});
  check_around<f32>({.has_scores = true});
  check_around<f32>({.precision = attention_precision::tf32});
  const kernels_of few(f32_for_few_queries);
  for (const u32 size : {64u, 128u, 256u, 20u}) check_around<f32>({.size = size});
  check_around<f32>({.has_scores = true});
}
TEST_CASE("attention: NaN in the keys outside of every window", "[ops][attention]") {
  for (const u32 size : {64u, 128u, 256u, 20u}) {
    check_outside_of_window<f16>(size);
    check_outside_of_window<f32>(size);
  }
  check_outside_of_window<bf16>(64);
  check_outside_of_window<f32>(64, attention_precision::tf32);
  const kernels_of few(f32_for_few_queries);
  for (const u32 size : {64u, 128u, 256u, 20u}) check_outside_of_window<f32>(size);
}
TEST_CASE("attention_varlen: NaN in other sequences and in rows that are not used", "[ops][attention]") {
  for (const u32 size : {64u, 128u, 256u, 20u}) {
    check_packed<f16>(size);
    check_packed<f32>(size);
  }
  check_packed<bf16>(64);
  check_packed<f32>(64, attention_precision::tf32);
  const kernels_of few(f32_for_few_queries);
  for (const u32 size : {64u, 128u, 256u, 20u}) check_packed<f32>(size);
}
