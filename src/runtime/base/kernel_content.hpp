#pragma once
// The identity of a kernel, copied from an image: the hash of its text, its name, parameters, block and needs. The
// image may be unmapped meanwhile. A later image with the same content is the same kernel.
//
//   const kernel_content content(kernel);
//   content.is_of(other, ptx::hash_of_text(other))     // some nanoseconds, the hash aside

#include <kaio/ptx/kernel_image.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace kaio::runtime {

class kernel_content {
 public:
  // The image's counts must be true: check_image of validate.hpp.
  explicit kernel_content(const ptx::kernel_image& kernel)
      : hash_(ptx::hash_of_text(kernel)),
        block_(kernel.block),
        needs_(kernel.needs),
        name_(kernel.name),
        parameters_(kernel.parameters, kernel.parameters + kernel.parameter_count) {}

  // `hash` is that of the image's text. An image with counts but no data matches no kernel.
  bool is_of(const ptx::kernel_image& kernel, const ptx::text_hash& hash) const noexcept {
    return hash_ == hash && block_ == kernel.block && needs_ == kernel.needs && name_ == kernel.name &&
           parameters_.size() == kernel.parameter_count &&
           (parameters_.empty() || kernel.parameters != nullptr) &&
           (kernel.statement_count == 0 || kernel.statements != nullptr) &&
           std::equal(parameters_.begin(), parameters_.end(), kernel.parameters);
  }
  friend bool operator==(const kernel_content&, const kernel_content&) = default;
  const ptx::text_hash& hash() const noexcept { return hash_; }

 private:
  ptx::text_hash hash_;
  ptx::dim3 block_;
  ptx::needs needs_;
  std::string name_;
  std::vector<ptx::parameter> parameters_;
};

}  // namespace kaio::runtime
