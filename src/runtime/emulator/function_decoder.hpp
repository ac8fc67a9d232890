#pragma once
// The decoder's state while it works on one kernel: scopes and symbols, rows of the register file, labels.
// `form` (form.hpp) stands on it for one instruction at a time.

#include "runtime/emulator/architecture.hpp"
#include "runtime/emulator/decoder.hpp"
#include "runtime/emulator/error.hpp"
#include "runtime/emulator/program.hpp"
#include "runtime/emulator/syntax.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kaio::runtime::emulator {

// What is known of a module's variables while its kernels are decoded.
struct module_symbols {
  const syntax::module& text;
  const architecture& device;
  const decode_budget& budget;
  std::unordered_map<std::string_view, u32> variables;                      // .global and .const
  std::unordered_map<std::string_view, const syntax::declaration*> shared;  // module-scope .shared
  std::unordered_map<std::string_view, const syntax::function*> functions;
  const decoded_module* decoded = nullptr;
};

enum class symbol_kind : u8 { reg, shared, local, variable, param, call_param };

struct symbol {
  symbol_kind kind = symbol_kind::reg;
  ptx::type type = ptx::type::none;
  bool placed = false;  // a register that has a row
  u64 value = 0;        // row, offset in its space, or index of a variable
  u64 bytes = 0;
};

class function_decoder {
 public:
  function_decoder(const module_symbols& module, const syntax::function& text);
  entry decode();

  // A symbol by its name, seen from the current scope; a register gets its row. nullptr if there is none.
  const symbol* find(std::string_view name);
  // The index of a label, seen from the current scope.
  u32 label(std::string_view name, const place& at);
  u32 constant_row(unsigned bytes, u64 low, u64 high = 0);
  u32 predicate_constant_row(bool value);
  u32 special_row_of(special_form which, unsigned bytes);
  // The row that holds the address of a module's variable.
  u32 address_row(u32 variable, u64 addend, bool generic);
  // Fills in which registers an instruction reads and writes; rows of constants are left out.
  void note_uses(instruction& i, const std::vector<u32>& reads, const std::vector<u32>& writes);
  u32 trash_row() const { return trash_row_; }
  u32 always_row() const { return always_row_; }

  const module_symbols& module() const { return module_; }
  entry& result() { return entry_; }
  void note_reduction(
      u32 form);  // a reduction in global memory whose order does not show, unless kinds are mixed

  [[noreturn]] static void fail(const place& at, std::string reason);
  // Throws unless .version and .target have the feature.
  void require(std::string_view feature, std::string_view called, const place& at) const;

 private:
  struct scope {
    int parent = -1;
    std::unordered_map<std::string_view, symbol> names;
    std::unordered_map<std::string_view, std::pair<ptx::type, u64>> ranges;  // %r<9>
    std::unordered_map<std::string_view, u32> labels;
  };

  void parameters();
  void collect_labels();
  void declare(const syntax::declaration& d);
  const symbol* find_in_ranges(scope& in, std::string_view name);
  symbol place_shared(const syntax::declaration& d);
  void statements();
  void resolve_branches();
  u32 allocate_row(unsigned bytes_of_lane, const place& at);
  void place_register(symbol& s, std::string_view name, const place& at);
  void limits();

  const module_symbols& module_;
  const syntax::function& text_;
  entry entry_;
  std::vector<scope> scopes_;
  std::vector<u32> scope_of_open_;  // scope that the i-th `{` opens
  std::size_t opened_ = 0;
  int current_ = 0;
  std::unordered_map<u32, u32> register_of_row_;
  std::vector<u32> label_index_;  // label -> index in the code
  std::map<std::pair<unsigned, std::pair<u64, u64>>, u32> constants_;
  std::map<std::pair<special_form, unsigned>, u32> specials_;
  std::map<std::pair<u32, std::pair<u64, bool>>, u32> addresses_;
  std::unordered_map<std::string_view, symbol> module_shared_;
  std::unordered_map<const syntax::declaration*, symbol> declared_shared_;  // of the function itself
  u64 shared_bytes_ = 0, local_bytes_ = 0;
  u32 dynamic_alignment_ = 1;
  u32 trash_row_ = 0, always_row_ = 0;
  u32 reductions_ = 0;
  place here_;
};

}  // namespace kaio::runtime::emulator
