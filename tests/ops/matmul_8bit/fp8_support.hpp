#pragma once
// Calls of ops::matmul_fp8 on matrices of the host. With small integers and scales that are powers of two every sum is
// exact, and results are compared bit for bit; with random numbers by a bound on the sums of their magnitudes.

#include <kaio/ops/matmul_fp8.hpp>

#include "tests/ops/matmul/support.hpp"

#include <cmath>
#include <string>

namespace kaio::tests {

enum class fp8_scales { none, one, each };

// The arguments of a call besides its operands.
struct fp8_terms_of_test {
  fp8_scales scale_a = fp8_scales::each, scale_b = fp8_scales::each;
  bool groups = false;
  bool groups_by_columns = false;  // groups_a along M, blocks_b along N
  bool bias = false, residual = false;
  matmul_activation activation = matmul_activation::none;
  float alpha = 1, out_scale = 1;
  bool random = false;
};

// Lines that begin at multiples of 16 bytes.
inline layout fp8_aligned(const shape& s) {
  return {false, true, false, pad_to_16<e4m3>(s.k), pad_to_16<e4m3>(s.k), pad_to_16<e4m3>(s.n)};
}

inline float power_of_two(u32 i) { return std::ldexp(1.0f, static_cast<int>(i % 5) - 3); }
inline std::vector<f32> fp8_scales_of(fp8_scales which, u32 count, u32 seed) {
  std::vector<f32> result(which == fp8_scales::each ? count : which == fp8_scales::one ? 1 : 0);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = power_of_two(static_cast<u32>(i) + seed);
  return result;
}

// The views and memory of a call, for one run of it.
template <class A, class B, class Out>
struct fp8_case {
  using a_type = A;
  using b_type = B;
  shape s;
  fp8_terms_of_test what;
  matrices<A> a;
  matrices<B> b;
  matrices<Out> c;
  matrices<f16> residual;
  u32 groups, blocks;
  matrices<f32> groups_a, blocks_b;
  std::vector<f32> scale_a, scale_b, bias;
  buffer<A> da;
  buffer<B> db;
  buffer<Out> dc;
  buffer<f16> dr;
  buffer<f32> dga, dgb, dsa, dsb, dbias;
  matmul_fp8_options options{};

  fp8_case(const shape& of, const layout& l, const fp8_terms_of_test& terms)
      : s(of),
        what(terms),
        a(s.batches, s.m, s.k, l.a_by_columns, l.a_pad),
        b(s.batches, s.k, s.n, l.b_by_columns, l.b_pad),
        c(s.batches, s.m, s.n, l.c_by_columns, l.c_pad),
        residual(s.batches, s.m, s.n, false, 3),
        groups((s.k + 127) / 128),
        blocks((s.n + 127) / 128),
        groups_a(s.batches, s.m, groups, terms.groups_by_columns, 1),
        blocks_b(s.batches, groups, blocks, !terms.groups_by_columns, 2) {
    const content numbers = what.random ? content::random : content::integers;
    a.fill(numbers, s.m + 1);
    b.fill(numbers, s.n + 2);
    residual.fill(content::integers, 3);
    for (matrices<f32>* x : {&groups_a, &blocks_b})
      for (u32 q = 0; q < s.batches; ++q)
        for (u32 i = 0; i < x->rows; ++i)
          for (u32 j = 0; j < x->columns; ++j)
            x->at(q, i, j) = power_of_two(3 * i + 7 * j + q) * (what.random ? 1.37f : 1.0f);
    scale_a = fp8_scales_of(what.scale_a, s.m, 1);
    scale_b = fp8_scales_of(what.scale_b, s.n, 2);
    bias.resize(what.bias ? s.n : 0);
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i % 13) - 5.5f;
    da = upload(a.host);
    db = upload(b.host);
    dc = upload(c.host);
    dr = upload(residual.host);
    dga = upload(groups_a.host);
    dgb = upload(blocks_b.host);
    dsa = upload(scale_a);
    dsb = upload(scale_b);
    dbias = upload(bias);
    options.alpha = what.alpha;
    options.activation = what.activation;
    options.out_scale = what.out_scale;
    if (!scale_a.empty()) options.scale_a = tensor_view<const f32, 1>(dsa, scale_a.size());
    if (!scale_b.empty()) options.scale_b = tensor_view<const f32, 1>(dsb, scale_b.size());
    if (what.bias) options.bias = per_column(tensor_view<const f32, 1>(dbias, bias.size()));
    if (s.batches == 1) {
      if (what.residual) options.residual = view_of<const f16>(dr, residual);
      if (what.groups) options.groups_a = view_of<const f32>(dga, groups_a);
      if (what.groups) options.blocks_b = view_of<const f32>(dgb, blocks_b);
    } else {
      if (what.residual) options.residual = batch_of<const f16>(dr, residual);
      if (what.groups) options.groups_a = batch_of<const f32>(dga, groups_a);
      if (what.groups) options.blocks_b = batch_of<const f32>(dgb, blocks_b);
    }
  }

