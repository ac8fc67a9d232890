// The cache finds loaded kernels by their content, never by where they are, and loads once under contention.

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "runtime/cache/kernel_cache.hpp"

using kaio::ptx::kernel_image;
using kaio::runtime::kernel_cache;
using kaio::runtime::kernel_content;
using kaio::runtime::loaded_kernel;

namespace {

auto loader(const kernel_image& kernel) {
  return [&kernel] { return std::make_unique<loaded_kernel>(kernel); };
}

// Images with texts of their own, and without identities, which are computed where they are needed.
struct many_kernels {
  explicit many_kernels(std::size_t count) : texts(count), segments(count), images(count) {
    for (std::size_t i = 0; i < count; ++i) {
      texts[i] = ".entry k" + std::to_string(i);
      segments[i] = texts[i];
      images[i].name = "k";
      images[i].segments = &segments[i];
      images[i].segment_count = 1;
    }
  }
  std::vector<std::string> texts;
  std::vector<std::string_view> segments;
  std::vector<kernel_image> images;
};

// The memory of a plug-in: after it was replaced, the same address has another content.
struct plug_in {
  explicit plug_in(std::string_view contents) {
    contents.copy(text.data(), contents.size());
    segment = std::string_view(text.data(), contents.size());
    parameters[0] = {kaio::ptx::type::f32, kaio::ptx::access::in};
    image = kaio::ptx::identified({.name = "k",
                                   .segments = &segment,
                                   .segment_count = 1,
                                   .parameters = parameters.data(),
                                   .parameter_count = 1,
                                   .block = {32, 1, 1},
                                   .needs = {}});
  }
  std::array<char, 64> text{};
  std::string_view segment;
  std::array<kaio::ptx::parameter, 1> parameters;
  kernel_image image;
};

}  // namespace

TEST_CASE("a thousand kernels are found after the table grew") {
  kernel_cache cache;
  const many_kernels kernels(1000);
  std::vector<const loaded_kernel*> loaded;
  for (const auto& kernel : kernels.images) {
    CHECK(cache.find(kernel) == nullptr);
    loaded.push_back(&cache.load(kernel, loader(kernel)));
  }
  for (std::size_t i = 0; i < 1000; ++i) REQUIRE(cache.find(kernels.images[i]) == loaded[i]);
}

TEST_CASE("a kernel is the same wherever it is, and another one at its address is not taken for it") {
  kernel_cache cache;
  alignas(plug_in) std::array<std::byte, sizeof(plug_in)> memory;
  auto* library = new (memory.data()) plug_in("factor 2");
  const loaded_kernel* const doubles = &cache.load(library->image, loader(library->image));
  library->~plug_in();
  memory.fill(std::byte{0xee});  // the old contents are not read again
  library = new (memory.data()) plug_in("factor 3");
  CHECK(cache.find(library->image) == nullptr);
  const loaded_kernel* const triples = &cache.load(library->image, loader(library->image));
  CHECK(triples != doubles);
  library->~plug_in();
  library = new (memory.data()) plug_in("factor 2");
  CHECK(cache.find(library->image) == doubles);
  const plug_in elsewhere("factor 3");
  CHECK(cache.find(elsewhere.image) == triples);
  library->~plug_in();
}

TEST_CASE("kernels that differ in anything but their lines are different ones") {
  kernel_cache cache;
  plug_in library("text");
  const loaded_kernel& first = cache.load(library.image, loader(library.image));
  const auto changed = [&](auto change) {
    kernel_image other = library.image;
    change(other);
    return cache.find(other) != &first;
  };
  static constexpr std::string_view joined[] = {"other"};
  const std::array<kaio::ptx::parameter, 2> longer{};
  std::array<kaio::ptx::parameter, 1> out = library.parameters;
  out[0].access = kaio::ptx::access::out;
  CHECK_FALSE(changed([](kernel_image&) {}));
  CHECK(changed([](kernel_image& k) { k.name = "l"; }));
  CHECK(changed([](kernel_image& k) { k.block.y = 2; }));
  CHECK(changed([](kernel_image& k) { k.needs.dynamic_shared_bytes = 1; }));
  CHECK(changed([&](kernel_image& k) { k.parameters = out.data(); }));
  CHECK(changed([](kernel_image& k) { k.parameter_count = 0; }));
  CHECK(changed([&](kernel_image& k) { k.parameters = longer.data(), k.parameter_count = 2; }));
  CHECK(changed([](kernel_image& k) { k.parameters = nullptr; }));
  // Its identity is of another text, and does not hold for this one.
  CHECK(changed([](kernel_image& k) { k.segments = joined; }));
  CHECK(changed([](kernel_image& k) { k.segment_count = 0; }));
  constexpr kaio::ptx::source_line lines[] = {{"k.cpp", 3}};
  CHECK_FALSE(changed([&](kernel_image& k) { k.statements = lines, k.statement_count = 1; }));
}

TEST_CASE("a text is hashed alike while compiling and at run time, from words and from characters") {
  using namespace kaio::ptx;
  static constexpr std::string_view segments[] = {"0123456789abcdef", "", "0123456"};
  constexpr text_hash constant = hash_of(segments, 3);
  CHECK(constant == hash_of(segments, 3));
  constexpr std::uint64_t words[] = {0x3736353433323130u, 0x6665646362613938u};
  CHECK(hash_segment({}, words, 16) == hash_segment({}, segments[0]));
  // Long ones are taken in pieces; each character counts, and each length.
  std::string text(1000, 'x');
  const text_hash whole = hash_segment({}, text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = 'y';
    REQUIRE_FALSE(hash_segment({}, text) == whole);
    text[i] = 'x';
  }
  for (std::size_t size = 0; size < 40; ++size)
    REQUIRE_FALSE(hash_segment({}, std::string(size, '\0')) == hash_segment({}, std::string(size + 1, '\0')));
}

TEST_CASE("a failed load is reported to its caller and tried again by the next") {
  kernel_cache cache;
  const kernel_image kernel;
  CHECK_THROWS_AS(
      cache.load(kernel, []() -> std::unique_ptr<loaded_kernel> { throw std::runtime_error("no"); }),
      std::runtime_error);
  CHECK(cache.find(kernel) == nullptr);
  const loaded_kernel& loaded = cache.load(kernel, loader(kernel));
  CHECK(cache.find(kernel) == &loaded);
}

TEST_CASE("threads that ask for the same kernels load each once") {
  kernel_cache cache;
  const many_kernels kernels(200);
  std::atomic<int> loads{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (const auto& kernel : kernels.images) {
        const loaded_kernel* found = cache.find(kernel);
        if (!found) {
          found = &cache.load(kernel, [&] {
            loads.fetch_add(1);
            return std::make_unique<loaded_kernel>(kernel);
          });
        }
        if (!(found->content() == kernel_content(kernel))) throw std::logic_error("wrong kernel");
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(loads.load() == 200);
}
