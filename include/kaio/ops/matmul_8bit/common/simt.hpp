#pragma once
// Products of 8-bit operands by multiply-adds, from sm_70 on: for devices without 8-bit matrix instructions.
//
//   C[b] = epilogue(A[b] * B[b])      A: M x K, B: K x N by any strides, C: M x N row by row
//
//       64 columns           a block: 64 x 64 of C in steps of 16 elements along K; 256 threads copy each
//      +----------+          step to shared memory, one row per k
//   64 | threads  |          a thread: 4 x 4, neighbours
//      +----------+
//
// A class without members says how numbers are loaded and multiplied:
//
//   struct Numbers {
//     using element = f32;                         // in shared memory: f32, or i32 with four i8 numbers
//     static constexpr std::uint32_t width = 1;    // numbers along K per element
//     static constexpr fixed_string name = "...";
//     // Loads from k on in `line` (a row of A, a column of B); numbers from `end` on are 0.
//     static constexpr val<element> load(thread t, const in<u8>& x, const val<byte_matrix>& matrix,
//                                        const val<i64>& line, const val<u32>& k, const val<u32>& end);
//     static constexpr val<element> add(thread t, const val<element>& sum, const val<element>& a,
//                                       const val<element>& b);
//   };
//
// One kernel per operation serves all layouts and epilogue arguments. It copies single elements and loads
// nothing ahead.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/ops/shared/tile_scheduler.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Strides in bytes. line: from a row of A, or a column of B, to the next.
struct byte_matrix {
  i64 line, k, batch;
  u32 format;  // number format, if a kernel takes several
  u32 unused = 0;
};

struct simt_bytes_problem {
  tile_scheduler scheduler;
  output_lines c;
  u32 k;
};

// Line l of an operand is line l in memory. Other classes map lines:
//
//   source(t, l)    the line in memory; end(t) or more: none, a line of zeros
struct lines_in_order {};

struct simt_bytes {
  static constexpr std::uint32_t tile = 64, step = 16, threads = 256, side = 16, of_thread = 4;
  static constexpr std::uint32_t pitch = tile + 4;  // elements: rows begin at multiples of 16 bytes
};

// A thread's totals, and the scales of its rows and columns per group of 128 along K.
template <class Epilogue>
class simt_promotion {
  static constexpr std::uint32_t side = simt_bytes::of_thread;
  using line = typename Epilogue::line;

 public:
  template <class... Extra>
  constexpr simt_promotion(thread t, const place& first, const val<output_lines>& lines,
                           const Extra&... extra)
      : t_(t),
        rows_(array_of<side>([&](u32 i) {
          const val row = t.let(min(first.row + i, lines[&output_lines::rows] - 1u));
          return Epilogue::line_of_row(t, first.batch, row, extra...);
        })),
        columns_(Epilogue::line_of_columns(
            t, first.batch, t.let(min(first.column, lines[&output_lines::columns] - 1u)), extra...)),
        totals_(array_of<side * side>([&](u32) { return var<f32>(t, 0.0f); })) {}

  // Call after the step that ends at `next`. If a group ends there, the scaled sums go to the totals and
  // restart at 0.
  template <class Sums>
  constexpr void add(Sums& sums, const val<u32>& next, const val<u32>& k) {
    if (auto ends = t_.when(any_of(next % promoted_k == 0u, next >= k))) {
      const val group = t_.let((next - 1u) / promoted_k);
      const val of_columns = columns_.at(t_, group);
      for (u32 i = 0; i < side; ++i) {
        const val scale = t_.let(rows_[i].at(t_, group) * of_columns);
        for (u32 j = 0; j < side; ++j) {
          totals_[i * side + j] = fma(sums[i * side + j], scale, totals_[i * side + j]);
          sums[i * side + j] = 0.0f;
        }
      }
    }
  }
  constexpr const auto& totals() const { return totals_; }

