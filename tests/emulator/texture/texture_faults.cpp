// Textures used against the rules: objects that do not fit the instruction, destroyed objects and freed texels, forms
// that are rejected, and the sanitizer's checks.

#include "emulator/sanitizer/sanitizer.hpp"
#include "tests/emulator/texture/image_kernel.hpp"

#include <optional>

using namespace emulator_test;

namespace {

const std::string results4 = " {%r20, %r21, %r22, %r23}, ";
const std::string read_1d = "tex.1d.v4.f32.f32" + results4 + "[%p2, {%r10}];";
const std::string fetch_1d = "tex.1d.v4.f32.s32" + results4 + "[%p2, {%r10}];";
const std::string read_2d = "tex.2d.v4.f32.f32" + results4 + "[%p2, {%r10, %r11}];";

texture float_texture(memory& m, image_shape shape) {
  texture t;
  t.texels = image_of<float>(m, shape, single_float, 4, 1, 1, {1, 2, 3, 4});
  return t;
}

}  // namespace

TEST_CASE("objects that an instruction cannot use") {
  memory m;
  const texture t = float_texture(m, image_shape::two);
  texture normalized = t;
  normalized.sampler.normalized = true;
  texture integers = t;
  integers.texels.format.kind = texel_kind::signed_integer;
  const texture linear = float_texture(m, image_shape::linear);
  const std::uint64_t object = m.images().add(t), gone = m.images().add(t);
  CHECK(m.images().remove(gone));
  CHECK_FALSE(m.images().remove(gone));
  struct row {
    std::uint64_t object;
    std::string instruction, why;
  };
  const row rows[] = {
      {0, read_2d, "there is none with this handle"},
      {gone, read_2d, "was destroyed"},
      {m.images().add(surface{t.texels}), read_2d, "it is a surface object"},
      {object, "suld.b.2d.b32.trap %r20, [%p2, {%r10, %r11}];", "it is a texture object"},
      {object, read_1d, "an image of two dimensions by the geometry .1d"},
      {m.images().add(normalized), "tex.2d.v4.f32.s32" + results4 + "[%p2, {%r10, %r11}];",
       "integer coordinates"},
      {m.images().add(linear), read_1d, "floating-point coordinates"},
      {m.images().add(integers), "tex.2d.v2.f16x2.f32 {%r20, %r21}, [%p2, {%r10, %r11}];",
       "integers as halves"},
      {object, "suq.width.b32 %r20, [%p2];", "it is a texture object"},
  };
  for (const row& r : rows) {
    INFO(r.instruction);
    const fault_report f = image_fault(m, r.instruction, r.object);
    CHECK(f.kind == fault_kind::image);
    CHECK(contains(f.detail, r.why));
  }
}

TEST_CASE("texels outside their buffer are accesses outside a buffer") {
  memory m;
  texture t = float_texture(m, image_shape::two);
  m.free(t.texels.address);
  const fault_report freed = image_fault(m, read_2d, m.images().add(t));
  CHECK(freed.kind == fault_kind::use_after_free);
  CHECK(freed.address == t.texels.address);

  texture larger = float_texture(m, image_shape::linear);
  larger.texels.address = m.allocate(256) + 256;
  const fault_report outside = image_fault(m, fetch_1d, m.images().add(larger));
  CHECK(outside.kind == fault_kind::out_of_bounds);
  CHECK(outside.bytes == 4);
}

TEST_CASE("forms that are no texture instructions, or not supported") {
  struct row {
    std::string form, why;
  };
  const row rows[] = {
      {"tex.2d.f32.f32 %f1, [%d1, {%f1, %f2}];", "needs .v4"},
      {"tex.2d.v4.f32.f32 {%f1, %f2}, [%d1, {%f1, %f2}];", "4 destinations"},
      {"tex.2d.v4.u32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}];", "takes .u32 here"},
      {"tex.2d.v4.f64.f32 {%g1, %g2, %g3, %g4}, [%d1, {%f1, %f2}];", "no form of type .f64"},
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%r1, {%f1, %f2}];", "takes .u64 here"},
      {"tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2, %f3}];", "takes 4 coordinates, not 3"},
      {"tex.a1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}];", "takes .u32 here"},
      {"tex.1d.level.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1}], %f4;", "must directly follow"},
      {"tex.level.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r1}], %f4;", "takes .s32 here"},
      {"tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}], {%f4}, {%f5};",
       "gradients of 2 elements"},
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}], {1, 2};", "not supported by the emulator"},
      {"tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2, %f3, %f3}];",
       "cube maps are not supported"},
      {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, %d2, {%f1}];",
       "independent samplers are not supported"},
      {"tld4.r.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2, %f3, %f3}];", "two dimensions"},
      {"txq.height.u32 %r1, [%d1];", "no form of type .u32"},
      {"txq.level.array_size.b32 %r1, [%d1], %r2;", "a width, a height and a depth"},
      {"txq.channel_order.b32 %r1, [%d1];", "not supported by the emulator"},
  };
  for (const row& r : rows) {
    INFO(r.form);
    CHECK(contains(rejection(kernel_text(r.form)).reason(), r.why));
  }
  CHECK(contains(rejection(kernel_text("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%q1, [%d1, {%f1}];", 1, "",
                                       "7.0", "sm_80"))
                     .reason(),
                 "7.1"));
}

namespace {

// The sanitizer's report of a kernel that has the object in %p2 and 32 threads.
std::optional<fault_report> checked_image(memory& m, const std::string& body, std::uint64_t object) {
  const array<std::uint32_t> out(m, 128), in(m, row_of_words(32));
  const module code = parsed_module(image_text(body, 1, 32));
  sanitizer checks{sanitizer_options{}};
  launch l;
  l.mod = &code;
  l.kernel = code.find("k");
  l.grid = {1, 1, 1};
  l.block = {32, 1, 1};
  const std::uint64_t pointers[] = {out.address(), in.address(), object};
  l.parameters.resize(sizeof pointers);
  std::memcpy(l.parameters.data(), pointers, sizeof pointers);
  l.observers.push_back(&checks);
  try {
    run(l, m);
  } catch (const fault& f) {
    return f.report();
  }
  return {};
}

}  // namespace

TEST_CASE("the sanitizer sees texels that were never written") {
  memory m;
  texture t;
  t.texels = {m.allocate(256, contents::undefined), image_shape::linear, single_float, 64, 1, 1, 256, 256};
  const float one = 1;
  m.write(t.texels.address, &one, 4);
  const std::uint64_t object = m.images().add(t);
  CHECK_FALSE(checked_image(m, "tex.1d.v4.f32.s32" + results4 + "[%p2, {0}];", object));
  const auto r = checked_image(m, "tex.1d.v4.f32.s32" + results4 + "[%p2, {5}];", object);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::uninitialised);
}

TEST_CASE("the sanitizer sees texture reads of what the kernel wrote") {
  memory m;
  texture t;
  t.texels = {m.allocate(256), image_shape::linear, single_float, 64, 1, 1, 256, 256};
  const std::uint64_t object = m.images().add(t), address = t.texels.address;
  const std::string store =
      "mov.u64 %d7, " + std::to_string(address) +
      "; cvta.to.global.u64 %d7, %d7; mad.lo.u64 %d7, %wide, 4, %d7; st.global.b32 [%d7], %r10;\n";
  const std::string read = "tex.1d.v4.f32.s32" + results4 + "[%p2, {%thread}];\n";
  CHECK_FALSE(checked_image(m, read + store, object));
  const auto r = checked_image(m, store + read, object);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::read_only);
  CHECK(contains(r->detail, "through a texture"));
}
