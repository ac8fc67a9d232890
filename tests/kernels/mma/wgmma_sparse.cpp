// wgmma multiplies an A that stores half of its elements: the metadata of every pattern, element and
// selector.
#include "tests/kernels/mma/wgmma_model.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// A with its zeros, its stored elements, and the metadata of 128 threads. Source: PTX ISA, "Sparse matrix
// storage".
struct sparse_matrix {
  number_matrix full, kept;
  std::vector<u32> metadata = std::vector<u32>(128);
};

template <class A, u32 Selector>
sparse_matrix random_sparse(std::mt19937& engine) {
  constexpr u32 bits = dsl::matrix_element<A>::bits;
  constexpr u32 depth = 512 / bits;          // K of the instruction
  constexpr u32 chunk = bits == 32 ? 2 : 4;  // neighbours, half of them stored
  constexpr u32 chunks = depth / chunk;
  sparse_matrix m{number_matrix(64, depth), number_matrix(64, depth / 2)};
  m.kept.randomise<A>(engine);
  for (u32 row = 0; row < 64; ++row)
    for (u32 q = 0; q < chunks; ++q) {
      u32 code = 0;
      if (chunk == 2) {
        const u32 which = static_cast<u32>(engine() % 2);
        code = which == 0 ? 0b0100 : 0b1110;
        m.full.at(row, q * 2 + which) = m.kept.at(row, q);
      } else {
        const u32 first = static_cast<u32>(engine() % 3);
        const u32 second = first + 1 + static_cast<u32>(engine() % (3 - first));
        code = first | second << 2;
        m.full.at(row, q * 4 + first) = m.kept.at(row, q * 2);
        m.full.at(row, q * 4 + second) = m.kept.at(row, q * 2 + 1);
      }
      // 8-bit elements: each lane of four has 8 chunks of a row. Others: the two lanes that the selector
      // names have half of the chunks each, row g in their lower 16 bits and row g + 8 in the upper.
      const u32 group = row % 8, upper = row % 16 / 8, half = q / (chunks / 2), within = q % (chunks / 2);
      const u32 lane = bits == 8 ? group * 4 + half * 2 + upper : group * 4 + Selector * 2 + half;
      const u32 shift = bits == 8 ? within * 4 : 16 * upper + within * 4;
      m.metadata[row / 16 * 32 + lane] |= code << shift;
    }
  return m;
}

template <class Case, u32 Selector = 0>
void check_sparse(u32 seed) {
  std::mt19937 engine(seed);
  using A = typename Case::A;
  using B = typename Case::B;
  using D = typename Case::D;
  const sparse_matrix a = random_sparse<A, Selector>(engine);
  number_matrix b(Case::n, Case::depth), last(Case::n, a.full.depth);
  b.randomise<B>(engine);
  for (u32 column = 0; column < Case::n; ++column)
    for (u32 k = 0; k < last.depth; ++k) last.at(column, k) = b.at(column, b.depth - last.depth + k);
  auto kept = under_test().upload(in_memory<A>(a.kept, major::k));
  auto metadata = under_test().upload(a.metadata);
  auto b_buffer = under_test().upload(in_memory<B>(b, Case::major_b));
  auto c = poisoned<D>(64 * Case::n);
  wgmma_sparse<Case, Selector>.launch(under_test().stream(), grid(1), kept, metadata, b_buffer, c);
  INFO(Case::name.view() << " selector " << Selector);
  const auto wanted = product(a.full, last, 1, std::vector<double>(std::size_t{64} * Case::n));
  CHECK(count_different(c.download(), as_type<D>(wanted)) == 0);
}

}  // namespace

TEST_CASE("wgmma multiplies a sparse A", "[wgmma]") {
  constexpr major k = major::k, mn = major::mn;
  check_sparse<wgmma_case<f32, f16, f16, 32>>(1);
  check_sparse<wgmma_case<f32, f16, f16, 32>, 1>(2);
  check_sparse<wgmma_case<f16, f16, f16, 64, k, 128, mn, 128, 2>>(3);
  check_sparse<wgmma_case<f32, bf16, bf16, 8, k, 128, k, 64, 2>, 1>(4);
  check_sparse<wgmma_case<f32, tf32, tf32, 16>>(5);
  check_sparse<wgmma_case<f32, tf32, tf32, 16>, 1>(6);
  check_sparse<wgmma_case<f32, e4m3, e5m2, 8>>(7);
  check_sparse<wgmma_case<i32, i8, u8, 8, k, 128, k, 128, 8>>(8);
}
