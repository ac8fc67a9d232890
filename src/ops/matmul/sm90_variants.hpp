#pragma once
// The rows of the table of the kernels for sm_90a, by configuration.

#include <kaio/ops/matmul/general.hpp>
#include <kaio/ops/matmul/launch_call.hpp>

#include <cstdint>
#include <type_traits>

#include "ops/matmul/variant.hpp"

namespace kaio::ops {

template <sm90_config C, class T, class Out, class Epilogue>
matmul_variant sm90_variant() {
  matmul_variant result = describe_sm90<C, T, Out, Epilogue>();
  result.run = [](const stream& s, const matmul_call& call, const matmul_variant&) {
    if constexpr (std::is_same_v<Epilogue, general>)
      launch_call_sm90<C, T, Out, general>(s, call, call.terms);
    else
      launch_call_sm90<C, T, Out, scaled>(s, call, call.terms.alpha);
  };
  return result;
}

template <sm90_split_config C, class T, class Out>
matmul_variant sm90_split_variant() {
  matmul_variant result = describe_split<C, T, Out, general>();
  result.run = [](const stream& s, const matmul_call& whole, const matmul_variant&) {
    for_batches(whole, most_grid_z,
                [&](const matmul_call& call) { launch_call_split<C, T, Out, general>(s, call, call.terms); });
  };
  return result;
}

// B lies along N in panels of 64.
template <sm90_config C, class T, class Out, class Epilogue>
void add_sm90_layouts(variant_list& list) {
  list.push_back(sm90_variant<with_lines<C>(major::k, major::k), T, Out, Epilogue>());
  list.push_back(sm90_variant<with_lines<C>(major::mn, major::k), T, Out, Epilogue>());
  if constexpr (C.n % 64 == 0) {
    list.push_back(sm90_variant<with_lines<C>(major::k, major::mn), T, Out, Epilogue>());
    list.push_back(sm90_variant<with_lines<C>(major::mn, major::mn), T, Out, Epilogue>());
  }
}

// With what is B there along K, as the few rows of a skinny problem lie; tiles of fewer than 64 along N read no other.
template <sm90_split_config C, class T, class Out>
void add_sm90_split_along_k(variant_list& list) {
  list.push_back(sm90_split_variant<with_lines<C>(major::k, major::k), T, Out>());
  list.push_back(sm90_split_variant<with_lines<C>(major::mn, major::k), T, Out>());
}
template <sm90_split_config C, class T, class Out>
void add_sm90_split_layouts(variant_list& list) {
  add_sm90_split_along_k<C, T, Out>(list);
  list.push_back(sm90_split_variant<with_lines<C>(major::k, major::mn), T, Out>());
  list.push_back(sm90_split_variant<with_lines<C>(major::mn, major::mn), T, Out>());
}

}  // namespace kaio::ops
