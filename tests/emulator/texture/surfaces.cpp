// Surface reads, writes and reductions: every width, what happens outside the image, and races.

#include "emulator/sanitizer/sanitizer.hpp"
#include "tests/emulator/texture/image_kernel.hpp"

using namespace emulator_test;

namespace {

constexpr texel_format one_word{texel_kind::unsigned_integer, 4, 1};

row_of_words counted(std::size_t n, std::uint32_t first = 100) {
  row_of_words result(n);
  for (std::size_t k = 0; k < n; ++k) result[k] = first + static_cast<std::uint32_t>(k);
  return result;
}

std::uint32_t word_at(memory& m, const image& i, unsigned x, unsigned y, unsigned z) {
  std::uint32_t value = 0;
  m.read(&value, i.texel(x, y, z), 4);
  return value;
}

}  // namespace

TEST_CASE("surface reads of every geometry") {
  memory m;
  struct row {
    std::string geometry, place;
    image_shape shape;
    unsigned height, depth;
    std::vector<row_of_words> at;  // two threads
    std::uint32_t want[2];
  };
  const row rows[] = {
      {"1d", "{%r10}", image_shape::one, 1, 1, {{0, 12}}, {100, 103}},
      {"2d", "{%r10, %r11}", image_shape::two, 3, 1, {{4, 12}, {0, 2}}, {101, 111}},
      {"3d", "{%r10, %r11, %r12, %r12}", image_shape::three, 3, 2, {{4, 12}, {0, 2}, {1, 0}}, {113, 111}},
      {"a1d", "{%r10, %r11}", image_shape::layered_one, 1, 3, {{2, 0}, {4, 8}}, {109, 102}},
      {"a2d",
       "{%r10, %r11, %r12, %r12}",
       image_shape::layered_two,
       2,
       2,
       {{1, 0}, {0, 12}, {1, 1}},
       {112, 107}},
  };
  for (const row& r : rows) {
    INFO(r.geometry);
    const surface s{
        image_of(m, r.shape, one_word, 4, r.height, r.depth, counted(std::size_t{4} * r.height * r.depth))};
    const auto have = apply_image(m, "suld.b." + r.geometry + ".b32.trap {%r20}, [%p2, " + r.place + "];",
                                  m.images().add(s), r.at);
    CHECK(have[0][0] == r.want[0]);
    CHECK(have[1][0] == r.want[1]);
  }
}

TEST_CASE("surface accesses of every width") {
  memory m;
  const surface s{
      image_of(m, image_shape::two, {texel_kind::unsigned_integer, 4, 4}, 2, 1, 1, row_of_words(8))};
  const std::uint64_t object = m.images().add(s);
  const auto stored = [&](const std::string& body) {
    apply_image(m, body, object, {{0}});
    row_of_words now(4);
    m.read(now.data(), s.texels.address + 16, 16);
    return now;
  };
  CHECK(stored("sust.b.2d.v4.b32.trap [%p2, {16, 0}], {1, 2, 3, 4};") == row_of_words{1, 2, 3, 4});
  CHECK(stored("mov.b64 %d3, 0x1122334455667788; sust.b.2d.v2.b64.trap [%p2, {16, 0}], {%d3, 9};") ==
        row_of_words{0x55667788, 0x11223344, 9, 0});
  CHECK(stored("mov.b16 %h1, 0x1234; sust.b.2d.v2.b16.trap [%p2, {20, 0}], {%h1, 5};")[1] == 0x00051234);
  CHECK(stored("mov.b32 %r30, 0x15c; sust.b.2d.b8.trap [%p2, {31, 0}], %r30;")[3] == 0x5c000000);
  const auto loaded = apply_image(m,
                                  "suld.b.2d.v4.b8.trap {%h1, %h2, %h3, _}, [%p2, {16, %r10}];\n"
                                  "mov.b32 %r20, {%h1, %h2}; cvt.u32.u16 %r21, %h3;\n"
                                  "suld.b.2d.b64.trap %d3, [%p2, {16, 0}]; cvt.u32.u64 %r22, %d3;\n"
                                  "suld.b.2d.b16.trap %r23, [%p2, {18, 0}];",
                                  object, {{0}})[0];
  CHECK(loaded == row_of_words{0x00770088, 0x66, 0x55667788, 0x5566});
}

