#pragma once
// A consumer warpgroup of a product whose sums over each group of 128 along K have a scale. wgmma adds up a
// group in accumulators of its own. The threads multiply them by the scale and add them to the total, in f32
// (promotion). With two sets of accumulators the next group is multiplied while the previous one is added.
// With one set, another warpgroup's group is multiplied meanwhile:
//
//   128 x 128, two sets of 64 x 128 for each warpgroup   set 0: even groups, set 1: odd ones
//     wgmma     | 0 | 1 | 2 | 3 |
//     threads       | 0 | 1 | 2 | 3 |      total += scale_a[row][g] * scale_b[g][columns] * set
//     scales    1   2   3   4              loaded a group ahead, after the products of a group were issued
//   128 x 256, one set of 64 x 128 for each warpgroup, of the left and of the right columns (l, r) in turn
//     wgmma     | l of 0 | l of 1 | r of 0 | r of 1 | l of 0 | ...          warpgroups 0 and 1
//     threads            | l of 0 | l of 1 | r of 0 | r of 1 | ...
//
// The bounds for 128 of K, in clocks of a multiprocessor that multiplies 4096 numbers of 8 bits per clock:
//                                              128 x 128   128 x 256 in clusters of two
//   wgmma                                           512        1024
//   FFMA: 128 per clock                             128         256      on other issue slots than wgmma
//   wgmma's operands: 128 bytes per clock           384         768      A and 128 columns of B per warpgroup
//   these and arriving stages: 128 bytes            640        1152      32 and 48 KB per stage
//   from L2: 63 bytes per clock, as measured        520         520      32 KB each
// If arriving stages count among the 128 bytes, shared memory bounds both, at 0.80 and 0.89 of wgmma's rate.
// Promotion is hidden while a warpgroup's gap between two batches is shorter than the other's batch of 256
// clocks. The gap has 64 FFMA of a warp, which its scheduler issues in 64 clocks or more, and twice the
// latency of wgmma: nothing else may be in it, neither an address nor a load.
//
// Source: DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 3.3.2 (promotion to CUDA cores).

#include <kaio/ops/matmul/common/finish.hpp>
#include <kaio/ops/matmul/sm90/mainloop.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Depth: groups per stage. Sets: 1 or 2; two need threads with 200 registers or more.
template <class Loop, std::uint32_t Depth, std::uint32_t Sets, class Epilogue, bool Transposed>
class sm90_promotion {
  using accumulator = typename Loop::accumulator;
  using line = typename Epilogue::line;
  // Wide tiles are multiplied in parts; the columns of a part share one scale per group.
  static constexpr std::uint32_t part_columns =
      accumulator::columns < promoted_k ? accumulator::columns : promoted_k;
  static constexpr std::uint32_t parts = accumulator::columns / part_columns;
  using part_sums = wgmma_accumulator<f32, part_columns>;
  static constexpr std::uint32_t slices = promoted_k / 32;  // 32 bytes each
  // Whether scales are loaded a stage ahead. Stages of several groups would need twice the registers.
  static constexpr bool ahead = Depth == 1;
  // Rows of C in which a thread has sums.
  static constexpr std::uint32_t rows = Transposed ? accumulator::columns / 4 : 2;
  static_assert(Sets == 1 || (Depth == 1 && parts == 1),
                "kaio: two sets of sums are of one group and part each");
  static_assert(Depth == 1 || parts == 1);
  static_assert(Loop::k == promoted_k * Depth, "kaio: sums of groups are of operands of 8 bits");

 public:
  // `first_group`: the first group of the first stage.
  template <class... Extra>
  constexpr sm90_promotion(thread t, const Loop& loop, const tile_origin& tile, const val<u32>& warpgroup,
                           const val<output_lines>& lines, const val<u32>& first_group, const Extra&... extra)
      : t_(t),
        loop_(loop),
        warpgroup_(warpgroup),
        group_(t, first_group),
        issued_(t, 0u),
        before_(t, 0u),
        groups_(Epilogue::groups(t, extra...)),
        rows_(lines_of_rows(t, tile, lines, extra...)),
        columns_(lines_of_columns(t, tile, lines, extra...)),
        of_rows_(numbers<Depth * rows>(t)),
        of_columns_(numbers<Depth * parts>(t)),
        scales_(scales_of_sets(t)),
        sums_(array_of<Sets>([&](u32) { return array_of<Depth>([&](u32) { return part_sums(t); }); })) {
    if constexpr (ahead) request();
  }

  // total = A * B over `steps` stages, at least one.
  constexpr void multiply(ring_position& at, accumulator& total, const val<u32>& steps) {
    const val thread_in_group = t_.thread_rank() % 128u;
    const val peer = loop_.sharer(thread_in_group);
    const auto release = [&](const var<u32>& stage) { loop_.release(stage, thread_in_group, peer); };
    total.clear();
    if constexpr (Sets == 1) {
      for ([[maybe_unused]] auto step : t_.range(0u, steps)) {
        issue(at, 0);
        for (std::uint32_t part = 1; part < parts; ++part) {
          wgmma_wait<0>(t_);
          add(total, 0, part - 1);
          loop_.issue(issued_, warpgroup_, [&](const wgmma_batch& mma, const auto& a, const auto& b) {
            mma.multiply_add(sums_[0][0], a, b.rows(part * part_columns), false);
          });
        }
        wgmma_wait<0>(t_);
        release(issued_);
        add(total, 0, parts - 1);
      }
    } else {
      const auto next = [&](std::uint32_t set) {
        issue(at, set);
        wgmma_wait<1>(t_);
        release(before_);
        add(total, 1 - set);
      };
      const auto last = [&](std::uint32_t set) {
        wgmma_wait<0>(t_);
        release(issued_);
        add(total, set);
      };
      issue(at, 0);
      const val others = t_.let(steps - 1u);
      for ([[maybe_unused]] auto pair : t_.range(0u, others / 2u)) {
        next(1);
        next(0);
      }
      if (auto odd = t_.when(others % 2u != 0u)) {
        next(1);
        last(1);
      }
      if (auto even = t_.otherwise()) last(0);
    }
  }

