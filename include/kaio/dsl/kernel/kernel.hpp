#pragma once
// A kernel: a lambda over device values, traced while the compiler runs. The object is empty; the program,
// its text and its needs are constants that belong to its type. Any number of threads may launch it at once.
//
//   inline constexpr auto scale = kernel<"scale", 256>([](thread t, inout<f32> x, val<f32> a, val<u32> n) {
//     val i = t.global_id();
//     if (auto in_range = t.when(i < n)) x[i] *= a;
//   });
//   scale.launch(gpu.stream(), over(n), x, 2.0f, n);

#include <kaio/dsl/kernel/compilation.hpp>
#include <kaio/dsl/kernel/launch.hpp>
#include <kaio/dsl/kernel/options.hpp>
#include <kaio/dsl/kernel/report.hpp>
#include <kaio/ptx/analysis/access_facts.hpp>
#include <kaio/ptx/analysis/definite_assignment.hpp>
#include <kaio/ptx/emit.hpp>
#include <kaio/ptx/text.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::dsl {

// The compiler has evaluated the body of the kernel, and the checks. If it has not, it has reported why.
template <class Tracing>
concept evaluated = requires { typename std::bool_constant<Tracing::trace.fault.message == nullptr>; } &&
                    requires { typename std::bool_constant<Tracing::fault.message == nullptr>; };

// The image of a kernel that does not compile.
inline constexpr ptx::kernel_image no_image = {};

template <fixed_string Name, block_size Block, kernel_options Options, class Body, class... P>
class kernel_object {
  using source = tracing<Name, Block, Options, Body, P...>;
  using result = compilation<Name, Block, Options, Body, P...>;

 public:
  static constexpr std::string_view name() { return Name.view(); }
  static constexpr ptx::dim3 block() { return Block.dimensions(); }

  // The PTX module.
  static constexpr ptx::text ptx() {
    [[maybe_unused]] constexpr const auto& trace = source::trace;
    return {image().segments, image().segment_count};
  }

  // The least target and version, the shared memory and the threads of a block.
  static constexpr const ptx::needs& needs() { return image().needs; }

  // The program that the text was printed from.
  static constexpr const ptx::program& program() {
    image();
    return source::trace.program;
  }

  // Whether each register is written before it is read, on every path. If a kernel is not, it reads a fragment that
  // nothing has filled, or kaio has an error: ask in tests.
  static constexpr bool is_well_formed() {
    return ptx::find_unassigned(program()) == ptx::assignment_fault{};
  }

  // The banks and sectors of accesses to shared and global memory, in the order of the text; computed on demand.
  // kaio/ptx/analysis/access_facts.hpp says what is evaluated and what is assumed.
  static constexpr const auto& accesses() { return ptx::access_analysis<kernel_object>::accesses; }
  // Wavefronts that the known accesses to shared memory lose to bank conflicts, each access counted once.
  static constexpr std::uint32_t bank_conflicts() {
    return ptx::access_analysis<kernel_object>::bank_conflicts();
  }
  // Whether every access to global memory is known, and touches no more sectors than its bytes fill.
  static constexpr bool coalesced() { return ptx::access_analysis<kernel_object>::coalesced(); }
  // Whether no address depends on data, or on a product of a thread index with a parameter.
  static constexpr bool accesses_known() { return ptx::access_analysis<kernel_object>::accesses_known(); }

  // The image that the runtime loads and launches.
  static constexpr const ptx::kernel_image& image() {
    // A compiler that stops in the body prints a line for each template between the body and the user's file. So the
    // trace is named first, here and in what users call. What follows a failure is not instantiated.
    [[maybe_unused]] constexpr const auto& trace = source::trace;
    if constexpr (!evaluated<source>) {
      return no_image;
    } else if constexpr (source::fault.message != nullptr) {
      report<source::fault>(std::make_index_sequence<detail::piece_count(source::fault.message)>());
      return no_image;
    } else {
      return result::image;
    }
  }

