// qkv_project of one row by weights of four bits in one launch, with products of integers: numbers of any size, zero
// points, and numbers that are not finite, against double precision.
#include "tests/ops/qkv_project/support.hpp"

#include <algorithm>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
class one_row {
 public:
  static constexpr i64 n = 4 * 64, group = 64;

  one_row(i64 k, bool zero_points, bool ordered = false)
      : k_(k),
        groups_((k + group - 1) / group),
        shape_{.n = n,
               .k = k,
               .group = group,
               .scales = std::is_same_v<T, f16> ? w4_scale_type::f16 : w4_scale_type::bf16,
               .zero_points = zero_points,
               .act_order = ordered},
        w_(static_cast<std::size_t>(n * k)) {
    std::vector<i32> codes(static_cast<std::size_t>(k / 8 * n)),
        zeros(static_cast<std::size_t>(groups_ * n / 8));
    std::vector<T> scales(static_cast<std::size_t>(groups_ * n));
    for (auto* words : {&codes, &zeros})
      for (i32& one : *words) one = static_cast<i32>(engine());
    for (T& one : scales) one = from_float<T>(std::uniform_real_distribution<float>(0.01f, 0.2f)(engine));
    std::vector<i32> group_of(static_cast<std::size_t>(k));
    for (std::size_t row = 0; row < group_of.size(); ++row)
      group_of[row] = static_cast<i32>(row / static_cast<std::size_t>(group));
    if (ordered) std::shuffle(group_of.begin(), group_of.end(), engine);
    for (i64 row = 0; row < k; ++row)
      for (i64 column = 0; column < n; ++column) {
        const i64 at = group_of[static_cast<std::size_t>(row)] * n + column;
        const i32 code = codes[static_cast<std::size_t>(row / 8 * n + column)] >> (row % 8 * 4) & 15;
        const i32 zero = zeros[static_cast<std::size_t>(at / 8)] >> (at % 8 * 4) & 15;
        w_[static_cast<std::size_t>(column * k + row)] =
            (code - (zero_points ? zero : 8)) * to_double(scales[static_cast<std::size_t>(at)]);
      }
    packed_ = under_test().allocate<u8>(packed_bytes(shape_));
    const auto on_codes = upload(codes), on_zeros = upload(zeros);
    const auto on_scales = upload(scales);
    gptq_w4 from{.qweight = tensor_view<const i32, 2>(on_codes, k / 8, n),
                 .scales = tensor_view<const T, 2>(on_scales, groups_, n),
                 .v2 = true};
    const auto on_groups = upload(group_of);
    if (ordered) from.g_idx = tensor_view<const i32, 1>(on_groups, k);
    if (zero_points) from.qzeros = tensor_view<const i32, 2>(on_zeros, groups_, n / 8);
    repack(under_test().stream(), from, w4_weights{shape_, packed_});
    under_test().stream().synchronize();
  }
  // Numbers whose exponents span a range of `exponents`.
  std::vector<T> row(int exponents) {
    std::vector<T> x(static_cast<std::size_t>(k_));
    for (T& one : x) {
      const float mantissa = std::uniform_real_distribution<float>(-2, 2)(engine);
      one = from_float<T>(std::ldexp(mantissa, -static_cast<int>(engine() % static_cast<u64>(exponents))));
    }
    return x;
  }
  std::vector<T> product(const std::vector<T>& x, u32 parts) {
    const device& gpu = under_test();
    const auto on_x = upload(x);
    auto q = gpu.allocate<T>(2 * 64), k = gpu.allocate<T>(64), v = gpu.allocate<T>(64);
    qkv_project_options options{
        .variant = std::is_same_v<T, f16> ? "qkv_project_w4_one_row_f16" : "qkv_project_w4_one_row_bf16",
        .splits = parts};
    qkv_project(gpu.stream(), tensor_view<const T, 3>(on_x, extents(1, 1, k_)), w4_weights{shape_, packed_},
                {tensor_view<T, 4>(q, 1, 1, 2, 64), tensor_view<T, 4>(k, 1, 1, 1, 64),
                 tensor_view<T, 4>(v, 1, 1, 1, 64)},
                options);
    std::vector<T> all = q.download();
    for (const auto& more : {k.download(), v.download()}) all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  double weight(i64 column, i64 row) const { return w_[static_cast<std::size_t>(column * k_ + row)]; }
  // Sums that are not finite, too.
  void check(const std::vector<T>& x, u32 parts) {
    CAPTURE(k_, parts, shape_.zero_points, sizeof(T));
    const std::vector<T> y = product(x, parts);
    constexpr double rounding = std::is_same_v<T, f16> ? 0x1p-11 : 0x1p-8;
    for (i64 column = 0; column < n; ++column) {
      double want = 0, all = 0;
      for (i64 row = 0; row < k_; ++row) {
        const double one = to_double(x[static_cast<std::size_t>(row)]) * weight(column, row);
        want += one;
        all += std::abs(one);
      }
      const double is = to_double(y[static_cast<std::size_t>(column)]);
      CAPTURE(column, is, want, all);
      if (std::isnan(want))
        REQUIRE(std::isnan(is));
      else if (std::isinf(want))
        REQUIRE(is == want);
      else
        REQUIRE(std::abs(is - want) <= rounding * std::abs(want) + 0x1p-21 * all + 0x1p-24);
    }
  }
  std::mt19937_64 engine{20261129};

 private:
  i64 k_, groups_;
  w4_shape shape_;
  std::vector<double> w_;  // (n, k)
  buffer<u8> packed_;
};

template <class T>
void check_numbers() {
  for (const bool zero_points : {false, true}) {
    one_row<T> few(328, zero_points), many(2240, zero_points), ordered(328, zero_points, true);
    for (const u32 parts : {1u, 2u}) few.check(few.row(1), parts);
    for (const u32 parts : {1u, 4u}) ordered.check(ordered.row(6), parts);
    for (const int exponents : {1, 6, 12, 24}) many.check(many.row(exponents), 2);
    std::vector<T> zeros(328, from_float<T>(0.0f));
    few.check(zeros, 1);
    // Not finite: the first k of a tile, one inside, the last k that exists; then two tiles.
    const float infinity = std::numeric_limits<float>::infinity();
    for (const std::size_t at : {0, 77, 327})
      for (const float number : {infinity, -infinity, std::nanf("")}) {
        std::vector<T> x = few.row(3);
        x[at] = from_float<T>(number);
        few.check(x, 1);
        x[200] = from_float<T>(infinity);
        few.check(x, 2);
      }
  }
}

// Clusters of several batches of columns, whose blocks own units of all batches or of some.
template <class T>
void check_many_heads(u32 parts) {
  constexpr i64 heads = 160, of_keys = 2, size = 128, k = 256, group = 64, n = (heads + 2 * of_keys) * size;
  CAPTURE(parts, sizeof(T));
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  std::mt19937_64 engine(parts);
  std::vector<i32> words(n * k / 8);
  for (i32& one : words) one = static_cast<i32>(engine());
  std::vector<T> scales(k / group * n), x(k);
  for (T& one : scales) one = from_float<T>(static_cast<float>(engine() % 7 + 1) / 256);
  for (T& one : x) one = from_float<T>(static_cast<float>(engine() % 33) / 16 - 1);
  const w4_shape shape{.n = n,
                       .k = k,
                       .group = group,
                       .scales = std::is_same_v<T, f16> ? w4_scale_type::f16 : w4_scale_type::bf16};
  const auto on_words = gpu.upload(words);
  const auto on_scales = gpu.upload(scales);
  auto packed = gpu.allocate<u8>(packed_bytes(shape));
  repack(s,
         kaio_int4{.packed = tensor_view<const i32, 2>(on_words, n, k / 8),
                   .scales = tensor_view<const T, 2>(on_scales, k / group, n)},
         w4_weights{shape, packed});
  const auto on_x = gpu.upload(x);
  auto q_memory = gpu.allocate<T>(heads * size), k_memory = gpu.allocate<T>(of_keys * size),
       v_memory = gpu.allocate<T>(of_keys * size);
  qkv_project(
      s, tensor_view<const T, 3>(on_x, extents(1, 1, k)), w4_weights{shape, packed},
      {tensor_view<T, 4>(q_memory, 1, 1, heads, size), tensor_view<T, 4>(k_memory, 1, 1, of_keys, size),
       tensor_view<T, 4>(v_memory, 1, 1, of_keys, size)},
      {.variant = std::is_same_v<T, f16> ? "qkv_project_w4_one_row_f16" : "qkv_project_w4_one_row_bf16",
       .splits = parts});
  std::vector<T> all = q_memory.download();
  for (const auto& more : {k_memory.download(), v_memory.download()})
    all.insert(all.end(), more.begin(), more.end());
  constexpr double rounding = std::is_same_v<T, f16> ? 0x1p-11 : 0x1p-8;
  for (i64 column = 0; column < n; ++column) {
    double want = 0;
    for (i64 i = 0; i < k; ++i) {
      const u32 word = static_cast<u32>(words[static_cast<std::size_t>(column * (k / 8) + i / 8)]);
      const u32 code = word >> (4 * (i % 8)) & 15u;
      want += to_double(x[static_cast<std::size_t>(i)]) * (code < 8 ? code : code - 16.0) *
              to_double(scales[static_cast<std::size_t>(i / group * n + column)]);
    }
    const double is = to_double(all[static_cast<std::size_t>(column)]);
    CAPTURE(column, is, want);
    REQUIRE(std::abs(is - want) <= rounding * std::abs(want) + 1e-4);
  }
}

}  // namespace

TEST_CASE("qkv_project: one row in one launch, many heads", "[ops][qkv]") {
  if (under_test().properties().target.sm < 90) return;
  check_many_heads<f16>(4);
  check_many_heads<bf16>(2);
  check_many_heads<f16>(1);
}

TEST_CASE("qkv_project: one row in one launch, numbers of any size", "[ops][qkv]") {
  if (under_test().properties().target.sm < 90) return;
  check_numbers<f16>();
  check_numbers<bf16>();
}
