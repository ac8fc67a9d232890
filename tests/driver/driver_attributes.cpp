// Launch attributes and tensor maps through the driver: what reaches it, how often it is asked, and what is
// not asked again.

#include "driver/driver_support.hpp"
#include "driver_abi/types.hpp"

#include <vector>

using namespace driver_test;
using kaio::errc;
using kaio::ptx::argument;
using kaio::ptx::kernel_image;
using kaio::ptx::launch_grid;

namespace {

// Adds to out[0] the blocks of the cluster, once for each block, when the work before it has ended.
constexpr std::string_view count_text[] = {R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry count_blocks(.param .u64 out)
)",
                                           "",
                                           R"({
  .reg .b64 %d<2>; .reg .b32 %r<2>;
  ld.param.u64 %d1, [out];
  griddepcontrol.wait;
  mov.u32 %r1, %cluster_nctarank; red.global.add.u32 [%d1], %r1;
  ret;
}
)"};
constexpr std::string_view large_text[] = {count_text[0], ".reqnctapercluster 16, 1, 1\n", count_text[2]};
constexpr kaio::ptx::parameter count_parameters[] = {{kaio::ptx::type::u32, kaio::ptx::access::inout}};
constexpr kernel_image count_blocks{
    .name = "count_blocks",
    .segments = count_text,
    .segment_count = 3,
    .parameters = count_parameters,
    .parameter_count = 1,
    .block = {1, 1, 1},
    .needs = {.target = {90, false}, .version = {7, 8}, .max_threads = 1, .waits_for_grids = true},
};
constexpr kernel_image with_large_clusters() {
  kernel_image kernel = count_blocks;
  kernel.segments = large_text;
  kernel.needs.cluster = {16, 1, 1};
  return kernel;
}
constexpr kernel_image large = with_large_clusters();

void launch(const kaio::stream& s, const kernel_image& kernel, const kaio::buffer<std::uint32_t>& out,
            const launch_grid& grid) {
  const argument arguments[] = {out.as_argument()};
  s.launch(kernel, grid, arguments, 1);
}

}  // namespace

TEST_CASE("clusters of a launch and early beginning are attributes, which cost no further call") {
  fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto out = gpu.allocate<std::uint32_t>(1);
  gpu.warmup(count_blocks);
  struct row {
    launch_grid grid;
    std::uint32_t cluster;
    const char* function;
  };
  const row rows[] = {
      {{.x = 4}, 1, "cuLaunchKernel"},
      {{.x = 4, .cluster = {2, 1, 1}}, 2, "cuLaunchKernelEx"},
      {{.x = 4, .programmatic = true}, 1, "cuLaunchKernelEx"},
      {{.x = 8, .shared_bytes = 256, .cluster = {4, 1, 1}, .programmatic = true}, 4, "cuLaunchKernelEx"},
  };
  gpu.stream();  // it is created when it is first asked for
  std::uint32_t sum = 0;
  for (const row& r : rows) {
    const long before = driver.calls(), of_it = driver.calls_of(r.function);
    launch(gpu.stream(), count_blocks, out, r.grid);
    CHECK(driver.calls() - before == 2);  // cuCtxGetCurrent and the launch
    CHECK(driver.calls_of(r.function) - of_it == 1);
    CHECK(driver.last().cluster[0] == r.grid.cluster.x);
    CHECK(driver.last().shared_bytes == r.grid.shared_bytes);
    CHECK_FALSE(driver.last().cooperative);
    sum += static_cast<std::uint32_t>(r.grid.x) * r.cluster;
  }
  CHECK(out.download() == std::vector<std::uint32_t>{sum});
  CHECK(driver.calls_of("cuFuncSetAttribute") == 0);
}

TEST_CASE("a cooperative kernel may be launched in clusters") {
  fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto out = gpu.allocate<std::uint32_t>(1);
  kernel_image kernel = count_blocks;
  kernel.needs.cooperative = true;
  launch(gpu.stream(), kernel, out, {.x = 6, .cluster = {3, 1, 1}});
  CHECK(driver.last().cooperative);
  CHECK(driver.last().cluster[0] == 3);
  CHECK(out.download() == std::vector<std::uint32_t>{18});
}

TEST_CASE("clusters of more than 8 blocks are allowed once: at load where the kernel fixes them") {
  fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto out = gpu.allocate<std::uint32_t>(1);
  gpu.warmup(large);
  CHECK(driver.calls_of("cuFuncSetAttribute") == 1);
  launch(gpu.stream(), large, out, {.x = 32});
  CHECK(driver.calls_of("cuLaunchKernel") == 1);
  CHECK(driver.calls_of("cuFuncSetAttribute") == 1);
  CHECK(out.download() == std::vector<std::uint32_t>{512});
  launch(gpu.stream(), count_blocks, out, {.x = 8, .cluster = {8, 1, 1}});
  CHECK(driver.calls_of("cuFuncSetAttribute") == 1);
  for (int i = 0; i < 3; ++i) launch(gpu.stream(), count_blocks, out, {.x = 9, .cluster = {9, 1, 1}});
  CHECK(driver.calls_of("cuFuncSetAttribute") == 2);
  CHECK(out.download() == std::vector<std::uint32_t>{512 + 64 + 3 * 81});
}

