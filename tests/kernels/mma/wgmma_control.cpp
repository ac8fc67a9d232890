// Products of wgmma that follow each other: in flight around a loop, from parts of tiles, from registers,
// from accumulators.
#include "tests/kernels/mma/wgmma_control_kernels.hpp"
#include "tests/kernels/mma/wgmma_model.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

struct two_matrices {
  number_matrix a, b;
  two_matrices(u32 rows, u32 columns, u32 depth, u32 seed) : a(rows, depth), b(columns, depth) {
    std::mt19937 engine(seed);
    a.randomise<f16>(engine);
    b.randomise<f16>(engine);
  }
  std::vector<double> times() const {
    return product(a, b, 1, std::vector<double>(std::size_t{a.rows} * b.rows));
  }
};

number_matrix part(const number_matrix& m, u32 first, u32 rows) {
  number_matrix result(rows, m.depth);
  for (u32 r = 0; r < rows; ++r)
    for (u32 k = 0; k < m.depth; ++k) result.at(r, k) = m.at(first + r, k);
  return result;
}

template <class A, class B, class D, u32 N, major MajorB>
void check_registers(u32 seed) {
  std::mt19937 engine(seed);
  number_matrix a(64, 256 / dsl::matrix_element<A>::bits), b(N, a.depth);
  a.randomise<A>(engine);
  b.randomise<B>(engine);
  const auto a_bytes = in_memory<A>(a, major::k);
  std::vector<u32> a_words(64 * 8);
  REQUIRE(a_bytes.size() * sizeof a_bytes[0] == a_words.size() * 4);
  std::memcpy(a_words.data(), a_bytes.data(), a_words.size() * 4);
  auto a_buffer = under_test().upload(a_words);
  auto b_buffer = under_test().upload(in_memory<B>(b, MajorB));
  auto c_buffer = poisoned<D>(64 * N);
  wgmma_from_registers<A, B, D, N, MajorB>.launch(under_test().stream(), grid(1), a_buffer, b_buffer,
                                                  c_buffer);
  INFO(matrix_type_name<A>.view() << " seed " << seed);
  CHECK(count_different(c_buffer.download(), as_type<D>(product(a, b, 1, std::vector<double>(64 * N)))) == 0);
}

}  // namespace

TEST_CASE("products of wgmma are under way while the next tile is filled", "[wgmma]") {
  for (const u32 tiles : {1u, 2u, 5u}) {
    const two_matrices m(128, 32, tiles * 64, tiles);
    auto a = under_test().upload(in_memory<f16>(m.a, major::k));
    auto b = under_test().upload(in_memory<f16>(m.b, major::mn));
    auto c = poisoned<f32>(128 * 32);
    wgmma_pipeline.launch(under_test().stream(), grid(1), a, b, c, tiles);
    INFO(tiles << " tiles");
    CHECK(count_different(c.download(), as_type<f32>(m.times())) == 0);
  }
}

TEST_CASE("wgmma reads rows and slices of larger tiles into several accumulators", "[wgmma]") {
  const two_matrices m(128, 32, 128, 7);
  auto a = under_test().upload(in_memory<bf16>(m.a, major::k));
  auto b = under_test().upload(in_memory<bf16>(m.b, major::k));
  auto c = poisoned<f32>(2 * 64 * 16);
  wgmma_parts.launch(under_test().stream(), grid(1), a, b, c);
  std::vector<double> wanted;
  for (u32 half = 0; half < 2; ++half) {
    const auto d =
        product(part(m.a, 64 * half, 64), part(m.b, 16 * half, 16), 1, std::vector<double>(64 * 16));
    wanted.insert(wanted.end(), d.begin(), d.end());
  }
  CHECK(count_different(c.download(), as_type<f32>(wanted)) == 0);
}

TEST_CASE("wgmma takes A from registers", "[wgmma]") {
  check_registers<f16, f16, f32, 16, major::k>(1);
  check_registers<bf16, bf16, f32, 32, major::mn>(2);
  check_registers<f16, f16, f16, 16, major::mn>(3);
  check_registers<tf32, tf32, f32, 8, major::k>(4);
  check_registers<e5m2, e4m3, f32, 8, major::k>(5);
  check_registers<i8, u8, i32, 8, major::k>(6);
  check_registers<b1, b1, i32, 8, major::k>(7);
}

TEST_CASE("pairs of an accumulator are the next product's A", "[wgmma]") {
  const two_matrices m(64, 32, 64, 9);
  std::mt19937 engine(10);
  number_matrix v(8, 32), s(64, 32);
  v.randomise<f16>(engine);
  const auto first = m.times();
  for (std::size_t i = 0; i < first.size(); ++i)
    s.numbers[i] = static_cast<float>(f16(static_cast<float>(first[i])));
  auto a = under_test().upload(in_memory<f16>(m.a, major::k));
  auto b = under_test().upload(in_memory<f16>(m.b, major::k));
  auto v_buffer = under_test().upload(in_memory<f16>(v, major::k));
  auto d = poisoned<f32>(64 * 8);
  wgmma_chain.launch(under_test().stream(), grid(1), a, b, v_buffer, d);
  CHECK(count_different(d.download(), as_type<f32>(product(s, v, 1, std::vector<double>(64 * 8)))) == 0);
}

TEST_CASE("pairs of an accumulator are what stmatrix stores", "[wgmma]") {
  const two_matrices m(64, 64, 64, 14);
  auto a = under_test().upload(in_memory<bf16>(m.a, major::k));
  auto b = under_test().upload(in_memory<bf16>(m.b, major::mn));
  auto c = poisoned<bf16>(64 * 64);
  wgmma_stored.launch(under_test().stream(), grid(1), a, b, c);
  CHECK(count_different(c.download(), as_type<bf16>(m.times())) == 0);
}

TEST_CASE("wgmma reads what a descriptor of the user's own names", "[wgmma]") {
  const two_matrices m(64, 16, 16, 12);
  auto a = under_test().upload(in_memory<f16>(m.a, major::k));
  auto b = under_test().upload(in_memory<f16>(m.b, major::k));
  auto c = poisoned<f32>(64 * 16);
  wgmma_by_descriptor.launch(under_test().stream(), grid(1), a, b, c);
  CHECK(count_different(c.download(), as_type<f32>(m.times())) == 0);
}
