#pragma once
// Walks what was recorded between a variable and an expression. A value is made of older values, so one pass from the
// expression down marks what it needs. One pass up computes the tangent of each marked value that depends on the
// variable (forward mode).
//
//   const value dy = differentiator<tracer>(t, y, x).run();      // 0: y does not depend on x

#include <kaio/dsl/derivative/function_rules.hpp>
#include <kaio/dsl/derivative/instruction_rules.hpp>
#include <kaio/dsl/derivative/refusal.hpp>

#include <cstdint>

namespace kaio::dsl::detail {

// A template, so that kernels without derivatives do not pay for the rules.
template <class Tracer>
class differentiator {
 public:
  constexpr differentiator(Tracer& t, value y, value x) : t_(t), y_(y), x_(x), start_(t.definition_of(x)) {}

  constexpr value run() {
    if (tracer::is_constant(y_) || y_ < x_) return 0;
    if (t_.call_count() == tracer::max_calls) return refuse(derivative_refusal.calls, y_);
    nodes_ = new node[y_ - x_ + 1]{};
    at(x_).tangent = t_.one(t_.type_of(x_));
    for (std::uint32_t n = t_.call_count(); n-- != 0;)
      if (const value v = t_.call_at(n).result; v > x_ && v <= y_) at(v).call = n + 1;
    at(y_).needed = true;
    for (value v = y_; v > x_; --v)
      if (at(v).needed) mark_sources(v);
    for (value v = x_ + 1; v <= y_ && !t_.probing(); ++v)
      if (at(v).needed) at(v).tangent = tangent_of(v);
    const value result = at(y_).tangent;
    delete[] nodes_;
    return t_.probing() ? 0 : result;
  }

 private:
  struct node {
    bool needed = false;
    value user = 0;          // a value that was computed from it
    std::uint32_t call = 0;  // the number of the call that gave it, from 1; 0: none
    value tangent = 0;
  };
  // Replaces the tangent of an integer or a predicate that was made from the variable.
  static constexpr value discrete = 0xffffffffu;
  // Replaces that of an integer var written since: it counts as a constant, but a float made of its bits is refused.
  static constexpr value written = 0xfffffffeu;

  constexpr node& at(value v) { return nodes_[v - x_]; }
  constexpr bool is_after(value v) const { return !tracer::is_constant(v) && v > x_ && v <= y_; }
  constexpr value tangent(value v) {
    const value found = v == x_ || is_after(v) ? at(v).tangent : 0;
    return found == written ? 0 : found;
  }
  constexpr void mark(value v, value user) {
    if (!is_after(v)) return;
    at(v).needed = true;
    at(v).user = user;
  }

  // Whether it is a pure instruction that its operands identify. Any other is read as it was recorded.
  constexpr bool has_key(value v) const {
    const opcode op = t_.made_of(v).f.op;
    return op != opcode::none && op != opcode::ld_nc && op != opcode::ld_const && op != opcode::ld_param &&
           op != opcode::ld;
  }

  template <class Function>
  constexpr void each_source(value v, const Function& function) {
    if (t_.snapshot_of(v) != 0) return;
    if (has_key(v)) {
      const tracer::key made = t_.made_of(v);
      const opcode op = made.f.op;
      if (op == opcode::setp || rounds_to_whole(made.f)) return;
      if (made.a != 0) function(made.a);
      if (made.b != 0) function(made.b);
      if (op == opcode::selp) return;  // a condition only chooses
      if (made.c != 0) function(made.c);
      if (made.d != 0) function(made.d);
      return;
    }
    const std::uint32_t position = t_.definition_of(v);
    if (position <= tracer::prologue_size) return;
    const std::uint32_t end = t_.operands_end(position);
    for (std::uint32_t k = t_.recorded(position).first_operand; k < end; ++k) {
      const operand& o = t_.operand_of_program(k);
      const bool is_register = o.kind == operand_kind::reg || o.kind == operand_kind::address;
      if (is_register && o.index < v) function(original(o.index));
    }
  }

