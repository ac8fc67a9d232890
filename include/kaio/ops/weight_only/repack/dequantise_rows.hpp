#pragma once
// The kernel that turns packed weights (layout.hpp) into rows of f16 or bf16 for a matmul. It gives the bits
// of dequantise_w4_tiles, but stores vectors of 16 bytes. Weights with act-order are left to that kernel.
//
// A warp has 16 rows, half of a tile's, of several tiles along K. A lane stores eight neighbours of a row.
// The packed layout gives four lanes a pair of them each; the lane reads the words of all four, for two pairs
// of rows that are eight apart:
//
//   lane         chunk = lane % 8: k = k0 + 8 chunk ..     pair = lane / 8: rows n0 + 2 pair + {0, 1, 8, 9}
//   words[q][s]  of lane 4 (4 q + pair) + s of the tile: k + 2 s and k + 2 s + 1, of rows 8 q and 8 q + 1
//   a store      one q and one row of each pair: four rows by 128 bytes

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>
#include <kaio/ops/weight_only/common/weights.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 w4_rows_threads = 256, w4_rows_of_warp = 16;

// Elements along K are adjacent. Rows begin at multiples of 16 bytes, with room for whole eights of elements.
struct w4_rows_problem {
  w4_packed w;
  u64 out;
  i64 out_n;       // in elements
  u32 type;        // f16 or bf16, an element_type
  u32 early;       // the weights are read before the previous kernel has ended
  u32 strip;       // tiles of K per warp
  divisor strips;  // strips along K
};

namespace detail {

// A lane's share of 16 rows. Codes: int4, int8, e4m3, or nf4 for all codes with a table.
template <w4_codes Codes, class Problem>
class w4_rows {
  static constexpr bool is_table = Codes == w4_codes::nf4, is_float = Codes == w4_codes::e4m3;
  static constexpr bool is_integer = !is_table && !is_float;
  static constexpr u32 bits = bits_of(Codes), tile_words = w4_tile_codes * bits / 32;

 public:
  constexpr w4_rows(thread t, const Problem& problem, const val<u32>& first_row)
      : t_(t),
        problem_(problem),
        pitch_(t.let(w(&w4_packed::tiles_n) * w4_tile_n)),
        chunk_(t.let(t.lane_rank() % 8u)),
        n_(t.let(first_row + t.lane_rank() / 8u * 2u)),
        pitch_of_out_(t.let(cast<u64>(problem[&w4_rows_problem::out_n]) * u64{2})),
        line_(
            t.let(problem[&w4_rows_problem::out] + cast<u64>(n_) * pitch_of_out_ + cast<u64>(chunk_ * 16u))),
        first_word_(t.let(w(&w4_packed::codes) + (cast<u64>(first_row / w4_tile_n) *
                                                      cast<u64>(w(&w4_packed::tiles_k)) * u64{tile_words} +
                                                  cast<u64>(word_of_tile(first_row))) *
                                                     u64{4})),
        number_(t.let(number_of_lane())) {}

