// reduce against double precision and exact integers: random extents, strides and axes; operators of the library
// and of the test; the same bits for a row alone and among others.
#include "tests/ops/reduce/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/reduce.hpp>

#include <algorithm>
#include <limits>

using namespace kaio;
using namespace kaio::tests;

namespace {

buffer<u32> workspace_of(std::uint64_t bytes) {
  return under_test().allocate<u32>(static_cast<std::size_t>(bytes / 4 + 1));
}

// Compares with `fold(list of elements)` for each output. `run(x, out, options)` calls reduce.
template <class T, class Out, std::size_t Rank, class Fold, class Run>
void check(const std::array<i64, Rank>& e, const std::array<std::size_t, Rank>& order, i64 pad, int axis,
           bool keeps, std::uint64_t seed, const Fold& fold, const Run& run) {
  CAPTURE(e, order, pad, axis, keeps, seed);
  std::mt19937_64 engine(seed);
  strided_tensor<T, Rank> x(e, order, pad, 0xff);
  x.each([&](const auto& i) { x.host[x.at(i)] = any_number<T>(engine); });
  std::array<i64, Rank> of_out = e;
  const auto index_of = [&](std::array<i64, Rank> i) {
    for (std::size_t d = 0; d < Rank; ++d)
      if (axis < 0 || static_cast<int>(d) == axis) i[d] = 0;
    return i;
  };
  for (std::size_t d = 0; d < Rank; ++d)
    if (axis < 0 || static_cast<int>(d) == axis) of_out[d] = 1;
  strided_tensor<Out, Rank> out(of_out, order, pad / 2, 0x5a);
  std::vector<std::vector<T>> lists(out.host.size());
  std::vector<bool> written(out.host.size());
  out.each([&](const auto& i) { written[out.at(i)] = true; });
  x.each([&](const auto& i) { lists[out.at(index_of(i))].push_back(x.host[x.at(i)]); });
  auto on_x = under_test().upload(x.host);
  auto on_out = under_test().upload(out.host);
  reduce_options options{.axis = axis < 0 ? 0 : axis, .all = axis < 0};
  const auto from = x.template view<const T>(on_x);
  const auto to = out.view(on_out);
  if constexpr (Rank > 1) {
    if (!keeps && axis >= 0) {
      std::array<i64, Rank - 1> extents{}, strides{};
      std::size_t n = 0;
      for (std::size_t d = 0; d < Rank; ++d)
        if (static_cast<int>(d) != axis) extents[n] = out.extents[d], strides[n++] = out.strides[d];
      const auto less = [&]<std::size_t... D>(std::index_sequence<D...>) {
        return tensor_view<Out, Rank - 1>(on_out.view(), kaio::extents<Rank - 1>(extents[D]...),
                                          kaio::strides<Rank - 1>(strides[D]...));
      }(std::make_index_sequence<Rank - 1>());
      run(from, less, options);
    } else {
      run(from, to, options);
    }
  } else {
    run(from, to, options);
  }
  const auto got = on_out.download();
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    if (!written[i]) {
      REQUIRE(std::memcmp(&got[i], &out.host[i], sizeof(Out)) == 0);
      continue;
    }
    double size = 0;
    for (const T& one : lists[i]) size += std::abs(to_double(one));
    const double want = fold(lists[i]), is = to_double(got[i]);
    if (std::isinf(want)) {
      REQUIRE(is == want);
      continue;
    }
    const bool is_integer = std::is_integral_v<Out>;
    const double bound =
        is_integer ? 0 : spacing<Out>(want) * 0.5001 + size * (std::is_same_v<Out, f64> ? 1e-14 : 1e-6);
    CAPTURE(want, is, bound);
    REQUIRE(std::abs(is - want) <= bound);
  }
}

double sum_of(const auto& list) {
  double sum = 0;
  for (const auto& x : list) sum += to_double(x);
  return sum;
}
double max_of(const auto& list) {
  double best = -std::numeric_limits<double>::infinity();
  for (const auto& x : list) best = std::max(best, to_double(x));
  return best;
}
double min_of(const auto& list) {
  double best = std::numeric_limits<double>::infinity();
  for (const auto& x : list) best = std::min(best, to_double(x));
  return best;
}
double mean_of(const auto& list) { return sum_of(list) / static_cast<double>(list.size()); }

