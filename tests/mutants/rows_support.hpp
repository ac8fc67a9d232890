#pragma once
// Rows of random numbers on an emulated device, for mutants of the kernels of rows.

#include "mutants/calls.hpp"
#include "tests/ops/cache/support.hpp"

#include <kaio/ops/shared/workspace.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace kaio::tests::mutants {

inline std::size_t count_of(i64 rows, i64 size) { return static_cast<std::size_t>(rows * size); }

// A buffer of random numbers, -2 to 2, and views of it as rows with `pad` elements between them.
template <class T>
struct rows_on_device {
  i64 rows, size, pitch;
  buffer<T> memory;

  rows_on_device(i64 in_rows, i64 in_size, u32 seed, i64 pad = 0)
      : rows(in_rows), size(in_size), pitch(in_size + pad) {
    std::mt19937 engine(seed);
    std::vector<T> host(count_of(rows + 1, pitch));  // a row more, in which stores beyond the last one show
    for (T& one : host)
      one = from_float<T>(static_cast<float>(static_cast<int>(engine() % 4001) - 2000) / 1000);
    memory = upload(host);
  }
  tensor_view<T, 2> view() { return {memory, extents(rows, size), strides(pitch, i64{1})}; }
  // Two batches, with a row between them, of an odd number of rows.
  tensor_view<T, 3> batches() {
    const i64 tokens = rows / 2;
    return {memory, extents(i64{2}, tokens, size), strides((tokens + 1) * pitch, pitch, i64{1})};
  }
  tensor_view<T, 1> row() { return {memory, extents(size)}; }
  tensor_view<T, 1> column() { return {memory, extents(rows)}; }
};
template <class T>
buffer<T> numbers_of(std::size_t count, T first, T step) {
  std::vector<T> host(count);
  for (std::size_t i = 0; i < count; ++i) host[i] = static_cast<T>(first + step * static_cast<T>(i));
  return upload(host);
}
inline ops::workspace_view workspace_of(buffer<u8>& memory, std::uint64_t bytes) {
  memory = upload(std::vector<u8>(std::max<std::size_t>(static_cast<std::size_t>(bytes), 1), 0xff));
  return memory;
}

// Which faults no result can show:
//
//   count > w          of warps, which are 2, 4 or 8, so that only w = 2 and w = 4 have an edge
//   lanes_ > 32        rows of one warp may add by way of shared memory too
//   pieces_            single elements are checked one by one, so that a round more stores nothing
//   whole, unaligned   elements one by one instead of together
//   first < count      of no element, each of which is checked
//   columns - column   sums of columns that do not exist are not stored
constexpr bool is_off_by_one(std::string_view, std::string_view instruction) {
  return instruction.starts_with("off by one");
}
constexpr harmless_statement faults_of_rows_without_effect[] = {
    {"rows/reduce.hpp", "select(count > w",
     [](std::string_view, std::string_view instruction) {
       return !instruction.ends_with(", 2;") && !instruction.ends_with(", 4;");
     }},
    {"rows/reduce.hpp", "t.when(lanes_ > 32u)", is_off_by_one},
    {"rows/stage.hpp", "t.range(start, pieces_, step)",
     [](std::string_view kernel, std::string_view) { return kernel.ends_with("_elements"); }},
    {"shared/e4m3_code.hpp", "cast<e4m3>"},  // at a border of ranges both ways of rounding agree
    {"reduce/simt/rows.hpp", "unaligned = t.when("},
    {"reduce/simt/columns.hpp", "t.when(columns - column > i)", is_off_by_one},
    {"scan/simt/kernel.hpp", "const val is_whole ="},
    {"scan/simt/kernel.hpp", "whole = t.when(is_whole)"},
    {"scan/simt/kernel.hpp", "t.when(first < count)", is_off_by_one},
    {"scan/simt/kernel.hpp", "t.when(place.lanes > 32u)", is_off_by_one},
    {"shared/element_run.hpp", "t.when(run.whole)"},
    {"shared/element_run.hpp", "wide = t.when(by_16)"},
    {"embedding/simt/gradient.hpp", "const val is_whole ="},
    {"embedding/simt/gradient.hpp", "t.when(vocabulary - word > step)", is_off_by_one},
};

}  // namespace kaio::tests::mutants
