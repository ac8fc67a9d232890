// matmul_w4 by weights with an order of K: by x in that order in the workspace, and without room for it.
#include "tests/ops/weight_only/codes_support.hpp"

#include <algorithm>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Whether the one-row kernel runs; it follows an order itself. x is at a multiple of 16 bytes.
bool keeps_order(i64 m, const w4_shape& shape, i64 parts) {
  return under_test().properties().target.sm >= 90 && m == 1 && parts == 0 && shape.group % 64 == 0 &&
         shape.k % 8 == 0 && shape.k <= 8192;
}

// has_room: the workspace has the bytes that are asked for; if not, 16 bytes less than x in the order takes.
template <class T, class Out>
void check_ordered(const w4_shape& shape, const product_call& call, bool has_room) {
  CAPTURE(call.m, shape.n, shape.k, has_room);
  const auto model = w4_model<f16>::random(shape, call.seed);
  const w4_on_device<f16> on_device(model, w4_format::gptq_v2);
  check_w_product<T, Out>(
      call, shape.n, shape.k, [&](i64 row, i64 k) { return model.weight(k, row); },
      [&](const auto& x, const auto& y, const ops::any_view& bias) {
        const stream& s = under_test().stream();
        matmul_w4_options options{.bias = bias, .splits = has_room ? 0u : 1u, .exact_weights = true};
        const std::uint64_t bytes = matmul_w4_workspace_bytes(s, x, on_device.weights(), options);
        const std::uint64_t of_x = static_cast<std::uint64_t>(call.m * ((shape.k + 7) / 8 * 8)) * sizeof(T);
        const u32 sm = under_test().properties().target.sm;
        if (call.shift % 8 == 0 && keeps_order(call.m, shape, options.splits)) {
          REQUIRE(bytes == 0);
          REQUIRE(matmul_w4_choice(s, x, on_device.weights(), options).name ==
                  (std::is_same_v<T, f16> ? "matmul_w4_one_row_f16" : "matmul_w4_one_row_bf16"));
        } else if (sm >= 80) {
          REQUIRE(bytes >= of_x);
        }
        auto memory =
            upload(std::vector<u8>(std::max<std::uint64_t>(has_room ? bytes : of_x - 16, 16), 0xff));
        if (bytes != 0) options.workspace = memory;
        matmul_w4(s, x, on_device.weights(), y, options);
      });
}

}  // namespace

TEST_CASE("matmul_w4: ordered weights, with room for x in their order and without", "[ops][w4]") {
  std::uint64_t seed = 1;
  for (const bool has_room : {true, false})
    for (const i64 m : {1, 5, 16, 17, 70}) {
      check_ordered<f16, f16>({.n = 72, .k = 320, .group = 64, .zero_points = true, .act_order = true},
                              {.m = m, .pad = m % 3, .shift = m % 2, .bias = m % 2 == 0, .seed = ++seed},
                              has_room);
      check_ordered<bf16, f32>({.n = 41, .k = 203, .group = 32, .act_order = true}, {.m = m, .seed = ++seed},
                               has_room);
    }
}

TEST_CASE("matmul_w4: one row in the order of the weights, without a workspace", "[ops][w4]") {
  for (const i64 k : {8, 64, 200, 520, 1088, 2200, 8192, 8256}) {
    check_ordered<f16, f16>({.n = 72, .k = k, .group = 64, .zero_points = true, .act_order = true},
                            {.shift = k % 3 * 8, .bias = true, .seed = static_cast<std::uint64_t>(k)}, true);
    check_ordered<bf16, f32>({.n = 333, .k = k, .group = 128, .act_order = true},
                             {.seed = static_cast<std::uint64_t>(k) + 1}, true);
  }
  // Two batches of columns in a cluster, with their sums where x was.
  check_ordered<f16, f16>({.n = 7968, .k = 256, .group = 64, .act_order = true}, {.seed = 5}, true);
}

TEST_CASE("matmul_w4: of ordered weights the kernels of others run", "[ops][w4]") {
  const device& gpu = under_test();
  if (gpu.properties().target.sm < 80) return;
  const w4_shape shape{.n = 256, .k = 512, .group = 128, .act_order = true};
  w4_shape plain = shape;
  plain.act_order = false;
  const auto memory = gpu.allocate<u8>(packed_bytes(shape));
  for (const i64 m : {1, 16, 40, 200}) {
    const auto x_memory = gpu.allocate<f16>(static_cast<u64>(m * 512));
    const tensor_view<const f16, 2> x(x_memory, m, 512);
    const auto of = [&](const w4_shape& s) {
      return ops::matmul_w4_choice(gpu.stream(), x, w4_weights{s, memory}, {.exact_weights = true}).name;
    };
    if (keeps_order(m, shape, 0))
      REQUIRE(of(shape) == "matmul_w4_one_row_f16");
    else
      REQUIRE(of(shape) == of(plain));
  }
}
