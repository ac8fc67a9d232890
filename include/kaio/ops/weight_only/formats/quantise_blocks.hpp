#pragma once
// Quantises numbers to blocks of codes. A group of lanes handles a block, eight neighbours per lane and step.
// Shuffles find the block's largest magnitude; then the numbers are read again, from the caches, and encoded.
//
//   q4_0, q8_0     blocks of 32, 4 lanes            ggml, quantize_row_q4_0_ref, quantize_row_q8_0_ref
//   nf4, fp4       a power of two, 32 to 65536      bitsandbytes, csrc/kernels.cu
//   mxfp4          32, 4 lanes                      OCP MX 1.0, with floor
//   nvfp4          16, 2 lanes                      torchao, nvfp4_quantize

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/formats/block_codes.hpp>
#include <kaio/ops/weight_only/formats/load_numbers.hpp>
#include <kaio/ops/weight_only/formats/quantise_problem.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 quantise_blocks_threads = 256;

namespace detail {

// Stores eight bytes at an address that is a multiple of 2.
constexpr void store_by_two(thread t, const val<u64>& address, const val<u32>& low, const val<u32>& high) {
  const auto to = pointer_at<out<u16>>(t, address);
  to[0] = cast<u16>(low);
  to[1] = cast<u16>(low >> 16);
  to[2] = cast<u16>(high);
  to[3] = cast<u16>(high >> 16);
}
// Stores the first `bytes` of a word's four bytes.
constexpr void store_part(thread t, const val<u64>& address, const val<u32>& word, const val<u32>& bytes) {
  const auto to = pointer_at<out<u8>>(t, address);
  for (u32 i = 0; i < 4; ++i)
    if (auto exists = t.when(bytes > i)) to[i] = cast<u8>(word >> (8 * i));
}

// Eight codes of four bits, the first in the lowest nibble.
template <class Code>
constexpr val<u32> nibbles_of(thread t, const eight_numbers& x, const Code& code) {
  var<u32> word(t, 0u);
  for (u32 i = 0; i < 8; ++i) {
    const val one = code(t.let(x[i]));
    word |= one << (4 * i);
  }
  return t.let(word);
}

// The factor that multiplies a block's numbers, and the stored bits of its scale.
struct chosen_scale {
  var<f32> by;
  var<u32> bits;
};

template <class P>
constexpr chosen_scale choose_scale(thread t, const P& p, const val<u32>& kind, const val<u32>& largest,
                                    const val<bool>& is_negative) {
  chosen_scale result{var(t, 0.0f), var(t, 0u)};
  const val amax = t.let(bit_cast<f32>(largest));
  const auto is = [&](u32 one) { return t.let(kind == one); };
  const auto inverse = [&](const val<f32>& d) { return t.let(select(d == 0.0f, 0.0f, 1.0f / d)); };
  if (auto q4 = t.when(is(quantised_kind::q4_0))) {
    const val d = t.let(select(is_negative, -amax, amax) / -8.0f);
    result.by = inverse(d);
    result.bits = cast<u32>(bit_cast<u16>(cast<f16>(d)));
  }
  if (auto q8 = t.when(is(quantised_kind::q8_0))) {
    const val d = t.let(amax / 127.0f);
    result.by = inverse(d);
    result.bits = cast<u32>(bit_cast<u16>(cast<f16>(d)));
  }
  const val is_nf4 = is(quantised_kind::nf4), is_fp4 = is(quantised_kind::fp4);
  if (auto table = t.when(any_of(is_nf4, is_fp4))) {
    result.by = 1.0f / amax;
    result.bits = largest;
  }
  if (auto power = t.when(is(quantised_kind::mxfp4))) {
    const val exponent = t.let(largest >> 23);
    const val b = t.let(select(exponent < 2u, 0u, exponent - 2u));
    // 2^(127 - b): b is at most 252.
    result.by = bit_cast<f32>((254u - b) << 23);
    result.bits = select(exponent == 255u, 255u, b);
  }
  if (auto little = t.when(is(quantised_kind::nvfp4))) {
    var factor(t, 1.0f);
    const val at = t.let(p[&quantise_blocks_problem::factor]);
    if (auto has = t.when(at != u64{0})) factor = pointer_at<in<f32>>(t, at)[0];
    const val wanted = t.let(amax / 6.0f / factor);
    const val kept = t.let(cast<e4m3>(min(max(wanted, 0.015625f), 448.0f)));
    result.by = 1.0f / factor / cast<f32>(kept);
    result.bits = cast<u32>(bit_cast<u8>(kept));
  }
  return result;
}

}  // namespace detail

