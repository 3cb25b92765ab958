#include "flags/deliveries.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <ostream>
#include <utility>

#include "assay/conformance/result/printable.hpp"

namespace assay::cli {

void Deliveries::attempt(std::string_view flag, const std::function<void()>& write) {
  try {
    write();
    if (const auto error = errors_.find(flag); error != errors_.end()) errors_.erase(error);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& failure) {
    errors_.insert_or_assign(std::string(flag), failure.what());
  }
}

conformance::Sink Deliveries::guarded(std::string_view flag, conformance::Sink sink) {
  if (!sink) return {};
  return [this, flag = std::string(flag), sink = std::move(sink)](std::string_view text) {
    attempt(flag, [&] { sink(text); });
  };
}

ExitCode Deliveries::conclude(ExitCode code, std::ostream& err) const {
  for (const auto& [flag, error] : errors_)
    err << fmt::format("assay: {} was not written: {}\n", conformance::printable(flag),
                       conformance::excerpt(error));
  return errors_.empty() ? code : ExitCode::not_conclusive;
}

}  // namespace assay::cli