TEST_CASE("wrong clusters are refused before the driver is asked") {
  fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto out = gpu.allocate<std::uint32_t>(1);
  for (const launch_grid& grid :
       {launch_grid{.x = 5, .cluster = {2, 1, 1}}, launch_grid{.x = 34, .cluster = {17, 1, 1}},
        launch_grid{.x = 4, .cluster = {0, 2, 1}}}) {
    const thrown e = catch_error([&] { launch(gpu.stream(), count_blocks, out, grid); });
    CHECK(e.code == errc::invalid_argument);
    CHECK(e.says("kernel count_blocks"));
  }
  CHECK(driver.loads() == 0);
}

TEST_CASE("older GPUs have no clusters, and no code for sm_90a") {
  fresh_driver driver;
  driver.be(1, "sm_80");
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto x = gpu.allocate<float>(1024);
  const argument arguments[] = {x.as_argument(), {0x40000000u}, {1024}};
  CHECK(catch_error([&] {
          gpu.stream().launch(scale, {.x = 4, .cluster = {2, 1, 1}}, arguments, 3);
        }).code == errc::unsupported_device);
  kernel_image specific = scale;
  specific.needs.target = {90, true};
  const thrown e = catch_error([&] { gpu.stream().launch(specific, {.x = 4}, arguments, 3); });
  CHECK(e.code == errc::unsupported_device);
  CHECK(e.says("needs exactly sm_90a"));
  CHECK(catch_error([&] { kaio::tiled_tensor_map<1>(gpu, x, {.extents = {64}, .box = {16}}); }).code ==
        errc::unsupported_device);
  CHECK(driver.loads() == 0);
}

TEST_CASE("how many clusters fit is asked of the driver once") {
  fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  CHECK(gpu.max_active_clusters(count_blocks, {2, 1, 1}, 200 * 1024) == 66);
  CHECK(gpu.max_active_clusters(large, {0, 0, 0}, 200 * 1024) == 8);
  CHECK(driver.calls_of("cuOccupancyMaxActiveClusters") == 2);
  CHECK(gpu.stream().max_active_clusters(count_blocks, {2, 1, 1}, 200 * 1024) == 66);
  CHECK(driver.calls_of("cuOccupancyMaxActiveClusters") == 2);
  CHECK(gpu.max_active_clusters(count_blocks, {4, 1, 1}, 200 * 1024) == 33);
  CHECK(driver.calls_of("cuOccupancyMaxActiveClusters") == 3);
  CHECK(gpu.resident_blocks(count_blocks) == 32 * 132);
  CHECK(gpu.max_active_clusters(count_blocks) == 32 * 132);
  CHECK(driver.calls_of("cuOccupancyMaxActiveBlocksPerMultiprocessor") == 1);
  for (std::uint32_t bytes = 1024; bytes < 200 * 1024; bytes += 1024) {
    const std::uint64_t blocks = gpu.resident_blocks(count_blocks, bytes);
    CHECK(blocks == gpu.resident_blocks(count_blocks, bytes));
    CHECK(gpu.max_active_clusters(count_blocks, {2, 1, 1}, bytes) == blocks / 2);
  }
  driver.fail_next("cuOccupancyMaxActiveClusters", kaio::driver_abi::CUDA_ERROR_INVALID_CLUSTER_SIZE);
  const thrown e = catch_error([&] { gpu.max_active_clusters(count_blocks, {8, 1, 1}, 16); });
  CHECK(e.code == errc::invalid_argument);
  CHECK(e.says("asking how many clusters of kernel count_blocks fit on"));
}

TEST_CASE("a map is encoded by the driver once, and again when it failed") {
  fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto x = gpu.allocate<float>(64 * 64);
  const auto encode = [&](std::uint64_t rows) {
    return kaio::tiled_tensor_map<2>(gpu.stream(), x, {.extents = {64, rows}, .box = {32, 8}});
  };
  driver.fail_next("cuTensorMapEncodeTiled", 1);
  const thrown e = catch_error([&] { encode(64); });
  CHECK(e.code == errc::invalid_argument);
  CHECK(e.says("encoding a tensor map of memory at 0x"));
  driver.recover();
  const auto map = encode(64);
  const long before = driver.calls();
  CHECK(std::memcmp(encode(64).data(), map.data(), 128) == 0);
  CHECK(driver.calls() == before);
  CHECK(std::memcmp(encode(63).data(), map.data(), 128) != 0);
  CHECK(driver.calls() == before + 2);  // cuCtxGetCurrent and cuTensorMapEncodeTiled
  CHECK(driver.calls_of("cuTensorMapEncodeTiled") == 3);
}

TEST_CASE("attributes and maps are part of a captured graph like other launches") {
  fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto out = gpu.allocate<std::uint32_t>(64);
  const kaio::stream s = gpu.create_stream();
  driver.begin_capture(s.native_handle());
  const thrown e = catch_error([&] { launch(s, count_blocks, out, {.x = 4, .cluster = {2, 1, 1}}); });
  CHECK(e.code == errc::stream_capturing);
  driver.end_capture(s.native_handle());
  gpu.warmup(count_blocks);
  driver.begin_capture(s.native_handle());
  launch(s, count_blocks, out, {.x = 4, .cluster = {2, 1, 1}, .programmatic = true});
  CHECK_FALSE(kaio::tiled_tensor_map<1>(s, out, {.extents = {64}, .box = {16}}).is_null());
  CHECK(s.max_active_clusters(count_blocks, {2, 1, 1}) == 32 * 66);
  driver.end_capture(s.native_handle());
  CHECK(out.download()[0] == 0);  // it was captured, not run
}
