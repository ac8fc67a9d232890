# The kernels of all operations, by family. A family is an object file, kaio_ops_<family>, and a program that traces its
# kernels, kaio_kernels_<family> (cmake/kaio_ops.cmake). To add kernels, add a family or a row of one.
#
#   kaio_family(<family> ROWS <variant> <function>=<expression>... FROM <header> [LISTS <function>])
#       Rows of a table. CMake writes the source: each function returns its expression, a span of variants. The functions
#       of all families with one variant are also <variant>_families, in the order of this list. LISTS appends the family's
#       kernels to a list, if they are not the `image` of each variant.
#   kaio_family(<family> ADDS <table> <function> FROM <header>)
#       Rows of a table of products. CMake writes the source: add_<family>(variant_list&) calls the function. These are also
#       <table>_families.
#   kaio_family(<family> FILE <source> [ROWS <variant> <function>... | ADDS <table>])
#       A source with code of its own. It defines the functions of ROWS, and add_<family> or, without ADDS,
#       list_<family>_kernels(std::vector<const ptx::kernel_image*>&).
#
# Headers and sources are named below src/ops. "ops/families.hpp", which CMake writes too, declares all these functions.

# Products of matrices. The order decides between variants that cost the same.
kaio_family(sm90_half ADDS matmul "add_sm90_copied_tiles<f16, bf16>" FROM matmul/sm90/families.hpp)
kaio_family(sm90_half_f32 ADDS matmul "add_sm90_copied_f32_tiles<f16, bf16>" FROM matmul/sm90/families.hpp)
kaio_family(sm90_half_general ADDS matmul "add_sm90_general_tiles<f16, bf16>" FROM matmul/sm90/families.hpp)
kaio_family(sm90_half_rows ADDS matmul "add_sm90_few_rows<f16, bf16>" FROM matmul/sm90/families.hpp)
kaio_family(sm90_half_splits ADDS matmul "add_sm90_splits<f16, bf16>" FROM matmul/sm90/families.hpp)
kaio_family(sm90_anywhere ADDS matmul "add_sm90_anywhere_tiles<f16, bf16>" FROM matmul/sm90/families.hpp)
kaio_family(sm90_tf32 ADDS matmul "add_sm90_tf32_tiles<>" FROM matmul/sm90/families.hpp)
kaio_family(sm90_tf32_words ADDS matmul "add_sm90_word_tiles<>" FROM matmul/sm90/families.hpp)
kaio_family(sm90_f8 ADDS matmul "add_sm90_f8_tiles<e4m3, e5m2>" FROM matmul/sm90/families.hpp)
kaio_family(simt_f32_tensor ADDS matmul "add_simt_tensor_tiles<>" FROM matmul/simt/families.hpp)
kaio_family(simt_f32 ADDS matmul "add_simt_aligned_tiles<>" FROM matmul/simt/families.hpp)
kaio_family(simt_any ADDS matmul "add_simt_any_tiles<>" FROM matmul/simt/families.hpp)
kaio_family(simt_sm70 ADDS matmul "add_simt_sm70_tiles<>" FROM matmul/simt/families.hpp)
kaio_family(skinny ADDS matmul "add_simt_few_rows<f32>" FROM matmul/simt/families.hpp)
kaio_family(mma_sync_f16 ADDS matmul "add_mma_sync_half_tiles<f16>" FROM matmul/mma_sync/families.hpp)
kaio_family(mma_sync_bf16 ADDS matmul "add_mma_sync_half_tiles<bf16>" FROM matmul/mma_sync/families.hpp)
kaio_family(mma_sync_tf32 ADDS matmul "add_mma_sync_tf32_tiles<>" FROM matmul/mma_sync/families.hpp)
kaio_family(mma_sync_tf32x3 ADDS matmul "add_mma_sync_tf32x3_tiles<>" FROM matmul/mma_sync/families.hpp)
kaio_family(mma_sync_e4m3 ADDS matmul "add_mma_sync_f8_tiles<e4m3>" FROM matmul/mma_sync/families.hpp)
kaio_family(mma_sync_e5m2 ADDS matmul "add_mma_sync_f8_tiles<e5m2>" FROM matmul/mma_sync/families.hpp)
kaio_family(mma_sync_sm75 ADDS matmul "add_mma_sync_sm75_tiles<>" FROM matmul/mma_sync/families.hpp)
kaio_family(mma_sync_sm70 ADDS matmul "add_mma_sync_sm70_tiles<>" FROM matmul/mma_sync/families.hpp)
kaio_family(split_reduce FILE matmul/common/split_reduce.cpp)
kaio_family(backward FILE matmul/call/backward.cpp)
kaio_family(tune FILE choice/measure.cpp)

