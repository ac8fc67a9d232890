// Codes of four bits are packed into weights of four bits.
// EXPECT: kaio: repack: these tensors are packed into w4_weights; w8_weights are made of gptq_w8
#include <kaio/ops/matmul_w8.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
using weights = w4_weights;
#else
using weights = w8_weights;
#endif

void pack(const stream& s, const gptq_w4& source, const weights& w) {
  repack(s, source, w);  // HERE
}
