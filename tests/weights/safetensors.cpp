// safetensors files and their indices are read as they were made, and each kind of damage is an error that
// names the file and the tensor.

#include "files.hpp"

#include "catch.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

safetensors_maker safetensors_of_two() {
  safetensors_maker s;
  s.raw(R"("__metadata__":{"format":"pt"})");
  s.tensor("norm", "F32", "[2]", little(1.5f) + little(-2.0f)).tensor("codes", "I8", "[2,3]", "abcdef");
  return s;
}

damage damage_of_safetensors(const std::string& text) {
  return catch_damage([&] { safetensors_file::view(bytes_of(text), "m.safetensors"); });
}

void check_damaged_safetensors(const std::string& text, std::string_view what, std::string_view tensor = {},
                               std::string_view begin = "is damaged: ") {
  const damage found = damage_of_safetensors(text);
  INFO(found.message);
  CHECK(found.code == errc::damaged_file);
  CHECK(found.file == "m.safetensors");
  CHECK(found.tensor == tensor);
  CHECK(found.message.starts_with("kaio: 'm.safetensors' " + std::string(begin)));
  CHECK(found.message.find(what) != std::string::npos);
}

void check_foreign_safetensors(const std::string& text, std::string_view what) {
  check_damaged_safetensors(text, what, {}, "is no safetensors file: ");
}

std::string with_header(const std::string& header) { return little<std::uint64_t>(header.size()) + header; }

}  // namespace

TEST_CASE("safetensors: tensors in the order of their bytes, and metadata") {
  safetensors_maker s = safetensors_of_two();
  s.tensor("half", "F4", "[4]", "\x21\x43")
      .tensor("scalar", "BOOL", "[]", "\1")
      .tensor("empty", "F16", "[0,7]", "");
  const std::string text = s.text();
  const safetensors_file file = safetensors_file::view(bytes_of(text), "m.safetensors");
  REQUIRE(file.tensors().size() == 5);
  CHECK(file.files() == 1);
  CHECK(file.tensors()[0].name == "norm");
  const tensor_entry& codes = *file.find("codes");
  CHECK(codes.format == weight_format::i8);
  CHECK(codes.shape == std::vector<std::uint64_t>{2, 3});
  CHECK(codes.bytes.data() == bytes_of(text).data() + codes.offset);
  CHECK(codes.bytes.size() == 6);
  CHECK(read_values(codes)[5] == 'f');
  CHECK(read_values(*file.find("norm")) == std::vector<float>{1.5f, -2});
  CHECK(read_values(*file.find("half")) == std::vector<float>{0.5f, 1, 1.5f, 2});
  CHECK(file.find("scalar")->elements == 1);
  CHECK(file.find("empty")->bytes.empty());
  CHECK(file.find("other") == nullptr);
  REQUIRE(file.metadata().size() == 1);
  CHECK(file.metadata()[0].key == "format");
  CHECK(file.metadata()[0].value == "pt");
  const std::string empty = with_header("{}");
  CHECK(safetensors_file::view(bytes_of(empty), "m").tensors().empty());
}

