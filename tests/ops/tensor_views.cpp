// Views of device memory: their spans, views made of them, and which ones are refused with which message.
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/validation.hpp>

#include "tests/ops/support.hpp"
#include "tests/thrown.hpp"

#include <string>
#include <type_traits>

using namespace kaio;
using namespace kaio::tests;
using ops::validation;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

// The error of a check of an operation: an invalid_argument that names the operation and the argument.
template <class Call>
std::string refused(Call call) {
  const thrown error = catch_error(call);
  CHECK(error.code == errc::invalid_argument);
  return error.message;
}
bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

device_pointer<f32> memory(std::uint64_t address, std::size_t count, const void* device = nullptr) {
  return {address, count, device};
}

}  // namespace

static_assert(std::is_same_v<decltype(tensor_view(std::declval<buffer<f16>&>(), 2, 3)), tensor_view<f16, 2>>);
static_assert(
    std::is_same_v<decltype(tensor_view(std::declval<const buffer<f16>&>(), 2u)), tensor_view<const f16, 1>>);
static_assert(std::is_convertible_v<tensor_view<f32, 2>, tensor_view<const f32, 2>>);
static_assert(!std::is_convertible_v<tensor_view<const f32, 2>, tensor_view<f32, 2>>);
static_assert(!std::is_constructible_v<tensor_view<f32, 2>, const buffer<f32>&, extents<2>>);

TEST_CASE("a view is stored row by row, transposed, sliced, or is one element of its first dimension",
          "[ops][tensor_view]") {
  const device& gpu = under_test();
  auto x = gpu.allocate<f32>(4 * 6 * 10);
  const tensor_view a(x, 4, 6, 10u);
  CHECK(a.strides() == std::array<std::int64_t, 3>{60, 10, 1});
  CHECK(a.size() == 240);
  CHECK(a.bytes() == 960);
  CHECK(a.device() == gpu.identity());
  const tensor_view t = a.transposed();
  CHECK(t.extents() == std::array<std::int64_t, 3>{4, 10, 6});
  CHECK(t.strides() == std::array<std::int64_t, 3>{60, 1, 10});
  CHECK(t.transposed().strides() == a.strides());
  const tensor_view<f32, 2> one = t[2];
  CHECK(one.address() == x.address() + 480);
  CHECK(one.bytes() == 480);
  CHECK(one.strides() == std::array<std::int64_t, 2>{1, 10});
  const tensor_view part = one.slice(1, 4, 2).slice(0, 9, 1);
  CHECK(part.address() == one.address() + 4 * (4 * 10 + 9));
  CHECK(part.extents() == std::array<std::int64_t, 2>{1, 2});
  CHECK(part.bytes() == 480 - 4 * 49);
  const tensor_view<const f32, 2> columns(x, extents{4, 10}, strides{60, 1});
  CHECK(columns.stride(0) == 60);
  CHECK(a.slice(0, 4, 0).empty());
  CHECK(a.slice(0, 4, 0).address() == a.address());
}

TEST_CASE("an empty view has no elements, whatever its other extents are", "[ops][tensor_view]") {
  auto x = under_test().allocate<f32>(4);
  constexpr std::int64_t large = std::int64_t{3} << 61;
  for (const tensor_view<f32, 3>& v :
       {tensor_view<f32, 3>(x, large, large, 0), tensor_view<f32, 3>(x, 0, large, 1),
        tensor_view<f32, 3>(x, large, 0, large)}) {
    CHECK(v.empty());
    CHECK(v.size() == 0);
    CHECK(v.as_argument().bytes <= 16);
  }
}

