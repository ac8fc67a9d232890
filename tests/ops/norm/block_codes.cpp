// The norms into codes with a scale for each 128 neighbours of a row. Codes and scales are those of quantise_fp8 or
// quantise_int8 of each block of the norm, bit for bit. They are within half a code of the norm in double precision,
// and matmul_fp8 takes them.
#include "tests/ops/cache/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/layer_norm.hpp>
#include <kaio/ops/matmul_8bit/quantise_fp8.hpp>
#include <kaio/ops/matmul_8bit/quantise_int8.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/rms_norm.hpp>

#include <functional>
#include <limits>

using namespace kaio;
using namespace kaio::tests;

namespace {

enum class scale_order { by_rows, padded, by_columns };

struct block_case {
  i64 batches = 2, tokens = 3, size = 256;
  i64 pad = 0;  // of rows of codes
  scale_order order = scale_order::by_rows;
  bool is_layer = false, residual = false, y_out = false;
};

// The codes of y's blocks, one quantisation each; `groups` has the strides of the call.
template <class T, class Code>
void quantise_blocks(const stream& s, const tensor_view<const T, 2>& y, const tensor_view<Code, 2>& codes,
                     const tensor_view<f32, 2>& groups) {
  if constexpr (std::is_same_v<Code, e4m3>) {
    quantise_fp8(s, y, codes, groups);
  } else {
    for (i64 b = 0; b < groups.extent(1); ++b) {
      const i64 first = b * 128, count = std::min<i64>(128, y.extent(1) - first);
      quantise_int8(s, y.slice(1, first, count), codes.slice(1, first, count), groups.transposed()[b]);
    }
  }
}

// change: of x on the host, before it is uploaded.
template <class T, class Code>
void check_blocks(const block_case& c, const std::function<void(std::vector<T>&)>& change = {}) {
  CAPTURE(c.batches, c.tokens, c.size, c.pad, static_cast<int>(c.order), c.is_layer, c.residual, c.y_out,
          sizeof(T));
  const stream& s = under_test().stream();
  const i64 rows = c.batches * c.tokens, pitch = c.size + c.pad, blocks = (c.size + 127) / 128;
  auto x = input_tensor<T>(c.batches, c.tokens, 1, c.size, {}, 1, 4);
  if (change) change(x.host);
  const auto residual = input_tensor<T>(c.batches, c.tokens, 1, c.size, {}, 2, 4);
  const auto weight = input_tensor<T>(1, 1, 1, c.size, {}, 3, 2);
  const auto on_x = upload(x.host), on_weight = upload(weight.host);
  const auto count = static_cast<std::size_t>(rows * c.size);
  auto sum = upload(residual.host), want_sum = upload(residual.host);
  auto y = upload(std::vector<T>(count, from_float<T>(-7))), want_y = under_test().allocate<T>(count);
  const tensor_view<const T, 3> from(on_x, c.batches, c.tokens, c.size);
  const tensor_view<const T, 1> factors(on_weight, c.size);
  const auto fill = [&](auto options, buffer<T>& h) {
    options.epsilon = 1e-3f;
    if (c.residual) {
      const tensor_view<T, 3> view(h, c.batches, c.tokens, c.size);
      options.residual = view, options.residual_out = view;
    }
    return options;
  };

  const std::vector<Code> blank(static_cast<std::size_t>(rows * pitch), from_float<Code>(3));
  auto codes = upload(blank), want_codes = upload(blank);
  // Scales of a batch end with five of padding, so that the rows of all batches have no common stride.
  const i64 of_row =
      c.order == scale_order::by_columns ? 1 : blocks + (c.order == scale_order::padded ? 3 : 0);
  const i64 of_block = c.order == scale_order::by_columns ? c.tokens + 1 : 1;
  const i64 of_batch =
      c.order == scale_order::by_rows ? c.tokens * blocks : c.tokens * of_row + blocks * of_block + 5;
  const std::vector<f32> no_scales(static_cast<std::size_t>(c.batches * of_batch), -7.0f);
  auto scales = upload(no_scales), want_scales = upload(no_scales);

  const tensor_view<Code, 3> to(codes, extents(c.batches, c.tokens, c.size),
                                strides(c.tokens * pitch, pitch, 1));
  const tensor_view<f32, 3> groups(scales, extents(c.batches, c.tokens, blocks),
                                   strides(of_batch, of_row, of_block));
  const tensor_view<T, 3> normed(want_y, c.batches, c.tokens, c.size);
  const auto run = [&](auto options, const auto& norm) {
    auto with_codes = fill(options, sum);
    if (c.y_out) with_codes.y_out = tensor_view<T, 3>(y, c.batches, c.tokens, c.size);
    norm(to, with_codes);
    norm(normed, fill(options, want_sum));
  };
  if (c.is_layer)
    run(layer_norm_options{}, [&](const auto& into, const auto& options) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(into)>, tensor_view<Code, 3>>)
        layer_norm(s, from, factors, factors, into, groups, options);
      else
        layer_norm(s, from, factors, factors, into, options);
    });
  else
    run(rms_norm_options{}, [&](const auto& into, const auto& options) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(into)>, tensor_view<Code, 3>>)
        rms_norm(s, from, factors, into, groups, options);
      else
        rms_norm(s, from, factors, into, options);
    });

  const tensor_view<f32, 3> want_groups(want_scales, extents(c.batches, c.tokens, blocks),
                                        strides(of_batch, of_row, of_block));
  const tensor_view<Code, 3> want_to(want_codes, extents(c.batches, c.tokens, c.size),
                                     strides(c.tokens * pitch, pitch, 1));
  // Rows of codes that begin anywhere change the order of the norm's sums, so their y is the one that was written.
  const bool is_alike = c.pad % 8 == 0;
  REQUIRE((is_alike || c.y_out));
  const tensor_view<const T, 3> quantised(is_alike ? want_y : y, c.batches, c.tokens, c.size);
  for (i64 b = 0; b < c.batches; ++b) quantise_blocks<T, Code>(s, quantised[b], want_to[b], want_groups[b]);
  require_same(codes.download(), want_codes.download());
  require_same(scales.download(), want_scales.download());
  require_same(sum.download(), want_sum.download());
  if (c.y_out && is_alike) require_same(y.download(), want_y.download());
}

