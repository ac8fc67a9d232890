#pragma once
// Decodes codes that index a table of numbers, by byte permutations (prmt). One prmt lets four codes of a
// word select four of eight bytes. One byte of four numbers takes three: one for each half of the table, and
// one that selects by the codes' top bits. A word of eight codes takes 21 instructions; 15 if the lower bytes
// of all numbers are zero, as for small integers in f16.
//
// A multiprocessor executes prmt at half the rate of most instructions. The kernels for few rows from sm_90
// on, and those for sm_90a, therefore keep the pair of numbers of each byte of codes in shared memory. Every
// lane has a copy, so that no two lanes use one bank: [256 bytes][32 lanes], 32 KB. Each of a word's four
// bytes then takes one prmt, two multiply-adds for the address and one load. nf4 with one row and 8192 x 8192
// takes 11.0 us on an H200, and 17.3 by prmt alone. A block then has 100 KB; devices of sm_120, with 99 KB,
// run the kernels for sm_80.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Rounds the numbers to T and splits them into bytes.
template <scalar T>
constexpr w4_table_words w4_table_of(const float (&numbers)[16]) {
  u32 words[8] = {};
  for (u32 i = 0; i < 16; ++i) {
    const u32 bits = __builtin_bit_cast(std::uint16_t, T(numbers[i]));
    words[i / 4] |= (bits & 0xff) << (8 * (i % 4));
    words[4 + i / 4] |= (bits >> 8) << (8 * (i % 4));
  }
  return {words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7]};
}

namespace detail {

// low, high: four words each. Upper: low is all zeros and is not read.
template <scalar T, bool Upper, class Table, class Word, class Registers>
constexpr void look_up_w4(thread t, [[maybe_unused]] const Table& low, const Table& high, const Word& word,
                          Registers& registers) {
  using pair = typename w4_pair<T>::type;
  const val below = t.let(word & 0x77777777u);
  const val top = t.let(lop3<and_or>(word >> 1, 0x44444444u, 0x32103210u));
  for (u32 half = 0; half < 2; ++half) {
    const val entry = t.let(half == 0 ? t.let(below + 0u) : t.let(below >> 16));
    const val pick = t.let(half == 0 ? t.let(top + 0u) : t.let(top >> 16));
    const auto bytes_of = [&](const Table& table) {
      const val first = t.let(byte_perm(table[0], table[1], entry));
      const val second = t.let(byte_perm(table[2], table[3], entry));
      return t.let(byte_perm(first, second, pick));
    };
    const val upper = bytes_of(high);
    if constexpr (Upper) {
      registers[2 * half] = bit_cast<pair>(byte_perm(upper, 0u, 0x1404u));
      registers[2 * half + 1] = bit_cast<pair>(byte_perm(upper, 0u, 0x3424u));
    } else {
      const val lower = bytes_of(low);
      registers[2 * half] = bit_cast<pair>(byte_perm(lower, upper, 0x5140u));
      registers[2 * half + 1] = bit_cast<pair>(byte_perm(lower, upper, 0x7362u));
    }
  }
}

}  // namespace detail

// The dequantisation of a user's table: Numbers::numbers is a static constexpr float[16]. Each number is
// rounded once to the type of x.
template <class Numbers>
struct w4_table : w4_dequantisation {
  static constexpr bool neighbours = true;
  static constexpr bool by_table = true;

  template <scalar T>
  class decoder {
   public:
    static constexpr f32 unit = 1.0f;
    constexpr decoder(thread, const val<w4_problem>&) {}

    template <class Words, class Minus, class Registers>
    constexpr void decode(thread t, const Words& words, const Minus&, Registers& registers) const {
      constexpr bool upper = (table.low0 | table.low1 | table.low2 | table.low3) == 0;
      constexpr std::array<u32, 4> low{table.low0, table.low1, table.low2, table.low3};
      constexpr std::array<u32, 4> high{table.high0, table.high1, table.high2, table.high3};
      detail::look_up_w4<T, upper>(t, low, high, words[0], registers);
    }

   private:
    static constexpr w4_table_words table = w4_table_of<T>(Numbers::numbers);
  };
};

// A table from a function of the code, which is called at compile time for each of the sixteen codes. The
// name becomes split of the kernels' names.
//
//   using squares = w4_function<"squares_", [](u32 code) { return float(code * code); }>;
template <fixed_string Name, auto Number>
struct w4_function : w4_table<w4_function<Name, Number>> {
  static constexpr auto name = Name;
  static constexpr float numbers[16] = {
      Number(0u), Number(1u), Number(2u),  Number(3u),  Number(4u),  Number(5u),  Number(6u),  Number(7u),
      Number(8u), Number(9u), Number(10u), Number(11u), Number(12u), Number(13u), Number(14u), Number(15u)};
};

