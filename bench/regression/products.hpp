#pragma once
// Random products of matmul.

#include "bench/regression/draws.hpp"
#include "bench/regression/harness.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/matmul.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>

namespace kaio::bench {

// f32 as tf32 is a type of its own here.
enum class product_type { f16, bf16, tf32, f32, e4m3, e5m2 };
enum class product_epilogue { none, activation, residual, beta };

struct product_problem {
  static constexpr std::string_view type_names[] = {"f16", "bf16", "tf32", "f32", "e4m3", "e5m2"};
  static constexpr std::string_view activation_names[] = {"none", "relu", "gelu", "gelu_tanh", "silu"};

  product_type type;
  product_epilogue epilogue;
  matmul_activation activation = matmul_activation::none;
  bool wide_c, a_by_columns, b_by_columns, has_workspace;
  i64 m, n, k;

  static product_problem draw(draws& random) {
    product_problem p;
    const u64 at = random.below(100);
    p.type = at < 35   ? product_type::f16
             : at < 60 ? product_type::bf16
             : at < 75 ? product_type::tf32
             : at < 85 ? product_type::f32
             : at < 95 ? product_type::e4m3
                       : product_type::e5m2;
    const u64 term = random.below(100);
    p.epilogue = term < 50   ? product_epilogue::none
                 : term < 75 ? product_epilogue::activation
                 : term < 90 ? product_epilogue::residual
                             : product_epilogue::beta;
    if (p.epilogue == product_epilogue::activation)
      p.activation = static_cast<matmul_activation>(1 + random.below(4));
    p.wide_c = random.percent(35);
    p.a_by_columns = random.percent(50);
    p.b_by_columns = random.percent(50);
    p.has_workspace = random.percent(50);
    const double divisor = static_cast<double>(random.divisor());
    const double most = 0x1.6ap36 / (divisor * divisor * divisor);  // 2^36.5
    do {
      p.m = random.extent(1, 8192);
      p.n = random.extent(16, 8192);
      p.k = random.extent(16, 16384);
    } while (static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) > most);
    if (random.percent(70))
      for (i64* const x : {&p.m, &p.n, &p.k}) *x = *x < 8 ? *x : *x / 8 * 8;
    return p;
  }

  std::string text(std::string_view of_c) const {
    std::string result(type_names[static_cast<std::size_t>(type)]);
    result += " -> " + std::string(of_c) + ", " + std::to_string(m) + " x " + std::to_string(n) + " x " +
              std::to_string(k) + ", " + (a_by_columns ? "T" : "N") + (b_by_columns ? "T" : "N");
    if (epilogue == product_epilogue::activation)
      result += ", bias, " + std::string(activation_names[static_cast<std::size_t>(activation)]);
    if (epilogue == product_epilogue::residual) result += ", residual";
    if (epilogue == product_epilogue::beta) result += ", beta";
    return result + (has_workspace ? ", workspace" : "");
  }
};

template <class T, class Out>
void run_product(harness& h, const product_problem& p) {
  const double elements = static_cast<double>(p.m * p.k + p.k * p.n);
  const std::size_t sets =
      h.sets_of(elements * sizeof(T) + static_cast<double>(p.m * p.n * i64{sizeof(Out)}));
  const auto a = h.normal<T>(p.m * p.k, sets), b = h.normal<T>(p.k * p.n, sets);
  const bool has_beta = p.epilogue == product_epilogue::beta;
  const bool has_residual = p.epilogue == product_epilogue::residual;
  const auto c = has_beta ? h.normal<Out>(p.m * p.n, sets) : h.unwritten<Out>(p.m * p.n, sets);
  const auto bias = h.normal<Out>(p.n, 1);
  const auto residual = h.normal<Out>(has_residual ? p.m * p.n : 1, has_residual ? sets : 1);

  const auto matrix = [](const device_pointer<T>& memory, i64 rows, i64 columns, bool by_columns) {
    return by_columns ? tensor_view<const T, 2>(memory, extents(columns, rows)).transposed()
                      : tensor_view<const T, 2>(memory, extents(rows, columns));
  };
  const auto of_a = [&](std::size_t i) { return matrix(a[i], p.m, p.k, p.a_by_columns); };
  const auto of_b = [&](std::size_t i) { return matrix(b[i], p.k, p.n, p.b_by_columns); };
  const auto of_c = [&](std::size_t i) { return tensor_view<Out, 2>(c[i], extents(p.m, p.n)); };
  matmul_options options;
  options.activation = p.activation;
  if (p.type == product_type::tf32) options.precision = matmul_precision::tf32;
  if (has_beta) options.beta = 0.5f;
  if (p.epilogue == product_epilogue::activation)
    options.bias = per_column(tensor_view<const Out, 1>(bias[0], extents(p.n)));
  const auto with_residual = [&](std::size_t i) {
    if (has_residual) options.residual = tensor_view<const Out, 2>(residual[i], extents(p.m, p.n));
  };
  with_residual(0);
  buffer<u8> memory;
  if (p.has_workspace) {
    memory = h.workspace(ops::matmul_workspace_bytes(h.on(), of_a(0), of_b(0), of_c(0), options));
    options.workspace = memory;
  }
  const double of_inputs = p.type == product_type::f32 || sizeof(T) == 2 ? 0 : 2e-3;
  const std::string name(std::is_same_v<Out, f32> ? "f32" : std::is_same_v<Out, f16> ? "f16" : "bf16");
  h.measure(
      {"matmul", p.text(name),
       std::string(ops::matmul_choice(h.on(), of_a(0), of_b(0), of_c(0), options).name),
       std::max(of_inputs, rounding<Out>)},
      sets,
      [&](std::size_t i) {
        with_residual(i);
        matmul(h.on(), of_a(i), of_b(i), of_c(i), options);
      },
      [&] { h.digest(c[0], p.m * p.n); });
}

inline void random_product(harness& h, draws& random) {
  const product_problem p = product_problem::draw(random);
  const auto with = [&]<class T, class Narrow>(T, Narrow) {
    if (p.wide_c)
      run_product<T, f32>(h, p);
    else
      run_product<T, Narrow>(h, p);
  };
  switch (p.type) {
    case product_type::f16: return with(f16(), f16());
    case product_type::bf16: return with(bf16(), bf16());
    case product_type::tf32:
    case product_type::f32: return run_product<f32, f32>(h, p);
    case product_type::e4m3: return with(e4m3(), bf16());
    case product_type::e5m2: return with(e5m2(), bf16());
  }
}

}  // namespace kaio::bench
