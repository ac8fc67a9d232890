// Tensor maps: a description becomes the 128 bytes that a kernel's tensor copies use. A wrong description is
// a typed error. A map that was encoded before comes from a cache that is right for every caller.

#include "unit/runtime/support.hpp"

#include <kaio/dsl/number/half.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/cache/tensor_map_cache.hpp"

using namespace runtime_test;
using kaio::errc;
using kaio::tensor_swizzle;
using kaio::tiled_tensor_map;
using kaio::ptx::argument;
using kaio::runtime::tensor_map_cache;
using kaio::runtime::detail::tensor_description;

namespace {

using tiling = kaio::tensor_tiling<2>;

// Copies the box at (x, y) into shared memory and on to `out`: 32 words of each of 8 rows.
constexpr std::string_view box_text[] = {R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry box(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 x, .param .u32 y)
.maxntid 32, 1, 1
{
  .shared .align 1024 .b8 tile[1024];
  .shared .align 8 .b64 bar;
  .reg .b64 %d<6>; .reg .b32 %r<10>; .reg .pred %p<3>;
  mov.b64 %d5, map; cvta.param.u64 %d1, %d5;
  ld.param.u64 %d2, [out]; ld.param.u32 %r1, [x]; ld.param.u32 %r2, [y];
  mov.u32 %r3, tile; mov.u32 %r4, bar; mov.u32 %r5, %tid.x;
  setp.ne.u32 %p1, %r5, 0; @%p1 bra WAITING;
  mbarrier.init.shared::cta.b64 [%r4], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 %d3, [%r4], 1024;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1, {%r1, %r2}], [%r4];
WAITING:
  bar.sync 0;
AGAIN:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0; @!%p2 bra AGAIN;
  mov.u32 %r6, 0;
  mad.wide.u32 %d4, %r5, 4, %d2; mad.lo.u32 %r7, %r5, 4, %r3;
NEXT:
  ld.shared.u32 %r8, [%r7]; st.global.u32 [%d4], %r8;
  add.u32 %r7, %r7, 128; add.u64 %d4, %d4, 128; add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, 8; @%p1 bra NEXT;
  ret;
}
)"};
constexpr kaio::ptx::parameter box_parameters[] = {{.bytes = 128, .alignment = 64},
                                                   {kaio::ptx::type::u32, kaio::ptx::access::out},
                                                   {kaio::ptx::type::u32, kaio::ptx::access::scalar},
                                                   {kaio::ptx::type::u32, kaio::ptx::access::scalar}};
constexpr kaio::ptx::kernel_image box_kernel{
    .name = "box",
    .segments = box_text,
    .segment_count = 1,
    .parameters = box_parameters,
    .parameter_count = 4,
    .block = {32, 1, 1},
    .needs = {.target = {90, false}, .version = {8, 0}, .shared_bytes = 2048, .max_threads = 32},
};

}  // namespace

TEST_CASE("a copy by a map brings the box, with zeros where it leaves the tensor") {
  const kaio::device gpu = kaio::device::open("emulator");
  constexpr std::uint32_t columns = 40, rows = 13, pitch = 44;
  std::vector<std::uint32_t> host(pitch * rows);
  for (std::uint32_t i = 0; i < host.size(); ++i) host[i] = i + 1;
  const auto x = gpu.upload(host);
  const auto y = gpu.allocate<std::uint32_t>(256);
  for (const tensor_swizzle swizzle : {tensor_swizzle::none, tensor_swizzle::bytes_128}) {
    const auto map = tiled_tensor_map<2>(
        gpu, x, {.extents = {columns, rows}, .strides = {pitch}, .box = {32, 8}, .swizzle = swizzle});
    for (const auto& [cx, cy] : {std::pair{0u, 0u}, std::pair{8u, 5u}, std::pair{20u, 9u}}) {
      const argument arguments[] = {map.as_argument(), y.as_argument(), {cx}, {cy}};
      gpu.stream().launch(box_kernel, {1, 1, 1}, arguments, 4);
      const auto tile = y.download();
      for (std::uint32_t r = 0; r < 8; ++r) {
        for (std::uint32_t c = 0; c < 32; ++c) {
          // The 128-byte swizzle exchanges the 16-byte chunks of a row by the row's number.
          const std::uint32_t at = swizzle == tensor_swizzle::none ? c : ((c / 4) ^ r) * 4 + c % 4;
          const bool inside = cx + c < columns && cy + r < rows;
          REQUIRE(tile[r * 32 + at] == (inside ? host[(cy + r) * pitch + cx + c] : 0));
        }
      }
    }
  }
}

