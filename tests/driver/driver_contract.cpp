// Every device refuses a malformed kernel or argument with the same error, before anything runs.

#include "driver/driver_support.hpp"

#include <functional>
#include <vector>

using namespace driver_test;
using kaio::errc;
using kaio::ptx::argument;
using kaio::ptx::kernel_image;
using kaio::ptx::parameter;
using kaio::ptx::type;

namespace {

struct pair {
  std::uint64_t first, second;
};
const pair two{1, 2};

constexpr std::string_view mixed_text[] = {R"(.version 6.0
.target sm_70
.address_size 64
// .entry mixed(.param .u64 in_a_comment)
.visible .entry other(.param .u64 one)
{
  ret;
}
/* .entry mixed( */
.visible .entry mixed(.param .u64 .ptr .global .align 4 x, .param .align 8 .b8 s[0x10],
  .param .f32 a, .param .u8 small)
.maxntid 64, 1, 1
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [x];
  ld.param.b32 %r0, [a];
  st.global.u32 [%d0], %r0;
  ret;
}
)"};
constexpr parameter mixed_parameters[] = {
    {type::f32, kaio::ptx::access::inout}, {.bytes = sizeof(pair), .alignment = 8}, {type::f32}, {type::u8}};
constexpr kernel_image mixed = kaio::ptx::identified({.name = "mixed",
                                                      .segments = mixed_text,
                                                      .segment_count = 1,
                                                      .parameters = mixed_parameters,
                                                      .parameter_count = 4,
                                                      .block = {64, 1, 1},
                                                      .needs = {}});

// A correct launch, except for what `change` does to it.
struct one_launch {
  kernel_image kernel = mixed;
  std::vector<parameter> parameters{std::begin(mixed_parameters), std::end(mixed_parameters)};
  std::vector<argument> arguments;
  kaio::ptx::launch_grid grid{1, 1, 1};
  bool null_arguments = false;
  std::size_t count = 4;
};
struct bad_launch {
  const char* what;
  std::function<void(one_launch&, const kaio::buffer<float>&)> change;
  errc code;
  const char* message;
};

void resize(one_launch& l, std::size_t count) {
  l.parameters.resize(count, {type::u32});
  l.kernel.parameters = l.parameters.data();
  l.kernel.parameter_count = l.count = count;
  l.arguments.resize(count);
}

