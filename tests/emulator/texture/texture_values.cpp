// The elements of textures as texture reads return them: every format, read modes, border colors, halves, and queries.

#include "tests/emulator/texture/image_kernel.hpp"

#include <cmath>

using namespace emulator_test;

namespace {

const std::string read_2d = "tex.2d.v4.u32.f32 {%r20, %r21, %r22, %r23}, [%p2, {%r10, %r11}];";
const row_of_words zero{0};

// The words of the texel (0, 0) of an image with these elements.
template <class T>
row_of_words first_texel(texel_format format, const std::vector<T>& elements, bool fractions) {
  memory m;
  texture t;
  t.texels = image_of(m, image_shape::two, format, 1, 1, 1, elements);
  t.reads_fractions = fractions;
  return apply_image(m, read_2d, m.images().add(t), {zero, zero})[0];
}

template <class T>
void check_integers(texel_kind kind, const std::vector<T>& elements) {
  for (const std::uint8_t channels : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{4}}) {
    const texel_format format{kind, sizeof(T), channels};
    const auto words = first_texel(format, elements, false);
    for (std::size_t c = 0; c < 4; ++c)
      CHECK(words[c] == (c < channels ? static_cast<std::uint32_t>(elements[c]) : 0));
    if (sizeof(T) == 4) continue;
    const double most = std::pow(2.0, 8 * sizeof(T) - (kind == texel_kind::signed_integer ? 1 : 0)) - 1;
    const auto fractions = first_texel(format, elements, true);
    for (std::size_t c = 0; c < channels; ++c)
      CHECK(f32_of(fractions[c]) ==
            static_cast<float>(std::fmax(static_cast<double>(elements[c]) / most, -1)));
  }
}

}  // namespace

TEST_CASE("elements of every integer format, as integers and as fractions") {
  check_integers<std::uint8_t>(texel_kind::unsigned_integer, {0, 255, 128, 7});
  check_integers<std::int8_t>(texel_kind::signed_integer, {-128, 127, -1, 5});
  check_integers<std::uint16_t>(texel_kind::unsigned_integer, {65535, 0, 300, 7});
  check_integers<std::int16_t>(texel_kind::signed_integer, {-32768, 32767, -2, 9});
  check_integers<std::uint32_t>(texel_kind::unsigned_integer, {0xffffffff, 1, 0, 3});
  check_integers<std::int32_t>(texel_kind::signed_integer, {-1, 2147483647, 0, -7});
}

TEST_CASE("elements of floating-point formats") {
  const std::vector<float> singles{1.5f, -0.0f, 3e38f, 1e-40f};
  const auto words = first_texel({texel_kind::floating, 4, 4}, singles, false);
  for (std::size_t c = 0; c < 4; ++c) CHECK(words[c] == bits(singles[c]));
  // 1, -2, the greatest and the least half.
  const auto halves =
      first_texel<std::uint16_t>({texel_kind::floating, 2, 4}, {0x3c00, 0xc000, 0x7bff, 0x0001}, false);
  const float want[] = {1, -2, 65504, 0x1p-24f};
  for (std::size_t c = 0; c < 4; ++c) CHECK(f32_of(halves[c]) == want[c]);
}

TEST_CASE("fractions are filtered") {
  memory m;
  texture t;
  t.texels =
      image_of<std::uint8_t>(m, image_shape::one, {texel_kind::unsigned_integer, 1, 1}, 2, 1, 1, {51, 204});
  t.reads_fractions = true;
  t.sampler.filter = filter_mode::linear;
  const auto have = apply_image(m, "tex.1d.v4.f32.f32 {%r20, %r21, %r22, %r23}, [%p2, {%r10}];",
                                m.images().add(t), {float_bits({0.75f, 1.0f})});
  CHECK(f32_of(have[0][0]) == static_cast<float>(0.75 * 51 / 255 + 0.25 * 204 / 255));
  CHECK(f32_of(have[1][0]) == static_cast<float>(0.5 * 51 / 255 + 0.5 * 204 / 255));
}

TEST_CASE("the border color fills the channels of the format") {
  memory m;
  texture t;
  t.texels = image_of<float>(m, image_shape::two, {texel_kind::floating, 4, 2}, 1, 1, 1, {1, 2});
  t.sampler.address = {address_mode::border, address_mode::border, address_mode::border};
  t.sampler.border_color = {10, 20, 30, 40};
  const auto have =
      apply_image(m, read_2d, m.images().add(t), {float_bits({-1, 0, 5}), float_bits({0, 0, 9})});
  const float want[][4] = {{10, 20, 0, 0}, {1, 2, 0, 0}, {10, 20, 0, 0}};
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 4; ++c) CHECK(f32_of(have[r][c]) == want[r][c]);
}

