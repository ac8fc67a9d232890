// Static objects whose destructors load kernels, launch and free: on the emulator all of it works to the very
// end, with checks and counters too; on a GPU the driver is gone by then, and a typed error says so.
//
//   late [too_late]
#include <kaio/runtime/runtime.hpp>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view add_text[] = {".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry ",
                                         "name", R"((.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<2>;
  .reg .pred %p<2>;
  ld.param.u64 %d0, [p];
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra done;
  atom.global.add.u32 %r1, [%d0], 1;
done:
  ret;
}
)"};
constexpr kaio::ptx::parameter words[] = {{kaio::ptx::type::u32, kaio::ptx::access::inout}};

struct kernel_of {
  explicit kernel_of(std::string_view name) : segments{add_text[0], name, add_text[2]} {
    image = kaio::ptx::identified({.name = name,
                                   .segments = segments,
                                   .segment_count = 3,
                                   .parameters = words,
                                   .parameter_count = 1,
                                   .block = {32, 1, 1},
                                   .needs = {}});
  }
  std::string_view segments[3];
  kaio::ptx::kernel_image image;
};
// Never destroyed, as constants of the language are not.
const kernel_of& known = *new kernel_of("known");
const kernel_of& fresh = *new kernel_of("fresh");

bool expects_too_late = false;

// Objects that are alive at the end: made before anything of kaio, so destroyed after everything of it.
struct keeper {
  std::optional<kaio::device> gpu;
  std::optional<kaio::buffer<std::uint32_t>> count;

  void launch(const kernel_of& kernel) const {
    const kaio::ptx::argument argument = count->as_argument();
    gpu->stream().launch(kernel.image, {8, 1, 1}, &argument, 1);
  }

  ~keeper() {
    std::string seen;
    try {
      launch(known);
      launch(fresh);
      const kaio::device another = kaio::device::open("emulator");
      const auto x = another.upload(std::vector<float>(16, 1.0f));
      seen = "counted " + std::to_string(count->download()[0]);
    } catch (const kaio::device_lost& e) {
      seen =
          std::strstr(e.what(), "use devices only until main() returns") != nullptr ? "too late" : e.what();
    } catch (const std::exception& e) {
      seen = e.what();
    }
    const std::string wanted = expects_too_late ? "too late" : "counted 24";
    if (seen == wanted) return;
    std::fprintf(stderr, "%s instead of %s\n", seen.c_str(), wanted.c_str());
    std::fflush(stderr);
    _exit(1);
  }
};
keeper kept;

}  // namespace

int main(int count, char** arguments) {
  expects_too_late = count == 2 && std::string_view(arguments[1]) == "too_late";
  kept.gpu = kaio::device::open();
  kept.count = kept.gpu->upload(std::vector<std::uint32_t>{0});
  kept.launch(known);
}
