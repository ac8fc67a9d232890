// A GGUF file is read as it was made, and each kind of damage is an error that names the file and the tensor.

#include "files.hpp"

#if !defined(_WIN32)
#include <sys/stat.h>
#endif

#include "catch.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::uint32_t f32_type = 0, q8_0_type = 8;

std::string floats(std::initializer_list<float> values) {
  std::string bytes;
  for (const float v : values) bytes += little(v);
  return bytes;
}

gguf_maker gguf_of_two() {
  gguf_maker g;
  g.key("general.architecture", gguf_type::string, gguf_maker::string("llama"));
  g.key("llama.block_count", gguf_type::u32, little(32u));
  g.tensor("norm", {3}, f32_type, floats({1, 2, 3}));
  g.tensor("blk.0.attn_q.weight", {32, 2}, q8_0_type, std::string(68, '\1'));
  return g;
}

// Reads the text as "m.gguf".
damage damage_of_gguf(const std::string& text) {
  return catch_damage([&] { gguf_file::view(bytes_of(text), "m.gguf"); });
}

void check_damaged_gguf(const std::string& text, std::string_view what, std::string_view tensor = {}) {
  const damage found = damage_of_gguf(text);
  INFO(found.message);
  CHECK(found.code == errc::damaged_file);
  CHECK(found.file == "m.gguf");
  CHECK(found.tensor == tensor);
  CHECK(found.message.starts_with("kaio: 'm.gguf' is damaged: "));
  CHECK(found.message.find(what) != std::string::npos);
}

}  // namespace

TEST_CASE("GGUF: tensors with their shapes outermost first, and metadata of every type") {
  gguf_maker g = gguf_of_two();
  g.key("i8", gguf_type::i8, "\xfe").key("u64", gguf_type::u64, little(~std::uint64_t{0}));
  g.key("f32", gguf_type::f32, little(0.5f))
      .key("f64", gguf_type::f64, little(0.25))
      .key("yes", gguf_type::boolean, "\1");
  g.key("numbers", gguf_type::array,
        little(static_cast<std::uint32_t>(gguf_type::u16)) + little(std::uint64_t{2}) + "abcd");
  g.key("words", gguf_type::array,
        little(static_cast<std::uint32_t>(gguf_type::string)) + little(std::uint64_t{2}) +
            gguf_maker::string("a") + gguf_maker::string(""));
  const std::string text = g.text();
  gguf_file moved = gguf_file::view(bytes_of(text), "m.gguf");
  const gguf_file file = std::move(moved);
  CHECK(file.version() == 3);
  CHECK(file.alignment() == 32);
  REQUIRE(file.tensors().size() == 2);
  const tensor_entry& q = file.tensors()[1];
  CHECK(q.name == "blk.0.attn_q.weight");
  CHECK(q.format == weight_format::q8_0);
  CHECK(q.shape == std::vector<std::uint64_t>{2, 32});
  CHECK(q.elements == 64);
  CHECK(q.bytes.size() == 68);
  CHECK(q.bytes.data() == bytes_of(text).data() + q.offset);
  CHECK(q.offset % 32 == 0);
  CHECK(q.file == "m.gguf");
  CHECK(file.find("blk.0.attn_q.weight") == &q);
  CHECK(file.find("blk.0") == nullptr);
  CHECK(read_values(*file.find("norm")) == std::vector<float>{1, 2, 3});

  CHECK(file.metadata().size() == 9);
  CHECK(file.metadata("general.architecture")->as_string() == "llama");
  CHECK(file.metadata("llama.block_count")->as_unsigned() == 32u);
  CHECK(file.metadata("i8")->as_signed() == -2);
  CHECK(!file.metadata("i8")->as_unsigned());
  CHECK(file.metadata("u64")->as_unsigned() == ~std::uint64_t{0});
  CHECK(!file.metadata("u64")->as_signed());
  CHECK(file.metadata("f32")->as_number() == 0.5);
  CHECK(file.metadata("f64")->as_number() == 0.25);
  CHECK(file.metadata("yes")->as_bool() == true);
  CHECK(!file.metadata("yes")->as_number());
  CHECK(file.metadata("numbers")->count == 2);
  CHECK(file.metadata("numbers")->bytes.size() == 4);
  CHECK(file.metadata("words")->bytes.size() == 17);
  CHECK(file.metadata("none") == nullptr);
}

