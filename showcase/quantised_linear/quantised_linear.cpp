// A linear layer of a language model from its file to its product. The program writes a small GGUF file in
// Q4_K and a small safetensors file in GPTQ's format. It reads both by kaio::weights, packs the weights on
// the device, and compares y = x W^T with double precision on the files' weights.

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/weight_only/repack_blocks.hpp>
#include <kaio/showcase.hpp>
#include <kaio/weights/weights.hpp>

#include "files.hpp"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using namespace kaio;

namespace {

constexpr i64 rows = 4, n = 96, k = 512, group = 64;

// Bytes of a file, which are aligned to nothing, as numbers on the device.
template <class T>
buffer<T> upload(device& gpu, std::span<const std::byte> bytes) {
  if (bytes.empty()) throw std::runtime_error("a tensor of the file was not found");
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(static_cast<void*>(values.data()), bytes.data(), values.size() * sizeof(T));
  return gpu.upload(values);
}

// y = x W^T on the device against weights (n, k) on the host.
int compare(device& gpu, const char* name, const w4_weights& w, const std::vector<f32>& values) {
  const std::vector<f32> numbers = showcase::random_normal(static_cast<std::size_t>(rows * k), 5);
  const std::vector<f16> x(numbers.begin(), numbers.end());
  auto x_memory = gpu.upload(x);
  auto y_memory = gpu.allocate<f32>(static_cast<std::size_t>(rows * n));
  const tensor_view<const f16, 2> x_view(x_memory, rows, k);
  const tensor_view<f32, 2> y_view(y_memory, rows, n);
  auto workspace = gpu.allocate<u8>(matmul_w4_workspace_bytes(gpu.stream(), x_view, w));
  const auto multiply = [&] { matmul_w4(gpu.stream(), x_view, w, y_view, {.workspace = workspace}); };
  multiply();
  const std::vector<f32> y = y_memory.download();
  showcase::largest_error error(1);
  for (i64 row = 0; row < rows; ++row)
    for (i64 column = 0; column < n; ++column) {
      double sum = 0;
      for (i64 i = 0; i < k; ++i)
        sum += static_cast<double>(static_cast<f32>(x[static_cast<std::size_t>(row * k + i)])) *
               static_cast<double>(values[static_cast<std::size_t>(column * k + i)]);
      error.compare(static_cast<double>(y[static_cast<std::size_t>(row * n + column)]), sum);
    }
  const double ms = showcase::median_ms(gpu, multiply);
  const auto bytes = static_cast<double>(w.memory.bytes + x_memory.size() * 2 + y_memory.size() * 4);
  return showcase::report(gpu, {std::string(name) + ", " + std::to_string(rows) + " x " + std::to_string(n) +
                                    " x " + std::to_string(k),
                                error.value(), 2e-5, ms, bytes, 2.0 * rows * n * k});
}

int from_gguf(device& gpu, const std::string& path, const std::vector<f32>& w) {
  showcase::write_gguf(path, "blk.0.ffn_up.weight", w, n, k);
  const gguf_file file = gguf_file::open(path);
  const tensor_entry* tensor = file.find("blk.0.ffn_up.weight");
  auto bytes = upload<u8>(gpu, tensor ? tensor->bytes : std::span<const std::byte>());
  const block_format format = block_format_named(facts(tensor->format).name);
  const auto n_of_file = static_cast<i64>(tensor->shape[0]), k_of_file = static_cast<i64>(tensor->shape[1]);
  const w4_shape shape = w4_shape_of(format, n_of_file, k_of_file);
  auto memory = gpu.allocate<u8>(packed_bytes(shape));
  const w4_weights packed{shape, memory};
  repack(gpu.stream(), gguf_blocks{format, tensor_view<const u8, 1>(bytes, static_cast<i64>(bytes.size()))},
         packed);
  const std::vector<f32> values = read_values(*tensor);
  showcase::largest_error error(0.1);
  for (std::size_t i = 0; i < w.size(); ++i)
    error.compare(static_cast<double>(values[i]), static_cast<double>(w[i]));
  std::printf("  Q4_K            largest error of a weight, of 0.1 or more: %.3f (bound 0.25)\n",
              error.value());
  return error.value() < 0.25 ? compare(gpu, "from GGUF", packed, values) : 1;
}

int from_gptq(device& gpu, const std::string& path, const std::vector<f32>& w) {
  const showcase::gptq_layer written = showcase::quantise_gptq(w, n, k, group);
  showcase::write_safetensors(path, "model.layers.0.mlp.up_proj", written, n, k, group);
  const safetensors_file file = safetensors_file::open(path);
  const std::vector<quantised_layer> layers = quantised_layers(file.tensors());
  if (layers.size() != 1 || layers[0].scheme != weight_scheme::gptq || !layers[0].problem.empty())
    throw std::runtime_error("the file is not one layer of GPTQ");
  const quantised_layer& layer = layers[0];
  const auto n_of_file = static_cast<i64>(layer.n), k_of_file = static_cast<i64>(layer.k);
  const auto group_of_file = static_cast<i64>(layer.group),
             groups = (k_of_file + group_of_file - 1) / group_of_file;
  std::printf("  GPTQ            %u bits, groups of %lld, act-order: %s\n", layer.bits,
              static_cast<long long>(group_of_file), layer.act_order ? "yes" : "no");
  auto words = upload<i32>(gpu, part_bytes(layer, weight_part::codes));
  auto zeros = upload<i32>(gpu, part_bytes(layer, weight_part::zero_points));
  auto scales = upload<f16>(gpu, part_bytes(layer, weight_part::scales));
  auto order = upload<i32>(gpu, part_bytes(layer, weight_part::group_index));
  const w4_shape shape{.n = n_of_file,
                       .k = k_of_file,
                       .group = group_of_file,
                       .zero_points = true,
                       .act_order = layer.act_order};
  auto memory = gpu.allocate<u8>(packed_bytes(shape));
  const w4_weights packed{shape, memory};
  repack(gpu.stream(),
         gptq_w4{.qweight = tensor_view<const i32, 2>(words, k_of_file / 8, n_of_file),
                 .qzeros = tensor_view<const i32, 2>(zeros, groups, n_of_file / 8),
                 .scales = tensor_view<const f16, 2>(scales, groups, n_of_file),
                 .g_idx = layer.act_order ? tensor_view<const i32, 1>(order, k_of_file)
                                          : tensor_view<const i32, 1>()},
         packed);
  return compare(gpu, "from GPTQ", packed, written.values);
}

// A folder of its own, which is removed with its contents.
struct temporary_folder {
  std::filesystem::path path;
  temporary_folder() {
    std::random_device random;
    path = std::filesystem::temp_directory_path() / ("kaio_quantised_linear_" + std::to_string(random()));
    std::filesystem::create_directory(path);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

int main() {
  return showcase::run("quantised_linear", [](device& gpu) {
    const temporary_folder folder;
    const std::vector<f32> w = showcase::random_normal(static_cast<std::size_t>(n * k), 3, 0.05f);
    const int gguf = from_gguf(gpu, (folder.path / "layer.gguf").string(), w);
    const int gptq = from_gptq(gpu, (folder.path / "layer.safetensors").string(), w);
    return gguf != 0 ? gguf : gptq;
  });
}
