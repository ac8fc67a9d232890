// gate_up_project with weights of f32, f16 and bf16 against double precision. Hidden states and weights are
// small integers by a power of two, so that the sums are exact in any order.
#include "tests/ops/gate_up_project/support.hpp"

#include <kaio/ops/matmul.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct gate_up_case {
  i64 batches = 1, rows = 3, k = 32, f = 40;
  bool stacked = false;  // one weight of both
  bool k_first = false;  // weights of (K, N)
  bool biases = false;
  i64 pad = 0, shift = 0, bias_shift = 0;
  matmul_activation activation = matmul_activation::silu;
};

template <class T, class Out = T>
void check_gate_up(const gate_up_case& c) {
  if (std::is_same_v<T, bf16> && under_test().properties().target.sm < 80) return;
  CAPTURE(c.batches, c.rows, c.k, c.f, c.stacked, c.k_first, c.biases, c.pad, c.shift,
          static_cast<int>(c.activation));
  std::mt19937_64 engine(static_cast<u64>(c.k * 7 + c.f));
  const auto numbers = [&]<class N>(N, i64 count) {
    std::vector<N> result(static_cast<std::size_t>(count));
    for (N& one : result) one = from_float<N>((static_cast<float>(engine() % 9) - 4) / 4);
    return result;
  };
  const auto x = numbers(T{}, c.batches * c.rows * c.k), w = numbers(T{}, 2 * c.f * c.k);
  const auto bias = numbers(Out{}, 2 * c.f + c.bias_shift);
  auto on_x = under_test().upload(x), on_w = under_test().upload(w);
  auto on_bias = under_test().upload(bias);
  const auto part = [&](i64 first, i64 count) {
    if (c.k_first) return tensor_view<const T, 2>(on_w, c.k, 2 * c.f).transposed().slice(0, first, count);
    return tensor_view<const T, 2>(on_w, 2 * c.f, c.k).slice(0, first, count);
  };
  gate_up_project_options options{.activation = c.activation,
                                  .constant = c.biases ? constant_inputs::weights : constant_inputs::none};
  const tensor_view<const Out, 1> biases(on_bias, 2 * c.f + c.bias_shift);
  if (c.biases) {
    options.gate_bias = biases.slice(0, c.bias_shift, c.f);
    options.up_bias = biases.slice(0, c.bias_shift + c.f, c.f);
  }
  const gate_up_weights weights =
      c.stacked ? gate_up_weights{part(0, 2 * c.f)} : gate_up_weights{part(0, c.f), part(c.f, c.f)};
  gate_up_output<Out> out(c.batches, c.rows, c.f, c.pad, c.shift);
  gate_up_with_workspace(tensor_view<const T, 3>(on_x, extents(c.batches, c.rows, c.k)), weights, out.view(),
                         options);
  const auto sum = [&](i64 row, i64 column) {
    double y = 0;
    for (i64 i = 0; i < c.k; ++i)
      y += to_double(x[static_cast<std::size_t>(row * c.k + i)]) *
           to_double(w[static_cast<std::size_t>(c.k_first ? i * 2 * c.f + column : column * c.k + i)]);
    const double product = to_double(from_float<Out>(static_cast<float>(y)));
    return product + (c.biases ? to_double(bias[static_cast<std::size_t>(c.bias_shift + column)]) : 0.0);
  };
  out.check([&](i64 b, i64 r, i64 column) {
    const i64 row = b * c.rows + r;
    return activated(c.activation, sum(row, column)) * sum(row, c.f + column);
  });
}

}  // namespace

TEST_CASE("gate_up_project: activations", "[ops][gate_up]") {
  for (const matmul_activation which :
       {matmul_activation::none, matmul_activation::relu, matmul_activation::gelu,
        matmul_activation::gelu_tanh, matmul_activation::silu}) {
    check_gate_up<f16>({.activation = which});
    check_gate_up<bf16>({.stacked = true, .biases = true, .activation = which});
  }
}

TEST_CASE("gate_up_project: extents, strides and types", "[ops][gate_up]") {
  check_gate_up<f32>({.rows = 5, .f = 33});
  check_gate_up<f16, f32>({.rows = 2, .biases = true});
  check_gate_up<f16>({.rows = 1, .k = 64, .f = 1100, .stacked = true});  // more than a block of columns
  check_gate_up<f16>(
      {.batches = 2, .rows = 3, .f = 37, .stacked = true, .biases = true, .pad = 3, .shift = 1});
  check_gate_up<f16>({.batches = 3, .rows = 2, .f = 7, .biases = true, .bias_shift = 1});
  check_gate_up<f16>({.rows = 20, .f = 64, .k_first = true, .pad = 8});
  check_gate_up<bf16>({.rows = 20, .f = 64, .stacked = true, .k_first = true, .pad = 4});
  check_gate_up<f16>({.rows = 0});
  check_gate_up<f16>({.rows = 2, .k = 0, .f = 8, .biases = true});
  check_gate_up<f16>({.rows = 2, .f = 0});
}

TEST_CASE("gate_up_project: numbers that are none, and large ones", "[ops][gate_up]") {
  const stream& s = under_test().stream();
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  // K of 1: the products are the weights.
  const std::vector<f32> gate{nan, -inf, inf, 1, 100, -100, 2, 0}, up{1, 1, 2, nan, 3, 3, inf, 5};
  auto on_gate = under_test().upload(gate), on_up = under_test().upload(up);
  auto one = under_test().upload(std::vector<f32>{1});
  auto out = under_test().allocate<f32>(8);
  auto workspace = under_test().allocate<u8>(4096);
  gate_up_project(s, tensor_view<const f32, 2>(one, 1, 1),
                  {tensor_view<const f32, 2>(on_gate, 8, 1), tensor_view<const f32, 2>(on_up, 8, 1)},
                  tensor_view<f32, 2>(out, 1, 8), {.workspace = workspace});
  const auto got = out.download();
  for (const std::size_t i : {std::size_t{0}, std::size_t{3}}) REQUIRE(std::isnan(got[i]));
  REQUIRE(got[2] == inf);
  REQUIRE(std::abs(got[4] - 300) < 1e-3f);
  REQUIRE(std::abs(got[5]) < 1e-30f);
  REQUIRE(got[6] == inf);
  REQUIRE(got[7] == 0);
}
