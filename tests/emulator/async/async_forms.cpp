// Which forms of asynchronous instructions are accepted, and why others are not: as ptxas 13.0 decides, with
// the first PTX ISA version and target of each.

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

std::string text_of(const std::string& body, std::string_view version, std::string_view target) {
  return ".version " + std::string(version) + "\n.target " + std::string(target) + R"(
.address_size 64
.shared .align 1024 .b8 sm[8192]; .shared .align 8 .b64 mb; .global .align 128 .b8 gl[4096];
.visible .entry k(.param .u64 p0, .param .align 64 .b8 tm[128]) {
.reg .pred %q<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %d<16>; .reg .f64 %g<8>;
)" + body +
         "\nret;\n}\n";
}

// Long words of the instructions, which the tables shorten.
std::string whole(std::string text) {
  const std::pair<std::string, std::string> words[] = {
      {"$bulk", "cp.async.bulk"},
      {"$tensor", "cp.async.bulk.tensor"},
      {"$reduce", "cp.reduce.async.bulk"},
      {"$tx", "mbarrier::complete_tx::bytes"},
      {"$in", "shared::cluster.global"},
      {"$out", "global.shared::cta.bulk_group"},
      {"$peer", "shared::cluster.shared::cta"},
      {"$replace", "tensormap.replace.tile"},
      {"$copy", "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic"},
  };
  for (const auto& [word, meaning] : words)
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at))
      text.replace(at, word.size(), meaning);
  return text;
}

}  // namespace

