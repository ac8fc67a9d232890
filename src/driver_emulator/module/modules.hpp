#pragma once
// Code: from an image to a module in a context, and the functions of a module.

#include "driver_emulator/module/jit_options.hpp"
#include "driver_emulator/state/objects.hpp"

#include <string>
#include <string_view>

namespace kaio::driver_emulator {

// Throws failure: not valid PTX, or not for this device. The options' log has the reason; without a log, the
// standard error stream has it.
emulator::module compile(const std::string& text, const device& for_device, jit_options& options);

std::shared_ptr<loaded_module> find_module(CUmodule handle);
// Makes a module of the code in the context.
CUmodule load_module(context& c, const emulator::module& code);
// The function of that name; it has one handle as long as the module is loaded. Throws failure: not found.
CUfunction function_of(const std::shared_ptr<loaded_module>& m, std::string_view name);
// Finds a function by its handle. The handle of a library's kernel means its function in the current context.
// Throws failure.
std::shared_ptr<function> find_function(CUfunction handle);
std::shared_ptr<kernel> find_kernel(CUkernel handle);
// The module of a library in a context; it is made when it is first asked for.
std::shared_ptr<loaded_module> module_of(library& l, context& c);

// Threads that a block of the kernel may have, and registers that are reported for one.
int most_threads(const emulator::entry& e, const emulator::architecture& a);
int registers_of(const emulator::entry& e, const emulator::architecture& a);
int attribute_of(const function& f, CUfunction_attribute attribute);
void set_attribute(function& f, CUfunction_attribute attribute, int value);

}  // namespace kaio::driver_emulator
