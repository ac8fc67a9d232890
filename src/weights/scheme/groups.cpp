// The number of codes that share a scale, from the number of scales, the index of act-order and the configuration.

#include <utility>

#include "host/printable.hpp"
#include "runtime/base/text.hpp"
#include "weights/base/byte_reader.hpp"
#include "weights/scheme/derive.hpp"

namespace kaio::weights {

using runtime::text;
using std::uint64_t;

namespace {

// The number of codes that share a scale, if only the number of scales is known: extent / count, if that is whole. 0, not
// known, if a power of two makes as many groups with a shorter last one.
uint64_t only_size(uint64_t extent, uint64_t count) {
  if (count == 1) return extent;
  if (count == 0 || extent % count != 0) return 0;
  const uint64_t even = extent / count;
  for (uint64_t size = 1; size != 0 && size < extent; size *= 2)
    if (size != even && ratio_up(extent, size) == count) return 0;
  return even;
}

// The groups as the index has them.
struct index_facts {
  bool exists = false;    // neither missing, nor all 0, nor all -1
  bool permuted = false;  // not k / group
  bool is_right = true;   // the first groups have `group` members each, the last one the rest
  uint64_t group = 0;     // members of group 0
};

index_facts facts_of(const tensor_entry* index, uint64_t k, uint64_t groups) {
  index_facts facts;
  if (!index) return facts;
  std::vector<uint64_t> members(static_cast<std::size_t>(groups));
  bool all_same = true;
  const auto group_at = [&](uint64_t i) -> std::int64_t {
    if (index->format == weight_format::i64) return load<std::int64_t>(index->bytes.data() + 8 * i);
    return load<std::int32_t>(index->bytes.data() + 4 * i);
  };
  for (uint64_t i = 0; i < k; ++i) {
    const std::int64_t g = group_at(i);
    all_same = all_same && (g == 0 || g == -1) && g == group_at(0);
    if (g < 0 || static_cast<uint64_t>(g) >= groups)
      facts.is_right = false;
    else
      ++members[static_cast<std::size_t>(g)];
  }
  if (all_same) return {};
  facts.exists = true;
  facts.group = members[0];
  if (facts.group == 0 || ratio_up(k, facts.group) != groups) facts.is_right = false;
  for (uint64_t g = 0; g < groups && facts.is_right; ++g)
    facts.is_right = members[static_cast<std::size_t>(g)] == std::min(facts.group, k - g * facts.group);
  for (uint64_t i = 0; i < k && facts.is_right && !facts.permuted; ++i)
    facts.permuted = static_cast<uint64_t>(group_at(i)) != i / facts.group;
  return facts;
}

}  // namespace

std::string set_group(quantised_layer& layer, uint64_t groups, const quantisation_config* config,
                      const tensor_entry* index) {
  const uint64_t k = layer.k;
  if (groups == 0 || groups > k) return "scales have more groups than K";
  const index_facts of_index = facts_of(index, k, groups);
  if (config && config->act_order && groups > 1 && !of_index.exists)
    return index ? "the configuration has groups in act-order, and g_idx is all 0 or -1"
                 : "the configuration has groups in act-order, and there is no g_idx";
  if (config && config->group && *config->group != 0) {
    const uint64_t group = *config->group < 0 ? k : static_cast<uint64_t>(*config->group);
    if (ratio_up(k, group) == groups)
      layer.group = std::min(group, k);
    else if (!config->per_layer)
      return text("the configuration's group_size of ", group, " makes ", ratio_up(k, group),
                  " groups of K = ", k, ", and scales have ", groups);
  }
  if (of_index.exists) {
    if (!of_index.is_right || (layer.group != 0 && layer.group != of_index.group))
      return layer.group != 0 ? text("g_idx does not have groups of ", layer.group)
                              : std::string("g_idx does not have groups of one size");
    layer.group = of_index.group;
    layer.act_order = of_index.permuted;
  }
  if (layer.group == 0) layer.group = only_size(k, groups);
  if (layer.group != 0) return {};
  return text("the group size of ", groups, " groups of K = ", k,
              " is ambiguous; pass a configuration that has it");
}

std::string set_blocks(quantised_layer& layer, uint64_t rows, uint64_t columns,
                       const quantisation_config* config, bool only_of_128) {
  const auto fit = [&](uint64_t block_rows, uint64_t block_columns) {
    return ratio_up(layer.n, block_rows) == rows && ratio_up(layer.k, block_columns) == columns;
  };
  const auto set = [&](uint64_t block_rows, uint64_t block_columns) {
    layer.block_rows = block_rows;
    layer.block_columns = block_columns;
    return std::string();
  };
  if (config && config->block_rows != 0 && config->block_columns != 0) {
    if (fit(config->block_rows, config->block_columns)) return set(config->block_rows, config->block_columns);
    if (!config->per_layer)
      return text("the scales are not of the configuration's blocks of ", config->block_rows, " x ",
                  config->block_columns);
  }
  if (fit(128, 128)) return set(128, 128);
  if (only_of_128) return "weight_scale_inv is not of blocks of 128 x 128";
  const uint64_t block_rows = only_size(layer.n, rows), block_columns = only_size(layer.k, columns);
  if (block_rows == 0 || block_columns == 0)
    return "the scales are neither one, nor one a row, nor of blocks of a certain size; the configuration "
           "may have it";
  return set(block_rows, block_columns);
}

std::string problem_of_signed_zeros(const tensor_entry& zeros, unsigned bits) {
  const int half = 1 << (bits - 1);
  for (const std::byte b : zeros.bytes) {
    const int zero = static_cast<std::int8_t>(b);
    if (zero < -half || zero >= half)
      return text(host::printable(zeros.name), " has the zero point ", zero, ", which does not fit in ", bits,
                  " bits");
  }
  return {};
}

std::string problem_of_missing_zeros(const quantised_layer& layer, const quantisation_config* config) {
  if (!config || config->symmetric.value_or(true) || find(layer, weight_part::zero_points)) return {};
  return "the configuration's codes are not symmetric, and there are no zero points";
}

}  // namespace kaio::weights
