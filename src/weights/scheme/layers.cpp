// Finds the layers: tensors whose names begin alike, and the scheme that has them all.

#include <algorithm>
#include <map>
#include <set>
#include <string>
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

using tensors_by_name = std::map<std::string_view, const tensor_entry*>;

// A suffix of the table, and the suffixes of codes in the schemes that have it.
struct known_suffix {
  std::string_view text;
  std::vector<std::string_view> codes;
};

// The longest ones first.
std::vector<known_suffix> known_suffixes() {
  std::map<std::string_view, std::vector<std::string_view>> of;
  for (const scheme_rule& rule : scheme_rules())
    for (const part_rule& part : rule.parts)
      for (const std::string_view suffix : part.suffixes)
        for (const std::string_view codes : rule.parts[0].suffixes)
          if (!suffix.empty()) of[suffix].push_back(codes);
  std::vector<known_suffix> known;
  known.reserve(of.size());
  for (auto& [text, codes] : of) known.push_back({text, std::move(codes)});
  std::ranges::sort(known, std::ranges::greater{},
                    [](const known_suffix& s) { return std::pair(s.text.size(), s.text); });
  return known;
}

// The longest suffix of the table that the name ends with. Suffixes that leave the name of a layer with codes go first.
std::string_view suffix_of(std::string_view name, const tensors_by_name& tensors) {
  static const std::vector<known_suffix> known = known_suffixes();
  std::string_view longest;
  for (const known_suffix& suffix : known) {
    if (suffix.text.size() >= name.size() || !name.ends_with(suffix.text)) continue;
    const std::string layer(name.substr(0, name.size() - suffix.text.size()));
    const auto has = [&](std::string_view codes) { return tensors.contains(layer + std::string(codes)); };
    if (std::ranges::any_of(suffix.codes, has)) return suffix.text;
    if (longest.empty()) longest = suffix.text;
  }
  return longest;
}

// The tensors of each layer by the table, under its name. If a parameter has a name of its own, its codes have the name of
// the layer.
std::map<std::string_view, std::vector<named_part>> candidates_of(std::span<const tensor_entry> tensors,
                                                                  const tensors_by_name& by_name) {
  std::map<std::string_view, std::vector<named_part>> candidates;
  for (const tensor_entry& t : tensors)
    if (const auto suffix = suffix_of(t.name, by_name); !suffix.empty())
      candidates[t.name.substr(0, t.name.size() - suffix.size())].push_back({suffix, &t});
  for (auto& [name, parts] : candidates)
    if (const auto same = by_name.find(name); same != by_name.end() && suffix_of(name, by_name).empty())
      parts.push_back({"", same->second});
  return candidates;
}

// Names that tensors of other kinds have too.
bool is_common(std::string_view suffix) {
  return suffix == "_scale" || suffix == "_scales" || suffix == "_zero_point";
}

// Names that only codes have.
bool is_of_codes_alone(std::string_view suffix) {
  return suffix == ".qweight" || suffix == ".weight_packed" || suffix == "._weight_qdata";
}

// Whether elements of this type may be codes, rather than plain numbers.
bool may_be_codes(weight_format format) {
  using enum weight_format;
  constexpr weight_format numbers[] = {f64, f32, f16, bf16, c64, boolean, i64};
  return std::ranges::find(numbers, format) == std::end(numbers);
}

// The tensors as parts of a scheme, by their names.
struct named_layer {
  quantised_layer layer;    // its problem: a part is missing, or is of another type
  std::size_t right = 0;    // parts whose type the scheme takes
  bool is_whole = true;     // no part is missing
  bool is_telling = false;  // a part has a name that only quantised layers have
  std::string_view codes;   // their suffix
};

std::string list_of(std::span<const weight_format> formats) {
  std::string list;
  for (const weight_format f : formats) list += (list.empty() ? "" : ", ") + std::string(facts(f).name);
  return list;
}

named_layer with_parts(const scheme_rule& rule, std::string_view name, std::span<const named_part> parts) {
  named_layer found;
  quantised_layer& layer = found.layer;
  layer.name = name;
  layer.scheme = rule.facts.scheme;
  for (const part_rule& wanted : rule.parts) {
    const auto is_named = [&](const named_part& p) {
      return std::ranges::find(wanted.suffixes, p.suffix) != wanted.suffixes.end();
    };
    const auto at = std::ranges::find_if(parts, is_named);
    if (at == parts.end()) {
      if (wanted.required && layer.problem.empty())
        layer.problem = runtime::text(rule.facts.name, " needs the tensor ", host::printable(name),
                                      *wanted.suffixes.begin(), ", which is missing");
      found.is_whole = found.is_whole && !wanted.required;
      continue;
    }
    layer.parts.push_back({wanted.part, at->tensor});
    if (wanted.part == weight_part::codes)
      found.codes = at->suffix;
    else if (wanted.part != weight_part::input_scale)
      found.is_telling = found.is_telling || !is_common(at->suffix);
    const std::span formats(wanted.formats.begin(), wanted.formats.end());
    if (formats.empty() || std::ranges::find(formats, at->tensor->format) != formats.end())
      ++found.right;
    else if (layer.problem.empty())
      layer.problem =
          runtime::text(host::printable(at->tensor->name), " has type ", facts(at->tensor->format).name, "; ",
                        rule.facts.name, " takes ", list_of(formats));
  }
  return found;
}

