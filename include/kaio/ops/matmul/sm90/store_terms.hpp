#pragma once
// The store of tile_terms.hpp on sm_90a, from the accumulators to C of 16 bits, in the panels of
// sm90_copied_store:
//
//   before the products      bias --load--> the sums, which begin there
//                            addend --tensor copy--> the first panels; the others are prefetched to L2
//   for each piece, of 32    x = activation(alpha * sum)
//   columns of a panel       x += factor * panel (ldmatrix)
//                            x --stmatrix--> panel
//   after each panel         panel --tensor copy--> C; next addend --tensor copy--> the panel that has left
//
// A product with a bias alone is then stored as one without. Registers have constant numbers, so branches
// over the pieces pick those of a piece, and a piece's code is emitted once.

#include <kaio/dsl/mma/ldmatrix.hpp>
#include <kaio/ops/matmul/common/fast_activation.hpp>
#include <kaio/ops/matmul/common/term_values.hpp>
#include <kaio/ops/matmul/common/tile_terms.hpp>
#include <kaio/ops/matmul/sm90/store.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <sm90_config C, scalar Out, class Place>
class sm90_terms_store : public sm90_copied_store<C, Out, with_terms<Out>, Place> {
  using base = sm90_copied_store<C, Out, with_terms<Out>, Place>;
  using base::columns;
  using base::panels;
  using base::turns;
  using map = tensor_map<Out, 3>;
  static constexpr std::uint32_t of_piece = 32;  // columns, one per lane
  static constexpr std::uint32_t pieces = columns / of_piece;
  static constexpr std::uint32_t sums = of_piece / 2;  // per thread
  static_assert(sizeof(Out) == 2 && columns % of_piece == 0);
  static_assert(panels == 1 || turns <= panels);

 public:
  constexpr sm90_terms_store(thread t, const map& c, const val<output_lines>& lines,
                             const val<u64>& c_address)
      : base(t, c, lines, c_address), arrived_(t), warp_(warp_rank(t)), stored_(t, 0u) {}

  // All consumer threads call it before the first tile.
  constexpr void initialise(const map& addend, const val<tile_terms>& terms) const {
    if (auto adds = this->t_.when(all_of(has_addend(terms), lane_id() == 0u))) {
      prefetch(addend);
      for (std::uint32_t i = 0; i < turns; ++i) arrived_[panel_of(i)].init(1);
      fence_mbarrier_init(this->t_);
    }
  }

  // Called before the products of a tile. Returns whether sums begin at a bias; if not, they have no value
  // yet.
  template <class Accumulator>
  constexpr val<bool> begin(Accumulator& acc, const tile_origin& tile, const map& addend,
                            const val<tile_terms>& terms) const {
    thread t = this->t_;
    if (auto adds = t.when(has_addend(terms)))
      when_panels_have_left([&] {
        for (u32 p = 0; p < panels; ++p)
          if (p < turns)
            load(addend, tile, t.let(p));
          else
            prefetch_tensor(addend, coordinates_of(tile, t.let(p)));
      });
    const val has_bias = t.let(terms[&tile_terms::bias][&matmul_term::type] != 0u);
    if (auto begins = t.when(has_bias)) begin_at_bias(acc, tile, terms);
    return has_bias;
  }

  template <class Accumulator>
  constexpr void store(const Accumulator& acc, const tile_origin& tile, const map& addend,
                       const val<tile_terms>& terms) {
    const val scaled = this->t_.let(terms[&tile_terms::is_scaled] != 0u);
    if (auto alone = this->t_.when(scaled))
      of_type(terms, [&]<class T>() { this->template store_as<T>(acc, tile, {}, addend, terms); });
    if (auto more = this->t_.otherwise())
      for (auto index : this->t_.range(0u, panels * pieces)) {
        const val piece = this->t_.let(index);
        if (auto begins = this->t_.when(piece % pieces == 0u))
          wait_for_panel(this->t_.let(piece / pieces), tile, addend, terms);
        fill(piece, acc, terms);
        if (auto ends = this->t_.when(piece % pieces == pieces - 1))
          store_panel_of(this->t_.let(piece / pieces), tile);
      }
  }