template <class T, class Code>
void check_sizes() {
  for (const i64 size : {1, 8, 100, 127, 128, 129, 200, 256, 264, 520, 1032, 1301})
    for (const auto order : {scale_order::by_rows, scale_order::by_columns})
      check_blocks<T, Code>({.size = size,
                             .order = order,
                             .is_layer = size % 3 == 0,
                             .residual = size % 8 != 0,
                             .y_out = size % 5 == 0});
  check_blocks<T, Code>({.size = 200, .pad = 8, .order = scale_order::padded});
  check_blocks<T, Code>({.size = 200, .pad = 3, .order = scale_order::padded, .y_out = true});
  check_blocks<T, Code>({.batches = 1, .tokens = 70, .size = 16});  // rows of several thread blocks
  check_blocks<T, Code>({.tokens = 0});
}

// The norm of row r of x in double precision.
std::vector<double> norm_of(const std::vector<f32>& x, i64 r, i64 size) {
  double squares = 0;
  for (i64 e = 0; e < size; ++e) squares += std::pow(to_double(x[static_cast<std::size_t>(r * size + e)]), 2);
  const double inverse = 1 / std::sqrt(squares / static_cast<double>(size) + 1e-6);
  std::vector<double> y;
  for (i64 e = 0; e < size; ++e) y.push_back(to_double(x[static_cast<std::size_t>(r * size + e)]) * inverse);
  return y;
}