  // If the variable of the derivative is a snapshot of a var, instructions read the var's register in its place.
  constexpr value original(value reg) const {
    const std::uint32_t variable = t_.snapshot_of(x_);
    return variable != 0 && t_.variable_register(variable) == reg ? x_ : reg;
  }

  // floor, ceil, trunc, rint
  static constexpr bool rounds_to_whole(const form& f) {
    return f.op == opcode::cvt && ptx::is_floating(f.result) && ptx::is_floating(f.t1) &&
           (ptx::contains(f.modifiers, modifier::rni) || ptx::contains(f.modifiers, modifier::rzi) ||
            ptx::contains(f.modifiers, modifier::rmi) || ptx::contains(f.modifiers, modifier::rpi));
  }

  constexpr void mark_sources(value v) {
    if (const std::uint32_t n = at(v).call; n != 0) {
      mark(t_.call_at(n - 1).a, v);
      mark(t_.call_at(n - 1).b, v);
    } else {
      each_source(v, [&](value source) { mark(source, v); });
    }
  }

  constexpr value tangent_of(value v) {
    if (const std::uint32_t n = at(v).call; n != 0) return of_call(t_.call_at(n - 1));
    if (t_.snapshot_of(v) != 0) return of_snapshot(v);
    bool depends = false, is_discrete = false;
    each_source(v, [&](value source) {
      const value d = tangent(source);
      depends = depends || d != 0;
      is_discrete = is_discrete || d == discrete;
    });
    const type t = t_.type_of(v);
    if (!depends) {
      if (reads_written_local(v)) return refuse(derivative_refusal.local, at(v).user);
      if (is_made_of_written(v)) {
        if (!ptx::is_floating(t)) return written;
        if (is_copy_of_bits(v)) return refuse(derivative_refusal.variable, v);
      }
      return !has_key(v) && reads_written_var(v) ? refuse(derivative_refusal.variable, v) : 0;
    }
    if (!ptx::is_floating(t)) return discrete;
    if (ptx::is_packed(t))
      return refuse(is_discrete ? derivative_refusal.bits : derivative_refusal.packed, v);
    if (!has_key(v)) {
      const opcode op = t_.recorded(t_.definition_of(v)).op;
      return refuse(op == opcode::mov ? derivative_refusal.packed : refusal_of(op), v);
    }
    const tracer::key made = t_.made_of(v);
    if (made.f.op == opcode::mov || made.f.op == opcode::cvt) return of_conversion(v, made);
    const operand_tangents d{tangent(made.a), tangent(made.b),
                             made.f.op == opcode::selp ? 0 : tangent(made.c)};
    if (rule_of(made.f.op) != derivative_rule::tangent) return refuse(refusal_of(made.f.op), v);
    return instruction_tangent(t_, t).of(made, v, d);
  }

  constexpr value of_call(const tracer::call& c) {
    const value da = tangent(c.a), db = tangent(c.b);
    if (da == 0 && db == 0) return 0;
    if (t_.type_of(c.result) == type::f64) return function_tangent<f64>(t_).of(c, da, db);
    return function_tangent<f32>(t_).of(c, da, db);
  }

  constexpr bool is_made_of_written(value v) {
    bool found = false;
    each_source(v,
                [&](value source) { found = found || (is_after(source) && at(source).tangent == written); });
    return found;
  }
  constexpr bool is_copy_of_bits(value v) const {
    const opcode op = has_key(v) ? t_.made_of(v).f.op : t_.recorded(t_.definition_of(v)).op;
    return op == opcode::mov;
  }

  // A var. If it is no float, it can depend on the variable in steps, or hold its bits.
  constexpr value of_snapshot(value v) {
    const value reg = t_.variable_register(t_.snapshot_of(v));
    const bool may_depend = t_.is_written(reg, start_, t_.definition_of(v)) || t_.is_before_loop(start_);
    if (!ptx::is_floating(t_.type_of(v))) return may_depend ? written : 0;
    if (may_depend)
      return refuse(derivative_refusal.variable, at(v).user);  // read before its statement begins
    return t_.snapshot_of(v) == t_.snapshot_of(x_) ? at(x_).tangent : 0;
  }

