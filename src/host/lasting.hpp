#pragma once
// Objects that outlive the static ones. At the end of a process they are not destroyed: its other threads, and
// destructors of its static objects, may still use them. If their library is closed (dlclose), they are destroyed, so
// that a program which opens and closes it does not grow. They go in the order in which they were asked for, since an
// earlier one may use a later one.
//
//   driver_state& state() {
//     static auto& s = *host::make_lasting<driver_state>();
//     return s;
//   }

#include <utility>

namespace kaio::host {

namespace detail {
struct lasting {
  void* object = nullptr;
  void (*destroy)(void*) = nullptr;
  lasting* next = nullptr;
};
// A place at the end of the list.
lasting& next_lasting();
}  // namespace detail

template <class Object, class... Arguments>
Object* make_lasting(Arguments&&... arguments) {
  detail::lasting& place = detail::next_lasting();
  auto* const made = new Object(std::forward<Arguments>(arguments)...);
  place.destroy = [](void* object) { delete static_cast<Object*>(object); };
  place.object = made;
  return made;
}

// Calls a function once: at the end of the process, as std::atexit does, or when the library is closed, before
// the lasting objects are destroyed.
void at_end(void (*function)());

}  // namespace kaio::host