TEST_CASE("a view that is larger than its memory is refused, whatever its numbers", "[ops][tensor_view]") {
  auto x = under_test().allocate<f32>(100);
  CHECK(says(refused([&] { tensor_view(x, 101); }), "spans 404 bytes, and its memory has 400"));
  CHECK(says(refused([&] { tensor_view(x, 10, 11); }), "10 x 11"));
  CHECK(says(refused([&] { tensor_view(x, 10, -1); }), "extents are 0 or more"));
  CHECK(says(refused([&] { tensor_view(x, 10, ~std::uint64_t{0}); }), "extents are 0 or more"));
  CHECK(says(refused([&] { tensor_view(x, extents{2, 2}, strides{-1, 1}); }), "strides are 0 or more"));
  CHECK(says(refused([&] { tensor_view(x, most, most); }), "64 bits"));
  CHECK(says(refused([&] { tensor_view(x, std::int64_t{1} << 32, std::int64_t{1} << 31); }), "64 bits"));
  CHECK(says(refused([&] { tensor_view(x, extents{3, 3}, strides{most, 1}); }), "64 bits"));
  CHECK(says(refused([&] { tensor_view(x, extents{2, 2}, strides{99, 1}); }), "spans 404 bytes"));
  CHECK(says(refused([&] { tensor_view(x, std::int64_t{1} << 62); }), "spans"));
  CHECK_NOTHROW(tensor_view(x, 100));
  CHECK_NOTHROW(tensor_view(x, extents{1000, 100}, strides{0, 1}));
  CHECK_NOTHROW(tensor_view(x, 0, 10, std::int64_t{1} << 40));
  const tensor_view a(x, 10, 10);
  CHECK(says(refused([&] { a.slice(2, 0, 1); }), "dimension 2"));
  CHECK(says(refused([&] { a.slice(0, 9, 2); }), "which has 10"));
  CHECK(says(refused([&] { a.slice(0, -1, 2); }), "slice"));
  CHECK(says(refused([&] { a.slice(0, 1, -1); }), "slice"));
  CHECK(says(refused([&] { a.slice(0, most, most); }), "slice"));
  CHECK(says(refused([&] { a[10]; }), "slice"));
}

TEST_CASE("an operation refuses what it cannot use, by the name of the argument", "[ops][tensor_view]") {
  const device& gpu = under_test();
  const validation check("matmul", gpu.identity());
  auto x = gpu.allocate<f32>(100);
  buffer<f32> moved = gpu.allocate<f32>(4);
  const buffer<f32> to = std::move(moved);
  CHECK(
      says(refused([&] { check.input("a", tensor_view<f32, 2>()); }), "kaio: matmul: argument a is a null"));
  CHECK(says(refused([&] { check.input("a", tensor_view(moved, 4)); }), "null"));
  x.release();
  CHECK(says(refused([&] { check.input("a", tensor_view(x, 10, 10)); }), "was released"));
  x = gpu.allocate<f32>(100);
  const device other = device::open("emulator");
  auto elsewhere = other.allocate<f32>(4);
  CHECK(says(refused([&] { check.input("b", tensor_view(elsewhere, 4)); }),
             "argument b is memory of another device"));
  for (const std::uint64_t off : {1u, 2u, 3u, 5u})
    CHECK(says(refused([&] { check.input("a", tensor_view(memory(x.address() + off, 9), 9)); }),
               "no multiple"));
  CHECK(says(refused([&] { check.input("a", tensor_view(memory(0, 9, gpu.identity()), 9)); }), "address 0"));
  CHECK_NOTHROW(check.input("a", tensor_view(x, 10, 10)));
  CHECK_NOTHROW(check.input("a", tensor_view(x, extents{5, 10}, strides{0, 1})));
  auto nothing = gpu.allocate<f32>(0);
  CHECK_NOTHROW(check.input("a", tensor_view(nothing, 0, 5)));

  CHECK(says(refused([&] { check.output("c", tensor_view(x, extents{5, 10}, strides{0, 1})); }), "stride 0"));
  CHECK(says(refused([&] {
               check.output("c", tensor_view(x, extents{5, 10}, strides{9, 1}));
             }),
             "share a place"));
  CHECK(says(refused([&] {
               check.output("c", tensor_view(x, extents{5, 10}, strides{1, 1}));
             }),
             "share a place"));
  CHECK_NOTHROW(check.output("c", tensor_view(x, extents{5, 10}, strides{10, 1})));
  CHECK_NOTHROW(check.output("c", tensor_view(x, extents{5, 10}, strides{1, 5})));
  CHECK_NOTHROW(check.output("c", tensor_view(x, extents{1, 10}, strides{0, 1})));

  const tensor_view a(x, 10, 10);
  CHECK(says(refused([&] { check.extent("b", a, 0, 11, "the columns of a"); }),
             "argument b has extent 0 of 10, and 11 is expected: the columns of a"));
  CHECK(says(refused([&] { check.not_empty("a", a.slice(1, 0, 0)); }), "extent 1 of 0"));
  CHECK(says(refused([&] { check.at_most("a", a, 1, 9); }), "at most 9"));
  CHECK(says(refused([&] {
               check.workspace("workspace", {0, 0, nullptr}, 8, 16);
             }),
             "is null, and this shape needs 8"));
  CHECK(says(refused([&] { check.workspace("workspace", {512, 7, nullptr}, 8, 16); }), "needs 8"));
  CHECK(says(refused([&] { check.workspace("workspace", {520, 8, nullptr}, 8, 16); }), "multiple of 16"));
  CHECK_NOTHROW(check.workspace("workspace", {0, 0, nullptr}, 0, 16));
}

