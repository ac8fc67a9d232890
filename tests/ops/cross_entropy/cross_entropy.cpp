// cross_entropy and its gradient against double precision: every option and reduction, odd sizes, strides, in
// place, ignored rows and wrong targets. Nothing else is written.
#include "tests/ops/cross_entropy/support.hpp"
#include "tests/ops/refusal.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class Target>
std::vector<Target> targets_as(const std::vector<i64>& from) {
  std::vector<Target> result;
  for (const i64 one : from) result.push_back(static_cast<Target>(one));
  return result;
}

template <class T, class Target>
void check_problem(entropy_problem<T>& problem) {
  const entropy_case& c = problem.c;
  problem.solve();
  const stream& s = under_test().stream();
  const auto count = [](i64 n) { return static_cast<std::size_t>(n); };
  const bool sums = c.reduction != loss_reduction::none;
  const i64 numbers = sums ? 1 : c.rows;
  const cache_tensor<T> blank(1, c.rows, 1, c.classes, {.pad = c.pad, .shift = c.shift});
  auto on_logits = under_test().upload(problem.logits.host), on_dlogits = under_test().upload(blank.host);
  auto on_targets = under_test().upload(targets_as<Target>(problem.targets));
  auto on_weights = under_test().upload(problem.weights), on_dloss = under_test().upload(problem.dloss);
  auto loss = under_test().allocate<f32>(count(2 * numbers)),
       lse = under_test().allocate<f32>(count(2 * c.rows)), total = under_test().allocate<f32>(1);
  const auto logits = tensor_view<const T, 2>(on_logits.slice(c.shift, on_logits.size() - c.shift),
                                              extents(c.rows, c.classes), strides(c.classes + c.pad, 1));
  auto& on_out = c.in_place ? on_logits : on_dlogits;
  const auto dlogits = tensor_view<T, 2>(on_out.slice(c.shift, on_out.size() - c.shift),
                                         extents(c.rows, c.classes), strides(c.classes + c.pad, 1));
  const tensor_view<const Target, 1> targets(on_targets, c.rows);
  const tensor_view<f32, 1> to_loss(loss, extents(numbers), strides(2)),
      to_lse(lse, extents(c.rows), strides(2)), to_total(total, 1);
  auto memory = under_test().allocate<u8>(cross_entropy_workspace_bytes(logits));
  cross_entropy_options options{.ignore_index = c.ignore_index,
                                .label_smoothing = c.smoothing,
                                .z_loss = c.z_loss,
                                .softcap = c.softcap,
                                .reduction = c.reduction,
                                .lse = to_lse};
  cross_entropy_backward_options backward{.ignore_index = c.ignore_index,
                                          .label_smoothing = c.smoothing,
                                          .z_loss = c.z_loss,
                                          .softcap = c.softcap,
                                          .reduction = c.reduction};
  const tensor_view<const f32, 1> weights(on_weights, c.classes);
  if (c.has_weights) options.weights = backward.weights = weights;
  if (sums) {
    options.total_weight = to_total;
    options.workspace = memory;
    backward.total_weight = to_total;
  }
  cross_entropy(s, logits, targets, to_loss, options);
  cross_entropy_backward(s, logits, targets, to_lse, tensor_view<const f32, 1>(on_dloss, numbers), dlogits,
                         backward);

  const double capped = c.softcap == 0 ? 0 : 3e-7 * static_cast<double>(c.softcap);
  const double most = (2e-6 + capped) * 2 + 4e-7 * static_cast<double>(c.range);
  const auto got_loss = loss.download(), got_lse = lse.download();
  for (i64 r = 0; r < c.rows; ++r) {
    CAPTURE(r);
    const double want = problem.lse[count(r)], is = got_lse[count(2 * r)];
    if (!is_near(is, want, most + 2e-7 * std::abs(want))) REQUIRE(is == want);
  }
  for (i64 r = 0; r < numbers; ++r) {
    CAPTURE(r);
    const double want = sums ? problem.total[0] : problem.losses[count(r)], is = got_loss[count(2 * r)];
    const double z = std::abs(static_cast<double>(c.z_loss));
    double largest = 0;
    for (const double one : problem.lse) largest = std::max(largest, std::isfinite(one) ? std::abs(one) : 0);
    const double of_rows = c.reduction == loss_reduction::sum ? static_cast<double>(c.rows) : 1;
    if (!is_near(is, want, of_rows * most * (2 + 3 * z * largest) + 1e-6 * std::abs(want)))
      REQUIRE(is == want);
    if (!sums && problem.is_ignored(r)) REQUIRE(is == 0);
  }
  if (sums && c.wrong_row < 0) {
    const double is = total.download()[0];
    if (!is_near(is, problem.total[1], 1e-6 * problem.total[1])) REQUIRE(is == problem.total[1]);
  }
  const auto got = on_out.download();
  cache_tensor<T> out = c.in_place ? problem.logits : blank;
  for (i64 r = 0; r < c.rows; ++r)
    for (i64 k = 0; k < c.classes; ++k) {
      const std::size_t at = out.index(0, r, 0, k), one = count(r * c.classes + k);
      const double want = problem.gradients[one], is = to_double(got[at]);
      const double bound = (4e-6 + 4 * capped) * problem.parts[one] +
                           (sizeof(T) == 4 ? 0 : 0.51 * unit_in_last_place<T>(want)) +
                           (std::is_same_v<T, f16> ? 0x1p-24 : 0.0);
      out.host[at] = got[at];
      if (problem.is_ignored(r) ? is == 0 : is_near(is, want, bound)) continue;
      CAPTURE(r, k, bound);
      REQUIRE(is == want);
    }
  require_same(got, out.host);
}
template <class T>
void check(const entropy_case& c) {
  CAPTURE(c.rows, c.classes, static_cast<int>(c.reduction), c.smoothing, c.z_loss, c.softcap, c.has_weights,
          c.has_wide_targets, c.in_place, c.pad, c.shift, c.seed, sizeof(T));
  entropy_problem<T> problem(c);
  c.has_wide_targets ? check_problem<T, i64>(problem) : check_problem<T, i32>(problem);
}

