#include "device_numbers.hpp"

#include <fmt/format.h>

namespace assay::bench {
namespace {

using End = double device::Quantity::*;

/// Sets one assumed number of the device to one end of its range. `position`: index of the number
/// in the order in which visit_quantities visits the numbers.
void set(device::Spec& spec, std::size_t position, End end) {
  std::size_t k = 0;
  device::visit_quantities(spec, [&](device::Quantity& quantity) {
    if (k++ == position) quantity.value = quantity.*end;
  });
}

}  // namespace

std::vector<Move> moves(const device::Spec& device) {
  std::vector<Move> all;
  const auto numbers = device::quantities(device);
  for (std::size_t k = 0; k < numbers.size(); ++k)
    for (const End end : {&device::Quantity::low, &device::Quantity::high}) {
      const device::Quantity& number = numbers[k];
      if (!number.assumed || number.*end == number.value) continue;
      all.push_back(
          {fmt::format("{} {:g} -> {:g} {}", number.name, number.value, number.*end, number.unit),
           [k, end](device::Spec& spec) { set(spec, k, end); }});
    }
  return all;
}

}  // namespace assay::bench