constexpr auto by_reduction = [](reduction how) {
  return [how](const auto& x, const auto& out, reduce_options options) {
    auto workspace = workspace_of(reduce_workspace_bytes(how, x, out, options));
    options.workspace = workspace;
    reduce(under_test().stream(), how, x, out, options);
    under_test().stream().synchronize();
  };
};
template <class Combine, class Acc, class Map = ops::unchanged, class Finish = ops::unchanged>
constexpr auto by_own(Combine combine, Acc identity, Map map = {}, Finish finish = {}) {
  return [=](const auto& x, const auto& out, reduce_options options) {
    auto workspace = workspace_of(reduce_workspace_bytes(combine, identity, x, out, options));
    options.workspace = workspace;
    reduce(under_test().stream(), combine, identity, x, out, options, map, finish);
    under_test().stream().synchronize();
  };
}

template <class T, class Out = T>
void check_reduction(reduction how, const auto& e, const auto& order, i64 pad, int axis, bool keeps,
                     std::uint64_t seed) {
  const auto run = by_reduction(how);
  switch (how) {
    case reduction::sum:
      return check<T, Out>(
          e, order, pad, axis, keeps, seed, [](const auto& l) { return sum_of(l); }, run);
    case reduction::mean:
      return check<T, Out>(
          e, order, pad, axis, keeps, seed, [](const auto& l) { return mean_of(l); }, run);
    case reduction::max:
      return check<T, Out>(
          e, order, pad, axis, keeps, seed, [](const auto& l) { return max_of(l); }, run);
    case reduction::min:
      return check<T, Out>(
          e, order, pad, axis, keeps, seed, [](const auto& l) { return min_of(l); }, run);
  }
}

template <std::size_t Rank>
void check_random(std::mt19937_64& engine) {
  const auto below = [&](i64 n) { return std::uniform_int_distribution<i64>(0, n - 1)(engine); };
  std::array<i64, Rank> e{};
  i64 size = 1;
  for (i64& extent : e) {
    const i64 most = std::max<i64>(60000 / size, 1);
    extent = std::min(most, below(8) == 0 ? 1 + below(3000) : 1 + below(40));
    size *= extent;
  }
  if (below(16) == 0) e[static_cast<std::size_t>(below(Rank))] = 0;
  auto order = strided_tensor<f32, Rank>::row_major();
  if (below(2) == 0) std::shuffle(order.begin(), order.end(), engine);
  const i64 pad = below(3) == 0 ? below(9) : 0;
  const int axis = static_cast<int>(below(i64{Rank} + 1)) - 1;
  const auto how = static_cast<reduction>(below(4));
  const std::uint64_t seed = engine();
  bool has_zero = false;
  for (const i64 extent : e) has_zero = has_zero || extent == 0;
  if (has_zero && how == reduction::mean) return;
  switch (below(4)) {
    case 0: return check_reduction<f32>(how, e, order, pad, axis, below(2) == 0, seed);
    case 1: return check_reduction<f16>(how, e, order, pad, axis, below(2) == 0, seed);
    case 2: return check_reduction<bf16>(how, e, order, pad, axis, below(2) == 0, seed);
    default: return check_reduction<bf16, f32>(how, e, order, pad, axis, below(2) == 0, seed);
  }
}

constexpr auto square = [](const auto& x) { return x * x; };

}  // namespace

TEST_CASE("reduce: random extents, strides and axes", "[ops][reduce]") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 engine(seed);
  for (int i = 0; i < 12; ++i) {
    check_random<1>(engine);
    check_random<2>(engine);
    check_random<3>(engine);
    check_random<4>(engine);
    check_random<5>(engine);
  }
}

TEST_CASE("reduce: rows and columns of several blocks", "[ops][reduce]") {
  using order2 = std::array<std::size_t, 2>;
  const order2 rows{0, 1}, columns{1, 0};
  for (const i64 size : {16384, 16385, 70000})
    check_reduction<bf16, f32>(reduction::sum, std::array<i64, 2>{2, size}, rows, 0, 1, false, 1);
  check_reduction<f32>(reduction::max, std::array<i64, 2>{3, 40001}, rows, 0, 1, true, 2);
  check_reduction<f32>(reduction::sum, std::array<i64, 2>{5000, 7}, rows, 0, 0, true, 3);
  check_reduction<f16>(reduction::mean, std::array<i64, 2>{2100, 40}, rows, 0, 0, false, 4);
  check_reduction<f32>(reduction::sum, std::array<i64, 2>{300, 301}, rows, 3, -1, false, 5);
  check_reduction<f32>(reduction::sum, std::array<i64, 2>{40000, 2}, columns, 1, -1, false, 6);
  check_reduction<bf16>(reduction::min, std::array<i64, 2>{0, 5}, rows, 0, 0, true, 7);
  check_reduction<f32>(reduction::sum, std::array<i64, 2>{0, 5}, rows, 0, -1, true, 8);
}

