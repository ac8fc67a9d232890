#pragma once
// The frame of the random programs that are C++ text: it runs a kernel and compares every element that it
// stores with the host's result.

#include "tests/random/host.hpp"

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace kaio::tests::random {

struct program {
  // Inputs, and the expected outputs.
  class data {
   public:
    explicit data(u32 seed) : engine_(seed) {}

    template <class T>
    const std::vector<T>& input(u32 index) {
      return *static_cast<const std::vector<T>*>(inputs_.at(index).get());
    }
    template <class T>
    std::vector<T>& output(u32 index, u32 count) {
      auto made = std::make_shared<std::vector<T>>(count, poison<T>());
      outputs_.resize(std::max<std::size_t>(outputs_.size(), index + 1));
      outputs_[index] = made;
      return *made;
    }
    template <class T>
    const std::vector<T>& wanted(u32 index) const {
      return *static_cast<const std::vector<T>*>(outputs_.at(index).get());
    }

    template <class T>
    void add_input() {
      auto made = std::make_shared<std::vector<T>>(threads);
      for (T& x : *made) x = draw<T>(engine_);
      inputs_.push_back(made);
    }

   private:
    std::mt19937_64 engine_;
    std::vector<std::shared_ptr<void>> inputs_;
    std::vector<std::shared_ptr<void>> outputs_;
  };

  std::string name;
  const ptx::kernel_image* image;
  std::string (*run)(device& gpu, u32 seed);  // the error, or nothing
};

template <class... T>
struct types {};

namespace detail {

template <class T>
std::string compare(const std::string& name, u32 index, const std::vector<T>& got,
                    const std::vector<T>& want) {
  for (std::size_t k = 0; k < want.size(); ++k)
    if (!same(got[k], want[k])) {
      std::uint64_t a = 0;
      std::uint64_t b = 0;
      std::memcpy(&a, &got[k], sizeof(T));
      std::memcpy(&b, &want[k], sizeof(T));
      return name + ": y" + std::to_string(index) + "[" + std::to_string(k) + "] has the bits " +
             std::to_string(a) + ", not " + std::to_string(b);
    }
  return {};
}

template <const auto& Kernel, void (*Expect)(program::data&), class... In, class... Out, u32... I, u32... O>
std::string run(device& gpu, u32 seed, types<In...>, types<Out...>, dsl::index_list<I...>,
                dsl::index_list<O...>) {
  program::data data(seed);
  (data.template add_input<In>(), ...);
  Expect(data);
  auto inputs = std::make_tuple(gpu.upload(data.template input<In>(I))...);
  auto outputs =
      std::make_tuple(gpu.upload(std::vector<Out>(data.template wanted<Out>(O).size(), poison<Out>()))...);
  Kernel.launch(gpu.stream(), grid(1), std::get<I>(inputs)..., std::get<O>(outputs)...);
  std::string problem;
  ((problem.empty() ? void(problem = compare(std::string(Kernel.name()), O, std::get<O>(outputs).download(),
                                             data.template wanted<Out>(O)))
                    : void()),
   ...);
  return problem;
}

}  // namespace detail

template <const auto& Kernel, void (*Expect)(program::data&), class In, class Out>
struct runner;
template <const auto& Kernel, void (*Expect)(program::data&), class... In, class... Out>
struct runner<Kernel, Expect, types<In...>, types<Out...>> {
  static std::string run(device& gpu, u32 seed) {
    return detail::run<Kernel, Expect>(gpu, seed, types<In...>{}, types<Out...>{},
                                       dsl::indices<sizeof...(In)>{}, dsl::indices<sizeof...(Out)>{});
  }
};

template <const auto& Kernel, void (*Expect)(program::data&), class In, class Out>
program make_program() {
  return {std::string(Kernel.name()), &Kernel.image(), &runner<Kernel, Expect, In, Out>::run};
}

}  // namespace kaio::tests::random
