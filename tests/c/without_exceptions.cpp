// The C interface in a C++17 program that is compiled without exceptions and RTTI: one product and one refused call.
#include "support.h"

int main() {
  float a_numbers[12], b_numbers[8], got[6];
  DLDevice device;
  owned a, b, c;
  SUCCEEDS(kaio_device_open(nullptr, &device));
  make(&a, device, type_of(kDLFloat, 32), 3, 4, -1);
  make(&b, device, type_of(kDLFloat, 32), 4, 2, -1);
  make(&c, device, type_of(kDLFloat, 32), 3, 2, -1);
  fill(&a, a_numbers, 1);
  fill(&b, b_numbers, 2);
  kaio_matmul_options options = kaio_matmul_options_default();
  options.activation = KAIO_MATMUL_ACTIVATION_SILU;
  SUCCEEDS(kaio_matmul(nullptr, &a.tensor, &b.tensor, &c.tensor, &options));
  fetch(&c, got);
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 2; ++column) {
      double sum = 0;
      for (int i = 0; i < 4; ++i) sum += double{a_numbers[row * 4 + i]} * double{b_numbers[i * 2 + column]};
      CHECK(!differ(got[row * 2 + column], sum / (1 + exp(-sum))));
    }
  REFUSED(kaio_matmul(nullptr, &a.tensor, &a.tensor, &c.tensor, &options), "matmul", "argument b");
  release(&a);
  release(&b);
  release(&c);
  return finish();
}
