#pragma once
// A module that is ready to run: its decoded kernels and variables, with their text.

#include "emulator/program/architecture.hpp"
#include "emulator/program/program.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::emulator {

// It does not change, may be used by several threads at a time, and is cheap to copy.
class module {
 public:
  module(std::string text, const architecture& device, decoded_module decoded);

  // nullptr if there is no such kernel.
  const entry* find(std::string_view kernel) const;
  const decoded_module& decoded() const { return contents_->decoded; }
  const architecture& device() const { return contents_->device; }
  // A line of the text, counted from 1; empty outside the text.
  std::string_view line(u32 number) const;
  std::string_view text() const { return contents_->text; }

 private:
  struct contents {
    std::string text;
    std::vector<std::size_t> line_starts;
    architecture device;
    decoded_module decoded;
  };
  std::shared_ptr<const contents> contents_;
};

}  // namespace kaio::emulator
