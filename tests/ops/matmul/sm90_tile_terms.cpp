// Terms that sm_90a's kernels with tensor copies add to a tile of C: a bias of columns (f32 or C's type), an
// activation, and a tensor of C's type, which may be C itself. Also the calls that these kernels take, and
// the activations of 16-bit results.
#include <kaio/ops/matmul/common/fast_activation.hpp>
#include <kaio/ops/matmul/sm90/table_row.hpp>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/ops/matmul/support.hpp"

using namespace kaio;
using kaio::ops::element_kind;
using kaio::ops::term_type;
using namespace kaio::tests;

namespace {

bool has_tensor_cores() { return under_test().properties().target.sm == 90; }

bool adds_terms(const std::string& name) { return name.find("_terms") != std::string::npos; }

enum class addend { none, residual, shared_residual, residual_is_c, scaled_c };

enum class bias_of { none, own, single };  // no bias, of the type of C, of f32

struct terms {
  addend adds = addend::none;
  matmul_activation activation = matmul_activation::none;
  bias_of bias = bias_of::none;

  static constexpr float alpha = 0.5f;
};

// A number for each column, in memory of a type.
template <class T>
class bias_numbers {
 public:
  bias_numbers(const terms& of, u32 columns) {
    for (u32 i = 0; i < columns; ++i)
      host_.push_back(of.bias == bias_of::none ? 0 : static_cast<float>(i % 7) - 3);
    if (of.bias == bias_of::single) {
      single_ = upload(host_);
      view_ = per_column(tensor_view<const f32, 1>(*single_, columns));
    }
    if (of.bias == bias_of::own) {
      own_ = upload(std::vector<T>(host_.begin(), host_.end()));
      view_ = per_column(tensor_view<const T, 1>(*own_, columns));
    }
  }
  float operator[](u32 column) const { return host_[column]; }
  const ops::matmul_bias& option() const { return view_; }

 private:
  std::vector<float> host_;
  std::optional<buffer<f32>> single_;
  std::optional<buffer<T>> own_;
  ops::matmul_bias view_;
};

template <class X>
X expected(X x, const terms& of, float bias, double added) {
  const X y = host_epilogue::activate(X(of.alpha) * x + X(bias), of.activation);
  return y + X(of.adds == addend::scaled_c ? 2 : 1) * X(added);
}

// Runs one product by every variant that takes it and adds terms; returns their number.
template <class T>
std::size_t run(const shape& s, const layout& l, const terms& of, content what) {
  CAPTURE(name_of(s), l.a_by_columns, l.b_by_columns, static_cast<int>(of.adds), static_cast<int>(of.bias),
          static_cast<int>(of.activation));
  matrices<T> a(s.batches, s.m, s.k, l.a_by_columns, pad_to_16<T>(l.a_by_columns ? s.m : s.k));
  matrices<T> b(s.batches, s.k, s.n, l.b_by_columns, pad_to_16<T>(l.b_by_columns ? s.k : s.n));
  const bool shared = of.adds == addend::shared_residual;
  matrices<T> residual(shared ? 1 : s.batches, s.m, s.n, false, 16);
  const bool reads_c = of.adds == addend::residual_is_c || of.adds == addend::scaled_c;
  a.fill(what, 3);
  b.fill(what, 5);
  residual.fill(what, 7);
  auto da = upload(a.host), db = upload(b.host), dr = upload(residual.host);
  const bias_numbers<T> bias(of, s.n);
  matmul_options options{.alpha = of.alpha, .bias = bias.option(), .activation = of.activation};
  matrices<T> c(s.batches, s.m, s.n, false, 8);
  if (reads_c) c.fill(what, 11);
  const matrices<T> before = c;
  auto dc = upload(c.host);
  if (of.adds == addend::residual) options.residual = batch_of<const T>(dr, residual);
  if (shared) options.residual = view_of<const T>(dr, residual);
  if (of.adds == addend::residual_is_c) options.residual = batch_of<const T>(dc, c);
  if (of.adds == addend::scaled_c) options.beta = 2;
  const auto va = batch_of<const T>(da, a), vb = batch_of<const T>(db, b);
  const auto vc = batch_of<T>(dc, c);
  const reference want = product<T>(a, b, [&](auto x, u32 q, u32 row, u32 column) {
    const double added = of.adds == addend::none ? 0
                         : reads_c               ? to_double(before.at(q, row, column))
                                                 : to_double(residual.at(shared ? 0 : q, row, column));
    return expected(x, of, bias[column], added);
  });
  std::size_t found = 0;
  const stream& on = under_test().stream();
  for (const auto& v : ops::matmul_variants(on, va, vb, vc, options)) {
    if (!adds_terms(v.name) || !v.refusal.empty()) continue;
    CAPTURE(v.name);
    dc.copy_from(before.host.data(), before.host.size(), on);
    matmul_options forced = options;
    forced.variant = v.name;
    matmul(on, va, vb, vc, forced);
    c.host = dc.download();
    check_product(c, before, want, what);
    ++found;
  }
  return found;
}

}  // namespace

