#include "row_attention.hpp"

#include <kaio/showcase.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace kaio;

namespace {

constexpr u32 head = 64;

// The largest error of attention in double precision, on `rows` rows spread over all.
double verify(const std::vector<f32>& q, const std::vector<f32>& k, const std::vector<f32>& v,
              const std::vector<f32>& y, u32 length, bool is_causal) {
  showcase::largest_error error(1e-3);
  const u32 rows = std::min(length, 64u);
  for (u32 n = 0; n < rows; ++n) {
    const u32 i = length / rows * n + n % (length / rows);
    const u32 keys = is_causal ? i + 1 : length;
    std::vector<double> weights(keys);
    double largest = -std::numeric_limits<double>::infinity();
    for (u32 j = 0; j < keys; ++j) {
      for (u32 d = 0; d < head; ++d)
        weights[j] += double{q[i * head + d]} * k[j * head + d] / std::sqrt(double{head});
      largest = std::max(largest, weights[j]);
    }
    double sum = 0;
    for (double& w : weights) sum += w = std::exp(w - largest);
    for (u32 d = 0; d < head; ++d) {
      double want = 0;
      for (u32 j = 0; j < keys; ++j) want += weights[j] * v[j * head + d];
      error.compare(y[i * head + d], want / sum);
    }
  }
  return error.value();
}

template <class Score>
int run(device& gpu, u32 length, const char* mask) {
  constexpr const auto& kernel = showcase::row_attention<head, Score>;
  const std::vector<f32> host_q = showcase::random_normal(length * head, 1);
  const std::vector<f32> host_k = showcase::random_normal(length * head, 2);
  const std::vector<f32> host_v = showcase::random_normal(length * head, 3);
  auto q = gpu.upload(host_q), k = gpu.upload(host_k), v = gpu.upload(host_v);
  auto y = gpu.allocate<f32>(length * head);
  const f32 scale = 1.0f / std::sqrt(f32{head});
  const auto launch = [&] { kernel.launch(gpu.stream(), grid(length), q, k, v, y, length, scale); };
  launch();
  const double error =
      verify(host_q, host_k, host_v, y.download(), length, std::is_same_v<Score, showcase::causal>);
  const double ms = showcase::median_ms(gpu, launch);
  const std::string size =
      std::to_string(length) + " queries and keys of " + std::to_string(head) + ", " + mask;
  return showcase::report(gpu, {size, error, 1e-4, ms, 16.0 * length * head});
}

}  // namespace

int main() {
  return showcase::run("row_attention", [](device& gpu) {
    const u32 length = gpu.is_emulator() ? 150 : 4096;
    const int every = run<showcase::every_key>(gpu, length, "every key");
    return std::max(every, run<showcase::causal>(gpu, length, "causal"));
  });
}
