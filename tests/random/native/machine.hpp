#pragma once
// A random program while it is traced: the device values of its names, and for each number's type the
// functions of the language on it. The functions of a type are in typed.hpp and compiled in one of
// device_*.cpp, because they are what costs time to compile.

#include "tests/random/native/device.hpp"

#include <any>
#include <memory>
#include <vector>

namespace kaio::tests::random {

class machine {
 public:
  machine(const program& p, dsl::tracer& t, const dsl::value* outputs)
      : thread(t, {threads, 1, 1}), index(thread.let(thread_idx_x())), outputs_(outputs), names_(p.names) {}

  dsl::thread thread;
  val<u32> index;

  template <class T>
  val<T> get(std::uint32_t name) const {
    if (auto* const* reference = std::any_cast<var<T>*>(&names_[name])) return **reference;
    if (const auto* variable = std::any_cast<var<T>>(&names_[name])) return *variable;
    return std::any_cast<const val<T>&>(names_[name]);
  }
  template <class T>
  var<T>& variable(std::uint32_t name) {
    if (auto* const* reference = std::any_cast<var<T>*>(&names_[name])) return **reference;
    return std::any_cast<var<T>&>(names_[name]);
  }
  template <class T>
  void refer(std::uint32_t name, var<T>& to) {
    names_[name].emplace<var<T>*>(std::addressof(to));
  }
  template <class T>
  void bind(std::uint32_t name, const val<T>& x) {
    names_[name].emplace<val<T>>(x);
  }
  template <class T, class E>
  void declare(std::uint32_t name, const E& e) {
    names_[name].emplace<var<T>>(thread, e);
  }
  template <class T>
  out<T> output(std::uint32_t k) const {
    return {{&thread.trace(), outputs_[k]}};
  }

  void run(const std::vector<statement>& body);
  val<bool> condition(const expression& e);

  std::vector<const dsl::loop_control*>
      loops;  // those around the statement that is traced, the innermost last

 private:
  void run(const statement& s);
  void guarded(const statement& s);
  void call(const statement& s);

  const dsl::value* outputs_;
  std::vector<std::any> names_;
};

// The functions on one type.
template <class T>
struct typed {
  static val<T> number(machine& m, const expression& e);
  static val<bool> compare(machine& m, const expression& e);
  static void run(machine& m, const statement& s);
};

}  // namespace kaio::tests::random
