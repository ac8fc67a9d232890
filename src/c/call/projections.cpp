#include "c/call/projections.hpp"

#include <kaio/c/cache.h>
#include <kaio/c/packed_weights.h>
#include <kaio/ops/shared/any_cache.hpp>
#include <kaio/ops/weight_only/call/arguments_w8.hpp>

#include <cstdint>
#include <string>

namespace kaio::c {

// Made by src/c/generate.py.
void read(call& in, const char* name, const kaio_w4_weights* given, ops::w4_weights& to);
void read(call& in, const char* name, const kaio_w8_weights* given, ops::w8_weights& to);
void read(call& in, const char* name, const kaio_kv_cache* given, ops::detail::any_cache& to);

namespace {

// Errors name a member by the weight that it belongs to. A call keeps these names, so they are literals.
struct weight_names {
  const char *weight, *scale, *blocks, *memory;
};
constexpr weight_names whole{"weights", "weights.scale", "weights.blocks", "weights.memory"};
constexpr weight_names of_q{"weights.q", "weights.q.scale", "weights.q.blocks", "weights.q.memory"};
constexpr weight_names of_k{"weights.k", "weights.k.scale", "weights.k.blocks", "weights.k.memory"};
constexpr weight_names of_v{"weights.v", "weights.v.scale", "weights.v.blocks", "weights.v.memory"};
constexpr weight_names of_gate{"weights.gate", "weights.gate.scale", "weights.gate.blocks",
                               "weights.gate.memory"};
constexpr weight_names of_up{"weights.up", "weights.up.scale", "weights.up.blocks", "weights.up.memory"};

constexpr std::uint32_t wide = element::f32 | element::f16 | element::bf16;
constexpr std::uint32_t fp8 = element::e4m3 | element::e5m2;

void read_weight(call& in, const weight_names& names, const kaio_projection_weight* given,
                 ops::projection_weight& to) {
  kaio_projection_weight from = kaio_projection_weight_default();
  in.take(names.weight, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  const std::string weight = names.weight;
  if ((from.matrix != nullptr) + (from.w4 != nullptr) + (from.w8 != nullptr) != 1)
    refuse(in.operation(),
           "argument " + weight + " has not one of matrix, w4 and w8; set exactly one of them");
  if (from.matrix == nullptr) {
    if (from.scale != nullptr || from.blocks != nullptr)
      refuse(in.operation(),
             "argument " + weight + " is packed, and has its scales inside; set scale and blocks to NULL");
    to.is_packed = true;
    if (from.w4 != nullptr) return read(in, names.weight, from.w4, to.packed);
    ops::w8_weights packed;
    read(in, names.weight, from.w8, packed);
    to.packed = ops::detail::as_w4_weights(packed);
    return;
  }
  in.tensor(names.weight, from.matrix, {wide | fp8 | element::i8, 2, 2}, to.matrix);
  in.optional_tensor(names.scale, from.scale, {element::f32, 1, 1}, to.scale);
  in.optional_tensor(names.blocks, from.blocks, {element::f32, 2, 2}, to.blocks);
  if (ops::is_wide(to.matrix.type) && (to.scale.exists() || to.blocks.exists()))
    refuse(in.operation(),
           "argument " + weight + " has scales; only matrices of i8, e4m3 and e5m2 have them");
  if (to.matrix.type == ops::element_kind::i8) {
    in.need(names.scale, from.scale);
    if (to.blocks.exists())
      refuse(in.operation(),
             "argument " + weight + " is i8 with scales of blocks; only e4m3 and e5m2 have them");
  }
}

}  // namespace

void read(call& in, const char*, const kaio_projection_weight* given, ops::projection_weight& to) {
  in.need("weights", given);
  read_weight(in, whole, given, to);
}

void read(call& in, const char* name, const kaio_qkv_weights* given, qkv_weights& to) {
  kaio_qkv_weights from = kaio_qkv_weights_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  const int parts = (from.q != nullptr) + (from.k != nullptr) + (from.v != nullptr);
  if (parts != (from.all == nullptr ? 3 : 0))
    refuse(in.operation(), "argument weights has not either all, or q, k and v; set one weight or three");
  if (from.all != nullptr) return read_weight(in, whole, from.all, to.of[0]);
  to.count = 3;
  read_weight(in, of_q, from.q, to.of[0]);
  read_weight(in, of_k, from.k, to.of[1]);
  read_weight(in, of_v, from.v, to.of[2]);
}

void read(call& in, const char* name, const kaio_gate_up_weights* given, gate_up_weights& to) {
  kaio_gate_up_weights from = kaio_gate_up_weights_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  const int parts = (from.gate != nullptr) + (from.up != nullptr);
  if (parts != (from.both == nullptr ? 2 : 0))
    refuse(in.operation(), "argument weights has not either both, or gate and up; set one weight or two");
  if (from.both != nullptr) return read_weight(in, whole, from.both, to.of[0]);
  to.count = 2;
  read_weight(in, of_gate, from.gate, to.of[0]);
  read_weight(in, of_up, from.up, to.of[1]);
}

void read(call& in, const char* name, const kaio_qkv_outputs* given, qkv_outputs& to) {
  kaio_qkv_outputs from = kaio_qkv_outputs_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  constexpr tensor_rule heads{element::f16 | element::bf16, 3, 4};
  in.tensor("q", from.q, heads, to.q);
  const int parts = (from.k != nullptr) + (from.v != nullptr);
  if (parts != (from.cache == nullptr ? 2 : 0))
    refuse(in.operation(),
           "argument outputs has not either k and v, or a cache; set both tensors, or the cache");
  if (from.cache != nullptr) {
    read(in, "cache", from.cache, to.cache.emplace());
    if (!ops::is_quantised(to.cache->k.type) && to.cache->k.type != to.q.type)
      refuse(in.operation(), "argument cache.k has another element type than q; it has that of q, or 8 bits");
    return;
  }
  in.tensor("k", from.k, heads, to.k);
  in.same_elements("k", from.k, "q", from.q);
  in.same_rank("k", from.k, "q", from.q, 0);
  in.tensor("v", from.v, heads, to.v);
  in.same_elements("v", from.v, "q", from.q);
  in.same_rank("v", from.v, "q", from.q, 0);
}

}  // namespace kaio::c
