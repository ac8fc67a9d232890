// linear_cross_entropy and its gradients against double precision: options, reductions, chunks of every kind, odd
// sizes, rows at any address, ignored rows and wrong targets, infinities and NaN.
#include "tests/ops/linear_cross_entropy/support.hpp"
#include "tests/ops/refusal.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class Gradient>
void require_near(const char* name, const std::vector<f32>& got, const std::vector<near_number>& want) {
  REQUIRE(got.size() >= want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double rounding = sizeof(Gradient) == 4 ? 1e-7 * std::abs(want[i].is)
                                                  : 0.51 * unit_in_last_place<Gradient>(want[i].is) +
                                                        (std::is_same_v<Gradient, f16> ? 0x1p-24 : 0);
    const double is = got[i], bound = want[i].bound + rounding;
    if (is_near(is, want[i].is, bound)) continue;
    CAPTURE(name, i, bound);
    REQUIRE(is == want[i].is);
  }
}

template <class T, class Gradient, class Target>
void check_problem(linear_problem<T>& problem) {
  problem.solve();
  const linear_case& c = problem.c;
  const linear_result got = run_linear<T, Gradient, Target>(problem);
  const auto count = [](i64 n) { return static_cast<std::size_t>(n); };
  const double capped = c.loss.softcap == 0 ? 0 : 3e-7 * static_cast<double>(c.loss.softcap);
  const double most = 4e-6 + 2 * capped + 2 * problem.of_logits;
  for (i64 r = 0; r < c.loss.rows; ++r) {
    CAPTURE(r);
    const double want = problem.of.lse[count(r)], is = got.lse[count(r)];
    if (!is_near(is, want, most + 2e-7 * std::abs(want))) REQUIRE(is == want);
  }
  const bool sums = c.loss.reduction != loss_reduction::none;
  double largest = 0;
  for (const double one : problem.of.lse) largest = std::max(largest, std::isfinite(one) ? std::abs(one) : 0);
  const double slope = 2 + 3 * std::abs(static_cast<double>(c.loss.z_loss)) * largest;
  const double of_rows = c.loss.reduction == loss_reduction::sum ? static_cast<double>(c.loss.rows) : 1;
  for (i64 r = 0; r < (sums ? 1 : c.loss.rows); ++r) {
    CAPTURE(r);
    const double want = sums ? problem.of.total[0] : problem.of.losses[count(r)], is = got.loss[count(r)];
    if (!is_near(is, want, of_rows * most * slope + 1e-6 * std::abs(want))) REQUIRE(is == want);
    if (!sums && problem.of.is_ignored(r)) REQUIRE(is == 0);
  }
  if (sums && c.loss.wrong_row < 0)
    REQUIRE(is_near(got.total[0], problem.of.total[1], 1e-6 * problem.of.total[1]));
  require_near<Gradient>("dx", got.dx, problem.dx);
  require_near<Gradient>("dweight", got.dweight, problem.dweight);
  require_near<Gradient>("dbias", got.dbias, problem.dbias);
}

// There are no products of bf16 before sm_80.
template <class T>
void check(const linear_case& c) {
  if (std::is_same_v<T, bf16> && under_test().properties().target.sm < 80) return;
  CAPTURE(c.loss.rows, c.loss.classes, c.features, static_cast<int>(c.loss.reduction), c.loss.smoothing,
          c.loss.z_loss, c.loss.softcap, c.loss.has_weights, c.has_bias, c.scale, c.chunk, c.pad, c.shift,
          c.loss.seed, sizeof(T));
  linear_problem<T> problem(c);
  if (c.wide_gradients)
    c.loss.has_wide_targets ? check_problem<T, f32, i64>(problem) : check_problem<T, f32, i32>(problem);
  else
    c.loss.has_wide_targets ? check_problem<T, T, i64>(problem) : check_problem<T, T, i32>(problem);
}