  // Launches on a stream: over(n) for one thread per element, or grid(x, y, z) in blocks. One argument for
  // each parameter, of its exact type: buffer<T> for in<T>, out<T> and inout<T>; T for val<T>. Asynchronous.
  // It throws what the stream's launch throws.
  template <class Stream, class Shape, class... A>
  void launch(Stream& stream, const Shape& shape, A&&... arguments) const {
    static_assert(!std::is_same_v<Shape, over> || block().count() == block().x,
                  "kaio: over(n) is for blocks of one dimension; write grid(x, y, z), in blocks");
    static_assert(sizeof...(A) == sizeof...(P),
                  "kaio: launch takes one argument for each parameter of the kernel");
    static_assert(is_shape<Shape>,
                  "kaio: launch takes the stream, then over(n) or grid(x, y, z), then the arguments");
    static_assert(is_stream<Stream>,
                  "kaio: a kernel is launched on a stream; write gpu.stream() for a device");
    [[maybe_unused]] constexpr const auto& trace = source::trace;
    if constexpr (sizeof...(A) == sizeof...(P) && is_shape<Shape> && is_stream<Stream>) {
      ptx::argument packed[sizeof...(P) + 1];
      std::size_t count = 0;
      ((packed[count] = pack<P>(arguments), count += host_constant<P> ? 0 : 1), ...);
      stream.launch(image(), grid_of(shape, block(), image().needs.cluster), packed, count);
    }
  }
  template <class Shape, class... A>
    requires is_shape<Shape>
  void launch(const Shape&, const A&...) const {
    static_assert(never<Shape>, "kaio: launch takes the stream first: k.launch(gpu.stream(), over(n), ...)");
  }
  template <class... A>
  void operator()(const A&...) const {
    static_assert(sizeof...(A) != sizeof...(A),
                  "kaio: a kernel is not called but launched: k.launch(gpu.stream(), over(n), ...)");
  }
};

template <class T>
inline constexpr bool is_kernel = false;
template <fixed_string Name, block_size Block, kernel_options Options, class Body, class... P>
inline constexpr bool is_kernel<kernel_object<Name, Block, Options, Body, P...>> = true;

// Compiles kernels that nothing may launch, so that each mistake in them is an error here. They are objects of no size,
// passed by value. Returns true, for a static_assert.
//
//   static_assert(check_kernels(scale, sharpen<f32, 4>));
template <class... K>
constexpr bool check_kernels(K...) {
  static_assert((is_kernel<K> && ...) && sizeof...(K) != 0,
                "kaio: check_kernels takes kernels: static_assert(check_kernels(scale, saxpy))");
  if constexpr ((is_kernel<K> && ...)) (void(K::image()), ...);
  return true;
}

// The parameter list of a kernel's body.
template <class F>
struct signature {
  static_assert(
      never<F>,
      "kaio: a kernel is a lambda [](thread t, ...) whose parameters have types: in<T>, out<T>, inout<T>, val<T>");
};
template <class R, class C, class... P>
struct signature<R (C::*)(thread, P...) const> {
  static_assert(std::is_void_v<R>, "kaio: a kernel returns nothing; write results to an out<T>");
  static_assert((is_parameter<P> && ...),
                "kaio: the parameters of a kernel are in<T>, out<T>, inout<T> and val<T>, by value");
  template <fixed_string Name, block_size Block, kernel_options Options, class Body>
  using kernel = kernel_object<Name, Block, Options, Body, P...>;
};

template <class R, class C, class... P>
struct signature<R (C::*)(thread, P...) const noexcept> : signature<R (C::*)(thread, P...) const> {};

template <class Body>
concept has_call = requires { &Body::operator(); };

// Makes a kernel of a lambda without captures. Name: the entry's name in PTX. Block: threads of a block.
// KAIO_CHECK_KERNELS (kaio_check_kernels() of CMake defines it) checks each kernel where it is written.
template <fixed_string Name, block_size Block, kernel_options Options = kernel_options{}, class Body>
constexpr auto kernel(Body) {
  static_assert(is_entry_name(Name.view()),
                "kaio: the name of a kernel is letters, digits and underscores, not starting with a digit");
  static_assert(
      !is_taken_name(Name.view()),
      "kaio: _, WARP_SZ, vprintf, __assertfail, L_1, L_2, ... have a meaning in PTX or in the text that kaio makes; give the kernel another name");
  static_assert(Block.valid(),
                "kaio: a block has 1 to 1024 threads, at most 1024 x 1024 x 64 in each dimension");
  static_assert(std::is_class_v<Body>,
                "kaio: a kernel is made of a lambda: [](thread t, in<f32> x) { body(t, x); }");
  static_assert(!std::is_class_v<Body> || std::is_empty_v<Body>,
                "kaio: a kernel captures nothing; pass run-time values as parameters");
  static_assert(!std::is_class_v<Body> || has_call<Body>,
                "kaio: a kernel spells the types of its parameters; it cannot take auto");
  if constexpr (has_call<Body> && std::is_empty_v<Body>) {
    using made = typename signature<decltype(&Body::operator())>::template kernel<Name, Block, Options, Body>;
#ifdef KAIO_CHECK_KERNELS
    static_assert(check_kernels(made{}));
#endif
    return made{};
  }
}

template <fixed_string Name, class Body>
constexpr void kernel(Body) {
  static_assert(never<Body>,
                "kaio: a kernel needs the number of threads of its blocks: kernel<\"name\", 128>(...)");
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::block_size;
using dsl::check_kernels;
using dsl::kernel;
using dsl::kernel_options;
}  // namespace kaio