template <class T>
void check_options() {
  for (const i64 classes : {1, 2, 7, 8, 24, 100, 128, 257, 1000, 1032, 2500})
    check<T>({.classes = classes, .has_wide_targets = classes % 2 == 0, .in_place = classes > 500});
  for (const i64 classes : {72, 75}) {
    for (const loss_reduction reduction : {loss_reduction::none, loss_reduction::sum, loss_reduction::mean}) {
      check<T>({.rows = 7, .classes = classes, .reduction = reduction, .smoothing = 0.1f});
      check<T>(
          {.rows = 7, .classes = classes, .reduction = reduction, .smoothing = 0.2f, .has_weights = true});
      check<T>({.rows = 7,
                .classes = classes,
                .reduction = reduction,
                .z_loss = 1e-2f,
                .has_weights = true,
                .has_wide_targets = false});
      check<T>({.rows = 7,
                .classes = classes,
                .reduction = reduction,
                .smoothing = 0.3f,
                .z_loss = 1e-3f,
                .softcap = 3,
                .has_weights = true,
                .in_place = true});
    }
    check<T>({.rows = 5, .classes = classes, .softcap = 30, .in_place = true, .pad = 8});
    check<T>({.rows = 5, .classes = classes, .smoothing = 1, .pad = 3, .shift = 1});
    check<T>({.rows = 5, .classes = classes, .reduction = loss_reduction::sum, .wrong_row = 1});
    check<T>({.rows = 5, .classes = classes, .in_place = true, .ignore_index = 3, .wrong_row = 4});
    check<T>({.rows = 4, .classes = classes, .reduction = loss_reduction::mean, .ignored_from = -1});
  }
  check<T>({.rows = 300, .classes = 10, .reduction = loss_reduction::mean});
  check<T>({.rows = 0, .reduction = loss_reduction::none});
  check<T>({.rows = 0, .reduction = loss_reduction::sum});
  check<T>({.rows = 0, .reduction = loss_reduction::mean});
}

}  // namespace

TEST_CASE("cross_entropy: f16", "[ops][cross_entropy]") { check_options<f16>(); }
TEST_CASE("cross_entropy: bf16", "[ops][cross_entropy]") { check_options<bf16>(); }
TEST_CASE("cross_entropy: f32", "[ops][cross_entropy]") { check_options<f32>(); }

