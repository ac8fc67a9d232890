#pragma once
// Weight files of the C interface. A handle owns the mapped file, and what C needs besides: names that end with a zero, and
// DLTensors of the mapped bytes. Handles of layers share the file, so the order in which they are closed is free.

#include <kaio/c/weights.h>
#include <kaio/weights/weights.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "c/call/call.hpp"

namespace kaio::c {

enum class weights_kind { gguf, safetensors };

// A tensor as C describes it.
struct tensor_record {
  std::string name, file;
  std::vector<std::int64_t> shape;
  std::int64_t count = 0;  // the shape of `tensor`, if it is bytes
  DLTensor tensor{};
};

// A value of the metadata of either kind of file.
struct value_record {
  std::string_view key_view;
  std::string key, text;
  weights::gguf_value value{};
};

struct open_file {
  std::variant<weights::gguf_file, weights::safetensors_file> file;
  std::span<const weights::tensor_entry> tensors{};
  std::vector<tensor_record> records{};
  std::vector<value_record> metadata{};

  explicit open_file(weights::gguf_file&& opened);
  explicit open_file(weights::safetensors_file&& opened);
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;

 private:
  void take_tensors();
};

kaio_weights* open_weights(const char* path);
kaio_weights* view_weights(const void* data, std::uint64_t bytes, const char* name);
void close(kaio_weights* weights) noexcept;

void give_info(const call& in, const kaio_weights& weights, kaio_weights_info* info);
void give_tensor(const call& in, const kaio_weights& weights, std::uint64_t index,
                 kaio_weights_tensor* tensor);
void give_value(const call& in, const kaio_weights& weights, std::uint64_t index, kaio_weights_value* value);
// The index of a tensor or a key; all bits set: there is none.
std::uint64_t index_of_tensor(const kaio_weights& weights, std::string_view name);
std::uint64_t index_of_key(const kaio_weights& weights, std::string_view key);
void read_values(const call& in, const kaio_weights& weights, std::uint64_t index, std::uint64_t first,
                 std::uint64_t count, float* to);

kaio_weights_layers* open_layers(const kaio_weights& weights, const char* config);
void close(kaio_weights_layers* layers) noexcept;

void give_info(const call& in, const kaio_weights_layers& layers, kaio_weights_layers_info* info);
void give_layer(const call& in, const kaio_weights_layers& layers, std::uint64_t index,
                kaio_weights_layer* layer);
void give_part(const call& in, const kaio_weights_layers& layers, std::uint64_t layer, std::uint64_t part,
               kaio_weights_layer_part* to);
// Returns the bytes of a part, and copies them if `to` is not null.
std::uint64_t copy_part(const call& in, const kaio_weights_layers& layers, std::uint64_t layer,
                        weights::weight_part part, void* to, std::uint64_t room);

// Requires an index below the count of what is named.
void require_index(const call& in, const char* name, std::uint64_t index, std::uint64_t count,
                   const char* what);

}  // namespace kaio::c

struct kaio_weights {
  std::shared_ptr<const kaio::c::open_file> opened;
};
