// Files with random damage, from a seed: each is an error of the right type that names the file, or is read,
// and then every tensor is inside the file, as long as its shape asks for, apart from the others, and can be
// decoded.

#include "files.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>

#include "catch.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr int mutations = 20'000;  // of each file

gguf_maker good_gguf() {
  gguf_maker g;
  g.key("general.architecture", gguf_type::string, gguf_maker::string("llama"));
  g.key("general.alignment", gguf_type::u32, little(32u));
  g.key("tokens", gguf_type::array,
        little(static_cast<std::uint32_t>(gguf_type::string)) + little(std::uint64_t{2}) +
            gguf_maker::string("<s>") + gguf_maker::string("a"));
  g.key("yes", gguf_type::array,
        little(static_cast<std::uint32_t>(gguf_type::boolean)) + little(std::uint64_t{2}) + "\1\1");
  std::uint32_t number = 0;
  for (const weights::format_facts& f : weights::weight_formats()) {
    constexpr std::uint32_t types[] = {0, 1, 2, 8, 12, 14, 23, 39};
    constexpr weight_format formats[] = {weight_format::f32,    weight_format::f16,  weight_format::q4_0,
                                         weight_format::q8_0,   weight_format::q4_k, weight_format::q6_k,
                                         weight_format::iq4_xs, weight_format::mxfp4};
    const auto at = std::ranges::find(formats, f.format);
    if (at == std::end(formats)) continue;
    g.tensor("blk." + std::to_string(number++) + ".weight", {f.block_elements, 2}, types[at - formats],
             std::string(2 * f.block_bytes, '\x5a'));
  }
  return g;
}

safetensors_maker good_safetensors() {
  safetensors_maker s;
  s.raw(R"("__metadata__":{"format":"pt"})");
  s.tensor("m.q.qweight", "I32", "[4,8]", std::string(128, 'a')).tensor("m.q.qzeros", "I32", "[1,1]", "abcd");
  s.tensor("m.q.scales", "F16", "[1,8]", std::string(16, 'b'))
      .tensor("m.q.g_idx", "I32", "[32]", std::string(128, '\0'));
  s.tensor("p.weight_packed", "I32", "[2,1]", "12345678").tensor("p.weight_scale", "BF16", "[2,1]", "1234");
  s.tensor("p.weight_shape", "I64", "[2]", little<std::int64_t>(2) + little<std::int64_t>(8));
  const std::string state = R"({"blocksize":64,"shape":[2,64]})";
  s.tensor("b.weight", "U8", "[64,1]", std::string(64, 'c'))
      .tensor("b.weight.absmax", "F32", "[2]", "12345678");
  s.tensor("b.weight.quant_map", "F32", "[1]", "1234")
      .tensor("b.weight.quant_state.bitsandbytes__nf4", "U8", "[" + std::to_string(state.size()) + "]",
              state);
  return s;
}

// One to four changes of a kind that reaches further than a random byte does.
std::string mutated(std::string text, std::size_t structure, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1));
  };
  for (std::size_t changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = below(random() % 8 == 0 ? text.size() : std::min(structure, text.size()));
    const std::size_t length = std::min(text.size() - at, 1 + below(8));
    switch (random() % 8) {
      case 0: text[at] = static_cast<char>(random()); break;
      case 1: text[at] = static_cast<char>(text[at] ^ 1 << random() % 8); break;
      case 2: text[at] = "0123456789[]{},:\"-"[below(18)]; break;
      case 3: text.resize(at); break;
      case 4: text.erase(at, length); break;
      case 5: text.insert(at, text.substr(below(text.size()), length)); break;
      case 6: text.replace(at, length, text.substr(below(text.size()), length)); break;
      case 7: {
        constexpr std::uint64_t edges[] = {0,          1,          31,         32,         255,   0x7fffffff,
                                           0xffffffff, 1ull << 32, 1ull << 62, 1ull << 63, ~0ull, ~0ull - 31};
        const std::string number = little(edges[below(std::size(edges))]);
        text.replace(at, std::min<std::size_t>(text.size() - at, 8),
                     number.substr(0, std::min<std::size_t>(text.size() - at, 8)));
        break;
      }
    }
  }
  return text;
}

