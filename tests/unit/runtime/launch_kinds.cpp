// Launches beyond buffers and scalars: structs, dynamic shared memory, cooperative grids, and kernels that
// print and assert.

#include "unit/runtime/support.hpp"

#include <array>
#include <cstdio>
#include <utility>

#if !defined(_WIN32)
#include <unistd.h>
#endif

using namespace runtime_test;
using kaio::errc;
using kaio::ptx::argument;
using kaio::ptx::kernel_image;

namespace {

constexpr std::string_view head = ".version 6.0\n.target sm_70\n.address_size 64\n";

// A kernel of one block size whose text is `head` and the given one.
class kernel_text {
 public:
  kernel_text(std::string_view name, std::string_view text, std::vector<kaio::ptx::parameter> parameters,
              kaio::ptx::dim3 block)
      : segments_{head, text}, parameters_(std::move(parameters)) {
    image.name = name;
    image.segments = segments_.data();
    image.segment_count = segments_.size();
    image.parameters = parameters_.data();
    image.parameter_count = parameters_.size();
    image.block = block;
  }
  kernel_text(const kernel_text&) = delete;
  kernel_text& operator=(const kernel_text&) = delete;

  kernel_image image;

 private:
  std::array<std::string_view, 2> segments_;
  std::vector<kaio::ptx::parameter> parameters_;
};

constexpr kaio::ptx::parameter words_out{kaio::ptx::type::u32, kaio::ptx::access::out};

struct settings {
  std::uint32_t first;
  double second;
  std::uint8_t third[3];
};

}  // namespace

TEST_CASE("a struct is copied into the parameters, and only one of its size is taken") {
  const kernel_text k("fields", R"(
.visible .entry fields(.param .u64 p, .param .align 8 .b8 s[24], .param .u32 last)
{
  .reg .b64 %d<4>; .reg .b32 %r<6>; .reg .b16 %h<2>;
  ld.param.u64 %d1, [p];
  ld.param.u32 %r1, [s]; ld.param.u64 %d2, [s+8]; ld.param.u8 %h1, [s+18]; ld.param.u32 %r4, [last];
  mov.b64 {%r2, %r3}, %d2; cvt.u32.u16 %r5, %h1;
  st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4}; st.global.u32 [%d1+16], %r5;
  ret;
}
)",
                      {words_out,
                       {.bytes = sizeof(settings), .alignment = alignof(settings)},
                       {kaio::ptx::type::u32, kaio::ptx::access::scalar}},
                      {1, 1, 1});
  const kaio::device gpu = kaio::device::open("emulator");
  const auto out = gpu.allocate<std::uint32_t>(5);
  settings s{7, 1.5, {1, 2, 250}};
  const auto launch = [&](const argument& second) {
    const argument arguments[] = {out.as_argument(), second, {9}};
    gpu.stream().launch(k.image, {1, 1, 1}, arguments, 3);
  };
  launch({.bytes = sizeof s, .data = &s});
  CHECK(out.download() == std::vector<std::uint32_t>{7, 0, 0x3ff80000, 9, 250});
  const auto wrong = catch_error([&] { launch({.bytes = 16, .data = &s}); });
  CHECK(wrong.code == errc::invalid_argument);
  CHECK(wrong.says("argument 2 of kernel fields is a struct of 24 bytes, and 16 bytes were given"));
  CHECK(catch_error([&] { launch({7}); }).says("none was given"));
  // The text and the image must agree about its size.
  kaio::ptx::parameter shorter[] = {
      k.image.parameters[0], {.bytes = 16, .alignment = 8}, k.image.parameters[2]};
  kernel_image other = k.image;
  other.parameters = shorter;
  CHECK(catch_error([&] { gpu.warmup(other); }).says("24 bytes in its text, and 16 in its image"));
}