TEST_CASE("halves are rounded results, alone and in pairs") {
  memory m;
  texture t;
  t.texels =
      image_of<float>(m, image_shape::two, {texel_kind::floating, 4, 4}, 1, 1, 1, {1, -2, 0.1f, 70000});
  const std::uint64_t object = m.images().add(t);
  const auto pairs =
      apply_image(m, "tex.2d.v2.f16x2.f32 {%r20, %r21}, [%p2, {%r10, %r11}];", object, {zero, zero})[0];
  CHECK(pairs[0] == 0xc0003c00);
  CHECK(pairs[1] == 0x7c002e66);
  const auto single = apply_image(m,
                                  "tex.2d.v4.f16.f32 {%h1, %h2, %h3, _}, [%p2, {%r10, %r11}];\n"
                                  "mov.b32 %r20, {%h1, %h2}; cvt.u32.u16 %r21, %h3;",
                                  object, {zero, zero})[0];
  CHECK(single[0] == 0xc0003c00);
  CHECK(single[1] == 0x2e66);
}

TEST_CASE("a texture object has one level, and its texels are in memory") {
  memory m;
  texture t;
  t.texels = image_of<float>(m, image_shape::two, single_float, 2, 1, 1, {3, 4});
  const std::uint64_t object = m.images().add(t);
  const row_of_words x = float_bits({1.5f});
  for (const std::string form :
       {"tex.level.2d.v4.f32.f32 {%r20, %r21, %r22, %r23}, [%p2, {%r10, %r11}], %r10;",
        "tex.level.2d.v4.f32.f32 {%r20, %r21, %r22, %r23}, [%p2, {%r10, %r11}], 0f00000000;",
        "tex.grad.2d.v4.f32.f32 {%r20, %r21, %r22, %r23}, [%p2, {%r10, %r11}], {%r10, %r11}, {%r10, %r11};",
        "tex.base.2d.v4.f32.f32 {%r20, _, _, _}, [%p2, {%r10, %r11}];",
        "tex.2d.v4.f32.f32 {%r20, %r21, %r22, %r23}|%q1, [%p2, {%r10, %r11}]; @!%q1 mov.b32 %r20, 0;"}) {
    INFO(form);
    CHECK(f32_of(apply_image(m, form, object, {x, zero})[0][0]) == 4);
  }
}

TEST_CASE("lanes read the textures that they name") {
  memory m;
  std::vector<std::uint64_t> objects;
  for (const float value : {5.0f, 6.0f, 7.0f}) {
    texture t;
    t.texels = image_of<float>(m, image_shape::one, single_float, 1, 1, 1, {value});
    objects.push_back(m.images().add(t));
  }
  const array<std::uint64_t> handles(m, objects);
  row_of_words which;
  for (std::uint32_t lane = 0; lane < 32; ++lane) which.push_back(lane % 3);
  const auto have = apply_image(m,
                                "mad.wide.u32 %d5, %r10, 8, %p2; ld.global.b64 %d6, [%d5];\n"
                                "setp.ne.u32 %q1, %r10, 2;\n"
                                "@%q1 tex.1d.v4.f32.s32 {%r20, %r21, %r22, %r23}, [%d6, 0];",
                                handles.address(), {which});
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    CHECK(f32_of(have[lane][0]) == (lane % 3 == 2 ? 0.0f : 5.0f + static_cast<float>(lane % 3)));
}

TEST_CASE("the properties of textures and surfaces") {
  memory m;
  texture t;
  t.texels = image_of<std::int16_t>(m, image_shape::three, {texel_kind::signed_integer, 2, 1}, 3, 2, 2,
                                    std::vector<std::int16_t>(12));
  t.sampler.normalized = true;
  surface s;
  s.texels = image_of<float>(m, image_shape::layered_two, single_float, 4, 2, 5, std::vector<float>(40));
  const auto ask = [&](std::uint64_t object, const std::string& form) {
    return apply_image(m, form, object, {zero})[0];
  };
  CHECK(ask(m.images().add(t),
            "txq.width.b32 %r20, [%p2]; txq.height.b32 %r21, [%p2]; txq.depth.b32 %r22, [%p2];"
            "txq.channel_data_type.b32 %r23, [%p2];") == row_of_words{3, 2, 2, 0x09});
  CHECK(ask(m.images().add(t),
            "txq.array_size.b32 %r20, [%p2]; txq.normalized_coords.b32 %r21, [%p2];"
            "txq.num_mipmap_levels.b32 %r22, [%p2]; txq.level.width.b32 %r23, [%p2], 0;") ==
        row_of_words{0, 1, 1, 3});
  CHECK(ask(m.images().add(s),
            "suq.width.b32 %r20, [%p2]; suq.height.b32 %r21, [%p2]; suq.array_size.b32 %r22, [%p2];"
            "suq.channel_data_type.b32 %r23, [%p2];") == row_of_words{4, 2, 5, 0x20});
  CHECK(ask(m.images().add(s), "suq.depth.b32 %r20, [%p2];")[0] == 0);
}
