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
#include "assay/spec/takes_formulas.hpp"
#include "assay/spec/tensor.hpp"
#include "case/user_formula.hpp"

/// Runs a kernel and protects the judge from everything that the kernel may do.
namespace assay::conformance {

inline constexpr std::uint64_t fresh_seed_step = 0x9e3779b97f4a7c15u;

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void add_note(CaseReport& report, FindingRule rule, Fact fact);

/// Sets the decision of the report. Adds a finding that contains the rule `finding` and the
/// statement (fact) of the decision. `message`: the error message of the kernel.
void decide(CaseReport& report, Decision decision, FindingRule finding,
            std::optional<std::string> message = {});

/// Returns a status code as text, such as "161002 ACLNN_ERR_PARAM_INVALID"; only the number if the
/// code has no name.
std::string describe(spec::Status status);

/// The answer of phase 1 (the check of the arguments) to a call. If neither member is set, phase 1
/// accepted the call.
struct Answer {
  std::optional<spec::Rejected> refusal = {};
  std::optional<Decision> failure = {};  ///< set if phase 1 threw any other exception
};

/// Calls `ask`, which runs phase 1 (the check of the arguments), and returns the answer. Errors:
/// spec::NotAsked.
Answer answer_of(const std::function<void()>& ask);

/// Returns the decision about a kernel that does not support the call. `reason` says why.
Decision not_offered(const std::string& reason);

/// Returns the decision about a fault of the kernel, such as a crash. `kind`: the statement in the
/// report, which may also say where the fault occurred.
Decision decision_of(const spec::ImplementationFault& seen, FactKind kind = FactKind::quoted);

/// Returns the decision about a kernel that refused a call. `is_open`: true if the documentation
/// does not say clearly whether the call is allowed.
Decision refusal_of(bool is_open, Fact seen);

/// Calls `ask`, which queries a property of the kernel, and returns its result. Exceptions other
/// than the two listed here count as a crash of the kernel. Errors: spec::ImplementationFault,
/// spec::NotAsked.
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
    throw threw("something that is not a std::exception");
  }
}

/// Returns the numerics (the kernel's declaration of its own arithmetic). Errors:
/// spec::ImplementationFault.
template <class Op>
spec::Numerics numerics_of(const spec::Implementation<Op>& kernel,
                           const typename Op::Problem& problem) {
  return asked("numerics", [&] { return kernel.numerics(problem); });
}

/// Returns the requirements that the call breaks, but for which a kernel need not refuse the call.
template <class Op>
std::vector<const spec::Requirement<Op>*> not_binding(const Case<Op>& c,
                                                      const spec::Call<Op>& call) {
  auto broken = spec::violations(Op::requirements(), call);
  std::erase_if(broken, [&](const auto* requirement) {
    return requirement->binds(c.entry_point, c.policy());
  });
  return broken;
}