struct counts {
  int damaged = 0, unsupported = 0, read = 0;
};

// Without overflow: by division.
bool is_product(const std::vector<std::uint64_t>& shape, std::uint64_t elements) {
  if (std::ranges::find(shape, 0u) != shape.end()) return elements == 0;
  for (const std::uint64_t extent : shape) {
    if (elements % extent != 0) return false;
    elements /= extent;
  }
  return elements == 1;
}

bool is_consistent(std::span<const tensor_entry> tensors, std::string_view text) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  std::vector<std::string_view> names;
  for (const tensor_entry& t : tensors) {
    const weights::format_facts& f = facts(t.format);
    if (!is_product(t.shape, t.elements)) return false;
    if (t.elements / f.block_elements * f.block_bytes != t.bytes.size()) return false;
    if (t.name.empty() || t.file != "m") return false;
    names.push_back(t.name);
    if (t.bytes.empty()) continue;
    if (t.offset > text.size() || t.bytes.size() > text.size() - t.offset) return false;
    if (t.bytes.data() != bytes_of(text).data() + t.offset) return false;
    ranges.emplace_back(t.offset, t.offset + t.bytes.size());
    if (f.has_values && read_values(t).size() != t.elements) return false;
  }
  std::ranges::sort(ranges);
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i - 1].second > ranges[i].first) return false;
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) == names.end();
}

// Reads memory of its exact size, so that a sanitizer notices one byte more. What else is thrown fails the
// test.
template <class Read>
counts run(const std::string& good, std::size_t structure, Read read) {
  std::mt19937_64 random(20261123);
  counts seen;
  for (int i = 0; i < mutations; ++i) {
    const std::string changed = mutated(good, structure, random);
    const std::vector<char> text(changed.begin(), changed.end());
    const damage found = catch_damage([&] {
      if (!read(std::string_view(text.data(), text.size()))) throw std::string("inconsistent");
    });
    if (found.code == errc::damaged_file && found.file == "m" && found.message.starts_with("kaio: 'm' "))
      ++seen.damaged;
    else if (found.code == errc::unsupported_format && found.file == "m")
      ++seen.unsupported;
    else if (found.message == "nothing was thrown")
      ++seen.read;
    else
      FAIL("mutation " << i << ": " << found.message);
  }
  return seen;
}

}  // namespace

TEST_CASE("damaged GGUF files are refused or read consistently") {
  const gguf_maker g = good_gguf();
  const std::string good = g.text();
  const counts seen = run(good, good.size() - g.data.size(), [](std::string_view text) {
    const gguf_file file = gguf_file::view(bytes_of(text), "m");
    for (const gguf_value& v : file.metadata())
      if (!v.bytes.empty() && v.bytes.data() + v.bytes.size() > bytes_of(text).data() + text.size())
        return false;
    return is_consistent(file.tensors(), text);
  });
  CHECK(seen.damaged > mutations / 4);
  CHECK(seen.unsupported > mutations / 100);
  CHECK(seen.read > mutations / 20);
}

TEST_CASE("damaged safetensors files are refused or read consistently") {
  const safetensors_maker s = good_safetensors();
  const std::string good = s.text();
  const counts seen = run(good, good.size() - s.data.size(), [](std::string_view text) {
    const safetensors_file file = safetensors_file::view(bytes_of(text), "m");
    for (const quantised_layer& layer : quantised_layers(file.tensors()))
      for (const quantised_part& part : layer.parts)
        if (file.find(part.tensor->name) != part.tensor) return false;
    return is_consistent(file.tensors(), text);
  });
  CHECK(seen.damaged > mutations / 4);
  CHECK(seen.unsupported > mutations / 1000);
  CHECK(seen.read > mutations / 100);
}