  // Decodes the lane's split of a tile of K, and stores it after `wait`.
  template <class Wait>
  constexpr void run(const val<u32>& tile_k, const Wait& wait) const {
    const auto from = pointer_at<in<u32>>(t_, t_.let(first_word_ + mul_wide(tile_k, tile_words * 4u)));
    const auto words = array_of<8>([&](u32 i) { return t_.let(from[u64{i / 4 * 64 + i % 4 * 4}]); });
    const val k = t_.let(tile_k * w4_tile_k + chunk_ * 8u);
    const val group = divide(t_, t_.let(min(k, w(&w4_packed::k) - 1u)), w(&w4_packed::group)).whole;
    const val place = t_.let(cast<u64>(group) * cast<u64>(pitch_) + cast<u64>(n_));
    auto pairs = array_of<16>([&](u32) { return var(t_, 0u); });  // [row][k / 2]
    const auto exact = [&] {
      auto weights = array_of<32>([&](u32) { return var(t_, 0.0f); });  // [row][k]
      find_weights(words, place, weights);
      const auto round_to = [&](auto like) {
        for (u32 i = 0; i < 16; ++i)
          pairs[i] = bit_cast<u32>(pack<decltype(like)>(weights[2 * i], weights[2 * i + 1]));
      };
      if (auto half = t_.when(is_out(element_type::f16))) round_to(f16x2{});
      if (auto brain = t_.otherwise()) round_to(bf16x2{});
    };
    if constexpr (Codes == w4_codes::int4) {
      const val plain = t_.let(w(&w4_packed::factors) == u64{0});
      const auto scale_is = [&](w4_scale_type one) {
        return w(&w4_packed::scale_type) == static_cast<u32>(one);
      };
      const val halves = t_.let(all_of(plain, is_out(element_type::f16), scale_is(w4_scale_type::f16)));
      const val brains = t_.let(all_of(plain, is_out(element_type::bf16), scale_is(w4_scale_type::bf16)));
      if (auto same = t_.when(halves)) find_pairs<f16>(words, place, pairs);
      if (auto same = t_.when(brains)) find_pairs<bf16>(words, place, pairs);
      if (auto other = t_.when(!any_of(halves, brains))) exact();
    } else {
      exact();
    }
    store(tile_k, pairs, wait);
  }

 private:
  constexpr auto is_out(element_type type) const {
    return problem_[&w4_rows_problem::type] == static_cast<u32>(type);
  }
  // Computes the weights in f32.
  template <class Words, class Weights>
  constexpr void find_weights(const Words& words, const val<u64>& place, Weights& weights) const {
    const auto scales = scales_of(place);
    const auto minus = minus_of(place);
    const auto codes = codes_of(words);
    for (u32 i = 0; i < 32; ++i)
      weights[i] =
          number_of(codes[i % 8 / 2 * 2 + i / 8 % 2], i / 16 * 2 + i % 2, minus[i / 8]) * scales[i / 8];
    if constexpr (is_integer)
      if (auto some = t_.when(w(&w4_packed::offsets) != 0u))
        for_rows(t_.let(w(&w4_packed::zeros) + place * u64{4}),
                 [&](u32 i, const val<f32>& offset) { weights[i] += offset; });
    const val factors = t_.let(w(&w4_packed::factors));
    if (auto some = t_.when(factors != u64{0}))
      for_rows(t_.let(factors + cast<u64>(n_) * u64{4}),
               [&](u32 i, const val<f32>& factor) { weights[i] *= factor; });
  }
  // For integers of four bits with scales of the matrix's type. The difference of a code and a zero point is
  // exact in that type, so two products at once are rounded as in f32. It is (1024 + code) - (1024 + zero
  // point); 128 for bf16.
  template <scalar T, class Words, class Pairs>
  constexpr void find_pairs(const Words& words, const val<u64>& place, Pairs& pairs) const {
    using pair = typename w4_pair<T>::type;
    constexpr u32 base = w4_pair<T>::is_half ? 0x64646464u : 0x43434343u;  // the upper byte of either
    constexpr u32 base_pair = base & 0xff00ff00u;
    const auto both = array_of<2>([&](u32 q) { return of_pair<4>(t_.let(w(&w4_packed::scales)), place, q); });
    const val zeros = t_.let(w(&w4_packed::zeros));
    auto zero = array_of<4>([&](u32) { return var(t_, w(&w4_packed::zero)); });
    if (auto some = t_.when(zeros != u64{0}))
      for (u32 q = 0; q < 2; ++q) {
        const val of_rows = of_pair<1>(zeros, place, q);
        zero[2 * q] = of_rows & 15u;
        zero[2 * q + 1] = of_rows >> 4;
      }
    const auto codes = codes_of(words);
    for (u32 row = 0; row < 4; ++row) {
      const val minus = t_.let(bit_cast<pair>(zero[row] * 0x00010001u + base_pair));
      const val scale =
          t_.let(bit_cast<pair>(byte_perm(both[row / 2], 0u, row % 2 == 0 ? 0x1010u : 0x3232u)));
      for (u32 s = 0; s < 4; ++s) {
        const u32 first = row / 2 * 2;  // the byte of k
        const val code = t_.let(byte_perm(codes[2 * s + row % 2], base, 0x4040u + first + (first + 1) * 256));
        const val number = t_.let(bit_cast<pair>(code) - minus);
        pairs[row * 4 + s] = bit_cast<u32>(number * scale);
      }
    }
  }
  template <class Member>
  constexpr auto w(Member member) const {
    return problem_[&w4_rows_problem::w][member];
  }
  // The lane's first word in the tile of a row.
  constexpr val<u32> word_of_tile(const val<u32>& row) const {
    const val j = t_.let(chunk_ / 2u), half = t_.let(row / 16u % 2u),
              of_pair = t_.let(t_.lane_rank() / 8u * 16u);
    if constexpr (bits == 4)
      return t_.let(half * 128u + of_pair + j);
    else
      return t_.let(half * 256u + j / 2u * 128u + of_pair + j % 2u * 2u + chunk_ % 2u);
  }
  // Number i of a table is in lane i of each half of a warp.
  constexpr val<f32> number_of_lane() const {
    if constexpr (is_table) {
      const constant<f32, 48> numbers(t_, w4_numbers);
      const val table = t_.let(w(&w4_packed::codes_type) - static_cast<u32>(w4_codes::nf4));
      return t_.let(numbers[table * 16u + t_.lane_rank() % 16u]);
    } else {
      return t_.let(0.0f);
    }
  }

