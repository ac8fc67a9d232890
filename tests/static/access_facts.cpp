// Bank conflicts and coalescing are computed from a kernel's instructions, and can be asked while compiling.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

// --- shared memory

// A block of 32 x 8 transposes a tile of 32 x 32, whose rows take Pitch elements.
template <u32 Pitch>
inline constexpr auto transpose = kernel<"transpose", block_size{32, 8}>(
    [](thread t, in<f32> x, out<f32> y, val<u32> width, val<u32> height) {
      shared<f32, 32, Pitch> tile(t);
      for (auto k : t.range(0u, 32u, 8u))
        tile[thread_idx_y() + k][thread_idx_x()] =
            x[(block_idx_y() * 32 + thread_idx_y() + k) * width + block_idx_x() * 32 + thread_idx_x()];
      t.barrier();
      for (auto k : t.range(0u, 32u, 8u))
        y[(block_idx_x() * 32 + thread_idx_y() + k) * height + block_idx_y() * 32 + thread_idx_x()] =
            tile[thread_idx_x()][thread_idx_y() + k];
    });
static_assert(transpose<33>.bank_conflicts() == 0);
static_assert(transpose<33>.coalesced());
static_assert(transpose<33>.accesses_known());
static_assert(transpose<32>.bank_conflicts() == 31);
static_assert(transpose<32>.coalesced());
static_assert(transpose<34>.bank_conflicts() == 1);
static_assert(transpose<36>.bank_conflicts() == 3);

// In the order of the text, each with its kind.
static_assert(transpose<32>.accesses().size() == 4);
static_assert(!transpose<32>.accesses()[0].shared &&
              transpose<32>.accesses()[0].kind == ptx::access_kind::load);
static_assert(transpose<32>.accesses()[1].shared &&
              transpose<32>.accesses()[1].kind == ptx::access_kind::store);
static_assert(transpose<32>.accesses()[1].conflicts == 0);
static_assert(transpose<32>.accesses()[2].conflicts == 31);
static_assert(transpose<32>.accesses()[3].sectors == 4 && transpose<32>.accesses()[3].ideal == 4);

// One store to a shared array at the index that Index gives, for each way to index.
template <class T, class Block, class Index>
constexpr auto store_at_index(Block, Index) {
  return kernel<"store_at_index", Block::size>([](thread t, val<T> v) {
    shared<T, 2048> a(t);
    a[Index{}(t)] = v;
  });
}
template <block_size Size>
struct in_block {
  static constexpr block_size size = Size;
};
inline constexpr in_block<32> one_warp;
inline constexpr in_block<block_size{16, 16}> square;
inline constexpr in_block<block_size{8, 8, 4}> cube;
inline constexpr in_block<block_size{32, 32}> full;
inline constexpr in_block<40> ragged;  // its second warp has 8 lanes

template <class T, class Block, class Index>
constexpr u32 conflicts(Block block, Index index) {
  constexpr auto made = store_at_index<T>(Block{}, Index{});
  static_cast<void>(block);
  static_cast<void>(index);
  static_assert(made.accesses_known());
  return made.bank_conflicts();
}

inline constexpr auto row = [](thread t) { return t.let(thread_idx_x()); };
inline constexpr auto strided = [](thread t) { return t.let(thread_idx_x() * 2); };
inline constexpr auto strided_4 = [](thread t) { return t.let(thread_idx_x() * 4); };
inline constexpr auto odd = [](thread t) { return t.let(thread_idx_x() * 5); };
inline constexpr auto broadcast = [](thread t) { return t.let(thread_idx_x() >> 5); };
inline constexpr auto pairs = [](thread t) { return t.let(thread_idx_x() >> 1); };
inline constexpr auto shifted = [](thread t) { return t.let(thread_idx_x() + block_idx_x() * 3); };
inline constexpr auto reversed = [](thread t) { return t.let(31 - lane_id()); };
inline constexpr auto by_column = [](thread t) { return t.let(thread_idx_x() * 16 + thread_idx_y()); };
inline constexpr auto padded_column = [](thread t) { return t.let(thread_idx_x() * 17 + thread_idx_y()); };
inline constexpr auto swizzled_column = [](thread t) {
  return t.let(thread_idx_x() * 32 + (thread_idx_x() ^ thread_idx_y()));
};
inline constexpr auto unswizzled_column = [](thread t) {
  return t.let(thread_idx_x() * 32 + thread_idx_y());
};
inline constexpr auto by_rank = [](thread t) { return t.thread_rank(); };
inline constexpr auto by_slice = [](thread t) { return t.let(thread_idx_x() * 64 + thread_idx_y()); };
inline constexpr auto divided = [](thread t) {
  return t.let(thread_idx_x() / 3u * 32 + thread_idx_x() % 3u);
};
inline constexpr auto signed_row = [](thread t) { return t.let(cast<i32>(thread_idx_x()) * -33 + 1056); };
inline constexpr auto mirrored = [](thread t) { return t.let(brev(thread_idx_x()) >> 27); };

