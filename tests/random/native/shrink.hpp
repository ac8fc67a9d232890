#pragma once
// Makes a failing program smaller: statements are taken out, one at a time, as long as it still fails and
// every name that is read has been given a value.

#include "tests/random/native/program.hpp"

#include <cstddef>
#include <vector>

namespace kaio::tests::random {
namespace detail {

inline bool reads_known(const expression& e, const std::vector<bool>& known) {
  if (e.what == op::read && !known[e.name]) return false;
  for (const expression& operand : e.operands)
    if (!reads_known(operand, known)) return false;
  return true;
}

// Whether a loop begins as the generator made it: l.break_if(counter >= count); counter += 1.
inline bool ends(const std::vector<statement>& body) {
  if (body.size() < 2 || body[0].what != action::leave || body[1].what != action::add_to) return false;
  const expression& condition = body[0].operands[0];
  return condition.what == op::greater_equal && condition.operands[0].what == op::read &&
         condition.operands[0].name == body[1].name;
}

// Whether all names that a body reads and assigns are declared before.
inline bool is_closed(const std::vector<statement>& body, std::vector<bool>& known) {
  for (const statement& s : body) {
    const std::size_t result = s.what == action::call ? 1 : 0;  // is computed after the body
    for (std::size_t k = 0; k + result < s.operands.size(); ++k)
      if (!reads_known(s.operands[k], known)) return false;
    for (const parameter& p : s.parameters) known[p.name] = true;
    if (s.what >= action::shuffle && !known[s.source]) return false;
    if (s.what >= action::assign && s.what <= action::shift_by && !known[s.name]) return false;
    if (s.what == action::loop && !ends(s.body)) return false;
    if ((s.what <= action::declare || s.what >= action::range) && result == 0) known[s.name] = true;
    if (!is_closed(s.body, known) || !is_closed(s.rest, known)) return false;
    if (result == 0) continue;
    if (!reads_known(s.operands.back(), known)) return false;
    known[s.name] = true;
  }
  return true;
}

template <class Fails>
bool take_one(program& p, std::vector<statement>& body, const Fails& fails) {
  for (std::size_t k = body.size(); k-- != 0;) {
    const statement removed = body[k];
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(k));
    std::vector<bool> known(p.names);
    for (std::uint32_t input = 0; input < buffers; ++input) known[input] = true;
    if (is_closed(p.body, known) && fails(p)) return true;
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(k), removed);
    if (take_one(p, body[k].body, fails) || take_one(p, body[k].rest, fails)) return true;
  }
  return false;
}

}  // namespace detail

template <class Fails>
program shrink(program p, const Fails& fails) {
  while (detail::take_one(p, p.body, fails)) {
  }
  return p;
}

}  // namespace kaio::tests::random