TEST_CASE("cross_entropy: many classes, many rows", "[ops][cross_entropy]") {
  check<bf16>({.rows = 2, .classes = 128256, .ignored_from = -1});
  check<bf16>({.rows = 1, .classes = 50257, .smoothing = 0.1f, .in_place = true, .ignored_from = -1});
  check<f32>({.rows = 1, .classes = 262144, .has_weights = true, .ignored_from = -1});
  check<f16>({.rows = 9000, .classes = 3, .reduction = loss_reduction::mean});  // two launches of totals
}

TEST_CASE("cross_entropy: infinities and NaN", "[ops][cross_entropy]") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const i64 classes : {40, 43}) {
    entropy_problem<f32> problem({.rows = 7, .classes = classes, .ignored_from = -1});
    for (i64 k = 0; k < classes; ++k) {
      problem.logits.at(0, 1, 0, k) = -infinity;
      if (k != problem.target(2)) problem.logits.at(0, 2, 0, k) = -infinity;
    }
    problem.logits.at(0, 3, 0, (problem.target(3) + 1) % classes) = -infinity;
    problem.logits.at(0, 4, 0, problem.target(4)) = -infinity;
    problem.logits.at(0, 5, 0, 11) = std::numeric_limits<float>::quiet_NaN();
    problem.logits.at(0, 6, 0, 7) = 3e38f;
    check_problem<f32, i64>(problem);
  }
}

TEST_CASE("cross_entropy: a row has the same bits alone and among others", "[ops][cross_entropy]") {
  const stream& s = under_test().stream();
  for (const i64 classes : {520, 523}) {
    const entropy_problem<f32> problem({.rows = 9, .classes = classes, .ignored_from = -1});
    const auto run = [&](i64 first, i64 rows) {
      const auto from = problem.logits.host.begin() + first * classes;
      auto x = under_test().upload(std::vector<f32>(from, from + rows * classes));
      auto targets = under_test().upload(
          std::vector<i64>(problem.targets.begin() + first, problem.targets.begin() + first + rows));
      auto loss = under_test().allocate<f32>(static_cast<std::size_t>(rows)),
           lse = under_test().allocate<f32>(static_cast<std::size_t>(rows));
      auto dloss = under_test().upload(std::vector<f32>(static_cast<std::size_t>(rows), 0.3f));
      const tensor_view<f32, 2> logits(x, rows, classes);
      const tensor_view<f32, 1> to_loss(loss, rows), to_lse(lse, rows);
      const tensor_view<i64, 1> of(targets, rows);
      cross_entropy(s, logits, of, to_loss,
                    {.label_smoothing = 0.1f, .reduction = loss_reduction::none, .lse = to_lse});
      cross_entropy_backward(s, logits, of, to_lse, tensor_view<f32, 1>(dloss, rows), logits,
                             {.label_smoothing = 0.1f, .reduction = loss_reduction::none});
      auto result = loss.download();
      for (const f32 one : lse.download()) result.push_back(one);
      for (const f32 one : x.download()) result.push_back(one);
      return result;
    };
    const auto all = run(0, 9);
    for (const i64 row : {0, 4, 8}) {
      const auto one = run(row, 1);
      const auto at = [&](i64 i) { return all[static_cast<std::size_t>(i)]; };
      REQUIRE(one[0] == at(row));
      REQUIRE(one[1] == at(9 + row));
      for (i64 k = 0; k < classes; ++k)
        REQUIRE(one[static_cast<std::size_t>(2 + k)] == at(18 + row * classes + k));
    }
  }
}

TEST_CASE("cross_entropy: random problems", "[ops][cross_entropy]") {
  const std::uint64_t first = std::random_device{}();
  for (std::uint64_t seed = first; seed < first + 25; ++seed) {
    std::mt19937_64 engine(seed);
    const auto below = [&](std::uint64_t n) { return static_cast<i64>(engine() % n); };
    entropy_case c{.rows = 1 + below(9), .classes = 1 + below(1 << (1 + below(11))), .seed = seed};
    c.reduction = static_cast<loss_reduction>(below(3));
    c.smoothing = below(2) == 0 ? 0 : static_cast<float>(below(11)) / 10;
    c.z_loss = below(2) == 0 ? 0 : 1e-3f;
    c.softcap = below(2) == 0 ? 0 : static_cast<float>(1 + below(40));
    c.has_weights = below(2) == 0;
    c.has_wide_targets = below(2) == 0;
    c.in_place = below(2) == 0;
    c.pad = static_cast<u32>(below(9));
    c.shift = static_cast<u32>(below(3));
    c.ignored_from = below(4) - 1;
    const i64 type = below(3);
    if (type == 0) check<f32>(c);
    if (type == 1) check<f16>(c);
    if (type == 2) check<bf16>(c);
  }
}

