// wgmma multiplies what matrix descriptors and registers name, exactly for small integers, in all types,
// layouts and swizzles.

#include "tests/emulator/matrix/wgmma_model.hpp"

namespace {

using namespace emulator_test;

void check(const wgmma_case& c) {
  INFO(c.name());
  CHECK(wrong_elements(c) == 0);
}

TEST_CASE("wgmma reads half-precision matrices in all swizzles and both major orders", "[emulator]") {
  for (const unsigned a_atom : {16u, 32u, 64u, 128u})
    for (const unsigned b_atom : {16u, 32u, 64u, 128u})
      for (unsigned major = 0; major < 4; ++major) {
        wgmma_case c;
        c.n = 64;
        c.steps = 4;
        c.a_layout = {a_atom, (major & 1) != 0};
        c.b_layout = {b_atom, (major & 2) != 0};
        if (major % 2 == 1) c.a = c.b = "bf16";
        check(c);
      }
}

TEST_CASE("wgmma has many numbers of columns", "[emulator]") {
  for (const unsigned n : {8u, 16u, 24u, 96u, 200u, 256u})
    for (const bool mn_major : {false, true})
      for (const char* d : {"f32", "f16"}) {
        wgmma_case c;
        c.n = n;
        c.d = d;
        c.steps = 2;
        c.b_layout = {mn_major ? 32u : 128u, mn_major};
        check(c);
      }
}

TEST_CASE("wgmma multiplies tf32, 8-bit and 1-bit elements", "[emulator]") {
  struct types {
    const char *d, *a, *b, *suffix;
  };
  for (const types& t :
       {types{"f32", "tf32", "tf32", ""}, types{"f32", "e4m3", "e4m3", ""}, types{"f32", "e5m2", "e4m3", ""},
        types{"f16", "e4m3", "e5m2", ""}, types{"f16", "e5m2", "e5m2", ""}, types{"s32", "s8", "s8", ""},
        types{"s32", "u8", "u8", ".satfinite"}, types{"s32", "b1", "b1", ".and.popc"}})
    for (const unsigned atom : {16u, 32u, 64u, 128u})
      for (const bool in_registers : {false, true}) {
        wgmma_case c;
        c.d = t.d, c.a = t.a, c.b = t.b, c.suffix = t.suffix;
        c.n = atom == 32 ? 8 : atom == 64 ? 96 : 32;
        c.steps = 3;
        c.a_layout = c.b_layout = {atom, false};
        c.a_registers = in_registers;
        c.accumulate = atom % 64 == 0;
        check(c);
      }
}

TEST_CASE("wgmma takes A from registers", "[emulator]") {
  for (const char* type : {"f16", "bf16"})
    for (const bool mn_major : {false, true}) {
      wgmma_case c;
      c.a = c.b = type;
      c.a_registers = true;
      c.b_layout.mn_major = mn_major;
      check(c);
    }
}

TEST_CASE("wgmma negates A and B and accumulates where scale-d says so", "[emulator]") {
  for (unsigned choice = 0; choice < 8; ++choice)
    for (const char* type : {"f16", "tf32", "e4m3"}) {
      wgmma_case c;
      c.a = c.b = type;
      c.n = 16;
      c.negate_a = (choice & 1) != 0;
      c.negate_b = (choice & 2) != 0;
      c.accumulate = (choice & 4) != 0;
      c.a_registers = choice % 3 == 0;
      check(c);
    }
}

TEST_CASE("a sparse A of wgmma is where its metadata says", "[emulator]") {
  struct types {
    const char *d, *a, *b;
  };
  for (const types& t :
       {types{"f32", "f16", "f16"}, types{"f16", "f16", "f16"}, types{"f32", "bf16", "bf16"},
        types{"f32", "tf32", "tf32"}, types{"f32", "e4m3", "e5m2"}, types{"s32", "s8", "u8"}})
    for (unsigned choice = 0; choice < 4; ++choice) {
      wgmma_case c;
      c.d = t.d, c.a = t.a, c.b = t.b;
      c.sparse = true;
      c.n = 24;
      c.steps = 2;
      c.selector = element_bits(c.a) == 8 ? 0 : choice % 2;
      c.a_registers = choice >= 2;
      c.b_layout = {choice % 2 == 0 ? 128u : 64u, element_bits(c.a) == 16 && choice == 1};
      if (t.d == std::string("s32")) {
        c.b = c.a = choice % 2 == 0 ? "s8" : "u8";
      }
      check(c);
    }
}

TEST_CASE("patterns of a swizzle may start off their boundary with a base offset", "[emulator]") {
  // The whole image is moved by `shift` lines of 128 bytes; the base offset describes this.
  std::mt19937 random(5);
  host_matrix a("f16", 64, 16), b("f16", 8, 16);
  a.randomise(random, -3, 3);
  b.randomise(random, -3, 3);
  const tile_layout layout{128, false};
  const shared_image a_image(a, layout), b_image(b, layout);
  for (const unsigned shift : {0u, 1u, 5u}) {
    const auto moved = [&](const shared_image& image) {
      std::vector<std::uint8_t> bytes(std::size_t{shift} * 128);
      bytes.insert(bytes.end(), image.bytes.begin(), image.bytes.end());
      bytes.resize((bytes.size() + 2047) / 2048 * 2048);
      return bytes;
    };
    const auto descriptor = [&](const shared_image& image) {
      return image.descriptor(0) + shift * 8 + (std::uint64_t{shift} << 49);
    };
    wgmma_case c;
    c.n = 8;
    c.steps = 1;
    shared_image a_moved = a_image, b_moved = b_image;
    a_moved.bytes = moved(a_image);
    b_moved.bytes = moved(b_image);
    std::string text = wgmma_text(c, a_moved, b_moved);
    const auto replace = [&](std::uint64_t from, std::uint64_t to, const std::string& name) {
      const std::string old = name + std::to_string(from) + ";";
      REQUIRE(text.find(old) != std::string::npos);
      text.replace(text.find(old), old.size(), name + std::to_string(to) + ";");
    };
    replace(a_image.descriptor(0), descriptor(a_image), "%d32, %d30, ");
    replace(b_image.descriptor(0), descriptor(b_image), "%d33, %d31, ");
    memory global;
    const array<std::uint32_t> d(global, 4 * 128), none(global, 1);
    const array<std::uint8_t> a_buffer(global, a_moved.bytes), b_buffer(global, b_moved.bytes);
    run_module(parsed_module(text), global,
               {d.address(), a_buffer.address(), b_buffer.address(), none.address()}, {1, 128});
    const auto have = d.values();
    for (unsigned row = 0; row < 64; ++row)
      for (unsigned column = 0; column < 8; ++column) {
        int sum = 0;
        for (unsigned k = 0; k < 16; ++k) sum += a.at(row, k) * b.at(column, k);
        const d_place p = place_in_d(c, row, column);
        CHECK(have[p.index * 128 + p.thread] == encoded("f32", sum));
      }
  }
}

}  // namespace
