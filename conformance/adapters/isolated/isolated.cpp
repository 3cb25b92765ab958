#include "assay/adapters/isolated.hpp"

#include <new>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "assay/spec/not_asked.hpp"
#include "assay/spec/operators.hpp"
#include "assay/spec/runs_elsewhere.hpp"
#include "assay/spec/takes_formulas.hpp"
#include "isolated/messages.hpp"
#include "isolated/shared_tensors.hpp"
#include "isolated/worker_process.hpp"

namespace assay::adapters {
namespace {

using spec::ImplementationFault;

/// Reports an exception that the implementation itself threw.
class Failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown if the worker itself lacks a resource (such as a descriptor) that a request needs.
class WorkerLacks : public spec::NotAsked {
 public:
  using spec::NotAsked::NotAsked;
};

/// An empty result, for requests that return nothing.
struct Nothing {};

/// Rethrows in the judge the exception that the implementation threw in the worker, if there is
/// one.
void require_done(Unpacker& answer) {
  const auto kind = answer.take<Answer>();
  if (kind == Answer::done) return;
  if (kind == Answer::rejected) {
    const auto status = answer.take<spec::Status>();
    throw spec::Rejected(status, answer.take<std::string>());
  }
  if (kind == Answer::fault || kind == Answer::spoiled) {
    const auto conduct = answer.take<ImplementationFault::Kind>();
    throw ImplementationFault(conduct, answer.take<std::string>());
  }
  const auto text = answer.take<std::string>();
  if (kind == Answer::unsupported) throw spec::Unsupported(text);
  if (kind == Answer::not_asked) throw WorkerLacks(text);
  throw Failed(text);
}

/// Makes an object that the judge needs for a request. Errors: spec::NotAsked if the system lacks
/// the resource.
template <class Needed, class... From>
std::unique_ptr<Needed> needed(From&&... from) {
  try {
    return std::make_unique<Needed>(std::forward<From>(from)...);
  } catch (const std::system_error& shortage) {
    throw spec::NotAsked(shortage.what());
  } catch (const std::bad_alloc&) {
    throw spec::NotAsked("the judge has no memory left");
  }
}

template <class Tensors>
void add_borrowed(const Tensors& tensors, std::vector<SharedTensor>& borrowed) {
  visit_fields(tensors, [&](const char* name, const auto& member) {
    if (const spec::Tensor* tensor = present(member)) borrowed.push_back({name, tensor});
  });
}

/// Returns an empty tensor. It takes the place of a tensor that the implementation replaced, so
/// that the judge detects the replacement.
spec::Tensor another_tensor(const spec::Tensor& borrowed) {
  return {.dtype = borrowed.dtype, .shape = {0}, .strides = {1}, .bytes = {}};
}

void lose(spec::Tensor& member) { member = another_tensor(member); }
void lose(std::optional<spec::Tensor>& member) { member.reset(); }
void replace(spec::Tensor& member) { member = another_tensor(member); }
void replace(std::optional<spec::Tensor>& member) {
  member = another_tensor(member.value_or(spec::Tensor{}));
}

/// Reads from the worker's answer whether each tensor was kept, removed or replaced.
template <class Tensors>
std::vector<Outcome> take_outcomes(Unpacker& answer, const Tensors& tensors) {
  std::vector<Outcome> outcomes;
  visit_fields(tensors,
               [&](const char*, const auto&) { outcomes.push_back(answer.take<Outcome>()); });
  return outcomes;
}

/// Copies tensors from shared memory back into the call. `index`: the number of the first shared
/// tensor to copy.
template <class Tensors>
void take_back(SharedTensors& shared, std::size_t index, const std::vector<Outcome>& outcomes,
               Tensors& tensors) {
  std::size_t member_number = 0;
  visit_fields(tensors, [&](const char*, auto& member) {
    const Outcome outcome = outcomes[member_number++];
    spec::Tensor* const tensor = present(member);
    if (tensor != nullptr && outcome == Outcome::kept) shared.return_to(*tensor, index);
    if (tensor != nullptr) ++index;
    if (tensor != nullptr && outcome == Outcome::absent) lose(member);
    if (outcome == Outcome::replaced) replace(member);
  });
}

/// Copies back all data that a failed run wrote. The caller then sees the same data as after a
/// failure of an implementation in this process.
template <class Tensors>
void return_all(SharedTensors& shared, std::size_t index, Tensors& tensors) {
  visit_fields(tensors, [&](const char*, auto& member) {
    if (spec::Tensor* const tensor = present(member)) shared.return_to(*tensor, index++);
  });
}

template <class Op>
class Isolated final : public spec::Implementation<Op>,
                       public spec::RunsElsewhere,
                       public spec::TakesFormulas {
 public:
  using Problem = typename Op::Problem;
  using Inputs = typename Op::Inputs;
  using Outputs = typename Op::Outputs;

  Isolated(WorkerProgram program, WorkerLimits limits)
      : program_(std::move(program)), limits_(limits) {
    worker();
  }

  std::string name() const override { return greeting_.name; }
  bool checks_arguments() const override { return greeting_.checks_arguments; }
  bool has_forward() const override { return greeting_.has_forward; }
  bool takes_formulas() const override { return greeting_.takes_formulas; }
  bool has_formula_gradients() const override { return greeting_.has_formula_gradients; }
  void set_formula(const std::string& variant) override { formula_ = variant; }
  bool takes_parts() const override { return greeting_.takes_parts; }
  void set_part(const std::string& part) override { part_ = part; }
  std::vector<spec::Metric> metrics() const override { return metrics_; }

  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    return asked<std::optional<std::string>>(Request::unsupported, call);
  }
  spec::Numerics numerics(const Problem& problem) const override {
    return asked<spec::Numerics>(Request::numerics, problem);
  }
  void check(const spec::Call<Op>& call) const override { asked<Nothing>(Request::check, call); }

