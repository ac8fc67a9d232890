// The host's arithmetic for wgmma: descriptors, shapes, and that an accumulator's registers are its
// elements.
#include <kaio/dsl/dsl.hpp>

#include <utility>

using namespace kaio;
using ptx::modifier;

namespace {

// K-major rows of 128 bytes: eight of them are 1024 bytes. MN-major: panels of 64 elements by 64 k.
constexpr matrix_descriptor k_major{.swizzle = 128, .leading = 0, .stride = 1024};
static_assert(k_major.low_word() == 0 && k_major.high_word() == (1u << 30 | 64));
constexpr matrix_descriptor mn_major{.swizzle = 64, .leading = 8192, .stride = 512, .base_offset = 3};
static_assert(mn_major.low_word() == 512u << 16 && mn_major.high_word() == (2u << 30 | 3u << 17 | 32));
static_assert(matrix_descriptor{.swizzle = 32}.high_word() == 3u << 30);
static_assert(matrix_descriptor{}.high_word() == 0 && matrix_descriptor{}.low_word() == 1u << 16);

static_assert(dsl::wgmma_depth<f16> == 16 && dsl::wgmma_depth<tf32> == 8 && dsl::wgmma_depth<e4m3> == 32 &&
              dsl::wgmma_depth<b1> == 256);

// 32 numbers of columns for floats; 18 for integers: 8, 16, 24, 32, 48, ... 256.
constexpr u32 count_columns(modifier d) {
  u32 count = 0;
  for (u32 n = 0; n <= 300; ++n) count += dsl::detail::wgmma_has_columns(d, n);
  return count;
}
static_assert(count_columns(modifier::f32) == 32 && count_columns(modifier::f16) == 32);
static_assert(count_columns(modifier::s32) == 18);

// Triples of types that exist: 3 of halves, 1 of tf32, 8 of 8-bit floats, 4 of integers, 1 of bits.
constexpr u32 count_products() {
  constexpr modifier types[] = {modifier::f16, modifier::bf16, modifier::tf32, modifier::e4m3, modifier::e5m2,
                                modifier::s8,  modifier::u8,   modifier::s4,   modifier::u4,   modifier::b1,
                                modifier::f32, modifier::f64,  modifier::s32};
  u32 count = 0;
  for (const modifier d : types)
    for (const modifier a : types)
      for (const modifier b : types) count += dsl::detail::wgmma_exists(d, a, b);
  return count;
}
static_assert(count_products() == 3 + 1 + 8 + 4 + 1);

// Bytes of both signs together came later than the rest.
constexpr ptx::isa_version version_of(modifier a, modifier b) {
  ptx::isa_version version{8, 0};
  std::uint16_t sm = 90;
  ptx::raise_to_matrix(ptx::opcode::wgmma_mma_async, ptx::in_order(modifier::s32, a, b), {64, 8, 32}, version,
                       sm);
  return version;
}
static_assert(version_of(modifier::s8, modifier::u8) == ptx::isa_version{8, 4});
static_assert(version_of(modifier::u8, modifier::u8) == ptx::isa_version{8, 0});

// The registers of the 128 threads are the elements of 64 x N, each once.
template <class D, u32 N>
constexpr bool covers_the_matrix() {
  using accumulator = wgmma_accumulator<D, N>;
  bool seen[64][N] = {};
  for (u32 thread = 0; thread < 128; ++thread)
    for (u32 i = 0; i < accumulator::size(); ++i)
      for (u32 half = 0; half < accumulator::per_register; ++half) {
        const u32 row = thread / 32 * 16 + thread % 32 / 4 + accumulator::row(i);
        const u32 column = thread % 4 * 2 + accumulator::column(i) + half;
        if (row >= 64 || column >= N || seen[row][column]) return false;
        seen[row][column] = true;
      }
  return accumulator::size() * accumulator::per_register * 128 == 64 * N;
}
static_assert(covers_the_matrix<f32, 8>() && covers_the_matrix<f32, 40>() && covers_the_matrix<i32, 48>());
static_assert(covers_the_matrix<f16, 8>() && covers_the_matrix<f16, 104>());

// A pair is two neighbouring elements of a row.
static_assert(wgmma_accumulator<f32, 32>::row(6) == 8 && wgmma_accumulator<f32, 32>::column(6) == 8 &&
              wgmma_accumulator<f32, 32>::row(7) == 8 && wgmma_accumulator<f32, 32>::column(7) == 9);

// Variables that an operand is given are its registers: nothing is copied.
template <bool Moves>
inline constexpr auto given_registers =
    kernel<"given_registers", 128, kernel_options{.target = {90, true}}>([](thread t, in<u32> x, out<f32> y) {
      const shared_tile<f16, 8, 64, dsl::swizzled<128>> tile(t);
      val i = t.thread_rank();
      auto words = array_of<4>([&](u32 q) { return var(t, x[i + q] ^ 1u); });
      const auto rows = [&] {
        if constexpr (Moves)
          return wgmma_register_operand<f16>(std::move(words));
        else
          return wgmma_register_operand<f16>(words);
      }();
      wgmma_accumulator<f32, 8> sums(t);
      {
        wgmma_batch mma(t);
        mma.multiply_add(sums, rows, wgmma_operand<major::k>(tile).slice(0), false);
      }
      wgmma_wait<0>(t);
      y[i] = sums[0];
    });
static_assert(given_registers<false>.ptx().count("mov.b32 %r") ==
              4 + given_registers<true>.ptx().count("mov.b32 %r"));

}  // namespace
