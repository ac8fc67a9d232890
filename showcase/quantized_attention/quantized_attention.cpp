// KAIO's showcase quantized_attention: one head of attention whose projections have weights of four bits: qkv_project, then attention of its
// queries, keys and values. The result must match the codes in double precision. Its distance from the
// attention of the original weights is the cost of four bits.

#include <kaio/ops/attention.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/showcase.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace kaio;

namespace {

constexpr std::size_t tokens = 64, model = 128, size = 64, group = 128;

using matrix = std::vector<double>;

// Codes of -7 to 7 by the largest weight of each 128 along k, and the weights that they represent.
struct quantised {
  std::vector<i32> words;   // (size, model / 8): eight codes each
  std::vector<f16> scales;  // (model / 128, size)
  matrix weights;           // (size, model)
};
quantised quantise(const std::vector<f32>& w) {
  quantised result{std::vector<i32>(size * model / 8), std::vector<f16>(model / group * size),
                   matrix(size * model)};
  for (std::size_t n = 0; n < size; ++n)
    for (std::size_t first = 0; first < model; first += group) {
      f32 most = 0;
      for (std::size_t k = first; k < first + group; ++k) most = std::max(most, std::abs(w[n * model + k]));
      const f16 scale(most / 7);
      result.scales[first / group * size + n] = scale;
      for (std::size_t k = first; k < first + group; ++k) {
        const f32 ratio = most == 0 ? 0 : w[n * model + k] / static_cast<f32>(scale);
        const int code = static_cast<int>(std::clamp(std::nearbyint(ratio), -8.0f, 7.0f));
        const u32 bits = (static_cast<u32>(code) & 15u) << (4 * (k % 8));
        i32& word = result.words[(n * model + k) / 8];
        word = static_cast<i32>(static_cast<u32>(word) | bits);
        result.weights[n * model + k] = code * static_cast<double>(static_cast<f32>(scale));
      }
    }
  return result;
}

// x W^T of tokens x model and size x model.
matrix project(const matrix& x, const matrix& w) {
  matrix y(tokens * size);
  for (std::size_t t = 0; t < tokens; ++t)
    for (std::size_t n = 0; n < size; ++n) {
      double sum = 0;
      for (std::size_t k = 0; k < model; ++k) sum += x[t * model + k] * w[n * model + k];
      y[t * size + n] = sum;
    }
  return y;
}

// softmax(q k^T / sqrt(size)) v.
matrix attend(const matrix& q, const matrix& k, const matrix& v) {
  matrix out(tokens * size);
  for (std::size_t i = 0; i < tokens; ++i) {
    matrix score(tokens);
    for (std::size_t j = 0; j < tokens; ++j) {
      for (std::size_t e = 0; e < size; ++e) score[j] += q[i * size + e] * k[j * size + e];
      score[j] /= std::sqrt(static_cast<double>(size));
    }
    const double most = *std::max_element(score.begin(), score.end());
    double sum = 0;
    for (double& one : score) sum += one = std::exp(one - most);
    for (std::size_t j = 0; j < tokens; ++j)
      for (std::size_t e = 0; e < size; ++e) out[i * size + e] += score[j] / sum * v[j * size + e];
  }
  return out;
}

// How far the result is from the attention of the original weights.
struct distance {
  double cosine, largest, mean;  // the mean is relative: of |got - want|, over that of |want|
};
distance compare(const std::vector<f32>& got, const matrix& want) {
  double product = 0, of_got = 0, of_want = 0, largest = 0, sum = 0, sizes = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double x = static_cast<double>(got[i]), apart = std::abs(x - want[i]);
    product += x * want[i];
    of_got += x * x;
    of_want += want[i] * want[i];
    if (!(apart <= largest)) largest = apart;
    sum += apart;
    sizes += std::abs(want[i]);
  }
  return {product / std::sqrt(of_got * of_want), largest, sum / sizes};
}

