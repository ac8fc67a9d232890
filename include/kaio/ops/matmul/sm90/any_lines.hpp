#pragma once
// Operands of 16 bits whose lines begin anywhere, for the main loop of sm_90a. Tensor copies need memory,
// lines and boxes that begin at multiples of 16 bytes. Eight lines together are a multiple of 16 bytes long,
// whatever the length of one. So line r and every eighth line after it form a tensor of their own. Its memory
// begins at the multiple of 16 bytes at or before line r, `shift` elements before the line.
//
//   memory   | 0 0 0 0 0 0 0 0 0 0 0 1 1 1 1 1 | 1 1 1 1 1 1 2 2 2 ...      lines of 11 elements
//   tensor 1           |<-- shift -->|                        its lines: 1, 9, 17, ...
//
// Eight copies, one per tensor, bring the tile from the multiple of 16 bytes on to a ring of raw tiles. Eight
// warps do nothing else than shift the lines, one warp per tensor, into a stage of the main loop's ring, as
// if one copy had brought them:
//
//   8 copies of lines / 8 x width   -->  raw[r]: 8 x (lines / 8) x width
//   raw[r][map][q][shift ..]        -->  stage s: line q * 8 + map, swizzled
//
// The last elements of a line follow the tile. If lines are along K, these elements are in the next tile of
// the ring, and a tile is swizzled. Otherwise the copies bring eight more elements per line. Such lines are
// no power of two and are not swizzled; on an H100 these copies write 16 bytes per clock.
//
// An operand whose lines begin at multiples of 16 bytes goes to the ring directly, in the same kernel.
//
// Matrices of a batch that begin anywhere are one tensor, if they are whole lines apart. A tile then begins
// at any line of the tensor, `slot` lines before the first one of a map. It ends where its matrix ends along
// K, not where the tensor does.

#include <kaio/ops/matmul/call/matrix_lines.hpp>
#include <kaio/ops/matmul/sm90/mainloop.hpp>

#include <array>
#include <cstdint>

namespace kaio::ops {

inline constexpr std::uint32_t any_lines_maps = 8;

// The maps of an operand in a kernel. If the operand is not raw, the first map is that of the main loop.
template <scalar T>
struct any_lines {
  tensor_map<T, 3> maps[any_lines_maps];
  val<u32> shifts;  // four bits for each map
  val<bool> is_raw;
  val<u32> lines_of_batch;  // lines from one matrix to the next if they are one tensor, else 0

  // Line `line` of a matrix in its tensor, and the matrix in the tensor's batch.
  constexpr val<u32> line_of(thread t, const val<u32>& line, const val<u32>& batch) const {
    return t.let(line + batch * lines_of_batch);
  }
  constexpr val<u32> batch_of(thread t, const val<u32>& batch) const {
    return t.let(select(lines_of_batch == 0u, batch, 0u));
  }
};

// The raw tiles of one operand.
template <scalar T, major Major, std::uint32_t Rows, std::uint32_t K>
struct any_lines_operand {
  static_assert(sizeof(T) == 2, "kaio: eight lines are a tensor where elements have 16 bits");
  static constexpr std::uint32_t lines = Major == major::k ? Rows : K;
  static constexpr std::uint32_t width = Major == major::k ? K : Rows;  // elements of a line in a tile
  static constexpr std::uint32_t of_map = lines / any_lines_maps;
  static constexpr std::uint32_t vector = 16 / sizeof(T);
  static constexpr bool continues = Major == major::k;  // lines continue in the next tile
  static constexpr std::uint32_t raw_width = continues ? width : width + vector;
  static constexpr std::uint32_t swizzle = continues ? sm90_config::row_bytes : 0;
  static constexpr std::uint32_t box[3] = {raw_width, of_map, 1};
  using layout = std::conditional_t<continues, swizzled<sm90_config::row_bytes>, dsl::row_major>;
  using tile = shared_tile<T, lines, raw_width, layout>;
  static constexpr std::uint32_t bytes = tile::bytes;
  static constexpr std::uint32_t vectors = width / vector;  // per line; neighbouring lanes move them
  static constexpr std::uint32_t at_once = 32 / vectors;    // lines that a warp moves at once
  static_assert(32 % vectors == 0 && of_map % at_once == 0 && 8 % at_once == 0);

  // The first line of a tile that begins at this row (or column) and step of K.
  static constexpr val<u32> first_line(thread t, const any_lines<T>& x, const val<u32>& row,
                                       const val<u32>& first_k, const val<u32>& batch) {
    return x.line_of(t, Major == major::k ? row : first_k, batch);
  }

