// The requirements of each matrix instruction of a warp, and which instructions exist.
#include <kaio/dsl/dsl.hpp>

using namespace kaio;
using ptx::isa_version;

template <class Mma>
constexpr bool is(std::uint16_t sm, isa_version version) {
  return Mma::sm == sm && Mma::version == version;
}

static_assert(is<mma_m8n8k4<f32, f16>>(70, {6, 4}) && is<mma_m8n8k4<f64, f64>>(80, {7, 0}));
static_assert(is<mma_m16n8k8<f16, f16>>(75, {6, 5}) && is<mma_m16n8k8<f32, bf16>>(80, {7, 0}));
static_assert(is<mma_m16n8k16<f32, f16>>(80, {7, 0}) && is<mma_m16n8k16<f64, f64>>(90, {7, 8}));
static_assert(is<mma_m8n8k16<i32, u8, i8>>(75, {6, 5}) && is<mma_m16n8k32<i32, i8>>(80, {7, 0}));
static_assert(is<mma_m16n8k32<f32, e4m3, e5m2>>(89, {8, 4}) && is<mma_m16n8k32<f16, e4m3>>(89, {8, 7}));
static_assert(is<mma_m8n8k128<i32, b1>>(75, {7, 0}) && is<mma_sp_m16n8k32<f32, f16>>(80, {8, 5}));

using ptx::find_mma;
using ptx::modifier;
constexpr bool exists(const ptx::matrix_shape& shape, modifier a, modifier c, bool sparse = false) {
  const ptx::mma_facts* const row = find_mma(shape, a, c, sparse);
  return row != nullptr;
}
static_assert(!exists({16, 8, 16}, modifier::bf16, modifier::f16));
static_assert(exists({16, 8, 32}, modifier::u8, modifier::s32));
static_assert(!exists({16, 8, 32}, modifier::f16, modifier::f32) &&
              exists({16, 8, 32}, modifier::f16, modifier::f32, true));

// A program needs all that its instructions need.
inline constexpr auto on_sm89 = kernel<"on_sm89", 32>([](thread t, out<f32> y) {
  using mma = mma_m16n8k32<f32, e4m3>;
  mma::accumulator c(t, 0.0f);
  const mma::a_fragment a(t, 0);
  const mma::b_fragment b(t, 0);
  mma::multiply_add(c, a, b);
  y[0] = c.element(0);
});
static_assert(on_sm89.needs().target.sm == 89 && on_sm89.needs().version == isa_version{8, 4});
inline constexpr auto on_sm80 = kernel<"on_sm80", 32>([](thread t, out<i32> y) {
  using mma = mma_m8n8k128<i32, b1>;
  mma::accumulator c(t, 0);
  const mma::a_fragment a(t, 1);
  const mma::b_fragment b(t, 1);
  mma::and_popc(c, a, b);
  y[0] = c.element(0);
});
static_assert(on_sm80.needs().target.sm == 80 && on_sm80.needs().version == isa_version{7, 1});

// multiply_add_bits: the registers of fragments of one type, and an instruction for each of two types.
inline constexpr auto of_either = kernel<"of_either", 32>([](thread t, out<f32> y, val<u32> is_bf16) {
  using of_f16 = mma_m16n8k16<f32, f16>;
  of_f16::accumulator c(t, 0.0f);
  const of_f16::a_fragment a(t, f16(1.0f));
  const of_f16::b_fragment b(t, f16(1.0f));
  if (auto brain = t.when(is_bf16 != 0u)) mma_m16n8k16<f32, bf16>::multiply_add_bits(c, a, b);
  if (auto half = t.otherwise()) of_f16::multiply_add_bits(c, a, b);
  y[0] = c.element(0);
});
static_assert(of_either.ptx().count("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {") == 1 &&
              of_either.ptx().count("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {") == 1);
static_assert(of_either.needs().target.sm == 80 && of_either.is_well_formed());
