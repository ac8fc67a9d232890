// rms_norm into codes of 8 bits: bit for bit rms_norm, and then quantise_int8 or quantise_fp8 of its result; nothing
// else is written.
#include "tests/ops/cache/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/matmul_8bit/quantise_fp8.hpp>
#include <kaio/ops/matmul_8bit/quantise_int8.hpp>
#include <kaio/ops/rms_norm.hpp>

#include <limits>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct codes_case {
  i64 batches = 2, tokens = 3, size = 64;
  i64 pad = 0;         // of rows of codes
  i64 scale_step = 1;  // from one scale to the next
  bool residual = false;
  f32 scale = 0;  // > 0: of all
};

template <class X, class Code, class Scales>
void quantise(const stream& s, const tensor_view<X, 2>& x, const tensor_view<Code, 2>& codes,
              const Scales& scales) {
  if constexpr (std::is_same_v<Code, i8>)
    quantise_int8(s, x, codes, scales);
  else
    quantise_fp8(s, x, codes, scales);
}

// change: of x on the host.
template <class T, class Code>
void check_codes(const codes_case& c, const std::function<void(std::vector<T>&)>& change = {}) {
  CAPTURE(c.batches, c.tokens, c.size, c.pad, c.scale_step, c.residual, c.scale, sizeof(T));
  const stream& s = under_test().stream();
  const i64 rows = c.batches * c.tokens, pitch = c.size + c.pad;
  auto x = input_tensor<T>(c.batches, c.tokens, 1, c.size, {}, 1, 4);
  if (change) change(x.host);
  const auto residual = input_tensor<T>(c.batches, c.tokens, 1, c.size, {}, 2, 4);
  const auto weight = input_tensor<T>(1, 1, 1, c.size, {}, 3, 2);
  const auto on_x = upload(x.host), on_weight = upload(weight.host);
  auto sum = upload(residual.host), other_sum = upload(residual.host);
  auto y = under_test().allocate<T>(static_cast<std::size_t>(rows * c.size));
  const tensor_view<const T, 1> factors(on_weight, c.size);
  const auto options_with = [&](buffer<T>& to) {
    rms_norm_options options{.epsilon = 1e-3f, .weight_offset = 0.5f};
    const tensor_view<T, 3> h(to, c.batches, c.tokens, c.size);
    if (c.residual) options.residual = h, options.residual_out = h;
    return options;
  };
  const auto count = static_cast<std::size_t>(std::max<i64>(rows * pitch, 1));
  const auto scale_count = static_cast<std::size_t>(std::max<i64>(rows * c.scale_step, 1));
  const std::vector<Code> blank(count, from_float<Code>(3));
  const std::vector<f32> no_scales(scale_count, -7.0f);
  auto codes = upload(blank), want_codes = upload(blank);
  auto scales = upload(no_scales), want_scales = upload(no_scales);

  const tensor_view<const T, 3> from(on_x, c.batches, c.tokens, c.size);
  const tensor_view<Code, 3> to(codes, extents(c.batches, c.tokens, c.size),
                                strides(c.tokens * pitch, pitch, 1));
  if (c.scale > 0)
    rms_norm(s, from, factors, to, c.scale, options_with(sum));
  else
    rms_norm(s, from, factors, to,
             tensor_view<f32, 2>(scales, extents(c.batches, c.tokens),
                                 strides(c.tokens * c.scale_step, c.scale_step)),
             options_with(sum));

  rms_norm(s, from, factors, tensor_view<T, 3>(y, c.batches, c.tokens, c.size), options_with(other_sum));
  const tensor_view<const T, 2> normed(y, rows, c.size);
  const tensor_view<Code, 2> to_codes(want_codes, extents(rows, c.size), strides(pitch, 1));
  if (c.scale > 0)
    quantise(s, normed, to_codes, c.scale);
  else
    quantise(s, normed, to_codes, tensor_view<f32, 1>(want_scales, extents(rows), strides(c.scale_step)));
  require_same(codes.download(), want_codes.download());
  require_same(scales.download(), want_scales.download());
  require_same(sum.download(), other_sum.download());
}

