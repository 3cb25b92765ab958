#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/spec/tensor.hpp"
#include "isolated/packing.hpp"

namespace assay::adapters {

/// Descriptor numbers in the worker: its end of the connection, and the pipe that closes when the
/// judge process ends.
inline constexpr int channel_number = 3, lifeline_number = 4;

enum class Request : std::uint8_t {
  goodbye,
  unsupported,
  numerics,
  check,
  run,
  run_call,
  forward,
  settle
};

/// The result of a request, or of creating the implementation. not_asked: the request was not
/// started, because the worker lacked a resource or because an earlier call had changed the process
/// state of the worker. spoiled: this request changed the process state of the worker, which is a
/// fault of the kernel.
enum class Answer : std::uint8_t { done, rejected, unsupported, fault, failed, not_asked, spoiled };

/// The first message of a worker: it describes the implementation.
struct Greeting {
  std::string name;
  bool checks_arguments = true, has_forward = false, takes_formulas = false,
       has_formula_gradients = false, takes_parts = false;
};
auto members(fixtures::Of<Greeting> auto& g) {
  return std::tie(g.name, g.checks_arguments, g.has_forward, g.takes_formulas,
                  g.has_formula_gradients, g.takes_parts);
}

inline std::string goodbye_message() {
  Packer packer;
  packer.add(Request::goodbye);
  return packer.text();
}

/// Describes one tensor of the inputs or outputs, without its elements.
struct Outline {
  bool present = false;
  spec::DType dtype = spec::DType::fp32;
  spec::Shape shape, strides;
  std::int64_t offset = 0, bytes = 0;
  friend bool operator==(const Outline&, const Outline&) = default;
};
auto members(fixtures::Of<Outline> auto& o) {
  return std::tie(o.present, o.dtype, o.shape, o.strides, o.offset, o.bytes);
}

inline const spec::Tensor* present(const spec::Tensor& member) { return &member; }
inline const spec::Tensor* present(const std::optional<spec::Tensor>& member) {
  return member ? &*member : nullptr;
}
inline spec::Tensor* present(spec::Tensor& member) { return &member; }
inline spec::Tensor* present(std::optional<spec::Tensor>& member) {
  return member ? &*member : nullptr;
}

inline Outline outline_of(const spec::Tensor* tensor) {
  if (tensor == nullptr) return {};
  return {.present = true,
          .dtype = tensor->dtype,
          .shape = tensor->shape,
          .strides = tensor->strides,
          .offset = tensor->offset,
          .bytes = static_cast<std::int64_t>(tensor->bytes.size())};
}

/// Describes every tensor of the inputs or outputs, in the order of the struct members.
template <class Tensors>
std::vector<Outline> outlines_of(const Tensors& tensors) {
  std::vector<Outline> outlines;
  visit_fields(tensors, [&](const char*, const auto& member) {
    outlines.push_back(outline_of(present(member)));
  });
  return outlines;
}

/// The fate of a tensor in a run: kept, removed or replaced. `replaced`: the implementation
/// replaced it with a tensor of another shape, offset or strides.
enum class Outcome : std::uint8_t { kept, absent, replaced };

}  // namespace assay::adapters

namespace assay::fixtures {

template <>
inline constexpr auto last_of<adapters::Request> = adapters::Request::settle;
template <>
inline constexpr auto last_of<adapters::Answer> = adapters::Answer::spoiled;
template <>
inline constexpr auto last_of<adapters::Outcome> = adapters::Outcome::replaced;
template <>
inline constexpr auto last_of<spec::ImplementationFault::Kind> =
    spec::ImplementationFault::Kind::mode_changed;

}  // namespace assay::fixtures
