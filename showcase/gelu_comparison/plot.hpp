#pragma once
// A picture of both activations, in SVG: the curves as the device computed them, and ten times their difference.

#include <kaio/kaio.hpp>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace kaio::showcase {

class curve_picture {
 public:
  // The part of the plane that the picture shows.
  curve_picture(double left, double right, double bottom, double top)
      : left_(left), right_(right), bottom_(bottom), top_(top) {
    line(left, 0, right, 0, "#888");
    line(0, bottom, 0, top, "#888");
    for (int x = -3; x <= 3; ++x) label(x, -0.12, std::to_string(x));
    for (int y = 1; y <= 3; ++y) label(-0.1, y - 0.04, std::to_string(y));
  }

  void curve(const std::vector<double>& x, const std::vector<double>& y, const char* colour,
             const char* name) {
    body_ += "<polyline fill='none' stroke-width='2' stroke='" + std::string(colour) + "' points='";
    for (std::size_t i = 0; i < x.size(); ++i) body_ += place(x[i], ',', y[i]) + ' ';
    body_ += "'/>\n";
    const double row = top_ - 0.2 * ++curves_;
    line(left_ + 0.2, row + 0.04, left_ + 0.5, row + 0.04, colour);
    label(left_ + 0.6, row, name, "start");
  }

  bool write(const char* file) const {
    std::FILE* const out = std::fopen(file, "w");
    if (out == nullptr) return false;
    const int written = std::fprintf(out,
                                     "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' "
                                     "font-family='sans-serif' font-size='14'>\n"
                                     "<rect width='100%%' height='100%%' fill='white'/>\n%s</svg>\n",
                                     width, height, body_.c_str());
    return std::fclose(out) == 0 && written > 0;
  }

 private:
  static constexpr int width = 720, height = 480;

  std::string place(double x, char between, double y) const {
    return std::to_string((x - left_) / (right_ - left_) * width) + between +
           std::to_string((top_ - y) / (top_ - bottom_) * height);
  }
  void line(double x0, double y0, double x1, double y1, const char* colour) {
    body_ += "<path stroke='" + std::string(colour) + "' d='M" + place(x0, ' ', y0) + "L" +
             place(x1, ' ', y1) + "'/>\n";
  }
  void label(double x, double y, const std::string& text, const char* anchor = "middle") {
    const std::string at = place(x, ' ', y);
    const std::size_t space = at.find(' ');
    body_ += "<text x='" + at.substr(0, space) + "' y='" + at.substr(space + 1) + "' text-anchor='" + anchor +
             "'>" + text + "</text>\n";
  }

  double left_, right_, bottom_, top_;
  int curves_ = 0;
  std::string body_;
};

}  // namespace kaio::showcase