  // The kernels that run this call.
  std::vector<std::string> variants() {
    std::vector<std::string> names;
    for (const auto& v : ops::matmul_fp8_variants(under_test().stream(), view_of<const A>(da, a),
                                                  view_of<const B>(db, b), view_of<Out>(dc, c), options))
      if (v.refusal.empty()) names.push_back(v.name);
    return names;
  }

  void run(std::string_view variant) {
    options.variant = variant;
    const stream& on = under_test().stream();
    if (s.batches == 1)
      matmul_fp8(on, view_of<const A>(da, a), view_of<const B>(db, b), view_of<Out>(dc, c), options);
    else
      matmul_fp8(on, batch_of<const A>(da, a), batch_of<const B>(db, b), batch_of<Out>(dc, c), options);
  }

  // The final value of a place's sum, in T: f32 as the kernels compute it, or f64.
  template <class T>
  T finished(T sum, u32 q, u32 i, u32 j) const {
    T y = sum;
    if (!scale_a.empty()) y *= static_cast<T>(scale_a[scale_a.size() == 1 ? 0 : i]);
    if (!scale_b.empty()) y *= static_cast<T>(scale_b[scale_b.size() == 1 ? 0 : j]);
    y *= static_cast<T>(what.alpha);
    if (what.bias) y += static_cast<T>(bias[j]);
    if (what.activation == matmul_activation::relu) y = y < 0 ? 0 : y;
    if (what.residual) y += static_cast<T>(static_cast<float>(residual.at(q, i, j)));
    return y;
  }
};

// Runs a product and compares every element.
template <class Out, class A = e4m3, class B = e4m3>
void check_fp8(const shape& s, const layout& l, const fp8_terms_of_test& what,
               std::string_view variant = {}) {
  CAPTURE(name_of(s), l.a_by_columns, l.b_by_columns, l.a_pad, l.b_pad, l.c_pad, what.groups,
          std::string(variant));
  fp8_case<A, B, Out> x(s, l, what);
  const matrices<Out> before = x.c;
  x.run(variant);
  if (!x.c.host.empty()) x.c.host = x.dc.download();
  matrices<Out> want = before;
  for (u32 q = 0; q < s.batches; ++q)
    for (u32 i = 0; i < s.m; ++i)
      for (u32 j = 0; j < s.n; ++j) {
        double sum = 0, magnitude = 0;
        for (u32 k = 0; k < (what.alpha == 0 ? 0 : s.k); ++k) {
          double one = to_double(x.a.at(q, i, k)) * to_double(x.b.at(q, k, j));
          if (what.groups)
            one *= to_double(x.groups_a.at(q, i, k / 128)) * to_double(x.blocks_b.at(q, k / 128, j / 128));
          sum += one;
          magnitude += std::abs(one);
        }
        const Out got = x.c.at(q, i, j);
        if (what.random) {
          REQUIRE(std::abs(to_double(got) - x.template finished<double>(sum, q, i, j)) <=
                  x.template finished<double>(magnitude, q, i, j) * 0x1p-11);
          want.at(q, i, j) = got;
          continue;
        }
        const auto y = x.template finished<float>(static_cast<float>(sum), q, i, j);
        want.at(q, i, j) = from_float<Out>(std::is_same_v<Out, e4m3> ? y / what.out_scale : y);
        if (std::memcmp(&want.at(q, i, j), &got, sizeof(Out)) != 0) {
          CAPTURE(q, i, j, sum, y, to_double(got), to_double(want.at(q, i, j)));
          REQUIRE(std::memcmp(&want.at(q, i, j), &got, sizeof(Out)) == 0);
        }
      }
  // Nothing but the elements was written.
  REQUIRE(same_bits(x.c.host, want.host));
}

// Runs and compares the product by every kernel that can run it.
template <class Out, class A = e4m3, class B = e4m3>
void check_every_fp8(const shape& s, const layout& l, const fp8_terms_of_test& what) {
  const auto names = fp8_case<A, B, Out>(s, l, what).variants();
  REQUIRE(!names.empty());
  for (const std::string& name : names) check_fp8<Out, A, B>(s, l, what, name);
}

}  // namespace kaio::tests