# Kernels of `fp8` take no group scales, those of `fp8_groups` need them. Those of `fp8_any` take calls with and without, operands of two
# types and any layout.
kaio_family(fp8_sm90 FILE matmul_8bit/fp8/sm90.cpp ADDS fp8)
kaio_family(fp8_mma_sync FILE matmul_8bit/fp8/mma_sync.cpp ADDS fp8)
kaio_family(fp8_groups_sm90 FILE matmul_8bit/fp8/groups_sm90.cpp ADDS fp8_groups)
kaio_family(fp8_groups_mma_sync FILE matmul_8bit/fp8/groups_mma_sync.cpp ADDS fp8_groups)
kaio_family(fp8_any FILE matmul_8bit/fp8/any.cpp ADDS fp8_any)
kaio_family(fp8_simt FILE matmul_8bit/fp8/simt.cpp ADDS fp8_any)
kaio_family(fp8_quantise FILE matmul_8bit/fp8/quantise.cpp)
kaio_family(int8_sm90 FILE matmul_8bit/int8/sm90.cpp ADDS int8)
kaio_family(int8_mma_sync FILE matmul_8bit/int8/mma_sync.cpp ADDS int8)
kaio_family(int8_simt FILE matmul_8bit/int8/simt.cpp ADDS int8)
kaio_family(int8_column_sums FILE matmul_8bit/int8/column_sums.cpp)
kaio_family(int8_quantise FILE matmul_8bit/int8/quantise.cpp)

# Products with quantised weights: fewer rows of x first.
kaio_family(matmul_w4_f16 ROWS w4_variant "matmul_w4_mma_f16=matmul_w4_rows<w4_integers, f16, 32, 64>()"
  FROM weight_only/mma_sync/rows.hpp)
kaio_family(matmul_w4_bf16 ROWS w4_variant "matmul_w4_mma_bf16=matmul_w4_rows<w4_integers, bf16, 32, 64>()"
  FROM weight_only/mma_sync/rows.hpp)
kaio_family(matmul_w4_offsets ROWS w4_variant
  "matmul_w4_offsets_f16=matmul_w4_rows<w4_integers_and_offsets, f16, 32, 64>()"
  "matmul_w4_offsets_bf16=matmul_w4_rows<w4_integers_and_offsets, bf16, 32, 64>()"
  FROM weight_only/mma_sync/rows.hpp)
# A kernel for 64 rows would take too many registers.
kaio_family(matmul_w8_offsets ROWS w4_variant
  "matmul_w8_offsets_f16=matmul_w4_rows<w8_integers_and_offsets, f16, 32>()"
  "matmul_w8_offsets_bf16=matmul_w4_rows<w8_integers_and_offsets, bf16, 32>()"
  FROM weight_only/mma_sync/rows.hpp)
kaio_family(matmul_w4_table ROWS w4_variant  # nf4, fp4
  "matmul_w4_table_f16=matmul_w4_rows<w4_table_at_launch, f16, 32, 64>()"
  "matmul_w4_table_bf16=matmul_w4_rows<w4_table_at_launch, bf16, 32, 64>()"
  FROM weight_only/mma_sync/rows.hpp)
kaio_family(matmul_w4_mxfp4 ROWS w4_variant  # e2m1 with scales of e8m0
  "matmul_w4_mxfp4_f16=matmul_w4_rows<w4_mxfp4, f16, 32, 64>()"
  "matmul_w4_mxfp4_bf16=matmul_w4_rows<w4_mxfp4, bf16, 32, 64>()"
  FROM weight_only/mma_sync/rows.hpp)
kaio_family(matmul_w4_nvfp4 ROWS w4_variant  # e2m1 with scales of e4m3
  "matmul_w4_nvfp4_f16=matmul_w4_rows<w4_nvfp4, f16, 32, 64>()"
  "matmul_w4_nvfp4_bf16=matmul_w4_rows<w4_nvfp4, bf16, 32, 64>()"
  FROM weight_only/mma_sync/rows.hpp)