  // Loads the tile whose first row (or column) is `row`, from `first_k` on.
  static constexpr void load(thread t, const tile& to, const any_lines<T>& x, const mbarrier& arrived,
                             const val<u32>& row, const val<u32>& first_k, const val<u32>& batch) {
    const val line = first_line(t, x, row, first_k, batch);
    const val<u32>& along = Major == major::k ? first_k : row;
    const val first = to.address();
    const val matrix = x.batch_of(t, batch);
    for (std::uint32_t map = 0; map < any_lines_maps; ++map)
      copy_tensor(first + map * of_map * raw_width * u32{sizeof(T)}, x.maps[map],
                  coordinates(along, (line + (any_lines_maps - 1 - map)) / any_lines_maps, matrix), arrived);
  }

  // Moves the lines of map `map` from raw stage `stage` to tile `to`, by one warp. `next`: the raw stage
  // after it; tile_at: the tile of a raw stage; slot: the map's first line in the tile; left: steps of K from
  // the tile's first one on.
  template <class TileAt, class Stage>
  static constexpr void move(thread t, const TileAt& tile_at, const val<u32>& stage, const val<u32>& next,
                             const Stage& to, const val<u32>& map, const val<u32>& slot,
                             const val<u32>& shift, const val<u32>& left) {
    const val lane = t.let(lane_id());
    const val line = t.let(lane / vectors);
    const val column = t.let(lane % vectors * vector);
    const val row = t.let(map * of_map + line);
    // The vector after each one of a line; it may be the first one of the next tile.
    const val after = continues ? t.let((column + vector) % width) : t.let(column + vector);
    const tile from = tile_at(stage);
    const tile beyond = continues ? tile_at(t.let(select(after == 0u, next, stage))) : from;
    // A swizzled address advances by multiples of eight rows: the rows in between need addresses of their
    // own.
    constexpr std::uint32_t count = of_map / at_once, places = 8 / at_once < count ? 8 / at_once : count;
    const auto source =
        array_of<places>([&](std::uint32_t i) { return from.lane(t.let(row + i * at_once), column); });
    const auto source_after =
        array_of<places>([&](std::uint32_t i) { return beyond.lane(t.let(row + i * at_once), after); });
    const val first = t.let(line * any_lines_maps + slot);
    const auto place = to.lane(first, column);
    const auto words = array_of<count>([&](std::uint32_t i) {
      const auto load_vector = [&](const auto& cell) {
        return dsl::load(dsl::place_of<ptx::access::inout, u32x4>(cell.location()));
      };
      const std::uint32_t below = i / places * places * at_once;
      const val low = load_vector(from.at(source[i % places], below));
      const val high = load_vector(beyond.at(source_after[i % places], below));
      return array_of<8>([&](std::uint32_t w) { return t.let(w < 4 ? low[w % 4] : high[w % 4]); });
    });
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t below = i * at_once * any_lines_maps;
      const auto all = shifted(t, words[i], shift);
      const auto moved = array_of<4>([&](std::uint32_t w) {
        if constexpr (continues)
          return all[w];
        else
          return val<u32>(t.let(select(first + below < left, all[w], 0u)));
      });
      const auto cell = to.at(place, below);
      dsl::place_of<ptx::access::inout, u32x4>(cell.location()) =
          make_vec(moved[0], moved[1], moved[2], moved[3]);
    }
  }

 private:
  // Four of eight words: the elements from `shift` on.
  template <class Words>
  static constexpr auto shifted(thread t, const Words& from, const val<u32>& shift) {
    const auto x =
        array_of<6>([&](u32 w) { return t.let(select((shift & 4u) != 0u, from[w + 2], from[w])); });
    const auto y = array_of<5>([&](u32 w) { return t.let(select((shift & 2u) != 0u, x[w + 1], x[w])); });
    return array_of<4>([&](u32 w) { return t.let(funnel_shift_right(y[w], y[w + 1], (shift & 1u) * 16u)); });
  }
};

// The main loop with its warps:
//   consumers | one warp that copies to the ring | one that copies raw tiles | eight that move them
template <sm90_config C, scalar T, std::uint32_t RawStages>
class any_lines_mainloop : public sm90_mainloop<C, T, false, true> {
  using base = sm90_mainloop<C, T, false, true>;
  using raw_a = any_lines_operand<T, C.a, C.m, base::k>;
  using raw_b = any_lines_operand<T, C.b, C.n, base::k>;

