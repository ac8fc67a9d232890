#pragma once
// Files of weights: all headers of kaio::weights. docs/weights.md has the overview.
//
//   gguf_file model = gguf_file::open("model.gguf");
//   const std::vector<float> norm = read_values(*model.find("output_norm.weight"));

#include <kaio/weights/gguf.hpp>
#include <kaio/weights/quantisation.hpp>
#include <kaio/weights/read_values.hpp>
#include <kaio/weights/safetensors.hpp>