kaio_family(matmul_w8_int8 ROWS w4_variant
  "matmul_w8_int8_f16=matmul_w4_rows<w8_integers, f16, 32, 64>()"
  "matmul_w8_int8_bf16=matmul_w4_rows<w8_integers, bf16, 32, 64>()"
  FROM weight_only/mma_sync/rows.hpp)
kaio_family(matmul_w8_e4m3 ROWS w4_variant
  "matmul_w8_e4m3_f16=matmul_w4_rows<w8_e4m3, f16, 32, 64>()"
  "matmul_w8_e4m3_bf16=matmul_w4_rows<w8_e4m3, bf16, 32, 64>()"
  FROM weight_only/mma_sync/rows.hpp)
kaio_family(matmul_w4_simt FILE weight_only/simt/any.cpp ROWS w4_variant matmul_w4_simt_rows)
kaio_family(matmul_w4_combine FILE weight_only/common/combine.cpp)
kaio_family(order_w4_x FILE weight_only/common/order_x.cpp)
kaio_family(w4_repack FILE weight_only/repack/repack.cpp)
kaio_family(dequantise_blocks FILE weight_only/formats/blocks.cpp)
kaio_family(dequantise_codes FILE weight_only/formats/codes.cpp)
kaio_family(quantise_blocks FILE weight_only/formats/quantise.cpp)
kaio_family(quantise_w4 FILE weight_only/formats/quantise_w4.cpp)
kaio_family(repack_blocks FILE weight_only/formats/repack.cpp)

# Attention. The order of variants decides between equal costs; smaller head sizes first.
kaio_family(attention_sm90_f16 ROWS attention_variant "attention_sm90_f16=attention_sm90_rows<f16>()"
  FROM attention/forward/sm90/rows.hpp)
kaio_family(attention_sm90_bf16 ROWS attention_variant "attention_sm90_bf16=attention_sm90_rows<bf16>()"
  FROM attention/forward/sm90/rows.hpp)
kaio_family(attention_mma_f16 ROWS attention_variant "attention_mma_f16=attention_mma_rows<f16>()"
  FROM attention/forward/mma_sync/rows.hpp)
kaio_family(attention_mma_bf16 ROWS attention_variant "attention_mma_bf16=attention_mma_rows<bf16>()"
  FROM attention/forward/mma_sync/rows.hpp)
kaio_family(attention_mma_sm75 ROWS attention_variant "attention_mma_sm75=attention_mma_sm75_rows<>()"
  FROM attention/forward/mma_sync/rows.hpp)
kaio_family(attention_mma_tf32 ROWS attention_variant "attention_mma_tf32=attention_mma_tf32_rows<>()"
  FROM attention/forward/mma_sync/rows.hpp)
kaio_family(attention_simt_wide_f32 FILE attention/forward/simt/wide.cpp ROWS attention_variant attention_simt_wide_f32)
kaio_family(attention_simt_any FILE attention/forward/simt/any.cpp
  ROWS attention_variant attention_simt_f32 attention_simt_f16 attention_simt_blocks_f32)
kaio_family(attention_sm90_blocks_f16 ROWS attention_variant "attention_sm90_blocks_f16=attention_sm90_blocks_rows<f16>()"
  FROM attention/forward/sm90/rows.hpp)
kaio_family(attention_sm90_blocks_bf16 ROWS attention_variant "attention_sm90_blocks_bf16=attention_sm90_blocks_rows<bf16>()"
  FROM attention/forward/sm90/rows.hpp)
kaio_family(attention_mma_16bit FILE attention/forward/mma_sync/halves.cpp
  ROWS attention_variant attention_mma_blocks_f16 attention_mma_blocks_bf16)

kaio_family(attention_backward_sm90_f16
  ROWS attention_backward_variant "attention_backward_sm90_f16=attention_backward_sm90_rows<f16>()"
  FROM attention/backward/sm90/rows.hpp LISTS list_attention_backward_sm90<f16>)
kaio_family(attention_backward_sm90_bf16
  ROWS attention_backward_variant "attention_backward_sm90_bf16=attention_backward_sm90_rows<bf16>()"
  FROM attention/backward/sm90/rows.hpp LISTS list_attention_backward_sm90<bf16>)
kaio_family(attention_backward_mma_16bit FILE attention/backward/mma_sync/halves.cpp
  ROWS attention_backward_variant attention_backward_mma_f16 attention_backward_mma_bf16)
