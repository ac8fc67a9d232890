#pragma once
// From a program to its text. Text is rendered in segments of many instructions. Each segment is a constant
// expression of its own, because compilers bound the work of one (clang: 1,048,576 steps).
//
//   constexpr rendered first = render(my_program, my_needs, "my_kernel", parameters, 2, 0);
//   constexpr rendered second = render(my_program, my_needs, "my_kernel", parameters, 2, first.next);

#include <kaio/ptx/program.hpp>
#include <kaio/ptx/text_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::ptx {

inline constexpr std::size_t segment_instructions = 1024;
inline constexpr std::size_t segment_words = 8192;
inline constexpr std::size_t longest_line = 2048;

struct rendered {
  std::uint64_t words[segment_words] = {};  // the text, packed
  std::uint32_t size = 0;                   // in characters
  std::uint32_t next = 0;                   // the first instruction that is not in this segment
  std::uint32_t header_lines = 0;           // directives before the first instruction, in the first segment
  bool complete = false;                    // the segment ends the module
};

namespace detail {

inline constexpr std::string_view register_prefix[register_classes] = {"%p", "%rs", "%r", "%rd", "%f", "%fd"};
// The prefix of a register's name as a word, and the number of its bits.
struct register_word {
  std::uint64_t word;
  std::uint32_t bits;
};
inline constexpr register_word register_words[register_classes] = {
    {'%' | 'p' << 8, 16}, {'%' | 'r' << 8 | 's' << 16, 24},
    {'%' | 'r' << 8, 16}, {'%' | 'r' << 8 | 'd' << 16, 24},
    {'%' | 'f' << 8, 16}, {'%' | 'f' << 8 | 'd' << 16, 24},
};
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

// Words of a table, each packed when it is first written: a kernel uses few of them.
template <std::size_t N>
struct packed_words_of {
  packed_text words[N] = {};
  bool known[N] = {};
  constexpr const packed_text& get(std::size_t i, std::string_view text) {
    if (!known[i]) {
      words[i] = packed(text);
      known[i] = true;
    }
    return words[i];
  }
};

class program_writer : public text_writer {
 public:
  constexpr program_writer(std::uint64_t* storage, const program& p, std::string_view kernel)
      : text_writer(storage), program_(p) {
    for (; kernel.size() > 32; kernel.remove_prefix(32))
      kernel_[kernel_parts_++] = packed(kernel.substr(0, 32));
    kernel_[kernel_parts_++] = packed(kernel);
  }

  // Writes the segment whose first instruction is `first`; returns the number of the next instruction.
  constexpr std::uint32_t instructions(std::uint32_t first) {
    const std::uint32_t count = program_.instruction_count;
    const std::uint32_t end = count - first > segment_instructions
                                  ? first + static_cast<std::uint32_t>(segment_instructions)
                                  : count;
    std::uint32_t i = first;
    while (i < end && this->size() + longest_line <= 8 * segment_words) line(program_.instructions[i++]);
    return i;
  }