  // Codes [s][row of a pair] by bytes: k + 2 s and k + 2 s + 1 of the first pair of rows, then of the second.
  template <class Words>
  constexpr dsl::register_array<val<u32>, 8> codes_of(const Words& words) const {
    if constexpr (bits == 8) {
      return array_of<8>([&](u32 i) {
        return t_.let(byte_perm(words[i / 2], words[4 + i / 2], i % 2 == 0 ? 0x6420u : 0x7531u));
      });
    } else {
      const val high = t_.let(chunk_ % 2u * 0x1111u);
      const auto nibbles = [&](u32 pick, u32 next) {
        const val own = t_.let(high * next + pick);
        return array_of<8>([&](u32 i) {
          const val both = byte_perm(words[i / 2], words[4 + i / 2], own);
          return t_.let(both >> (i % 2 * 4) & 0x0f0f0f0fu);
        });
      };
      if constexpr (is_table) {
        auto codes = array_of<8>([&](u32) { return var(t_, 0u); });
        const val neighbours = t_.let(w(&w4_packed::neighbours) != 0u);
        if (auto adjacent = t_.when(neighbours)) {
          const auto found = nibbles(0x5410u, 2);
          for (u32 i = 0; i < 8; ++i)
            codes[i] = byte_perm(found[i / 2 * 2], found[i / 2 * 2 + 1], i % 2 == 0 ? 0x6240u : 0x7351u);
        }
        if (auto apart = t_.otherwise()) {
          const auto found = nibbles(0x6420u, 1);
          for (u32 i = 0; i < 8; ++i) codes[i] = found[i];
        }
        return array_of<8>([&](u32 i) { return t_.let(codes[i]); });
      } else {
        return nibbles(0x6420u, 1);
      }
    }
  }
  // What to subtract in each row: for integers, 2^23 plus the zero point.
  constexpr dsl::register_array<val<f32>, 4> minus_of(const val<u64>& place) const {
    auto minus = array_of<4>([&](u32) { return var(t_, 0x1p23f); });
    if constexpr (is_integer) {
      const val zeros = t_.let(w(&w4_packed::zeros));
      const val zero = t_.let(cast<f32>(bits == 4 ? t_.let(w(&w4_packed::zero)) : t_.let(128u)) + 0x1p23f);
      for (u32 row = 0; row < 4; ++row) minus[row] = zero;
      if (auto some = t_.when(all_of(zeros != u64{0}, w(&w4_packed::offsets) == 0u)))
        for (u32 q = 0; q < 2; ++q) {
          const val both = of_pair < bits == 4 ? 1 : 2 > (zeros, place, q);
          minus[2 * q] = cast<f32>(both & (bits == 4 ? 15u : 255u)) + 0x1p23f;
          minus[2 * q + 1] = cast<f32>(both >> bits) + 0x1p23f;
        }
    }
    return array_of<4>([&](u32 row) { return t_.let(minus[row]); });
  }
  // The bytes of both rows of a pair.
  template <u32 Bytes>
  constexpr val<u32> of_pair(const val<u64>& address, const val<u64>& place, u32 q) const {
    using word = std::conditional_t<Bytes == 1, u8, std::conditional_t<Bytes == 2, u16, u32>>;
    return t_.let(cast<u32>(pointer_at<in<word>>(t_, address)[place / u64{2} + u64{4 * q}]));
  }
  constexpr dsl::register_array<val<f32>, 4> scales_of(const val<u64>& place) const {
    const val type = t_.let(w(&w4_packed::scale_type));
    const val address = t_.let(w(&w4_packed::scales));
    const auto is = [&](w4_scale_type one) { return type == static_cast<u32>(one); };
    auto scales = array_of<4>([&](u32) { return var(t_, 0.0f); });
    if (auto single = t_.when(is(w4_scale_type::f32)))
      for (u32 q = 0; q < 2; ++q) {
        const val both = load_vec<2>(pointer_at<in<f32>>(t_, address)[place + u64{8 * q}]);
        scales[2 * q] = both[0];
        scales[2 * q + 1] = both[1];
      }
    if constexpr (Codes == w4_codes::int4) {
      if (auto halves = t_.otherwise()) {
        const auto both = array_of<2>([&](u32 q) { return of_pair<4>(address, place, q); });
        if (auto half = t_.when(is(w4_scale_type::f16)))
          for (u32 i = 0; i < 4; ++i) {
            const val pair = t_.let(bit_cast<f16x2>(both[i / 2]));
            if (i % 2 == 0)
              scales[i] = cast<f32>(low(pair));
            else
              scales[i] = cast<f32>(high(pair));
          }
        if (auto brain = t_.otherwise())
          for (u32 i = 0; i < 4; ++i)
            scales[i] =
                bit_cast<f32>(i % 2 == 0 ? t_.let(both[i / 2] << 16) : t_.let(both[i / 2] & 0xffff0000u));
      }
    } else if constexpr (is_table) {
      if (auto bytes = t_.otherwise()) {
        const val exponents = t_.let(is(w4_scale_type::e8m0));
        for (u32 q = 0; q < 2; ++q) {
          const val both = of_pair<2>(address, place, q);
          for (u32 r = 0; r < 2; ++r) {
            const val byte = t_.let(both >> (8 * r) & 0xffu);
            const val as_e8m0 = scale_of_e8m0(t_, byte), as_e4m3 = scale_of_e4m3(t_, byte);
            scales[2 * q + r] = select(exponents, as_e8m0, as_e4m3);
          }
        }
      }
    }
    return array_of<4>([&](u32 row) { return t_.let(scales[row]); });
  }
  // The number of one byte of codes.
  constexpr val<f32> number_of(const val<u32>& codes, u32 byte, const val<f32>& minus) const {
    const val own =
        t_.let(byte_perm(codes, is_integer ? 0x4b000000u : 0u, (is_integer ? 0x7440u : 0x4440u) + byte));
    if constexpr (is_integer)
      return t_.let(bit_cast<f32>(own) - minus);
    else if constexpr (is_table)
      return shfl_idx(number_, own);
    else
      return number_of_e4m3(t_, own);
  }
  // Calls f(index of a weight, number of its row); the rows' numbers are f32.
  template <class F>
  constexpr void for_rows(const val<u64>& address, const F& f) const {
    for (u32 row = 0; row < 4; ++row) {
      const val number = pointer_at<in<f32>>(t_, address)[u64{row / 2 * 8 + row % 2}];
      for (u32 i = 0; i < 8; ++i) f(row * 8 + i, number);
    }
  }
  template <class Pairs, class Wait>
  constexpr void store(const val<u32>& tile_k, const Pairs& pairs, const Wait& wait) const {
    wait();
    const val n = t_.let(w(&w4_packed::n));
    const val line = t_.let(line_ + mul_wide(tile_k, w4_tile_k * 2));
    if (auto exists = t_.when(tile_k * w4_tile_k + chunk_ * 8u < w(&w4_packed::k)))
      for (u32 row = 0; row < 4; ++row)
        if (auto stored = t_.when(n_ + (row / 2 * 8 + row % 2) < n))
          store_vec(
              pointer_at<out<u32>>(t_, t_.let(line + pitch_of_out_ * u64{row / 2 * 8 + row % 2}))[u64{0}],
              make_vec(pairs[4 * row], pairs[4 * row + 1], pairs[4 * row + 2], pairs[4 * row + 3]));
  }

