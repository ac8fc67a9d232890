// ops::attention with NaN, infinities, large scores, repeated memory and repeated calls.
#include "tests/ops/attention/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// q, k, v and the result of one head.
template <class T>
struct one_head {
  u32 queries, keys;
  tensor4<T> q, k, v, o;
  one_head(u32 in_queries, u32 in_keys, u32 size = 64)
      : queries(in_queries),
        keys(in_keys),
        q(1, in_queries, 1, size, false, 0),
        k(1, in_keys, 1, size, false, 0),
        v(1, in_keys, 1, size, false, 0),
        o(1, in_queries, 1, size, false, 0) {
    q.fill(1, 1);
    k.fill(2, 1);
    v.fill(3, 1);
  }
  std::vector<T> run(const attention_options& options) {
    auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host), on_o = upload(o.host);
    attention_first_fit(under_test().stream(), q.template view<const T>(on_q), k.template view<const T>(on_k),
                        v.template view<const T>(on_v), o.template view<T>(on_o), options);
    return on_o.download();
  }
};

template <class T>
T not_a_number() {
  return from_float<T>(std::numeric_limits<float>::quiet_NaN());
}

template <class T>
void planted_nan(u32 size, attention_precision precision = attention_precision::ieee) {
  if (!has_attention<T>()) return;
  CAPTURE(size);
  one_head<T> x(40, 200, size);
  const auto causal = attention_options{.causal = causal_alignment::top_left, .precision = precision};
  // Rows that are computed once more are not rounded to tf32.
  const double allowed = precision == attention_precision::tf32 ? 1.0 / 512 : 2 * unit_in_last_place<T>(1.0);
  const auto clean = x.run(causal);
  // No query attends to keys 40 and later.
  for (u32 j = 40; j < 200; ++j)
    for (u32 e = 0; e < size; ++e) x.k.at(0, j, 0, e) = x.v.at(0, j, 0, e) = not_a_number<T>();
  const auto unseen = x.run(causal);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    CAPTURE(i, to_double(unseen[i]), to_double(clean[i]));
    REQUIRE(std::abs(to_double(unseen[i]) - to_double(clean[i])) <= allowed);
  }
  // NaN in a key: the queries that attend to it become NaN, and no others.
  x.k.at(0, 39, 0, 0) = not_a_number<T>();
  const auto last = x.run(causal);
  for (u32 i = 0; i < 40; ++i) {
    CAPTURE(i);
    REQUIRE(std::isnan(to_double(last[i * size])) == (i == 39));
  }
  // NaN or infinity in a value: it reaches the queries that attend to its key. The others change in their
  // last bits at most.
  for (const float what : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    x.k.fill(2, 1);
    x.v.fill(3, 1);
    x.v.at(0, 21, 0, 5) = x.v.at(0, 150, 0, 7) = from_float<T>(what);
    const auto some = x.run(causal);
    for (u32 i = 0; i < 40; ++i)
      for (u32 e = 0; e < size; ++e) {
        const double got = to_double(some[i * size + e]), want = to_double(clean[i * size + e]);
        CAPTURE(i, e, what, got, want);
        if (i >= 21 && e == 5)
          REQUIRE(!std::isfinite(got));
        else
          REQUIRE(std::abs(got - want) <= allowed);
      }
  }
  // NaN in a query: this query alone becomes NaN.
  x.k.fill(2, 1);
  x.v.fill(3, 1);
  x.q.at(0, 7, 0, 3) = not_a_number<T>();
  const auto seventh = x.run(causal);
  for (u32 i = 0; i < 40; ++i) {
    CAPTURE(i);
    REQUIRE(std::isnan(to_double(seventh[i * size])) == (i == 7));
  }
}

