// A launch runs the kernel, or throws before anything runs and leaves the outputs as they were.

#include "unit/runtime/support.hpp"

#include <thread>
#include <utility>

using namespace runtime_test;
using kaio::errc;
using kaio::ptx::argument;

TEST_CASE("a kernel computes, for sizes at and next to the block size") {
  const kaio::device gpu = kaio::device::open("emulator");
  for (const std::uint32_t n : {1u, 63u, 64u, 65u, 1000u}) {
    const auto x = gpu.upload(counted(n));
    const auto y = gpu.allocate<float>(n + 1);
    launch_scale(gpu.stream(), x, y, 3.0f, n);
    const auto result = y.download();
    for (std::uint32_t i = 0; i < n; ++i) REQUIRE(result[i] == 3.0f * static_cast<float>(i));
    CHECK(result[n] == 0.0f);
  }
}

TEST_CASE("a pointer that kaio does not own is launched like a buffer") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.upload(counted(64));
  const auto y = gpu.allocate<float>(64);
  const kaio::device_pointer<float> raw{y.address() + 128, 32, nullptr};
  launch_scale(gpu.stream(), x.slice(32, 32), raw, 1.0f, 32);
  CHECK(y.download()[32] == 32.0f);
  CHECK(y.download()[31] == 0.0f);
}

TEST_CASE("a bad launch is a typed error before anything runs") {
  const kaio::device gpu = kaio::device::open("emulator"), other = kaio::device::open("emulator");
  const kaio::stream& s = gpu.stream();
  const auto x = gpu.upload(counted(64));
  const auto y = gpu.upload(std::vector<float>(64, -1.0f));
  const auto foreign = other.upload(counted(64));
  const auto foreign_empty = other.allocate<float>(0);
  auto moved = gpu.allocate<float>(64);
  const auto taken = std::move(moved);
  auto released = gpu.allocate<float>(64);
  released.release();
  const argument a{bits_of(2.0f)}, n{64};
  const kaio::ptx::launch_grid one{1, 1, 1};
  constexpr std::uint64_t two_to_31 = std::uint64_t{1} << 31;

  const auto launch = [&](const kaio::ptx::kernel_image& kernel, kaio::ptx::launch_grid grid,
                          std::initializer_list<argument> arguments) {
    return catch_error([&] { s.launch(kernel, grid, arguments.begin(), arguments.size()); });
  };
  const auto expect = [&](const thrown& e, errc code, std::initializer_list<const char*> parts) {
    CHECK(e.code == code);
    for (const char* part : parts) {
      INFO(e.message);
      CHECK(e.says(part));
    }
  };
  const argument bx = x.as_argument(), by = y.as_argument();

  expect(launch(scale, one, {bx, by, a}), errc::invalid_argument,
         {"kernel scale takes 4 arguments, and 3 were given"});
  expect(launch(scale, one, {bx, by, a, n, n}), errc::invalid_argument, {"and 5 were given"});
  expect(launch(scale, one, {}), errc::invalid_argument, {"and 0 were given"});
  expect(launch(scale, one, {argument{}, by, a, n}), errc::invalid_argument,
         {"argument 1 of kernel scale is a null buffer"});
  expect(launch(scale, one, {bx, moved.as_argument(), a, n}), errc::invalid_argument,
         {"argument 2 of kernel scale is a null buffer", "moved from"});
  expect(launch(scale, one, {bx, released.as_argument(), a, n}), errc::invalid_argument,
         {"argument 2", "released"});
  expect(launch(scale, one, {foreign.as_argument(), by, a, n}), errc::invalid_argument,
         {"argument 1 of kernel scale", "256 bytes of another device"});
  expect(launch(scale, one, {foreign_empty.as_argument(), by, a, n}), errc::invalid_argument,
         {"argument 1", "empty buffer of another device"});
  expect(launch(scale, {two_to_31, 1, 1}, {bx, by, a, n}), errc::invalid_argument,
         {"grid of 2147483648 x 1 x 1", "at most 2147483647 x 65535 x 65535"});
  expect(launch(scale, {std::uint64_t{1} << 32, 1, 1}, {bx, by, a, n}), errc::invalid_argument,
         {"grid of 4294967296"});
  expect(launch(scale, {~std::uint64_t{0}, 1, 1}, {bx, by, a, n}), errc::invalid_argument,
         {"grid of 18446744073709551615"});
  expect(launch(scale, {1, 65536, 1}, {bx, by, a, n}), errc::invalid_argument, {"grid of 1 x 65536 x 1"});
  expect(launch(scale, {1, 1, 65536}, {bx, by, a, n}), errc::invalid_argument, {"grid of 1 x 1 x 65536"});

  const auto changed = [&](auto change) {
    kaio::ptx::kernel_image kernel = scale;
    change(kernel);
    return launch(kernel, one, {bx, by, a, n});
  };
  expect(changed([](auto& k) {
           k.block = {2048, 1, 1};
         }),
         errc::invalid_argument, {"block of 2048 x 1 x 1 threads", "at most 1024"});
  expect(changed([](auto& k) { k.block = {1, 1, 65}; }), errc::invalid_argument, {"block of 1 x 1 x 65"});
  expect(changed([](auto& k) { k.block = {32, 64, 1}; }), errc::invalid_argument, {"block of 32 x 64 x 1"});
  expect(changed([](auto& k) { k.block = {0, 1, 1}; }), errc::invalid_argument, {"at least 1"});
  expect(changed([](auto& k) { k.needs.shared_bytes = 48 * 1024 + 1; }), errc::unsupported_device,
         {"49153 bytes of static shared memory", "49152"});
  expect(changed([](auto& k) {
           k.needs.target = {100, false};
         }),
         errc::unsupported_device, {"sm_100", "sm_90"});
  expect(changed([](auto& k) {
           k.needs.target = {100, true};
         }),
         errc::unsupported_device, {"exactly sm_100a"});
  expect(changed([](auto& k) { k.needs.target = {80, true}; }), errc::unsupported_device, {"exactly sm_80a"});
  expect(changed([](auto& k) { k.needs.version = {200, 0}; }), errc::unsupported_device, {"PTX ISA 200.0"});
  expect(changed([](auto& k) { k.name = "no such entry"; }), errc::invalid_argument,
         {"cannot be a kernel's name"});
  expect(changed([](auto& k) { k.name = "missing"; }), errc::jit_failed, {"kernel missing"});

  kaio::ptx::kernel_image wide = scale;
  wide.parameter_count = 1025;
  expect(catch_error([&] { gpu.warmup(wide); }), errc::invalid_argument, {"1025 parameters", "at most 1024"});
  const kaio::device_pointer<float> nothing{0, 64, nullptr};
  expect(launch(scale, one, {bx, nothing.as_argument(), a, n}), errc::invalid_argument,
         {"argument 2", "null"});

  const kaio::stream null_stream;
  expect(catch_error([&] { launch_scale(null_stream, x, y, 1.0f, 64); }), errc::invalid_argument,
         {"launch on a null stream"});

  CHECK(y.download() == std::vector<float>(64, -1.0f));
  launch_scale(s, x, y, 1.0f, 64);
  CHECK(y.download() == counted(64));
}

