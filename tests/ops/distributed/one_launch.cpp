// all_gather_matmul in one launch: the bits of matmul on the gathered rows, whoever comes late, call after call; and an end if
// a rank does not come.

#include "tests/ops/distributed/support.hpp"

#include <kaio/ops/all_gather_matmul.hpp>
#include <kaio/ops/matmul.hpp>

#include <chrono>
#include <optional>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
std::vector<T> numbers(std::size_t n, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> any(-1, 1);
  std::vector<T> x(n);
  for (T& e : x) e = from_float<T>(any(engine));
  return x;
}

bool has_one_launch() {
  const auto target = emulated_devices(1)[0].properties().target;
  return target.sm == 90 && target.arch_specific;
}

// The kernel of matmul that has the tile of the one launch.
template <class T>
constexpr std::string_view with_this_tile =
    std::is_same_v<T, f16> ? "matmul_sm90_f16_f16_xx_128x256x1_s4_c2x1_b1_terms"
                           : "matmul_sm90_bf16_bf16_xx_128x256x1_s4_c2x1_b1_terms";

// Rows of a rank; padding after the rows of A. by_columns: B has its columns as lines. terms: a bias, an activation and a
// residual.
struct shape {
  std::size_t m, k, n, padding = 0;
  bool by_columns = false, terms = false;
};
std::string text_of(const shape& x) {
  return std::to_string(x.m) + " x " + std::to_string(x.n) + " x " + std::to_string(x.k) + ", padding " +
         std::to_string(x.padding) + (x.by_columns ? ", b by columns" : "") + (x.terms ? ", terms" : "");
}

peer_workspace_options room_for(int ranks, const shape& x) {
  const std::size_t row = (2 * x.k + 15) / 16 * 16;
  return {.sum_bytes = 1024,
          .one_shot_bytes = 512,
          .product_bytes = static_cast<std::size_t>(ranks) * ((x.m * row + 255) / 256 * 256),
          .blocks = 2};
}

// Some calls one after the other, each with other rows. `others`: the schedule of odd ranks.
template <class T>
void check(int ranks, const shape& x, std::uint32_t seed,
           gather_schedule others = gather_schedule::one_launch, int calls = 3) {
  run_all(group_of(ranks), [&](int r, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(c, room_for(ranks, x));
    const std::size_t all = static_cast<std::size_t>(ranks) * x.m, own = static_cast<std::size_t>(r) * x.m,
                      pitch = x.k + x.padding;
    const auto weights = c.on().upload(numbers<T>(x.k * x.n, seed));
    const auto b = x.by_columns ? tensor_view<const T, 2>(weights, x.n, x.k).transposed()
                                : tensor_view<const T, 2>(weights, x.k, x.n);
    const auto more = c.on().upload(numbers<T>(all * x.n, seed + 1));
    const auto bias = c.on().upload(numbers<f32>(x.n, seed + 2));
    matmul_options options{.alpha = 0.5f};
    if (x.terms) {
      options.bias = per_column(tensor_view<const f32, 1>(bias, x.n));
      options.residual = tensor_view<const T, 2>(more, all, x.n);
      options.activation = matmul_activation::relu;
    }
    std::vector<buffer<T>> rows, got, want;
    for (int call = 0; call < calls; ++call) {
      rows.push_back(c.on().upload(numbers<T>(all * pitch, seed + 10 + static_cast<std::uint32_t>(call))));
      got.push_back(c.on().template allocate<T>(all * x.n));
      want.push_back(c.on().template allocate<T>(all * x.n));
    }
    const gather_schedule own_schedule = r % 2 == 0 ? gather_schedule::one_launch : others;
    if (own_schedule == gather_schedule::launches) options.variant = with_this_tile<T>;
    for (std::size_t call = 0; call < rows.size(); ++call) {
      const tensor_view<const T, 2> a(rows[call].view(), extents(all, x.k), strides(pitch, 1));
      const auto own_rows = a.slice(0, static_cast<std::int64_t>(own), static_cast<std::int64_t>(x.m));
      all_gather_matmul(w, s, own_rows, b, tensor_view(got[call], all, x.n), options, own_schedule);
    }
    options.variant = with_this_tile<T>;
    for (std::size_t call = 0; call < rows.size(); ++call)
      matmul(s, tensor_view<const T, 2>(rows[call].view(), extents(all, x.k), strides(pitch, 1)), b,
             tensor_view(want[call], all, x.n), options);
    s.synchronize();
    for (std::size_t call = 0; call < rows.size(); ++call)
      must(same_bits(got[call].download(), want[call].download()),
           text_of(x) + ", " + std::to_string(ranks) + " ranks, call " + std::to_string(call) + ", seed " +
               std::to_string(seed));
  });
}

}  // namespace

