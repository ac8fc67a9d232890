/* A program that was compiled against older headers, in which the structs of options had fewer fields: programs.py makes
 * them. The library takes defaults for the rest, and does not look at the memory after the caller's struct. */
#include "support.h"

typedef struct {
  kaio_matmul_options options;
  unsigned char after[256];
} followed;

int main(void) {
  float a_numbers[16], b_numbers[16], got[16];
  int i, row, column;
  owned a, b, c;
  followed given;
  DLDevice device;
  SUCCEEDS(kaio_device_open(NULL, &device));
  make(&a, device, type_of(kDLFloat, 32), 4, 4, -1);
  make(&b, device, type_of(kDLFloat, 32), 4, 4, -1);
  make(&c, device, type_of(kDLFloat, 32), 4, 4, -1);
  fill(&a, a_numbers, 1);
  fill(&b, b_numbers, 2);
  memset(&given, 0xff, sizeof given);
  given.options = kaio_matmul_options_default();
  CHECK(given.options.size == OLD_BYTES && sizeof(kaio_matmul_options) == OLD_BYTES);
  given.options.alpha = 3;
  SUCCEEDS(kaio_matmul(NULL, &a.tensor, &b.tensor, &c.tensor, &given.options));
  fetch(&c, got);
  for (row = 0; row < 4; ++row)
    for (column = 0; column < 4; ++column) {
      double sum = 0;
      for (i = 0; i < 4; ++i) sum += (double)a_numbers[row * 4 + i] * b_numbers[i * 4 + column];
      CHECK(!differ(got[row * 4 + column], 3 * sum));
    }
  release(&a);
  release(&b);
  release(&c);
  return finish();
}
