#include "problems.hpp"

#include <algorithm>
#include <ostream>
#include <utility>

#include "table_checks.hpp"

namespace assay::spec {
namespace {

using Problem = FlashAttentionScoreGrad::Problem;

template <class Enum>
rc::Gen<Enum> any_spelled() {
  return rc::gen::map(rc::gen::inRange<std::size_t>(0, spellings_of<Enum>.entries.size()),
                      [](std::size_t k) { return spellings_of<Enum>.entries[k].first; });
}

bool one_in(std::int64_t many) { return integer(1, many) == 1; }

/// Chooses a window (pre_tokens, next_tokens) that both the documentation and the vendor's code
/// accept for every sequence. In packed sequences the window has more than one key.
void choose_window(Problem& p) {
  std::int64_t shortest = std::min(p.seq_q, p.seq_kv);
  for (std::int64_t b = 0; b < p.batch; ++b)
    shortest = std::min({shortest, p.length_q(b), p.length_kv(b)});
  const std::int64_t least = is_packed(p.input_layout) ? 1 : 0;
  switch (integer(0, 4)) {
    case 0:
      break;
    case 1:
      p.next_tokens = 0;
      break;
    case 2:
      p.pre_tokens = integer(least, p.seq_q);
      p.next_tokens = integer(0, p.seq_kv);
      break;
    case 3:
      p.next_tokens = -integer(0, std::max<std::int64_t>(0, shortest - 1));
      break;
    default:
      p.pre_tokens = -integer(0, std::max<std::int64_t>(0, shortest - 1));
      break;
  }
}

/// Chooses sequence lengths. Some sequences may have no queries, but not all of them. Every
/// sequence has keys, because the documentation does not mention sequences without keys.
void choose_lengths(Problem& p) {
  if (!is_packed(p.input_layout) || one_in(3)) return;
  const std::int64_t least_q = one_in(3) ? 0 : 1;
  const auto choose = [&](std::vector<std::int64_t>& lengths, std::int64_t& longest,
                          std::int64_t least) {
    for (std::int64_t b = 0; b < p.batch; ++b) lengths.push_back(integer(least, 40));
    lengths.back() = std::max<std::int64_t>(lengths.back(), lengths.front() == 0 ? 1 : 0);
    longest = std::ranges::max(lengths);
    if (std::ranges::min(lengths) == longest) lengths.clear();
  };
  choose(p.lengths_q, p.seq_q, least_q);
  choose(p.lengths_kv, p.seq_kv, 1);
  if (!one_in(3) || least_q == 0) return;
  p.lengths_kv = p.lengths_q;
  p.seq_kv = p.seq_q;
}

/// Adds a prefix, for sparse modes 5 and 6.
void choose_prefix(Problem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    p.prefix.push_back(
        integer(std::max<std::int64_t>(0, p.length_kv(b) - p.length_q(b)), p.length_kv(b)));
}

bool has_more_queries_somewhere(const Problem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    if (p.length_q(b) > p.length_kv(b) && p.length_kv(b) != 0) return true;
  return false;
}

/// Returns the lengths of the sequence to which modes 7 and 8 apply the band mask. Only this
/// sequence restricts the choice of the window.
std::pair<std::int64_t, std::int64_t> band_lengths(const Problem& p) {
  std::pair<std::int64_t, std::int64_t> lengths;
  for (std::int64_t k = 0; k < p.batch; ++k) {
    const std::int64_t b = p.sparse_mode == 7 ? k : p.batch - 1 - k;
    if (p.length_q(b) != 0) lengths = {p.length_q(b), p.length_kv(b)};
  }
  return lengths;
}

/// Chooses a window within the ranges that the documentation gives for sparse modes 7 and 8.
void choose_outer_split(Problem& p) {
  const auto [seq_q, seq_kv] = band_lengths(p);
  if (p.sparse_mode == 7 && (has_more_queries_somewhere(p) || seq_q > seq_kv)) {
    p.sparse_mode = 3;
    return;
  }
  p.pre_tokens = one_in(2) ? unbounded_tokens : seq_kv + integer(0, 3);
  p.next_tokens = integer(seq_q - seq_kv, std::max(seq_q - seq_kv, std::int64_t{0}));
  if (p.sparse_mode == 8 && one_in(2)) p.next_tokens = unbounded_tokens;
  // Sets next_tokens to 0 in two cases: if a negative pre_tokens would make the band empty, or if a
  // negative next_tokens would be larger in magnitude than the number of keys.
  if (p.pre_tokens + p.next_tokens < 0 || -p.next_tokens > seq_kv) p.next_tokens = 0;
}

std::vector<std::int64_t> modes_of(FlashEntryPoint entry_point) {
  if (requires_rope(entry_point)) return {0, 1, 2, 3, 4, 7, 8};
  if (is_unpadding(entry_point)) return {0, 1, 2, 3, 4, 6, 7, 8};
  return {0, 1, 2, 3, 4, 5, 6};
}

MaskShape any_mask_shape(const Problem& p, FlashEntryPoint entry_point) {
  const std::int64_t mode = p.sparse_mode;
  if (mode != 0 && mode != 1 && mode != 5)
    return *rc::gen::element(MaskShape::compressed, MaskShape::compressed_one_one_ss,
                             MaskShape::compressed_b_one_ss, MaskShape::compressed_bnss);
  const bool ragged = !p.lengths_q.empty() || !p.lengths_kv.empty();
  if (is_unpadding(entry_point) && ragged)
    return *rc::gen::element(MaskShape::ss, MaskShape::one_one_ss);
  if (mode == 5) return *rc::gen::element(MaskShape::b_one_ss, MaskShape::bnss);
  return *rc::gen::element(MaskShape::ss, MaskShape::one_one_ss, MaskShape::b_one_ss,
                           MaskShape::bnss);
}

void choose_mask(Problem& p, FlashEntryPoint entry_point) {
  p.sparse_mode = *rc::gen::elementOf(modes_of(entry_point));
  if (!requires_rope(entry_point) && one_in(4)) return;
  p.mask_dtype = one_in(2) ? DType::boolean : DType::uint8;
  if (p.sparse_mode == 0 || p.sparse_mode == 4) choose_window(p);
  if (p.sparse_mode >= 7) choose_outer_split(p);
  if (p.sparse_mode == 5 || p.sparse_mode == 6) choose_prefix(p);
  p.atten_mask = any_mask_shape(p, entry_point);
}

bool is_square(const Problem& p) { return p.seq_q == p.seq_kv && p.lengths_q == p.lengths_kv; }

bool has_empty_sequence(const Problem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    if (p.length_q(b) == 0 || p.length_kv(b) == 0) return true;
  return false;
}

/// Chooses a bias that stores only the last 1024 rows, together with the causal mask that such a
/// bias requires.
void compress_bias(Problem& p, FlashEntryPoint entry_point) {
  if (!is_unpadding(entry_point)) p.seq_q = p.seq_kv = compressed_pse_rows + integer(1, 3);
  p.prefix.clear();
  p.pre_tokens = p.next_tokens = unbounded_tokens;
  p.sparse_mode = one_in(2) ? 2 : 3;
  p.atten_mask = MaskShape::compressed;
  p.pse_shift = *rc::gen::element(PseShape::bnhs, PseShape::one_nhs);
}

/// The type is fp32, because only for fp32 the documentation and the vendor's code agree on the
/// type of slopes.
void choose_slopes(Problem& p) {
  p.dtype = DType::fp32;
  p.pse_type = integer(2, 3);
  p.pse_shift = *rc::gen::element(PseShape::slopes_n, PseShape::slopes_bn);
  p.q_start_idx = {integer(0, 9)};
  p.kv_start_idx = p.q_start_idx;
}

void choose_bias(Problem& p, FlashEntryPoint entry_point) {
  const bool unpadding = is_unpadding(entry_point);
  const bool masked = p.atten_mask != MaskShape::absent;
  if (requires_rope(entry_point) || has_empty_sequence(p) || one_in(2)) return;
  if (masked && (p.sparse_mode == 7 || (p.sparse_mode == 8 && !is_square(p)))) return;
  if (has_pse_type(entry_point) && (unpadding || is_square(p)) && one_in(3))
    return choose_slopes(p);
  if (has_pse_type(entry_point) && one_in(2)) p.pse_type = 0;
  if (is_square(p) && (unpadding || one_in(4))) return compress_bias(p, entry_point);
  // For packed sequences, only the compressed bias has the same meaning in the documentation and in
  // the vendor's code, so no other bias is chosen.
  if (!unpadding)
    p.pse_shift = *rc::gen::element(PseShape::bnss, PseShape::bn1s, PseShape::one_nss);
  else
    p.pse_type = 1;
}

void choose_dropout(Problem& p, FlashEntryPoint entry_point) {
  if (requires_rope(entry_point) || one_in(2)) return;
  p.drop_mask = *rc::gen::element(DropMask::exact, DropMask::granules);
  p.keep_prob = *rc::gen::element(1.0, 0.9, 0.5);
}

/// Chooses the head sizes for rope: multiples of 8, in bf16.
void choose_rope(Problem& p) {
  p.dtype = DType::bf16;
  p.head_dim = one_in(9) ? 768 : 8 * integer(1, 5);
  p.head_dim_v = integer(1, p.head_dim);
  p.head_dim_rope = 8 * integer(1, p.head_dim / 8);
}

/// Replaces fp32, because entry points with a sink do not accept it.
void choose_sink(Problem& p) {
  if (p.dtype == DType::fp32) p.dtype = one_in(2) ? DType::bf16 : DType::fp16;
  if (!one_in(4)) p.sink = SinkShape::per_head;
}

}  // namespace

void showValue(const Asked& asked, std::ostream& out) {
  out << to_string(asked.entry_point) << ' ' << to_string(asked.product) << ' '
      << to_string(asked.inputs) << ' ' << to_string(asked.outputs);
  show_fields(asked.problem, out);
}

rc::Gen<Problem> legal_problem(FlashEntryPoint entry_point) {
  return rc::gen::exec([entry_point] {
    Problem p;
    p.input_layout = is_unpadding(entry_point)
                         ? Layout::tnd
                         : *rc::gen::element(Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd);
    p.dtype = *rc::gen::element(DType::fp16, DType::bf16, DType::fp32);
    p.batch = integer(1, 4);
    p.heads_kv = integer(1, 4);
    p.heads_q = p.heads_kv * integer(1, 4);
    p.seq_q = integer(1, 40);
    p.seq_kv = one_in(3) ? p.seq_q : integer(1, 40);
    p.head_dim = one_in(10) ? 512 : integer(1, 40);
    p.head_dim_v =
        has_softmax_in_layout(entry_point) || one_in(2) ? p.head_dim : integer(1, p.head_dim);
    if (requires_rope(entry_point)) choose_rope(p);
    choose_lengths(p);
    choose_mask(p, entry_point);
    choose_bias(p, entry_point);
    choose_dropout(p, entry_point);
    if (has_softmax_in_layout(entry_point) && one_in(2))
      p.softmax_in_layout = SoftmaxInLayout::same_as_input;
    p.statistics_order = upstream_order(p.softmax_in_layout);
    if (has_sink(entry_point)) choose_sink(p);
    return p;
  });
}

/// Chooses any type of strides except `far`, which needs a storage of 8 GiB.
rc::Gen<Striding> near_striding() {
  return rc::gen::suchThat(any_spelled<Striding>(),
                           [](Striding striding) { return striding != Striding::far; });
}

rc::Gen<Asked> legal_call() {
  return rc::gen::exec([] {
    // Excludes entry points with a sink. On these entry points a violation that uses fp32 also
    // violates SNK-C07. The function plain_calls makes calls with a sink.
    const FlashEntryPoint entry_point = *rc::gen::suchThat(
        any_spelled<FlashEntryPoint>(), [](FlashEntryPoint one) { return !has_sink(one); });
    return Asked{*legal_problem(entry_point), entry_point, *any_spelled<Product>(),
                 *near_striding(), *near_striding()};
  });
}

namespace {

/// Returns a problem without additional features. If `rope` is set, it has rope parts and the mask
/// that they require.
Problem plain_problem(FlashEntryPoint entry_point, Layout layout, bool rope) {
  Problem p{.input_layout = layout,
            .batch = 2,
            .heads_q = 4,
            .heads_kv = 2,
            .seq_q = 5,
            .seq_kv = 7,
            .head_dim = 8,
            .head_dim_v = has_softmax_in_layout(entry_point) ? 8 : 6};
  if (!rope) return p;
  p.head_dim_rope = 8;
  p.atten_mask = MaskShape::ss;
  return p;
}

/// Returns problems for one entry point, each with a single feature.
std::vector<Problem> features(FlashEntryPoint entry_point, Layout layout, bool rope) {
  const Problem plain = plain_problem(entry_point, layout, rope);
  std::vector<Problem> problems;
  const auto add = [&](auto change) {
    Problem p = plain;
    change(p);
    problems.push_back(p);
  };
  add([](Problem&) {});
  add([](Problem& p) { p.atten_mask = MaskShape::ss; });
  add([](Problem& p) {
    p.sparse_mode = 4;
    p.atten_mask = MaskShape::compressed;
  });
  if (rope) return problems;
  add([&](Problem& p) {
    p.sparse_mode = 6;
    p.atten_mask = MaskShape::compressed;
    p.prefix = {3, 7};
  });
  add([](Problem& p) {
    p.keep_prob = 0.5;
    p.drop_mask = DropMask::exact;
  });
  add([&](Problem& p) {
    p.pse_shift = PseShape::bnss;
    if (!is_packed(layout)) return;
    p.seq_kv = p.seq_q;
    p.sparse_mode = 3;
    p.atten_mask = MaskShape::compressed_bnss;
    p.pse_shift = PseShape::one_nhs;
  });
  add([&](Problem& p) {
    p.seq_q = p.seq_kv = compressed_pse_rows + 1;
    p.sparse_mode = 2;
    p.atten_mask = MaskShape::compressed;
    p.pse_shift = PseShape::bnhs;
  });
  if (!has_pse_type(entry_point)) return problems;
  add([](Problem& p) {
    p.seq_kv = p.seq_q;
    p.dtype = DType::fp32;
    p.pse_type = 3;
    p.pse_shift = PseShape::slopes_n;
  });
  if (is_packed(layout)) return problems;
  add([](Problem& p) {
    p.seq_kv = p.seq_q;
    p.dtype = p.slope_dtype = DType::bf16;
    p.pse_type = 3;
    p.pse_shift = PseShape::slopes_n;
  });
  return problems;
}

/// Returns problems with features that the documentation allows for packed sequences, but that the
/// vendor's code refuses or interprets differently.
std::vector<Problem> offered_features(FlashEntryPoint entry_point, bool rope) {
  std::vector<Problem> problems(2, plain_problem(entry_point, Layout::tnd, rope));
  problems[0].batch = 2;
  problems[0].lengths_kv = {problems[0].seq_kv, problems[0].seq_kv - 1};
  problems[0].sparse_mode = 1;
  problems[0].atten_mask = MaskShape::bnss;
  problems[1].sparse_mode = 0;
  problems[1].pre_tokens = problems[1].next_tokens = 0;
  problems[1].atten_mask = MaskShape::ss;
  if (entry_point == FlashEntryPoint::u1 || entry_point == FlashEntryPoint::u2) {
    problems.push_back(plain_problem(entry_point, Layout::tnd, rope));
    problems.back().pse_shift =
        entry_point == FlashEntryPoint::u1 ? PseShape::bnss : PseShape::packed_bnss;
  }
  return problems;
}

/// Returns problems with features that exist only for packed sequences.
std::vector<Problem> packed_features(FlashEntryPoint entry_point, bool rope) {
  std::vector<Problem> problems;
  for (const std::int64_t mode : {7, 8}) {
    Problem p = plain_problem(entry_point, Layout::tnd, rope);
    p.seq_q = p.seq_kv;
    p.sparse_mode = mode;
    p.atten_mask = MaskShape::compressed;
    p.next_tokens = 0;
    problems.push_back(p);
    if (mode == 8 && !rope) {
      problems.push_back(p);
      problems.back().pse_shift = PseShape::bnhs;
    }
  }
  Problem ragged = plain_problem(entry_point, Layout::tnd, rope);
  ragged.batch = 4;
  ragged.seq_q = 9;
  ragged.lengths_q = {9, 0, 4, 0};
  ragged.lengths_kv = {7, 3, 2, 0};  // an open question; only here the last sequence is empty
  problems.push_back(ragged);
  return problems;
}

}  // namespace

std::vector<Asked> plain_calls(FlashEntryPoint entry_point) {
  std::vector<Layout> layouts = {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd};
  if (is_unpadding(entry_point)) layouts = {Layout::tnd};
  std::vector<Asked> calls;
  for (const bool rope : {false, true}) {
    if (rope ? !has_rope(entry_point) : requires_rope(entry_point)) continue;
    for (const Layout layout : layouts)
      for (Problem problem : features(entry_point, layout, rope)) {
        if (!takes_fp32(entry_point) && problem.dtype == DType::fp32) problem.dtype = DType::fp16;
        calls.push_back({.problem = problem, .entry_point = entry_point});
        if (!has_sink(entry_point)) continue;
        problem.sink = SinkShape::per_head;
        calls.push_back({.problem = problem, .entry_point = entry_point});
      }
    if (!is_unpadding(entry_point)) continue;
    for (const auto& problems :
         {packed_features(entry_point, rope), offered_features(entry_point, rope)})
      for (const Problem& problem : problems)
        calls.push_back({.problem = problem, .entry_point = entry_point});
  }
  return calls;
}

std::vector<Asked> plain_calls() {
  std::vector<Asked> calls;
  for (const auto& [entry_point, name] : spellings_of<FlashEntryPoint>.entries)
    for (const Asked& asked : plain_calls(entry_point)) calls.push_back(asked);
  return calls;
}

}  // namespace assay::spec
