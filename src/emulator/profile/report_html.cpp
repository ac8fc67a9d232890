// The profile as one HTML page: figures, the C++ lines, and the listing of each kernel. Bars show the cost of
// lines; marks show lines that were not executed. It has no scripts and loads nothing.

#include "emulator/profile/markup.hpp"
#include "emulator/profile/report.hpp"
#include "emulator/program/source_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::emulator::profile {
namespace {

constexpr std::size_t costly_rows = 5;
constexpr u32 shown_around = 24;  // lines without instructions shown between others

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --ink: #1c2430; --dim: #68727f; --paper: #ffffff; --soft: #f3f5f8;
  --rule: #d9dee5; --heat: 214, 93, 14; --sector: 22, 112, 190; --bank: 134, 70, 190; --gap: #c62f3b;
  --gap-paper: #fdecee; --part: #b58a00; --source: #0b6b4b; }
@media (prefers-color-scheme: dark) { :root { --ink: #dfe5ee; --dim: #8d98a8; --paper: #14181f;
  --soft: #1c222c; --rule: #313a47; --heat: 235, 138, 60; --sector: 90, 165, 235; --bank: 180, 135, 235;
  --gap: #ff7681; --gap-paper: #3a1d22; --part: #e0b93c; --source: #5fcaa2; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 110rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { margin: 2.5rem 0 0.3rem; font-size: 1.25rem; }
h3 { margin: 1.4rem 0 0.4rem; font-size: 1rem; }
p { margin: 0.3rem 0; } .dim, .dim td { color: var(--dim); }
nav a { margin-right: 1rem; } a { color: rgb(var(--sector)); }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; align-items: flex-start; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { text-align: right; color: var(--dim); font-weight: 500; border-bottom: 1px solid var(--rule); }
th, td { padding: 0.12rem 0.6rem; white-space: nowrap; } td { text-align: right; }
th:first-child, td:first-child, .text { text-align: left; }
.wide { overflow-x: auto; }
.listing { width: 100%; font: 13px/1.4 ui-monospace, monospace; }
.listing th { position: sticky; top: 0; background: var(--paper); }
.listing td { padding-top: 0.05rem; padding-bottom: 0.05rem; }
.listing td:first-child { text-align: right; color: var(--dim); border-left: 4px solid transparent; }
.text { white-space: pre; width: 100%; } td.note { text-align: left; color: var(--dim); }
tr.gap td { background: var(--gap-paper); } tr.gap td:first-child { border-left-color: var(--gap); }
tr.part td:first-child { border-left-color: var(--part); }
tr.source td { background: var(--soft); color: var(--source); }
.bar { min-width: 6rem; background-repeat: no-repeat; background-position: right; }
summary { cursor: pointer; color: var(--dim); margin: 0.6rem 0; }
.legend span { margin-right: 1.2rem; }
.mark { display: inline-block; width: 0.5rem; height: 0.9rem; vertical-align: -0.1rem; }
)";

// A cell with a bar in its background. The bar's length is the share, which the text gives too.
std::string bar_cell(std::string_view text, double share, std::string_view colour) {
  if (text.empty()) return "<td></td>";
  const double width = std::clamp(share, 0.0, 1.0) * 100;
  return fmt::format(
      "<td class=\"bar\" style=\"background-image: linear-gradient(rgba(var(--{0}), 0.38), rgba(var(--{0}), 0.38)); background-size: {1:.1f}% 100%\">{2}</td>",
      colour, width, text);
}

std::string cell(std::string_view text, std::string_view of_class = "") {
  if (of_class.empty()) return fmt::format("<td>{}</td>", text);
  return fmt::format("<td class=\"{}\">{}</td>", of_class, text);
}

access_counters both(const access_counters& a, const access_counters& b) {
  access_counters sum = a;
  sum += b;
  return sum;
}

class html_page {
 public:
  std::string page(const std::list<kernel_profile>& kernels) {
    out_ =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>kaio profile";
    if (kernels.size() == 1) out_ += ": " + html_escaped(kernels.front().name);
    out_ += "</title>\n<style>";
    out_ += style;
    out_ += "</style>\n</head>\n<body>\n<h1>kaio profile</h1>\n";
    if (kernels.empty()) out_ += "<p>No kernel was launched.</p>\n";
    if (kernels.size() > 1) contents(kernels);
    std::size_t number = 0;
    for (const kernel_profile& p : kernels) kernel(summarise(p), ++number);
    out_ += "</body>\n</html>\n";
    return std::move(out_);
  }

 private:
  void contents(const std::list<kernel_profile>& kernels) {
    out_ += "<nav>";
    std::size_t number = 0;
    for (const kernel_profile& p : kernels)
      out_ += fmt::format("<a href=\"#kernel-{}\">{}</a> ", ++number, html_escaped(p.name));
    out_ += "</nav>\n";
  }

  void kernel(const summary& s, std::size_t number) {
    const kernel_profile& p = s.of;
    out_ += fmt::format("<section>\n<h2 id=\"kernel-{}\">{}</h2>\n<p>", number, html_escaped(p.name));
    out_ += fmt::format("sm_{}{}, {} launch{}, {} blocks, {} warps", p.program.device().sm,
                        p.program.device().arch_specific ? "a" : "", grouped(p.launches),
                        p.launches == 1 ? "" : "es", grouped(p.blocks), grouped(p.warps));
    if (p.faulted != 0) out_ += fmt::format("; {} ended with a fault", grouped(p.faulted));
    out_ += "</p>\n";
    costly(s);
    out_ += "<div class=\"figures\">\n";
    instructions(s);
    memory(s);
    coverage_and_occupancy(s);
    out_ += "</div>\n";
    source(s);
    listing(s);
    out_ += "</section>\n";
  }

  void head(std::initializer_list<std::string_view> titles) {
    out_ += "<tr>";
    for (const std::string_view title : titles) out_ += fmt::format("<th>{}</th>", title);
    out_ += "</tr>\n";
  }

  void costly(const summary& s) {
    if (s.cost <= 0) return;
    out_ += "<h3>Most costly lines, by an estimate of their issue slots</h3>\n<div class=\"wide\"><table>\n";
    head({"share", "line", "", ""});
    for (std::size_t k = 0; k < std::min(costly_rows, s.costly.size()); ++k) {
      const line_figures& line = *s.costly[k];
      if (line.cost <= 0) break;
      out_ += "<tr>" + bar_cell(percent(line.cost / s.cost), line.cost / s.cost, "heat") +
              cell(std::to_string(line.number)) + cell(html_escaped(trimmed(line.text)), "text") +
              cell(html_escaped(remarks(line)), "note") + "</tr>\n";
    }
    out_ += "</table></div>\n";
  }

  void instructions(const summary& s) {
    out_ += "<div><h3>Instructions</h3>\n<table>\n";
    head({"", "by warps", "", "by threads"});
    out_ += "<tr><td>all</td>" + cell(grouped(s.all.executions)) + cell("") + cell(grouped(s.all.executed)) +
            "</tr>\n";
    for (std::size_t c = 0; c < instruction_classes; ++c) {
      if (s.classes[c].warps == 0) continue;
      const double share = share_of(s.classes[c].warps, s.all.executions);
      out_ += fmt::format("<tr><td>{}</td>", name_of(static_cast<instruction_class>(c))) +
              cell(grouped(s.classes[c].warps)) + bar_cell(percent(share), share, "heat") +
              cell(grouped(s.classes[c].lanes)) + "</tr>\n";
    }
    out_ += "</table>\n";
    out_ += fmt::format("<p>{} of the lanes are active, {} of those pass the guard.</p>\n",
                        percent(share_of(s.all.active, s.all.executions * warp_lanes)),
                        percent(share_of(s.all.executed, s.all.active)));
    if (s.branch.executions != 0)
      out_ += fmt::format("<p>Warps part in {} of {} branches.</p>\n", grouped(s.branch.divergent),
                          grouped(s.branch.executions));
    if (s.of.barriers != 0) out_ += fmt::format("<p>{} barriers of a block.</p>\n", grouped(s.of.barriers));
    out_ += "</div>\n";
  }

  void memory(const summary& s) {
    out_ += "<div><h3>Memory</h3>\n<table>\n";
    head({"", "requests", "sectors or wavefronts", "a request", "ideal", "worst", "bytes asked", "of use"});
    for (std::size_t place = 0; place < memory_places; ++place)
      for (std::size_t direction = 0; direction < access_directions; ++direction) {
        const access_counters& c = s.memory[place][direction];
        if (c.requests == 0) continue;
        const auto where = static_cast<memory_place>(place);
        const bool shared = where == memory_place::shared || where == memory_place::cluster;
        const double use = share_of(c.ideal, c.transactions);
        out_ += fmt::format("<tr><td>{} {}</td>", name_of(where),
                            name_of(static_cast<access_direction>(direction)));
        out_ += cell(grouped(c.requests)) + cell(grouped(c.transactions)) +
                cell(ratio(c.transactions, c.requests)) + cell(ratio(c.ideal, c.requests)) +
                cell(grouped(c.worst)) + cell(grouped(c.bytes)) +
                bar_cell(percent(use), use, shared ? "bank" : "sector") + "</tr>\n";
      }
    out_ +=
        "</table>\n<p class=\"dim\">Sectors of 32 bytes in global and local memory; wavefronts of 32 banks in shared memory.</p></div>\n";
  }

  void coverage_and_occupancy(const summary& s) {
    out_ += "<div><h3>Coverage</h3>\n<table>\n";
    const auto row = [&](std::string_view name, const coverage& c) {
      if (c.all == 0) return;
      out_ += fmt::format("<tr><td>{}</td>", name) + cell(fmt::format("{} of {}", c.covered, c.all)) +
              bar_cell(percent(c.share()), c.share(), "sector") + "</tr>\n";
    };
    row("PTX lines", s.ptx);
    row("C++ lines", s.cpp);
    row("branch outcomes", s.outcomes);
    out_ += "</table>\n<h3>Launches and occupancy</h3>\n<table>\n";
    head({"grid", "block", "shared", "times", "blocks", "warps", "limited by"});
    for (std::size_t k = 0; k < s.of.shapes.size(); ++k) {
      const launch_shape& shape = s.of.shapes[k];
      const occupancy& o = s.occupancies[k];
      out_ += "<tr>" + cell(extent(shape.grid)) + cell(extent(shape.block)) +
              cell(fmt::format("{} B", o.shared_bytes)) + cell(grouped(shape.launches)) +
              cell(std::to_string(o.blocks)) + cell(fmt::format("{} of {}", o.warps, o.most_warps)) +
              cell(o.limit) + "</tr>\n";
    }
    out_ +=
        "</table>\n<p class=\"dim\">Of a multiprocessor. Registers are not known from PTX, and may allow fewer blocks.</p></div>\n";
  }

  // The figures of a line, in the columns of both listings.
  std::string figures(const line_figures* line, double most) const {
    if (line == nullptr) return "<td></td><td></td><td></td><td></td><td></td>";
    const instruction_counters& c = line->sum;
    std::string row =
        bar_cell(c.executions == 0 ? "0" : grouped(c.executions), most <= 0 ? 0 : line->cost / most, "heat");
    // Lanes that do not take a branch are still active there.
    const u64 lanes = line->branch.branches != 0 ? c.active : c.executed;
    row += cell(c.executions == 0 ? "" : percent(share_of(lanes, c.executions * warp_lanes)));
    row += access(both(c.at(memory_place::global), c.at(memory_place::local)), 32, "sector");
    row += access(both(c.at(memory_place::shared), c.at(memory_place::cluster)), 32, "bank");
    std::string branch;
    if (line->branch.executions != 0)
      branch =
          line->branch.branches != 0 && line->branch.outcomes < 2 * line->branch.branches
              ? "one way"
              : fmt::format("{} part", percent(share_of(line->branch.divergent, line->branch.executions)));
    return row + cell(branch);
  }

  static std::string access(const access_counters& c, double most, std::string_view colour) {
    if (c.requests == 0) return "<td></td>";
    const double excess = share_of(c.transactions - std::min(c.ideal, c.transactions), c.requests);
    return bar_cell(fmt::format("{} ({})", ratio(c.transactions, c.requests), ratio(c.ideal, c.requests)),
                    excess / most, colour);
  }

  static std::string_view row_class(const line_figures* line) {
    if (line == nullptr) return " class=\"dim\"";
    if (line->covered == 0) return " class=\"gap\"";
    return line->covered < line->instructions ? " class=\"part\"" : "";
  }

  const std::string* source_line(const source_place& at) {
    auto found = files_.find(at.file);
    if (found == files_.end()) found = files_.emplace(at.file, lines_of_file(at.file)).first;
    return at.line == 0 || at.line > found->second.size() ? nullptr : &found->second[at.line - 1];
  }

  void legend() {
    out_ +=
        "<p class=\"legend dim\"><span><i class=\"mark\" style=\"background: var(--gap)\"></i> never executed</span><span><i class=\"mark\" style=\"background: var(--part)\"></i> in part</span>"
        "<span>bars: share of the most costly line; sectors and wavefronts beyond the ideal, which is in brackets</span></p>\n";
  }

  void source(const summary& s) {
    if (s.cpp_lines.empty()) return;
    double most = 0;
    for (const line_figures& line : s.cpp_lines) most = std::max(most, line.cost);
    out_ += "<h3>C++ lines</h3>\n";
    legend();
    out_ += "<div class=\"wide\"><table class=\"listing\">\n";
    const std::string* file = nullptr;
    for (const line_figures& line : s.cpp_lines) {
      if (file == nullptr || *file != line.from->file) {
        file = &line.from->file;
        out_ += fmt::format("<tr class=\"source\"><td></td><td class=\"text\" colspan=\"6\">{}</td></tr>\n",
                            html_escaped(shown_path(*file)));
        head({"", "", "executed", "lanes", "sectors", "wavefronts", "branches"});
      }
      const std::string* text = source_line(*line.from);
      out_ += fmt::format("<tr{}>", row_class(&line)) + cell(std::to_string(line.number)) +
              cell(text == nullptr ? "" : html_escaped(*text), "text") + figures(&line, most) + "</tr>\n";
    }
    out_ += "</table></div>\n";
  }

  void listing(const summary& s) {
    if (s.lines.empty()) return;
    const double most = s.costly.front()->cost;
    out_ += "<h3>PTX</h3>\n";
    legend();
    out_ += "<div class=\"wide\"><table class=\"listing\">\n";
    head({"", "", "executed", "lanes", "sectors", "wavefronts", "branches"});
    const u32 start = s.of.kernel->line;
    u32 shown = 0;  // last listed line
    const source_place* from = nullptr;
    const auto show = [&](u32 number) {
      const line_figures* line = s.line(number);
      if (line != nullptr && line->from != nullptr && (from == nullptr || !(*from == *line->from))) {
        from = line->from;
        const std::string* text = source_line(*from);
        out_ +=
            fmt::format("<tr class=\"source\"><td></td><td class=\"text\" colspan=\"6\">{}{}{}</td></tr>\n",
                        html_escaped(shown_place(*from)), text == nullptr ? "" : ":  ",
                        text == nullptr ? "" : html_escaped(trimmed(*text)));
      }
      out_ += fmt::format("<tr{}>", row_class(line)) + cell(std::to_string(number)) +
              cell(html_escaped(s.of.program.line(number)), "text") + figures(line, most) + "</tr>\n";
      shown = number;
    };
    for (const line_figures& line : s.lines) {
      u32 first = line.number;
      if (shown < start && start <= first && first - start <= shown_around) first = start;
      if (shown != 0 && line.number - shown <= shown_around) first = std::min(first, shown + 1);
      if (shown != 0 && first > shown + 1)
        out_ += "<tr class=\"dim\"><td>...</td><td colspan=\"6\"></td></tr>\n";
      for (u32 number = first; number <= line.number; ++number) show(number);
    }
    out_ += "</table></div>\n";
  }

  std::string out_;
  std::map<std::string, std::vector<std::string>> files_;  // readable C++ sources
};

}  // namespace

std::string html_report(const std::list<kernel_profile>& kernels) { return html_page().page(kernels); }

}  // namespace kaio::emulator::profile
