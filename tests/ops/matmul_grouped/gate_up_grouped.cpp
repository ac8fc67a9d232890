// gate_up_grouped against products in double precision on the host, on each of its kernels.
#include "tests/ops/refusal.hpp"
#include "tests/ops/support.hpp"

#include <kaio/ops/gate_up_grouped.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
std::vector<T> numbers(std::size_t count, u64 seed, float most = 1) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<float> any(-most, most);
  std::vector<T> result(count);
  for (T& x : result) x = from_float<T>(any(engine));
  return result;
}

enum class weights { halves, interleaved, across };

struct gate_up_case {
  std::vector<i32> counts;
  i64 n, k;
  weights layout = weights::halves;
  bool gathers = false, has_bias = false;
  matmul_activation activation = matmul_activation::silu;
  f32 alpha = 1, limit = 0, up_offset = 0;
  i64 pad = 0;
};

double activated(const gate_up_case& x, double g) {
  switch (x.activation) {
    case matmul_activation::relu: return std::max(g, 0.0);
    case matmul_activation::gelu: return 0.5 * g * std::erfc(-g * std::sqrt(0.5));
    case matmul_activation::gelu_tanh:
      return 0.5 * g * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (g + 0.044715 * g * g * g)));
    default: return g / (1 + std::exp(-x.alpha * g));
  }
}

template <class T, class Out = T>
void check_gate_up(const gate_up_case& x, u64 seed) {
  CAPTURE(x.n, x.k, static_cast<int>(x.layout), x.gathers, x.has_bias, static_cast<int>(x.activation), x.pad,
          seed, sizeof(Out));
  const device& gpu = under_test();
  const auto size = [](i64 count) { return static_cast<std::size_t>(count); };
  const auto groups = static_cast<i64>(x.counts.size());
  std::vector<i32> offsets{2};
  for (const i32 count : x.counts) offsets.push_back(offsets.back() + count);
  const i64 rows = offsets.back() + 3, tokens = x.gathers ? rows / 3 + 1 : rows;
  const i64 pitch = x.k + x.pad, c_pitch = x.n + x.pad;
  std::mt19937_64 engine(seed);
  std::vector<i32> sources(size(rows));
  for (i64 r = 0; r < rows; ++r)
    sources[size(r)] =
        x.gathers ? static_cast<i32>(engine() % static_cast<u64>(tokens + 1)) : static_cast<i32>(r);
  const std::vector<T> a = numbers<T>(size(tokens * pitch), seed + 1);
  // halves, interleaved: (groups, 2 n, k); across: (groups, k, 2 n)
  const i64 lines = x.layout == weights::across ? x.k : 2 * x.n;
  const i64 line = x.layout == weights::across ? 2 * x.n + x.pad : pitch;
  const std::vector<T> w = numbers<T>(size(groups * lines * line), seed + 2, 0.5f);
  const std::vector<f32> bias = numbers<f32>(size(groups * 2 * x.n), seed + 3);
  auto a_memory = gpu.upload(a), w_memory = gpu.upload(w);
  auto offset_memory = gpu.upload(offsets);
  auto source_memory = gpu.upload(sources);
  auto bias_memory = gpu.upload(bias);
  auto y_memory = gpu.upload(std::vector<Out>(size(rows * c_pitch), from_float<Out>(-77)));
  const i64 n_stride = x.layout == weights::across        ? i64{1}
                       : x.layout == weights::interleaved ? 2 * line
                                                          : line;
  const i64 k_stride = x.layout == weights::across ? line : i64{1};
  const i64 up_at = x.layout == weights::across ? x.n : x.layout == weights::interleaved ? line : x.n * line;
  const auto matrices = [&](i64 first) {
    const auto left = size(groups * lines * line - first);
    return tensor_view<const T, 3>(w_memory.view().slice(size(first), left), extents(groups, x.k, x.n),
                                   strides(lines * line, k_stride, n_stride));
  };
  gate_up_grouped_options options{
      .activation = x.activation, .alpha = x.alpha, .limit = x.limit, .up_offset = x.up_offset};
  if (x.gathers) options.rows = tensor_view<const i32, 1>(source_memory, rows);
  if (x.has_bias) {
    const auto half = [&](i64 first) {
      return tensor_view<const f32, 2>(bias_memory.view().slice(size(first), size(groups * 2 * x.n - first)),
                                       extents(groups, x.n), strides(2 * x.n, 1));
    };
    options.gate_bias = half(0);
    options.up_bias = half(x.n);
  }
  gate_up_grouped(gpu.stream(), tensor_view<const T, 2>(a_memory, extents(tokens, x.k), strides(pitch, 1)),
                  matrices(0), matrices(up_at), tensor_view<const i32, 1>(offset_memory, groups + 1),
                  tensor_view<Out, 2>(y_memory, extents(rows, x.n), strides(c_pitch, 1)), options);
  const std::vector<Out> got = y_memory.download();
  double worst = 0, allowed = 0;
  bool untouched = true;
  i64 group = -1;
  for (i64 r = 0; r < rows; ++r) {
    while (group + 1 < groups && r >= offsets[size(group + 1)]) ++group;
    const bool has_group = group >= 0 && r < offsets.back();
    for (i64 c = 0; c < c_pitch; ++c) {
      const double result = to_double(got[size(r * c_pitch + c)]);
      if (!has_group || c >= x.n) {
        untouched &= result == -77;
        continue;
      }
      double sums[2] = {};
      for (i64 part = 0; part < 2; ++part) {
        const i64 source = sources[size(r)];
        for (i64 k = 0; source < tokens && k < x.k; ++k)
          sums[part] += to_double(a[size(source * pitch + k)]) *
                        to_double(w[size(group * lines * line + part * up_at + c * n_stride + k * k_stride)]);
        if (x.has_bias) sums[part] += to_double(bias[size((group * 2 + part) * x.n + c)]);
      }
      double gate = sums[0], up = sums[1];
      if (x.limit != 0) {
        gate = std::min<double>(gate, x.limit);
        up = std::clamp<double>(up, -x.limit, x.limit);
      }
      const double exact = activated(x, gate) * (up + x.up_offset);
      REQUIRE(!std::isnan(result));
      worst = std::max(worst, std::abs(result - exact));
      // One rounding, the error of sums in f32, and that of fast activations: 2^-16 of the result.
      const double of_sums = static_cast<double>(x.k) * 0x1p-22 * (1 + std::abs(gate)) * (1 + std::abs(up));
      const double limit = std::abs(exact) * 0x1p-15 + of_sums + unit_in_last_place<Out>(std::abs(exact));
      allowed = std::max(allowed, std::abs(result - exact) / limit);
    }
  }
  CAPTURE(worst, allowed);
  REQUIRE(untouched);
  REQUIRE(allowed <= 1);
}

}  // namespace