TEST_CASE("memory that is read as `in` and written by the same launch is refused, before anything runs") {
  const kaio::device gpu = kaio::device::open("emulator");
  const kaio::stream& s = gpu.stream();
  const auto x = gpu.upload(counted(256));
  const auto refused = [&](const auto& in, const auto& out, const char* what) {
    const thrown e = catch_error([&] { launch_scale(s, in, out, 2.0f, 64); });
    INFO(e.message);
    return e.code == errc::invalid_argument && e.says(what) && e.says("argument 1 of kernel scale") &&
           e.says("parameter 2 is out<T>") && e.says("make parameter 1 inout<T>");
  };
  CHECK(refused(x, x, "is the memory of argument 2"));
  CHECK(refused(x.slice(0, 64), x.slice(63, 64), "overlaps argument 2"));
  CHECK(refused(x.slice(63, 64), x.slice(0, 64), "overlaps argument 2"));
  CHECK(refused(x, x.slice(200, 1), "overlaps argument 2"));
  CHECK(refused(x.slice(200, 1), x, "overlaps argument 2"));
  // Pointers without a device have a place too.
  CHECK(refused(x, kaio::device_pointer<float>{x.address() + 4, 8, nullptr}, "overlaps argument 2"));
  CHECK(x.download() == counted(256));

  // Ranges that only touch, that are empty, or that may be columns of one matrix pass.
  launch_scale(s, x.slice(0, 64), x.slice(64, 64), 2.0f, 64);
  launch_scale(s, x.slice(128, 64), x.slice(64, 64), 2.0f, 64);
  CHECK(x.download()[127] == 2.0f * 191);
  const auto passes = [&](const auto& in, const auto& out) {
    const argument arguments[] = {in.as_argument(), out.as_argument(), {bits_of(1.0f)}, {0}};
    try {
      s.launch(scale, {1, 1, 1}, arguments, 4);
      return true;
    } catch (const kaio::invalid_argument&) {
      return false;
    }
  };
  CHECK(passes(x.slice(10, 0), x));
  CHECK(passes(x, x.slice(10, 0)));
  kaio::device_pointer<float> columns = x.slice(0, 200);
  columns.scattered = true;
  CHECK(passes(columns, x.slice(4, 4)));
  CHECK(passes(x.slice(100, 1), columns));
  CHECK(passes(columns, columns));
  CHECK_FALSE(passes(x, x));
  CHECK(refused(columns, x.slice(0, 4), "overlaps argument 2"));

  // Two that are read, or two that are written, may be the same.
  kaio::ptx::kernel_image both = scale;
  for (const kaio::ptx::access access : {kaio::ptx::access::in, kaio::ptx::access::inout}) {
    std::vector<kaio::ptx::parameter> parameters(scale_parameters, scale_parameters + 4);
    parameters[0].access = parameters[1].access = access;
    both.parameters = parameters.data();
    CHECK_NOTHROW(launch_scale(s, x, x, 1.0f, 64, both));
  }
  std::vector<kaio::ptx::parameter> parameters(scale_parameters, scale_parameters + 4);
  parameters[1].access = kaio::ptx::access::inout;
  both.parameters = parameters.data();
  CHECK(catch_error([&] { launch_scale(s, x, x, 1.0f, 64, both); }).says("parameter 2 is inout<T>"));
}