template <class T>
void check_options() {
  constexpr auto sum = loss_reduction::sum, mean = loss_reduction::mean;
  check<T>({.loss = {.rows = 5, .classes = 150}});  // chunks of 64, 64 and 22 classes
  check<T>({.loss = {.rows = 7, .classes = 131, .reduction = mean, .smoothing = 0.2f, .has_weights = true},
            .has_bias = true});
  check<T>({.loss = {.rows = 4,
                     .classes = 200,
                     .reduction = sum,
                     .z_loss = 1e-2f,
                     .softcap = 6,
                     .has_wide_targets = false},
            .features = 17,
            .has_bias = true,
            .wide_gradients = true,
            .scale = 0.5f});
  check<T>({.loss = {.rows = 3, .classes = 61, .reduction = mean, .smoothing = 0.1f},
            .chunk = 0,
            .pad = 3,
            .shift = 1});
  check<T>({.loss = {.rows = 1, .classes = 1, .ignored_from = -1}, .features = 1});
  check<T>({.loss = {.rows = 5, .classes = 100, .reduction = sum, .wrong_row = 1}, .features = 8});
}

}  // namespace

TEST_CASE("linear_cross_entropy: f16", "[ops][linear_cross_entropy]") { check_options<f16>(); }
TEST_CASE("linear_cross_entropy: bf16", "[ops][linear_cross_entropy]") { check_options<bf16>(); }
TEST_CASE("linear_cross_entropy: f32", "[ops][linear_cross_entropy]") { check_options<f32>(); }

TEST_CASE("linear_cross_entropy: no rows, no features, all rows ignored", "[ops][linear_cross_entropy]") {
  for (const loss_reduction reduction : {loss_reduction::none, loss_reduction::sum, loss_reduction::mean}) {
    check<bf16>({.loss = {.rows = 0, .classes = 70, .reduction = reduction}, .features = 8});
    check<f32>({.loss = {.rows = 2, .classes = 70, .reduction = reduction}, .features = 0, .has_bias = true});
  }
  for (const loss_reduction reduction : {loss_reduction::none, loss_reduction::sum}) {
    linear_problem<f16> problem({.loss = {.rows = 3, .classes = 70, .reduction = reduction}});
    for (i64& one : problem.of.targets) one = problem.c.loss.ignore_index;
    problem.solve();
    const linear_result got = run_linear<f16, f16, i64>(problem);
    for (const auto* numbers : {&got.loss, &got.dx, &got.dweight, &got.dbias})
      for (const f32 one : *numbers) REQUIRE(one == 0);
  }
}

TEST_CASE("linear_cross_entropy: many classes, whose gradients several blocks share",
          "[ops][linear_cross_entropy]") {
  check<f16>(
      {.loss = {.rows = 2, .classes = 4401, .smoothing = 0.1f, .has_weights = true, .ignored_from = -1},
       .features = 2,
       .chunk = 0});
  check<f32>({.loss = {.rows = 1, .classes = 8700, .has_weights = true, .ignored_from = -1},
              .features = 3,
              .chunk = 4352});
}

TEST_CASE("linear_cross_entropy: large logits, infinities and NaN", "[ops][linear_cross_entropy]") {
  check<bf16>({.loss = {.rows = 3, .classes = 140, .range = 400}});
  const float infinity = std::numeric_limits<float>::infinity();
  linear_problem<f32> problem({.loss = {.rows = 5, .classes = 140, .ignored_from = -1}, .has_bias = true});
  for (i64 k = 0; k < 64; ++k) problem.bias[static_cast<std::size_t>(k)] = -infinity;  // a whole chunk
  problem.of.targets = {3, 70, 139, 100, 65};
  problem.x.at(0, 3, 0, 2) = std::numeric_limits<float>::quiet_NaN();
  problem.x.at(0, 4, 0, 0) = infinity;
  problem.solve();
  const linear_result got = run_linear<f32, f32, i64>(problem);
  CHECK(got.loss[0] == infinity);  // the target has no probability
  for (const std::size_t row : {1u, 2u}) {
    CHECK(std::abs(got.loss[row] - problem.of.losses[row]) < 1e-4);
    CHECK(std::abs(got.lse[row] - problem.of.lse[row]) < 1e-4);
    for (std::size_t i = 0; i < 24; ++i)
      CHECK(is_near(got.dx[24 * row + i], problem.dx[24 * row + i].is, 1e-4));
  }
  for (const std::size_t row : {3u, 4u}) CHECK(std::isnan(got.loss[row]));
}

