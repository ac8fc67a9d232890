// Files with random damage, from a seed. Each is refused with an error of the right type that names the file,
// or it is read. If it is read, every tensor is inside the file, has the length of its shape, overlaps no
// other, and can be decoded. The JSON files are damaged too: the index of several files, and config.json.

#include "files.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>

#include "catch.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr int mutations = 20'000;  // of each file in memory
constexpr int written = 2000;      // of each that is written to the disk

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

// JSON without spaces, cut before and after each name, text and number.
std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> tokens;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    const bool is_mark = std::string_view("[]{},:").find(text[at]) != std::string_view::npos;
    end = is_mark           ? at + 1
          : text[at] == '"' ? text.find('"', at + 1) + 1
                            : std::min(text.find_first_of("[]{},:", at), text.size());
    tokens.push_back(text.substr(at, end - at));
  }
  return tokens;
}

// Replaces one to three names or values, a name mostly by another name. In one text of eight some bytes change too.
std::string mutated_json(const std::string& good, std::mt19937_64& random) {
  constexpr std::string_view names[] = {R"("")",       R"("x")",   R"("../x")",
                                        R"("gptq_p")", R"("awq")", R"("\u0000")"};
  constexpr std::string_view values[] = {"0",
                                         "1",
                                         "3",
                                         "4294967296",
                                         "18446744073709551615",
                                         "18446744073709551616",
                                         "-1",
                                         "-2",
                                         "1e300",
                                         "0.5",
                                         "null",
                                         "true",
                                         "[1,2]",
                                         R"({"a":{}})",
                                         "[]"};
  std::vector<std::string> tokens = tokens_of(good);
  for (std::size_t changes = 1 + random() % 3; changes > 0;) {
    const std::size_t at = random() % tokens.size();
    if (std::string_view("[]{},:").find(tokens[at][0]) != std::string_view::npos) continue;
    const bool is_name = at + 1 < tokens.size() && tokens[at + 1] == ":" && random() % 8 != 0;
    tokens[at] = is_name || random() % 2 == 0 ? names[random() % std::size(names)]
                                              : values[random() % std::size(values)];
    --changes;
  }
  std::string text;
  for (const std::string& token : tokens) text += token;
  return random() % 8 == 0 ? mutated(text, text.size(), random) : text;
}

struct counts {
  int damaged = 0, unsupported = 0, unreadable = 0, read = 0;
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

// Reads memory of its exact size, so that a sanitizer notices one byte more. The test fails if an error does not
// satisfy `is_known`, or if anything else is thrown.
template <class Change, class Known, class Read>
counts run(int times, Change change, Known is_known, Read read) {
  std::mt19937_64 random(20261123);
  counts seen;
  for (int i = 0; i < times; ++i) {
    const std::string changed = change(random);
    const std::vector<char> text(changed.begin(), changed.end());
    const damage found = catch_damage([&] {
      if (!read(std::string_view(text.data(), text.size()))) throw std::string("inconsistent");
    });
    if (found.message == "nothing was thrown")
      ++seen.read;
    else if (!is_known(found))
      FAIL("mutation " << i << ": " << found.message);
    else if (found.code == errc::damaged_file)
      ++seen.damaged;
    else if (found.code == errc::unsupported_format)
      ++seen.unsupported;
    else if (found.code == errc::unreadable_file)
      ++seen.unreadable;
    else
      FAIL("mutation " << i << ": " << found.message);
  }
  return seen;
}

// Whether the error is one of the file in memory, `m`.
bool is_of_m(const damage& d) {
  return d.file == "m" && (d.code == errc::unsupported_format ||
                           (d.code == errc::damaged_file && d.message.starts_with("kaio: 'm' ")));
}

void overwrite(const std::string& path, std::string_view contents) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(contents.data(), static_cast<std::streamsize>(contents.size()));
}

// The numbers of a layer fit together where it has no problem.
bool is_consistent(const quantised_layer& l) {
  if (operation_of(l).empty() == obstacle_of(l).empty()) return false;
  if (!l.problem.empty()) return l.n == 0 && l.k == 0 && l.group == 0 && obstacle_of(l) == l.problem;
  const bool is_of_blocks = l.group == 0 && l.block_rows != 0 && l.block_columns != 0;
  return l.n != 0 && l.k != 0 && l.bits >= 1 && l.bits <= 8 && (l.group != 0 || is_of_blocks);
}

}  // namespace

