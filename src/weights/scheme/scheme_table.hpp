#pragma once
// The table of schemes: the tensors of a layer, and the function that sees whether they fit.

#include <kaio/weights/quantisation.hpp>

#include <initializer_list>
#include <string>

namespace kaio::weights {

// A tensor is "<layer><suffix>" in one of these formats (none: in any).
struct part_rule {
  std::string_view suffix;
  weight_part part;
  bool required = false;
  std::initializer_list<weight_format> formats = {};
};

// An operation, or why there is none.
struct layer_use {
  std::string_view operation;
  std::string obstacle;
};

struct scheme_rule {
  scheme_facts facts;
  std::span<const part_rule> parts;
  // Fills the shape, bits and groups, and `problem` where the tensors contradict each other. False: it is
  // another scheme.
  bool (*derive)(quantised_layer& layer, const quantisation_config* config);
  // What multiplies with a layer that has no problem.
  layer_use (*use)(const quantised_layer& layer);
  // What a configuration may call the format of the file, where other formats have tensors of the same names and
  // shapes. None: the scheme is that of the tensors alone.
  std::span<const std::string_view> formats = {};
};

// In the order of weight_scheme; where several fit a layer, the first is taken.
std::span<const scheme_rule> scheme_rules() noexcept;

}  // namespace kaio::weights