TEST_CASE("dynamic shared memory comes from the kernel and from the launch, up to what the device has") {
  const kernel_text k("sizes", R"(
.extern .shared .align 16 .b8 dynamic[];
.visible .entry sizes(.param .u64 p)
{
  .shared .align 4 .b8 fixed[64];
  .reg .b64 %d<2>; .reg .b32 %r<6>;
  ld.param.u64 %d1, [p];
  mov.u32 %r1, %dynamic_smem_size; mov.u32 %r2, dynamic; st.shared.u32 [fixed], %r2; add.u32 %r3, %r2, %r1;
  st.shared.u32 [%r3+-4], 5; ld.shared.u32 %r4, [%r3+-4];
  st.global.u32 [%d1], %r1; st.global.u32 [%d1+4], %r4;
  ret;
}
)",
                      {words_out}, {1, 1, 1});
  const kaio::device gpu = kaio::device::open("emulator");
  CHECK(gpu.properties().shared_per_block_optin == 227 * 1024);
  const auto out = gpu.allocate<std::uint32_t>(2);
  kernel_image kernel = k.image;
  kernel.needs.shared_bytes = 64;
  kernel.needs.dynamic_shared_bytes = 100;
  const auto launch = [&](std::uint32_t more) {
    const argument arguments[] = {out.as_argument()};
    gpu.stream().launch(kernel, {1, 1, 1, more}, arguments, 1);
  };
  launch(28);
  CHECK(out.download() == std::vector<std::uint32_t>{128, 5});
  kernel.needs.dynamic_shared_bytes = 0;
  launch(227 * 1024 - 64);
  CHECK(out.download() == std::vector<std::uint32_t>{227 * 1024 - 64, 5});
  for (const std::uint32_t more : {227u * 1024u - 63u, 0xffffffffu}) {
    const auto over = catch_error([&] { launch(more); });
    CHECK(over.code == errc::unsupported_device);
    CHECK(over.says("kernel sizes needs"));
    CHECK(over.says("64 static"));
    CHECK(over.says("at most 232448"));
  }
  CHECK(gpu.resident_blocks(kernel) == 132 * 32);
  CHECK(gpu.resident_blocks(kernel, 100 * 1024) == 132 * 2);
  CHECK(catch_error([&] { gpu.resident_blocks(kernel, 227 * 1024); }).code == errc::unsupported_device);
}

TEST_CASE("the blocks of a cooperative kernel wait for each other, and a grid too large is refused") {
  const kernel_text k("meet", R"(
.visible .entry meet(.param .u64 p)
{
  .reg .b64 %d<2>; .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.u64 %d1, [p]; mov.u32 %r1, %nctaid.x;
  red.release.gpu.global.add.u32 [%d1], 1;
WAIT:
  ld.acquire.gpu.global.u32 %r2, [%d1]; setp.lt.u32 %p1, %r2, %r1; @%p1 bra WAIT;
  red.global.add.u32 [%d1+4], %r2;
  ret;
}
)",
                      {words_out}, {1, 1, 1});
  kernel_image kernel = k.image;
  kernel.needs.cooperative = true;
  const kaio::device gpu = kaio::device::open("emulator");
  const auto launch = [&](const kaio::buffer<std::uint32_t>& out, std::uint64_t blocks) {
    const argument arguments[] = {out.as_argument()};
    gpu.stream().launch(kernel, {blocks, 1, 1}, arguments, 1);
  };
  const std::uint64_t most = gpu.resident_blocks(kernel);
  CHECK(most == 132 * 32);
  for (const std::uint64_t blocks : {std::uint64_t{1}, std::uint64_t{300}, most}) {
    const auto out = gpu.allocate<std::uint32_t>(2);
    launch(out, blocks);
    const auto n = static_cast<std::uint32_t>(blocks);
    CHECK(out.download() == std::vector<std::uint32_t>{n, n * n});
  }
  const auto out = gpu.allocate<std::uint32_t>(2);
  const auto large = catch_error([&] { launch(out, most + 1); });
  CHECK(large.code == errc::invalid_argument);
  CHECK(large.says("must all be resident at once; the grid has 4225, and the device holds 4224"));
  CHECK(out.download() == std::vector<std::uint32_t>{0, 0});
}