TEMPLATE_TEST_CASE("sm_90a: all_gather_matmul in one launch has the bits of matmul on all rows", "", f16,
                   bf16) {
  if (!has_one_launch()) return;
  const int ranks = std::is_same_v<TestType, f16> ? 3 : GENERATE(1, 2, 4);
  const shape x = GENERATE(shape{16, 64, 256}, shape{1, 8, 8, 0, true}, shape{7, 72, 40, 16, false, true},
                           shape{130, 200, 264, 8, true, true}, shape{257, 64, 24});
  check<TestType>(ranks, x, static_cast<std::uint32_t>(1000 * ranks) + static_cast<std::uint32_t>(x.m));
}

TEST_CASE("sm_90a: all_gather_matmul in one launch with random shapes") {
  if (!has_one_launch()) return;
  const std::uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
  std::mt19937 engine(seed);
  const auto any = [&](std::size_t from, std::size_t to) {
    return std::uniform_int_distribution<std::size_t>(from, to)(engine);
  };
  const int ranks = static_cast<int>(any(2, 4));
  shape x{any(1, 300), 8 * any(1, 40), 8 * any(1, 70)};
  x.padding = 8 * any(0, 2);
  x.by_columns = any(0, 1) == 1;
  x.terms = any(0, 1) == 1;
  check<bf16>(ranks, x, seed, any(0, 1) == 1 ? gather_schedule::one_launch : gather_schedule::launches, 1);
}

TEST_CASE("sm_90a: all_gather_matmul in one launch with more tiles than blocks") {
  if (!has_one_launch()) return;
  check<f16>(3, {9, 64, 256 * 24, 0, false, true}, 5, gather_schedule::one_launch, 1);
}

TEST_CASE("sm_90a: ranks may choose different schedules of all_gather_matmul") {
  if (!has_one_launch()) return;
  check<f16>(GENERATE(2, 3, 4), {20, 64, 48}, 7, gather_schedule::launches);
}

TEST_CASE("sm_90a: the captured one launch is replayed, with other calls between") {
  if (!has_one_launch()) return;
  run_all(group_of(3), [&](int r, const communicator& c, const stream& s) {
    const std::size_t m = 12, k = 32, n = 64, world = 3;
    const peer_workspace w = peer_workspace::make(c, room_for(3, {m, k, n}));
    auto x = c.on().allocate<bf16>(m * k);
    const auto weights = c.on().upload(numbers<bf16>(k * n, 7));
    auto y = c.on().allocate<bf16>(world * m * n);
    const auto step = [&] {
      all_gather_matmul(w, s, tensor_view(x, m, k), tensor_view(weights, k, n), tensor_view(y, world * m, n),
                        {}, gather_schedule::one_launch);
    };
    step();
    s.synchronize();
    const executable_graph replay = capture_graph(s, step).instantiate();
    for (std::uint32_t call = 0; call < 4; ++call) {
      copy(s, x.view(),
           c.on().upload(numbers<bf16>(m * k, 10 * call + static_cast<std::uint32_t>(r))).view());
      s.synchronize();
      step();
      s.synchronize();
      const auto once = y.download();
      fill(s, y.view(), bf16(0.0f));
      replay.launch(s);
      replay.launch(s);
      s.synchronize();
      must(same_bits(y.download(), once), "call " + std::to_string(call));
      must(to_double(once[(world - 1) * m * n]) != 0, "numbers");
    }
  });
}