// Launched with `lanes` threads per block of codes.
inline constexpr auto quantise_blocks =
    kaio::kernel<"quantise_blocks", block_size{quantise_blocks_threads}, kernel_options{.contract = false}>(
        [](thread t, val<quantise_blocks_problem> p) {
          using problem = quantise_blocks_problem;
          const val kind = t.let(p[&problem::kind]), lanes = t.let(p[&problem::lanes]),
                    size = t.let(p[&problem::size]);
          const val type = t.let(p[&problem::type]), blocks = t.let(p[&problem::blocks]);
          const val steps = t.let(p[&problem::steps]), columns = t.let(p[&problem::columns]);
          const val index = t.global_id();
          const val own = t.let(index >> p[&problem::lanes_log2]);
          const val lane = t.let(index & (lanes - 1u));
          const val exists = t.let(own < blocks);
          const quotient place = divide(t, t.let(min(own, blocks - 1u)), p[&problem::row_blocks]);
          const val row = place.whole, first = t.let(place.rest * size);
          const val by_16 = t.let(p[&problem::x_by_16] != 0u);
          const val x_row = t.let(cast<i64>(row) * p[&problem::x_row]);
          const val x_at = t.let(p[&problem::x]);
          // `end` is the column after this block's last element; a block that does not exist has no elements.
          const val end = t.let(select(exists, min(first + size, columns), first));
          const auto load = [&](const val<u32>& step, eight_numbers& x) {
            const val column = t.let(first + (step * lanes + lane) * 8u);
            const val count = t.let(select(column < end, min(end - column, 8u), 0u));
            load_numbers(t, x_at, type, t.let(x_row + cast<i64>(column)), count, by_16, x);
            return column;
          };

          var<u32> own_largest(t, 0u);
          for (auto step : t.range(0u, steps)) {
            auto x = no_numbers(t);
            load(step, x);
            own_largest = max(own_largest, largest_bits(t, x));
          }
          const auto greater = [](const val<u32>& a, const val<u32>& b) { return max(a, b); };
          const auto lesser = [](const val<u32>& a, const val<u32>& b) { return min(a, b); };
          const val largest = reduce_lanes(t, t.let(own_largest), lanes, greater);
          var<u32> sign(t, 0u);
          if (auto of_first = t.when(kind == u32{quantised_kind::q4_0})) {
            auto x = no_numbers(t);
            load(t.let(0u), x);
            // key = 2 * position + sign: the least key has the sign of the first number of that magnitude.
            var<u32> earliest(t, 0xffffffffu);
            for (u32 i = 0; i < 8; ++i) {
              const val bits = t.let(bit_cast<u32>(x[i]));
              const val key = t.let(((lane * 8u + i) * 2u) | bits >> 31);
              earliest = select((bits & 0x7fffffffu) == largest, min(earliest, key), earliest);
            }
            sign = reduce_lanes(t, t.let(earliest), lanes, lesser) & 1u;
          }
          const detail::chosen_scale scale = detail::choose_scale(t, p, kind, largest, t.let(sign != 0u));
          const val by = t.let(scale.by);
          const val bits = t.let(scale.bits);

          const val codes = t.let(p[&problem::codes] + cast<u64>(cast<i64>(row) * p[&problem::codes_row]));
          const val is_block = t.let(kind <= u32{quantised_kind::q8_0});
          const val block_bytes = t.let(select(kind == u32{quantised_kind::q4_0}, 18u, 34u));
          const val block = t.let(codes + mul_wide(place.rest, block_bytes));
          if (auto of_block = t.when(all_of(exists, lane == 0u))) {
            const val scales = t.let(p[&problem::scales]);
            const val at = t.let(cast<i64>(row) * p[&problem::scales_row] + cast<i64>(place.rest));
            if (auto halves = t.when(is_block)) pointer_at<out<u16>>(t, block)[0] = cast<u16>(bits);
            if (auto words =
                    t.when(any_of(kind == u32{quantised_kind::nf4}, kind == u32{quantised_kind::fp4})))
              pointer_at<out<u32>>(t, scales)[at] = bits;
            if (auto bytes = t.when(kind >= u32{quantised_kind::mxfp4}))
              pointer_at<out<u8>>(t, scales)[at] = cast<u8>(bits);
          }
          for (auto step : t.range(0u, steps)) {
            auto x = no_numbers(t);
            const val column = load(step, x);
            for (u32 i = 0; i < 8; ++i) x[i] = x[i] * by;
            if (auto whole_bytes = t.when(kind == u32{quantised_kind::q8_0})) {
              const auto code = array_of<8>([&](u32 i) {
                const val nearest = t.let(cast<i32>(round(x[i])));
                return t.let(cast<u32>(nearest) & 0xffu);
              });
              const val low = t.let(code[0] | code[1] << 8 | code[2] << 16 | code[3] << 24);
              const val high = t.let(code[4] | code[5] << 8 | code[6] << 16 | code[7] << 24);
              if (auto has = t.when(exists))
                detail::store_by_two(t, t.let(block + u64{2} + cast<u64>(lane * 8u)), low, high);
            }
            if (auto nibbles = t.when(kind != u32{quantised_kind::q8_0})) {
              var<u32> word(t, 0u);
              if (auto q4 = t.when(kind == u32{quantised_kind::q4_0}))
                word = detail::nibbles_of(
                    t, x, [&](const val<f32>& y) { return t.let(min(cast<u32>(cast<i32>(y + 8.5f)), 15u)); });
              if (auto nf4 = t.when(kind == u32{quantised_kind::nf4}))
                word = detail::nibbles_of(t, x, [&](const val<f32>& y) { return code_of_nf4(t, y); });
              if (auto fp4 = t.when(kind == u32{quantised_kind::fp4}))
                word = detail::nibbles_of(t, x, [&](const val<f32>& y) { return code_of_fp4(t, y); });
              if (auto e2m1 = t.when(kind >= u32{quantised_kind::mxfp4}))
                word = detail::nibbles_of(t, x, [&](const val<f32>& y) { return code_of_e2m1(t, y); });
              // q4_0: elements e and e + 16 share a byte. Lane + 2 has e + 16.
              const val other = t.let(shfl_xor(word, 2u));
              if (auto halves = t.when(all_of(kind == u32{quantised_kind::q4_0}, exists, lane < 2u))) {
                const val even = t.let((word & 0x0f0f0f0fu) | (other & 0x0f0f0f0fu) << 4);
                const val odd = t.let((word >> 4 & 0x0f0f0f0fu) | (other & 0xf0f0f0f0u));
                const val low = t.let(byte_perm(even, odd, 0x5140u)),
                          high = t.let(byte_perm(even, odd, 0x7362u));
                detail::store_by_two(t, t.let(block + u64{2} + cast<u64>(lane * 8u)), low, high);
              }
              if (auto neighbours = t.when(all_of(kind != u32{quantised_kind::q4_0}, column < end))) {
                const val turned = t.let((word & 0x0f0f0f0fu) << 4 | (word >> 4 & 0x0f0f0f0fu));
                const val ordered = t.let(select(kind >= u32{quantised_kind::mxfp4}, word, turned));
                const val address = t.let(codes + cast<u64>(column / 2u));
                const val count = t.let((min(end - column, 8u) + 1u) / 2u);
                if (auto whole = t.when(all_of(p[&problem::codes_by_4] != 0u, count == 4u)))
                  pointer_at<out<u32>>(t, address)[0] = ordered;
                if (auto split = t.otherwise()) detail::store_part(t, address, ordered, count);
              }
            }
          }
        });

