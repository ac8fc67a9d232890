#pragma once
// Replaces kaio/dsl/kernel/compilation.hpp in the libraries. The program of the family has written the images of their
// kernels to a file (images/write_images.hpp), where the linker finds them. The folder of this header comes first in the
// include path.

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
