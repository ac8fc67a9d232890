// elementwise gives the function's value at each element, for any strides, broadcasts and types, and writes
// nothing else.
#include "tests/ops/elementwise/support.hpp"

#include <kaio/ops/elementwise.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr auto difference = [](thread, const val<f32>& x, const val<f32>& y) { return x - y; };
constexpr auto scaled_sum = [](thread t, const val<f32>& x, const val<f32>& y, const val<f32>& a) {
  return t.let(fma(x, a, y));
};
constexpr auto difference_f64 = [](const val<f64>& x, const val<f64>& y) { return x - y; };
constexpr auto of_bytes = [](const val<i8>& x, const val<u8>& y) { return cast<i32>(x) * 3 - cast<i32>(y); };

template <std::size_t Rank>
std::array<i64, Rank> broadcast_place(const std::array<i64, Rank>& place,
                                      const std::array<i64, Rank>& extents) {
  std::array<i64, Rank> result = place;
  for (std::size_t d = 0; d < Rank; ++d)
    if (extents[d] == 1) result[d] = 0;
  return result;
}

// Compares f(operands' elements) with the output, in all of its memory.
template <std::size_t Rank, class Out, class X, class Y, class Call, class F>
void check(const strided_tensor<Out, Rank>& out, const strided_tensor<X, Rank>& x,
           const strided_tensor<Y, Rank>& y, const Call& call, const F& f) {
  auto on_out = upload(out.host);
  auto on_x = upload(x.host);
  auto on_y = upload(y.host);
  call(out.view(on_out), x.template view<const X>(on_x), y.template view<const Y>(on_y));
  strided_tensor<Out, Rank> want = out;
  want.each([&](const std::array<i64, Rank>& place) {
    want.at(place) = f(x.at(broadcast_place(place, x.extents)), y.at(broadcast_place(place, y.extents)));
  });
  REQUIRE(same_memory(on_out.download(), want.host));
}

const auto subtract = [](const auto& out, const auto& x, const auto& y) {
  elementwise(under_test().stream(), difference, out, x, y);
};
const auto subtracted = [](float a, float b) { return a - b; };

template <std::size_t Rank>
using dimension_order = std::array<u32, Rank>;

template <std::size_t Rank>
void check_random(std::mt19937_64& engine, i64 most) {
  const auto below = [&](i64 n) { return static_cast<i64>(engine() % static_cast<std::uint64_t>(n)); };
  std::array<i64, Rank> extents{};
  for (i64& e : extents) e = below(4) == 0 ? 8 * (1 + below(std::max<i64>(most / 8, 1))) : 1 + below(most);
  const auto tensor = [&](bool is_input) {
    dimension_order<Rank> by = strided_tensor<f32, Rank>::row_major();
    if (below(2) == 0) std::shuffle(by.begin(), by.end(), engine);
    std::array<i64, Rank> own = extents;
    if (is_input)
      for (i64& e : own)
        if (below(4) == 0) e = 1;
    const i64 pad = below(3) == 0 ? below(3) * 4 : below(3) == 0 ? 3 : 0;
    strided_tensor<f32, Rank> result(own, by, pad, below(3) == 0 ? below(5) : 0);
    if (is_input && below(4) == 0) result.repeat(static_cast<std::size_t>(below(Rank)));
    return result.fill(engine());
  };
  const auto out = tensor(false), x = tensor(true), y = tensor(true);
  check(out, x, y, subtract, subtracted);
}

}  // namespace

TEST_CASE("elementwise: contiguous, every number of elements in a vector and a block", "[ops][elementwise]") {
  for (const i64 n : {1, 2, 3, 4, 5, 7, 8, 1023, 1024, 1025, 2051}) {
    CAPTURE(n);
    strided_tensor<f32, 1> x({n}), y({n}), out({n});
    check(out, x.fill(1), y.fill(2), subtract, subtracted);
    strided_tensor<f32, 1> one({1});
    check(out, x, one.fill(3), subtract, subtracted);
  }
}

