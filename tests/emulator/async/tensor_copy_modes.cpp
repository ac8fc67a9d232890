// Tensor copies in im2col mode and of interleaved tensors against models on the host, tensor maps that a
// kernel changes, and the checks of the functions that encode them.

#include "emulator/memory/tensor_map.hpp"
#include "tests/emulator/async/async_kernel.hpp"

#include <array>
#include <string>

using namespace emulator_test;

namespace {

const std::string shared =
    ".shared .align 1024 .b8 sm[16384]; .shared .align 128 .b8 tm[128]; .shared .align 8 .b64 mb;";
const std::string initialised =
    "setp.ne.u32 %q31, %tid_, 0; @%q31 bra ready; mbarrier.init.shared.b64 [mb], 1; ready: bar.sync 0;\n";

std::vector<std::uint16_t> numbered(std::size_t count) {
  std::vector<std::uint16_t> result(count);
  for (std::size_t k = 0; k < count; ++k) result[k] = static_cast<std::uint16_t>(k * 40503 + 1);
  return result;
}

// The result of a load in the first `count` halves of shared memory. p0: out, p1: the map.
std::vector<std::uint16_t> loaded(const tensor_map& map, const std::string& dimensions,
                                  const std::string& mode, const std::string& coordinates,
                                  const std::string& offsets, std::size_t count, memory& global) {
  const module m =
      async_module(initialised + "@%q31 bra wait; mbarrier.arrive.expect_tx.shared.b64 _, [mb], " +
                       std::to_string(map.bytes()) + ";\ncp.async.bulk.tensor." + dimensions +
                       ".shared::cluster.global." + mode + ".mbarrier::complete_tx::bytes [sm], [%p1, {" +
                       coordinates + "}], [mb]" + (offsets.empty() ? "" : ", {" + offsets + "}") + R"(;
      wait: mbarrier.try_wait.parity.shared.b64 %q1, [mb], 0; @!%q1 bra wait;
      mov.u32 %r1, %tid_; mov.u32 %r2, sm;
      dump: mad.lo.u32 %r3, %r1, 16, %r2; ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];
      mad.wide.u32 %d1, %r1, 16, %p0;
      st.global.v4.u32 [%d1], {%r4, %r5, %r6, %r7}; add.u32 %r1, %r1, 32; setp.lt.u32 %q2, %r1, 1024;
      @%q2 bra dump;)",
                   2, shared);
  const array<std::uint16_t> out(global, 8192);
  const array<tensor_map> place(global, std::vector<tensor_map>{map});
  run_async(m, global, {out.address(), place.address()});
  auto have = out.values();
  have.resize(count);
  return have;
}

}  // namespace

