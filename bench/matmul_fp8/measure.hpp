#pragma once
// One problem of the benchmark of matmul_fp8: random operands and scales, the call, the check of its result, and its
// times.

#include "bench/attention/measurement.hpp"
#include "bench/matmul/kernels.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/matmul_fp8.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::bench {

// C = A * W^T: A of m x k, W of n x k.
struct fp8_problem {
  u32 m, n, k;
  double operations() const { return 2.0 * m * n * k; }
};

// The strides of scales, in elements: from line to line of an operand, and from group to group along K.
struct fp8_scale_place {
  u32 line, group;
};
struct fp8_sample {
  u64 m, n, k;
  fp8_scale_place a, b;
  u32 lines_b;  // columns that share a scale of B
};

// A warp for each sampled element of C: the exact sum in f64, with the scales, and the element.
inline constexpr auto sample_fp8 =
    kernel<"sample_fp8", 32>([](thread t, in<e4m3> a, in<e4m3> w, in<f32> of_a, in<f32> of_b, in<bf16> c,
                                out<f64> want, out<f64> got, val<fp8_sample> p) {
      const val sample = t.let(block_idx_x());
      const val row = t.let(cast<u64>(mixed(sample * 3u + 1u)) % p[&fp8_sample::m]);
      const val column = t.let(cast<u64>(mixed(sample * 3u + 2u)) % p[&fp8_sample::n]);
      const val k = t.let(p[&fp8_sample::k]);
      const val first_a = t.let(cast<u32>(row) * p[&fp8_sample::a][&fp8_scale_place::line]);
      const val first_b =
          t.let(cast<u32>(column) / p[&fp8_sample::lines_b] * p[&fp8_sample::b][&fp8_scale_place::line]);
      var sum(t, 0.0);
      for (auto i : t.range(cast<u64>(t.thread_rank()), k, 32)) {
        const val group = t.let(cast<u32>(i) / 128u);
        const val scale_a = t.let(of_a[first_a + group * p[&fp8_sample::a][&fp8_scale_place::group]]);
        const val scale_b = t.let(of_b[first_b + group * p[&fp8_sample::b][&fp8_scale_place::group]]);
        sum += cast<f64>(cast<f32>(a[row * k + i])) * cast<f64>(cast<f32>(w[column * k + i])) *
               cast<f64>(scale_a) * cast<f64>(scale_b);
      }
      const val whole = warp_reduce(t, t.let(sum), plus{});
      if (auto first = t.when(t.thread_rank() == 0u)) {
        want[sample] = whole;
        got[sample] = cast<f64>(cast<f32>(c[row * p[&fp8_sample::n] + column]));
      }
    });

class matmul_fp8_bench : attention_measurement<e4m3> {
  using base = attention_measurement<e4m3>;

 public:
  using base::base;

  // tensor: one scale for A and one for B; rows: one for each row and column; blocks: one for each 1 x 128 of A, along M,
  // and one for each 128 x 128 of W.
  // `of_each`: times every kernel that tensor copies feed, not only the best one.
  std::vector<measured> measure(const fp8_problem& p, std::string_view work, bool of_each) {
    const u32 groups = (p.k + 127) / 128, blocks = (p.n + 127) / 128;
    const bool is_tensor = work == "tensor", has_groups = work == "blocks";
    const std::size_t lines_a = is_tensor ? 1 : p.m, lines_b = is_tensor ? 1 : has_groups ? blocks : p.n;
    const auto of_a = scales(lines_a * (has_groups ? groups : 1));
    const auto of_b = scales(lines_b * (has_groups ? groups : 1));
    matmul_fp8_options options;
    if (has_groups) {
      options.groups_a = tensor_view<const f32, 2>(of_a, extents(p.m, groups), strides(1, p.m));
      options.blocks_b = tensor_view<const f32, 2>(of_b, blocks, groups).transposed();
    } else {
      options.scale_a = tensor_view<const f32, 1>(of_a, lines_a);
      options.scale_b = tensor_view<const f32, 1>(of_b, lines_b);
    }
    sets x = make_sets(p);
    const auto a = [&](std::size_t i) { return tensor_view<const e4m3, 2>(x.a[i], p.m, p.k); };
    const auto b = [&](std::size_t i) { return tensor_view<const e4m3, 2>(x.w[i], p.n, p.k).transposed(); };
    const auto c = [&](std::size_t i) { return tensor_view<bf16, 2>(x.c[i], p.m, p.n); };
    constexpr u32 samples = 512;
    auto want = gpu_.allocate<f64>(samples), got = gpu_.allocate<f64>(samples);
    fp8_sample of{.m = p.m, .n = p.n, .k = p.k, .a = {1, 0}, .b = {1, 0}, .lines_b = 1};
    if (is_tensor) of.a.line = of.b.line = 0;
    if (has_groups) {
      of.a.group = p.m;
      of.b = {groups, 1};
      of.lines_b = 128;
    }
    std::vector<measured> results;
    for (const auto& variant : ops::matmul_fp8_variants(stream_, a(0), b(0), c(0), options)) {
      const bool is_asked_for = of_each && variant.refusal.empty() && variant.name.starts_with("matmul_sm90");
      if (!results.empty() && !is_asked_for) continue;
      measured result;
      result.kernel = options.variant = variant.name;
      poison<bf16>.launch(stream_, grid(base::blocks()), x.c[0], u64{p.m} * p.n);
      contestant kaio{"kaio", [&](std::size_t i) { matmul_fp8(stream_, a(i), b(i), c(i), options); }};
      kaio.run(0);
      sample_fp8.launch(stream_, grid(samples), x.a[0], x.w[0], of_a, of_b, x.c[0], want, got, of);
      stream_.synchronize();
      result.error = relative_error(want, got);
      time(kaio, x.a.size(), result);
      results.push_back(result);
    }
    return results;
  }

 private:
  // Enough sets to exceed L2.
  struct sets {
    std::vector<buffer<e4m3>> a, w;
    std::vector<buffer<bf16>> c;
  };
  sets make_sets(const fp8_problem& p) {
    const u64 of_a = u64{p.m} * p.k, of_w = u64{p.n} * p.k, of_c = u64{p.m} * p.n;
    const u64 cache = gpu_.is_emulator() ? 1 : 2 * gpu_.properties().l2_bytes;
    const u64 bytes = of_a + of_w + of_c * sizeof(bf16);
    sets x;
    for (u64 count = std::clamp<u64>((cache + bytes - 1) / bytes, 1, 32); count > 0; --count) {
      x.a.push_back(normal(of_a));
      x.w.push_back(normal(of_w));
      x.c.push_back(gpu_.allocate<bf16>(of_c));
      poison<bf16>.launch(stream_, grid(base::blocks()), x.c.back(), of_c);
    }
    return x;
  }
  buffer<f32> scales(std::size_t count) {
    std::vector<f32> result(count);
    std::uniform_real_distribution<f32> any(0.004f, 0.012f);
    for (f32& x : result) x = any(engine_);
    return gpu_.upload(result);
  }

  std::mt19937_64 engine_{1};
};

}  // namespace kaio::bench
