#pragma once
// Text escaped for JSON and HTML. Bytes that are not UTF-8, for example in a file name, are replaced.
//
//   json_writer w;
//   w.open('{').member("kernel", "saxpy").member("blocks", u64{4}).close('}');
//   w.text()   // {"kernel":"saxpy","blocks":4}

#include "emulator/program/scalar.hpp"

#include <string>
#include <string_view>

namespace kaio::emulator::profile {

// Escapes for an element's text or a quoted attribute.
std::string html_escaped(std::string_view text);
// Includes the quotes.
std::string json_string(std::string_view text);

class json_writer {
 public:
  json_writer& open(char bracket);   // { or [
  json_writer& close(char bracket);  // } or ]
  json_writer& key(std::string_view name);
  json_writer& value(std::string_view text);
  json_writer& value(const char* text) { return value(std::string_view(text)); }
  json_writer& value(u64 number);
  json_writer& value(double number);  // null if JSON cannot represent the number
  json_writer& null();
  template <class Value>
  json_writer& member(std::string_view name, const Value& v) {
    return key(name).value(v);
  }
  const std::string& text() const { return text_; }

 private:
  void separate();
  std::string text_;
  bool first_ = true;  // this bracket is empty so far, or a key was written
};

}  // namespace kaio::emulator::profile