TEST_CASE("an im2col load walks through the bounding box, image after image") {
  struct row {
    unsigned rank;
    std::array<std::uint64_t, 5> sizes;
    std::array<int, 3> lower, upper;  // from W on
    std::uint32_t channels, pixels;
    std::array<int, 5> at;
    std::array<int, 3> offsets;
    std::uint32_t step;
  };
  const row rows[] = {
      {3, {16, 9, 5}, {-1}, {-1}, 8, 20, {8, 7, 1}, {0}, 1},
      {4, {8, 9, 7, 3}, {-1, -1}, {-1, -1}, 8, 64, {0, 7, 4, 0}, {0, 0}, 1},
      {4, {8, 9, 7, 3}, {0, 0}, {-2, -2}, 8, 64, {0, 6, 4, 0}, {2, 2}, 1},
      {4, {16, 8, 7, 2}, {-1, -1}, {-1, -1}, 16, 32, {0, 5, 3, 0}, {1, 1}, 2},
      {5, {8, 5, 4, 3, 2}, {-1, -1, -1}, {-1, -1, -1}, 8, 100, {0, -1, -1, -1, 0}, {2, 0, 1}, 1},
      {4, {8, 5, 4, 1}, {0, 0}, {0, 0}, 8, 40, {0, 1, 1, 0}, {0, 0}, 1},  // more pixels than there are
  };
  for (const row& r : rows) {
    memory global;
    std::size_t count = 1;
    std::array<std::uint64_t, 4> strides{};
    for (unsigned d = 0; d < r.rank; ++d) {
      count *= r.sizes[d];
      if (d + 1 < r.rank) strides[d] = count * 2;
    }
    const auto values = numbered(count);
    const array<std::uint16_t> tensor(global, values);
    const unsigned spatial = r.rank - 2;
    std::array<int, 3> lower{}, upper{};
    for (unsigned k = 0; k < spatial; ++k) {
      lower[k] = r.lower[spatial - 1 - k];  // the driver has the outermost first
      upper[k] = r.upper[spatial - 1 - k];
    }
    std::array<std::uint32_t, 5> steps{1, r.step, r.step, r.step, 1};
    steps[r.rank - 1] = 1;
    tensor_map map;
    const auto failure =
        encode_im2col(map, tensor_element::float16, r.rank, tensor.address(), r.sizes.data(), strides.data(),
                      lower.data(), upper.data(), r.channels, r.pixels, steps.data(), tensor_interleave::none,
                      tensor_swizzle::none, 0, tensor_fill::zero);
    if (failure) FAIL(failure->reason);
    std::vector<std::uint16_t> want;
    std::array<std::int64_t, 5> base{};
    for (unsigned d = 0; d < r.rank; ++d) base[d] = r.at[d];
    for (std::uint32_t pixel = 0; pixel < r.pixels; ++pixel) {
      for (std::uint32_t channel = 0; channel < r.channels; ++channel) {
        std::int64_t index = 0, scale = 1;
        bool inside = true;
        for (unsigned d = 0; d < r.rank; ++d) {
          const std::int64_t x = base[d] + (d == 0 ? channel : d <= spatial ? r.offsets[d - 1] : 0);
          inside = inside && x >= 0 && x < static_cast<std::int64_t>(r.sizes[d]);
          index += x * scale;
          scale *= static_cast<std::int64_t>(r.sizes[d]);
        }
        want.push_back(inside ? values[static_cast<std::size_t>(index)] : std::uint16_t{0});
      }
      bool carry = true;
      for (unsigned d = 1; d <= spatial && carry; ++d) {
        base[d] += r.step;
        carry = base[d] >= static_cast<std::int64_t>(r.sizes[d]) + r.upper[d - 1];
        if (carry) base[d] = r.lower[d - 1];
      }
      if (carry) ++base[r.rank - 1];
    }
    std::string coordinates, offsets;
    for (unsigned d = 0; d < r.rank; ++d) coordinates += (d ? ", " : "") + std::to_string(r.at[d]);
    for (unsigned k = 0; k < spatial; ++k) offsets += (k ? ", " : "") + std::to_string(r.offsets[k]);
    CHECK(loaded(map, std::to_string(r.rank) + "d", "im2col", coordinates, offsets, want.size(), global) ==
          want);
  }
}

TEST_CASE("of an interleaved tensor one slice of channels is moved, whose pixels follow each other") {
  // NC/8HWC8 with 2 images, 3 slices of 8 channels, 4 rows of 5 pixels; dimensions: W, H, slice, N.
  for (const tensor_interleave interleave : {tensor_interleave::b16, tensor_interleave::b32}) {
    const std::uint32_t per = interleave == tensor_interleave::b16 ? 8 : 16;
    memory global;
    const auto values = numbered(2 * 3 * 4 * 5 * per);
    const array<std::uint16_t> tensor(global, values);
    const std::uint64_t sizes[] = {5, 4, 3, 2};
    const std::uint64_t strides[] = {5 * per * 2, 20 * per * 2, 60 * per * 2};
    const std::uint32_t box[] = {4, 3, 1, 1}, steps[] = {1, 1, 1, 1};
    tensor_map map;
    const auto failure = encode_tiled(
        map, tensor_element::float16, 4, tensor.address(), sizes, strides, box, steps, interleave,
        interleave == tensor_interleave::b32 ? tensor_swizzle::b32 : tensor_swizzle::none, 0,
        tensor_fill::zero);
    if (failure) FAIL(failure->reason);
    std::vector<std::uint16_t> want(12 * per);
    for (std::uint32_t y = 0; y < 3; ++y)
      for (std::uint32_t x = 0; x < 4; ++x)
        for (std::uint32_t c = 0; c < per; ++c) {
          const int w = static_cast<int>(x) - 1, h = static_cast<int>(y) + 2;
          std::uint32_t at = ((y * 4 + x) * per + c) * 2;
          if (per == 16) at ^= at >> 7 << 4 & 16;
          if (w >= 0 && h < 4)
            want[at / 2] = values[(((1 * 3 + 2) * 4 + static_cast<std::uint32_t>(h)) * 5 +
                                   static_cast<std::uint32_t>(w)) *
                                      per +
                                  c];
        }
    CHECK(loaded(map, "4d", "tile", "-1, 2, 2, 1", "", want.size(), global) == want);
  }
}

