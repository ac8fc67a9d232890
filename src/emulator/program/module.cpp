#include "emulator/program/module.hpp"

#include <utility>

namespace kaio::emulator {

module::module(std::string text, const architecture& device, decoded_module decoded) {
  contents c{std::move(text), {0}, device, std::move(decoded)};
  for (std::size_t at = c.text.find('\n'); at != std::string::npos; at = c.text.find('\n', at + 1))
    c.line_starts.push_back(at + 1);
  contents_ = std::make_shared<const contents>(std::move(c));
}

const entry* module::find(std::string_view kernel) const {
  for (const entry& e : contents_->decoded.entries)
    if (e.name == kernel) return &e;
  return nullptr;
}

std::string_view module::line(u32 number) const {
  const auto& starts = contents_->line_starts;
  if (number == 0 || number > starts.size()) return {};
  const std::size_t first = starts[number - 1];
  const std::size_t last = number < starts.size() ? starts[number] - 1 : contents_->text.size();
  return std::string_view(contents_->text).substr(first, last - first);
}

}  // namespace kaio::emulator