  thread t_;
  Problem problem_;
  val<u32> pitch_, chunk_, n_;
  val<u64> pitch_of_out_, line_, first_word_;
  val<f32> number_;
};

}  // namespace detail

// Launched with a warp for each strip of each 16 rows among the first w.n rows of W, counted along K first.
// From sm_90 on the launch is programmatic, and the next kernel begins early.
template <std::uint32_t Sm>
inline constexpr auto dequantise_w4_rows =
    kaio::kernel<"dequantise_w4_rows_sm" + decimal<Sm>, block_size{w4_rows_threads},
                 kernel_options{.target = {Sm}, .min_blocks = 4}>([](thread t, val<w4_rows_problem> problem) {
      if constexpr (Sm >= 90) {
        if (auto late = t.when(problem[&w4_rows_problem::early] == 0u)) grid_dependency_wait(t);
        launch_dependents(t);
      }
      const auto w = problem[&w4_rows_problem::w];
      const val tiles_k = t.let(w[&w4_packed::tiles_k]), type = t.let(w[&w4_packed::codes_type]);
      const quotient of = divide(t, t.let(block_idx_x() * (w4_rows_threads / 32) + t.warp_rank()),
                                 problem[&w4_rows_problem::strips]);
      const val first_row = t.let(of.whole * w4_rows_of_warp);
      const val first = t.let(of.rest * problem[&w4_rows_problem::strip]);
      const val last = t.let(min(first + problem[&w4_rows_problem::strip], tiles_k));
      if (auto exists = t.when(first_row < w[&w4_packed::n])) {
        const auto run = [&]<w4_codes Codes>() {
          const detail::w4_rows<Codes, val<w4_rows_problem>> rows(t, problem, first_row);
          for (auto tile : t.range(first, last).no_unroll())
            rows.run(t.let(tile), [&] {
              if constexpr (Sm >= 90) grid_dependency_wait(t);
            });
        };
        if (auto nibbles = t.when(type == static_cast<u32>(w4_codes::int4)))
          run.template operator()<w4_codes::int4>();
        if (auto table = t.when(
                all_of(type >= static_cast<u32>(w4_codes::nf4), type <= static_cast<u32>(w4_codes::e2m1))))
          run.template operator()<w4_codes::nf4>();
        if (auto bytes = t.when(type == static_cast<u32>(w4_codes::int8)))
          run.template operator()<w4_codes::int8>();
        if (auto floats = t.when(type == static_cast<u32>(w4_codes::e4m3)))
          run.template operator()<w4_codes::e4m3>();
      }
    });

}  // namespace kaio::ops
