#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/conformance/operators/nsa_selected_attention_grad/tensors.hpp"
#include "operators/nsa_selected_attention_grad/grounds.hpp"
#include "operators/nsa_selected_attention_grad/limits.hpp"
#include "operators/nsa_selected_attention_grad/reductions.hpp"
// Behind the operator's own parts, which it refers to.
#include "suite.hpp"

namespace assay::conformance {

using Op = spec::NsaSelectedAttentionGrad;

template std::vector<std::pair<std::string, std::string>> field_texts(const Case<Op>&);
template std::string command_line(const Case<Op>&);
template Case<Op> parse_case(const std::vector<std::string>&);
template spec::Call<Op> call_of(const Case<Op>&);

template class Examination<Op>;
template CaseReport blank_report(const Case<Op>&);
template CaseReport examine(const Case<Op>&, spec::Implementation<Op>&);
template CaseReport examine(Examination<Op>&, spec::Implementation<Op>&);

template RowCoverage row_coverage<Op>(spec::Upstream upstream);
template void Sweep::run(std::span<const Case<Op>>, std::size_t, std::size_t,
                         spec::Implementation<Op>&, const MakeFresh<Op>&);
template Summary sweep(std::span<const Case<Op>>, spec::Implementation<Op>&,
                       std::span<SweepListener* const>, const SweepControl&);
template Shrunk<Op> shrink(const Case<Op>&, const CaseReport&, const CaseJudge<Op>&,
                           const ShrinkBudget&, const CaseJudge<Op>&);

template fixtures::CaseRecord recipe(const Case<Op>&);
template std::vector<fixtures::NamedTensor> named_tensors(const Op::Inputs&);
template std::vector<fixtures::NamedTensor> named_tensors(const Op::Outputs&);
template Op::Outputs outputs_from(const Case<Op>&, const std::vector<fixtures::NamedTensor>&);
template std::vector<fixtures::ExpectedTensor> stored_expected(Examination<Op>&,
                                                               const spec::NumericsProfile&,
                                                               const std::string&);

}  // namespace assay::conformance
