#pragma once
// The declarations of a ptx_op besides its text. They are the types of its results and operands as a function type, its
// effect, and the first target and version that have it.
//
//   u32(u32, u32, i32)                                  // one result, three operands
//   void(ptx_global, u32)                               // an address in global memory and a number
//   ptx_results<u32, bool>(u32, u32)                    // two results

#include <kaio/dsl/expression/val.hpp>
#include <kaio/dsl/number/index_list.hpp>
#include <kaio/ptx/target.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kaio::dsl {

// The effect of an instruction besides its results.
enum class ptx_effect : std::uint8_t {
  // Nothing: the results depend on the operands, and on registers that never change. An equal instruction may share it;
  // if its results are not used, it is left out.
  pure,
  // It reads or writes memory, or another state that instructions change: a clock, the carry flag, other lanes. It
  // stays, in the order of the kernel's statements.
  memory,
  // Like memory; in addition every thread of the block waits for all others, as at t.barrier().
  barrier
};

// The first architecture and PTX ISA version that have an instruction. Not stated: what the catalogue knows.
//   ptx_since{.target = {90, true}, .version = {8, 0}}      // sm_90a alone
struct ptx_since {
  ptx::target target = {0, false};
  ptx::isa_version version = {0, 0};
};

// Operands that are addresses: of a cell in global memory, and of a place in shared memory.
struct ptx_global {};
struct ptx_shared {};

namespace detail {

template <std::uint32_t I, class T>
struct ptx_result {
  val<T> result;
};
template <class Indices, class... T>
class ptx_result_list;
template <std::uint32_t... I, class... T>
class ptx_result_list<index_list<I...>, T...> : ptx_result<I, T>... {
 public:
  constexpr ptx_result_list(tracer& t, const value* ids) : ptx_result<I, T>{val<T>(t, ids[I])}... {}

  template <std::size_t N>
  constexpr const auto& get() const {
    return at<static_cast<std::uint32_t>(N)>(*this);
  }

 private:
  template <std::uint32_t N, class U>
  static constexpr const val<U>& at(const ptx_result<N, U>& one) {
    return one.result;
  }
};

}  // namespace detail

// Several results: const auto [lanes, all] = op(t, x); or get<0>().
template <class... T>
class ptx_results : public detail::ptx_result_list<indices<sizeof...(T)>, T...> {
 public:
  using detail::ptx_result_list<indices<sizeof...(T)>, T...>::ptx_result_list;
};

namespace detail {

// A register of PTX has 16, 32 or 64 bits, or is a predicate.
template <class T>
inline constexpr bool is_ptx_number = false;
template <scalar T>
inline constexpr bool is_ptx_number<T> = ptx::size_of(ptx_type<T>) != 1;

template <class T>
inline constexpr bool is_ptx_address = std::is_same_v<T, ptx_global> || std::is_same_v<T, ptx_shared>;

template <class R>
struct ptx_result_types {
  static constexpr std::uint32_t count = 1;
  static constexpr bool are_numbers = is_ptx_number<R>;
  static constexpr ptx::type list[] = {ptx_type<R>};
};
template <>
struct ptx_result_types<void> {
  static constexpr std::uint32_t count = 0;
  static constexpr bool are_numbers = true;
  static constexpr ptx::type list[] = {ptx::type::none};
};
template <class... T>
struct ptx_result_types<ptx_results<T...>> {
  static constexpr std::uint32_t count = sizeof...(T);
  static constexpr bool are_numbers = (is_ptx_number<T> && ...);
  static constexpr ptx::type list[] = {ptx_type<T>..., ptx::type::none};
};

}  // namespace detail
}  // namespace kaio::dsl

template <class... T>
struct std::tuple_size<kaio::dsl::ptx_results<T...>> {
  static constexpr std::size_t value = sizeof...(T);
};
template <std::size_t I, class... T>
struct std::tuple_element<I, kaio::dsl::ptx_results<T...>> {
  using type =
      std::remove_cvref_t<decltype(kaio::dsl::imagine<kaio::dsl::ptx_results<T...>>().template get<I>())>;
};
