// Example: add your own kernel to the command line program of Assay. The kernel computes attention
// without a mask, directly from the formulas.
#include <assay/cli/main.hpp>
#include <cmath>

using namespace assay;
using Op = spec::FlashAttentionScoreGrad;

class Mine final : public spec::Implementation<Op> {
 public:
  std::string name() const override { return "mine"; }

  // EDIT 1: the numerics (rounding behaviour) that the kernel declares. This kernel computes in
  // fp32 or better and rounds only the results to the output type.
  spec::Numerics numerics(const Op::Problem& problem) const override {
    return spec::numerics_preset("fp32_staging", problem.dtype);
  }

  // The kernel does not check its arguments. A kernel that does would define check(), which throws
  // spec::Rejected for invalid arguments.
  bool checks_arguments() const override { return false; }

  // EDIT 2: the calls that the kernel does not support.
  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    if (spec::is_unpadding(call.entry_point)) return "only padded layouts";
    if (call.parameters.atten_mask.present || call.attributes.sparse_mode != 0) return "no mask";
    if (call.parameters.pse_shift.present || call.attributes.keep_prob != 1)
      return "no bias, no dropout";
    if (call.parameters.sink.present) return "no sink";
    return std::nullopt;
  }

  // EDIT 3: the kernel itself.
  void run(const Op::Problem& p, const Op::Inputs& in, Op::Outputs& out) override {
    const spec::Extents stats = {p.batch, p.heads_q, p.seq_q, spec::statistics_replicas};
    const Rows q(in.query, p.input_layout, query_extents(p)),
        dy(in.dy, p.input_layout, dy_extents(p)), o(in.attention_in, p.input_layout, dy_extents(p)),
        k(in.key, p.input_layout, key_extents(p)), v(in.value, p.input_layout, value_extents(p)),
        m(in.softmax_max, spec::Layout::bnsd, stats), z(in.softmax_sum, spec::Layout::bnsd, stats);
    Rows dq(query_extents(p)), dk(key_extents(p)), dv(value_extents(p));
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t n = 0; n < p.heads_q; ++n)
        for (std::int64_t i = 0; i < p.seq_q; ++i) {
          const std::int64_t kv = n / p.group();
          const double delta = dot(dy(b, n, i), o(b, n, i));
          for (std::int64_t j = 0; j < p.seq_kv; ++j) {
            const double score = p.scale_value * dot(q(b, n, i), k(b, kv, j));
            const double prob = std::exp(score - m(b, n, i)[0]) / z(b, n, i)[0];
            const double dscore = prob * (dot(dy(b, n, i), v(b, kv, j)) - delta);
            add(dq(b, n, i), p.scale_value * dscore, k(b, kv, j));
            add(dk(b, kv, j), p.scale_value * dscore, q(b, n, i));
            add(dv(b, kv, j), prob, dy(b, n, i));
          }
        }
    dq.store(out.dq, p.input_layout);
    dk.store(out.dk, p.input_layout);
    dv.store(out.dv, p.input_layout);
  }

 private:
  using Row = std::vector<double>;

  // Reads and writes all rows of a tensor, for any layout and any strides.
  struct Rows {
    explicit Rows(const spec::Extents& of)
        : extents(of), rows(of.batch * of.heads * of.seq, Row(of.dim)) {}
    Rows(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& of) : Rows(of) {
      const spec::HeadView view(tensor, layout, of);
      each([&](std::int64_t b, std::int64_t n, std::int64_t s, Row& row) {
        view.read_row(b, n, s, row);
      });
    }
    void store(spec::Tensor& tensor, spec::Layout layout) {
      const spec::HeadIndex index(tensor, layout, extents);
      each([&](std::int64_t b, std::int64_t n, std::int64_t s, Row& row) {
        for (std::size_t d = 0; d < row.size(); ++d) tensor.store(index(b, n, s, d), row[d]);
      });
    }
    Row& operator()(std::int64_t b, std::int64_t n, std::int64_t s) {
      return rows[(b * extents.heads + n) * extents.seq + s];
    }
    const Row& operator()(std::int64_t b, std::int64_t n, std::int64_t s) const {
      return rows[(b * extents.heads + n) * extents.seq + s];
    }
    template <class Act>
    void each(const Act& act) {
      for (std::int64_t b = 0; b < extents.batch; ++b)
        for (std::int64_t n = 0; n < extents.heads; ++n)
          for (std::int64_t s = 0; s < extents.seq; ++s) act(b, n, s, (*this)(b, n, s));
    }
    spec::Extents extents;
    std::vector<Row> rows;
  };

  static double dot(const Row& x, const Row& y) {
    double sum = 0;
    for (std::size_t d = 0; d < x.size(); ++d) sum += x[d] * y[d];
    return sum;
  }
  static void add(Row& to, double factor, const Row& x) {
    for (std::size_t d = 0; d < x.size(); ++d) to[d] += factor * x[d];
  }
};

int main(int argc, char** argv) {
  cli::Registry registry;
  registry.add<Op>(
      {.name = "mine", .summary = "my kernel", .make = [] { return std::make_unique<Mine>(); }});
  return cli::main(argc, argv, registry);
}