TEST_CASE("damaged GGUF files are refused or read consistently") {
  const gguf_maker g = good_gguf();
  const std::string good = g.text();
  const auto change = [&](std::mt19937_64& random) {
    return mutated(good, good.size() - g.data.size(), random);
  };
  const counts seen = run(mutations, change, is_of_m, [](std::string_view text) {
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
  const auto change = [&](std::mt19937_64& random) {
    return mutated(good, good.size() - s.data.size(), random);
  };
  const counts seen = run(mutations, change, is_of_m, [](std::string_view text) {
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

TEST_CASE("a damaged config.json is refused, or what it has fits the layers or is their problem") {
  folder f;
  const std::string path = f.path("config.json"), tensors = good_safetensors().text();
  const safetensors_file file = safetensors_file::view(bytes_of(tensors), "m");
  f.write("config.json", "{}");
  const std::string good =
      R"({"architectures":["x"],"quantization_config":{"quant_method":"gptq","bits":4,)"
      R"("group_size":32,"checkpoint_format":"gptq_v2","desc_act":false,"sym":true,)"
      R"("weight_block_size":[128,128],"dynamic":{},"config_groups":{"group_0":)"
      R"({"weights":{"num_bits":4,"group_size":32,"symmetric":true,"actorder":"group"}}}}})";
  const auto change = [&](std::mt19937_64& random) { return mutated_json(good, random); };
  int refused = 0, multiplied = 0;
  const auto is_known = [&](const damage& d) {
    return d.file == path && d.code == errc::damaged_file && d.message.starts_with("kaio: '" + path + "' ");
  };
  const counts seen = run(written, change, is_known, [&](std::string_view text) {
    overwrite(path, text);
    const auto config = read_quantisation_config(path);
    for (const quantised_layer& layer : quantised_layers(file.tensors(), config ? &*config : nullptr)) {
      if (!is_consistent(layer)) return false;
      if (layer.scheme != weight_scheme::gptq) continue;
      ++(layer.problem.empty() ? multiplied : refused);
      const bool is_read =
          !config || config->format.empty() || config->format == "gptq" || config->format == "gptq_v2";
      if (layer.problem.empty() && !is_read) return false;
    }
    return true;
  });
  CHECK(seen.damaged > written / 10);
  CHECK(seen.read > written / 10);
  CHECK(refused > written / 50);
  CHECK(multiplied > written / 20);
}

TEST_CASE("a damaged index is refused, or read with the tensors that its files have") {
  folder f;
  const auto shard = [&](const std::string& name, const std::string& file) {
    safetensors_maker s;
    s.tensor(name + ".a", "F16", "[4]", "12345678").tensor(name + ".b", "U8", "[2]", name);
    f.write(file, s.text());
  };
  shard("x1", "x.safetensors");
  shard("y2", "y.safetensors");
  const std::string path = f.write("m.safetensors.index.json", "{}"), begin = f.path("");
  const std::string good = R"({"metadata":{"total_size":20},"weight_map":{"x1.a":"x.safetensors",)"
                           R"("x1.b":"x.safetensors","y2.a":"y.safetensors","y2.b":"y.safetensors"}})";
  const auto change = [&](std::mt19937_64& random) { return mutated_json(good, random); };
  const auto is_known = [&](const damage& d) {
    return d.file.starts_with(begin) && d.file.find('/', begin.size()) == std::string::npos;
  };
  const counts seen = run(written, change, is_known, [&](std::string_view text) {
    overwrite(path, text);
    const safetensors_file file = safetensors_file::open(path);
    std::vector<std::string_view> names;
    for (const tensor_entry& t : file.tensors()) {
      names.push_back(t.name);
      if (file.find(t.name) != &t || !t.file.starts_with(begin)) return false;
      const std::string_view of = t.name.substr(0, t.name.size() - 2);
      if (of != "x1" && of != "y2") return false;
      const std::string expected(t.name.ends_with(".a") ? "12345678" : of);
      if (!std::ranges::equal(t.bytes, bytes_of(expected))) return false;
    }
    std::ranges::sort(names);
    return !names.empty() && std::ranges::adjacent_find(names) == names.end();
  });
  CHECK(seen.damaged > written / 10);
  CHECK(seen.unreadable > written / 100);
  CHECK(seen.read > written / 20);
}
