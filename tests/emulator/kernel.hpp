#pragma once
// Shared by the emulator's tests: a module around a body, a launch with buffers, one instruction applied to
// tables of operands, and the message of a rejection or a fault.

#include "catch.hpp"
#include "emulator/emulator.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace emulator_test {

using namespace kaio::emulator;
using words = std::vector<std::uint64_t>;

// `whole` must contain `part`; if it does not, the test fails and prints `whole`.
inline bool contains(const std::string& whole, const std::string& part) {
  if (whole.find(part) != std::string::npos) return true;
  UNSCOPED_INFO("'" << whole << "' does not contain '" << part << "'");
  return false;
}

inline architecture device() { return {}; }

// A kernel `k` with pointer parameters p0, p1, ... already loaded into %p0, %p1, ..., and the usual
// registers. The body finds the thread's number within the grid in %tid (32 bits) and %wide (64 bits).
inline std::string kernel_text(std::string_view body, unsigned pointers = 1,
                               std::string_view declarations = "", std::string_view version = "8.3",
                               std::string_view target = "sm_90a") {
  std::string text = ".version " + std::string(version) + "\n.target " + std::string(target) +
                     "\n.address_size 64\n" + std::string(declarations) + "\n.visible .entry k(";
  for (unsigned i = 0; i < pointers; ++i)
    text += std::string(i ? ", " : "") + ".param .u64 p" + std::to_string(i);
  text +=
      ") {\n.reg .pred %q<32>; .reg .b16 %h<32>; .reg .b32 %r<64>; .reg .f32 %f<32>; .reg .b64 %d<64>;"
      " .reg .f64 %g<32>;\n.reg .b64 %p<8>; .reg .b64 %wide; .reg .b32 %tid_, %ctaid_, %ntid_, %thread;\n";
  for (unsigned i = 0; i < pointers; ++i)
    text += "ld.param.u64 %p" + std::to_string(i) + ", [p" + std::to_string(i) + "]; ";
  text +=
      "\nmov.u32 %tid_, %tid.x; mov.u32 %ctaid_, %ctaid.x; mov.u32 %ntid_, %ntid.x;\n"
      "mad.lo.u32 %thread, %ctaid_, %ntid_, %tid_; cvt.u64.u32 %wide, %thread;\n";
  return text + std::string(body) + "\nret;\n}\n";
}

inline module parsed_module(std::string_view text, const architecture& a = device()) {
  return kaio::emulator::parse_module(text, a);
}

// The reason of the rejection; fails the test if there is none.
inline ptx_error rejection(std::string_view text, const architecture& a = device()) {
  try {
    parsed_module(text, a);
  } catch (const ptx_error& e) {
    return e;
  }
  FAIL("accepted: " << text);
  throw ptx_error(0, 0, "");
}

// A buffer of elements on the emulated device, freed at the end.
template <class T>
class array {
 public:
  array(memory& m, const std::vector<T>& values) : memory_(m), count_(values.size()) {
    address_ = m.allocate(values.size() * sizeof(T));
    m.write(address_, values.data(), values.size() * sizeof(T));
  }
  array(memory& m, std::size_t count) : array(m, std::vector<T>(count)) {}
  ~array() { memory_.free(address_); }
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  std::uint64_t address() const { return address_; }
  std::vector<T> values() const {
    std::vector<T> result(count_);
    memory_.read(result.data(), address_, count_ * sizeof(T));
    return result;
  }

 private:
  memory& memory_;
  std::size_t count_;
  std::uint64_t address_;
};

struct shape {
  std::uint32_t grid = 1, block = 32;
  std::uint32_t dynamic_shared = 0;
  unsigned threads = 0;
  std::uint64_t instruction_limit = 1u << 22;
};

// Runs kernel `k` with one 64-bit parameter a pointer.
inline void run_module(const module& m, memory& global, const std::vector<std::uint64_t>& pointers,
                       shape s = {}) {
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  if (l.kernel == nullptr) throw std::runtime_error("the module has no kernel k");
  l.grid = {s.grid, 1, 1};
  l.block = {s.block, 1, 1};
  l.dynamic_shared = s.dynamic_shared;
  l.threads = s.threads;
  l.instruction_limit = s.instruction_limit;
  l.parameters.resize(pointers.size() * 8);
  std::memcpy(l.parameters.data(), pointers.data(), l.parameters.size());
  run(l, global);
}

// The 32-bit words that a body leaves in its only buffer.
inline std::vector<std::uint32_t> results(std::string_view body, std::size_t count, shape s = {},
                                          std::string_view declarations = "") {
  memory global;
  const array<std::uint32_t> out(global, count);
  run_module(parsed_module(kernel_text(body, 1, declarations)), global, {out.address()}, s);
  return out.values();
}

// The report of the fault that a body raises.
inline fault_report fault_of(std::string_view body, memory& global,
                             const std::vector<std::uint64_t>& pointers, shape s = {},
                             std::string_view declarations = "") {
  const module m = parsed_module(kernel_text(body, static_cast<unsigned>(pointers.size()), declarations));
  try {
    run_module(m, global, pointers, s);
  } catch (const fault& e) {
    CHECK(std::string_view(e.what()).substr(0, 5) == "kaio:");
    return e.report();
  }
  FAIL("no fault: " << body);
  return {};
}

inline unsigned bytes_of(std::string_view type) {
  return type == "pred"         ? 4
         : type.ends_with("64") ? 8
         : type.ends_with("32") ? 4
         : type.ends_with("16") ? 2
                                : 1;
}

