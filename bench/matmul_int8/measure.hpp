#pragma once
// One problem of the benchmark of matmul_int8: random operands, the call, the check of its result, and its times.

#include "bench/attention/measurement.hpp"
#include "bench/matmul/kernels.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/matmul_int8.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace kaio::bench {

// Numbers of all of i8, the same for the same seed.
inline constexpr auto fill_bytes =
    kernel<"fill_bytes", 256>([](thread t, out<i8> y, val<u32> seed, val<u64> n) {
      for (auto i : t.grid_stride(n)) y[i] = bit_cast<i8>(cast<u8>(mixed(cast<u32>(i) ^ seed)));
    });

// C = A * W^T: A of m x k, W of n x k.
struct int8_problem {
  u32 m, n, k;
  std::string shape() const { return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k); }
  double operations() const { return 2.0 * m * n * k; }
};

class matmul_int8_bench : attention_measurement<f32> {
  using base = attention_measurement<f32>;

 public:
  using base::base;

  // Out: i32, the sums; f32, by one scale; others: by scales of the rows and of the columns.
  // `of_each`: times every kernel that tensor copies feed, not only the best one.
  template <class Out>
  std::vector<measured> measure(const int8_problem& p, bool of_each) {
    sets<Out> x = make_sets<Out>(p);
    const auto ones = gpu_.upload(std::vector<f32>(std::max(p.m, p.n), factor));
    matmul_int8_options options;
    if constexpr (std::is_same_v<Out, f32>) {
      options.alpha = factor;
    } else if constexpr (!std::is_same_v<Out, i32>) {
      options.scale_a = tensor_view<const f32, 1>(ones, p.m);
      options.scale_b = tensor_view<const f32, 1>(ones, p.n);
    }
    const auto a = [&](std::size_t i) { return tensor_view<const i8, 2>(x.a[i], p.m, p.k); };
    const auto b = [&](std::size_t i) { return tensor_view<const i8, 2>(x.w[i], p.n, p.k).transposed(); };
    const auto c = [&](std::size_t i) { return tensor_view<Out, 2>(x.c[i], p.m, p.n); };
    const double scale = std::is_same_v<Out, i32>   ? 1
                         : std::is_same_v<Out, f32> ? double{factor}
                                                    : double{factor} * double{factor};
    std::vector<measured> results;
    for (const auto& variant : ops::matmul_int8_variants(stream_, a(0), b(0), c(0), options)) {
      const bool is_asked_for = of_each && variant.refusal.empty() && variant.name.starts_with("matmul_sm90");
      if (!results.empty() && !is_asked_for) continue;
      measured result;
      result.kernel = options.variant = variant.name;
      const u64 bytes = u64{p.m} * p.n * sizeof(Out);  // random ones: unwritten elements show
      fill_bytes.launch(stream_, grid(base::blocks()),
                        device_pointer<i8>{x.c[0].address(), bytes, gpu_.identity()}, ++fills_, bytes);
      contestant kaio{"kaio", [&](std::size_t i) { matmul_int8(stream_, a(i), b(i), c(i), options); }};
      kaio.run(0);
      result.error = distance(p, x, scale);
      time(kaio, x.a.size(), result);
      results.push_back(result);
    }
    return results;
  }

 private:
  static constexpr f32 factor = 0.0078125f;

  // Enough sets to exceed L2.
  template <class Out>
  struct sets {
    std::vector<buffer<i8>> a, w;
    std::vector<buffer<Out>> c;
  };
  template <class Out>
  sets<Out> make_sets(const int8_problem& p) {
    const u64 of_a = u64{p.m} * p.k, of_w = u64{p.n} * p.k, of_c = u64{p.m} * p.n;
    const u64 cache = gpu_.is_emulator() ? 1 : 2 * gpu_.properties().l2_bytes;
    const u64 bytes = of_a + of_w + of_c * sizeof(Out);
    sets<Out> x;
    for (u64 count = std::clamp<u64>((cache + bytes - 1) / bytes, 1, 32); count > 0; --count) {
      x.a.push_back(random(of_a));
      x.w.push_back(random(of_w));
      x.c.push_back(gpu_.allocate<Out>(of_c));
    }
    return x;
  }
  buffer<i8> random(u64 n) {
    auto memory = gpu_.allocate<i8>(n);
    fill_bytes.launch(stream_, grid(blocks()), memory, ++fills_, u64{n});
    return memory;
  }

  template <class Out>
  double distance(const int8_problem& p, const sets<Out>& x, double scale) {
    constexpr u32 samples = 512;
    auto want = gpu_.allocate<f64>(samples), got = gpu_.allocate<f64>(samples);
    const sampled_product of{
        .m = p.m, .n = p.n, .k = p.k, .batch = 1, .a_row = p.k, .a_column = 1, .b_row = 1, .b_column = p.k};
    sample_product<i8, Out>.launch(stream_, grid(samples), x.a[0], x.w[0], x.c[0], want, got, of);
    stream_.synchronize();
    auto exact = want.download();
    for (f64& one : exact) one *= scale;
    return relative_error(gpu_.upload(exact), got);
  }

  u32 fills_ = 0;
};

}  // namespace kaio::bench
