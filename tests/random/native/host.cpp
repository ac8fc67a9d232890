// A random program on the host: every thread by itself from one exchange to the next.
#include "tests/random/native/program.hpp"

#include <array>
#include <cstring>
#include <random>
#include <utility>

namespace kaio::tests::random {
namespace {

template <class T>
using is_type = std::type_identity<T>;

class interpreter {
 public:
  interpreter(const program& p, const contents& inputs, contents& outputs)
      : program_(p), outputs_(outputs), names_(p.names) {
    for (std::uint32_t k = 0; k < buffers; ++k)
      for (std::uint32_t i = 0; i < threads; ++i)
        std::memcpy(&names_[k][i], &inputs[k][i * size_of(p.inputs[k])], size_of(p.inputs[k]));
  }

  void run_together(const std::vector<statement>& body) {
    for (const statement& s : body) {
      switch (s.what) {
        case action::rounds: run_rounds(s); break;
        case action::shuffle:
          for (std::uint32_t i = 0; i < threads; ++i) names_[s.name][i] = names_[s.source][i ^ s.number];
          break;
        case action::rearrange:
          for (std::uint32_t i = 0; i < threads; ++i)
            names_[s.name][i] = names_[s.source][(i * s.number + 3) % threads];
          break;
        case action::reduce: with_type(s.type, [&]<class T>(is_type<T>) { reduce<T>(s); }); break;
        default:
          for (thread_ = 0; thread_ < threads; ++thread_) run(s);
      }
    }
  }

 private:
  // How a body ended: at its end, or by a break or continue of the loop around it.
  enum class outcome : std::uint8_t { end, leave, skip };

  template <class T>
  T get(std::uint32_t name, std::uint32_t i) const {
    T x;
    std::memcpy(static_cast<void*>(&x), &names_[name][i], sizeof(T));
    return x;
  }
  template <class T>
  void set(std::uint32_t name, std::uint32_t i, T x) {
    std::memcpy(&names_[name][i], static_cast<const void*>(&x), sizeof(T));
  }

  template <class T>
  void reduce(const statement& s) {
    T all = get<T>(s.source, 0);
    for (std::uint32_t i = 1; i < threads; ++i) {
      const T x = get<T>(s.source, i);
      all = is_float<T> ? host::maximum(all, x) : host::add(all, x);
    }
    for (std::uint32_t i = 0; i < threads; ++i) set(s.name, i, all);
  }

  void run_rounds(const statement& s) {
    for (std::int64_t k = s.operands[0].whole; k < s.operands[1].whole; k += s.operands[2].whole) {
      for (std::uint32_t i = 0; i < threads; ++i)
        with_type(s.type, [&]<class T>(is_type<T>) { set(s.name, i, host::number<T>(k)); });
      run_together(s.body);
    }
  }

  // --- statements of one thread
  outcome run(const std::vector<statement>& body) {
    for (const statement& s : body)
      if (const outcome by = run(s); by != outcome::end) return by;
    return outcome::end;
  }

  outcome run(const statement& s) {
    switch (s.what) {
      case action::when: return run(condition(s.operands[0]) ? s.body : s.rest);
      case action::range:
        return with_type(s.type, [&]<class T>(is_type<T>) {
          if constexpr (!is_float<T>) return count<T>(s);
          return outcome::end;
        });
      case action::loop:
        for (;;)
          if (const auto [stops, how] = ends_loop(run(s.body)); stops) return how;
      case action::leave: return exit(s, outcome::leave);
      case action::skip: return exit(s, outcome::skip);
      case action::call: call(s); return outcome::end;
      default: break;
    }
    if (s.type == element::boolean)
      set(s.name, thread_, condition(s.operands[0]));
    else
      with_type(s.type, [&]<class T>(is_type<T>) { keep<T>(s); });
    return outcome::end;
  }

  outcome exit(const statement& s, outcome how) {
    if (!condition(s.operands[0])) return outcome::end;
    outwards_ = s.number;
    return how;
  }
  // Whether a round with this outcome ends the loop, and the outcome of the loop.
  std::pair<bool, outcome> ends_loop(outcome round) {
    if (round == outcome::end) return {false, outcome::end};
    if (outwards_ == 0) return {round == outcome::leave, outcome::end};
    --outwards_;
    return {true, round};
  }

  // A var parameter holds what the caller's var holds, which nothing else reads or assigns in the meantime.
  void call(const statement& s) {
    for (std::size_t k = 0; k < s.parameters.size(); ++k)
      with_type(s.parameters[k].type,
                [&]<class T>(is_type<T>) { set(s.parameters[k].name, thread_, number<T>(s.operands[k])); });
    run(s.body);
    with_type(s.type, [&]<class T>(is_type<T>) { set(s.name, thread_, number<T>(s.operands.back())); });
    for (std::size_t k = 0; k < s.parameters.size(); ++k)
      if (s.parameters[k].is_var) names_[s.operands[k].name][thread_] = names_[s.parameters[k].name][thread_];
  }

