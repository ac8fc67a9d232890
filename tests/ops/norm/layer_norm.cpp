// layer_norm and what both norms share, against double precision: types of weights, casting, gate, scale and shift,
// codes next to y, clusters and rows beyond shared memory, rows at any address.
#include "tests/ops/cache/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/layer_norm.hpp>
#include <kaio/ops/matmul_8bit/quantise_int8.hpp>
#include <kaio/ops/rms_norm.hpp>

#include <limits>
#include <random>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct layer_case {
  i64 rows = 3, size = 64;
  i64 pad = 0, shift_elements = 0;  // between rows; before the first
  bool is_layer = true, has_weight = true, has_bias = true, f32_weight = false;
  bool residual = false, gate = false, modulated = false,
       per_frame = false;  // per_frame: one gate, scale, shift
  norm_casting casting = norm_casting::gemma;
  f32 offset = 0;
  double middle = 0;  // of x
};

template <class T>
struct rows_of_numbers {
  std::vector<T> host;
  buffer<T> device;
  i64 rows, size, pitch, first;
  rows_of_numbers(const layer_case& c, u32 seed, double middle, double spread, i64 count = -1)
      : rows(count < 0 ? c.rows : count), size(c.size), pitch(c.size + c.pad), first(c.shift_elements) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(middle, spread);
    host.resize(static_cast<std::size_t>(first + rows * pitch + 1),
                from_float<T>(std::numeric_limits<float>::quiet_NaN()));
    for (i64 r = 0; r < rows; ++r)
      for (i64 e = 0; e < size; ++e) host[place(r, e)] = from_float<T>(static_cast<float>(normal(random)));
    device = under_test().upload(host);
  }
  std::size_t place(i64 r, i64 e) const { return static_cast<std::size_t>(first + r * pitch + e); }
  double at(i64 r, i64 e) const { return to_double(host[place(r, e)]); }
  tensor_view<T, 2> view() {
    const auto whole = device.view();
    return tensor_view<T, 2>(device_pointer<T>{whole.as_argument().bits + static_cast<u64>(first) * sizeof(T),
                                               static_cast<std::size_t>(rows * pitch + 1)},
                             extents(rows, size), strides(pitch, i64{1}));
  }
};

template <class T>
double rounded(double x) {
  return to_double(from_float<T>(static_cast<float>(x)));
}