// Half a code and a few roundings of f32 away from double precision, with the scale of the block's largest number.
template <class Code>
void check_against_double(i64 size) {
  CAPTURE(size, sizeof(Code));
  const stream& s = under_test().stream();
  const i64 rows = 3, blocks = (size + 127) / 128;
  auto x = input_tensor<f32>(1, rows, 1, size, {}, 5, 3);
  for (i64 e = 0; e < size; ++e)  // blocks of very different size
    for (i64 r = 0; r < rows; ++r) x.at(0, r, 0, e) *= std::ldexp(1.0f, static_cast<int>(-3 * (e / 128)));
  const auto on_x = upload(x.host),
             on_weight = upload(std::vector<f32>(static_cast<std::size_t>(size), 1.0f));
  auto codes = under_test().allocate<Code>(static_cast<std::size_t>(rows * size));
  auto scales = under_test().allocate<f32>(static_cast<std::size_t>(rows * blocks));
  rms_norm(s, tensor_view<const f32, 2>(on_x, rows, size), tensor_view<const f32, 1>(on_weight, size),
           tensor_view<Code, 2>(codes, rows, size), tensor_view<f32, 2>(scales, rows, blocks));
  const auto got = codes.download();
  const auto of_blocks = scales.download();
  const double greatest = std::is_same_v<Code, i8> ? 127 : 448;
  for (i64 r = 0; r < rows; ++r) {
    const std::vector<double> y = norm_of(x.host, r, size);
    for (i64 b = 0; b < blocks; ++b) {
      const i64 last = std::min(128 * b + 128, size);
      double largest = 0;
      for (i64 e = 128 * b; e < last; ++e)
        largest = std::max(largest, std::abs(y[static_cast<std::size_t>(e)]));
      const double scale = to_double(of_blocks[static_cast<std::size_t>(r * blocks + b)]);
      REQUIRE(std::abs(scale - largest / greatest) <= 1e-5 * scale);
      for (i64 e = 128 * b; e < last; ++e) {
        const double quotient = y[static_cast<std::size_t>(e)] / scale;
        // An e4m3 has four significant bits, from 2^-6 on.
        const double half = std::is_same_v<Code, i8> ? 0.5 : std::max(std::abs(quotient) / 16, 0x1p-10);
        REQUIRE(std::abs(to_double(got[static_cast<std::size_t>(r * size + e)]) - quotient) <=
                half + 1e-4 * std::abs(quotient));
      }
    }
  }
}

}  // namespace

TEST_CASE("norms: into i8 and e4m3 with scales of blocks", "[ops][rms_norm][codes]") {
  check_sizes<f16, i8>();
  check_sizes<bf16, e4m3>();
  check_sizes<f32, e4m3>();
}

TEST_CASE("norms: long rows into codes with scales of blocks", "[ops][rms_norm][codes]") {
  check_blocks<f16, i8>({.batches = 1, .tokens = 1, .size = 8192 + 40, .residual = true});
  check_blocks<f32, e4m3>(
      {.batches = 1, .tokens = 1, .size = 16384 + 1, .order = scale_order::by_columns, .y_out = true});
  // Several blocks have a row, where there are clusters; elsewhere it is longer than shared memory.
  check_blocks<bf16, i8>({.batches = 1,
                          .tokens = 2,
                          .size = 36864 + 64,
                          .residual = true,
                          .y_out = under_test().properties().target.sm < 90});
  // Longer than shared memory: y is kept, and codes are made of it.
  check_blocks<bf16, e4m3>({.batches = 1, .tokens = 1, .size = 16 * 16384 + 264, .y_out = true});
}

TEST_CASE("norms: codes with scales of blocks against double precision", "[ops][rms_norm][codes]") {
  for (const i64 size : {384, 300, 129}) {
    check_against_double<i8>(size);
    check_against_double<e4m3>(size);
  }
}

TEST_CASE("norms: blocks of zeros, and NaN and infinities, into codes", "[ops][rms_norm][codes]") {
  const auto change = [](std::vector<f16>& x) {
    for (std::size_t i = 128; i < 256; ++i) x[i] = f16(0.0f);  // a block
    for (std::size_t i = 300; i < 600; ++i) x[i] = f16(0.0f);  // a row
    x[650] = f16(std::numeric_limits<float>::quiet_NaN());
    x[950] = f16(std::numeric_limits<float>::infinity());
  };
  for (const i64 size : {300, 304}) {
    check_blocks<f16, i8>({.size = size}, change);
    check_blocks<f16, e4m3>({.size = size, .is_layer = true}, change);
  }
}

