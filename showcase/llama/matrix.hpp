#pragma once
// A weight on the device, of one tensor or of several with equal inputs, one below another. Blocks of a file become the
// operand of matmul_w4 or matmul_w8; everything else becomes a matrix of T.
//
//   F32, F16, BF16                          T                  matmul
//   Q4_0, Q4_1, Q4_K, MXFP4, NVFP4          packed, 4 bits     matmul_w4
//   Q5_0, Q5_1, Q8_0, Q3_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS
//                                           packed, 8 bits     matmul_w8
//   Q2_K                                    T, on the device   matmul
//   other formats                           T, by the host     matmul

#include <kaio/kaio.hpp>
#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/matmul_w8.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/weight_only/dequantise.hpp>
#include <kaio/weights/read_values.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "kernels.hpp"
#include "tensors.hpp"

namespace kaio::showcase::llama {

inline std::optional<block_format> blocks_of(const tensor_entry& t) {
  const std::string_view name = kaio::weights::facts(t.format).name;
  for (const ops::block_facts& one : ops::block_formats)
    if (one.name == name) return one.format;
  return {};
}

// Numbers that the device converts to T.
template <class T, class From>
void upload_converted(const device& gpu, const From* values, std::size_t count, device_pointer<T> to) {
  const auto source = gpu.upload(values, count);
  const u32 blocks = static_cast<u32>(std::min<std::size_t>((count + 255) / 256, 4096));
  if (blocks != 0) convert<From, T>.launch(gpu.stream(), grid(blocks), source, to, u64{count});
  gpu.stream().synchronize();
}

// The values of a tensor as T, on the device.
template <class T>
void load(const device& gpu, const tensor_entry& t, const device_pointer<T>& to) {
  const auto raw = [&]<class From>(From) {
    const std::byte* const bytes = t.bytes.data();
    if (reinterpret_cast<std::uintptr_t>(bytes) % alignof(From) == 0)
      return upload_converted(gpu, reinterpret_cast<const From*>(bytes), t.elements, to);
    std::vector<From> values(t.elements);
    std::memcpy(values.data(), bytes, t.bytes.size());
    upload_converted(gpu, values.data(), values.size(), to);
  };
  if (const std::optional<block_format> format = blocks_of(t)) {
    const auto bytes = gpu.upload(reinterpret_cast<const u8*>(t.bytes.data()), t.bytes.size());
    const auto k = static_cast<i64>(t.shape.back()), n = static_cast<i64>(t.elements) / k;
    dequantise(gpu.stream(), *format, tensor_view<const u8, 1>(bytes, static_cast<i64>(t.bytes.size())),
               tensor_view<T, 2>(to, n, k));
    return gpu.stream().synchronize();
  }
  if (t.format == weight_format::f16) return raw(f16());
  if (t.format == weight_format::bf16) return raw(bf16());
  if (t.format == weight_format::f32) return raw(f32());
  std::vector<f32> values(t.elements);
  in_parallel(t.elements / t.shape.back(), [&](std::size_t first, std::size_t last) {
    const std::size_t k = t.shape.back();
    read_values(t, std::span(values).subspan(first * k, (last - first) * k), first * k);
  });
  upload_converted(gpu, values.data(), values.size(), to);
}

// A tensor of one dimension; null if the model has none.
template <class T>
buffer<T> loaded_vector(const device& gpu, const tensor_entry* t) {
  if (t == nullptr) return {};
  auto to = gpu.allocate<T>(t->elements);
  load<T>(gpu, *t, to.view());
  return to;
}

template <class T>
class matrix {
 public:
  matrix() = default;
  explicit matrix(const device& gpu, const std::vector<const tensor_entry*>& parts, bool packed = true) {
    k_ = static_cast<i64>(parts.front()->shape[1]);
    for (const tensor_entry* part : parts) n_ += static_cast<i64>(part->shape[0]);
    const std::optional<block_format> format = blocks_of(*parts.front());
    if (packed && format && operation_of(*format) != block_operation::none)
      pack(gpu, parts, *format);
    else
      unpack(gpu, parts);
  }