  void run(const Problem& problem, const Inputs& inputs, Outputs& outputs) override {
    Packer packer;
    packer.add(Request::run);
    run_on(packer, problem, inputs, outputs);
  }
  void run_call(const spec::Call<Op>& call, const Problem& problem, const Inputs& inputs,
                Outputs& outputs) override {
    Packer packer;
    packer.add(Request::run_call, call, formula_, part_);
    run_on(packer, problem, inputs, outputs);
  }
  void forward(const Problem& problem, Inputs& inputs) override {
    if (!has_forward()) throw std::logic_error(name() + " has no forward");
    Packer packer;
    packer.add(Request::forward, problem, outlines_of(inputs));
    on_a_sound_worker([&] {
      std::vector<SharedTensor> borrowed;
      add_borrowed(inputs, borrowed);
      const auto shared = share(std::move(borrowed));
      answer_on(packer, *shared, 0, inputs);
    });
  }
  void settle() override {
    if (!worker_ || worker_->is_dead()) return;
    Packer packer;
    packer.add(Request::settle);
    std::optional<std::string> text = worker_->settle(packer.text());
    if (!text) return;
    Unpacker answer(std::move(*text));
    understood([&] {
      require_answer(answer);
      answer.finish();
    });
  }

 private:
  /// Returns the running worker. Starts a new worker if none is running.
  WorkerProcess& worker() const {
    if (worker_ && !worker_->is_dead()) return *worker_;
    const bool is_first = worker_ == nullptr;
    shareable_.forget();
    worker_ = needed<WorkerProcess>(program_, limits_);
    Unpacker greeting(worker_->greeting());
    try {
      understood([&] {
        require_done(greeting);
        greeting.take(greeting_);
        greeting.finish();
      });
    } catch (const Failed& refusal) {
      worker_->give_up();
      if (is_first) throw std::invalid_argument(refusal.what());
      throw ImplementationFault(ImplementationFault::Kind::crash,
                                std::string("it could not be opened again: ") + refusal.what());
    } catch (...) {
      worker_->give_up();
      throw;
    }
    return *worker_;
  }

  /// Copies tensors into memory that is shared with the worker for the next request.
  std::unique_ptr<SharedTensors> share(std::vector<SharedTensor> tensors) const {
    worker();  // a new worker gets another file
    return needed<SharedTensors>(shareable_, std::move(tensors));
  }

  /// Calls `take` to parse the worker's answer. If the answer is invalid, kills the worker. Errors:
  /// the errors of `take`; ImplementationFault for an invalid answer.
  template <class Take>
  void understood(Take&& take) const {
    try {
      take();
    } catch (const Nonsense& nonsense) {
      throw worker_->talked_nonsense(nonsense.what());
    }
  }