TEST_CASE("strides that are not given are packed, and the last element ends the memory") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.allocate<kaio::f16>(64 * 5 * 3);
  const kaio::tensor_tiling<3> packed{.extents = {64, 5, 3}, .box = {64, 5, 1}};
  const auto map = tiled_tensor_map(gpu, x, packed);
  kaio::tensor_tiling<3> given = packed;
  given.strides = {64, 320};
  CHECK(std::memcmp(map.data(), tiled_tensor_map(gpu.stream(), x, given).data(), 128) == 0);
  given.strides = {64, 328};
  CHECK(
      catch_error([&] { tiled_tensor_map(gpu, x, given); }).says("reaches beyond its memory of 1920 bytes"));
  given.strides = {0, 0};  // the same row everywhere
  CHECK_FALSE(tiled_tensor_map(gpu, x, given).is_null());
  given.strides = {56, 320};  // rows that overlap
  CHECK(std::memcmp(map.data(), tiled_tensor_map(gpu, x, given).data(), 128) != 0);
}

TEST_CASE("a wrong description is a typed error that says which argument") {
  const kaio::device gpu = kaio::device::open("emulator"), other = kaio::device::open("emulator");
  const auto x = gpu.allocate<float>(64 * 64);
  const auto foreign = other.allocate<float>(64 * 64);
  const tiling good{.extents = {64, 64}, .strides = {64}, .box = {32, 8}};
  struct row {
    const char* says;
    tiling wrong;
  };
  const auto with = [&](auto change) {
    tiling t = good;
    change(t);
    return t;
  };
  constexpr std::uint64_t two_to_32 = std::uint64_t{1} << 32, most = ~std::uint64_t{0};
  const row rows[] = {
      {"an extent of 0 in dimension 0, which must be 1 to 2^32", with([](tiling& t) { t.extents[0] = 0; })},
      {"an extent of 0 in dimension 1", with([](tiling& t) { t.extents[1] = 0; })},
      {"an extent of 4294967297 in dimension 1", with([&](tiling& t) { t.extents[1] = two_to_32 + 1; })},
      {"an extent of 18446744073709551615 in dimension 0", with([&](tiling& t) { t.extents[0] = most; })},
      {"reaches beyond its memory of 16384 bytes", with([](tiling& t) { t.extents[1] = 65; })},
      {"reaches beyond its memory of 16384 bytes", with([&](tiling& t) { t.extents[1] = two_to_32; })},
      {"reaches beyond its memory", with([&](tiling& t) {
         t.extents = {4096, 2};
       })},
      {"a stride of 260 bytes in dimension 1, which must be a multiple of 16",
       with([](tiling& t) { t.strides[0] = 65; })},
      {"a stride of 264 bytes", with([](tiling& t) { t.strides[0] = 66; })},
      {"a stride of 2^40 bytes or more in dimension 1",
       with([](tiling& t) { t.strides[0] = std::uint64_t{1} << 38; })},
      {"a stride of 2^40 bytes or more",
       with([](tiling& t) { t.strides[0] = (std::uint64_t{1} << 62) + 64; })},
      {"a stride of 2^40 bytes or more", with([&](tiling& t) { t.strides[0] = most - 1; })},
      {"a box of 0 elements in dimension 0, which must be 1 to 256", with([](tiling& t) { t.box[0] = 0; })},
      {"a box of 257 elements in dimension 0", with([](tiling& t) { t.box[0] = 257; })},
      {"a box of 257 elements in dimension 1", with([](tiling& t) { t.box[1] = 257; })},
      {"a box of 65568 elements in dimension 0", with([](tiling& t) { t.box[0] = 65536 + 32; })},
      {"a box whose rows are 132 bytes, which must be a multiple of 16",
       with([](tiling& t) { t.box[0] = 33; })},
      {"a box whose rows are 132 bytes", with([](tiling& t) { t.box[0] = 33; })},
      {"a box whose rows are 144 bytes, and the swizzle takes rows of at most 128", with([](tiling& t) {
         t.box[0] = 36;
         t.swizzle = tensor_swizzle::bytes_128;
       })},
      {"and the swizzle takes rows of at most 64",
       with([](tiling& t) { t.swizzle = tensor_swizzle::bytes_64; })},
      {"and the swizzle takes rows of at most 32",
       with([](tiling& t) { t.swizzle = tensor_swizzle::bytes_32; })},
      {"an unknown tensor_swizzle", with([](tiling& t) { t.swizzle = static_cast<tensor_swizzle>(4); })},
      {"an element stride of 0 in dimension 1, which must be 1 to 8",
       with([](tiling& t) { t.element_strides[1] = 0; })},
      {"an element stride of 9 in dimension 1", with([](tiling& t) { t.element_strides[1] = 9; })},
      {"an element stride of 2 in dimension 0, where copies have none",
       with([](tiling& t) { t.element_strides[0] = 2; })},
      {"an unknown l2_promotion", with([](tiling& t) { t.promotion = static_cast<kaio::l2_promotion>(4); })},
      {"an unknown tensor_fill", with([](tiling& t) { t.fill = static_cast<kaio::tensor_fill>(2); })},
      {"an unknown f32_format", with([](tiling& t) { t.format = static_cast<kaio::f32_format>(4); })},
  };
  for (int repetition = 0; repetition < 2; ++repetition) {  // a refused map is not kept
    for (const row& r : rows) {
      INFO(r.says);
      const thrown e = catch_error([&] { tiled_tensor_map(gpu, x, r.wrong); });
      INFO(e.message);
      CHECK(e.code == errc::invalid_argument);
      CHECK(e.message.starts_with("kaio: a tensor map of "));
      CHECK(e.says(r.says));
    }
  }

  const auto expect = [&](auto&& call, const char* says) {
    const thrown e = catch_error(call);
    INFO(e.message);
    CHECK(e.code == errc::invalid_argument);
    CHECK(e.says(says));
  };
  for (std::uint64_t bytes = 1; bytes < 16; ++bytes) {
    const kaio::device_pointer<float> beside{x.address() + bytes, 64 * 60, gpu.identity()};
    expect([&] { tiled_tensor_map(gpu, beside, good); }, "does not begin at a multiple of 16 bytes");
  }
  expect([&] { tiled_tensor_map(gpu, x.slice(64, 63 * 64), good); }, "reaches beyond its memory of 16128");
  expect([&] { tiled_tensor_map(gpu, kaio::buffer<float>(), good); }, "has a null buffer");
  expect([&] { tiled_tensor_map(gpu, kaio::device_pointer<float>{0, 4096, nullptr}, good); }, "null buffer");
  expect([&] { tiled_tensor_map(gpu, gpu.allocate<float>(0), good); }, "has an empty buffer");
  expect([&] { tiled_tensor_map(gpu, foreign, good); }, "of another device's memory");
  auto released = gpu.allocate<float>(64 * 64);
  released.release();
  expect([&] { tiled_tensor_map(gpu, released, good); }, "was released");
  kaio::stream moved = gpu.create_stream();
  const kaio::stream taken = std::move(moved);
  expect([&] { tiled_tensor_map(moved, x, good); }, "on a null stream");
  CHECK_FALSE(tiled_tensor_map(taken, x, good).is_null());

  const auto words = gpu.allocate<std::uint32_t>(64 * 64);
  expect([&] { tiled_tensor_map(gpu, words, with([](tiling& t) { t.fill = kaio::tensor_fill::nan; })); },
         "is filled with NaN, but its elements are integers");
  expect([&] { tiled_tensor_map(gpu, words, with([](tiling& t) { t.format = kaio::f32_format::tf32; })); },
         "a format of f32 elements");
  CHECK_FALSE(tiled_tensor_map(gpu, x, with([](tiling& t) {
                                 t.fill = kaio::tensor_fill::nan;
                                 t.format = kaio::f32_format::tf32;
                               }))
                  .is_null());
  // Memory of unknown size and device.
  const kaio::device_pointer<float> raw{x.address(), 0, nullptr};
  CHECK_FALSE(tiled_tensor_map(gpu, raw, with([](tiling& t) { t.extents[1] = two_to_32; })).is_null());
}

