// Random programs in the floating types.
#include "tests/random/native/typed.hpp"

namespace kaio::tests::random {

template struct typed<f16>;
template struct typed<bf16>;
template struct typed<f32>;
template struct typed<f64>;

}  // namespace kaio::tests::random
