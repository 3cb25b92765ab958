#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "aclnn/memory.hpp"
#include "assay/spec/call.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::adapters {

/// The input and output tensors of a call. In each entry, either `input` or `output` is set.
class Contents {
 public:
  struct Entry {
    std::string_view name;
    spec::Parameter* parameter;
    const spec::Tensor* input;
    spec::Tensor* output;

    const spec::Tensor& tensor() const { return input ? *input : *output; }
  };

  void input(std::string_view name, spec::Parameter& parameter, const spec::Tensor& tensor) {
    entries_.push_back({name, &parameter, &tensor, nullptr});
  }
  void input(std::string_view name, spec::Parameter& parameter,
             const std::optional<spec::Tensor>& tensor) {
    if (tensor) input(name, parameter, *tensor);
  }
  void output(std::string_view name, spec::Parameter& parameter, spec::Tensor& tensor) {
    entries_.push_back({name, &parameter, nullptr, &tensor});
  }
  void output(std::string_view name, spec::Parameter& parameter,
              std::optional<spec::Tensor>& tensor) {
    if (tensor) output(name, parameter, *tensor);
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// Copies the tensors of a call to the device, and returns the device address of each parameter. A
/// parameter without a tensor, such as a reserved parameter, gets its own buffer of zeros.
class Placement {
 public:
  Placement(const Contents& contents, DeviceMemory& memory);
  void* operator()(std::string_view name, const spec::Parameter& parameter);

 private:
  DeviceMemory* memory_;
  std::vector<std::pair<const spec::Parameter*, void*>> addresses_;
};

}  // namespace assay::adapters
