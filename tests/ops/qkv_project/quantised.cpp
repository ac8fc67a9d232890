// qkv_project with weights of 8 and of 4 bits, integers and floats: the bits of the same product by itself,
// and the heads of it.
#include "tests/ops/qkv_project/support.hpp"
#include "tests/ops/refusal.hpp"
#include "tests/ops/weight_only/packed_support.hpp"

#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_w8.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr i64 tokens = 5, size = 64, q_heads = 2, k_heads = 1, n = (q_heads + 2 * k_heads) * size, k = 128;

struct heads {
  buffer<f16> q, k, v;
};
heads fresh() {
  const device& gpu = under_test();
  return {gpu.allocate<f16>(tokens * q_heads * size), gpu.allocate<f16>(tokens * k_heads * size),
          gpu.allocate<f16>(tokens * k_heads * size)};
}
qkv_outputs outputs_of(heads& h) {
  return {tensor_view<f16, 3>(h.q, tokens, q_heads, size), tensor_view<f16, 3>(h.k, tokens, k_heads, size),
          tensor_view<f16, 3>(h.v, tokens, k_heads, size)};
}
// The heads are the columns of a product.
void require_columns(const heads& got, const std::vector<f16>& product) {
  const auto q = got.q.download(), of_k = got.k.download(), v = got.v.download();
  for (i64 token = 0; token < tokens; ++token)
    for (i64 column = 0; column < n; ++column) {
      const f16 want = product[static_cast<std::size_t>(token * n + column)];
      const f16 is = column < 128   ? q[static_cast<std::size_t>(token * 128 + column)]
                     : column < 192 ? of_k[static_cast<std::size_t>(token * 64 + column - 128)]
                                    : v[static_cast<std::size_t>(token * 64 + column - 192)];
      CAPTURE(token, column);
      REQUIRE(to_double(is) == to_double(want));
    }
}

}  // namespace

TEST_CASE("qkv_project: weights and hidden states of i8", "[ops][qkv][quantised]") {
  const stream& s = under_test().stream();
  std::mt19937_64 engine(3);
  std::vector<i8> x(tokens * k), w(n * k);
  for (i8& one : x) one = static_cast<i8>(static_cast<int>(engine() % 255) - 127);
  for (i8& one : w) one = static_cast<i8>(static_cast<int>(engine() % 255) - 127);
  std::vector<f32> of_rows(tokens), of_columns(n);
  for (f32& one : of_rows) one = 1e-3f * static_cast<f32>(engine() % 9 + 1);
  for (f32& one : of_columns) one = 1e-2f * static_cast<f32>(engine() % 9 + 1);
  auto on_x = upload(x), on_w = upload(w);
  auto on_rows = upload(of_rows), on_columns = upload(of_columns);
  const tensor_view<const i8, 2> a(on_x, tokens, k), b(on_w, n, k);
  const tensor_view<const f32, 1> row_scale(on_rows, tokens), column_scale(on_columns, n);

  auto product = under_test().allocate<f16>(tokens * n);
  matmul_int8(s, a, b.transposed(), tensor_view<f16, 2>(product, tokens, n),
              {.scale_a = row_scale, .scale_b = column_scale});
  const auto part = [&](i64 first, i64 count) {
    return int8_weights{b.slice(0, first, count), column_scale.slice(0, first, count)};
  };
  for (const bool three : {false, true}) {
    heads got = fresh();
    const qkv_weights weights =
        three ? qkv_weights{part(0, 128), part(128, 64), part(192, 64)} : qkv_weights{part(0, n)};
    qkv_project_options options{.x_scale = row_scale};
    auto workspace =
        under_test().allocate<u8>(qkv_project_workspace_bytes(s, a, weights, outputs_of(got), options));
    options.workspace = workspace;
    qkv_project(s, a, weights, outputs_of(got), options);
    require_columns(got, product.download());
  }
}

TEST_CASE("qkv_project: weights of four bits", "[ops][qkv][quantised]") {
  const stream& s = under_test().stream();
  std::mt19937_64 engine(4);
  std::vector<i32> words(n * k / 8);
  for (i32& one : words) one = static_cast<i32>(engine());
  std::vector<f16> scales(k / 32 * n), x(tokens * k);
  for (f16& one : scales) one = f16(0.01f * static_cast<float>(engine() % 9 + 1));
  for (f16& one : x) one = f16(static_cast<float>(engine() % 17) / 8 - 1);
  auto on_words = upload(words);
  auto on_scales = upload(scales), on_x = upload(x);
  const w4_shape shape{.n = n, .k = k, .group = 32};
  auto memory = under_test().allocate<u8>(packed_bytes(shape));
  const w4_weights w{shape, memory};
  repack(s,
         kaio_int4{.packed = tensor_view<const i32, 2>(on_words, n, k / 8),
                   .scales = tensor_view<const f16, 2>(on_scales, k / 32, n)},
         w);
  const tensor_view<const f16, 2> a(on_x, tokens, k);
  auto product = under_test().allocate<f16>(tokens * n);
  auto of_product = under_test().allocate<u8>(matmul_w4_workspace_bytes(s, a, w) + 16);
  matmul_w4(s, a, w, tensor_view<f16, 2>(product, tokens, n), {.workspace = of_product});
  heads got = fresh();
  qkv_project_options options;
  auto workspace = under_test().allocate<u8>(qkv_project_workspace_bytes(s, a, w, outputs_of(got)));
  options.workspace = workspace;
  qkv_project(s, a, w, outputs_of(got), options);
  require_columns(got, product.download());
}

