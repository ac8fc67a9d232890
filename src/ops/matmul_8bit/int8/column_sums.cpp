// Sums the columns of an i8 matrix.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <cstdint>

#include "ops/matmul_8bit/int8/call.hpp"

namespace kaio::ops {

namespace {

struct column_sums_problem {
  i64 row, column;  // strides of B
  i64 sum;          // stride of the sums
  i64 rows, columns;
};

constexpr u32 column_sums_threads = 256;

// One warp per column; its lanes take the rows in turns.
constexpr auto column_sums = kaio::kernel<"int8_column_sums", column_sums_threads>(
    [](thread t, in<i8> b, out<i32> sums, val<column_sums_problem> problem) {
      const val column =
          t.let(cast<i64>(block_idx_x()) * (column_sums_threads / 32) + cast<i64>(t.warp_rank()));
      if (auto inside = t.when(column < problem[&column_sums_problem::columns])) {
        const val lane = t.let(cast<i64>(t.lane_rank()));
        const in first = b.from(t.let(column * problem[&column_sums_problem::column]));
        const val stride = t.let(problem[&column_sums_problem::row]);
        var sum(t, 0);
        for (auto k : t.range(lane, problem[&column_sums_problem::rows], i64{32}).template unroll<4>())
          sum += cast<i32>(first[k * stride]);
        const val all = warp_reduce(t, t.let(sum), plus{});
        if (auto leader = t.when(t.lane_rank() == 0u))
          sums[column * problem[&column_sums_problem::sum]] = all;
      }
    });

}  // namespace

namespace detail {

void run_int8_column_sums(const stream& s, const matmul_view& b, const matmul_view& sums) {
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced("int8_column_sums");
  const validation check("int8_column_sums", s.device_identity());
  check.input("b", b);
  check.output("sums", sums);
  check.extent("sums", sums, 0, b.extents[1], "the columns of b");
  check.apart("sums", sums, "b", b);
  if (b.extents[1] == 0) return;
  const column_sums_problem problem{b.strides[0], b.strides[1], sums.strides[0], b.extents[0], b.extents[1]};
  const auto columns = static_cast<std::uint64_t>(b.extents[1]);
  constexpr std::uint64_t of_block = column_sums_threads / 32;
  device_pointer<i8> from{b.address, b.bytes, b.device, true};
  device_pointer<i32> to{sums.address, sums.bytes / sizeof(i32), sums.device, true};
  column_sums.launch(s, grid((columns + of_block - 1) / of_block), from, to, problem);
}

}  // namespace detail

void list_int8_column_sums_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&column_sums.image());
}

}  // namespace kaio::ops
