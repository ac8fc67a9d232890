// Machine code is found by the content of a text and by what a GPU runs, and a damaged list has none.

#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "precompiled_list.hpp"
#include "runtime/base/precompiled.hpp"
#include "unit/runtime/support.hpp"

using kaio::ptx::target;
using kaio::ptx::text_hash;
using kaio::runtime::find_precompiled;
using kaio::runtime::has_precompiled;
using kaio::tests::precompiled_bytes;
using kaio::tests::precompiled_entry;
using kaio::tests::precompiled_scope;

namespace {

constexpr text_hash one{1, 7}, two{2, 3}, three{2, 4};

std::string image_for(const text_hash& text, target device) {
  const auto found = find_precompiled(text, device);
  return found ? found->image : "none";
}

}  // namespace

TEST_CASE("machine code is that of the newest architecture which the GPU runs") {
  const precompiled_scope list({{one, 75, 0, "one 75"},
                                {two, 80, 0, "two 80"},
                                {two, 89, 0, "two 89"},
                                {two, 90, 0, "two 90"},
                                {two, 100, 0, "two 100"},
                                {three, 90, 1, "three 90a"}});
  CHECK(image_for(two, {80}) == "two 80");
  CHECK(image_for(two, {86}) == "two 80");
  CHECK(image_for(two, {89}) == "two 89");
  CHECK(image_for(two, {90, true}) == "two 90");
  CHECK(image_for(two, {103, true}) == "two 100");
  CHECK(image_for(two, {75}) == "none");
  CHECK(image_for(two, {120, true}) == "none");
  CHECK(image_for(one, {75}) == "one 75");
  CHECK(image_for(one, {70}) == "none");
  CHECK(image_for(one, {80}) == "none");
  CHECK(image_for(three, {90, true}) == "three 90a");
  CHECK(image_for(three, {90}) == "none");
  CHECK(image_for(three, {100, true}) == "none");
  CHECK(image_for({1, 8}, {75}) == "none");
  CHECK(has_precompiled(three, {90, true}));
  CHECK_FALSE(has_precompiled(three, {89}));
  CHECK(find_precompiled(two, {86})->target == target{80, false});
}

TEST_CASE("lists of machine code come and go in any order") {
  const precompiled_scope old({{one, 80, 0, "old"}});
  {
    const precompiled_scope newer({{one, 86, 0, "newer"}});
    const precompiled_scope specific({{one, 90, 0, "plain"}, {one, 90, 1, "specific"}});
    CHECK(image_for(one, {89}) == "newer");
    CHECK(image_for(one, {90, true}) == "specific");
    CHECK(image_for(one, {90}) == "plain");
  }
  CHECK(image_for(one, {89}) == "old");
  CHECK(image_for(one, {90, true}) == "none");
}

#if defined(KAIO_HAS_ZLIB)
TEST_CASE("machine code is unpacked") {
  const unsigned char packed[] = {0x78, 0xda, 0xcb, 0x4d, 0x4c, 0xce, 0xc8, 0xcc, 0x4b, 0x55, 0x48, 0xce,
                                  0x4f, 0x49, 0x55, 0xc8, 0x1d, 0x99, 0x1c, 0x00, 0xf5, 0xc1, 0x5d, 0xc1};
  const std::string stored(reinterpret_cast<const char*>(packed), sizeof packed);
  std::string text;
  for (int i = 0; i < 20; ++i) text += "machine code ";
  {
    const precompiled_scope list({{one, 80, 0, stored, text.size()}});
    CHECK(image_for(one, {80}) == text);
  }
  // A length that is not the stream's, and a stream that is damaged.
  for (const std::uint64_t size : {text.size() - 1, text.size() + 1, std::uint64_t{1} << 60}) {
    const precompiled_scope list({{one, 80, 0, stored, size}});
    CHECK(image_for(one, {80}) == "none");
  }
  for (std::size_t i = 0; i < stored.size(); ++i) {
    std::string damaged = stored;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    const precompiled_scope list({{one, 80, 0, damaged, text.size()}});
    CHECK(image_for(one, {80}) == "none");
  }
}
#endif

TEST_CASE("a list of machine code that is cut off or of another layout has none beyond its bytes") {
  const std::string whole = precompiled_bytes({{one, 80, 0, "one"}, {two, 80, 0, "two"}});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const precompiled_scope list(whole.substr(0, length));
    CHECK(image_for(two, {80}) == "none");
  }
  const precompiled_scope list(whole);
  CHECK(image_for(two, {80}) == "two");
  for (const std::size_t place : {0u, 7u, 8u}) {  // of the magic word and of the layout's number
    std::string other = whole;
    other[place] = static_cast<char>(other[place] + 1);
    const precompiled_scope foreign(other);
    CHECK(image_for(two, {80}) == "two");
  }
  // Code outside of the list.
  std::string outside = precompiled_bytes({{three, 80, 0, "three"}});
  outside[16 + 24] = '\x7f';
  const precompiled_scope broken(outside);
  CHECK(image_for(three, {80}) == "none");
}

TEST_CASE("an emulator runs the text, whatever machine code there is") {
  const precompiled_scope list({{kaio::ptx::hash_of_text(runtime_test::scale), 90, 0, "no code"}});
  const kaio::device gpu = kaio::device::open("emulator");
  CHECK_FALSE(gpu.is_precompiled(runtime_test::scale));
  CHECK_NOTHROW(gpu.warmup(runtime_test::scale));
}
