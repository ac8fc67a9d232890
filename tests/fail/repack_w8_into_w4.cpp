// Codes of eight bits are packed into weights of eight bits.
// EXPECT: kaio: repack: these tensors have codes of eight bits, which are packed into w8_weights
#include <kaio/ops/matmul_w8.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
using weights = w8_weights;
#else
using weights = w4_weights;
#endif

void pack(const stream& s, const gptq_w8& source, const weights& w) {
  repack(s, source, w);  // HERE
}