TEST_CASE("safetensors: damaged headers") {
  const std::string good = safetensors_of_two().text();
  for (std::size_t length = 0; length < good.size(); ++length)
    CHECK(damage_of_safetensors(good.substr(0, length)).code == errc::damaged_file);
  check_damaged_safetensors(good + "x", "last 1 bytes belong to no tensor");
  check_foreign_safetensors(little(std::uint64_t{100'000'001}) + good.substr(8), "longer than 100000000");
  check_foreign_safetensors(little(~std::uint64_t{0}) + good.substr(8), "longer than 100000000");
  check_foreign_safetensors("a text of some length", "its header would have 8007528197911748705 bytes");
  check_foreign_safetensors(with_header(""), "does not begin with {");
  check_foreign_safetensors(with_header("PK"), "does not begin with {");
  check_damaged_safetensors(good.substr(0, 20), "it ends early: its header has ");
  check_damaged_safetensors(little(std::uint64_t{100}) + "{\"a", "100 bytes, of which 97 are missing");
  check_damaged_safetensors(good.substr(0, good.size() - 5),
                            "has bytes 8 to 14 of 9: the file ends early, and 5 bytes are missing", "codes");
  check_damaged_safetensors(good.substr(0, good.size() - 10),
                            "has bytes 0 to 8 of 4: the file ends early, and 10 bytes are missing", "norm");
  check_damaged_safetensors(with_header("{]"), "is no JSON");
  check_damaged_safetensors(with_header("{} x"), "is no JSON");
  check_damaged_safetensors(with_header("{\"\xff\":1}"), "is no JSON");
  check_damaged_safetensors(with_header(R"({"\ud800":1})"), "is no JSON");
  std::string deep = "{\"a\":";
  deep.append(100'000, '[');
  check_damaged_safetensors(with_header(deep), "nested more than 127");
  check_damaged_safetensors(with_header(R"({"__metadata__":[]})"), "no object");
  check_damaged_safetensors(with_header(R"({"__metadata__":{"a":1}})"), "'a' is no text");
  check_damaged_safetensors(with_header(R"({"__metadata__":{},"__metadata__":{}})"), "metadata occurs twice");
}

TEST_CASE("safetensors: damaged tensors") {
  const auto member = [](const std::string& m, const std::string& data = "") {
    return with_header("{" + m + "}") + data;
  };
  check_damaged_safetensors(member(R"("t":7)"), "has no dtype", "t");
  check_damaged_safetensors(member(R"("t":{"dtype":7,"shape":[1],"data_offsets":[0,1]})", "x"),
                            "has no dtype", "t");
  check_damaged_safetensors(member(R"("t":{"dtype":"U8","data_offsets":[0,1]})", "x"), "has no shape", "t");
  check_damaged_safetensors(member(R"("t":{"dtype":"U8","shape":[1]})", "x"), "has no data_offsets", "t");
  check_damaged_safetensors(member(R"("t":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]})", "x"),
                            "has no data_offsets", "t");
  for (const char* extent : {"-1", "1.0", "\"1\"", "null", "1e3", "18446744073709551616"})
    check_damaged_safetensors(
        member(R"("t":{"dtype":"U8","shape":[)" + std::string(extent) + R"(],"data_offsets":[0,1]})", "x"),
        "extents that are not numbers", "t");
  check_damaged_safetensors(safetensors_of_two().tensor("t", "U8", "[18446744073709551615,2]", "x").text(),
                            "64 bits", "t");
  check_damaged_safetensors(safetensors_of_two().tensor("t", "F64", "[9223372036854775807]", "x").text(),
                            "a shape whose bits in F64 do not fit into 64 bits", "t");
  check_damaged_safetensors(safetensors_of_two().tensor("t", "F4", "[3]", "xx").text(), "no whole bytes",
                            "t");
  check_damaged_safetensors(safetensors_of_two().tensor("t", "F16", "[3]", "xxxxx").text(),
                            "has 5 bytes, and its shape in F16 asks for 6", "t");
  check_damaged_safetensors(member(R"("t":{"dtype":"U8","shape":[1],"data_offsets":[1,0]})", "x"),
                            "bytes 1 to 0", "t");
  check_damaged_safetensors(member(R"("t":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})", "x"),
                            "bytes 0 to 2 of 1: the file ends early, and 1 bytes are missing", "t");
  check_damaged_safetensors(member(R"("t":{"dtype":"U8","shape":[1],"data_offsets":[1,2]})", "xy"),
                            "preceded by 1 bytes", "t");
  check_damaged_safetensors(member(R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                                   R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]})",
                                   "xyz"),
                            "shares bytes with tensor 'a'", "b");
  const damage unknown = damage_of_safetensors(safetensors_of_two().tensor("t", "F2", "[4]", "x").text());
  CHECK(unknown.code == errc::unsupported_format);
  CHECK(unknown.tensor == "t");
}

