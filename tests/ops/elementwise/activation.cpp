// Activations, gates and their gradients against double precision, for each kind and element type.
#include "tests/ops/elementwise/support.hpp"

#include <kaio/ops/activation.hpp>

#include <cmath>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr activation all_kinds[] = {activation::silu,         activation::gelu, activation::gelu_tanh,
                                    activation::gelu_sigmoid, activation::relu, activation::relu2};
constexpr double root_of_2_over_pi = 0.7978845608028654, root_of_2 = 1.4142135623730951;

double share(double p) { return 1 / (1 + std::exp(-p)); }

double value(activation kind, double x) {
  switch (kind) {
    case activation::silu: return x * share(x);
    case activation::gelu: return x / 2 * std::erfc(-x / root_of_2);
    case activation::gelu_tanh: return x * share(2 * root_of_2_over_pi * (x + 0.044715 * x * x * x));
    case activation::gelu_sigmoid: return x * share(1.702 * x);
    case activation::relu: return x > 0 ? x : 0;
    default: return x > 0 ? x * x : 0;
  }
}
double slope(activation kind, double x) {
  const auto of_share = [&](double p, double inner) { return share(p) * (1 + (1 - share(p)) * inner); };
  switch (kind) {
    case activation::silu: return of_share(x, x);
    case activation::gelu:
      return std::erfc(-x / root_of_2) / 2 + x * std::exp(-x * x / 2) * root_of_2_over_pi / 2;
    case activation::gelu_tanh:
      return of_share(2 * root_of_2_over_pi * (x + 0.044715 * x * x * x),
                      2 * root_of_2_over_pi * (x + 3 * 0.044715 * x * x * x));
    case activation::gelu_sigmoid: return of_share(1.702 * x, 1.702 * x);
    case activation::relu: return x > 0 ? 1 : 0;
    default: return x > 0 ? 2 * x : 0;
  }
}

// A slope crosses 0, so that its error is absolute. `factors`: the size of what it was multiplied by. In the
// tail of a curve, below 1e-12, the rounding of its argument counts too.
template <class T>
void require_close(T got, double want, double factors = 1e-6) {
  const double is = to_double(got), relative = std::is_same_v<T, f32> ? 4e-6 : 3e-5;
  const double smallest =
      (std::is_same_v<T, f16> ? 0x1p-24 : 0x1p-118) + (std::is_same_v<T, f32> ? 3e-7 : 5e-6) * factors;
  if (std::abs(is - want) <= unit_in_last_place<T>(want) / 2 + relative * std::abs(want) + smallest) return;
  REQUIRE(is == want);
}

template <class T>
using tensor = strided_tensor<T, 2>;
using places = std::array<i64, 2>;

struct gate_case {
  i64 rows = 5, columns = 64;
  bool packed = false;  // gate and up are halves of rows
  gated_options options{};
};

template <class T>
void check_gate(activation kind, const gate_case& c) {
  CAPTURE(static_cast<int>(kind), c.rows, c.columns, c.packed, c.options.limit, sizeof(T));
  const stream& s = under_test().stream();
  tensor<T> both({c.rows, 2 * c.columns}), dy({c.rows, c.columns}), y({c.rows, c.columns});
  both.fill(11, 12);
  dy.fill(12, 2);
  auto on_both = upload(both.host), on_dy = upload(dy.host), on_y = upload(y.host);
  auto on_dgate = upload(y.host), on_dup = upload(y.host);
  const tensor_view<T, 2> all(on_both, c.rows, 2 * c.columns);
  const i64 last = c.columns * 2 - 1;
  const tensor_view<T, 2> gate =
      c.packed ? all.slice(1, 0, c.columns)
               : tensor_view<T, 2>(on_both, extents(c.rows, c.columns), strides(2 * c.columns, 2));
  const tensor_view<T, 2> up = c.packed
                                   ? all.slice(1, c.columns, c.columns)
                                   : tensor_view<T, 2>(on_both.slice(1, both.host.size() - 1),
                                                       extents(c.rows, c.columns), strides(2 * c.columns, 2));
  gated(s, kind, gate, up, y.view(on_y), c.options);
  gated_backward(s, kind, dy.view(on_dy), gate, up, y.view(on_dgate), y.view(on_dup), c.options);
  const auto got = on_y.download(), dgate = on_dgate.download(), dup = on_dup.download();
  const double limit = c.options.limit == 0 ? HUGE_VAL : static_cast<double>(c.options.limit),
               offset = static_cast<double>(c.options.up_offset);
  REQUIRE(last > 0);
  y.each([&](const places& at) {
    const double g = to_double(both.at({at[0], c.packed ? at[1] : 2 * at[1]}));
    const double u = to_double(both.at({at[0], c.packed ? c.columns + at[1] : 2 * at[1] + 1}));
    const double d = to_double(dy.at(at)), clamped = std::min(g, limit),
                 times = std::clamp(u, -limit, limit) + offset;
    CAPTURE(g, u, d);
    require_close(got[y.index(at)], value(kind, clamped) * times, 1e-6 * std::abs(times));
    require_close(dgate[y.index(at)], g > limit ? 0 : d * times * slope(kind, clamped), std::abs(d * times));
    require_close(dup[y.index(at)], std::abs(u) > limit ? 0 : d * value(kind, clamped), 1e-6 * std::abs(d));
  });
}

