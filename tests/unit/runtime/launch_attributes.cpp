// Requests of a launch besides its grid: clusters, and to begin before the work before it has ended. Each is
// given to the kernel, or refused by a typed error before anything runs.

#include "unit/runtime/support.hpp"

#include <vector>

using namespace runtime_test;
using kaio::errc;
using kaio::ptx::argument;
using kaio::ptx::kernel_image;
using kaio::ptx::launch_grid;

namespace {

// out[block] = rank in the cluster + 100 * blocks of the cluster, of a grid of one dimension
constexpr std::string_view ranks_text[] = {R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry ranks(.param .u64 out)
)",
                                           "",
                                           R"({
  .reg .b64 %d<3>; .reg .b32 %r<5>;
  ld.param.u64 %d1, [out];
  griddepcontrol.wait;
  mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r4, %r2, 100, %r1; mad.wide.u32 %d2, %r3, 4, %d1;
  st.global.u32 [%d2], %r4;
  ret;
}
)"};
constexpr std::string_view pairs_text[] = {ranks_text[0], ".reqnctapercluster 2, 1, 1\n", ranks_text[2]};
constexpr kaio::ptx::parameter ranks_parameters[] = {{kaio::ptx::type::u32, kaio::ptx::access::out}};
constexpr kernel_image ranks{
    .name = "ranks",
    .segments = ranks_text,
    .segment_count = 3,
    .parameters = ranks_parameters,
    .parameter_count = 1,
    .block = {1, 1, 1},
    .needs = {.target = {90, false}, .version = {7, 8}, .max_threads = 1, .waits_for_grids = true},
};
constexpr kernel_image made_for_pairs() {
  kernel_image kernel = ranks;
  kernel.segments = pairs_text;
  kernel.needs.cluster = {2, 1, 1};
  return kernel;
}
constexpr kernel_image pairs = made_for_pairs();

// out[block] += 1 before it waits for the work before it, which may still do the same.
constexpr std::string_view early_text[] = {R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry early(.param .u64 out)
{
  .reg .b64 %d<3>; .reg .b32 %r<3>;
  griddepcontrol.launch_dependents;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %ctaid.x;
  mad.wide.u32 %d2, %r1, 4, %d1;
  ld.global.u32 %r2, [%d2]; add.u32 %r2, %r2, 1; st.global.u32 [%d2], %r2;
  griddepcontrol.wait;
  ret;
}
)"};
constexpr kernel_image made_early() {
  kernel_image kernel = ranks;
  kernel.name = "early";
  kernel.segments = early_text;
  kernel.segment_count = 1;
  return kernel;
}
constexpr kernel_image early = made_early();

struct launcher {
  kaio::device gpu = kaio::device::open("emulator");
  kaio::buffer<std::uint32_t> out = gpu.allocate<std::uint32_t>(64);
  void operator()(const kernel_image& kernel, const launch_grid& grid) const {
    const argument arguments[] = {out.as_argument()};
    gpu.stream().launch(kernel, grid, arguments, 1);
  }
  thrown fails(const kernel_image& kernel, const launch_grid& grid) const {
    return catch_error([&] { (*this)(kernel, grid); });
  }
  // Whether each of `blocks` blocks found itself in a cluster of `together`.
  void check(std::uint32_t blocks, std::uint32_t together) const {
    const auto found = out.download();
    for (std::uint32_t b = 0; b < blocks; ++b) REQUIRE(found[b] == b % together + 100 * together);
  }
};

}  // namespace

TEST_CASE("a launch gives clusters to a kernel that fixes none") {
  const launcher launch;
  for (const std::uint32_t together : {1u, 2u, 3u, 4u, 8u, 16u}) {
    launch(ranks, {.x = together * 3, .cluster = {together, 1, 1}});
    launch.check(together * 3, together);
  }
  launch(ranks, {.x = 5});
  launch.check(5, 1);
}

TEST_CASE("a kernel that fixes its clusters is launched plainly, or with the same") {
  const launcher launch;
  launch(pairs, {.x = 6});
  launch.check(6, 2);
  launch(pairs, {.x = 8, .cluster = {2, 1, 1}});
  launch.check(8, 2);
}

