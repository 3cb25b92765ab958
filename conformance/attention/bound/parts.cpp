#include "attention/bound/parts.hpp"

#include <algorithm>
#include <utility>

#include "attention/bound/finish.hpp"
#include "attention/bound/sums.hpp"
#include "attention/formula/head.hpp"
#include "attention/variant/variant_pattern.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::attention {
namespace {

/// Collects the computed rows of one tensor, and passes them to the caller in blocks of limited
/// size.
class Growing {
 public:
  Growing(Tensor& tensor, const TakePart& take)
      : tensor_(&tensor),
        take_(&take),
        most_(std::max<std::int64_t>(
            1, elements_of_piece / std::max<std::int64_t>(1, tensor.part.dim))),
        e_(tensor.empty()) {
    e_.rows.clear();
    e_.make_room(most_);
  }
  Growing(Growing&&) = default;

  /// Begins the row with index k in the list of judged rows. Returns the index of the row in the
  /// current block.
  std::int64_t begin_row(std::int64_t k) {
    if (e_.row_count() == most_) hand_out();
    e_.rows.push_back(tensor_->judged[at(k)]);
    return e_.row_count() - 1;
  }
  void close() {
    if (!e_.rows.empty()) hand_out();
    tensor_->give_back(std::move(e_));
  }
  Tensor& tensor() { return *tensor_; }
  Expectation& part() { return e_; }

 private:
  void hand_out() {
    e_.truncate(e_.row_count());
    (*take_)(e_);
    e_.rows.clear();
    e_.certainty = {};
    e_.make_room(most_);
  }

  Tensor* tensor_;
  const TakePart* take_;
  std::int64_t most_;
  Expectation e_;
};

/// Data of one output row. `output`: how the kernel writes the elements. `floor`: the largest
/// numbers that masked pairs may leave in them instead of 0. `cancels`: dP equals the row term in
/// all pairs of the row.
struct PartOutput {
  engine::Output output;
  std::vector<double> floor;
  bool cancels;
};

/// Receives the rows that belong to one key head: for dq the rows of its queries, for dk and dv the
/// rows of its keys.
class RowsOfHead : public engine::RowSink {
 public:
  RowsOfHead(const Pass& pass, std::int64_t head, std::int64_t first, std::vector<Growing> parts)
      : pass_(pass), head_(head), first_(first), parts_(std::move(parts)) {}

  void take(std::int64_t row, const engine::ElementRow& elements,
            const engine::RowSums& row_sums) final {
    for (std::size_t kind = 0; kind < parts_.size(); ++kind) take(row, elements, row_sums, kind);
  }
  void close() final {
    for (Growing& part : parts_) part.close();
  }

 protected:
  /// Returns the data of row `number` of a tensor. The argument `output` contains what all rows
  /// have in common; the function adds what only this row has.
  virtual PartOutput output_of(std::int64_t number, const Part& part, engine::Output output,
                               const engine::RowSums& row_sums) const = 0;

  const Pass& pass_;
  std::int64_t head_;  ///< b * heads_kv + kv

 private:
  void take(std::int64_t row, const engine::ElementRow& elements, const engine::RowSums& row_sums,
            std::size_t kind) {
    Tensor& tensor = parts_[kind].tensor();
    const std::int64_t number = tensor.judged[at(first_ + row)];
    const std::int64_t r = parts_[kind].begin_row(first_ + row);
    const auto [output, floor, cancels] = output_of(number, tensor.part, tensor.output, row_sums);
    Expectation& e = parts_[kind].part();
    engine::read_with(engine::Instructions::fastest, [&](auto compiled) {
      finish_row(compiled, {&elements, tensor.part.first, e.dim(), output, floor.data()},
                 entries_of(e, r));
    });
    e.exempt[at(r)] = row_sums.overflow > 0 ? 1 : 0;
    set_share(e, r, tensor.deviates ? concentration(row_sums, kind) : 0,
              tensor.channels[at(head_)]);
    if (!cancels) return;
    for (Entries<double>* field : {&e.value, &e.radius})
      std::fill_n(field->begin() + r * e.dim(), e.dim(), 0.0);
  }

  /// Equation E16. Returns sum q^2 / (sum q)^2, the inverse of the effective number of pairs.
  static double concentration(const engine::RowSums& row_sums, std::size_t kind) {
    const double sum = row_sums.spread[kind];
    return sum > 0 ? row_sums.spread_squares[kind] / engine::square(sum) : 0;
  }

  /// Equation E16. Sets the share of row r in the variance of the gradient's errors. The share
  /// follows from two numbers: `concentration`, the inverse of the effective number of pairs, and
  /// `channels`, the effective number of channels of the summed rows.
  static void set_share(Expectation& e, std::int64_t r, double concentration, double channels) {
    e.share[at(r)] = concentration > 0 ? 1 / channels + concentration : 0;
  }

  std::int64_t first_;  ///< the judged row that is row 0 of the head
  std::vector<Growing> parts_;
};

class QueryRows final : public RowsOfHead {
 public:
  using RowsOfHead::RowsOfHead;

