#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "assay/cli/command.hpp"
#include "assay/cli/registry.hpp"
#include "assay/spec/numerics.hpp"
#include "flags/values.hpp"

namespace assay::cli {

/// The value of --numerics, which declares the rounding behaviour of a kernel: the name of a
/// preset, or PRESET,field=value.
class DeclaredNumerics {
 public:
  /// Errors: UsageError if the text is invalid for any of the operators.
  explicit DeclaredNumerics(const std::string& text) : text_(text) {
    spec::for_each_operator([&]<class Op> { of<Op>(spec::DType::bf16); });
  }

  const std::string& text() const { return text_; }

  /// Returns the declared rounding behaviour for tensors of element type `io`. Errors: UsageError.
  template <class Op>
  spec::Numerics of(spec::DType io) const {
    try {
      return spec::numerics_from_text(text_, io, Op::name);
    } catch (const std::invalid_argument& error) {
      throw UsageError("--numerics is '" + text_ + "': " + error.what());
    }
  }

 private:
  std::string text_;
};

/// Declares the flag --numerics. It names the rounding behaviour of a kernel.
inline CLI::Option* add_numerics(CLI::App& app, DeclaredNumerics& to, const std::string& help) {
  const auto read = [](const std::string& text) { return DeclaredNumerics(text); };
  return add_value(app, "--numerics", to, read, help);
}

}  // namespace assay::cli