// Headers that the reference (safetensors 0.8.0) accepts and refuses, with 1 byte after the header.
TEST_CASE("safetensors: the dialect of headers is that of the reference") {
  const std::string good = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  const auto with = [&](const std::string& more) {
    return R"({"t":{"dtype":"U8",)" + more + R"("shape":[1],"data_offsets":[0,1]}})";
  };
  const auto nested = [](std::size_t levels) {
    return R"("x":)" + std::string(levels, '[') + '1' + std::string(levels, ']') + ',';
  };
  for (
      const std::string& header :
      {R"({"t":)" + good + "}", R"( {"t":)" + good + "} \n\t", R"({"__metadata__":null,"t":)" + good + "}",
       R"({"__metadata__":{"a":"1","a":"2"},"t":)" + good + "}", R"({"t":)" + good + R"(,"t":)" + good + "}",
       std::string(R"({"t":{"dtype":"U8","shape":[9],"data_offsets":[0,9]},"t":)") + good + "}",
       std::string(R"({"t":["U8",[1],[0,1]]})"),
       std::string(R"({"t":{"dtype":{"U8":null},"shape":[1],"data_offsets":[0,1]}})"),
       std::string(R"({"t":{"dtype":"\u0055\u0038","shape":[1],"data_offsets":[0,1]}})"),
       R"({"":)" + good + "}", R"({"a\u0000\n":)" + good + "}", R"({"\ud83d\ude00":)" + good + "}",
       with(R"("x":1e300,)"), with(R"("x":1e-999,)"), with(R"("x":0e99999999999,)"),
       with(R"("x":123456789012345678901234567890,)"), with(nested(125)),
       R"({"z":{"dtype":"F64","shape":[0,18446744073709551615,18446744073709551615],"data_offsets":[0,0]},"t":)" +
           good + "}"}) {
    INFO(header);
    const damage found = damage_of_safetensors(with_header(header) + "x");
    CHECK(found.message == "nothing was thrown");
  }
  for (const std::string& header :
       {std::string(R"({"t":null})"),
        std::string(R"({"t":["U8",[1],[0,1],1]})"),
        std::string(R"({"t":["U8",[1]]})"),
        std::string(R"({"t":{"dtype":{"U8":{}},"shape":[1],"data_offsets":[0,1]}})"),
        std::string(R"({"t":{"dtype":{"U8":null,"I8":null},"shape":[1],"data_offsets":[0,1]}})"),
        std::string(R"({"t":{"dtype":1,"shape":[1],"data_offsets":[0,1]}})"),
        std::string(R"({"t":{"dtype":"U8","shape":null,"data_offsets":[0,1]}})"),
        with(R"("dtype":"U8",)"),
        with(R"("x":1e400,)"),
        with(R"("x":-1e400,)"),
        with(R"("x":01,)"),
        with(R"("x":1.,)"),
        with(R"("x":NaN,)"),
        with(R"("x":Infinity,)"),
        with(R"("x":-,)"),
        with(R"("x":"\ud800",)"),
        with(R"("x":"\udc00",)"),
        with("\"x\":\"\t\","),
        with(R"("x":"\x",)"),
        with(nested(126)),
        with(R"("x":[1,],)"),
        with(R"("x":{,},)"),
        std::string(R"({"t":{"dtype":"U8","shape":[-0],"data_offsets":[0,1]}})"),
        std::string("\xef\xbb\xbf{}"),
        R"({"__metadata__":{"a":null},"t":)" + good + "}",
        R"({"z":{"dtype":"U8","shape":[18446744073709551615,2,0],"data_offsets":[0,0]},"t":)" + good + "}",
        R"({"t":)" + good + R"(,"t":{"dtype":"U8"}})"}) {
    INFO(header);
    const damage found = damage_of_safetensors(with_header(header) + "x");
    CHECK(found.code == errc::damaged_file);
  }
  // An empty tensor inside of another one.
  check_damaged_safetensors(with_header(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                                        R"("b":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}})") +
                                "xxxx",
                            "shares bytes with tensor 'a'", "b");
  // A name is printed as text alone.
  CHECK(damage_of_safetensors(with_header(R"({"\u001b[31m":{}})")).message.find('\x1b') == std::string::npos);
}

TEST_CASE("safetensors: an index names the files of its folder") {
  folder f;
  safetensors_maker first, second;
  first.tensor("a", "U8", "[1]", "1").tensor("unmapped", "U8", "[1]", "2");
  second.tensor("c", "U8", "[1]", "3").tensor("b", "U8", "[1]", "4");
  f.write("model-2.safetensors", second.text());
  const std::string path_of_first = f.write("model-1.safetensors", first.text());
  const auto index = [&](const std::string& map) {
    return f.write("model.safetensors.index.json",
                   R"({"metadata":{"total_size":4},"weight_map":{)" + map + "}}");
  };
  const std::string good =
      index(R"("b":"model-2.safetensors","a":"model-1.safetensors","c":"model-2.safetensors")");
  const safetensors_file file = safetensors_file::open(good);
  REQUIRE(file.tensors().size() == 3);
  CHECK(file.files() == 2);
  CHECK(file.tensors()[0].name == "a");
  CHECK(file.tensors()[0].file == path_of_first);
  CHECK(file.tensors()[1].name == "c");
  CHECK(read_values(*file.find("b")) == std::vector<float>{'4'});
  CHECK(file.find("unmapped") == nullptr);

  const auto damaged = [&](const std::string& map, std::string_view tensor) {
    const damage found = catch_damage([&] { safetensors_file::open(index(map)); });
    INFO(found.message);
    CHECK(found.code == errc::damaged_file);
    CHECK(found.tensor == tensor);
  };
  damaged("", "");
  damaged(R"("a":7)", "a");
  damaged(R"("a":"../model-1.safetensors")", "a");
  damaged(R"("a":"/etc/passwd")", "a");
  damaged(R"("a":"..")", "a");
  damaged(R"("a":"")", "a");
  damaged(R"("d":"model-1.safetensors")", "d");
  damaged(R"("a":"model-1.safetensors","a":"model-2.safetensors")", "a");  // the last is meant
  CHECK(safetensors_file::open(index(R"("a":"model-2.safetensors","a":"model-1.safetensors")"))
            .tensors()
            .size() == 1);
  CHECK(catch_damage([&] {
          safetensors_file::open(f.write("config.json", R"({"model_type":"llama"})"));
        }).message.find("config.json' is no index of safetensors files: it has no weight_map") !=
        std::string::npos);
  CHECK(catch_damage([&] { safetensors_file::open(index(R"("a":"model-3.safetensors")")); }).code ==
        errc::unreadable_file);
  CHECK(catch_damage([&] { safetensors_file::open(f.path("none.safetensors")); }).code ==
        errc::unreadable_file);
}
