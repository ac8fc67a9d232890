// A picture as SVG: a frame with the numbers of rows and columns around a grid.

#include "tools/program/layout_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace kaio::tools {
namespace {

constexpr unsigned cell_width = 44, cell_height = 20, margin = 40, line_height = 18;
constexpr unsigned words_width = 860;

// The characters that mean something in XML.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  return result;
}

}  // namespace

std::string svg(const picture& p) {
  const auto top = static_cast<unsigned>(margin + line_height * (1 + p.notes.size()));
  const unsigned width = std::max(2 * margin + p.columns * cell_width, words_width);
  const unsigned height = top + margin + p.rows * cell_height;
  const auto left_of = [](std::uint32_t column) { return margin + column * cell_width; };
  const auto top_of = [&](std::uint32_t row) { return top + row * cell_height; };

  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(
      out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" data-rows=\"{2}\" data-columns=\"{3}\">\n<title>{4}</title>\n"
      "<style>text {{ font: 10px monospace; text-anchor: middle; }} .words {{ text-anchor: start; font-size: 13px; }} rect {{ stroke: #888; stroke-width: 0.5; }} "
      "line {{ stroke: #000; stroke-width: 1.5; }}</style>\n"
      "<path d=\"M0 0H{0}V{1}H0Z\" fill=\"#fff\"/>\n",
      width, height, p.rows, p.columns, escaped(p.title));
  unsigned y = line_height + 4;
  fmt::format_to(out, "<text class=\"words\" font-weight=\"bold\" x=\"{}\" y=\"{}\">{}</text>\n", margin, y,
                 escaped(p.title));
  for (const std::string& note : p.notes)
    fmt::format_to(out, "<text class=\"words\" x=\"{}\" y=\"{}\">{}</text>\n", margin, y += line_height,
                   escaped(note));
  for (std::uint32_t c = 0; c < p.columns; ++c)
    fmt::format_to(out, "<text x=\"{}\" y=\"{}\">{}</text>\n", left_of(c) + cell_width / 2, top - 5, c);
  for (std::uint32_t r = 0; r < p.rows; ++r)
    fmt::format_to(out, "<text x=\"{}\" y=\"{}\">{}</text>\n", margin / 2, top_of(r) + cell_height - 6, r);
  for (const picture_cell& c : p.cells)
    fmt::format_to(
        out,
        "<g data-row=\"{}\" data-column=\"{}\" {}><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"hsl({},70%,{}%)\"/><text x=\"{}\" y=\"{}\">{}</text></g>\n",
        c.row, c.column, c.facts, escaped(c.tip), left_of(c.column), top_of(c.row), cell_width, cell_height,
        c.hue, c.lightness, left_of(c.column) + cell_width / 2, top_of(c.row) + cell_height - 6,
        escaped(c.label));
  for (std::uint32_t r = 0; r <= p.rows; r += p.group_rows)
    fmt::format_to(out, "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", left_of(0), top_of(r),
                   left_of(p.columns), top_of(r));
  for (std::uint32_t c = 0; c <= p.columns; c += p.group_columns)
    fmt::format_to(out, "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", left_of(c), top_of(0),
                   left_of(c), top_of(p.rows));
  text += "</svg>\n";
  return text;
}

}  // namespace kaio::tools