TEST_CASE("matmul terms of tiles: every kernel", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  constexpr terms of_all[] = {
      {addend::residual, matmul_activation::none, bias_of::single},
      {addend::none, matmul_activation::none, bias_of::own},
      {addend::shared_residual, matmul_activation::relu, bias_of::none},
  };
  constexpr terms of_c[] = {
      {addend::residual_is_c, matmul_activation::none, bias_of::own},
      {addend::scaled_c, matmul_activation::none, bias_of::none},
      {addend::residual_is_c, matmul_activation::relu, bias_of::single},
  };
  std::size_t found = 0, turn = 0;
  for (const bool a_by_columns : {false, true})
    for (const bool b_by_columns : {false, true}) {
      const layout l{.a_by_columns = a_by_columns, .b_by_columns = b_by_columns};
      for (const shape& s : {shape{1, 136, 264, 72}, shape{2, 72, 136, 136}, shape{3, 40, 24, 64}}) {
        found += run<f16>(s, l, of_all[turn++ % 3], content::integers);
        found += run<bf16>(s, l, of_all[turn++ % 3], content::integers);
      }
      // C itself, by whole tiles.
      found += run<f16>({1, 256, 768, 40}, l, of_c[turn++ % 3], content::integers);
      found += run<bf16>({1, 256, 768, 24}, l, of_c[turn++ % 3], content::integers);
    }
  REQUIRE(found > 100);
}

TEST_CASE("matmul terms of tiles: activations", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  for (const auto activation : {matmul_activation::relu, matmul_activation::gelu,
                                matmul_activation::gelu_tanh, matmul_activation::silu}) {
    const layout l{.b_by_columns = true};
    CHECK(run<f16>({1, 72, 136, 72}, l, {addend::none, activation, bias_of::single}, content::random) > 0);
    CHECK(run<bf16>({1, 72, 136, 72}, l, {addend::residual, activation, bias_of::own}, content::random) > 0);
  }
}

