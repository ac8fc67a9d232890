// qkv_project_with: head functions of the user's own, next to the same steps in double precision.
#include <kaio/ops/qkv_project_with.hpp>
#include <kaio/ops/rms_norm.hpp>

#include "tests/ops/qkv_project/support.hpp"
#include "tests/ops/refusal.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// Before the rotation: divides Q and K by 1 + their largest element, and V by 1 + its mean square. Multiplies each
// head of Q by a factor.
struct by_largest {
  static constexpr fixed_string name = "by_largest";
  static constexpr bool before_rotary = true;
  constexpr void operator()(thread t, ops::qkv_row& row, in<f32> factors) const {
    const val most = row.largest(t, [&](const val<f32>& x, const val<u32>&) { return t.let(abs(x)); });
    const val squares = row.sum(t, [&](const val<f32>& x, const val<u32>&) { return t.let(x * x); });
    const val of_head = t.let(select(row.is_q, factors[t.let(select(row.is_q, row.head, 0u))], 1.0f));
    const val divisor = t.let(select(row.is_v, squares / cast<f32>(row.size) + 1.0f, most + 1.0f));
    row.each(t, [&](const val<f32>& x, const val<u32>&) { return t.let(x / divisor * of_head); });
  }
};

// After the rotation: adds a number for each element and position to Q and K.
struct add_position {
  static constexpr fixed_string name = "add_position";
  constexpr void operator()(thread t, ops::qkv_row& row, in<f32> terms, val<u32> positions) const {
    const val at = t.let(min(row.position, positions - 1u));
    row.each(t, [&](const val<f32>& x, const val<u32>& element) {
      const val term = t.let(terms[t.let(at * 512u + element)]);
      return t.let(select(row.is_v, x, x + term));
    });
  }
};

constexpr u32 positions = 64;
std::vector<f32> terms_of_positions() {
  std::vector<f32> terms(positions * 512);
  for (std::size_t i = 0; i < terms.size(); ++i)
    terms[i] = static_cast<f32>(i % 37) / 16 + static_cast<f32>(i / 512);
  return terms;
}

template <class T>
void check_before(const qkv_case& c) {
  if (!has_products<T>()) return;
  qkv_run<T> run(c);
  const std::vector<f32> factors{0.5f, 2, 3, 0.25f};
  auto on_factors = upload(factors);
  run.before_rotary = [&](int part, i64 head, i64, std::vector<double>& y) {
    double most = 0, squares = 0;
    for (const double one : y) {
      most = std::max(most, std::abs(one));
      squares += one * one;
    }
    const double divisor = part == 2 ? squares / static_cast<double>(y.size()) + 1 : most + 1;
    for (double& one : y)
      one = one / divisor * (part == 0 ? static_cast<double>(factors[static_cast<std::size_t>(head)]) : 1);
  };
  run.call = [&](const stream& s, const auto& x, const auto& w, const auto& to, qkv_project_options o) {
    auto workspace =
        under_test().allocate<u8>(qkv_project_with_workspace_bytes<by_largest>(s, x, w, to, o) + 16);
    o.workspace = workspace;
    qkv_project_with(s, x, w, to, by_largest{}, o, on_factors);
    s.synchronize();
  };
  run.check_tensors();
}

template <class T>
void check_after(const qkv_case& c) {
  if (!has_products<T>()) return;
  qkv_run<T> run(c);
  const std::vector<f32> terms = terms_of_positions();
  auto on_terms = upload(terms);
  run.after_rotary = [&](int part, i64, i64 at, std::vector<double>& y) {
    for (std::size_t e = 0; e < y.size() && part != 2; ++e)
      y[e] += static_cast<double>(terms[static_cast<std::size_t>(at) * 512 + e]);
  };
  run.call = [&](const stream& s, const auto& x, const auto& w, const auto& to, qkv_project_options o) {
    auto workspace =
        under_test().allocate<u8>(qkv_project_with_workspace_bytes<add_position>(s, x, w, to, o) + 16);
    o.workspace = workspace;
    qkv_project_with(s, x, w, to, add_position{}, o, on_terms, positions);
    s.synchronize();
  };
  run.check_tensors();
}

}  // namespace

TEST_CASE("qkv_project_with: before the rotation", "[ops][qkv][own]") {
  check_before<f16>({.batches = 2, .biases = true, .norms = true, .pairs = 32, .seed = 1});
  check_before<bf16>({.tokens = 5,
                      .q_heads = 4,
                      .size = 128,
                      .v_size = 80,
                      .interleaved = true,
                      .offsets = true,
                      .pairs = 20,
                      .q_scale = 0.125f,
                      .seed = 2});
  check_before<f16>(
      {.k_heads = 2, .v_heads = 2, .size = 7, .v_size = 9, .pairs = 2, .out = {true, 3, 1}, .seed = 3});
  check_before<f16>({.tokens = 0});
}

TEST_CASE("qkv_project_with: after the rotation, and positions without tables", "[ops][qkv][own]") {
  check_after<bf16>({.batches = 2, .norms = true, .pairs = 32, .q_scale = 0.25f, .seed = 4});
  check_after<f16>({.batches = 2, .size = 256, .v_size = 64, .offsets = true, .seed = 5});
  check_after<f16>({.batches = 3, .tokens = 2, .positions = true, .seed = 6});
}

