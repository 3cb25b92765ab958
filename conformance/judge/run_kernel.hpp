#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/suite.hpp"
#include "assay/fixtures/record.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/not_asked.hpp"
#include "assay/spec/runs_elsewhere.hpp"
#include "assay/spec/tensor.hpp"

/// Running a kernel so that nothing it does can spoil the judgement.
namespace assay::conformance {

inline constexpr std::uint64_t fresh_seed_step = 0x9e3779b97f4a7c15u;

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void add_note(CaseReport& report, FindingRule rule, const std::string& text);

/// Makes the decision that of the report; its evidence is also a finding, of the rule `finding`.
void decide(CaseReport& report, Decision decision, FindingRule finding);

/// "161002 ACLNN_ERR_PARAM_INVALID"; of a code without a name the number alone.
std::string describe(spec::Status status);

/// What phase 1 made of a call: it accepted where neither is set.
struct Answer {
  std::optional<spec::Rejected> refusal = {};
  std::optional<Decision> failure = {};  ///< where anything else escaped from it
};

/// What `ask`, which asks phase 1, ends in. Errors: spec::NotAsked.
Answer answer_of(const std::function<void()>& ask);

/// What is decided where the kernel does not offer a call, for `reason`.
Decision not_offered(const std::string& reason);

/// What the watched fault of a kernel decides. `where` begins the evidence.
Decision decision_of(const spec::ImplementationFault& seen, const std::string& where = {});

/// What a refusal of the call decides, about which the documents leave `question` open, if it is
/// not empty.
Decision refusal_of(const std::string& question, const std::string& evidence);

/// What `ask`, a question to the kernel about itself, answers; whatever escapes from it is the
/// kernel's doing.
/// Errors: spec::ImplementationFault, spec::NotAsked.
template <class Ask>
auto asked(const char* question, Ask&& ask) -> decltype(ask()) {
  const auto threw = [&](const std::string& what) {
    return spec::ImplementationFault(spec::ImplementationFault::Kind::crash,
                                     std::string(question) + " threw " + what);
  };
  try {
    return ask();
  } catch (const spec::ImplementationFault&) {
    throw;
  } catch (const spec::NotAsked&) {
    throw;
  } catch (const std::exception& failure) {
    throw threw(std::string("\"") + failure.what() + '"');
  } catch (...) {
    throw threw("something that is no std::exception");
  }
}

/// What a kernel declares of its arithmetic. Errors: spec::ImplementationFault.
template <class Op>
spec::Numerics numerics_of(const spec::Implementation<Op>& kernel,
                           const typename Op::Problem& problem) {
  return asked("numerics", [&] { return kernel.numerics(problem); });
}

/// The requirements that the call of a case breaks and that no kernel must refuse.
template <class Op>
std::vector<const spec::Requirement<Op>*> not_binding(const Case<Op>& c,
                                                      const spec::Call<Op>& call) {
  auto broken = spec::violations(Op::requirements(), call);
  std::erase_if(broken, [&](const auto* requirement) {
    return requirement->binds(c.entry_point, c.policy());
  });
  return broken;
}

/// Why a kernel may refuse the call of a case; empty if it must accept it.
template <class Op>
std::string open_question(const Case<Op>& c, const spec::Call<Op>& call) {
  std::string text;
  for (const auto* requirement : not_binding(c, call)) {
    const spec::Standing standing = requirement->standing_on(c.entry_point);
    text += (text.empty() ? "" : "; ") +
            (standing == spec::Standing::upstream ? "upstream's alone"
                                                  : std::string(spec::to_string(standing))) +
            ": " + std::string(requirement->id) + " (" + std::string(requirement->statement) + ")";
  }
  if (!supports(c.entry_point, c.product))
    for (const auto& requirement : Op::requirements())
      if (requirement.id == product_requirement(c.entry_point, c.product))
        text += (text.empty() ? "not offered there: " : "; not offered there: ") +
                std::string(requirement.id) + " (" + std::string(requirement.statement) + ")";
  return text;
}

struct TensorOf {
  const char* name;
  const spec::Tensor* tensor;
};

template <class Tensors>
std::vector<TensorOf> all_tensors(const Tensors& tensors) {
  std::vector<TensorOf> all;
  visit_tensors(tensors, [&](const char* name, const spec::Tensor& tensor) {
    all.push_back({name, &tensor});
  });
  return all;
}

/// What of a tensor no kernel may change.
struct ViewOf {
  explicit ViewOf(const spec::Tensor& tensor)
      : dtype(tensor.dtype),
        bytes(tensor.bytes.size()),
        offset(tensor.offset),
        shape(tensor.shape),
        strides(tensor.strides) {}
  friend bool operator==(const ViewOf&, const ViewOf&) = default;

  spec::DType dtype;
  std::size_t bytes;
  std::int64_t offset;
  spec::Shape shape, strides;
};

/// Inputs while a kernel has them.
template <class Inputs>
class Lent {
 public:
  /// Refers to the inputs. Nothing for `lending`: the kernel cannot reach them.
  Lent(const Inputs& inputs, std::optional<Lending> lending)
      : inputs_(inputs), is_watched_(lending.has_value()) {
    if (!is_watched_) return;
    if (*lending == Lending::copy) {
      copy_ = inputs;
      return;
    }
    for (const TensorOf& input : all_tensors(inputs))
      digests_.push_back(fixtures::digest(input.tensor->bytes));
  }
  const Inputs& get() const { return copy_ ? *copy_ : inputs_; }

