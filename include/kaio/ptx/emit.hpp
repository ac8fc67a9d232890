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
inline constexpr std::size_t longest_line = 2048;

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
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%lanemask_eq",
    "%lanemask_lt",
    "%lanemask_le",
    "%lanemask_gt",
    "%lanemask_ge",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%clock",
    "%clock64",
    "%globaltimer",
    "%clusterid.x",
    "%clusterid.y",
    "%clusterid.z",
    "%nclusterid.x",
    "%nclusterid.y",
    "%nclusterid.z",
    "%cluster_ctaid.x",
    "%cluster_ctaid.y",
    "%cluster_ctaid.z",
    "%cluster_nctaid.x",
    "%cluster_nctaid.y",
    "%cluster_nctaid.z",
    "%cluster_ctarank",
    "%cluster_nctarank",
};

class writer {
 public:
  constexpr writer(rendered& out, const program& p, std::string_view kernel)
      : out_(out), program_(p), kernel_(kernel) {}

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
      case type::f16:
      case type::bf16: put("0x"); return hexadecimal(bits, 4);
      case type::f16x2:
      case type::bf16x2: put("0x"); return hexadecimal(bits, 8);
      default: return is_signed(t) ? signed_number(bits) : number(bits);
    }
  }

  constexpr void reg(type t, std::uint32_t index) {
    put(register_prefix[static_cast<unsigned>(class_of(t))]);
    number(program_.register_number[index]);
  }

  constexpr void registers(const operand& o) {
    for (std::uint32_t i = 0; i < o.bits; ++i) {
      put(i == 0 ? "{" : ", ");
      reg(o.type, o.index + i);
    }
    put('}');
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

  // An array, and the distance from its beginning where it is a part of the dynamic shared memory.
  constexpr void array(std::uint32_t index, std::uint64_t distance) {
    switch (program_.arrays[index].space) {
      case array_space::large_shared:
      case array_space::dynamic_shared:
        put(kernel_);
        put("_dynamic_shared");
        return offset(distance + dynamic_offset(program_, index));
      case array_space::shared: put("shared_"); break;
      case array_space::local: put("local_"); break;
      case array_space::constant:
        put(kernel_);
        put("_constant_");
        break;
      case array_space::global:
        put(kernel_);
        put("_global_");
        break;
    }
    number(index);
    offset(distance);
  }

  constexpr void list(const operand*& next, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i != 0) put(", ");
      item(next);
    }
  }

  // The operand at `next` with those that belong to it; moves on behind them.
  constexpr void item(const operand*& next) {
    const operand& o = *next++;
    switch (o.kind) {
      case operand_kind::pack:
        put('{');
        list(next, o.index);
        return put('}');
      case operand_kind::bracket:
        put('[');
        list(next, o.index);
        return put(']');
      case operand_kind::pair:
        one(*next++);
        put('|');
        return one(*next++);
      default: return one(o);
    }
  }

  constexpr void shape(const matrix_shape& s) {
    if (s.m == 0) return;
    put(".m");
    number(s.m);
    put('n');
    number(s.n);
    put('k');
    number(s.k);
  }

  constexpr void one(const operand& o) {
    switch (o.kind) {
      case operand_kind::none: return;
      case operand_kind::reg: return reg(o.type, o.index);
      case operand_kind::registers: return registers(o);
      case operand_kind::immediate: return immediate(o.type, o.bits);
      case operand_kind::special: return put(special_name[o.index]);
      case operand_kind::address:
        put('[');
        reg(o.type, o.index);
        offset(o.bits);
        return put(']');
      case operand_kind::symbol_address:
        put('[');
        array(o.index, o.bits);
        return put(']');
      case operand_kind::parameter:
        put('[');
        parameter_name(o.index);
        offset(o.bits);
        return put(']');
      case operand_kind::symbol: return array(o.index, o.bits);
      case operand_kind::label: return label_name(o.index);
      case operand_kind::sink: return put('_');
      case operand_kind::parameter_symbol: return parameter_name(o.index);
      case operand_kind::bracket:
      case operand_kind::pack:
      case operand_kind::pair: return;
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
    if (i.op == opcode::call_vprintf) return call_vprintf(operands);
    if (i.op == opcode::call_assertfail) return call_assertfail(operands);
    put(facts(i.op).mnemonic);
    shape(i.shape);
    for (modifier_list rest = i.modifiers; rest != 0; rest >>= 8)
      put(suffix(static_cast<modifier>(rest & 0xff)));
    if (i.type0 != type::none) put(suffix(i.type0));
    if (i.type1 != type::none) put(suffix(i.type1));
    for (const operand *next = operands, *const end = operands + i.operand_count; next != end;) {
      put(next == operands ? " " : ", ");
      item(next);
    }
    put(';');
    end_line();
  }

  // The system functions of the CUDA driver, called by its ABI: parameters in .param space.
  // Source: CUDA C++ Programming Guide, "Formatted Output"; PTX Writer's Guide to Interoperability, "System Calls".
  constexpr void call_argument(std::string_view declaration, std::string_view name, std::string_view type,
                               const operand& o) {
    put(declaration);
    put(' ');
    put(name);
    put("; st.param");
    put(type);
    put(" [");
    put(name);
    put("], ");
    one(o);
    put("; ");
  }

  constexpr void call_vprintf(const operand* operands) {
    put("{ ");
    call_argument(".param .b64", "format", ".b64", operands[0]);
    call_argument(".param .b64", "arguments", ".b64", operands[1]);
    put(".param .b32 count; call.uni (count), vprintf, (format, arguments); }");
    end_line();
  }

  constexpr void call_assertfail(const operand* operands) {
    put("{ ");
    call_argument(".param .b64", "message", ".b64", operands[0]);
    call_argument(".param .b64", "file", ".b64", operands[1]);
    call_argument(".param .b32", "line", ".b32", operands[2]);
    call_argument(".param .b64", "function", ".b64", operands[3]);
    call_argument(".param .b64", "size", ".b64", operands[4]);
    put("call.uni __assertfail, (message, file, line, function, size); }");
    end_line();
  }

  // Declarations of the module: functions of the system, and arrays that have contents.
  constexpr void declarations() {
    bool prints = false;
    bool asserts = false;
    for (std::uint32_t i = 0; i < program_.instruction_count; ++i) {
      prints = prints || program_.instructions[i].op == opcode::call_vprintf;
      asserts = asserts || program_.instructions[i].op == opcode::call_assertfail;
    }
    if (prints) {
      put(".extern .func (.param .b32 count) vprintf (.param .b64 format, .param .b64 arguments);");
      end_line();
    }
    if (asserts) {
      put(".extern .func __assertfail (.param .b64 message, .param .b64 file, .param .b32 line, ");
      put(".param .b64 function, .param .b64 size) .noreturn;");
      end_line();
    }
    if (has(program_, array_space::large_shared) || has(program_, array_space::dynamic_shared)) {
      put(".extern .shared .align ");
      number(dynamic_shared_alignment(program_));
      put(" .b8 ");
      put(kernel_);
      put("_dynamic_shared[];");
      end_line();
    }
    for (std::uint32_t i = 0; i < program_.array_count; ++i) {
      const memory_array& a = program_.arrays[i];
      if (a.space != array_space::constant && a.space != array_space::global) continue;
      put(a.space == array_space::constant ? ".const .align " : ".global .align ");
      number(a.alignment);
      put(" .b64 ");
      array(i, 0);
      const std::uint32_t words = (a.bytes + 7) / 8;
      put('[');
      number(words);
      put("] = {");
      for (std::uint32_t k = 0; k < words; ++k) {
        if (k != 0) put(',');
        number(program_.data[a.first_word + k]);
      }
      put("};");
      end_line();
    }
  }

  constexpr void dimensions(std::string_view directive, const dim3& d) {
    put(directive);
    number(d.x);
    put(", ");
    number(d.y);
    put(", ");
    number(d.z);
    end_line();
  }

  constexpr void header(const parameter* parameters, std::size_t parameter_count) {
    const program& p = program_;
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
    declarations();
    put(".visible .entry ");
    put(kernel_);
    put('(');
    for (std::uint32_t i = 0; i < parameter_count; ++i) {
      if (i != 0) put(',');
      end_line();
      put("  .param ");
      const parameter& q = parameters[i];
      if (q.bytes != 0) {
        put(".align ");
        number(q.alignment);
        put(" .b8 ");
        parameter_name(i);
        put('[');
        number(q.bytes);
        put(']');
        continue;
      }
      if (q.access != access::scalar)
        put(".u64");
      else if (q.type == type::pred)
        put(".u8");
      else
        put(suffix(is_half(q.type) ? bits_of(q.type) : q.type));
      put(' ');
      parameter_name(i);
    }
    if (parameter_count != 0) end_line();
    put(')');
    end_line();
    dimensions(".reqntid ", p.block);
    if (p.cluster.count() != 0) dimensions(".reqnctapercluster ", p.cluster);
    if (p.min_blocks != 0) {
      put(".minnctapersm ");
      number(p.min_blocks);
      end_line();
    }
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
    for (std::uint32_t i = 0; i < p.array_count; ++i) {
      const memory_array& a = p.arrays[i];
      if (a.space != array_space::shared && a.space != array_space::local) continue;
      put(a.space == array_space::shared ? "  .shared .align " : "  .local .align ");
      number(a.alignment);
      put(" .b8 ");
      array(i, 0);
      put('[');
      number(a.bytes);
      put("];");
      end_line();
    }
  }

 private:
  rendered& out_;
  const program& program_;
  std::string_view kernel_;
};

}  // namespace detail

// Renders the segment whose first instruction is `first`; 0 brings the directives with it, the last one the
// end.
constexpr rendered render(const program& p, std::string_view kernel, const parameter* parameters,
                          std::size_t parameter_count, std::uint32_t first) {
  rendered out;
  detail::writer w(out, p, kernel);
  if (first == 0) w.header(parameters, parameter_count);
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
