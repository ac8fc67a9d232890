// A program that lists the kernels of an operation never launches them, and is linked without the emulator.

#include <kaio/runtime/error.hpp>

#include <memory>

#include "runtime/base/backend.hpp"

std::unique_ptr<kaio::runtime::backend> kaio::runtime::open_emulator_backend(ptx::target, int) {
  throw unsupported_device("kaio: this program is linked without the emulator; it only lists kernels");
}