  i64 n() const { return n_; }
  i64 k() const { return k_; }
  u64 bytes() const { return values_.size() * sizeof(T) + packed_.size(); }
  const buffer<T>& values() const { return values_; }
  projection_weight weight() const {
    switch (kind_) {
      case block_operation::matmul_w4: return w4_weights{w4_, packed_};
      case block_operation::matmul_w8: return w8_weights{w8_, packed_};
      case block_operation::none: break;
    }
    return tensor_view<const T, 2>(values_, n_, k_);
  }

  // y = x W^T
  template <class Y>
  void multiply(const stream& s, const tensor_view<const T, 2>& x, const tensor_view<Y, 2>& y,
                const ops::workspace_view& workspace) const {
    switch (kind_) {
      case block_operation::matmul_w4:
        return matmul_w4(s, x, w4_weights{w4_, packed_}, y,
                         {.workspace = workspace, .constant = constant_inputs::weights});
      case block_operation::matmul_w8:
        return matmul_w8(s, x, w8_weights{w8_, packed_}, y,
                         {.workspace = workspace, .constant = constant_inputs::weights});
      case block_operation::none: break;
    }
    matmul_options options;
    options.workspace = workspace;
    options.constant = constant_inputs::b;
    matmul(s, x, tensor_view<const T, 2>(values_, n_, k_).transposed(), y, options);
  }
  template <class Y>
  u64 workspace_bytes(const stream& s, const tensor_view<const T, 2>& x, const tensor_view<Y, 2>& y) const {
    switch (kind_) {
      case block_operation::matmul_w4: return matmul_w4_workspace_bytes(s, x, w4_weights{w4_, packed_});
      case block_operation::matmul_w8: return ops::matmul_w8_workspace_bytes(s, x, w8_weights{w8_, packed_});
      case block_operation::none: break;
    }
    return ops::matmul_workspace_bytes(s, x, tensor_view<const T, 2>(values_, n_, k_).transposed(), y, {});
  }

  // Whether tensors may be one matrix.
  static bool joins(const std::vector<const tensor_entry*>& parts) {
    for (const tensor_entry* part : parts)
      if (part->format != parts.front()->format) return false;
    return true;
  }

 private:
  void pack(const device& gpu, const std::vector<const tensor_entry*>& parts, block_format format) {
    std::vector<u8> bytes;
    for (const tensor_entry* part : parts) {
      const auto* const first = reinterpret_cast<const u8*>(part->bytes.data());
      bytes.insert(bytes.end(), first, first + part->bytes.size());
    }
    const auto blocks = gpu.upload(bytes);
    const gguf_blocks source{format, tensor_view<const u8, 1>(blocks, static_cast<i64>(bytes.size()))};
    kind_ = operation_of(format);
    if (kind_ == block_operation::matmul_w4) {
      w4_ = w4_shape_of(format, n_, k_);
      packed_ = gpu.allocate<u8>(packed_bytes(w4_));
      repack(gpu.stream(), source, w4_weights{w4_, packed_});
    } else {
      w8_ = w8_shape_of(format, n_, k_);
      packed_ = gpu.allocate<u8>(packed_bytes(w8_));
      repack(gpu.stream(), source, w8_weights{w8_, packed_});
    }
    gpu.stream().synchronize();
  }
  void unpack(const device& gpu, const std::vector<const tensor_entry*>& parts) {
    values_ = gpu.allocate<T>(static_cast<std::size_t>(n_ * k_));
    std::size_t first = 0;
    for (const tensor_entry* part : parts) {
      load<T>(gpu, *part, values_.slice(first, part->elements));
      first += part->elements;
    }
  }

  i64 n_ = 0, k_ = 0;
  block_operation kind_ = block_operation::none;
  w4_shape w4_{};
  w8_shape w8_{};
  buffer<u8> packed_;
  buffer<T> values_;
};

}  // namespace kaio::showcase::llama