// nf4 and fp4 of bitsandbytes. The launch passes the numbers, so that both share their kernels. Each block of
// 64 codes, or of a multiple of 64, has a scale of f32.
struct w4_table_at_launch : w4_dequantisation {
  static constexpr fixed_string name = "table_";
  static constexpr w4_scales_in_kernel scales = w4_scales_in_kernel::f32;
  static constexpr bool neighbours = true;
  static constexpr bool by_table = true;
  static constexpr std::uint32_t slots = 1;

  template <scalar T>
  class decoder {
   public:
    constexpr decoder(thread t, const val<w4_problem>& problem)
        : low_(array_of<4>([&](u32 i) {
            const auto table = problem[&w4_problem::table];
            return t.let(i == 0   ? t.let(table[&w4_table_words::low0])
                         : i == 1 ? t.let(table[&w4_table_words::low1])
                         : i == 2 ? t.let(table[&w4_table_words::low2])
                                  : t.let(table[&w4_table_words::low3]));
          })),
          high_(array_of<4>([&](u32 i) {
            const auto table = problem[&w4_problem::table];
            return t.let(i == 0   ? t.let(table[&w4_table_words::high0])
                         : i == 1 ? t.let(table[&w4_table_words::high1])
                         : i == 2 ? t.let(table[&w4_table_words::high2])
                                  : t.let(table[&w4_table_words::high3]));
          })) {}

    template <class Words, class Minus, class Registers>
    constexpr void decode(thread t, const Words& words, const Minus&, Registers& registers) const {
      detail::look_up_w4<T, false>(t, low_, high_, words[0], registers);
    }

   private:
    dsl::register_array<val<u32>, 4> low_, high_;
  };
};

inline constexpr u32 w4_pair_warps = 8;  // warps of a block that fill the table

// The pair of numbers of each byte of codes, in shared memory. All threads of a block construct it, and meet
// at a barrier before any of them decodes.
template <class D, scalar T>
class w4_pairs {
  static_assert(D::by_table && D::neighbours && D::bits == 4 && !D::zero_points && !D::scaled);
  using pair = typename w4_pair<T>::type;

 public:
  constexpr w4_pairs(thread t, const val<w4_problem>& problem) : table_(t), lane_(t.lane_rank()) {
    const val lane = t.lane_rank(), warp = t.let(t.warp_rank());
    if (auto fills = t.when(warp < w4_pair_warps)) {
      const typename D::template decoder<T> decoder(t, problem);
      const val first = t.let(warp * 32u);
      const auto byte = array_of<1>([&](u32) { return t.let(first + lane); });
      const auto minus = array_of<2>([&](u32) { return t.let(0u); });  // no table has zero points
      auto numbers = array_of<4>([&](u32) { return var(t, bit_cast<pair>(t.let(0u))); });
      decoder.decode(t, byte, minus, numbers);
      const val own = t.let(bit_cast<u32>(numbers[0]));
      // Eight lanes store the pairs of a byte.
      for (u32 i = 0; i < 8; ++i) {
        const val of_byte = t.let(lane / 8u + 4 * i);
        const val one = t.let(shfl_idx(own, of_byte));
        store_vec(table_[first + of_byte][lane % 8u * 4u], make_vec(one, one, one, one));
      }
    }
  }

  template <class Words, class Minus, class Registers>
  constexpr void decode(thread t, const Words& words, const Minus&, Registers& registers) const {
    for (u32 i = 0; i < 4; ++i) {
      const val byte = t.let(byte_perm(words[0], 0u, 0x4440u + i));
      registers[i] = bit_cast<pair>(table_[byte][lane_]);
    }
  }

 private:
  shared<u32, w4_pair_warps * 32, 32> table_;
  val<u32> lane_;
};

// Replaces w4_pairs if there is no table in shared memory.
struct no_w4_pairs {};

// All threads of a block call make_w4_pairs, with `Pairs` or without; w4_decoder_of then gives the decoder.
template <bool Pairs, class D, scalar T>
constexpr auto make_w4_pairs([[maybe_unused]] thread t, [[maybe_unused]] const val<w4_problem>& problem) {
  if constexpr (Pairs)
    return w4_pairs<D, T>(t, problem);
  else
    return no_w4_pairs{};
}
template <class D, scalar T, class Pairs>
constexpr auto w4_decoder_of([[maybe_unused]] thread t, [[maybe_unused]] const val<w4_problem>& problem,
                             [[maybe_unused]] const Pairs& pairs) {
  if constexpr (std::is_same_v<Pairs, no_w4_pairs>)
    return typename D::template decoder<T>(t, problem);
  else
    return pairs;
}

}  // namespace kaio::ops