TEST_CASE("linear_cross_entropy: equal calls give equal bits, chunks change the order of sums alone",
          "[ops][linear_cross_entropy]") {
  linear_problem<f32> problem(
      {.loss = {.rows = 6, .classes = 300, .reduction = loss_reduction::sum, .smoothing = 0.1f}});
  const linear_result first = run_linear<f32, f32, i64>(problem), again = run_linear<f32, f32, i64>(problem);
  problem.c.chunk = 0;
  const linear_result whole = run_linear<f32, f32, i64>(problem);
  using numbers = std::vector<f32> linear_result::*;
  for (const numbers one : {&linear_result::loss, &linear_result::lse, &linear_result::dx,
                            &linear_result::dweight, &linear_result::dbias}) {
    REQUIRE(first.*one == again.*one);
    for (std::size_t i = 0; i < (first.*one).size(); ++i)
      REQUIRE(std::abs((first.*one)[i] - (whole.*one)[i]) <= 1e-5 * (1 + std::abs((whole.*one)[i])));
  }
}

TEST_CASE("linear_cross_entropy: a gradient may be left out, and a workspace may have any size",
          "[ops][linear_cross_entropy]") {
  const device& gpu = under_test();
  linear_problem<f16> problem({.loss = {.rows = 4, .classes = 190, .reduction = loss_reduction::none}});
  const linear_result all = run_linear<f16, f16, i64>(problem);
  auto on_x = gpu.upload(problem.x.host), on_weight = gpu.upload(problem.weight.host);
  auto dx = gpu.allocate<f16>(4 * 24), dweight = gpu.allocate<f16>(190 * 24);
  auto on_targets = gpu.upload(problem.of.targets);
  auto lse = gpu.upload(all.lse), dloss = gpu.upload(problem.of.dloss);
  const tensor_view<f16, 2> x(on_x, 4, 24), weight(on_weight, 190, 24), to_x(dx, 4, 24),
      to_weight(dweight, 190, 24);
  const tensor_view<f32, 1> of_lse(lse, 4), of_loss(dloss, 4);
  const tensor_view<i64, 1> targets(on_targets, 4);
  const std::uint64_t least = linear_cross_entropy_backward_workspace_bytes(x, weight, 64),
                      next = linear_cross_entropy_backward_workspace_bytes(x, weight, 128);
  REQUIRE(least < next);
  auto memory = gpu.allocate<u8>(next - 1);
  const linear_cross_entropy_backward_options options{.reduction = loss_reduction::none, .workspace = memory};
  linear_cross_entropy_backward(gpu.stream(), x, weight, targets, of_lse, of_loss, to_x, {}, options);
  REQUIRE(as_f32(dx.download()) == all.dx);
  for (const f32 one : as_f32(dweight.download())) REQUIRE(one == 0);
  linear_cross_entropy_backward(gpu.stream(), x, weight, targets, of_lse, of_loss, {}, to_weight, options);
  REQUIRE(as_f32(dweight.download()) == all.dweight);
}