// Rounded where tuning says so and the caller does not want exact ones.
TEST_CASE("qkv_project: many tokens of packed weights, rounded or exact", "[ops][qkv][quantised]") {
  device& gpu = under_test();
  const stream& s = gpu.stream();
  const own_cache cache;
  constexpr i64 rows = 130, depth = 64;
  const rounded_product c(rows, n, depth);
  c.tune_to_matrix();
  const tensor_view<const f16, 2> x = c.x_view();
  for (const bool rounds : {false, true}) {
    CAPTURE(rounds);
    auto q = gpu.allocate<f16>(rows * q_heads * size), of_k = gpu.allocate<f16>(rows * k_heads * size),
         v = gpu.allocate<f16>(rows * k_heads * size);
    const qkv_outputs to{tensor_view<f16, 3>(q, rows, q_heads, size),
                         tensor_view<f16, 3>(of_k, rows, k_heads, size),
                         tensor_view<f16, 3>(v, rows, k_heads, size)};
    qkv_project_options options{.exact_weights = !rounds};
    const u64 bytes = qkv_project_workspace_bytes(s, x, c.w.weight, to, options);
    REQUIRE(bytes == static_cast<u64>(n * (rows + (rounds ? depth : 0))) * sizeof(f16));
    auto workspace = gpu.allocate<u8>(bytes);
    options.workspace = workspace;
    qkv_project(s, x, c.w.weight, to, options);
    const auto got_q = q.download(), got_k = of_k.download(), got_v = v.download();
    i64 differ = 0;
    for (i64 token = 0; token < rows; ++token)
      for (i64 column = 0; column < n; ++column) {
        const f16 is = column < 128   ? got_q[static_cast<std::size_t>(token * 128 + column)]
                       : column < 192 ? got_k[static_cast<std::size_t>(token * 64 + column - 128)]
                                      : got_v[static_cast<std::size_t>(token * 64 + column - 192)];
        const double want = c.sum(token, column, rounds);
        differ += want != c.sum(token, column, !rounds) ? 1 : 0;
        if (to_double(is) == want) continue;
        CAPTURE(token, column);
        REQUIRE(to_double(is) == want);
      }
    REQUIRE(differ > rows * n / 2);
  }
}

// Weights with offsets have no kernel for many rows on sm_90a: they are rounded into a matrix.
TEST_CASE("qkv_project: many tokens of packed weights, the workspace of a matrix", "[ops][qkv]") {
  device& gpu = under_test();
  if (!(gpu.properties().target == ptx::target{90, true})) return;
  const stream& s = gpu.stream();
  constexpr i64 rows = 1024, depth = 1024, heads_of_q = 32, heads_of_k = 8,
                columns = (heads_of_q + 2 * heads_of_k) * size;
  const w4_shape shape{.n = columns, .k = depth, .group = 32, .scales = w4_scale_type::f32, .offsets = true};
  auto memory = gpu.allocate<u8>(packed_bytes(shape));
  auto on_x = gpu.allocate<f16>(rows * depth), q = gpu.allocate<f16>(rows * heads_of_q * size),
       of_k = gpu.allocate<f16>(rows * heads_of_k * size), v = gpu.allocate<f16>(rows * heads_of_k * size);
  const tensor_view<const f16, 2> a(on_x, rows, depth);
  const qkv_outputs outputs{tensor_view<f16, 3>(q, rows, heads_of_q, size),
                            tensor_view<f16, 3>(of_k, rows, heads_of_k, size),
                            tensor_view<f16, 3>(v, rows, heads_of_k, size)};
  const w4_weights w{shape, memory};
  const u64 rounded = qkv_project_workspace_bytes(s, a, w, outputs);
  const u64 exact = qkv_project_workspace_bytes(s, a, w, outputs, {.exact_weights = true});
  REQUIRE(rounded == exact + matmul_w4_workspace_bytes(s, a, w));
  REQUIRE(matmul_w4_workspace_bytes(s, a, w) >= 256 * depth * 2);
}