static_assert(conflicts<f32>(one_warp, row) == 0);
static_assert(conflicts<f32>(one_warp, strided) == 1);
static_assert(conflicts<f32>(one_warp, strided_4) == 3);
static_assert(conflicts<f32>(one_warp, odd) == 0);
static_assert(conflicts<f32>(one_warp, broadcast) == 0);
static_assert(conflicts<f32>(one_warp, pairs) == 0);
static_assert(conflicts<f32>(one_warp, shifted) == 0);
static_assert(conflicts<f32>(one_warp, reversed) == 0);
static_assert(conflicts<f32>(one_warp, signed_row) == 0);
static_assert(conflicts<f32>(one_warp, mirrored) == 0);
static_assert(conflicts<f32>(one_warp, divided) == 10);  // 11 rows of 3 words
static_assert(conflicts<f32>(ragged, row) == 0);
static_assert(conflicts<f32>(ragged, strided) == 1);

// Lanes of a warp in blocks of more dimensions: 2 rows of 16, 4 rows of 8.
static_assert(conflicts<f32>(square, by_column) == 7);  // 4 banks, 8 words in each
static_assert(conflicts<f32>(square, padded_column) == 1);
static_assert(conflicts<f32>(square, by_rank) == 0);
static_assert(conflicts<f32>(cube, by_rank) == 0);
static_assert(conflicts<f32>(cube, by_slice) == 7);
static_assert(conflicts<f32>(full, unswizzled_column) == 31);
static_assert(conflicts<f32>(full, swizzled_column) == 0);

// 8 bytes a lane go by half warps; bytes share words.
static_assert(conflicts<f64>(one_warp, row) == 0);
static_assert(conflicts<f64>(one_warp, strided) == 2);
static_assert(conflicts<f64>(one_warp, odd) == 0);
static_assert(conflicts<u8>(one_warp, row) == 0);
static_assert(conflicts<u8>(one_warp, strided_4) == 0);
static_assert(conflicts<u16>(one_warp, strided_4) == 1);

// 16 bytes a lane go by quarters of a warp.
template <u32 Step>
inline constexpr auto vectors = kernel<"vectors", 32>([](thread t, in<f32x4> x) {
  shared<f32x4, 128> a(t);
  a[thread_idx_x() * Step] = x[thread_idx_x() * Step];
});
static_assert(vectors<1>.bank_conflicts() == 0);
static_assert(vectors<1>.coalesced());
static_assert(vectors<1>.accesses()[0].bytes == 16 && vectors<1>.accesses()[0].sectors == 16);
static_assert(vectors<2>.bank_conflicts() == 4);
static_assert(!vectors<2>.coalesced());
static_assert(vectors<2>.accesses()[0].sectors == 32 && vectors<2>.accesses()[0].ideal == 16);

// --- global memory

template <class T, block_size Block, class Index>
constexpr ptx::access_fact load_at(Index) {
  constexpr auto made = kernel<"load_at", Block>(
      [](thread t, in<T> x, out<T> y, val<u32> n) { y[block_idx_x()] = x[Index{}(t, n)]; });
  return made.accesses()[0];
}
constexpr bool touches(const ptx::access_fact& fact, u32 sectors, u32 ideal) {
  return fact.known && fact.sectors == sectors && fact.ideal == ideal &&
         fact.coalesced() == (sectors == ideal);
}

inline constexpr auto global = [](thread t, val<u32>) { return t.global_id(); };
inline constexpr auto next = [](thread t, val<u32>) { return t.let(t.global_id() + 1); };
inline constexpr auto global_strided = [](thread t, val<u32>) { return t.let(t.global_id() * 2); };
inline constexpr auto in_row = [](thread t, val<u32> n) { return t.let(block_idx_y() * n + t.global_id()); };
inline constexpr auto global_column = [](thread t, val<u32>) {
  return t.let(thread_idx_x() * 1024 + thread_idx_y());
};
inline constexpr auto same_for_all = [](thread t, val<u32> n) { return t.let(n * 3 + block_idx_x()); };
inline constexpr auto in_block_row = [](thread t, val<u32>) {
  return t.let(thread_idx_y() * 100 + thread_idx_x());
};
inline constexpr auto by_width = [](thread t, val<u32> n) { return t.let(thread_idx_x() * n); };
inline constexpr auto masked = [](thread t, val<u32>) { return t.let(t.global_id() & 31); };
inline constexpr auto eighth = [](thread t, val<u32>) { return t.let(t.global_id() >> 3); };
inline constexpr auto exchanged = [](thread t, val<u32>) { return t.let(t.global_id() ^ 1); };
inline constexpr auto clamped = [](thread t, val<u32> n) { return t.let(min(t.global_id(), n)); };
inline constexpr auto wide = [](thread t, val<u32>) { return t.global_id<u64>(); };
inline constexpr auto below = [](thread t, val<u32>) { return t.let(cast<i32>(t.global_id()) - 8); };