  constexpr void header(const needs& need, const parameter* parameters, std::size_t parameter_count) {
    const program& p = program_;
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
    declarations(need);
    put(".visible .entry ");
    put_kernel();
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
  constexpr void put_kernel() {
    for (std::uint32_t i = 0; i < kernel_parts_; ++i) put(kernel_[i]);
  }

  constexpr void immediate(type t, std::uint64_t bits) {
    switch (t) {
      case type::f32: put('0' | 'f' << 8, 16); return hexadecimal(bits, 8);
      case type::f64:
        put('0' | 'd' << 8, 16);
        hexadecimal(bits >> 32, 8);
        return hexadecimal(bits, 8);
      case type::f16:
      case type::bf16: put('0' | 'x' << 8, 16); return hexadecimal(bits, 4);
      case type::f16x2:
      case type::bf16x2: put('0' | 'x' << 8, 16); return hexadecimal(bits, 8);
      default: return is_signed(t) ? signed_number(bits) : number(bits);
    }
  }

  constexpr void reg(type t, std::uint32_t index) {
    const register_word prefix = register_words[static_cast<unsigned>(class_of(t))];
    number(program_.register_number[index], prefix.word, prefix.bits);
  }

  constexpr void registers(const operand& o) {
    put('{');
    reg(o.type, o.index);
    for (std::uint32_t i = 1; i < o.bits; ++i) {
      put(comma, 16);
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
    put_kernel();
    put("_param_");
    number(index);
  }

  constexpr void label_name(std::uint32_t index) { number(index, 'L' | '_' << 8, 16); }

  // An array. A part of the dynamic shared memory is written as its distance from the beginning.
  constexpr void array(std::uint32_t index, std::uint64_t distance) {
    switch (program_.arrays[index].space) {
      case array_space::large_shared:
      case array_space::dynamic_shared:
        put_kernel();
        put("_dynamic_shared");
        return offset(distance + dynamic_offset(program_, index));
      case array_space::shared: put("shared_"); break;
      case array_space::local: put("local_"); break;
      case array_space::constant:
        put_kernel();
        put("_constant_");
        break;
      case array_space::global:
        put_kernel();
        put("_global_");
        break;
      case array_space::instruction_text: return;
    }
    number(index);
    offset(distance);
  }

  constexpr std::uint32_t list(std::uint32_t next, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i != 0) put(comma, 16);
      next = item(next);
    }
    return next;
  }

  // Writes the operand at `next` with its parts; returns the number of the operand after them.
  constexpr std::uint32_t item(std::uint32_t next) {
    const operand o = program_.operands[next++];
    switch (o.kind) {
      case operand_kind::reg: reg(o.type, o.index); return next;
      case operand_kind::immediate: immediate(o.type, o.bits); return next;
      case operand_kind::address:
        put('[');
        reg(o.type, o.index);
        offset(o.bits);
        put(']');
        return next;
      case operand_kind::pack:
        put('{');
        next = list(next, o.index);
        put('}');
        return next;
      case operand_kind::bracket:
        put('[');
        next = list(next, o.index);
        put(']');
        return next;
      case operand_kind::pair:
        next = item(next);
        put('|');
        return item(next);
      default: one(o); return next;
    }
  }

  // The rare kinds of operands.
  constexpr void one(const operand& o) {
    switch (o.kind) {
      case operand_kind::reg: return reg(o.type, o.index);
      case operand_kind::registers: return registers(o);
      case operand_kind::immediate: return immediate(o.type, o.bits);
      case operand_kind::special: return put(special_name[o.index]);
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
      default: return;
    }
  }

  constexpr void shape(const matrix_shape& s) {
    put(".m");
    number(s.m);
    number(s.n, 'n', 8);
    number(s.k, 'k', 8);
  }

  constexpr void line(const instruction& i) {
    const std::uint32_t first = i.first_operand;
    const std::uint32_t end = first + i.operand_count;
    if (i.op == opcode::label) {
      label_name(program_.operands[first].index);
      put(':');
      return end_line();
    }
    put(two_spaces, 16);
    if (i.guarded) {
      put(i.guard_negated ? at_not : at, i.guard_negated ? 16 : 8);
      one(program_.operands[end]);
      put(' ');
    }
    if (i.op >= opcode::text && i.op <= opcode::call_assertfail) return written_out(i);
    put(mnemonics_.get(static_cast<unsigned>(i.op), facts(i.op).mnemonic));
    if (i.shape.m != 0) shape(i.shape);
    for (modifier_list rest = i.modifiers; rest != 0; rest >>= 8)
      put(modifiers_.get(rest & 0xff, suffix(static_cast<modifier>(rest & 0xff))));
    if (i.type0 != type::none) put(types_.get(static_cast<unsigned>(i.type0), suffix(i.type0)));
    if (i.type1 != type::none) put(types_.get(static_cast<unsigned>(i.type1), suffix(i.type1)));
    if (first != end) {
      put(' ');
      std::uint32_t next = item(first);
      while (next != end) {
        put(comma, 16);
        next = item(next);
      }
    }
    put(';');
    end_line();
  }