TEST_CASE("whether an output shares memory with an input is known exactly for parts of a matrix",
          "[ops][tensor_view]") {
  auto x = under_test().allocate<f32>(400);
  const tensor_view all(x, 20, 20);
  const validation check("matmul", under_test().identity());
  for (std::int64_t first = 0; first < 16; ++first)
    for (std::int64_t width = 1; width < 5; ++width) {
      CAPTURE(first, width);
      const tensor_view part = all.slice(1, first, width);
      const bool meet = first < 12 && first + width > 8;
      CHECK(ops::overlap(all.slice(1, 8, 4), part) == meet);
      CHECK(ops::overlap(part, all.slice(1, 8, 4)) == meet);
      CHECK(ops::overlap(part.transposed(), all.slice(1, 8, 4).slice(0, 3, 10)) == meet);
    }
  CHECK(!ops::overlap(all.slice(0, 0, 10), all.slice(0, 10, 10)));
  CHECK(ops::overlap(all.slice(0, 0, 11), all.slice(0, 10, 10)));
  CHECK(!ops::overlap(all.slice(0, 5, 0), all));
  // Rows of several matrices, as of the pages of a cache.
  const tensor_view<f32, 3> pages(x, 4, 5, 12);
  CHECK(!ops::overlap(pages.slice(2, 0, 8), pages.slice(2, 8, 4)));
  CHECK(!ops::overlap(pages.slice(2, 8, 4), pages.slice(2, 0, 8).slice(0, 1, 1)));
  CHECK(ops::overlap(pages.slice(2, 0, 9), pages.slice(2, 8, 4)));
  CHECK(ops::overlap(pages.slice(2, 8, 4), pages.slice(2, 0, 9)));
  // With gaps after rows and pages. If rows interleave, neighbours count as overlapping.
  const auto cached = [&](std::int64_t page, std::int64_t row) {
    return tensor_view<f32, 4>(x, extents(3, 4, 1, 12), strides(page, row, 12, 1));
  };
  for (const auto& [page, row] : {std::pair{52, 12}, {51, 13}, {67, 15}}) {
    CAPTURE(page, row);
    const tensor_view<f32, 4> latent = cached(page, row);
    CHECK(!ops::overlap(latent.slice(3, 8, 4), latent.slice(3, 0, 8)));
    CHECK(!ops::overlap(latent.slice(3, 0, 8), latent.slice(3, 8, 4)));
    CHECK(ops::overlap(latent.slice(3, 0, 9), latent.slice(3, 8, 4)));
  }
  CHECK(ops::overlap(cached(47, 12).slice(3, 8, 4), cached(47, 12).slice(3, 0, 8)));
  CHECK(ops::overlap(cached(67, 11).slice(3, 8, 4), cached(67, 11).slice(3, 0, 8)));
  CHECK(says(refused([&] { check.apart("c", all, "a", all.slice(0, 19, 1)); }),
             "output c shares memory with argument a"));
  // The even and the odd elements share none; every second and every third element do.
  const auto every = [&](std::int64_t step, std::int64_t first) {
    return tensor_view(x.slice(static_cast<std::size_t>(first), 300), extents{4, 5},
                       strides{10 * step, step});
  };
  CHECK(!ops::overlap(every(2, 0), every(2, 1)));
  CHECK(!ops::overlap(every(2, 1), every(2, 0)));
  CHECK(!ops::overlap(every(4, 3), every(2, 0)));
  CHECK(ops::overlap(every(2, 0), every(2, 2)));
  CHECK(ops::overlap(every(2, 0), every(3, 0)));
  CHECK(says(refused([&] { check.apart("c", every(2, 0), "a", every(3, 0)); }), "shares memory"));
  CHECK(says(refused([&] { check.apart("c", all.slice(1, 8, 4), "a", all.slice(1, 10, 4)); }),
             "shares memory"));
  CHECK(says(
      refused([&] { check.apart("c", every(2, 0), "a", every(3, 1)); }),
      "output c is interleaved with argument a, and their strides do not show that no element is in both"));
  CHECK_NOTHROW(check.same_or_apart("c", all, "residual", tensor_view<const f32, 2>(all)));
  refused([&] { check.same_or_apart("c", all, "residual", all.transposed()); });
}
