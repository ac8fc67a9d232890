// matmul_grouped_backward against gradients in double precision on the host, on each of its kernels.
#include "tests/ops/refusal.hpp"
#include "tests/ops/support.hpp"

#include <kaio/ops/matmul_grouped_backward.hpp>

#include <algorithm>
#include <random>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
std::vector<T> numbers(std::size_t count, u64 seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<float> any(-1, 1);
  std::vector<T> result(count);
  for (T& x : result) x = from_float<T>(any(engine));
  return result;
}

struct backward_case {
  std::vector<i32> counts;
  i64 n, k;
  bool db_along_k = false;  // db in memory: (groups, n, k), else (groups, k, n)
  bool accumulate = false;
  i64 pad = 0;
};

template <class T, class Out = T>
void check_backward(const backward_case& x, u64 seed) {
  CAPTURE(x.n, x.k, x.db_along_k, x.accumulate, x.pad, seed, sizeof(Out));
  const device& gpu = under_test();
  const auto size = [](i64 count) { return static_cast<std::size_t>(count); };
  const auto groups = static_cast<i64>(x.counts.size());
  std::vector<i32> offsets{1};
  for (const i32 count : x.counts) offsets.push_back(offsets.back() + count);
  const i64 rows = offsets.back() + 2, a_pitch = x.k + x.pad, c_pitch = x.n + x.pad;
  std::vector<T> a = numbers<T>(size(rows * a_pitch), seed), dc = numbers<T>(size(rows * c_pitch), seed + 1);
  // Rows of no group are not read for db.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (i64 r : {i64{0}, rows - 2, rows - 1}) {
    std::fill_n(a.begin() + r * a_pitch, a_pitch, from_float<T>(nan));
    std::fill_n(dc.begin() + r * c_pitch, c_pitch, from_float<T>(nan));
  }
  const std::vector<T> b = numbers<T>(size(groups * x.n * x.k), seed + 2);
  const std::vector<Out> old = numbers<Out>(size(groups * x.n * x.k), seed + 3);
  auto a_memory = gpu.upload(a), dc_memory = gpu.upload(dc), b_memory = gpu.upload(b);
  auto offset_memory = gpu.upload(offsets);
  auto da_memory = gpu.upload(std::vector<Out>(size(rows * x.k), from_float<Out>(-77)));
  auto db_memory = gpu.upload(old);
  const tensor_view<Out, 3> db = x.db_along_k ? tensor_view<Out, 3>(db_memory, groups, x.n, x.k).transposed()
                                              : tensor_view<Out, 3>(db_memory, groups, x.k, x.n);
  matmul_grouped_backward(gpu.stream(),
                          tensor_view<const T, 2>(dc_memory, extents(rows, x.n), strides(c_pitch, 1)),
                          tensor_view<const T, 2>(a_memory, extents(rows, x.k), strides(a_pitch, 1)),
                          tensor_view<const T, 3>(b_memory, groups, x.k, x.n),
                          tensor_view<const i32, 1>(offset_memory, groups + 1),
                          tensor_view<Out, 2>(da_memory, rows, x.k), db, {.accumulate = x.accumulate});
  const std::vector<Out> got_a = da_memory.download(), got_b = db_memory.download();
  const auto right = [&](double result, double exact, double magnitude, i64 terms) {
    const double error =
        unit_in_last_place<Out>(std::abs(exact)) + static_cast<double>(terms) * 0x1p-22 * magnitude;
    return std::abs(result - exact) <= error;  // false for NaN
  };
  bool all = true;
  for (i64 g = 0; g < groups; ++g) {
    const i64 first = offsets[size(g)], last = offsets[size(g + 1)];
    for (i64 r = first; r < last; ++r)
      for (i64 i = 0; i < x.k; ++i) {
        double exact = 0, magnitude = 1;
        for (i64 j = 0; j < x.n; ++j)
          exact += to_double(dc[size(r * c_pitch + j)]) * to_double(b[size((g * x.k + i) * x.n + j)]);
        all &=
            right(to_double(got_a[size(r * x.k + i)]), exact, magnitude + static_cast<double>(x.n) / 4, x.n);
      }
    for (i64 i = 0; i < x.k; ++i)
      for (i64 j = 0; j < x.n; ++j) {
        const i64 at = x.db_along_k ? (g * x.n + j) * x.k + i : (g * x.k + i) * x.n + j;
        double exact = x.accumulate ? to_double(old[size(at)]) : 0;
        for (i64 r = first; r < last; ++r)
          exact += to_double(a[size(r * a_pitch + i)]) * to_double(dc[size(r * c_pitch + j)]);
        all &= right(to_double(got_b[size(at)]), exact, 1 + static_cast<double>(last - first) / 4,
                     last - first + 1);
      }
  }
  REQUIRE(all);
  for (i64 r : {i64{0}, rows - 2, rows - 1})
    for (i64 i = 0; i < x.k; ++i) REQUIRE(to_double(got_a[size(r * x.k + i)]) == -77);
}

}  // namespace

