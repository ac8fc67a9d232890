// Made by src/c/generate.py from src/c/operations/reductions.json.
// clang-format off

#include <kaio/c/reductions.h>
#include <kaio/ops/histogram.hpp>
#include <kaio/ops/reduce.hpp>
#include <kaio/ops/scan.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::reduction::sum) == KAIO_REDUCTION_SUM);
static_assert(static_cast<int>(ops::reduction::mean) == KAIO_REDUCTION_MEAN);
static_assert(static_cast<int>(ops::reduction::max) == KAIO_REDUCTION_MAX);
static_assert(static_cast<int>(ops::reduction::min) == KAIO_REDUCTION_MIN);
static_assert(ops::reduce_options{}.axis == -1);
static_assert(ops::reduce_options{}.all == false);
static_assert(ops::scan_options{}.exclusive == false);
static_assert(ops::histogram_options{}.first == 0);
static_assert(ops::histogram_options{}.low == 0.0f);
static_assert(ops::histogram_options{}.high == 0.0f);
static_assert(ops::histogram_options{}.accumulate == false);

void read(call& in, const char* name, const kaio_reduce_options* given, ops::reduce_options& to) {
  kaio_reduce_options from = kaio_reduce_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  to.axis = from.axis;
  to.all = in.flag("all", from.all);
  in.zero("reserved_20", from.reserved_20);
  in.workspace("workspace", from.workspace, to.workspace);
}

void read(call& in, const char* name, const kaio_scan_options* given, ops::scan_options& to) {
  kaio_scan_options from = kaio_scan_options_default();
  in.take(name, given, &from, sizeof from);
  to.exclusive = in.flag("exclusive", from.exclusive);
  in.workspace("workspace", from.workspace, to.workspace);
}

void read(call& in, const char* name, const kaio_histogram_options* given, ops::histogram_options& to) {
  kaio_histogram_options from = kaio_histogram_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  to.first = from.first;
  to.low = from.low;
  to.high = from.high;
  to.accumulate = in.flag("accumulate", from.accumulate);
  in.zero("reserved_28", from.reserved_28);
  in.optional_tensor("outside", from.outside, {element::u32, 1, 1}, to.outside);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_reduce(void* stream_handle, int32_t how_given, const DLTensor* x_given,
                        const DLTensor* out_given, const kaio_reduce_options* options_given) {
  return guarded([&] {
    call in("reduce");
    ops::reduction how{};
    in.enumerated("how", how_given, 4, how);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 1, 5}, x);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 1, 5}, out);
    ops::reduce_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_reduce(stream, how, x, out, options);
    in.finish();
  });
}

kaio_status kaio_reduce_warmup(int32_t how_given, const DLTensor* x_given, const DLTensor* out_given,
                               const kaio_reduce_options* options_given) {
  return guarded([&] {
    call in("reduce_warmup");
    ops::reduction how{};
    in.enumerated("how", how_given, 4, how);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 1, 5}, x);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 1, 5}, out);
    ops::reduce_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_reduce(stream, how, x, out, options);
  });
}

kaio_status kaio_reduce_workspace_bytes(int32_t how_given, const DLTensor* x_given, const DLTensor* out_given,
                                        const kaio_reduce_options* options_given, uint64_t* bytes) {
  return guarded([&] {
    call in("reduce_workspace_bytes");
    in.need("bytes", bytes);
    ops::reduction how{};
    in.enumerated("how", how_given, 4, how);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 1, 5}, x);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 1, 5}, out);
    ops::reduce_options options;
    read(in, "options", options_given, options);
    *bytes = ops::detail::reduce_bytes({"reduce_workspace_bytes", x, out, &options, sizeof(float)});
  });
}

kaio_status kaio_scan(void* stream_handle, const DLTensor* x_given, const DLTensor* out_given,
                      const kaio_scan_options* options_given) {
  return guarded([&] {
    call in("scan");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::i32 | element::u32 | element::i64 | element::u64, 1, 5}, x);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::i32 | element::u32 | element::i64 | element::u64, 1, 5}, out);
    in.same_elements("out", out_given, "x", x_given);
    in.same_rank("out", out_given, "x", x_given, 0);
    ops::scan_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_scan(stream, x, out, options);
    in.finish();
  });
}

kaio_status kaio_scan_warmup(const DLTensor* x_given, const DLTensor* out_given,
                             const kaio_scan_options* options_given) {
  return guarded([&] {
    call in("scan_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::i32 | element::u32 | element::i64 | element::u64, 1, 5}, x);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::i32 | element::u32 | element::i64 | element::u64, 1, 5}, out);
    in.same_elements("out", out_given, "x", x_given);
    in.same_rank("out", out_given, "x", x_given, 0);
    ops::scan_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_scan(stream, x, out, options);
  });
}

kaio_status kaio_scan_workspace_bytes(const DLTensor* x_given, const DLTensor* out_given,
                                      const kaio_scan_options* options_given, uint64_t* bytes) {
  return guarded([&] {
    call in("scan_workspace_bytes");
    in.need("bytes", bytes);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::i32 | element::u32 | element::i64 | element::u64, 1, 5}, x);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::i32 | element::u32 | element::i64 | element::u64, 1, 5}, out);
    in.same_elements("out", out_given, "x", x_given);
    in.same_rank("out", out_given, "x", x_given, 0);
    ops::scan_options options;
    read(in, "options", options_given, options);
    *bytes = ops::detail::scan_bytes(x, out);
  });
}

kaio_status kaio_histogram(void* stream_handle, const DLTensor* x_given, const DLTensor* counts_given,
                           const kaio_histogram_options* options_given) {
  return guarded([&] {
    call in("histogram");
    ops::any_view x;
    in.tensor("x", x_given, {element::u8 | element::i32 | element::u32 | element::f32, 1, 5}, x);
    ops::any_view counts;
    in.tensor("counts", counts_given, {element::u32, 1, 1}, counts);
    ops::histogram_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    ops::detail::run_histogram(stream, x, counts, options);
    in.finish();
  });
}

kaio_status kaio_histogram_warmup(const DLTensor* x_given, const DLTensor* counts_given,
                                  const kaio_histogram_options* options_given) {
  return guarded([&] {
    call in("histogram_warmup");
    ops::any_view x;
    in.tensor("x", x_given, {element::u8 | element::i32 | element::u32 | element::f32, 1, 5}, x);
    ops::any_view counts;
    in.tensor("counts", counts_given, {element::u32, 1, 1}, counts);
    ops::histogram_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    ops::detail::run_histogram(stream, x, counts, options);
  });
}
}
