#pragma once
// One instruction while it is decoded: a family's decode function asks for its modifiers and operands, and
// fills in the result. As in ptxas, the order of modifiers does not matter, except for types. A modifier that
// no decoder asked for is an error.
//
//   void decode_popc(instruction_decoder& f) {
//     f.types(1);
//     f.allow(f.type(0), {ptx::type::b32, ptx::type::b64});
//     f.arity(2);
//     f.destination(0, 0, ptx::type::b32);
//     f.source(0, 1, f.type(0));
//     f.emit(operation::popc);
//   }

#include "emulator/decode/function_decoder.hpp"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::emulator {

class instruction_decoder {
 public:
  instruction_decoder(function_decoder& function, const syntax::instruction& text);

  // ---- modifiers ----
  bool accept(std::string_view modifier);                        // takes it if it is there
  int accept_one(std::initializer_list<std::string_view> from);  // index, or -1; two of them are an error
  int need_one(std::initializer_list<std::string_view> from, std::string_view what);
  // Takes all modifiers in this list, in the order of the text. Each may appear more than once.
  std::vector<std::string_view> accept_all(std::initializer_list<std::string_view> from);
  // Takes one modifier that belongs to the opcode and directly follows it, such as .wide in mul.wide.
  int need_first(std::initializer_list<std::string_view> from, std::string_view what);
  void types(std::size_t least, std::size_t most);
  void types(std::size_t count) { types(count, count); }
  std::size_t type_count() const { return type_count_; }
  ptx::type type(std::size_t i) const { return types_[i]; }
  void allow(ptx::type type, std::initializer_list<ptx::type> allowed);
  void rounding_modifier(bool required);  // .rn .rz .rm .rp
  void ftz_modifier(ptx::type type);      // .ftz, on .f32, .f16 and .f16x2 only
  void sat_modifier() { out.flags.sat = accept(".sat"); }
  void require(std::string_view feature) { function.require(feature, feature, text.at); }
  void require(std::string_view feature, std::string_view called) {
    function.require(feature, called, text.at);
  }

  // ---- operands ----
  void arity(std::size_t least, std::size_t most);
  void arity(std::size_t count) { arity(count, count); }
  const syntax::operand& operand(std::size_t i) const { return text.operands[i]; }
  std::size_t operands() const { return text.operands.size(); }
  void destination(std::size_t slot, std::size_t operand_index, ptx::type type);
  void source(std::size_t slot, std::size_t operand_index, ptx::type type);
  // For an operand whose type the instruction does not name, such as a shift amount or a member mask: no
  // floating-point register or constant is accepted, not even for .b32.
  void word_destination(std::size_t slot, std::size_t operand_index, ptx::type type);
  void word_source(std::size_t slot, std::size_t operand_index, ptx::type type);
  // A source that is a register or a constant of 0 to 255: a position or a length of bits.
  void bit_position(std::size_t slot, std::size_t operand_index);
  // Accepts only a register declared as untyped bits, or with the other type.
  void bits_destination(std::size_t slot, std::size_t operand_index, ptx::type bits, ptx::type other = {});
  void bits_source(std::size_t slot, std::size_t operand_index, ptx::type bits, ptx::type other = {});
  void bits_register(const syntax::operand& o, ptx::type bits, ptx::type other) const;
  // For any operand; `wider`: accepts a register wider than the type (ld, st, cvt).
  u32 destination_row(const syntax::operand& o, ptx::type type, bool wider, u8* bytes);
  u32 source_row(const syntax::operand& o, ptx::type type, bool wider, u8* bytes);
  u32 predicate_row(const syntax::operand& o, bool sink = true);  // a destination; `sink`: may be `_`
  u32 condition_row(const syntax::operand& o, bool& negated);     // a source: %p, !%p or a constant
  void address(std::size_t operand_index);
  state_space space_modifier();

  // Loads or stores a register-sized variable of the frame, for the current instruction.
  u32 load_from_frame(u64 place, ptx::type type);
  void store_to_frame(u64 place, ptx::type type, u32 row);

  // Appends rows to entry::rows; the first call of an instruction sets out.rows.
  void list_row(u32 row);
  void emit(operation op);  // checks the leftovers, appends `out`
  [[noreturn]] void fail(const place& at, std::string reason) const {
    function_decoder::fail(at, std::move(reason));
  }
  [[noreturn]] void fail(std::string reason) const { fail(text.at, std::move(reason)); }
  // Rejects a form that needs a newer target ({100, true}: sm_100a) and is not emulated.
  [[noreturn]] void fail_newer(const place& at, std::string_view form, ptx::target first) const;
  std::string name() const;  // opcode with its modifiers
  void finish_modifiers();

  function_decoder& function;
  const syntax::instruction& text;
  instruction out;

 private:
  instruction frame_access(operation op, u64 place, ptx::type type);
  const symbol& register_symbol(const syntax::operand& o) const;
  bool is_sum(const syntax::operand& o) const;
  u32 sum_row(const syntax::operand& o, ptx::type type, bool wider, u8* bytes);
  void no_minus(const syntax::operand& o) const;

  u64 used_ = 0;  // bit i: modifier i was asked for
  ptx::type types_[4] = {};
  std::size_t type_count_ = 0;
  bool types_read_ = false;
  bool listed_ = false;
  std::vector<u32> reads_, writes_;  // rows
};

using decode_function = void (*)(instruction_decoder&);

struct opcode_row {
  std::string_view opcode;
  decode_function decode;
};

// The families, each in its own file.
std::span<const opcode_row> arithmetic_opcodes();
std::span<const opcode_row> floating_opcodes();
std::span<const opcode_row> bit_opcodes();
std::span<const opcode_row> compare_opcodes();
std::span<const opcode_row> convert_opcodes();
std::span<const opcode_row> memory_opcodes();
std::span<const opcode_row> atomic_opcodes();
std::span<const opcode_row> cache_opcodes();
std::span<const opcode_row> call_opcodes();
std::span<const opcode_row> control_opcodes();
std::span<const opcode_row> warp_opcodes();
std::span<const opcode_row> cluster_opcodes();
std::span<const opcode_row> mma_opcodes();
std::span<const opcode_row> matrix_opcodes();
std::span<const opcode_row> wgmma_opcodes();
std::span<const opcode_row> async_opcodes();
std::span<const opcode_row> video_opcodes();
std::span<const opcode_row> texture_opcodes();
std::span<const opcode_row> surface_opcodes();

// Index into {".cta", ".gpu", ".sys", ".cluster"}, the order in which forms ask for a scope.
constexpr memory_scope scope_of(int index) {
  constexpr memory_scope scopes[] = {memory_scope::cta, memory_scope::gpu, memory_scope::sys,
                                     memory_scope::cluster};
  return scopes[index];
}

// barrier.cluster, which shares its opcode with the barriers of a block.
void decode_cluster_barrier(instruction_decoder& f);

// True if an operand of ld.param or st.param is in the function's frame: a parameter of a call made here, or
// a parameter or result of the function itself.
bool is_frame_parameter(instruction_decoder& f, std::size_t operand_index, access_kind access);

bool compatible(ptx::type instruction_type, ptx::type register_type, bool wider);

}  // namespace kaio::emulator