TEST_CASE("outside a surface: the nearest texel, zero, or a fault") {
  memory m;
  const surface s{image_of(m, image_shape::two, one_word, 4, 2, 1, counted(8))};
  const std::uint64_t object = m.images().add(s);
  const std::vector<row_of_words> at{{0xfffffffc, 16, 4, 8}, {0, 0, 5, 1}};
  const auto clamped = apply_image(m, "suld.b.2d.b32.clamp %r20, [%p2, {%r10, %r11}];", object, at);
  const auto zeros = apply_image(m, "suld.b.2d.b32.zero %r20, [%p2, {%r10, %r11}];", object, at);
  const std::uint32_t nearest[] = {100, 103, 105, 106}, zero[] = {0, 0, 0, 106};
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(clamped[k][0] == nearest[k]);
    CHECK(zeros[k][0] == zero[k]);
  }
  apply_image(m, "sust.b.2d.b32.zero [%p2, {%r10, %r11}], 7;", object, {{16, 0}, {0, 1}});
  CHECK(word_at(m, s.texels, 3, 0, 0) == 103);
  CHECK(word_at(m, s.texels, 0, 1, 0) == 7);
  apply_image(m, "sust.b.2d.b32.clamp [%p2, {%r10, %r11}], 8;", object, {{400}, {9}});
  CHECK(word_at(m, s.texels, 3, 1, 0) == 8);

  const fault_report f = image_fault(m, "sust.b.2d.b32.trap [%p2, {16, 0}], 7;", object);
  CHECK(f.kind == fault_kind::image);
  CHECK(contains(f.detail, "at byte 16, row 0"));
  CHECK(image_fault(m, "suld.b.2d.b32.clamp %r20, [%p2, {2, 0}];", object).kind == fault_kind::misaligned);
  const surface narrow{image_of(m, image_shape::one, one_word, 1, 1, 1, counted(1))};
  CHECK(contains(
      image_fault(m, "suld.b.1d.v4.b32.clamp {%r20, %r21, %r22, %r23}, [%p2, {0}];", m.images().add(narrow))
          .detail,
      "whose rows have 4"));
}

TEST_CASE("surface reductions are atomic") {
  memory m;
  const surface s{image_of(m, image_shape::two, one_word, 4, 1, 1, row_of_words{0, 50, 0xff, 0})};
  const std::uint64_t object = m.images().add(s);
  apply_image(m,
              "sured.b.add.2d.u32.trap [%p2, {0, 0}], %r10;\nsured.b.min.2d.s32.trap [%p2, {4, 0}], %r10;\n"
              "sured.b.and.2d.b32.trap [%p2, {8, 0}], 0x0f;\nsured.b.max.2d.u32.clamp [%p2, {99, 0}], %r10;",
              object, {counted(128, 3)});
  CHECK(word_at(m, s.texels, 0, 0, 0) == 128 * 3 + 127 * 64);
  CHECK(word_at(m, s.texels, 1, 0, 0) == 3);
  CHECK(word_at(m, s.texels, 2, 0, 0) == 0x0f);
  CHECK(word_at(m, s.texels, 3, 0, 0) == 130);
  const surface wide{
      image_of(m, image_shape::one, {texel_kind::unsigned_integer, 4, 2}, 1, 1, 1, row_of_words{~0u, 0})};
  apply_image(m, "mov.b64 %d3, 1; sured.b.add.1d.u64.trap [%p2, %r10], %d3;", m.images().add(wide), {{0}});
  CHECK(word_at(m, wide.texels, 0, 0, 0) == 31);  // all 32 threads of the block take part
}

TEST_CASE("forms that are no surface instructions, or not supported") {
  struct row {
    std::string form, why;
  };
  const row rows[] = {
      {"suld.b.1d.b32 {%r1}, [%d1, {%r2}];", "needs what to do outside"},
      {"suld.b.1d.u32.trap {%r1}, [%d1, {%r2}];", "no form of type .u32"},
      {"suld.b.1d.v4.b64.zero {%d1, %d2, %d3, %d4}, [%d1, {%r2}];", "more than 16 bytes"},
      {"suld.b.cube.b16.trap {%h1}, [%d1, {%r2, %r2, %r3, %r3}];", "cube maps"},
      {"suld.b.2d.b64.trap {%r1}, [%d1, {%r2, %r2}];", "takes .b64 here"},
      {"suld.b.2d.v2.b8.trap {%h1, %r1}, [%d1, {%r2, %r2}];", "differ in width"},
      {"sust.b.2d.ca.b32.trap [%d1, {3, %r2}], %f1;", "does not take the modifier '.ca'"},
      {"sust.p.1d.b32.trap [%d1, {%r2}], {%r1};", "not supported by the emulator"},
      {"sured.b.add.2d.b32.clamp [%d1, {%r2, %r3}], %r2;", "no form of type .b32"},
      {"sured.b.add.a1d.u32.trap [%d1, {%r2, %r3}], %r1;", ".1d, .2d and .3d"},
  };
  for (const row& r : rows) {
    INFO(r.form);
    CHECK(contains(rejection(kernel_text(r.form)).reason(), r.why));
  }
}

TEST_CASE("the sanitizer sees races of surface writes") {
  memory m;
  const surface s{image_of(m, image_shape::one, one_word, 64, 1, 1, row_of_words(64))};
  const auto reported = [&](const std::string& place) {
    const module code = parsed_module(
        kernel_text("shl.b32 %r1, %thread, 2;\nsust.b.1d.b32.trap [%p0, {" + place + "}], %r1;"));
    sanitizer checks{sanitizer_options{}};
    launch l;
    l.mod = &code;
    l.kernel = code.find("k");
    l.grid = {2, 1, 1};
    l.block = {32, 1, 1};
    const std::uint64_t object = m.images().add(s);
    l.parameters.resize(8);
    std::memcpy(l.parameters.data(), &object, 8);
    l.observers.push_back(&checks);
    try {
      run(l, m);
    } catch (const fault& f) {
      return f.report().kind == fault_kind::race;
    }
    return false;
  };
  CHECK(reported("0"));
  CHECK_FALSE(reported("%r1"));
}
