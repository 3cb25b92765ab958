#include "aclnn/contents.hpp"

#include <algorithm>

namespace assay::adapters {

Placement::Placement(const Contents& contents, DeviceMemory& memory) : memory_(&memory) {
  for (const auto& [name, parameter, input, output] : contents.entries())
    addresses_.emplace_back(
        parameter, input ? memory.place_input(name, *input) : memory.place_output(name, *output));
}

void* Placement::operator()(std::string_view name, const spec::Parameter& parameter) {
  for (const auto& [placed, address] : addresses_)
    if (placed == &parameter) return address;
  const std::int64_t elements =
      spec::storage_elements(parameter.shape, parameter.strides, parameter.offset);
  return memory_->place_zeros(name, std::max<std::int64_t>(0, elements) * size_of(parameter.dtype));
}

}  // namespace assay::adapters