template <class T, class Weight>
void check_typed(const layer_case& c) {
  CAPTURE(c.rows, c.size, c.pad, c.shift_elements, c.is_layer, c.has_weight, c.has_bias, c.f32_weight,
          c.residual, c.gate, c.modulated, c.per_frame, static_cast<int>(c.casting), c.middle, sizeof(T));
  rows_of_numbers<T> x(c, 1, c.middle, 1), residual(c, 2, 0, 1), gate(c, 3, 1, 0.5), scale(c, 4, 0, 0.3),
      shift(c, 5, 0, 1), blank(c, 6, 0, 0), sum(c, 7, 0, 0);
  layer_case of_factors = c;
  of_factors.pad = 0;
  rows_of_numbers<Weight> weight(of_factors, 8, 1, 0.5, 1), bias(of_factors, 9, 0, 0.5, 1);
  const auto repeated = [&](auto& of) {
    const auto v = of.view();
    if (!c.per_frame) return ops::any_view(v);
    return ops::any_view(tensor_view<T, 2>(device_pointer<T>{v.address(), static_cast<std::size_t>(c.size)},
                                           extents(c.rows, c.size), strides(i64{0}, i64{1})));
  };
  const auto factors = [&](auto& of) { return ops::any_view(of.view()[0]); };
  const f32 epsilon = 1e-3f;
  const auto fill = [&](auto& options) {
    options.epsilon = epsilon;
    options.weight_offset = c.offset;
    options.casting = c.casting;
    if (c.residual) options.residual = residual.view();
    if (c.gate) options.gate = repeated(gate);
    if (c.residual || c.gate) options.residual_out = sum.view();
    if (c.modulated) options.scale = repeated(scale), options.shift = repeated(shift);
  };
  const stream& s = under_test().stream();
  if (c.is_layer) {
    layer_norm_options options;
    fill(options);
    layer_norm(s, x.view(), c.has_weight ? factors(weight) : ops::any_view{},
               c.has_bias ? factors(bias) : ops::any_view{}, blank.view(), options);
  } else {
    rms_norm_options options;
    fill(options);
    rms_norm(s, x.view(), weight.view()[0], blank.view(), options);
  }
  const std::vector<T> got = blank.device.download(), got_sum = sum.device.download();
  std::vector<T> want = blank.host, want_sum = sum.host;
  for (i64 r = 0; r < c.rows; ++r) {
    const i64 of = c.per_frame ? 0 : r;
    std::vector<double> h;
    double mean = 0, squares = 0;
    for (i64 e = 0; e < c.size; ++e) {
      float one = static_cast<float>(x.at(r, e));
      if (c.gate) one *= static_cast<float>(gate.at(of, e));
      if (c.residual) one += static_cast<float>(residual.at(r, e));
      h.push_back(rounded<T>(static_cast<double>(one)));
      mean += h.back();
    }
    mean = c.is_layer ? mean / static_cast<double>(c.size) : 0;
    for (const double one : h) squares += (one - mean) * (one - mean);
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(c.size) + double{epsilon});
    for (i64 e = 0; e < c.size; ++e) {
      const double one = h[static_cast<std::size_t>(e)];
      double y = (one - mean) * inverse, size_of_terms = std::abs(y);
      if (c.casting == norm_casting::llama) y = rounded<T>(y);
      if (!c.is_layer || c.has_weight) y *= static_cast<double>(c.offset) + weight.at(0, e);
      size_of_terms = std::max(size_of_terms, std::abs(y));
      if (c.is_layer && c.has_bias) y += bias.at(0, e);
      size_of_terms = std::max(size_of_terms, std::abs(y));
      if (c.modulated) y = y * (1 + scale.at(of, e)) + shift.at(of, e);
      size_of_terms = std::max({size_of_terms, std::abs(y), std::abs(mean) * inverse * 0.1});
      const double is = to_double(got[blank.place(r, e)]);
      double bound = unit_in_last_place<T>(y) + 4e-6 * size_of_terms + 0x1p-24;
      if (c.casting == norm_casting::llama) bound += 3 * unit_in_last_place<T>(size_of_terms);
      want[blank.place(r, e)] = got[blank.place(r, e)];
      if (c.residual || c.gate) want_sum[sum.place(r, e)] = from_float<T>(static_cast<float>(one));
      if (std::abs(is - y) <= bound) continue;
      CAPTURE(r, e);
      REQUIRE(is == y);
    }
  }
  require_same(got, want);
  require_same(got_sum, want_sum);
}

template <class T>
void check(const layer_case& c) {
  if (c.f32_weight)
    check_typed<T, f32>(c);
  else
    check_typed<T, T>(c);
}

template <class T>
void check_all() {
  for (const i64 size : {1, 3, 8, 17, 64, 65, 257, 1000, 2051}) {
    check<T>({.size = size});
    check<T>({.rows = 2, .size = size, .pad = 3, .shift_elements = 1, .residual = true});
  }
  check<T>({.rows = 70, .size = 24, .middle = 100});
  check<T>({.size = 200, .has_weight = false, .has_bias = false});
  check<T>({.size = 200, .has_weight = false});
  check<T>({.size = 200, .f32_weight = true});
  check<T>({.size = 33, .is_layer = false, .f32_weight = true, .casting = norm_casting::llama});
  for (const i64 size : {136, 137})
    for (const bool per_frame : {false, true}) {
      check<T>({.size = size,
                .is_layer = per_frame,
                .residual = true,
                .gate = true,
                .modulated = true,
                .per_frame = per_frame,
                .offset = 1});
      check<T>(
          {.size = size, .has_weight = false, .has_bias = false, .modulated = true, .per_frame = per_frame});
    }
  check<T>({.size = 100, .is_layer = false, .casting = norm_casting::llama});
}

}  // namespace

TEST_CASE("layer_norm: f32", "[ops][norm]") { check_all<f32>(); }
TEST_CASE("layer_norm: f16", "[ops][norm]") { check_all<f16>(); }
TEST_CASE("layer_norm: bf16", "[ops][norm]") { check_all<bf16>(); }

TEST_CASE("layer_norm: rows of several blocks, and rows beyond shared memory", "[ops][norm]") {
  check<bf16>({.rows = 2, .size = 40000, .residual = true});
  check<f16>({.rows = 1, .size = 40001, .residual = true});
  check<f32>({.rows = 2, .size = 8200, .is_layer = false});
  check<bf16>({.rows = 1, .size = 300000, .residual = true});
  check<f16>({.rows = 1, .size = 1200001, .has_bias = false, .residual = true});
}

