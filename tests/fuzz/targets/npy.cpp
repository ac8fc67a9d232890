// Hostile .npy files: the reader answers with an array that has the elements of its shape, or with an error
// that names the file.

#include "tools/program/npy.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace npy = kaio::tools::npy;
  const auto own = std::make_unique<std::byte[]>(size);
  if (size != 0) std::memcpy(own.get(), data, size);
  try {
    const npy::array a = npy::parse({own.get(), size}, "x.npy");
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : a.shape) elements *= extent;
    if (a.elements() != elements || a.data.size() > size) std::abort();
  } catch (const std::runtime_error& e) {
    if (std::string_view(e.what()).find("kaio: 'x.npy' ") != 0) std::abort();
  }
  return 0;
}
