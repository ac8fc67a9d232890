#pragma once
// The decoder's state while it works on one function: scopes and symbols, labels, the frame in local memory.
// `instruction_decoder` uses it for one instruction at a time. The members that decode statements are in
// decode_statements.cpp.

#include "emulator/decode/kernel_decoder.hpp"
#include "emulator/parse/syntax.hpp"
#include "emulator/program/architecture.hpp"
#include "emulator/program/error.hpp"
#include "emulator/program/program.hpp"

#include <cstddef>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kaio::emulator {

class function_decoder {
 public:
  function_decoder(kernel_decoder& kernel, const syntax::function& text, u32 number, bool is_root);

  // Each step runs for all functions of a kernel before the next one: labels and places in memory, then
  // instructions, then the code, appended after that of the previous functions.
  void collect();
  void decode();
  void append();

  // Finds a symbol by its name from the current scope; a register gets its row. nullptr if there is none.
  const symbol* find(std::string_view name);
  // Element `.x` of a vector register; nullptr if there is none.
  const symbol* find_element(std::string_view name, std::string_view member);
  // The index of a label, looked up from the current scope.
  u32 label(std::string_view name, const place& at);
  // The list that brx.idx or call names, declared before; nullptr if there is none.
  const syntax::targets* targets(std::string_view name);
  // The labels of .branchtargets, as from label(): the result is the first index in entry::branch_targets.
  u32 branch_targets(const syntax::targets& list, u32& count);

  u32 constant_row(unsigned bytes, u64 low, u64 high = 0) {
    return kernel_.constant_row(bytes, low, high, here_);
  }
  u32 predicate_constant_row(bool value) { return kernel_.predicate_constant_row(value, here_); }
  u32 special_row_of(special_form which, unsigned bytes) {
    return kernel_.special_row_of(which, bytes, here_);
  }
  // The row that holds the address of a module's variable.
  u32 address_row(u32 variable, u64 addend, bool generic) {
    return kernel_.address_row(variable, addend, generic, here_);
  }
  // A row with the address of a symbol that is no register, within its state space, plus `addend`.
  u32 symbol_row(const symbol& s, u64 addend, unsigned bytes);
  // Appends an instruction that the text does not have. Returns the row of its result.
  u32 add_instruction(operation op, ptx::type type, std::initializer_list<u32> from,
                      ptx::type source_type = ptx::type::none);
  // A row for one instruction and the next.
  u32 temporary_row(unsigned bytes) { return kernel_.allocate_row(bytes, here_); }
  // A frame variable's address is the value of this row plus symbol::value. no_row: a kernel, whose frame is
  // at 0.
  u32 frame_row() const { return is_root_ ? no_row : kernel_.result.frame_row; }
  // The corresponding pair for the frame of a function that is called from here.
  u32 callee_base_row() const { return allocates_ ? top_row_ : frame_row(); }
  u32 callee_base() const { return allocates_ ? 0 : static_cast<u32>(frame_bytes()); }
  u32 top_row() const { return top_row_; }
  // Adds a call, and returns its index in entry::calls. `back`: this function may run again before the call
  // returns.
  u32 add_call(call_site site, bool back);

  // Fills in the registers that an instruction reads and writes, without the rows of constants.
  void note_uses(instruction& i, const std::vector<u32>& reads, const std::vector<u32>& writes) {
    kernel_.note_uses(i, reads, writes);
  }
  u32 trash_row() const { return kernel_.trash_row; }
  u32 always_row() const { return kernel_.always_row; }

  const module_symbols& module() const { return kernel_.module; }
  kernel_decoder& kernel() { return kernel_; }
  entry& result() { return kernel_.result; }
  // Notes a reduction in global memory. Its order does not show, unless kinds are mixed.
  void note_reduction(u32 form) { kernel_.note_reduction(form); }
  bool is_kernel() const { return is_root_ && text_.is_entry; }
  bool is_root() const { return is_root_; }
  u32 number() const { return number_; }
  u32 index() const { return index_; }
  bool allocates() const { return allocates_; }
  u64 frame_bytes() const { return align_up(frame_bytes_, kernel_.frame_alignment); }
  const syntax::function& text() const { return text_; }

  [[noreturn]] static void fail(const place& at, std::string reason);
  // Throws unless .version and .target have the feature.
  void require(std::string_view feature, std::string_view called, const place& at) const;

 private:
  struct scope {
    int parent = -1;
    std::unordered_map<std::string_view, symbol> names;
    std::unordered_map<std::string_view, const syntax::declaration*> ranges;  // %r<9>
    std::unordered_map<std::string_view, u32> labels;
    std::unordered_map<std::string_view, const syntax::targets*> lists;
  };

  void kernel_parameters();
  void frame_parameters();
  void frame_variable(const syntax::declaration& d);
  void declare(const syntax::declaration& d);
  void declare_name(const syntax::declaration& d, symbol s);
  symbol register_symbol(const syntax::declaration& d) const;
  symbol local_symbol(const syntax::declaration& d) const;
  const symbol* find_in_ranges(scope& in, std::string_view name);
  void statements();
  void instruction_statement(const syntax::instruction& i);
  void indexed_instruction(const syntax::instruction& i);
  bool names_special(const syntax::operand& o);
  bool has_special(const syntax::instruction& i);
  void special_instruction(const syntax::instruction& i);
  void begin();
  void end();
  void place_register(symbol& s, std::string_view name);

  kernel_decoder& kernel_;
  const syntax::function& text_;
  const u32 number_;
  const bool is_root_;
  u32 index_ = no_function;
  std::vector<scope> scopes_;
  std::vector<u32> scope_of_open_;  // scope that the i-th `{` opens
  std::size_t opened_ = 0;
  int current_ = 0;
  std::vector<u32> label_index_;  // label -> index in the code
  std::unordered_map<const syntax::declaration*, u64> frame_places_;
  std::deque<std::string> element_names_;  // names of vector elements and sums
  std::vector<instruction> code_;
  std::vector<kept_row> rows_;
  u64 frame_bytes_ = 0;
  bool allocates_ = false;
  u32 top_row_ = no_row;
  place here_;
};

}  // namespace kaio::emulator