TEST_CASE("every form of the asynchronous instructions is accepted") {
  const char* const forms[] = {
      "$bulk.commit_group;",
      "$bulk.$out [%d1], [%r1], %r2;",
      "$bulk.$out [%d1], [sm], 64;",
      "$bulk.$out.L2::cache_hint [%d1], [%r1], %r2, %d4;",
      "$bulk.prefetch.L2.global [%d1], %r1;",
      "$bulk.prefetch.L2.global [%d1], 64;",
      "$bulk.prefetch.L2.global.L2::cache_hint [%d1], %r1, %d2;",
      "$bulk.prefetch.tensor.2d.L2.global [%d1, {%r5,%r6}];",
      "$bulk.prefetch.tensor.2d.L2.global.tile [%d1, {%r5,%r6}];",
      "$bulk.prefetch.tensor.2d.L2.global.tile.L2::cache_hint [%d1, {%r5,%r6}], %d4;",
      "$bulk.prefetch.tensor.3d.L2.global.im2col [%d1, {%r5,%r6,%r7}], {%h1};",
      "$bulk.$in.$tx [%r1], [%d1], %r2, [%r3];",
      "$bulk.$in.$tx [%r1], [%d1], 0, [%r3];",
      "$bulk.$in.$tx [%r1], [%d1], 16, [%r3];",
      "$bulk.$in.$tx.L2::cache_hint [%r1], [%d1], %r2, [%r3], %d4;",
      "$bulk.$in.$tx.multicast::cluster [%r1], [%d1], %r2, [%r3], %h1;",
      "$bulk.$in.$tx.multicast::cluster [%r1], [%d1], %r2, [%r3], 3;",
      "$bulk.$in.$tx.multicast::cluster.L2::cache_hint [%r1], [%d1], %r2, [%r3], %h1, %d4;",
      "$bulk.$peer.$tx [%r1], [%r4], %r2, [%r3];",
      "$bulk.$peer.$tx [%r1], [sm], %r2, [mb];",
      "$bulk.shared::cta.global.$tx [%r1], [%d1], %r2, [%r3];",
      "$tensor.1d.$out [%d1, {%r5}], [%r1];",
      "$tensor.1d.$in.$tx [%r1], [%d1, {%r5}], [%r3];",
      "$tensor.2d.$out [%d1, {%r5,%r6}], [%r1];",
      "$tensor.2d.$out.L2::cache_hint [%d1, {%r5,%r6}], [%r1], %d4;",
      "$tensor.2d.global.shared::cta.tile.bulk_group [%d1, {%r5,%r6}], [%r1];",
      "$tensor.2d.$in.$tx [%r1], [%d1, {%r5,%r6}], [%r3];",
      "$tensor.2d.$in.$tx [%r1], [gl, {%r5,%r6}], [%r3];",
      "$tensor.2d.$in.$tx [sm+1024], [%d1, {%r5,%r6}], [mb];",
      "$tensor.2d.$in.$tx [sm], [%d1, {%r5,%r6}], [mb];",
      "$tensor.2d.$in.$tx.L2::cache_hint [%r1], [%d1, {%r5,%r6}], [%r3], %d4;",
      "$tensor.2d.$in.$tx.multicast::cluster [%r1], [%d1, {%r5,%r6}], [%r3], %h1;",
      "$tensor.2d.$in.$tx.multicast::cluster.L2::cache_hint [%r1], [%d1, {%r5,%r6}], [%r3], %h1, %d4;",
      "$tensor.2d.$in.$tx.tile [%r1], [%d1, {%r5,%r6}], [%r3];",
      "$tensor.2d.$in.tile.$tx [%r1], [%d1, {%r5,%r6}], [%r3];",
      "$tensor.2d.shared::cta.global.$tx [%r1], [%d1, {%r5,%r6}], [%r3];",
      "$tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%d1, {%r5,%r6,%r7}], [%r1];",
      "$tensor.3d.$in.im2col.$tx [%r1], [%d1, {%r5,%r6,%r7}], [%r3], {%h1};",
      "$tensor.3d.$in.$tx [%r1], [%d1, {%r5,%r6,-1}], [%r3];",
      "$tensor.3d.$in.$tx [%r1], [%d1, {%r5,%r6,0}], [%r3];",
      "$tensor.4d.$in.im2col.$tx [%r1], [%d1, {%r5,%r6,%r7,%r8}], [%r3], {%h1,%h2};",
      "$tensor.4d.$in.im2col.$tx [%r1], [%d1, {%r5,%r6,%r7,%r8}], [%r3], {1,2};",
      "$tensor.4d.$in.$tx [%r1], [%d1, {%r5,%r6,%r7,%r8}], [%r3];",
      "$tensor.5d.$in.im2col.$tx [%r1], [%d1, {%r5,%r6,%r7,%r8,%r9}], [%r3], {%h1,%h2,%h3};",
      "$tensor.5d.$in.im2col.$tx.multicast::cluster [%r1], [%d1, {%r5,%r6,%r7,%r8,%r9}], [%r3], "
      "{%h1,%h2,%h3}, %h4;",
      "$tensor.5d.$in.im2col.$tx.multicast::cluster.L2::cache_hint [%r1], [%d1, {%r5,%r6,%r7,%r8,%r9}], "
      "[%r3], {%h1,%h2,%h3}, %h4, %d5;",
      "$tensor.5d.$in.$tx [%r1], [%d1, {%r5,%r6,%r7,%r8,%r9}], [%r3];",
      "$bulk.wait_group 0;",
      "$bulk.wait_group.read 0;",
      "$bulk.wait_group.read 64;",
      "cp.async.ca.shared.global [%d2], [%d1], 4, %r2;",
      "cp.async.ca.shared.global [%r1+4], [%d1+8], 4;",
      "cp.async.ca.shared.global [%r1], [%d1], 4, !%q1;",
      "cp.async.ca.shared.global [%r1], [%d1], 4, %q1;",
      "cp.async.ca.shared.global [%r1], [%d1], 4, 2;",
      "cp.async.ca.shared.global [%r1], [gl], 4;",
      "cp.async.ca.shared.global [sm], [%d1], 16;",
      "cp.async.ca.shared.global [sm], [%d1], 4;",
      "cp.async.ca.shared.global [sm], [%d1], 8;",
      "cp.async.ca.shared.global.L2::128B [%r1], [%d1], 4;",
      "cp.async.ca.shared.global.L2::256B [%r1], [%d1], 4;",
      "cp.async.ca.shared.global.L2::64B [%r1], [%d1], 4;",
      "cp.async.ca.shared.global.L2::cache_hint [%r1], [%d1], 4, %d3;",
      "cp.async.ca.shared.global.L2::cache_hint [%r1], [%d1], 4, %q1, %d3;",
      "cp.async.ca.shared.global.L2::cache_hint [%r1], [%d1], 4, %r2, %d3;",
      "cp.async.ca.shared::cta.global [%r1], [%d1], 4;",
      "cp.async.cg.shared.global [sm], [%d1], 16;",
      "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%r1], [%d1], 16, %d3;",
      "cp.async.commit_group;",
      "cp.async.mbarrier.arrive.b64 [%d1];",
      "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];",
      "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [mb];",
      "cp.async.mbarrier.arrive.shared.b64 [%r1];",
      "cp.async.mbarrier.arrive.shared.noinc.b64 [%r1];",
      "cp.async.wait_all;",
      "cp.async.wait_group -1;",
      "cp.async.wait_group 0;",
      "cp.async.wait_group 100;",
      "$reduce.$out.L2::cache_hint.add.u32 [%d1], [%r1], %r2, %d4;",
      "$reduce.$out.add.f32 [%d1], [%r1], %r2;",
      "$reduce.$out.add.f64 [%d1], [%r1], %r2;",
      "$reduce.$out.add.noftz.bf16 [%d1], [%r1], %r2;",
      "$reduce.$out.add.noftz.f16 [%d1], [%r1], %r2;",
      "$reduce.$out.add.s32 [%d1], [%r1], %r2;",
      "$reduce.$out.add.u32 [%d1], [%r1], %r2;",
      "$reduce.$out.add.u64 [%d1], [%r1], %r2;",
      "$reduce.$out.and.b32 [%d1], [%r1], %r2;",
      "$reduce.$out.dec.u32 [%d1], [%r1], %r2;",
      "$reduce.$out.inc.u32 [%d1], [%r1], %r2;",
      "$reduce.$out.max.bf16 [%d1], [%r1], %r2;",
      "$reduce.$out.max.s64 [%d1], [%r1], %r2;",
      "$reduce.$out.min.f16 [%d1], [%r1], %r2;",
      "$reduce.$out.min.s32 [%d1], [%r1], %r2;",
      "$reduce.$out.min.u32 [%d1], [%r1], %r2;",
      "$reduce.$out.min.u64 [%d1], [%r1], %r2;",
      "$reduce.$out.or.b64 [%d1], [%r1], %r2;",
      "$reduce.$out.xor.b64 [%d1], [%r1], %r2;",
      "$reduce.$peer.$tx.add.s32 [%r1], [%r4], %r2, [%r3];",
      "$reduce.$peer.$tx.add.u32 [%r1], [%r4], %r2, [%r3];",
      "$reduce.$peer.$tx.add.u64 [%r1], [%r4], %r2, [%r3];",
      "$reduce.$peer.$tx.and.b32 [%r1], [%r4], %r2, [%r3];",
      "$reduce.$peer.$tx.dec.u32 [%r1], [%r4], %r2, [%r3];",
      "$reduce.$peer.$tx.inc.u32 [%r1], [%r4], %r2, [%r3];",
      "$reduce.$peer.$tx.max.s32 [%r1], [%r4], %r2, [%r3];",
      "$reduce.$peer.$tx.min.u32 [%r1], [%r4], %r2, [%r3];",
      "$reduce.$peer.$tx.or.b32 [%r1], [%r4], %r2, [%r3];",
      "$reduce.$peer.$tx.xor.b32 [%r1], [%r4], %r2, [%r3];",
      "$reduce.tensor.2d.global.shared::cta.add.bulk_group [%d1, {%r5,%r6}], [%r1];",
      "$reduce.tensor.2d.global.shared::cta.add.tile.bulk_group [%d1, {%r5,%r6}], [%r1];",
      "$reduce.tensor.2d.global.shared::cta.and.bulk_group [%d1, {%r5,%r6}], [%r1];",
      "$reduce.tensor.2d.global.shared::cta.dec.bulk_group [%d1, {%r5,%r6}], [%r1];",
      "$reduce.tensor.2d.global.shared::cta.inc.bulk_group [%d1, {%r5,%r6}], [%r1];",
      "$reduce.tensor.2d.global.shared::cta.min.bulk_group [%d1, {%r5,%r6}], [%r1];",
      "$reduce.tensor.2d.global.shared::cta.xor.bulk_group.L2::cache_hint [%d1, {%r5,%r6}], [%r1], %d2;",
      "$reduce.tensor.3d.global.shared::cta.or.im2col_no_offs.bulk_group [%d1, {%r5,%r6,%r7}], [%r1];",
      "fence.acquire.cta;",
      "fence.acquire.sync_restrict::shared::cluster.cluster;",
      "fence.mbarrier_init.release.cluster;",
      "fence.proxy.alias;",
      "fence.proxy.async.global;",
      "fence.proxy.async.shared::cluster;",
      "fence.proxy.async.shared::cta;",
      "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
      "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
      "fence.proxy.async;",
      "fence.proxy.tensormap::generic.acquire.cta [%d1], 128;",
      "fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;",
      "fence.proxy.tensormap::generic.acquire.sys [%d1], 128;",
      "fence.proxy.tensormap::generic.release.cluster;",
      "fence.proxy.tensormap::generic.release.cta;",
      "fence.proxy.tensormap::generic.release.gpu;",
      "fence.proxy.tensormap::generic.release.sys;",
      "fence.release.gpu;",
      "fence.release.sync_restrict::shared::cta.cluster;",
      "griddepcontrol.launch_dependents;",
      "griddepcontrol.wait;",
      "mbarrier.arrive.b64 %d1, [%d2];",
      "mbarrier.arrive.b64 _, [%d2], %r1;",
      "mbarrier.arrive.b64 _, [%d2];",
      "mbarrier.arrive.b64.shared %d1, [%r2];",
      "mbarrier.arrive.expect_tx.b64 _, [%d2], 16;",
      "mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 %d1, [%r2], 16;",
      "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r2], 16;",
      "mbarrier.arrive.expect_tx.shared.b64 %d1, [%r2], %r3;",
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 16;",
      "mbarrier.arrive.noComplete.b64 %d1, [%d2], 1;",
      "mbarrier.arrive.noComplete.release.cta.shared.b64 %d1, [%r2], 3;",
      "mbarrier.arrive.noComplete.shared.b64 %d1, [%r2], %r3;",
      "mbarrier.arrive.noComplete.shared.b64 _, [%r2], 3;",
      "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r2];",
      "mbarrier.arrive.relaxed.cta.shared.b64 %d1, [%r2];",
      "mbarrier.arrive.release.cluster.shared.b64 %d1, [%r2];",
      "mbarrier.arrive.release.cta.shared.b64 %d1, [%r2];",
      "mbarrier.arrive.shared.b64 %d1, [%r2];",
      "mbarrier.arrive.shared.b64 _, [%r2];",
      "mbarrier.arrive.shared::cluster.b64 _, [%r2];",
      "mbarrier.arrive.shared::cta.b64 %d1, [%r2], %r4;",
      "mbarrier.arrive.shared::cta.b64 _, [%r2], 4;",
      "mbarrier.arrive_drop.expect_tx.release.cluster.shared::cluster.b64 _, [%r2], 2;",
      "mbarrier.arrive_drop.expect_tx.shared.b64 %d1, [%r2], 2;",
      "mbarrier.arrive_drop.noComplete.shared.b64 %d1, [%r2], 2;",
      "mbarrier.arrive_drop.relaxed.cta.shared.b64 %d1, [%r2];",
      "mbarrier.arrive_drop.shared.b64 %d1, [%r2];",
      "mbarrier.arrive_drop.shared.b64 _, [%r2];",
      "mbarrier.arrive_drop.shared::cluster.b64 _, [%r2], 2;",
      "mbarrier.complete_tx.b64 [%d2], 16;",
      "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r2], 16;",
      "mbarrier.complete_tx.shared.b64 [%r2], %r3;",
      "mbarrier.expect_tx.b64 [%d2], 16;",
      "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r2], 16;",
      "mbarrier.expect_tx.relaxed.cta.b64 [%d2], 16;",
      "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r2], %r3;",
      "mbarrier.expect_tx.shared.b64 [%r2], %r3;",
      "mbarrier.init.b64 [%d1], %r1;",
      "mbarrier.init.shared.b64 [%r1], 0;",
      "mbarrier.init.shared.b64 [%r1], 1048576;",
      "mbarrier.init.shared.b64 [%r1], 5;",
      "mbarrier.init.shared::cta.b64 [mb], 5;",
      "mbarrier.inval.b64 [%d1];",
      "mbarrier.inval.shared.b64 [%r1];",
      "mbarrier.pending_count.b64 %r1, %d1;",
      "mbarrier.test_wait.acquire.cta.shared.b64 %q1, [%r1], %d2;",
      "mbarrier.test_wait.b64 %q1, [%d1], %d2;",
      "mbarrier.test_wait.parity.acquire.cluster.shared.b64 %q1, [%r1], %r2;",
      "mbarrier.test_wait.parity.shared.b64 %q1, [%r1], %r2;",
      "mbarrier.test_wait.parity.shared.b64 %q1, [%r1], 0;",
      "mbarrier.test_wait.relaxed.cta.shared.b64 %q1, [%r1], %d2;",
      "mbarrier.test_wait.shared.b64 %q1, [%r1], %d2;",
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q1, [%r1], %r2, %r3;",
      "mbarrier.try_wait.parity.b64 %q1, [%d1], %r2;",
      "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %q1, [%r1], %r2, %r3;",
      "mbarrier.try_wait.parity.shared.b64 %q1, [%r1], %r2, 1000;",
      "mbarrier.try_wait.parity.shared::cta.b64 %q1, [mb], %r2;",
      "mbarrier.try_wait.shared.b64 %q1, [%r1], %d2, %r3;",
      "mbarrier.try_wait.shared.b64 %q1, [%r1], %d2;",
      "membar.proxy.alias;",
      "prefetch.const.tensormap [%d1];",
      "prefetch.param.tensormap [tm];",
      "prefetch.tensormap [%d1];",
      "red.async.relaxed.cluster.$tx.add.u32 [%d1], %r2, [%d3];",
      "red.async.relaxed.cluster.shared::cluster.$tx.add.s32 [%r1], %r2, [%r3];",
      "red.async.relaxed.cluster.shared::cluster.$tx.add.s64 [%r1], %d2, [%r3];",
      "red.async.relaxed.cluster.shared::cluster.$tx.add.u32 [%r1], %r2, [%r3];",
      "red.async.relaxed.cluster.shared::cluster.$tx.add.u64 [%r1], %d2, [%r3];",
      "red.async.relaxed.cluster.shared::cluster.$tx.and.b32 [%r1], %r2, [%r3];",
      "red.async.relaxed.cluster.shared::cluster.$tx.dec.u32 [%r1], %r2, [%r3];",
      "red.async.relaxed.cluster.shared::cluster.$tx.inc.u32 [%r1], %r2, [%r3];",
      "red.async.relaxed.cluster.shared::cluster.$tx.max.s32 [%r1], %r2, [%r3];",
      "red.async.relaxed.cluster.shared::cluster.$tx.min.u32 [%r1], %r2, [%r3];",
      "red.async.relaxed.cluster.shared::cluster.$tx.or.b32 [%r1], %r2, [%r3];",
      "red.async.relaxed.cluster.shared::cluster.$tx.xor.b32 [%r1], %r2, [%r3];",
      "setmaxnreg.dec.sync.aligned.u32 256;",
      "setmaxnreg.inc.sync.aligned.u32 24;",
      "st.async.$tx.b32 [%d1], %r2, [%d3];",
      "st.async.shared::cluster.$tx.b32 [%r1], %r2, [%r3];",
      "st.async.weak.shared::cluster.$tx.b32 [%r1], %r2, [%r3];",
      "st.async.weak.shared::cluster.$tx.f32 [%r1], %f2, [%r3];",
      "st.async.weak.shared::cluster.$tx.f64 [%r1], %g2, [%r3];",
      "st.async.weak.shared::cluster.$tx.s64 [%r1], %d2, [%r3];",
      "st.async.weak.shared::cluster.$tx.u32 [%r1], %r2, [%r3];",
      "st.async.weak.shared::cluster.$tx.v2.b32 [%r1], {%r4,%r5}, [%r3];",
      "st.async.weak.shared::cluster.$tx.v2.b64 [%r1], {%d4,%d5}, [%r3];",
      "st.async.weak.shared::cluster.$tx.v4.b32 [%r1], {%r4,%r5,%r6,%r7}, [%r3];",
      "st.async.weak.shared::cluster.$tx.v4.f32 [%r1], {%f4,%f5,%f6,%f7}, [%r3];",
      "st.async.weak.shared::cta.$tx.b32 [%r1], %r2, [%r3];",
      "$copy.release.cluster.sync.aligned [%d1], [%r1], 128;",
      "$copy.release.cta.sync.aligned [%d1], [%r1], 128;",
      "$copy.release.gpu.sync.aligned [%d1], [%r1], 128;",
      "$copy.release.sys.sync.aligned [%d1], [%r1], 128;",
      "$replace.box_dim.global.b1024.b32 [%d1], 0, %r2;",
      "$replace.box_dim.global.b1024.b32 [%d1], 4, %r2;",
      "$replace.element_stride.global.b1024.b32 [%d1], 4, %r2;",
      "$replace.elemtype.global.b1024.b32 [%d1], 12;",
      "$replace.elemtype.global.b1024.b32 [%d1], 4;",
      "$replace.fill_mode.global.b1024.b32 [%d1], 1;",
      "$replace.global_address.b1024.b64 [%d1], %d2;",
      "$replace.global_address.global.b1024.b64 [%d1], %d2;",
      "$replace.global_address.shared::cta.b1024.b64 [%r1], %d2;",
      "$replace.global_dim.global.b1024.b32 [%d1], 4, %r2;",
      "$replace.global_stride.global.b1024.b64 [%d1], 3, %d2;",
      "$replace.global_stride.global.b1024.b64 [%d1], 4, %d2;",
      "$replace.interleave_layout.global.b1024.b32 [%d1], 2;",
      "$replace.rank.b1024.b32 [%d1], %r2;",
      "$replace.rank.b1024.b32 [%d1], 2;",
      "$replace.swizzle_mode.global.b1024.b32 [%d1], 3;",
  };
  for (const char* const form : forms) {
    INFO(form);
    CHECK_NOTHROW(parsed_module(text_of(whole(form), "9.0", "sm_90a"), device()));
  }
}

