// A file of a user that has a kernel and does nothing with it.
#include "broken.hpp"

static_assert(add_all.block().x == 256);
