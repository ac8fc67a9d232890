// over(n) counts threads along x; a block of two dimensions means something else.
// EXPECT: kaio: over(n) is for blocks of one dimension
#include <kaio/kaio.hpp>
using namespace kaio;

inline constexpr auto clear = kernel<"clear", block_size{16, 16}>([](thread, out<f32> y) {
  val column = block_idx_x() * 16 + thread_idx_x();
  val row = block_idx_y() * 16 + thread_idx_y();
  y[row * 64 + column] = 0.0f;
});

#ifdef KAIO_FIXED
void run(stream& s, buffer<f32>& y) { clear.launch(s, grid(4, 4), y); }
#else
void run(stream& s, buffer<f32>& y) { clear.launch(s, over(4096), y); }
#endif
