#pragma once
// Checks that nothing touches a register while wgmma owns it. A product is in flight from its multiply_add
// until its group has been waited for. On every path through the finished program, around loops too, nothing
// reads or writes the accumulator in between, and nothing writes registers of A or metadata. Earlier accesses
// of the threads are before the fence of the batch that uses the register. So a missing wait does not
// compile; the hardware would silently be wrong, or ptxas would make all products wait.
//
//   static_assert(find_wgmma_fault(program).accumulator == 0);       // else the line that reads it too early
//
// The state of a register is a number. If two paths meet, the smaller nonzero number holds.
//   0  free     1  used by the open batch     2 + n  used by the n-th group before the last
// A wait for all but P groups frees registers with 2 + P or more.

#include <kaio/ptx/program.hpp>

#include <cstdint>

namespace kaio::ptx {

// The lines of the faulty statements; 0: none.
struct wgmma_fault {
  std::uint32_t accumulator = 0;  // reads or writes one that is in flight
  std::uint32_t operand = 0;      // writes registers of A, or metadata, that are in flight
  std::uint32_t unfenced = 0;     // multiplies registers that were touched since the batch began
  bool many_owners = false;       // more accumulators and operands in registers than the check follows
  bool many_labels = false;       // more loops and guards than it follows
};

class wgmma_order {
 public:
  constexpr explicit wgmma_order(const program& p) : program_(p) {
    for (std::uint32_t i = 0; i < p.instruction_count; ++i)
      if (is_product(p.instructions[i])) name_registers(p.instructions[i]);
    if (owners_ == 0) return;
    for (std::uint32_t i = 0; i < p.instruction_count; ++i) list(p.instructions[i]);
    if (fault_.many_owners || fault_.many_labels) return;
    while (walk()) {
    }
  }
  constexpr const wgmma_fault& fault() const { return fault_; }

 private:
  // Each accumulator, and each operand A, is one owner of registers; owners are numbered from 1.
  static constexpr std::uint32_t max_owners = 64;
  static constexpr std::uint32_t max_labels = 4096;
  static constexpr std::uint8_t oldest = 16;  // older than any group that a wait may leave

  enum class kind : std::uint8_t { label, jump, branch, fence, product, commit, wait, touch };
  struct event {
    kind what = kind::label;
    std::uint8_t owner = 0;     // touch; product: of D
    std::uint8_t operand = 0;   // product: owner of A, or 0
    std::uint8_t metadata = 0;  // product: owner of the metadata of a sparse A, or 0
    std::uint32_t number = 0;   // label; groups left by a wait
    std::uint16_t statement = 0;
  };
  struct state {
    bool reached = false;
    std::uint8_t distance[max_owners + 1] = {};
    bool touched[max_owners + 1] = {};  // since the last fence
  };

  static constexpr bool is_product(const instruction& i) {
    return i.op == opcode::wgmma_mma_async || i.op == opcode::wgmma_mma_async_sp;
  }
  constexpr const operand* operands_of(const instruction& i) const {
    return program_.operands + i.first_operand;
  }

  // The owner of a register; 0: no product uses it.
  constexpr std::uint8_t& owner(const operand& o) { return owner_[o.index]; }
  // The operands: {registers of D}, then the descriptor of A or {its registers}.
  constexpr void name_registers(const instruction& i) {
    const operand* const d = operands_of(i);
    if (owner(*d) == 0) {
      const std::uint8_t number = new_owner(false);
      for (std::uint32_t k = 0; k < d->bits; ++k) owner_[d->index + k] = number;
    }
    const operand* const a = d + 1;
    if (a->kind == operand_kind::pack) name(a + 1, a->index);
    if (i.op == opcode::wgmma_mma_async_sp) name(metadata_of(a), 1);
  }
  // The metadata comes after A and the descriptor of B.
  static constexpr const operand* metadata_of(const operand* a) {
    return a + (a->kind == operand_kind::pack ? a->index : 0) + 2;
  }
  constexpr void name(const operand* first, std::uint32_t count) {
    if (owner(*first) != 0) return;
    const std::uint8_t number = new_owner(true);
    for (std::uint32_t k = 0; k < count; ++k) owner(first[k]) = number;
  }
  constexpr std::uint8_t new_owner(bool of_operand) {
    if (owners_ == max_owners) {
      fault_.many_owners = true;
      return max_owners;
    }
    const auto number = static_cast<std::uint8_t>(++owners_);
    is_operand_[number] = of_operand;
    return number;
  }

  constexpr void add(kind what, const instruction& i, std::uint32_t number = 0, std::uint8_t of_owner = 0,
                     std::uint8_t of_operand = 0) {
    events_[count_++] = {what, of_owner, of_operand, 0, number, i.statement};
  }

  constexpr void add_label(kind what, const instruction& i, std::uint32_t label) {
    if (label >= max_labels) fault_.many_labels = true;
    add(what, i, label);
  }

