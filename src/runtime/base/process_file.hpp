#pragma once
// Files that each process has one of.
//
//   process_file("trace-%p.json")   ->   trace-4711.json

#include <string>

namespace kaio::runtime {

int process_number() noexcept;
// The name with the number of this process in place of each %p.
std::string process_file(std::string name);

}  // namespace kaio::runtime
