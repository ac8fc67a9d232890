#pragma once
// Destinations of rows of heads, found before the sums exist and kept in shared memory until they do. Also
// prefetches into L2 what the steps of the heads read.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/qkv_project/common/row.hpp>
#include <kaio/ops/shared/element_type.hpp>

#include <cstdint>

namespace kaio::ops {

// Destinations for `Count` lanes.
template <std::uint32_t Count>
using head_targets = shared<u32, Count * 8>;

// Entry i belongs to one lane, which reads it back itself.
template <class Targets, class Index>
constexpr void keep_target(thread t, const Targets& targets, const Index& i, const head_target& target) {
  const val at = t.let(i * 8u);
  const val writes = t.let(select(target.writes, 1u, 0u));
  const val low = t.let(cast<u32>(target.to)), high = t.let(cast<u32>(target.to >> 32u));
  store_vec(targets[at], make_vec(writes, low, high, target.position));
  store_vec(targets[at + 4u], make_vec(target.page, target.line));
}
template <class Targets, class Index>
constexpr head_target kept_target(thread t, const Targets& targets, const Index& i) {
  const val at = t.let(i * 8u);
  const val four = load_vec<4>(targets[at]);
  const val two = load_vec<2>(targets[at + 4u]);
  const val writes = t.let(four[0] != 0u);
  const val to = t.let(cast<u64>(four[1]) | cast<u64>(four[2]) << 32u);
  const val page = t.let(two[0]), line = t.let(two[1]), position = t.let(four[3]);
  return {writes, to, page, line, position};
}

// Prefetches the bias of a lane's elements and the norm of its head.
constexpr void prefetch_terms(thread t, const val<qkv_problem>& problem, const head_row& row,
                              const head_target& target) {
  const auto of = [&](const auto& read) { return of_split(t, problem, row, read); };
  const val size = of([](const auto& split) { return split[&qkv_part::to][&cache_rows::size]; });
  const val first = t.let(row.lane * (2 * run_size));
  const auto ask = [&](auto member, const val<u32>& element) {
    const val address = of([&](const auto& split) { return split[member]; });
    if (auto has = t.when(all_of(target.writes, first < size, address != u64{0})))
      prefetch(pointer_at<in<u8>>(t, t.let(address + cast<u64>(element) * u64{2}))[0], cache_level::l2);
  };
  ask(&qkv_part::bias, t.let(row.head * size + first));
  ask(&qkv_part::norm, first);
}

// Prefetches the rows of the tables that rotate a lane's pairs.
constexpr void prefetch_tables(thread t, const val<qkv_problem>& problem, const head_row& row,
                               const head_target& target) {
  const auto tables = problem[&qkv_problem::append][&append_problem::tables];
  const val pairs = t.let(select(row.is_v, 0u, tables[&rotary_tables::pairs]));
  const val first = t.let(row.lane * run_size);
  if (auto turns =
          t.when(all_of(target.writes, first < pairs, target.position < tables[&rotary_tables::rows]))) {
    const val type = t.let(tables[&rotary_tables::type]);
    const val shift = t.let(select(type == static_cast<u32>(element_type::f32), 2u, 1u));
    const auto ask = [&](auto address, auto stride) {
      const val at = t.let(cast<i64>(target.position) * tables[stride] + cast<i64>(first));
      const val from = t.let(tables[address] + (cast<u64>(at) << shift));
      prefetch(pointer_at<in<u8>>(t, from)[0], cache_level::l2);
    };
    ask(&rotary_tables::cos, &rotary_tables::cos_row);
    ask(&rotary_tables::sin, &rotary_tables::sin_row);
  }
}

}  // namespace kaio::ops
