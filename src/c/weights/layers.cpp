// Quantised layers of weight files, of the C interface.

#include <kaio/weights/quantisation.hpp>

#include <cstring>
#include <optional>
#include <utility>

#include "c/call/error.hpp"
#include "c/weights/file.hpp"

namespace kaio::c {

namespace {

// A layer's texts, which end with a zero.
struct layer_record {
  std::string name, operation, obstacle;
};

}  // namespace

}  // namespace kaio::c

struct kaio_weights_layers {
  std::shared_ptr<const kaio::c::open_file> opened;
  std::optional<kaio::weights::quantisation_config> config;
  std::vector<kaio::weights::quantised_layer> layers;
  std::vector<kaio::c::layer_record> records;
};

namespace kaio::c {

namespace {

const weights::quantised_layer& layer_at(const call& in, const char* name, const kaio_weights_layers& layers,
                                         std::uint64_t index) {
  require_index(in, name, index, layers.layers.size(), "layers");
  return layers.layers[index];
}

}  // namespace

kaio_weights_layers* open_layers(const kaio_weights& weights, const char* config) {
  auto made = std::make_unique<kaio_weights_layers>();
  made->opened = weights.opened;
  std::optional<weights::quantisation_config>& read = made->config;
  if (config != nullptr) read = weights::read_quantisation_config(config);
  made->layers = weights::quantised_layers(made->opened->tensors, read ? &*read : nullptr);
  for (const weights::quantised_layer& layer : made->layers)
    made->records.push_back({std::string(layer.name), std::string(weights::operation_of(layer)),
                             std::string(weights::obstacle_of(layer))});
  return made.release();
}

void close(kaio_weights_layers* layers) noexcept { delete layers; }

void give_info(const call& in, const kaio_weights_layers& layers, kaio_weights_layers_info* info) {
  kaio_weights_layers_info to = kaio_weights_layers_info_default();
  to.layers = layers.layers.size();
  if (layers.config) {
    const weights::quantisation_config& config = *layers.config;
    to.has_config = 1;
    to.method = config.method.c_str();
    to.format = config.format.c_str();
    to.bits = config.bits;
    to.has_group = config.group.has_value();
    to.group = config.group.value_or(0);
    to.act_order = config.act_order;
    to.symmetric = !config.symmetric ? -1 : *config.symmetric ? 1 : 0;
    to.block_rows = config.block_rows;
    to.block_columns = config.block_columns;
    to.inverse_scales = config.inverse_scales;
    to.per_layer = config.per_layer;
  }
  in.give("info", info, &to, sizeof to);
}

void give_layer(const call& in, const kaio_weights_layers& layers, std::uint64_t index,
                kaio_weights_layer* layer) {
  const weights::quantised_layer& from = layer_at(in, "index", layers, index);
  const layer_record& record = layers.records[index];
  kaio_weights_layer to = kaio_weights_layer_default();
  to.scheme = static_cast<std::int32_t>(from.scheme);
  to.scheme_name = weights::facts(from.scheme).name.data();
  to.name = record.name.c_str();
  to.n = from.n;
  to.k = from.k;
  to.bits = from.bits;
  to.group = from.group;
  to.block_rows = from.block_rows;
  to.block_columns = from.block_columns;
  to.nested_group = from.nested_group;
  to.nested_offset = from.nested_offset;
  to.act_order = from.act_order;
  to.swizzled = from.swizzled;
  to.problem = from.problem.c_str();
  to.operation = record.operation.c_str();
  to.obstacle = record.obstacle.c_str();
  to.parts = from.parts.size();
  in.give("layer", layer, &to, sizeof to);
}

void give_part(const call& in, const kaio_weights_layers& layers, std::uint64_t layer, std::uint64_t part,
               kaio_weights_layer_part* to) {
  const weights::quantised_layer& from = layer_at(in, "layer", layers, layer);
  require_index(in, "index", part, from.parts.size(), "parts");
  const weights::quantised_part& found = from.parts[part];
  kaio_weights_layer_part made = kaio_weights_layer_part_default();
  made.part = static_cast<std::int32_t>(found.part);
  made.part_name = weights::to_string(found.part).data();
  made.tensor = static_cast<std::uint64_t>(found.tensor - layers.opened->tensors.data());
  in.give("part", to, &made, sizeof made);
}

std::uint64_t copy_part(const call& in, const kaio_weights_layers& layers, std::uint64_t layer,
                        weights::weight_part part, void* to, std::uint64_t room) {
  const std::vector<std::byte> bytes = weights::part_bytes(layer_at(in, "layer", layers, layer), part);
  if (to == nullptr || bytes.empty()) return bytes.size();
  if (room < bytes.size())
    refuse(in.operation(), "argument to has room for " + std::to_string(room) + " bytes, and the part has " +
                               std::to_string(bytes.size()) + "; ask for their number with to NULL first");
  std::memcpy(to, bytes.data(), bytes.size());
  return bytes.size();
}

}  // namespace kaio::c