TEST_CASE("elementwise: rows, columns, broadcasts", "[ops][elementwise]") {
  using t2 = strided_tensor<f32, 2>;
  const auto made = [](i64 rows, i64 columns, const dimension_order<2>& by = {0, 1}, i64 pad = 0,
                       i64 shift = 0) {
    return t2({rows, columns}, by, pad, shift).fill(static_cast<std::uint64_t>(rows * 1000 + columns + pad));
  };
  for (const auto& [rows, columns] : {std::pair<i64, i64>{5, 64}, {7, 100}, {70, 33}, {130, 64}, {3, 17}}) {
    CAPTURE(rows, columns);
    const t2 out({rows, columns}), padded({rows, columns}, {0, 1}, 8), shifted({rows, columns}, {0, 1}, 3, 1);
    check(out, made(rows, columns), made(1, columns), subtract, subtracted);
    check(padded, made(rows, 1), made(rows, columns, {0, 1}, 4), subtract, subtracted);
    check(shifted, made(1, 1), made(rows, columns), subtract, subtracted);
    check(out, made(rows, columns, {1, 0}), made(1, columns), subtract, subtracted);
    check(out, made(rows, columns, {1, 0}, 3), made(rows, columns, {1, 0}), subtract, subtracted);
    check(t2({rows, columns}, {1, 0}), made(rows, columns), made(rows, 1), subtract, subtracted);
  }
}

// Tiles: each operand is moved in pieces of 16 bytes or element by element, whatever the others do.
TEST_CASE("elementwise: a transposed input next to all others, aligned and not", "[ops][elementwise]") {
  using t2 = strided_tensor<bf16, 2>;
  const auto want = [](bf16 a, bf16 b) { return bf16(static_cast<float>(a) - static_cast<float>(b)); };
  struct layout {
    i64 pad, shift;
  };
  for (const auto& [rows, columns] :
       {std::pair<i64, i64>{64, 64}, {72, 136}, {70, 136}, {72, 133}, {18, 200}})
    for (const layout& of_x : {layout{0, 0}, layout{8, 16}, layout{0, 1}})
      for (const layout& of_out : {layout{0, 0}, layout{4, 8}, layout{3, 1}}) {
        CAPTURE(rows, columns, of_x.pad, of_x.shift, of_out.pad, of_out.shift);
        t2 x({rows, columns}, {1, 0}, of_x.pad, of_x.shift);
        const t2 out({rows, columns}, {0, 1}, of_out.pad, of_out.shift);
        x.fill(21);
        t2 straight({rows, columns}), turned({rows, columns}, {1, 0}, 8), by_column({1, columns}),
            by_row({rows, 1});
        for (t2* y : {&straight, &turned, &by_column, &by_row}) check(out, x, y->fill(22), subtract, want);
        t2 every_other({rows, 2 * columns});
        every_other.fill(23).extents[1] = columns;
        every_other.strides[1] = 2;
        check(out, x, every_other, subtract, want);
      }
}

TEST_CASE("elementwise: random strides", "[ops][elementwise]") {
  const std::uint64_t seed = std::random_device{}();
  std::mt19937_64 engine(seed);
  for (int i = 0; i < 25; ++i) {
    CAPTURE(seed, i);
    check_random<1>(engine, 400);
    check_random<2>(engine, 60);
    check_random<3>(engine, 24);
    check_random<4>(engine, 10);
    check_random<5>(engine, 6);
  }
}

