// The address space as the host uses it: allocation, copies, bounds, and addresses that are not reused soon.

#include "tests/emulator/kernel.hpp"

#include <set>

using namespace emulator_test;

namespace {

template <class Call>
memory_error_kind error_of(Call&& call) {
  try {
    call();
  } catch (const memory_error& e) {
    CHECK(std::string_view(e.what()).substr(0, 5) == "kaio:");
    return e.kind();
  }
  FAIL("no error");
  return {};
}

}  // namespace

TEST_CASE("buffers are zero, aligned to 256, and apart from each other") {
  memory m;
  std::set<std::uint64_t> starts;
  for (const std::uint64_t bytes : {1u, 255u, 256u, 1000u, 100000u}) {
    const std::uint64_t a = m.allocate(bytes);
    CHECK(a % 256 == 0);
    std::vector<std::uint8_t> v(bytes, 1);
    m.read(v.data(), a, bytes);
    CHECK(v == std::vector<std::uint8_t>(bytes, 0));
    for (const std::uint64_t other : starts) CHECK(a - other >= 4096);
    starts.insert(a);
  }
  CHECK(m.used() == 1 + 255 + 256 + 1000 + 100000);
}

TEST_CASE("host copies move bytes and stay inside of one live buffer") {
  memory m;
  const std::uint64_t a = m.allocate(16), b = m.allocate(16);
  const std::uint32_t in[] = {1, 2, 3, 4};
  std::uint32_t out[4] = {};
  m.write(a, in, 16);
  m.copy(b + 4, a, 12);
  m.read(out, b, 16);
  CHECK(std::vector<std::uint32_t>(out, out + 4) == std::vector<std::uint32_t>{0, 1, 2, 3});
  m.fill(b, 0xab, 3);
  m.read(out, b, 4);
  CHECK(out[0] == 0x00ababab);
  m.fill(b, 0x1234, 2, 4);
  m.read(out, b, 8);
  CHECK(out[1] == 0x12341234);
  m.read(out, a, 0);
  CHECK(error_of([&] { m.read(out, a, 17); }) == memory_error_kind::out_of_bounds);
  CHECK(error_of([&] { m.write(a + 16, in, 1); }) == memory_error_kind::out_of_bounds);
  CHECK(error_of([&] { m.write(a - 1, in, 2); }) == memory_error_kind::out_of_bounds);
  CHECK(error_of([&] { m.fill(a, 0, ~std::uint64_t{0}); }) == memory_error_kind::out_of_bounds);
  CHECK(error_of([&] { m.fill(a, 0, 8, std::uint64_t{1} << 62); }) == memory_error_kind::out_of_bounds);
  m.free(a);
  CHECK(error_of([&] { m.read(out, a, 1); }) == memory_error_kind::out_of_bounds);
}

TEST_CASE("what cannot be freed or allocated") {
  memory m(1000);
  const std::uint64_t a = m.allocate(600);
  CHECK(error_of([&] { m.allocate(401); }) == memory_error_kind::out_of_memory);
  CHECK(error_of([&] { m.allocate(0); }) == memory_error_kind::zero_size);
  CHECK(error_of([&] { m.free(a + 256); }) == memory_error_kind::not_a_buffer);
  m.free(a);
  CHECK(error_of([&] { m.free(a); }) == memory_error_kind::double_free);
  CHECK(m.used() == 0);
  CHECK_NOTHROW(m.free(m.allocate(1000)));
  memory endless;
  CHECK(error_of([&] { endless.allocate(std::uint64_t{1} << 50); }) == memory_error_kind::out_of_memory);
}

TEST_CASE("addresses are found, and not handed out again") {
  memory m;
  const std::uint64_t a = m.allocate(100);
  REQUIRE(m.find(a + 99).has_value());
  CHECK(m.find(a + 99)->address == a);
  CHECK_FALSE(m.find(a + 100).has_value());
  CHECK_FALSE(m.find(0).has_value());
  m.free(a);
  CHECK_FALSE(m.find(a).has_value());
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t b = m.allocate(100);
    CHECK(b != a);
    m.free(b);
  }
}

TEST_CASE("a buffer beyond 2^32 bytes costs only what is touched") {
  memory m;
  const std::uint64_t a = m.allocate(std::uint64_t{5} << 30);
  const std::uint32_t value = 7;
  m.write(a + (std::uint64_t{5} << 30) - 4, &value, 4);
  const module k =
      parsed_module(kernel_text("add.u64 %d1, %p0, 0x13ffffffc; ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, "
                                "1; st.global.u32 [%d1], %r1;"));
  run_module(k, m, {a}, {1, 1});
  std::uint32_t now = 0;
  m.read(&now, a + (std::uint64_t{5} << 30) - 4, 4);
  CHECK(now == 8);
}