  template <class T>
  outcome count(const statement& s) {
    __extension__ using wide = __int128;
    const wide first = number<T>(s.operands[0]);
    const wide last = number<T>(s.operands[1]);
    const wide step = number<T>(s.operands[2]);
    for (wide k = first; step > 0 ? k < last : k > last; k += step) {
      set(s.name, thread_, static_cast<T>(k));
      if (const auto [stops, how] = ends_loop(run(s.body)); stops) return how;
    }
    return outcome::end;
  }

  // Binds, assigns or stores.
  template <class T>
  void keep(const statement& s) {
    const expression& e = s.operands[0];
    if constexpr (!is_float<T>)
      if (s.what == action::shift_by)
        return set(s.name, thread_, host::shift_right(get<T>(s.name, thread_), number<kaio::u32>(e)));
    if (is_float<T> && e.what == op::mul && (s.what == action::add_to || s.what == action::sub_from)) {
      const T x = number<T>(e.operands[0]);
      const T y = number<T>(e.operands[1]);
      const T old = get<T>(s.name, thread_);
      return set(s.name, thread_, s.what == action::add_to ? plus<T>(x, y, old) : minus<T>(x, y, old));
    }
    const T x = number<T>(e);
    if (s.what == action::store) {
      const std::size_t at = (std::size_t{s.number} * threads + thread_) * sizeof(T);
      std::memcpy(&outputs_[s.output][at], static_cast<const void*>(&x), sizeof(T));
      return;
    }
    if (s.what == action::bind || s.what == action::declare || s.what == action::assign)
      return set(s.name, thread_, x);
    const T old = get<T>(s.name, thread_);
    if constexpr (!is_float<T>)
      if (s.what == action::or_with) return set(s.name, thread_, host::bit_or(old, x));
    set(s.name, thread_,
        s.what == action::add_to     ? host::add(old, x)
        : s.what == action::sub_from ? host::sub(old, x)
                                     : host::mul(old, x));
  }

  // --- expressions
  bool condition(const expression& e) {
    switch (e.what) {
      case op::read: return get<bool>(e.name, thread_);
      case op::both: return condition(e.operands[0]) && condition(e.operands[1]);
      case op::either: return condition(e.operands[0]) || condition(e.operands[1]);
      case op::negation: return !condition(e.operands[0]);
      default: break;
    }
    return with_type(e.operands[0].type, [&]<class T>(is_type<T>) {
      const auto a = host::order(number<T>(e.operands[0]));
      const auto b = host::order(number<T>(e.operands[1]));
      switch (e.what) {
        case op::less: return a < b;
        case op::less_equal: return a <= b;
        case op::greater: return a > b;
        case op::greater_equal: return a >= b;
        case op::equal: return a == b;
        default: return a != b;
      }
    });
  }

  template <class T>
  bool fuses() const {
    return is_float<T> && program_.contract && (!std::is_same_v<T, kaio::bf16> || program_.target >= 80);
  }
  // x * y + z, z - x * y, x * y - z, as one expression.
  template <class T>
  T plus(T x, T y, T z) const {
    if constexpr (is_float<T>)
      if (fuses<T>()) return host::fma(x, y, z);
    return host::add(host::mul(x, y), z);
  }
  template <class T>
  T minus(T x, T y, T z) const {
    if constexpr (is_float<T>)
      if (fuses<T>()) return host::fma(host::neg(x), y, z);
    return host::sub(z, host::mul(x, y));
  }
  template <class T>
  T minus_term(T x, T y, T z) const {
    if constexpr (is_float<T>)
      if (fuses<T>()) return host::fma(x, y, host::neg(z));
    return host::sub(host::mul(x, y), z);
  }

  template <class T>
  T convert(const expression& from) {
    return with_type(from.type, [&]<class From>(is_type<From>) {
      const auto x = number<From>(from);
      if constexpr (is_float<From> && !is_float<T>)
        return host::cast<T>(host::is_nan(x) ? host::number<From>(1) : x);
      else
        return host::cast<T>(x);
    });
  }