TEST_CASE("a grid with a zero extent launches nothing and looks at nothing") {
  const kaio::device gpu = kaio::device::open("emulator");
  const kaio::buffer<float> null;
  const argument arguments[] = {null.as_argument(), null.as_argument(), {}, {}};
  for (const kaio::ptx::launch_grid grid :
       {kaio::ptx::launch_grid{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {~std::uint64_t{0}, 0, 1}}) {
    CHECK_NOTHROW(gpu.stream().launch(scale, grid, arguments, 4));
  }
  CHECK(catch_error([&] { gpu.stream().launch(scale, {0, 1, 1}, arguments, 3); }).says("takes 4 arguments"));
}

TEST_CASE("an empty buffer may be passed") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.upload(counted(0));
  const auto y = gpu.upload(std::vector<float>{7.0f});
  const argument arguments[] = {x.as_argument(), y.as_argument(), {}, {0}};
  gpu.stream().launch(scale, {1, 1, 1}, arguments, 4);
  CHECK(y.download() == std::vector<float>{7.0f});
}

TEST_CASE("an access outside of a buffer is reported, and the device keeps the first cause") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.upload(counted(64));
  const auto y = gpu.allocate<float>(32);
  try {
    launch_scale(gpu.stream(), x, y, 1.0f, 64);
    gpu.stream().synchronize();
    FAIL("nothing was thrown");
  } catch (const kaio::illegal_access& e) {
    const std::string text = e.what();
    CHECK(text.starts_with("kaio: "));
    CHECK(text.find("scale") != std::string::npos);
    CHECK(text.find("st.global.f32") != std::string::npos);
  }
  const thrown later = catch_error([&] { gpu.allocate<float>(1); });
  CHECK(later.code == errc::illegal_access);
  CHECK(later.says("first cause"));
  CHECK(catch_error([&] { launch_scale(gpu.stream(), x, x, 1.0f, 1); }).code == errc::illegal_access);
  const kaio::device fresh = kaio::device::open("emulator");
  CHECK(fresh.upload(counted(3)).download() == counted(3));
}

TEST_CASE("a buffer that is written through after it was freed is reported") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.upload(counted(64));
  auto y = gpu.allocate<float>(64);
  const kaio::device_pointer<float> dangling{y.address(), 64, nullptr};
  y.release();
  CHECK(catch_error([&] {
          launch_scale(gpu.stream(), x, dangling, 1.0f, 64);
          gpu.stream().synchronize();
        }).code == errc::illegal_access);
}

