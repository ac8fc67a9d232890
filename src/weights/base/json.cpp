#include "weights/base/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"

namespace kaio::weights {
namespace {

using kind = json::kind;

// Receives the parser's events and makes the tree. nlohmann's own tree takes the last of two equal keys
// without a word, and its destructor and ours go down into the nesting, which therefore has a bound.
class builder {
 public:
  static constexpr std::size_t deepest = 64;

  bool null() { return add({}); }
  bool boolean(bool value) { return add({.is = kind::boolean, .boolean = value}); }
  bool number_integer(std::int64_t value) {
    return add({.is = kind::negative_number, .number = 0 - static_cast<std::uint64_t>(value)});
  }
  bool number_unsigned(std::uint64_t value) { return add({.is = kind::unsigned_number, .number = value}); }
  bool number_float(double value, const std::string&) {
    return add({.is = kind::other_number, .real = value});
  }
  bool string(std::string& value) { return add({.is = kind::string, .text = std::move(value)}); }
  bool binary(std::vector<std::uint8_t>&) { return false; }
  bool start_object(std::size_t) { return start(kind::object); }
  bool start_array(std::size_t) { return start(kind::array); }
  bool key(std::string& name) {
    open_.back().members.emplace_back(std::move(name), json{});
    return true;
  }
  bool end_object() {
    std::vector<std::string_view> keys;
    for (const auto& [name, value] : open_.back().members) keys.push_back(name);
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice != keys.end()) {
      repeated_ = std::string(*twice);
      depth_ = open_.size() - 1;
      return refuse(runtime::text("has the key '", repeated_, "' twice"));
    }
    return end();
  }
  bool end_array() { return end(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
    return refuse(runtime::text("is no JSON from its byte ", position, " on"));
  }

  json result() {
    if (!problem_.empty()) throw json_error(problem_, repeated_, depth_);
    return std::move(root_);
  }

 private:
  bool refuse(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }
  bool add(json value) {
    if (open_.empty())
      root_ = std::move(value);
    else if (open_.back().is_object())
      open_.back().members.back().second = std::move(value);
    else
      open_.back().items.push_back(std::move(value));
    return true;
  }
  bool start(kind is) {
    if (open_.size() == deepest) return refuse("is nested more than 64 levels deep");
    open_.push_back({.is = is});
    return true;
  }
  bool end() {
    json done = std::move(open_.back());
    open_.pop_back();
    return add(std::move(done));
  }

  json root_;
  std::vector<json> open_;  // what has begun and not ended, from the outside in
  std::string problem_, repeated_;
  std::size_t depth_ = 0;
};

}  // namespace

const json* json::find(std::string_view key) const noexcept {
  for (const auto& [name, value] : members)
    if (name == key) return &value;
  return nullptr;
}

std::string_view json::text_of(std::string_view key, std::string_view otherwise) const noexcept {
  const json* const found = find(key);
  return found && found->is_string() ? std::string_view(found->text) : otherwise;
}

std::uint64_t json::number_of(std::string_view key, std::uint64_t otherwise) const noexcept {
  const json* const found = find(key);
  return found && found->is_unsigned() ? found->number : otherwise;
}

bool json::truth_of(std::string_view key, bool otherwise) const noexcept {
  const json* const found = find(key);
  return found && found->is == kind::boolean ? found->boolean : otherwise;
}

double json::real_of(std::string_view key, double otherwise) const noexcept {
  const json* const found = find(key);
  if (!found) return otherwise;
  switch (found->is) {
    case kind::unsigned_number: return static_cast<double>(found->number);
    case kind::negative_number: return -static_cast<double>(found->number);
    case kind::other_number: return found->real;
    default: return otherwise;
  }
}

json parse_json(std::string_view text) {
  builder made;
  nlohmann::json::sax_parse(text.begin(), text.end(), &made);
  return made.result();
}

}  // namespace kaio::weights