TEST_CASE("GGUF: empty tensors, scalars, another alignment, version 2") {
  gguf_maker g;
  g.version = 2;
  g.alignment = 64;
  g.key("general.alignment", gguf_type::u32, little(64u));
  g.tensor("empty", {32, 0}, q8_0_type, "")
      .tensor("scalar", {}, f32_type, floats({7}))
      .tensor("x", {1}, f32_type, floats({8}));
  const std::string text = g.text();
  const gguf_file file = gguf_file::view(bytes_of(text), "m.gguf");
  CHECK(file.find("empty")->bytes.empty());
  CHECK(file.find("scalar")->shape.empty());
  CHECK(read_values(*file.find("scalar")) == std::vector<float>{7});
  CHECK(file.find("x")->offset % 64 == 0);
}

TEST_CASE("GGUF: a file is mapped, and what cannot be is refused") {
  folder f;
  const std::string path = f.write("m.gguf", gguf_of_two().text());
  CHECK(read_values(*gguf_file::open(path).find("norm")) == std::vector<float>{1, 2, 3});
  const auto unreadable = [](const std::string& name) {
    const damage found = catch_damage([&] { gguf_file::open(name); });
    CHECK(found.code == errc::unreadable_file);
    CHECK(found.file == name);
    return found.message;
  };
  unreadable(f.path("missing.gguf"));
  unreadable(f.path(""));
  unreadable(f.path("."));
  f.write("pointer.gguf", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n");
  CHECK(unreadable(f.path("pointer.gguf")).find("git lfs pull") != std::string::npos);
#if !defined(_WIN32)
  unreadable("/dev/null");
  const std::string pipe = f.path("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  unreadable(pipe);
#endif
  CHECK(catch_damage([&] { gguf_file::open(f.write("empty.gguf", "")); }).code == errc::damaged_file);
}

TEST_CASE("GGUF: damaged headers, keys and names") {
  const std::string good = gguf_of_two().text();
  for (std::size_t length = 0; length + 32 < good.size(); ++length) {
    const damage found = damage_of_gguf(good.substr(0, length));
    CHECK(found.code == errc::damaged_file);
  }
  check_damaged_gguf(good.substr(0, good.find("norm") + 20), "cut off", "norm");
  check_damaged_gguf("GGML" + good.substr(4), "does not begin with GGUF");
  check_damaged_gguf(good.substr(0, 8) + little(~std::uint64_t{0}) + good.substr(16),
                     "cannot hold its 18446744073709551615 tensors");
  check_damaged_gguf(good.substr(0, 16) + little(std::uint64_t{1} << 40) + good.substr(24),
                     "cannot hold its 1099511627776 keys");
  check_damaged_gguf(gguf_of_two().key("", gguf_type::u8, "1").text(), "a key is empty");
  check_damaged_gguf(gguf_of_two().key("a\x1b[", gguf_type::u8, "1").text(), "control character");
  check_damaged_gguf(gguf_of_two().key("llama.block_count", gguf_type::u8, "1").text(),
                     "'llama.block_count' occurs twice");
  check_damaged_gguf(gguf_of_two().key("b", gguf_type::boolean, "\2").text(), "neither 0 nor 1");
  check_damaged_gguf(gguf_of_two().key("b", static_cast<gguf_type>(13), "\2").text(), "unknown type 13");
  check_damaged_gguf(gguf_of_two().key("general.alignment", gguf_type::u32, little(48u)).text(),
                     "general.alignment");
  check_damaged_gguf(gguf_of_two().key("general.alignment", gguf_type::u32, little(0u)).text(),
                     "general.alignment");
  check_damaged_gguf(gguf_of_two().key("general.alignment", gguf_type::u64, little(std::uint64_t{32})).text(),
                     "general.alignment");
  const std::string endless =
      little(static_cast<std::uint32_t>(gguf_type::u64)) + little(std::uint64_t{1} << 61);
  check_damaged_gguf(gguf_of_two().key("a", gguf_type::array, endless).text(), "ends within a");
  const std::string words = little(static_cast<std::uint32_t>(gguf_type::string)) + little(~std::uint64_t{0});
  check_damaged_gguf(gguf_of_two().key("a", gguf_type::array, words).text(), "ends within a");

  check_damaged_gguf(gguf_of_two().tensor("", {1}, f32_type, "1234").text(), "is empty");
  check_damaged_gguf(gguf_of_two().tensor("\xff", {1}, f32_type, "1234").text(), "is not UTF-8");
  check_damaged_gguf(gguf_of_two().tensor("a\nb", {1}, f32_type, "1234").text(), "control character");
  check_damaged_gguf(gguf_of_two().tensor(std::string(65536, 'a'), {1}, f32_type, "1234").text(),
                     "longer than 65535");
  check_damaged_gguf(gguf_of_two().tensor("norm", {1}, f32_type, "1234").text(), "occurs twice", "norm");
}

TEST_CASE("GGUF: damaged shapes and places") {
  const std::uint64_t large = std::uint64_t{1} << 40;
  check_damaged_gguf(gguf_of_two().tensor("t", {large, large}, f32_type, "").text(), "64 bits", "t");
  check_damaged_gguf(gguf_of_two().tensor("t", {0, large, large}, f32_type, "").text(), "64 bits", "t");
  check_damaged_gguf(gguf_of_two().tensor("t", {std::uint64_t{1} << 62}, f32_type, "").text(), "ends after",
                     "t");
  check_damaged_gguf(gguf_of_two().tensor("t", {1, 1, 1, 1, 1}, f32_type, "1234").text(), "5 dimensions",
                     "t");
  check_damaged_gguf(gguf_of_two().tensor("t", {33}, q8_0_type, std::string(68, 'x')).text(),
                     "no multiple of the 32", "t");
  check_damaged_gguf(gguf_of_two().tensor("t", {}, q8_0_type, std::string(34, 'x')).text(),
                     "no multiple of the 32", "t");
  check_damaged_gguf(gguf_of_two().tensor_at("t", {1}, f32_type, 132, "1234").text(), "alignment 32", "t");
  check_damaged_gguf(gguf_of_two().tensor_at("t", {1}, f32_type, 160, "").text(), "ends after", "t");
  check_damaged_gguf(gguf_of_two().tensor_at("t", {1}, f32_type, ~std::uint64_t{31}, "1234").text(),
                     "ends after", "t");
  check_damaged_gguf(gguf_of_two().tensor_at("t", {1}, f32_type, 32, "1234").text(),
                     "shares bytes with tensor", "t");
  check_damaged_gguf(gguf_of_two().tensor_at("t", {1}, f32_type, 64, "1234").text(),
                     "shares bytes with tensor 'blk.0.attn_q.weight'", "t");
}

TEST_CASE("GGUF: versions and values that kaio does not read") {
  const auto unsupported = [](const std::string& text, std::string_view what, std::string_view tensor) {
    const damage found = damage_of_gguf(text);
    INFO(found.message);
    CHECK(found.code == errc::unsupported_format);
    CHECK(found.tensor == tensor);
    CHECK(found.message.find(what) != std::string::npos);
  };
  gguf_maker g = gguf_of_two();
  for (const std::uint32_t version : {0u, 1u, 4u}) {
    g.version = version;
    unsupported(g.text(), "version", "");
  }
  g.version = 0x03000000;
  unsupported(g.text(), "big endian", "");
  const std::string nested = little(static_cast<std::uint32_t>(gguf_type::array)) + little(std::uint64_t{0});
  unsupported(gguf_of_two().key("a", gguf_type::array, nested).text(), "arrays of arrays", "");
}

TEST_CASE("GGUF: tensors of types that kaio does not know are listed next to the others") {
  for (const std::uint32_t type : {4u, 9u, 15u, 200u, ~0u}) {
    const std::string text = gguf_of_two()
                                 .tensor("t", {33}, type, std::string(36, 'x'))
                                 .tensor("u", {1}, f32_type, floats({5}))
                                 .text();
    const gguf_file file = gguf_file::view(bytes_of(text), "m.gguf");
    REQUIRE(file.tensors().size() == 4);
    const tensor_entry& t = *file.find("t");
    CHECK(t.format == weight_format::unknown);
    CHECK(t.type == type);
    CHECK(t.shape == std::vector<std::uint64_t>{33});
    CHECK(t.bytes.empty());
    CHECK(t.offset % 32 == 0);
    CHECK(read_values(*file.find("u")) == std::vector<float>{5});
    CHECK(file.find("norm")->type == 0);
    const damage found = catch_damage([&] { read_values(t); });
    CHECK(found.code == errc::unsupported_format);
    CHECK(found.tensor == "t");
  }
}

TEST_CASE("GGUF: the files of a model are opened as one") {
  folder f;
  const auto part = [&](std::uint16_t number, std::uint16_t count, const std::string& name,
                        std::int32_t tensors = 3) {
    gguf_maker g;
    g.key("split.no", gguf_type::u16, little(number)).key("split.count", gguf_type::u16, little(count));
    g.key("split.tensors.count", gguf_type::i32, little(tensors));
    if (number == 0) g.key("general.architecture", gguf_type::string, gguf_maker::string("llama"));
    g.tensor(name, {1}, f32_type, floats({static_cast<float>(number)}));
    return g.text();
  };
  std::vector<std::string> paths;
  for (std::uint16_t i = 0; i < 3; ++i)
    paths.push_back(
        f.write("m-0000" + std::to_string(i + 1) + "-of-00003.gguf", part(i, 3, "t" + std::to_string(i))));
  for (const std::string& path : paths) {
    const gguf_file file = gguf_file::open(path);
    CHECK(file.files() == 3);
    REQUIRE(file.tensors().size() == 3);
    CHECK(file.metadata("general.architecture")->as_string() == "llama");
    for (std::size_t i = 0; i < 3; ++i) {
      const tensor_entry& t = *file.find("t" + std::to_string(i));
      CHECK(&t == &file.tensors()[i]);
      CHECK(t.file == paths[i]);
      CHECK(read_values(t) == std::vector<float>{static_cast<float>(i)});
    }
  }
  // A part with another name is the file that it is.
  CHECK(gguf_file::open(f.write("part.gguf", part(1, 3, "a"))).files() == 1);
  CHECK(gguf_file::open(f.write("m-2-of-00003.gguf", part(1, 3, "a"))).files() == 1);
  const auto open_damaged = [&](std::string_view name, std::string_view what) {
    const damage found = catch_damage([&] { gguf_file::open(paths[0]); });
    INFO(found.message);
    CHECK(found.file == f.path(name));
    CHECK(found.message.find(what) != std::string::npos);
    return found.code;
  };
  f.write("m-00002-of-00003.gguf", part(2, 3, "t1"));
  CHECK(open_damaged("m-00002-of-00003.gguf", "it is part 3 of 3 by its metadata, and 2 of 3 by its name") ==
        errc::damaged_file);
  f.write("m-00002-of-00003.gguf", part(1, 3, "t0"));
  CHECK(open_damaged("m-00001-of-00003.gguf", "'t0' occurs twice") == errc::damaged_file);
  f.write("m-00002-of-00003.gguf", part(1, 3, "t1"));
  f.write("m-00001-of-00003.gguf", part(0, 3, "t0", 4));
  CHECK(open_damaged("m-00001-of-00003.gguf", "its 3 files have 3 tensors, and 4 are asked for") ==
        errc::damaged_file);
  ::unlink(paths[2].c_str());
  CHECK(open_damaged("m-00003-of-00003.gguf", "cannot be read: No such file") == errc::unreadable_file);
}