  /// Names of the inputs that were changed.
  std::vector<std::string> changed() const {
    if (!is_watched_) return {};
    std::vector<std::string> names;
    const auto before = all_tensors(inputs_), after = all_tensors(get());
    for (std::size_t k = 0; k < after.size(); ++k) {
      const auto& bytes = after[k].tensor->bytes;
      const bool is_same =
          copy_ ? bytes == before[k].tensor->bytes : fixtures::digest(bytes) == digests_[k];
      if (!is_same) names.emplace_back(after[k].name);
    }
    return names;
  }

 private:
  const Inputs& inputs_;
  bool is_watched_;
  std::optional<Inputs> copy_;
  std::vector<std::string> digests_;  ///< where there is no copy
};

/// A case as a kernel of these numerics is asked: with disputed inputs where it declares to read
/// them. Refers to its arguments where they lie there already.
template <class Op>
class Asked {
 public:
  Asked(const Case<Op>& c, const typename Op::Inputs& inputs, const spec::Numerics& numerics)
      : case_(&c), inputs_(&inputs) {
    auto problem = Suite<Op>::as_declared(c.problem, c.entry_point, numerics);
    if (problem == c.problem) return;
    moved_inputs_ = Suite<Op>::moved(c.problem, problem, inputs);
    moved_case_ = c;
    moved_case_->problem = std::move(problem);
    case_ = &*moved_case_, inputs_ = &*moved_inputs_;
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  const Case<Op>& asked() const { return *case_; }
  const typename Op::Inputs& inputs() const { return *inputs_; }
  bool is_moved() const { return moved_case_.has_value(); }

 private:
  const Case<Op>* case_;
  const typename Op::Inputs* inputs_;
  std::optional<Case<Op>> moved_case_;
  std::optional<typename Op::Inputs> moved_inputs_;
};

/// What running a kernel gave: outputs, or the decision that takes the place of their judgement.
template <class Op>
struct Run {
  typename Op::Outputs outputs;
  std::optional<Decision> failure;
  std::vector<Finding> findings;
  double seconds = 0;
  bool changed_inputs = false;
};

template <class Op>
Run<Op> run_once(const Case<Op>& c, const typename Op::Inputs& inputs,
                 spec::Implementation<Op>& kernel, Lending lending = Lending::copy) {
  Run<Op> run{.outputs = make_outputs(c), .failure = {}, .findings = {}};
  std::vector<ViewOf> given;
  for (const TensorOf& output : all_tensors(run.outputs)) given.emplace_back(*output.tensor);
  const Lent<typename Op::Inputs> lent(
      inputs, spec::runs_elsewhere(kernel) ? std::nullopt : std::optional(lending));
  const auto fail = [&](Decision decision) {
    run.findings.push_back({.rule = FindingRule::structure, .text = decision.evidence});
    run.failure = std::move(decision);
  };
  const auto misbehaved = [&](Ground ground, const std::string& text) {
    fail({Rule::conduct, ground, text});
  };
  const spec::Call<Op> call = call_of(c);
  const auto start = std::chrono::steady_clock::now();
  try {
    kernel.run_call(call, c.problem, lent.get(), run.outputs);
  } catch (const spec::Rejected& answer) {
    const std::string question = open_question(c, call);
    fail(refusal_of(question, std::string("phase 2 refused ") +
                                  (question.empty() ? "a legal call: " : "the call: ") +
                                  describe(answer.status()) + ": " + answer.what() +
                                  (question.empty() ? "" : "; " + question)));
  } catch (const spec::Unsupported& reason) {
    fail(not_offered(reason.what()));
  } catch (const spec::ImplementationFault& seen) {
    fail(decision_of(seen));
  } catch (const spec::NotAsked&) {
    throw;
  } catch (const std::exception& failure) {
    misbehaved(Ground::died, std::string("phase 2 threw: ") + failure.what());
  } catch (...) {
    misbehaved(Ground::died, "phase 2 threw something that is no std::exception");
  }
  run.seconds = seconds_since(start);
  for (const std::string& name : lent.changed()) {
    misbehaved(Ground::wrote_elsewhere, "the input " + name + " was modified");
    run.changed_inputs = true;
  }
  const auto outputs = all_tensors(run.outputs);
  const bool lost = outputs.size() != given.size();
  bool replaced = false;
  if (lost) misbehaved(Ground::wrote_elsewhere, "an output was added or taken away");
  for (std::size_t k = 0; k < std::min(outputs.size(), given.size()); ++k)
    if (ViewOf(*outputs[k].tensor) != given[k]) {
      misbehaved(Ground::wrote_elsewhere,
                 std::string("the output ") + outputs[k].name + " was replaced by another tensor");
      replaced = true;
    }
  if (lost || replaced) run.outputs = make_outputs(c);  // whoever looks at them next needs tensors
  return run;
}

}  // namespace assay::conformance