TEST_CASE("linear_cross_entropy: captured into a graph after its warm-up", "[ops][linear_cross_entropy]") {
  const device gpu = device::open();  // has loaded nothing
  linear_problem<f16> problem({.loss = {.rows = 3, .classes = 101, .reduction = loss_reduction::none}});
  const linear_result eager = run_linear<f16, f16, i64>(problem);
  auto on_x = gpu.upload(problem.x.host), on_weight = gpu.upload(problem.weight.host);
  auto on_targets = gpu.upload(problem.of.targets);
  auto on_dloss = gpu.upload(problem.of.dloss);
  auto on_loss = gpu.allocate<f32>(3), on_lse = gpu.allocate<f32>(3);
  auto on_dx = gpu.allocate<f16>(3 * 24), on_dweight = gpu.allocate<f16>(101 * 24);
  const tensor_view<f16, 2> x(on_x, 3, 24), weight(on_weight, 101, 24), dx(on_dx, 3, 24),
      dweight(on_dweight, 101, 24);
  const tensor_view<i64, 1> targets(on_targets, 3);
  const tensor_view<f32, 1> loss(on_loss, 3), lse(on_lse, 3), dloss(on_dloss, 3);
  auto memory = gpu.allocate<u8>(linear_cross_entropy_workspace_bytes(x, weight, 64));
  auto more = gpu.allocate<u8>(linear_cross_entropy_backward_workspace_bytes(x, weight, 64));
  const linear_cross_entropy_options options{
      .reduction = loss_reduction::none, .lse = lse, .workspace = memory};
  const linear_cross_entropy_backward_options backward{.reduction = loss_reduction::none, .workspace = more};
  linear_cross_entropy_warmup(gpu, x, weight, targets, loss, options);
  linear_cross_entropy_backward_warmup(gpu, x, weight, targets, lse, dloss, dx, dweight, backward);
  const auto graph =
      capture_graph(gpu.stream(), [&] {
        linear_cross_entropy(gpu.stream(), x, weight, targets, loss, options);
        linear_cross_entropy_backward(gpu.stream(), x, weight, targets, lse, dloss, dx, dweight, backward);
      }).instantiate();
  for (const f32 one : on_loss.download()) REQUIRE(one == 0);
  graph.launch(gpu.stream());
  REQUIRE(on_loss.download() == eager.loss);
  REQUIRE(as_f32(on_dx.download()) == eager.dx);
  REQUIRE(as_f32(on_dweight.download()) == eager.dweight);
}

TEST_CASE("linear_cross_entropy: the workspace is bounded", "[ops][linear_cross_entropy]") {
  const auto view = [](element_kind type, i64 rows, i64 columns) {
    ops::any_view v;
    v.type = type;
    v.rank = 2;
    v.extents = {rows, columns};
    v.strides = {columns, 1};
    return v;
  };
  constexpr std::uint64_t mebibyte = 1 << 20;
  for (const element_kind type : {element_kind::bf16, element_kind::f32}) {
    const ops::any_view x = view(type, 8192, 4096), weight = view(type, 128256, 4096);
    CHECK(linear_cross_entropy_workspace_bytes(x, weight) < 280 * mebibyte);
    CHECK(linear_cross_entropy_backward_workspace_bytes(x, weight) < 560 * mebibyte);
    CHECK(linear_cross_entropy_workspace_bytes(x, weight, 64) < 20 * mebibyte);
  }
}

TEST_CASE("linear_cross_entropy: random problems", "[ops][linear_cross_entropy]") {
  const std::uint64_t first = std::random_device{}();
  for (std::uint64_t seed = first; seed < first + 6; ++seed) {
    std::mt19937_64 engine(seed);
    const auto below = [&](std::uint64_t n) { return static_cast<i64>(engine() % n); };
    linear_case c;
    c.loss = {.rows = 1 + below(9), .classes = 1 + below(1 << (1 + below(8))), .seed = seed};
    c.loss.reduction = static_cast<loss_reduction>(below(3));
    c.loss.smoothing = below(2) == 0 ? 0 : static_cast<float>(below(11)) / 10;
    c.loss.z_loss = below(2) == 0 ? 0 : 1e-3f;
    c.loss.softcap = below(2) == 0 ? 0 : static_cast<float>(1 + below(40));
    c.loss.has_weights = below(2) == 0;
    c.loss.has_wide_targets = below(2) == 0;
    c.loss.ignored_from = below(4) - 1;
    c.features = 1 + below(40);
    c.has_bias = below(2) == 0;
    c.wide_gradients = below(2) == 0;
    c.scale = below(2) == 0 ? 1 : 0.25f;
    c.chunk = 64 * static_cast<std::uint64_t>(below(3));
    c.pad = static_cast<u32>(below(9));
    c.shift = static_cast<u32>(below(3));
    const i64 type = below(3);
    if (type == 0) check<f32>(c);
    if (type == 1) check<f16>(c);
    if (type == 2) check<bf16>(c);
  }
}

