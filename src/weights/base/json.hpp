#pragma once
// JSON text as a tree: all members in their order, whole numbers exact, nesting bounded.

#include <cstddef>
#include <cstdint>
#include <map>
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
  std::uint64_t number = 0;      // of a negative number: its magnitude
  double real = 0;               // of a number of another kind
  std::string text = {};         // of a string
  std::vector<json> items = {};  // of an array
  std::vector<std::pair<std::string, json>> members =
      {};  // of an object, in its order; a key may occur twice

  bool is_object() const noexcept { return is == kind::object; }
  bool is_array() const noexcept { return is == kind::array; }
  bool is_string() const noexcept { return is == kind::string; }
  bool is_unsigned() const noexcept { return is == kind::unsigned_number; }
  // The last member of that name, as in Python; null: there is none, or this is no object.
  const json* find(std::string_view key) const noexcept;
  // The member's text, number or truth; `otherwise`, if it is of another kind.
  std::string_view text_of(std::string_view key, std::string_view otherwise = {}) const noexcept;
  std::uint64_t number_of(std::string_view key, std::uint64_t otherwise) const noexcept;
  bool truth_of(std::string_view key, bool otherwise) const noexcept;
  // Takes a number of any kind.
  double real_of(std::string_view key, double otherwise) const noexcept;
};

// The members of an object by their names; of several with one name, the last.
std::map<std::string_view, const json*> by_name(const json& object);

// What is accepted besides RFC 8259, and what is not.
enum class json_dialect : std::uint8_t {
  // serde_json 1.0, with which safetensors reads headers: at most 127 levels, no number beyond those of f64, no unpaired
  // surrogates.
  serde,
  // Python's json, with which transformers reads configurations: NaN, Infinity and -Infinity, numbers of any size,
  // unpaired surrogates (U+FFFD here); at most 900 levels.
  python
};

// The message is the end of a sentence: "is no JSON ...".
struct json_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws json_error.
json parse_json(std::string_view text, json_dialect dialect);

}  // namespace kaio::weights