TEST_CASE("layer_norm: a row has the same bits in every call", "[ops][norm]") {
  for (const i64 size : {520, 521, 20000}) {
    const i64 rows = size > 1000 ? 3 : 9;
    const auto x = input_tensor<bf16>(1, rows, 1, size, {}, 7);
    auto on_x = under_test().upload(x.host);
    auto all = under_test().allocate<bf16>(static_cast<std::size_t>(rows * size)),
         one = under_test().allocate<bf16>(static_cast<std::size_t>(size));
    const stream& s = under_test().stream();
    const tensor_view<const bf16, 2> from(on_x, rows, size);
    layer_norm(s, from, {}, {}, tensor_view<bf16, 2>(all, rows, size));
    const auto together = all.download();
    for (const i64 row : {i64{0}, rows - 1}) {
      if (size % 8 != 0 && row * size % 8 != 0) continue;  // the alignment is part of the order
      layer_norm(s, from.slice(0, row, 1), {}, {}, tensor_view<bf16, 2>(one, 1, size));
      const auto alone = one.download();
      for (i64 e = 0; e < size; ++e)
        REQUIRE(to_double(alone[static_cast<std::size_t>(e)]) ==
                to_double(together[static_cast<std::size_t>(row * size + e)]));
    }
  }
}

TEST_CASE("layer_norm: codes, with y next to them", "[ops][norm]") {
  for (const i64 size : {96, 99}) {
    const i64 rows = 5;
    const auto x = input_tensor<f16>(1, rows, 1, size, {}, 3, 4);
    auto on_x = under_test().upload(x.host);
    const auto count = static_cast<std::size_t>(rows * size);
    auto y = under_test().allocate<f16>(count), want = under_test().allocate<f16>(count);
    auto codes = under_test().allocate<i8>(count), want_codes = under_test().allocate<i8>(count);
    auto scales = under_test().allocate<f32>(5), want_scales = under_test().allocate<f32>(5);
    const stream& s = under_test().stream();
    const tensor_view<const f16, 2> from(on_x, rows, size);
    layer_norm(s, from, {}, {}, tensor_view<i8, 2>(codes, rows, size), tensor_view<f32, 1>(scales, rows),
               {.y_out = tensor_view<f16, 2>(y, rows, size)});
    layer_norm(s, from, {}, {}, tensor_view<f16, 2>(want, rows, size));
    quantise_int8(s, tensor_view<const f16, 2>(want, rows, size), tensor_view<i8, 2>(want_codes, rows, size),
                  tensor_view<f32, 1>(want_scales, rows));
    require_same(y.download(), want.download());
    require_same(codes.download(), want_codes.download());
    require_same(scales.download(), want_scales.download());
  }
}

TEST_CASE("layer_norm: bad input", "[ops][norm]") {
  const device& gpu = under_test();
  auto a = gpu.allocate<f16>(512), b = gpu.allocate<f16>(512), w = gpu.allocate<f16>(64);
  auto single = gpu.allocate<f32>(64);
  auto other = gpu.allocate<bf16>(64);
  const tensor_view<f16, 2> x(a, 8, 64), out(b, 8, 64);
  const tensor_view<const f16, 1> weight(w, 64);
  const auto refused = [&](const std::string& part, const ops::any_view& of, const ops::any_view& bias,
                           const layer_norm_options& options = {}) {
    require_refusal(errc::invalid_argument, "kaio: layer_norm: ", part,
                    [&] { layer_norm(gpu.stream(), x, of, bias, out, options); });
  };
  refused("weight has extent 0 of 63", weight.slice(0, 0, 63), {});
  refused("bias has extent 0 of 8", {}, weight.slice(0, 0, 8));
  refused("argument weight has neither", tensor_view<bf16, 1>(other, 64), {});
  refused("weight and bias have different", weight, tensor_view<f32, 1>(single, 64));
  refused("residual_out is given without residual", weight, {},
          {.residual_out = tensor_view<f16, 2>(a, 8, 64)});
  refused("argument scale has another element type", weight, {},
          {.scale = tensor_view<f32, 2>(single, 1, 64)});
  refused("gate has extent 0 of 4", weight, {}, {.gate = x.slice(0, 0, 4)});
  refused("y_out is given without codes", weight, {}, {.y_out = tensor_view<f16, 2>(a, 8, 64)});
  refused("epsilon", weight, {}, {.epsilon = -1});
}