template <class T, class Code>
void check_sizes() {
  for (const i64 size : {1, 7, 8, 24, 100, 256, 520, 1032})
    check_codes<T, Code>({.size = size, .scale_step = 1 + size % 3, .residual = size % 8 != 0});
  check_codes<T, Code>({.size = 200, .pad = 8, .residual = true});
  check_codes<T, Code>({.size = 200, .pad = 4});  // rows of codes begin at multiples of four bytes
  if (sizeof(T) == 2 || under_test().properties().target.sm >= 90)  // else longer than shared memory
    check_codes<T, Code>({.batches = 1, .tokens = 1, .size = 8192 + 40, .residual = true});
  check_codes<T, Code>({.size = 96, .residual = true, .scale = 0.03f});
  check_codes<T, Code>({.batches = 1, .tokens = 70, .size = 16});  // rows of several blocks
  check_codes<T, Code>({.tokens = 0});
}

}  // namespace

TEST_CASE("rms_norm: into i8 and e4m3", "[ops][rms_norm][codes]") {
  check_sizes<f16, i8>();
  check_sizes<bf16, e4m3>();
  check_sizes<f32, i8>();
  check_sizes<f16, e4m3>();
}

TEST_CASE("rms_norm: rows that several blocks have, into codes", "[ops][rms_norm][codes]") {
  if (under_test().properties().target.sm < 90) return;  // no clusters: the row is longer than shared memory
  check_codes<bf16, i8>({.batches = 1, .tokens = 2, .size = 36864, .residual = true});
  check_codes<f32, e4m3>({.batches = 1, .tokens = 1, .size = 16384 + 8, .residual = true});
}

TEST_CASE("rms_norm: rows of zeros, and NaN and infinities, into codes", "[ops][rms_norm][codes]") {
  const auto change = [](std::vector<f16>& x) {
    for (std::size_t i = 0; i < 64; ++i) x[i] = f16(0.0f);
    x[70] = f16(std::numeric_limits<float>::quiet_NaN());
    x[140] = f16(std::numeric_limits<float>::infinity());
  };
  check_codes<f16, i8>({}, change);
  check_codes<f16, e4m3>({}, change);
}

TEST_CASE("rms_norm: codes that are refused", "[ops][rms_norm][codes]") {
  const stream& s = under_test().stream();
  auto a = upload(std::vector<f16>(512, f16(1.0f))), w = upload(std::vector<f16>(64));
  auto codes = upload(std::vector<i8>(512, 5));
  auto scales = upload(std::vector<f32>(8, 5.0f));
  const tensor_view<const f16, 2> x(a, 8, 64);
  const tensor_view<const f16, 1> weight(w, 64);
  const tensor_view<i8, 2> to(codes, 8, 64);
  const tensor_view<f32, 1> of_rows(scales, 8);
  const auto refused = [&](const std::string& part, const std::function<void()>& call) {
    require_refusal(errc::invalid_argument, "kaio: rms_norm: ", part, call);
    for (const i8 one : codes.download()) REQUIRE(one == 5);
  };
  refused("argument codes is a null", [&] { rms_norm(s, x, weight, tensor_view<i8, 2>(), of_rows); });
  refused("argument codes has extent 1", [&] { rms_norm(s, x, weight, to.slice(1, 0, 8), of_rows); });
  refused("argument scales has extent 0", [&] { rms_norm(s, x, weight, to, of_rows.slice(0, 0, 7)); });
  refused("argument scales is a null", [&] { rms_norm(s, x, weight, to, tensor_view<f32, 1>()); });
  for (const f32 scale : {0.0f, -1.0f, std::numeric_limits<f32>::infinity(), std::nanf("")})
    refused("scale is not finite and above 0", [&] { rms_norm(s, x, weight, to, scale); });
  refused("along its last dimension", [&] {
    rms_norm(s, x.slice(1, 0, 32), weight.slice(0, 0, 32),
             tensor_view<i8, 2>(codes, extents(8, 32), strides(64, 2)), of_rows);
  });
}