  // Instructions other than a mnemonic with a list of operands.
  constexpr void written_out(const instruction& i) {
    if (i.op == opcode::call_vprintf) return call_vprintf(program_.operands + i.first_operand);
    if (i.op == opcode::call_assertfail) return call_assertfail(program_.operands + i.first_operand);
    author_text(i);
  }

  // The author's text, with the operands in the places of $0, $1, ...
  constexpr void author_text(const instruction& i) {
    const memory_array& text = text_of(program_, i);
    const bool is_pack = program_.operands[i.first_operand].kind == operand_kind::pack;
    const std::uint32_t first = i.first_operand + (is_pack ? 1u : 0u);
    for (std::uint32_t k = 0; k < text.bytes;) {
      const char c = text_character(program_, text, k++);
      if (c != '$') {
        put(c);
        continue;
      }
      std::uint32_t n = 0;
      for (; k < text.bytes; ++k) {
        const char digit = text_character(program_, text, k);
        if (digit < '0' || digit > '9') break;
        n = 10 * n + static_cast<std::uint32_t>(digit - '0');
      }
      in_text(first + n);
    }
    put(';');
    end_line();
  }

  // An operand in the author's text, which contains the brackets of an address itself.
  constexpr void in_text(std::uint32_t number) {
    const operand& o = program_.operands[number];
    if (o.kind == operand_kind::symbol_address) return array(o.index, o.bits);
    if (o.kind != operand_kind::address) return one(o);
    reg(o.type, o.index);
    offset(o.bits);
  }

  // The system functions of the CUDA driver, called by its ABI: parameters in .param space.
  // Source: CUDA C++ Programming Guide, "Formatted Output"; PTX Writer's Guide to Interoperability, "System
  // Calls".
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

  // Declarations of the module: system functions, and arrays that have contents.
  constexpr void declarations(const needs& need) {
    if (need.prints) {
      put(".extern .func (.param .b32 count) vprintf (.param .b64 format, .param .b64 arguments);");
      end_line();
    }
    if (need.asserts) {
      put(".extern .func __assertfail (.param .b64 message, .param .b64 file, .param .b32 line, ");
      put(".param .b64 function, .param .b64 size) .noreturn;");
      end_line();
    }
    if (has(program_, array_space::large_shared) || has(program_, array_space::dynamic_shared)) {
      put(".extern .shared .align ");
      number(dynamic_shared_alignment(program_));
      put(" .b8 ");
      put_kernel();
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

  static constexpr std::uint64_t comma = ',' | ' ' << 8;
  static constexpr std::uint64_t two_spaces = ' ' | ' ' << 8;
  static constexpr std::uint64_t at = '@';
  static constexpr std::uint64_t at_not = '@' | '!' << 8;

  const program& program_;
  packed_words_of<sizeof(catalogue) / sizeof(catalogue[0])> mnemonics_;
  packed_words_of<sizeof(modifier_table) / sizeof(modifier_table[0])> modifiers_;
  packed_words_of<sizeof(type_table) / sizeof(type_table[0])> types_;
  packed_text kernel_[5] = {};  // the name, in parts of 32 characters
  std::uint32_t kernel_parts_ = 0;
};

}  // namespace detail

// Renders the segment whose first instruction is `first`. Segment 0 includes the directives, the last one the
// end.
constexpr rendered render(const program& p, const needs& need, std::string_view kernel,
                          const parameter* parameters, std::size_t parameter_count, std::uint32_t first) {
  rendered out;
  detail::program_writer w(out.words, p, kernel);
  if (first == 0) w.header(need, parameters, parameter_count);
  out.header_lines = w.lines();
  out.next = w.instructions(first);
  out.complete = out.next == p.instruction_count;
  if (out.complete) {
    w.put('}');
    w.end_line();
  }
  w.finish();
  out.size = w.size();
  return out;
}

}  // namespace kaio::ptx