TEST_CASE("reduce: integers, f64 and functions of a caller", "[ops][reduce]") {
  const std::array<i64, 3> e{7, 33, 130};
  const auto order = strided_tensor<f32, 3>::row_major();
  const auto sum = [](const auto& l) { return sum_of(l); };
  for (const int axis : {0, 1, 2, -1}) {
    check<i32, i32>(e, order, 0, axis, true, 1, sum, by_own(plus{}, i32{0}));
    check<u32, u32>(
        e, order, 1, axis, false, 2, [](const auto& l) { return l.empty() ? 0.0 : max_of(l); },
        by_own(maximum{}, u32{0}));
    check<u8, i64>(e, order, 3, axis, false, 3, sum, by_own(plus{}, i64{0}));
    check<f64, f64>(e, order, 0, axis, false, 4, sum, by_own(plus{}, f64{0}));
    check<f16, f32>(
        e, order, 5, axis, false, 5,
        [](const auto& l) {
          double squares = 0;
          for (const auto& x : l) squares += to_double(x) * to_double(x);
          return std::sqrt(squares / static_cast<double>(l.size()));
        },
        by_own([](const auto& a, const auto& b) { return a + b; }, 0.0f, square,
               [](const auto& a, const auto& n) { return sqrt(a / cast<f32>(n)); }));
  }
}

TEST_CASE("reduce: a row has the same bits in every call, and NaN is the result of its row",
          "[ops][reduce]") {
  const i64 rows = 9, size = 1003;
  std::mt19937_64 engine(11);
  std::vector<f32> host(static_cast<std::size_t>(rows * size));
  for (f32& x : host) x = any_number<f32>(engine);
  host[4 * 1003 + 17] = std::numeric_limits<f32>::quiet_NaN();
  auto on_x = under_test().upload(host);
  auto all = under_test().allocate<f32>(rows), one = under_test().allocate<f32>(1);
  const stream& s = under_test().stream();
  const tensor_view<const f32, 2> x(on_x, rows, size);
  for (const reduction how : {reduction::sum, reduction::max}) {
    reduce(s, how, x, tensor_view<f32, 1>(all, rows));
    const auto together = all.download();
    for (const i64 row : {0, 3, 4, 8}) {
      reduce(s, how, x.slice(0, row, 1), tensor_view<f32, 1>(one, 1));
      const f32 a = one.download()[0], b = together[static_cast<std::size_t>(row)];
      REQUIRE(std::isnan(a) == (row == 4));
      if (row != 4) REQUIRE(a == b);
    }
  }
}

TEST_CASE("reduce: bad input", "[ops][reduce]") {
  const device& gpu = under_test();
  auto a = gpu.allocate<f32>(1 << 16), b = gpu.allocate<f32>(512);
  const tensor_view<f32, 2> x(a, 8, 64);
  const tensor_view<f32, 1> out(b, 8);
  const auto refused = [&](const std::string& part, const auto& from, const auto& to,
                           const reduce_options& options = {}) {
    require_refusal(errc::invalid_argument, "kaio: reduce: ", part,
                    [&] { reduce(gpu.stream(), reduction::sum, from, to, options); });
  };
  refused("axis is 2, and x has 2 dimensions", x, out, {.axis = 2});
  refused("axis is -3", x, out, {.axis = -3});
  refused("argument out has extent 0 of 8, and 64 is expected", x, out, {.axis = 0});
  refused("argument out has extent 0 of 8, and 1 is expected", x, out, {.all = true});
  refused("argument out has 3 dimensions", x, tensor_view<f32, 3>(b, 8, 1, 1));
  refused("output out shares memory with argument x", x, tensor_view<f32, 1>(a, 8));
  refused("argument workspace is null, and this shape needs", tensor_view<f32, 2>(a, 1, 1 << 16),
          out.slice(0, 0, 1));
  refused("output out has stride 0 in dimension 0", x, tensor_view<f32, 1>(b, extents(8), strides(0)));
}