 private:
  // The lines of scales for the rows of C in which a thread has sums.
  template <class... Extra>
  static constexpr auto lines_of_rows(thread t, const tile_origin& tile, const val<output_lines>& lines,
                                      const Extra&... extra) {
    const val lane = t.let(lane_id());
    const val warp_row = t.let(warp_rank(t) * 16u);
    const val first =
        Transposed ? t.let(line_of<Loop::part_n>(t, tile.column, tile.last_column, 0u).at + lane % 4u * 2u)
                   : t.let(line_of<Loop::part_m>(t, tile.row, tile.last_row, warp_row).at + lane / 4u);
    const val last = t.let(lines[&output_lines::rows] - 1u);
    return array_of<rows>([&](u32 i) {
      const val row = t.let(min(first + (Transposed ? i / 2 * 8 + i % 2 : i * 8), last));
      return Epilogue::line_of_row(t, tile.batch, row, extra...);
    });
  }
  template <class... Extra>
  static constexpr auto lines_of_columns(thread t, const tile_origin& tile, const val<output_lines>& lines,
                                         const Extra&... extra) {
    const val first = Transposed ? tile.row : tile.column;
    const val last = t.let(lines[&output_lines::columns] - 1u);
    return array_of<parts>([&](u32 p) {
      return Epilogue::line_of_columns(t, tile.batch, t.let(min(first + p * part_columns, last)), extra...);
    });
  }
  template <std::uint32_t N>
  static constexpr auto numbers(thread t) {
    return array_of<N>([&](u32) { return var<f32>(t, 0.0f); });
  }
  struct none {};
  static constexpr auto scales_of_sets(thread t) {
    if constexpr (ahead)
      return array_of<Sets>([&](u32) { return numbers<parts * rows>(t); });
    else
      return none{};
  }
  static constexpr std::uint32_t row_of(std::uint32_t i) {
    return Transposed ? part_sums::column(i) / 8 * 2 + part_sums::column(i) % 2 : part_sums::row(i) / 8;
  }

  // Loads the scales of the stage that is issued next; past the last group, those of the last.
  constexpr void request() {
    for (std::uint32_t d = 0; d < Depth; ++d) {
      const val group = t_.let(min(group_ + d, groups_ - 1u));
      for (std::uint32_t p = 0; p < parts; ++p) of_columns_[d * parts + p] = columns_[p].at(t_, group);
      for (std::uint32_t i = 0; i < rows; ++i) of_rows_[d * rows + i] = rows_[i].at(t_, group);
    }
  }

  // Issues the products of a stage (of the first part), and loads scales while they are computed.
  constexpr void issue(ring_position& at, std::uint32_t set) {
    if constexpr (!ahead) request();
    loop_.wait(at);
    loop_.issue(at.stage, warpgroup_, [&](const wgmma_batch& mma, const auto& a, const auto& b) {
      for (std::uint32_t d = 0; d < Depth; ++d)
        mma.multiply_add(sums_[set][d], a.slice(d * slices, slices), b.slice(d * slices, slices), false);
    });
    before_ = issued_;
    issued_ = at.stage;
    at.template advance<Loop::stages>();
    group_ += Depth;
    if constexpr (ahead) {
      for (std::uint32_t p = 0; p < parts; ++p)
        for (std::uint32_t i = 0; i < rows; ++i) scales_[set][p * rows + i] = of_rows_[i] * of_columns_[p];
      request();
    }
  }

  // The scale of group `d` of a stage; 0 if the stage has several groups and this one is past K.
  constexpr val<f32> scale_of(std::uint32_t set, std::uint32_t d, std::uint32_t part,
                              std::uint32_t row) const {
    if constexpr (ahead) {
      return t_.let(scales_[set][part * rows + row]);
    } else {
      const val scale = t_.let(of_rows_[d * rows + row] * of_columns_[d * parts + part]);
      return t_.let(select(group_ - (Depth - d) < groups_, scale, 0.0f));
    }
  }

  // total += scale * the sums of a stage, or of a part of it.
  constexpr void add(accumulator& total, std::uint32_t set, std::uint32_t part = 0) {
    for (std::uint32_t d = 0; d < Depth; ++d) {
      const auto scales = array_of<rows>([&](u32 i) { return scale_of(set, d, part, i); });
      for (std::uint32_t i = 0; i < part_sums::size(); ++i) {
        auto& sum = total[part * part_sums::size() + i];
        sum = fma(sums_[set][d][i], scales[row_of(i)], sum);
      }
    }
  }

  thread t_;
  const Loop& loop_;
  val<u32> warpgroup_;
  var<u32> group_;            // first group of the stage that is issued next
  var<u32> issued_, before_;  // stages in flight
  val<u32> groups_;
  dsl::register_array<line, rows> rows_;
  dsl::register_array<line, parts> columns_;
  dsl::register_array<var<f32>, Depth * rows> of_rows_;  // as loaded
  dsl::register_array<var<f32>, Depth * parts> of_columns_;
  std::conditional_t<ahead, dsl::register_array<dsl::register_array<var<f32>, parts * rows>, Sets>, none>
      scales_;
  dsl::register_array<dsl::register_array<part_sums, Depth>, Sets> sums_;
};

}  // namespace kaio::ops
