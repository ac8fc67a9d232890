/* The headers of the C interface, for a compiler in MSVC's dialect: `clang -fms-compatibility -fsyntax-only`. */
#include <kaio/c/kaio.h>

int main(void) { return kaio_abi_version() == KAIO_ABI_VERSION ? 0 : 1; }