template <class T>
void infinite_scores(attention_precision precision = attention_precision::ieee) {
  if (!has_attention<T>()) return;
  const attention_options options{.precision = precision};
  one_head<T> x(40, 130);
  for (u32 i = 0; i < 40; ++i)
    for (u32 e = 0; e < 64; ++e) x.q.at(0, i, 0, e) = from_float<T>(i % 2 == 0 ? 0.5f : -0.5f);
  x.k.at(0, 77, 0, 9) = from_float<T>(std::numeric_limits<float>::infinity());
  const auto got = x.run(options);
  // The problem without that key.
  one_head<T> y(40, 129);
  y.q = x.q;
  for (u32 j = 0; j < 129; ++j)
    for (u32 e = 0; e < 64; ++e) {
      y.k.at(0, j, 0, e) = x.k.at(0, j < 77 ? j : j + 1, 0, e);
      y.v.at(0, j, 0, e) = x.v.at(0, j < 77 ? j : j + 1, 0, e);
    }
  const auto want = y.run(options);
  for (u32 i = 0; i < 40; ++i)
    for (u32 e = 0; e < 64; ++e) {
      CAPTURE(i, e, to_double(got[i * 64 + e]), to_double(want[i * 64 + e]));
      if (i % 2 == 0)
        REQUIRE(std::isnan(to_double(got[i * 64 + e])));
      else
        REQUIRE(std::abs(to_double(got[i * 64 + e]) - to_double(want[i * 64 + e])) <=
                (precision == attention_precision::tf32 ? 1.0 / 512 : 4 * unit_in_last_place<T>(1.0)));
    }
}

template <class T>
void low_bias() {
  if (!has_attention<T>()) return;
  constexpr u32 queries = 40, keys = 90;
  one_head<T> x(queries, keys);
  std::vector<f32> bias(std::size_t{queries} * keys, 0.0f);
  constexpr f32 lows[] = {std::numeric_limits<f32>::lowest(), -1e9f, -1e35f};
  for (u32 i = 0; i < queries; i += 2)
    for (u32 j = 0; j < keys; ++j) bias[i * keys + j] = lows[i % 3];
  auto on_bias = upload(bias);
  const auto got = x.run({.bias = tensor_view<const f32, 2>(on_bias, queries, keys)});
  const auto without = x.run({});
  for (u32 e = 0; e < 64; ++e) {
    double mean = 0;
    for (u32 j = 0; j < keys; ++j) mean += to_double(x.v.at(0, j, 0, e)) / keys;
    for (u32 i = 0; i < queries; ++i) {
      const double value = to_double(got[i * 64 + e]);
      const double want = i % 2 == 0 ? mean : to_double(without[i * 64 + e]);
      CAPTURE(i, e, value, want);
      REQUIRE(std::abs(value - want) <= 4 * unit_in_last_place<T>(1.0));
    }
  }
}

// Every score is 0, so that all keys have equal shares whatever the scale is.
template <class T>
void extreme_scales() {
  if (!has_attention<T>()) return;
  one_head<T> x(3, 4);
  for (T& value : x.q.host) value = T{};
  for (const f32 scale : {1e30f, 1e-40f, 0.0f, -1e-40f, -1e30f}) {
    const auto got = x.run({.scale = scale});
    for (u32 i = 0; i < x.queries; ++i)
      for (u32 e = 0; e < 64; ++e) {
        double mean = 0;
        for (u32 j = 0; j < x.keys; ++j) mean += to_double(x.v.at(0, j, 0, e)) / x.keys;
        const double is = to_double(got[x.o.index(0, i, 0, e)]);
        CAPTURE(scale, i, e, is, mean);
        REQUIRE(std::abs(is - mean) <= unit_in_last_place<T>(1.0));
      }
  }
}

}  // namespace

TEST_CASE("attention: scales of every size", "[ops][attention]") {
  extreme_scales<f16>();
  extreme_scales<bf16>();
  extreme_scales<f32>();
  const kernels_of few(f32_for_few_queries);
  extreme_scales<f32>();
}

TEST_CASE("attention: NaN reaches the rows that attend to it", "[ops][attention]") {
  for (const u32 size : {20u, 64u, 128u, 256u}) {
    planted_nan<f16>(size);
    planted_nan<bf16>(size);
    planted_nan<f32>(size);
    {
      const kernels_of few(f32_for_few_queries);
      planted_nan<f32>(size);
    }
    planted_nan<f32>(size, attention_precision::tf32);
  }
  planted_nan<f16>(512);
}

