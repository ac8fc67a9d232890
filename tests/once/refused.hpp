#pragma once
// The test of headers has to refuse this: an inline function that names a kernel.
#include <kaio/kaio.hpp>

namespace kaio::tests {

template <class T>
inline constexpr auto refused = kernel<"refused", 64>([](thread t, out<T> y) { y[t.global_id()] = T(1); });

inline const ptx::kernel_image& image_of_refused() { return refused<f32>.image(); }

}  // namespace kaio::tests