TEST_CASE("matmul_grouped_backward: groups of any size", "[ops][matmul_grouped]") {
  check_backward<f16>({.counts = {3, 0, 130, 64, 65, 1}, .n = 72, .k = 136}, 1);
  check_backward<bf16>({.counts = {0, 200, 0}, .n = 264, .k = 72, .db_along_k = true}, 2);
  check_backward<bf16, f32>({.counts = {17, 330}, .n = 40, .k = 152, .accumulate = true}, 3);
  check_backward<f16>({.counts = {5, 0, 66}, .n = 67, .k = 35, .accumulate = true, .pad = 1}, 4);
  check_backward<bf16>(
      {.counts = {9, 0, 70}, .n = 67, .k = 40, .db_along_k = true, .accumulate = true, .pad = 5}, 5);
  check_backward<f16, f32>({.counts = {64, 128, 63}, .n = 8, .k = 8, .db_along_k = true, .accumulate = true},
                           6);
}

TEST_CASE("matmul_grouped_backward: many groups, and none with rows", "[ops][matmul_grouped]") {
  std::vector<i32> counts(256, 0);
  check_backward<f16>({.counts = counts, .n = 8, .k = 16}, 7);
  std::mt19937_64 engine(8);
  for (i32& count : counts) count = engine() % 3 == 0 ? static_cast<i32>(engine() % 9) : 0;
  check_backward<bf16>({.counts = counts, .n = 16, .k = 24}, 8);
}

TEST_CASE("matmul_grouped_backward: one gradient alone, and bad input", "[ops][matmul_grouped]") {
  const device& gpu = under_test();
  auto memory = gpu.allocate<f16>(8192), more = gpu.allocate<f16>(8192), gradient = gpu.allocate<f16>(8192);
  auto ends = gpu.upload(std::vector<i32>{0, 4, 4, 9, 12});
  const tensor_view<const f16, 2> dc(memory, 12, 16);
  const tensor_view<const f16, 2> a(more, 12, 32);
  const tensor_view<const f16, 3> b(more, 4, 32, 16);
  const tensor_view<const i32, 1> offsets(ends, 5);
  const tensor_view<f16, 2> da(gradient, 12, 32);
  const tensor_view<f16, 3> db(gradient, 4, 32, 16);
  matmul_grouped_backward(gpu.stream(), dc, a, b, offsets, da, {});
  matmul_grouped_backward(gpu.stream(), dc, a, b, offsets, {}, db);
  REQUIRE(gradient.download().size() == 8192);
  const auto refused = [&](const std::string& part, const ops::any_view& of_a, const ops::any_view& of_b,
                           const ops::output_view& to_a, const ops::output_view& to_b) {
    require_refusal(errc::invalid_argument, "kaio: matmul_grouped_backward: ", part,
                    [&] { matmul_grouped_backward(gpu.stream(), dc, of_a, of_b, offsets, to_a, to_b); });
  };
  refused("a has extent 0 of 11", a.slice(0, 0, 11), b, {}, {});
  refused("b has extent 2 of 15", a, b.slice(2, 0, 15), {}, {});
  refused("argument b has 2 dimensions", a, a, {}, {});
  refused("da has extent 1 of 31", a, b, da.slice(1, 0, 31), {});
  refused("db has extent 1 of 31", a, b, {}, db.slice(1, 0, 31));
  refused("output db shares memory", a, b, da, db);
}