static_assert(touches(load_at<f32, 256>(global), 4, 4));
static_assert(touches(load_at<f64, 256>(global), 8, 8));
static_assert(touches(load_at<u8, 256>(global), 1, 1));
static_assert(touches(load_at<f32, 256>(next), 5, 4));
static_assert(touches(load_at<f32, 256>(global_strided), 8, 4));
static_assert(touches(load_at<f32, 256>(in_row), 4, 4));
static_assert(touches(load_at<f32, 256>(global_column), 32, 4));
static_assert(touches(load_at<f64, block_size{16, 16}>(global_column), 16, 8));
static_assert(touches(load_at<f32, 256>(same_for_all), 1, 1));
static_assert(touches(load_at<f32, block_size{8, 8, 4}>(in_block_row), 6, 4));  // rows of 400 bytes
static_assert(touches(load_at<f32, 256>(masked), 4, 4));
static_assert(touches(load_at<f32, 256>(eighth), 1, 1));
static_assert(touches(load_at<f32, 256>(exchanged), 4, 4));
static_assert(touches(load_at<f32, 256>(wide), 4, 4));
static_assert(touches(load_at<f32, 256>(below), 4, 4));
static_assert(touches(load_at<f32, 40>(global), 4, 4));
static_assert(!load_at<f32, 256>(by_width).known);
static_assert(!load_at<f32, 256>(clamped).known);

// An index from memory is not known where lanes load different ones.
inline constexpr auto gather = kernel<"gather", 64>([](thread t, in<u32> from, in<f32> x, out<f32> y) {
  val i = t.global_id();
  y[i] = x[from[i]] + x[from[block_idx_x()] + i];
});
static_assert(!gather.accesses_known());
static_assert(!gather.coalesced());
static_assert(gather.accesses()[0].coalesced());
static_assert(!gather.accesses()[1].known);
static_assert(gather.accesses()[3].coalesced());
static_assert(gather.accesses()[4].kind == ptx::access_kind::store && gather.accesses()[4].coalesced());

// Atomic operations.
inline constexpr auto histogram = kernel<"histogram", 64>([](thread t, in<u32> x, inout<u32> bins) {
  val i = t.global_id();
  val slot = atomic_add(bins[i], 1u);
  atomic_add(bins[slot], x[i]);
});
static_assert(histogram.accesses()[0].kind == ptx::access_kind::atomic &&
              histogram.accesses()[0].coalesced());
static_assert(!histogram.accesses()[2].known);

// --- control flow

// A counter that starts at the thread and steps by the size of the block.
inline constexpr auto strides = kernel<"strides", 256>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  shared<f32, 256> a(t);
  for (auto k : t.range(t.thread_rank(), n, 256u)) y[k] = x[k];
  var i = t.thread_rank();
  for (auto l : t.loop()) {
    l.break_if(i >= n);
    a[i & 255] = x[i];
    i += 256u;
  }
});
static_assert(strides.accesses_known());
static_assert(strides.coalesced());
static_assert(strides.bank_conflicts() == 0);

// A step that differs between lanes.
inline constexpr auto uneven = kernel<"uneven", 32>([](thread t, out<f32> y, val<u32> n) {
  for (auto k : t.range(0u, n, t.thread_rank() + 1)) y[k] = 1.0f;
});
static_assert(!uneven.accesses_known());

// A tree of halves, as in a reduction.
inline constexpr auto tree = kernel<"tree", 256>([](thread t, in<f32> x, out<f32> y) {
  shared<f32, 256> a(t);
  val i = t.thread_rank();
  a[i] = x[t.global_id()];
  var half = t.let(block_dim_x() >> 1);
  for (auto l : t.loop()) {
    t.barrier();
    if (auto lower = t.when(i < half)) a[i] += a[i + half];
    half = half >> 1;
    l.break_if(half == 0);
  }
  if (auto first = t.when(i == 0)) y[block_idx_x()] = a[0];
});
static_assert(tree.accesses_known());
static_assert(tree.bank_conflicts() == 0);