/// Returns the reasons why a kernel may refuse the call. Without such a reason the kernel must
/// accept the call.
template <class Op>
std::vector<Fact> open_questions(const Case<Op>& c, const spec::Call<Op>& call) {
  std::vector<Fact> questions;
  for (const auto* requirement : not_binding(c, call)) {
    const spec::Standing standing = requirement->standing_on(c.entry_point);
    questions.push_back(
        standing == spec::Standing::upstream
            ? Fact(FactKind::stated_only_upstream, requirement->id, requirement->statement)
            : Fact(FactKind::requirement_is_open, standing, requirement->id,
                   requirement->statement));
  }
  if (!supports(c.entry_point, c.product))
    for (const auto& requirement : Op::requirements())
      if (requirement.id == product_requirement(c.entry_point, c.product))
        questions.emplace_back(FactKind::not_offered_there, requirement.id, requirement.statement);
  return questions;
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

/// The properties of a tensor (type, size, shape, strides, offset) that a kernel must not change.
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

/// Gives the inputs to a kernel for one or more runs, and detects whether the kernel changes them.
template <class Op>
class Borrowed {
 public:
  using Inputs = typename Op::Inputs;

  /// Keeps a reference to the inputs. `borrowing`: whether the kernel gets a copy. A kernel that
  /// runs in another process needs none, and cannot change them.
  Borrowed(const Inputs& inputs, const spec::Implementation<Op>& kernel,
           Borrowing borrowing = Borrowing::copy)
      : inputs_(inputs), is_watched_(!spec::runs_elsewhere(kernel)) {
    if (!is_watched_) return;
    if (borrowing == Borrowing::copy) {
      copy_ = inputs;
      return;
    }
    for (const TensorOf& input : all_tensors(inputs))
      digests_.push_back(fixtures::digest(input.tensor->bytes));
  }
  const Inputs& get() const { return copy_ ? *copy_ : inputs_; }

  /// Returns the names of the inputs that the kernel has changed.
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
  std::vector<std::string> digests_;  ///< used for inputs that are watched without a copy
};

/// The case and the inputs that a kernel receives. If the documentation contradicts itself about
/// the memory order of an input, the input is stored in the order that the kernel's numerics
/// declare. If it already has this order, only references are kept.
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

/// The result of a run: the outputs or, after a failure without outputs, the decision.
template <class Op>
struct Run {
  typename Op::Outputs outputs;
  std::optional<Decision> failure;
  std::vector<Finding> findings;
  double seconds = 0;
  bool changed_inputs = false;
};

template <class Op>
Run<Op> run_once(const Case<Op>& c, const Borrowed<Op>& borrowed,
                 spec::Implementation<Op>& kernel) {
  Run<Op> run{.outputs = make_outputs(c), .failure = {}, .findings = {}};
  std::vector<ViewOf> given;
  for (const TensorOf& output : all_tensors(run.outputs)) given.emplace_back(*output.tensor);
  const auto fail = [&](Decision decision) {
    run.findings.push_back({.rule = FindingRule::structure, .fact = decision.fact});
    run.failure = std::move(decision);
  };
  const auto misbehaved = [&](Ground ground, Fact fact) {
    fail({Rule::conduct, ground, std::move(fact)});
  };
  const spec::Call<Op> call = call_of(c);
  const auto start = std::chrono::steady_clock::now();
  try {
    if (spec::TakesFormulas* const takes = spec::takes_formulas(kernel))
      takes->set_formula(is_formula(c.variant) ? c.variant : "");
    if (spec::TakesFormulas* const takes = spec::takes_parts(kernel)) takes->set_part(c.part);
    kernel.run_call(call, c.problem, borrowed.get(), run.outputs);
  } catch (const spec::Rejected& answer) {
    const std::vector<Fact> questions = open_questions(c, call);
    const bool is_open = !questions.empty();
    fail(refusal_of(is_open,
                    {is_open ? FactKind::phase_2_refused_open : FactKind::phase_2_refused_legal,
                     describe(answer.status()), answer.what(), questions}));
  } catch (const spec::Unsupported& reason) {
    fail(not_offered(reason.what()));
    run.findings.back().message = reason.what();
  } catch (const spec::ImplementationFault& seen) {
    fail(decision_of(seen));
  } catch (const spec::NotAsked&) {
    throw;
  } catch (const std::exception& failure) {
    misbehaved(Ground::died, {FactKind::phase_2_threw, failure.what()});
  } catch (...) {
    misbehaved(Ground::died, FactKind::phase_2_threw_no_exception);
  }
  run.seconds = seconds_since(start);
  for (const std::string& name : borrowed.changed()) {
    misbehaved(Ground::wrote_elsewhere, {FactKind::input_modified, name});
    run.changed_inputs = true;
  }
  const auto outputs = all_tensors(run.outputs);
  const bool lost = outputs.size() != given.size();
  bool replaced = false;
  if (lost) misbehaved(Ground::wrote_elsewhere, FactKind::outputs_lost);
  for (std::size_t k = 0; k < std::min(outputs.size(), given.size()); ++k)
    if (ViewOf(*outputs[k].tensor) != given[k]) {
      misbehaved(Ground::wrote_elsewhere, {FactKind::output_replaced, outputs[k].name});
      replaced = true;
    }
  if (lost || replaced) run.outputs = make_outputs(c);  // later code needs all outputs
  return run;
}

}  // namespace assay::conformance
