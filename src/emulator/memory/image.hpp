#pragma once
// Images in global memory, and the objects through which a kernel reads and writes them: texture objects (an image
// and a sampler) and surface objects (an image alone). The images are buffers of a memory, so every access to a texel
// is an access to global memory, with its checks. The host makes the objects; a kernel holds their 64-bit handles.
//
//   texture t;
//   t.texels = {.address = buffer, .shape = image_shape::two, .width = 64, .height = 32, .pitch = 256};
//   t.texels.format = {texel_kind::floating, 4, 1};
//   const u64 handle = global.images().add(t);

#include "emulator/program/scalar.hpp"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <variant>

namespace kaio::emulator {

enum class texel_kind : u8 { unsigned_integer, signed_integer, floating };

// A texel: `channels` (1, 2 or 4) elements of `bytes` (1, 2 or 4) each.
struct texel_format {
  texel_kind kind = texel_kind::unsigned_integer;
  u8 bytes = 1;
  u8 channels = 1;
  u32 size() const { return u32{bytes} * channels; }
};

// linear: a buffer of texels, which tex.1d reads with integer coordinates.
enum class image_shape : u8 { linear, one, two, three, layered_one, layered_two };

// The texel at (x, y, z) is at address + x * format.size() + y * pitch + z * slice; in a layered image z is the layer.
struct image {
  u64 address = 0;
  image_shape shape = image_shape::linear;
  texel_format format;
  u32 width = 1, height = 1;  // texels
  u32 depth = 1;              // texels, or layers
  u64 pitch = 0;              // bytes from a row to the next
  u64 slice = 0;              // bytes from a slice or a layer to the next
  u64 texel(u32 x, u32 y, u32 z) const { return address + u64{x} * format.size() + y * pitch + z * slice; }
};

// The order of CUaddress_mode and CUfilter_mode.
enum class address_mode : u8 { wrap, clamp, mirror, border };
enum class filter_mode : u8 { point, linear };

struct sampler {
  std::array<address_mode, 3> address{address_mode::clamp, address_mode::clamp, address_mode::clamp};
  filter_mode filter = filter_mode::point;
  bool normalized = false;            // coordinates are 0 to 1 instead of texels
  std::array<f32, 4> border_color{};  // for address_mode::border
};

struct texture {
  image texels;
  emulator::sampler sampler;
  // Reads integers of 1 and 2 bytes as 0 to 1, or -1 to 1 if they are signed.
  bool reads_fractions = false;
  // Its reads are floating-point numbers.
  bool reads_floats() const { return reads_fractions || texels.format.kind == texel_kind::floating; }
};

struct surface {
  image texels;
};

// The live objects of a memory. A handle is not used again, in any memory of the process. All functions may be called
// from any thread.
class image_objects {
 public:
  using object = std::variant<texture, surface>;

  u64 add(object o);
  // False if there is no such object.
  bool remove(u64 handle);
  // nullptr if there is no such object.
  std::shared_ptr<const object> find(u64 handle) const;
  // True if an object with this handle was removed.
  bool was_removed(u64 handle) const;

 private:
  mutable std::mutex mutex_;
  std::map<u64, std::shared_ptr<const object>> objects_;  // nullptr: removed
};

}  // namespace kaio::emulator
