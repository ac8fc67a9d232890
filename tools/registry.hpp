#pragma once
// Every kernel of the repository that `tools/kaio list` prints and ptxas assembles. A kernel that is in no
// list is not verified. A file of tools/registry/ lists one family, which is a program of its own: printing
// a kernel compiles its family alone. A file of src/ops that has kernels is a family without a file here.

#include <kaio/tool/ptx_tool.hpp>

#include <boost/hana/unpack.hpp>

namespace kaio::tools {

using tool::family;
using tool::image_list;
using tool::images;

// The images of the kernels of a Hana tuple.
template <class Kernels>
image_list images_in(const Kernels& kernels) {
  return boost::hana::unpack(kernels, [](const auto&... kernel) { return images(kernel...); });
}

}  // namespace kaio::tools
