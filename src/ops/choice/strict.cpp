#include "ops/choice/strict.hpp"

namespace kaio::ops::detail {

std::string refused_strictly(const runtime::error& e, const device_properties& by) {
  return std::string(e.message()) + " (on sm_" + std::to_string(by.target.sm) +
         (by.target.arch_specific ? "a" : "") + ", which KAIO_STRICT names)";
}

}  // namespace kaio::ops::detail
