// Writes the PTX of the twelve kernels to a folder: `instructions DIR`; then compare.py.
#include "bench/instructions/kernels.hpp"

#include <boost/hana/for_each.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: instructions DIR; then bench/instructions/compare.py --ptx DIR\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = words[1];
  std::filesystem::create_directories(folder);
  bool written = true;
  boost::hana::for_each(kaio::bench::instruction_kernels, [&](const auto& kernel) {
    std::ofstream out(folder / (std::string(kernel.name()) + ".ptx"), std::ios::binary);
    for (const std::string_view segment : kernel.ptx()) out << segment;
    written = written && out.good();
  });
  if (!written) std::fprintf(stderr, "kaio: could not write to %s\n", words[1]);
  return written ? 0 : 1;
}