 private:
  thread t_;
  dsl::register_array<line, side> rows_;
  line columns_;  // four neighbours share a scale
  dsl::register_array<var<f32>, side * side> totals_;
};

template <class Numbers, class Out, class Epilogue>
struct simt_bytes_body {
  using element = typename Numbers::element;
  using cut = simt_bytes;
  static constexpr std::uint32_t side = cut::of_thread;
  using tile_in_shared = shared<element, cut::step, cut::pitch>;

  template <class Result, class... Extra>
  static constexpr void run(thread t, const in<u8>& a, const val<byte_matrix>& of_a, const in<u8>& b,
                            const val<byte_matrix>& of_b, const Result& c,
                            const val<simt_bytes_problem>& problem, const Extra&... extra) {
    const tile_index tile = tile_at(t, problem[&simt_bytes_problem::scheduler], t.let(block_idx_x()));
    const val<output_lines> lines = t.let(problem[&simt_bytes_problem::c]);
    const val k = t.let(problem[&simt_bytes_problem::k]);
    const val first_row = t.let(tile.m * cut::tile), first_column = t.let(tile.n * cut::tile);
    compute(t, {tile.batch, first_row, first_column}, tile.batch, a, of_a, b, of_b, c, lines, k, extra...);
  }

  // Multiplies the tile at `at`, whose batch is that of B and of the epilogue. batch_a: that of A.
  template <class Result, class... Extra>
  static constexpr void compute(thread t, const place& at, const val<u32>& batch_a, const in<u8>& a,
                                const val<byte_matrix>& of_a, const in<u8>& b, const val<byte_matrix>& of_b,
                                const Result& c, const val<output_lines>& lines, const val<u32>& k,
                                const Extra&... extra) {
    compute_lines(t, at, batch_a, a, of_a, lines_in_order{}, b, of_b, lines_in_order{}, c, lines, k,
                  extra...);
  }
  // As compute, with other lines of A and B.
  template <class LinesA, class LinesB, class Result, class... Extra>
  static constexpr void compute_lines(thread t, const place& at, const val<u32>& batch_a, const in<u8>& a,
                                      const val<byte_matrix>& of_a, const LinesA& lines_of_a, const in<u8>& b,
                                      const val<byte_matrix>& of_b, const LinesB& lines_of_b, const Result& c,
                                      const val<output_lines>& lines, const val<u32>& k,
                                      const Extra&... extra) {
    const val rank = t.thread_rank();
    const val own_row = t.let(rank / cut::side * side), own_column = t.let(rank % cut::side * side);
    const place first{at.batch, t.let(at.row + own_row), t.let(at.column + own_column)};
    const tile_in_shared a_tile(t), b_tile(t);
    auto sums = array_of<side * side>([&](u32) { return var<element>(t, element{}); });

    const auto multiply = [&](const auto& after_step) {
      for (auto begin : t.range(0u, k, cut::step * Numbers::width)) {
        copy(t, a_tile, a, of_a, lines_of_a, batch_a, at.row, t.let(lines[&output_lines::rows]), begin, k);
        copy(t, b_tile, b, of_b, lines_of_b, at.batch, at.column, t.let(lines[&output_lines::columns]), begin,
             k);
        t.barrier();
        for (auto step : t.range(0u, cut::step).template unroll<4>()) {
          const val of_rows = load_vec<4>(a_tile[step][own_row]);
          const val of_columns = load_vec<4>(b_tile[step][own_column]);
          for (u32 i = 0; i < side; ++i)
            for (u32 j = 0; j < side; ++j) {
              const val x = t.let(of_rows[i]), y = t.let(of_columns[j]);
              sums[i * side + j] = Numbers::add(t, t.let(sums[i * side + j]), x, y);
            }
        }
        t.barrier();
        after_step(t.let(begin + cut::step * Numbers::width));
      }
    };
    if constexpr (promotes<Epilogue>) {
      simt_promotion<Epilogue> promotion(t, first, lines, extra...);
      multiply([&](const val<u32>& next) { promotion.add(sums, next, k); });
      finish(t, promotion.totals(), first, c, lines, extra...);
    } else {
      multiply([](const val<u32>&) {});
      finish(t, sums, first, c, lines, extra...);
    }
  }

