// A format of the reader of files, where one of the operations is needed.
// EXPECT: kaio: dequantise takes a block_format; of a tensor of a file that is block_format_named(facts(tensor.format).name)
#include <kaio/ops/weight_only/dequantise.hpp>
#include <kaio/weights/weight_format.hpp>
using namespace kaio;

void read(const stream& s, tensor_view<const u8, 1> bytes, tensor_view<f32, 2> w) {
#ifdef KAIO_FIXED
  dequantise(s, block_format::q4_k, bytes, w);
#else
  dequantise(s, weights::weight_format::q4_k, bytes, w);
#endif
}