// After lanes have gone different ways, what they wrote there differs; while they go, it does not.
template <class Condition>
constexpr auto branching(Condition) {
  return kernel<"branching", 64>([](thread t, out<f32> y, val<u32> n) {
    var i = t.thread_rank();
    if (auto some = t.when(Condition{}(t, n))) {
      i += 32u;
      y[i] = 1.0f;
    }
    y[i] = 2.0f;
  });
}
inline constexpr auto odd_lanes =
    branching([](thread t, val<u32>) { return t.let((thread_idx_x() & 1) == 1); });
static_assert(odd_lanes.accesses()[0].known);
static_assert(!odd_lanes.accesses()[1].known);
inline constexpr auto lanes_in_range =
    branching([](thread t, val<u32> n) { return t.let(thread_idx_x() < n); });
static_assert(!lanes_in_range.accesses()[1].known);
inline constexpr auto odd_blocks =
    branching([](thread t, val<u32>) { return t.let((block_idx_x() & 1) == 1); });
static_assert(odd_blocks.coalesced());
inline constexpr auto second_warp = branching([](thread t, val<u32>) { return t.let(thread_idx_x() >= 32); });
static_assert(second_warp.coalesced());

// The number of rounds differs between lanes: in the loop the counter is known, after it not.
inline constexpr auto leaving = kernel<"leaving", 64>([](thread t, out<f32> y, val<u32> n) {
  var i = t.thread_rank();
  for (auto l : t.loop()) {
    l.break_if(i >= n);
    y[i] = 1.0f;
    i += 64u;
  }
  y[i] = 2.0f;
});
static_assert(leaving.accesses()[0].coalesced());
static_assert(!leaving.accesses()[1].known);

// In a guarded body, the counter is known if an outer loop begins it anew each time.
inline constexpr auto nested = kernel<"nested", 64>([](thread t, out<f32> y, val<u32> n) {
  for (auto k : t.range(0u, n))
    if (auto some = t.when(thread_idx_x() < n))
      for (auto i : t.range(t.thread_rank(), n, 64u)) y[k * 64 + i] = 1.0f;
});
static_assert(nested.coalesced());
inline constexpr auto carried = kernel<"carried", 64>([](thread t, out<f32> y, val<u32> n) {
  var i = t.thread_rank();
  for (auto k : t.range(0u, n))
    if (auto some = t.when(thread_idx_x() < k)) {
      y[i] = 1.0f;
      i += 64u;
    }
});
static_assert(!carried.accesses()[0].known);
inline constexpr auto otherwise = kernel<"otherwise", 64>([](thread t, out<f32> y) {
  var i = t.let(block_idx_x());
  if (auto some = t.when(thread_idx_x() < 7)) y[0] = 1.0f;
  if (auto rest = t.otherwise()) i += 1u;
  y[i] = 1.0f;
});
static_assert(!otherwise.accesses_known());

// A choice between two indices.
inline constexpr auto chosen = kernel<"chosen", 32>([](thread t, out<f32> y, val<u32> n) {
  val i = t.thread_rank();
  y[select(n > 3, i, i + 32)] = 1.0f;
  y[select(i < 16, i, i + 16)] = 1.0f;
  y[select(i < n, i, i + 16)] = 1.0f;
});
static_assert(chosen.accesses()[0].coalesced());
static_assert(touches(chosen.accesses()[1], 4, 4));
static_assert(!chosen.accesses()[2].known);

// A value that one lane gives to all.
inline constexpr auto given = kernel<"given", 32>([](thread t, in<u32> from, out<f32> y) {
  val mine = from[t.global_id()];
  y[shfl_idx(mine, 0u) + thread_idx_x()] = 1.0f;
  y[shfl_xor(mine, 1u)] = 1.0f;
});
static_assert(given.accesses()[1].coalesced());
static_assert(!given.accesses()[2].known);

// A kernel without accesses has nothing to lose.
inline constexpr auto empty = kernel<"empty", 64>([](thread) {});
static_assert(empty.accesses().size() == 0);
static_assert(empty.bank_conflicts() == 0 && empty.coalesced() && empty.accesses_known());

// A kernel of some hundred accesses stays within the compilers' default limits.
inline constexpr auto large = kernel<"large", 256>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  shared<f32, 2048> a(t);
  val i = t.global_id();
  for (u32 k = 0; k < 64; ++k) {
    a[(t.thread_rank() * 3 + k * 5) & 1023] = x[(i + k * n) & 0xffffff];
    y[i + k * n] = a[(t.thread_rank() ^ k)];
  }
});
static_assert(large.needs().instructions > 500);
static_assert(large.accesses().size() == 256);
static_assert(large.bank_conflicts() == 0);