TEST_CASE("a device without tensor copies says so") {
  const environment architecture("KAIO_EMULATOR_ARCH", "sm_80");
  const kaio::device old = kaio::device::open("emulator");
  const auto x = old.allocate<float>(64 * 64);
  const thrown e = catch_error([&] { tiled_tensor_map<2>(old, x, {.extents = {64, 64}, .box = {32, 8}}); });
  CHECK(e.code == errc::unsupported_device);
  CHECK(e.says("tensor maps need sm_90 or newer"));
}

TEST_CASE("a launch takes a map of its own device alone, and none that is null") {
  const kaio::device gpu = kaio::device::open("emulator"), other = kaio::device::open("emulator");
  const auto x = other.allocate<std::uint32_t>(64 * 64);
  const auto y = gpu.allocate<std::uint32_t>(256);
  const auto foreign = tiled_tensor_map<2>(other, x, {.extents = {64, 64}, .box = {32, 8}});
  const auto launch = [&](const argument& map) {
    const argument arguments[] = {map, y.as_argument(), {0}, {0}};
    gpu.stream().launch(box_kernel, {1, 1, 1}, arguments, 4);
  };
  const thrown wrong = catch_error([&] { launch(foreign.as_argument()); });
  CHECK(wrong.code == errc::invalid_argument);
  CHECK(wrong.says("argument 1 of kernel box is a struct of 128 bytes, and a tensor map of another device"));
  const thrown null =
      catch_error([&] { launch(kaio::encoded_tensor_map<std::uint32_t, 2>().as_argument()); });
  CHECK(null.code == errc::invalid_argument);
  CHECK(null.says("none was given"));
}