 public:
  using operand_a = any_lines<T>;
  using operand_b = any_lines<T>;
  // A stage of raw tiles has the tile of A, and after it that of B.
  static constexpr std::uint32_t bytes_of_a = ptx::aligned(raw_a::bytes, 1024);
  using raw_ring =
      shared_tiles<T, (bytes_of_a + ptx::aligned(raw_b::bytes, 1024)) / sm90_config::row_bytes,
                   sm90_config::row_bytes / sizeof(T), swizzled<sm90_config::row_bytes>, RawStages>;
  static constexpr bool continues = raw_a::continues || raw_b::continues;
  static constexpr std::uint32_t raw_swizzle_a = raw_a::swizzle, raw_swizzle_b = raw_b::swizzle;
  static constexpr auto& raw_box_a = raw_a::box;
  static constexpr auto& raw_box_b = raw_b::box;
  static constexpr std::uint32_t first_copier = 128 * C.consumers(), first_mover = first_copier + 64;
  static constexpr std::uint32_t threads = first_mover + 32 * any_lines_maps;
  static_assert(C.cluster_blocks() == 1 && C.depth == 1);

  constexpr any_lines_mainloop(thread t, const operand_a& a, const operand_b& b, const val<sm90_tile>& of)
      : base(t, a.maps[0], b.maps[0], base::is_second_type(t, of)),
        t_(t),
        a_(a),
        b_(b),
        raw_(t),
        raw_full_(t),
        raw_empty_(t) {}

  // Free once all tiles are moved.
  using free_ring = raw_ring;
  constexpr const free_ring& free_tiles() const { return raw_; }

  constexpr void prefetch_maps() const {
    for (const auto* x : {&a_, &b_})
      for (const auto& map : x->maps) prefetch(map);
  }
  constexpr void initialise() const {
    base::initialise(1 + any_lines_maps);
    for (std::uint32_t s = 0; s < RawStages; ++s) {
      raw_full_[s].init(1);
      raw_empty_[s].init(any_lines_maps);
    }
    fence_mbarrier_init(t_);
  }

  // One thread of each of the two copying warps.
  constexpr void copy_directly(const tile_origin& tile, const val<u32>& first,
                               const val<u32>& k_blocks) const {
    ring_position at(t_);
    const val bytes =
        t_.let(select(a_.is_raw, 0u, C.a_bytes()) + select(b_.is_raw, 0u, C.stage_bytes() - C.a_bytes()));
    const auto own = base::shares_of(tile);
    for (auto block : t_.range(0u, k_blocks)) {
      base::wait_until_empty(at);
      base::expect(at.stage, bytes);
      const val from = t_.let(first + block);
      if (auto direct = t_.when(!a_.is_raw)) base::load_a(at.stage, own, from);
      if (auto direct = t_.when(!b_.is_raw)) base::load_b(at.stage, own, from);
      at.template advance<C.stages>();
    }
  }
  constexpr void copy_raw(const tile_origin& tile, const val<u32>& first, const val<u32>& k_blocks) const {
    ring_position at(t_);
    const val bytes =
        t_.let(select(a_.is_raw, u32{raw_a::bytes}, 0u) + select(b_.is_raw, u32{raw_b::bytes}, 0u));
    for (auto block : t_.range(0u, k_blocks + (continues ? 1u : 0u))) {
      raw_empty_[at.stage].wait(at.parity ^ 1u);
      raw_full_[at.stage].arrive_expect_tx(bytes);
      const val first_k = t_.let((first + block) * base::k);
      if (auto raw = t_.when(a_.is_raw)) {
        const auto to = tile_of_raw_a(at.stage);
        raw_a::load(t_, to, a_, raw_full_[at.stage], base::row_of(tile, 0u), first_k, tile.batch);
      }
      if (auto raw = t_.when(b_.is_raw)) {
        const auto to = tile_of_raw_b(at.stage);
        raw_b::load(t_, to, b_, raw_full_[at.stage], base::column_of(tile, 0u), first_k, tile.batch);
      }
      at.template advance<RawStages>();
    }
  }