TEST_CASE("elementwise: types, numbers of the host", "[ops][elementwise]") {
  const auto call = [](const auto& out, const auto& x, const auto& y) {
    elementwise(under_test().stream(), scaled_sum, out, x, y, 0.3f);
  };
  const auto want = [](f16 x, float y) { return bf16(std::fma(static_cast<float>(x), 0.3f, y)); };
  for (const i64 columns : {64, 65})
    for (const dimension_order<2>& by : {dimension_order<2>{0, 1}, dimension_order<2>{1, 0}}) {
      strided_tensor<f16, 2> x({70, columns}, by);
      strided_tensor<f32, 2> y({1, columns});
      check(strided_tensor<bf16, 2>({70, columns}), x.fill(5), y.fill(6), call, want);
    }
  const auto bytes = [](const auto& out, const auto& x, const auto& y) {
    elementwise(under_test().stream(), of_bytes, out, x, y);
  };
  for (const dimension_order<2>& by : {dimension_order<2>{0, 1}, dimension_order<2>{1, 0}}) {
    strided_tensor<i8, 2> x({40, 36}, by);
    strided_tensor<u8, 2> y({40, 36});
    check(strided_tensor<i32, 2>({40, 36}), x.fill(7), y.fill(8), bytes,
          [](i8 a, u8 b) { return i32{a} * 3 - i32{b}; });
  }
}

TEST_CASE("elementwise: elements of eight bytes and of eight bits", "[ops][elementwise]") {
  const auto wide = [](const auto& out, const auto& x, const auto& y) {
    elementwise(under_test().stream(), difference_f64, out, x, y);
  };
  const auto narrow = [](const auto& out, const auto& x, const auto& y) {
    elementwise(under_test().stream(), difference, out, x, y);
  };
  for (const dimension_order<2>& by : {dimension_order<2>{0, 1}, dimension_order<2>{1, 0}}) {
    strided_tensor<f64, 2> x({66, 36}, by), y({1, 36});
    check(strided_tensor<f64, 2>({66, 36}), x.fill(11), y.fill(12), wide, [](f64 a, f64 b) { return a - b; });
    for (const i64 rows : {66, 68}) {
      strided_tensor<e4m3, 2> codes({rows, 36}, by);
      strided_tensor<f16, 2> half({rows, 1}), halves({rows, 36});
      for (strided_tensor<f16, 2>* other : {&half, &halves})
        check(strided_tensor<e4m3, 2>({rows, 36}), codes.fill(13), other->fill(14), narrow,
              [](e4m3 a, f16 b) { return e4m3(static_cast<float>(a) - static_cast<float>(b)); });
    }
  }
}

TEST_CASE("elementwise: an input may be the output itself; nothing for an empty one", "[ops][elementwise]") {
  const stream& s = under_test().stream();
  strided_tensor<f32, 2> x({33, 36}, {0, 1}), y({33, 36}, {1, 0});
  auto on_x = upload(x.fill(9).host), on_y = upload(y.fill(10).host);
  elementwise(s, difference, x.view(on_x), x.view<const f32>(on_x), y.view<const f32>(on_y));
  strided_tensor<f32, 2> want = x;
  want.each([&](const auto& place) { want.at(place) = x.at(place) - y.at(place); });
  REQUIRE(same_memory(on_x.download(), want.host));
  elementwise(s, difference, x.view(on_x).slice(0, 0, 0), y.view(on_y).slice(0, 0, 0), 1.0f);
  REQUIRE(same_memory(on_x.download(), want.host));
}

TEST_CASE("elementwise: bad input", "[ops][elementwise]") {
  auto a = under_test().allocate<f32>(256), b = under_test().allocate<f32>(256);
  const tensor_view<f32, 2> x(a, 16, 8), out(b, 16, 8);
  const auto refused = [&](const std::string& part, const auto& to, const auto& from) {
    require_refusal(errc::invalid_argument, "kaio: elementwise: ", part,
                    [&] { elementwise(under_test().stream(), difference, to, from, 1.0f); });
  };
  refused("argument input 0 has extent 0 of 15", out, x.slice(0, 0, 15));
  refused("argument input 0 has 3 dimensions", out, tensor_view<f32, 3>(a, 1, 16, 8));
  refused("output out shares memory with argument input 0", out,
          tensor_view<f32, 2>(b.slice(1, 255), extents(16, 8)));
  refused("output out has stride 0", tensor_view<f32, 2>(b, extents(16, 8), strides(0, 1)), x);
  refused("argument input 0 is a null tensor_view", out, tensor_view<f32, 2>());
}
