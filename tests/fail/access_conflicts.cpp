// A static_assert checks how many wavefronts bank conflicts cost.
// EXPECT: the columns of the tile share a bank
// EXPECT: 31 == 0
#include <kaio/kaio.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
constexpr u32 pitch = 33;
#else
constexpr u32 pitch = 32;
#endif

inline constexpr auto transpose =
    kernel<"transpose", block_size{32, 32}>([](thread t, in<f32> x, out<f32> y) {
      shared<f32, 32, pitch> tile(t);
      tile[thread_idx_y()][thread_idx_x()] = x[t.thread_rank()];
      t.barrier();
      y[t.thread_rank()] = tile[thread_idx_x()][thread_idx_y()];
    });
static_assert(transpose.bank_conflicts() == 0, "the columns of the tile share a bank");  // HERE
