#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/table.hpp"
#include "bilinear/sums.hpp"
#include "bilinear/tensors.hpp"
#include "injecting.hpp"

namespace assay::mutants::bilinear {

/// Makes the mutants (kernels with one injected fault) of one operator. The kernels compute as
/// `plan` says, except for the fault. The names of the mutants begin with `kind`.
template <class Op, class Kernel>
struct Injector {
  using Mutant = MutantOf<Op>;
  using Mutants = std::vector<Mutant>;

  SummingPlan plan;
  const char* kind = "";
  Subject subject = Subject::numbers;

  template <class Variant = Kernel>
  Mutant healthy(const std::string& name, std::string choice, const SummingPlan& own) const {
    return healthy_in<Op, Variant>(kind + name, std::move(choice), own);
  }
  template <class Bug>
  Mutant injected(const std::string& name, std::string bug) const {
    Mutant mutant = injected_in<Op, Bug>(kind + name, std::move(bug), plan);
    mutant.subject = subject;
    return mutant;
  }
  /// Returns a mutant of class Bug; its constructor gets `fault` as an additional argument.
  template <class Bug, class Fault>
  Mutant injected_with(const std::string& name, std::string bug, const Fault& fault) const {
    Mutant mutant = injected<Kernel>(name, std::move(bug));
    mutant.make = [name = kind + name, plan = plan, fault] {
      return std::make_unique<Bug>(name, plan, fault);
    };
    return mutant;
  }
  template <auto member>
  static constexpr bool is_input = requires(typename Op::Inputs& inputs) {
    inputs.*member;
  };

  /// Returns mutants with the named faults in one input or output tensor. If `has_tensor`, their
  /// names begin with the name of the tensor.
  template <auto member>
  Mutants tampered(std::initializer_list<std::string_view> faults,
                   bool has_tensor = is_input<member>) const {
    std::string tensor;
    spec::visit_table<Op>([&](const auto& row) {
      if constexpr (requires { row.member == member; })
        if (row.member == member) tensor = row.name;
    });
    Mutants all;
    for (const std::string_view fault : faults) {
      const TensorFault& found = is_input<member> ? input_fault(fault) : output_fault(fault);
      all.push_back(injected_with<Tampered<Op, Kernel, member>>(
          (has_tensor ? tensor + "_" : "") + std::string(fault),
          tensor + " " + std::string(found.bug), found));
    }
    return all;
  }
  Mutants strides_ignored() const {
    return {injected<StridesIgnored<Op, Kernel, true>>("inputs_as_contiguous",
                                                       "strides of the inputs are ignored"),
            injected<StridesIgnored<Op, Kernel, false>>("outputs_as_contiguous",
                                                        "strides of the outputs are ignored")};
  }
  /// Returns mutants with a wrong declaration: the kernel sums or rounds in another way than it
  /// declares.
  Mutants undeclared() const {
    SummingPlan shuffled = plan, fixed = plan, even = plan, away = plan, truncating = plan;
    shuffled.cores = 1, shuffled.term_order = TermOrder::shuffled;
    fixed.order = spec::Order::fixed;
    even.round_out = spec::Rounding::rne;
    away.round_out = spec::Rounding::rna;
    truncating.round_out = spec::Rounding::rtz;
    const auto misdeclared = [&](const std::string& name, const char* bug, const SummingPlan& own,
                                 const SummingPlan& declared) {
      return misdeclared_in<Op, Kernel>(kind + name, bug, own, declared);
    };
    return {misdeclared("undeclared_order",
                        "the order changes from run to run, but a fixed order is declared",
                        shuffled, fixed),
            misdeclared("undeclared_half_away",
                        "rounds casts half away from zero, but declares ties to even", away, even),
            misdeclared("undeclared_truncation", "the cast truncates, but ties to even is declared",
                        truncating, even)};
  }
};

template <class Mutant>
std::vector<Mutant> concatenated(std::initializer_list<std::vector<Mutant>> families) {
  std::vector<Mutant> all;
  for (const std::vector<Mutant>& family : families)
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace assay::mutants::bilinear
