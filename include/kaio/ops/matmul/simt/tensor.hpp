#pragma once
// The f32 matmul kernel of simt/kernel.hpp for sm_90 and later, fed by tensor copies. One thread asks for
// whole tiles; the copy engine computes addresses, swizzles, and zeros beyond the edges. Mbarriers replace
// the block's barrier, so that the warps of a block need not march in step.
//
//   tile of major::k     `m` (or `n`) rows of k numbers, swizzled so that 8 rows use all banks
//   tile of major::mn    k rows of `m` (or `n`) numbers, as they are
//
// Lines of A and B begin at multiples of 16 bytes; their extents are arbitrary.

#include <kaio/ops/matmul/simt/block.hpp>
#include <kaio/ops/matmul/simt/store.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The tiles of one operand and the pieces that a thread reads of them.
template <std::uint32_t Extent, std::uint32_t K, std::uint32_t Stages, major Major, std::uint32_t Lanes>
class simt_tensor_operand {
  using rows = simt_rows<Major, Lanes>;
  static constexpr bool along_k = rows::along_k;
  static constexpr std::uint32_t line_bytes = K * sizeof(f32);
  static_assert(!along_k || line_bytes == 32 || line_bytes == 64 || line_bytes == 128,
                "kaio: a line of k is as long as a swizzle: 8, 16 or 32 numbers");
  static_assert(Extent <= 256, "kaio: a box of a tensor map has at most 256 rows");

 public:
  using tiles =
      std::conditional_t<along_k, shared_tiles<f32, Extent, K, swizzled<along_k ? line_bytes : 32>, Stages>,
                         shared_tiles<f32, K, Extent, row_major, Stages>>;
  using tile = typename tiles::tile_type;
  // The box of a copy, innermost dimension first, and its swizzle.
  static constexpr std::uint32_t box[3] = {along_k ? K : Extent, along_k ? Extent : K, 1};
  static constexpr std::uint32_t swizzle_bytes = along_k ? line_bytes : 0;

  // `first`: the thread's first row in its block.
  constexpr simt_tensor_operand(thread t, const val<u32>& first)
      : t_(t), ring_(t), lanes_(array_of<lane_count>([&](std::uint32_t i) {
          if constexpr (along_k)
            return ring_.lane(t.let(first + Lanes * i), 0u, 4);
          else
            return ring_.lane(0u, first);
        })) {}

  // Copies rows from `row` on and steps of k from `k` on into a stage.
  template <class Map>
  constexpr void copy(const Map& map, const val<u32>& row, const val<u32>& k, const val<u32>& batch,
                      const val<u32>& stage, const dsl::mbarrier& full) const {
    if constexpr (along_k)
      copy_tensor(ring_[stage], map, coordinates(k, row, batch), full);
    else
      copy_tensor(ring_[stage], map, coordinates(row, k, batch), full);
  }

  constexpr tile operator[](const val<u32>& stage) const { return ring_[stage]; }
  // Piece `p` of the four steps from `k` on. In a swizzled tile an address advances by 8 rows at a time.
  constexpr val<f32x4> load(const tile& of, std::uint32_t k, std::uint32_t p) const {
    const std::uint32_t row = rows::row_of_piece(p);
    if constexpr (along_k)
      return load_vec<4>(of.at(lanes_[row % 8 / Lanes], row / 8 * 8, k));
    else
      return load_vec<4>(of.at(lanes_[0], k + rows::k_of_piece(p), row));
  }

 private:
  static constexpr std::uint32_t lane_count = along_k && Lanes < 8 ? 8 / Lanes : 1;
  thread t_;
  tiles ring_;
  dsl::register_array<typename tiles::lane_type, lane_count> lanes_;
};

template <simt_config C, scalar Out, class Epilogue>
struct simt_tensor_body {
  using block = simt_block<C>;
  using operand_a = simt_tensor_operand<C.m, C.k, C.stages, C.a, C.lanes_m>;
  using operand_b = simt_tensor_operand<C.n, C.k, C.stages, C.b, C.lanes_n>;
  static constexpr std::uint32_t stage_bytes = operand_a::tile::bytes + operand_b::tile::bytes;
  static_assert(C.groups == 1, "kaio: tiles that tensor copies bring are multiplied by one group of warps");
  static_assert(C.stages >= 3,
                "kaio: a ring of three stages or more: one is read, one may still be, one is filled");
  // A stage is filled again this many tiles after it was read; by then a warp hardly ever still reads it.
  static constexpr std::uint32_t slack = 2;

