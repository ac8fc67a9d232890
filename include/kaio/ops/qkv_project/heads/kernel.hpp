#pragma once
// The steps of the heads of qkv_project on a product in memory, in one launch. It takes products of every
// kind, and the devices and heads that no fused kernel takes. A group of lanes has a row of a head; groups
// fill a block of 256 threads. The heads of a token are consecutive rows.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/qkv_project/common/head.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/ops/shared/row_of_thread.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// own_step(row): a head function Own.
template <std::uint32_t Sm, class Own, class Call>
constexpr void finish_heads(thread t, const val<qkv_problem>& problem, const val<qkv_product>& product,
                            const Call& own_step) {
  using elements = std::conditional_t<Sm >= 80, half_elements, any_elements>;
  const auto append = problem[&qkv_problem::append];
  const row_place place = place_of_thread(t, t.let(append[&append_problem::lanes_log]));
  const val inside = t.let(place.row < append[&append_problem::rows]);
  const val heads = t.let(problem[&qkv_problem::heads]);
  const val tokens = t.let(append[&append_problem::tokens]);
  const val of_all = t.let(place.row / heads);
  const val index = t.let(place.row - of_all * heads);
  const val batch = t.let(of_all / tokens);
  const val token = t.let(of_all - batch * tokens);
  const head_row row = find_head(t, problem, inside, batch, token, index, place.lane, place.lanes);
  if constexpr (Sm >= 90) grid_dependency_wait(t);
  const auto load = [&](const row_unit& unit, auto& x) {
    const val type = t.let(append[&append_problem::type]);
    const val first = of_split(t, problem, row, [](const auto& p) { return p[&qkv_part::column]; });
    const val size =
        of_split(t, problem, row, [](const auto& p) { return p[&qkv_part::to][&cache_rows::size]; });
    const val aligned = t.let(product[&qkv_product::aligned] != 0u);
    const val column = t.let(cast<i64>(first + row.head * size));
    const val shift = t.let(1u);
    const val at = t.let(cast<i64>(of_all) * product[&qkv_product::row] + column);
    const val from = t.let(product[&qkv_product::address] + (cast<u64>(at) << shift));
    for (u32 r = 0; r < 2; ++r) {
      const element_run run = run_of(t, from, shift, unit.first[r], unit.limit[r], aligned);
      elements::load(t, type, run, x, r * run_size);
    }
  };
  finish_head<elements, sums_are::elements, Own>(t, problem, row, load, own_step);
}

// On sm_90 and later it is launched programmatically, before the product has ended, and conversions to bf16
// and to 8-bit floats are instructions. The bits are the same.
template <std::uint32_t Sm, class Own, class OfOwn>
struct qkv_heads_kernel;

template <std::uint32_t Sm, class Own, class... OfOwn>
struct qkv_heads_kernel<Sm, Own, qkv_head_parameters<OfOwn...>> {
  static constexpr bool has_own = !std::is_same_v<Own, no_head_function>;
  static constexpr auto name = [] {
    if constexpr (has_own)
      return "qkv_heads_" + head_function_name<Own> + "_sm" + decimal<Sm>;
    else
      return "qkv_heads_sm" + decimal<Sm>;
  }();
  static constexpr auto kernel =
      kaio::kernel<name, row_threads, kernel_options{.target = {Sm}, .min_blocks = has_own ? 3 : 4}>(
          [](thread t, val<qkv_problem> problem, val<qkv_product> product, OfOwn... of_own) {
            finish_heads<Sm, Own>(t, problem, product, [&](qkv_row& row) { Own{}(t, row, of_own...); });
          });
};

// Own: a head function.
template <std::uint32_t Sm, class Own = no_head_function>
inline constexpr auto qkv_heads = qkv_heads_kernel<Sm, Own, parameters_of_head<Own>>::kernel;

inline constexpr std::uint32_t qkv_heads_programmatic = 90;

template <class Own>
bool qkv_heads_are_programmatic(const device_properties& device) {
  return runs_on(qkv_heads<qkv_heads_programmatic, Own>.image(), device);
}

template <class Own = no_head_function>
const ptx::kernel_image& qkv_heads_image_for(const device_properties& device) {
  return qkv_heads_are_programmatic<Own>(device) ? qkv_heads<qkv_heads_programmatic, Own>.image()
                                                 : qkv_heads<70, Own>.image();
}

template <class Own = no_head_function, class... Extra>
void launch_qkv_heads(const stream& s, const qkv_problem& problem, const qkv_product& product,
                      const Extra&... of_own) {
  const auto blocks = grid(row_blocks(problem.append.rows, problem.append.lanes_log));
  if (qkv_heads_are_programmatic<Own>(s.properties()))
    qkv_heads<qkv_heads_programmatic, Own>.launch(s, blocks.programmatic(), problem, product, of_own...);
  else
    qkv_heads<70, Own>.launch(s, blocks, problem, product, of_own...);
}

}  // namespace kaio::ops
