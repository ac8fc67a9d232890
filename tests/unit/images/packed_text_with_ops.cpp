// A packed image is the kernel that it was made of: its text, its statements, its hash, and what it does.
#include "tests/catch.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/rms_norm.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "images/packed_text.hpp"

using namespace kaio;

namespace {

inline constexpr auto twice = kernel<"twice", 64>([](thread t, inout<f32> x, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) x[i] = 2.0f * x[i];
});

// A copy of an image as with_text shows it.
struct content {
  std::string text;
  std::vector<std::string> lines;  // "file:line" of each line of the text
  explicit content(const ptx::kernel_image& image) {
    ptx::with_text(image, [&](const ptx::kernel_image& whole) {
      for (std::size_t i = 0; i < whole.segment_count; ++i) text += whole.segments[i];
      for (std::size_t i = 0; i < whole.line_count; ++i) {
        const std::uint16_t statement = whole.statement_of_line[i];
        lines.push_back(statement == ptx::no_statement
                            ? ""
                            : whole.statements[statement].file +
                                  (':' + std::to_string(whole.statements[statement].line)));
      }
    });
  }
};

// The image with its text in `piece`.
ptx::kernel_image packed(const ptx::kernel_image& image, const std::string& piece) {
  ptx::kernel_image result = image;
  result.segments = nullptr;
  result.segment_count = 0;
  result.statement_of_line = nullptr;
  result.line_count = 0;
  result.statement_count = 1;
  result.identity = {nullptr, 0, ptx::hash_of_text(image)};
  result.packed = reinterpret_cast<const unsigned char*>(piece.data());
  result.unpack = images::unpack;
  return result;
}

}  // namespace

TEST_CASE("a packed image has the text, the statements and the hash of the kernel", "[images]") {
  const std::string piece = images::pack(twice.image());
  const ptx::kernel_image image = packed(twice.image(), piece);
  REQUIRE(image.is_packed());
  CHECK_FALSE(twice.image().is_packed());
  const content whole(image), original(twice.image());
  CHECK(whole.text == original.text);
  CHECK(whole.lines == original.lines);
  CHECK(std::count(whole.lines.begin(), whole.lines.end(), "") < std::ptrdiff_t(whole.lines.size()));
  CHECK(ptx::hash_of_text(image) == ptx::hash_of_text(twice.image()));
}

TEST_CASE("a packed image runs as the kernel does", "[images]") {
  const std::string piece = images::pack(twice.image());
  const ptx::kernel_image image = packed(twice.image(), piece);
  device gpu = device::open("emulator");
  const auto x = gpu.upload(std::vector<f32>{1, 2, 3, 4});
  const ptx::argument arguments[] = {x.as_argument(), {.bits = 3}};
  gpu.stream().launch(image, {1}, arguments, 2);
  CHECK(x.download() == std::vector<f32>{2, 4, 6, 4});
}

TEST_CASE("a packed text that is damaged is an error", "[images]") {
  std::string piece = images::pack(twice.image());
  piece[40] = static_cast<char>(piece[40] ^ 1);
  CHECK_THROWS_WITH(content(packed(twice.image(), piece)),
                    "kaio: the packed text of kernel twice is damaged; build kaio's libraries anew");
}

TEST_CASE("a text that is given to a packed image takes the place of its own", "[images]") {
  const std::string piece = images::pack(twice.image());
  ptx::kernel_image image = packed(twice.image(), piece);
  image.segments = twice.image().segments;
  image.segment_count = twice.image().segment_count;
  CHECK_FALSE(image.is_packed());
  CHECK(content(image).text == content(twice.image()).text);
  CHECK(ptx::hash_of_text(image) == ptx::hash_of_text(twice.image()));
}

#if KAIO_TRACES_KERNELS
TEST_CASE("the library's kernels are packed", "[images]") {
  for (const ptx::kernel_image* const image : ops::rms_norm_kernels()) {
    CHECK(image->is_packed());
    CHECK(content(*image).text.find(image->name) != std::string::npos);
  }
}
#endif
