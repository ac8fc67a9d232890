// The program of one family of the operations' kernels, which it traces when it runs. It prints them as every
// program of kaio/tool/ptx_tool.hpp, and writes their images for the library:
//
//   kaio_kernels_w4 images w4 build/images/w4     w4.cpp and w4.packed

#include <kaio/tool/ptx_tool.hpp>

#include <exception>
#include <iostream>
#include <string_view>

#include "images/write_images.hpp"

int main(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != "images") return kaio::tool::run(argc, argv, {});
  if (argc != 4) {
    std::cerr << "usage: " << argv[0] << " images FAMILY PREFIX\n";
    return 2;
  }
  try {
    kaio::images::write_images(argv[2], kaio::tool::all_images(), argv[3]);
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
