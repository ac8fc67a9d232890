#pragma once
// From a program to its text. Text is rendered in segments of a few hundred instructions, each in a constant
// expression of its own, because compilers bound the work of one (clang: 1,048,576 steps). Characters go into
// plain arrays: std::string costs ten times as much in constant evaluation, and does not work there at all
// with libstdc++ 12 on clang.
//
//   constexpr rendered first = render(my_program, "my_kernel", parameters, 2, 0);   // first.next: where the
//   next starts

#include <kaio/ptx/program.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::ptx {

inline constexpr std::size_t segment_instructions = 512;
inline constexpr std::size_t segment_capacity = 40960;
inline constexpr std::size_t longest_line = 512;

struct rendered {
  char text[segment_capacity] = {};
  std::uint32_t size = 0;
  std::uint32_t next = 0;  // the first instruction that is not in this segment
  std::uint32_t lines = 0;
  std::uint32_t header_lines = 0;  // directives before the first instruction, in the first segment
  bool complete = false;           // the segment ends the module
};

namespace detail {

inline constexpr std::string_view register_prefix[register_classes] = {"%p", "%rs", "%r", "%rd", "%f", "%fd"};
inline constexpr std::string_view register_type[register_classes] = {".pred", ".b16", ".b32",
                                                                     ".b64",  ".f32", ".f64"};
inline constexpr std::string_view special_name[] = {
    "%tid.x",   "%tid.y",   "%tid.z",    "%ntid.x",   "%ntid.y",   "%ntid.z", "%ctaid.x",
    "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid",
};

class writer {
 public:
  constexpr writer(rendered& out, std::string_view kernel) : out_(out), kernel_(kernel) {}

  constexpr void put(std::string_view s) {
    const char* from = s.data();
    char* to = out_.text + out_.size;
    const std::size_t n = s.size();
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
    out_.size += static_cast<std::uint32_t>(n);
  }

  constexpr void put(char c) { out_.text[out_.size++] = c; }

  constexpr void end_line() {
    put('\n');
    ++out_.lines;
  }

  constexpr void number(std::uint64_t value) {
    if (value < 10) return put(static_cast<char>('0' + value));
    char digits[20] = {};
    unsigned n = 0;
    for (; value != 0; value /= 10) digits[n++] = static_cast<char>('0' + value % 10);
    while (n != 0) put(digits[--n]);
  }

  constexpr void signed_number(std::uint64_t bits) {
    if (static_cast<std::int64_t>(bits) >= 0) return number(bits);
    put('-');
    number(std::uint64_t{0} - bits);
  }

  constexpr void hexadecimal(std::uint64_t bits, unsigned digits) {
    while (digits-- != 0) put("0123456789ABCDEF"[(bits >> (4 * digits)) & 15]);
  }

  constexpr void immediate(type t, std::uint64_t bits) {
    switch (t) {
      case type::f32: put("0f"); return hexadecimal(bits, 8);
      case type::f64: put("0d"); return hexadecimal(bits, 16);
      default: return is_signed(t) ? signed_number(bits) : number(bits);
    }
  }

  constexpr void reg(type t, std::uint32_t index) {
    put(register_prefix[static_cast<unsigned>(class_of(t))]);
    number(index);
  }

  constexpr void offset(std::uint64_t bits) {
    if (bits == 0) return;
    put('+');  // before a negative offset too: [%rd1+-4]
    signed_number(bits);
  }

  constexpr void parameter_name(std::uint32_t index) {
    put(kernel_);
    put("_param_");
    number(index);
  }

  constexpr void label_name(std::uint32_t index) {
    put("L_");
    number(index);
  }

  constexpr void shared_name(std::uint32_t index) {
    put("shared_");
    number(index);
  }