  /// Returns the result of `ask`, which sends a request to the worker. If a worker that already ran
  /// a call lacks a resource, such as a descriptor, starts another worker and repeats the request.
  /// Errors: the errors of `ask`.
  template <class Ask>
  auto on_a_sound_worker(Ask&& ask) const {
    const bool was_used = worker_ && !worker_->is_dead();
    try {
      return ask();
    } catch (const WorkerLacks&) {
      worker_->give_up();
      if (!was_used) throw;
    }
    return ask();
  }

  template <class Answered, class Asked>
  Answered asked(Request request, const Asked& about) const {
    Packer packer;
    packer.add(request, about);
    return on_a_sound_worker([&] {
      Unpacker answer(worker().ask(packer.text()));
      Answered result{};
      understood([&] {
        require_answer(answer);
        if constexpr (!std::is_same_v<Answered, Nothing>) answer.take(result);
        answer.finish();
      });
      return result;
    });
  }

  /// Replaces a worker that may be corrupt: it reported a crash (e.g. of the device that its
  /// runtime uses), or a call changed its process state. The next call gets a new worker.
  void require_answer(Unpacker& answer) const {
    const bool is_spoiled = answer.peek<Answer>() == Answer::spoiled;
    try {
      require_done(answer);
    } catch (const ImplementationFault& seen) {
      if (is_spoiled || seen.kind() == ImplementationFault::Kind::crash) worker_->give_up();
      throw;
    }
  }

  void run_on(Packer& packer, const Problem& problem, const Inputs& inputs, Outputs& outputs) {
    packer.add(problem, outlines_of(inputs), outlines_of(outputs));
    on_a_sound_worker([&] { answer_run(packer, inputs, outputs); });
  }

  void answer_run(const Packer& packer, const Inputs& inputs, Outputs& outputs) {
    std::vector<SharedTensor> borrowed;
    add_borrowed(inputs, borrowed);
    const std::size_t number_of_inputs = borrowed.size();
    add_borrowed(outputs, borrowed);
    const auto shared = share(std::move(borrowed));
    try {
      answer_on(packer, *shared, number_of_inputs, outputs);
    } catch (...) {
      return_all(*shared, number_of_inputs, outputs);
      throw;
    }
  }

  /// Sends the request. Then checks that the guards are intact and that the first `untouchable`
  /// tensors are unchanged, and copies the other tensors back.
  template <class Tensors>
  void answer_on(const Packer& packer, SharedTensors& shared, std::size_t untouchable,
                 Tensors& tensors) {
    metrics_.clear();
    std::string text;
    try {
      text = worker_->ask(packer.text(), shared.file(), shared.bytes());
    } catch (const ImplementationFault& death) {
      const std::string traces = shared.guard_damage();
      if (traces.empty()) throw;
      throw ImplementationFault(death.kind(),
                                std::string(death.what()) + "; before that it " + traces);
    }
    if (const std::string traces = shared.guard_damage(); !traces.empty())
      throw ImplementationFault(ImplementationFault::Kind::wrote_outside,
                                "the implementation " + traces);
    if (const std::string changes = shared.changes(untouchable); !changes.empty())
      throw ImplementationFault(ImplementationFault::Kind::inputs_modified,
                                "the implementation " + changes);
    Unpacker answer(std::move(text));
    std::vector<Outcome> outcomes;
    understood([&] {
      require_answer(answer);
      answer.take(metrics_);
      outcomes = take_outcomes(answer, tensors);
      answer.finish();
    });
    take_back(shared, untouchable, outcomes, tensors);
  }

  WorkerProgram program_;
  WorkerLimits limits_;
  mutable std::unique_ptr<WorkerProcess> worker_;
  mutable KeptFile shareable_;
  mutable Greeting greeting_;
  std::vector<spec::Metric> metrics_;
  std::string formula_, part_;  ///< of the next call
};

}  // namespace

template <class Op>
std::unique_ptr<spec::Implementation<Op>> isolated(WorkerProgram program, WorkerLimits limits) {
  return std::make_unique<Isolated<Op>>(std::move(program), limits);
}

namespace {

/// Instantiates the function template for every operator.
template <class... Ops>
auto isolated_of(spec::TypeList<Ops...>) {
  return std::tuple(&isolated<Ops>...);
}

}  // namespace

/// This variable forces the compiler to emit the template instantiations into the library.
extern const auto every_isolated = isolated_of(spec::Operators{});

}  // namespace assay::adapters
