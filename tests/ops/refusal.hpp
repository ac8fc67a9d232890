#pragma once
// Calls that must be refused.

#include "catch.hpp"

#include <kaio/kaio.hpp>

#include <functional>
#include <string>

namespace kaio::tests {

// f throws an error of this code whose text begins with `beginning` and has `part`.
inline void require_refusal(errc code, const std::string& beginning, const std::string& part,
                            const std::function<void()>& f) {
  CAPTURE(part);
  bool thrown = false;
  try {
    f();
  } catch (const error& e) {
    thrown = true;
    CAPTURE(e.message());
    REQUIRE(e.code() == code);
    REQUIRE(std::string(e.message()).rfind(beginning, 0) == 0);
    REQUIRE(std::string(e.message()).find(part) != std::string::npos);
  }
  REQUIRE(thrown);
}

}  // namespace kaio::tests
