// The program of one family of kernels, and of all of them: kaio_kernels_<family> and kaio-kernels.
// `tools/kaio` has commands of its own to verify and to profile.

#include <kaio/tool/ptx_tool.hpp>

int main(int argc, char** argv) { return kaio::tool::run(argc, argv, {}); }
