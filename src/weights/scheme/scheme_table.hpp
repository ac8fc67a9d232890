#pragma once
// The table of schemes: the tensors of a layer, and the function that checks whether they fit.

#include <kaio/weights/quantisation.hpp>

#include <array>
#include <concepts>
#include <string>

namespace kaio::weights {

// A few names or types.
template <class T>
class few {
 public:
  constexpr few() = default;
  template <class... U>
    requires(std::convertible_to<const U&, T> && ...)
  constexpr few(const U&... values) : values_{values...}, size_(sizeof...(values)) {}
  constexpr const T* begin() const { return values_.data(); }
  constexpr const T* end() const { return values_.data() + size_; }

 private:
  std::array<T, 5> values_{};
  std::size_t size_ = 0;
};

// A tensor is this part if its name is "<layer><suffix>" for one of the suffixes. Its type must then be one of the
// formats (none: any); otherwise the layer has a problem.
struct part_rule {
  few<std::string_view> suffixes;  // "", for codes alone: the layer has the name of the tensor
  weight_part part;
  bool required = false;
  few<weight_format> formats = {};
};

// An operation, or why there is none.
struct layer_use {
  std::string_view operation;
  std::string obstacle;
};

struct scheme_rule {
  scheme_facts facts;
  std::span<const part_rule> parts;
  // Fills the shape, bits and groups, or `problem` if the tensors contradict each other. False: it is another
  // scheme.
  bool (*derive)(quantised_layer& layer, const quantisation_config* config);
  // The operation for a layer that has no problem.
  layer_use (*use)(const quantised_layer& layer);
  // The names of the file's format in a configuration, if other formats have tensors of the same names and shapes.
  // None: the tensors alone decide.
  std::span<const std::string_view> formats = {};
};

// In the order of weight_scheme. If several fit a layer, the first is taken.
std::span<const scheme_rule> scheme_rules() noexcept;

// Whether a tensor of a layer, by its name after the layer's, leaves the weight as it is: "bias", scales of x, of y and of
// caches.
bool is_harmless(std::string_view rest) noexcept;

}  // namespace kaio::weights
