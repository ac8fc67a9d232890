#pragma once
// A row of logits of f32, f16 or bf16, read in runs of eight at multiples of 16 bytes. Run r has elements
// 8 r - shift to 8 r - shift + 7, where `shift` is the number of elements from a multiple of 16 bytes to the
// row's first.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/sampling/common/weight.hpp>
#include <kaio/ops/shared/element_run.hpp>

namespace kaio::ops {

struct logits_row {
  val<u64> address;
  val<u32> shift, size;
  val<u32> log_bytes;            // of an element
  val<bool> is_single, is_half;  // else bf16

  // type: an element_type.
  static constexpr logits_row at(thread t, const val<u64>& address, const val<u32>& size,
                                 const val<u32>& type) {
    const val single = t.let(type == static_cast<u32>(element_type::f32));
    const val log_bytes = t.let(select(single, 2u, 1u));
    return {address, t.let(cast<u32>(address & u64{15}) >> log_bytes),  size, log_bytes,
            single,  t.let(type == static_cast<u32>(element_type::f16))};
  }
  constexpr val<f32> element(thread t, const val<u32>& i) const {
    var x(t, 0.0f);
    if (auto single = t.when(is_single)) x = pointer_at<inout<f32>>(t, address)[i];
    if (auto two_bytes = t.otherwise()) {
      const val bits = t.let(pointer_at<inout<u16>>(t, address)[i]);
      x = number_of(t, bits);
    }
    return t.let(x);
  }
  constexpr val<u64> place_of_run(thread t, const val<u32>& run) const {
    return t.let((address & ~u64{15}) + (cast<u64>(run) * u64{run_size} << log_bytes));
  }
  constexpr void fetch(thread t, const val<u32>& run) const {
    const val place = place_of_run(t, run);
    prefetch(pointer_at<inout<u32>>(t, place)[0], cache_level::l2);
  }
  // Elements outside of the row are -inf.
  template <class X>
  constexpr void load(thread t, const val<u32>& run, X& x) const {
    const val first = t.let(run * run_size - shift);
    const val inside = t.let(all_of(run * run_size >= shift, run * run_size + run_size <= shift + size));
    if (auto whole = t.when(inside)) {
      const val place = place_of_run(t, run);
      if (auto single = t.when(is_single)) {
        const auto memory = pointer_at<inout<f32x4>>(t, place);
        for (u32 half = 0; half < 2; ++half) {
          const val four = memory[half];
          for (u32 i = 0; i < 4; ++i) x[4 * half + i] = four[i];
        }
      }
      if (auto two_bytes = t.otherwise()) {
        const val words = pointer_at<inout<u32x4>>(t, place)[0];
        const auto read = [&]<class A>(A) {
          for (u32 i = 0; i < run_size; ++i) x[i] = detail::number_of_words<A>(t, words, i);
        };
        if (auto half = t.when(is_half)) read(detail::stored_f16{});
        if (auto brain = t.otherwise()) read(detail::stored_bf16{});
      }
    }
    if (auto edge = t.otherwise()) {
      for (auto i : t.range(0u, run_size).no_unroll()) {
        const val at = t.let(first + i);
        var one(t, minus_infinity);
        if (auto exists = t.when(at < size)) one = element(t, at);
        for (u32 e = 0; e < run_size; ++e) x[e] = select(i == e, one, x[e]);
      }
    }
  }

 private:
  constexpr val<f32> number_of(thread t, const val<u16>& bits) const {
    const val of_half = t.let(cast<f32>(bit_cast<f16>(bits)));
    const val of_brain = t.let(bit_cast<f32>(cast<u32>(bits) << 16));
    return t.let(select(is_half, of_half, of_brain));
  }
};

}  // namespace kaio::ops
