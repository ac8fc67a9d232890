#pragma once
// The gradients of matmul_grouped: for each group g and its rows r, offsets[g] <= r < offsets[g + 1],
//
//   da[r, :] = dc[r, :] * b[g]^T            db[g] = a[rows of g, :]^T * dc[rows of g, :]
//
//   matmul_grouped_backward(s, dc, a, b, offsets, da, db);
//   matmul_grouped_backward(s, dc, a, b, offsets, {}, dw.transposed(), {.accumulate = true});    // dw += ...
//
// A group without rows has a db of zeros. Sums are f32, in a fixed order, and are rounded once: equal calls give equal
// bits. The offsets are read on the device alone: nothing is allocated, read back or waited for, so a call may be
// captured into a graph and replayed with other groups. If the product gathered its rows, the caller gathers them for
// `a` (embedding), and adds the rows of da by token (combine_experts with weights of 1).

#include <kaio/ops/matmul_grouped.hpp>
#include <kaio/ops/shared/output_view.hpp>

#include <vector>

namespace kaio::ops {

struct matmul_grouped_backward_options {
  bool accumulate = false;  // adds to db
};

// dc: (rows, n), f16 or bf16. a: (rows, k), b: (groups, k, n), of dc's type. offsets: as for matmul_grouped. da: (rows,
// k); db: (groups, k, n); of dc's type or f32, apart from everything else; a null view leaves that gradient out. Rows of
// no group have no da: it is not written. Any strides; fewer than 2^31 rows, columns and k. Fastest, from sm_80 on, if
// dc, a and b are as for matmul_grouped, and db has neighbours along k or n. Throws invalid_argument, which names the
// argument, before anything runs; and what a launch throws.
void matmul_grouped_backward(const stream& s, const any_view& dc, const any_view& a, const any_view& b,
                             const any_view& offsets, const output_view& da, const output_view& db,
                             const matmul_grouped_backward_options& options = {});

// Loads the kernels that the device may run ahead of their first use, those of matmul_grouped too.
void matmul_grouped_backward_warmup(const runtime::device& gpu);

// The images of the kernels of matmul_grouped_backward, except those of matmul_grouped.
std::vector<const ptx::kernel_image*> matmul_grouped_backward_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::matmul_grouped_backward;
using ops::matmul_grouped_backward_options;
using ops::matmul_grouped_backward_warmup;
}  // namespace kaio
