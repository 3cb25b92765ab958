#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/judge/exact.hpp"
#include "assay/conformance/judge/examination.hpp"
#include "assay/conformance/report/report.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::conformance {

/// A profile says all of the tensors.
template <>
struct Patterns<spec::NsaCompressGrad> {
  friend bool operator==(const Patterns&, const Patterns&) = default;
};

template <class PatternsOfOp, class Visitor>
requires std::same_as<std::remove_const_t<PatternsOfOp>, Patterns<spec::NsaCompressGrad>>
void visit_fields(PatternsOfOp&, Visitor&&) {}

/// Calls visit(name, tensor) for every input, by its documented name.
template <class Inputs, class Visitor>
requires std::same_as<std::remove_const_t<Inputs>, spec::NsaCompressGrad::Inputs>
void visit_tensors(Inputs& inputs, Visitor&& visit) {
  visit("output_grad", inputs.output_grad);
  visit("input", inputs.input);
  visit("weight", inputs.weight);
}

/// The same for outputs.
template <class Outputs, class Visitor>
requires std::same_as<std::remove_const_t<Outputs>, spec::NsaCompressGrad::Outputs>
void visit_tensors(Outputs& outputs, Visitor&& visit) {
  visit("input_grad", outputs.input_grad);
  visit("weight_grad", outputs.weight_grad);
}

/// The tensors of a track B case, strided as the case says. In fp16 the numbers of input are
/// smaller by a power of two where weight_grad, a sum over all windows and channels, would
/// overflow.
spec::NsaCompressGrad::Inputs make_inputs(const Case<spec::NsaCompressGrad>& c);

/// Outputs with the case's striding whose storage, viewed elements included, holds a poison
/// pattern.
spec::NsaCompressGrad::Outputs make_outputs(const Case<spec::NsaCompressGrad>& c);

/// A case whose correct outputs are known exactly, whatever the order of summation.
struct CompressLattice {
  spec::NsaCompressGrad::Inputs inputs;
  std::vector<Dyadic> input_grad,
      weight_grad;  ///< exact, before the final cast, of the judged rows
  /// Judged rows, ascending: of input_grad by their number in Extents::row; weight (w, n) is row n
  /// * compress_block_size + w.
  std::vector<std::int64_t> input_rows, weight_rows;
};

/// The exact gradients by their names, with their rows and channels.
std::vector<ExactTensor> exact_tensors(const CompressLattice& lattice,
                                       const spec::NsaCompressGrad::Problem& problem);

/// Builds the lattice case of track a1 or a2 for kernels of this profile.
/// Errors: NoLattice where none exists for the problem, with the reason.
CompressLattice make_lattice(const Case<spec::NsaCompressGrad>& c,
                             const spec::NumericsProfile& numerics);

/// Judges every element of the judged rows by `judge_exact`.
void judge_lattice(const CompressLattice& lattice, const spec::NsaCompressGrad::Problem& problem,
                   const spec::NsaCompressGrad::Outputs& outputs,
                   const spec::NumericsProfile& numerics, CaseReport& report);

/// What the documents leave open about a legal call that breaks no row: nothing.
std::string open_reading(const Case<spec::NsaCompressGrad>& c);

/// Of both gradients.
double multiply_adds(const spec::NsaCompressGrad::Problem& problem);

/// Rough cost of a case in seconds, for the time left; only ratios matter.
double expected_cost(const Case<spec::NsaCompressGrad>& c);

/// Elements of input and output_grad.
std::int64_t tensor_elements(const spec::NsaCompressGrad::Problem& problem);

/// Judges a case of track relation: one of the operator's relations.
CaseReport examine_relation(const Case<spec::NsaCompressGrad>& c,
                            spec::Implementation<spec::NsaCompressGrad>& kernel);

}  // namespace assay::conformance