 private:
  // Calls f for the type of C's elements.
  template <class F>
  constexpr void of_type(const val<tile_terms>& terms, const F& f) const {
    if constexpr (C.type_by_launch) {
      if (auto second = this->t_.when(terms[&tile_terms::is_bf16] != 0u))
        f.template operator()<sm90_second_type<Out>>();
      if (auto first = this->t_.otherwise()) f.template operator()<Out>();
    } else {
      f.template operator()<Out>();
    }
  }
  constexpr val<bool> is_f16(const val<tile_terms>& terms) const {
    if constexpr (C.type_by_launch)
      return this->t_.let(terms[&tile_terms::is_bf16] == 0u);
    else
      return val<bool>(std::is_same_v<Out, f16>);
  }

  // Sets the sums of a tile to the bias of their columns. A lane loads one column of 32. Shuffles bring it
  // the columns of its sums, two neighbours of each eight. Columns outside C get the bias of the last one.
  template <class Accumulator>
  constexpr void begin_at_bias(Accumulator& acc, const tile_origin& tile,
                               const val<tile_terms>& terms) const {
    constexpr u32 warp = 32, blocks = C.n / warp;
    thread t = this->t_;
    const auto& bias = terms[&tile_terms::bias];
    const val type = t.let(bias[&matmul_term::type]);
    const val is_single = t.let(type == static_cast<u32>(term_type::f32));
    const val size = t.let(select(is_single, u64{4}, u64{2}));
    const val of_batch = t.let(bias[&matmul_term::address] +
                               cast<u64>(tile.batch) * cast<u64>(bias[&matmul_term::batch]) * size);
    const val last = t.let(this->lines_[&output_lines::columns] - 1u);
    const auto address = array_of<blocks>([&](u32 i) {
      const val column = t.let(min(first_of(tile, t.let(i * warp)).column.at + lane_id(), last));
      return t.let(of_batch + cast<u64>(column) * size);
    });
    auto own = array_of<blocks>([&](u32) { return var(t, 0.0f); });
    if (auto single = t.when(is_single))
      for (u32 i = 0; i < blocks; ++i) own[i] = pointer_at<in<f32>>(t, address[i])[0];
    if (auto half = t.otherwise()) {
      const val of_f16 = t.let(type == static_cast<u32>(term_type::f16));
      const auto bits = array_of<blocks>([&](u32 i) { return t.let(pointer_at<in<u16>>(t, address[i])[0]); });
      for (u32 i = 0; i < blocks; ++i)
        own[i] = select(of_f16, cast<f32>(bit_cast<f16>(bits[i])), bit_cast<f32>(cast<u32>(bits[i]) << 16));
    }
    const val factor = t.let(terms[&tile_terms::bias_factor]);
    const val pair = t.let(lane_id() % 4u * 2u);
    for (u32 i = 0; i < blocks; ++i) {
      const val scaled = t.let(own[i] * factor);
      for (u32 eight = 0; eight < warp; eight += 8) {
        const auto both =
            array_of<2>([&](u32 j) { return t.let(shfl_idx(scaled, t.let(pair + (eight + j)))); });
        for (u32 j = 0; j < 4; ++j) acc[(i * warp + eight) / 2 + j] = both[j % 2];
      }
    }
  }

  // Waits until the previous store from the panel has read it, or until the addend is there.
  constexpr void wait_for_panel(const val<u32>& p, const tile_origin& tile, const map& addend,
                                const val<tile_terms>& terms) const {
    thread t = this->t_;
    if (auto adds = t.when(has_addend(terms))) {
      const val next = t.let(p + (turns - 1));
      if (auto loads = t.when(all_of(p != 0u, next < panels)))
        when_panels_have_left([&] { load(addend, tile, next); });
      arrived_[panel_of(p % turns)].wait(t.let(stored_ / turns & 1u));
    }
    if (auto alone = t.otherwise())
      if (auto leader = t.when(lane_id() == 0u)) bulk_wait_group_read<turns - 1>(t);
    sync_warp(t);
  }