TEST_CASE("cross_entropy: bad input", "[ops][cross_entropy]") {
  const device& gpu = under_test();
  auto a = gpu.allocate<f16>(1024), b = gpu.allocate<f16>(1024);
  auto numbers = gpu.allocate<f32>(64), more = gpu.allocate<f32>(64);
  auto classes = gpu.allocate<i64>(8);
  auto memory = gpu.allocate<u8>(256);
  const tensor_view<f16, 2> x(a, 8, 64), dx(b, 8, 64);
  const tensor_view<i64, 1> targets(classes, 8);
  const tensor_view<f32, 1> loss(numbers, 8), other(more, 64), one(more, 1);
  const auto refused = [&](const std::string& part, const tensor_view<f16, 2>& logits,
                           const tensor_view<i64, 1>& of, const tensor_view<f32, 1>& to,
                           const cross_entropy_options& options) {
    require_refusal(errc::invalid_argument, "kaio: cross_entropy: ", part,
                    [&] { cross_entropy(gpu.stream(), logits, of, to, options); });
  };
  constexpr auto none = loss_reduction::none;
  refused("argument logits has stride 2", tensor_view<f16, 2>(a, extents(8, 64), strides(128, 2)), targets,
          loss, {.reduction = none});
  refused("argument logits has no classes", x.slice(1, 0, 0), targets, loss, {.reduction = none});
  refused("targets has extent 0 of 7", x, targets.slice(0, 0, 7), loss, {.reduction = none});
  refused("loss has extent 0 of 8", x, targets, loss, {});
  refused("loss has extent 0 of 7", x, targets, loss.slice(0, 0, 7), {.reduction = none});
  refused("label_smoothing is not from 0 to 1", x, targets, loss,
          {.label_smoothing = 1.5f, .reduction = none});
  refused("z_loss is not finite", x, targets, loss,
          {.z_loss = std::numeric_limits<f32>::infinity(), .reduction = none});
  refused("softcap is neither 0", x, targets, loss, {.softcap = -1, .reduction = none});
  refused("weights has extent 0 of 8", x, targets, loss, {.weights = loss, .reduction = none});
  refused("weights has another element type", x, targets, loss,
          {.weights = tensor_view<f16, 1>(b, 64), .reduction = none});
  refused("lse has extent 0 of 64", x, targets, loss, {.reduction = none, .lse = other});
  refused("total_weight is given without", x, targets, loss, {.reduction = none, .total_weight = one});
  refused("loss shares memory with argument lse", x, targets, loss, {.reduction = none, .lse = loss});
  refused("workspace", x, targets, one, {});
  refused("workspace", x, targets, one, {.workspace = memory.slice(0, 32)});
  const auto refused_back = [&](const std::string& part, const tensor_view<f32, 1>& lse,
                                const tensor_view<f32, 1>& dloss, const tensor_view<f16, 2>& to,
                                const cross_entropy_backward_options& options) {
    require_refusal(errc::invalid_argument, "kaio: cross_entropy_backward: ", part,
                    [&] { cross_entropy_backward(gpu.stream(), x, targets, lse, dloss, to, options); });
  };
  refused_back("total_weight is missing", loss, one, dx, {});
  refused_back("lse has extent 0 of 64", other, one, dx, {.reduction = loss_reduction::sum});
  refused_back("dloss has extent 0 of 8", loss, loss, dx, {.reduction = loss_reduction::sum});
  refused_back("dlogits has extent 0 of 7", loss, one, dx.slice(0, 0, 7), {.reduction = loss_reduction::sum});
  refused_back("dlogits shares memory with argument logits", loss, one,
               tensor_view<f16, 2>(a, 16, 64).slice(0, 1, 8), {.reduction = loss_reduction::sum});
  require_refusal(errc::invalid_argument, "kaio: cross_entropy_warmup: ", "f32, f16 or bf16",
                  [&] { cross_entropy_warmup(gpu, element_kind::i8); });
  cross_entropy_warmup(gpu, element_kind::bf16);
}