// Whether tensors that do not quite fit a scheme can be nothing else. The names of the codes or of a part show it, or
// codes that are no plain numbers.
bool is_certain(const named_layer& found) {
  const tensor_entry* const codes = find(found.layer, weight_part::codes);
  if (!codes) return false;
  if (found.codes == "_blocks") return found.is_whole;
  return is_of_codes_alone(found.codes) || found.is_telling ||
         (found.layer.parts.size() > 1 && may_be_codes(codes->format));
}

// Checks whether the scheme is in the configuration's format. Returns the problem, if there is one.
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

// The layer, if names, types and shapes are those of the scheme; without parts, if they are not.
quantised_layer match(const scheme_rule& rule, std::string_view name, std::span<const named_part> parts,
                      const quantisation_config* config) {
  quantised_layer layer = with_parts(rule, name, parts).layer;
  if (!layer.problem.empty() || !rule.derive(layer, config)) return {};
  if (std::string problem = problem_of_format(rule, config); layer.problem.empty() && !problem.empty())
    contradicts(layer, std::move(problem));
  return layer;
}

// Refuses tensors with GPTQ's or AWQ's names and types whose shapes fit none of their schemes, or not the configuration's.
// Only shapes distinguish these schemes. Other names belong to one scheme, whose rule reports what does not fit.
quantised_layer unfit(std::string_view name, std::span<const named_part> parts,
                      const quantisation_config* config) {
  const bool is_awq = config != nullptr && config->method == "awq";
  quantised_layer of_gptq;  // if the configuration's method is awq: the last to be tried
  for (const scheme_rule& rule : scheme_rules()) {
    if (*rule.parts[0].suffixes.begin() != ".qweight") continue;
    quantised_layer layer = with_parts(rule, name, parts).layer;
    if (!layer.problem.empty()) continue;
    const bool is_other = is_awq && rule.facts.scheme == weight_scheme::gptq;
    layer.problem = "qweight, scales and qzeros have shapes of no scheme";
    if (!is_other) return layer;
    of_gptq = std::move(layer);
    quantisation_config of_bits;
    of_bits.bits = config->bits;
    const quantised_layer fits = match(rule, name, parts, &of_bits);
    if (fits.parts.empty() || !fits.problem.empty()) continue;
    of_gptq.problem = "the tensors are those of GPTQ, and the configuration's method is awq";
    return of_gptq;
  }
  return of_gptq;
}

// If a part is missing or of another type: the scheme with the most right parts; among equals a whole one, then the first.
quantised_layer incomplete(std::string_view name, std::span<const named_part> parts) {
  named_layer best;
  for (const scheme_rule& rule : scheme_rules())
    if (named_layer found = with_parts(rule, name, parts); is_certain(found)) {
      const bool is_better = best.layer.parts.empty() || found.right > best.right ||
                             (found.right == best.right && found.is_whole && !best.is_whole);
      if (is_better) best = std::move(found);
    }
  return std::move(best.layer);
}

bool is_parameter(const quantised_layer& layer, const tensor_entry& codes) {
  return codes.name.size() == layer.name.size() || codes.name[layer.name.size()] != '.';
}

// Calls `use` with each tensor of a module or of a parameter, and with the rest of its name. Tensors of submodules are
// left out.
template <class Use>
void for_siblings(const tensors_by_name& tensors, std::string_view name, bool is_parameter, Use use) {
  for (auto at = tensors.lower_bound(name); at != tensors.end() && at->first.starts_with(name); ++at) {
    const std::string_view rest = at->first.substr(name.size());
    if (rest.empty() || (rest[0] != '.' && !(is_parameter && rest[0] == '_'))) continue;
    const bool is_of_module = rest.find('.', 1) != std::string_view::npos && !rest.starts_with(".weight.");
    if (!is_of_module) use(at->second, rest.substr(1));
  }
}

std::string problem_of_unknown(const tensor_entry& t) {
  return runtime::text("kaio does not know what ", host::printable(t.name), " does to it");
}

