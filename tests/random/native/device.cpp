// Random programs on the device, apart from the types: control flow, conditions, the kernel and its launch.
#include "tests/random/native/machine.hpp"

#include <memory>
#include <string_view>

namespace kaio::tests::random {

val<bool> machine::condition(const expression& e) {
  switch (e.what) {
    case op::read: return get<bool>(e.name);
    case op::both:
    case op::either: {
      const val a = condition(e.operands[0]);
      const val b = condition(e.operands[1]);
      if (e.what == op::both) return a & b;
      return a | b;
    }
    case op::negation: {
      const val a = condition(e.operands[0]);
      return !a;
    }
    default:
      return with_type(e.operands[0].type,
                       [&]<class T>(std::type_identity<T>) { return typed<T>::compare(*this, e); });
  }
}

void machine::run(const std::vector<statement>& body) {
  for (const statement& s : body) run(s);
}

void machine::guarded(const statement& s) {
  if (auto holds = thread.when(condition(s.operands[0]))) run(s.body);
  if (s.rest.empty()) return;
  if (auto holds_not = thread.otherwise()) run(s.rest);
}

// A function that takes values, and references to variables, and returns a value.
void machine::call(const statement& s) {
  for (std::size_t k = 0; k < s.parameters.size(); ++k) {
    const parameter& p = s.parameters[k];
    with_type(p.type, [&]<class T>(std::type_identity<T>) {
      if (p.is_var) return refer<T>(p.name, variable<T>(s.operands[k].name));
      bind<T>(p.name, typed<T>::number(*this, s.operands[k]));
    });
  }
  run(s.body);
  with_type(s.type, [&]<class T>(std::type_identity<T>) {
    bind<T>(s.name, typed<T>::number(*this, s.operands.back()));
  });
}

void machine::run(const statement& s) {
  switch (s.what) {
    case action::when: return guarded(s);
    case action::leave: return loops[loops.size() - 1 - s.number]->break_if(condition(s.operands[0]));
    case action::skip: return loops[loops.size() - 1 - s.number]->continue_if(condition(s.operands[0]));
    case action::call: return call(s);
    case action::loop:
      for (auto l : thread.loop()) {
        loops.push_back(std::addressof(l));
        run(s.body);
        loops.pop_back();
      }
      return;
    default: break;
  }
  if (s.type != element::boolean)
    return with_type(s.type, [&]<class T>(std::type_identity<T>) { typed<T>::run(*this, s); });
  const val c = condition(s.operands[0]);
  switch (s.what) {
    case action::bind: return bind<bool>(s.name, c);
    case action::declare: return declare<bool>(s.name, c);
    default: variable<bool>(s.name) = c;
  }
}

namespace {

dsl::kernel_options options_of(const program& p) { return {.contract = p.contract, .target = {p.target}}; }

void record(const program& p, dsl::tracer& t) {
  dsl::value pointers[2 * buffers] = {};
  for (std::uint32_t k = 0; k < 2 * buffers; ++k) pointers[k] = t.probing() ? 0 : t.global_pointer(k);
  machine m(p, t, pointers + buffers);
  for (std::uint32_t k = 0; k < buffers; ++k)
    with_type(p.inputs[k], [&]<class T>(std::type_identity<T>) {
      const in<T> x{{&t, pointers[k]}};
      m.bind<T>(k, x[m.index]);
    });
  m.run(p.body);
}

}  // namespace

bool fits(const program& p) {
  const auto t = std::make_unique<dsl::tracer>();
  prepare(*t, p.name(), options_of(p));
  record(p, *t);
  const char* const fault = t->fault().message;
  return fault == nullptr || !std::string_view(fault).starts_with("kaio: the kernel is too large");
}

images::native_kernel trace(const program& p) {
  const auto parameter = [&](element type, bool is_input) {
    return with_type(type, [&]<class T>(std::type_identity<T>) {
      return is_input ? dsl::parameter_of<in<T>>::description : dsl::parameter_of<out<T>>::description;
    });
  };
  std::vector<ptx::parameter> parameters;
  for (const element type : p.inputs) parameters.push_back(parameter(type, true));
  for (const element type : p.outputs) parameters.push_back(parameter(type, false));
  return images::trace_entry(p.name(), threads, options_of(p), std::move(parameters),
                             [&](dsl::tracer& t) { record(p, t); });
}

contents run_on_device(const program& p, const images::native_kernel& kernel, device& gpu,
                       const contents& inputs) {
  std::vector<buffer<std::byte>> memory;
  for (const auto& bytes : inputs) memory.push_back(gpu.upload(bytes));
  for (const auto& bytes : poisoned_outputs(p)) memory.push_back(gpu.upload(bytes));
  std::vector<ptx::argument> arguments;
  for (const auto& one : memory) arguments.push_back(one.as_argument());
  gpu.stream().launch(kernel.image(), {}, arguments.data(), arguments.size());
  contents outputs;
  for (std::uint32_t k = buffers; k < 2 * buffers; ++k) outputs.push_back(memory[k].download());
  return outputs;
}

}  // namespace kaio::tests::random