TEST_CASE("wrong clusters are refused, with the kernel, the grid and the cluster") {
  const launcher launch;
  struct row {
    const kernel_image* kernel;
    launch_grid grid;
    const char* says;
  };
  const row rows[] = {
      {&pairs,
       {.x = 7},
       "kernel ranks was given a grid of 7 x 1 x 1 blocks, and runs in clusters of 2 x 1 x 1"},
      {&ranks,
       {.x = 8, .cluster = {3, 1, 1}},
       "a grid of 8 x 1 x 1 blocks, and runs in clusters of 3 x 1 x 1"},
      {&ranks,
       {.x = 8, .cluster = {2, 2, 1}},
       "a grid of 8 x 1 x 1 blocks, and runs in clusters of 2 x 2 x 1"},
      {&ranks, {.x = 8, .y = 2, .cluster = {2, 1, 2}}, "runs in clusters of 2 x 1 x 2"},
      {&pairs,
       {.x = 8, .cluster = {4, 1, 1}},
       "kernel ranks was given clusters of 4 x 1 x 1 blocks, and it is written for clusters of 2 x 1 x 1"},
      {&pairs, {.x = 8, .cluster = {1, 1, 1}}, "it is written for clusters of 2 x 1 x 1"},
      {&ranks,
       {.x = 8, .cluster = {0, 1, 1}},
       "clusters of 0 x 1 x 1 blocks; each extent must be at least 1"},
      {&ranks, {.x = 8, .cluster = {1, 0, 0}}, "each extent must be at least 1"},
      {&ranks, {.x = 34, .cluster = {17, 1, 1}}, "takes at most 16 blocks in one"},
      {&ranks, {.x = 8, .y = 4, .cluster = {8, 4, 1}}, "takes at most 16 blocks in one"},
      {&ranks, {.x = 8, .cluster = {0xffffffff, 0xffffffff, 0xffffffff}}, "takes at most 16 blocks in one"},
  };
  for (const row& r : rows) {
    const thrown e = launch.fails(*r.kernel, r.grid);
    INFO(e.message);
    CHECK(e.code == errc::invalid_argument);
    CHECK(e.says(r.says));
  }
  CHECK(launch.out.download() == std::vector<std::uint32_t>(64, 0));
  // An empty grid is a success, as ever.
  launch(pairs, {.x = 0});
}

TEST_CASE("a device without clusters says so, and refuses code for another architecture") {
  const environment architecture("KAIO_EMULATOR_ARCH", "sm_80");
  const launcher launch;
  kernel_image old = ranks;
  old.needs.target = {80, false};
  const thrown given = launch.fails(old, {.x = 2, .cluster = {2, 1, 1}});
  CHECK(given.code == errc::unsupported_device);
  CHECK(given.says("kernel ranks was given clusters of 2 x 1 x 1 blocks, and emulator (sm_80) is sm_80"));
  old.needs.cluster = {2, 1, 1};
  CHECK(launch.fails(old, {.x = 2}).code == errc::unsupported_device);
  CHECK(launch.gpu.properties().max_blocks_per_cluster == 1);

  kernel_image specific = scale;
  specific.needs.target = {90, true};
  for (const char* other : {"sm_80", "sm_90"}) {
    const environment another("KAIO_EMULATOR_ARCH", other);
    const thrown load = catch_error([&] { kaio::device::open("emulator").warmup(specific); });
    CHECK(load.code == errc::unsupported_device);
    CHECK(load.says("needs exactly sm_90a"));
  }
}

TEST_CASE("a kernel that waits for the work before it may begin early, and no other") {
  const launcher launch;
  launch(ranks, {.x = 4, .programmatic = true});
  launch.check(4, 1);
  launch(ranks, {.x = 4, .cluster = {4, 1, 1}, .programmatic = true});
  launch.check(4, 4);
  kernel_image hasty = ranks;
  hasty.needs.waits_for_grids = false;
  const thrown e = launch.fails(hasty, {.x = 4, .programmatic = true});
  CHECK(e.code == errc::invalid_argument);
  CHECK(e.says("kernel ranks was launched programmatically, and never waits for the work before it"));
}

TEST_CASE(
    "the sanitizer sees what a programmatic launch uses before it waits, unless the host waited between") {
  const environment checks("KAIO_SANITIZE", "races");
  const launcher launch;
  launch(early, {.x = 4});
  launch.gpu.stream().synchronize();
  launch(early, {.x = 4, .programmatic = true});
  launch(early, {.x = 4});
  const thrown e = launch.fails(early, {.x = 4, .programmatic = true});
  CHECK(e.says("a race between grids"));
  CHECK(e.says("early, a grid before it, writes"));
}

TEST_CASE("how many clusters a device holds") {
  const launcher launch;
  const kaio::device& gpu = launch.gpu;
  CHECK(gpu.resident_blocks(ranks) == 132 * 32);
  CHECK(gpu.max_active_clusters(ranks) == 132 * 32);
  CHECK(gpu.max_active_clusters(ranks, {2, 1, 1}) == 132 * 16);
  CHECK(gpu.max_active_clusters(pairs) == 132 * 16);
  CHECK(gpu.stream().max_active_clusters(pairs, {2, 1, 1}, 200 * 1024) == 66);
  CHECK(gpu.stream().resident_blocks(pairs, 200 * 1024) == 132);
  CHECK(gpu.max_active_clusters(ranks, {2, 2, 4}, 100 * 1024) == 132 * 2 / 16);
  CHECK(catch_error([&] { gpu.max_active_clusters(pairs, {4, 1, 1}); }).code == errc::invalid_argument);
  CHECK(catch_error([&] { gpu.max_active_clusters(ranks, {17, 1, 1}); }).code == errc::invalid_argument);
  CHECK(catch_error([&] {
          gpu.max_active_clusters(ranks, {2, 1, 1}, 300 * 1024);
        }).code == errc::unsupported_device);
  const kaio::device_properties& p = gpu.properties();
  CHECK(p.max_blocks_per_cluster == 16);
  CHECK(p.max_blocks_per_multiprocessor == 32);
  CHECK(p.registers_per_multiprocessor == 65536);
  CHECK(p.l2_bytes == 50 * 1024 * 1024);
  CHECK(p.shared_per_multiprocessor == 228 * 1024);
}
