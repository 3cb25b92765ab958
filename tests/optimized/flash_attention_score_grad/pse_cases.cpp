#include <limits>

#include "check_cases.hpp"

namespace assay::test {
namespace {

using Problem = FlashOp::Problem;
using C = FlashCall;
using enum spec::FlashEntryPoint;
using spec::DType;
using spec::PseShape;

/// As many queries as keys, everywhere.
void square(Problem& p) {
  p.seq_q = p.seq_kv = 30;
  if (is_packed(p.input_layout)) p.lengths_q = p.lengths_kv = {30, 25, 7};
}

void causal(Problem& p, std::int64_t mode) {
  square(p);
  p.sparse_mode = mode, p.atten_mask = spec::MaskShape::compressed;
  p.pse_shift = PseShape::one_nhs;
}

void long_causal(Problem& p) {
  p.seq_q = p.seq_kv = 1025;
  p.pse_shift = PseShape::bnhs, p.pre_tokens = 1025, p.next_tokens = 0;
}

void slopes(Problem& p, std::int64_t type, PseShape shape) {
  square(p);
  p.pse_type = type, p.pse_shift = shape;
}

/// Mode 8, slopes, 20, 25, 7 queries and 30, 25, 7 keys: the first queries were cut off behind 10.
void split(Problem& p, std::vector<std::int64_t> q_start, std::vector<std::int64_t> kv_start) {
  slopes(p, 2, PseShape::slopes_n);
  p.lengths_q[0] = 20, p.seq_q = 25;
  p.sparse_mode = 8, p.atten_mask = spec::MaskShape::compressed;
  p.q_start_idx = std::move(q_start), p.kv_start_idx = std::move(kv_start);
}

const std::vector<CheckCase>& kinds() {
  static const std::vector<CheckCase> cases = {
      {{g2, u2},
       {},
       [](C& c) { c.attributes.pse_type = 4; },
       "FAG-C76: pseType is 4; it must be 0 to 3"},
      {{g2, u2},
       {},
       [](C& c) { c.attributes.pse_type = -1; },
       "FAG-C76: pseType is -1; it must be 0 to 3"},
      {{g1, u1, u4}, {}, [](C& c) { c.attributes.pse_type = 4; }, ""},
      {{u3}, {}, [](C& c) { c.attributes.pse_type = 0; }, ""},
      {{u3},
       {},
       [](C& c) { c.attributes.pse_type = 2; },
       "FAG-C77: pseType is 2; it must be 0 to 1"},
      {{u3},
       {},
       [](C& c) { c.attributes.pse_type = -1; },
       "FAG-C77: pseType is -1; it must be 0 to 1"},
      {{g2, u2},
       {},
       [](C& c) { c.attributes.pse_type = 0; },
       "FAG-C78: pseType is 0 and pse_shift is null; without pse it must be 1"},
      {{g2, u2},
       {},
       [](C& c) { c.attributes.pse_type = 3; },
       "FAG-C78: pseType is 3 and pse_shift is null; without pse it must be 1"},
      // A tensor of rank 0 is an absent one.
      {{g2, u2, u3}, {}, [](C& c) { c.parameters.pse_shift = parameter(DType::bf16, {}); }, ""},
      {{g1, g2},
       [](Problem& p) { p.pse_shift = PseShape::bnss; },
       [](C& c) { c.parameters.pse_shift.dtype = DType::fp32; },
       "FAG-C23: type of pse_shift is fp32, that of query is bf16; they must be equal"},
      {{u1, u2, u4},
       [](Problem& p) { causal(p, 3); },
       [](C& c) { c.parameters.pse_shift.dtype = DType::fp16; },
       "FAG-C23: type of pse_shift is fp16, that of query is bf16; they must be equal"},
      {{g2, u2},
       [](Problem& p) { slopes(p, 3, PseShape::slopes_n); },
       [](C& c) { c.parameters.pse_shift.dtype = DType::fp16; },
       "FAG-C23: type of pse_shift is fp16, that of query is bf16; they must be equal"},
      {{g2},
       [](Problem& p) { slopes(p, 3, PseShape::slopes_n), p.slope_dtype = DType::bf16; },
       {},
       ""},
      {{u2},
       [](Problem& p) { slopes(p, 3, PseShape::slopes_n), p.slope_dtype = DType::bf16; },
       {},
       "FAG-C23c: type of pse_shift is bf16; it must be fp32"},
      {{g2, u2}, [](Problem& p) { slopes(p, 2, PseShape::slopes_n); }, {}, ""},
      {{g2, u2}, [](Problem& p) { slopes(p, 3, PseShape::slopes_bn); }, {}, ""},
  };
  return cases;
}

const std::vector<CheckCase>& shapes() {
  static const std::vector<CheckCase> cases = {
      {padded(), [](Problem& p) { p.pse_shift = PseShape::bnss; }, {}, ""},
      {padded(), [](Problem& p) { p.pse_shift = PseShape::bn1s; }, {}, ""},
      {padded(), [](Problem& p) { p.pse_shift = PseShape::one_nss; }, {}, ""},
      {padded(), [](Problem& p) { p.pse_shift = PseShape::bnss; },
       [](C& c) { resize(c.parameters.pse_shift, 2, 2); },
       "FAG-C79: shape of pse_shift is [3, 4, 2, 30]; pseType 1 needs [3, 4, 20, 30] or "
       "[3, 4, 1, 30] or [1, 4, 20, 30]"},
      {padded(),
       [](Problem& p) { p.pse_shift = PseShape::one_nhs; },
       {},
       "FAG-C79: shape of pse_shift is [1, 4, 1024, 30]; pseType 1 needs "},
      {{u1, u2, u4}, [](Problem& p) { causal(p, 2); }, {}, ""},
      {{u1, u2, u4}, [](Problem& p) { causal(p, 3), p.pse_shift = PseShape::bnhs; }, {}, ""},
      {{u1, u2, u4}, [](Problem& p) { p.pse_shift = PseShape::packed_bn1s; }, {}, ""},
      {{u1, u2, u4}, [](Problem& p) { p.pse_shift = PseShape::packed_bnss; }, {}, ""},
      {{u1},
       [](Problem& p) { p.pse_shift = PseShape::packed_bnss; },
       [](C& c) { resize(c.parameters.pse_shift, 0, 2935); },
       "FAG-C79: shape of pse_shift is [2935]; pseType 1 needs [3, 4, 20, 30] or [3, 4, 1, 30] or "
       "[1, 4, 20, 30] or [3, 4, 1024, 30] or [1, 4, 1024, 30] or [248] or [2936]"},
      {{u2, u4},
       [](Problem& p) { p.pse_shift = PseShape::packed_bnss; },
       [](C& c) { resize(c.parameters.pse_shift, 0, 2935); },
       "FAG-C79: shape of pse_shift is [2935]; pseType 1 needs [3, 4, 1024, 30] or "
       "[1, 4, 1024, 30] or [248] or [2936]"},
      {{u1}, [](Problem& p) { p.pse_shift = PseShape::bnss; }, {}, ""},
      {{u2, u4},
       [](Problem& p) { p.pse_shift = PseShape::bnss; },
       {},
       "FAG-C79: shape of pse_shift is "},
      {{u1}, [](Problem& p) { p.pse_shift = PseShape::bn1s; }, {}, ""},
      {{u2, u4},
       [](Problem& p) { p.pse_shift = PseShape::bn1s; },
       {},
       "FAG-C79: shape of pse_shift is "},
      {{u1}, [](Problem& p) { p.pse_shift = PseShape::one_nss; }, {}, ""},
      {{u2, u4},
       [](Problem& p) { p.pse_shift = PseShape::one_nss; },
       {},
       "FAG-C79: shape of pse_shift is "},
      {{u1, u2, u4},
       [](Problem& p) { p.pse_shift = PseShape::bn1s; },
       [](C& c) { resize(c.parameters.pse_shift, 0, 1); },
       "FAG-C79: shape of pse_shift is [1, 4, 1, 30]; pseType 1 needs "},
      {{g2, u2},
       [](Problem& p) { slopes(p, 2, PseShape::slopes_bn); },
       [](C& c) { resize(c.parameters.pse_shift, 0, 2); },
       "FAG-C79: shape of pse_shift is [2, 4]; pseType 2 needs [4] or [3, 4]"},
      {{g2},
       [](Problem& p) { slopes(p, 2, PseShape::slopes_n), p.seq_q = 29; },
       {},
       "FAG-C80: lengths of query and key are 29 and 30; pseType 2 needs equal ones"},
      {{u2}, [](Problem& p) { slopes(p, 2, PseShape::slopes_n), p.lengths_q[1] = 24; }, {}, ""},
      {padded(), long_causal, {}, ""},
      {padded(),
       [](Problem& p) { long_causal(p), p.next_tokens = 1; },
       {},
       "FAG-C81: preTokens is 1025 and nextTokens 1; a pse_shift of 1024 rows needs a causal "
       "window, at least 1025 and 0"},
      {padded(),
       [](Problem& p) { long_causal(p), p.pre_tokens = 1024; },
       {},
       "FAG-C81: preTokens is 1024 and nextTokens 0; "},
      {padded(),
       [](Problem& p) { long_causal(p), p.seq_kv = 1026; },
       {},
       "FAG-C81: lengths of query and key are 1025 and 1026; a pse_shift of 1024 rows needs equal "
       "ones"},
      {padded(), [](Problem& p) { long_causal(p), p.seq_q = 1024, p.next_tokens = 9; }, {}, ""},
      {{u1, u2, u4},
       [](Problem& p) { causal(p, 4), p.pre_tokens = 30, p.next_tokens = 0; },
       {},
       ""},
      {{u1, u2, u4},
       [](Problem& p) { causal(p, 4), p.pre_tokens = 29, p.next_tokens = 0; },
       {},
       "FAG-C81: preTokens is 29 and nextTokens 0; a pse_shift of 1024 rows needs a causal window, "
       "at least 30 and 0"},
      {{u1, u2, u4},
       [](Problem& p) { causal(p, 4), p.pre_tokens = 30, p.next_tokens = 1; },
       {},
       "FAG-C81: preTokens is 30 and nextTokens 1; "},
      {{u1, u2, u4},
       [](Problem& p) { causal(p, 3), p.lengths_q[2] = p.lengths_kv[2] = 1; },
       {},
       ""},
      {{u1, u2, u4},
       [](Problem& p) { causal(p, 3), p.lengths_q[2] = 0; },
       {},
       "FAG-C82: length of query of sequence 2 is 0; with pse_shift it must be at least 1"},
      {{u1, u2, u4},
       [](Problem& p) { causal(p, 3), p.lengths_kv[1] = 0; },
       {},
       ""},  // open: no page speaks of sequences without keys
  };
  return cases;
}

const std::vector<CheckCase>& outer_splits() {
  static const std::vector<CheckCase> cases = {
      {{u1, u2, u4},
       [](Problem& p) { causal(p, 7), p.pre_tokens = 30, p.next_tokens = 0; },
       {},
       "FAG-C74: pse_shift has shape [1, 4, 1024, 30]; it must be null in sparseMode 7"},
      {{u1, u2, u4},
       [](Problem& p) { causal(p, 8), p.pre_tokens = 30, p.next_tokens = 0; },
       {},
       ""},
      {{u1, u2, u4},
       [](Problem& p) {
         causal(p, 8), p.pre_tokens = 30, p.next_tokens = 0;
         p.lengths_q[0] = 29;
       },
       {},
       "FAG-C75: lengths of sequence 0 are 29 and 30 from positions 0 and 0; with pse_shift in "
       "sparseMode 8 they must end at one"},
      {{u1, u2, u4},
       [](Problem& p) {
         causal(p, 8), p.pre_tokens = 30, p.next_tokens = 0;
         p.lengths_kv[2] = 8;
       },
       {},
       "FAG-C75: lengths of sequence 2 are 7 and 8 from positions 0 and 0; "},
      {{u2}, [](Problem& p) { split(p, {13}, {3}); }, {}, ""},
      {{u2},
       [](Problem& p) { split(p, {13}, {4}); },
       {},
       "FAG-C75: lengths of sequence 0 are 20 and 30 from positions 13 and 4; "},
      {{u2},
       [](Problem& p) { split(p, {10}, {}); },
       {},
       "FAG-C75: lengths of sequence 0 are 20 and 30 from positions 0 and 0; "},
      {{u2},
       [](Problem& p) { split(p, {10}, {}); },
       [](C& c) { c.parameters.kv_start_idx.emplace(); },
       "FAG-C75: lengths of sequence 0 are 20 and 30 from positions 0 and 0; "},
      // These starts differ by 10 only modulo 2^64.
      {{u2},
       [](Problem& p) {
         constexpr auto least = std::numeric_limits<std::int64_t>::min();
         split(p, {least}, {std::numeric_limits<std::int64_t>::max() - 9});
       },
       {},
       "FAG-C75: lengths of sequence 0 are 20 and 30 from positions -9223372036854775808 and "},
      // Elsewhere a start alone, or several, say nothing.
      {{g2, u2, u3},
       {},
       [](C& c) {
         c.parameters.q_start_idx = {{7, 8}};
       },
       ""},
      {{g2, u2, u3}, {}, [](C& c) { c.parameters.kv_start_idx.emplace(); }, ""},
  };
  return cases;
}

}  // namespace

std::span<const CheckCase> pse_cases() {
  static const std::vector<CheckCase> all = joined({kinds(), shapes(), outer_splits()});
  return all;
}

}  // namespace assay::test