 private:
  PartOutput output_of(std::int64_t number, const Part& part, engine::Output output,
                       const engine::RowSums& row_sums) const override {
    const Arithmetic& n = pass_.arithmetic;
    const spec::RowPosition place = pass_.dense.queries.position(number);
    output.chain = engine::chain_of(
        static_cast<double>(pass_.dense.key_pattern->entries_of_query(place.b)), output);
    output.scaled = 2 * n.u_k;
    output.lost = 2 * n.eta_k * row_sums.size;
    std::vector<double> floor(at(part.dim));
    for (std::int64_t d = 0; d < part.dim; ++d)
      floor[at(d)] = n.phi * pass_.floor.dq(pass_.dense, place, part.first + d);
    return {output, std::move(floor), pass_.cancelling.query[at(number)] != 0};
  }
};

class KeyRows final : public RowsOfHead {
 public:
  KeyRows(const Pass& pass, std::int64_t head, std::int64_t first, std::vector<Growing> parts,
          bool is_dv)
      : RowsOfHead(pass, head, first, std::move(parts)), is_dv_(is_dv) {}

 private:
  PartOutput output_of(std::int64_t number, const Part& part, engine::Output output,
                       const engine::RowSums&) const override {
    const Dense& dense = pass_.dense;
    const double* floor = is_dv_ ? pass_.floor.dv.data() + head_ * part.dim
                                 : pass_.floor.dk.data() + head_ * dense.width() + part.first;
    const std::int64_t entries = dense.key_pattern->entries_of_key(dense.keys.position(number));
    output.chain = engine::chain_of(static_cast<double>(entries), output);
    output.parts.count = static_cast<double>(dense.problem.group());
    // If no query can attend to a key, masked pairs leave no small number (residue) in the gradient
    // of the key.
    std::vector<double> residues(floor, floor + part.dim);
    for (double& one : residues) one *= entries == 0 ? 0 : pass_.arithmetic.phi;
    return {output, std::move(residues), !is_dv_ && pass_.cancelling.key[at(number)] != 0};
  }

  bool is_dv_;
};

std::vector<Growing> growing(Tensors& tensors, std::size_t first, std::size_t last,
                             const TakePart& take) {
  std::vector<Growing> parts;
  for (std::size_t k = first; k < last; ++k) parts.emplace_back(tensors[k], take);
  return parts;
}

}  // namespace

Tensor::Tensor(const Dense& dense, const Arithmetic& n, Part tensor_part,
               const spec::Extents& extents, const std::vector<std::int64_t>& judged_rows,
               bool is_biasable)
    : part(std::move(tensor_part)),
      judged(judged_rows),
      output(output_of(n, extents.rows() * part.dim)),
      channels(at(dense.problem.batch * dense.problem.heads_kv)) {
  output.factor = part.name == "dv" ? 1 : dense.scale;
  output.roundings = 2;
  output.operands = 2 * n.u_x;
  if (n.numerics.partials != spec::DType::fp32) output.parts = {.u = n.u_out, .lost = n.eta_out};
  frame.name = part.name;
  frame.extents = extents;
  frame.extents.dim = part.dim;
  frame.biasable = is_biasable;
  if (!is_partial_sum(dense, part.name)) return;
  frame.is_fp32 = true;
  output.store = engine::Store().losing(output_underflow_of(spec::DType::fp32));
}

Expectation Tensor::empty() {
  const std::scoped_lock lock(mutex_);
  if (spare_.empty()) return frame;
  Expectation e = std::move(spare_.back());
  spare_.pop_back();
  return e;
}

void Tensor::give_back(Expectation e) {
  const std::scoped_lock lock(mutex_);
  spare_.push_back(std::move(e));
}

HeadSink::HeadSink(const Pass& pass, const spec::RowPosition& key_head, const Slice& queries,
                   const Slice& keys, Tensors& of_queries, Tensors& of_keys)
    : pass_(pass),
      head_(key_head.b * pass.dense.problem.heads_kv + key_head.n),
      queries_(queries),
      keys_(keys),
      of_queries_(of_queries),
      of_keys_(of_keys) {}

std::unique_ptr<engine::RowSink> HeadSink::open(std::size_t sum, engine::Range /*rows*/) {
  using Formula = attention::HeadFormula;
  const auto dv = of_keys_.size() - 1;
  if (sum == Formula::dq)
    return std::make_unique<QueryRows>(pass_, head_, queries_.first,
                                       growing(of_queries_, 0, of_queries_.size(), pass_.take));
  if (sum == Formula::dk)
    return std::make_unique<KeyRows>(pass_, head_, keys_.first,
                                     growing(of_keys_, 0, dv, pass_.take), false);
  return std::make_unique<KeyRows>(pass_, head_, keys_.first,
                                   growing(of_keys_, dv, dv + 1, pass_.take), true);
}

}  // namespace assay::conformance::attention
