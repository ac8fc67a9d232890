// The driver's names without the driver, as the toolkit's stubs/libcuda.so: programs are linked with it, and none
// runs with it.

#define KAIO_DRIVER_FUNCTION(symbol, types) \
  extern "C" void symbol();                 \
  void symbol() {}
#include "driver_abi/functions.def"
