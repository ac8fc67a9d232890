// A product with weights of four bits: W is quantised in groups of 128 along K by the largest element of
// each, packed as kaio's int4 (two's complement, eight codes a word), and multiplied by matmul_w4. The loss
// of accuracy is measured against the product in double precision. The product of the codes is exact except
// for sums in f32.

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/showcase.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace kaio;

namespace {

constexpr std::size_t group = 128;

struct quantised {
  std::vector<i32> words;   // (n, k / 8)
  std::vector<f16> scales;  // (k / group, n)
  std::vector<f32> values;  // what codes and scales give, (n, k)
};

// Codes of -7 to 7 by the stored scale: w is about code * scale.
quantised quantise(const std::vector<f32>& w, std::size_t n, std::size_t k) {
  quantised result{std::vector<i32>(n * k / 8), std::vector<f16>(k / group * n), std::vector<f32>(n * k)};
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t first = 0; first < k; first += group) {
      f32 most = 0;
      for (std::size_t i = first; i < first + group; ++i) most = std::max(most, std::abs(w[row * k + i]));
      const f16 stored(most / 7);
      result.scales[first / group * n + row] = stored;
      const f32 scale = static_cast<f32>(stored);
      for (std::size_t i = first; i < first + group; ++i) {
        const f32 code = std::clamp(std::nearbyint(w[row * k + i] / scale), -7.0f, 7.0f);
        const u32 nibble = static_cast<u32>(static_cast<i32>(code)) & 15u;
        result.words[(row * k + i) / 8] |= static_cast<i32>(nibble << (4 * (i % 8)));
        result.values[row * k + i] = code * scale;
      }
    }
  return result;
}

double largest_error_of(const std::vector<f32>& got, const std::vector<f16>& a, const std::vector<f32>& w,
                        std::size_t rows, std::size_t n, std::size_t k) {
  showcase::largest_error error(1);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t x = 0; x < k; ++x)
        sum += static_cast<double>(static_cast<f32>(a[i * k + x])) * static_cast<double>(w[j * k + x]);
      error.compare(static_cast<double>(got[i * n + j]), sum);
    }
  return error.value();
}

// C = A * W^T: A of rows x k, W of n x k.
int run(device& gpu, u32 rows, u32 n, u32 k) {
  const std::vector<f32> numbers = showcase::random_normal(std::size_t{rows} * k, 1, 0.5f);
  const std::vector<f16> host_a(numbers.begin(), numbers.end());
  const std::vector<f32> host_w = showcase::random_normal(std::size_t{n} * k, 2, 0.05f);
  const quantised q = quantise(host_w, n, k);
  auto a_memory = gpu.upload(host_a);
  auto words = gpu.upload(q.words);
  auto scales = gpu.upload(q.scales);
  auto c_memory = gpu.allocate<f32>(std::size_t{rows} * n);
  const w4_shape shape{.n = n, .k = k, .group = group};
  auto packed = gpu.allocate<u8>(packed_bytes(shape));
  const w4_weights w{shape, packed};
  repack(gpu.stream(),
         kaio_int4{.packed = tensor_view<const i32, 2>(words, n, k / 8),
                   .scales = tensor_view<const f16, 2>(scales, k / group, n)},
         w);
  const tensor_view<const f16, 2> a(a_memory, rows, k);
  const tensor_view<f32, 2> c(c_memory, rows, n);
  matmul_w4_options options{.exact_weights = true};
  auto workspace = gpu.allocate<u8>(matmul_w4_workspace_bytes(gpu.stream(), a, w, options));
  options.workspace = workspace;
  const auto multiply = [&] { matmul_w4(gpu.stream(), a, w, c, options); };
  multiply();
  const std::vector<f32> got = c_memory.download();
  const double of_sums = largest_error_of(got, host_a, q.values, rows, n, k),
               of_codes = largest_error_of(got, host_a, host_w, rows, n, k);
  std::printf("  codes           groups of %zu; error of the codes: %.3f (bound 0.80)\n", group, of_codes);
  const double ms = showcase::median_ms(gpu, multiply);
  const std::string size = std::to_string(rows) + " x " + std::to_string(n) + " x " + std::to_string(k);
  const double elements = static_cast<double>(rows) * n;
  const double bytes = 2.0 * rows * k + static_cast<double>(packed.size()) + 4 * elements;
  const int sums = showcase::report(gpu, {size, of_sums, 1e-5, ms, bytes, 2 * elements * k});
  return of_codes < 0.80 ? sums : 1;
}

}  // namespace

int main() {
  return showcase::run("int4_matmul", [](device& gpu) { return run(gpu, 256, 256, 256); });
}
