#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bilinear/injector.hpp"
#include "compression/kernel.hpp"

namespace assay::mutants::compress {

using bilinear::concatenated, bilinear::OffsetIgnored, bilinear::Injector;

/// Replacements for the steps of a compression kernel; null: the step is unchanged. A function that
/// returns void changes the result of the step.
struct Changes {
  void (*prepare)(WindowWork& w) = nullptr;
  void (*sequences)(const WindowWork& w, std::vector<Sequence>& all) = nullptr;
  std::int64_t (*window_count)(const WindowWork& w, std::int64_t length) = nullptr;
  void (*windows)(const WindowWork& w, std::vector<TokenWindow>& all) = nullptr;
  void (*windows_of_core)(const WindowWork& w, std::vector<TokenWindow>& own) = nullptr;
  bool (*reaches)(const WindowWork& w, const TokenWindow& window, std::int64_t k) = nullptr;
  float (*weight)(const WindowWork& w, std::int64_t k, std::int64_t n) = nullptr;
  void (*adjust)(WindowWork& w) = nullptr;
  bool (*writes_row)(const WindowWork& w, std::int64_t row) = nullptr;
};

/// A compression kernel with replaced steps.
template <class Kernel>
class Changed : public Kernel {
 public:
  Changed(std::string name, const SummingPlan& plan, const Changes& changes)
      : Kernel(std::move(name), plan), changes_(changes) {}

 protected:
  void prepare(WindowWork& w) const override {
    if (changes_.prepare != nullptr) changes_.prepare(w);
  }
  std::vector<Sequence> sequences(const WindowWork& w) const override {
    std::vector<Sequence> all = Kernel::sequences(w);
    if (changes_.sequences != nullptr) changes_.sequences(w, all);
    return all;
  }
  std::int64_t window_count(const WindowWork& w, std::int64_t length) const override {
    return changes_.window_count != nullptr ? changes_.window_count(w, length)
                                            : Kernel::window_count(w, length);
  }
  std::vector<TokenWindow> windows(const WindowWork& w) const override {
    std::vector<TokenWindow> all = Kernel::windows(w);
    if (changes_.windows != nullptr) changes_.windows(w, all);
    return all;
  }
  std::vector<TokenWindow> windows_of_core(const WindowWork& w, const std::vector<TokenWindow>& all,
                                           std::size_t first, std::size_t last) const override {
    std::vector<TokenWindow> own = Kernel::windows_of_core(w, all, first, last);
    if (changes_.windows_of_core != nullptr) changes_.windows_of_core(w, own);
    return own;
  }
  bool reaches(const WindowWork& w, const TokenWindow& window, std::int64_t k) const override {
    return changes_.reaches == nullptr || changes_.reaches(w, window, k);
  }
  float weight(const WindowWork& w, std::int64_t k, std::int64_t n) const override {
    return changes_.weight != nullptr ? changes_.weight(w, k, n) : Kernel::weight(w, k, n);
  }
  void adjust(WindowWork& w) const override {
    if (changes_.adjust != nullptr) changes_.adjust(w);
  }
  bool writes_row(const WindowWork& w, std::int64_t row) const override {
    return changes_.writes_row == nullptr || changes_.writes_row(w, row);
  }

 private:
  Changes changes_;
};

struct Fault {
  std::string name, bug;
  Changes changes;
};

/// Returns the faults that NsaCompress and its gradient can both have.
std::vector<Fault> window_faults();

/// A fault: windows continue from one sequence into the next.
void join_sequences(const WindowWork& w, std::vector<Sequence>& all);
/// A fault: exchanges the first two rows (windows).
void exchange_rows(const WindowWork& w, std::vector<TokenWindow>& all);

/// Calls `change(problem, window)` for each window.
template <auto change>
void each_window(const WindowWork& w, std::vector<TokenWindow>& all) {
  for (TokenWindow& one : all) change(w.problem, one);
}

/// A correct kernel that finds its windows token by token.
template <class Kernel>
struct OwnList : Kernel {
  std::vector<TokenWindow> windows(const WindowWork& w) const override {
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

/// Makes the mutants (kernels with one injected fault) of one compression operator.
template <class Op, class Kernel>
struct WindowInjector : Injector<Op, Kernel> {
  MutantOf<Op> changed(const std::string& name, std::string bug, const Changes& changes) const {
    return this->template injected_with<Changed<Kernel>>(name, std::move(bug), changes);
  }
  std::vector<MutantOf<Op>> changed(const std::vector<Fault>& faults) const {
    std::vector<MutantOf<Op>> all;
    for (const Fault& one : faults) all.push_back(changed(one.name, one.bug, one.changes));
    return all;
  }
};

}  // namespace assay::mutants::compress