TEST_CASE("norms: scales of rows that have no common stride", "[ops][rms_norm][codes]") {
  const stream& s = under_test().stream();
  const auto x = upload(std::vector<f16>(6 * 64, f16(1.0f))), w = upload(std::vector<f16>(64, f16(1.0f)));
  auto codes = under_test().allocate<i8>(6 * 64);
  auto scales = upload(std::vector<f32>(10, -7.0f));
  rms_norm(s, tensor_view<const f16, 3>(x, 2, 3, 64), tensor_view<const f16, 1>(w, 64),
           tensor_view<i8, 3>(codes, 2, 3, 64), tensor_view<f32, 2>(scales, extents(2, 3), strides(5, 1)));
  const auto got = scales.download();
  for (std::size_t i = 0; i < 10; ++i) REQUIRE((got[i] == -7.0f) == (i % 5 >= 3));
}

TEST_CASE("rms_norm: scales of blocks, by columns, are those of matmul_fp8", "[ops][rms_norm][codes]") {
  const stream& s = under_test().stream();
  const i64 m = 5, n = 128, k = 256, m4 = 8;
  const auto x = input_tensor<f32>(1, m, 1, k, {}, 1, 4);
  const auto w = input_tensor<f32>(1, n, 1, k, {}, 2, 1);
  const auto on_x = upload(x.host), on_w = upload(w.host), ones = upload(std::vector<f32>(k, 1.0f));
  auto a = under_test().allocate<e4m3>(static_cast<std::size_t>(m * k)),
       b = under_test().allocate<e4m3>(static_cast<std::size_t>(n * k));
  auto of_a = under_test().allocate<f32>(static_cast<std::size_t>(m4 * 2)),
       of_b = under_test().allocate<f32>(2);
  auto c = under_test().allocate<f32>(static_cast<std::size_t>(m * n));
  const tensor_view<f32, 2> groups(of_a, extents(m, 2), strides(1, m4)), blocks(of_b, 1, 2);
  rms_norm(s, tensor_view<const f32, 2>(on_x, m, k), tensor_view<const f32, 1>(ones, k),
           tensor_view<e4m3, 2>(a, m, k), groups);
  quantise_fp8_blocks(s, tensor_view<const f32, 2>(on_w, n, k), tensor_view<e4m3, 2>(b, n, k), blocks);
  matmul_fp8(s, tensor_view<const e4m3, 2>(a, m, k), tensor_view<const e4m3, 2>(b, n, k).transposed(),
             tensor_view<f32, 2>(c, m, n), {.groups_a = groups, .blocks_b = blocks.transposed()});
  const auto got = c.download();
  for (i64 r = 0; r < m; ++r) {
    const std::vector<double> y = norm_of(x.host, r, k);
    for (i64 j = 0; j < n; ++j) {
      double sum = 0, sizes = 0;
      for (i64 e = 0; e < k; ++e) {
        const double term =
            y[static_cast<std::size_t>(e)] * to_double(w.host[static_cast<std::size_t>(j * k + e)]);
        sum += term, sizes += std::abs(term);
      }
      REQUIRE(std::abs(to_double(got[static_cast<std::size_t>(r * n + j)]) - sum) <= 0.07 * sizes);
    }
  }
}

TEST_CASE("norms: scales of blocks that are refused", "[ops][rms_norm][codes]") {
  const stream& s = under_test().stream();
  auto a = upload(std::vector<f16>(8 * 200, f16(1.0f))), w = upload(std::vector<f16>(200));
  auto codes = upload(std::vector<i8>(8 * 200, 5));
  auto scales = upload(std::vector<f32>(64, 5.0f));
  const tensor_view<const f16, 2> x(a, 8, 200);
  const tensor_view<const f16, 1> weight(w, 200);
  const tensor_view<i8, 2> to(codes, 8, 200);
  const auto refused = [&](const std::string& part, const tensor_view<f32, 2>& groups) {
    require_refusal(errc::invalid_argument, "kaio: rms_norm: ", part,
                    [&] { rms_norm(s, x, weight, to, groups); });
    require_refusal(errc::invalid_argument, "kaio: layer_norm: ", part,
                    [&] { layer_norm(s, x, weight, {}, to, groups); });
    for (const i8 one : codes.download()) REQUIRE(one == 5);
  };
  refused("argument scales is a null", {});
  refused("argument scales has extent 0", tensor_view<f32, 2>(scales, 7, 2));
  refused("argument scales has extent 1", tensor_view<f32, 2>(scales, 8, 1));
  refused("argument scales has extent 1", tensor_view<f32, 2>(scales, 8, 3));
}
