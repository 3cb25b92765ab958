#include "attention/exact/exact_case.hpp"

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/operators/sparse_flash_attention_grad.hpp"
#include "assay/spec/at.hpp"
#include "operators/sparse_flash_attention_grad/basis.hpp"
#include "operators/sparse_flash_attention_grad/inputs.hpp"
#include "operators/sparse_flash_attention_grad/key_pattern.hpp"
#include "operators/sparse_flash_attention_grad/lists.hpp"

namespace assay::conformance {
namespace {

using Op = spec::SparseFlashAttentionGrad;

/// Returns the case as ordinary attention with packed tensors (TND). The elements of BSND have the
/// same order in memory.
AttentionCase packed_case(const Case<Op>& c) {
  AttentionCase packed{.problem = sparse_flash::dense_problem(c.problem),
                       .entry_point = spec::FlashEntryPoint::u3,
                       .track = c.track,
                       .seed = c.seed};
  packed.problem.input_layout = spec::Layout::tnd;
  return packed;
}

/// Copies the first of the eight copies of every row's statistic. A row without a key gets the
/// statistic 0, as the forward operator returns it.
spec::Tensor first_replicas(const spec::Tensor& statistic, const spec::Parameter& parameter,
                            const Op::Problem& p) {
  const spec::Extents queries = query_extents(p);
  const std::vector<std::int64_t> elements = spec::viewed_elements(statistic);
  std::vector<double> rows(spec::at(queries.rows()));
  for (std::int64_t row = 0; row < queries.rows(); ++row) {
    const auto [b, n, s] = queries.position(row);
    if (sparse_flash::seen_by(p, b, s).keys == 0) continue;
    const std::int64_t by_token = (queries.start(b) + s) * queries.heads + n;
    rows[spec::at(row)] = statistic.load(elements[spec::at(by_token * spec::statistics_replicas)]);
  }
  return sparse_flash::statistics_tensor(parameter, p, rows);
}

}  // namespace

std::vector<ExactTensor> Suite<Op>::exact_tensors(const Exact& exact_case, const Problem& p) {
  std::vector<ExactTensor> tensors =
      exact::exact_tensors(exact_case.dense, packed_case({.problem = p}).problem);
  for (ExactTensor& tensor : tensors) tensor.name = sparse_flash::documented(tensor.name);
  if (p.is_merged())
    std::erase_if(tensors, [](const ExactTensor& tensor) {
      return std::string_view(tensor.name) == "d_value";
    });
  return tensors;
}

SparseFlashExactCase Suite<Op>::exact(const Case<Op>& c, const spec::Numerics& numerics,
                                      ExactPart part) {
  const Problem& p = c.problem;
  const Op::Parameters t = call_of(c).parameters;
  SparseFlashExactCase result;
  result.inputs.sparse_indices = sparse_flash::make_lists(c);
  result.dense = exact::attending(packed_case(c), numerics,
                                  sparse_flash::ListPattern(p, result.inputs.sparse_indices), part,
                                  p.is_merged() ? exact::ValueForm::merged : exact::ValueForm::key);
  const spec::FlashAttentionScoreGrad::Inputs& dense = result.dense.inputs;
  result.inputs.query = restrided(dense.query, t.query);
  result.inputs.key = restrided(dense.key, t.key);
  if (!p.is_merged()) result.inputs.value = restrided(dense.value, t.value);
  result.inputs.d_out = restrided(dense.dy, t.d_out);
  result.inputs.out = restrided(dense.attention_in, t.out);
  result.inputs.softmax_max = first_replicas(dense.softmax_max, t.softmax_max, p);
  result.inputs.softmax_sum = first_replicas(dense.softmax_sum, t.softmax_sum, p);
  if (p.head_dim_rope > 0) {
    result.inputs.query_rope = restrided(*dense.query_rope, t.query_rope);
    result.inputs.key_rope = restrided(*dense.key_rope, t.key_rope);
  }
  sparse_flash::add_lengths(p, t, result.inputs);
  return result;
}

}  // namespace assay::conformance
