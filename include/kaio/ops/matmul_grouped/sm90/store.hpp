#pragma once
// The stores of a grouped product for sm_90a: results of the operands' type by tensor copies, others by threads. A
// panel with rows of the next group is stored by threads too, own rows alone.

#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/sm90/store.hpp>
#include <kaio/ops/matmul_grouped/common/gate.hpp>
#include <kaio/ops/matmul_grouped/common/terms.hpp>

#include <type_traits>

namespace kaio::ops {

// Adds the bias to registers `First` to `First + Count - 1`, whose columns begin with `first` of the tile. Columns are
// inside C in runs of eight.
template <std::uint32_t First, std::uint32_t Count, class Place, class Accumulator, class Bias>
constexpr void add_bias(thread t, Accumulator& acc, const tile_origin& tile, const val<u32>& first,
                        const val<u32>& columns, const Bias& bias) {
  const val address = t.let(bias[&grouped_bias::address]);
  if (auto some = t.when(address != 0u)) {
    const val line = t.let(address + cast<u64>(cast<i64>(tile.batch) * bias[&grouped_bias::group]) * u64{4});
    constexpr u32 of_tile = 2 * Count, part = of_tile < 64 ? of_tile : 64;  // a part of a tile, or less
    for (u32 c = 0; c < of_tile; c += part) {
      const val column = t.let(Place(t, tile, 0u, t.let(first + c)).column.at);
      const val left = t.let(columns - min(column, columns));
      const in<f32> terms =
          pointer_at<in<f32>>(t, t.let(line + mul_wide(t.let(column + lane_id() % 4u * 2u), 4u)));
      for (u32 j = 0; j < part; j += 8)
        if (auto inside = t.when(left > j)) {
          const val one = t.let(terms[j]), other = t.let(terms[j + 1]);
          const u32 r = First + (c + j) / 2;
          acc[r] += one;
          acc[r + 1] += other;
          acc[r + 2] += one;
          acc[r + 3] += other;
        }
    }
  }
}

// C of 16 bits, of the type that the launch gives.
template <sm90_config C, scalar T, class Place>
class grouped_copied_store : public sm90_copied_store<C, T, identity, Place> {
  using base = sm90_copied_store<C, T, identity, Place>;

 public:
  using base::base;

  template <class Accumulator>
  constexpr void store(Accumulator& acc, const tile_origin& tile, const val<bool>& is_second,
                       const val<grouped_bias>& bias) const {
    const val of_c = this->t_.let(this->lines_[&output_lines::columns]);
    add_bias<0, C.n / 2, Place>(this->t_, acc, tile, this->t_.let(0u), of_c, bias);
    store_typed(acc, tile, is_second);
  }
  template <class Accumulator>
  constexpr void store_typed(const Accumulator& acc, const tile_origin& tile,
                             const val<bool>& is_second) const {
    if (auto second = this->t_.when(is_second)) this->template store_as<sm90_second_type<T>>(acc, tile, {});
    if (auto first = this->t_.otherwise()) this->template store_as<T>(acc, tile, {});
  }
};

// The names of kernels that store by tensor copies, or by threads.
template <bool Copied>
inline constexpr auto grouped_store_name = [] {
  if constexpr (Copied)
    return fixed_string("half");
  else
    return fixed_string("any");
}();

// C of any type.
template <sm90_config C, scalar T, class Place>
class grouped_finished_store : public sm90_finished_store<C, any_output, add_grouped_bias, Place> {
  using base = sm90_finished_store<C, any_output, add_grouped_bias, Place>;

 public:
  using base::base;

  template <class Accumulator>
  constexpr void store(const Accumulator& acc, const tile_origin& tile, const val<bool>&,
                       const val<grouped_bias>& bias) const {
    base::store(acc, tile, {}, bias);
  }
};

// Copied: C has the operands' type, and rows at multiples of 16 bytes.
template <sm90_config C, scalar T, class Place, bool Copied>
using grouped_store =
    std::conditional_t<Copied, grouped_copied_store<C, T, Place>, grouped_finished_store<C, T, Place>>;

// The gate, in half of the registers, times the values of the other half; C has n / 2 columns.
constexpr sm90_config half_of_columns(sm90_config c) {
  c.n /= 2;
  return c;
}
template <sm90_config C, scalar T, class Place>
class grouped_gated_store : public sm90_copied_store<half_of_columns(C), T, identity, Place> {
  using base = sm90_copied_store<half_of_columns(C), T, identity, Place>;
  static constexpr u32 registers = C.n / 4, at_once = 16;

  // The first half of an accumulator.
  template <class Accumulator>
  struct results {
    const Accumulator& acc;
    constexpr const auto& operator[](u32 i) const { return acc[i]; }
    static constexpr u32 row(u32 i) { return Accumulator::row(i); }
    static constexpr u32 column(u32 i) { return Accumulator::column(i); }
  };

 public:
  using base::base;

  template <class Accumulator>
  constexpr void store(Accumulator& acc, const tile_origin& tile, const val<bool>& is_second,
                       const val<grouped_gate>& terms) const {
    const thread t = this->t_;
    const val of_c = t.let(this->lines_[&output_lines::columns]), none = t.let(0u);
    add_bias<0, registers, Place>(t, acc, tile, none, of_c, terms[&grouped_gate::gate]);
    add_bias<registers, registers, Place>(t, acc, tile, none, of_c, terms[&grouped_gate::up]);
    multiply(acc, terms);
    const results<Accumulator> first_half{acc};
    if (auto second = t.when(is_second)) this->template store_as<sm90_second_type<T>>(first_half, tile, {});
    if (auto first = t.otherwise()) this->template store_as<T>(first_half, tile, {});
  }

 private:
  template <class Accumulator>
  constexpr void multiply(Accumulator& acc, const val<grouped_gate>& terms) const {
    const thread t = this->t_;
    for (u32 i = 0; i < registers; ++i) limit_gate(t, acc[i], acc[registers + i], terms);
    activate_in_turns<registers, at_once>(t, acc, terms);
    for (u32 i = 0; i < registers; ++i) acc[i] = acc[i] * acc[registers + i];
  }
};

}  // namespace kaio::ops
