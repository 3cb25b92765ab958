#include "attention/exact/exact_case.hpp"

#include <array>
#include <string>
#include <utility>

#include "assay/conformance/inputs/inputs.hpp"
#include "attention/exact/sums.hpp"
#include "attention/exact/writer.hpp"

namespace assay::conformance::exact {
namespace {

constexpr int most_attempts = 64;

struct Built {
  Group group;
  Gradients gradients;
  std::int64_t live_rows = 0, muted_rows = 0;
};

void thin(Thinning& thinning, Sum sum) {
  switch (sum) {
    case Sum::score:
    case Sum::dk:
      ++thinning.dk;
      return;
    case Sum::row_term:
    case Sum::dv:
      ++thinning.dv;
      return;
    case Sum::dscore:
    case Sum::dq:
      ++thinning.dq;
      return;
  }
}

/// The row positions in one sequence that the judge compares, the same for every head.
struct Rows {
  std::vector<std::int64_t> query, key;
};

Built build(const ExactPlan& plan, const GroupBuilder& builder, const Rows& judged,
            ExactPart part) {
  Thinning thinning;
  std::string reason;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    Built built{.group = builder.build(thinning)};
    const Sums sums(plan, built.group);
    const std::optional<Excess> excess = sums.excess();
    if (!excess) {
      if (part == ExactPart::all) built.gradients = sums.gradients(judged.query, judged.key);
      for (const Row& row : built.group.rows) {
        built.live_rows += row.choice.dead() ? 0 : 1;
        built.muted_rows += row.muted ? 1 : 0;
      }
      return built;
    }
    reason = excess->text;
    thin(thinning, excess->sum);
  }
  throw NoExactCase(reason + ", after " + std::to_string(most_attempts) +
                    " attempts with smaller numbers");
}

/// Splits rows of columns[0] + columns[1] elements. Appends the first columns[0] elements of each
/// row to `main`, and the remaining elements to `rope`.
void append(std::vector<Dyadic>& main, std::vector<Dyadic>& rope, const std::vector<Dyadic>& rows,
            std::array<std::int64_t, 2> columns) {
  auto next = rows.begin();
  while (next != rows.end()) {
    main.insert(main.end(), next, next + columns[0]);
    next += columns[0];
    rope.insert(rope.end(), next, next + columns[1]);
    next += columns[1];
  }
}

void append_rows(std::vector<std::int64_t>& all, const spec::Extents& extents, std::int64_t b,
                 const std::vector<std::int64_t>& judged) {
  for (std::int64_t n = 0; n < extents.heads; ++n)
    for (const std::int64_t s : judged) all.push_back(extents.row(b, n, s));
}

/// Generates the tensors and exact gradients of a case, sequence by sequence.
class Maker {
 public:
  Maker(const AttentionCase& c, const ExactPlan& plan, const KeyPattern& key_pattern,
        ExactPart part)
      : case_(c),
        plan_(plan),
        part_(part),
        bias_(plan),
        dropout_(plan),
        sides_{key_pattern, bias_, dropout_},
        writer_(c, plan, sides_),
        queries_(query_extents(c.problem)),
        keys_(key_extents(c.problem)) {}

  AttentionExactCase make() &&;

 private:
  void add(const KeyHead& head, const Rows& judged);

  const AttentionCase& case_;
  const ExactPlan& plan_;
  ExactPart part_;
  Bias bias_;
  Dropout dropout_;
  Sides sides_;
  Writer writer_;
  spec::Extents queries_, keys_;
  std::int64_t live_rows_ = 0;
  AttentionExactCase result_;
};

void Maker::add(const KeyHead& head, const Rows& judged) {
  const Built built = build(plan_, GroupBuilder(plan_, sides_, head), judged, part_);
  const Op::Problem& p = case_.problem;
  writer_.write(built.group);
  result_.muted_rows += built.muted_rows;
  live_rows_ += built.live_rows;
  if (part_ == ExactPart::inputs) return;
  append(result_.dq, result_.dq_rope, built.gradients.dq, {p.head_dim, p.head_dim_rope});
  append(result_.dk, result_.dk_rope, built.gradients.dk, {p.head_dim, p.head_dim_rope});
  result_.dv.insert(result_.dv.end(), built.gradients.dv.begin(), built.gradients.dv.end());
}

AttentionExactCase Maker::make() && {
  const Op::Problem& p = case_.problem;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const Rows judged{.query = judged_rows(p.length_q(b), case_.rows, case_.seed),
                      .key = judged_rows(p.length_kv(b), case_.rows, case_.seed)};
    append_rows(result_.query_rows, queries_, b, judged.query);
    append_rows(result_.key_rows, keys_, b, judged.key);
    for (std::int64_t kv = 0; kv < p.heads_kv; ++kv)
      add({.b = b, .kv = kv, .queries = p.length_q(b), .keys = p.length_kv(b)}, judged);
  }
  if (result_.muted_rows > 0 && result_.muted_rows == live_rows_)
    throw NoExactCase("none of the " + std::to_string(live_rows_) +
                      " rows with unmasked keys can attend to exactly 1, 2, 4 or 8 keys");
  result_.inputs = std::move(writer_).take();
  return std::move(result_);
}

}  // namespace

AttentionExactCase attending(const AttentionCase& c, const spec::Numerics& numerics,
                             const KeyPattern& key_pattern, ExactPart part, ValueForm value) {
  const ExactPlan plan = plan_of(c, numerics, value);
  return Maker(c, plan, key_pattern, part).make();
}

}  // namespace assay::conformance::exact