template <class T>
void check_activation(activation kind, i64 rows, i64 columns, i64 pad) {
  CAPTURE(static_cast<int>(kind), rows, columns, pad, sizeof(T));
  tensor<T> x({rows, columns}, {0, 1}, pad), dy({rows, columns}), y({rows, columns}, {0, 1}, pad);
  x.fill(1, 9);
  dy.fill(2, 3);
  auto on_x = upload(x.host), on_dy = upload(dy.host), on_y = upload(y.host), on_dx = upload(y.host);
  activate(under_test().stream(), kind, x.template view<const T>(on_x), y.view(on_y));
  activate_backward(under_test().stream(), kind, dy.template view<const T>(on_dy),
                    x.template view<const T>(on_x), y.view(on_dx));
  const auto got = on_y.download(), dx = on_dx.download();
  y.each([&](const places& at) {
    const double from = to_double(x.at(at)), d = to_double(dy.at(at));
    CAPTURE(from, d);
    require_close(got[y.index(at)], value(kind, from));
    require_close(dx[y.index(at)], d * slope(kind, from), std::abs(d));
  });
}

template <class T>
void check_kinds() {
  for (const activation kind : all_kinds) {
    check_activation<T>(kind, 9, 64, 0);
    check_activation<T>(kind, 9, 63, 1);
    check_gate<T>(kind, {});
    check_gate<T>(kind, {.packed = true});
    check_gate<T>(kind, {.columns = 33, .packed = true, .options = gpt_oss_gate});
  }
}

template <class T>
void check_ends() {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> ends{-inf, -60000.0f, -30.0f, -0.0f, 0.0f, 30.0f, 60000.0f, inf, nan};
  std::vector<T> from;
  for (const float e : ends) from.push_back(from_float<T>(e));
  auto x = under_test().upload(from);
  auto one = under_test().upload(std::vector<T>(ends.size(), from_float<T>(1.0f)));
  auto y = under_test().allocate<T>(ends.size()), dx = under_test().allocate<T>(ends.size());
  const tensor_view<T, 1> in(x, ends.size()), unit(one, ends.size()), out(y, ends.size()), d(dx, ends.size());
  for (const activation kind : all_kinds) {
    CAPTURE(static_cast<int>(kind));
    activate(under_test().stream(), kind, in, out);
    activate_backward(under_test().stream(), kind, unit, in, d);
    const auto got = y.download(), gradient = dx.download();
    REQUIRE(std::abs(to_double(got[0])) == 0);
    REQUIRE(std::abs(to_double(got[1])) == 0);
    REQUIRE(to_double(got[7]) == static_cast<double>(inf));
    REQUIRE(std::isnan(to_double(got[8])));
    REQUIRE(std::abs(to_double(gradient[0])) == 0);
    if (kind != activation::relu2) REQUIRE(to_double(gradient[7]) == 1);
    if (kind != activation::relu) REQUIRE(std::isnan(to_double(gradient[8])));
  }
}

}  // namespace

TEST_CASE("activation: f32", "[ops][activation]") { check_kinds<f32>(); }
TEST_CASE("activation: f16", "[ops][activation]") { check_kinds<f16>(); }
TEST_CASE("activation: bf16", "[ops][activation]") { check_kinds<bf16>(); }
TEST_CASE("activation: infinity, NaN and zero", "[ops][activation]") {
  check_ends<f32>();
  check_ends<f16>();
  check_ends<bf16>();
}

TEST_CASE("activation: in place, and nothing for empty tensors", "[ops][activation]") {
  const stream& s = under_test().stream();
  strided_tensor<f16, 1> x({1003});
  auto on_x = upload(x.fill(1).host), on_y = upload(x.host);
  activate(s, activation::silu, x.view(on_x), x.view(on_y));
  const auto apart = on_y.download();
  activate(s, activation::silu, x.view(on_x).slice(0, 0, 0), x.view(on_y).slice(0, 0, 0));
  activate(s, activation::silu, x.view(on_x), x.view(on_x));
  REQUIRE(same_memory(on_x.download(), apart));

  strided_tensor<f16, 1> dy({1003}), gate({1003}), up({1003});
  auto on_dy = upload(dy.fill(2).host), on_gate = upload(gate.fill(3).host), on_up = upload(up.fill(4).host);
  auto on_dgate = upload(gate.host), on_dup = upload(up.host);
  const auto backward = [&](auto& dgate, auto& dup) {
    gated_backward(s, activation::gelu_tanh, dy.view(on_dy), gate.view(on_gate), up.view(on_up),
                   gate.view(dgate), up.view(dup));
  };
  backward(on_dgate, on_dup);
  backward(on_gate, on_up);
  REQUIRE(same_memory(on_gate.download(), on_dgate.download()));
  REQUIRE(same_memory(on_up.download(), on_dup.download()));
}

TEST_CASE("activation: bad input", "[ops][activation]") {
  const stream& s = under_test().stream();
  auto a = under_test().allocate<f16>(256), b = under_test().allocate<f16>(256),
       c = under_test().allocate<f16>(256);
  const tensor_view<f16, 2> x(a, 16, 16), up(b, 16, 16), y(c, 16, 16);
  const auto refused = [&](const std::string& operation, const std::string& part, const auto& call) {
    require_refusal(errc::invalid_argument, "kaio: " + operation + ": ", part, call);
  };
  refused("activate", "argument x has other extents than y",
          [&] { activate(s, activation::silu, x.slice(0, 0, 15), y); });
  refused("activate", "output y shares memory with argument x",
          [&] { activate(s, activation::silu, y.transposed(), y); });
  refused("activate", "the kind of activation is unknown",
          [&] { activate(s, static_cast<activation>(77), x, y); });
  refused("gated", "limit is not above 0", [&] { gated(s, activation::silu, x, up, y, {.limit = -1}); });
  refused("gated", "up_offset is not finite", [&] {
    gated(s, activation::silu, x, up, y, {.up_offset = std::numeric_limits<f32>::quiet_NaN()});
  });
  refused("gated_backward", "output dup shares memory with argument dgate",
          [&] { gated_backward(s, activation::silu, x, x, up, y, y); });
}