  // One warp: moves the lines of one map of each operand.
  constexpr void move(const tile_origin& tile, const val<u32>& first, const val<u32>& k_blocks,
                      const val<u32>& extent_k) const {
    const val map = t_.let((t_.thread_rank() - first_mover) / 32u);
    const val first_k = t_.let(first * base::k);
    const val slot_a = t_.let((map - raw_a::first_line(t_, a_, base::row_of(tile, 0u), first_k, tile.batch)) %
                              any_lines_maps);
    const val slot_b = t_.let(
        (map - raw_b::first_line(t_, b_, base::column_of(tile, 0u), first_k, tile.batch)) % any_lines_maps);
    const val shift_a = t_.let(a_.shifts >> (map * 4u) & 15u);
    const val shift_b = t_.let(b_.shifts >> (map * 4u) & 15u);
    const val leads = t_.let(lane_id() == 0u);
    const auto at_a = [&](const val<u32>& stage) { return tile_of_raw_a(stage); };
    const auto at_b = [&](const val<u32>& stage) { return tile_of_raw_b(stage); };
    ring_position next(t_), to(t_);
    if constexpr (continues) raw_full_[next.stage].wait(next.parity);
    for (auto block : t_.range(0u, k_blocks)) {
      const val left = t_.let(extent_k - (first_k + block * base::k));
      const val stage = next.stage;
      if constexpr (!continues) raw_full_[next.stage].wait(next.parity);
      next.template advance<RawStages>();
      if constexpr (continues) raw_full_[next.stage].wait(next.parity);
      base::wait_until_empty(to);
      const val following = next.stage;
      if (auto raw = t_.when(a_.is_raw)) {
        const auto to_tile = base::tile_of_a(to.stage);
        raw_a::move(t_, at_a, stage, following, to_tile, map, slot_a, shift_a, left);
      }
      if (auto raw = t_.when(b_.is_raw)) {
        const auto to_tile = base::tile_of_b(to.stage);
        raw_b::move(t_, at_b, stage, following, to_tile, map, slot_b, shift_b, left);
      }
      fence_proxy_async(t_);
      sync_warp(t_);
      if (auto one = t_.when(leads)) {
        base::arrive_full(to.stage);
        raw_empty_[stage].arrive();
      }
      to.template advance<C.stages>();
    }
  }

 private:
  template <class Stage>
  constexpr auto tile_of_raw_a(const Stage& stage) const {
    return raw_a::tile::over(raw_[stage]);
  }
  template <class Stage>
  constexpr auto tile_of_raw_b(const Stage& stage) const {
    return raw_b::tile::over(raw_[stage], bytes_of_a);
  }

  thread t_;
  any_lines<T> a_, b_;
  raw_ring raw_;
  mbarriers<RawStages> raw_full_, raw_empty_;
};

// The host side: the maps of matrices of at least one line. Their memory begins at a multiple of 16 bytes. So
// does each matrix, or matrices are whole lines apart.
template <class T>
struct encoded_any_lines {
  std::array<encoded_tensor_map<T, 3>, any_lines_maps> maps;
  u32 shifts = 0, is_raw = 0, lines_of_batch = 0;

  encoded_any_lines(const stream& s, matrix_lines<T> x, const std::uint32_t (&box)[3],
                    const std::uint32_t (&raw_box)[3], std::uint32_t raw_swizzle) {
    constexpr std::uint64_t align = 16;
    if (x.pitch * sizeof(T) % align == 0) {
      maps.fill(x.map(s, box, sm90_config::row_bytes));
      return;
    }
    is_raw = 1;
    if (x.batches != 1 && x.batch_pitch * sizeof(T) % align != 0) {
      lines_of_batch = static_cast<u32>(x.batch_pitch / x.pitch);
      x.lines += (x.batches - 1) * lines_of_batch;
      x.batches = 1;
    }
    for (std::uint32_t map = 0; map < any_lines_maps; ++map) {
      // Missing lines along K only feed elements that are not stored; across K there are at least eight
      // lines.
      const std::uint64_t first = map < x.lines ? map : 0;
      const std::uint64_t begin = x.memory.address + first * x.pitch * sizeof(T);
      const auto shift = static_cast<u32>(begin % align / sizeof(T));
      matrix_lines<T> own = x;
      own.memory.address = begin - begin % align;
      own.memory.count = x.memory.count - first * x.pitch + shift;
      own.length = shift + x.length;
      own.lines = (x.lines - first + any_lines_maps - 1) / any_lines_maps;
      own.pitch = any_lines_maps * x.pitch;
      maps[map] = own.map(s, raw_box, raw_swizzle);
      shifts |= shift << (4 * map);
    }
  }
};

}  // namespace kaio::ops