TEST_CASE("a kernel makes a tensor map of another one or of zeros, field by field, and publishes it") {
  // From a map of 4 x 4 words of a tensor of 8 x 8, or from 128 zero bytes, to one of 8 x 2 words of 4-byte
  // floats of 16 x 4.
  memory global;
  std::vector<std::uint32_t> values(64);
  for (std::uint32_t k = 0; k < 64; ++k) values[k] = k;
  const array<std::uint32_t> first(global, std::vector<std::uint32_t>(64, 5)), second(global, values),
      out(global, 16);
  const std::uint64_t sizes[] = {8, 8}, strides[] = {32};
  const std::uint32_t box[] = {4, 4}, steps[] = {1, 1};
  tensor_map map;
  REQUIRE(!encode_tiled(map, tensor_element::uint32, 2, first.address(), sizes, strides, box, steps,
                        tensor_interleave::none, tensor_swizzle::none, 0, tensor_fill::zero));
  const module m = async_module(initialised + R"(
      mov.u32 %r1, tm; mad.lo.u32 %r2, %tid_, 4, %r1; mad.lo.u64 %d1, %wide, 4, %p1; ld.global.u32 %r3, [%d1];
      st.shared.u32 [%r2], %r3; bar.warp.sync -1; @%q31 bra publish;
      tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1], %p2;
      tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r1], 1;
      tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1], 0, 8;
      tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1], 1, 2; mov.u32 %r5, 16;
      tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 0, %r5;
      tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 1, 4; mov.u64 %d5, 64;
      tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r1], 0, %d5;
      tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r1], 1, 1;
      tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r1], 7;
      tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r1], 0;
      tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r1], 1;
      tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r1], 1;
      publish: bar.warp.sync -1; add.u64 %d2, %p1, 128;
      tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
          [%d2], [%r1], 128;
      fence.proxy.tensormap::generic.acquire.gpu [%d2], 128; @%q31 bra wait;
      mbarrier.arrive.expect_tx.shared.b64 _, [mb], 64;
      cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [sm+128], [%d2, {8, 3}], [mb];
      wait: mbarrier.try_wait.parity.shared.b64 %q1, [mb], 0; @!%q1 bra wait; setp.ge.u32 %q2, %tid_, 16;
      @%q2 bra done;
      mov.u32 %r6, sm; mad.lo.u32 %r6, %tid_, 4, %r6; ld.shared.u32 %r7, [%r6+128];
      mad.lo.u64 %d3, %wide, 4, %p0;
      st.global.u32 [%d3], %r7; done:)",
                                3, shared);
  for (const bool blank : {false, true}) {
    const array<tensor_map> maps(global, std::vector<tensor_map>{map, tensor_map{}});
    if (blank) {
      const std::vector<std::byte> zeros(sizeof map);
      global.write(maps.address(), zeros.data(), zeros.size());
    }
    run_async(m, global, {out.address(), maps.address(), second.address()});
    // Line 1 of shared memory: its 16-byte pieces are exchanged.
    const std::uint32_t nan = 0x7ff77ff7;
    CHECK(out.values() ==
          std::vector<std::uint32_t>{60, 61, 62, 63, 56, 57, 58, 59, nan, nan, nan, nan, nan, nan, nan, nan});
    CHECK(maps.values()[1].rank == 2);
  }
}

