// The kernels of the library's reductions, and their launches.

#include <kaio/ops/reduce.hpp>
#include <kaio/ops/reduce/simt/operators.hpp>
#include <kaio/runtime/device.hpp>

#include <limits>

#include "ops/families.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace {

constexpr f32 infinity = std::numeric_limits<f32>::infinity();

// Calls f(T{}, operator, finish, identity) for a reduction of elements of `kind`.
template <class F>
void with_reduction(reduction how, element_kind kind, const F& f) {
  const auto with_type = [&](auto combine, auto finish, f32 identity) {
    switch (kind) {
      case element_kind::f16: return f(f16{}, combine, finish, identity);
      case element_kind::bf16: return f(bf16{}, combine, finish, identity);
      default: return f(f32{}, combine, finish, identity);
    }
  };
  switch (how) {
    case reduction::sum:
    case reduction::mean: return with_type(sum_operator{}, divided_by_count{}, 0);
    case reduction::max: return with_type(max_operator{}, unchanged{}, -infinity);
    case reduction::min: return with_type(min_operator{}, unchanged{}, infinity);
  }
}

template <class F>
void each_image(reduction how, element_kind kind, const F& f) {
  with_reduction(how, kind, [&]<class T, class Combine, class Finish>(T, Combine, Finish, f32) {
    f(reduce_rows<T, f32, Combine, unchanged, Finish>.image());
    f(reduce_columns<T, f32, Combine, unchanged, Finish>.image());
  });
}

}  // namespace

namespace detail {

void run_reduce(const stream& s, reduction how, const any_view& x, const any_view& out,
                const reduce_options& options) {
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced("reduce");
  if (how > reduction::min) refuse("reduce", "how is none of sum, mean, max and min");
  if (out.type != x.type && out.type != element_kind::f32)
    refuse("reduce", "argument out has another element type than x, and is not f32; cast it");
  std::vector<reduce_step> steps =
      plan_reduce(s.device_identity(), {"reduce", x, out, &options, sizeof(f32)});
  if (how == reduction::sum)
    for (reduce_step& step : steps) step.problem.count = 1;
  with_reduction(how, x.type, [&]<class T, class Combine, class Finish>(T, Combine, Finish, f32 identity) {
    launch_reduce<T, f32, Combine, unchanged, Finish>(s, steps, identity);
  });
}

}  // namespace detail

void reduce_warmup(const runtime::device& gpu, reduction how, element_kind kind) {
  if (!is_wide(kind)) detail::refuse("reduce_warmup", "elements that are not f32, f16 or bf16");
  const auto load = [&](const ptx::kernel_image& image) { gpu.warmup(image); };
  each_image(how, kind, load);
  if (kind != element_kind::f32) each_image(how, element_kind::f32, load);
}

void list_reduce_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const reduction how : {reduction::sum, reduction::max, reduction::min})
    for (const element_kind kind : {element_kind::f32, element_kind::f16, element_kind::bf16})
      each_image(how, kind, [&](const ptx::kernel_image& image) { list.push_back(&image); });
}

}  // namespace kaio::ops