TEST_CASE("every field of a description makes another map") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.allocate<float>(1 << 16);
  const tiling base{.extents = {64, 64}, .strides = {64}, .box = {8, 8}};
  std::vector<kaio::encoded_tensor_map<float, 2>> maps;
  const auto add = [&](auto change, std::size_t first = 0) {
    tiling t = base;
    change(t);
    maps.push_back(tiled_tensor_map(gpu, x.slice(first, x.size() - first), t));
  };
  for (int round = 0; round < 2; ++round) {  // encoded, then from the cache
    add([](tiling&) {});
    add([](tiling&) {}, 4);
    add([](tiling& t) { t.extents[0] = 63; });
    add([](tiling& t) { t.extents[1] = 63; });
    add([](tiling& t) { t.strides[0] = 68; });
    add([](tiling& t) { t.box[0] = 4; });
    add([](tiling& t) { t.box[1] = 4; });
    add([](tiling& t) { t.element_strides[1] = 2; });
    add([](tiling& t) { t.swizzle = tensor_swizzle::bytes_32; });
    add([](tiling& t) { t.swizzle = tensor_swizzle::bytes_128; });
    add([](tiling& t) { t.promotion = kaio::l2_promotion::bytes_256; });
    add([](tiling& t) { t.fill = kaio::tensor_fill::nan; });
    add([](tiling& t) { t.format = kaio::f32_format::tf32; });
    add([](tiling& t) { t.format = kaio::f32_format::f32_ftz; });
  }
  const std::size_t kinds = maps.size() / 2;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    for (std::size_t j = 0; j < maps.size(); ++j)
      REQUIRE((std::memcmp(maps[i].data(), maps[j].data(), 128) == 0) == (i % kinds == j % kinds));
  }
}

