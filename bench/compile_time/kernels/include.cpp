// The headers alone.
#include <kaio/kaio.hpp>
int main() {}
