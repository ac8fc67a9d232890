// Launches: sizes, wrong arguments, and the emulator's report of a kernel that leaves its buffer.
#include "showcase/fused_silu_gate/fused_silu_gate.hpp"
#include "showcase/softmax/softmax.hpp"
#include "tests/kernels/support.hpp"
#include "thrown.hpp"

#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

// The text of the error of one kind that a call throws.
template <class Call>
std::string message_of(errc code, Call call) {
  const thrown what = catch_error(call);
  CHECK(what.code == code);
  return what.message;
}

inline constexpr auto beyond = kernel<"beyond", 32>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
  y[i] = x[i];
#line 4711
  y[i + 1] = x[i];
});
#line 31

}  // namespace

TEST_CASE("sizes around the block size write exactly what they should", "[launching]") {
  for (const u32 n : {0u, 1u, 31u, 255u, 256u, 257u, 5000u}) {
    const std::vector<f32> host(n, 1.0f);
    auto x = under_test().upload(host), gate = under_test().upload(host);
    auto y = poisoned<f32>(n + 3);
    showcase::fused_silu_gate.launch(under_test().stream(),
                                     over(n).per_thread(showcase::fused_silu_gate_share), x, gate, y, n);
    const std::vector<f32> got = y.download();
    for (u32 i = 0; i < n; ++i) REQUIRE(std::abs(got[i] - 0.731058579f) < 1e-6f);
    for (u32 i = n; i < n + 3; ++i) REQUIRE(bits(got[i]) == 0xa5a5a5a5u);
  }
}

TEST_CASE("softmax rows sum to one at every length", "[launching]") {
  for (const u32 columns : {1u, 2u, 255u, 256u, 257u, 4095u, 4097u}) {
    std::vector<f32> host(std::size_t{3} * columns);
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<f32>(i * 31 % 97) * 0.3f - 12.0f;
    auto x = under_test().upload(host);
    auto y = poisoned<f32>(host.size());
    showcase::softmax.launch(under_test().stream(), grid(3), x, y, columns);
    const std::vector<f32> got = y.download();
    for (u32 r = 0; r < 3; ++r) {
      double sum = 0;
      for (u32 c = 0; c < columns; ++c) sum += static_cast<double>(got[std::size_t{r} * columns + c]);
      CAPTURE(columns, r);
      REQUIRE(std::abs(sum - 1) < 1e-5);
    }
  }
}

TEST_CASE("bad arguments are typed errors before anything runs", "[launching]") {
  device& on = under_test();
  const u32 n = 100;
  auto x = on.allocate<f32>(n), gate = on.allocate<f32>(n), y = poisoned<f32>(n);
  buffer<f32> null;
  const auto launch = [&](buffer<f32>& a, auto shape) {
    showcase::fused_silu_gate.launch(on.stream(), shape, a, gate, y, n);
  };
  CHECK(message_of(errc::invalid_argument, [&] { launch(null, over(n)); }).find("fused_silu_gate") !=
        std::string::npos);
  CHECK(message_of(errc::invalid_argument, [&] { launch(x, over(-1)); }).starts_with("kaio:"));
  CHECK(message_of(errc::invalid_argument, [&] { launch(x, grid(1, 65536)); }).starts_with("kaio:"));
  device other = device::open("emulator");
  auto foreign = other.allocate<f32>(n);
  CHECK(message_of(errc::invalid_argument, [&] { launch(foreign, over(n)); }).starts_with("kaio:"));
  auto freed = on.allocate<f32>(n);
  freed.release();
  CHECK(message_of(errc::invalid_argument, [&] { launch(freed, over(n)); }).starts_with("kaio:"));
  launch(null, over(0));
  for (const f32 v : y.download()) REQUIRE(bits(v) == 0xa5a5a5a5u);
}

TEST_CASE("the emulator reports an access outside of a buffer with its C++ line", "[launching]") {
  device emulator = device::open("emulator");
  const std::vector<f32> host(32, 1.0f);
  auto x = emulator.upload(host);
  auto y = emulator.allocate<f32>(32);
  const std::string message = message_of(errc::illegal_access, [&] {
    beyond.launch(emulator.stream(), grid(1), x, y);
    emulator.stream().synchronize();
  });
  CAPTURE(message);
  CHECK(message.find("beyond") != std::string::npos);
  CHECK(message.find("st.global.f32") != std::string::npos);
  CHECK(message.find(":4711") != std::string::npos);
  CHECK(message.find("31") != std::string::npos);   // the thread
  CHECK(message.find("128") != std::string::npos);  // the size of the buffer
}