 private:
  // Copies lines from `first` on, from `begin` on along K. Elements outside are 0.
  template <class Lines>
  static constexpr void copy(thread t, const tile_in_shared& to, const in<u8>& x,
                             const val<byte_matrix>& matrix, const Lines& lines_of_x, const val<u32>& batch,
                             const val<u32>& first, const val<u32>& lines, const val<u32>& begin,
                             const val<u32>& end) {
    const in memory = x.from(cast<i64>(batch) * matrix[&byte_matrix::batch]);
    const val step = t.let(t.thread_rank() % cut::step), line = t.let(t.thread_rank() / cut::step);
    const val k = t.let(begin + step * Numbers::width);
    constexpr std::uint32_t apart = cut::threads / cut::step;
    for (u32 i = 0; i < cut::tile; i += apart) {
      const val own = t.let(first + line + i);
      var<element> one(t, element{});
      if (auto exists = t.when(all_of(own < lines, k < end))) {
        if constexpr (std::is_same_v<Lines, lines_in_order>) {
          one = Numbers::load(t, memory, matrix, t.let(cast<i64>(own)), k, end);
        } else {
          const val source = lines_of_x.source(t, own);
          if (auto is_line = t.when(source < lines_of_x.end(t)))
            one = Numbers::load(t, memory, matrix, t.let(cast<i64>(source)), k, end);
        }
      }
      const val place = t.let(line + i);
      const val number = t.let(one);
      to[step][place] = number;
    }
  }

  // A loop over rows, not unrolled: the kernel has one copy of the epilogue.
  template <class Sums, class Result, class... Extra>
  static constexpr void finish(thread t, const Sums& sums, const place& first, const Result& c,
                               const val<output_lines>& lines, const Extra&... extra) {
    const auto result = detail::output_of<Out>::bind(t, c, first.batch);
    for (auto row : t.range(0u, side).no_unroll()) {
      const auto four = array_of<4>([&](u32 j) {
        var<element> x(t, sums[j]);
        for (u32 i = 1; i < side; ++i) x = select(row == i, sums[i * side + j], x);
        return val<element>(t.let(x));
      });
      const place at{first.batch, t.let(first.row + row), first.column};
      finish_strip<Epilogue, Out>(t, result, lines, strip_of<1, 1, 1>(t, lines, at), four, extra...);
    }
  }
};

template <class Numbers, class Out, class Epilogue, class Parameters>
struct simt_bytes_kernel;

template <class Numbers, class Out, class Epilogue, class... Extra>
struct simt_bytes_kernel<Numbers, Out, Epilogue, epilogue_parameters<Extra...>> {
  using output = detail::output_of<Out>;
  static constexpr auto name = "matmul_simt_" + Numbers::name + "_" + epilogue_name<Epilogue>;
  static constexpr kernel_options options{.target = {70}};
  using result = typename output::template parameter<false>;
  static constexpr auto kernel = kaio::kernel<name, block_size{simt_bytes::threads}, options>(
      [](thread t, in<u8> a, val<byte_matrix> of_a, in<u8> b, val<byte_matrix> of_b, result c,
         val<simt_bytes_problem> problem, Extra... extra) {
        simt_bytes_body<Numbers, Out, Epilogue>::run(t, a, of_a, b, of_b, c, problem, extra...);
      });
};

// Launched with scheduler.tiles blocks.
template <class Numbers, class Out, class Epilogue>
inline constexpr auto simt_bytes_matmul =
    simt_bytes_kernel<Numbers, Out, Epilogue, parameters_of_epilogue<Epilogue>>::kernel;

}  // namespace kaio::ops
