#include "ops/weight_only/common/order_x.hpp"

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

namespace {

constexpr u32 threads = 128, piece = 8;  // elements of 16 bits per thread

// Permutes the columns of x, with zeros beyond K. Launched with a thread for each piece; programmatic from
// sm_90 on.
template <std::uint32_t Sm>
constexpr auto order_columns =
    kaio::kernel<"matmul_w4_order_x_sm" + decimal<Sm>, threads, kernel_options{.target = {Sm, false}}>(
        [](thread t, val<w4_ordered_x> problem) {
          if constexpr (Sm >= 90) {
            launch_dependents(t);
            grid_dependency_wait(t);
          }
          const val k = t.let(problem[&w4_ordered_x::k]);
          const val index = t.global_id();
          const quotient place = divide(t, index, problem[&w4_ordered_x::pieces]);
          const val row = t.let(place.whole), at = t.let(place.rest * piece);
          if (auto exists = t.when(row < problem[&w4_ordered_x::m])) {
            const in act_order = pointer_at<in<i32>>(t, t.let(problem[&w4_ordered_x::act_order]));
            const val line = t.let(cast<i64>(row) * problem[&w4_ordered_x::x_row]);
            const in x =
                pointer_at<in<u16>>(t, t.let(problem[&w4_ordered_x::x] + cast<u64>(line) * u64{sizeof(u16)}));
            const auto column = array_of<piece>(
                [&](u32 e) { return t.let(cast<u32>(act_order[t.let(min(at + e, k - 1u))])); });
            const auto own = array_of<piece>([&](u32 e) { return t.let(cast<u32>(x[column[e]])); });
            const auto pairs = array_of<piece / 2>([&](u32 w) {
              const val low = t.let(select(at + 2 * w < k, own[2 * w], 0u));
              const val high = t.let(select(at + (2 * w + 1) < k, own[2 * w + 1], 0u));
              return t.let(low | high << 16);
            });
            const out to = pointer_at<out<u32x4>>(t, t.let(problem[&w4_ordered_x::out]));
            const val piece_of_out =
                t.let(cast<u64>(row) * cast<u64>(problem[&w4_ordered_x::pieces][&divisor::value]) +
                      cast<u64>(place.rest));
            to[piece_of_out] = make_vec(pairs[0], pairs[1], pairs[2], pairs[3]);
          }
        });

}  // namespace

const ptx::kernel_image& order_w4_x_image(const device_properties& device) {
  return device.target.sm >= 90 ? order_columns<90>.image() : order_columns<70>.image();
}

void run_order_w4_x(const stream& s, const w4_ordered_x& problem) {
  const u64 all = u64{problem.m} * problem.pieces.value;
  const grid blocks((all + threads - 1) / threads);
  if (s.properties().target.sm >= 90)
    order_columns<90>.launch(s, blocks.programmatic(), problem);
  else
    order_columns<70>.launch(s, blocks, problem);
}

void list_order_w4_x_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&order_columns<70>.image());
  list.push_back(&order_columns<90>.image());
}

}  // namespace kaio::ops