  template <class T>
  T number(const expression& e) {
    const auto at = [&](std::size_t k) { return number<T>(e.operands[k]); };
    switch (e.what) {
      case op::literal:
        if constexpr (is_float<T>)
          return host::number<T>(e.real);
        else
          return static_cast<T>(e.whole);
      case op::read: return get<T>(e.name, thread_);
      case op::convert: return convert<T>(e.operands[0]);
      case op::from_condition: return host::number<T>(condition(e.operands[0]) ? 1 : 0);
      case op::add: return host::add(at(0), at(1));
      case op::sub: return host::sub(at(0), at(1));
      case op::mul: return host::mul(at(0), at(1));
      case op::quotient: return host::quotient(at(0), at(1));
      case op::minimum: return host::minimum(at(0), at(1));
      case op::maximum: return host::maximum(at(0), at(1));
      case op::neg: return host::neg(at(0));
      case op::abs: return host::abs(at(0));
      case op::select: return condition(e.operands[0]) ? at(1) : at(2);
      case op::product_plus: return plus<T>(at(0), at(1), at(2));
      case op::plus_product: return plus<T>(at(0), at(1), at(2));
      case op::product_minus: return minus_term<T>(at(0), at(1), at(2));
      case op::minus_product: return minus<T>(at(0), at(1), at(2));
      case op::two_products: return plus<T>(at(0), at(1), host::mul(at(2), at(3)));
      case op::polynomial: return plus<T>(plus<T>(at(0), at(1), at(2)), at(3), at(4));
      case op::lesser: {
        const T b = at(1);
        return host::order(at(0)) < host::order(b) ? host::add(at(2), at(3)) : b;
      }
      case op::clamped: return host::minimum(host::maximum(at(0), at(1)), at(2));
      default: break;
    }
    if constexpr (is_float<T>)
      return host::sqrt(at(0));
    else
      return integer<T>(e);
  }

  template <class T>
  T integer(const expression& e) {
    const auto at = [&](std::size_t k) { return number<T>(e.operands[k]); };
    const auto by = static_cast<kaio::u32>(e.whole);
    const auto amount = [&] { return number<kaio::u32>(e.operands[1]) & 63; };
    switch (e.what) {
      case op::remainder: return host::remainder(at(0), at(1));
      case op::bit_and: return host::bit_and(at(0), at(1));
      case op::bit_or: return host::bit_or(at(0), at(1));
      case op::bit_xor: return host::bit_xor(at(0), at(1));
      case op::mul_hi: return host::mul_hi(at(0), at(1));
      case op::add_sat: return host::add_sat(at(0), at(1));
      case op::sub_sat: return host::sub_sat(at(0), at(1));
      case op::shift_left: return host::shift_left(at(0), amount());
      case op::shift_right: return host::shift_right(at(0), amount());
      case op::shift_left_by: return host::shift_left(at(0), by);
      case op::shift_right_by: return host::shift_right(at(0), by);
      case op::rotate_left: return host::rotate_left(at(0), by);
      case op::bit_not: return host::bit_not(at(0));
      case op::brev: return host::brev(at(0));
      case op::masked: return host::bit_xor(host::bit_and(at(0), at(1)), at(2));
      default: return host::add(host::shift_left(at(0), by), at(1));  // shifted_sum
    }
  }

  const program& program_;
  contents& outputs_;
  std::vector<std::array<std::uint64_t, threads>> names_;  // the bits of each name's value in each thread
  std::uint32_t thread_ = 0;
  std::uint32_t outwards_ = 0;  // loops that end before the one that leave or skip means
};

}  // namespace

contents make_inputs(const program& p) {
  std::mt19937_64 engine(p.seed * 1000003 + p.number + 1);
  contents result(buffers);
  for (std::uint32_t k = 0; k < buffers; ++k)
    with_type(p.inputs[k], [&]<class T>(is_type<T>) {
      for (std::uint32_t i = 0; i < threads; ++i) {
        const T x = draw<T>(engine);
        const auto* const bytes = reinterpret_cast<const std::byte*>(&x);
        result[k].insert(result[k].end(), bytes, bytes + sizeof(T));
      }
    });
  return result;
}

contents poisoned_outputs(const program& p) {
  contents result(buffers);
  for (std::uint32_t k = 0; k < buffers; ++k)
    result[k].assign(p.slots[k] * threads * size_of(p.outputs[k]), poison_byte);
  return result;
}

contents run_on_host(const program& p, const contents& inputs) {
  contents outputs = poisoned_outputs(p);
  interpreter(p, inputs, outputs).run_together(p.body);
  return outputs;
}

std::string difference(const program& p, const contents& got, const contents& want) {
  for (std::uint32_t k = 0; k < buffers; ++k) {
    const std::string found = with_type(p.outputs[k], [&]<class T>(is_type<T>) {
      for (std::size_t at = 0; at < want[k].size(); at += sizeof(T)) {
        T a;
        T b;
        std::memcpy(static_cast<void*>(&a), &got[k][at], sizeof(T));
        std::memcpy(static_cast<void*>(&b), &want[k][at], sizeof(T));
        if (same(a, b)) continue;
        std::uint64_t bits[2] = {};
        std::memcpy(&bits[0], &a, sizeof(T));
        std::memcpy(&bits[1], &b, sizeof(T));
        return p.name() + ": y" + std::to_string(k) + "[" + std::to_string(at / sizeof(T)) +
               "] has the bits " + std::to_string(bits[0]) + ", not " + std::to_string(bits[1]);
      }
      return std::string();
    });
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace kaio::tests::random
