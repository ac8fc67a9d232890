#pragma once
// The error that a call throws, for the tests of errors.

#include <kaio/runtime/error.hpp>

#include <string>
#include <string_view>

#include "catch.hpp"

namespace kaio::tests {

// The code and the text of an error.
struct thrown {
  errc code{};
  std::string message;
  bool says(std::string_view part) const { return message.find(part) != std::string::npos; }
};

// Fails the test where the call throws nothing, or an error whose text does not start with `kaio: `.
template <class Call>
thrown catch_error(Call call) {
  try {
    call();
  } catch (const error& e) {
    CHECK(std::string_view(e.what()).starts_with("kaio: "));
    return {e.code(), e.what()};
  }
  FAIL("nothing was thrown");
  return {};
}

}  // namespace kaio::tests
