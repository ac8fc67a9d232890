#pragma once
// In place of kaio/dsl/kernel/compilation.hpp in the libraries: their kernels' images are in a file that the
// program of the family has written (images/write_images.hpp), and are found by the linker. Its folder comes
// first in the include path.

#include <kaio/dsl/kernel/launch.hpp>

#include "images/linked_image.hpp"
#include "images/not_evaluated.hpp"

// The definitions are in another file.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif

namespace kaio::dsl {

template <fixed_string Name, block_size, kernel_options, class, class...>
struct compilation {
  static constexpr const ptx::kernel_image& image = images::linked_image<Name>::value;
};

}  // namespace kaio::dsl

#ifdef __clang__
#pragma clang diagnostic pop
#endif
