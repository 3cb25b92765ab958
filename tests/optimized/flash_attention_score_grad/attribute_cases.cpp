#include <limits>

#include "check_cases.hpp"

namespace assay::test {
namespace {

using Problem = FlashOp::Problem;
using C = FlashCall;
using enum spec::FlashEntryPoint;
using spec::DType;
using spec::MaskShape;
constexpr auto null = spec::Status::param_nullptr;
constexpr std::int64_t mebi = 1024 * 1024;

/// Gives the problem one sequence in either kind of layout.
void one_sequence(Problem& p, std::int64_t q, std::int64_t kv) {
  p.batch = 1, p.seq_q = q, p.seq_kv = kv;
  if (is_packed(p.input_layout)) p.lengths_q = {q}, p.lengths_kv = {kv};
}

void many_sequences(Problem& p, std::int64_t count) {
  p.batch = count, p.seq_q = p.seq_kv = 1;
  p.lengths_q.clear(), p.lengths_kv.clear();
}

void compressed(Problem& p, std::int64_t mode) {
  p.sparse_mode = mode, p.atten_mask = MaskShape::compressed;
  if (mode != 6) return;
  for (std::int64_t b = 0; b < p.batch; ++b) p.prefix.push_back(p.length_kv(b));
}

void window(Problem& p, std::int64_t mode, std::int64_t pre, std::int64_t next) {
  if (mode != 0) compressed(p, mode);
  p.pre_tokens = pre, p.next_tokens = next;
}

const std::vector<CheckCase>& sizes() {
  static const std::vector<CheckCase> cases = {
      {every_entry_point(), [](Problem& p) { p.heads_q = 256; }, {}, ""},
      {every_entry_point(),
       [](Problem& p) { p.heads_q = 258; },
       {},
       "FAG-C39: number of query heads is 258; it must be 1 to 256"},
      {padded(), [](Problem& p) { many_sequences(p, 2 * mebi); }, {}, ""},
      {padded(),
       [](Problem& p) { many_sequences(p, 2 * mebi + 1); },
       {},
       "FAG-C40: batch is 2097153; it must be 1 to 2097152"},
      {padded(), [](Problem& p) { many_sequences(p, 2048), compressed(p, 6); }, {}, ""},
      {padded(),
       [](Problem& p) { many_sequences(p, 2049), compressed(p, 6); },
       {},
       "FAG-C40: batch is 2049; it must be 1 to 2048"},
      {padded(), [](Problem& p) { one_sequence(p, mebi, mebi); }, {}, ""},
      {padded(),
       [](Problem& p) { one_sequence(p, mebi + 1, 30); },
       {},
       "FAG-C41: length of query is 1048577; it must be 1 to 1048576"},
      {padded(),
       [](Problem& p) { one_sequence(p, 30, mebi + 1); },
       {},
       "FAG-C41: length of key is 1048577; it must be 1 to 1048576"},
      {unpadding(), [](Problem& p) { one_sequence(p, mebi, mebi); }, {}, ""},
      {unpadding(),
       [](Problem& p) { one_sequence(p, mebi + 1, 30); },
       {},
       "FAG-C42: tokens of query is 1048577; it must be 1 to 1048576"},
      {unpadding(),
       [](Problem& p) { one_sequence(p, 30, mebi + 1); },
       {},
       "FAG-C42: tokens of key is 1048577; it must be 1 to 1048576"},
      {unpadding(), [](Problem& p) { many_sequences(p, 2048); }, {}, ""},
      {unpadding(),
       [](Problem& p) { many_sequences(p, 2049); },
       {},
       ""},  // open: a test of upstream's passes it
      {unpadding_without_rope(),
       [](Problem& p) { many_sequences(p, 1024), compressed(p, 6); },
       {},
       ""},
      {unpadding_without_rope(),
       [](Problem& p) { many_sequences(p, 1025), compressed(p, 6); },
       {},
       ""},
      {every_entry_point(), [](Problem& p) { p.head_dim = 768; }, {}, ""},
      {{g1, g2, u1, u2, u4},
       [](Problem& p) { p.head_dim = 769; },
       {},
       "FAG-C44: head size of query is 769; it must be 1 to 768"},
      {{u3},
       [](Problem& p) { p.head_dim = 776; },
       {},
       "FAG-C44: head size of query is 776; it must be 1 to 768"},
      {{g1, g2, u1, u2, u4}, [](Problem& p) { p.head_dim = 33; }, {}, ""},
      {{u3},
       [](Problem& p) { p.head_dim = 33; },
       {},
       "FAG-C45: head size of query is 33; it must be a multiple of 8"},
      {{u3},
       [](Problem& p) { p.head_dim_rope = 12; },
       {},
       "FAG-C45: head size of query_rope is 12; it must be a multiple of 8"},
      {{u3},
       {},
       [](C& c) { resize(c.parameters.key_rope, 2, 16); },
       "FAG-C45: head size of key_rope is 16, that of query_rope is 8; they must be equal"},
      {{u3}, [](Problem& p) { p.head_dim_rope = 24; }, {}, ""},
      {{u3},
       [](Problem& p) { p.head_dim_rope = 32; },
       {},
       "FAG-C45: head size of query_rope is 32; it must be at most that of query, which is 24"},
  };
  return cases;
}

const std::vector<CheckCase>& dropout() {
  static const std::vector<CheckCase> cases = {
      {{g1, g2, u1, u2, u4},
       {},
       [](C& c) { c.attributes.keep_prob = 0; },
       "FAG-C60: keepProb is 0; it must be in (0, 1]"},
      {{g1, g2, u1, u2, u4},
       {},
       [](C& c) { c.attributes.keep_prob = 1.5; },
       "FAG-C60: keepProb is 1.5; it must be in (0, 1]"},
      {{g1, g2, u1, u2, u4},
       {},
       [](C& c) { c.attributes.keep_prob = std::numeric_limits<double>::quiet_NaN(); },
       "FAG-C60: keepProb is nan; it must be in (0, 1]"},
      {{u3},
       {},
       [](C& c) { c.attributes.keep_prob = 0.5; },
       "FAG-C61: keepProb is 0.5; it must be 1 on u3"},
      {{u3},
       {},
       [](C& c) { c.attributes.keep_prob = 2; },
       "FAG-C61: keepProb is 2; it must be 1 on u3"},
      {{g1, g2, u1, u2, u4},
       {},
       [](C& c) { c.attributes.keep_prob = 0.5; },
       "FAG-C12: drop_mask is null; keepProb below 1 requires it",
       null},
      {{g1, g2, u1, u2, u4},
       [](Problem& p) { p.keep_prob = 1e-3, p.drop_mask = spec::DropMask::exact; },
       {},
       ""},
      {{g1, g2, u1, u2, u4},
       [](Problem& p) { p.keep_prob = 0.5, p.drop_mask = spec::DropMask::granules; },
       {},
       ""},
      {{g1, g2, u1, u2, u4},
       {},
       [](C& c) { c.parameters.drop_mask = parameter(DType::uint8, {1}); },
       ""},
      {padded(), [](Problem& p) { p.keep_prob = 0.5; },
       [](C& c) { c.parameters.drop_mask = parameter(DType::uint8, {899}); },
       "FAG-C62: drop_mask has 899 B; it must have at least 900, one bit per score"},
      {unpadding_without_rope(), [](Problem& p) { p.keep_prob = 0.5; },
       [](C& c) {
         c.parameters.drop_mask = parameter(DType::uint8, {2, 183});
       },
       "FAG-C62: drop_mask has 366 B; it must have at least 367, one bit per score"},
      {padded(),
       [](Problem& p) {
         many_sequences(p, 2 * mebi);
         p.seq_q = p.seq_kv = mebi, p.heads_q = 256, p.keep_prob = 0.5;
       },
       [](C& c) { c.parameters.drop_mask = parameter(DType::uint8, {900}); },
       "FAG-C62: drop_mask has 900 B; it must have at least 1152921504606846976, "},
  };
  return cases;
}

const std::vector<CheckCase>& modes() {
  static const std::vector<CheckCase> cases = {
      {every_entry_point(),
       {},
       [](C& c) { c.attributes.sparse_mode = 9; },
       "FAG-C63: sparseMode is 9; it must be 0 to 8"},
      {every_entry_point(),
       {},
       [](C& c) { c.attributes.sparse_mode = -1; },
       "FAG-C63: sparseMode is -1; it must be 0 to 8"},
      {padded(),
       [](Problem& p) { compressed(p, 7); },
       {},
       "FAG-C64: sparseMode is 7; 7 and 8 exist in layout TND only"},
      {padded(),
       [](Problem& p) { compressed(p, 8); },
       {},
       "FAG-C64: sparseMode is 8; 7 and 8 exist in layout TND only"},
      {{u3},
       [](Problem& p) { p.sparse_mode = 5; },
       {},
       "FAG-C65: sparseMode is 5; it must not be 5 or 6 on u3"},
      {{u3},
       [](Problem& p) { compressed(p, 6); },
       {},
       "FAG-C65: sparseMode is 6; it must not be 5 or 6 on u3"},
      {{u1},
       [](Problem& p) {
         p.sparse_mode = 5, p.prefix = {30, 25, 7};
       },
       {},
       ""},
      {{u2, u4},
       [](Problem& p) {
         p.sparse_mode = 5, p.prefix = {30, 25, 7};
       },
       {},
       "FAG-C66a: sparseMode is 5; it must not be 5 on "},
      {every_entry_point(), [](Problem& p) { compressed(p, 2); }, {}, ""},
      {every_entry_point(), [](Problem& p) { compressed(p, 3); }, {}, ""},
      {every_entry_point(), [](Problem& p) { compressed(p, 4); }, {}, ""},
      {{g1, g2, u1, u2, u4}, [](Problem& p) { compressed(p, 6); }, {}, ""},
      {unpadding(), [](Problem& p) { compressed(p, 7); }, {}, ""},
      {unpadding(), [](Problem& p) { compressed(p, 8); }, {}, ""},
      {every_entry_point(), [](Problem& p) { p.sparse_mode = 1; }, {}, ""},
      {padded(),
       [](Problem& p) {
         p.sparse_mode = 5, p.atten_mask = MaskShape::bnss, p.prefix = {10, 20, 30};
       },
       {},
       ""},
      // The shape of the mask.
      {every_entry_point(),
       {},
       [](C& c) {
         c.parameters.atten_mask = parameter(DType::uint8, {20, 29});
       },
       "FAG-C67: shape of atten_mask is [20, 29]; sparseMode 0 needs [3, 1, 20, 30] or "
       "[3, 4, 20, 30] or [20, 30] or [1, 1, 20, 30]"},
      {every_entry_point(), [](Problem& p) { p.sparse_mode = 1; },
       [](C& c) { resize(c.parameters.atten_mask, 0, 21); },
       "FAG-C67: shape of atten_mask is [21, 30]; sparseMode 1 needs "},
      {every_entry_point(),
       [](Problem& p) { p.sparse_mode = 2; },
       {},
       "FAG-C67: shape of atten_mask is [20, 30]; sparseMode 2 needs [2048, 2048] or "
       "[1, 1, 2048, 2048]"},
      {every_entry_point(),
       [](Problem& p) { compressed(p, 2), p.atten_mask = MaskShape::compressed_one_one_ss; },
       {},
       ""},
      {every_entry_point(),
       [](Problem& p) { compressed(p, 3), p.atten_mask = MaskShape::compressed_b_one_ss; },
       {},
       ""},
      {every_entry_point(),
       [](Problem& p) { compressed(p, 4), p.atten_mask = MaskShape::compressed_bnss; },
       {},
       ""},
      {{g1, g2, u1, u2, u4},
       [](Problem& p) { compressed(p, 6), p.atten_mask = MaskShape::compressed_bnss; },
       {},
       ""},
      {every_entry_point(),
       [](Problem& p) { compressed(p, 3), p.atten_mask = MaskShape::compressed_b_one_ss; },
       [](C& c) { resize(c.parameters.atten_mask, 0, 2); },
       "FAG-C67: shape of atten_mask is [2, 1, 2048, 2048]; sparseMode 3 needs [2048, 2048] or "
       "[1, 1, 2048, 2048] or [3, 1, 2048, 2048] or [3, 4, 2048, 2048]"},
      {every_entry_point(),
       [](Problem& p) { p.sparse_mode = 1, p.atten_mask = MaskShape::bnss; },
       {},
       ""},
      {every_entry_point(), [](Problem& p) { compressed(p, 3); },
       [](C& c) { resize(c.parameters.atten_mask, 0, 2047); },
       "FAG-C67: shape of atten_mask is [2047, 2048]; sparseMode 3 needs [2048, 2048]"},
      {every_entry_point(), [](Problem& p) { compressed(p, 4); },
       [](C& c) { resize(c.parameters.atten_mask, 0, 3072); },
       "FAG-C67: shape of atten_mask is [3072, 2048]; sparseMode 4 needs [2048, 2048]"},
      {padded(),
       [](Problem& p) {
         p.sparse_mode = 5, p.prefix = {10, 10, 10};
       },
       {},
       ""},
      {{g1, g2, u1, u2, u4},
       [](Problem& p) { compressed(p, 6); },
       [](C& c) { resize(c.parameters.atten_mask, 0, 2048); },
       "FAG-C67: shape of atten_mask is [2048, 2048]; sparseMode 6 needs [3072, 2048]"},
      {unpadding(), [](Problem& p) { compressed(p, 7); },
       [](C& c) { resize(c.parameters.atten_mask, 0, 3072); },
       "FAG-C67: shape of atten_mask is [3072, 2048]; sparseMode 7 needs [2048, 2048]"},
      {unpadding(), [](Problem& p) { compressed(p, 8); },
       [](C& c) { resize(c.parameters.atten_mask, 1, 2047); },
       "FAG-C67: shape of atten_mask is [2048, 2047]; sparseMode 8 needs [2048, 2048]"},
      // The prefix.
      {padded(), [](Problem& p) { p.sparse_mode = 5, p.atten_mask = MaskShape::b_one_ss; }, {}, ""},
      {{g1, g2, u1, u2, u4},
       [](Problem& p) { compressed(p, 6), p.prefix = {}; },
       {},
       "FAG-C72: prefix is null; sparseMode 6 requires it"},
      {{g1, g2, u1, u2, u4},
       [](Problem& p) {
         compressed(p, 6), p.prefix = {1, 1};
       },
       {},
       "FAG-C72: prefix has 2 entries; batch is 3"},
      {padded(),
       [](Problem& p) {
         compressed(p, 6), p.prefix = {10, 30, 20};
       },
       {},
       ""},
      {padded(),
       [](Problem& p) {
         compressed(p, 6), p.prefix = {10, 31, 20};
       },
       {},
       ""},  // open: so is every prefix outside its range
      {unpadding_without_rope(),
       [](Problem& p) {
         compressed(p, 6), p.prefix = {25, 25, 0};
       },
       {},
       ""},
      {unpadding_without_rope(),
       [](Problem& p) {
         compressed(p, 6), p.prefix = {24, 25, 0};
       },
       {},
       ""},
      {unpadding_without_rope(),
       [](Problem& p) {
         compressed(p, 6), p.prefix = {25, 25, 8};
       },
       {},
       ""},
      {every_entry_point(), [](Problem& p) { p.prefix = {0}; }, {}, ""},
      {every_entry_point(), {}, [](C& c) { c.attributes.inner_precise = 77; }, ""},
      {{u4}, {}, [](C& c) { c.attributes.softmax_in_layout = "same_as_input"; }, ""},
      {{u4},
       {},
       [](C& c) { c.attributes.softmax_in_layout = "TND"; },
       "FAG-C83: softmaxInLayout is \"TND\"; it must be \"\" or \"same_as_input\""},
      {{u4},
       {},
       [](C& c) { c.attributes.softmax_in_layout.reset(); },
       "FAG-C83: softmaxInLayout is null; it is required",
       null},
      {{g1, g2, u1, u2, u3}, {}, [](C& c) { c.attributes.softmax_in_layout = "TND"; }, ""},
  };
  return cases;
}

const std::vector<CheckCase>& windows() {
  static const std::vector<CheckCase> cases = {
      // Padded: 20 queries, 30 keys. TND: the shortest sequences have 5 queries, 7 keys.
      {padded(), [](Problem& p) { window(p, 0, -30, 30); }, {}, ""},
      {padded(),
       [](Problem& p) { window(p, 0, -31, 40); },
       {},
       "FAG-C68: preTokens is -31; it must be at least -30"},
      {padded(), [](Problem& p) { window(p, 0, 20, -20); }, {}, ""},
      {padded(), [](Problem& p) { window(p, 0, 40, -29); }, {}, ""},  // the page's limit
      {padded(),
       [](Problem& p) { window(p, 0, 40, -30); },
       {},
       "FAG-C68: nextTokens is -30; it must be at least -29"},
      {padded(),
       [](Problem& p) { window(p, 0, 3, -4); },
       {},
       "FAG-C68: preTokens + nextTokens is -1; it must be at least 0"},
      {unpadding(), [](Problem& p) { window(p, 0, -7, 8); }, {}, ""},
      {unpadding(),
       [](Problem& p) { window(p, 0, -12, 40); },
       {},
       "FAG-C68: preTokens is -12; it must be at least -11"},
      {unpadding(), [](Problem& p) { window(p, 0, 6, -5); }, {}, ""},
      {unpadding(),
       [](Problem& p) { window(p, 0, 40, -13); },
       {},
       "FAG-C68: nextTokens is -13; it must be at least -12"},
      {unpadding(), [](Problem& p) { window(p, 0, 3, -3); }, {}, ""},  // a window of one key
      {unpadding_without_rope(),
       [](Problem& p) { window(p, 0, 3, -3), p.atten_mask = MaskShape::absent; },
       {},
       ""},
      {padded(), [](Problem& p) { window(p, 4, -20, 20); }, {}, ""},
      {padded(),
       [](Problem& p) { window(p, 4, -21, 40); },
       {},
       "FAG-C68: preTokens is -21; it must be at least -20"},
      {padded(), [](Problem& p) { window(p, 4, 30, -30); }, {}, ""},
      {padded(),
       [](Problem& p) { window(p, 4, 40, -31); },
       {},
       "FAG-C68: nextTokens is -31; it must be at least -30"},
      {padded(),
       [](Problem& p) { window(p, 4, 3, -4); },
       {},
       "FAG-C71: preTokens + nextTokens is -1; it must be at least 0"},
      {unpadding(), [](Problem& p) { window(p, 4, -5, 6); }, {}, ""},
      {unpadding(),
       [](Problem& p) { window(p, 4, -6, 40); },
       {},
       "FAG-C68: preTokens is -6; it must be at least -5"},
      {unpadding(), [](Problem& p) { window(p, 4, 8, -7); }, {}, ""},
      {unpadding(),
       [](Problem& p) { window(p, 4, 40, -8); },
       {},
       "FAG-C68: nextTokens is -8; it must be at least -7"},
      {unpadding(), [](Problem& p) { window(p, 4, 3, -3); }, {}, ""},
      // A window without a mask means nothing.
      {{g1, g2, u1, u2, u4},
       [](Problem& p) { window(p, 0, -50, -50), p.atten_mask = MaskShape::absent; },
       {},
       ""},
      {{g1, g2, u1, u2, u4},
       [](Problem& p) { window(p, 4, -50, -50), p.atten_mask = MaskShape::absent; },
       {},
       ""},
      // A sequence that is empty on a side does not narrow the limits.
      {unpadding(),
       [](Problem& p) {
         window(p, 4, 8, -7);
         p.batch = 4, p.lengths_q.push_back(0), p.lengths_kv.push_back(0);
       },
       {},
       ""},
      {unpadding(),
       [](Problem& p) {
         window(p, 4, 8, -7);
         p.batch = 4, p.lengths_q.insert(p.lengths_q.begin(), 0);
         p.lengths_kv.insert(p.lengths_kv.begin(), 0);
       },
       {},
       ""},
      // Mode 7: the last sequence with queries, 12 of them and 7 keys.
      {unpadding(), [](Problem& p) { window(p, 7, -12, 13); }, {}, ""},
      {unpadding(),
       [](Problem& p) { window(p, 7, -13, 40); },
       {},
       "FAG-C69: preTokens is -13; it must be at least -12"},
      {unpadding(), [](Problem& p) { window(p, 7, 8, -7); }, {}, ""},
      {unpadding(),
       [](Problem& p) { window(p, 7, 40, -8); },
       {},
       "FAG-C69: nextTokens is -8; it must be at least -7"},
      {unpadding(), [](Problem& p) { window(p, 7, 3, -3); }, {}, ""},
      {unpadding(), [](Problem& p) { window(p, 7, 40, -25), p.lengths_q[2] = 0; }, {}, ""},
      {unpadding(),
       [](Problem& p) { window(p, 7, 40, -26), p.lengths_q[2] = 0; },
       {},
       "FAG-C69: nextTokens is -26; it must be at least -25"},
      // Mode 8: the first sequence with queries, 5 of them and 30 keys.
      {unpadding(), [](Problem& p) { window(p, 8, -5, 6); }, {}, ""},
      {unpadding(),
       [](Problem& p) { window(p, 8, -6, 40); },
       {},
       "FAG-C69: preTokens is -6; it must be at least -5"},
      {unpadding(), [](Problem& p) { window(p, 8, 31, -30); }, {}, ""},
      {unpadding(),
       [](Problem& p) { window(p, 8, 40, -31); },
       {},
       "FAG-C69: nextTokens is -31; it must be at least -30"},
      {unpadding(), [](Problem& p) { window(p, 8, -20, 40), p.lengths_q[0] = 0; }, {}, ""},
      {unpadding(),
       [](Problem& p) { window(p, 8, -21, 40), p.lengths_q[0] = 0; },
       {},
       "FAG-C69: preTokens is -21; it must be at least -20"},
      // No other mode reads the window.
      {every_entry_point(), [](Problem& p) { window(p, 2, -9999, -9999); }, {}, ""},
      {every_entry_point(), [](Problem& p) { window(p, 3, -9999, -9999); }, {}, ""},
      {{g1, g2, u1, u2, u4}, [](Problem& p) { window(p, 6, -9999, -9999); }, {}, ""},
      {every_entry_point(),
       [](Problem& p) {
         constexpr auto most = std::numeric_limits<std::int64_t>::max();
         window(p, 4, most, most);
       },
       {},
       ""},
  };
  return cases;
}

}  // namespace

std::span<const CheckCase> attribute_cases() {
  static const std::vector<CheckCase> all = joined({sizes(), dropout(), modes(), windows()});
  return all;
}

}  // namespace assay::test
