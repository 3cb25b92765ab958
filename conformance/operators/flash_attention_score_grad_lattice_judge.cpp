#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/lattice.hpp"
#include "flash_attention_score_grad_lattice_floor.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;

constexpr std::int64_t most_findings = 8;

struct Element {
  spec::RowPosition row;
  std::int64_t d;
};

enum class Side : std::uint8_t { query, key, value };

/// One output, its exact values and the rows that they belong to.
struct Subject {
  std::string name;
  const spec::Tensor* tensor;
  spec::Extents extents;
  std::span<const Dyadic> exact;
  std::span<const std::int64_t> rows;
  Side side;
  std::int64_t first_channel = 0;  ///< among those of the product
};

std::uint32_t bits_at(const spec::Tensor& tensor, std::int64_t element) {
  const auto size = static_cast<std::size_t>(spec::size_of(tensor.dtype));
  std::uint32_t wide = 0;
  std::uint16_t narrow = 0;
  const std::byte* source = tensor.bytes.data() + static_cast<std::size_t>(element) * size;
  if (size == sizeof narrow) {
    std::memcpy(&narrow, source, sizeof narrow);
    return narrow;
  }
  std::memcpy(&wide, source, sizeof wide);
  return wide;
}

double value_of(Dyadic exact) {
  return std::ldexp(static_cast<double>(exact.numerator), exact.exponent);
}

std::string text_of(double value) {
  std::ostringstream out;
  out.precision(9);
  out << value;
  return out.str();
}

/// Half the distance between numbers of the format at `value`.
double half_step(double value, spec::FloatFormat format) {
  const int exponent = value == 0 ? format.min_exponent : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, format.min_exponent) - format.significand_bits);
}

class TensorJudge {
 public:
  TensorJudge(const Op::Problem& problem, const spec::NumericsProfile& numerics,
              const lattice::Floor& floor)
      : problem_(problem), numerics_(numerics), floor_(floor) {}

  /// True if every element is right.
  bool judge(const Subject& subject, CaseReport& report);

 private:
  double floor_at(const Subject& subject, const Element& e) const;
  void compare(const Subject& subject, const Element& e, Dyadic exact, std::uint32_t bits);
  void differ(const Subject& subject, Finding finding, Dyadic exact, AcceptableBits wanted);
  void measure(const Finding& finding, double error, double tolerance);

  const Op::Problem& problem_;
  const spec::NumericsProfile& numerics_;
  const lattice::Floor& floor_;
  TensorReport result_;
  std::vector<Finding> findings_;
  std::int64_t differing_ = 0;
};

double TensorJudge::floor_at(const Subject& subject, const Element& e) const {
  if (subject.side == Side::query) return floor_.dq(e.row, subject.first_channel + e.d);
  return subject.side == Side::key ? floor_.dk(e.row, subject.first_channel + e.d)
                                   : floor_.dv(e.row, e.d);
}

void TensorJudge::measure(const Finding& finding, double error, double tolerance) {
  double share = tolerance > 0 ? error / tolerance : std::numeric_limits<double>::max();
  if (!std::isfinite(share)) share = std::numeric_limits<double>::max();
  if (share <= result_.worst) return;
  result_.worst = share;
  result_.worst_at = finding;
}

void TensorJudge::differ(const Subject& subject, Finding finding, Dyadic exact,
                         AcceptableBits wanted) {
  ++differing_;
  if (differing_ > most_findings) return;
  const spec::FloatFormat format = spec::format_of(problem_.dtype);
  finding.text = subject.name + "(" + std::to_string(finding.b) + ", " + std::to_string(finding.n) +
                 ", " + std::to_string(finding.s) + ", " + std::to_string(finding.d) + ") is " +
                 text_of(finding.actual);
  if (exact.numerator == 0)
    finding.text += finding.tolerance > 0
                        ? "; it must be 0, residues up to " + text_of(finding.tolerance) + " apart"
                        : "; it must be exactly 0";
  else
    finding.text += "; it is exactly " + std::to_string(exact.numerator) + " * 2^" +
                    std::to_string(exact.exponent) + ", which " +
                    std::string(to_string(problem_.dtype)) + " rounds (" +
                    std::string(to_string(numerics_.round_out)) + ") to " +
                    text_of(finding.expected);
  if (wanted.first != wanted.second)
    finding.text += " or " + text_of(spec::from_bits(wanted.second, format));
  findings_.push_back(std::move(finding));
}

