// A buffer of another owner's memory is like any other, and its owner is called once, when it goes.
#include "tests/kernels/runtime/runtime_kernels.hpp"

#include <cstdint>
#include <utility>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::size_t n = 100;

struct owner {
  int calls = 0;
  std::uint64_t address = 0;
};
void note_release(void* to, std::uint64_t address) noexcept {
  auto& it = *static_cast<owner*>(to);
  ++it.calls;
  it.address = address;
}

}  // namespace

TEST_CASE("an adopted buffer is used like one of kaio's, and its owner is called once", "[memory]") {
  auto memory = under_test().upload(all(1, n));
  owner of_it;
  {
    auto y = under_test().adopt<f32>(memory.address() + 4, n - 2, note_release, &of_it);
    CHECK(y.size() == n - 2);
    CHECK(y.address() == memory.address() + 4);
    CHECK_FALSE(y.is_null());
    launch_advance(under_test().stream(), y, 2, 1);
    CHECK(y.download() == all(3, n - 2));
    CHECK(y.slice(n - 3, 1).count == 1);
    CHECK(of_it.calls == 0);
  }
  CHECK(of_it.calls == 1);
  CHECK(of_it.address == memory.address() + 4);
  const std::vector<f32> got = memory.download();
  CHECK(got.front() == 1);
  CHECK(got[1] == 3);
  CHECK(got.back() == 1);
}

TEST_CASE("the owner of adopted memory is called once after moves, assignments and releases", "[memory]") {
  auto memory = under_test().upload(all(1, n));
  owner first, second;
  {
    auto a = under_test().adopt<f32>(memory.address(), 10, note_release, &first);
    buffer<f32> b = std::move(a);
    CHECK(a.is_null());
    a.release();
    CHECK(first.calls == 0);
    auto c = under_test().adopt<f32>(memory.address() + 40, 10, note_release, &second);
    b = std::move(c);
    CHECK(first.calls == 1);
    CHECK(second.calls == 0);
    b.release(under_test().stream());
    CHECK(second.calls == 1);
    b.release();
  }
  CHECK(first.calls == 1);
  CHECK(second.calls == 1);
  CHECK(memory.download() == all(1, n));
}

TEST_CASE("no elements of another owner are adopted without memory", "[memory]") {
  owner of_it;
  under_test().adopt<f32>(0, 0, note_release, &of_it).release();
  CHECK(of_it.calls == 1);
  CHECK(of_it.address == 0);
}

TEST_CASE("memory that cannot be adopted is refused, and its owner is not called", "[memory]") {
  device& on = under_test();
  auto memory = on.upload(all(1, n));
  const device other = device::open("emulator");
  owner of_it;
  f32 host[4] = {};
  const auto adopt = [&](const device& where, std::uint64_t address, std::size_t count) {
    where.adopt<f32>(address, count, note_release, &of_it);
  };
  const wrong_call calls[] = {
      {"null", {"adopt", "null address"}, [&] { adopt(on, 0, 4); }},
      {"misaligned", {"adopt", "multiple of 4"}, [&] { adopt(on, memory.address() + 2, 4); }},
      {"the host's",
       {"adopt of 16 bytes", "not memory of"},
       [&] { adopt(on, reinterpret_cast<std::uintptr_t>(&host[0]), 4); }},
      {"another device's",
       {"adopt", "not memory of", "of_pointer"},
       [&] { adopt(other, memory.address(), 4); }},
      {"too long", {"adopt", "not memory of"}, [&] { adopt(on, memory.address(), std::size_t{1} << 50); }},
      {"overflows", {"elements of 4 bytes"}, [&] { adopt(on, memory.address(), ~std::size_t{0} / 2); }},
      {"no function",
       {"adopt", "release function", "device_pointer"},
       [&] { on.adopt<f32>(memory.address(), 4, nullptr, &of_it); }},
  };
  for (const wrong_call& wrong : calls) {
    CAPTURE(wrong.what);
    refuses(errc::invalid_argument, wrong.says, wrong.call);
  }
  CHECK(of_it.calls == 0);
  CHECK(memory.download() == all(1, n));
}
