#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compression/kernel.hpp"
#include "planting.hpp"

namespace assay::mutants::compress {

/// Replacements for the steps of a kernel; null: the step is unchanged. A function that returns
/// void changes the result of the step.
struct Changes {
  void (*prepare)(Work& w) = nullptr;
  void (*sequences)(const Work& w, std::vector<Sequence>& all) = nullptr;
  std::int64_t (*window_count)(const Work& w, std::int64_t length) = nullptr;
  void (*windows)(const Work& w, std::vector<TokenWindow>& all) = nullptr;
  void (*windows_of_core)(const Work& w, std::vector<TokenWindow>& own) = nullptr;
  bool (*reaches)(const Work& w, const TokenWindow& window, std::int64_t k) = nullptr;
  float (*weight)(const Work& w, std::int64_t k, std::int64_t n) = nullptr;
  void (*adjust)(Work& w) = nullptr;
  bool (*writes_row)(const Work& w, std::int64_t row) = nullptr;
};

/// A kernel with these changes.
template <class Kernel>
class Changed : public Kernel {
 public:
  Changed(std::string name, const Plan& plan, const Changes& changes)
      : Kernel(std::move(name), plan), changes_(changes) {}

 protected:
  void prepare(Work& w) const override {
    if (changes_.prepare != nullptr) changes_.prepare(w);
  }
  std::vector<Sequence> sequences(const Work& w) const override {
    std::vector<Sequence> all = Kernel::sequences(w);
    if (changes_.sequences != nullptr) changes_.sequences(w, all);
    return all;
  }
  std::int64_t window_count(const Work& w, std::int64_t length) const override {
    return changes_.window_count != nullptr ? changes_.window_count(w, length)
                                            : Kernel::window_count(w, length);
  }
  std::vector<TokenWindow> windows(const Work& w) const override {
    std::vector<TokenWindow> all = Kernel::windows(w);
    if (changes_.windows != nullptr) changes_.windows(w, all);
    return all;
  }
  std::vector<TokenWindow> windows_of_core(const Work& w, const std::vector<TokenWindow>& all,
                                           std::size_t first, std::size_t last) const override {
    std::vector<TokenWindow> own = Kernel::windows_of_core(w, all, first, last);
    if (changes_.windows_of_core != nullptr) changes_.windows_of_core(w, own);
    return own;
  }
  bool reaches(const Work& w, const TokenWindow& window, std::int64_t k) const override {
    return changes_.reaches == nullptr || changes_.reaches(w, window, k);
  }
  float weight(const Work& w, std::int64_t k, std::int64_t n) const override {
    return changes_.weight != nullptr ? changes_.weight(w, k, n) : Kernel::weight(w, k, n);
  }
  void adjust(Work& w) const override {
    if (changes_.adjust != nullptr) changes_.adjust(w);
  }
  bool writes_row(const Work& w, std::int64_t row) const override {
    return changes_.writes_row == nullptr || changes_.writes_row(w, row);
  }

 private:
  Changes changes_;
};

struct Fault {
  std::string name, bug;
  Changes changes;
};

/// Faults that both operators can have. The name of the operator's mutant begins with a prefix.
std::vector<Fault> window_faults();
std::vector<Fault> weight_faults();

/// Lets windows continue from one sequence into the next.
void join_sequences(const Work& w, std::vector<Sequence>& all);
/// Exchanges the first two rows.
void exchange_rows(const Work& w, std::vector<TokenWindow>& all);

/// Calls `change(problem, window)` for each window.
template <auto change>
void each_window(const Work& w, std::vector<TokenWindow>& all) {
  for (TokenWindow& one : all) change(w.problem, one);
}

/// A correct kernel that finds its windows token by token.
template <class Kernel>
struct OwnList : Kernel {
  using Kernel::Kernel;
  std::vector<TokenWindow> windows(const Work& w) const override {
    std::vector<TokenWindow> all;
    std::int64_t row = 0;
    for (const Sequence& sequence : Kernel::sequences(w))
      for (std::int64_t token = sequence.first;
           token + w.problem.compress_block_size <= sequence.first + sequence.length;
           token += w.problem.compress_stride, ++row)
        all.push_back({0, row, token, row});
    return all;
  }
};

/// A kernel that reads (or writes) tensors as if their strides left no gaps.
template <class Kernel, bool of_inputs>
struct AsContiguous : Kernel {
  using Kernel::Kernel;
  std::vector<float> read(const spec::Tensor& tensor) const override {
    if (!of_inputs) return Kernel::read(tensor);
    std::vector<float> values;
    for (std::int64_t k = 0; k < spec::element_count(tensor.shape); ++k)
      values.push_back(static_cast<float>(tensor.load(tensor.offset + k)));
    return values;
  }
  std::vector<std::int64_t> elements(const spec::Tensor& tensor) const override {
    std::vector<std::int64_t> all = Kernel::elements(tensor);
    for (std::size_t k = 0; !of_inputs && k < all.size(); ++k)
      all[k] = tensor.offset + static_cast<std::int64_t>(k);
    return all;
  }
};

/// Makes the mutants of one operator, whose names begin with `prefix`. They follow `plan`.
template <class Op, class Kernel>
struct Planter {
  using Mutant = MutantOf<Op>;
  using Mutants = std::vector<Mutant>;

  const char* prefix;
  Plan plan;
  Subject subject = Subject::numbers;

  template <class Variant = Kernel>
  Mutant healthy(const std::string& name, std::string choice, const Plan& own) const {
    return healthy_in<Op, Variant>(prefix + name, std::move(choice), own);
  }
  template <class Bug>
  Mutant planted(const std::string& name, std::string bug) const {
    Mutant mutant = planted_in<Op, Bug>(prefix + name, std::move(bug), plan);
    mutant.subject = subject;
    return mutant;
  }
  Mutant changed(const std::string& name, std::string bug, const Changes& changes) const {
    Mutant mutant = planted<Kernel>(name, std::move(bug));
    mutant.make = [name = prefix + name, plan = plan, changes] {
      return std::make_unique<Changed<Kernel>>(name, plan, changes);
    };
    return mutant;
  }
  Mutants changed(const std::vector<Fault>& faults) const {
    Mutants all;
    for (const Fault& one : faults) all.push_back(changed(one.name, one.bug, one.changes));
    return all;
  }
  Mutants strides_ignored() const {
    return {planted<AsContiguous<Kernel, true>>("inputs_as_contiguous",
                                                "strides of the inputs are ignored"),
            planted<AsContiguous<Kernel, false>>("outputs_as_contiguous",
                                                 "strides of the outputs are ignored")};
  }
  /// Returns mutants that deviate from the numerics that they declare.
  Mutants undeclared() const {
    Plan shuffled = plan, fixed = plan, even = plan, away = plan, truncating = plan;
    shuffled.cores = 1, shuffled.term_order = TermOrder::shuffled;
    fixed.order = spec::Order::fixed;
    even.round_out = spec::Rounding::rne;
    away.round_out = spec::Rounding::rna;
    truncating.round_out = spec::Rounding::rtz;
    const auto misdeclared = [&](const std::string& name, const char* bug, const Plan& own,
                                 const Plan& declared) {
      return misdeclared_in<Op, Kernel>(prefix + name, bug, own, declared);
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

}  // namespace assay::mutants::compress
