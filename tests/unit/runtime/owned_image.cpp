// What a graph of the emulator keeps of a kernel stays as it was when the unpacked image is gone.

#include "runtime/emulator/owned_image.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "catch.hpp"

namespace {

namespace ptx = kaio::ptx;

constexpr std::string_view text[] = {"ret;\n"};
constexpr std::uint16_t statement_of_line[] = {0};
char file[] = "kernel.cpp";

// The file's name is overwritten afterwards, as memory that is used again.
void unpack(const ptx::kernel_image& image, void (*use)(void* context, const ptx::kernel_image& whole),
            void* context) {
  const ptx::source_line statements[] = {{file, 7}};
  ptx::kernel_image whole = image;
  whole.segments = text;
  whole.segment_count = 1;
  whole.statements = statements;
  whole.statement_count = 1;
  whole.statement_of_line = statement_of_line;
  whole.line_count = 1;
  use(context, whole);
  std::fill(std::begin(file), std::end(file) - 1, '#');
}

}  // namespace

TEST_CASE("the lines of a packed kernel are kept with the names of their files") {
  ptx::kernel_image packed;
  packed.name = "packed";
  packed.unpack = unpack;
  const kaio::runtime::owned_image kept(packed);
  const ptx::kernel_image& image = kept.get();
  REQUIRE(image.statement_count == 1);
  CHECK(std::string_view(image.statements[0].file) == "kernel.cpp");
  CHECK(image.statements[0].line == 7);
  REQUIRE(image.line_count == 1);
  CHECK(image.statement_of_line[0] == 0);
  CHECK(!image.is_packed());
}