  template <class... Extra>
  static constexpr void run(thread t, const tensor_map<f32, 3>& a_map, const tensor_map<f32, 3>& b_map,
                            const out<Out>& c_memory, const val<simt_problem>& problem,
                            const Extra&... extra) {
    // K has no splits except those of a cluster, so a part is a batch.
    const typename block::origin at = block::find(t, problem);
    const typename block::lanes first = block::lanes_of(t);
    const operand_a a(t, first.row);
    const operand_b b(t, first.column);
    const pipeline<C.stages> ring(t);
    const val producer = t.let(t.thread_rank() == 0u);
    if (auto one = t.when(producer)) {
      prefetch(a_map);
      prefetch(b_map);
      ring.init(1u, C.threads() / 32);
    }
    t.barrier();

    if constexpr (C.clusters) grid_dependency_wait(t);
    auto filled = ring.producer(t);
    const auto copy = [&](const val<u32>& k) {
      if (auto some = t.when(k < at.k_last)) {
        filled.acquire_expect(stage_bytes);
        a.copy(a_map, at.row, k, at.part, filled.stage(), filled.full());
        b.copy(b_map, at.column, k, at.part, filled.stage(), filled.full());
        filled.advance();
      }
    };
    if (auto one = t.when(producer)) {
      for (std::uint32_t s = 0; s + slack < C.stages; ++s) copy(t.let(at.k_first + s * C.k));
    }

    auto sums = block::zeros(t);
    auto read = ring.consumer(t);
    for (auto k : t.range(at.k_first, at.k_last, C.k)) {
      if (auto one = t.when(producer)) copy(t.let(k + (C.stages - slack) * C.k));
      read.wait();
      const auto tile_a = a[read.stage()];
      const auto tile_b = b[read.stage()];
      block::multiply([&](std::uint32_t j, std::uint32_t p) { return a.load(tile_a, j, p); },
                      [&](std::uint32_t j, std::uint32_t p) { return b.load(tile_b, j, p); }, sums);
      sync_warp(t);
      if (auto one = t.when(lane_id() == 0u)) read.release();
      read.advance();
    }
    const val offset = t.let(cast<i64>(at.part) * problem[&simt_problem::batch_c]);
    const val row = t.let(at.row + first.row), column = t.let(at.column + first.column);
    const simt_output to{at.part, row, column, t.let(std::is_same_v<Out, f32>), offset};
    const auto memory = [&](const auto& f) { f(c_memory); };
    store_simt_sums<C, Epilogue>(t, to, memory, problem, sums, extra...);
  }
};

template <simt_config C, scalar Out, class Epilogue, class Parameters>
struct simt_tensor_kernel;

template <simt_config C, scalar Out, class Epilogue, class... Extra>
struct simt_tensor_kernel<C, Out, Epilogue, epilogue_parameters<Extra...>> {
  static constexpr auto kernel =
      kaio::kernel<"matmul_simt_tensor_" + simt_name<C> + "_" + type_name<Out> + "_" +
                       epilogue_name<Epilogue>,
                   block_size{C.threads()},
                   kernel_options{.target = {90}, .large_shared = true, .min_blocks = C.min_blocks}>(
          [](thread t, tensor_map<f32, 3> a, tensor_map<f32, 3> b, out<Out> c, val<simt_problem> problem,
             Extra... extra) { simt_tensor_body<C, Out, Epilogue>::run(t, a, b, c, problem, extra...); });
};

// Launched as simt_matmul is, but with tensor maps of A and B. Their dimensions are the numbers of a line,
// the lines and the batches. The kernel ignores lda, ldb and the batch strides of A and B. The boxes of the
// maps: simt_tensor_body<C, Out, Epilogue>::operand_a::box, swizzle_bytes; operand_b likewise.
template <simt_config C, scalar Out, class Epilogue>
inline constexpr auto simt_tensor_matmul =
    simt_tensor_kernel<C, Out, Epilogue, parameters_of_epilogue<Epilogue>>::kernel;

}  // namespace kaio::ops
