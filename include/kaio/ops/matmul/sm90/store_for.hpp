#pragma once
// Selects a kernel's store: its way from the accumulators to C.

#include <kaio/ops/matmul/sm90/store_terms.hpp>
#include <kaio/ops/matmul/sm90/store_transposed.hpp>

#include <type_traits>

namespace kaio::ops {

namespace detail {
template <sm90_config C, class Out, class Epilogue, class Place>
struct sm90_store {
  using type = std::conditional_t<C.transposed, sm90_finished_transposed_store<C, Out, Epilogue, Place>,
                                  sm90_finished_store<C, Out, Epilogue, Place>>;
};
template <sm90_config C, class Out, class Epilogue, class Place>
  requires(works_in_registers<Epilogue> && !adds_tile_terms<Epilogue>)
struct sm90_store<C, Out, Epilogue, Place> {
  using type = std::conditional_t<C.transposed, sm90_copied_transposed_store<C, Out, Epilogue, Place>,
                                  sm90_copied_store<C, Out, Epilogue, Place>>;
};
template <sm90_config C, class Out, class Epilogue, class Place>
  requires adds_tile_terms<Epilogue>
struct sm90_store<C, Out, Epilogue, Place> {
  static_assert(!C.transposed);
  using type = sm90_terms_store<C, Out, Place>;
};
}  // namespace detail
template <sm90_config C, class Out, class Epilogue, class Place>
using sm90_store_for = typename detail::sm90_store<C, Out, Epilogue, Place>::type;

}  // namespace kaio::ops
