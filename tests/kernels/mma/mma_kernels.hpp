#pragma once
// The kernels that test the matrix instructions of a warp: one for each instruction, and the moves of
// matrices between shared memory and registers.

#include <kaio/dsl/dsl.hpp>

#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>

#include <cstdint>

namespace kaio::tests {

// The operation on the product: PTX has modifiers for it.
enum class mma_operation { multiply_add, saturated, xor_popc, and_popc };

template <class Mma>
inline constexpr auto mma_name =
    "mma_m" + decimal<Mma::m> + "n" + decimal<Mma::n> + "k" + decimal<Mma::k> + "_" +
    element_name<typename Mma::result::element_type> + "_" + element_name<typename Mma::a_element> + "_" +
    element_name<typename Mma::b_element> + "_" + element_name<typename Mma::accumulator::element_type>;

template <mma_operation Operation>
inline constexpr auto operation_name = [] {
  if constexpr (Operation == mma_operation::multiply_add)
    return fixed_string("");
  else if constexpr (Operation == mma_operation::saturated)
    return fixed_string("_saturated");
  else if constexpr (Operation == mma_operation::xor_popc)
    return fixed_string("_xor");
  else
    return fixed_string("_and");
}();

template <class Mma, matrix_arrangement A, matrix_arrangement B>
inline constexpr auto order_name = [] {
  if constexpr (A == matrix_arrangement::warp)
    return fixed_string("");
  else if constexpr (A == matrix_arrangement::quad_row && B == matrix_arrangement::quad_row)
    return fixed_string("_row_row");
  else if constexpr (A == matrix_arrangement::quad_row)
    return fixed_string("_row_col");
  else if constexpr (B == matrix_arrangement::quad_row)
    return fixed_string("_col_row");
  else
    return fixed_string("_col_col");
}();

template <class F>
inline constexpr matrix_arrangement arrangement_of = matrix_arrangement::warp;
template <class T, u32 R, u32 C, matrix_role Role, matrix_arrangement A>
inline constexpr matrix_arrangement arrangement_of<fragment<T, R, C, Role, A>> = A;

// Every instruction: a lane's registers of A, B and C from lane * registers on; d gets the lane's elements of
// D.
// With f32 in place of tf32 nothing changes: the registers hold bits. Where C and D are of one type, the
// product is accumulated in place a second time.
template <class Mma, mma_operation Operation = mma_operation::multiply_add>
inline constexpr auto multiplication = kernel<
    mma_name<Mma> + operation_name<Operation> +
        order_name<Mma, arrangement_of<typename Mma::a_fragment>, arrangement_of<typename Mma::b_fragment>>,
    32>([](thread t, in<typename Mma::a_fragment::register_type> a_words,
           in<typename Mma::b_fragment::register_type> b_words,
           in<typename Mma::accumulator::register_type> c_words,
           out<typename Mma::result::register_type> d_words, out<typename Mma::result::register_type> again) {
  val lane = t.lane_rank();
  typename Mma::a_fragment a(t);
  typename Mma::b_fragment b(t);
  typename Mma::accumulator c(t);
  typename Mma::result d(t);
  for (u32 i = 0; i < a.register_count; ++i) a.registers[i] = a_words[lane * a.register_count + i];
  for (u32 i = 0; i < b.register_count; ++i) b.registers[i] = b_words[lane * b.register_count + i];
  for (u32 i = 0; i < c.register_count; ++i) c.registers[i] = c_words[lane * c.register_count + i];
  if constexpr (Operation == mma_operation::saturated)
    Mma::multiply_add_saturated(d, a, b, c);
  else if constexpr (Operation == mma_operation::xor_popc)
    Mma::xor_popc(d, a, b, c);
  else if constexpr (Operation == mma_operation::and_popc)
    Mma::and_popc(d, a, b, c);
  else
    Mma::multiply_add(d, a, b, c);
  for (u32 i = 0; i < d.register_count; ++i) d_words[lane * d.register_count + i] = d.registers[i];
  if constexpr (std::is_same_v<typename Mma::result, typename Mma::accumulator>) {
    if constexpr (Operation == mma_operation::saturated)
      Mma::multiply_add_saturated(d, a, b);
    else if constexpr (Operation == mma_operation::xor_popc)
      Mma::xor_popc(d, a, b);
    else if constexpr (Operation == mma_operation::and_popc)
      Mma::and_popc(d, a, b);
    else
      Mma::multiply_add(d, a, b);
    for (u32 i = 0; i < d.register_count; ++i) again[lane * d.register_count + i] = d.registers[i];
  }
});

// A product with a sparse A: each lane has registers of the elements that are kept, and its metadata.
template <class Mma, u32 Selector, bool Saturated = false>
inline constexpr auto sparse_multiplication =
    kernel<"sparse_" + mma_name<Mma> + "_" + decimal<Selector> +
               (Saturated ? fixed_string("_s") : fixed_string("_w")),
           32>([](thread t, in<typename Mma::a_fragment::register_type> a_words,
                  in<typename Mma::b_fragment::register_type> b_words,
                  in<typename Mma::accumulator::register_type> c_words, in<u32> metadata,
                  out<typename Mma::result::register_type> d_words) {
      val lane = t.lane_rank();
      typename Mma::a_fragment a(t);
      typename Mma::b_fragment b(t);
      typename Mma::accumulator c(t), d(t);
      for (u32 i = 0; i < a.register_count; ++i) a.registers[i] = a_words[lane * a.register_count + i];
      for (u32 i = 0; i < b.register_count; ++i) b.registers[i] = b_words[lane * b.register_count + i];
      for (u32 i = 0; i < c.register_count; ++i) c.registers[i] = c_words[lane * c.register_count + i];
      val which = t.let(metadata[lane]);
      Mma::template multiply_add<Selector>(d, a, b, c, which);
      if constexpr (Saturated)
        Mma::template multiply_add_saturated<Selector>(d, a, b, which);
      else
        Mma::template multiply_add<Selector>(d, a, b, which);
      for (u32 i = 0; i < d.register_count; ++i) d_words[lane * d.register_count + i] = d.registers[i];
    });

// A product that is read and written through the fragments' own loads and stores, from global memory in both
// orders and from shared memory. All matrices are row-major: x is M x K, y is K x N, z is M x N.
template <class Mma, class Element>
inline constexpr auto fragment_moves = kernel<"fragment_moves_" + mma_name<Mma>, 32>(
    [](thread t, in<Element> x, in<Element> y, inout<typename Mma::result::element_type> z) {
      using result = typename Mma::result::element_type;
      constexpr u32 m = Mma::m, n = Mma::n, k = Mma::k;
      shared<Element, m, k> a_rows(t);
      shared<Element, n, k> b_columns(t);
      shared<result, m, n> sums(t);
      for (auto i : t.block_stride(m * k)) a_rows[i / k][i % k] = x[i];
      for (auto i : t.block_stride(k * n)) b_columns[i % n][i / n] = y[i];
      t.barrier();
      typename Mma::a_fragment a(t);
      typename Mma::b_fragment b(t);
      typename Mma::accumulator c(t, 1);
      a.load(a_rows, 0, 0);
      b.load_transposed(b_columns, 0, 0);
      Mma::multiply_add(c, a, b);
      a.load_each([&](const auto& row, const auto& column) { return x[row * k + column]; });
      b.load_each([&](const auto& row, const auto& column) { return y[row * n + column]; });
      Mma::multiply_add(c, a, b);
      c.store(sums, 0, 0);
      t.barrier();
      c.for_each([&](const auto& element, const auto& row, const auto& column) {
        z[row * n + column] = element * 2 - sums[row][column];
      });
    });

// ldmatrix of every kind in every layout: a tile of 64 x 64 is filled with its own coordinates; each lane
// writes the registers that it got.
template <class Layout, u32 Number>
inline constexpr auto ldmatrix_forms = kernel<"ldmatrix_forms_" + decimal<Number>, 32>(
    [](thread t, in<u16> x, out<u32> y, val<u32> row, val<u32> column) {
      shared_tile<u16, 64, 64, Layout> tile(t);
      for (auto i : t.block_stride(4096u)) tile[i / 64][i % 64] = x[i];
      t.barrier();
      val lane = t.lane_rank();
      u32 at = 0;
      const auto put = [&](const auto& words) {
        for (const auto& w : words) y[at++ * 32 + lane] = w;
      };
      const auto rows = row + lane % 16;
      const auto columns = column + lane / 16 * 8;
      put(ldmatrix_x1(tile[rows][columns]));
      put(ldmatrix_x2(tile[rows][columns]));
      put(ldmatrix_x4(tile[rows][columns]));
      put(ldmatrix_x1_trans(tile[rows][columns]));
      put(ldmatrix_x2_trans(tile.row_address(rows, columns)));
      put(ldmatrix_x4_trans(tile.row_address(rows, columns)));
    });

// The products of fragments that ldmatrix brought: A row by row and column by column, B both, one and two at
// a time, by coordinates and by the lane's place. z is Rows x N for each way.
template <class Mma, class Layout, u32 Number>
inline constexpr auto ldmatrix_products =
    kernel<"ldmatrix_products_" + mma_name<Mma> + "_" + decimal<Number>, 32>(
        [](thread t, in<typename Mma::a_element> x, in<typename Mma::b_element> y, out<f32> z, val<u32> row) {
          using T = typename Mma::a_element;
          constexpr u32 m = Mma::m, k = Mma::k, n = Mma::n;
          constexpr u32 size = 64;
          shared_tile<T, size, size, Layout> a_rows(t), a_columns(t), b_rows(t), b_columns(t);
          for (auto i : t.block_stride(size * size)) {
            a_rows[i / size][i % size] = x[i];
            a_columns[i % size][i / size] = x[i];
            b_rows[i / size][i % size] = y[i];
            b_columns[i % size][i / size] = y[i];
          }
          t.barrier();
          typename Mma::a_fragment a(t);
          typename Mma::b_fragment b0(t), b1(t);
          u32 way = 0;
          // Rows `row` to `row` + m - 1 of A, columns 16 and 24 of B, all of K.
          const auto multiply = [&](const auto& load_a, const auto& load_b) {
            typename Mma::accumulator c0(t, 0.0f), c1(t, 0.0f);
            for (u32 step = 0; step < size; step += k) {
              load_a(step);
              load_b(step);
              Mma::multiply_add(c0, a, b0);
              Mma::multiply_add(c1, a, b1);
            }
            const auto put = [&](const auto& c, u32 first) {
              c.for_each([&](const auto& v, const auto& r, const auto& column) {
                z[(r + way * m) * (2 * n) + column + first] = v;
              });
            };
            put(c0, 0);
            put(c1, n);
            ++way;
          };
          multiply([&](u32 step) { ldmatrix(a, a_rows, row, step); },
                   [&](u32 step) { ldmatrix(b0, b1, b_columns, 16, step); });
          const auto lane_a = ldmatrix_lane<typename Mma::a_fragment>(a_rows, row, 0);
          const auto lane_b =
              ldmatrix_lane<typename Mma::b_fragment, typename Mma::b_fragment>(b_columns, 16, 0);
          multiply([&](u32 step) { ldmatrix(a, a_rows.at(lane_a, 0, step)); },
                   [&](u32 step) { ldmatrix(b0, b1, b_columns.at(lane_b, 0, step)); });
          if constexpr (sizeof(T) == 2) {
            multiply([&](u32 step) { ldmatrix_trans(a, a_columns, step, row); },
                     [&](u32 step) { ldmatrix_trans(b0, b1, b_rows, step, 16); });
            const auto across_a = ldmatrix_trans_lane<typename Mma::a_fragment>(a_columns, 0, row);
            const auto across_b = ldmatrix_trans_lane<typename Mma::b_fragment, typename Mma::b_fragment>(
                b_rows, 0, t.let(thread_idx_x() * 0 + 16));
            multiply([&](u32 step) { ldmatrix_trans(a, a_columns.at(across_a, step)); },
                     [&](u32 step) { ldmatrix_trans(b0, b1, b_rows.at(across_b, step)); });
            multiply([&](u32 step) { ldmatrix(a, a_rows, row, step); },
                     [&](u32 step) {
                       ldmatrix(b0, b_columns, 16, step);
                       ldmatrix_trans(b1, b_rows, step, 24);
                     });
          }
        });

// Accumulators through stmatrix into tiles, as rows and as columns, one and two at a time; then out row by
// row.
template <class T, class Layout, u32 Number>
inline constexpr auto stmatrix_forms =
    kernel<"stmatrix_forms_" + type_name<T> + "_" + decimal<Number>, 32, kernel_options{.target = {90}}>(
        [](thread t, in<f32> x, out<T> y) {
          using mma = mma_m16n8k16<f32, f16>;
          shared_tile<T, 32, 64, Layout> tile(t);
          const auto clear = [&] {
            for (auto i : t.block_stride(32u * 64)) tile[i / 64][i % 64] = cast<T>(t.let(x[0] * 0.0f));
            t.barrier();
          };
          u32 part = 0;
          const auto flush = [&] {
            t.barrier();
            for (auto i : t.block_stride(32u * 64)) y[i + part * 2048] = tile[i / 64][i % 64];
            ++part;
            t.barrier();
          };
          const auto accumulate = [&](mma::accumulator& c, u32 number) {
            for (u32 i = 0; i < c.size; ++i) c.registers[i] = x[(c.row(i) + number * 16) * 8 + c.column(i)];
          };
          mma::accumulator c0(t), c1(t);
          accumulate(c0, 0);
          accumulate(c1, 1);
          val shift = t.let(thread_idx_x() * 0 + 8);
          clear();
          stmatrix<T>(tile, 0, 0, c0);
          stmatrix<T>(tile, shift, 24, c1);
          flush();
          clear();
          stmatrix<T>(tile, 16, 32u, c0, c1);
          flush();
          clear();
          stmatrix_trans<T>(tile, 0, 0, c0);
          stmatrix_trans<T>(tile, 8, shift * 2, c0, c1);
          flush();
        });

// Words through stmatrix of every kind, and movmatrix.
inline constexpr auto matrix_words =
    kernel<"matrix_words", 32, kernel_options{.target = {90}}>([](thread t, in<u32> x, out<u32> y) {
      shared_tile<u16, 16, 16, row_major> tile(t);
      val lane = t.lane_rank();
      const auto w = array_of<4>([&](u32 i) { return t.let(x[lane + 32 * i]); });
      u32 part = 0;
      const auto flush = [&] {
        t.barrier();
        for (auto i : t.block_stride(128u))
          y[i + part * 128] =
              cast<u32>(tile[i / 8][i % 8 * 2]) | (cast<u32>(tile[i / 8][i % 8 * 2 + 1]) << 16);
        ++part;
        t.barrier();
      };
      for (auto i : t.block_stride(256u)) tile[i / 16][i % 16] = cast<u16>(i);
      t.barrier();
      const auto place = tile.row_address(lane % 16, lane / 16 * 8);
      stmatrix_x1(place, w[0]);
      flush();
      stmatrix_x2(place, w[0], w[1]);
      flush();
      stmatrix_x4(place, w[0], w[1], w[2], w[3]);
      flush();
      stmatrix_x1_trans(tile[lane % 16][lane / 16 * 8], w[3]);
      flush();
      stmatrix_x2_trans(place, w[2], w[1]);
      flush();
      stmatrix_x4_trans(place, w[3], w[2], w[1], w[0]);
      flush();
      y[lane + 768] = movmatrix_trans(w[0]);
      y[lane + 800] = bit_cast<u32>(movmatrix_trans(bit_cast<bf16x2>(w[1])));
    });

// Every instruction, by family.
template <class... Mma>
using mma_list = boost::hana::tuple<boost::hana::type<Mma>...>;

using mma_f16 =
    mma_list<mma_m16n8k8<f32, f16>, mma_m16n8k8<f16, f16>, mma_m16n8k16<f32, f16>, mma_m16n8k16<f16, f16>,
             mma_m16n8k8<f32, bf16>, mma_m16n8k16<f32, bf16>, mma_m16n8k4<f32, tf32>, mma_m16n8k8<f32, tf32>>;
template <class D, class C, matrix_order A, matrix_order B>
using quad = mma_m8n8k4<D, f16, f16, C, A, B>;
template <class D, class C>
using quads = mma_list<
    quad<D, C, matrix_order::row, matrix_order::row>, quad<D, C, matrix_order::row, matrix_order::col>,
    quad<D, C, matrix_order::col, matrix_order::row>, quad<D, C, matrix_order::col, matrix_order::col>>;
using mma_f64 =
    mma_list<mma_m8n8k4<f64, f64>, mma_m16n8k4<f64, f64>, mma_m16n8k8<f64, f64>, mma_m16n8k16<f64, f64>>;
template <class A, class B>
using mma_i8 = mma_list<mma_m8n8k16<i32, A, B>, mma_m16n8k16<i32, A, B>, mma_m16n8k32<i32, A, B>>;
template <class A, class B>
using mma_i4 = mma_list<mma_m8n8k32<i32, A, B>, mma_m16n8k32<i32, A, B>, mma_m16n8k64<i32, A, B>>;
using sparse_wide =
    mma_list<mma_sp_m16n8k16<f32, f16>, mma_sp_m16n8k16<f16, f16>, mma_sp_m16n8k32<f32, f16>,
             mma_sp_m16n8k32<f16, f16>, mma_sp_m16n8k16<f32, bf16>, mma_sp_m16n8k32<f32, bf16>,
             mma_sp_m16n8k8<f32, tf32>, mma_sp_m16n8k16<f32, tf32>>;
using sparse_narrow =
    mma_list<mma_sp_m16n8k32<i32, i8>, mma_sp_m16n8k64<i32, u8, i8>, mma_sp_m16n8k64<i32, i4>,
             mma_sp_m16n8k128<i32, u4, i4>, mma_sp_m16n8k64<f32, e4m3>, mma_sp_m16n8k64<f32, e5m2, e4m3>>;
using mma_b1 = mma_list<mma_m8n8k128<i32, b1>, mma_m16n8k128<i32, b1>, mma_m16n8k256<i32, b1>>;
template <class D, class A, class B>
using mma_f8 = mma_list<mma_m16n8k16<D, A, B>, mma_m16n8k32<D, A, B>>;

}  // namespace kaio::tests