TEST_CASE("forms that do not exist are rejected with the reason") {
  struct row {
    std::string text, part;
  };
  const row rows[] = {
      {"cp.async.cg.shared.global [sm], [%d1], 8;", "cp.async.cg copies 16 bytes"},
      {"cp.async.ca.shared.global [sm], [%d1], 12;", "4, 8 or 16 bytes"},
      {"cp.async.ca.shared::cluster.global [%r1], [%d1], 4;", "copies from .global to .shared"},
      {"cp.async.ca.global.shared [%d1], [%r1], 4;", "copies from .global to .shared"},
      {"cp.async.ca.shared.global [%r1], [%d1], 4, 5;", "from 0 to 4"},
      {"cp.async.ca.shared.global [%r1], [%d1], 4, %r2, %d3;", "3 to 4 operands"},
      {"cp.async.shared.global [%r1], [%d1], 4;", "needs a cache operator"},
      {"cp.async.wait_group %r1;", "takes a constant"},
      {"cp.sync [%r1];", "not an instruction of PTX"},
      {"mbarrier.init.shared::cluster.b64 [%r1], 5;", "own block only"},
      {"mbarrier.init.shared.b32 [%r1], 1;", "no form of type .b32"},
      {"mbarrier.arrive.shared::cluster.b64 %d1, [%r2];", "write '_'"},
      {"mbarrier.arrive.release.shared.b64 %d1, [%r2];", "needs a scope"},
      {"mbarrier.arrive.cta.shared.b64 %d1, [%r2];", "needs an order"},
      {"mbarrier.arrive.noComplete.relaxed.cta.shared.b64 %d1, [%r2], 3;",
       ".noComplete goes with .release.cta"},
      {"mbarrier.arrive.noComplete.shared.b64 %d1, [%r2];", "3 operands"},
      {"mbarrier.test_wait.shared.b64 _, [%r1], %d2;", "a predicate"},
      {"mbarrier.test_wait.parity.shared.b64 %q1, [%r1], %d2;", "takes .u32"},
      {"mbarrier.shared.arrive.b64 %d1, [%r2];", "directly after 'mbarrier'"},
      {"$bulk.shared.global.$tx [%r1], [%d1], %r2, [%r3];", "no bulk copy from .global to .shared"},
      {"$bulk.$in [%r1], [%d1], %r2, [%r3];", "needs the completion mechanism"},
      {"$bulk.$in.$tx [%r1], [%d1], 17, [%r3];", "a multiple of 16"},
      {"$bulk.$in.$tx.multicast::cluster [%r1], [%d1], %r2, [%r3], %r4;", "takes .u16"},
      {"$bulk.shared::cta.global.$tx.multicast::cluster [%r1], [%d1], %r2, [%r3], %h1;", "4 operands"},
      {"$bulk.$out.cp_mask [%d1], [%r1], %r2, %h1;", "needs .target sm_100"},
      {"$reduce.$out.add.f16 [%d1], [%r1], %r2;", "need .noftz"},
      {"$reduce.$out.add.s64 [%d1], [%r1], %r2;", "no reduction .add of type .s64"},
      {"$reduce.$peer.$tx.min.u64 [%r1], [%r4], %r2, [%r3];", "no reduction .min of type .u64"},
      {"$reduce.$out.exch.b32 [%d1], [%r1], %r2;", "needs an operation"},
      {"st.async.weak.shared::cluster.$tx.b16 [%r1], %h2, [%r3];", "no form of type .b16"},
      {"st.async.shared::cluster.$tx.v4.b64 [%r1], {%d4,%d5,%d6,%d7}, [%r3];", "more than 16 bytes"},
      {"red.async.relaxed.cta.shared::cluster.$tx.add.u32 [%r1], %r2, [%r3];", "needs .relaxed and .cluster"},
      {"red.async.relaxed.cluster.shared::cluster.$tx.min.u64 [%r1], %d2, [%r3];",
       "no reduction .min of type .u64"},
      {"$tensor.3d.$in.$tx [%r1], [%d1, {%r5,%r6}], [%r3];", "takes 3 coordinates"},
      {"$tensor.1d.$in.$tx [%r1], [%d1, %r5], [%r3];", "takes a tensor map and coordinates"},
      {"$tensor.2d.$in.$tx [%r1], [tm, {%r5,%r6}], [%r3];", "take it with cvta"},
      {"$tensor.4d.$in.im2col.$tx [%r1], [%d1, {%r5,%r6,%r7,%r8}], [%r3], {%h1};", "2 im2col offsets"},
      {"$tensor.2d.$in.im2col.$tx [%r1], [%d1, {%r5,%r6}], [%r3], {%h1};", "at least 3 dimensions"},
      {"$tensor.2d.$in.tile::gather4.$tx [%r1], [%d1, {%r5,%r6,%r7,%r8,%r9}], [%r3];",
       "needs .target sm_100"},
      {"$tensor.6d.$in.$tx [%r1], [%d1, {%r5}], [%r3];", "a number of dimensions"},
      {"$replace.global_address.b1024.b32 [%d1], %r2;", "has type .b64"},
      {"$replace.elemtype.global.b1024.b32 [%d1], 13;", "from 0 to 12"},
      {"$replace.box_dim.global.b1024.b32 [%d1], 5, %r2;", "from 0 to 4"},
      {"$replace.swizzle_atomicity.global.b1024.b32 [%d1], 0;", "needs .target sm_100"},
      {"$copy.release.gpu [%d1], [%r1], 128;", "needs .sync and .aligned"},
      {"fence.proxy.generic;", "names no proxy"},
      {"fence.proxy.tensormap::generic.acquire.gpu [%d1], 64;", "is 128"},
      {"fence.mbarrier_init.release.cta;", "needs .release.cluster"},
      {"setmaxnreg.inc.sync.aligned.u32 25;", "not a multiple of 8"},
      {"setmaxnreg.inc.sync.aligned.u32 16;", "from 24 to 256"},
      {"griddepcontrol;", "needs an action"},
      {"multimem.st.relaxed.gpu.global.u32 [%d1], %r1;", "no memory that several share"},
  };
  for (const row& r : rows) {
    INFO(r.text);
    const ptx_error e = rejection(text_of(whole(r.text), "9.0", "sm_90a"));
    CHECK(e.line() == 7);
    CHECK(contains(e.reason(), r.part));
  }
}

