#pragma once
// JSON as the readers need it: every key once, unsigned numbers exact, nesting bounded.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kaio::weights {

struct json {
  enum class kind : std::uint8_t {
    null,
    boolean,
    unsigned_number,
    negative_number,
    other_number,
    string,
    array,
    object
  };

  kind is = kind::null;
  bool boolean = false;
  std::uint64_t number = 0;                                // of a negative number: how far below 0
  double real = 0;                                         // of a number of another kind
  std::string text = {};                                   // of a string
  std::vector<json> items = {};                            // of an array
  std::vector<std::pair<std::string, json>> members = {};  // of an object, in its order

  bool is_object() const noexcept { return is == kind::object; }
  bool is_array() const noexcept { return is == kind::array; }
  bool is_string() const noexcept { return is == kind::string; }
  bool is_unsigned() const noexcept { return is == kind::unsigned_number; }
  // A member of an object; null where there is none, or this is no object.
  const json* find(std::string_view key) const noexcept;
  // Its text, number or truth where it is of that kind, else what is given.
  std::string_view text_of(std::string_view key, std::string_view otherwise = {}) const noexcept;
  std::uint64_t number_of(std::string_view key, std::uint64_t otherwise) const noexcept;
  bool truth_of(std::string_view key, bool otherwise) const noexcept;
  // Of a number of any kind.
  double real_of(std::string_view key, double otherwise) const noexcept;
};

// The message is the end of a sentence: "is no JSON ...".
struct json_error : std::runtime_error {
  json_error(const std::string& what, std::string repeated, std::size_t objects)
      : std::runtime_error(what), key(std::move(repeated)), depth(objects) {}
  std::string key;        // the one that occurs twice, where that is the error,
  std::size_t depth = 0;  // in an object inside of so many others
};

// Throws json_error.
json parse_json(std::string_view text);

}  // namespace kaio::weights