TEST_CASE("attention: large scores", "[ops][attention]") {
  check_attention<bf16>({.queries = 70, .keys = 90, .softcap = 30.0f, .scale = 4.0f, .range = 40});
  check_attention<f16>({.queries = 70, .keys = 90, .scale = 1.0f, .range = 20});
  check_attention<f32>({.queries = 70, .keys = 90, .scale = 1.0f, .range = 100});
}

// With +inf a score makes its row NaN, as exact arithmetic does; with -inf it is that of a masked key.
TEST_CASE("attention: infinite scores", "[ops][attention]") {
  infinite_scores<f16>();
  infinite_scores<bf16>();
  infinite_scores<f32>();
  {
    const kernels_of few(f32_for_few_queries);
    infinite_scores<f32>();
  }
  infinite_scores<f32>(attention_precision::tf32);
}

// A row whose bias is so low everywhere that scores vanish in it is an ordinary one: a mean of all values.
TEST_CASE("attention: rows of very low bias", "[ops][attention]") {
  low_bias<f16>();
  low_bias<bf16>();
  low_bias<f32>();
  const kernels_of few(f32_for_few_queries);
  low_bias<f32>();
}

TEST_CASE("attention: operands near the largest f16", "[ops][attention]") {
  one_head<f16> x(70, 90);
  const f16 largest(65504.0f);
  for (f16& value : x.v.host) value = largest;
  for (const f16 value : x.run({})) REQUIRE(to_double(value) == 65504);
  // Sums of products that f16 does not have: one key takes all.
  for (u32 i = 0; i < x.queries; ++i)
    for (u32 e = 0; e < 64; ++e) x.q.at(0, i, 0, e) = largest;
  for (u32 j = 0; j < x.keys; ++j)
    for (u32 e = 0; e < 64; ++e) {
      x.k.at(0, j, 0, e) = from_float<f16>(j == 41 ? 0.5f : -0.5f);
      x.v.at(0, j, 0, e) = from_float<f16>(static_cast<float>(j));
    }
  for (const f16 value : x.run({})) REQUIRE(to_double(value) == 41);
}

TEST_CASE("attention: one k and v for all batches, by strides of 0", "[ops][attention]") {
  auto& gpu = under_test();
  tensor4<f16> q(3, 20, 2, 64, false, 0), k(1, 30, 2, 64, false, 0), v(1, 30, 2, 64, false, 0),
      o(3, 20, 2, 64, false, 0);
  q.fill(1, 1);
  k.fill(2, 1);
  v.fill(3, 1);
  auto on_q = gpu.upload(q.host), on_k = gpu.upload(k.host), on_v = gpu.upload(v.host),
       on_o = gpu.upload(o.host);
  const auto repeated = [&](buffer<f16>& memory, const tensor4<f16>& x) {
    return tensor_view<const f16, 4>(memory, extents(3, 30, 2, 64), strides(0, x.row, x.head, 1));
  };
  attention_first_fit(gpu.stream(), q.view<const f16>(on_q), repeated(on_k, k), repeated(on_v, v),
                      o.view<f16>(on_o));
  const auto all = on_o.download();
  for (u32 b = 0; b < 3; ++b) {
    auto on_one = gpu.upload(o.host);
    attention_first_fit(gpu.stream(), q.view<const f16>(on_q).slice(0, b, 1), k.view<const f16>(on_k),
                        v.view<const f16>(on_v), o.view<f16>(on_one).slice(0, b, 1));
    const auto one = on_one.download();
    REQUIRE(std::memcmp(&all[o.index(b, 0, 0, 0)], &one[o.index(b, 0, 0, 0)], 20 * 2 * 64 * 2) == 0);
  }
}

TEST_CASE("attention: the same call gives the same bits", "[ops][attention]") {
  one_head<f16> x(100, 150);
  const auto first = x.run({.causal = causal_alignment::bottom_right, .softcap = 3.0f});
  for (int i = 0; i < 20; ++i)
    REQUIRE(same_bits(x.run({.causal = causal_alignment::bottom_right, .softcap = 3.0f}), first));
}
