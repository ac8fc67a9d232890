// Finds the layers: tensors whose names begin alike, and the scheme that has them all.

#include <algorithm>
#include <map>
#include <utility>

#include "host/printable.hpp"
#include "runtime/base/text.hpp"
#include "weights/scheme/derive.hpp"
#include "weights/scheme/scheme_table.hpp"

namespace kaio::weights {
namespace {

struct named_part {
  std::string_view suffix;
  const tensor_entry* tensor;
};

// The longest suffix of the table that the name ends with.
std::string_view suffix_of(std::string_view name) {
  std::string_view longest;
  for (const scheme_rule& rule : scheme_rules())
    for (const part_rule& part : rule.parts)
      if (part.suffix.size() > longest.size() && part.suffix.size() < name.size() &&
          name.ends_with(part.suffix))
        longest = part.suffix;
  return longest;
}

bool takes(const part_rule& rule, const named_part& part) {
  return rule.suffix == part.suffix &&
         (rule.formats.size() == 0 ||
          std::ranges::find(rule.formats, part.tensor->format) != rule.formats.end());
}

// The layer where the names and types are those of the scheme; its parts are empty where they are not.
quantised_layer with_parts(const scheme_rule& rule, std::string_view name,
                           std::span<const named_part> parts) {
  quantised_layer layer;
  layer.name = name;
  layer.scheme = rule.facts.scheme;
  for (const part_rule& wanted : rule.parts) {
    const auto found = std::ranges::find_if(parts, [&](const named_part& p) { return takes(wanted, p); });
    if (found != parts.end())
      layer.parts.push_back({wanted.part, found->tensor});
    else if (wanted.required)
      return {};
  }
  return layer;
}

// A format of the configuration that the scheme is not in. Gives the problem, if there is one.
std::string problem_of_format(const scheme_rule& rule, const quantisation_config* config) {
  if (!config || config->format.empty() || rule.formats.empty()) return {};
  std::string known;
  for (const std::string_view format : rule.formats) {
    if (config->format == format) return {};
    known += (known.empty() ? "" : ", ") + std::string(format);
  }
  return runtime::text("the configuration's format is ", host::printable(config->format), "; kaio reads ",
                       rule.facts.name, " in ", known);
}

// The same where the shapes are those of the scheme too.
quantised_layer match(const scheme_rule& rule, std::string_view name, std::span<const named_part> parts,
                      const quantisation_config* config) {
  quantised_layer layer = with_parts(rule, name, parts);
  if (layer.parts.empty() || !rule.derive(layer, config)) return {};
  if (std::string problem = problem_of_format(rule, config); layer.problem.empty() && !problem.empty())
    contradicts(layer, std::move(problem));
  return layer;
}

// Names of GPTQ and AWQ, whose schemes are told apart by shapes, with shapes that none of them has, or not the
// one of the configuration. Other names are those of one scheme, whose rule reports what does not fit.
quantised_layer unfit(std::string_view name, std::span<const named_part> parts,
                      const quantisation_config* config) {
  const bool is_awq = config != nullptr && config->method == "awq";
  quantised_layer of_gptq;  // where the configuration's method is awq: the last to be tried
  for (const scheme_rule& rule : scheme_rules()) {
    if (rule.parts[0].suffix != ".qweight") continue;
    const bool is_other = is_awq && rule.facts.scheme == weight_scheme::gptq;
    if (is_other) {
      quantisation_config of_bits;
      of_bits.bits = config->bits;
      const quantised_layer fits = match(rule, name, parts, &of_bits);
      if (!fits.parts.empty() && fits.problem.empty()) {
        of_gptq = with_parts(rule, name, parts);
        of_gptq.problem = "the tensors are those of GPTQ, and the configuration's method is awq";
        return of_gptq;
      }
    }
    quantised_layer layer = with_parts(rule, name, parts);
    if (layer.parts.empty()) continue;
    layer.problem = "qweight, scales and qzeros have shapes of no scheme";
    if (!is_other) return layer;
    of_gptq = std::move(layer);
  }
  return of_gptq;
}

}  // namespace

std::vector<quantised_layer> quantised_layers(std::span<const tensor_entry> tensors,
                                              const quantisation_config* config) {
  std::map<std::string_view, std::vector<named_part>> candidates;
  for (const tensor_entry& t : tensors)
    if (const auto suffix = suffix_of(t.name); !suffix.empty())
      candidates[t.name.substr(0, t.name.size() - suffix.size())].push_back({suffix, &t});
  std::vector<quantised_layer> layers;
  for (const auto& [name, parts] : candidates) {
    if (parts.size() < 2) continue;
    quantised_layer layer;
    for (const scheme_rule& rule : scheme_rules()) {
      layer = match(rule, name, parts, config);
      if (!layer.parts.empty()) break;
    }
    if (layer.parts.empty()) layer = unfit(name, parts, config);
    if (!layer.parts.empty()) layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace kaio::weights
