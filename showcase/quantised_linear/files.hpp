#pragma once
// Two small files of one linear layer each, as other programs write them: a GGUF file in Q4_K, and a
// safetensors file in the format of GPTQ with groups that are permuted (act-order).

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace kaio::showcase {

template <class T>
void append(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(T));
}
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

// A block of Q4_K: 256 numbers in eights of 32, each with a scale and a minimum of six bits, by the largest
// range of each. Any encoder is legal; llama.cpp searches for better scales.
inline std::string q4_k_block(const f32* x) {
  f32 scales[8], minima[8];
  for (int j = 0; j < 8; ++j) {
    const auto [low, high] = std::minmax_element(x + 32 * j, x + 32 * j + 32);
    minima[j] = std::max(0.0f, -*low);
    scales[j] = (std::max(0.0f, *high) + minima[j]) / 15;
  }
  const f16 d(*std::max_element(scales, scales + 8) / 63), m(*std::max_element(minima, minima + 8) / 63);
  const auto number = [](f32 part, f16 of) {
    return static_cast<u32>(std::clamp(std::nearbyint(part / static_cast<f32>(of)), 0.0f, 63.0f));
  };
  u8 packed[12] = {}, codes[128] = {};
  for (u32 j = 0; j < 8; ++j) {
    const u32 scale = number(scales[j], d), minimum = number(minima[j], m);
    if (j < 4) {
      packed[j] = static_cast<u8>(packed[j] | scale);
      packed[j + 4] = static_cast<u8>(packed[j + 4] | minimum);
    } else {
      packed[j + 4] = static_cast<u8>((scale & 15) | minimum << 4);
      packed[j - 4] = static_cast<u8>(packed[j - 4] | scale >> 4 << 6);
      packed[j] = static_cast<u8>(packed[j] | minimum >> 4 << 6);
    }
    const f32 step = static_cast<f32>(d) * static_cast<f32>(scale),
              less = static_cast<f32>(m) * static_cast<f32>(minimum);
    for (u32 l = 0; l < 32 && step > 0; ++l) {
      const f32 code = std::clamp(std::nearbyint((x[32 * j + l] + less) / step), 0.0f, 15.0f);
      codes[32 * (j / 2) + l] =
          static_cast<u8>(codes[32 * (j / 2) + l] | static_cast<u32>(code) << (4 * (j % 2)));
    }
  }
  std::string block;
  append(block, d);
  append(block, m);
  append(block, packed);
  append(block, codes);
  return block;
}

// One tensor, n x k.
inline void write_gguf(const std::string& path, const std::string& name, const std::vector<f32>& w,
                       std::uint64_t n, std::uint64_t k) {
  std::string data;
  for (std::size_t i = 0; i < w.size(); i += 256) data += q4_k_block(w.data() + i);
  std::string file = "GGUF";
  append(file, std::uint32_t{3});
  append(file, std::uint64_t{1});  // tensors
  append(file, std::uint64_t{0});  // keys
  append(file, static_cast<std::uint64_t>(name.size()));
  file += name;
  append(file, std::uint32_t{2});
  append(file, k);  // the innermost dimension first
  append(file, n);
  append(file, std::uint32_t{12});  // Q4_K
  append(file, std::uint64_t{0});   // offset
  file.resize((file.size() + 31) / 32 * 32);
  write_file(path, file + data);
}

// The tensors of a layer of GPTQ with zero points, and its exact weights, (n, k).
struct gptq_layer {
  std::vector<i32> qweight, qzeros, g_idx;
  std::vector<f16> scales;
  std::vector<f32> values;
};
inline gptq_layer quantise_gptq(const std::vector<f32>& w, std::size_t n, std::size_t k, std::size_t group) {
  const std::size_t groups = k / group;
  gptq_layer layer{std::vector<i32>(k / 8 * n), std::vector<i32>(groups * n / 8), std::vector<i32>(k),
                   std::vector<f16>(groups * n), std::vector<f32>(n * k)};
  std::vector<f32> low(groups * n, 0.0f), high(groups * n, 0.0f);
  for (std::size_t i = 0; i < k; ++i) layer.g_idx[i] = static_cast<i32>(37 * i % k / group);
  const auto fact = [&](std::size_t i, std::size_t row) {
    return static_cast<std::size_t>(layer.g_idx[i]) * n + row;
  };
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t row = 0; row < n; ++row) {
      low[fact(i, row)] = std::min(low[fact(i, row)], w[row * k + i]);
      high[fact(i, row)] = std::max(high[fact(i, row)], w[row * k + i]);
    }
  std::vector<f32> zeros(groups * n);
  for (std::size_t f = 0; f < groups * n; ++f) {
    layer.scales[f] = f16(std::max(high[f] - low[f], 1e-3f) / 15);
    zeros[f] = std::clamp(std::nearbyint(-low[f] / static_cast<f32>(layer.scales[f])), 0.0f, 15.0f);
    const u32 stored = (static_cast<u32>(zeros[f]) - 1) & 15u;  // of checkpoint_format "gptq"
    layer.qzeros[f / 8] |= static_cast<i32>(stored << (4 * (f % 8)));
  }
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t row = 0; row < n; ++row) {
      const f32 scale = static_cast<f32>(layer.scales[fact(i, row)]), zero = zeros[fact(i, row)];
      const f32 code = std::clamp(std::nearbyint(w[row * k + i] / scale + zero), 0.0f, 15.0f);
      layer.qweight[i / 8 * n + row] |= static_cast<i32>(static_cast<u32>(code) << (4 * (i % 8)));
      layer.values[row * k + i] = (code - zero) * scale;
    }
  return layer;
}

inline void write_safetensors(const std::string& path, const std::string& name, const gptq_layer& layer,
                              std::size_t n, std::size_t k, std::size_t group) {
  std::string header = "{", data;
  const auto add = [&](const std::string& part, const char* type, const std::string& shape,
                       const std::string& bytes) {
    if (header.size() > 1) header += ',';
    header += '"' + name + '.' + part + "\":{\"dtype\":\"" + type + "\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(data.size()) + ',' +
              std::to_string(data.size() + bytes.size()) + "]}";
    data += bytes;
  };
  const auto by = [](std::size_t rows, std::size_t columns) {
    return std::to_string(rows) + ',' + std::to_string(columns);
  };
  add("qweight", "I32", by(k / 8, n), bytes_of(layer.qweight));
  add("qzeros", "I32", by(k / group, n / 8), bytes_of(layer.qzeros));
  add("scales", "F16", by(k / group, n), bytes_of(layer.scales));
  add("g_idx", "I32", std::to_string(k), bytes_of(layer.g_idx));
  header += '}';
  std::string file;
  append(file, static_cast<std::uint64_t>(header.size()));
  write_file(path, file + header + data);
}

}  // namespace kaio::showcase