TEST_CASE("qkv_project_with: the norm of x in front", "[ops][qkv][own][norm]") {
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  qkv_run<f16> run({.tokens = 1, .k = 64, .q_heads = 2});
  const auto on_factors = upload(std::vector<f32>{0.5f, 2});
  const auto on_weight = upload(std::vector<f16>(64, f16(0.5f)));
  const tensor_view<const f16, 1> weight(on_weight, 64);
  auto normed = gpu.allocate<f16>(64);
  rms_norm(s, run.x_view(), weight, tensor_view<f16, 3>(normed, 1, 1, 64), {.epsilon = 1e-4f});
  const auto project = [&](const tensor_view<const f16, 3>& x, const x_norm& norm) {
    auto q = upload(std::vector<f16>(128)), k = upload(std::vector<f16>(64)),
         v = upload(std::vector<f16>(64));
    const qkv_outputs to{tensor_view<f16, 4>(q, 1, 1, 2, 64), tensor_view<f16, 4>(k, 1, 1, 1, 64),
                         tensor_view<f16, 4>(v, 1, 1, 1, 64)};
    qkv_project_options o = run.options();
    o.x_norm = norm;
    auto workspace =
        gpu.allocate<u8>(qkv_project_with_workspace_bytes<by_largest>(s, x, run.weights(), to, o));
    o.workspace = workspace;
    qkv_project_with(s, x, run.weights(), to, by_largest{}, o, on_factors);
    std::vector<f16> all = q.download();
    for (const auto& more : {k.download(), v.download()}) all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  REQUIRE(same_bits(project(run.x_view(), {.weight = weight, .epsilon = 1e-4f}),
                    project(tensor_view<const f16, 3>(normed, 1, 1, 64), {})));
}

TEST_CASE("qkv_project_with: into a cache, at the positions of its keys", "[ops][qkv][own]") {
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  qkv_run<f16> run({.batches = 2, .tokens = 2, .seed = 8});
  const std::vector<i32> lengths{3, 6};
  auto on_lengths = upload(lengths);
  const std::vector<f32> terms = terms_of_positions();
  auto on_terms = upload(terms);
  auto q = gpu.allocate<f16>(2 * 2 * 2 * 64), k = gpu.allocate<f16>(2 * 8 * 64),
       v = gpu.allocate<f16>(2 * 8 * 64);
  kv_cache<f16> cache{.k = {k, 2, 8, 1, 64}, .v = {v, 2, 8, 1, 64}, .lengths = numbers_view(on_lengths, 2)};
  const qkv_outputs to{tensor_view<f16, 4>(q, 2, 2, 2, 64), cache};
  const auto project = [&](qkv_project_options o) {
    auto workspace = gpu.allocate<u8>(
        qkv_project_with_workspace_bytes<add_position>(s, run.x_view(), run.weights(), to, o) + 16);
    o.workspace = workspace;
    qkv_project_with(s, run.x_view(), run.weights(), to, add_position{}, o, on_terms, positions);
    s.synchronize();
  };
  const auto check = [&](const auto& position_of) {
    const std::vector<f16> got = k.download(), of_v = v.download();
    for (i64 b = 0; b < 2; ++b)
      for (i64 row = 0; row < 8; ++row)
        for (i64 e = 0; e < 64; ++e) {
          const i64 token = row - lengths[static_cast<std::size_t>(b)];
          const bool is_new = token >= 0 && token < 2;
          const auto at = static_cast<std::size_t>((b * 8 + row) * 64 + e);
          const double term =
              static_cast<double>(terms[static_cast<std::size_t>(position_of(b, token, row) * 512 + e)]);
          CAPTURE(b, row, e);
          const double x = is_new ? run.row(1, b, token, 0, 0)[static_cast<std::size_t>(e)] + term : 0;
          REQUIRE(std::abs(to_double(got[at]) - x) <= std::abs(x) / 1024);
          REQUIRE(to_double(of_v[at]) ==
                  (is_new ? run.row(2, b, token, 0, 0)[static_cast<std::size_t>(e)] : 0));
        }
  };
  project({});
  check([](i64, i64, i64 row) { return row; });
  qkv_project_options given;
  given.rotary.positions = tensor_view<const i64, 2>(run.on_positions, extents(2, 2));
  project(given);
  check([&](i64 b, i64 token, i64) {
    return token >= 0 && token < 2 ? run.positions[static_cast<std::size_t>(b * 2 + token)] : 0;
  });
}

TEST_CASE("qkv_project_with: what it refuses", "[ops][qkv][own]") {
  qkv_run<f16> run({});
  const device& gpu = under_test();
  auto q = gpu.allocate<f16>(3 * 128), k = gpu.allocate<f16>(3 * 64), v = gpu.allocate<f16>(3 * 64);
  const qkv_outputs to{tensor_view<f16, 4>(q, 1, 3, 2, 64), tensor_view<f16, 4>(k, 1, 3, 1, 64),
                       tensor_view<f16, 4>(v, 1, 3, 1, 64)};
  auto factors = gpu.allocate<f32>(2);
  const auto refused = [&](const std::string& part, const qkv_project_options& o) {
    require_refusal(errc::invalid_argument, "kaio: qkv_project_with: ", part, [&] {
      qkv_project_with(gpu.stream(), run.x_view(), run.weights(), to, by_largest{}, o, factors);
    });
  };
  refused("workspace", {});
  refused("has no head functions", {.variant = "qkv_project_mma_f16_32x128"});
  qkv_project_with_warmup<by_largest>(gpu, run.x_view(), run.weights(), to);
}
