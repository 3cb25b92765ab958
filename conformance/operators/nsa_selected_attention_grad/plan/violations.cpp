#include "attention/plan/choices.hpp"
#include "operators/nsa_selected_attention_grad/plan/draws.hpp"
#include "plan/breaking_calls.hpp"
#include "plan/varied_calls.hpp"

namespace assay::conformance::selected {
namespace {

/// Returns legal calls that cover all conditions of requirements.
std::vector<SelectedCase> legal_calls() {
  std::vector<SelectedCase> calls;
  for (const bool ragged : {false, true})
    for (const std::int64_t mode : {0, 2})
      for (const auto mask : {spec::SelectedMask::absent, spec::SelectedMask::compressed}) {
        if (mode == 2 && mask == spec::SelectedMask::absent) continue;
        SelectedCase c{.track = Track::arguments};
        Op::Problem& p = c.problem;
        p.dtype = calls.size() % 2 == 0 ? spec::DType::bf16 : spec::DType::fp16;
        p.heads_q = 4;
        p.heads_kv = 2;
        p.selected_block_size = calls.size() % 3 == 0 ? 64 : 32;
        p.selected_block_count = 3;
        p.head_dim = calls.size() % 3 == 1 ? 128 : 192;
        p.head_dim_v = calls.size() % 3 == 2 ? 192 : 128;
        p.scale_value = attention::ordinary_scale(p.head_dim);
        p.sparse_mode = mode;
        p.atten_mask = mask;
        const std::int64_t keys = listed_keys(p);
        if (ragged)
          set_lengths(p, {24, 7, 16}, {keys + p.selected_block_size, keys, keys});
        else
          set_lengths(p, {24, 24}, {keys, keys});
        calls.push_back(c);
      }
  return calls;
}

}  // namespace

std::vector<SelectedCase> violation_cases() { return breaking_cases<Op>({legal_calls()}); }

std::vector<SelectedCase> variant_cases() { return varied_cases<Op>({legal_calls()}); }

}  // namespace assay::conformance::selected
