#pragma once
// The stores of a grouped product for sm_90a: results of the operands' type by tensor copies, others by threads. A
// panel with rows of the next group is stored by threads too, own rows alone.

#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/sm90/store.hpp>

#include <type_traits>

namespace kaio::ops {

// C of 16 bits, of the type that the launch gives.
template <sm90_config C, scalar T, class Place>
class grouped_copied_store : public sm90_copied_store<C, T, identity, Place> {
  using base = sm90_copied_store<C, T, identity, Place>;

 public:
  using base::base;

  template <class Accumulator>
  constexpr void store(const Accumulator& acc, const tile_origin& tile, const val<bool>& is_second) const {
    if (auto second = this->t_.when(is_second)) this->template store_as<sm90_second_type<T>>(acc, tile, {});
    if (auto first = this->t_.otherwise()) this->template store_as<T>(acc, tile, {});
  }
};

// C of any type.
template <sm90_config C, scalar T, class Place>
class grouped_finished_store : public sm90_finished_store<C, any_output, identity, Place> {
  using base = sm90_finished_store<C, any_output, identity, Place>;

 public:
  using base::base;

  template <class Accumulator>
  constexpr void store(const Accumulator& acc, const tile_origin& tile, const val<bool>&) const {
    base::store(acc, tile, {});
  }
};

// Copied: C has the operands' type, and rows at multiples of 16 bytes.
template <sm90_config C, scalar T, class Place, bool Copied>
using grouped_store =
    std::conditional_t<Copied, grouped_copied_store<C, T, Place>, grouped_finished_store<C, T, Place>>;

}  // namespace kaio::ops
