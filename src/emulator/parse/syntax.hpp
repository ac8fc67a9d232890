#pragma once
// A parsed PTX module, as written: names are not resolved and types not checked. Views point into the text,
// which must outlive it. A function's body is one flat list of statements. Braces are statements too, so deep
// nesting costs no stack.
//
//   syntax::module m = parse(text);
//   m.functions[0].body[3].instruction.opcode == "add"

#include "emulator/parse/lexer.hpp"
#include "emulator/program/scalar.hpp"

#include <kaio/ptx/target.hpp>
#include <kaio/ptx/type.hpp>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::emulator::syntax {

enum class state_space : u8 { none, reg, global, shared, local, constant, param };

enum class linkage : u8 { none, visible, external, weak, common };

enum class operand_kind : u8 {
  name,     // a register, a symbol with `offset`, a label; `member` for %tid.x
  integer,  // bits
  real,     // bits of a double, or of a float where real_bytes == 4
  vector,   // elements
  address,  // [elements[0] + offset]; further elements are the coordinates of a tensor address
  pair,     // elements[0] | elements[1]
  list,     // ( elements ): the arguments of a call
  sink,     // _
};

struct operand {
  operand_kind kind = operand_kind::sink;
  place at;
  std::string_view name;
  std::string_view member;  // with its dot
  bool negated = false;     // !%p
  bool minus = false;       // -%r, a source of vmad
  bool has_offset = false;
  bool indexed = false;  // name[offset], or name[elements[0]]: the offset counts elements
  u64 bits = 0;
  u64 offset = 0;
  u8 real_bytes = 0;
  std::vector<operand> elements;
};

struct modifier {
  std::string_view text;  // with its dot
  place at;
};

struct instruction {
  place at;
  std::string_view guard;  // empty: unguarded
  place guard_at;
  bool guard_negated = false;
  std::string_view opcode;
  std::vector<modifier> modifiers;
  std::vector<operand> operands;
};

// One scalar of an initialiser: a number, the address of a symbol, or one byte of it, as in 0xFF00(symbol).
struct initial_value {
  u64 index = 0;  // element of the flattened array
  u64 bits = 0;
  u8 real_bytes = 0;  // 0: an integer
  std::string_view symbol;
  bool generic = false;  // generic(symbol): its generic address
  bool masked = false;
  u32 shift = 0;  // for a masked address: the bits below its byte
  place at;
};

// A variable, a parameter, or a register declaration.
struct declaration {
  place at;
  state_space space = state_space::none;
  linkage link = linkage::none;
  ptx::type type = ptx::type::none;
  u32 vector = 1;     // .v2, .v4
  u32 rank = 0;       // rank of the array
  u32 alignment = 0;  // 0: the type's own
  std::string_view name;
  bool is_range = false;
  u64 count = 0;  // %r<9>: 9
  bool is_array = false;
  bool unsized = false;  // extern name[]
  bool managed = false;
  u64 elements = 1;  // product of the extents
  std::vector<initial_value> initial;
};

enum class statement_kind : u8 { instruction, label, declaration, targets, open, close };

struct statement {
  statement_kind kind = statement_kind::instruction;
  place at;
  std::string_view label;
  u32 index = 0;  // into instructions, declarations or targets of the function
};

// `label: .branchtargets a, b;`, .calltargets and .callprototype: the lists that brx.idx and call name as
// their last operand.
enum class targets_kind : u8 { branch, call, prototype };

struct target_name {
  std::string_view name;
  place at;
  u64 count = 0;  // a<2>: a0, a1; otherwise 0
};

struct targets {
  targets_kind kind = targets_kind::branch;
  place at;
  std::string_view label;
  std::vector<target_name> names;
  std::vector<declaration> results, parameters;  // for a prototype
};

struct dimensions {
  bool given = false;
  ptx::dim3 extent{1, 1, 1};
};

struct function {
  place at;
  bool is_entry = false;
  bool has_body = false;
  linkage link = linkage::none;
  std::string_view name;
  std::vector<declaration> results;  // for a .func
  std::vector<declaration> parameters;
  std::string_view alias_of;  // the function that this name is an alias of
  place alias_at;
  dimensions maximum_threads;   // .maxntid
  dimensions required_threads;  // .reqntid
  dimensions required_cluster;  // .reqnctapercluster
  bool explicit_cluster = false;
  std::vector<statement> body;
  std::vector<instruction> instructions;
  std::vector<declaration> declarations;
  std::vector<targets> lists;
};

struct module {
  ptx::isa_version version;
  ptx::target target;
  bool family_specific = false;  // sm_100f
  unsigned address_bytes = 8;
  std::vector<declaration> variables;
  std::vector<function> functions;
  // Names that the text does not spell: for a<2>, a0 and a1.
  std::shared_ptr<std::deque<std::string>> names = std::make_shared<std::deque<std::string>>();
};

}  // namespace kaio::emulator::syntax
