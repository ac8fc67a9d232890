#pragma once
// A file with PTX, and the GPU that it is for.

#include "emulator/program/architecture.hpp"

#include <string>

namespace kaio::tools {

// The text of a file; - is the standard input. Throws usage_error: it cannot be read.
std::string read_text(const std::string& path);

// The GPU of that name, such as sm_90a. Without a name: that of KAIO_EMULATOR_ARCH, or else sm_90a or the newer one that the
// text is for. Throws usage_error: there is no such GPU; ptx_error: the text's header is not valid.
emulator::architecture architecture_for(const std::string& text, const std::string& name);

}  // namespace kaio::tools
