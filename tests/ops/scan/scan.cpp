// scan against double precision and exact integers: random extents and strides, rows of several chunks, in place;
// an operator that does not commute; the same bits for a row alone and among others.
#include "tests/ops/reduce/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/scan.hpp>

#include <algorithm>
#include <limits>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Compares with `fold(so far, element)`, which begins with `identity`. `run(x, out, options)` calls scan.
template <class T, std::size_t Rank, class Sum, class Fold, class Run>
void check(const std::array<i64, Rank>& e, const std::array<std::size_t, Rank>& order, i64 pad,
           bool exclusive, bool in_place, std::uint64_t seed, Sum identity, const Fold& fold,
           const Run& run) {
  CAPTURE(e, order, pad, exclusive, in_place, seed);
  std::mt19937_64 engine(seed);
  strided_tensor<T, Rank> x(e, order, pad, 0x5a), out(e, order, pad / 2, 0x5a);
  x.each([&](const auto& i) { x.host[x.at(i)] = any_number<T>(engine); });
  auto on_x = under_test().upload(x.host), on_out = under_test().upload(out.host);
  auto& to = in_place ? on_x : on_out;
  const auto& shape = in_place ? x : out;
  const auto from = x.template view<const T>(on_x);
  auto workspace = under_test().allocate<u32>(scan_workspace_bytes(from, shape.view(to)) / 4 + 1);
  run(from, shape.view(to), scan_options{.exclusive = exclusive, .workspace = workspace});
  const auto got = to.download();
  std::vector<bool> written(got.size());
  Sum sum = identity;
  double size = 0;
  std::size_t wrong = 0;
  x.each([&](const auto& i) {
    if (i[Rank - 1] == 0) sum = identity, size = 0;
    const T own = x.host[x.at(i)];
    const Sum next = fold(sum, own);
    size += std::abs(to_double(own));
    const Sum want = exclusive ? sum : next;
    const T is = got[shape.at(i)];
    written[shape.at(i)] = true;
    const bool right = std::is_integral_v<T>
                           ? is == static_cast<T>(want)
                           : std::abs(to_double(is) - static_cast<double>(want)) <= size * 1e-6;
    wrong += right ? 0u : 1u;
    sum = next;
  });
  REQUIRE(wrong == 0);
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!written[i]) wrong += std::memcmp(&got[i], &shape.host[i], sizeof(T)) != 0 ? 1u : 0u;
  REQUIRE(wrong == 0);
}

constexpr auto by_sum = [](const auto& x, const auto& out, const scan_options& options) {
  scan(under_test().stream(), x, out, options);
};
template <class T>
void check_sum(const auto& e, const auto& order, i64 pad, bool exclusive, bool in_place, std::uint64_t seed) {
  using sum = std::conditional_t<std::is_integral_v<T>, i64, double>;
  check<T>(
      e, order, pad, exclusive, in_place, seed, sum{0}, [](sum a, T b) { return a + static_cast<sum>(b); },
      by_sum);
}

template <std::size_t Rank>
void check_random(std::mt19937_64& engine) {
  const auto below = [&](i64 n) { return std::uniform_int_distribution<i64>(0, n - 1)(engine); };
  std::array<i64, Rank> e{};
  i64 size = 1;
  for (std::size_t d = Rank; d-- > 0;) {
    e[d] = std::min(std::max<i64>(40000 / size, 1), below(3) == 0 ? 1 + below(3000) : 1 + below(40));
    size *= e[d];
  }
  if (below(16) == 0) e[static_cast<std::size_t>(below(Rank))] = 0;
  auto order = strided_tensor<f32, Rank>::row_major();
  if (below(3) == 0) std::shuffle(order.begin(), order.end(), engine);
  const i64 pad = below(3) == 0 ? below(9) : 0;
  const bool exclusive = below(2) == 0, in_place = below(3) == 0;
  const std::uint64_t seed = engine();
  switch (below(4)) {
    case 0: return check_sum<f32>(e, order, pad, exclusive, in_place, seed);
    case 1: return check_sum<i32>(e, order, pad, exclusive, in_place, seed);
    case 2: return check_sum<u32>(e, order, pad, exclusive, in_place, seed);
    default: return check_sum<i64>(e, order, pad, exclusive, in_place, seed);
  }
}

}  // namespace

