// The kernels of the showcases.
#include "showcase/attention/attention.hpp"
#include "showcase/fused_silu_gate/fused_silu_gate.hpp"
#include "showcase/gelu_comparison/gelu_comparison.hpp"
#include "showcase/generation/kernels.hpp"
#include "showcase/histogram/histogram.hpp"
#include "showcase/int8_dequant/int8_dequant.hpp"
#include "showcase/layer_norm/layer_norm.hpp"
#include "showcase/llama/kernels.hpp"
#include "showcase/reduction/reduction.hpp"
#include "showcase/rms_norm/rms_norm.hpp"
#include "showcase/row_attention/row_attention.hpp"
#include "showcase/saxpy/saxpy.hpp"
#include "showcase/softmax/softmax.hpp"
#include "showcase/statistics/statistics.hpp"
#include "showcase/transpose/transpose.hpp"
#include "tools/registry.hpp"

namespace kaio::tools {
namespace {

const family list("showcase", [] {
  using namespace showcase;
  return images(saxpy, fused_silu_gate, softmax, row_attention<64, causal>, row_statistics<f32>,
                row_statistics<bf16>, visit_order, generation::embed, generation::rms_norm,
                generation::advance, generation::choose, exact_gelu, fast_gelu, showcase::rms_norm<32>,
                showcase::rms_norm<256>, layer_norm<32>, layer_norm<256>, int8_dequant, showcase::reduction,
                showcase::transpose, showcase::histogram, llama::embed<f16>, llama::embed<bf16>,
                llama::convert<f32, f16>, llama::convert<bf16, f16>, llama::find_candidates, llama::choose);
});

}  // namespace
}  // namespace kaio::tools
