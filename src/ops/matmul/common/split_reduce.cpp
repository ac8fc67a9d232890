// The two small kernels next to the products: C if K is 0, and C from the sums of the splits of K.

#include <kaio/ops/matmul/common/general.hpp>
#include <kaio/ops/matmul/common/split_reduce.hpp>
#include <kaio/runtime/buffer.hpp>

#include <cstdint>
#include <type_traits>

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

namespace {

struct nothing_problem {
  i64 pitch, batch_pitch;
  u64 columns, elements;  // elements per row, per matrix
};

template <scalar Out>
inline constexpr auto product_of_nothing = kaio::kernel<"matmul_of_nothing_" + type_name<Out>, 256>(
    [](thread t, out<Out> c, val<nothing_problem> problem, val<u64> count, val<matmul_terms> terms) {
      const val i = t.let(cast<u64>(block_idx_x()) * 256ull + cast<u64>(t.thread_rank()));
      if (auto inside = t.when(i < count)) {
        const val batch = t.let(i / problem[&nothing_problem::elements]);
        const val rest = t.let(i % problem[&nothing_problem::elements]);
        const val row = t.let(rest / problem[&nothing_problem::columns]);
        const val column = t.let(rest % problem[&nothing_problem::columns]);
        const place at{t.let(cast<u32>(batch)), t.let(cast<u32>(row)), t.let(cast<u32>(column))};
        var zero(t, 0.0f);
        c[cast<i64>(batch) * problem[&nothing_problem::batch_pitch] +
          cast<i64>(row) * problem[&nothing_problem::pitch] + cast<i64>(column)] =
            cast<Out>(general{}(t, t.let(zero), at, terms));
      }
    });

// Calls f with an element of the type.
template <class F>
decltype(auto) with_output(element_kind type, const F& f) {
  switch (type) {
    case element_kind::f16: return f(f16{});
    case element_kind::bf16: return f(bf16{});
    default: return f(f32{});
  }
}

}  // namespace

void run_nothing(const stream& s, const matmul_call& call) {
  const u64 count = call.m * call.n * call.batches;
  const nothing_problem problem{static_cast<i64>(call.c.pitch), static_cast<i64>(call.c.batch_pitch), call.n,
                                call.m * call.n};
  matmul_terms terms = call.terms;
  // Nothing is multiplied, and 0 * alpha would be NaN for an infinite alpha.
  terms.alpha = 0;
  with_output(call.output, [&]<class Out>(Out) {
    device_pointer<Out> c{call.c.address, call.c.bytes / sizeof(Out), call.c.device, true};
    product_of_nothing<Out>.launch(s, over(count), c, problem, count, terms);
  });
}

void run_reduction(const stream& s, const matmul_call& call, std::uint32_t splits) {
  split_problem problem{};
  problem.row = static_cast<i64>(call.c.pitch);
  problem.column = 1;
  problem.batch = static_cast<i64>(call.c.batch_pitch);
  problem.m = static_cast<u32>(call.m);
  problem.n = static_cast<u32>(call.n);
  problem.splits = splits;
  const auto batches = static_cast<u32>(call.batches);
  const device_pointer<f32> sums{call.workspace.address, call.workspace.bytes / sizeof(f32),
                                 call.workspace.device, true};
  with_output(call.output, [&]<class Out>(Out) {
    device_pointer<Out> c{call.c.address, call.c.bytes / sizeof(Out), call.c.device, true};
    split_reduce<Out, general>.launch(s, grid(split_reduce_blocks(problem.m, problem.n, batches)), sums, c,
                                      problem, call.terms);
  });
}

const ptx::kernel_image& nothing_kernel(element_kind output) {
  return with_output(
      output, []<class Out>(Out) -> const ptx::kernel_image& { return product_of_nothing<Out>.image(); });
}

const ptx::kernel_image& reduction_kernel(element_kind output) {
  return with_output(
      output, []<class Out>(Out) -> const ptx::kernel_image& { return split_reduce<Out, general>.image(); });
}

void list_split_reduce_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const auto kernel : {nothing_kernel, reduction_kernel})
    for (const element_kind output : {element_kind::f32, element_kind::f16, element_kind::bf16})
      list.push_back(&kernel(output));
}

}  // namespace kaio::ops