TEST_CASE("tensor copies against the rules of their tensor map are reported") {
  memory global;
  const array<std::uint32_t> tensor(global, std::vector<std::uint32_t>(1024, 1));
  const std::uint64_t sizes[] = {8, 8, 2}, strides[] = {32, 256};
  const std::uint32_t box[] = {4, 4, 1}, steps[] = {1, 1, 1};
  const int lower[] = {-1}, upper[] = {-1};
  tensor_map tiled, im2col;
  REQUIRE(!encode_tiled(tiled, tensor_element::uint32, 3, tensor.address(), sizes, strides, box, steps,
                        tensor_interleave::none, tensor_swizzle::none, 0, tensor_fill::zero));
  REQUIRE(!encode_im2col(im2col, tensor_element::uint32, 3, tensor.address(), sizes, strides, lower, upper, 4,
                         16, steps, tensor_interleave::none, tensor_swizzle::none, 0, tensor_fill::zero));
  const array<tensor_map> maps(global, std::vector<tensor_map>{tiled, im2col});
  struct row {
    std::string text;
    fault_kind kind;
    std::string part;
  };
  const std::string load = "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes ";
  const std::string unroll =
      "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes ";
  const row rows[] = {
      {load + "[sm+64], [%p0, {0, 0, 0}], [mb];", fault_kind::misaligned, "not a multiple of 128"},
      {load + "[sm+16384], [%p0, {0, 0, 0}], [mb];", fault_kind::out_of_bounds, "out of bounds"},
      {load + "[sm], [%d1, {0, 0, 0}], [mb];", fault_kind::tensor_map, "a tensor map for im2col mode"},
      {load + "[sm], [%p1, {0, 0, 0}], [mb];", fault_kind::tensor_map, "are not a tensor map"},
      {load + "[sm], [%d2, {0, 0, 0}], [mb];", fault_kind::tensor_map, "not at a multiple of 64"},
      {load + "[sm], [%d3, {0, 0, 0}], [mb];", fault_kind::tensor_map, "in shared memory"},
      {unroll + "[sm], [%d1, {0, 9, 0}], [mb], {0};", fault_kind::tensor_map,
       "outside of the bounding box, -1 to 6"},
      {"cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%p0, {0, -1, 0}], [sm];",
       fault_kind::tensor_map, "coordinate -1 of dimension 1 is negative"},
      {"cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%d1, {0, 0, 0}], [sm];",
       fault_kind::tensor_map, "must be within the tensor"},
      {"tensormap.replace.tile.rank.global.b1024.b32 [%p1], 1;", fault_kind::tensor_map,
       "neither a tensor map nor all zero"},
      {"tensormap.replace.tile.rank.global.b1024.b32 [%p0], 5;", fault_kind::tensor_map, "rank 5"},
  };
  for (const row& r : rows) {
    INFO(r.text);
    const std::string body =
        initialised +
        "add.u64 %d1, %p0, 128; add.u64 %d2, %p0, 16; mov.u64 %d3, tm; cvta.shared.u64 %d3, %d3;\n"
        "@%q31 bra done; " +
        r.text + " done:";
    const fault_report report =
        async_fault(async_module(body, 2, shared), global, {maps.address(), tensor.address()});
    CHECK(report.kind == r.kind);
    CHECK(contains(report.detail, r.part));
  }
}