TEST_CASE("blocks that wait for ever end in an error, and the device is lost") {
  const kernel_text k("forever", R"(
.visible .entry forever(.param .u64 p)
{
  .reg .b64 %d<2>; .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.u64 %d1, [p];
WAIT:
  ld.acquire.gpu.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra WAIT;
  ret;
}
)",
                      {words_out}, {32, 1, 1});
  const kaio::device gpu = kaio::device::open("emulator");
  const auto out = gpu.allocate<std::uint32_t>(1);
  const argument arguments[] = {out.as_argument()};
  const auto stuck = catch_error([&] { gpu.stream().launch(k.image, {4, 1, 1}, arguments, 1); });
  CHECK(stuck.code == errc::launch_failed);
  CHECK(stuck.says("a value in memory that no thread writes"));
  CHECK(catch_error([&] { gpu.synchronize(); }).says("first cause"));
}

TEST_CASE("a failed assertion is an error with its text, file, line, function and thread") {
  const kernel_text k("asserts", R"(
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 message[6] = {105, 32, 60, 32, 110, 0};
.visible .entry asserts()
{
  .reg .b64 %d<3>; .reg .b32 %r<2>; .reg .pred %p<2>;
  mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 3; @%p1 bra DONE;
  mov.u64 %d1, message; cvta.global.u64 %d2, %d1;
  {
    .param .b64 a; st.param.b64 [a+0], %d2; .param .b64 b; st.param.b64 [b+0], %d2;
    .param .b32 c; st.param.b32 [c+0], 21; .param .b64 d; st.param.b64 [d+0], %d2;
    .param .b64 e; st.param.b64 [e+0], 1;
    call.uni __assertfail, (a, b, c, d, e);
  }
DONE:
  ret;
}
)",
                      {}, {8, 1, 1});
  const kaio::device gpu = kaio::device::open("emulator");
  try {
    gpu.stream().launch(k.image, {1, 1, 1}, nullptr, 0);
    FAIL("nothing was thrown");
  } catch (const kaio::assertion_failed& e) {
    CHECK(e.code() == errc::device_assert);
    const std::string text = e.what();
    CHECK(text.starts_with("kaio: kernel 'asserts': assertion 'i < n' failed at i < n:21 in i < n"));
    CHECK(text.find("block (0, 0, 0), thread (3, 0, 0)") != std::string::npos);
  }
  CHECK(catch_error([&] { gpu.synchronize(); }).code == errc::device_assert);
}

#if !defined(_WIN32)
TEST_CASE("what a kernel prints is on the standard output when the launch ends") {
  const kernel_text k("prints", R"(
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 format[4] = {37, 117, 10, 0};
.visible .entry prints()
{
  .local .align 8 .b8 frame[8];
  .reg .b64 %d<5>; .reg .b32 %r<3>;
  mov.u32 %r1, %tid.x; st.local.u32 [frame], %r1;
  mov.u64 %d1, format; cvta.global.u64 %d2, %d1; mov.u64 %d3, frame; cvta.local.u64 %d4, %d3;
  {
    .param .b64 a; st.param.b64 [a+0], %d2; .param .b64 b; st.param.b64 [b+0], %d4; .param .b32 r;
    call.uni (r), vprintf, (a, b);
    ld.param.b32 %r2, [r+0];
  }
  ret;
}
)",
                      {}, {3, 1, 1});
  const kaio::device gpu = kaio::device::open("emulator");
  std::fflush(stdout);
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int before = dup(1);
  dup2(fileno(file), 1);
  gpu.stream().launch(k.image, {2, 1, 1}, nullptr, 0);
  char text[64] = {};
  const auto size = pread(fileno(file), text, sizeof text - 1, 0);
  dup2(before, 1);
  close(before);
  std::fclose(file);
  CHECK(size == 12);
  CHECK(std::string(text) == "0\n1\n2\n0\n1\n2\n");
}
#endif
