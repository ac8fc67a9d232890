#pragma once
// The kernels that test the matrix multiplication of a warpgroup.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::tests {

// The type in memory of an element that only registers know.
template <class T>
struct stored {
  using type = T;
};
template <>
struct stored<tf32> {
  using type = f32;
};
template <>
struct stored<b1> {
  using type = u8;
};
template <class T>
using stored_type = typename stored<T>::type;

template <class T>
inline constexpr auto matrix_type_name = [] {
  if constexpr (std::is_same_v<T, tf32>)
    return fixed_string("tf32");
  else if constexpr (std::is_same_v<T, b1>)
    return fixed_string("b1");
  else
    return type_name<T>;
}();

// A product of 64 rows and N columns with `Slices` slices of K. Each operand has the major order and the
// swizzle in bytes.
template <class InD, class InA, class InB, u32 InN, major InMajorA = major::k, u32 InSwizzleA = 128,
          major InMajorB = major::k, u32 InSwizzleB = 128, u32 Slices = 4>
struct wgmma_case {
  using D = InD;
  using A = InA;
  using B = InB;
  static constexpr u32 n = InN;
  static constexpr u32 slices = Slices;
  static constexpr u32 bits = dsl::matrix_element<A>::bits;
  static constexpr u32 depth = Slices * 256 / bits;  // K
  static constexpr major major_a = InMajorA, major_b = InMajorB;
  static constexpr u32 stored_depth = bits < 8 ? depth / 8 : depth;  // in elements of memory

  static constexpr u32 a_rows = major_a == major::k ? 64 : stored_depth;
  static constexpr u32 a_columns = major_a == major::k ? stored_depth : 64;
  static constexpr u32 b_rows = major_b == major::k ? n : stored_depth;
  static constexpr u32 b_columns = major_b == major::k ? stored_depth : n;
  using a_tile = shared_tile<stored_type<A>, a_rows, a_columns, swizzled<InSwizzleA>>;
  using b_tile = shared_tile<stored_type<B>, b_rows, b_columns, swizzled<InSwizzleB>>;

  static constexpr auto name = matrix_type_name<D> + "_" + matrix_type_name<A> + "_" + matrix_type_name<B> +
                               "_n" + decimal<n> + "_" + (major_a == major::k ? "k" : "m") +
                               decimal<InSwizzleA> + (major_b == major::k ? "k" : "m") + decimal<InSwizzleB> +
                               "_" + decimal<Slices>;
};

inline constexpr kernel_options for_wgmma{.target = {90, true}, .large_shared = true};

// Fills a tile from rows in global memory.
template <class Tile, class X>
constexpr void fill_tile(const thread& t, const Tile& tile, const X& x) {
  for (auto i : t.block_stride(Tile::rows * Tile::columns)) tile[i / Tile::columns][i % Tile::columns] = x[i];
}

// The accumulator from and to 64 rows of N elements.
template <class D, u32 N, class C>
constexpr void load_accumulator(const thread& t, wgmma_accumulator<D, N>& acc, const C& c) {
  const auto own = c.from(acc.first_row(t) * N + acc.first_column(t));
  for (u32 i = 0; i < acc.size(); ++i) {
    const u32 at = acc.row(i) * N + acc.column(i);
    if constexpr (wgmma_accumulator<D, N>::per_register == 2)
      acc[i] = pack(own[at], own[at + 1]);
    else
      acc[i] = own[at];
  }
}
template <class D, u32 N, class C>
constexpr void store_accumulator(const thread& t, const wgmma_accumulator<D, N>& acc, const C& c) {
  const auto own = c.from(acc.first_row(t) * N + acc.first_column(t));
  for (u32 i = 0; i < acc.size(); ++i) {
    const u32 at = acc.row(i) * N + acc.column(i);
    if constexpr (wgmma_accumulator<D, N>::per_register == 2) {
      own[at] = low(acc[i]);
      own[at + 1] = high(acc[i]);
    } else {
      own[at] = acc[i];
    }
  }
}

// C = A * B + (accumulate ? C : 0)
template <class Case, wgmma_options Options = wgmma_options{}>
inline constexpr auto wgmma_product =
    kernel<"wgmma_" + Case::name + "_" +
               decimal<Options.negate_a + 2 * Options.negate_b + 4 * Options.saturate>,
           128, for_wgmma>([](thread t, in<stored_type<typename Case::A>> a,
                              in<stored_type<typename Case::B>> b, inout<typename Case::D> c,
                              val<u32> accumulate) {
      const typename Case::a_tile a_tile(t);
      const typename Case::b_tile b_tile(t);
      fill_tile(t, a_tile, a);
      fill_tile(t, b_tile, b);
      fence_proxy_async(t);
      t.barrier();
      wgmma_accumulator<typename Case::D, Case::n> acc(t);
      load_accumulator(t, acc, c);
      {
        wgmma_batch mma(t);
        mma.template multiply_add<Options>(acc, wgmma_operand<Case::major_a, typename Case::A>(a_tile),
                                           wgmma_operand<Case::major_b, typename Case::B>(b_tile),
                                           accumulate != 0);
      }
      wgmma_wait<0>(t);
      store_accumulator(t, acc, c);
    });

// C = A * B in one slice, where A stores half of its elements: 64 rows of A of 32 bytes, then 128 words of
// metadata, one for each thread.
template <class Case, u32 Selector>
inline constexpr auto wgmma_sparse =
    kernel<"wgmma_sparse_" + Case::name + "_" + decimal<Selector>, 128, for_wgmma>(
        [](thread t, in<stored_type<typename Case::A>> a, in<u32> metadata,
           in<stored_type<typename Case::B>> b, out<typename Case::D> c) {
          using T = stored_type<typename Case::A>;
          const shared_tile<T, 64, 32 / sizeof(T), swizzled<32>> a_tile(t);
          const typename Case::b_tile b_tile(t);
          fill_tile(t, a_tile, a);
          fill_tile(t, b_tile, b);
          fence_proxy_async(t);
          t.barrier();
          val chosen = metadata[t.thread_rank()];
          wgmma_accumulator<typename Case::D, Case::n> acc(t);
          {
            wgmma_batch mma(t);
            mma.template multiply_add_sparse<Selector>(
                acc, wgmma_operand<major::k, typename Case::A>(a_tile),
                wgmma_operand<Case::major_b, typename Case::B>(b_tile).slice(Case::slices - 2, 2), chosen,
                false);
          }
          wgmma_wait<0>(t);
          store_accumulator(t, acc, c);
        });

}  // namespace kaio::tests