// Finds layers whose codes belong to no scheme, and have a tensor next to them that no scheme explains.
class unknown_layers {
 public:
  unknown_layers(std::span<const tensor_entry> tensors, const tensors_by_name& by_name,
                 const quantisation_config* config, std::vector<quantised_layer>& layers)
      : tensors_(tensors), by_name_(by_name), config_(config), layers_(layers) {}

  void find() {
    for (const quantised_layer& layer : layers_)
      for (const quantised_part& part : layer.parts) claimed_.insert(part.tensor);
    for (quantised_layer& layer : layers_) add_unknown(layer);
    for (const tensor_entry& t : tensors_)
      if (!claimed_.contains(&t) && may_be_codes(t.format)) find_unknown(t);
  }

 private:
  // A name of something that changes codes.
  static bool is_telling(std::string_view name) {
    constexpr std::string_view words[] = {"scale", "zero", "absmax", "quant", "scb"};
    return std::ranges::any_of(words,
                               [&](std::string_view w) { return name.find(w) != std::string_view::npos; });
  }

  bool is_unknown(const tensor_entry* t, std::string_view rest) const {
    return !claimed_.contains(t) && !is_harmless(rest);
  }

  void add_unknown(quantised_layer& layer) {
    const bool of_parameter = is_parameter(layer, *layer.parts[0].tensor);
    for_siblings(by_name_, layer.name, of_parameter, [&](const tensor_entry* t, std::string_view rest) {
      if (!is_unknown(t, rest)) return;
      layer.parts.push_back({weight_part::unknown, t});
      claimed_.insert(t);
      if (layer.problem.empty()) contradicts(layer, problem_of_unknown(*t));
    });
  }

  // Takes a weight of two or more dimensions with any unknown tensor of its layer. Any other matrix for a product is taken
  // only with an unknown tensor whose name is telling.
  void find_unknown(const tensor_entry& t) {
    const std::size_t dot = t.name.rfind('.');
    const std::string_view module = t.name.substr(0, dot == std::string_view::npos ? 0 : dot);
    const bool is_weight = t.name.ends_with(".weight");
    if (t.shape.size() < 2 || (!is_weight && facts(t.format).operation.empty())) return;
    quantised_layer layer;
    layer.name = is_weight ? module : t.name;
    layer.scheme = t.format == weight_format::e4m3 || t.format == weight_format::e5m2 ? weight_scheme::fp8
                                                                                      : weight_scheme::int8;
    layer.parts.push_back({weight_part::codes, &t});
    claimed_.insert(&t);
    add_unknown(layer);
    if (!is_weight && !module.empty() && layer.problem.empty())
      for_siblings(by_name_, module, false, [&](const tensor_entry* s, std::string_view rest) {
        if (s == &t || !is_unknown(s, rest) || !is_telling(rest) || !layer.problem.empty()) return;
        layer.name = module;
        layer.parts.push_back({weight_part::unknown, s});
        contradicts(layer, problem_of_unknown(*s));
      });
    const bool has_scales_elsewhere =
        is_weight && layer.scheme == weight_scheme::fp8 && config_ && !config_->method.empty();
    if (has_scales_elsewhere && layer.problem.empty())
      contradicts(layer, runtime::text("the configuration's method is ", host::printable(config_->method),
                                       ", and there are no scales"));
    if (layer.problem.empty())
      claimed_.erase(&t);
    else
      layers_.push_back(std::move(layer));
  }

  std::span<const tensor_entry> tensors_;
  const tensors_by_name& by_name_;
  const quantisation_config* config_;
  std::vector<quantised_layer>& layers_;
  std::set<const tensor_entry*> claimed_;
};

}  // namespace

std::vector<quantised_layer> quantised_layers(std::span<const tensor_entry> tensors,
                                              const quantisation_config* config) {
  tensors_by_name by_name;
  for (const tensor_entry& t : tensors) by_name.emplace(t.name, &t);
  std::vector<quantised_layer> layers;
  for (const auto& [name, parts] : candidates_of(tensors, by_name)) {
    if (parts.size() < 2 && !is_of_codes_alone(parts[0].suffix)) continue;
    quantised_layer layer;
    for (const scheme_rule& rule : scheme_rules()) {
      layer = match(rule, name, parts, config);
      if (!layer.parts.empty()) break;
    }
    if (layer.parts.empty()) layer = unfit(name, parts, config);
    if (layer.parts.empty()) layer = incomplete(name, parts);
    if (!layer.parts.empty()) layers.push_back(std::move(layer));
  }
  unknown_layers(tensors, by_name, config, layers).find();
  std::ranges::sort(layers, {},
                    [](const quantised_layer& l) { return std::pair(l.name, l.parts[0].tensor->name); });
  return layers;
}

}  // namespace kaio::weights
