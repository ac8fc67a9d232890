#pragma once
// Random products of matmul_int8, matmul_fp8, matmul_w4 and matmul_w8. Weights are N x K.

#include "bench/matmul_w4/codes.hpp"
#include "bench/regression/draws.hpp"
#include "bench/regression/harness.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/matmul_w8.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kaio::bench {

struct quantised_shape {
  i64 m, n, k;
  std::string text() const {
    return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
  }
  double c_elements() const { return static_cast<double>(m * n); }
};

// Extents of layers; rows of a step of decoding, or of a prompt.
inline quantised_shape draw_byte_shape(draws& random) {
  const i64 unit = random.percent(70) ? 128 : 16;
  const bool is_prompt = random.percent(25);
  return {is_prompt ? random.extent(512, 4096) : random.extent(1, 512), random.multiple(unit, 256, 14336),
          random.multiple(unit, 256, 14336)};
}

inline matmul_activation draw_activation(draws& random) {
  return static_cast<matmul_activation>(random.below(5));
}

// Shared by matmul_int8 and matmul_fp8: an epilogue for a third of the problems, and the measurement.
// of_a(i), of_b(i): views of set i; call(stream, a, b, c, options), choose(the same).
template <class Out, class Options, class A, class B, class Call, class Choose>
void run_scaled(harness& h, draws& random, const quantised_shape& p, std::string kind, std::string text,
                std::size_t sets, Options options, const A& of_a, const B& of_b, const Call& call,
                const Choose& choose, double least_tolerance) {
  const auto c = h.unwritten<Out>(p.m * p.n, sets);
  const bool has_epilogue = random.percent(33) && !std::is_same_v<Out, i32>;
  const bool has_residual = has_epilogue && random.percent(50);
  using term = std::conditional_t<std::is_same_v<Out, i32>, f32, Out>;
  const auto bias = h.normal<term>(p.n, 1), residual = h.normal<term>(has_residual ? p.m * p.n : 1, 1);
  if (has_epilogue) {
    options.activation = draw_activation(random);
    options.bias = ops::per_column(tensor_view<const term, 1>(bias[0], extents(p.n)));
    text += ", bias, activation " + std::to_string(static_cast<int>(options.activation));
  }
  if (has_residual) {
    options.residual = tensor_view<const term, 2>(residual[0], extents(p.m, p.n));
    text += ", residual";
  }
  const auto of_c = [&](std::size_t i) { return tensor_view<Out, 2>(c[i], extents(p.m, p.n)); };
  const std::string kernel(choose(h.on(), of_a(0), of_b(0), of_c(0), options));
  h.measure(
      {std::move(kind), std::move(text), kernel, std::max(least_tolerance, rounding<Out>)}, sets,
      [&](std::size_t i) { call(h.on(), of_a(i), of_b(i), of_c(i), options); },
      [&] { h.digest(c[0], p.m * p.n); });
}

// f(type of C), one of a few at random.
template <class... Outs, class F>
void with_output(draws& random, const F& f) {
  const u64 at = random.below(sizeof...(Outs));
  u64 i = 0;
  (void)((i++ == at ? (f(Outs()), true) : false) || ...);
}
template <class T>
std::string name_of_type() {
  return std::string(type_name<T>.view());
}

inline void random_int8(harness& h, draws& random) {
  const quantised_shape p = draw_byte_shape(random);
  with_output<bf16, f16, f32, i32>(random, [&]<class Out>(Out) {
    const std::size_t sets =
        h.sets_of(static_cast<double>(p.m * p.k + p.n * p.k) + sizeof(Out) * p.c_elements());
    const auto a = h.normal<i8>(p.m * p.k, sets), w = h.normal<i8>(p.n * p.k, sets);
    const auto of_rows = h.scales(p.m, 1.0f / 512), of_columns = h.scales(p.n, 1.0f / 512);
    matmul_int8_options options;
    if constexpr (!std::is_same_v<Out, i32>) {
      options.scale_a = tensor_view<const f32, 1>(of_rows, extents(p.m));
      options.scale_b = tensor_view<const f32, 1>(of_columns, extents(p.n));
    }
    run_scaled<Out>(
        h, random, p, "int8", "-> " + name_of_type<Out>() + ", " + p.text(), sets, options,
        [&](std::size_t i) { return tensor_view<const i8, 2>(a[i], extents(p.m, p.k)); },
        [&](std::size_t i) { return tensor_view<const i8, 2>(w[i], extents(p.n, p.k)).transposed(); },
        [](const auto&... x) { matmul_int8(x...); },
        [](const auto&... x) { return ops::matmul_int8_choice(x...).name; }, 0);
  });
}