TEST_CASE("scan: random extents and strides", "[ops][scan]") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 engine(seed);
  for (int i = 0; i < 10; ++i) {
    check_random<1>(engine);
    check_random<2>(engine);
    check_random<3>(engine);
    check_random<5>(engine);
  }
}

TEST_CASE("scan: rows of several chunks", "[ops][scan]") {
  const std::array<std::size_t, 2> order{0, 1};
  for (const bool exclusive : {false, true}) {
    check_sum<i32>(std::array<i64, 2>{3, 16385}, order, 0, exclusive, false, 1);
    check_sum<f32>(std::array<i64, 2>{1, 70001}, order, 0, exclusive, true, 2);
    check_sum<i64>(std::array<i64, 2>{2, 40000}, order, 3, exclusive, false, 3);
  }
}

TEST_CASE("scan: operators of a caller, one that does not commute", "[ops][scan]") {
  const std::array<std::size_t, 2> order{0, 1};
  for (const i64 size : {5, 700, 20000}) {
    const std::array<i64, 2> e{2, size};
    const auto keep = [](const auto& x, const auto& out, const scan_options& options) {
      scan(
          under_test().stream(), [](const auto& a, const auto& b) { return select(b > 90, b, a); }, i32{0}, x,
          out, options);
    };
    // Elements of up to 90 are gaps; identity is one.
    check<i32>(
        e, order, 0, true, false, 4, i64{0}, [](i64 a, i32 b) { return b > 90 ? i64{b} : a; }, keep);
    const auto largest = [](const auto& x, const auto& out, const scan_options& options) {
      scan(under_test().stream(), maximum{}, f64{-5}, x, out, options);
    };
    check<f64>(
        e, order, 0, false, false, 5, -5.0, [](double a, f64 b) { return std::max(a, b); }, largest);
  }
}

TEST_CASE("scan: a row has the same bits in every call, and NaN stays in its row", "[ops][scan]") {
  const i64 rows = 9, size = 1003;
  std::mt19937_64 engine(11);
  std::vector<f32> host(static_cast<std::size_t>(rows * size));
  for (f32& x : host) x = any_number<f32>(engine);
  host[4 * 1003 + 17] = std::numeric_limits<f32>::quiet_NaN();
  auto on_x = under_test().upload(host);
  auto all = under_test().allocate<f32>(rows * size), one = under_test().allocate<f32>(size);
  const stream& s = under_test().stream();
  const tensor_view<const f32, 2> x(on_x, rows, size);
  scan(s, x, tensor_view<f32, 2>(all, rows, size));
  const auto together = all.download();
  for (const i64 row : {0, 3, 4, 8}) {
    scan(s, x.slice(0, row, 1), tensor_view<f32, 2>(one, 1, size));
    const auto alone = one.download();
    for (i64 i = 0; i < size; ++i) {
      const f32 a = alone[static_cast<std::size_t>(i)],
                b = together[static_cast<std::size_t>(row * size + i)];
      REQUIRE(std::isnan(a) == (row == 4 && i >= 17));
      if (!std::isnan(a)) REQUIRE(a == b);
    }
  }
}

TEST_CASE("scan: bad input", "[ops][scan]") {
  const device& gpu = under_test();
  auto a = gpu.allocate<f32>(1 << 16), b = gpu.allocate<f32>(1 << 16);
  const tensor_view<f32, 2> x(a, 8, 64), out(b, 8, 64);
  const auto refused = [&](const std::string& part, const auto& from, const auto& to,
                           const scan_options& options = {}) {
    require_refusal(errc::invalid_argument, "kaio: scan: ", part,
                    [&] { scan(gpu.stream(), from, to, options); });
  };
  refused("argument out has extent 1 of 63", x, out.slice(1, 0, 63));
  refused("output out shares memory with argument x", x.slice(0, 0, 4), x.slice(0, 2, 4));
  refused("argument workspace is null, and this shape needs", tensor_view<f32, 1>(a, 1 << 16),
          tensor_view<f32, 1>(b, 1 << 16));
}
