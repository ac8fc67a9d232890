#pragma once
// Stores O from the accumulators of wgmma to memory, without shared memory. The four lanes of a quad hold
// pairs of neighbours of a row. They exchange them, so that each lane has eight neighbours, 16 bytes:
//
//   columns    0 1   2 3   4 5   6 7 |  8 ..   | 16 ..   | 24 ..
//   before     q0    q1    q2    q3  |  q0 ..  |  q0 ..  |  q0 ..
//   after      q0    q0    q0    q0  |  q1     |  q2     |  q3

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/block.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The rows of a head that a block writes; row 0 is the first one of the sequence.
struct attention_output {
  val<u64> address;
  val<i64> pitch;  // elements from row to row
  val<u32> rows, columns;
};

// The output in a tensor where the rows of the sequence begin at `first_row`.
template <class Strides>
constexpr attention_output output_rows(thread t, const Strides& strides, const attention_block& block,
                                       const val<u32>& head, const val<u32>& first_row, const val<u32>& rows,
                                       const val<u32>& columns, std::uint32_t element_bytes) {
  const val offset = t.let(head_offset(t, strides, block, head, first_row) * i64{element_bytes});
  return {t.let(strides[&attention_strides::address] + cast<u64>(offset)),
          t.let(strides[&attention_strides::row]), rows, columns};
}

constexpr attention_output output_of(thread t, const val<attention_problem>& problem,
                                     const attention_block& block, std::uint32_t element_bytes) {
  return output_rows(t, problem[&attention_problem::o], block, block.head, block.first_q_row,
                     block.query_limit, t.let(problem[&attention_problem::v_size]), element_bytes);
}

// Transposes 4 x 4 words in a quad: words[i] of lane j becomes words[j] of lane i.
constexpr void exchange_in_quad(thread t, dsl::register_array<var<u32>, 4>& words) {
  const val lane = t.lane_rank();
  for (const u32 apart : {1u, 2u}) {
    const val upper = t.let((lane & apart) != 0u);
    for (u32 i = 0; i < 4; ++i)
      if ((i & apart) == 0) {
        auto &low = words[i], &high = words[i ^ apart];
        const val received = shfl_xor(t.let(select(upper, low, high)), apart);
        low = select(upper, received, low);
        high = select(upper, high, received);
      }
  }
}

// Ignores the rounded numbers of store_quads.
struct no_visit {
  template <class Pair>
  constexpr void operator()(u32, const Pair&) const {}
};
// Stores rows `query` and `query` + 8 of a thread's sums, times `inverse`, rounded to T, if O has these rows.
// They begin at multiples of 16 bytes, and are multiples of 16 bytes long.
template <scalar T, class Accumulator, class Visit = no_visit>
constexpr void store_quads(thread t, const Accumulator& sums, const dsl::register_array<val<f32>, 2>& inverse,
                           const attention_output& o, const val<u32>& query, const Visit& visit = {}) {
  using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
  const val own_column = t.let(t.lane_rank() % 4u * 8u);
  for (u32 r = 0; r < 2; ++r) {
    const val row = t.let(query + 8 * r);
    const val begin =
        t.let(o.address + cast<u64>((cast<i64>(row) * o.pitch + cast<i64>(own_column)) * i64{sizeof(T)}));
    for (std::uint32_t first = 0; first < sums.size(); first += 16) {  // 32 columns of both rows
      auto words = array_of<4>([&](u32 i) {
        const std::uint32_t at = first + 4 * i + 2 * r;
        const val two = t.let(pack<pair>(sums[at] * inverse[r], sums[at + 1] * inverse[r]));
        visit(r, two);
        return var(t, bit_cast<u32>(two));
      });
      exchange_in_quad(t, words);
      const std::uint32_t column = first * 2;
      if (auto exists = t.when(all_of(row < o.rows, own_column + column < o.columns)))
        store_vec(pointer_at<out<u32>>(t, begin)[column / 2],
                  make_vec(words[0], words[1], words[2], words[3]));
    }
  }
}

template <scalar T>
constexpr void store_element(thread t, const attention_output& o, const val<u32>& row, const val<u32>& column,
                             const val<T>& x) {
  if (auto exists = t.when(all_of(row < o.rows, column < o.columns)))
    pointer_at<out<T>>(t, o.address)[cast<i64>(row) * o.pitch + cast<i64>(column)] = x;
}

}  // namespace kaio::ops