int run(device& gpu) {
  const stream& s = gpu.stream();
  const std::vector<f32> wide = showcase::random_normal(tokens * model, 1);
  std::vector<f16> x;
  matrix host_x;
  for (const f32 one : wide) {
    x.push_back(f16(one));
    host_x.push_back(static_cast<double>(static_cast<f32>(x.back())));
  }

  // The weights, packed once.
  const w4_shape shape{.n = size, .k = model, .group = group};
  std::array<buffer<u8>, 3> packed;
  std::array<matrix, 3> of_codes, of_weights;  // queries, keys and values in double precision
  for (unsigned p = 0; p < 3; ++p) {
    const std::vector<f32> w = showcase::random_normal(size * model, 2 + p, 0.05f);
    const quantised codes = quantise(w);
    auto words = gpu.upload(codes.words);
    auto scales = gpu.upload(codes.scales);
    packed[p] = gpu.allocate<u8>(packed_bytes(shape));
    repack(s,
           kaio_int4{.packed = tensor_view<const i32, 2>(words, size, model / 8),
                     .scales = tensor_view<const f16, 2>(scales, model / group, size)},
           w4_weights{shape, packed[p]});
    s.synchronize();
    of_codes[p] = project(host_x, codes.weights);
    of_weights[p] = project(host_x, matrix(w.begin(), w.end()));
  }
  const qkv_weights weights{w4_weights{shape, packed[0]}, w4_weights{shape, packed[1]},
                            w4_weights{shape, packed[2]}};

  auto x_memory = gpu.upload(x);
  auto q_memory = gpu.allocate<f16>(tokens * size), k_memory = gpu.allocate<f16>(tokens * size),
       v_memory = gpu.allocate<f16>(tokens * size);
  auto out_memory = gpu.allocate<f32>(tokens * size);
  const tensor_view<const f16, 3> hidden(x_memory, 1, tokens, model);
  const tensor_view<f16, 4> q(q_memory, 1, tokens, 1, size), k(k_memory, 1, tokens, 1, size),
      v(v_memory, 1, tokens, 1, size);
  const tensor_view<f32, 4> out(out_memory, 1, tokens, 1, size);
  const auto workspace = gpu.allocate<u8>(qkv_project_workspace_bytes(s, hidden, weights, {q, k, v}));
  const auto layer = [&] {
    qkv_project(s, hidden, weights, {q, k, v}, {.workspace = workspace});
    attention(s, q, k, v, out);
  };
  layer();
  const std::vector<f32> got = out_memory.download();

  showcase::largest_error exact(0.1);
  const matrix want = attend(of_codes[0], of_codes[1], of_codes[2]);
  for (std::size_t i = 0; i < want.size(); ++i) exact.compare(static_cast<double>(got[i]), want[i]);
  const distance cost = compare(got, attend(of_weights[0], of_weights[1], of_weights[2]));
  const bool near = cost.cosine >= 0.98 && cost.largest <= 0.08 && cost.mean <= 0.2;
  std::printf(
      "  four bits cost  cosine %.4f (at least 0.98), largest %.3f (bound 0.08), mean %.3f (bound 0.2)  %s\n",
      cost.cosine, cost.largest, cost.mean, near ? "PASS" : "FAIL");

  const double ms = showcase::median_ms(gpu, layer);
  const double bytes = 3 * static_cast<double>(packed_bytes(shape)) + 2 * tokens * model + 4 * tokens * size;
  const double operations = 2.0 * tokens * size * (3 * model + 2 * tokens);
  const std::string of =
      std::to_string(tokens) + " tokens of " + std::to_string(model) + ", a head of " + std::to_string(size);
  const int code = showcase::report(gpu, {of, exact.value(), 5e-3, ms, bytes, operations});
  return near ? code : 1;
}

}  // namespace

int main() {
  return showcase::run("quantized_attention", [](device& gpu) { return run(gpu); });
}