TEST_CASE("gate_up_grouped: groups of any size", "[ops][matmul_grouped][gate_up_grouped]") {
  check_gate_up<f16>({.counts = {3, 0, 130, 64, 65, 1}, .n = 136, .k = 72}, 1);
  check_gate_up<bf16>({.counts = {0, 0, 200}, .n = 128, .k = 328, .layout = weights::across}, 2);
  check_gate_up<bf16, f32>({.counts = {17}, .n = 40, .k = 512}, 3);
  check_gate_up<f16>({.counts = {5, 66}, .n = 67, .k = 35, .pad = 1}, 4);
}

TEST_CASE("gate_up_grouped: gathered rows, biases, the clamped gate",
          "[ops][matmul_grouped][gate_up_grouped]") {
  const gate_up_case clamped{.counts = {9, 70, 0, 130},
                             .n = 264,
                             .k = 136,
                             .layout = weights::interleaved,
                             .gathers = true,
                             .has_bias = true,
                             .alpha = 1.702f,
                             .limit = 1.5f,
                             .up_offset = 1};
  check_gate_up<bf16>(clamped, 5);
  check_gate_up<f16, f32>(clamped, 6);
  gate_up_case across = clamped;
  across.layout = weights::across;
  across.n = 72;
  check_gate_up<f16>(across, 7);
  across.n = 35;
  check_gate_up<bf16>(across, 8);
}

TEST_CASE("gate_up_grouped: each activation", "[ops][matmul_grouped][gate_up_grouped]") {
  for (const matmul_activation one : {matmul_activation::silu, matmul_activation::gelu,
                                      matmul_activation::gelu_tanh, matmul_activation::relu}) {
    check_gate_up<f16>({.counts = {70, 3}, .n = 72, .k = 64, .activation = one}, 9);
    check_gate_up<bf16, f32>({.counts = {3}, .n = 33, .k = 64, .activation = one}, 10);
  }
}

TEST_CASE("gate_up_grouped: many groups", "[ops][matmul_grouped][gate_up_grouped]") {
  std::vector<i32> counts(256, 0);
  std::mt19937_64 engine(11);
  for (i32& count : counts) count = engine() % 3 == 0 ? static_cast<i32>(engine() % 4) : 0;
  check_gate_up<bf16>({.counts = counts, .n = 8, .k = 24, .gathers = true}, 11);
}

TEST_CASE("gate_up_grouped: bad input", "[ops][matmul_grouped][gate_up_grouped]") {
  const device& gpu = under_test();
  auto memory = gpu.allocate<f16>(8192), more = gpu.allocate<f16>(8192);
  auto results = gpu.allocate<f32>(4096);
  auto numbers_of_rows = gpu.allocate<i32>(64);
  const tensor_view<const f16, 2> x(memory, 12, 32);
  const tensor_view<const f16, 3> w(more, 4, 32, 16);
  const tensor_view<const i32, 1> offsets(numbers_of_rows, 5);
  const tensor_view<f32, 2> y(results, 12, 16);
  const auto refused = [&](const std::string& part, const auto& up, const gate_up_grouped_options& options) {
    require_refusal(errc::invalid_argument, "kaio: gate_up_grouped: ", part,
                    [&] { gate_up_grouped(gpu.stream(), x, w, up, offsets, y, options); });
  };
  refused("up has extent 2 of 15", w.slice(2, 0, 15), {});
  refused("rows has extent 0 of 11", w, {.rows = {numbers_of_rows, 11}});
  auto biases = gpu.allocate<f32>(64);
  refused("gate_bias has extent 0 of 3", w, {.gate_bias = {biases, 3, 16}});
  refused("up_bias has extent 1 of 15", w, {.up_bias = {biases, 4, 15}});
  refused("option activation", w, {.activation = matmul_activation::none});
  refused("option alpha", w, {.alpha = 0});
  refused("option limit", w, {.limit = -1});
  refused("option up_offset", w, {.up_offset = std::numeric_limits<f32>::infinity()});
}
