#include "emulator/instructions/matrix/tile_sums.hpp"

#include "emulator/instructions/matrix/tensor_tile.hpp"

#include <atomic>

namespace kaio::emulator {
namespace {

// These loops take most of the time of emulated matrix products. Under clang's sanitizers and fuzzer they have
// no checks, which would make a test three times as slow. So they call no function.
#if defined(__clang__)
#define KAIO_UNCHECKED [[clang::no_sanitize("address", "undefined", "coverage")]]
#define KAIO_UNROLLED _Pragma("unroll")
#else
#define KAIO_UNCHECKED
#define KAIO_UNROLLED _Pragma("GCC unroll 32")
#endif

constexpr s32 exponent_of_zero = -8000;

#define KAIO_NAME portable_loops
#define KAIO_TARGET
#define KAIO_BYTES 16
#include "emulator/instructions/matrix/tile_loops.inl"
#undef KAIO_NAME
#undef KAIO_TARGET
#undef KAIO_BYTES

#if defined(__x86_64__)
#define KAIO_NAME avx2_loops
#define KAIO_TARGET [[gnu::target("avx2")]]
#define KAIO_BYTES 32
#include "emulator/instructions/matrix/tile_loops.inl"
#undef KAIO_NAME
#undef KAIO_TARGET
#undef KAIO_BYTES

#define KAIO_NAME avx512_loops
#define KAIO_TARGET [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]
#define KAIO_BYTES 64
#include "emulator/instructions/matrix/tile_loops.inl"
#undef KAIO_NAME
#undef KAIO_TARGET
#undef KAIO_BYTES
#endif

// The loops for one instruction set.
struct loops {
  void (*sum2)(const tile_sums&);
  void (*sum4)(const tile_sums&);
  void (*sum8)(const tile_sums&);
  void (*sum16)(const tile_sums&);
  void (*sum32)(const tile_sums&);
  exponent_range (*split[5])(const u32*, std::size_t, s32*, f32*);  // in the order of tensor_format
  void (*scale)(f32*, const s32*, std::size_t, s32);
};

template <class Set>
constexpr loops loops_of() {
  return {&Set::template sum<2>,
          &Set::template sum<4>,
          &Set::template sum<8>,
          &Set::template sum<16>,
          &Set::template sum<32>,
          {&Set::template split<0, 5, 10, true>, &Set::template split<0, 8, 7, true>,
           &Set::template split<13, 8, 10, true>, &Set::template split<0, 4, 3, false>,
           &Set::template split<0, 5, 2, true>},
          &Set::scale};
}

constexpr loops portable = loops_of<portable_loops>();
#if defined(__x86_64__)
constexpr loops avx2 = loops_of<avx2_loops>();
constexpr loops avx512 = loops_of<avx512_loops>();
#endif

// nullptr: the processor lacks them.
const loops* loops_for(loop_set set) {
#if defined(__x86_64__)
  if (set == loop_set::avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
               ? &avx512
               : nullptr;
  if (set == loop_set::avx2) return __builtin_cpu_supports("avx2") ? &avx2 : nullptr;
#endif
  return set == loop_set::portable ? &portable : nullptr;
}

std::atomic<const loops*>& chosen() {
  static std::atomic<const loops*> loops_in_use = [] {
    for (const loop_set set : {loop_set::avx512, loop_set::avx2})
      if (const loops* const found = loops_for(set)) return found;
    return &portable;
  }();
  return loops_in_use;
}

const loops& best_loops() { return *chosen().load(std::memory_order_relaxed); }

}  // namespace

exponent_range split_elements(tensor_format format, const u32* codes, std::size_t count, s32* exponent,
                              f32* significand) {
  return best_loops().split[static_cast<std::size_t>(format)](codes, count, exponent, significand);
}
void scale_values(f32* values, const s32* exponents, std::size_t count, s32 one) {
  best_loops().scale(values, exponents, count, one);
}

void sum_tile(const tile_sums& t, u32 group) {
  const loops& best = best_loops();
  switch (group) {
    case 2: return best.sum2(t);
    case 4: return best.sum4(t);
    case 8: return best.sum8(t);
    case 16: return best.sum16(t);
    default: return best.sum32(t);
  }
}

bool use_loops(loop_set set) {
  const loops* const found = loops_for(set);
  if (found != nullptr) chosen().store(found, std::memory_order_relaxed);
  return found != nullptr;
}

}  // namespace kaio::emulator
