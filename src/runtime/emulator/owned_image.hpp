#pragma once
// A copy of a kernel's image without its text: what a replay of a graph needs after the image itself may be gone,
// for the C++ lines of a fault and the access of its parameters.

#include <kaio/ptx/kernel_image.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::runtime {

class owned_image {
 public:
  explicit owned_image(const ptx::kernel_image& kernel)
      : name_(kernel.name), parameters_(kernel.parameters, kernel.parameters + kernel.parameter_count) {
    ptx::with_text(kernel, [&](const ptx::kernel_image& whole) {
      statements_.assign(whole.statements, whole.statements + whole.statement_count);
      if (whole.statement_of_line != nullptr)
        lines_.assign(whole.statement_of_line, whole.statement_of_line + whole.line_count);
      for (ptx::source_line& s : statements_)  // a packed image has its names only within this call
        if (s.file != nullptr) s.file = files_.emplace(s.file).first->c_str();
    });
    image_ = kernel;
    image_.name = name_;
    image_.segments = nullptr;
    image_.segment_count = 0;
    image_.packed = nullptr;
    image_.unpack = nullptr;
    image_.parameters = parameters_.data();
    image_.statements = statements_.data();
    image_.statement_count = statements_.size();
    image_.statement_of_line = lines_.empty() ? nullptr : lines_.data();
    image_.line_count = lines_.size();
  }
  owned_image(const owned_image&) = delete;
  owned_image& operator=(const owned_image&) = delete;
  const ptx::kernel_image& get() const noexcept { return image_; }

 private:
  std::string name_;
  std::set<std::string, std::less<>> files_;
  std::vector<ptx::parameter> parameters_;
  std::vector<ptx::source_line> statements_;
  std::vector<std::uint16_t> lines_;
  ptx::kernel_image image_;
};

}  // namespace kaio::runtime
