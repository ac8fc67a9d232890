// Random programs in the unsigned integers.
#include "tests/random/native/typed.hpp"

namespace kaio::tests::random {

template struct typed<u8>;
template struct typed<u16>;
template struct typed<u32>;
template struct typed<u64>;

}  // namespace kaio::tests::random
