#pragma once
// Joins the PTX texts of separately compiled files into the text of one module, as a linker joins their objects:
// for cuLinkComplete, and for programs that nvcc built with -rdc=true.
//
//   std::string module = linked_text({text_of_kernels, text_of_functions});

#include <string>
#include <vector>

namespace kaio::driver_emulator {

// The directives of a module (.version, .target) are those of the first text. A declaration of what another text
// defines takes the linkage of that definition. Of several weak definitions the first stays. Names without linkage
// belong to their text, so that later texts get others for them. Lines of sources (.loc) stay in the first text alone.
std::string linked_text(const std::vector<std::string>& texts);

}  // namespace kaio::driver_emulator
