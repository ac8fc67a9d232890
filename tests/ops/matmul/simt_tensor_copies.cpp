// The f32 matmul kernel that tensor copies feed: every layout, ragged and empty shapes, batches, K divided among the
// blocks of a cluster.
#include <kaio/ops/matmul/simt/tensor.hpp>
#include <kaio/runtime/tensor_map.hpp>

#include "tests/ops/matmul/simt_support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// A map of all batches; `Operand` gives the shape of a copy's box.
template <class Operand>
auto map_of(const matrices<f32>& x, const buffer<f32>& memory) {
  runtime::tensor_tiling<3> tiling;
  tiling.extents = {x.by_columns ? x.rows : x.columns, x.by_columns ? x.columns : x.rows, x.batches};
  tiling.strides = {x.leading, x.stride};
  tiling.box = {Operand::box[0], Operand::box[1], Operand::box[2]};
  tiling.swizzle = runtime::swizzle_of(Operand::swizzle_bytes);
  return runtime::tiled_tensor_map<3>(under_test().stream(), memory, tiling);
}

template <simt_config C>
void check(const matrices<f32>& a, const matrices<f32>& b, content what, u32 splits) {
  CAPTURE(a.batches, a.rows, b.columns, a.columns, splits);
  using body = ops::simt_tensor_body<C, f32, ops::identity>;
  const auto of_a = upload(a.host), of_b = upload(b.host);
  const auto map_a = map_of<typename body::operand_a>(a, of_a);
  const auto map_b = map_of<typename body::operand_b>(b, of_b);
  matrices<f32> c(a.batches, a.rows, b.columns, false, 1, 2);
  const matrices<f32> before = c;
  auto of_c = under_test().upload(c.host);
  const simt_problem p = problem_of<C>(a, b, c.leading, c.stride, splits);
  ops::simt_tensor_matmul<C, f32, ops::identity>.launch(
      under_test().stream(), ops::simt_grid<C>(p, a.batches, splits), map_a, map_b, of_c, p);
  c.host = of_c.download();
  check_product(c, before, product<f32>(a, b, [](auto x, u32, u32, u32) { return x; }), what);
}

template <simt_config C>
void run_all(std::initializer_list<u32> all_splits = {1}) {
  if (!under_test().is_emulator() && under_test().properties().target.sm < 90) return;
  struct shape {
    u32 batches, m, n, k;
  };
  u64 seed = 1;
  for (const shape& s :
       {shape{1, 1, 1, 1}, shape{1, C.m, C.n, 4 * C.k}, shape{2, C.m + 1, C.n - 1, 9 * C.k + 3},
        shape{1, C.m - 1, C.n + 1, C.k - 1}, shape{2, 3, 67, 6 * C.k + 1}})
    for (const u32 splits : all_splits)
      for (const content what : {content::random, content::integers}) {
        const auto pad = [](u32 width) { return (4 - width % 4) % 4 + 4; };
        const bool a_by_columns = C.a == major::mn, b_by_columns = C.b == major::k;
        matrices<f32> a(s.batches, s.m, s.k, a_by_columns, pad(a_by_columns ? s.m : s.k));
        matrices<f32> b(s.batches, s.k, s.n, b_by_columns, pad(b_by_columns ? s.k : s.n));
        seed += 2;
        check<C>(a.fill(what, seed), b.fill(what, seed + 1), what, splits);
      }
}

constexpr simt_config cut(major a, major b, u32 k) {
  return {.m = 64, .n = 64, .k = k, .thread_m = 8, .thread_n = 4, .stages = 4, .a = a, .b = b};
}

}  // namespace

TEST_CASE("f32 matmul fed by tensor copies, in every layout", "[ops][matmul]") {
  run_all<cut(major::k, major::mn, 8)>();
  run_all<cut(major::k, major::k, 16)>();
  run_all<cut(major::mn, major::mn, 8)>();
  run_all<cut(major::mn, major::k, 8)>();
}

TEST_CASE("f32 matmul fed by tensor copies, large tiles", "[ops][matmul]") {
  run_all<simt_config{
      .m = 128, .n = 128, .k = 8, .thread_m = 16, .thread_n = 8, .stages = 4, .min_blocks = 2}>();
}

TEST_CASE("f32 matmul fed by tensor copies, K divided among the blocks of a cluster", "[ops][matmul]") {
  run_all<simt_config{.m = 64, .n = 64, .k = 8, .thread_m = 8, .thread_n = 4, .stages = 4, .clusters = true}>(
      {1, 2, 4, 8});
}