TEST_CASE("a tensor map is encoded only from arguments that the driver takes") {
  struct arguments {
    tensor_element element = tensor_element::float16;
    std::uint32_t rank = 3;
    std::uint64_t address = 4096;
    std::array<std::uint64_t, 5> sizes{64, 8, 8, 8, 8};
    std::array<std::uint64_t, 4> strides{128, 1024, 8192, 65536};
    std::array<std::uint32_t, 5> box{64, 8, 8, 1, 1}, steps{1, 1, 1, 1, 1};
    tensor_interleave interleave = tensor_interleave::none;
    tensor_swizzle swizzle = tensor_swizzle::b128;
    std::uint32_t promotion = 0;
    tensor_fill fill = tensor_fill::zero;
  };
  const auto encode = [](const arguments& a) {
    tensor_map map;
    const auto f = encode_tiled(map, a.element, a.rank, a.address, a.sizes.data(), a.strides.data(),
                                a.box.data(), a.steps.data(), a.interleave, a.swizzle, a.promotion, a.fill);
    return f ? static_cast<int>(f->argument) : -1;
  };
  const auto with = [&](auto&& change) {
    arguments a;
    change(a);
    return encode(a);
  };
  CHECK(encode({}) == -1);
  CHECK(with([](arguments& a) { a.rank = 0; }) == 2);
  CHECK(with([](arguments& a) { a.rank = 6; }) == 2);
  CHECK(with([](arguments& a) { a.address = 4104; }) == 3);
  CHECK(with([](arguments& a) { a.sizes[1] = 0; }) == 4);
  CHECK(with([](arguments& a) { a.sizes[1] = 1ull << 32; }) == -1);
  CHECK(with([](arguments& a) { a.sizes[1] = (1ull << 32) + 1; }) == 4);
  CHECK(with([](arguments& a) { a.strides[0] = 136; }) == 5);
  CHECK(with([](arguments& a) { a.strides[1] = 1ull << 40; }) == 5);
  CHECK(with([](arguments& a) { a.box[2] = 0; }) == 6);
  CHECK(with([](arguments& a) { a.box[2] = 257; }) == 6);
  CHECK(with([](arguments& a) { a.box[0] = 12; }) == 6);
  CHECK(with([](arguments& a) { a.box[0] = 72; }) == 6);  // 144 bytes in a swizzle of 128
  CHECK(with([](arguments& a) { a.box[0] = 72, a.swizzle = tensor_swizzle::none; }) == -1);
  CHECK(with([](arguments& a) { a.steps[1] = 0; }) == 7);
  CHECK(with([](arguments& a) { a.steps[1] = 9; }) == 7);
  CHECK(with([](arguments& a) { a.interleave = tensor_interleave::b16, a.rank = 2; }) == 2);
  CHECK(with([](arguments& a) { a.interleave = tensor_interleave::b32; }) == 9);
  CHECK(with([](arguments& a) { a.interleave = tensor_interleave::b32, a.swizzle = tensor_swizzle::b32; }) ==
        -1);
  CHECK(with([](arguments& a) {
          a.element = tensor_element::int32, a.box[0] = 32, a.fill = tensor_fill::nan;
        }) == 11);
  CHECK(with([](arguments& a) { a.fill = tensor_fill::nan; }) == -1);
  CHECK(with([](arguments& a) { a.promotion = 4; }) == 10);

  const auto im2col = [](std::uint32_t rank, int lower, int upper, std::uint32_t channels,
                         std::uint32_t pixels) {
    const arguments a;
    const int low[] = {lower, lower, lower}, high[] = {upper, upper, upper};
    tensor_map map;
    const auto f = encode_im2col(map, a.element, rank, a.address, a.sizes.data(), a.strides.data(), low, high,
                                 channels, pixels, a.steps.data(), a.interleave, a.swizzle, 0, a.fill);
    return f ? static_cast<int>(f->argument) : -1;
  };
  CHECK(im2col(4, -1, -1, 64, 1024) == -1);
  CHECK(im2col(2, -1, -1, 64, 64) == 2);
  CHECK(im2col(4, -129, -1, 64, 64) == 6);
  CHECK(im2col(5, -17, -1, 64, 64) == 6);
  CHECK(im2col(5, -1, 16, 64, 64) == 7);
  CHECK(im2col(4, 4, -5, 64, 64) == 7);  // empty
  CHECK(im2col(4, -1, -1, 65, 64) == 8);
  CHECK(im2col(4, -1, -1, 0, 64) == 8);
  CHECK(im2col(4, -1, -1, 64, 1025) == 9);
}
