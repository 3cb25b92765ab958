#include "problems.hpp"

#include <algorithm>
#include <ostream>

namespace assay::spec {
namespace {

using Problem = FlashAttentionScoreGrad::Problem;

template <class Enum>
rc::Gen<Enum> any_spelled() {
  return rc::gen::map(rc::gen::inRange<std::size_t>(0, spellings_of<Enum>.entries.size()),
                      [](std::size_t k) { return spellings_of<Enum>.entries[k].first; });
}

/// first..last, both included.
std::int64_t integer(std::int64_t first, std::int64_t last) {
  return *rc::gen::inRange<std::int64_t>(first, last + 1);
}

/// Windows inside the limits of the pages and of the host code.
void choose_window(Problem& p) {
  switch (integer(0, 4)) {
    case 0:
      break;
    case 1:
      p.next_tokens = 0;
      break;
    case 2:
      p.pre_tokens = integer(0, p.seq_q);
      p.next_tokens = integer(0, p.seq_kv);
      break;
    case 3:
      p.next_tokens = -integer(0, std::min(p.seq_q, p.seq_kv - 1));
      break;
    default:
      p.pre_tokens = -integer(0, std::min(p.seq_q - 1, p.seq_kv));
      break;
  }
}

void choose_mask(Problem& p) {
  p.sparse_mode = integer(0, 4);
  if (integer(0, 3) == 0) return;
  p.mask_dtype = integer(0, 1) == 0 ? DType::boolean : DType::uint8;
  if (p.sparse_mode >= 2) {
    p.atten_mask = MaskShape::compressed;
    return;
  }
  p.atten_mask =
      *rc::gen::element(MaskShape::ss, MaskShape::one_one_ss, MaskShape::b_one_ss, MaskShape::bnss);
}

}  // namespace

void showValue(const Asked& asked, std::ostream& out) {
  out << to_string(asked.surface) << ' ' << to_string(asked.product) << ' '
      << to_string(asked.inputs) << ' ' << to_string(asked.outputs);
  visit_fields(asked.problem, [&](std::string_view name, const auto& member, std::string_view) {
    out << ' ' << name << '=';
    if constexpr (Spelled<std::remove_cvref_t<decltype(member)>>) {
      out << to_string(member);
    } else if constexpr (requires { member.size(); }) {
      for (const auto value : member) out << value << ',';
    } else {
      out << member;
    }
  });
}

rc::Gen<Problem> legal_problem() {
  return rc::gen::exec([] {
    Problem p;
    p.input_layout = *any_spelled<Layout>();
    p.dtype = *rc::gen::element(DType::fp16, DType::bf16, DType::fp32);
    p.batch = integer(1, 4);
    p.heads_kv = integer(1, 4);
    p.heads_q = p.heads_kv * integer(1, 4);
    p.seq_q = integer(1, 40);
    p.seq_kv = integer(0, 2) == 0 ? p.seq_q : integer(1, 40);
    p.head_dim = integer(0, 9) == 0 ? 512 : integer(1, 40);
    p.head_dim_v = integer(0, 1) == 0 ? p.head_dim : integer(1, p.head_dim);
    choose_mask(p);
    if (p.sparse_mode == 0 || p.sparse_mode == 4) choose_window(p);
    return p;
  });
}

rc::Gen<Asked> legal_call() {
  return rc::gen::exec([] {
    return Asked{*legal_problem(), *any_spelled<FlashSurface>(), *any_spelled<Product>(),
                 *any_spelled<Striding>(), *any_spelled<Striding>()};
  });
}

std::vector<Asked> plain_calls() {
  std::vector<Asked> calls;
  for (const auto& [layout, text] : spellings_of<Layout>.entries)
    for (const auto& [surface, name] : spellings_of<FlashSurface>.entries)
      for (const MaskShape mask : {MaskShape::absent, MaskShape::b_one_ss, MaskShape::compressed}) {
        const Problem problem{.input_layout = layout,
                              .batch = 2,
                              .heads_q = 4,
                              .heads_kv = 2,
                              .seq_q = 5,
                              .seq_kv = 7,
                              .head_dim = 8,
                              .head_dim_v = 6,
                              .sparse_mode = mask == MaskShape::compressed ? 4 : 0,
                              .atten_mask = mask};
        calls.push_back({.problem = problem, .surface = surface});
      }
  return calls;
}

}  // namespace assay::spec