kaio_family(attention_backward_simt FILE attention/backward/simt/rows.cpp
  ROWS attention_backward_variant attention_backward_simt_rows)
kaio_family(attention_backward_common FILE attention/backward/common/prepare.cpp)

kaio_family(attention_decode_mma_16bit FILE attention/decode/mma_sync/halves.cpp
  ROWS attention_decode_variant attention_decode_mma_f16 attention_decode_mma_bf16)
kaio_family(attention_decode_mma_codes FILE attention/decode/mma_sync_8bit/rows.cpp
  ROWS attention_decode_variant attention_decode_mma_codes)
kaio_family(attention_mla FILE attention/decode/mla/rows.cpp ROWS attention_decode_variant attention_mla_rows)
kaio_family(attention_decode_simt FILE attention/decode/simt/rows.cpp
  ROWS attention_decode_variant attention_decode_simt_rows)
kaio_family(attention_merge FILE attention/decode/call/merge_states.cpp)

kaio_family(cache_append FILE cache/append/append_kv.cpp)
kaio_family(cache_copy FILE cache/copy/copy.cpp)
kaio_family(cache_rotary FILE cache/rotary/rotary.cpp)
kaio_family(cache_qk_norm FILE cache/qk_norm/qk_norm.cpp)

kaio_family(norm FILE norm/simt/rows.cpp)
kaio_family(norm_general FILE norm/simt/general.cpp)
kaio_family(norm_backward FILE norm/backward/rows.cpp)
kaio_family(softmax FILE softmax/simt/rows.cpp)
kaio_family(cross_entropy FILE cross_entropy/simt/rows.cpp)

kaio_family(copy FILE elementwise/copy/copy.cpp)
kaio_family(activation FILE elementwise/activation/activation.cpp)
kaio_family(int8_dequant FILE elementwise/int8_dequant/int8_dequant.cpp)

kaio_family(reduce FILE reduce/simt/rows.cpp)
kaio_family(scan FILE scan/simt/rows.cpp)
kaio_family(histogram FILE histogram/histogram.cpp)
kaio_family(embedding FILE embedding/embedding.cpp)
kaio_family(sample FILE sampling/simt/sample.cpp)
kaio_family(top_k FILE sampling/simt/top_k.cpp)
kaio_family(distributed FILE distributed/simt/sum_parts.cpp)
kaio_family(distributed_peer FILE distributed/peer/kernels.cpp)
kaio_family(distributed_gathered FILE distributed/peer/gathered_matmul.cpp)
kaio_family(experts FILE experts/simt/rows.cpp)
kaio_family(matmul_grouped_simt FILE matmul_grouped/simt/rows.cpp)
kaio_family(matmul_grouped_mma FILE matmul_grouped/mma_sync/rows.cpp)
kaio_family(matmul_grouped_sm90 FILE matmul_grouped/sm90/rows.cpp)
kaio_family(gate_up_grouped_sm90 FILE matmul_grouped/sm90/gate_up.cpp)
kaio_family(matmul_grouped_sums_simt FILE matmul_grouped/simt/sums.cpp)
kaio_family(matmul_grouped_sums_mma FILE matmul_grouped/mma_sync/sums.cpp)
kaio_family(matmul_grouped_sums_sm90 FILE matmul_grouped/sm90/sums.cpp)
kaio_family(grouped_bytes_sm90 FILE matmul_8bit_grouped/sm90/rows.cpp ROWS grouped_bytes_kernel grouped_bytes_sm90_rows)
kaio_family(grouped_bytes_mma FILE matmul_8bit_grouped/mma_sync/rows.cpp ROWS grouped_bytes_kernel grouped_bytes_mma_rows)
kaio_family(grouped_bytes_simt FILE matmul_8bit_grouped/simt/rows.cpp ROWS grouped_bytes_kernel grouped_bytes_simt_rows)

# Grouped products with quantised weights: fewer rows first.
kaio_family(w4_grouped_int4 ROWS w4_grouped_variant
  "w4_grouped_int4_f16=matmul_w4_grouped_rows<w4_integers, f16>()"
  "w4_grouped_int4_bf16=matmul_w4_grouped_rows<w4_integers, bf16>()"
  FROM weight_only_grouped/mma_sync/rows.hpp)
