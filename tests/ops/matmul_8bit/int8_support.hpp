#pragma once
// Calls of ops::matmul_int8 on matrices of the host, compared with exact integers of the host, bit for bit.

#include <kaio/ops/matmul_int8.hpp>

#include "tests/ops/matmul/support.hpp"

#include <cmath>
#include <optional>
#include <random>
#include <string>

namespace kaio::tests {

enum class per { none, one, each };

// The arguments of a call besides its operands.
struct int8_terms_of_test {
  per scale_a = per::each, scale_b = per::each, zero_a = per::none;
  bool bias = false, residual = false;
  matmul_activation activation = matmul_activation::none;
  float alpha = 1, out_scale = 1;
};

inline i32 wrapped(std::int64_t x) { return static_cast<i32>(static_cast<u32>(x)); }

template <class Out>
Out rounded_on_host(i32 sum, float y, float out_scale) {
  if constexpr (std::is_same_v<Out, i32>) {
    return sum;
  } else if constexpr (std::is_same_v<Out, i8>) {
    const float q = std::nearbyint(y / out_scale);
    return static_cast<i8>(std::min(127.0f, std::max(-128.0f, q)));
  } else {
    return from_float<Out>(y);
  }
}

inline std::vector<f32> random_scales(per which, u32 count, std::mt19937_64& engine) {
  std::uniform_real_distribution<float> any(0.001f, 0.02f);
  std::vector<f32> result(which == per::each ? count : which == per::one ? 1 : 0);
  for (f32& x : result) x = any(engine);
  return result;
}

// Runs a product of random operands, or of those that `operand` gives, and compares every element. Layout: of B and
// the padding alone.
template <class Out>
void check_int8(const shape& s, const layout& l, const int8_terms_of_test& what,
                std::string_view variant = {}, std::optional<int> operand = {}) {
  CAPTURE(name_of(s), l.b_by_columns, l.a_pad, l.b_pad, l.c_pad, std::string(variant));
  std::mt19937_64 engine(s.m * 131 + s.n * 17 + s.k);
  matrices<i8> a(s.batches, s.m, s.k, false, l.a_pad), b(s.batches, s.k, s.n, l.b_by_columns, l.b_pad);
  matrices<Out> c(s.batches, s.m, s.n, false, l.c_pad);
  matrices<f16> residual(s.batches, s.m, s.n, false, 3);
  for (matrices<i8>* x : {&a, &b})
    for (u32 q = 0; q < x->batches; ++q)
      for (u32 i = 0; i < x->rows; ++i)
        for (u32 j = 0; j < x->columns; ++j)
          x->at(q, i, j) = static_cast<i8>(operand ? *operand : static_cast<int>(engine() % 256) - 128);
  residual.fill(content::integers, 3);
  const matrices<Out> before = c;
  const auto scale_a = random_scales(what.scale_a, s.m, engine),
             scale_b = random_scales(what.scale_b, s.n, engine);
  std::vector<i32> zero(what.zero_a == per::each ? s.m : what.zero_a == per::one ? 1 : 0), sums(s.n);
  for (i32& z : zero) z = static_cast<i32>(engine() % 256) - 128;
  std::vector<f32> bias(what.bias ? s.n : 0);
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i % 13) - 5.5f;

  auto da = upload(a.host), db = upload(b.host);
  auto dc = upload(c.host);
  auto dr = upload(residual.host);
  auto ds = upload(scale_a), dt = upload(scale_b), dbias = upload(bias);
  auto dz = upload(zero), dsums = upload(sums);
  const stream& on = under_test().stream();
  matmul_int8_options options{
      .alpha = what.alpha, .activation = what.activation, .out_scale = what.out_scale, .variant = variant};
  if (!scale_a.empty()) options.scale_a = tensor_view<const f32, 1>(ds, scale_a.size());
  if (!scale_b.empty()) options.scale_b = tensor_view<const f32, 1>(dt, scale_b.size());
  if (!zero.empty()) {
    REQUIRE(s.batches == 1);
    const tensor_view<i32, 1> to(dsums, s.n);
    int8_column_sums(on, view_of<const i8>(db, b), to);
    options.zero_a = tensor_view<const i32, 1>(dz, zero.size());
    options.column_sums = to;
  }
  if (what.bias) options.bias = per_column(tensor_view<const f32, 1>(dbias, bias.size()));
  if (s.batches == 1) {
    if (what.residual) options.residual = view_of<const f16>(dr, residual);
    matmul_int8(on, view_of<const i8>(da, a), view_of<const i8>(db, b), view_of<Out>(dc, c), options);
  } else {
    if (what.residual) options.residual = batch_of<const f16>(dr, residual);
    matmul_int8(on, batch_of<const i8>(da, a), batch_of<const i8>(db, b), batch_of<Out>(dc, c), options);
  }
  if (!c.host.empty()) c.host = dc.download();

  matrices<Out> want = before;
  for (u32 q = 0; q < s.batches; ++q)
    for (u32 i = 0; i < s.m; ++i)
      for (u32 j = 0; j < s.n; ++j) {
        std::int64_t sum = 0, of_column = 0;
        for (u32 k = 0; k < s.k; ++k) {
          sum += std::int64_t{a.at(q, i, k)} * b.at(q, k, j);
          of_column += b.at(q, k, j);
        }
        if (!zero.empty()) sum -= of_column * zero[zero.size() == 1 ? 0 : i];
        const i32 exact = wrapped(sum);
        auto y = static_cast<float>(exact);
        if (!scale_a.empty()) y *= scale_a[scale_a.size() == 1 ? 0 : i];
        if (!scale_b.empty()) y *= scale_b[scale_b.size() == 1 ? 0 : j];
        y *= what.alpha;
        if (what.bias) y += bias[j];
        if (what.activation == matmul_activation::relu) y = y < 0 ? 0 : y;
        if (what.residual) y += static_cast<float>(residual.at(q, i, j));
        want.at(q, i, j) = rounded_on_host<Out>(exact, y, what.out_scale);
        if (std::memcmp(&want.at(q, i, j), &c.at(q, i, j), sizeof(Out)) != 0) {
          CAPTURE(q, i, j, exact, y, to_double(c.at(q, i, j)), to_double(want.at(q, i, j)));
          REQUIRE(std::memcmp(&want.at(q, i, j), &c.at(q, i, j), sizeof(Out)) == 0);
        }
      }
  // Nothing but the elements was written.
  REQUIRE(same_bits(c.host, want.host));
}

}  // namespace kaio::tests