inline void random_fp8(harness& h, draws& random) {
  const quantised_shape p = draw_byte_shape(random);
  constexpr std::string_view scale_names[] = {"tensor", "rows", "blocks"};
  const std::string_view scale = random.one_of(scale_names);
  const bool is_tensor = scale == "tensor", has_groups = scale == "blocks";
  with_output<bf16, bf16, f16, f32>(random, [&]<class Out>(Out) {
    const std::size_t sets =
        h.sets_of(static_cast<double>(p.m * p.k + p.n * p.k) + sizeof(Out) * p.c_elements());
    const auto a = h.normal<e4m3>(p.m * p.k, sets), w = h.normal<e4m3>(p.n * p.k, sets);
    const i64 groups = (p.k + 127) / 128, blocks = (p.n + 127) / 128;
    const i64 lines_a = is_tensor ? 1 : p.m, lines_b = is_tensor ? 1 : has_groups ? blocks : p.n;
    const auto of_a = h.scales(lines_a * (has_groups ? groups : 1), 1.0f / 16);
    const auto of_b = h.scales(lines_b * (has_groups ? groups : 1), 1.0f / 16);
    matmul_fp8_options options;
    if (has_groups) {
      options.groups_a = tensor_view<const f32, 2>(of_a, extents(p.m, groups), strides(1, p.m));
      options.blocks_b = tensor_view<const f32, 2>(of_b, extents(blocks, groups)).transposed();
    } else {
      options.scale_a = tensor_view<const f32, 1>(of_a, extents(lines_a));
      options.scale_b = tensor_view<const f32, 1>(of_b, extents(lines_b));
    }
    run_scaled<Out>(
        h, random, p, "fp8", std::string(scale) + " -> " + name_of_type<Out>() + ", " + p.text(), sets,
        options, [&](std::size_t i) { return tensor_view<const e4m3, 2>(a[i], extents(p.m, p.k)); },
        [&](std::size_t i) { return tensor_view<const e4m3, 2>(w[i], extents(p.n, p.k)).transposed(); },
        [](const auto&... x) { matmul_fp8(x...); },
        [](const auto&... x) { return ops::matmul_fp8_choice(x...).name; }, 2e-3);
  });
}

// Random codes, packed once for each set.
template <class T>
class packed_weights {
 public:
  packed_weights(harness& h, bench_codes codes, i64 n, i64 k, i64 group)
      : source_(h.gpu(), codes, static_cast<u32>(n), static_cast<u32>(k), static_cast<u32>(group)),
        sets_(h.sets_of(static_cast<double>(source_.packed()))) {
    for (std::size_t i = 0; i < sets_; ++i) {
      memory_.push_back(h.gpu().template allocate<u8>(source_.packed()));
      source_.pack(h.on(), memory_.back());
    }
  }
  std::size_t sets() const { return sets_; }
  w4_weights four(std::size_t i) { return {source_.four_bits(), memory_[i]}; }
  w8_weights eight(std::size_t i) { return {source_.eight_bits(), memory_[i]}; }

 private:
  bench_weights<T> source_;
  std::size_t sets_;
  std::vector<buffer<u8>> memory_;
};

template <class T>
void run_packed(harness& h, draws& random, bool eight) {
  constexpr bench_codes fours[] = {bench_codes::int4, bench_codes::int4, bench_codes::nf4, bench_codes::mxfp4,
                                   bench_codes::nvfp4};
  constexpr bench_codes eights[] = {bench_codes::int8, bench_codes::e4m3};
  constexpr u32 group_sizes[] = {32, 64, 128}, group_sizes_of_eight[] = {64, 128};
  const bench_codes codes = eight ? random.one_of(eights) : random.one_of(fours);
  const u32 asked = codes == bench_codes::nf4 ? 64
                    : eight                   ? random.one_of(group_sizes_of_eight)
                                              : random.one_of(group_sizes);
  const u32 group = group_of(codes, asked);
  quantised_shape p{random.extent(1, 512), 0, 0};
  do {
    p.n = random.multiple(64, 256, 14336);
    p.k = random.multiple(256, 256, 14336);
  } while (p.n * p.k > i64{1} << 26);
  packed_weights<T> w(h, codes, p.n, p.k, group);
  const auto x = h.normal<T>(p.m * p.k, w.sets());
  const auto y = h.unwritten<T>(p.m * p.n, w.sets());
  const auto in = [&](std::size_t i) { return tensor_view<const T, 2>(x[i], extents(p.m, p.k)); };
  const auto out = [&](std::size_t i) { return tensor_view<T, 2>(y[i], extents(p.m, p.n)); };
  const std::string text = name_of_type<T>() + ", " +
                           std::string(names_of_codes[static_cast<std::size_t>(codes)]) + " by " +
                           std::to_string(group) + ", " + p.text();
  matmul_w4_options options;
  options.constant = constant_inputs::weights;
  const auto choice = eight ? ops::matmul_w8_choice(h.on(), in(0), w.eight(0), options)
                            : ops::matmul_w4_choice(h.on(), in(0), w.four(0), options);
  const auto memory = h.workspace(eight ? ops::matmul_w8_workspace_bytes(h.on(), in(0), w.eight(0), options)
                                        : ops::matmul_w4_workspace_bytes(h.on(), in(0), w.four(0), options));
  options.workspace = memory;
  h.measure(
      {eight ? "w8" : "w4", text, std::string(choice.name) + "/" + std::to_string(choice.splits),
       rounding<T>},
      w.sets(),
      [&](std::size_t i) {
        if (eight)
          matmul_w8(h.on(), in(i), w.eight(i), out(i), options);
        else
          matmul_w4(h.on(), in(i), w.four(i), out(i), options);
      },
      [&] { h.digest(y[0], p.m * p.n); });
}

inline void random_w4(harness& h, draws& random) {
  if (random.percent(50))
    run_packed<f16>(h, random, false);
  else
    run_packed<bf16>(h, random, false);
}
inline void random_w8(harness& h, draws& random) {
  if (random.percent(50))
    run_packed<f16>(h, random, true);
  else
    run_packed<bf16>(h, random, true);
}

}  // namespace kaio::bench
