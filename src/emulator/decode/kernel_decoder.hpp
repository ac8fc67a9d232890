#pragma once
// The decoder's state for one kernel and all functions that it reaches: the resulting entry, the rows of its
// register file, and its shared memory. decode_kernel makes it, and a function_decoder for each function.

#include "emulator/decode/call_graph.hpp"
#include "emulator/decode/decode_budget.hpp"
#include "emulator/parse/syntax.hpp"
#include "emulator/program/architecture.hpp"
#include "emulator/program/program.hpp"

#include <array>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kaio::emulator {

// The facts about a module while its kernels are decoded.
struct module_symbols {
  const syntax::module& text;
  const architecture& device;
  const decode_budget& budget;
  std::unordered_map<std::string_view, u32> variables;                      // .global and .const
  std::unordered_map<const syntax::declaration*, u32> scoped;               // variables of functions
  std::unordered_map<std::string_view, const syntax::declaration*> shared;  // module-scope .shared
  function_table functions;
  std::vector<u32> element_bytes;                        // by index of the variable
  std::unordered_map<std::string_view, place> declared;  // first place of each variable in the text
  const call_graph* graph = nullptr;
  const decoded_module* decoded = nullptr;
  std::size_t instructions = 0;                        // decoded so far
  std::vector<const syntax::declaration*> local = {};  // module-scope .local
};

enum class symbol_kind : u8 { reg, vector_reg, shared, local, variable, param, call_param, function };

// The role of a parameter of a call, symbol_kind::call_param.
enum class parameter_role : u8 { argument, input, result };

struct symbol {
  symbol_kind kind = symbol_kind::reg;
  ptx::type type = ptx::type::none;
  bool placed = false;  // a register with a row
  u64 value = 0;        // row, offset in its space or frame, variable index, function number
  u64 bytes = 0;
  u32 count = 1;          // elements of a vector register
  u32 alignment = 1;      // for a parameter of a call
  u32 element_bytes = 0;  // for a variable
  bool absolute = false;  // local memory, counted from the thread's first byte and not from a frame
  parameter_role role = parameter_role::argument;
};

class kernel_decoder {
 public:
  // `root`: the number of the kernel. It may also be a function that no kernel reaches: it is decoded without
  // its callees, as a check.
  kernel_decoder(module_symbols& module, u32 root);

  const syntax::function& text() const { return text_; }
  // The functions that it reaches, the kernel last.
  const reached_functions& reached() const { return reached_; }
  // Gives a reached function its place in entry::functions.
  void add_function(u32 number);
  // Fixes the size of shared memory, after the declarations of all functions.
  void lay_out_shared();

  u32 allocate_row(unsigned bytes_of_lane, const place& at);
  u32 constant_row(unsigned bytes, u64 low, u64 high, const place& at);
  u32 predicate_constant_row(bool value, const place& at);
  u32 special_row_of(special_form which, unsigned bytes, const place& at);
  u32 address_row(u32 variable, u64 addend, bool generic, const place& at);
  // A row with the address of a shared or local variable of known size, plus `addend`. It is shared with no
  // constant, so that the address is known by its row.
  u32 known_address_row(const symbol& s, u64 addend, unsigned bytes, const place& at);
  // Notes that an access names the variable.
  void note_access(const symbol& s, u32 site);
  void place_register(symbol& s, std::string_view name, const place& at);
  void note_uses(instruction& i, const std::vector<u32>& reads, const std::vector<u32>& writes);
  void note_reduction(u32 kind);
  symbol place_shared(const syntax::declaration& d);
  // A module-scope .shared variable, which takes its place at its first use.
  const symbol* module_shared(std::string_view name) const;
  void use_module_shared(std::string_view name);
  const symbol& declared_shared(const syntax::declaration& d) const { return declared_shared_.at(&d); }
  void declare_shared(const syntax::declaration& d) { declared_shared_.emplace(&d, place_shared(d)); }
  // A module-scope .local variable has its place in the kernel's frame, and every function sees it there.
  void place_module_local(std::string_view name, const symbol& s) { module_local_.emplace(name, s); }
  const symbol* module_local(std::string_view name) const;
  void count_instruction(const place& at);
  bool may_return_to(u32 caller, u32 callee) const;
  bool pointers_may_return_to(u32 caller) const;
  u32 index_of(u32 function) const;  // in entry::functions; no_function if it is not reached

  module_symbols& module;
  entry result;
  u32 trash_row = 0, always_row = 0;
  u32 frame_alignment = 16;

 private:
  void header();

  const u32 root_;
  const syntax::function& text_;
  reached_functions reached_;
  std::unordered_map<u32, u32> index_;
  std::unordered_map<u32, u32> register_of_row_;
  std::map<std::pair<unsigned, std::pair<u64, u64>>, u32> constants_;
  std::map<std::pair<special_form, unsigned>, u32> specials_;
  std::map<std::pair<u32, std::pair<u64, bool>>, u32> addresses_;
  std::map<std::array<u64, 5>, u32> known_rows_;
  std::unordered_map<std::string_view, symbol> module_shared_, module_local_;
  std::unordered_map<const syntax::declaration*, symbol> declared_shared_;
  u64 shared_bytes_ = 0;
  u32 dynamic_alignment_ = 1;
  u32 reductions_ = 0;
};

inline constexpr u64 align_up(u64 value, u64 alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// The place of a function's next result or parameter in its frame, whose first `at` bytes are taken. Adds the
// result or parameter to `signature`.
struct frame_slot {
  u32 offset, bytes;
};
frame_slot place_in_frame(const syntax::declaration& d, u64& at, u64& signature, bool is_result);

// The bytes of a register in its row, per lane; 0: a predicate.
u32 row_bytes_of(ptx::type type);
u32 alignment_of(const syntax::declaration& d);
u64 bytes_of(const syntax::declaration& d);

}  // namespace kaio::emulator
