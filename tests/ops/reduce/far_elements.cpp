// reduce, scan, histogram and embedding of rows that are more than 2^31 elements apart. The memory between them is
// not touched, so it costs the emulator no memory of the host.
#include "tests/ops/reduce/support.hpp"

#include <kaio/ops/embedding.hpp>
#include <kaio/ops/histogram.hpp>
#include <kaio/ops/reduce.hpp>
#include <kaio/ops/scan.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr i64 size = 72, pitch = (i64{1} << 31) + 64;

// Two rows, 1 and 2 in all elements.
template <class T>
struct far_rows {
  buffer<T> memory = under_test().allocate<T>(static_cast<std::size_t>(pitch + size), uninitialised);

  far_rows() {
    const stream& s = under_test().stream();
    for (const int row : {0, 1}) {
      const std::vector<T> line(size, static_cast<T>(static_cast<float>(row + 1)));
      memory.copy_from(line.data(), line.size(), s, static_cast<std::size_t>(row * pitch));
    }
    s.synchronize();
  }
  tensor_view<T, 2> view() { return {memory, extents(2, size), strides(pitch, 1)}; }
};

}  // namespace

TEST_CASE("reduce, histogram: far elements", "[ops][reduce]") {
  far_rows<u8> x;
  const stream& s = under_test().stream();
  auto sums = under_test().allocate<u32>(size), counts = under_test().allocate<u32>(4);
  reduce(s, plus{}, u32{0}, x.view(), tensor_view<u32, 1>(sums, 2));
  REQUIRE(sums.download()[1] == 2 * size);
  reduce(s, plus{}, u32{0}, x.view(), tensor_view<u32, 1>(sums, size), {.axis = 0});
  REQUIRE(sums.download() == std::vector<u32>(size, 3));
  histogram(s, x.view(), tensor_view<u32, 1>(counts, 4));
  REQUIRE(counts.download() == std::vector<u32>{0, size, size, 0});
}

TEST_CASE("scan: far elements", "[ops][scan]") {
  far_rows<i32> x;
  scan(under_test().stream(), x.view(), x.view());
  auto largest = under_test().allocate<i32>(2);
  reduce(under_test().stream(), maximum{}, i32{0}, x.view(), tensor_view<i32, 1>(largest, 2));
  REQUIRE(largest.download() == std::vector<i32>{size, 2 * size});
}

TEST_CASE("embedding: far elements", "[ops][embedding]") {
  far_rows<f16> weight;
  const stream& s = under_test().stream();
  auto index = under_test().upload(std::vector<i32>{1, 0, 1});
  auto out = under_test().allocate<f16>(3 * size);
  const tensor_view<const i32, 1> indices(index, 3);
  const tensor_view<f16, 2> rows(out, 3, size);
  embedding(s, indices, weight.view(), rows);
  const auto got = out.download();
  REQUIRE(static_cast<float>(got[0]) == 2);
  REQUIRE(static_cast<float>(got[2 * size - 1]) == 1);
  auto workspace = under_test().allocate<u32>(embedding_backward_workspace_bytes(indices, weight.view()) / 4);
  embedding_backward(s, rows, indices, weight.view(), {.workspace = workspace});
  embedding(s, indices, weight.view(), rows);
  REQUIRE(static_cast<float>(out.download()[0]) == 4);
}
