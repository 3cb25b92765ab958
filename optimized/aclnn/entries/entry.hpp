#pragma once

#include <algorithm>

#include "aclnn/entries/arguments.hpp"

namespace assay::aclnn {

/// Reads the arguments of one call of phase 1 by their documented names. If the entry point has no
/// parameter with a name, the functions return `absent`, or nothing.
class Arguments {
 public:
  Arguments(std::initializer_list<Argument> arguments, Operands& operands)
      : arguments_(arguments), operands_(operands) {}

  /// Adds an argument to the operands of the call and returns its description.
  spec::Parameter tensor(std::string_view name) const {
    return operands_.tensor(name, value<const aclTensor*>(name));
  }
  spec::Parameter reserved(std::string_view name) const {
    return operands_.reserved(name, value<const aclTensor*>(name));
  }
  std::optional<std::vector<std::int64_t>> array(std::string_view name) const {
    return operands_.array(name, value<const aclIntArray*>(name));
  }

  std::optional<std::string> text(std::string_view name) const {
    const auto* const given = value<const char*>(name);
    return given == nullptr ? std::nullopt : std::optional<std::string>(given);
  }
  double number(std::string_view name) const { return value<double>(name); }
  std::int64_t integer(std::string_view name, std::int64_t absent = 0) const {
    return value<std::int64_t>(name, absent);
  }

 private:
  template <class Value>
  Value value(std::string_view name, Value absent = {}) const {
    const auto* const found = std::ranges::find(arguments_, name, &Argument::name);
    return found == arguments_.end() ? absent : std::get<Value>(found->value);
  }

  std::initializer_list<Argument> arguments_;
  Operands& operands_;
};

/// The code that each operator must provide: a specialization of this template with the following
/// static members.
///     EntryPoint entry_point(std::string_view phase_2): the entry point with this phase 2
///     Parameters parameters(const Arguments&): without the pointers to the results
///     Attributes attributes(const Arguments&)
///     PlannedRun decide(const std::shared_ptr<Device>&, const Operands&, const Call&): checks the
///     call and plans phase 2
template <class Op>
struct Entry;

template <class Op>
aclnnStatus phase_1_of(const Phase1& phase, std::initializer_list<Argument> arguments) noexcept {
  return phase_1(phase, [&](const std::shared_ptr<Device>& device, Operands& operands) {
    const Arguments given(arguments, operands);
    spec::Call<Op> call = {.entry_point = Entry<Op>::entry_point(phase.phase_2),
                           .product = device->product,
                           .parameters = Entry<Op>::parameters(given),
                           .attributes = Entry<Op>::attributes(given)};
    call.parameters.workspace_size = phase.workspace_size != nullptr;
    call.parameters.executor = phase.executor != nullptr;
    return Entry<Op>::decide(device, operands, call);
  });
}

}  // namespace assay::aclnn
