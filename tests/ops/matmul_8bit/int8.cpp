// matmul_int8: sums that are exact to the bit, in every kernel, with every form of scales, zero points and outputs.
#include "tests/ops/matmul_8bit/int8_support.hpp"

#include <kaio/ops/parity/quantised.hpp>

#include "ops/matmul_8bit/int8/call.hpp"

#include <string>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Lines that begin at multiples of 16 bytes.
layout aligned(const shape& s) {
  return {false, true, false, pad_to_16<i8>(s.k), pad_to_16<i8>(s.k), pad_to_16<i8>(s.n)};
}

// The kernels that run a product with these layouts and this output.
template <class Out>
std::vector<std::string> variants_of(const shape& s, const layout& l) {
  const matrices<i8> a(1, s.m, s.k, false, l.a_pad), b(1, s.k, s.n, l.b_by_columns, l.b_pad);
  const matrices<Out> c(1, s.m, s.n, false, l.c_pad);
  auto da = upload(a.host), db = upload(b.host);
  auto dc = upload(c.host);
  std::vector<std::string> names;
  for (const auto& v : ops::matmul_int8_variants(under_test().stream(), view_of<const i8>(da, a),
                                                 view_of<const i8>(db, b), view_of<Out>(dc, c)))
    if (v.refusal.empty()) names.push_back(v.name);
  return names;
}

template <class Out>
void check_every_variant(const shape& s, const layout& l, const int8_terms_of_test& what) {
  const auto names = variants_of<Out>(s, l);
  REQUIRE(!names.empty());
  for (const std::string& name : names) check_int8<Out>(s, l, what, name);
}

}  // namespace

TEST_CASE("matmul_int8: every output", "[ops][int8]") {
  const int8_terms_of_test plain, rich{.zero_a = per::each,
                                       .bias = true,
                                       .residual = true,
                                       .activation = matmul_activation::relu,
                                       .alpha = 0.5f};
  const shape s{1, 33, 21, 79};
  for (const layout& l : {aligned(s), layout{}, layout{false, true, false, 1, 2, 3}}) {
    check_int8<f32>(s, l, plain);
    check_int8<f32>(s, l, rich);
    check_int8<f16>(s, l, rich);
    check_int8<bf16>(s, l, rich);
    check_int8<i8>(s, l, {.bias = true, .out_scale = 0.37f});
    check_int8<i32>(s, l, {.scale_a = per::none, .scale_b = per::none, .zero_a = per::one});
  }
}

TEST_CASE("matmul_int8: every form of scales and zero points", "[ops][int8]") {
  const shape s{1, 9, 18, 32};
  for (const per a : {per::none, per::one, per::each})
    for (const per b : {per::none, per::one, per::each})
      for (const per zero : {per::none, per::one, per::each})
        check_int8<f32>(s, aligned(s), {.scale_a = a, .scale_b = b, .zero_a = zero, .alpha = 0.25f});
}

TEST_CASE("matmul_int8: every kernel at the edges of its tiles", "[ops][int8]") {
  for (const shape& s :
       {shape{1, 129, 257, 272}, shape{1, 65, 127, 257}, shape{1, 1, 130, 513}, shape{1, 17, 64, 1025}})
    check_every_variant<f32>(s, aligned(s), {.bias = true, .alpha = -0.5f});
  const shape s{1, 130, 264, 200};
  check_every_variant<bf16>(s, aligned(s), {});
  check_every_variant<f16>(s, aligned(s), {.scale_a = per::one, .scale_b = per::one});
  check_every_variant<i32>(s, aligned(s), {.scale_a = per::none, .scale_b = per::none});
  check_every_variant<i8>(s, aligned(s), {.out_scale = 3});
  for (const shape& few : {shape{1, 39, 208, 400}, shape{1, 17, 72, 3104}}) {
    check_every_variant<bf16>(few, aligned(few), {.bias = true});
    check_every_variant<i32>(few, aligned(few), {.scale_a = per::none, .scale_b = per::none});
  }
  check_every_variant<f32>(s, {false, true, false, 0, 4, 0},
                           {.bias = true});  // lines at multiples of 4 bytes
  const layout eights{false, true, false, 0, 16, 0};
  check_every_variant<f16>({1, 130, 200, 1224}, eights, {.zero_a = per::each, .bias = true});
  for (const shape& one : {shape{1, 17, 72, 1096}, shape{1, 65, 136, 8}})
    check_every_variant<i32>(one, eights, {.scale_a = per::none, .scale_b = per::none});
  check_every_variant<f32>({1, 65, 67, 129}, {false, false, false, 1, 2, 3}, {.zero_a = per::each});
}

