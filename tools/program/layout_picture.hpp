#pragma once
// Pictures of layouts: a matrix as a grid of its elements, each with a colour, a label and facts for programs
// that read the picture, written as SVG.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::tools {

// An element of a picture. Facts are `name="value"` pairs of numbers; the tip is the text that a viewer
// shows.
struct picture_cell {
  std::uint32_t row = 0, column = 0;
  std::string label, tip, facts;
  unsigned hue = 0;         // degrees
  unsigned lightness = 80;  // percent
};

struct picture {
  std::string title;
  std::vector<std::string> notes;  // lines below the title
  std::uint32_t rows = 0, columns = 0;
  std::uint32_t group_rows = 8, group_columns = 8;  // rows and columns between thicker lines
  std::vector<picture_cell> cells;
};

std::string svg(const picture& p);

// A layout that has a picture.
struct drawn_layout {
  std::string name;
  std::string description;
  picture (*draw)(const drawn_layout&);
};

// All of them: tiles in shared memory by type and layout, and the fragments of the matrix instructions.
std::vector<drawn_layout> drawn_layouts();

}  // namespace kaio::tools
