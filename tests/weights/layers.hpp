#pragma once
// Layers of quantised weights, made of tensors of zeros, and the reader's result for them.

#include "files.hpp"

#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

namespace kaio::tests {

// A tensor of zeros.
inline safetensors_maker& zeros(safetensors_maker& s, const std::string& name, const std::string& dtype,
                                std::vector<std::uint64_t> shape, std::size_t element_bytes) {
  std::string text = "[";
  std::size_t bytes = element_bytes;
  for (const std::uint64_t extent : shape) {
    text += (text.size() > 1 ? "," : "") + std::to_string(extent);
    bytes *= extent;
  }
  return s.tensor(name, dtype, text + "]", std::string(bytes, '\0'));
}

struct made {
  safetensors_maker s;
  made& add(const std::string& name, const std::string& dtype, std::vector<std::uint64_t> shape) {
    const std::size_t bytes = dtype == "I64" ? 8 : dtype.ends_with("32") ? 4 : dtype.ends_with("16") ? 2 : 1;
    zeros(s, name, dtype, std::move(shape), bytes);
    return *this;
  }
};

struct found_layer {
  std::size_t layers = 0, parts = 0;
  weight_scheme scheme{};
  std::uint64_t n = 0, k = 0, group = 0;
  unsigned bits = 0;
  bool act_order = false;
  std::string name, problem, operation, obstacle;
  std::uint64_t block_rows = 0, block_columns = 0, nested_group = 0;
  float nested_offset = 0;
  bool swizzled = false;
};

inline found_layer only_layer(const safetensors_maker& s, const quantisation_config* config = nullptr) {
  const std::string text = s.text();
  const safetensors_file file = safetensors_file::view(bytes_of(text), "m");
  const auto layers = quantised_layers(file.tensors(), config);
  if (layers.empty()) return {};
  const quantised_layer& l = layers[0];
  return {layers.size(),
          l.parts.size(),
          l.scheme,
          l.n,
          l.k,
          l.group,
          l.bits,
          l.act_order,
          std::string(l.name),
          l.problem,
          std::string(operation_of(l)),
          obstacle_of(l),
          l.block_rows,
          l.block_columns,
          l.nested_group,
          l.nested_offset,
          l.swizzled};
}

inline void check_layer(const safetensors_maker& s, weight_scheme scheme, std::uint64_t n, std::uint64_t k,
                        unsigned bits, std::uint64_t group, std::size_t parts,
                        const quantisation_config* config = nullptr) {
  const found_layer l = only_layer(s, config);
  INFO(std::string(facts(scheme).name) << ", problem: " << l.problem);
  CHECK(l.layers == 1);
  CHECK(l.scheme == scheme);
  CHECK(l.name == "m.q");
  CHECK(l.problem.empty());
  CHECK(l.n == n);
  CHECK(l.k == k);
  CHECK(l.bits == bits);
  CHECK(l.group == group);
  CHECK(l.parts == parts);
}

inline made gptq(unsigned bits, std::uint64_t n, std::uint64_t k, std::uint64_t group) {
  made m;
  m.add("m.q.qweight", "I32", {k * bits / 32, n})
      .add("m.q.qzeros", "I32", {k / group, n * bits / 32})
      .add("m.q.scales", "F16", {k / group, n});
  return m;
}

}  // namespace kaio::tests