  constexpr void one(const operand& o) {
    switch (o.kind) {
      case operand_kind::none: return;
      case operand_kind::reg: return reg(o.type, o.index);
      case operand_kind::immediate: return immediate(o.type, o.bits);
      case operand_kind::special: return put(special_name[o.index]);
      case operand_kind::address:
        put('[');
        reg(o.type, o.index);
        offset(o.bits);
        return put(']');
      case operand_kind::shared_address:
        put('[');
        shared_name(o.index);
        offset(o.bits);
        return put(']');
      case operand_kind::parameter:
        put('[');
        parameter_name(o.index);
        return put(']');
      case operand_kind::shared_symbol: return shared_name(o.index);
      case operand_kind::label: return label_name(o.index);
      case operand_kind::pack: return;
    }
  }

  constexpr void line(const instruction& i, const operand* operands) {
    if (i.op == opcode::label) {
      label_name(operands[0].index);
      put(':');
      return end_line();
    }
    put("  ");
    if (i.guarded) {
      put(i.guard_negated ? "@!" : "@");
      one(operands[i.operand_count]);
      put(' ');
    }
    put(facts(i.op).mnemonic);
    if (i.mod != modifier::none) put(suffix(i.mod));
    if (i.type0 != type::none) put(suffix(i.type0));
    if (i.type1 != type::none) put(suffix(i.type1));
    std::uint32_t packed = 0;
    for (unsigned k = 0; k < i.operand_count; ++k) {
      put(k == 0 ? " " : ", ");
      if (operands[k].kind == operand_kind::pack) {
        packed = operands[k].index;
        put('{');
        one(operands[++k]);
        --packed;
        for (; packed != 0; --packed) {
          put(", ");
          one(operands[++k]);
        }
        put('}');
      } else {
        one(operands[k]);
      }
    }
    put(';');
    end_line();
  }

  constexpr void header(const program& p, const parameter* parameters, std::size_t parameter_count) {
    const needs need = requirements(p);
    put(".version ");
    number(need.version.major);
    put('.');
    number(need.version.minor);
    end_line();
    put(".target sm_");
    number(need.target.sm);
    if (need.target.arch_specific) put('a');
    end_line();
    put(".address_size 64");
    end_line();
    put(".visible .entry ");
    put(kernel_);
    put('(');
    for (std::uint32_t i = 0; i < parameter_count; ++i) {
      if (i != 0) put(',');
      end_line();
      put("  .param ");
      const parameter& q = parameters[i];
      put(q.access != access::scalar ? ".u64" : q.type == type::pred ? ".u8" : suffix(q.type));
      put(' ');
      parameter_name(i);
    }
    if (parameter_count != 0) end_line();
    put(')');
    end_line();
    put(".reqntid ");
    number(p.block.x);
    put(", ");
    number(p.block.y);
    put(", ");
    number(p.block.z);
    end_line();
    put('{');
    end_line();
    for (unsigned c = 0; c < register_classes; ++c) {
      if (p.registers[c] == 0) continue;
      put("  .reg ");
      put(register_type[c]);
      put(' ');
      put(register_prefix[c]);
      put('<');
      number(p.registers[c] + 1);
      put(">;");
      end_line();
    }
    for (std::uint32_t i = 0; i < p.shared_count; ++i) {
      put("  .shared .align ");
      number(p.shared[i].alignment);
      put(" .b8 ");
      shared_name(i);
      put('[');
      number(p.shared[i].bytes);
      put("];");
      end_line();
    }
  }

 private:
  rendered& out_;
  std::string_view kernel_;
};

}  // namespace detail

// Renders the segment whose first instruction is `first`; 0 brings the directives with it, the last one the
// end.
constexpr rendered render(const program& p, std::string_view kernel, const parameter* parameters,
                          std::size_t parameter_count, std::uint32_t first) {
  rendered out;
  detail::writer w(out, kernel);
  if (first == 0) w.header(p, parameters, parameter_count);
  out.header_lines = out.lines;
  std::uint32_t i = first;
  for (std::uint32_t n = 0; i < p.instruction_count && n < segment_instructions; ++i) {
    const instruction& next = p.instructions[i];
    if (out.size + longest_line > segment_capacity) break;
    w.line(next, p.operands + next.first_operand);
    ++n;
  }
  out.next = i;
  if (i == p.instruction_count) {
    w.put('}');
    w.end_line();
    out.complete = true;
  }
  return out;
}

}  // namespace kaio::ptx
