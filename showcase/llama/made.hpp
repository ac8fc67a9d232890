#pragma once
// A model that the program makes: random weights from a seed, of f16 or in blocks of four or eight bits.

#include <kaio/kaio.hpp>
#include <kaio/ops/weight_only/quantise_weights.hpp>

#include <optional>
#include <string>
#include <vector>

#include "tensors.hpp"

namespace kaio::showcase::llama {

// With embeddings of their own for the output. `blocks`: the format of the layers' matrices, Q4_0 or Q8_0; else f16.
inline tensor_set made_tensors(const device& gpu, const model_shape& s, u64 seed, weight_format blocks) {
  tensor_set set(seed);
  const auto make = [&](const tensor_entry*&, const std::string& name,
                        const std::vector<std::uint64_t>& shape, bool required) {
    if (!required) return;
    set.make(name, shape);
    if (blocks == weight_format::f16 || shape.size() != 2) return;
    const block_format format = block_format_named(kaio::weights::facts(blocks).name);
    const auto n = static_cast<i64>(shape[0]), k = static_cast<i64>(shape[1]);
    const auto bytes = static_cast<i64>(packed_bytes(format, n * k));
    const auto* const values = reinterpret_cast<const f16*>(set.find(name)->bytes.data());
    const auto matrix = gpu.upload(values, static_cast<std::size_t>(n * k));
    auto coded = gpu.allocate<u8>(static_cast<std::size_t>(bytes));
    quantise_weights(gpu.stream(), tensor_view<const f16, 2>(matrix, n, k), format,
                     tensor_view<u8, 1>(coded, bytes));
    set.replace(name, blocks, coded.download());
  };
  set.make("token_embd.weight", {s.vocabulary, s.hidden});
  set.make("output_norm.weight", {s.hidden});
  set.make("output.weight", {s.vocabulary, s.hidden});
  layer_tensors unused{};
  for (u32 l = 0; l < s.layers; ++l) for_layer(s, l, unused, make);
  return set;
}

}  // namespace kaio::showcase::llama
