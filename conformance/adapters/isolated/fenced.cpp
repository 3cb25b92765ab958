#include "assay/adapters/fenced.hpp"

#include <tuple>

#include "assay/spec/operators.hpp"
#include "assay/spec/takes_formulas.hpp"
#include "isolated/floating_point.hpp"

namespace assay::adapters {
namespace {

/// Sets the floating-point mode of this thread. The destructor restores the previous mode.
class ModeFor {
 public:
  explicit ModeFor(const FloatingPointMode& mode) : before_(FloatingPointMode::now()) {
    mode.set();
  }
  ~ModeFor() { before_.set(); }
  ModeFor(const ModeFor&) = delete;
  ModeFor& operator=(const ModeFor&) = delete;

 private:
  FloatingPointMode before_;
};

template <class Op>
class Fenced final : public spec::Implementation<Op>, public spec::TakesFormulas {
 public:
  using Problem = typename Op::Problem;
  using Inputs = typename Op::Inputs;
  using Outputs = typename Op::Outputs;

  explicit Fenced(const std::function<std::unique_ptr<spec::Implementation<Op>>()>& make) {
    const ModeFor making(FloatingPointMode::now());
    inner_ = make();
    mode_ = FloatingPointMode::now();
  }
  ~Fenced() override {
    const ModeFor ending(mode_);
    inner_.reset();
  }

  std::string name() const override {
    return asked([&] { return inner_->name(); });
  }
  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    return asked([&] { return inner_->unsupported(call); });
  }
  spec::Numerics numerics(const Problem& problem) const override {
    return asked([&] { return inner_->numerics(problem); });
  }
  bool checks_arguments() const override {
    return asked([&] { return inner_->checks_arguments(); });
  }
  void check(const spec::Call<Op>& call) const override {
    asked([&] {
      inner_->check(call);
      return true;
    });
  }
  void run(const Problem& problem, const Inputs& inputs, Outputs& outputs) override {
    asked([&] {
      inner_->run(problem, inputs, outputs);
      return true;
    });
  }
  void run_call(const spec::Call<Op>& call, const Problem& problem, const Inputs& inputs,
                Outputs& outputs) override {
    asked([&] {
      inner_->run_call(call, problem, inputs, outputs);
      return true;
    });
  }
  bool takes_formulas() const override { return spec::takes_formulas(*inner_) != nullptr; }
  bool has_formula_gradients() const override {
    const spec::TakesFormulas* const takes = spec::takes_formulas(*inner_);
    return takes != nullptr && takes->has_formula_gradients();
  }
  void set_formula(const std::string& variant) override {
    if (spec::TakesFormulas* const takes = spec::takes_formulas(*inner_))
      takes->set_formula(variant);
  }
  bool takes_parts() const override { return spec::takes_parts(*inner_) != nullptr; }
  void set_part(const std::string& part) override {
    if (spec::TakesFormulas* const takes = spec::takes_parts(*inner_)) takes->set_part(part);
  }
  bool has_forward() const override {
    return asked([&] { return inner_->has_forward(); });
  }
  void forward(const Problem& problem, Inputs& inputs) override {
    asked([&] {
      inner_->forward(problem, inputs);
      return true;
    });
  }
  std::vector<spec::Metric> metrics() const override {
    return asked([&] { return inner_->metrics(); });
  }
  void settle() override {
    asked([&] {
      inner_->settle();
      return true;
    });
  }

 private:
  template <class Ask>
  auto asked(Ask&& ask) const {
    std::string change;
    auto answer = [&] {
      const ModeFor call(mode_);
      auto made = ask();
      change = difference(mode_, FloatingPointMode::now());
      return made;
    }();
    if (!change.empty())
      throw spec::ImplementationFault(spec::ImplementationFault::Kind::mode_changed,
                                      "the implementation left " + change);
    return answer;
  }

  std::unique_ptr<spec::Implementation<Op>> inner_;
  FloatingPointMode mode_;
};

}  // namespace

template <class Op>
std::unique_ptr<spec::Implementation<Op>> fenced(
    const std::function<std::unique_ptr<spec::Implementation<Op>>()>& make) {
  return std::make_unique<Fenced<Op>>(make);
}

namespace {

/// Instantiates the function template for every operator.
template <class... Ops>
auto fenced_of(spec::TypeList<Ops...>) {
  return std::tuple(&fenced<Ops>...);
}

}  // namespace

/// This variable forces the compiler to emit the template instantiations into the library.
extern const auto every_fenced = fenced_of(spec::Operators{});

}  // namespace assay::adapters