kaio_family(w4_grouped_offsets ROWS w4_grouped_variant
  "w4_grouped_offsets_f16=matmul_w4_grouped_rows<w4_integers_and_offsets, f16>()"
  "w4_grouped_offsets_bf16=matmul_w4_grouped_rows<w4_integers_and_offsets, bf16>()"
  FROM weight_only_grouped/mma_sync/rows.hpp)
kaio_family(w4_grouped_table ROWS w4_grouped_variant
  "w4_grouped_table_f16=matmul_w4_grouped_rows<w4_table_at_launch, f16>()"
  "w4_grouped_table_bf16=matmul_w4_grouped_rows<w4_table_at_launch, bf16>()"
  FROM weight_only_grouped/mma_sync/rows.hpp)
kaio_family(w4_grouped_mxfp4 ROWS w4_grouped_variant
  "w4_grouped_mxfp4_f16=matmul_w4_grouped_rows<w4_mxfp4, f16>()"
  "w4_grouped_mxfp4_bf16=matmul_w4_grouped_rows<w4_mxfp4, bf16>()"
  FROM weight_only_grouped/mma_sync/rows.hpp)
kaio_family(w4_grouped_nvfp4 ROWS w4_grouped_variant
  "w4_grouped_nvfp4_f16=matmul_w4_grouped_rows<w4_nvfp4, f16>()"
  "w4_grouped_nvfp4_bf16=matmul_w4_grouped_rows<w4_nvfp4, bf16>()"
  FROM weight_only_grouped/mma_sync/rows.hpp)
kaio_family(w8_grouped_int8 ROWS w4_grouped_variant
  "w8_grouped_int8_f16=matmul_w4_grouped_rows<w8_integers, f16>()"
  "w8_grouped_int8_bf16=matmul_w4_grouped_rows<w8_integers, bf16>()"
  FROM weight_only_grouped/mma_sync/rows.hpp)
kaio_family(w8_grouped_offsets ROWS w4_grouped_variant
  "w8_grouped_offsets_f16=matmul_w4_grouped_rows<w8_integers_and_offsets, f16>()"
  "w8_grouped_offsets_bf16=matmul_w4_grouped_rows<w8_integers_and_offsets, bf16>()"
  FROM weight_only_grouped/mma_sync/rows.hpp)
kaio_family(w8_grouped_e4m3 ROWS w4_grouped_variant
  "w8_grouped_e4m3_f16=matmul_w4_grouped_rows<w8_e4m3, f16>()"
  "w8_grouped_e4m3_bf16=matmul_w4_grouped_rows<w8_e4m3, bf16>()"
  FROM weight_only_grouped/mma_sync/rows.hpp)
kaio_family(w4_grouped_simt FILE weight_only_grouped/simt/any.cpp ROWS w4_grouped_variant matmul_w4_grouped_simt_rows)

# Projections. Smaller tiles, or fewer rows, first.
kaio_family(qkv_mma_f16 ROWS qkv_variant "qkv_mma_f16_rows=qkv_mma_rows<f16>()" FROM qkv_project/mma_sync/rows.hpp)
kaio_family(qkv_mma_bf16 ROWS qkv_variant "qkv_mma_bf16_rows=qkv_mma_rows<bf16>()" FROM qkv_project/mma_sync/rows.hpp)
kaio_family(qkv_sm90_f16 ROWS qkv_variant "qkv_sm90_f16_rows=qkv_sm90_rows<f16>()" FROM qkv_project/sm90/rows.hpp)
kaio_family(qkv_sm90_bf16 ROWS qkv_variant "qkv_sm90_bf16_rows=qkv_sm90_rows<bf16>()" FROM qkv_project/sm90/rows.hpp)
kaio_family(qkv_one_row FILE qkv_project/gemv/one_row.cpp ROWS qkv_few_rows_variant qkv_one_row_variants)
kaio_family(qkv_w4 FILE qkv_project/skinny/w4.cpp ROWS qkv_few_rows_variant qkv_w4_variants)
kaio_family(qkv_w16 FILE qkv_project/skinny/w16.cpp ROWS qkv_few_rows_variant qkv_w16_variants)
kaio_family(qkv_heads FILE qkv_project/heads/heads.cpp)
kaio_family(gate_up_w4 FILE gate_up_project/skinny/w4.cpp ROWS gate_up_variant gate_up_w4_variants)
kaio_family(gate_up_combine FILE gate_up_project/combine/combine.cpp)