TEST_CASE("qkv_project: weights of eight bits and hidden states of f16", "[ops][qkv][quantised]") {
  const stream& s = under_test().stream();
  std::mt19937_64 engine(5);
  std::vector<u8> codes(n * k);
  for (u8& one : codes) one = static_cast<u8>(engine() & 0xfe);  // no NaN of e4m3
  for (u8& one : codes) one = one == 0xfe ? u8{0} : one;
  std::vector<f32> scales(n);
  for (f32& one : scales) one = 0.01f * static_cast<f32>(engine() % 9 + 1);
  std::vector<f16> x(tokens * k);
  for (f16& one : x) one = f16(static_cast<float>(engine() % 17) / 8 - 1);
  auto on_codes = upload(codes);
  auto on_scales = upload(scales);
  auto on_x = upload(x);
  const tensor_view<const f16, 2> a(on_x, tokens, k);
  const tensor_view<const f32, 2> scale(on_scales, n, 1);
  for (const w8_codes kind : {w8_codes::int8, w8_codes::e4m3}) {
    const auto pack = [&](i64 first, i64 count, buffer<u8>& memory) {
      const w8_shape shape{.n = count, .k = k, .codes = kind};
      memory = under_test().allocate<u8>(packed_bytes(shape));
      const w8_weights w{shape, memory};
      const tensor_view<const f32, 2> of_part = scale.slice(0, first, count);
      const auto bytes =
          on_codes.slice(static_cast<std::size_t>(first * k), static_cast<std::size_t>(count * k));
      if (kind == w8_codes::int8)
        repack(s, int8_w8{.weight = tensor_view<const u8, 2>(bytes, count, k), .scales = of_part}, w);
      else
        repack(s, e4m3_w8{.weight = tensor_view<const u8, 2>(bytes, count, k), .scales = of_part}, w);
      return w;
    };
    std::array<buffer<u8>, 4> memory;
    const w8_weights whole = pack(0, n, memory[0]);
    auto product = under_test().allocate<f16>(tokens * n);
    auto of_product = under_test().allocate<u8>(matmul_w8_workspace_bytes(s, a, whole) + 16);
    matmul_w8(s, a, whole, tensor_view<f16, 2>(product, tokens, n), {.workspace = of_product});
    for (const bool three : {false, true}) {
      heads got = fresh();
      const qkv_weights weights =
          three ? qkv_weights{pack(0, 128, memory[1]), pack(128, 64, memory[2]), pack(192, 64, memory[3])}
                : qkv_weights{whole};
      qkv_project_options options;
      auto workspace =
          under_test().allocate<u8>(qkv_project_workspace_bytes(s, a, weights, outputs_of(got), options));
      options.workspace = workspace;
      qkv_project(s, a, weights, outputs_of(got), options);
      require_columns(got, product.download());
    }
  }
}

TEST_CASE("qkv_project: weights and hidden states of 8-bit floats", "[ops][qkv][quantised]") {
  const stream& s = under_test().stream();
  std::mt19937_64 engine(6);
  std::uniform_real_distribution<float> any(-4, 4);
  std::vector<e4m3> x(tokens * k), w(n * k);
  for (e4m3& one : x) one = e4m3(any(engine));
  for (e4m3& one : w) one = e4m3(any(engine));
  const auto positive = [&](std::size_t count) {
    std::vector<f32> result(count);
    for (f32& one : result) one = 1e-2f * static_cast<f32>(engine() % 9 + 1);
    return result;
  };
  auto on_x = upload(x), on_w = upload(w);
  auto on_rows = upload(positive(tokens)), on_columns = upload(positive(n)), on_blocks = upload(positive(2));
  const tensor_view<const e4m3, 2> a(on_x, tokens, k), b(on_w, n, k);
  const tensor_view<const f32, 1> row_scale(on_rows, tokens), column_scale(on_columns, n);
  const tensor_view<const f32, 2> groups(on_rows, tokens, 1), blocks(on_blocks, 2, 1);
  for (const bool grouped : {false, true})
    for (const bool three : {false, true}) {
      if (grouped && three) continue;  // blocks of 128 columns; K and V have 64 each
      CAPTURE(grouped, three);
      auto product = under_test().allocate<f16>(tokens * n);
      matmul_fp8_options of_product;
      qkv_project_options options;
      if (grouped) {
        of_product.groups_a = groups;
        of_product.blocks_b = blocks.transposed();
        options.x_groups = groups;
      } else {
        of_product.scale_a = row_scale;
        of_product.scale_b = column_scale;
        options.x_scale = row_scale;
      }
      matmul_fp8(s, a, b.transposed(), tensor_view<f16, 2>(product, tokens, n), of_product);
      const auto part = [&](i64 first, i64 count) {
        return fp8_weights{b.slice(0, first, count), column_scale.slice(0, first, count)};
      };
      heads got = fresh();
      const qkv_weights weights = grouped ? qkv_weights{fp8_weights{.matrix = b, .blocks = blocks}}
                                  : three ? qkv_weights{part(0, 128), part(128, 64), part(192, 64)}
                                          : qkv_weights{part(0, n)};
      auto workspace =
          under_test().allocate<u8>(qkv_project_workspace_bytes(s, a, weights, outputs_of(got), options));
      options.workspace = workspace;
      qkv_project(s, a, weights, outputs_of(got), options);
      require_columns(got, product.download());
      options.x_groups = grouped ? tensor_view<const f32, 2>{} : groups;
      require_refusal(errc::invalid_argument, "kaio: qkv_project: ", "blocks without x_groups",
                      [&] { qkv_project(s, a, weights, outputs_of(got), options); });
    }
}
