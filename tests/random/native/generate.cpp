// Makes random programs. Each draws from an engine of its own, seeded with (seed, number), so any of them can
// be made again alone. Only the fixed parts of <random> are used, so all libraries make the same ones.
#include "tests/random/native/program.hpp"

#include <random>
#include <utility>

namespace kaio::tests::random {
namespace {

using expressions = std::vector<expression>;

class generator {
 public:
  generator(std::uint64_t seed, std::uint32_t number) : engine_(seed * 1000003 + number) {
    made_.seed = seed;
    made_.number = number;
  }

  program make() {
    made_.contract = chance(80);
    made_.target = one_of<std::uint16_t>({70, 80, 90});
    take_three(made_.inputs);
    take_three(made_.outputs);
    for (const element t : made_.inputs) scope_.push_back({made_.names++, t, false});
    for (const element t : made_.outputs) {  // sums of the results of bodies
      statement sum{.what = action::declare, .type = t};
      sum.operands.push_back(literal(t));
      sum.name = declare(t, true);
      made_.body.push_back(std::move(sum));
    }
    for (std::uint32_t n = 6 + below(8); n != 0; --n) add_statements(made_.body, true);
    observe(made_.body, 0);
    return std::move(made_);
  }

 private:
  struct known {
    std::uint32_t name;
    element type;
    bool is_var;
  };