  constexpr void list(const instruction& i) {
    const operand* const o = operands_of(i);
    switch (i.op) {
      case opcode::label: return add_label(kind::label, i, o->index);
      case opcode::bra: return add_label(i.guarded ? kind::branch : kind::jump, i, o->index);
      case opcode::wgmma_fence: return add(kind::fence, i);
      case opcode::wgmma_commit_group: return add(kind::commit, i);
      case opcode::wgmma_wait_group: return add(kind::wait, i, static_cast<std::uint32_t>(o->bits));
      default: break;
    }
    if (is_product(i)) {
      const operand* const a = o + 1;
      add(kind::product, i, 0, owner(*o), a->kind == operand_kind::pack ? owner(a[1]) : std::uint8_t{0});
      if (i.op == opcode::wgmma_mma_async_sp) events_[count_ - 1].metadata = owner(*metadata_of(a));
      return;
    }
    const std::uint32_t results = o->kind == operand_kind::pack ? o->index : 0;
    for (std::uint32_t k = 0; k < i.operand_count; ++k) {
      if (o[k].kind != operand_kind::reg) continue;
      const std::uint8_t number = owner(o[k]);
      if (number == 0 || (is_operand_[number] && k > results)) continue;  // inputs of wgmma may be read
      const event& last = events_[count_ == 0 ? 0 : count_ - 1];
      if (count_ == 0 || last.what != kind::touch || last.owner != number) add(kind::touch, i, 0, number);
    }
  }

  constexpr std::uint32_t line_of(const event& e) const {
    return e.statement == no_statement ? 1 : program_.statements[e.statement].line;
  }

  // Joins another path into the state at a label; true if the state changed.
  constexpr bool meet(std::uint32_t label, const state& s) {
    state& to = at_[label];
    bool is_news = !to.reached;
    to.reached = true;
    for (std::uint32_t k = 1; k <= owners_; ++k) {
      const std::uint8_t before = to.distance[k];
      if (s.distance[k] != 0 && (before == 0 || s.distance[k] < before)) {
        to.distance[k] = s.distance[k];
        is_news = true;
      }
      if (s.touched[k] && !to.touched[k]) to.touched[k] = is_news = true;
    }
    return is_news;
  }

  // Walks once over the program; true if a jump back changed the state of a place already passed.
  constexpr bool walk() {
    bool again = false;
    state now;
    now.reached = true;
    for (std::uint32_t n = 0; n < count_; ++n) {
      const event& e = events_[n];
      if (e.what == kind::label) {
        if (now.reached) meet(e.number, now);
        now = at_[e.number];
        passed_[e.number] = true;
      } else if (now.reached) {
        again = step(e, now) || again;
      }
    }
    return again;
  }

  constexpr bool step(const event& e, state& now) {
    switch (e.what) {
      case kind::jump:
      case kind::branch: {
        const bool is_news = meet(e.number, now);
        if (e.what == kind::jump) now.reached = false;
        return is_news && passed_[e.number];
      }
      case kind::fence:
        for (std::uint32_t k = 1; k <= owners_; ++k) now.touched[k] = false;
        return false;
      case kind::commit:
        for (std::uint32_t k = 1; k <= owners_; ++k)
          if (now.distance[k] != 0 && now.distance[k] < oldest) ++now.distance[k];
        return false;
      case kind::wait:
        for (std::uint32_t k = 1; k <= owners_; ++k)
          if (now.distance[k] >= 2 + e.number) now.distance[k] = 0;
        return false;
      case kind::product:
        if ((now.touched[e.owner] || now.touched[e.operand]) && fault_.unfenced == 0)
          fault_.unfenced = line_of(e);
        now.distance[e.owner] = 1;
        if (e.operand != 0) now.distance[e.operand] = 1;
        if (e.metadata != 0) now.distance[e.metadata] = 1;
        return false;
      case kind::touch: {
        std::uint32_t& first = is_operand_[e.owner] ? fault_.operand : fault_.accumulator;
        if (now.distance[e.owner] != 0 && first == 0) first = line_of(e);
        now.touched[e.owner] = true;
        return false;
      }
      case kind::label: return false;
    }
    return false;
  }

  const program& program_;
  std::uint8_t owner_[program::max_registers + 1] = {};
  bool is_operand_[max_owners + 1] = {};
  std::uint32_t owners_ = 0;
  event events_[2 * program::max_instructions] = {};
  std::uint32_t count_ = 0;
  state at_[max_labels] = {};
  bool passed_[max_labels] = {};
  wgmma_fault fault_;
};

constexpr wgmma_fault find_wgmma_fault(const program& p) {
  bool multiplies = false;
  for (std::uint32_t i = 0; i < p.instruction_count && !multiplies; ++i)
    multiplies = p.instructions[i].op == opcode::wgmma_fence;
  return multiplies ? wgmma_order(p).fault() : wgmma_fault{};
}

}  // namespace kaio::ptx