TEST_CASE("linear_cross_entropy: bad input", "[ops][linear_cross_entropy]") {
  const device& gpu = under_test();
  auto a = gpu.allocate<f16>(8 * 64), b = gpu.allocate<f16>(96 * 64), c = gpu.allocate<f16>(8 * 64);
  auto numbers = gpu.allocate<f32>(96), more = gpu.allocate<f32>(96);
  auto classes = gpu.allocate<i64>(8);
  const tensor_view<f16, 2> x(a, 8, 64), weight(b, 96, 64), dx(c, 8, 64);
  const tensor_view<i64, 1> targets(classes, 8);
  const tensor_view<f32, 1> loss(numbers, 8), one(more, 1), of_classes(more, 96);
  auto memory = gpu.allocate<u8>(linear_cross_entropy_backward_workspace_bytes(x, weight));
  constexpr auto none = loss_reduction::none;
  const auto refused = [&](const std::string& part, const tensor_view<f16, 2>& of_x,
                           const tensor_view<f16, 2>& of_weight, const tensor_view<f32, 1>& to,
                           linear_cross_entropy_options options) {
    if (options.workspace.address == 0) options.workspace = memory;
    require_refusal(errc::invalid_argument, "kaio: linear_cross_entropy: ", part,
                    [&] { linear_cross_entropy(gpu.stream(), of_x, of_weight, targets, to, options); });
  };
  refused("argument x has stride 2", tensor_view<f16, 2>(a, extents(8, 32), strides(64, 2)),
          weight.slice(1, 0, 32), loss, {.reduction = none});
  refused("argument weight has no classes", x, weight.slice(0, 0, 0), loss, {.reduction = none});
  refused("weight has extent 1 of 32", x, weight.slice(1, 0, 32), loss, {.reduction = none});
  refused("targets has extent 0 of 8", x.slice(0, 0, 7), weight, loss, {.reduction = none});
  refused("loss has extent 0 of 8", x, weight, loss, {});
  refused("bias has extent 0 of 1", x, weight, loss, {.bias = one, .reduction = none});
  refused("weights has extent 0 of 1", x, weight, loss, {.weights = one, .reduction = none});
  refused("logit_scale is not finite", x, weight, loss,
          {.logit_scale = std::numeric_limits<f32>::infinity(), .reduction = none});
  refused("invalid precision", x, weight, loss,
          {.precision = static_cast<matmul_precision>(9), .reduction = none});
  refused("softcap is neither 0", x, weight, loss, {.softcap = -1, .reduction = none});
  refused("loss shares memory with argument lse", x, weight, loss, {.reduction = none, .lse = loss});
  refused("workspace", x, weight, loss, {.reduction = none, .workspace = memory.slice(0, 1024)});
  const auto refused_back = [&](const std::string& part, const ops::output_view& to_x,
                                const ops::output_view& to_weight,
                                linear_cross_entropy_backward_options options) {
    options.reduction = loss_reduction::sum;
    if (options.workspace.address == 0) options.workspace = memory;
    require_refusal(errc::invalid_argument, "kaio: linear_cross_entropy_backward: ", part, [&] {
      linear_cross_entropy_backward(gpu.stream(), x, weight, targets, loss, one, to_x, to_weight, options);
    });
  };
  refused_back("dx has extent 0 of 7", dx.slice(0, 0, 7), {}, {});
  refused_back("dx shares memory with argument x", x, {}, {});
  refused_back("dweight shares memory with argument weight", {}, weight, {});
  refused_back("dbias has extent 0 of 1", {}, {}, {.dbias = one});
  refused_back("dbias shares memory with argument dloss", {}, {}, {.dbias = of_classes});
  refused_back("workspace", dx, {}, {.workspace = memory.slice(0, 1024)});
  require_refusal(errc::invalid_argument, "kaio: linear_cross_entropy_workspace_bytes: ", "chunk is 65",
                  [&] { static_cast<void>(linear_cross_entropy_workspace_bytes(x, weight, 65)); });
  linear_cross_entropy_warmup(gpu, x, weight, targets, loss, {.reduction = none, .workspace = memory});
  linear_cross_entropy_backward_warmup(gpu, x, weight, targets, loss, loss, dx, {},
                                       {.reduction = none, .workspace = memory});
}
