#pragma once
// One problem: random weights and activations, the call, the check of its result, and its times.

#include "bench/attention/measurement.hpp"
#include "bench/matmul_w4/codes.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_w4.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace kaio::bench {

// y = x W^T, x of m rows, W n x k in groups of `group`, symmetric, scales of the type of x.
struct w4_bench_problem {
  u32 n = 0, k = 0, group = 128, m = 1;

  std::string shape() const {
    return std::to_string(n) + "x" + std::to_string(k) + "x" + std::to_string(group);
  }
  std::string work() const { return "m" + std::to_string(m); }
  // Bytes of codes, scales, x and y.
  double bytes(bench_codes codes) const {
    return static_cast<double>(n) * k * bytes_of_weight(codes, group_of(codes, group)) + 2.0 * m * (n + k);
  }

  // NxKxGROUP and mM.
  static std::optional<w4_bench_problem> of(const std::string& shape, const std::string& work) {
    w4_bench_problem p;
    char rest = 0;
    if (std::sscanf(shape.c_str(), "%ux%ux%u%c", &p.n, &p.k, &p.group, &rest) != 3) return std::nullopt;
    if (std::sscanf(work.c_str(), "m%u%c", &p.m, &rest) != 1) return std::nullopt;
    const bool fits = p.n != 0 && p.group % 16 == 0 && p.group != 0 && p.k != 0 && p.k % p.group == 0;
    return fits && p.m != 0 ? std::optional(p) : std::nullopt;
  }
};

template <class T>
class matmul_w4_bench : attention_measurement<T> {
  using base = attention_measurement<T>;
  using base::gpu_, base::normal, base::stream_;

 public:
  using base::base;

  measured measure(const w4_bench_problem& p, bench_codes codes, const std::string& variant, i64 parts) {
    const bench_weights<T> weights(gpu_, codes, p.n, p.k, group_of(codes, p.group));
    const u64 bytes = weights.packed();
    const u64 cache = gpu_.is_emulator() ? 1 : 2 * gpu_.properties().l2_bytes;
    std::vector<buffer<u8>> packed;
    std::vector<buffer<T>> x, y;
    for (u64 sets = std::clamp<u64>((cache + bytes - 1) / bytes, 1, 32); sets > 0; --sets) {
      packed.push_back(gpu_.template allocate<u8>(bytes));
      x.push_back(normal(u64{p.m} * p.k));
      y.push_back(gpu_.upload(std::vector<T>(u64{p.m} * p.n, T(std::nanf("")))));
      weights.pack(stream_, packed.back());
    }
    if (weights.eight()) {
      const w8_shape shape = weights.eight_bits();
      return measure_call(
          p, weights, variant, parts, x, y,
          [&](const auto& view, const auto& options) {
            return ops::matmul_w8_choice(stream_, view, w8_weights{shape, packed[0]}, options);
          },
          [&](const auto& view, const auto& options) {
            return matmul_w8_workspace_bytes(stream_, view, w8_weights{shape, packed[0]}, options);
          },
          [&](const auto& from, std::size_t i, const auto& to, const auto& options) {
            matmul_w8(stream_, from, w8_weights{shape, packed[i]}, to, options);
          });
    }
    const w4_shape shape = weights.four_bits();
    return measure_call(
        p, weights, variant, parts, x, y,
        [&](const auto& view, const auto& options) {
          return ops::matmul_w4_choice(stream_, view, w4_weights{shape, packed[0]}, options);
        },
        [&](const auto& view, const auto& options) {
          return matmul_w4_workspace_bytes(stream_, view, w4_weights{shape, packed[0]}, options);
        },
        [&](const auto& from, std::size_t i, const auto& to, const auto& options) {
          matmul_w4(stream_, from, w4_weights{shape, packed[i]}, to, options);
        });
  }

  // The product with a W of 16 bits, by matmul.
  measured measure_matrix(const w4_bench_problem& p) {
    const u64 bytes = u64{p.n} * p.k * sizeof(T), cache = 2 * gpu_.properties().l2_bytes;
    std::vector<buffer<T>> w, x, y;
    for (u64 sets = std::clamp<u64>((cache + bytes - 1) / bytes, 1, 32); sets > 0; --sets) {
      w.push_back(normal(u64{p.n} * p.k));
      x.push_back(normal(u64{p.m} * p.k));
      y.push_back(gpu_.template allocate<T>(u64{p.m} * p.n));
    }
    const auto of = [&](std::size_t i, const auto& f) {
      f(tensor_view<const T, 2>(x[i], p.m, p.k), tensor_view<const T, 2>(w[i], p.n, p.k).transposed(),
        tensor_view<T, 2>(y[i], p.m, p.n));
    };
    measured result;
    of(0, [&](const auto& a, const auto& b, const auto& c) {
      result.kernel = ops::matmul_choice(stream_, a, b, c).name;
    });
    contestant kaio{"kaio", [&](std::size_t i) {
                      of(i, [&](const auto& a, const auto& b, const auto& c) { matmul(stream_, a, b, c); });
                    }};
    this->time(kaio, x.size(), result);
    return result;
  }

 private:
  // choose(x, options), workspace_of(x, options), call(x, set, y, options).
  template <class Choose, class Workspace, class Call>
  measured measure_call(const w4_bench_problem& p, const bench_weights<T>& weights,
                        const std::string& variant, i64 parts, std::vector<buffer<T>>& x,
                        std::vector<buffer<T>>& y, const Choose& choose, const Workspace& workspace_of,
                        const Call& call) {
    const auto of = [&](std::size_t i) { return tensor_view<const T, 2>(x[i], p.m, p.k); };
    matmul_w4_options options;
    options.variant = variant;
    options.splits = static_cast<std::uint32_t>(parts);
    options.constant = constant_inputs::weights;
    measured result;
    const auto choice = choose(of(0), options);
    result.kernel = std::string(choice.name) + "/" + std::to_string(choice.splits);
    auto memory = gpu_.template allocate<u8>(std::max<u64>(workspace_of(of(0), options), 1));
    options.workspace = memory;
    contestant kaio{"kaio",
                    [&](std::size_t i) { call(of(i), i, tensor_view<T, 2>(y[i], p.m, p.n), options); }};
    kaio.run(0);
    stream_.synchronize();
    result.error = distance(p, weights, x[0].download(), y[0].download());
    this->time(kaio, x.size(), result);
    return result;
  }

  static double distance(const w4_bench_problem& p, const bench_weights<T>& weights, const std::vector<T>& x,
                         const std::vector<T>& y) {
    double difference = 0, all = 0;
    for (u32 sample = 0; sample < 256; ++sample) {
      const u32 row = sample * 37u % p.m, column = sample * 7919u % p.n;
      double exact = 0;
      for (u32 k = 0; k < p.k; ++k)
        exact += static_cast<f32>(x[u64{row} * p.k + k]) * weights.value(column, k);
      const double got = static_cast<f32>(y[u64{row} * p.n + column]);
      difference += (exact - got) * (exact - got);
      all += exact * exact;
    }
    return std::isfinite(difference) ? std::sqrt(difference / all) : 1e30;
  }
};

}  // namespace kaio::bench