TEST_CASE("a refused text says where and why") {
  static constexpr std::string_view broken[] = {
      ".version 6.0\n.target sm_70\n.address_size 64\n",
      ".visible .entry broken()\n{\n  mov.u32 %r1, 0;\n  ret;\n}\n"};
  static constexpr kaio::ptx::source_line statements[] = {{"broken.hpp", 42}};
  static constexpr std::uint16_t lines[] = {0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0, 0xffff, 0xffff};
  const kaio::ptx::kernel_image kernel{.name = "broken",
                                       .segments = broken,
                                       .segment_count = 2,
                                       .block = {32, 1, 1},
                                       .needs = {},
                                       .statements = statements,
                                       .statement_count = 1,
                                       .statement_of_line = lines,
                                       .line_count = 8};
  const kaio::device gpu = kaio::device::open("emulator");
  try {
    gpu.warmup(kernel);
    FAIL("nothing was thrown");
  } catch (const kaio::jit_error& e) {
    CHECK(
        std::string_view(e.what()).starts_with("kaio: kernel broken cannot be loaded on emulator (sm_90a)"));
    CHECK(e.kernel() == "broken");
    CHECK(e.log().find("line 6") != std::string_view::npos);
    CHECK(e.excerpt().find(">     6 |   mov.u32 %r1, 0;    // broken.hpp:42") != std::string_view::npos);
  }
  CHECK_NOTHROW(gpu.synchronize());
}

TEST_CASE("threads may launch the same and different kernels at once") {
  const kaio::device gpu = kaio::device::open("emulator");
  std::vector<kaio::ptx::kernel_image> kernels(8, scale);  // other needs: each is loaded by itself
  for (std::uint32_t k = 0; k < 8; ++k) kernels[k].needs.instructions = k;
  const auto x = gpu.upload(counted(64));
  std::vector<kaio::buffer<float>> outputs;
  for (int i = 0; i < 8; ++i) outputs.push_back(gpu.allocate<float>(64));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const kaio::stream s = gpu.create_stream();
      for (std::size_t k = 0; k < 16; ++k)
        launch_scale(s, x, outputs[t], static_cast<float>(t), 64, kernels[(t + k) % 8]);
      s.synchronize();
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t t = 0; t < 8; ++t) CHECK(outputs[t].download()[63] == 63.0f * static_cast<float>(t));
}

TEST_CASE("two kernels of one name are told apart in errors") {
  const kaio::device gpu = kaio::device::open("emulator");
  static const std::string text = [] {
    std::string all;
    for (const std::string_view part : scale_text) all += part;
    return all.replace(all.find("scale"), 5, "twins");
  }();
  static const std::string other_text = text + "// another kernel\n";
  static const std::string_view first_text[] = {text}, second_text[] = {other_text};
  static constexpr kaio::ptx::source_line first_lines[] = {{"/somewhere/rope.hpp", 31}};
  static constexpr kaio::ptx::source_line second_lines[] = {{"norm.hpp", 12}};
  kaio::ptx::kernel_image first = scale;
  first.name = "twins";
  first.segment_count = first.statement_count = 1;
  kaio::ptx::kernel_image second = first;
  first.segments = first_text, first.statements = first_lines;
  second.segments = second_text, second.statements = second_lines;
  const auto refusal = [&](const kaio::ptx::kernel_image& kernel) {
    return catch_error([&] { gpu.stream().launch(kernel, {1, 1, 1}, nullptr, 0); });
  };
  gpu.warmup(first);
  CHECK(refusal(first).says("kernel twins takes 4 arguments"));
  gpu.warmup(second);
  CHECK(refusal(first).says("kernel twins (rope.hpp:31) takes 4 arguments"));
  CHECK(refusal(second).says("kernel twins (norm.hpp:12) takes 4 arguments"));

  // The emulator's reports distinguish them too.
  const auto x = gpu.upload(counted(64));
  const auto y = gpu.allocate<float>(32);
  const thrown fault = catch_error([&] {
    launch_scale(gpu.stream(), x, y, 1.0f, 64, second);
    gpu.stream().synchronize();
  });
  CHECK(fault.says("kernel 'twins' (norm.hpp:12): "));
}
