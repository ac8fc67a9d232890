#pragma once
// Options of rms_norm and layer_norm, and their calls without types.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/output_view.hpp>
#include <kaio/runtime/stream.hpp>

#include <string_view>
#include <type_traits>

namespace kaio::ops {

// Where a number of 16 bits is rounded before the weight multiplies it. Models' recorded outputs depend on it.
enum class norm_casting {
  gemma,  // nowhere: all in f32, rounded once
  llama,  // the normalised number is rounded to x's type; its product with the weight is rounded again
};

// Views have the extents and the element type of x, if nothing else is said. A view with a stride of 0 repeats its
// row: `gate`, `scale` and `shift` of a batch or of a frame.
struct rms_norm_options {
  f32 epsilon = 1e-6f;
  f32 weight_offset = 0;  // 1 for Gemma
  any_view residual{};    // added to x, if given
  // Gets the sum; may be the residual itself, element by element. Needs a residual or a gate.
  output_view residual_out{};
  norm_casting casting = norm_casting::gemma;
  any_view gate{};      // multiplies x before the residual is added
  any_view scale{};     // the norm is multiplied by 1 + scale,
  any_view shift{};     // and then shift is added
  output_view y_out{};  // of a call into codes: gets the norm that the codes are made of
};
struct layer_norm_options {
  f32 epsilon = 1e-5f;
  f32 weight_offset = 0;
  any_view residual{};
  output_view residual_out{};
  norm_casting casting = norm_casting::gemma;
  any_view gate{};
  any_view scale{};
  any_view shift{};
  output_view y_out{};
};

namespace detail {

void run_rms_norm(const stream& s, const any_view& x, const any_view& weight, const any_view& out,
                  const rms_norm_options& options);
// scales: one for each row, or, with x's rank, one for each 128 neighbours of a row; if not given, `scale` for all rows.
void run_rms_norm_codes(const stream& s, const any_view& x, const any_view& weight, const any_view& codes,
                        const any_view& scales, f32 scale, const rms_norm_options& options);
void run_layer_norm(const stream& s, const any_view& x, const any_view& weight, const any_view& bias,
                    const any_view& out, const layer_norm_options& options);
void run_layer_norm_codes(const stream& s, const any_view& x, const any_view& weight, const any_view& bias,
                          const any_view& codes, const any_view& scales, f32 scale,
                          const layer_norm_options& options);

template <class T>
concept norm_code = std::is_same_v<T, i8> || std::is_same_v<T, e4m3>;

template <class X, class Weight, class Out, std::size_t Rank>
constexpr void require_norm_types() {
  using element = std::remove_const_t<X>;
  static_assert(is_wide(element_kind_of<element>()), "kaio: the elements of a norm are f32, f16 or bf16");
  static_assert(std::is_same_v<element, std::remove_const_t<Weight>> ||
                    std::is_same_v<f32, std::remove_const_t<Weight>>,
                "kaio: the weight and the bias of a norm have the element type of x, or f32");
  static_assert(
      std::is_same_v<element, Out> || norm_code<Out>,
      "kaio: the output of a norm has the element type of x, or that of codes, i8 or e4m3; it is not const");
  static_assert(Rank >= 2 && Rank <= 4, "kaio: a norm takes views of two to four dimensions");
}

}  // namespace detail

}  // namespace kaio::ops

namespace kaio {
using ops::layer_norm_options;
using ops::norm_casting;
using ops::rms_norm_options;
}  // namespace kaio
