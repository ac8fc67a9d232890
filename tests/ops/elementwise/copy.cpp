// copy moves elements of every size between any strides, and converts f32, f16 and bf16.
#include "tests/ops/elementwise/support.hpp"

#include <kaio/ops/copy.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class To, class From, std::size_t Rank>
void check(strided_tensor<To, Rank> to, const strided_tensor<From, Rank>& from) {
  auto on_to = upload(to.host);
  auto on_from = upload(from.host);
  copy(under_test().stream(), to.view(on_to), from.template view<const From>(on_from));
  to.each([&](const std::array<i64, Rank>& place) {
    std::array<i64, Rank> source = place;
    for (std::size_t d = 0; d < Rank; ++d)
      if (from.extents[d] == 1) source[d] = 0;
    if constexpr (std::is_same_v<To, From>)
      to.at(place) = from.at(source);
    else
      to.at(place) = from_float<To>(static_cast<float>(from.at(source)));
  });
  REQUIRE(same_memory(on_to.download(), to.host));
}

template <class To, class From = To>
void check_permutations() {
  for (const i64 columns : {64, 65, 130}) {
    CAPTURE(columns, sizeof(To), sizeof(From));
    strided_tensor<From, 2> turned({70, columns}, {1, 0}), rows({70, columns}, {0, 1}, 2);
    check(strided_tensor<To, 2>({70, columns}), turned.fill(1));
    check(strided_tensor<To, 2>({70, columns}, {1, 0}, 5, 1), rows.fill(2));
    check(strided_tensor<To, 2>({70, columns}), rows);
  }
  for (const auto& [rows, columns] : {std::pair<i64, i64>{64, 64}, {72, 136}, {136, 24}}) {  // whole pieces
    CAPTURE(rows, columns, sizeof(To), sizeof(From));
    strided_tensor<From, 2> turned({rows, columns}, {1, 0}), padded({rows, columns}, {1, 0}, 16, 16);
    check(strided_tensor<To, 2>({rows, columns}), turned.fill(7));
    check(strided_tensor<To, 2>({rows, columns}, {0, 1}, 16, 16), padded.fill(8));
    check(strided_tensor<To, 2>({rows, columns}, {0, 1}, 1), padded);
    check(strided_tensor<To, 2>({rows, columns}, {0, 1}, 16, 1), turned);
  }
  strided_tensor<From, 1> flat({5000});
  check(strided_tensor<To, 1>({5000}), flat.fill(3));
  check(strided_tensor<To, 1>({5000}, {0}, 0, 1), flat);
  strided_tensor<From, 4> heads({2, 5, 3, 32}, {0, 2, 1, 3});
  check(strided_tensor<To, 4>({2, 5, 3, 32}), heads.fill(4));
  strided_tensor<From, 5> five({3, 17, 2, 18, 3}, {4, 3, 2, 1, 0});
  check(strided_tensor<To, 5>({3, 17, 2, 18, 3}), five.fill(5));
  strided_tensor<From, 3> one({1, 20, 1}, {0, 1, 2}, 0, 1);
  check(strided_tensor<To, 3>({18, 20, 17}, {2, 0, 1}), one.fill(6));
}

}  // namespace

TEST_CASE("copy: one type, by the size of its elements", "[ops][copy]") {
  check_permutations<u8>();
  check_permutations<bf16>();
  check_permutations<i32>();
  check_permutations<f64>();
}

TEST_CASE("copy: f32, f16 and bf16 into each other", "[ops][copy]") {
  check_permutations<f16, f32>();
  check_permutations<bf16, f32>();
  check_permutations<f32, f16>();
  check_permutations<bf16, f16>();
  check_permutations<f32, bf16>();
  check_permutations<f16, bf16>();
}

TEST_CASE("copy: rows of bytes that are whole words, and nearly so", "[ops][copy]") {
  for (const i64 columns : {8, 12, 20, 24, 30, 31, 100})
    for (const i64 pad : {0, 1, 2, 4, 8})
      for (const i64 shift : {0, 2, 8}) {
        CAPTURE(columns, pad, shift);
        strided_tensor<u8, 2> from({9, columns}, {0, 1}, pad);
        check(strided_tensor<u8, 2>({9, columns}, {0, 1}, 0, shift), from.fill(7));
        strided_tensor<u8, 2> one({1, columns});
        check(strided_tensor<u8, 2>({9, columns}, {0, 1}, pad, shift), one.fill(8));
      }
}

TEST_CASE("copy: random permutations", "[ops][copy]") {
  const std::uint64_t seed = std::random_device{}();
  std::mt19937_64 engine(seed);
  for (int i = 0; i < 40; ++i) {
    CAPTURE(seed, i);
    std::array<i64, 4> extents{};
    for (i64& e : extents) e = 1 + static_cast<i64>(engine() % 20);
    std::array<u32, 4> from{0, 1, 2, 3}, to{0, 1, 2, 3};
    std::shuffle(from.begin(), from.end(), engine);
    std::shuffle(to.begin(), to.end(), engine);
    strided_tensor<f32, 4> source(extents, from, static_cast<i64>(engine() % 3),
                                  static_cast<i64>(engine() % 3));
    check(strided_tensor<f32, 4>(extents, to, static_cast<i64>(engine() % 3)), source.fill(seed + 1));
    check(strided_tensor<bf16, 4>(extents, to), source);
  }
}

TEST_CASE("copy: NaN, infinity and empty views", "[ops][copy]") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  auto from = under_test().upload(std::vector<f32>{nan, inf, -inf, 1e30f, 0.0f, -0.0f, 65520.0f, 1.0f});
  auto to = under_test().allocate<f16>(8);
  copy(under_test().stream(), tensor_view(to, 8), tensor_view<const f32, 1>(from, 8));
  const auto got = to.download();
  REQUIRE(std::isnan(to_double(got[0])));
  for (const std::size_t i : {1u, 3u, 6u}) REQUIRE(to_double(got[i]) == static_cast<double>(inf));
  REQUIRE(to_double(got[2]) == -static_cast<double>(inf));
  REQUIRE(std::signbit(to_double(got[5])));
  copy(under_test().stream(), tensor_view(to, 0, 8), tensor_view(from, 0, 8));
  REQUIRE(same_memory(to.download(), got));
}

TEST_CASE("copy: bad input", "[ops][copy]") {
  auto memory = under_test().allocate<f32>(64);
  const tensor_view<f32, 2> x(memory, 8, 8);
  const auto refused = [&](const std::string& part, const auto& to, const auto& from) {
    require_refusal(errc::invalid_argument, "kaio: copy: ", part,
                    [&] { copy(under_test().stream(), to, from); });
  };
  refused("output to shares memory with argument from", x.slice(0, 0, 4), x.slice(0, 2, 4));
  refused("output to shares memory with argument from", x, x.transposed());
  refused("argument from has extent 1 of 7", x.slice(0, 0, 1), x.slice(1, 0, 7).slice(0, 1, 1));
  refused("argument from is a null tensor_view", x, tensor_view<f32, 2>());
}