void TensorJudge::compare(const Subject& subject, const Element& e, Dyadic exact,
                          std::uint32_t bits) {
  const spec::DType dtype = problem_.dtype;
  const AcceptableBits wanted =
      acceptable_bits(exact, dtype, numerics_.round_out, numerics_.overflow);
  if (bits == wanted.first || bits == wanted.second) return;
  const spec::FloatFormat format = spec::format_of(dtype);
  Finding finding{.rule = "lattice",
                  .tensor = subject.name,
                  .b = e.row.b,
                  .n = e.row.n,
                  .s = e.row.s,
                  .d = e.d,
                  .actual = spec::from_bits(bits, format),
                  .expected = spec::from_bits(wanted.first, format)};
  // Zeros are equal whatever their sign, and residues below the floor are zeros.
  const double second = spec::from_bits(wanted.second, format);
  if (finding.actual == finding.expected || finding.actual == second) return;
  const double error = std::abs(finding.actual - value_of(exact));
  if (exact.numerator == 0) {
    finding.tolerance = floor_at(subject, e);
    measure(finding, error, finding.tolerance);
    if (error <= finding.tolerance) return;
  } else {
    measure(finding, error, half_step(value_of(exact), format));
  }
  differ(subject, finding, exact, wanted);
}

bool TensorJudge::judge(const Subject& subject, CaseReport& report) {
  const spec::HeadIndex index(*subject.tensor, problem_.input_layout, subject.extents);
  result_ = {.name = subject.name, .rows_total = subject.extents.rows()};
  std::size_t next = 0;
  for (const std::int64_t flat : subject.rows) {
    const spec::RowPosition row = subject.extents.position(flat);
    for (std::int64_t d = 0; d < subject.extents.dim; ++d)
      compare(subject, {row, d}, subject.exact[next++],
              bits_at(*subject.tensor, index(row.b, row.n, row.s, d)));
    ++result_.rows_judged;
  }
  result_.elements_judged = static_cast<std::int64_t>(next);
  report.tensors.push_back(result_);
  for (Finding& finding : findings_) report.findings.push_back(std::move(finding));
  if (differing_ > most_findings)
    report.findings.push_back({.rule = "lattice",
                               .tensor = subject.name,
                               .text = subject.name + ": " + std::to_string(differing_) + " of " +
                                       std::to_string(result_.elements_judged) +
                                       " judged elements differ"});
  return differing_ == 0;
}

std::vector<Subject> subjects_of(const LatticeCase& lattice, const Op::Problem& p,
                                 const Op::Outputs& outputs) {
  std::vector<Subject> subjects = {
      {"dq", &outputs.dq, query_extents(p), lattice.dq, lattice.query_rows, Side::query},
      {"dk", &outputs.dk, key_extents(p), lattice.dk, lattice.key_rows, Side::key},
      {"dv", &outputs.dv, value_extents(p), lattice.dv, lattice.key_rows, Side::value},
  };
  if (p.head_dim_rope == 0) return subjects;
  if (!outputs.dq_rope || !outputs.dk_rope)
    throw std::invalid_argument("judge_lattice: the outputs have no rope gradients");
  subjects.push_back({"dq_rope", &*outputs.dq_rope, query_rope_extents(p), lattice.dq_rope,
                      lattice.query_rows, Side::query, p.head_dim});
  subjects.push_back({"dk_rope", &*outputs.dk_rope, key_rope_extents(p), lattice.dk_rope,
                      lattice.key_rows, Side::key, p.head_dim});
  return subjects;
}

}  // namespace

void judge_lattice(const LatticeCase& lattice, const Op::Problem& problem,
                   const Op::Outputs& outputs, const spec::NumericsProfile& numerics,
                   CaseReport& report) {
  const lattice::Floor floor(problem, lattice.inputs, numerics);
  bool equal = true;
  std::int64_t elements = 0;
  for (const Subject& subject : subjects_of(lattice, problem, outputs)) {
    equal = TensorJudge(problem, numerics, floor).judge(subject, report) && equal;
    elements += report.tensors.back().elements_judged;
  }
  report.value_case = elements > 0;
  if (!equal)
    report.verdict = Verdict::nonconformant_structural;
  else if (elements == 0)
    report.verdict = Verdict::vacuous;
  else if (report.verdict == Verdict::tool_failure)
    report.verdict = Verdict::conforms;
}

}  // namespace assay::conformance