  // A shuffle of a var reads its register.
  constexpr bool reads_written_var(value v) const {
    const std::uint32_t position = t_.definition_of(v);
    if (position <= tracer::prologue_size) return false;
    for (std::uint32_t k = t_.recorded(position).first_operand; k < t_.operands_end(position); ++k) {
      const operand& o = t_.operand_of_program(k);
      if (o.kind == operand_kind::reg && ptx::is_floating(o.type) && t_.definition_of(o.index) == 0 &&
          (t_.is_written(o.index, start_, position) || t_.is_before_loop(start_)))
        return true;
    }
    return false;
  }

  constexpr bool reads_written_local(value v) const {
    const std::uint32_t position = t_.definition_of(v);
    if (position <= tracer::prologue_size) return false;
    const ptx::instruction& i = t_.recorded(position);
    return i.op == opcode::ld && ptx::contains(i.modifiers, modifier::local) &&
           (t_.writes_local(start_, position) || t_.is_before_loop(start_));
  }

  // mov and cvt: conversions between floats, and those of bf16 that older architectures do through the bits.
  constexpr value of_conversion(value v, const tracer::key& made) {
    const type to = t_.type_of(v);
    const value a = before_bits(made);
    const type from = t_.type_of(a);
    const value d = tangent(a);
    if (d == 0) return 0;
    const bool is_copy = made.f.op == opcode::mov && a == made.a;
    if (d == discrete || (is_copy && from != to))
      return refuse(ptx::is_floating(made.f.t0) ? derivative_refusal.integer : derivative_refusal.bits, v);
    if (!ptx::is_floating(from) || ptx::is_packed(from)) return refuse(derivative_refusal.packed, v);
    if (to == from) return d;
    return d == t_.one(from) ? t_.one(to) : t_.cast(to, from, d);
  }

  // The float that tracer::from_bf16, to_odd_f32 or upper_half took apart; otherwise the operand.
  constexpr value before_bits(const tracer::key& made) const {
    const auto made_by = [&](value v, opcode op) {
      return !tracer::is_constant(v) && v != 0 && t_.made_of(v).f.op == op;
    };
    if (tracer::is_constant(made.a) || made.a == 0) return made.a;
    const tracer::key inner = t_.made_of(made.a);
    if (made.f.op == opcode::mov && made.f.result == type::f32) {
      if (inner.f.op == opcode::shl && made_by(inner.a, opcode::cvt)) {
        const value source = t_.made_of(inner.a).a;
        if (t_.type_of(source) == type::bf16) return source;
      }
      if (inner.f.op == opcode::or_ && made_by(inner.a, opcode::mov)) {
        const value down = t_.made_of(inner.a).a;
        if (made_by(down, opcode::cvt) && ptx::contains(t_.made_of(down).f.modifiers, modifier::rz))
          return t_.made_of(down).a;
      }
    }
    if (made.f.op == opcode::cvt && made.f.result == type::bf16 && made.f.t0 == type::u16 &&
        inner.f.op == opcode::selp && made_by(inner.c, opcode::setp))
      return t_.made_of(inner.c).a;
    return made.a;
  }

  // Reports a fault of the kernel: in the line that computed the value or, if none is known, in that of derivative().
  constexpr value refuse(const char* message, value v) {
    const std::uint32_t position = v == 0 ? 0 : t_.definition_of(v);
    if (position != 0)
      if (const ptx::source_line line = t_.line_of(position); line.line != 0)
        t_.declare(line.line, line.file);
    t_.fail(message);
    return 0;
  }

  Tracer& t_;
  value y_, x_;
  std::uint32_t start_;  // the position where the variable was made
  node* nodes_ = nullptr;
};

}  // namespace kaio::dsl::detail