TEST_CASE("sm_90a: a rank that never sends: the one launch ends at the time limit") {
  if (!has_one_launch()) return;
  const auto begin = std::chrono::steady_clock::now();
  const auto outcomes = run_ranks(group_of(2, true, 0.3), [&](int r, const communicator& c, const stream& s) {
    const std::size_t m = 300, k = 32, n = 320;
    const peer_workspace w = peer_workspace::make(c, room_for(2, {m, k, n}));
    auto x = c.on().allocate<f16>(m * k), weights = c.on().allocate<f16>(k * n),
         y = c.on().allocate<f16>(2 * m * n);
    peer_workspace::warmup(c.on());
    const graph g = capture_graph(s, [&] {
      all_gather_matmul(w, s, tensor_view(x, m, k), tensor_view(weights, k, n), tensor_view(y, 2 * m, n), {},
                        gather_schedule::one_launch);
    });
    const executable_graph step = g.instantiate();
    if (r == 1) throw std::runtime_error("killed");
    step.launch(s);
    s.synchronize();
  });
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < 10);
  INFO(outcomes[0].error);
  CHECK(outcomes[0].code == errc::device_assert);
  CHECK(outcomes[0].says("time limit"));
}

TEST_CASE("one launch refuses what its kernel does not take, and the workspace remains usable") {
  const int kind = GENERATE(range(0, 8));
  const bool served = has_one_launch();
  const auto outcomes = run_ranks(group_of(2), [&](int, const communicator& c, const stream& s) {
    const peer_workspace w =
        peer_workspace::make(c, {.sum_bytes = 1024, .product_bytes = 1 << 14, .blocks = 2});
    const std::size_t m = 8, k = 16, n = 16;
    auto x = c.on().upload(numbers<f16>(1024, 1)), y = c.on().allocate<f16>(1024);
    auto single = c.on().allocate<f32>(1024);
    const tensor_view<const f16, 2> a(x.slice(0, m * k), extents(m, k)), b(x.slice(0, k * n), extents(k, n));
    const tensor_view<f16, 2> to(y.slice(0, 2 * m * n), extents(2 * m, n));
    const auto call = [&](const auto& of_a, const auto& of_b, const auto& of_c,
                          const matmul_options& options = {}) {
      all_gather_matmul(w, s, of_a, of_b, of_c, options, gather_schedule::one_launch);
    };
    const tensor_view<const f32, 2> f32_a(single.slice(0, m * k), extents(m, k)),
        f32_b(single.slice(0, k * n), extents(k, n));
    std::string text;
    std::optional<errc> code;
    try {
      switch (kind) {
        case 0: call(f32_a, f32_b, tensor_view<f32, 2>(single.slice(512, 256), extents(16, 16))); break;
        case 1: call(a, b, tensor_view<f32, 2>(single.slice(0, 256), extents(16, 16))); break;
        case 2:  // rows of a at multiples of 8 bytes
          call(tensor_view<const f16, 2>(x.slice(0, m * 20), extents(m, k), strides(20, 1)), b, to);
          break;
        case 3:  // rows of c of 18 bytes
          call(a, tensor_view<const f16, 2>(x.slice(0, k * 16), extents(k, std::size_t{9}), strides(16, 1)),
               tensor_view<f16, 2>(y.slice(0, 2 * m * 16), extents(2 * m, std::size_t{9}), strides(16, 1)));
          break;
        case 4:
          call(a, b, to,
               {.bias = per_row(tensor_view<const f32, 1>(single.slice(0, 2 * m), extents(2 * m)))});
          break;
        case 5: call(a, b, to, {.variant = with_this_tile<f16>}); break;
        case 6:  // c by columns
          call(a, b, tensor_view<f16, 2>(y.slice(0, 2 * m * n), extents(n, 2 * m)).transposed());
          break;
        default: call(a, b, to, {.beta = 1});
      }
    } catch (const error& e) {
      text = e.message();
      code = e.code();
    }
    if (served) {
      must(code == errc::invalid_argument, "refused: " + text);
      must(text.find("rank 0 refuses") != std::string::npos, text);
    } else {
      must(code == errc::unsupported_device || code == errc::invalid_argument, text);
    }
    if (!served) return;
    call(a, b, to);
    s.synchronize();
    must(to_double(y.download()[2 * m * n - 1]) != 0, "the next product");
  });
  for (const rank_outcome& o : outcomes) {
    INFO("kind " << kind << ": " << o.error);
    CHECK(o.error.empty());
  }
}