TEST_CASE("matmul_int8: each generation of devices takes its matrix instructions", "[ops][int8]") {
  constexpr u32 m = 2048, n = 2048, k = 4096;
  device& gpu = under_test();
  auto a = gpu.allocate<i8>(m * k), b = gpu.allocate<i8>(n * k);
  auto c = gpu.allocate<f16>(m * n);
  const ops::matmul_int8_options none;
  const ops::int8_call call = ops::resolve_matmul_int8(
      gpu.identity(), {"test", tensor_view<const i8, 2>(a, m, k),
                       tensor_view<const i8, 2>(b, n, k).transposed(), tensor_view<f16, 2>(c, m, n), &none});
  device_properties older = gpu.properties();
  older.ptx_version = {8, 0};
  const auto made_for = [&](std::uint16_t sm) {
    older.target = {sm};
    return ops::choose_int8("test", call, older, {}).image->needs.target.sm;
  };
  REQUIRE(made_for(89) == 80);
  REQUIRE(made_for(80) == 80);
  REQUIRE(made_for(75) == 75);
  REQUIRE(made_for(70) == 70);
}

TEST_CASE("matmul_int8: batches", "[ops][int8]") {
  const shape s{3, 20, 40, 48};
  check_int8<f32>(s, aligned(s), {.residual = true});
  check_int8<f16>(s, {false, false, false, 1, 1, 1}, {.bias = true});
  const shape eights{3, 20, 40, 1048};
  check_int8<f32>(eights, {false, true, false, 0, 0, 0}, {.residual = true});
}

TEST_CASE("matmul_int8: vectors for each product of a batch, of 16 bits", "[ops][int8]") {
  constexpr u32 batches = 2, m = 9, n = 33, k = 64;
  matrices<i8> a(batches, m, k, false), b(batches, k, n, true);
  std::mt19937_64 engine(1);
  for (i8& x : a.host) x = static_cast<i8>(engine());
  for (i8& x : b.host) x = static_cast<i8>(engine());
  std::vector<bf16> of_a(batches * m);
  std::vector<f16> of_b(batches * n);
  std::vector<i32> zero(batches * m), sums(batches * n);
  std::vector<f32> bias(m);
  for (std::size_t i = 0; i < of_a.size(); ++i) of_a[i] = bf16(0.25f + 0.125f * static_cast<float>(i % 5));
  for (std::size_t i = 0; i < of_b.size(); ++i) of_b[i] = f16(0.01f * static_cast<float>(i % 7 + 1));
  for (i32& z : zero) z = static_cast<i32>(engine() % 256) - 128;
  for (u32 i = 0; i < m; ++i) bias[i] = static_cast<float>(i) - 3.5f;
  for (u32 q = 0; q < batches; ++q)
    for (u32 j = 0; j < n; ++j)
      for (u32 x = 0; x < k; ++x) sums[q * n + j] += b.at(q, x, j);
  auto da = upload(a.host), db = upload(b.host);
  auto ds = upload(of_a);
  auto dt = upload(of_b);
  auto dz = upload(zero), dsums = upload(sums);
  auto dbias = upload(bias);
  auto c = under_test().allocate<f32>(batches * m * n);
  matmul_int8(under_test().stream(), batch_of<const i8>(da, a), batch_of<const i8>(db, b),
              tensor_view<f32, 3>(c, batches, m, n),
              {.scale_a = tensor_view<const bf16, 2>(ds, batches, m),
               .scale_b = tensor_view<const f16, 2>(dt, batches, n),
               .zero_a = tensor_view<const i32, 2>(dz, batches, m),
               .column_sums = tensor_view<const i32, 2>(dsums, batches, n),
               .bias = per_row(tensor_view<const f32, 1>(dbias, m))});
  const auto got = c.download();
  for (u32 q = 0; q < batches; ++q)
    for (u32 i = 0; i < m; ++i)
      for (u32 j = 0; j < n; ++j) {
        i32 sum = -zero[q * m + i] * sums[q * n + j];
        for (u32 x = 0; x < k; ++x) sum += i32{a.at(q, i, x)} * b.at(q, x, j);
        float y = static_cast<float>(sum) * static_cast<float>(of_a[q * m + i]);
        y *= static_cast<float>(of_b[q * n + j]);
        REQUIRE(got[(q * m + i) * n + j] == y + bias[i]);
      }
}