std::vector<bad_launch> table() {
  using launch = one_launch;
  using memory = const kaio::buffer<float>;
  static constexpr std::string_view empty[] = {{}};
  static const std::string_view nowhere[] = {mixed_text[0], std::string_view(nullptr, 7)};
  return {
      {"an argument too few", [](launch& l, memory&) { l.count = 3; }, errc::invalid_argument,
       "takes 4 arguments, and 3"},
      {"no arguments", [](launch& l, memory&) { l.null_arguments = true; }, errc::invalid_argument,
       "the pointer to them is null"},
      {"a count that wraps", [](launch& l, memory&) { l.count = ~std::size_t{0}; }, errc::invalid_argument,
       "takes 4 arguments"},
      {"a null buffer", [](launch& l, memory&) { l.arguments[0] = {}; }, errc::invalid_argument,
       "argument 1 of kernel mixed is a null buffer"},
      {"a struct for a buffer",
       [](launch& l, memory&) {
         l.arguments[0] = {1, nullptr, 16, &two};
       },
       errc::invalid_argument, "argument 1 of kernel mixed is a struct"},
      {"a buffer for a struct", [](launch& l, memory& x) { l.arguments[1] = x.as_argument(); },
       errc::invalid_argument, "none was given"},
      {"a struct of another size", [](launch& l, memory&) { l.arguments[1].bytes = 8; },
       errc::invalid_argument, "8 bytes were given"},
      {"a buffer for a scalar", [](launch& l, memory& x) { l.arguments[2] = x.as_argument(); },
       errc::invalid_argument, "argument 3 of kernel mixed is a buffer, and the parameter is a scalar (f32)"},
      {"an empty buffer for a scalar",
       [](launch& l, memory& x) {
         l.arguments[3] = {0, x.as_argument().device, 0};
       },
       errc::invalid_argument, "argument 4 of kernel mixed is a buffer"},
      {"a struct for a scalar",
       [](launch& l, memory&) {
         l.arguments[3] = {0, nullptr, 16, &two};
       },
       errc::invalid_argument, "argument 4 of kernel mixed is a struct"},
      {"a grid that is too large",
       [](launch& l, memory&) {
         l.grid = {1, 65536, 1};
       },
       errc::invalid_argument, "grid of 1 x 65536 x 1"},

      {"a parameter more than the text", [](launch& l, memory&) { resize(l, 5); }, errc::jit_failed,
       "its text declares 4 parameters, and its image 5"},
      {"a parameter fewer", [](launch& l, memory&) { resize(l, 3); }, errc::jit_failed,
       "its text declares 4 parameters, and its image 3"},
      {"no parameters", [](launch& l, memory&) { resize(l, 0); }, errc::jit_failed, "its image 0"},
      {"a scalar that is wider", [](launch& l, memory&) { l.parameters[3] = {type::u32}; }, errc::jit_failed,
       "parameter small has 1 bytes in its text, and 4 in its image"},
      {"a scalar that is narrower", [](launch& l, memory&) { l.parameters[2] = {type::f16}; },
       errc::jit_failed, "parameter a has 4 bytes in its text, and 2 in its image"},
      {"a pointer for a scalar",
       [](launch& l, memory& x) {
         l.parameters[2] = {type::f32, kaio::ptx::access::in};
         l.arguments[2] = {x.address() + 4096};
       },
       errc::jit_failed, "parameter a has 4 bytes in its text, and 8 in its image"},
      {"a struct that is larger",
       [](launch& l, memory&) { l.arguments[1].bytes = l.parameters[1].bytes = 24; }, errc::jit_failed,
       "parameter s has 16 bytes in its text, and 24 in its image"},
      {"a scalar for a struct",
       [](launch& l, memory&) {
         l.parameters[1] = {type::u64};
         l.arguments[1] = {};
       },
       errc::jit_failed, "parameter s has 16 bytes"},
      {"another entry of the text", [](launch& l, memory&) { l.kernel.name = "other"; }, errc::jit_failed,
       "its text declares 1 parameters, and its image 4"},
      {"an entry that is not there", [](launch& l, memory&) { l.kernel.name = "in_a_comment"; },
       errc::jit_failed, "no .entry of that name"},

      {"more parameters than there can be", [](launch& l, memory&) { resize(l, 1025); },
       errc::invalid_argument, "has 1025 parameters"},
      {"parameters that are not there", [](launch& l, memory&) { l.kernel.parameters = nullptr; },
       errc::invalid_argument, "counts 4 parameters, and has none"},
      {"text that is not there", [](launch& l, memory&) { l.kernel.segments = nullptr; },
       errc::invalid_argument, "counts 1 segments of text, and has none"},
      {"a count of text that overflows",
       [](launch& l, memory&) {
         l.kernel.segments = nullptr;
         l.kernel.segment_count = ~std::size_t{0};
       },
       errc::invalid_argument, "segments of text, and has none"},
      {"a segment that is not there",
       [](launch& l, memory&) {
         l.kernel.segments = nowhere;
         l.kernel.segment_count = 2;
       },
       errc::invalid_argument, "counts 7 characters of a segment, and has none"},
      {"lines that are not there", [](launch& l, memory&) { l.kernel.statement_count = 3; },
       errc::invalid_argument, "counts 3 statements, and has none"},
      {"an empty text", [](launch& l, memory&) { l.kernel.segments = empty; }, errc::jit_failed,
       "cannot be loaded"},
      {"a text that was changed", [](launch& l, memory&) { l.kernel.identity.hash.low ^= 1; },
       errc::invalid_argument, "call ptx::identified again"},
      {"a type that there is not", [](launch& l, memory&) { l.parameters[2].type = static_cast<type>(200); },
       errc::invalid_argument, "parameter 3 of kernel mixed has type 200"},
      {"an access that there is not",
       [](launch& l, memory&) { l.parameters[2].access = static_cast<kaio::ptx::access>(9); },
       errc::invalid_argument, "access 9"},
      {"a struct without bytes",
       [](launch& l, memory&) {
         l.parameters[1] = {};
         l.arguments[1].bytes = 0;
       },
       errc::invalid_argument, "parameter 2 of kernel mixed has no type and no bytes"},
      {"no name", [](launch& l, memory&) { l.kernel.name = {}; }, errc::invalid_argument,
       "cannot be a kernel's name"},
      {"an empty block",
       [](launch& l, memory&) {
         l.kernel.block = {64, 0, 1};
       },
       errc::invalid_argument, "block of 64 x 0 x 1"},
      {"a block whose count wraps",
       [](launch& l, memory&) {
         l.kernel.block = {1u << 31, 1u << 31, 4};
       },
       errc::invalid_argument, "block of 2147483648"},
      {"a block larger than the text's",
       [](launch& l, memory&) {
         l.kernel.block = {65, 1, 1};
       },
       errc::launch_failed, "at most 64"},
  };
}

void check_on(const char* name) {
  const kaio::device gpu = kaio::device::open(name);
  const auto x = gpu.upload(std::vector<float>(16, 7.0f));
  const auto run = [&](one_launch& l) {
    gpu.stream().launch(l.kernel, l.grid, l.null_arguments ? nullptr : l.arguments.data(), l.count);
    gpu.synchronize();
  };
  const auto good = [&] {
    one_launch l;
    l.kernel.parameters = l.parameters.data();
    l.arguments = {x.as_argument(), {.bytes = sizeof two, .data = &two}, {0x3f800000u}, {3}};
    return l;
  };
  const auto all = table();
  for (const bool loaded : {false, true}) {
    for (const bad_launch& bad : all) {
      one_launch l = good();
      bad.change(l, x);
      INFO(name << ": " << bad.what << (loaded ? ", after the kernel was loaded" : ""));
      const thrown e = catch_error([&] { run(l); });
      CHECK(e.code == bad.code);
      INFO(e.message);
      CHECK(e.says(bad.message));
    }
    CHECK(x.download()[0] == (loaded ? 1.0f : 7.0f));
    one_launch right = good();
    run(right);
    CHECK(x.download()[0] == 1.0f);
  }
}

}  // namespace

TEST_CASE("malformed kernels and arguments are refused alike by the emulator and by a GPU") {
  check_on("emulator");
  fresh_driver driver;
  check_on("cuda:0");
  CHECK(driver.launches() == 2);
}
