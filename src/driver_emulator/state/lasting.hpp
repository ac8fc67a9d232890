#pragma once
// Objects that outlive the static ones. At the end of a process they are not destroyed, because its other threads,
// and destructors of its static objects, may still call the driver. Where the library is closed (dlclose) they
// are, so that a program which opens and closes it does not grow.
//
//   driver_state& state() {
//     static auto* const s = make_lasting<driver_state>();
//     return *s;
//   }

#include <memory>

namespace kaio::driver_emulator {

namespace detail {
// Takes the object; it is destroyed before those that were given before it.
void keep_until_closed(void* object, void (*destroy)(void*));
}  // namespace detail

template <class Object>
Object* make_lasting() {
  auto made = std::make_unique<Object>();
  detail::keep_until_closed(made.get(), [](void* object) { delete static_cast<Object*>(object); });
  return made.release();
}

}  // namespace kaio::driver_emulator
