// A user's own program, built with the installed package: a kernel written from the formulas, with
// the command line of Assay.
#include <assay/cli/main.hpp>
#include <cmath>

using namespace assay;
using Op = spec::FlashAttentionScoreGrad;

namespace {

/// Dense attention without a mask, computed in double. The results are rounded once.
class Plain final : public spec::Implementation<Op> {
 public:
  std::string name() const override { return "plain"; }

  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    if (call.parameters.atten_mask.present || call.attributes.sparse_mode != 0)
      return "only attention without a mask";
    if (spec::is_unpadding(call.entry_point)) return "only padded layouts";
    if (call.parameters.pse_shift.present || call.attributes.keep_prob != 1)
      return "neither position bias nor dropout";
    if (call.parameters.sink.present) return "no sink";
    return std::nullopt;
  }

  void run(const Op::Problem& p, const Op::Inputs& in, Op::Outputs& out) override {
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t kv = 0; kv < p.heads_kv; ++kv) run_group(p, in, out, {b, kv});
  }

 private:
  struct Group {
    std::int64_t b, kv;
  };
  using Matrix = std::vector<std::vector<double>>;

  static Matrix head(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents,
                     Group at) {
    const spec::HeadView view(tensor, layout, extents);
    Matrix rows(static_cast<std::size_t>(extents.seq));
    for (std::size_t s = 0; s < rows.size(); ++s) {
      rows[s].resize(static_cast<std::size_t>(extents.dim));
      view.read_row(at.b, at.kv, static_cast<std::int64_t>(s), rows[s]);
    }
    return rows;
  }

  static void store(spec::Tensor& tensor, const spec::HeadIndex& index, const Matrix& rows,
                    Group at) {
    for (std::size_t s = 0; s < rows.size(); ++s)
      for (std::size_t d = 0; d < rows[s].size(); ++d)
        tensor.store(index(at.b, at.kv, static_cast<std::int64_t>(s), static_cast<std::int64_t>(d)),
                     rows[s][d]);
  }

  static double dot(const std::vector<double>& x, const std::vector<double>& y) {
    double sum = 0;
    for (std::size_t d = 0; d < x.size(); ++d) sum += x[d] * y[d];
    return sum;
  }

  static void add(std::vector<double>& to, double factor, const std::vector<double>& x) {
    for (std::size_t d = 0; d < x.size(); ++d) to[d] += factor * x[d];
  }

  static Matrix zeros(const Matrix& like) {
    return Matrix(like.size(), std::vector<double>(like.empty() ? 0 : like[0].size()));
  }

  static void run_group(const Op::Problem& p, const Op::Inputs& in, Op::Outputs& out, Group group) {
    const spec::Layout layout = p.input_layout;
    const spec::Extents statistics = {p.batch, p.heads_q, p.seq_q, spec::statistics_replicas};
    const Matrix key = head(in.key, layout, key_extents(p), group);
    const Matrix value = head(in.value, layout, value_extents(p), group);
    Matrix dk = zeros(key), dv = zeros(value);
    for (std::int64_t n = group.kv * p.group(); n < (group.kv + 1) * p.group(); ++n) {
      const Group at = {group.b, n};
      const Matrix query = head(in.query, layout, query_extents(p), at);
      const Matrix dy = head(in.dy, layout, dy_extents(p), at);
      const Matrix attention = head(in.attention_in, layout, dy_extents(p), at);
      const Matrix max = head(in.softmax_max, spec::Layout::bnsd, statistics, at);
      const Matrix sum = head(in.softmax_sum, spec::Layout::bnsd, statistics, at);
      Matrix dq = zeros(query);
      for (std::size_t i = 0; i < query.size(); ++i) {
        const double delta = dot(dy[i], attention[i]);
        for (std::size_t j = 0; j < key.size(); ++j) {
          const double score = p.scale_value * dot(query[i], key[j]);
          const double prob = std::exp(score - max[i][0]) / sum[i][0];
          const double dscore = prob * (dot(dy[i], value[j]) - delta);
          add(dq[i], p.scale_value * dscore, key[j]);
          add(dk[j], p.scale_value * dscore, query[i]);
          add(dv[j], prob, dy[i]);
        }
      }
      store(out.dq, spec::HeadIndex(out.dq, layout, query_extents(p)), dq, at);
    }
    store(out.dk, spec::HeadIndex(out.dk, layout, key_extents(p)), dk, group);
    store(out.dv, spec::HeadIndex(out.dv, layout, value_extents(p)), dv, group);
  }
};

class Zeros final : public spec::Implementation<Op> {
 public:
  std::string name() const override { return "zeros"; }
  void run(const Op::Problem&, const Op::Inputs&, Op::Outputs& out) override {
    for (spec::Tensor* tensor : {&out.dq, &out.dk, &out.dv})
      for (const std::int64_t element : spec::viewed_elements(*tensor)) tensor->store(element, 0);
  }
};

}  // namespace

int main(int argc, char** argv) {
  cli::Registry registry;
  registry
      .add<Op>({.name = "plain",
                .summary = "the formulas",
                .make = [] { return std::make_unique<Plain>(); }})
      .add<Op>({.name = "zeros", .summary = "nothing", .make = [] {
                  return std::make_unique<Zeros>();
                }});
  return cli::main(argc, argv, registry);
}