TEST_CASE("matmul_int8: random shapes", "[ops][int8]") {
  std::mt19937_64 engine(20);
  const auto any = [&](u32 most) { return static_cast<u32>(engine() % most + 1); };
  for (int i = 0; i < 12; ++i) {
    const shape s{1, any(70), any(140), any(300)};
    layout l = aligned(s);
    if (engine() % 3 == 0) l = {false, engine() % 2 == 0, false, any(5), any(5), any(5)};
    check_int8<f32>(s, l, {.zero_a = i % 3 == 0 ? per::each : per::none, .bias = i % 2 == 0});
  }
}

TEST_CASE("matmul_int8: extremes", "[ops][int8]") {
  const int8_terms_of_test sums{.scale_a = per::none, .scale_b = per::none};
  // -128 * -128 * 131071, the largest sum that any operands of this K have.
  const shape longest{1, 1, 1, 131071};
  check_int8<i32>(longest, aligned(longest), sums, {}, -128);
  const shape s{1, 3, 5, 4096};
  for (const int x : {-128, 127}) {
    check_int8<i32>(s, aligned(s), sums, {}, x);
    check_int8<f32>(s, aligned(s), {}, {}, x);
    check_int8<i8>(s, aligned(s), {.out_scale = 0.001f}, {}, x);  // saturates
  }
  check_int8<i8>(s, aligned(s), {.alpha = -1, .out_scale = 0.001f}, {}, -128);
}

TEST_CASE("matmul_int8: empty extents", "[ops][int8]") {
  for (const shape& s :
       {shape{1, 0, 4, 4}, shape{1, 4, 0, 4}, shape{1, 5, 7, 0}, shape{2, 3, 9, 0}, shape{1, 7, 3, 1}})
    for (const bool by_columns : {false, true})
      check_int8<f32>(s, {false, by_columns, false, 0, 0, 1}, {.bias = true});
  check_int8<f32>({1, 5, 7, 9}, {}, {.bias = true, .alpha = 0});
}

TEST_CASE("matmul_int8: KAIO's name for it", "[ops][int8]") {
  const u32 m = 17, n = 13, k = 35;
  std::vector<i8> a(m * k), b(k * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<i8>(i * 37);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<i8>(i * 91 + 5);
  auto da = upload(a), db = upload(b);
  auto c = under_test().allocate<f32>(m * n);
  ops::matmul_int8(under_test(), da, db, c, 0.125f, m, n, k);
  const auto got = c.download();
  for (u32 i = 0; i < m; ++i)
    for (u32 j = 0; j < n; ++j) {
      i32 sum = 0;
      for (u32 x = 0; x < k; ++x) sum += i32{a[i * k + x]} * b[x * n + j];
      REQUIRE(got[i * n + j] == 0.125f * static_cast<float>(sum));
    }
}

TEST_CASE("matmul_int8: sums of columns", "[ops][int8]") {
  for (const bool by_columns : {false, true})
    for (const auto& [k, n] : {std::pair{1u, 1u}, {33u, 9u}, {700u, 17u}, {0u, 3u}}) {
      matrices<i8> b(1, k, n, by_columns, 3);
      std::mt19937_64 engine(k);
      std::vector<i32> want(n);
      for (u32 i = 0; i < k; ++i)
        for (u32 j = 0; j < n; ++j) want[j] += b.at(0, i, j) = static_cast<i8>(engine());
      auto db = upload(b.host);
      auto sums = upload(std::vector<i32>(2 * n, 7));
      const tensor_view<i32, 1> to(sums, extents(n), strides(2));
      int8_column_sums(under_test().stream(), view_of<const i8>(db, b), to);
      const auto got = sums.download();
      for (u32 j = 0; j < n; ++j) {
        REQUIRE(got[2 * j] == want[j]);
        REQUIRE(got[2 * j + 1] == 7);
      }
    }
}
