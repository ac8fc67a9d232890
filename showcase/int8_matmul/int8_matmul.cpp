// A product of f32 matrices in 8-bit integers: both are quantised by their largest element, one scale each, and
// multiplied by matmul_int8. The loss of accuracy is measured against the product in double precision; the
// integer sums are exact.

#include <kaio/ops/matmul_int8.hpp>
#include <kaio/showcase.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace kaio;

namespace {

struct quantised {
  std::vector<i8> codes;
  f32 scale;
};

// Codes of -127 to 127, rounded to the nearest even: x is about code * scale.
quantised quantise(const std::vector<f32>& x) {
  f32 most = 0;
  for (const f32 one : x) most = std::max(most, std::abs(one));
  quantised result{std::vector<i8>(x.size()), most / 127};
  for (std::size_t i = 0; i < x.size(); ++i)
    result.codes[i] = static_cast<i8>(std::nearbyint(x[i] / result.scale));
  return result;
}

// The largest difference of the device's result from the exact sums of the codes, and from the product of the
// numbers that they were made of, both relative to max(|product|, 1).
struct errors {
  double of_sums, of_codes;
};
errors compare(const std::vector<f32>& got, const std::vector<f32>& a, const std::vector<f32>& w,
               const quantised& qa, const quantised& qw, std::size_t rows, std::size_t columns,
               std::size_t k) {
  showcase::largest_error of_sums(1), of_codes(1);
  const double scale = static_cast<double>(qa.scale * qw.scale);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      i64 sum = 0;
      double product = 0;
      for (std::size_t x = 0; x < k; ++x) {
        sum += i64{qa.codes[i * k + x]} * qw.codes[j * k + x];
        product += static_cast<double>(a[i * k + x]) * static_cast<double>(w[j * k + x]);
      }
      of_sums.compare(got[i * columns + j], static_cast<double>(sum) * scale);
      of_codes.compare(got[i * columns + j], product);
    }
  return {of_sums.value(), of_codes.value()};
}

// C = A * W^T: A of rows x k, W of columns x k.
int run(device& gpu, u32 rows, u32 columns, u32 k) {
  const std::vector<f32> host_a = showcase::random_normal(std::size_t{rows} * k, 1, 0.5f);
  const std::vector<f32> host_w = showcase::random_normal(std::size_t{columns} * k, 2, 0.05f);
  const quantised qa = quantise(host_a), qw = quantise(host_w);
  auto a_memory = gpu.upload(qa.codes), w_memory = gpu.upload(qw.codes);
  auto c_memory = gpu.allocate<f32>(std::size_t{rows} * columns);
  const tensor_view<const i8, 2> a(a_memory, rows, k), w(w_memory, columns, k);
  const tensor_view<f32, 2> c(c_memory, rows, columns);
  const auto multiply = [&] {
    matmul_int8(gpu.stream(), a, w.transposed(), c, {.alpha = qa.scale * qw.scale});
  };
  multiply();
  const errors found = compare(c_memory.download(), host_a, host_w, qa, qw, rows, columns, k);
  std::printf("  scales          %.6f of A, %.6f of W; error of the codes: %.3f (bound 0.10)\n",
              static_cast<double>(qa.scale), static_cast<double>(qw.scale), found.of_codes);
  const double ms = showcase::median_ms(gpu, multiply);
  const std::string size = std::to_string(rows) + " x " + std::to_string(columns) + " x " + std::to_string(k);
  const double elements = static_cast<double>(rows) * columns;
  const double bytes = (static_cast<double>(rows) + columns) * k + 4 * elements;
  const int sums = showcase::report(gpu, {size, found.of_sums, 1e-6, ms, bytes, 2 * elements * k});
  return found.of_codes < 0.10 ? sums : 1;
}

}  // namespace

int main() {
  return showcase::run("int8_matmul", [](device& gpu) { return run(gpu, 256, 256, 256); });
}
