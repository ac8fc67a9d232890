#pragma once
// The weights of a model on the device.

#include <vector>

#include "matrix.hpp"
#include "shape.hpp"
#include "tensors.hpp"

namespace kaio::showcase::llama {

template <class T>
struct layer_weights {
  std::vector<matrix<T>> qkv, gate_up;  // one matrix, or one for each projection if their formats differ
  matrix<T> out, down;
  buffer<T> attention_norm, ff_norm, q_bias, k_bias, v_bias, q_norm, k_norm;

  layer_weights(const device& gpu, const layer_tensors& t)
      : qkv(joined(gpu, {t.q, t.k, t.v})),
        gate_up(joined(gpu, {t.gate, t.up})),
        out(gpu, {t.o}),
        down(gpu, {t.down}),
        attention_norm(loaded_vector<T>(gpu, t.attention_norm)),
        ff_norm(loaded_vector<T>(gpu, t.ff_norm)),
        q_bias(loaded_vector<T>(gpu, t.q_bias)),
        k_bias(loaded_vector<T>(gpu, t.k_bias)),
        v_bias(loaded_vector<T>(gpu, t.v_bias)),
        q_norm(loaded_vector<T>(gpu, t.q_norm)),
        k_norm(loaded_vector<T>(gpu, t.k_norm)) {}

  qkv_weights of_qkv() const {
    if (qkv.size() == 1) return qkv_weights(qkv[0].weight());
    return {qkv[0].weight(), qkv[1].weight(), qkv[2].weight()};
  }
  gate_up_weights of_gate_up() const {
    if (gate_up.size() == 1) return gate_up_weights(gate_up[0].weight());
    return {gate_up[0].weight(), gate_up[1].weight()};
  }
  u64 bytes() const {
    u64 sum = out.bytes() + down.bytes();
    for (const matrix<T>& one : qkv) sum += one.bytes();
    for (const matrix<T>& one : gate_up) sum += one.bytes();
    return sum;
  }

 private:
  static std::vector<matrix<T>> joined(const device& gpu, const std::vector<const tensor_entry*>& parts) {
    std::vector<matrix<T>> all;
    if (matrix<T>::joins(parts))
      all.emplace_back(gpu, parts);
    else
      for (const tensor_entry* part : parts) all.emplace_back(gpu, std::vector<const tensor_entry*>{part});
    return all;
  }
};

template <class T>
struct model {
  model_shape shape;
  matrix<T> embedding;  // of T: its rows are looked up
  matrix<T> packed_output;
  bool is_tied;
  buffer<T> norm;
  std::vector<layer_weights<T>> layers;

  model(const device& gpu, const model_shape& of, const model_tensors& tensors)
      : shape(of), embedding(gpu, {tensors.embedding}, false) {
    const std::optional<block_format> format = blocks_of(*tensors.output);
    const bool is_packed = format && operation_of(*format) != block_operation::none;
    is_tied = tensors.output == tensors.embedding && !is_packed;
    if (!is_tied) packed_output = matrix<T>(gpu, {tensors.output});
    norm = loaded_vector<T>(gpu, tensors.norm);
    layers.reserve(tensors.layers.size());
    for (const layer_tensors& one : tensors.layers) layers.emplace_back(gpu, one);
  }
  // The product that gives the logits.
  const matrix<T>& output() const { return is_tied ? embedding : packed_output; }
  // The bytes of weights that a step of one token reads.
  u64 bytes() const {
    u64 sum = output().bytes();
    for (const layer_weights<T>& one : layers) sum += one.bytes();
    return sum;
  }
};

}  // namespace kaio::showcase::llama
