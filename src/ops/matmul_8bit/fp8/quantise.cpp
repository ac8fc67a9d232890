// quantise_fp8: a block per row, or a warp per tile of 1 or 128 rows x 128 columns. Both read the numbers of
// a scale twice.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul_8bit/quantise_fp8.hpp>
#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/ops/shared/e4m3_code.hpp>
#include <kaio/ops/shared/validation.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "ops/matmul_8bit/fp8/call.hpp"

namespace kaio::ops {

namespace {

struct fp8_quantise_problem {
  u64 x;        // address
  u32 type;     // a term_type
  u32 by_four;  // 1: four neighbours from a multiple of four on may be read and stored at once
  i64 x_pitch, codes_pitch;
  u64 scales;  // address; 0: `scale` serves all
  i64 scale_row, scale_column;
  u32 rows, columns;
  u32 tile_rows;  // rows x 128 columns that share one scale
  f32 scale;
};
using quantise_values = val<fp8_quantise_problem>;

constexpr u32 quantise_threads = 256, quantise_warps = quantise_threads / 32, group = 128;

using four_numbers = dsl::register_array<val<f32>, 4>;

// Element `first` and the three after it.
constexpr four_numbers read_four(thread t, const quantise_values& problem, const val<i64>& first) {
  const val address = t.let(problem[&fp8_quantise_problem::x]);
  const val type = t.let(problem[&fp8_quantise_problem::type]);
  auto numbers = array_of<4>([&](u32) { return var(t, 0.0f); });
  if (auto single = t.when(type == static_cast<u32>(term_type::f32))) {
    const val four = load_vec<4>(pointer_at<in<f32>>(t, address)[first]);
    for (u32 i = 0; i < 4; ++i) numbers[i] = four[i];
  }
  if (auto half = t.otherwise()) {
    const val four = load_vec<4>(pointer_at<in<u16>>(t, address)[first]);
    const val is_f16 = t.let(type == static_cast<u32>(term_type::f16));
    for (u32 i = 0; i < 4; ++i)
      numbers[i] = select(is_f16, cast<f32>(bit_cast<f16>(four[i])), bit_cast<f32>(cast<u32>(four[i]) << 16));
  }
  return array_of<4>([&](u32 i) { return val<f32>(t.let(numbers[i])); });
}
constexpr val<f32> read_one(thread t, const quantise_values& problem, const val<i64>& index) {
  const val address = t.let(problem[&fp8_quantise_problem::x]);
  const val type = t.let(problem[&fp8_quantise_problem::type]);
  var number(t, 0.0f);
  if (auto single = t.when(type == static_cast<u32>(term_type::f32)))
    number = pointer_at<in<f32>>(t, address)[index];
  if (auto half = t.otherwise()) {
    const val bits = t.let(pointer_at<in<u16>>(t, address)[index]);
    number = select(type == static_cast<u32>(term_type::f16), cast<f32>(bit_cast<f16>(bits)),
                    bit_cast<f32>(cast<u32>(bits) << 16));
  }
  return t.let(number);
}

// Columns of a row that `step` threads take in turns.
struct row_part {
  val<i64> begin;        // element where the row begins
  val<u32> first, last;  // columns: from a multiple of four on, before `last`
  val<u32> rank;         // this thread's rank among them
  u32 step;
};
// Calls f(column, four numbers), and f(column, one number) for columns that are not read by four.
template <class F>
constexpr void each_number(thread t, const quantise_values& problem, const row_part& part, const F& f) {
  const val fours = t.let(part.last / 4u * problem[&fp8_quantise_problem::by_four]);
  for (auto v : t.range(t.let(part.first / 4u + part.rank), fours, part.step)) {
    const val column = t.let(v * 4u);
    f(column, read_four(t, problem, t.let(part.begin + cast<i64>(column))));
  }
  const val rest = t.let(max(fours * 4u, part.first) + part.rank);
  for (auto column : t.range(rest, part.last, part.step)) {
    const val at = t.let(column);
    f(at, dsl::register_array<val<f32>, 1>{{read_one(t, problem, t.let(part.begin + cast<i64>(at)))}});
  }
}
template <std::uint32_t N>
constexpr void store_codes(thread t, const out<e4m3>& to, const val<u32>& column,
                           const dsl::register_array<val<f32>, N>& numbers, const val<f32>& scale) {
  const auto code = array_of<N>([&](u32 i) { return e4m3_code(t, numbers[i], scale); });
  if constexpr (N == 4)
    store_vec(to[column], make_vec(code[0], code[1], code[2], code[3]));
  else
    to[column] = code[0];
}
constexpr auto largest_of(const thread&, var<f32>& largest) {
  return [&largest](const val<u32>&, const auto& numbers) {
    for (const auto& number : numbers) largest = max(largest, abs(number));
  };
}

// From sm_89 on a conversion is one instruction; before, it is about 13 per element, with the same results.
constexpr u16 with_float8 = 89, without_float8 = 70;

template <u16 Sm>
constexpr auto quantise_rows =
    kaio::kernel<"quantise_fp8_rows_sm" + decimal<Sm>, block_size{quantise_threads},
                 kernel_options{.target = {Sm}}>([](thread t, out<e4m3> codes, quantise_values problem) {
      const val row = t.let(cast<i64>(block_idx_x()));
      const row_part part{t.let(row * problem[&fp8_quantise_problem::x_pitch]), t.let(0u),
                          t.let(problem[&fp8_quantise_problem::columns]), t.thread_rank(), quantise_threads};
      var scale(t, problem[&fp8_quantise_problem::scale]);
      const val scales = t.let(problem[&fp8_quantise_problem::scales]);
      if (auto computed = t.when(scales != u64{0})) {
        var largest(t, 0.0f);
        each_number(t, problem, part, largest_of(t, largest));
        scale = e4m3_scale(t, block_reduce(t, t.let(largest), maximum{}));
        if (auto first = t.when(t.thread_rank() == 0u))
          pointer_at<out<f32>>(t, scales)[row * problem[&fp8_quantise_problem::scale_row]] = scale;
      }
      const val<f32> by = t.let(scale);
      const out to = codes.from(t.let(row * problem[&fp8_quantise_problem::codes_pitch]));
      each_number(t, problem, part, [&](const val<u32>& column, const auto& numbers) {
        store_codes(t, to, column, numbers, by);
      });
    });

// One warp per tile of tile_rows x 128.
template <u16 Sm>
constexpr auto quantise_tiles =
    kaio::kernel<"quantise_fp8_tiles_sm" + decimal<Sm>, block_size{quantise_threads},
                 kernel_options{.target = {Sm}}>([](thread t, out<e4m3> codes, quantise_values problem) {
      const val tile_row = t.let(block_idx_x() * quantise_warps + warp_rank(t));
      const val lane = t.let(lane_id());
      const val tile_rows = t.let(problem[&fp8_quantise_problem::tile_rows]);
      const val rows = t.let(problem[&fp8_quantise_problem::rows]);
      const val columns = t.let(problem[&fp8_quantise_problem::columns]);
      const val first_row = t.let(tile_row * tile_rows);
      const val last_row = t.let(min(first_row + tile_rows, rows));
      if (auto inside = t.when(first_row < rows))
        for (auto tile : t.range(block_idx_y(), t.let((columns + (group - 1)) / group), grid_dim_y())) {
          const val first = t.let(tile * group);
          const auto each_row = [&](const auto& f) {
            for (auto row : t.range(first_row, last_row)) {
              const val at = t.let(cast<i64>(row));
              const out to = codes.from(t.let(at * problem[&fp8_quantise_problem::codes_pitch]));
              const row_part part{t.let(at * problem[&fp8_quantise_problem::x_pitch]), first,
                                  t.let(min(first + group, columns)), lane, 32};
              each_number(t, problem, part,
                          [&](const val<u32>& column, const auto& numbers) { f(to, column, numbers); });
            }
          };
          var largest(t, 0.0f);
          const auto grow = largest_of(t, largest);
          each_row(
              [&](const out<e4m3>&, const val<u32>& column, const auto& numbers) { grow(column, numbers); });
          const val scale = e4m3_scale(t, warp_reduce(t, t.let(largest), maximum{}));
          if (auto leader = t.when(lane == 0u))
            pointer_at<out<f32>>(t, t.let(problem[&fp8_quantise_problem::scales]))
                [cast<i64>(tile_row) * problem[&fp8_quantise_problem::scale_row] +
                 cast<i64>(tile) * problem[&fp8_quantise_problem::scale_column]] = scale;
          each_row([&](const out<e4m3>& to, const val<u32>& column, const auto& numbers) {
            store_codes(t, to, column, numbers, scale);
          });
        }
    });

// Whether the device and its driver run kernels with these instructions.
bool has_float8(const device_properties& device) {
  return runs_on(quantise_rows<with_float8>.image(), device);
}

// Whether rows begin at multiples of four elements.
bool is_by_four(const matmul_view& v) {
  return v.address % (4 * std::uint64_t{bytes_of(v.type)}) == 0 &&
         (v.extents[0] <= 1 || v.strides[0] % 4 == 0);
}

}  // namespace

namespace detail {

void run_quantise_fp8(const stream& s, std::string_view operation, const matmul_view& x,
                      const matmul_view& codes, const matmul_view& scales, f32 scale,
                      const quantise_fp8_tile& tile) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  const auto refuse = [&](const std::string& what) {
    throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
  };
  constexpr std::int64_t most = 0x7fffffff - std::int64_t{group};
  const bool is_blocks = tile.rows == group;
  const std::string_view name = is_blocks ? "w" : "x";
  check.input(name, x);
  check.output("codes", codes);
  check.extent("codes", codes, 0, x.extents[0], is_blocks ? "the rows of w" : "the rows of x");
  check.extent("codes", codes, 1, x.extents[1], is_blocks ? "the columns of w" : "the columns of x");
  check.apart("codes", codes, name, x);
  for (std::size_t d = 0; d < 2; ++d) check.at_most(name, x, d, most);
  for (const auto& [which, view] : {std::pair{name, &x}, std::pair{std::string_view("codes"), &codes}})
    if (view->extents[1] > 1 && view->strides[1] != 1)
      refuse("argument " + std::string(which) +
             " has rows that are not contiguous: copy the matrix to memory of its own");
  if (tile.rows != 0) {
    const std::string_view argument = is_blocks ? "blocks" : tile.columns != 0 ? "groups" : "scales";
    check.output(argument, scales);
    check.extent(argument, scales, 0, ceil_div(x.extents[0], tile.rows),
                 is_blocks ? "one number for each 128 rows of w" : "the rows of x");
    if (tile.columns != 0)
      check.extent(
          argument, scales, 1, ceil_div(x.extents[1], tile.columns),
          is_blocks ? "one number for each 128 columns of w" : "one number for each 128 columns of x");
    check.apart(argument, scales, name, x);
    check.apart(argument, scales, "codes", codes);
  } else if (!(std::isfinite(scale) && scale > 0)) {
    refuse("scale is not finite and above 0");
  }
  if (x.extents[0] == 0) return;
  const fp8_quantise_problem problem{.x = x.address,
                                     .type = static_cast<u32>(x.type) + 1,
                                     .by_four = is_by_four(x) && is_by_four(codes) ? 1u : 0u,
                                     .x_pitch = x.strides[0],
                                     .codes_pitch = codes.strides[0],
                                     .scales = scales.address,
                                     .scale_row = scales.strides[0],
                                     .scale_column = scales.strides[1],
                                     .rows = static_cast<u32>(x.extents[0]),
                                     .columns = static_cast<u32>(x.extents[1]),
                                     .tile_rows = tile.rows,
                                     .scale = scale};
  device_pointer<e4m3> to{codes.address, codes.bytes, codes.device, true};
  if (tile.columns == 0) {
    if (has_float8(device))
      quantise_rows<with_float8>.launch(s, grid(problem.rows), to, problem);
    else
      quantise_rows<without_float8>.launch(s, grid(problem.rows), to, problem);
    return;
  }
  const std::int64_t tiles_m = ceil_div(x.extents[0], tile.rows), tiles_k = ceil_div(x.extents[1], group);
  if (tiles_k == 0) return;
  const auto shape = grid(static_cast<std::uint64_t>(ceil_div(tiles_m, quantise_warps)),
                          static_cast<std::uint64_t>(std::min<std::int64_t>(tiles_k, 65535)));
  if (has_float8(device))
    quantise_tiles<with_float8>.launch(s, shape, to, problem);
  else
    quantise_tiles<without_float8>.launch(s, shape, to, problem);
}

}  // namespace detail

void list_fp8_quantise_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const ptx::kernel_image* const image :
       {&quantise_rows<with_float8>.image(), &quantise_rows<without_float8>.image(),
        &quantise_tiles<with_float8>.image(), &quantise_tiles<without_float8>.image()})
    list.push_back(image);
}

}  // namespace kaio::ops
