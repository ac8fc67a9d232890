// A trace becomes a file of Chrome's trace event format: slices nest in a thread and follow each other in a stream.

#include "runtime/trace/chrome_text.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "catch.hpp"

using namespace kaio::runtime::trace;
using nlohmann::json;

namespace {

// A thread, and a stream of one device.
recorded two_rows() {
  recorded trace;
  trace.begin = 1'000'000;
  trace.processes = {{"host"}, {"device \"0\""}};
  trace.rows = {{1, "stream"}, {0, "thread"}};
  return trace;
}

slice piece(std::uint32_t row, nanoseconds begin, nanoseconds end, const char* name) {
  slice s;
  s.begin = 1'000'000 + begin;
  s.end = 1'000'000 + end;
  s.row = row;
  s.on_device = row == 0;
  s.facts.category = "kernel";
  s.facts.name = name;
  return s;
}

std::vector<json> slices_of(const json& file) {
  std::vector<json> result;
  for (const json& event : file["traceEvents"])
    if (event["ph"] == "X") result.push_back(event);
  return result;
}

std::vector<std::string> names_of(const std::vector<json>& slices) {
  std::vector<std::string> names;
  for (const json& s : slices) names.push_back(s["name"]);
  return names;
}

}  // namespace

TEST_CASE("an inner slice of the host comes after the outer one, although it was kept first", "[trace]") {
  recorded trace = two_rows();
  trace.slices = {piece(1, 100, 200, "inner"), piece(1, 100, 200, "outer"), piece(1, 50, 300, "outermost"),
                  piece(1, 400, 400, "instant")};
  const json file = json::parse(chrome_text(trace));
  const std::vector<json> slices = slices_of(file);
  CHECK(names_of(slices) == std::vector<std::string>{"outermost", "outer", "inner", "instant"});
  CHECK(slices[0]["ts"] == 0.05);
  CHECK(slices[0]["dur"] == 0.25);
  CHECK(slices[3]["dur"] == 0);
}

TEST_CASE(
    "work of a stream that overlaps by a rounding follows, and work that truly overlaps has another row",
    "[trace]") {
  recorded trace = two_rows();
  trace.slices = {piece(0, 1000, 5000, "first"), piece(0, 4900, 9000, "second"),
                  piece(0, 4900, 4950, "within it"), piece(0, 6000, 12000, "parallel")};
  const std::vector<json> slices = slices_of(json::parse(chrome_text(trace)));
  REQUIRE(slices.size() == 4);
  CHECK(slices[1]["ts"] == 5);
  CHECK(slices[1]["dur"] == 4);
  CHECK(slices[0]["tid"] == slices[1]["tid"]);
  CHECK(slices[2]["tid"] != slices[0]["tid"]);  // beyond a rounding before the end of the second
  CHECK(slices[3]["tid"] != slices[0]["tid"]);
}

TEST_CASE("an arrow has both ends or none, and the host's end comes first", "[trace]") {
  recorded trace = two_rows();
  for (const std::uint32_t row : {0u, 1u}) {
    for (const std::uint64_t flow : {1u, 2u}) {
      slice s = piece(row, 10 * flow, 10 * flow + 5, "work");
      s.flow = flow;
      if (row == 0 && flow == 2) s.ended = slice::ending::unknown;
      trace.slices.push_back(s);
    }
  }
  const json file = json::parse(chrome_text(trace));
  std::string ends;
  for (const json& event : file["traceEvents"]) {
    const std::string kind = event["ph"];
    if (kind == "s" || kind == "f") ends += kind + std::to_string(event["id"].get<int>()) + ' ';
  }
  CHECK(ends == "s1 f1 ");
  CHECK(slices_of(file).size() == 3);
  CHECK(file["otherData"]["slices without a time"] == 1);
}

TEST_CASE("a slice has the facts that are known, and names are quoted", "[trace]") {
  recorded trace = two_rows();
  slice s = piece(0, 0, 2000, "a\"b\\c\n\x1b\xff");
  s.facts.grid = {3, 2, 1};
  s.facts.block = {64, 1, 1};
  s.facts.shared_bytes = 48;
  s.facts.registers = 40;
  s.facts.bytes = 3000;
  s.ended = slice::ending::failed;
  s.more = "\"how\":\"compiled\"";
  trace.slices = {s, piece(0, 3000, 3000, "bare")};
  trace.left_out = 7;
  const json file = json::parse(chrome_text(trace));
  const std::vector<json> slices = slices_of(file);
  CHECK(slices[0]["name"] == "a\"b\\c\n\\x1b\\xff");
  CHECK(slices[0]["args"] == json{{"grid", "3 x 2 x 1"},
                                  {"block", "64 x 1 x 1"},
                                  {"shared bytes", 48},
                                  {"registers", 40},
                                  {"bytes", 3000},
                                  {"GB/s", 1.5},
                                  {"failed", true},
                                  {"how", "compiled"}});
  CHECK(slices[1]["args"] == json::object());
  CHECK(file["otherData"]["slices left out"] == 7);
}
