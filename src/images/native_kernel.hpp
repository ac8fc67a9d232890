#pragma once
// Kernels that are traced natively. The same functions of the language record, render and check them as in a constant
// expression, but while the program runs. The programs of the operations' families do so. A test can trace something
// that is known only then, and compare the compiler's evaluation with the processor's. Only this file knows how
// compilation.hpp puts a kernel together.
//
//   const native_kernel made =
//       trace_kernel<in<f32>, out<f32>>("scale", 64, {}, [factor](thread, in<f32> x, out<f32> y) {
//         y[thread_idx_x()] = x[thread_idx_x()] * factor;
//       });
//   gpu.stream().launch(made.image(), {1}, arguments, 2);
//
// A rule that a kernel breaks is printed, and ends the process. Memory that an image points to belongs to its
// native_kernel, which has to outlive the calls that are given the image.

#include <kaio/dsl/kernel/launch.hpp>
#include <kaio/dsl/kernel/options.hpp>
#include <kaio/dsl/trace/soundness.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace kaio::images {

class native_kernel {
 public:
  const std::string& text() const { return storage_->text; }
  const ptx::kernel_image& image() const { return storage_->image; }

 private:
  // On the heap, because the image points into it.
  struct storage {
    std::string name;
    std::string text;
    std::vector<std::string_view> segments;
    std::vector<ptx::parameter> parameters;
    std::vector<ptx::source_line> statements;
    std::vector<std::uint16_t> statement_of_line;
    ptx::kernel_image image;
  };
  std::unique_ptr<storage> storage_ = std::make_unique<storage>();

  friend native_kernel trace_entry(std::string_view, dsl::block_size, const dsl::kernel_options&,
                                   std::vector<ptx::parameter>, const std::function<void(dsl::tracer&)>&);
};

// A kernel of parameters that are only known at run time. `body` is run once to record, and once for each
// depth of guards to check.
native_kernel trace_entry(std::string_view name, dsl::block_size block, const dsl::kernel_options& options,
                          std::vector<ptx::parameter> parameters,
                          const std::function<void(dsl::tracer&)>& body);

// A kernel of the parameters P; `body` is called as the lambda of a kernel is, and may capture.
template <class... P, class Body>
native_kernel trace_kernel(std::string_view name, dsl::block_size block, const dsl::kernel_options& options,
                           const Body& body) {
  constexpr auto entry = dsl::entry_parameters_of<P...>();
  return trace_entry(name, block, options, {entry.data, entry.data + entry.count}, [&](dsl::tracer& t) {
    // Braces make the parameters in their order; the arguments of a call have no fixed order.
    const auto* number = entry.number;
    [[maybe_unused]] const auto next = [&] { return *number++; };
    std::apply([&](const P&... parameter) { body(thread(t, block.dimensions()), parameter...); },
               std::tuple<P...>{dsl::parameter_of<P>::make(t, next())...});
  });
}

}  // namespace kaio::images