// Launched in phase 1 with one thread per eight elements.
inline constexpr auto tensor_scale =
    kaio::kernel<"tensor_scale", block_size{quantise_blocks_threads}, kernel_options{.contract = false}>(
        [](thread t, inout<u32> scale, val<tensor_scale_problem> p) {
          using problem = tensor_scale_problem;
          const val phase = t.let(p[&problem::phase]);
          const val index = t.global_id();
          const val is_first = t.let(index == 0u);
          if (auto begin = t.when(all_of(phase == 0u, is_first))) scale[0] = 0u;
          if (auto search = t.when(phase == 1u)) {
            auto x = no_numbers(t);
            const val eights = t.let(p[&problem::eights]);
            const quotient place = divide(t, t.let(min(index, eights - 1u)), p[&problem::row_eights]);
            const val column = t.let(place.rest * 8u);
            const val count = t.let(select(index < eights, min(p[&problem::columns] - column, 8u), 0u));
            const val at = t.let(cast<i64>(place.whole) * p[&problem::x_row] + cast<i64>(column));
            const val memory = t.let(p[&problem::x]);
            const val type = t.let(p[&problem::type]);
            load_numbers(t, memory, type, at, count, t.let(p[&problem::x_by_16] != 0u), x);
            const val largest = block_reduce(t, largest_bits(t, x), maximum{});
            if (auto one = t.when(t.thread_rank() == 0u)) atomic_max(scale[0], largest);
          }
          if (auto finish = t.when(all_of(phase == 2u, is_first))) {
            const val largest = t.let(bit_cast<f32>(scale[0]));
            const val quotient = t.let(largest / 2688.0f);
            scale[0] = bit_cast<u32>(t.let(select(quotient == 0.0f, 1.0f, quotient)));
          }
        });

}  // namespace kaio::ops