namespace {

// Blocks of `clusters` clusters that compute several tiles; C ends within a tile.
template <ops::sm90_config C, class T>
void run_walk(const shape& s, const terms& of, u64 clusters) {
  CAPTURE(name_of(s), clusters);
  matrices<T> a(s.batches, s.m, s.k, false, 8), b(s.batches, s.k, s.n, true, 8);
  matrices<T> c(s.batches, s.m, s.n, false, 8), residual(s.batches, s.m, s.n, false, 16);
  a.fill(content::integers, 3);
  b.fill(content::integers, 5);
  residual.fill(content::integers, 7);
  const matrices<T> before = c;
  auto da = upload(a.host), db = upload(b.host), dc = upload(c.host), dr = upload(residual.host);
  const bias_numbers<T> bias(of, s.n);
  const auto lines = [](const matrices<T>& x, const buffer<T>& memory) {
    return ops::matrix_lines<T>{memory.view(),
                                x.by_columns ? x.rows : x.columns,
                                x.by_columns ? x.columns : x.rows,
                                x.leading,
                                x.batches,
                                x.stride};
  };
  ops::tile_terms added{.alpha = of.alpha,
                        .activation = static_cast<u32>(of.activation),
                        .is_scaled = 0,
                        .bias_factor = 1 / of.alpha};
  added.has_addend = of.adds == addend::residual ? 1 : 0;
  if (of.bias != bias_of::none) {
    const ops::matmul_view& vector = bias.option().vector;
    const term_type type = of.bias == bias_of::single         ? term_type::f32
                           : vector.type == element_kind::f16 ? term_type::f16
                                                              : term_type::bf16;
    added.bias = {vector.address, 0, 0, 1, static_cast<u32>(type), 0};
  }
  ops::launch_sm90_clusters<C, T, T, ops::with_terms<T>>(under_test().stream(), lines(a, da), lines(b, db),
                                                         lines(c, dc), s.k, {C.cluster_m, C.cluster_n},
                                                         clusters, 3, lines(residual, dr), added);
  c.host = dc.download();
  const auto f = [&](auto x, u32 q, u32 row, u32 column) {
    return expected(x, of, bias[column],
                    of.adds == addend::none ? 0 : to_double(residual.at(q, row, column)));
  };
  check_product(c, before, product<T>(a, b, f), content::integers);
}

}  // namespace

TEST_CASE("matmul terms of tiles: blocks that compute several tiles", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  constexpr ops::sm90_config two_panels{.m = 128, .n = 128, .stages = 2},
      four{.m = 64, .n = 256, .stages = 2}, one_after_the_other{.m = 64, .n = 192, .stages = 2};
  for (const terms& of : {terms{addend::residual, matmul_activation::relu, bias_of::single},
                          terms{addend::none, matmul_activation::none, bias_of::own}}) {
    run_walk<two_panels, f16>({2, 300, 392, 72}, of, 3);
    run_walk<four, f16>({1, 200, 520, 72}, of, 2);
    run_walk<one_after_the_other, bf16>({1, 200, 520, 136}, of, 2);
  }
}

TEST_CASE("matmul terms of tiles: the calls that they serve", "[ops][matmul]") {
  if (!has_tensor_cores()) return;
  auto memory = under_test().allocate<f16>(1 << 18);
  auto other = under_test().allocate<f32>(1 << 16);
  auto brain = under_test().allocate<bf16>(64);
  auto out = under_test().allocate<f16>(1 << 18);
  const auto served = [&](const matmul_options& options, std::int64_t m = 64, std::int64_t n = 64) {
    const tensor_view<const f16, 2> a(memory, m, 64), b(memory, 64, n);
    const tensor_view<f16, 2> c(out, m, n);
    std::size_t accepted = 0, refused = 0;
    for (const auto& v : ops::matmul_variants(under_test().stream(), a, b, c, options)) {
      if (!adds_terms(v.name)) continue;
      // Panels of tiles with fewer columns overlap the next tile.
      if (options.beta != 0 && v.name.find("_columns") != std::string::npos) {
        CHECK_FALSE(v.refusal.empty());
        continue;
      }
      ++(v.refusal.empty() ? accepted : refused);
      if (!v.refusal.empty()) CHECK(v.refusal.find("adds") != std::string::npos);
    }
    CHECK(accepted + refused > 0);
    CHECK((accepted == 0 || refused == 0));
    return accepted != 0;
  };
  const auto residual = [&](std::size_t offset, std::int64_t pitch) {
    const tensor_view<const f16, 2> view(memory.slice(offset, 8192), extents(64, 64),
                                         strides(pitch, std::int64_t{1}));
    return matmul_options{.residual = view};
  };
  const tensor_view<const f16, 1> vector(memory, 64);
  CHECK(served({}));
  CHECK(served({.bias = per_column(vector), .activation = matmul_activation::gelu}));
  CHECK(served({.beta = 1}, 256, 768));
  CHECK_FALSE(served({.beta = 1}, 64, 768));
  CHECK_FALSE(served({.beta = 1}, 136, 776));
  CHECK(served(residual(0, 64)));
  CHECK(served(residual(8, 72)));
  CHECK(served({.bias = per_column(tensor_view<const f32, 1>(other, 64))}));
  CHECK(served({.alpha = -3, .bias = per_column(vector)}));
  CHECK_FALSE(served({.alpha = 1e-12f, .bias = per_column(vector)}));
  CHECK_FALSE(served({.bias = per_row(vector)}));
  CHECK_FALSE(served({.bias = per_column(tensor_view<const f16, 1>(memory.slice(1, 64), extents(64)))}));
  CHECK_FALSE(served({.bias = per_column(tensor_view<const f16, 1>(memory, extents(64), strides(2)))}));
  CHECK_FALSE(served({.bias = per_column(tensor_view<const bf16, 1>(brain, 64))}));
  CHECK_FALSE(served({.beta = 1, .activation = matmul_activation::relu}, 256, 768));
  CHECK_FALSE(served(residual(4, 64)));
  CHECK_FALSE(served(residual(0, 68)));
  CHECK_FALSE(served({.residual = tensor_view<const f32, 2>(other, 64, 64)}));
}