namespace {

// Description number n, and the map that is made of it here.
tensor_description description(std::uint64_t n) {
  tensor_description t;
  t.address = n * 16;
  t.extents[n % 5] = n * 0x100000001;
  t.strides[n % 4] = ~n;
  t.box[n % 5] = static_cast<std::uint32_t>(n);
  t.rank = static_cast<std::uint8_t>(n % 5 + 1);
  return t;
}
std::array<unsigned char, 128> map_of(std::uint64_t n) {
  std::array<unsigned char, 128> bytes{};
  std::mt19937_64 random(n);
  for (std::size_t i = 0; i < 128; i += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, 8);
  }
  return bytes;
}

}  // namespace

TEST_CASE("the cache keeps what is used, and forgets the rest") {
  const auto cache = std::make_unique<tensor_map_cache>();
  std::array<unsigned char, 128> found{};
  CHECK_FALSE(cache->find(description(1), found.data()));
  constexpr std::uint64_t hot = 64, many = 100000;
  for (std::uint64_t n = 0; n < hot; ++n) cache->insert(description(n), map_of(n).data());
  std::uint64_t lost = 0;
  for (std::uint64_t n = hot; n < many; ++n) {
    cache->insert(description(n), map_of(n).data());
    REQUIRE(cache->find(description(n), found.data()));
    REQUIRE(found == map_of(n));
    const std::uint64_t again = n % hot;
    if (cache->find(description(again), found.data())) {
      REQUIRE(found == map_of(again));
    } else {
      ++lost;
      cache->insert(description(again), map_of(again).data());
    }
  }
  CHECK(lost < 200);  // of 100,000 uses: 24 newcomers meet each set between two uses of every hot map
  std::uint64_t kept = 0;
  for (std::uint64_t n = 0; n < many; ++n) kept += cache->find(description(n), found.data());
  CHECK(kept == tensor_map_cache::sets * tensor_map_cache::ways);  // no more: it is full, and bounded
}

TEST_CASE("16 threads find right maps or none, while others replace them") {
  const auto cache = std::make_unique<tensor_map_cache>();
  constexpr std::uint64_t descriptions = 12000;  // three times what the cache holds
  std::vector<std::array<unsigned char, 128>> maps;
  for (std::uint64_t n = 0; n < descriptions; ++n) maps.push_back(map_of(n));
  std::atomic<std::uint64_t> wrong{0}, hits{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      std::array<unsigned char, 128> found{};
      std::uint64_t mine = 0;
      for (int k = 0; k < 40000; ++k) {
        // Half of the uses go to few maps, so that threads meet.
        const std::uint64_t n = random() % (k % 2 == 0 ? descriptions : 50);
        if (cache->find(description(n), found.data())) {
          ++mine;
          if (found != maps[n]) ++wrong;
        } else {
          cache->insert(description(n), maps[n].data());
        }
      }
      hits += mine;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(hits > 16 * 20000);
}

TEST_CASE("16 threads encode on one device") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.allocate<float>(1 << 16);
  const auto encode = [&](std::uint64_t n) {
    return tiled_tensor_map<2>(gpu.stream(), x,
                               {.extents = {4 + n % 250, 1 + n / 250}, .strides = {256}, .box = {4, 4}});
  };
  std::vector<kaio::encoded_tensor_map<float, 2>> expected;
  for (std::uint64_t n = 0; n < 6000; ++n) expected.push_back(encode(n));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      for (int k = 0; k < 10000; ++k) {
        const std::uint64_t n = random() % expected.size();
        if (std::memcmp(encode(n).data(), expected[n].data(), 128) != 0) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}