  // --- choices
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(engine_() % n); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<std::uint32_t>(list.size()))];
  }
  element any_number() { return static_cast<element>(below(numbers)); }
  // Mostly those of the inputs and outputs, so that values are used as they are.
  element own_number() {
    const std::uint32_t pick = below(15);
    return pick >= 12 ? any_number() : pick % 4 == 3 ? made_.inputs[pick / 4] : made_.outputs[pick / 4];
  }
  element any_integer() { return static_cast<element>(below(8)); }
  void take_three(element (&list)[buffers]) {
    for (std::uint32_t k = 0; k < buffers;) {
      list[k] = any_number();
      bool is_new = true;
      for (std::uint32_t j = 0; j < k; ++j) is_new = is_new && list[j] != list[k];
      if (is_new) ++k;
    }
  }

  // --- expressions; random draws are in braces, which have an order
  static expression whole(element type, std::int64_t number) {
    expression e{op::literal, type};
    e.whole = number;
    return e;
  }
  static expression read(std::uint32_t name, element type) {
    expression e{op::read, type};
    e.name = name;
    return e;
  }

  expression literal(element type) {
    if (is_floating(type)) {
      expression e{op::literal, type};
      e.real = one_of({0.5, 1.5, 2.0, -3.0, 0.25, 7.0, -0.75, 100.0});
      return e;
    }
    if (size_of(type) == 8 && chance(30)) return whole(type, static_cast<std::int64_t>(engine_() >> 2));
    const std::int64_t number = one_of<std::int64_t>({1, 2, 3, 5, 7, 8, 10, 16, 31, 64, 100, 127});
    return whole(type, is_signed(type) && chance(30) ? -number : number);
  }

  expression leaf(element type) {
    std::vector<known> same;
    for (const known& k : scope_)
      if (k.type == type) same.push_back(k);
    if (!same.empty() && chance(80))
      return read(same[below(static_cast<std::uint32_t>(same.size()))].name, type);
    return converted(type, scope_[below(static_cast<std::uint32_t>(scope_.size()))]);
  }

  static expression converted(element type, const known& from) {
    expression e = read(from.name, from.type);
    if (from.type == type) return e;
    return expression{from.type == element::boolean ? op::from_condition : op::convert, type, {std::move(e)}};
  }

  expression number(element type, int depth) {
    if (depth <= 0 || chance(10)) return leaf(type);
    if (chance(15)) return together(type, depth);
    return is_floating(type) ? real(type, depth) : integer(type, depth);
  }

  expressions operands(element type, int depth) {
    if (chance(3)) return {literal(type), literal(type)};
    expression a = number(type, depth - 1);
    if (!chance(25)) return {std::move(a), number(type, depth - 1)};
    expression b = literal(type);
    if (chance(30)) std::swap(a, b);
    return {std::move(a), std::move(b)};
  }

  // One expression of several operators, as the language gets it.
  expression together(element type, int depth) {
    const auto arguments = [&](int count) {
      expressions list;
      for (; count > 1; --count) list.push_back(number(type, depth - 2));
      list.push_back(chance(25) ? literal(type) : number(type, depth - 2));
      return list;
    };
    switch (below(is_integer(type) ? 10 : 8)) {
      case 0: return expression{op::product_plus, type, arguments(3)};
      case 1: return expression{op::plus_product, type, arguments(3)};
      case 2: return expression{op::product_minus, type, arguments(3)};
      case 3: return expression{op::minus_product, type, arguments(3)};
      case 4: return expression{op::two_products, type, arguments(4)};
      case 5: return expression{op::polynomial, type, arguments(5)};
      case 6: return expression{op::lesser, type, arguments(4)};
      case 7: return expression{op::clamped, type, arguments(3)};
      case 8: return expression{op::masked, type, arguments(3)};
      default: {
        expression e = expression{op::shifted_sum, type, arguments(2)};
        e.whole = below(static_cast<std::uint32_t>(8 * size_of(type)));
        return e;
      }
    }
  }

  expression either(element type, int depth) {
    const std::uint32_t pick = below(100);
    if (pick < 25) return leaf(type);
    if (pick < 32) return expression{op::from_condition, type, {condition(depth - 1)}};
    expressions two = operands(type, depth);
    if (pick >= 50) return expression{pick < 75 ? op::minimum : op::maximum, type, std::move(two)};
    return expression{op::select, type, {condition(depth - 1), std::move(two[0]), std::move(two[1])}};
  }

  expression real(element type, int depth) {
    const std::uint32_t pick = below(100);
    if (pick < 55) return expression{one_of({op::add, op::sub, op::mul}), type, operands(type, depth)};
    if (pick < 62) return expression{op::quotient, type, operands(type, depth)};
    if (pick < 80) return expression{one_of({op::neg, op::abs, op::sqrt}), type, {number(type, depth - 1)}};
    return either(type, depth);
  }

  expression integer(element type, int depth) {
    const std::uint32_t pick = below(100);
    const auto width = static_cast<std::uint32_t>(8 * size_of(type));
    if (pick < 40)
      return expression{one_of({op::add, op::sub, op::mul, op::bit_and, op::bit_or, op::bit_xor}), type,
                        operands(type, depth)};
    if (pick < 55) {
      expression a = number(type, depth - 1);
      if (chance(50)) {
        expression e = expression{one_of({op::shift_left_by, op::shift_right_by}), type, {std::move(a)}};
        e.whole = below(width + 3);
        return e;
      }
      return expression{
          one_of({op::shift_left, op::shift_right}), type, {std::move(a), number(element::u32, depth - 1)}};
    }
    if (pick < 70) {
      expression a = number(type, depth - 1);
      expression b = chance(60) ? literal(type) : small(type, depth - 1, 7, 1);
      if (b.what == op::literal && b.whole == -1) b.whole = 3;  // the least number has no quotient
      return expression{one_of({op::quotient, op::remainder}), type, {std::move(a), std::move(b)}};
    }
    if (pick < 78)
      return expression{one_of({op::mul_hi, op::add_sat, op::sub_sat}), type, operands(type, depth)};
    if (pick < 82) {
      if (chance(50)) return expression{op::brev, type, {number(type, depth - 1)}};
      expression e = expression{op::rotate_left, type, {number(type, depth - 1)}};
      e.whole = below(width);
      return e;
    }
    if (pick < 88)
      return expression{is_signed(type) ? one_of({op::bit_not, op::neg, op::abs}) : op::bit_not,
                        type,
                        {number(type, depth - 1)}};
    return either(type, depth);
  }

  // (x & mask) + least
  expression small(element type, int depth, std::int64_t mask, std::int64_t least) {
    expression masked = expression{op::bit_and, type, {number(type, depth), whole(type, mask)}};
    if (least == 0) return masked;
    return expression{op::add, type, {std::move(masked), whole(type, least)}};
  }

  expression condition(int depth) {
    if (depth > 0 && chance(30)) {
      const std::uint32_t pick = below(100);
      expression a = condition(depth - 1);
      if (pick >= 80) return expression{op::negation, element::boolean, {std::move(a)}};
      return expression{
          pick < 40 ? op::both : op::either, element::boolean, {std::move(a), condition(depth - 1)}};
    }
    std::vector<std::uint32_t> conditions;
    for (const known& k : scope_)
      if (k.type == element::boolean) conditions.push_back(k.name);
    if (!conditions.empty() && chance(20))
      return read(conditions[below(static_cast<std::uint32_t>(conditions.size()))], element::boolean);
    const element type = own_number();
    const op what =
        one_of({op::less, op::less_equal, op::greater, op::greater_equal, op::equal, op::not_equal});
    expression a = number(type, depth);
    return expression{
        what, element::boolean, {std::move(a), chance(40) ? literal(type) : number(type, depth)}};
  }

  expression any(element type, int depth) {
    return type == element::boolean ? condition(depth) : number(type, depth);
  }

  // --- statements
  std::uint32_t declare(element type, bool is_var) {
    scope_.push_back({made_.names, type, is_var});
    return made_.names++;
  }

  statement bind() {
    const element type = chance(6) ? element::boolean : own_number();
    statement s{.what = chance(35) ? action::declare : action::bind, .type = type};
    s.operands.push_back(any(type, 3));
    s.name = declare(type, s.what == action::declare);
    return s;
  }

  statement assign() {
    std::vector<known> variables;
    for (const known& k : scope_)
      if (k.is_var) variables.push_back(k);
    if (variables.empty()) return bind();
    const known to = variables[below(static_cast<std::uint32_t>(variables.size()))];
    statement s{.what = action::assign, .type = to.type, .name = to.name};
    if (to.type != element::boolean && chance(50)) {
      s.what = one_of({action::add_to, action::sub_from, action::mul_by});
      if (is_integer(to.type) && chance(30)) s.what = one_of({action::or_with, action::shift_by});
    }
    if (s.what == action::shift_by)
      s.operands.push_back(small(element::u32, 1, 63, 0));
    else
      s.operands.push_back(any(to.type, 2));
    return s;
  }

  statement store(std::uint32_t output, expression e) {
    statement s{.what = action::store, .type = made_.outputs[output], .output = output};
    s.operands.push_back(std::move(e));
    s.number = made_.slots[output]++;
    return s;
  }
  statement store() {
    const std::uint32_t output = below(buffers);
    return store(output, number(made_.outputs[output], 2));
  }

  // Most names made since `first` are stored, or added to values that outlive them; an unused value is
  // removed from a kernel, and would test nothing.
  void observe(std::vector<statement>& list, std::size_t first) {
    for (std::size_t k = first; k < scope_.size(); ++k) {
      const known& name = scope_[k];
      std::uint32_t output = 0;
      while (output < buffers && made_.outputs[output] != name.type) ++output;
      if (chance(15)) continue;
      if (output == buffers) {
        output = below(buffers);
        list.push_back(store(output, converted(made_.outputs[output], name)));
      } else if (first != 0 && is_integer(name.type) && chance(50)) {
        statement sum{.what = action::add_to, .type = name.type, .name = buffers + output};
        sum.operands.push_back(read(name.name, name.type));
        list.push_back(std::move(sum));
      } else {
        list.push_back(store(output, read(name.name, name.type)));
      }
    }
  }

  // A body with names of its own, and the counter of its loop.
  std::vector<statement> body(std::uint32_t count, bool is_loop, bool together = false) {
    const std::vector<known> before = scope_;
    std::vector<statement> list;
    ++depth_;
    if (is_loop) ++loops_;
    for (; count != 0; --count) {
      add_statements(list, together);
      if (loops_ != 0 && chance(is_loop ? 20 : 5)) list.push_back(exit());
    }
    observe(list, is_loop ? before.size() - 1 : before.size());
    if (is_loop) --loops_;
    --depth_;
    scope_ = before;
    return list;
  }

  // break_if or continue_if of a loop around, mostly the innermost; under a guard at times.
  statement exit() {
    statement s{.what = one_of({action::leave, action::skip}), .type = element::boolean};
    s.operands.push_back(condition(1));
    if (chance(25)) s.number = below(loops_);
    if (!chance(25)) return s;
    statement guard{.what = action::when, .type = element::boolean};
    guard.operands.push_back(condition(1));
    guard.body.push_back(std::move(s));
    return guard;
  }

  statement branch() {
    statement s{.what = action::when, .type = element::boolean};
    s.operands.push_back(condition(2));
    s.body = body(1 + below(3), false);
    if (chance(50)) s.rest = body(1 + below(2), false);
    return s;
  }

  // Constant, or known at run time. At run time all threads have one sign, or each thread chooses its own.
  expression step(element type) {
    const bool down = is_signed(type) && chance(25);
    if (!chance(30)) {
      const std::int64_t distance = one_of<std::int64_t>({1, 1, 2, 3});
      return whole(type, down ? -distance : distance);
    }
    expression up = small(type, 1, 3, 1);
    if (!down) return up;
    expression opposite{op::sub, type, {whole(type, 0), up}};
    if (chance(50)) return opposite;
    return expression{op::select, type, {condition(1), std::move(up), std::move(opposite)}};
  }

  static bool goes_down(const expression& step) {
    return step.what == op::sub || (step.what == op::literal && step.whole < 0);
  }

  statement bound_to(action what, expression e) {
    statement s{.what = what, .type = e.type, .name = declare(e.type, what == action::declare)};
    s.operands.push_back(std::move(e));
    return s;
  }

  // Bounds at the end of the type, where counter + step may overflow: the loop must not compare the sum with
  // the last counter. It does not with 8 and 16 bits, nor with a step that is known only at run time.
  void set_bounds_at_end(statement& s, const expression& by) {
    const bool down = goes_down(by);
    const auto width = static_cast<std::uint32_t>(8 * size_of(s.type));
    const std::uint64_t half = (std::uint64_t{1} << (width - 1)) - 1;  // the highest signed one
    const std::uint64_t highest = is_signed(s.type) ? half : 2 * half + 1;
    expression last = whole(s.type, static_cast<std::int64_t>(down ? ~highest : highest));
    expression distance = small(s.type, 1, 7, 0);
    s.operands = {expression{down ? op::add : op::sub, s.type, {last, std::move(distance)}}, last, by};
  }

  // A step that cannot be a constant: computed from the thread's element of the first input.
  expression step_of_input(element type) {
    expression x = converted(type, scope_.front());
    expression up{
        op::add, type, {expression{op::bit_and, type, {std::move(x), whole(type, 3)}}, whole(type, 1)}};
    if (!is_signed(type) || chance(50)) return up;
    return expression{op::sub, type, {whole(type, 0), std::move(up)}};
  }

  // The first and the last counter, of up to ten rounds, or of none.
  void set_bounds(statement& s, const expression& end, const expression& by) {
    const bool down = goes_down(by);
    if (size_of(s.type) < 4 && chance(12)) return set_bounds_at_end(s, by);
    expression from =
        end.what == op::literal || chance(40) ? whole(s.type, below(3)) : small(s.type, 1, 7, 0);
    expression to = end;
    if (down) std::swap(from, to);
    s.operands = {std::move(from), std::move(to), by};
  }

  // Ranges one after another. They have one end, which is a value, a variable or a literal, and some have the
  // same step, or the same beginning too; any may have no rounds in some threads.
  void add_ranges(std::vector<statement>& list) {
    const element type = any_integer();
    const bool is_known = chance(25);
    expression end = is_known ? whole(type, 3 + below(6)) : small(type, 1, 7, 0);
    if (!is_known) {
      const bool is_var = chance(20);  // which the bodies may assign to
      list.push_back(bound_to(is_var ? action::declare : action::bind, std::move(end)));
      end = read(list.back().name, type);
      if (is_var) end = expression{op::bit_and, type, {std::move(end), whole(type, 7)}};
    }
    const std::uint32_t count = chance(35) ? 2 + below(2) : 1;
    expressions previous;
    for (std::uint32_t n = 0; n < count; ++n) {
      if (n != 0 && chance(30)) list.push_back(chance(50) ? branch() : bind());
      statement s{.what = action::range, .type = type};
      if (scope_.front().name == 0 && chance(5)) {
        set_bounds_at_end(s, step_of_input(type));
      } else if (n != 0 && chance(60)) {
        s.operands = previous;
        if (chance(50)) set_bounds(s, end, previous[2]);
      } else {
        expression by = step(type);
        if (by.what != op::literal && chance(50)) {
          const bool down = goes_down(by);
          list.push_back(bound_to(action::bind, std::move(by)));
          by = read(list.back().name, type);
          if (down) by = expression{op::sub, type, {whole(type, 0), std::move(by)}};
        }
        set_bounds(s, end, by);
      }
      previous = s.operands;
      const bool all_known = is_known && s.operands[0].what == op::literal &&
                             s.operands[1].what == op::literal && s.operands[2].what == op::literal;
      const std::uint32_t pick = below(100);
      s.copies = pick < 60 || in_copies_   ? 1
                 : pick < 85               ? 2 + below(4)
                 : pick < 92 || !all_known ? no_unroll
                                           : 0;
      const std::vector<known> before = scope_;
      s.name = declare(type, false);
      const bool outside = std::exchange(in_copies_, in_copies_ || s.copies != 1);
      s.body = body(1 + below(3), true);
      in_copies_ = outside;
      scope_ = before;
      if (!chance(25)) {
        list.push_back(std::move(s));
        continue;
      }
      statement guard{.what = action::when, .type = element::boolean};
      guard.operands.push_back(condition(1));
      guard.body.push_back(std::move(s));
      if (chance(30)) guard.rest = body(1, false);
      list.push_back(std::move(guard));
    }
  }

  // A loop that a counter of its own ends.
  void add_loop(std::vector<statement>& list) {
    const element type = any_integer();
    statement counter{.what = action::declare, .type = type, .name = declare(type, false)};
    counter.operands.push_back(whole(type, 0));
    const expression count = read(counter.name, type);
    statement s{.what = action::loop, .type = type};
    statement leave{.what = action::leave, .type = element::boolean};
    leave.operands.push_back(
        expression{op::greater_equal, element::boolean, {count, whole(type, 1 + below(6))}});
    statement next{.what = action::add_to, .type = type, .name = counter.name};
    next.operands.push_back(whole(type, 1));
    list.push_back(std::move(counter));
    s.body.push_back(std::move(leave));
    s.body.push_back(std::move(next));
    for (statement& more : body(1 + below(3), true)) s.body.push_back(std::move(more));
    list.push_back(std::move(s));
  }

  // Adds the argument of a parameter: an expression, or a variable that is not an argument yet; false if there is no such
  // variable. The sums of observe() are not passed, so that a body has one name for each variable.
  bool add_argument(expressions& arguments, const parameter& p) {
    if (!p.is_var) {
      arguments.push_back(number(p.type, 2));
      return true;
    }
    std::vector<known> variables;
    for (const known& k : scope_) {
      bool is_free = k.is_var && k.type == p.type && k.name >= 2 * buffers;
      for (const expression& e : arguments) is_free = is_free && !(e.what == op::read && e.name == k.name);
      if (is_free) variables.push_back(k);
    }
    if (variables.empty()) return false;
    arguments.push_back(read(variables[below(static_cast<std::uint32_t>(variables.size()))].name, p.type));
    return true;
  }

  // Calls one of the earlier functions again; false if it takes variables that are not there.
  bool add_further_call(std::vector<statement>& list) {
    if (functions_.empty()) return false;
    statement s = functions_[below(static_cast<std::uint32_t>(functions_.size()))];
    expressions arguments;
    for (const parameter& p : s.parameters)
      if (!add_argument(arguments, p)) return false;
    arguments.push_back(s.operands.back());
    s.operands = std::move(arguments);
    s.name = declare(s.type, false);
    list.push_back(std::move(s));
    return true;
  }

  // A function of values and of references to variables, and its call. It sees nothing else and may be
  // called again, or it sees all that its caller has, except those variables.
  void add_call(std::vector<statement>& list) {
    if (chance(40) && add_further_call(list)) return;
    statement s{.what = action::call, .type = own_number()};
    for (std::uint32_t n = 1 + below(3); n != 0; --n) {
      parameter p{.type = own_number(), .is_var = chance(40)};
      if (p.is_var && !add_argument(s.operands, p)) p.is_var = false;
      if (!p.is_var) add_argument(s.operands, p);
      p.name = made_.names++;
      s.parameters.push_back(p);
    }
    const std::vector<known> before = scope_;
    const bool captures = chance(40);
    scope_.clear();
    for (const known& k : before) {
      bool is_seen = captures;
      for (std::size_t n = 0; n < s.parameters.size(); ++n)
        is_seen = is_seen && !(s.parameters[n].is_var && s.operands[n].name == k.name);
      if (is_seen) scope_.push_back(k);
    }
    for (const parameter& p : s.parameters) scope_.push_back({p.name, p.type, p.is_var});
    const std::size_t first = scope_.size();
    const std::uint32_t outside = std::exchange(loops_, 0);
    ++depth_;
    for (std::uint32_t n = 1 + below(3); n != 0; --n) add_statements(s.body, false);
    observe(s.body, first);
    s.operands.push_back(number(s.type, 2));
    --depth_;
    loops_ = outside;
    scope_ = before;
    s.name = declare(s.type, false);
    if (!captures) functions_.push_back(s);
    list.push_back(std::move(s));
  }

  // A range that all threads run alike: exchanges may be in it.
  statement rounds() {
    const element type = one_of({element::i32, element::u32, element::i64, element::u64});
    statement s{.what = action::rounds, .type = type};
    s.operands = {whole(type, below(2)), whole(type, 2 + below(3)), whole(type, 1)};
    s.copies = one_of({1u, 1u, 2u, no_unroll, 0u});
    const std::vector<known> before = scope_;
    s.name = declare(type, false);
    in_copies_ = s.copies != 1;
    s.body = body(1 + below(3), false, true);
    s.body.push_back(exchange());
    in_copies_ = false;
    scope_ = before;
    return s;
  }

  statement exchange() {
    std::vector<known> candidates;
    for (const known& k : scope_)
      if (k.type != element::boolean) candidates.push_back(k);
    const known from = candidates[below(static_cast<std::uint32_t>(candidates.size()))];
    const bool is_word = from.type != element::boolean && size_of(from.type) >= 4;
    statement s{
        .what = is_word ? one_of({action::shuffle, action::rearrange, action::reduce}) : action::rearrange,
        .type = from.type};
    s.source = from.name;
    s.number = s.what == action::shuffle ? one_of({1u, 2u, 4u, 8u, 16u, 31u}) : one_of({1u, 5u, 7u, 25u});
    s.name = declare(from.type, false);
    return s;
  }

  // `together`: all threads of the block come here.
  void add_statements(std::vector<statement>& list, bool together) {
    const std::uint32_t pick = below(100);
    if (pick < 37 || depth_ > 2) return list.push_back(bind());
    if (pick < 54) return list.push_back(assign());
    if (pick < 63) return list.push_back(store());
    if (pick < 73) return list.push_back(branch());
    if (pick < 84) return add_ranges(list);
    if (pick < 87) return add_loop(list);
    if (pick < 91) return add_call(list);
    if (!together) return list.push_back(assign());
    list.push_back(pick < 98 || depth_ != 0 ? exchange() : rounds());
  }

  std::mt19937_64 engine_;
  program made_;
  std::vector<known> scope_;
  std::vector<statement> functions_;  // calls of functions that see their parameters alone
  std::uint32_t depth_ = 0;
  std::uint32_t loops_ = 0;  // around, of each thread by itself
  bool in_copies_ = false;   // in a loop that is unrolled: copies of copies would be too large a kernel
};

}  // namespace

program generate(std::uint64_t seed, std::uint32_t number) { return generator(seed, number).make(); }

}  // namespace kaio::tests::random