namespace {

// y[i] = function(x[i])
template <class Function>
inline constexpr auto apply_kernel =
    kernel<"apply_fast_" + Function::name, block_size{256}>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
      const val i = t.global_id();
      if (auto exists = t.when(i < n)) y[i] = typename Function::type{}(t, t.let(x[i]));
    });

struct fast_gelu {
  static constexpr dsl::fixed_string name = "gelu";
  using type = ops::fast_activation::gelu;
  static double exact(double x) { return 0.5 * x * std::erfc(-x * 0.70710678118654752440); }
};
struct fast_gelu_tanh {
  static constexpr dsl::fixed_string name = "gelu_tanh";
  using type = ops::fast_activation::gelu_tanh;
  static double exact(double x) {
    return x / (1 + std::exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
  }
};
struct fast_silu {
  static constexpr dsl::fixed_string name = "silu";
  using type = ops::fast_activation::silu;
  static double exact(double x) { return x / (1 + std::exp(-x)); }
};

template <class Function>
void check_activation() {
  std::vector<f32> x;
  for (int i = -400000; i <= 400000; ++i) x.push_back(static_cast<f32>(i) * 0x1p-12f);
  for (const f32 large : {1e3f, 1e10f, 1e30f, std::numeric_limits<f32>::infinity()}) {
    x.push_back(large);
    x.push_back(-large);
  }
  x.push_back(std::numeric_limits<f32>::quiet_NaN());
  auto dx = under_test().upload(x);
  auto dy = under_test().allocate<f32>(x.size());
  apply_kernel<Function>.launch(under_test().stream(), over(x.size()), dx, dy, static_cast<u32>(x.size()));
  const auto y = dy.download();
  double worst = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double exact = std::isinf(x[i]) ? (x[i] < 0 ? 0 : x[i]) : Function::exact(x[i]);
    if (std::abs(exact) < 0x1p-118 || std::isinf(exact)) {
      if (!(std::abs(y[i] - exact) < 0x1p-118 || y[i] == exact)) FAIL("at " << x[i] << ": " << y[i]);
      continue;
    }
    worst = std::max(worst, std::abs(y[i] - exact) / std::abs(exact));
  }
  CAPTURE(std::string(Function::name.view()), worst);
  CHECK(worst < 0x1p-16);
  CHECK(std::isnan(y.back()));
}

}  // namespace

TEST_CASE("activations of results of 16 bits: a relative error of 2^-16", "[ops][matmul]") {
  check_activation<fast_gelu>();
  check_activation<fast_gelu_tanh>();
  check_activation<fast_silu>();
}