// Applies one instruction, or a block of several in braces, to columns of operands. `text` names the
// destination d and the sources a, b, c, e; the types are those of their registers ("pred": a predicate, 0 or
// 1). The results are computed with all lanes active, and again with every third lane active; both must
// agree, and lanes that do not take part must not be touched.
inline words apply(const std::string& text, const std::string& to, const std::vector<std::string>& from,
                   const std::vector<words>& columns, std::string_view version = "8.3",
                   std::string_view target = "sm_90a") {
  const std::size_t rows = columns.at(0).size();
  const char* const names[] = {"a", "b", "c", "e"};
  std::string body = ".reg ." + to + " d;\n";
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::string n = names[i];
    body += ".reg ." + from[i] + " " + n + ";\n";
    body += "mad.lo.u64 %d1, %wide, 8, %p" + std::to_string(i + 2) + ";\n";
    if (from[i] == "pred")
      body += "ld.global.u32 %r1, [%d1]; setp.ne.u32 " + n + ", %r1, 0;\n";
    else
      body += "ld.global.b" + std::to_string(bytes_of(from[i]) * 8) + " " + n + ", [%d1];\n";
  }
  body +=
      "mad.lo.u64 %d1, %wide, 8, %p0;\nld.global.u32 %r2, [%p1];\nsetp.eq.u32 %q1, %r2, 0;\n"
      "rem.u32 %r3, %thread, 3;\nsetp.eq.or.u32 %q2, %r3, 0, %q1;\n";
  // The destination holds a pattern before, which must survive where the guard is false.
  if (to == "pred")
    body += "setp.eq.u32 d, %r2, %r2;\n";
  else if (bytes_of(to) == 1)
    body += "cvt.u8.u32 d, 165;\n";
  else
    body += "mov.b" + std::to_string(bytes_of(to) * 8) + " d, " +
            (bytes_of(to) == 2   ? "42405"
             : bytes_of(to) == 4 ? "2779096485"
                                 : "0xa5a5a5a5a5a5a5a5") +
            ";\n";
  if (text.front() == '{')
    body += "@!%q2 bra skip;\n" + text + "\nskip:\n";
  else
    body += "@%q2 " + text + ";\n";
  if (to == "pred")
    body += "selp.u32 %r4, 1, 0, d; st.global.u32 [%d1], %r4;";
  else
    body += "st.global.b" + std::to_string(bytes_of(to) * 8) + " [%d1], d;";

  memory global;
  const module m =
      parsed_module(kernel_text(body, static_cast<unsigned>(from.size() + 2), "", version, target));
  std::size_t padded = (rows + 31) / 32 * 32;
  const auto once = [&](bool partial) {
    const array<std::uint64_t> out(global, padded);
    const array<std::uint32_t> mode(global, std::vector<std::uint32_t>{partial ? 1u : 0u});
    std::vector<std::unique_ptr<array<std::uint64_t>>> inputs;
    std::vector<std::uint64_t> pointers{out.address(), mode.address()};
    for (const words& column : columns) {
      words values = column;
      values.resize(padded);
      inputs.push_back(std::make_unique<array<std::uint64_t>>(global, values));
      pointers.push_back(inputs.back()->address());
    }
    run_module(m, global, pointers, {static_cast<std::uint32_t>(padded / 32), 32, 0, 1});
    words result = out.values();
    result.resize(rows);
    return result;
  };
  const words full = once(false), partial = once(true);
  const unsigned width = bytes_of(to);
  const std::uint64_t pattern = to == "pred" ? 1
                                : width == 8 ? 0xa5a5a5a5a5a5a5a5
                                             : 0xa5a5a5a5a5a5a5a5 & ((std::uint64_t{1} << width * 8) - 1);
  for (std::size_t i = 0; i < rows; ++i) {
    INFO(text << ", row " << i << ", partial mask");
    CHECK(partial[i] == (i % 3 == 0 ? full[i] : pattern));
  }
  return full;
}

// All combinations of the values, as columns.
inline std::vector<words> combinations(const std::vector<words>& values) {
  std::size_t rows = 1;
  for (const words& v : values) rows *= v.size();
  std::vector<words> columns(values.size(), words(rows));
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t rest = row;
    for (std::size_t i = 0; i < values.size(); ++i) {
      columns[i][row] = values[i][rest % values[i].size()];
      rest /= values[i].size();
    }
  }
  return columns;
}

inline std::uint64_t low(std::uint64_t value, unsigned bytes) {
  return bytes >= 8 ? value : value & ((std::uint64_t{1} << bytes * 8) - 1);
}

// The value of the low bytes as a signed number.
inline std::int64_t extended(std::uint64_t value, unsigned bytes) {
  const unsigned up = 64 - bytes * 8;
  return static_cast<std::int64_t>(value << up) >> up;
}

// Checks one instruction against a host model of one lane, for all combinations of the values.
template <class Model>
void check_instruction(const std::string& text, const std::string& to, const std::vector<std::string>& from,
                       const std::vector<words>& values, Model&& model) {
  const std::vector<words> columns = combinations(values);
  const words have = apply(text, to, from, columns);
  for (std::size_t row = 0; row < have.size(); ++row) {
    words operands;
    for (const words& c : columns) operands.push_back(c[row]);
    const std::uint64_t want = low(model(operands), to == "pred" ? 8 : bytes_of(to));
    if (have[row] != want) {
      INFO(text << " of " << std::hex << operands[0] << " " << (operands.size() > 1 ? operands[1] : 0) << " "
                << (operands.size() > 2 ? operands[2] : 0) << " " << (operands.size() > 3 ? operands[3] : 0));
      CHECK(have[row] == want);
    }
  }
  SUCCEED(text);
}

inline std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
inline std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }
inline float f32_of(std::uint64_t value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value)); }
inline double f64_of(std::uint64_t value) { return std::bit_cast<double>(value); }

}  // namespace emulator_test