  template <class Accumulator>
  constexpr void fill(const val<u32>& piece, const Accumulator& acc, const val<tile_terms>& terms) const {
    thread t = this->t_;
    auto x = array_of<sums>([&](u32) { return var(t, 0.0f); });
    choose<0, panels * pieces>(piece, acc, x);
    const val alpha = t.let(terms[&tile_terms::alpha]);
    for (u32 i = 0; i < sums; ++i) x[i] *= alpha;
    activate(x, t.let(terms[&tile_terms::activation]));
    const auto staged = this->staging_[panel_of(piece / pieces % turns)];
    const val row = t.let(lane_id() % 16u);
    const val column = t.let(piece % pieces * of_piece + lane_id() / 16u * 8u);
    const auto address =
        array_of<of_piece / 16>([&](u32 i) { return staged.row_address(row, t.let(column + 16 * i)); });
    if (auto adds = t.when(has_addend(terms))) {
      const val<bool> of_f16 = is_f16(terms);
      const val factor = t.let(terms[&tile_terms::factor]);
      for (u32 i = 0; i < sums; i += 8) {
        const auto words = ldmatrix_x4(address[i / 8]);
        for (u32 j = 0; j < 8; ++j)
          x[i + j] = fma(factor, number_of_half(t, of_f16, t.let(words[j / 2]), j % 2), x[i + j]);
      }
    }
    of_type(terms, [&]<class T>() {
      using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
      for (u32 i = 0; i < sums; i += 8) {
        const auto packed =
            array_of<4>([&](u32 j) { return t.let(pack<pair>(x[i + 2 * j], x[i + 2 * j + 1])); });
        stmatrix_x4(address[i / 8], packed[0], packed[1], packed[2], packed[3]);
      }
    });
  }

  // Copies the sums of `piece`, which is from First to Last - 1, to x.
  template <u32 First, u32 Last, class Accumulator>
  constexpr void choose(const val<u32>& piece, const Accumulator& acc,
                        dsl::register_array<var<f32>, sums>& x) const {
    if constexpr (Last - First == 1) {
      for (u32 i = 0; i < sums; ++i) x[i] = acc[First * sums + i];
    } else {
      constexpr u32 middle = (First + Last) / 2;
      if (auto before = this->t_.when(piece < middle)) choose<First, middle>(piece, acc, x);
      if (auto after = this->t_.otherwise()) choose<middle, Last>(piece, acc, x);
    }
  }

  constexpr void activate(dsl::register_array<var<f32>, sums>& x, const val<u32>& which) const {
    thread t = this->t_;
    const auto apply = [&](matmul_activation name, const auto& function) {
      if (auto is = t.when(which == static_cast<u32>(name)))
        for (u32 i = 0; i < sums; ++i) x[i] = function(t, t.let(x[i]));
    };
    if (auto any = t.when(which != 0u)) {
      apply(matmul_activation::relu, fast_activation::relu{});
      apply(matmul_activation::gelu, fast_activation::gelu{});
      apply(matmul_activation::gelu_tanh, fast_activation::gelu_tanh{});
      apply(matmul_activation::silu, fast_activation::silu{});
    }
  }

  constexpr void store_panel_of(const val<u32>& p, const tile_origin& tile) {
    thread t = this->t_;
    fence_proxy_async(t);
    sync_warp(t);
    store_panel<sm90_warp_rows, columns>(t, this->map_, this->c_address_, this->lines_, tile.batch,
                                         first_of(tile, t.let(p * columns)),
                                         this->staging_[panel_of(p % turns)]);
    stored_ += 1u;
  }

  // Calls f by one lane, after copies and lanes have read what was stored.
  template <class F>
  constexpr void when_panels_have_left(const F& f) const {
    sync_warp(this->t_);
    if (auto leader = this->t_.when(lane_id() == 0u)) {
      bulk_wait_group_read<0>(this->t_);
      f();
    }
  }
  // One lane calls it: loads the addend of a panel.
  constexpr void load(const map& addend, const tile_origin& tile, const val<u32>& p) const {
    const val panel = panel_of(p % turns);
    arrived_[panel].arrive_expect_tx(sm90_warp_rows * base::row_bytes);
    const auto to = this->staging_[panel];
    const auto from = coordinates_of(tile, p);
    copy_tensor(to, addend, from, arrived_[panel]);
  }
  constexpr auto coordinates_of(const tile_origin& tile, const val<u32>& p) const {
    const Place first = first_of(tile, this->t_.let(p * columns));
    return coordinates(first.column.at, first.row.at, tile.batch);
  }
  constexpr Place first_of(const tile_origin& tile, const val<u32>& column) const {
    return Place(this->t_, tile, this->t_.let(warp_ * sm90_warp_rows), column);
  }
  // The index of a panel of this warp.
  template <class Turn>
  constexpr val<u32> panel_of(const Turn& turn) const {
    return this->t_.let(warp_ * turns + turn);
  }
  static constexpr auto has_addend(const val<tile_terms>& terms) {
    return terms[&tile_terms::has_addend] != 0u;
  }

  mbarriers<4 * turns * C.consumers()> arrived_;
  val<u32> warp_;
  var<u32> stored_;  // number of panels
};

}  // namespace kaio::ops
