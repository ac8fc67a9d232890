// Random programs in the signed integers.
#include "tests/random/native/typed.hpp"

namespace kaio::tests::random {

template struct typed<i8>;
template struct typed<i16>;
template struct typed<i32>;
template struct typed<i64>;

}  // namespace kaio::tests::random
