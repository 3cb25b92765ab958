#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "assay/conformance/operators.hpp"
#include "assay/conformance/report/record.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::cli {

/// Says whether a file stores the tensors of a case, or only its recipe (the description from which
/// Assay generates the tensors).
enum class Contents { recipe, tensors };

/// Returns the reason why a file cannot store the tensors of this case; nothing if it can.
template <class Op>
std::optional<std::string> without_tensors(const conformance::Case<Op>& c) {
  const std::string track = "--track is '" + std::string(spec::to_string(c.track)) + "': ";
  if (c.track == conformance::Track::arguments) return track + "such a case has no tensors";
  if (c.track == conformance::Track::relation)
    return track +
           "such a case compares several runs of a kernel, but a case in a file contains only one "
           "call";
  return std::nullopt;
}

/// Makes the file record of a case, with the digests of its inputs. With `Contents::tensors`, the
/// record also contains the inputs, the reference values, and the tolerances for a kernel with
/// these numerics (rounding behaviour). Adds to `certainty`, unless it is null, how the reference
/// was computed.
template <class Op>
fixtures::CaseRecord stored_case(const conformance::Case<Op>& c, const spec::Numerics& numerics,
                                 const std::string& profile_name, Contents contents,
                                 conformance::Certainty* certainty = nullptr) {
  fixtures::CaseRecord record = conformance::recipe(c);
  conformance::PreparedCase<Op> prepared(c);
  auto inputs = conformance::named_tensors(prepared.inputs(numerics));
  for (const auto& [name, tensor] : inputs) record.digests[name] = fixtures::digest(tensor);
  if (contents == Contents::recipe) return record;
  auto expected = prepared.expected(numerics);
  // The gradients of a formula's parameters are parts of one output, so a file contains no separate
  // references for them.
  const auto outputs = conformance::make_outputs(c);
  std::erase_if(expected, [&](const conformance::Expected& one) {
    return conformance::find_tensor(outputs, one.name) == nullptr;
  });
  for (const conformance::Expected& tensor : expected)
    if (certainty != nullptr) *certainty += tensor.certainty;
  record.expected = conformance::stored_expected(
      std::move(expected),
      [&](std::string_view output) { return conformance::dtype_of_output(c, output); }, numerics,
      profile_name);
  record.inputs = std::move(inputs);
  return record;
}

/// Runs the implementation on the case and adds its outputs to the record. Errors: the errors of
/// the implementation.
template <class Op>
void add_actual(fixtures::CaseRecord& record, const conformance::Case<Op>& c,
                spec::Implementation<Op>& implementation) {
  const spec::Numerics numerics = implementation.numerics(c.problem);
  conformance::PreparedCase<Op> prepared(c);
  auto outputs = conformance::make_outputs(c);
  implementation.run_call(conformance::call_of(c), c.problem, prepared.inputs(numerics), outputs);
  record.actual[implementation.name()] = {.outputs = conformance::named_tensors(outputs),
                                          .profile = conformance::to_json(numerics)};
}

}  // namespace assay::cli
