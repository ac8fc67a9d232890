#pragma once
// The table of schemes: the tensors of a layer, and the function that sees whether they fit.

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

// A tensor is this part by its name alone, "<layer><suffix>" for one of the suffixes. Its type is then one of the
// formats (none: any), or the layer has a problem.
struct part_rule {
  few<std::string_view> suffixes;  // "", of codes alone: the layer has the name of the tensor
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

// A tensor next to the codes of a layer, by what its name has more than theirs, that leaves the weight as it is: "bias",
// scales of x, y and caches.
bool is_harmless(std::string_view rest) noexcept;

}  // namespace kaio::weights