TEST_CASE("each form needs its PTX ISA version and its target") {
  struct row {
    std::string text, version, target;
  };
  const row rows[] = {
      {"cp.async.wait_all;", "7.0", "sm_80"},
      {"cp.async.ca.shared.global [%r1], [%d1], 4, %q1;", "7.5", "sm_80"},
      {"cp.async.ca.shared.global.L2::128B [%r1], [%d1], 4;", "7.4", "sm_80"},
      {"mbarrier.arrive.shared.b64 %d1, [%r2];", "7.0", "sm_80"},
      {"mbarrier.arrive.shared.b64 _, [%r2];", "7.1", "sm_80"},
      {"mbarrier.arrive.shared.b64 %d1, [%r2], 2;", "7.8", "sm_90"},
      {"mbarrier.arrive.shared::cluster.b64 _, [%r2];", "8.0", "sm_90"},
      {"mbarrier.arrive.release.cta.shared.b64 %d1, [%r2];", "8.0", "sm_80"},
      {"mbarrier.arrive.relaxed.cta.shared.b64 %d1, [%r2];", "8.6", "sm_90"},
      {"mbarrier.arrive.expect_tx.shared.b64 %d1, [%r2], 4;", "8.0", "sm_90"},
      {"mbarrier.test_wait.parity.shared.b64 %q1, [%r1], %r2;", "7.1", "sm_80"},
      {"mbarrier.try_wait.shared.b64 %q1, [%r1], %d2;", "7.8", "sm_90"},
      {"mbarrier.try_wait.relaxed.cta.shared.b64 %q1, [%r1], %d2;", "8.6", "sm_90"},
      {"$bulk.$in.$tx [%r1], [%d1], %r2, [%r3];", "8.0", "sm_90"},
      {"$bulk.shared::cta.global.$tx [%r1], [%d1], %r2, [%r3];", "8.6", "sm_90"},
      {"st.async.shared::cluster.$tx.b32 [%r1], %r2, [%r3];", "8.1", "sm_90"},
      {"$tensor.2d.$in.$tx [%r1], [%d1, {%r5,%r6}], [%r3];", "8.0", "sm_90"},
      {"$replace.rank.global.b1024.b32 [%d1], 2;", "8.3", "sm_90a"},
      {"$copy.release.gpu.sync.aligned [%d1], [%r1], 128;", "8.3", "sm_90"},
      {"fence.proxy.alias;", "7.5", "sm_70"},
      {"fence.proxy.async;", "8.0", "sm_90"},
      {"fence.acquire.sync_restrict::shared::cluster.cluster;", "8.6", "sm_90"},
      {"griddepcontrol.wait;", "7.8", "sm_90"},
      {"setmaxnreg.dec.sync.aligned.u32 24;", "8.0", "sm_90a"},
  };
  const std::string versions[] = {"6.5", "7.0", "7.1", "7.3", "7.4", "7.5", "7.7",
                                  "7.8", "8.0", "8.1", "8.2", "8.3", "8.5", "8.6"};
  const std::string targets[] = {"sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_90a"};
  const auto accepted = [](const row& r, const std::string& version, const std::string& target) {
    try {
      parsed_module(text_of(whole(r.text), version, target), device());
      return true;
    } catch (const ptx_error&) {
      return false;
    }
  };
  for (const row& r : rows) {
    INFO(r.text);
    CHECK(accepted(r, r.version, r.target));
    for (std::size_t k = 1; k < std::size(versions); ++k)
      if (versions[k] == r.version) CHECK_FALSE(accepted(r, versions[k - 1], r.target));
    for (std::size_t k = 1; k < std::size(targets); ++k)
      if (targets[k] == r.target) CHECK_FALSE(accepted(r, "8.6", targets[k - 1]));
  }
}
