// A call of elementwise beyond 32-bit indices or strides is launched in parts that cover each element once.
// Nothing runs: the launchers record what they are given. Tiles have no bank conflicts.
#include "tests/ops/elementwise/support.hpp"

#include <kaio/ops/elementwise/call/call.hpp>
#include <kaio/ops/elementwise/copy/function.hpp>

using namespace kaio;
using namespace kaio::tests;
using namespace kaio::ops::detail;

namespace {

struct recorded {
  char kernel;
  elementwise_launch launch;
};
std::vector<recorded> launches;

constexpr elementwise_kernels recording{[](const stream&, const elementwise_launch& l) {
                                          launches.push_back({'v', l});
                                        },
                                        [](const stream&, const elementwise_launch& l) {
                                          launches.push_back({'s', l});
                                        },
                                        [](const stream&, const elementwise_launch& l) {
                                          launches.push_back({'t', l});
                                        },
                                        4,
                                        4,
                                        4};

template <std::size_t Rank>
tensor_view<f32, Rank> at(u64 address, const extents<Rank>& e, const strides<Rank>& s) {
  return {device_pointer<f32>{address, u64{1} << 44, nullptr}, e, s};
}
template <std::size_t Rank>
const std::vector<recorded>& run(const tensor_view<f32, Rank>& out, const tensor_view<f32, Rank>& in) {
  launches.clear();
  const elementwise_operand operands[2] = {{"out", out, 0}, {"in", in, 0}};
  run_elementwise(under_test().stream(), "elementwise", operands, 1, 1, recording);
  return launches;
}
constexpr u64 first = u64{1} << 46, second = u64{1} << 47;

}  // namespace

TEST_CASE("elementwise in parts: 2^31 elements and more are one launch of vectors", "[ops][elementwise]") {
  const i64 n = (i64{1} << 31) + 7;
  const auto& made = run(at<1>(first, {n}, {1}), at<1>(second, {n}, {1}));
  REQUIRE(made.size() == 1);
  REQUIRE(made[0].kernel == 'v');
  REQUIRE(made[0].launch.items == (1u << 29) + 1);
  REQUIRE(made[0].launch.rest == 3);
  REQUIRE(made[0].launch.strides[0][4] == 16);
}

TEST_CASE("elementwise in parts: items below 2^31, parts next to each other", "[ops][elementwise]") {
  const i64 n = (i64{5} << 31) + 3;
  for (const i64 shift : {0, 4}) {  // aligned vectors; single elements
    u64 next = first, elements = 0;
    for (const recorded& one :
         run(at<1>(first, {n}, {1}), at<1>(second + static_cast<u64>(shift), {n}, {1}))) {
      const u64 of_one =
          one.kernel == 'v' ? u64{one.launch.items} * 4 + one.launch.rest : u64{one.launch.piece_extent};
      REQUIRE(one.kernel == (shift == 0 ? 'v' : 's'));
      REQUIRE(one.launch.items < u32{1} << 31);
      REQUIRE(one.launch.addresses[0] == next);
      REQUIRE(one.launch.addresses[1] - one.launch.addresses[0] == second - first + static_cast<u64>(shift));
      next += of_one * 4;
      elements += of_one;
    }
    REQUIRE(elements == static_cast<u64>(n));
  }
}

TEST_CASE("elementwise in parts: a transposed input", "[ops][elementwise]") {
  const i64 n = 65536;
  u64 elements = 0;
  for (const recorded& one : run(at<2>(first, {n, n}, {n, 1}), at<2>(second, {n, n}, {1, n}))) {
    REQUIRE(one.kernel == 't');
    REQUIRE(one.launch.staged == 2);
    REQUIRE(one.launch.steps[1] == std::array<u32, 2>{4 * 65536, 4});
    elements += u64{one.launch.tile_extents[0]} * one.launch.tile_extents[1];
  }
  REQUIRE(elements == static_cast<u64>(n) * static_cast<u64>(n));
}

TEST_CASE("elementwise in parts: tiles of whole pieces", "[ops][elementwise]") {
  const i64 pad = 100;  // a multiple of a piece's four elements
  const auto whole = [](i64 rows, i64 columns, u64 out, u64 in, i64 out_row, i64 in_column) {
    const auto& made = run(at<2>(first + out, {rows, columns}, {out_row, 1}),
                           at<2>(second + in, {rows, columns}, {1, in_column}));
    REQUIRE(made.size() == 1);
    REQUIRE(made[0].kernel == 't');
    return made[0].launch.whole;
  };
  REQUIRE(whole(64, 68, 0, 0, pad, pad) == 1);
  REQUIRE(whole(64, 68, 16, 32, pad, pad + 4) == 1);
  REQUIRE(whole(64, 68, 0, 4, pad, pad) == 0);      // the input's address
  REQUIRE(whole(64, 68, 4, 0, pad, pad) == 0);      // the output's address
  REQUIRE(whole(64, 68, 0, 0, pad, pad + 1) == 0);  // a column's
  REQUIRE(whole(64, 68, 0, 0, pad + 2, pad) == 0);  // a row's
  REQUIRE(whole(65, 68, 0, 0, pad, pad) == 0);      // the end of a column
  REQUIRE(whole(64, 67, 0, 0, pad, pad) == 0);      // the end of a row
}

TEST_CASE("elementwise in parts: strides of 4 GiB and more", "[ops][elementwise]") {
  const i64 far = (i64{1} << 30) + 4;
  const auto& made =
      run(at<3>(first, {3, 2, 64}, {far, 128, 1}), at<3>(second, {3, 2, 64}, {128, 2 * far, 1}));
  REQUIRE(made.size() == 6);
  for (u64 k = 0; k < 6; ++k) {
    REQUIRE(made[k].kernel == 'v');
    REQUIRE(made[k].launch.items == 16);
  }
  REQUIRE(made[5].launch.addresses[0] == first + static_cast<u64>(2 * far + 128) * 4);
  REQUIRE(made[5].launch.addresses[1] == second + static_cast<u64>(2 * 128 + 2 * far) * 4);
}

template <class T>
using copied =
    ops::elementwise_signature<ops::copied_bits, ops::elementwise_types<T>, ops::elementwise_types<T>>;
static_assert(ops::elementwise_tiles_kernel<"tiles_1", copied<u8>, 70>.bank_conflicts() == 0);
static_assert(ops::elementwise_tiles_kernel<"tiles_2", copied<u16>, 70>.bank_conflicts() == 0);
static_assert(ops::elementwise_tiles_kernel<"tiles_4", copied<u32>, 70>.bank_conflicts() == 0);
static_assert(ops::elementwise_tiles_kernel<"tiles_8", copied<u64>, 70>.bank_conflicts() == 0);
